//! HTTP/1.1 services, regardless of their implementation. They do not support SQL, and only the
//! workload sends requests to them.

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
    // The sysbench driver is never used: dyno sysbench accepts databases only.
    ..null::TRAITS
};
