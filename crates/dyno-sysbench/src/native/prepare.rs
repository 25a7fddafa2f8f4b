//! `prepare` of a bundled script: creates and fills the same tables as the script, with the
//! engine's bulk loading.
//!
//! As in sysbench, the tables are divided among the threads, an existing table is an error, and the
//! same lines are printed. Unlike in sysbench, several connections fill one table when there are
//! more connections than tables, and the data depend on `--rand-seed`.

use dyno_drivers::{Connection, Discard, Driver, Io, TimeoutPolicy, block_on};
use dyno_engine::loading::{Loading, load_table};
use dyno_engine::workload::{DataSet, TableDefinition};
use dyno_model::failure::OperationFailure;
use dyno_model::target::Target;
use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;

/// Minimum number of connections that fill tables at the same time: with a single one the server
/// would wait for the client's next packet.
const CONNECTIONS_MIN: usize = 4;

/// Why tables could not be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PrepareError {
    pub(crate) failure: OperationFailure,
    /// The rejected statement, if it was a single one.
    pub(crate) statement: Option<String>,
}

pub(crate) struct Preparation<'a> {
    /// Addresses, used in turn by the threads.
    pub(crate) targets: &'a [Target],
    pub(crate) data: &'a dyn DataSet,
    /// Number of threads, i.e. of tables prepared at the same time.
    pub(crate) threads: u32,
    /// Receives the printed lines, each without its end. Called by several threads at the same
    /// time.
    pub(crate) say: &'a (dyn Fn(&str) + Sync),
    /// Number of interrupts by the user so far; any interrupt ends loading.
    pub(crate) interrupts: &'a AtomicUsize,
}

/// Creates, fills and indexes all tables.
///
/// # Errors
/// The first error of the server. Tables created so far are kept, as in sysbench, for inspection.
pub(crate) fn prepare(preparation: &Preparation<'_>) -> Result<(), PrepareError> {
    let tables = preparation.data.tables();
    let threads = (preparation.threads as usize).clamp(1, tables.len().max(1));
    let connections = CONNECTIONS_MIN.max(preparation.threads as usize).div_ceil(threads);
    let failed = OnceLock::new();
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (tables, failed) = (&tables, &failed);
            scope.spawn(move || {
                let own = tables.iter().enumerate().skip(thread).step_by(threads);
                for (number, table) in own.take_while(|_| failed.get().is_none()) {
                    if let Err(error) = make_table(preparation, thread, number, table, connections)
                    {
                        // Only the first one is reported.
                        let _ = failed.set(error);
                    }
                }
            });
        }
    });
    failed.into_inner().map_or(Ok(()), Err)
}

fn make_table(
    preparation: &Preparation<'_>,
    thread: usize,
    table_index: usize,
    table: &TableDefinition,
    connections: usize,
) -> Result<(), PrepareError> {
    let target = &preparation.targets[thread % preparation.targets.len()];
    let name = &table.name;
    let plain = |failure| PrepareError { failure, statement: None };
    let io = Io::WithTimeout(TimeoutPolicy::endless());
    let mut connection = block_on(Connection::connect(target, &io)).map_err(plain)?;
    (preparation.say)(&format!("Creating table '{name}'..."));
    block_on(connection.query(&table.create, &mut Discard))
        .map_err(|failure| PrepareError { failure, statement: Some(table.create.clone()) })?;
    block_on(connection.close());
    if table.rows > 0 {
        (preparation.say)(&format!("Inserting {} records into '{name}'", table.rows));
    }
    let loading = Loading {
        trial: "prepare",
        target,
        data: preparation.data,
        interrupts: preparation.interrupts,
    };
    let is_indexed = !table.indexes.is_empty();
    load_table(&loading, table_index, table, connections, || {
        if is_indexed {
            (preparation.say)(&format!("Creating a secondary index on '{name}'..."));
        }
    })
    .map_err(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_engine::workload::{Native, WorkloadContext, catalog};
    use dyno_model::catalog::OptionValue;
    use dyno_model::plan::WorkloadPlan;
    use dyno_model::target::{Endpoint, Engine};
    use std::sync::Mutex;

    /// Prepares two tables in a file; returns the lines and the numbers of rows.
    fn prepared(target: &Target) -> (Result<(), PrepareError>, Vec<String>) {
        let description = catalog()
            .into_iter()
            .find(|known| known.name == "oltp_read_only")
            .expect("it is in the catalogue");
        let mut options = description.defaults();
        options.0.insert("tables".to_owned(), OptionValue::Integer(2));
        options.0.insert("table_size".to_owned(), OptionValue::Integer(30));
        let plan = WorkloadPlan::new("oltp_read_only", options);
        let native =
            Native::build(&plan, WorkloadContext { engine: Engine::Sqlite, clients: 1, seed: 7 })
                .expect("defaults are right");
        let lines = Mutex::new(Vec::new());
        let outcome = prepare(&Preparation {
            targets: std::slice::from_ref(target),
            data: native.data(),
            threads: 1,
            say: &|line| lines.lock().expect("no thread panicked").push(line.to_owned()),
            interrupts: &AtomicUsize::new(0),
        });
        (outcome, lines.into_inner().expect("no thread panicked"))
    }

    #[test]
    fn tables_are_created_filled_and_indexed_one_after_another() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let target = Target::new(Engine::Sqlite, Endpoint::File(folder.path().join("sbtest")));
        let (outcome, lines) = prepared(&target);
        assert_eq!(outcome, Ok(()));
        assert_eq!(
            lines,
            [
                "Creating table 'sbtest1'...",
                "Inserting 30 records into 'sbtest1'",
                "Creating a secondary index on 'sbtest1'...",
                "Creating table 'sbtest2'...",
                "Inserting 30 records into 'sbtest2'",
                "Creating a secondary index on 'sbtest2'...",
            ]
        );
    }

    #[test]
    fn an_existing_table_is_an_error_that_shows_the_statement() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let target = Target::new(Engine::Sqlite, Endpoint::File(folder.path().join("sbtest")));
        let (_, _) = prepared(&target);
        let (outcome, lines) = prepared(&target);
        let PrepareError { failure, statement } = outcome.expect_err("the table exists");
        assert!(failure.message.contains("sbtest1 already exists"), "{failure}");
        assert!(statement.is_some_and(|statement| statement.contains("CREATE TABLE sbtest1")));
        assert_eq!(lines, ["Creating table 'sbtest1'..."]);
    }
}
