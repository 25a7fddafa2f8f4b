//! Services that answer HTTP/1.1, whatever is behind them. They speak no SQL, and nobody but the workload asks them anything.

use super::mysql;
use super::traits::{Execution, Traits};

pub(super) const TRAITS: Traits = Traits {
    name: "http",
    schemes: &["http", "https"],
    port: 80,
    products: "HTTP services",
    execution: Execution::Service,
    files_per_connection: 1,
    has_one_writer: false,
    names_need_text: false,
    has_extended_queries: false,
    commit_counter: None,
    flush_statistics: None,
    jdbc: None,
    analyze: None,
    password_file: None,
    sessions: None,
    dialect: None,
    // Never asked: dyno sysbench takes databases only.
    sysbench: mysql::SYSBENCH,
};
