//! Facts that every engine must define.

use super::sysbench::SysbenchDriver;
use crate::failure::OperationFailure;

/// Facts of an engine.
#[derive(Debug)]
pub struct Traits {
    /// Its name in reports, and the first of its URL schemes.
    pub name: &'static str,
    /// The schemes of its URLs.
    pub schemes: &'static [&'static str],
    /// The default port of its servers; 0 where ports do not apply.
    pub port: u16,
    /// A factor that compares two values of a setting, for a first spec; empty where there are no
    /// settings.
    pub example_factor: &'static str,
    /// Products that use it, as named in headings and sentences.
    pub products: &'static str,
    /// Where statements are executed.
    pub execution: Execution,
    /// Maximum number of files that this process opens per connection (measured in
    /// `dyno-drivers/src/open_files.rs`).
    pub files_per_connection: u64,
    /// True when a second connection that writes would only wait for the first.
    pub has_one_writer: bool,
    /// True when column names are available only for statements sent as text, and not for prepared
    /// statements.
    pub names_need_text: bool,
    /// True when statements can be parsed, bound and executed each time
    /// ([`QueryMode::Extended`](crate::target::QueryMode::Extended)).
    pub has_extended_queries: bool,
    /// The server's counter of COMMITs.
    pub commit_counter: Option<CommitCounter>,
    /// Sent before a trial's window, so that the server's statistics then include the previous
    /// activity of the session.
    pub flush_statistics: Option<&'static str>,
    /// Its driver name in the URL of the web application in `examples/webapp`; `None`: the
    /// application has no driver for it.
    pub jdbc: Option<&'static str>,
    /// Statements that update the planner's statistics of the table whose name follows, best first;
    /// the others are for servers that refuse the best.
    pub analyze: &'static [&'static str],
    /// Defaults of its own client programs for omitted parts of an address.
    pub client_defaults: ClientDefaults,
    /// True when connections over unix sockets can be encrypted.
    pub encrypts_sockets: bool,
    /// Whether a login over TCP may have failed because it was not encrypted.
    pub may_want_encryption: fn(&OperationFailure) -> bool,
    /// Whether a login may have failed because the password, or the user's name, is wrong.
    pub may_want_password: fn(&OperationFailure) -> bool,
    /// Statements for sessions that share a database without being told otherwise.
    pub sharing: &'static [&'static str],
    /// The environment variable from which its own client programs read a password.
    pub password_variable: Option<&'static str>,
    /// Password file of its own client programs.
    pub password_file: Option<PasswordFile>,
    /// Statements about sessions, if supported.
    pub sessions: Option<SessionStatements>,
    /// Its SQL dialect; `None` without SQL.
    pub dialect: Option<Dialect>,
    /// The sysbench driver for it.
    pub sysbench: SysbenchDriver,
}

/// A server's counter of committed transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommitCounter {
    /// Its name.
    pub name: &'static str,
    /// True when it counts the COMMITs that were sent and nothing else; otherwise it also counts
    /// statements outside of transaction blocks and transactions of the server's own.
    pub is_exact: bool,
}

/// Where statements are executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Execution {
    /// In the client's own thread, which is blocked meanwhile.
    Client,
    /// In a thread of the server's process.
    Thread,
    /// In a separate process, which the server's first process starts.
    Process,
    /// In a service of which only the responses are known.
    Service,
    /// Nowhere: statements are not executed.
    Nowhere,
}

/// Defaults of an engine's own client programs for omitted parts of an address.
#[derive(Debug)]
pub struct ClientDefaults {
    /// Environment variables that they read, and the corresponding parameters.
    pub variables: &'static [(&'static str, &'static str)],
    /// Folder of the server's sockets, used when it exists and no host is named.
    pub socket_folder: Option<&'static str>,
    /// Prefix of the file name of a socket, before the port; users name its folder. `None`: users
    /// name the file.
    pub socket_prefix: Option<&'static str>,
    /// True when several hosts may be named, of which the first is used.
    pub has_lists_of_hosts: bool,
    /// True when the database defaults to the user name.
    pub has_database_of_user: bool,
    /// Certificates in the user's home folder.
    pub certificates: Option<CertificateFiles>,
}

impl ClientDefaults {
    /// A host, a port and names, all of them explicit.
    pub const NOTHING: Self = Self {
        variables: &[],
        socket_folder: None,
        socket_prefix: None,
        has_lists_of_hosts: false,
        has_database_of_user: false,
        certificates: None,
    };
}

/// PEM files, below the user's home folder.
#[derive(Debug)]
pub struct CertificateFiles {
    /// Authorities for checking a server's certificate.
    pub authorities: &'static str,
    /// The user's certificate.
    pub certificate: &'static str,
    /// Its private key.
    pub key: &'static str,
}

/// A file in which an engine's own client programs store passwords.
#[derive(Debug)]
pub struct PasswordFile {
    /// Its name in the user's home folder.
    pub name: &'static str,
    /// The environment variable that names another file.
    pub variable: Option<&'static str>,
    /// Its format.
    pub form: PasswordForm,
    /// True when it takes precedence over the environment variable that contains a password.
    pub comes_first: bool,
}

/// Format of a password file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasswordForm {
    /// Lines `host:port:database:user:password`.
    Lines,
    /// Groups of `name = value`, of which only `[client]` applies.
    Groups,
}

/// Statements about a server's sessions.
#[derive(Debug)]
pub struct SessionStatements {
    /// Lists sessions, with their number and account in the first two columns.
    pub list: &'static str,
    /// Terminates a session; its number replaces `?`.
    pub end: &'static str,
}

/// The parts of SQL that differ between engines.
#[derive(Debug)]
pub struct Dialect {
    /// Lexical rules of statements.
    pub syntax: Syntax,
    /// Lists the user tables and views of the database. Names outside the schema in which dyno
    /// creates its tables are qualified with their schema.
    pub user_tables: &'static str,
    /// Each table with rows: name, name in SQL, rows if known without counting, bytes including
    /// indexes if cheap to determine.
    pub tables: &'static str,
    /// Each column of tables: table, and the column with its type, in column order.
    pub columns: &'static str,
    /// Each index: table, name, definition.
    pub indexes: &'static str,
    /// Lists the databases of the server; empty where there are none.
    pub databases: &'static str,
    /// How a database is copied to another one on the same server.
    pub copying: Copying,
    /// Starts a transaction that first reads and then writes.
    pub begin_to_write: &'static str,
    /// Appended to a SELECT: locks the rows until the transaction ends. Empty where starting the
    /// transaction does that.
    pub row_lock: &'static str,
    /// How the isolation level of a session's transactions is set.
    pub isolation: Isolation,
    /// In what stored procedures are written.
    pub procedures: ProcedureLanguage,
    /// True when a table specifies its storage engine.
    pub has_storage_engines: bool,
    /// How a key column generates its values.
    pub numbering: Numbering,
    /// True when CREATE TABLE can create non-unique indexes.
    pub has_inline_indexes: bool,
    /// True when `ALTER TABLE` adds foreign keys to tables with rows.
    pub adds_foreign_keys: bool,
    /// How a table is partitioned by the hash of its key.
    pub partitioning: Partitioning,
    /// Temporary tables of a session.
    pub temporary_tables: TemporaryTables,
    /// How an UPDATE joins another table.
    pub joined_update: JoinedUpdate,
    /// Type of a column that holds a date and a time.
    pub date_and_time: &'static str,
    /// True when tables are stored in key order, so that their keys are created with them.
    pub orders_by_key: bool,
    /// True when DROP TABLE accepts several names.
    pub drops_several: bool,
    /// How a whole table is emptied.
    pub truncate: Truncate,
    /// True when `END` is a synonym for COMMIT.
    pub ends_by_end: bool,
    /// Makes a session read-only from here on.
    pub read_only: &'static str,
    /// How to detect writes of a read-only session; `None` where they cannot happen.
    pub read_only_queries: Option<ReadOnlyQueries>,
}

/// How to detect writes of a read-only session.
#[derive(Debug)]
pub struct ReadOnlyQueries {
    /// Starts a transaction that is read-only and cannot be made read-write.
    pub begin: &'static str,
    /// Query before it ends: the statement, the last field of its answer if nothing was written,
    /// and the meaning of any other answer.
    pub after: &'static [(&'static str, Option<&'static str>, &'static str)],
}

impl Dialect {
    /// A quoted name, which may contain any characters.
    #[must_use]
    pub fn quoted_name(&self, name: &str) -> String {
        match self.syntax.has_texts_in_double_quotes {
            true => format!("`{}`", name.replace('`', "``")),
            false => format!("\"{}\"", name.replace('"', "\"\"")),
        }
    }

    /// A text column followed by a parameter's text.
    #[must_use]
    pub fn appended(&self, column: &str) -> String {
        match self.syntax.has_bars_for_or {
            true => format!("CONCAT({column}, ?)"),
            false => format!("{column} || ?"),
        }
    }

    /// A text literal.
    #[must_use]
    pub fn literal(&self, text: &str) -> String {
        let text = text.replace('\'', "''");
        match self.syntax.backslash {
            Backslash::Escapes => format!("'{}'", text.replace('\\', "\\\\")),
            Backslash::EscapesWhereMarked | Backslash::IsPlain => format!("'{text}'"),
        }
    }
}

/// Lexical rules of an engine and its own clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Syntax {
    /// Where a backslash escapes the next character.
    pub backslash: Backslash,
    /// True when `#` starts a comment.
    pub has_hash_comments: bool,
    /// True when `/*! ... */` is executed instead of being a comment.
    pub executes_comments: bool,
    /// True when double quotes delimit texts; otherwise they delimit names.
    pub has_texts_in_double_quotes: bool,
    /// True when backticks delimit names.
    pub has_backticks: bool,
    /// True when `$tag$` starts a text.
    pub has_dollar_quotes: bool,
    /// True when `||` is OR and not concatenation.
    pub has_bars_for_or: bool,
    /// True when `?` is an operator, so that the driver reads `??` as that operator.
    pub has_question_mark_operators: bool,
    /// True when the operand after `->` has its own type, text or number.
    pub has_typed_keys: bool,
    /// True when `DELETE FROM a USING b AS a` deletes from b.
    pub deletes_from_aliases: bool,
    /// True when a schema is a database: `USE` and `CREATE SCHEMA` leave the connected one.
    pub has_databases_for_schemas: bool,
    /// True when clients interpret lines `DELIMITER //`, and dumps contain DEFINER clauses and
    /// lines about the server's log.
    pub has_delimiter_lines: bool,
    /// True when the procedure of a CALL is resolved only on execution.
    pub looks_up_calls_late: bool,
}

/// Where a backslash escapes the next character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backslash {
    /// In all texts.
    Escapes,
    /// In `E'...'`.
    EscapesWhereMarked,
    /// Nowhere.
    IsPlain,
}

/// How the isolation level of a session's transactions is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// By a statement.
    Set {
        /// The statement, to which the level's name is appended.
        statement: &'static str,
        /// Queries the level in force; it is in the last column of the answer.
        question: &'static str,
    },
    /// Not supported: transactions are always serializable.
    AlwaysSerializable,
}

/// A language of stored procedures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcedureLanguage {
    /// There are no stored procedures.
    None,
    /// SQL/PSM, as the MySQL family implements it.
    Psm,
    /// PL/pgSQL, with procedures that end transactions (from version 11 on).
    PlPgSql,
}

/// How a database is copied to another one on the same server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copying {
    /// By the server: `CREATE DATABASE ... TEMPLATE`.
    Template,
    /// Table by table.
    Tables,
    /// Into another file: `VACUUM INTO`.
    Vacuum,
}

/// How a key column generates its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbering {
    /// `AUTO_INCREMENT`: rows with the number 0 get the next value.
    AutoIncrement,
    /// `SERIAL`: a sequence, which must be advanced past rows inserted with explicit numbers.
    Sequence,
    /// Only `INTEGER PRIMARY KEY` columns, implicitly.
    RowNumber,
}

/// How a table is partitioned by the hash of its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Partitioning {
    /// A clause of CREATE TABLE creates all partitions.
    Clause,
    /// Each partition is a separate table.
    Tables,
    /// Not supported.
    Missing,
}

/// Temporary tables of a session.
#[derive(Debug)]
pub struct TemporaryTables {
    /// Drops the temporary table whose name follows, if it exists, and never another table of that
    /// name.
    pub drop: &'static str,
    /// Appended to its definition to keep it in memory only.
    pub options: &'static str,
    /// True when creating and dropping them is transactional.
    pub are_transactional: bool,
}

/// How an UPDATE joins another table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinedUpdate {
    /// `UPDATE a JOIN b ON ... SET ...`
    Join,
    /// `UPDATE a SET ... FROM b WHERE ...`
    From,
}

/// How a whole table is emptied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truncate {
    /// `TRUNCATE TABLE` with several names.
    Several,
    /// `TRUNCATE TABLE` with one name.
    One,
    /// By deletion of its rows.
    Missing,
}

impl Truncate {
    /// The statements that empty these tables.
    #[must_use]
    pub fn statements(self, tables: &[&str]) -> Vec<String> {
        match self {
            Self::Several => vec![format!("truncate table {}", tables.join(", "))],
            Self::One => tables.iter().map(|table| format!("truncate table {table}")).collect(),
            Self::Missing => tables.iter().map(|table| format!("delete from {table}")).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::Engine;

    #[test]
    fn quotes_in_texts_and_names_stay_inside() {
        let rows = [
            (Engine::Mysql, "'a\\\\''b'", "`a\\'b`"),
            (Engine::Postgres, "'a\\''b'", "\"a\\'b\""),
            (Engine::Sqlite, "'a\\''b'", "\"a\\'b\""),
        ];
        for (engine, literal, name) in rows {
            let dialect = engine.dialect();
            assert_eq!(
                (dialect.literal("a\\'b").as_str(), dialect.quoted_name("a\\'b").as_str()),
                (literal, name)
            );
        }
        assert_eq!(Engine::Mysql.dialect().quoted_name("a`b"), "`a``b`");
        assert_eq!(Engine::Sqlite.dialect().quoted_name("a\"b"), "\"a\"\"b\"");
    }
}
