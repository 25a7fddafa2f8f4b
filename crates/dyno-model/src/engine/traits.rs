//! What has to be said of each engine.

use super::sysbench::SysbenchDriver;
use crate::failure::OperationFailure;

/// Facts of an engine.
#[derive(Debug)]
pub struct Traits {
    /// Its name in reports, and the first of its schemes.
    pub name: &'static str,
    /// The schemes of its URLs.
    pub schemes: &'static [&'static str],
    /// The port of its servers where none is named; 0 where there are no ports.
    pub port: u16,
    /// A factor that compares two values of a setting, for a first spec; empty where there are no
    /// settings.
    pub example_factor: &'static str,
    /// Products that speak it, as headings and sentences name them.
    pub products: &'static str,
    /// Where a client's statements are worked on.
    pub execution: Execution,
    /// Files that this process has open for a connection, at most (measured in
    /// `dyno-drivers/src/open_files.rs`).
    pub files_per_connection: u64,
    /// True when a second connection that writes would only wait for the first.
    pub has_one_writer: bool,
    /// True when the names of columns are told for texts only, and not for prepared statements.
    pub names_need_text: bool,
    /// True when statements can be parsed, bound and executed anew each time
    /// ([`QueryMode::Extended`](crate::target::QueryMode::Extended)).
    pub has_extended_queries: bool,
    /// The server's counter of COMMITs, if it counts those that were sent and no others.
    pub commit_counter: Option<&'static str>,
    /// Sent before a trial's window, so that the server's statistics hold by then what the session
    /// did before.
    pub flush_statistics: Option<&'static str>,
    /// How the driver of the web application in `examples/webapp` names it in its URL; `None`: it
    /// has no driver for it.
    pub jdbc: Option<&'static str>,
    /// Gives the planner fresh statistics of the table whose name follows.
    pub analyze: Option<&'static str>,
    /// What its own client programs do where an address leaves something out.
    pub client_defaults: ClientDefaults,
    /// True when connections over unix sockets can be encrypted.
    pub encrypts_sockets: bool,
    /// Whether a login over TCP may have failed because it was not encrypted.
    pub may_want_encryption: fn(&OperationFailure) -> bool,
    /// Statements for sessions that share a database without being told otherwise.
    pub sharing: &'static [&'static str],
    /// The variable of the environment that gives its own client programs a password.
    pub password_variable: Option<&'static str>,
    /// Where its own client programs keep passwords.
    pub password_file: Option<PasswordFile>,
    /// Statements about sessions, where there are any.
    pub sessions: Option<SessionStatements>,
    /// Its SQL; `None` when it speaks none.
    pub dialect: Option<Dialect>,
    /// sysbench's driver for it.
    pub sysbench: SysbenchDriver,
}

/// Where a client's statements are worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Execution {
    /// In the client's own thread, which is held up meanwhile.
    Client,
    /// In a thread of the server's process.
    Thread,
    /// In a process of its own, which the server's first process starts.
    Process,
    /// In a service of which no more is known than its answers.
    Service,
    /// Nowhere: there is nothing to work on.
    Nowhere,
}

/// What an engine's own client programs do where an address leaves something out.
#[derive(Debug)]
pub struct ClientDefaults {
    /// Variables of the environment that they read, and the parameters that these stand for.
    pub variables: &'static [(&'static str, &'static str)],
    /// Folder of the server's sockets, used when it is there and no host is named.
    pub socket_folder: Option<&'static str>,
    /// What the name of a socket's file begins with, before the port; users name its folder.
    /// `None`: they name the file.
    pub socket_prefix: Option<&'static str>,
    /// True when several hosts may be named, of which the first is taken.
    pub has_lists_of_hosts: bool,
    /// True when a database that is not named is that of the user's name.
    pub has_database_of_user: bool,
    /// Certificates in the user's home folder.
    pub certificates: Option<CertificateFiles>,
}

impl ClientDefaults {
    /// A host, a port and names, all of them given.
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
    /// Authorities that a server's certificate is checked with.
    pub authorities: &'static str,
    /// The user's certificate.
    pub certificate: &'static str,
    /// Its private key.
    pub key: &'static str,
}

/// A file in which an engine's own client programs keep passwords.
#[derive(Debug)]
pub struct PasswordFile {
    /// Its name in the user's home folder.
    pub name: &'static str,
    /// The variable of the environment that names another.
    pub variable: Option<&'static str>,
    /// How it is written.
    pub form: PasswordForm,
    /// True when it counts before the variable that holds a password.
    pub comes_first: bool,
}

/// How a file of passwords is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasswordForm {
    /// Lines `host:port:database:user:password`.
    Lines,
    /// Groups of `name = value`, of which `[client]` counts.
    Groups,
}

/// Statements about a server's sessions.
#[derive(Debug)]
pub struct SessionStatements {
    /// Lists them, each with its number and its account in the first two columns.
    pub list: &'static str,
    /// Ends one; its number takes the place of `?`.
    pub end: &'static str,
}

/// SQL, as far as it is not the same everywhere.
#[derive(Debug)]
pub struct Dialect {
    /// How the text of statements is read.
    pub syntax: Syntax,
    /// Lists the database's tables and views that belong to users. One outside the schema in which
    /// dyno makes its own is told with its schema's name.
    pub user_tables: &'static str,
    /// Each table that holds rows: name, name in SQL, rows as far as they are known without
    /// counting, bytes with indexes where they cost nothing to know.
    pub tables: &'static str,
    /// Each column of tables: table, and the column with its type, in the order of the columns.
    pub columns: &'static str,
    /// Each index: table, name, definition.
    pub indexes: &'static str,
    /// Lists the databases that lie side by side; empty where there are none.
    pub databases: &'static str,
    /// How a database is copied to one beside it.
    pub copying: Copying,
    /// Begins a transaction that reads first and writes then.
    pub begin_to_write: &'static str,
    /// Behind a SELECT: nobody else may change the rows before the transaction ends. Empty where
    /// beginning does that.
    pub row_lock: &'static str,
    /// How a session's transactions get another isolation level.
    pub isolation: Isolation,
    /// True when a table says which storage engine keeps it.
    pub has_storage_engines: bool,
    /// How a key numbers itself.
    pub numbering: Numbering,
    /// True when CREATE TABLE can make indexes that are not unique.
    pub has_inline_indexes: bool,
    /// How a table is divided by the hash of its key.
    pub partitioning: Partitioning,
    /// Tables that a session has for itself.
    pub temporary_tables: TemporaryTables,
    /// How an UPDATE joins another table.
    pub joined_update: JoinedUpdate,
    /// Type of a column that holds a date and a time.
    pub date_and_time: &'static str,
    /// True when tables lie in the order of their keys, which are therefore made with them.
    pub orders_by_key: bool,
    /// True when DROP TABLE takes several names.
    pub drops_several: bool,
    /// How a table is emptied as a whole.
    pub truncate: Truncate,
    /// True when `END` is another word for COMMIT.
    pub ends_by_end: bool,
    /// Lets a session change no data from here on.
    pub read_only: &'static str,
    /// How to see whether a session that only reads writes all the same; `None` where it cannot.
    pub read_only_questions: Option<ReadOnlyQuestions>,
}

/// How to see whether a session that only reads writes all the same.
#[derive(Debug)]
pub struct ReadOnlyQuestions {
    /// Begins a transaction that only reads, and that cannot be made to write any more.
    pub begin: &'static str,
    /// Asked before it ends: a question, the last field of its answer if nothing was written, and
    /// what another answer means.
    pub after: &'static [(&'static str, Option<&'static str>, &'static str)],
}

impl Dialect {
    /// A name as it is written where it may hold anything.
    #[must_use]
    pub fn quoted_name(&self, name: &str) -> String {
        match self.syntax.has_texts_in_double_quotes {
            true => format!("`{}`", name.replace('`', "``")),
            false => format!("\"{}\"", name.replace('"', "\"\"")),
        }
    }

    /// A text column with a parameter's text behind it.
    #[must_use]
    pub fn appended(&self, column: &str) -> String {
        match self.syntax.has_bars_for_or {
            true => format!("CONCAT({column}, ?)"),
            false => format!("{column} || ?"),
        }
    }

    /// A text as a literal.
    #[must_use]
    pub fn literal(&self, text: &str) -> String {
        let text = text.replace('\'', "''");
        match self.syntax.backslash {
            Backslash::Escapes => format!("'{}'", text.replace('\\', "\\\\")),
            Backslash::EscapesWhereMarked | Backslash::IsPlain => format!("'{text}'"),
        }
    }
}

/// How an engine and its own clients read the text of statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Syntax {
    /// Where a backslash escapes the sign behind it.
    pub backslash: Backslash,
    /// True when `#` begins a comment.
    pub has_hash_comments: bool,
    /// True when `/*! ... */` is no comment but executed.
    pub executes_comments: bool,
    /// True when double quotes hold texts; elsewhere they hold names.
    pub has_texts_in_double_quotes: bool,
    /// True when backticks hold names.
    pub has_backticks: bool,
    /// True when `$tag$` begins a text.
    pub has_dollar_quotes: bool,
    /// True when `||` is OR and not what joins texts.
    pub has_bars_for_or: bool,
    /// True when `?` is an operator, so that the driver takes `??` for it.
    pub has_question_mark_operators: bool,
    /// True when what stands behind `->` has a type of its own, text or number.
    pub has_typed_keys: bool,
    /// True when `DELETE FROM a USING b AS a` deletes from b.
    pub deletes_from_aliases: bool,
    /// True when a schema is a database: `USE` and `CREATE SCHEMA` leave the one that is connected
    /// to.
    pub has_databases_for_schemas: bool,
    /// True when clients read lines `DELIMITER //`, and dumps hold DEFINER clauses and lines about
    /// the server's log.
    pub has_delimiter_lines: bool,
    /// True when the procedure of a CALL is looked for only when it is executed.
    pub looks_up_calls_late: bool,
}

/// Where a backslash escapes the sign behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backslash {
    /// In all texts.
    Escapes,
    /// In `E'...'`.
    EscapesWhereMarked,
    /// Nowhere.
    IsPlain,
}

/// How a session's transactions get another isolation level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// By a statement.
    Set {
        /// The statement, which the level's name follows.
        statement: &'static str,
        /// Asks which level is in force; it stands in the last column of the answer.
        question: &'static str,
    },
    /// Not at all: they are always serializable.
    AlwaysSerializable,
}

/// How a database is copied to one beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copying {
    /// By the server: `CREATE DATABASE ... TEMPLATE`.
    Template,
    /// Table by table.
    Tables,
    /// Into another file: `VACUUM INTO`.
    Vacuum,
}

/// How a key numbers itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbering {
    /// `AUTO_INCREMENT`: rows with the number 0 get the next one.
    AutoIncrement,
    /// `SERIAL`: a sequence, which has to be set behind rows that brought their numbers.
    Sequence,
    /// `INTEGER PRIMARY KEY` does by itself, other columns never do.
    RowNumber,
}

/// How a table is divided by the hash of its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Partitioning {
    /// A clause of CREATE TABLE makes all parts.
    Clause,
    /// Each part is a table of its own.
    Tables,
    /// Not at all.
    Missing,
}

/// Tables that a session has for itself.
#[derive(Debug)]
pub struct TemporaryTables {
    /// Drops the one whose name follows, if there is one, and never another of its name.
    pub drop: &'static str,
    /// What follows its definition for it to be in memory only.
    pub options: &'static str,
    /// True when making and dropping them is part of transactions.
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

/// How a table is emptied as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truncate {
    /// `TRUNCATE TABLE` takes several names.
    Several,
    /// `TRUNCATE TABLE` takes one.
    One,
    /// By deleting its rows.
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
