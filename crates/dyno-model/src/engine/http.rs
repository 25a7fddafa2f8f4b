//! Services that answer HTTP/1.1, whatever is behind them. They speak no SQL, and nobody but the
//! workload asks them anything.

use super::null;
use super::traits::{Execution, Traits};

pub(super) const TRAITS: Traits = Traits {
    name: "http",
    schemes: &["http", "https"],
    port: 80,
    products: "HTTP services",
    execution: Execution::Service,
    files_per_connection: 1,
    dialect: None,
    // Of sysbench's driver nobody asks: dyno sysbench takes databases only.
    ..null::TRAITS
};
