//! The PostgreSQL driver with the null server: every message of the generator is decoded and
//! counted.

use dyno_drivers::null::server::{Options, Protocol, serve};
use dyno_drivers::postgres::Connection;
use dyno_drivers::{BulkLoad, Discard, Driver, Io, RowSource, RowWriter, Value, block_on};
use dyno_model::failure::OperationFailure;
use dyno_model::target::{Endpoint, Engine, QueryMode, Target};

/// A number of rows with one integer.
struct Rows(u64);

impl RowSource for Rows {
    fn next(&mut self, row: &mut dyn RowWriter) -> bool {
        if self.0 == 0 {
            return false;
        }
        self.0 -= 1;
        row.integer(7);
        true
    }
}

async fn converse(target: &Target) -> Result<u64, OperationFailure> {
    let mut connection = Connection::connect(target, &Io::Blocking).await?;
    let select = connection.prepare("SELECT c FROM sbtest1 WHERE id=?").await?;
    let update = connection.prepare("UPDATE sbtest1 SET k=k+1 WHERE id=?").await?;
    let mut statements = 0;
    for id in 0..10 {
        connection.query("BEGIN", &mut Discard).await?;
        let outcome = connection.execute(select, &[Value::Integer(id)], &mut Discard).await?;
        assert!(outcome.has_rows, "{:?}", target.query_mode);
        connection.execute(update, &[Value::Integer(id)], &mut Discard).await?;
        connection.query("COMMIT", &mut Discard).await?;
        statements += 4;
    }
    connection
        .bulk_load(&BulkLoad { table: "sbtest1", columns: &["id"] }, &mut Rows(100_000))
        .await?;
    connection.close().await;
    Ok(statements)
}

#[test]
fn every_mode_is_decoded_and_counted() {
    for mode in [QueryMode::Prepared, QueryMode::Extended, QueryMode::Simple] {
        let server =
            serve(Protocol::Postgres, ([127, 0, 0, 1], 0).into(), Options::default()).unwrap();
        let address = server.local_addr;
        let endpoint = Endpoint::Tcp { host: address.ip().to_string(), port: address.port() };
        let mut target = Target::new(Engine::Postgres, endpoint);
        "bench".clone_into(&mut target.user);
        target.query_mode = mode;
        let statements = block_on(converse(&target)).unwrap();
        assert!(server.counters().statements_total() >= statements, "{mode:?}");
        assert_eq!(server.counters().rows_loaded(), 100_000, "{mode:?}");
        server.stop().unwrap();
    }
}
