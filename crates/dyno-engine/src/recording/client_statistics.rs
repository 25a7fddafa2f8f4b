//! Statistics of each client, readable from any thread while the clients work.

use dyno_model::client_group::ClientIds;
use dyno_model::units::Nanos;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering};

/// The work of one client in the measured window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientStatistics {
    /// Committed transactions.
    pub events: u64,
    /// Sum of their response times.
    pub busy: Nanos,
    /// Shortest of their response times since [`StatisticsByClient::forget_extremes`]; 0 without
    /// any.
    pub min: Nanos,
    /// Longest of them.
    pub max: Nanos,
}

/// The statistics of a client in their own cache line, so that clients on different threads do not
/// slow each other down.
#[derive(Debug)]
#[repr(align(64))]
struct Slot {
    events: AtomicU64,
    busy: AtomicU64,
    min: AtomicU64,
    max: AtomicU64,
}

impl Default for Slot {
    fn default() -> Self {
        Self {
            events: AtomicU64::new(0),
            busy: AtomicU64::new(0),
            min: AtomicU64::new(UNKNOWN),
            max: AtomicU64::new(0),
        }
    }
}

/// The shortest response time of a client that has none.
const UNKNOWN: u64 = u64::MAX;

/// The statistics of all clients. Only the client itself writes its statistics; reading takes no
/// lock.
#[derive(Debug)]
pub struct StatisticsByClient {
    ids: ClientIds,
    slots: Box<[Slot]>,
}

impl StatisticsByClient {
    /// Statistics of the clients with these ids, all 0.
    #[must_use]
    pub fn new(ids: ClientIds) -> Self {
        Self { ids, slots: ids.iter().map(|_| Slot::default()).collect() }
    }

    /// The statistics as they are now. Those of each client are exact; together they form a
    /// consistent snapshot only after the clients have ended.
    pub fn iter(&self) -> impl Iterator<Item = ClientStatistics> + '_ {
        self.slots.iter().map(|slot| ClientStatistics {
            events: slot.events.load(Ordering::Relaxed),
            busy: Nanos(slot.busy.load(Ordering::Relaxed)),
            min: Nanos(
                Some(slot.min.load(Ordering::Relaxed)).filter(|min| *min != UNKNOWN).unwrap_or(0),
            ),
            max: Nanos(slot.max.load(Ordering::Relaxed)),
        })
    }

    /// Enters the statistics of the clients with these ids, which have ended in another process.
    pub(crate) fn enter(&self, ids: ClientIds, statistics: &[ClientStatistics]) {
        for (client, statistics) in ids.iter().zip(statistics) {
            let slot = &self.slots[self.ids.position(client) as usize];
            slot.events.store(statistics.events, Ordering::Relaxed);
            slot.busy.store(statistics.busy.0, Ordering::Relaxed);
            if statistics.events > 0 {
                slot.min.store(statistics.min.0, Ordering::Relaxed);
                slot.max.store(statistics.max.0, Ordering::Relaxed);
            }
        }
    }

    /// Starts a new period for extremes. A transaction that ends meanwhile may count towards either
    /// period.
    pub fn forget_extremes(&self) {
        for slot in &self.slots {
            slot.min.store(UNKNOWN, Ordering::Relaxed);
            slot.max.store(0, Ordering::Relaxed);
        }
    }

    /// One more transaction of a client. Only the client's own thread calls this, so a plain load
    /// and store lose nothing.
    #[inline]
    pub(crate) fn record(&self, client: u32, latency: u64) {
        let slot = &self.slots[self.ids.position(client) as usize];
        slot.events.store(slot.events.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        slot.busy.store(slot.busy.load(Ordering::Relaxed) + latency, Ordering::Relaxed);
        // Extremes change rarely, so this mostly reads.
        if latency < slot.min.load(Ordering::Relaxed) {
            slot.min.store(latency, Ordering::Relaxed);
        }
        if latency > slot.max.load(Ordering::Relaxed) {
            slot.max.store(latency, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clients_extremes_are_those_since_they_were_forgotten() {
        let statistics = StatisticsByClient::new(ClientIds::round_robin(4, 1, 2));
        let of_first = || statistics.iter().next().unwrap();
        assert_eq!(of_first(), ClientStatistics::default());
        for latency in [30, 10, 20] {
            statistics.record(1, latency);
        }
        let expected =
            ClientStatistics { events: 3, busy: Nanos(60), min: Nanos(10), max: Nanos(30) };
        assert_eq!(of_first(), expected);
        statistics.forget_extremes();
        assert_eq!(of_first(), ClientStatistics { min: Nanos(0), max: Nanos(0), ..expected });
        statistics.record(1, 25);
        assert_eq!((of_first().min, of_first().max), (Nanos(25), Nanos(25)));
    }
}
