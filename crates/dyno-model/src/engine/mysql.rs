//! MySQL, MariaDB and others that speak their protocol.

use super::sysbench::{Sending, SysbenchDriver, of_query};
use super::traits::*;

pub(super) const TRAITS: Traits = Traits {
    name: "mysql",
    schemes: &["mysql", "mariadb"],
    port: 3306,
    example_factor: "\"server.settings.innodb_flush_log_at_trx_commit\" = [1, 2]",
    products: "MySQL, MariaDB",
    execution: Execution::Thread,
    files_per_connection: 1,
    has_one_writer: false,
    names_need_text: true,
    has_extended_queries: false,
    commit_counter: Some(CommitCounter { name: "Com_commit", is_exact: true }),
    flush_statistics: None,
    jdbc: Some("mariadb"),
    analyze: &["ANALYZE TABLE"],
    client_defaults: ClientDefaults::NOTHING,
    encrypts_sockets: true,
    // MySQL has a specific error number (3159) for a server that requires encryption; for an
    // account that requires it, and in MariaDB for both, the error is the same as for a wrong
    // password (1045).
    may_want_encryption: |failure| matches!(failure.code, 1045 | 3159),
    may_want_password: |failure| matches!(failure.code, 0 | 1045 | 1698),
    sharing: &[],
    password_variable: Some("MYSQL_PWD"),
    password_file: Some(PasswordFile {
        name: ".my.cnf",
        variable: None,
        form: PasswordForm::Groups,
        comes_first: true,
    }),
    sessions: Some(SessionStatements { list: "SHOW PROCESSLIST", end: "KILL ?" }),
    dialect: Some(DIALECT),
    sysbench: SYSBENCH,
};

pub(super) const DIALECT: Dialect = Dialect {
    syntax: Syntax::MYSQL,
    user_tables: "SELECT table_name FROM information_schema.tables WHERE table_schema = database()",
    tables: "SELECT table_name, concat('`', replace(table_name, '`', '``'), '`'), table_rows, data_length + index_length \
        FROM information_schema.tables WHERE table_schema = database() AND table_type = 'BASE TABLE'",
    columns: "SELECT c.table_name, concat(c.column_name, ' ', c.column_type, if(c.is_nullable = 'NO', ' NOT NULL', '')) \
        FROM information_schema.columns c JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name \
        WHERE c.table_schema = database() AND t.table_type = 'BASE TABLE' ORDER BY c.table_name, c.ordinal_position",
    // An expression has no name. Products use different terms for an index that exists but is not
    // used.
    indexes: "SELECT table_name, index_name, concat(if(max(non_unique) = 0, 'UNIQUE ', ''), max(index_type), ' (', \
        group_concat(coalesce(column_name, 'expression'), if(sub_part IS NULL, '', concat('(', sub_part, ')')), if(collation = 'D', ' DESC', '') \
        ORDER BY seq_in_index SEPARATOR ', '), ')' /*!80000 , if(max(is_visible) = 'NO', ' INVISIBLE', '') */ \
        /*M!100600 , if(max(ignored) = 'YES', ' IGNORED', '') */ ) FROM information_schema.statistics \
        WHERE table_schema = database() GROUP BY table_name, index_name",
    databases: "SELECT schema_name FROM information_schema.schemata",
    copying: Copying::Tables,
    begin_to_write: "BEGIN",
    row_lock: " FOR UPDATE",
    isolation: Isolation::Set {
        statement: "SET SESSION TRANSACTION ISOLATION LEVEL",
        // MariaDB before 11.1 supports only the second name.
        question: "SHOW SESSION VARIABLES WHERE variable_name IN ('transaction_isolation', 'tx_isolation')",
    },
    procedures: ProcedureLanguage::Psm,
    has_storage_engines: true,
    numbering: Numbering::AutoIncrement,
    has_inline_indexes: true,
    adds_foreign_keys: true,
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
    read_only: "SET SESSION TRANSACTION READ ONLY",
    read_only_queries: Some(ReadOnlyQueries {
        begin: "START TRANSACTION READ ONLY",
        after: &[(
            // MariaDB before 11.1 supports only the second name, MySQL from 8.0 on only the first.
            "SHOW SESSION VARIABLES WHERE variable_name IN ('transaction_read_only', 'tx_read_only')",
            Some("ON"),
            "it makes its session writable",
        )],
    }),
};

impl Syntax {
    /// The driver of MySQL's family.
    pub const MYSQL: Self = Self {
        backslash: Backslash::Escapes,
        has_hash_comments: true,
        executes_comments: true,
        has_texts_in_double_quotes: true,
        has_backticks: true,
        has_dollar_quotes: false,
        has_bars_for_or: true,
        has_question_mark_operators: false,
        has_typed_keys: false,
        deletes_from_aliases: true,
        has_databases_for_schemas: true,
        has_delimiter_lines: true,
        looks_up_calls_late: true,
    };
}

pub(super) const SYSBENCH: SysbenchDriver = SysbenchDriver {
    name: "mysql",
    no_address: "No MySQL hosts specified, aborting",
    encrypting: "--mysql-ssl=required",
    has_error_list: true,
    ignored_codes: &[1213, 1020, 1205],
    ignored_states: &[],
    lost: (2013, "HY000"),
    lost_before: (2006, "HY000"),
    no_state: "00000",
    tells_ignored: true,
    rolls_back: false,
    // An unknown database; and errors detected by the client while connecting, for example that the
    // server does not support TLS.
    is_unconnected: |code, state| code == 1049 || code == 0 && state.is_empty(),
    unreachable: |tcp, address, code, message| {
        // Error numbers of MySQL's client library for an unreachable server.
        let (address, number) = match tcp {
            Some((host, port)) => (format!("host '{host}', port {port}"), 2003),
            None => (format!("socket '{address}'"), 2002),
        };
        let code = if code == 0 { number } else { code };
        vec![
            format!("unable to connect to MySQL server on {address}, aborting..."),
            format!("error {code}: {message}"),
        ]
    },
    refused: |sending, code, message, query| {
        let function = match sending {
            Sending::Query => "mysql_drv_query",
            Sending::Execute => "mysql_stmt_execute",
            Sending::Prepare => {
                let error = format!("MySQL error: {code} \"{message}\"");
                return vec!["mysql_stmt_prepare() failed".to_owned(), error];
            }
        };
        vec![format!("{function}() returned error {code} ({message}){}", of_query(query))]
    },
};
