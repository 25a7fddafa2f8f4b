//! Protocols of null servers, and products that they imitate, as far as clients can tell them from
//! the product to which the protocol belongs: versions, rejected statements and errors. These are
//! from the products' manuals; nothing here comes from running them, and every version says that it
//! is a null server's.

use dyno_model::engine::Engine;

/// The protocol of a null server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// MySQL client/server protocol, version 10 handshake, `mysql_native_password`.
    Mysql,
    /// PostgreSQL protocol 3.0, trust.
    Postgres,
}

impl Protocol {
    /// All of them, with their names and who speaks them.
    pub const ALL: [(&str, &str, Self); 2] = [
        ("mysql", "MySQL and MariaDB", Self::Mysql),
        ("postgres", "PostgreSQL, version 3", Self::Postgres),
    ];

    /// The one that generators are tried with, and the engine whose driver speaks it.
    pub const USUAL: (Self, Engine) = (Self::Mysql, Engine::Mysql);
}

/// What a null server reports about itself, and what it rejects.
#[derive(Debug, PartialEq, Eq)]
pub struct Persona {
    /// Its protocol.
    pub protocol: Protocol,
    /// The version sent on connecting.
    pub version: &'static str,
    /// Further parameters sent on connecting; only PostgreSQL's protocol has them.
    pub parameters: &'static [(&'static str, &'static str)],
    /// Queries, and the text that answers them.
    pub answers: &'static [(&'static str, &'static str)],
    /// Statements that are rejected; the first one that matches applies.
    pub rejections: &'static [Rejection],
}

/// A statement that is rejected.
#[derive(Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The beginning of the statement, regardless of case.
    pub statement: &'static str,
    /// The error number; only MySQL's protocol has one.
    pub code: u16,
    /// The SQLSTATE.
    pub sqlstate: &'static str,
    /// The message.
    pub message: &'static str,
}

impl Persona {
    /// All of them, with names and descriptions.
    pub const ALL: [(&str, &str, &Self); 5] = [
        ("cockroachdb", "CockroachDB, protocol postgres", &COCKROACHDB),
        ("yugabytedb", "YugabyteDB, protocol postgres", &YUGABYTEDB),
        ("tidb", "TiDB, protocol mysql", &TIDB),
        ("vitess", "Vitess, protocol mysql", &VITESS),
        ("proxysql", "ProxySQL, protocol mysql", &PROXYSQL),
    ];

    /// The rejection of a statement, if it is rejected.
    pub(super) fn rejection(&self, sql: &[u8]) -> Option<&'static Rejection> {
        self.rejections.iter().find(|it| begins(sql, it.statement))
    }

    /// The text that answers a query.
    pub(super) fn answer(&self, sql: &[u8]) -> Option<&'static str> {
        self.answers.iter().find(|(query, _)| begins(sql, query)).map(|(_, text)| *text)
    }
}

fn begins(sql: &[u8], start: &str) -> bool {
    sql.get(..start.len()).is_some_and(|sql| sql.eq_ignore_ascii_case(start.as_bytes()))
}

const fn rejection(
    statement: &'static str,
    code: u16,
    sqlstate: &'static str,
    message: &'static str,
) -> Rejection {
    Rejection { statement, code, sqlstate, message }
}

/// "PostgreSQL Compatibility", "Transaction Retry Error Reference", "Session Variables".
static COCKROACHDB: Persona = Persona {
    protocol: Protocol::Postgres,
    version: "13.0.0",
    parameters: &[("crdb_version", "CockroachDB CCL v25.2.0 (dyno null server)")],
    answers: &[
        ("SELECT version()", "CockroachDB CCL v25.2.0 (dyno null server)"),
        // They succeed without effect.
        ("SELECT pg_try_advisory", "t"),
    ],
    rejections: &[
        rejection("VACUUM", 0, "42601", "at or near \"vacuum\": syntax error"),
        rejection(
            "SELECT crdb_internal.force_retry",
            0,
            "40001",
            "restart transaction: TransactionRetryWithProtoRefreshError: forced by \
             crdb_internal.force_retry()",
        ),
    ],
};

/// "Advisory locks", "Transaction error codes".
static YUGABYTEDB: Persona = Persona {
    protocol: Protocol::Postgres,
    version: "15.2-YB-2025.1.0.0-b0 (dyno null server)",
    parameters: &[],
    answers: &[(
        "SELECT version()",
        "PostgreSQL 15.2-YB-2025.1.0.0-b0 (dyno null server) on x86_64-pc-linux-gnu",
    )],
    rejections: &[rejection(
        "SELECT pg_try_advisory",
        0,
        "0A000",
        "advisory locks are not yet implemented",
    )],
};

/// "MySQL Compatibility", "Error Codes". Its status variables lack the counters of statements.
static TIDB: Persona = Persona {
    protocol: Protocol::Mysql,
    version: "8.0.11-TiDB-v8.5.1-dyno-null-server",
    parameters: &[],
    answers: &[
        ("SELECT VERSION()", "8.0.11-TiDB-v8.5.1-dyno-null-server"),
        ("SELECT @@version_comment", "TiDB Server (Apache License 2.0), dyno null server"),
    ],
    rejections: &[],
};

/// "MySQL Compatibility", "Unsupported queries".
static VITESS: Persona = Persona {
    protocol: Protocol::Mysql,
    version: "8.0.40-Vitess-dyno-null-server",
    parameters: &[],
    answers: &[("SELECT VERSION()", "8.0.40-Vitess-dyno-null-server")],
    rejections: &[rejection(
        "CREATE TRIGGER",
        1235,
        "42000",
        "VT12001: unsupported: CREATE TRIGGER",
    )],
};

/// "Multiplexing", "Query Rules": it forwards all statements but the one below.
static PROXYSQL: Persona = Persona {
    protocol: Protocol::Mysql,
    version: "8.0.27-dyno-null-server",
    parameters: &[],
    answers: &[
        ("SELECT VERSION()", "8.0.27-dyno-null-server"),
        ("SELECT @@version_comment LIMIT 1", "(ProxySQL), dyno null server"),
    ],
    rejections: &[],
};
