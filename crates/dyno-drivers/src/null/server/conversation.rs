//! What all sessions of a server share: misbehaviour, counters, and how bytes are received and
//! sent.

use super::persona::{Persona, Rejection};
use crate::null::statement::{StatementKind, skip_blanks};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Misbehaviour and imitation, for tests of clients. The default is none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Accepts connections and never sends anything.
    pub is_silent: bool,
    /// Number of statements after which a connection never answers again.
    pub hang_after: Option<u64>,
    /// Number of statements after which a connection is closed instead of answered.
    pub disconnect_after: Option<u64>,
    /// The product that is imitated; it has the server's protocol.
    pub persona: Option<&'static Persona>,
}

/// Counters of a null server.
#[derive(Debug, Default)]
pub struct ServerCounters {
    pub(super) statements: [AtomicU64; StatementKind::ALL.len()],
    pub(super) prepared: AtomicU64,
    pub(super) connections: AtomicU64,
    pub(super) rows_loaded: AtomicU64,
}

impl ServerCounters {
    /// Statements of a kind executed so far, prepared or as text.
    #[must_use]
    pub fn statements(&self, kind: StatementKind) -> u64 {
        self.statements[kind as usize].load(Ordering::Relaxed)
    }

    /// Statements of all kinds executed so far.
    #[must_use]
    pub fn statements_total(&self) -> u64 {
        StatementKind::ALL.into_iter().map(|kind| self.statements(kind)).sum()
    }

    /// Statements prepared so far.
    #[must_use]
    pub fn prepared(&self) -> u64 {
        self.prepared.load(Ordering::Relaxed)
    }

    /// Connections accepted so far.
    #[must_use]
    pub fn connections(&self) -> u64 {
        self.connections.load(Ordering::Relaxed)
    }

    /// Rows received by `LOAD DATA LOCAL` and `COPY FROM STDIN` so far.
    #[must_use]
    pub fn rows_loaded(&self) -> u64 {
        self.rows_loaded.load(Ordering::Relaxed)
    }
}

/// Only the server's thread writes, so no locked instruction is needed.
pub(super) fn add(counter: &AtomicU64, more: u64) {
    counter.store(counter.load(Ordering::Relaxed) + more, Ordering::Relaxed);
}

/// State shared by all sessions of a server.
pub(super) struct Shared {
    pub(super) options: Options,
    pub(super) counts: Arc<ServerCounters>,
}

/// The server side of a protocol for one connection, from bytes to bytes.
pub(super) trait Conversation {
    /// A new session; `number` distinguishes connections.
    fn new(connection_number: u32) -> Self;

    /// Writes the greeting, if the protocol has one.
    fn greet(&mut self, shared: &Shared, out: &mut Vec<u8>);

    /// Processes the message at the start of `input` and appends the replies. Returns its length,
    /// or 0 when it is incomplete and will be passed again with more bytes.
    fn take(&mut self, input: &[u8], shared: &Shared, out: &mut Vec<u8>) -> Result<usize, Stop>;

    /// Processes all complete messages at the start of `input`. The rest is passed again with more
    /// bytes.
    fn feed(&mut self, input: &[u8], shared: &Shared, out: &mut Vec<u8>) -> Fed {
        let mut consumed = 0;
        loop {
            match self.take(&input[consumed..], shared, out) {
                Ok(0) => return Fed { consumed, stop: None },
                Ok(length) => consumed += length,
                Err(stop) => return Fed { consumed, stop: Some(stop) },
            }
        }
    }
}

/// Result of processing a session's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fed {
    /// Number of bytes processed.
    pub(super) consumed: usize,
    pub(super) stop: Option<Stop>,
}

/// Why a session stops answering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// Scripted: the connection stays, and nothing is answered on it.
    Hang,
    /// The connection must be closed once the replies are sent.
    HangUp,
}

impl Shared {
    /// The rejection of a statement by the imitated product.
    pub(super) fn rejection(&self, sql: &[u8]) -> Option<&'static Rejection> {
        self.options.persona?.rejection(skip_blanks(sql))
    }

    /// The text with which the imitated product answers a query.
    pub(super) fn persona_answer(&self, sql: &[u8]) -> Option<&'static str> {
        self.options.persona?.answer(skip_blanks(sql))
    }

    /// Counts a statement (number `answered` of its connection, from 0), unless the options stop
    /// its session.
    pub(super) fn turn(&self, kind: StatementKind, answered: &mut u64) -> Result<(), Stop> {
        let number = *answered;
        if self.options.disconnect_after.is_some_and(|limit| number >= limit) {
            return Err(Stop::HangUp);
        }
        if self.options.hang_after.is_some_and(|limit| number >= limit) {
            return Err(Stop::Hang);
        }
        *answered += 1;
        add(&self.counts.statements[kind as usize], 1);
        Ok(())
    }
}
