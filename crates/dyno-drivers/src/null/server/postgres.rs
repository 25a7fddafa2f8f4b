//! The server side of the PostgreSQL protocol 3.0, as far as benchmarks and command-line clients
//! use it. <https://www.postgresql.org/docs/15/protocol-message-formats.html>

use super::column::{Column, Columns};
use super::conversation::{Conversation, Shared, Stop, add};
use super::event_loop::MESSAGE_MAX;
use crate::null::statement::{StatementKind, first_word, skip_blanks, unquoted};
use crate::postgres::protocol::frontend::{message, text};
use std::collections::HashMap;
use std::sync::Arc;

/// Sent to the client after login. The version determines the queries of pgbench and psql.
const PARAMETERS: [(&str, &str); 7] = [
    ("server_version", "15.0 (dyno null server)"),
    ("server_encoding", "UTF8"),
    ("client_encoding", "UTF8"),
    ("DateStyle", "ISO, MDY"),
    ("integer_datetimes", "on"),
    ("standard_conforming_strings", "on"),
    ("TimeZone", "UTC"),
];

const PROTOCOL_3: u32 = 196_608;
const CANCEL: u32 = 80_877_102;
const TLS: u32 = 80_877_103;
const GSS: u32 = 80_877_104;

/// Start-up messages of real clients are far shorter; a longer one belongs to another protocol.
const STARTUP_MAX: usize = 10_000;

/// Type ids of `pg_type`.
mod type_number {
    pub(super) const INT4: u32 = 23;
    pub(super) const TEXT: u32 = 25;
    pub(super) const CHAR: u32 = 1042;
}

pub(super) struct PostgresConversation {
    connection_number: u32,
    phase: Phase,
    is_in_transaction: bool,
    /// After an error in the extended protocol everything up to the next Sync is skipped.
    is_skipping: bool,
    statements: HashMap<Vec<u8>, Arc<Prepared>>,
    /// The unnamed portal is stored separately, because nearly all clients use only that.
    unnamed: Option<Portal>,
    portals: HashMap<Vec<u8>, Portal>,
    answered: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Startup,
    Ready,
    /// `COPY FROM STDIN`; a simple query also ends with ReadyForQuery.
    Copying {
        rows: u64,
        protocol: Protocol,
    },
}

/// How a statement was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protocol {
    Simple,
    Extended,
}

struct Prepared {
    kind: StatementKind,
    /// `None` for statements without rows.
    columns: Option<Columns>,
    parameters: u16,
    /// The command tag of a statement that [`StatementKind`] does not distinguish.
    other: Other,
}

/// Statements of [`StatementKind::Other`], as far as they are distinguished.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Other {
    Empty,
    CopyIn,
    CopyOut,
    /// Answered with this tag.
    Tag(Vec<u8>),
}

#[derive(Clone)]
struct Portal {
    prepared: Arc<Prepared>,
    /// The result columns requested in binary, by position.
    binary: u64,
}

impl Conversation for PostgresConversation {
    fn new(connection_number: u32) -> Self {
        Self {
            connection_number,
            phase: Phase::Startup,
            is_in_transaction: false,
            is_skipping: false,
            statements: HashMap::new(),
            unnamed: None,
            portals: HashMap::new(),
            answered: 0,
        }
    }

    /// The client sends the first message.
    fn greet(&mut self, _shared: &Shared, _out: &mut Vec<u8>) {}

    fn take(&mut self, input: &[u8], shared: &Shared, out: &mut Vec<u8>) -> Result<usize, Stop> {
        match self.phase {
            Phase::Startup => self.start(input, shared, out),
            _ => self.receive(input, shared, out),
        }
    }
}

impl PostgresConversation {
    /// Processes a message without a type byte; 0 when it is incomplete.
    fn start(&mut self, input: &[u8], shared: &Shared, out: &mut Vec<u8>) -> Result<usize, Stop> {
        let Some((length, body)) = length_prefixed(input, STARTUP_MAX)? else { return Ok(0) };
        let (code, rest) = body.split_first_chunk().ok_or(Stop::HangUp)?;
        match u32::from_be_bytes(*code) {
            TLS | GSS => out.push(b'N'),
            CANCEL => return Err(Stop::HangUp),
            version if version >> 16 == PROTOCOL_3 >> 16 => {
                self.welcome(version, rest, shared, out);
            }
            _ => {
                error("FATAL", "0A000", "the null server supports only protocol 3.0", out);
                return Err(Stop::HangUp);
            }
        }
        Ok(length)
    }

    fn welcome(&mut self, version: u32, parameters: &[u8], shared: &Shared, out: &mut Vec<u8>) {
        let options: Vec<&[u8]> = parameters
            .split(|byte| *byte == 0)
            .step_by(2)
            .filter(|name| name.starts_with(b"_pq_."))
            .collect();
        if version != PROTOCOL_3 || !options.is_empty() {
            message(b'v', out, |out| {
                out.extend_from_slice(&PROTOCOL_3.to_be_bytes());
                out.extend_from_slice(&(options.len() as u32).to_be_bytes());
                options.iter().for_each(|option| text(option, out));
            });
        }
        message(b'R', out, |out| out.extend_from_slice(&[0; 4]));
        let persona = shared.options.persona;
        let more = persona.map_or(&[][..], |it| it.parameters).iter().copied();
        for (name, value) in PARAMETERS.into_iter().chain(more) {
            let value = match persona {
                Some(it) if name == "server_version" => it.version,
                _ => value,
            };
            message(b'S', out, |out| {
                text(name.as_bytes(), out);
                text(value.as_bytes(), out);
            });
        }
        message(b'K', out, |out| {
            out.extend_from_slice(&self.connection_number.to_be_bytes());
            out.extend_from_slice(&[0; 4]);
        });
        self.phase = Phase::Ready;
        self.ready_for_query(out);
    }

    /// Processes a message with a type byte; 0 when it is incomplete.
    fn receive(&mut self, input: &[u8], shared: &Shared, out: &mut Vec<u8>) -> Result<usize, Stop> {
        let Some((&kind, rest)) = input.split_first() else { return Ok(0) };
        let Some((length, body)) = length_prefixed(rest, MESSAGE_MAX)? else { return Ok(0) };
        match self.phase {
            Phase::Copying { rows, protocol } => {
                self.take_copy(kind, body, rows, protocol, shared, out)
            }
            _ if self.is_skipping && !matches!(kind, b'S' | b'X') => Ok(()),
            _ => self.obey(kind, body, shared, out),
        }?;
        Ok(1 + length)
    }

    fn take_copy(
        &mut self,
        kind: u8,
        body: &[u8],
        rows: u64,
        protocol: Protocol,
        shared: &Shared,
        out: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        match kind {
            // The end marker that old clients, including pgbench 15, still send.
            b'd' if body == b"\\.\n" => {}
            b'd' => {
                let more = body.iter().filter(|byte| **byte == b'\n').count() as u64;
                self.phase = Phase::Copying { rows: rows + more, protocol };
            }
            b'c' | b'f' => {
                self.phase = Phase::Ready;
                if kind == b'c' {
                    add(&shared.counts.rows_loaded, rows);
                    complete(format!("COPY {rows}").as_bytes(), out);
                } else {
                    error("ERROR", "57014", "COPY was cancelled by the client", out);
                    self.is_skipping = protocol == Protocol::Extended;
                }
                if protocol == Protocol::Simple {
                    self.ready_for_query(out);
                }
            }
            // Flush and Sync have no effect during a copy.
            b'H' | b'S' => {}
            _ => return Err(Stop::HangUp),
        }
        Ok(())
    }

    fn obey(
        &mut self,
        kind: u8,
        body: &[u8],
        shared: &Shared,
        out: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        let done = match kind {
            b'B' => self.bind(body),
            b'D' => self.describe(body, out),
            b'E' => self.execute(body, shared, out)?,
            b'S' => {
                self.is_skipping = false;
                self.ready_for_query(out);
                return Ok(());
            }
            b'P' => self.parse(body, shared),
            b'Q' => return self.query(body, shared, out),
            b'C' => self.close(body),
            // Flush: everything is sent at once anyway. Late copy messages are ignored, as in real
            // servers.
            b'H' | b'd' | b'c' | b'f' => return Ok(()),
            b'X' => return Err(Stop::HangUp),
            _ => {
                error("FATAL", "08P01", "the null server does not know this message", out);
                return Err(Stop::HangUp);
            }
        };
        match (done, kind) {
            (Ok(()), b'B') => out.extend_from_slice(&[b'2', 0, 0, 0, 4]),
            (Ok(()), b'P') => out.extend_from_slice(&[b'1', 0, 0, 0, 4]),
            (Ok(()), b'C') => out.extend_from_slice(&[b'3', 0, 0, 0, 4]),
            (Ok(()), _) => {}
            (Err((state, words)), _) => {
                error("ERROR", state, words, out);
                self.is_skipping = true;
            }
        }
        Ok(())
    }

    fn parse(&mut self, body: &[u8], shared: &Shared) -> Step {
        let (name, rest) = zero_ended(body).ok_or(MALFORMED)?;
        let (sql, _) = zero_ended(rest).ok_or(MALFORMED)?;
        if let Some(it) = shared.rejection(sql) {
            return Err((it.sqlstate, it.message));
        }
        add(&shared.counts.prepared, 1);
        self.statements.insert(name.to_vec(), Arc::new(Prepared::new(sql, shared)));
        Ok(())
    }

    fn bind(&mut self, body: &[u8]) -> Step {
        let (portal_name, rest) = zero_ended(body).ok_or(MALFORMED)?;
        let (statement_name, rest) = zero_ended(rest).ok_or(MALFORMED)?;
        let prepared = self.statements.get(statement_name).ok_or(UNKNOWN_STATEMENT)?;
        let binary = result_formats(rest).ok_or(MALFORMED)?;
        let portal = Portal { prepared: Arc::clone(prepared), binary };
        if portal_name.is_empty() {
            self.unnamed = Some(portal);
        } else {
            self.portals.insert(portal_name.to_vec(), portal);
        }
        Ok(())
    }

    fn portal(&self, name: &[u8]) -> Result<&Portal, (&'static str, &'static str)> {
        let portal = if name.is_empty() { self.unnamed.as_ref() } else { self.portals.get(name) };
        portal.ok_or(UNKNOWN_PORTAL)
    }

    fn describe(&mut self, body: &[u8], out: &mut Vec<u8>) -> Step {
        let (&what, rest) = body.split_first().ok_or(MALFORMED)?;
        let (name, _) = zero_ended(rest).ok_or(MALFORMED)?;
        if what == b'S' {
            let prepared = self.statements.get(name).ok_or(UNKNOWN_STATEMENT)?;
            message(b't', out, |out| {
                out.extend_from_slice(&prepared.parameters.to_be_bytes());
                for _ in 0..prepared.parameters {
                    out.extend_from_slice(&type_number::TEXT.to_be_bytes());
                }
            });
            row_description(prepared.columns.as_ref(), 0, out);
        } else {
            let portal = self.portal(name)?;
            row_description(portal.prepared.columns.as_ref(), portal.binary, out);
        }
        Ok(())
    }

    fn close(&mut self, body: &[u8]) -> Step {
        let (&what, rest) = body.split_first().ok_or(MALFORMED)?;
        let (name, _) = zero_ended(rest).ok_or(MALFORMED)?;
        match what {
            b'S' => drop(self.statements.remove(name)),
            _ if name.is_empty() => self.unnamed = None,
            _ => drop(self.portals.remove(name)),
        }
        Ok(())
    }

    fn execute(&mut self, body: &[u8], shared: &Shared, out: &mut Vec<u8>) -> Result<Step, Stop> {
        let Some((name, _)) = zero_ended(body) else { return Ok(Err(MALFORMED)) };
        let Portal { prepared, binary } = match self.portal(name) {
            Ok(portal) => portal.clone(),
            Err(problem) => return Ok(Err(problem)),
        };
        self.run(&prepared, binary, Protocol::Extended, shared, out)?;
        Ok(Ok(()))
    }

    /// Answers every statement of a text, each with its columns, and ends with ReadyForQuery.
    fn query(&mut self, body: &[u8], shared: &Shared, out: &mut Vec<u8>) -> Result<(), Stop> {
        let (sql, _) = zero_ended(body).ok_or(Stop::HangUp)?;
        let mut rest = sql;
        loop {
            let (statement, others) = first_statement(rest);
            if let Some(it) = shared.rejection(statement) {
                if StatementKind::of(statement) == StatementKind::Commit {
                    self.is_in_transaction = false;
                }
                error("ERROR", it.sqlstate, it.message, out);
                break;
            }
            let prepared = Prepared::new(statement, shared);
            let is_last = skip_blanks(others).is_empty();
            if prepared.other != Other::Empty || rest.len() == sql.len() {
                if prepared.columns.is_some() {
                    row_description(prepared.columns.as_ref(), 0, out);
                }
                self.run(&prepared, 0, Protocol::Simple, shared, out)?;
            }
            if is_last || self.phase != Phase::Ready {
                break;
            }
            rest = others;
        }
        if self.phase == Phase::Ready {
            self.ready_for_query(out);
        }
        Ok(())
    }

    fn run(
        &mut self,
        prepared: &Prepared,
        binary: u64,
        protocol: Protocol,
        shared: &Shared,
        out: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        shared.turn(prepared.kind, &mut self.answered)?;
        if let Some(columns) = &prepared.columns {
            row(columns.as_slice(), binary, out);
        }
        match prepared.kind {
            StatementKind::Select => complete(b"SELECT 1", out),
            StatementKind::Insert => complete(b"INSERT 0 1", out),
            StatementKind::Update => complete(b"UPDATE 1", out),
            StatementKind::Delete => complete(b"DELETE 1", out),
            StatementKind::Begin => {
                self.is_in_transaction = true;
                complete(b"BEGIN", out);
            }
            StatementKind::Commit => {
                self.is_in_transaction = false;
                complete(b"COMMIT", out);
            }
            StatementKind::Rollback => {
                self.is_in_transaction = false;
                complete(b"ROLLBACK", out);
            }
            StatementKind::Other => match &prepared.other {
                Other::Empty => out.extend_from_slice(&[b'I', 0, 0, 0, 4]),
                Other::CopyIn => {
                    self.phase = Phase::Copying { rows: 0, protocol };
                    message(b'G', out, |out| out.extend_from_slice(&[0; 3]));
                }
                Other::CopyOut => {
                    message(b'H', out, |out| out.extend_from_slice(&[0; 3]));
                    out.extend_from_slice(&[b'c', 0, 0, 0, 4]);
                    complete(b"COPY 0", out);
                }
                Other::Tag(tag) => complete(tag, out),
            },
        }
        Ok(())
    }

    fn ready_for_query(&self, out: &mut Vec<u8>) {
        let status = if self.is_in_transaction { b'T' } else { b'I' };
        out.extend_from_slice(&[b'Z', 0, 0, 0, 5, status]);
    }
}

/// Result of a step of the extended protocol; an error is an SQLSTATE and a message.
type Step = Result<(), (&'static str, &'static str)>;

const MALFORMED: (&str, &str) = ("08P01", "the message is malformed");
const UNKNOWN_STATEMENT: (&str, &str) = ("26000", "the prepared statement does not exist");
const UNKNOWN_PORTAL: (&str, &str) = ("34000", "the portal does not exist");

impl Prepared {
    fn new(sql: &[u8], shared: &Shared) -> Self {
        let kind = StatementKind::of(sql);
        let by_persona =
            shared.persona_answer(sql).map(|text| Columns::Single(Column::Constant(text)));
        let (columns, other) = match kind {
            _ if by_persona.is_some() => (by_persona, Other::Tag(b"SELECT 1".to_vec())),
            StatementKind::Select => (Some(Columns::of(sql)), Other::Tag(Vec::new())),
            StatementKind::Other => other(sql),
            _ => (None, Other::Tag(Vec::new())),
        };
        Self { kind, columns, parameters: count_parameters(sql), other }
    }
}

fn other(sql: &[u8]) -> (Option<Columns>, Other) {
    let sql = skip_blanks(sql);
    let mut room = [0; 16];
    let word = first_word(sql, &mut room);
    let other = match word {
        _ if sql.is_empty() => Other::Empty,
        b"COPY" if contains(sql, b"from stdin") => Other::CopyIn,
        b"COPY" => Other::CopyOut,
        b"SHOW" => {
            let is_limit = contains(sql, b"max_connections");
            let column = if is_limit { Column::Limit } else { Column::Label };
            return (Some(Columns::Single(column)), Other::Tag(b"SHOW".to_vec()));
        }
        b"CREATE" | b"DROP" | b"ALTER" | b"TRUNCATE" => {
            let mut second = [0; 16];
            let second = first_word(skip_blanks(&sql[word.len()..]), &mut second);
            Other::Tag([word, b" ", second].concat())
        }
        _ => Other::Tag(word.to_vec()),
    };
    (None, other)
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window.eq_ignore_ascii_case(part))
}

/// The first statement of a text and the text after its semicolon. Semicolons in quotes do not
/// count.
fn first_statement(sql: &[u8]) -> (&[u8], &[u8]) {
    let end = unquoted(sql, b"'\"").find(|(_, byte)| *byte == b';');
    end.map_or((sql, &[]), |(at, _)| (&sql[..at], &sql[at + 1..]))
}

/// The highest `$n` outside quotes.
fn count_parameters(sql: &[u8]) -> u16 {
    let number = |(at, _)| {
        let digits = sql[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).take(5);
        let number = digits.fold(0_u32, |number, digit| number * 10 + u32::from(digit - b'0'));
        u16::try_from(number).unwrap_or(0)
    };
    unquoted(sql, b"'\"").filter(|(_, byte)| *byte == b'$').map(number).max().unwrap_or(0)
}

/// The whole message and its body, when it is complete. The length includes itself.
fn length_prefixed(input: &[u8], longest: usize) -> Result<Option<(usize, &[u8])>, Stop> {
    let Some(prefix) = input.first_chunk() else { return Ok(None) };
    let length = u32::from_be_bytes(*prefix) as usize;
    if length < 4 || length > longest {
        return Err(Stop::HangUp);
    }
    Ok(input.get(4..length).map(|body| (length, body)))
}

fn zero_ended(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|byte| *byte == 0)?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

fn sixteen(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((usize::from(u16::from_be_bytes(*number)), rest))
}

/// The result formats at the end of a Bind message, one bit for each of the first 64 columns.
fn result_formats(bind: &[u8]) -> Option<u64> {
    let (formats, rest) = sixteen(bind)?;
    let (values, mut rest) = sixteen(rest.get(2 * formats..)?)?;
    for _ in 0..values {
        let (length, value) = rest.split_first_chunk()?;
        // A length of -1 is a NULL without bytes.
        let length = usize::try_from(i32::from_be_bytes(*length)).unwrap_or(0);
        rest = value.get(length..)?;
    }
    let (formats, rest) = sixteen(rest)?;
    let codes = rest.get(..2 * formats)?.chunks_exact(2).map(|code| code != [0, 0]);
    match formats {
        1 => Some(if rest[..2] == [0, 0] { 0 } else { u64::MAX }),
        _ => Some(
            codes
                .take(64)
                .enumerate()
                .fold(0, |bits, (i, is_binary)| bits | (u64::from(is_binary) << i)),
        ),
    }
}

fn complete(tag: &[u8], out: &mut Vec<u8>) {
    message(b'C', out, |out| text(tag, out));
}

fn error(severity: &str, state: &str, words: &str, out: &mut Vec<u8>) {
    message(b'E', out, |out| {
        for (field, value) in [(b'S', severity), (b'V', severity), (b'C', state), (b'M', words)] {
            out.push(field);
            text(value.as_bytes(), out);
        }
        out.push(0);
    });
}

fn is_binary(binary: u64, column: usize) -> bool {
    column < 64 && binary >> column & 1 == 1
}

fn row_description(columns: Option<&Columns>, binary: u64, out: &mut Vec<u8>) {
    let Some(columns) = columns else {
        out.extend_from_slice(&[b'n', 0, 0, 0, 4]);
        return;
    };
    let columns = columns.as_slice();
    message(b'T', out, |out| {
        out.extend_from_slice(&(columns.len() as u16).to_be_bytes());
        for (i, column) in columns.iter().enumerate() {
            let (name, type_number, size, modifier): (&[u8], u32, i16, i32) = match column {
                Column::One | Column::Limit => (b"k", type_number::INT4, 4, -1),
                Column::Text => (b"c", type_number::CHAR, -1, 124),
                Column::Label | Column::Constant(_) | Column::Null => {
                    (b"name", type_number::TEXT, -1, -1)
                }
            };
            text(name, out);
            out.extend_from_slice(&[0; 6]);
            out.extend_from_slice(&type_number.to_be_bytes());
            out.extend_from_slice(&size.to_be_bytes());
            out.extend_from_slice(&modifier.to_be_bytes());
            out.extend_from_slice(&u16::from(is_binary(binary, i)).to_be_bytes());
        }
    });
}

fn row(columns: &[Column], binary: u64, out: &mut Vec<u8>) {
    message(b'D', out, |out| {
        out.extend_from_slice(&(columns.len() as u16).to_be_bytes());
        for (i, column) in columns.iter().enumerate() {
            match (column.integer(), column.text()) {
                (Some(value), _) if is_binary(binary, i) => {
                    out.extend_from_slice(&4_u32.to_be_bytes());
                    out.extend_from_slice(&value.to_be_bytes());
                }
                (_, Some(bytes)) => {
                    out.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
                    out.extend_from_slice(bytes);
                }
                (_, None) => out.extend_from_slice(&(-1_i32).to_be_bytes()),
            }
        }
    });
}
