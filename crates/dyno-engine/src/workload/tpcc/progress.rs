//! What the clients did: counts for the audit, and the warehouses and districts that were used.

use super::size::{DISTRICTS, Size};
use dyno_model::record::UsedCount;
use std::sync::atomic::{AtomicU64, Ordering};

/// The effect of a committed transaction on the counts.
#[derive(Debug, Clone, Copy)]
pub(super) enum Effect {
    /// A new order, with its warehouse and district.
    NewOrder(i64, i64),
    Payment,
    /// With the number of orders.
    Delivery(u64),
    /// It only reads.
    Nothing,
}

/// The effects of committed transactions since the clients began.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counts {
    pub(super) new_orders: u64,
    pub(super) payments: u64,
    pub(super) delivered: u64,
}

/// Counts of all clients.
#[derive(Debug)]
pub(super) struct WorkCounts {
    new_orders: AtomicU64,
    payments: AtomicU64,
    /// Orders.
    delivered: AtomicU64,
    /// For each warehouse, a bit per district in which a new order was committed.
    districts: Vec<AtomicU64>,
}

impl WorkCounts {
    pub(super) fn new(size: &Size) -> Self {
        let counter = || AtomicU64::new(0);
        let districts = (0..size.warehouses).map(|_| counter()).collect();
        Self { new_orders: counter(), payments: counter(), delivered: counter(), districts }
    }

    pub(super) fn add(&self, done: Effect) {
        let (counter, count) = match done {
            Effect::NewOrder(warehouse, district) => {
                let (seen, bit) = (&self.districts[warehouse as usize - 1], 1 << (district - 1));
                // Most districts are known, and threads only read what does not change.
                if seen.load(Ordering::Relaxed) & bit == 0 {
                    seen.fetch_or(bit, Ordering::Relaxed);
                }
                (&self.new_orders, 1)
            }
            Effect::Payment => (&self.payments, 1),
            Effect::Delivery(orders) => (&self.delivered, orders),
            Effect::Nothing => return,
        };
        counter.fetch_add(count, Ordering::Relaxed);
    }

    pub(super) fn counts(&self) -> Counts {
        let [new_orders, payments, delivered] = self.counters().map(read);
        Counts { new_orders, payments, delivered }
    }

    /// Warehouses and districts in which a new order was committed.
    pub(super) fn touched(&self) -> (UsedCount, UsedCount) {
        let of_each = || self.districts.iter().map(|bits| u64::from(read(bits).count_ones()));
        let all = self.districts.len() as u64;
        let warehouses = of_each().filter(|districts| *districts > 0).count() as u64;
        let districts = UsedCount { touched: of_each().sum(), all: all * DISTRICTS.unsigned_abs() };
        (UsedCount { touched: warehouses, all }, districts)
    }

    /// Everything as numbers, for [`Self::import_counts`] in another process.
    pub(super) fn export_counts(&self) -> Vec<u64> {
        self.counters().into_iter().chain(&self.districts).map(read).collect()
    }

    pub(super) fn import_counts(&self, exported: &[u64]) {
        let (counts, districts) = exported.split_at(self.counters().len().min(exported.len()));
        for (counter, note) in self.counters().into_iter().zip(counts) {
            counter.fetch_add(*note, Ordering::Relaxed);
        }
        for (seen, note) in self.districts.iter().zip(districts) {
            seen.fetch_or(*note, Ordering::Relaxed);
        }
    }

    fn counters(&self) -> [&AtomicU64; 3] {
        [&self.new_orders, &self.payments, &self.delivered]
    }
}

fn read(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::tpcc::size::STANDARD;

    #[test]
    fn counts_of_several_generators_are_added_and_their_districts_united() {
        let size = Size { warehouses: 3, ..STANDARD };
        let (all, other) = (WorkCounts::new(&size), WorkCounts::new(&size));
        let done =
            [Effect::NewOrder(1, 10), Effect::NewOrder(1, 10), Effect::Payment, Effect::Nothing];
        done.into_iter().for_each(|it| all.add(it));
        for it in [Effect::NewOrder(1, 2), Effect::NewOrder(3, 1), Effect::Delivery(7)] {
            other.add(it);
        }
        all.import_counts(&other.export_counts());
        let Counts { new_orders, payments, delivered } = all.counts();
        assert_eq!((new_orders, payments, delivered), (4, 1, 7));
        let (warehouses, districts) = all.touched();
        assert_eq!((warehouses.touched, warehouses.all), (2, 3));
        assert_eq!((districts.touched, districts.all), (3, 30));
    }
}
