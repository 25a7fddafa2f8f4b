//! SQLite, embedded in this process.

use super::sysbench::{SysbenchDriver, of_query};
use super::traits::*;

/// The URL of a database file, if the name ends as names of its files usually do.
#[must_use]
pub fn database_file_url(name: &str) -> Option<String> {
    let is_file = [".db", ".sqlite", ".sqlite3"].iter().any(|extension| name.ends_with(extension));
    is_file.then(|| format!("{}:{name}", TRAITS.name))
}

pub(super) const TRAITS: Traits = Traits {
    name: "sqlite",
    schemes: &["sqlite"],
    port: 0,
    example_factor: "\"server.settings.journal_mode\" = [\"WAL\", \"DELETE\"]",
    products: "SQLite",
    execution: Execution::Client,
    // Whether it uses a write-ahead log depends on the file, and is known only after opening it.
    files_per_connection: 2,
    has_one_writer: true,
    names_need_text: false,
    has_extended_queries: false,
    commit_counter: None,
    flush_statistics: None,
    jdbc: None,
    analyze: &["ANALYZE"],
    client_defaults: ClientDefaults::NOTHING,
    encrypts_sockets: true,
    may_want_encryption: |_| false,
    may_want_password: |_| false,
    // Writers wait for each other instead of failing immediately, and readers do not wait for
    // writers.
    sharing: &["PRAGMA journal_mode = WAL", "PRAGMA busy_timeout = 10000"],
    password_variable: None,
    password_file: None,
    sessions: None,
    sysbench: SYSBENCH,
    dialect: Some(Dialect {
        syntax: Syntax::SQLITE,
        user_tables: "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
        // Determining their sizes would require reading every page.
        tables: "SELECT name, printf('\"%w\"', name), NULL, NULL FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite^_%' ESCAPE '^'",
        columns: "SELECT t.name, c.name || ' ' || c.type || CASE WHEN c.pk > 0 THEN ' PRIMARY KEY' WHEN c.\"notnull\" THEN ' NOT NULL' ELSE '' END \
            FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite^_%' ESCAPE '^' ORDER BY 1, c.cid",
        indexes: "SELECT tbl_name, name, coalesce(sql, 'UNIQUE') FROM sqlite_schema WHERE type = 'index' AND tbl_name NOT LIKE 'sqlite^_%' ESCAPE '^'",
        // A transaction that first reads and then writes cannot continue when another one has
        // written in between.
        databases: "",
        copying: Copying::Vacuum,
        begin_to_write: "BEGIN IMMEDIATE",
        row_lock: "",
        isolation: Isolation::AlwaysSerializable,
        procedures: ProcedureLanguage::None,
        has_storage_engines: false,
        numbering: Numbering::RowNumber,
        has_inline_indexes: false,
        adds_foreign_keys: false,
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
        read_only: "PRAGMA query_only = ON",
        read_only_queries: None,
    }),
};

impl Syntax {
    /// The driver of SQLite.
    pub const SQLITE: Self = Self {
        backslash: Backslash::IsPlain,
        has_hash_comments: false,
        executes_comments: false,
        has_texts_in_double_quotes: false,
        has_backticks: true,
        has_dollar_quotes: false,
        has_bars_for_or: false,
        has_question_mark_operators: false,
        has_typed_keys: false,
        deletes_from_aliases: false,
        has_databases_for_schemas: false,
        has_delimiter_lines: false,
        looks_up_calls_late: false,
    };
}

const SYSBENCH: SysbenchDriver = SysbenchDriver {
    name: "sqlite",
    no_address: "no database file is given: --sqlite-db=FILE",
    encrypting: "",
    has_error_list: false,
    // BUSY and LOCKED, which correspond to a deadlock, with the extended codes of BUSY.
    ignored_codes: &[5, 6, 261, 517, 773],
    ignored_states: &[],
    lost: (0, ""),
    lost_before: (0, ""),
    no_state: "",
    tells_ignored: false,
    rolls_back: false,
    is_unconnected: |_, _| false,
    unreachable: |_, address, _, message| {
        vec![format!("unable to open the database {address}: {message}")]
    },
    refused: |_, code, message, query| {
        vec![format!("SQLite returned error {code} ({message}){}", of_query(query))]
    },
};
