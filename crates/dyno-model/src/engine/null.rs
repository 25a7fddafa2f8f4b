//! The null engine: canned replies in this process. It reads only the first word of a statement.

use super::mysql;
use super::traits::{ClientDefaults, Dialect, Execution, Traits};

pub(super) const TRAITS: Traits = Traits {
    name: "null",
    schemes: &["null"],
    port: 0,
    example_factor: "",
    products: "canned replies",
    execution: Execution::Nowhere,
    files_per_connection: 0,
    has_one_writer: false,
    names_need_text: false,
    has_extended_queries: false,
    commit_counter: None,
    flush_statistics: None,
    jdbc: None,
    analyze: &[],
    client_defaults: ClientDefaults::NOTHING,
    encrypts_sockets: true,
    may_want_encryption: |_| false,
    may_want_password: |_| false,
    sharing: &[],
    password_variable: None,
    password_file: None,
    sessions: None,
    dialect: Some(Dialect { databases: "", ..mysql::DIALECT }),
    // A dry run behaves like MySQL.
    sysbench: mysql::SYSBENCH,
};
