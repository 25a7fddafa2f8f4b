//! Null servers that imitate other products: what drivers make of their versions and errors.

use super::{server_with, wait_until};
use dyno_drivers::null::StatementKind;
use dyno_drivers::null::server::{Options, Persona, Protocol, Rejection, RunningServer};
use dyno_drivers::{
    BulkLoad, Connection, Discard, Driver, Io, RowSource, RowWriter, Table, block_on,
};
use dyno_model::engine::Engine;
use dyno_model::failure::{FailureKind, Remedy};
use dyno_model::target::{Endpoint, Target};

fn connected(persona: &'static Persona) -> (RunningServer, Connection) {
    let options = Options { persona: Some(persona), ..Options::default() };
    let server = server_with(persona.protocol, options);
    let engine = match persona.protocol {
        Protocol::Mysql => Engine::Mysql,
        Protocol::Postgres => Engine::Postgres,
    };
    let address = server.local_addr;
    let endpoint = Endpoint::Tcp { host: address.ip().to_string(), port: address.port() };
    let target = Target { user: "any".to_owned(), ..Target::new(engine, endpoint) };
    let connection = block_on(Connection::connect(&target, &Io::Blocking)).unwrap();
    (server, connection)
}

#[test]
fn an_imitated_product_is_recognised_and_marked_as_imitated() {
    for (name, _, persona) in Persona::ALL {
        let (_server, mut connection) = connected(persona);
        let mut asked = |question: &str| {
            let mut answer = Table::default();
            block_on(connection.query(question, &mut answer)).unwrap();
            answer.0[0][0].clone().unwrap()
        };
        let version = asked("SELECT version()").to_lowercase();
        let comment = asked("select @@version_comment limit 1");
        let identity = connection.identity().with_answers(&comment, &[]);
        let product = identity.product.compatible().unwrap();
        assert_eq!(product.name, name);
        assert!(identity.shown().starts_with(product.title), "{}", identity.shown());
        assert!(version.contains("dyno") && version.contains("null"), "{version}");
    }
}

#[test]
fn errors_of_imitated_products_have_the_remedies_of_their_manuals() {
    static AMBIGUOUS: Persona = Persona {
        protocol: Protocol::Postgres,
        version: "15.2-YB-2025.1.0.0-b0",
        parameters: &[],
        answers: &[],
        rejections: &[
            Rejection {
                statement: "COMMIT",
                code: 0,
                sqlstate: "40003",
                message: "result is ambiguous",
            },
            Rejection { statement: "SELECT", code: 0, sqlstate: "72000", message: "too old" },
        ],
    };
    static CONFLICT: Persona = Persona {
        protocol: Protocol::Mysql,
        version: "8.0.11-TiDB-v8.5.1",
        parameters: &[],
        answers: &[],
        rejections: &[
            Rejection {
                statement: "COMMIT",
                code: 9007,
                sqlstate: "HY000",
                message: "Write conflict, [try again later]",
            },
            Rejection {
                statement: "SELECT",
                code: 9006,
                sqlstate: "HY000",
                message: "GC life time is shorter than transaction duration",
            },
        ],
    };
    let [(_, _, cockroachdb), ..] = Persona::ALL;
    let rows = [
        (cockroachdb, "VACUUM t", FailureKind::BadStatement),
        (cockroachdb, "SELECT crdb_internal.force_retry('1s')", FailureKind::Serialization),
        (&AMBIGUOUS, "COMMIT", FailureKind::OutcomeUnknown),
        (&AMBIGUOUS, "SELECT 1", FailureKind::Serialization),
        (&CONFLICT, "COMMIT", FailureKind::Serialization),
        (&CONFLICT, "SELECT 1", FailureKind::Serialization),
    ];
    for (persona, statement, kind) in rows {
        let (server, mut connection) = connected(persona);
        block_on(connection.query("BEGIN", &mut Discard)).unwrap();
        let failure = block_on(connection.query(statement, &mut Discard)).unwrap_err();
        assert_eq!(failure.kind, kind, "{statement}: {failure}");
        assert_eq!(failure.leaves_doubt(), kind == FailureKind::OutcomeUnknown);
        let is_retried = failure.kind.remedy() == Remedy::RetryTransaction;
        assert_eq!(is_retried, kind == FailureKind::Serialization, "{statement}");
        // The session continues.
        block_on(connection.query("ROLLBACK", &mut Discard)).unwrap();
        wait_until("counting", || server.counters().statements(StatementKind::Rollback) == 1);
    }
}

/// Rows of one number, counted down.
struct Countdown(i64);

impl RowSource for Countdown {
    fn next(&mut self, row: &mut dyn RowWriter) -> bool {
        row.integer(self.0);
        self.0 -= 1;
        self.0 >= 0
    }
}

#[test]
fn rows_are_inserted_where_load_data_is_refused_by_whatever_number() {
    const fn refusing(rejections: &'static [Rejection]) -> Persona {
        let (protocol, version) = (Protocol::Mysql, "8.0.33");
        Persona { protocol, version, parameters: &[], answers: &[], rejections }
    }
    const fn refusal(code: u16, sqlstate: &'static str) -> [Rejection; 1] {
        [Rejection { statement: "LOAD DATA", code, sqlstate, message: "refused" }]
    }
    static UNKNOWN_ERROR: Persona = refusing(&refusal(1105, "HY000"));
    static SWITCHED_OFF: Persona = refusing(&refusal(3948, "42000"));
    static SHUTTING_DOWN: Persona = refusing(&refusal(1053, "08S01"));
    let load = BulkLoad { table: "t", columns: &["a"] };
    for (persona, loaded) in
        [(&UNKNOWN_ERROR, Some(3)), (&SWITCHED_OFF, Some(3)), (&SHUTTING_DOWN, None)]
    {
        let (server, mut connection) = connected(persona);
        let done = block_on(connection.bulk_load(&load, &mut Countdown(3)));
        assert_eq!(done.ok(), loaded, "{:?}", persona.rejections);
        let ended = if loaded.is_some() { StatementKind::Commit } else { StatementKind::Rollback };
        wait_until("counting", || server.counters().statements(ended) == 1);
        let inserts = u64::from(loaded.is_some());
        assert_eq!(server.counters().statements(StatementKind::Insert), inserts);
    }
}
