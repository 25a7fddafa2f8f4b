//! PostgreSQL and others that speak its protocol.

use super::sysbench::{Sending, SysbenchDriver};
use super::traits::*;

/// The value of `sslnegotiation` with which a client asks the server before it encrypts.
pub const TLS_ON_REQUEST: &str = "postgres";

pub(super) const TRAITS: Traits = Traits {
    name: "postgres",
    schemes: &["postgres", "postgresql"],
    port: 5432,
    example_factor: "\"server.settings.synchronous_commit\" = [\"on\", \"off\"]",
    products: "PostgreSQL",
    execution: Execution::Process,
    files_per_connection: 1,
    has_one_writer: false,
    names_need_text: false,
    has_extended_queries: true,
    // Its counter includes every statement that commits by itself, including dyno's own queries.
    commit_counter: Some(CommitCounter { name: "xact_commit", is_exact: false }),
    // Unavailable before version 15; the counters then include activity before the window.
    flush_statistics: Some("SELECT pg_stat_force_next_flush()"),
    jdbc: None,
    // Also sets hint bits and the visibility map, which autovacuum would otherwise do in the middle
    // of a trial.
    analyze: &["VACUUM ANALYZE", "ANALYZE"],
    client_defaults: ClientDefaults {
        variables: &VARIABLES,
        // Location on Debian and others.
        socket_folder: Some("/var/run/postgresql"),
        socket_prefix: Some(".s.PGSQL."),
        has_lists_of_hosts: true,
        has_database_of_user: true,
        certificates: Some(CertificateFiles {
            authorities: ".postgresql/root.crt",
            certificate: ".postgresql/postgresql.crt",
            key: ".postgresql/postgresql.key",
        }),
    },
    encrypts_sockets: false,
    // One SQLSTATE covers all rejected logins: rejections by the server's host-based authentication
    // (`pg_hba.conf`) are distinguished by the routine that raises them; a pooler in front of the
    // server reports no routine.
    may_want_encryption: |failure| {
        failure.sqlstate == "28000"
            && matches!(failure.routine.as_str(), "" | "ClientAuthentication")
    },
    // A failure of the driver itself, for example because the server asked for a password, has no
    // SQLSTATE.
    may_want_password: |failure| matches!(failure.sqlstate.as_str(), "" | "28P01"),
    sharing: &[],
    password_variable: Some("PGPASSWORD"),
    password_file: Some(PasswordFile {
        name: ".pgpass",
        variable: Some("PGPASSFILE"),
        form: PasswordForm::Lines,
        comes_first: false,
    }),
    sessions: Some(SessionStatements {
        list: "SELECT pid, usename FROM pg_stat_activity WHERE application_name = 'dyno' AND pid <> pg_backend_pid()",
        end: "SELECT pg_terminate_backend(?)",
    }),
    sysbench: SYSBENCH,
    dialect: Some(Dialect {
        syntax: Syntax::POSTGRES,
        // Objects of extensions are excluded.
        user_tables: "SELECT CASE WHEN n.nspname = current_schema() THEN c.relname ELSE n.nspname || '.' || c.relname END \
            FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
            WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema') \
            AND n.nspname NOT LIKE 'pg\\_toast%' AND n.nspname NOT LIKE 'pg\\_temp%' \
            AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_class'::regclass \
            AND d.objid = c.oid AND d.deptype = 'e')",
        tables: "SELECT n.nspname || '.' || c.relname, c.oid::regclass::text, nullif(c.reltuples, -1)::bigint, pg_total_relation_size(c.oid) \
            FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'r' \
            AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'",
        columns: "SELECT n.nspname || '.' || c.relname, a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || \
            CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END \
            FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid \
            JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped \
            AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%' ORDER BY 1, a.attnum",
        indexes: "SELECT n.nspname || '.' || c.relname, i.relname, pg_get_indexdef(x.indexrelid) || CASE WHEN x.indisvalid THEN '' ELSE ' INVALID' END \
            FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class c ON c.oid = x.indrelid JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid \
            JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p') \
            AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'",
        databases: "SELECT datname FROM pg_catalog.pg_database",
        copying: Copying::Template,
        begin_to_write: "BEGIN",
        row_lock: " FOR UPDATE",
        isolation: Isolation::Set {
            statement: "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL",
            question: "SHOW transaction_isolation",
        },
        procedures: ProcedureLanguage::PlPgSql,
        has_storage_engines: false,
        numbering: Numbering::Sequence,
        has_inline_indexes: false,
        adds_foreign_keys: true,
        partitioning: Partitioning::Tables,
        temporary_tables: TemporaryTables {
            drop: "DROP TABLE IF EXISTS pg_temp.",
            options: "",
            are_transactional: true,
        },
        joined_update: JoinedUpdate::From,
        date_and_time: "timestamp",
        orders_by_key: false,
        drops_several: true,
        truncate: Truncate::Several,
        ends_by_end: true,
        read_only: "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
        read_only_queries: Some(ReadOnlyQueries {
            // Once a snapshot exists, the transaction cannot be set to read-write.
            begin: "BEGIN READ ONLY; SELECT 1",
            after: &[
                (
                    "SELECT txid_current_if_assigned()",
                    None,
                    "the server assigned it a transaction ID, which happens only when a \
                     transaction writes",
                ),
                ("SHOW default_transaction_read_only", Some("on"), "it makes its session writable"),
            ],
        }),
    }),
};

impl Syntax {
    /// The driver of PostgreSQL.
    pub const POSTGRES: Self = Self {
        backslash: Backslash::EscapesWhereMarked,
        has_hash_comments: false,
        executes_comments: false,
        has_texts_in_double_quotes: false,
        has_backticks: false,
        has_dollar_quotes: true,
        has_bars_for_or: false,
        has_question_mark_operators: true,
        has_typed_keys: true,
        deletes_from_aliases: false,
        has_databases_for_schemas: false,
        has_delimiter_lines: false,
        looks_up_calls_late: false,
    };
}

/// libpq's environment variables and the corresponding parameters.
const VARIABLES: [(&str, &str); 22] = [
    ("PGHOST", "host"),
    ("PGHOSTADDR", "hostaddr"),
    ("PGPORT", "port"),
    ("PGUSER", "user"),
    ("PGDATABASE", "dbname"),
    ("PGPASSWORD", "password"),
    ("PGPASSFILE", "passfile"),
    ("PGSSLMODE", "sslmode"),
    ("PGSSLROOTCERT", "sslrootcert"),
    ("PGSSLCERT", "sslcert"),
    ("PGSSLKEY", "sslkey"),
    ("PGCONNECT_TIMEOUT", "connect_timeout"),
    ("PGSSLNEGOTIATION", "sslnegotiation"),
    ("PGMAXPROTOCOLVERSION", "max_protocol_version"),
    ("PGTARGETSESSIONATTRS", "target_session_attrs"),
    ("PGCHANNELBINDING", "channel_binding"),
    ("PGOPTIONS", "options"),
    ("PGAPPNAME", "application_name"),
    // Parameters that would make a connection less secure than the user expects, or redirect it.
    ("PGGSSENCMODE", "gssencmode"),
    ("PGREQUIREPEER", "requirepeer"),
    ("PGSSLCRL", "sslcrl"),
    ("PGSERVICE", "service"),
];

const SYSBENCH: SysbenchDriver = SysbenchDriver {
    name: "pgsql",
    no_address: "there is no address for the pgsql driver",
    encrypting: "--pgsql-sslmode=require",
    has_error_list: true,
    ignored_codes: &[],
    ignored_states: &["40P01", "40001", "23505"],
    lost: (0, "08006"),
    lost_before: (0, "08006"),
    no_state: "",
    tells_ignored: false,
    rolls_back: true,
    // An unknown database.
    is_unconnected: |_, state| state == "3D000",
    unreachable: |_, _, _, message| vec![format!("Connection to database failed: {message}")],
    refused: |sending, _, message, query| {
        let function = match sending {
            Sending::Query => "PQexec",
            Sending::Prepare => "PQprepare",
            Sending::Execute => "PQexecPrepared",
        };
        let failed = format!("{function}() failed: 7 {message}");
        let query = query.map(|query| format!("failed query was: {query}"));
        [Some(failed), query].into_iter().flatten().collect()
    },
};
