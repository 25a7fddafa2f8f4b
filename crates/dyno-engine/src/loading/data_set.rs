//! A whole data set: its tables, their rows, and their indexes.

use super::filling::{
    LOADERS, Loading, RangeQueue, Result, RowRange, connect, fill, send, timeout_policy,
};
use crate::workload::{DataSet, TableDefinition, count_rows};
use dyno_drivers::statistics::RejectedStatement;
use dyno_drivers::{Driver, TimeoutPolicy, block_on, update_statistics};
use dyno_model::event::{Event, Listener, Phase, ProgressUnit};
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::target::Target;
use dyno_model::warning::Warning;

/// Drops the tables if they exist, creates and fills them, and builds their indexes; then lets the
/// data set create its additional objects, which may read the tables. Returns the number of rows
/// loaded.
///
/// # Errors
/// When the server rejects a statement, or the user interrupts ([`FailureKind::Cancelled`]).
pub fn load_data(loading: &Loading<'_>, listener: &mut dyn Listener) -> Result<u64> {
    with_filled(loading, listener, |tables, progress| {
        let loaders = if loading.target.engine.traits().has_one_writer { 1 } else { LOADERS };
        let ranges = RowRange::all(tables);
        let queue = RangeQueue::new(tables, 0, &ranges, loaders, timeout_policy(loading.target));
        fill(loading, &queue, loaders, || progress(queue.rows_done()))
    })
}

/// Does all that [`load_data`] does but filling the tables with rows and building their indexes,
/// which `fill` does; it reports the number of rows loaded so far.
pub(super) fn with_filled<E: From<OperationFailure>>(
    loading: &Loading<'_>,
    listener: &mut dyn Listener,
    fill: impl FnOnce(&[TableDefinition], &mut dyn FnMut(u64)) -> std::result::Result<(), E>,
) -> std::result::Result<u64, E> {
    let tables = loading.data.tables();
    listener.event(&Event::PhaseStarted { trial: loading.trial.to_owned(), phase: Phase::Schema });
    let mut connection = connect(loading.target, &timeout_policy(loading.target))?;
    for table in &tables {
        send(&mut connection, [format!("DROP TABLE IF EXISTS {}", table.name)])?;
        send(&mut connection, [&table.create].into_iter().filter(|create| !create.is_empty()))?;
    }
    listener.event(&Event::PhaseStarted { trial: loading.trial.to_owned(), phase: Phase::Load });
    let total: u64 = tables.iter().map(|table| table.rows).sum();
    fill(&tables, &mut |done| {
        listener.event(&Event::Progress {
            trial: loading.trial.to_owned(),
            phase: Phase::Load,
            done,
            total,
            unit: ProgressUnit::Rows,
        });
    })?;
    // Tables with rows already have their indexes; an empty table has no last range whose loader
    // builds them.
    send(
        &mut connection,
        tables.iter().filter(|table| table.rows == 0).flat_map(|table| &table.indexes),
    )?;
    let data_sets = loading.data.data_sets();
    for data in if data_sets.is_empty() { vec![loading.data] } else { data_sets } {
        data.create(loading.target, loading.interrupts)?;
        report_rejected(data.update_statistics(loading.target)?, listener);
    }
    // Refreshes the planner's statistics, so that the first trial does not run on estimates.
    if total > 0 {
        let names: Vec<String> = tables.into_iter().map(|table| table.name).collect();
        report_rejected(block_on(update_statistics(&mut connection, &names))?, listener);
    }
    block_on(connection.close());
    Ok(total)
}

/// Compares the sizes of existing tables with those that a data set would load, for data that keep
/// their number of rows: a workload on tables of another size measures something else than its plan
/// says.
///
/// # Errors
/// When a table has another number of rows, or cannot be read.
pub fn check_existing(target: &Target, data: &dyn DataSet) -> Result<()> {
    let mut connection = connect(target, &timeout_policy(target))?;
    for table in data.tables().iter().filter(|table| !table.create.is_empty()) {
        let found = block_on(count_rows(&mut connection, &table.name))?;
        if found != table.rows {
            let TableDefinition { name, rows, .. } = table;
            let message = format!(
                "the existing table {name} has {found} rows, but the workload expects {rows}: set \
                 `[workload]` to the size of the table, or name a database with tables of this size"
            );
            return Err(FailureKind::BadStatement.failure(message));
        }
    }
    block_on(connection.close());
    Ok(())
}

/// Reports statements about the planner's statistics that the server rejected: the data is
/// complete without them.
pub fn report_rejected(rejected: Vec<RejectedStatement>, listener: &mut dyn Listener) {
    for RejectedStatement { statement, failure } in rejected {
        let reason = failure.to_string();
        listener.event(&Event::RunWarning(Warning::StatementRefused { statement, reason }));
    }
}

/// Fills one table, which exists and is empty, with this many concurrent connections, and builds
/// its indexes after calling `is_filled`. `table_index` is the table's index in the data set,
/// `table` its definition. For callers that create the tables themselves one after another because
/// the user ordered exactly that: nothing else ends it.
///
/// # Errors
/// When the server rejects a statement, or the user interrupts ([`FailureKind::Cancelled`]).
pub fn load_table(
    loading: &Loading<'_>,
    table_index: usize,
    table: &TableDefinition,
    connections: usize,
    is_filled: impl FnOnce(),
) -> Result<()> {
    let unindexed = TableDefinition { indexes: Vec::new(), ..table.clone() };
    let loaders =
        if loading.target.engine.traits().has_one_writer { 1 } else { connections.max(1) };
    let tables = std::slice::from_ref(&unindexed);
    let ranges = RowRange::all(tables);
    let queue = RangeQueue::new(tables, table_index, &ranges, loaders, TimeoutPolicy::endless());
    fill(loading, &queue, loaders, || ())?;
    is_filled();
    if !table.indexes.is_empty() {
        let mut connection = connect(loading.target, &queue.timeout)?;
        send(&mut connection, &table.indexes)?;
        block_on(connection.close());
    }
    Ok(())
}
