//! How much each client did, readable by anybody while the clients work.

use dyno_model::units::Nanos;
use std::sync::atomic::{AtomicU64, Ordering};

/// What one client did in the measured window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClientShare {
    /// Committed transactions.
    pub events: u64,
    /// Sum of their response times.
    pub busy: Nanos,
}

/// A line of cache of its own for every client, so that clients on different threads do not slow each other down.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Slot {
    events: AtomicU64,
    busy: AtomicU64,
}

/// The shares of all clients. Each is written by its client only; reading it takes no lock and disturbs nobody.
#[derive(Debug, Default)]
pub struct ClientShares(Box<[Slot]>);

impl ClientShares {
    /// Shares of so many clients, all 0.
    #[must_use]
    pub fn new(clients: u32) -> Self {
        Self((0..clients).map(|_| Slot::default()).collect())
    }

    /// All shares as they are now. Each is exact; together they are of one moment only when the clients have ended.
    pub fn iter(&self) -> impl Iterator<Item = ClientShare> + '_ {
        self.0.iter().map(|slot| ClientShare {
            events: slot.events.load(Ordering::Relaxed),
            busy: Nanos(slot.busy.load(Ordering::Relaxed)),
        })
    }

    /// One more transaction of a client. Only the client's own thread calls this, so a plain load and store lose nothing.
    #[inline]
    pub(crate) fn record(&self, client: u32, latency: u64) {
        let slot = &self.0[client as usize];
        slot.events.store(slot.events.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        slot.busy.store(slot.busy.load(Ordering::Relaxed) + latency, Ordering::Relaxed);
    }
}
