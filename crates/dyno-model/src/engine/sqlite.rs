//! SQLite, embedded in this process.

use super::traits::{
    Dialect, Execution, Isolation, JoinedUpdate, Numbering, Partitioning, Quoting, TemporaryTables, Traits,
    Truncate,
};

pub(super) const TRAITS: Traits = Traits {
    name: "sqlite",
    schemes: &["sqlite"],
    port: 0,
    products: "SQLite",
    execution: Execution::Client,
    // Whether it has a write-ahead log is the file's matter, and may be found out only when it is open.
    files_per_connection: 2,
    has_one_writer: true,
    names_need_text: false,
    has_extended_queries: false,
    commit_counter: None,
    flush_statistics: None,
    analyze: Some("ANALYZE"),
    password_file: None,
    sessions: None,
    dialect: Dialect {
        quoting: Quoting::Sqlite,
        // A transaction that reads first and writes then cannot go on when another one has written meanwhile.
        begin_to_write: "BEGIN IMMEDIATE",
        row_lock: "",
        isolation: Isolation::AlwaysSerializable,
        has_storage_engines: false,
        numbering: Numbering::RowNumber,
        has_inline_indexes: false,
        partitioning: Partitioning::Missing,
        temporary_tables: TemporaryTables {
            drop: "DROP TABLE IF EXISTS temp.",
            options: "",
            are_transactional: true,
        },
        joined_update: JoinedUpdate::From,
        date_and_time: "datetime",
        orders_by_key: true,
        drops_several: false,
        truncate: Truncate::Missing,
        ends_by_end: true,
    },
};
