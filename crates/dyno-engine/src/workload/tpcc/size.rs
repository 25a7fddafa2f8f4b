//! The size of the database.

use super::super::sbtest::integer;
use dyno_model::catalog::{OptionDescription, WorkloadOptions};

/// Districts of a warehouse, and terminals that it has at most (clause 1.2.1).
pub(super) const DISTRICTS: i64 = 10;
/// Names that customers have.
const NAMES: i64 = 1_000;

/// How much of everything there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) warehouses: i64,
    /// Items, and rows of stock of each warehouse.
    pub(super) items: i64,
    /// Customers of each district, and orders that it has in the beginning.
    pub(super) customers: i64,
}

/// One warehouse as the standard defines it.
pub(super) const STANDARD: Size = Size { warehouses: 1, items: 100_000, customers: 3_000 };

pub(super) fn options() -> Vec<OptionDescription> {
    vec![
        integer("warehouses", 1, 100_000, 1, "number of warehouses, about 100 MB each"),
        integer(
            "items",
            100,
            1_000_000,
            STANDARD.items,
            "items, and rows of stock per warehouse; for a small database, which is no longer the \
             standard's",
        ),
        integer(
            "customers",
            10,
            100_000,
            STANDARD.customers,
            "customers per district, and orders that each district starts with; as items",
        ),
    ]
}

impl Size {
    pub(super) fn build(options: &WorkloadOptions) -> Self {
        let [warehouses, items, customers] =
            ["warehouses", "items", "customers"].map(|name| options.integer(name));
        Self { warehouses, items, customers }
    }

    /// How many last names there are.
    pub(super) fn names(&self) -> i64 {
        NAMES.min(self.customers)
    }

    /// Orders of each district that were delivered before the first transaction: 2,100 of 3,000.
    pub(super) fn delivered(&self) -> i64 {
        self.customers * 7 / 10
    }

    pub(super) fn districts(&self) -> i64 {
        self.warehouses * DISTRICTS
    }
}
