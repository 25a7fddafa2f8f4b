//! The servers of the suite: one of each kind for the whole test program, an empty database for
//! each run of a script.

use crate::comparison::counted;
use dyno_drivers::{Connection, Driver, Io, Table, block_on};
use dyno_host::server::RunningServer;
use dyno_model::plan::ServerKind;
use dyno_model::target::{Endpoint, Target};
use dyno_testkit::{running_server, wait_until};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, MutexGuard, OnceLock};

/// The database that scripts see. Error messages show it, so it is the same for both programs.
const DATABASE: &str = "suite";

/// The database of scripts that speak to a second server, of the MySQL family.
const BESIDE: &str = "beside";

/// Nothing here needs to survive a crash.
const QUICK_MARIADB: &[(&str, &str)] = &[
    ("innodb_flush_log_at_trx_commit", "0"),
    ("innodb_flush_method", "nosync"),
    ("innodb_doublewrite", "OFF"),
    ("innodb_lock_wait_timeout", "1"),
];
const QUICK_MYSQL: &[(&str, &str)] = &[
    ("innodb_flush_log_at_trx_commit", "0"),
    ("innodb_flush_method", "nosync"),
    ("innodb_doublewrite", "OFF"),
    ("innodb_lock_wait_timeout", "1"),
    ("sync_binlog", "0"),
];
/// Without the vacuum, whose statistics would be counted as inserted rows.
const QUICK_POSTGRES: &[(&str, &str)] =
    &[("fsync", "off"), ("deadlock_timeout", "100ms"), ("autovacuum", "off")];

/// A server that no other test uses meanwhile.
pub(crate) struct Server {
    kind: ServerKind,
    server: &'static RunningServer,
    /// Logging in costs more than most statements.
    administration: RefCell<Connection>,
    _turn: MutexGuard<'static, ()>,
}

struct SharedServer {
    server: OnceLock<Option<RunningServer>>,
    turn: Mutex<()>,
}

static SERVERS: [SharedServer; 3] =
    [const { SharedServer { server: OnceLock::new(), turn: Mutex::new(()) } }; 3];

fn shared(kind: ServerKind) -> &'static SharedServer {
    match kind {
        ServerKind::Mariadb => &SERVERS[0],
        ServerKind::Mysql => &SERVERS[1],
        _ => &SERVERS[2],
    }
}

/// The server of a kind, started by the first who asks; it ends with the test program. `None`: it
/// is not installed.
fn started(kind: ServerKind) -> Option<&'static RunningServer> {
    let settings = match kind {
        ServerKind::Postgres => QUICK_POSTGRES,
        ServerKind::Mysql => QUICK_MYSQL,
        _ => QUICK_MARIADB,
    };
    shared(kind).server.get_or_init(|| running_server(kind, settings)).as_ref()
}

/// Waits for the turn at a server.
pub(crate) fn take(kind: ServerKind) -> Option<Server> {
    // A test that failed while it had its turn leaves nothing behind that the next one does not
    // clear.
    let turn = shared(kind).turn.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let server = started(kind)?;
    let administration = RefCell::new(connect(&server.target()));
    Some(Server { kind, server, administration, _turn: turn })
}

/// Options that lead a program to a server of this kind, without `--db-driver`.
pub(crate) fn options(kind: ServerKind) -> Option<Vec<String>> {
    let target = started(kind)?.target();
    let Endpoint::Tcp { host, port } = &target.endpoint else {
        panic!("managed servers listen on TCP")
    };
    let driver = driver(kind);
    Some(vec![
        format!("--{driver}-host={host}"),
        format!("--{driver}-port={port}"),
        format!("--{driver}-user={}", target.user),
        format!("--{driver}-password={}", target.password.reveal()),
        format!("--{driver}-db={DATABASE}"),
    ])
}

/// The socket of a server, which the options of published commands name.
pub(crate) fn socket(kind: ServerKind) -> Option<String> {
    match started(kind)?.unix_target()?.endpoint {
        Endpoint::Unix(path) => Some(path.display().to_string()),
        other => panic!("{other} is no socket"),
    }
}

/// The same for a second server beside the one that a test has its turn at: a database of its own,
/// which stays.
pub(crate) fn options_beside(kind: ServerKind) -> Option<Vec<String>> {
    let mut connection = connect(&started(kind)?.target());
    query(&mut connection, &format!("CREATE DATABASE IF NOT EXISTS {BESIDE}"));
    block_on(connection.close());
    let mut options = options(kind)?;
    options.pop();
    options.push(format!("--{}-db={BESIDE}", driver(kind)));
    Some(options)
}

/// The name of a kind's driver on the command line.
pub(crate) fn driver(kind: ServerKind) -> &'static str {
    if kind == ServerKind::Postgres { "pgsql" } else { "mysql" }
}

impl Server {
    pub(crate) fn kind(&self) -> ServerKind {
        self.kind
    }

    /// Makes the database anew.
    pub(crate) fn clear(&self) {
        let statements: &[String] = &[
            match self.kind {
                ServerKind::Postgres => format!("DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)"),
                _ => format!("DROP DATABASE IF EXISTS {DATABASE}"),
            },
            format!("CREATE DATABASE {DATABASE}"),
        ];
        for statement in statements {
            self.administer(statement);
        }
    }

    /// What a statement in the suite's database answers.
    pub(crate) fn query(&self, sql: &str) -> Table {
        let mut connection = self.connect();
        let table = query(&mut connection, sql);
        block_on(connection.close());
        table
    }

    /// A connection to the suite's database. It counts as a session of it, and so must not be kept.
    fn connect(&self) -> Connection {
        connect(&Target { database: DATABASE.to_owned(), ..self.server.target() })
    }

    /// What a statement outside of the suite's database answers.
    fn administer(&self, sql: &str) -> Table {
        query(&mut self.administration.borrow_mut(), sql)
    }

    /// Waits until no session but ours uses the database: only then has the server counted
    /// everything.
    fn settle(&self) {
        let sessions =
            format!("SELECT count(*) FROM pg_stat_activity WHERE datname = '{DATABASE}'");
        wait_until("all sessions of a program end", || {
            // MySQL counts SELECT statements, also this one.
            match self.kind {
                ServerKind::Postgres => self.administer(&sessions).first() == Some("0"),
                _ => self
                    .administer("SHOW PROCESSLIST")
                    .0
                    .iter()
                    .all(|row| row[3].as_deref() != Some(DATABASE)),
            }
        });
    }

    /// What the server has counted so far: statements by kind, or rows. PostgreSQL's transactions
    /// are left out: drivers end some for their own purposes, such as asking for the version.
    pub(crate) fn counters(&self) -> BTreeMap<String, i64> {
        self.settle();
        // A session that ends while the server adds up may be missing in the sum once.
        let mut last = self.counted_now();
        wait_until("the counters stand still", || {
            let before = std::mem::replace(&mut last, self.counted_now());
            counted(&before, &last).is_empty()
        });
        last
    }

    fn counted_now(&self) -> BTreeMap<String, i64> {
        let table = match self.kind {
            ServerKind::Postgres => {
                // Counters are handed over when a session ends, which is after it left the list of
                // sessions.
                self.administer("SELECT pg_stat_force_next_flush()");
                self.administer(&format!(
                    "SELECT k, v FROM pg_stat_database, LATERAL (VALUES ('inserted', tup_inserted), \
                     ('updated', tup_updated), ('deleted', tup_deleted)) AS c(k, v) WHERE datname = '{DATABASE}'"
                ))
            }
            _ => self.administer("SHOW GLOBAL STATUS LIKE 'Com\\_%'"),
        };
        let rows = table.0.into_iter().map(|row| {
            let mut fields = row.into_iter().map(Option::unwrap_or_default);
            (
                fields.next().unwrap_or_default(),
                fields.next().unwrap_or_default().parse().unwrap_or(0),
            )
        });
        rows.collect()
    }

    /// Every table: its definition and its rows, or only their number.
    pub(crate) fn tables(&self, has_random_rows: bool) -> String {
        let names = match self.kind {
            ServerKind::Postgres => {
                "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
            }
            _ => {
                "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY 1"
            }
        };
        let connection = &mut self.connect();
        let mut text = String::new();
        for name in column(query(connection, names)) {
            writeln!(text, "{}", self.definition(connection, &name))
                .expect("a string takes everything");
            let wanted = if has_random_rows { "COUNT(*)" } else { "*" };
            let rows = query(connection, &format!("SELECT {wanted} FROM {name}"));
            let mut rows: Vec<String> = rows.0.iter().map(|row| shown(row)).collect();
            rows.sort();
            for row in rows {
                writeln!(text, "  {row}").expect("a string takes everything");
            }
        }
        block_on(connection.close());
        text
    }

    fn definition(&self, connection: &mut Connection, table: &str) -> String {
        if self.kind != ServerKind::Postgres {
            let created = query(connection, &format!("SHOW CREATE TABLE {table}"));
            return created.0[0][1].clone().unwrap_or_default();
        }
        let columns = format!(
            "SELECT column_name, data_type, character_maximum_length, column_default, is_nullable \
             FROM information_schema.columns WHERE table_schema = 'public' AND table_name = '{table}' \
             ORDER BY ordinal_position"
        );
        let indexes =
            format!("SELECT indexdef FROM pg_indexes WHERE tablename = '{table}' ORDER BY 1");
        let (columns, indexes) = (query(connection, &columns), query(connection, &indexes));
        let lines = columns.0.iter().chain(&indexes.0).map(|row| shown(row));
        format!("{table}\n{}", lines.collect::<Vec<_>>().join("\n"))
    }
}

/// The first field of each row.
fn column(table: Table) -> Vec<String> {
    table.0.into_iter().filter_map(|row| row.into_iter().next().flatten()).collect()
}

fn shown(row: &[Option<String>]) -> String {
    row.iter().map(|field| field.as_deref().unwrap_or("NULL")).collect::<Vec<_>>().join(" | ")
}

fn connect(target: &Target) -> Connection {
    block_on(Connection::connect(target, &Io::Blocking))
        .unwrap_or_else(|failure| panic!("{failure}"))
}

fn query(connection: &mut Connection, sql: &str) -> Table {
    let mut table = Table::default();
    block_on(connection.query(sql, &mut table))
        .unwrap_or_else(|failure| panic!("{sql}: {failure}"));
    table
}
