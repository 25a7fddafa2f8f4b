//! MySQL, MariaDB and others that speak their protocol.

use super::traits::{
    Dialect, Execution, Isolation, JoinedUpdate, Numbering, Partitioning, PasswordFile, PasswordForm,
    Quoting, SessionStatements, TemporaryTables, Traits, Truncate,
};

pub(super) const TRAITS: Traits = Traits {
    name: "mysql",
    schemes: &["mysql", "mariadb"],
    port: 3306,
    products: "MySQL, MariaDB",
    execution: Execution::Thread,
    files_per_connection: 1,
    has_one_writer: false,
    names_need_text: true,
    has_extended_queries: false,
    commit_counter: Some("Com_commit"),
    flush_statistics: None,
    analyze: Some("ANALYZE TABLE"),
    password_file: Some(PasswordFile { name: ".my.cnf", variable: None, form: PasswordForm::Groups }),
    sessions: Some(SessionStatements { list: "SHOW PROCESSLIST", end: "KILL ?" }),
    dialect: DIALECT,
};

pub(super) const DIALECT: Dialect = Dialect {
    quoting: Quoting::Mysql,
    begin_to_write: "BEGIN",
    row_lock: " FOR UPDATE",
    isolation: Isolation::Set("SET SESSION TRANSACTION ISOLATION LEVEL"),
    has_storage_engines: true,
    numbering: Numbering::AutoIncrement,
    has_inline_indexes: true,
    partitioning: Partitioning::Clause,
    temporary_tables: TemporaryTables {
        drop: "DROP TEMPORARY TABLE IF EXISTS ",
        options: " ENGINE = MEMORY",
        are_transactional: false,
    },
    joined_update: JoinedUpdate::Join,
    date_and_time: "datetime",
    orders_by_key: true,
    drops_several: true,
    truncate: Truncate::One,
    ends_by_end: false,
};
