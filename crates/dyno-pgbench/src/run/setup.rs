//! Before a run: size and partitioning of the tables, and vacuum.

use crate::failure;
use crate::options::PartitionMethod;
use crate::own::OWN;
use crate::terminal::Terminal;
use dyno_drivers::{Connection, Discard, Driver, Table, block_on};
use dyno_model::failure::OperationFailure;
use dyno_model::target::Engine;

/// Why a run cannot start; already reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Impossible;

impl Impossible {
    /// Reports the reason.
    pub(super) fn report(terminal: &dyn Terminal, why: &str) -> Self {
        terminal.error(why);
        Self
    }
}

pub(super) type Result<T> = std::result::Result<T, Impossible>;

fn table(connection: &mut Connection, sql: &str) -> std::result::Result<Table, OperationFailure> {
    let mut table = Table::default();
    block_on(connection.query(sql, &mut table))?;
    Ok(table)
}

/// Number of branches, which is the scale of the standard tables.
pub(super) fn scale(
    connection: &mut Connection,
    database: &str,
    terminal: &dyn Terminal,
) -> Result<u64> {
    match table(connection, "SELECT count(*) FROM pgbench_branches") {
        Ok(table) => match table.first().and_then(|text| text.parse().ok()) {
            Some(scale @ 1..) => Ok(scale),
            _ => {
                let found = table.first().unwrap_or_default();
                let why = format!("invalid count(*) from pgbench_branches: \"{found}\"");
                Err(Impossible::report(terminal, &why))
            }
        },
        Err(failure) => {
            terminal.error(&format!(
                "could not count number of branches: {}",
                failure::words(&failure)
            ));
            terminal.note(&format!(
                "hint: Perhaps you need to do initialization (\"pgbench -i\") in database \
                 \"{database}\"."
            ));
            Err(Impossible)
        }
    }
}

/// How `pgbench_accounts` is partitioned, if it is. Only queried on PostgreSQL.
pub(super) fn partitions(
    connection: &mut Connection,
    engine: Engine,
) -> Option<(PartitionMethod, u32)> {
    if engine != OWN {
        return None;
    }
    let sql = "SELECT p.partstrat::text, (SELECT count(*) FROM pg_inherits i WHERE i.inhparent = p.partrelid) \
               FROM pg_partitioned_table p WHERE p.partrelid = to_regclass('pgbench_accounts')";
    let table = table(connection, sql).ok()?;
    let row = table.0.first()?;
    let method = match row.first()?.as_deref()? {
        "r" => PartitionMethod::Range,
        "h" => PartitionMethod::Hash,
        _ => return None,
    };
    Some((method, row.get(1)?.as_deref()?.parse().ok()?))
}

/// Vacuums the small tables and truncates the history; with `all` also vacuums the large one. A
/// missing table is reported and skipped.
pub(super) fn vacuum(
    connection: &mut Connection,
    engine: Engine,
    all: bool,
    terminal: &dyn Terminal,
) {
    let own = ["vacuum pgbench_branches", "vacuum pgbench_tellers", "truncate pgbench_history"];
    let statements = match engine == OWN {
        true => own.map(str::to_owned).to_vec(),
        false => engine.dialect().truncate.statements(&["pgbench_history"]),
    };
    run(connection, "starting vacuum...", &statements, terminal);
    if all && engine == OWN {
        let statement = "vacuum analyze pgbench_accounts".to_owned();
        run(connection, "starting vacuum pgbench_accounts...", &[statement], terminal);
    }
}

fn run(connection: &mut Connection, title: &str, statements: &[String], terminal: &dyn Terminal) {
    terminal.message(title);
    for sql in statements {
        if let Err(failure) = block_on(connection.query(sql, &mut Discard)) {
            terminal.error(&failure::words(&failure));
            terminal.note("detail: (ignoring this error and continuing anyway)");
        }
    }
    terminal.message("end.\n");
}
