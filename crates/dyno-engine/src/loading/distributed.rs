//! Loading by several generators: each fills a range of every table, and the coordinator creates
//! the tables before, and counts their rows and builds their indexes after.

use super::data_set::{load_data, with_filled};
use super::filling::{
    LOADERS, Loading, RangeQueue, Result, RowRange, connect, fill, send, timeout_policy,
};
use crate::workload::{TableDefinition, count_rows};
use dyno_drivers::{Connection, Driver, block_on};
use dyno_model::event::Listener;
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::reason::Reason;
use dyno_model::sync::lock;
use serde::{Deserialize, Serialize};
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, channel};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

/// How often the coordinator checks whether it has to stop.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// How often a generator reports its progress.
const REPORT_INTERVAL: Duration = Duration::from_millis(100);

/// The generators that load a data set.
pub trait Loaders {
    /// Number of generators.
    fn generators(&self) -> usize;

    /// Hands out the ranges of rows that each generator loads.
    fn assign(&self, ranges: Vec<Vec<RowRange>>);

    /// The next report of any generator; `None` when there is none for so long.
    ///
    /// # Errors
    /// When a generator is lost.
    fn next(&self, wait: Duration) -> std::result::Result<Option<(usize, LoadingReport)>, Reason>;

    /// The reason, with the name of the generator that reports it.
    fn failure_of(&self, generator: usize, reason: Reason) -> Reason;
}

/// A report of a generator that loads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadingReport {
    /// Number of rows that it has loaded.
    Rows(u64),
    /// Its range of this table is complete.
    Filled(usize),
    /// It cannot continue.
    Failed(Reason),
}

/// Why data could not be loaded.
#[derive(Debug, Clone, PartialEq)]
pub enum LoadingError {
    /// An operation of this process failed.
    Failed(OperationFailure),
    /// A generator failed or was lost.
    Generator(Reason),
}

impl From<OperationFailure> for LoadingError {
    fn from(failure: OperationFailure) -> Self {
        Self::Failed(failure)
    }
}

/// The ranges that each generator loads: one of each table that is large enough, so that all have
/// work until the end. Small tables are assigned round-robin.
fn ranges_by_generator(tables: &[TableDefinition], generators: usize) -> Vec<Vec<RowRange>> {
    let mut ranges = vec![Vec::new(); generators];
    for table in RowRange::all(tables) {
        for (i, range) in table.divided(generators as u64).enumerate() {
            ranges[(table.table + i) % generators].push(range);
        }
    }
    ranges
}

/// Number of connections with which each of several generators loads, so that all together have no
/// more than the clients of the trial, unless those are very few.
#[must_use]
pub fn loaders_of_each(clients: u32, generators: usize) -> usize {
    (LOADERS.max(clients as usize) / generators.max(1)).clamp(1, LOADERS)
}

/// As [`load_data`], but the generators fill the tables. Data that is too small to be divided is
/// loaded by this process. After an error, the generators may still be loading: the caller ends
/// them.
///
/// # Errors
/// As [`load_data`], and when a generator fails or is lost, or a table does not have the
/// number of rows that it should have.
pub fn load_data_distributed(
    loading: &Loading<'_>,
    loaders: &dyn Loaders,
    listener: &mut dyn Listener,
) -> std::result::Result<u64, LoadingError> {
    let ranges = ranges_by_generator(&loading.data.tables(), loaders.generators());
    let engine = loading.target.engine;
    let is_accessible = engine.is_server() && engine.keeps_data();
    if !is_accessible || ranges.iter().filter(|ranges| !ranges.is_empty()).count() < 2 {
        return Ok(load_data(loading, listener)?);
    }
    with_filled(loading, listener, |tables, progress| {
        fill_by_generators(loading, loaders, ranges, tables, progress)
    })
}

/// Waits until the generators have filled the tables; each is checked and indexed as soon as it is
/// complete.
fn fill_by_generators(
    loading: &Loading<'_>,
    loaders: &dyn Loaders,
    ranges: Vec<Vec<RowRange>>,
    tables: &[TableDefinition],
    progress: &mut dyn FnMut(u64),
) -> std::result::Result<(), LoadingError> {
    let mut remaining_ranges = vec![0; tables.len()];
    ranges.iter().flatten().for_each(|range| remaining_ranges[range.table] += 1);
    let mut rows = vec![0; ranges.len()];
    loaders.assign(ranges);
    let (filled, complete) = channel();
    let complete = Mutex::new(complete);
    std::thread::scope(|scope| {
        let finishers: Vec<_> = (0..LOADERS.min(tables.len()))
            .map(|_| scope.spawn(|| finish_tables(loading, tables, &complete)))
            .collect();
        let mut wait = || {
            while remaining_ranges.iter().any(|ranges| *ranges > 0)
                && !finishers.iter().any(ScopedJoinHandle::is_finished)
            {
                if loading.interrupts.load(Ordering::Relaxed) > 0 {
                    let message = "loading was interrupted";
                    return Err(LoadingError::Failed(FailureKind::Cancelled.failure(message)));
                }
                let report = loaders.next(CHECK_INTERVAL).map_err(LoadingError::Generator)?;
                match report {
                    Some((from, LoadingReport::Rows(done))) => rows[from] = done,
                    Some((from, LoadingReport::Filled(table))) => {
                        match remaining_ranges.get_mut(table) {
                            Some(1) => {
                                remaining_ranges[table] = 0;
                                let _ = filled.send(table);
                            }
                            Some(ranges) if *ranges > 1 => *ranges -= 1,
                            _ => {
                                let reason = "it reported a table of another data set".into();
                                return Err(LoadingError::Generator(
                                    loaders.failure_of(from, reason),
                                ));
                            }
                        }
                    }
                    Some((from, LoadingReport::Failed(reason))) => {
                        return Err(LoadingError::Generator(loaders.failure_of(from, reason)));
                    }
                    None => {}
                }
                progress(rows.iter().sum());
            }
            Ok(())
        };
        let outcome = wait();
        drop(filled);
        for finisher in finishers {
            let finished = finisher.join().unwrap_or_else(|_| {
                Err(FailureKind::Other.failure("a loader panicked; this is a bug of dyno"))
            });
            if outcome.is_ok() {
                finished?;
            }
        }
        outcome
    })
}

/// Counts the rows of complete tables and builds their indexes.
fn finish_tables(
    loading: &Loading<'_>,
    tables: &[TableDefinition],
    complete: &Mutex<Receiver<usize>>,
) -> Result<()> {
    let mut connection = None;
    loop {
        let Ok(table) = lock(complete).recv() else { break };
        let connection = match &mut connection {
            Some(connection) => connection,
            none => none.insert(connect(loading.target, &timeout_policy(loading.target))?),
        };
        finish(connection, &tables[table])?;
    }
    connection.into_iter().for_each(|mut connection| block_on(connection.close()));
    Ok(())
}

fn finish(connection: &mut Connection, table: &TableDefinition) -> Result<()> {
    let TableDefinition { name, rows, indexes, .. } = table;
    let found = block_on(count_rows(connection, name))?;
    if found != *rows {
        let message = format!(
            "the table {name} has {found} rows after {rows} were loaded; another process may have \
             changed it"
        );
        return Err(FailureKind::Other.failure(message));
    }
    send(connection, indexes)
}

/// Fills ranges of tables, which exist, with this many connections; what each generator does for
/// [`load_data_distributed`].
///
/// # Errors
/// When the server rejects a statement, or the coordinator is gone ([`FailureKind::Cancelled`]).
pub fn load_ranges(
    loading: &Loading<'_>,
    ranges: &[RowRange],
    loaders: usize,
    mut report: impl FnMut(LoadingReport),
) -> Result<()> {
    let unindexed = |table| TableDefinition { indexes: Vec::new(), ..table };
    let tables: Vec<_> = loading.data.tables().into_iter().map(unindexed).collect();
    let queue = RangeQueue::new(&tables, 0, ranges, loaders, timeout_policy(loading.target));
    let mut unfilled: Vec<usize> = ranges.iter().map(|range| range.table).collect();
    let mut last_report = Instant::now();
    let mut report_progress = || {
        let (filled, rest) = unfilled.iter().partition(|table| queue.is_filled(**table));
        let filled: Vec<usize> = filled;
        if !filled.is_empty() || !unfilled.is_empty() && last_report.elapsed() >= REPORT_INTERVAL {
            last_report = Instant::now();
            report(LoadingReport::Rows(queue.rows_done()));
        }
        unfilled = rest;
        // The last of these is its last report.
        filled.into_iter().for_each(|table| report(LoadingReport::Filled(table)));
    };
    fill(loading, &queue, loaders, &mut report_progress)?;
    report_progress();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::filling::ROWS_PER_RANGE_MIN;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranges_of_all_generators_are_all_rows_of_all_tables(
            rows in prop::collection::vec(0_u64..200_000, 1..10), generators in 1_usize..9
        ) {
            let table = |(number, rows): (usize, &u64)| {
                TableDefinition::new(format!("t{number}"), "", Vec::new(), *rows)
            };
            let tables: Vec<_> = rows.iter().enumerate().map(table).collect();
            let by_generator = ranges_by_generator(&tables, generators);
            prop_assert_eq!(by_generator.len(), generators);
            for ranges in &by_generator {
                let mut tables: Vec<usize> = ranges.iter().map(|range| range.table).collect();
                tables.dedup();
                prop_assert_eq!(tables.len(), ranges.len(), "a table occurs once: {:?}", ranges);
            }
            let mut ranges: Vec<RowRange> = by_generator.into_iter().flatten().collect();
            ranges.sort_unstable_by_key(|range| (range.table, range.first));
            for (table, rows) in rows.into_iter().enumerate() {
                let mut next = 0;
                for range in ranges.iter().filter(|range| range.table == table) {
                    prop_assert_eq!(range.first, next);
                    prop_assert!(range.rows >= ROWS_PER_RANGE_MIN || range.first + range.rows == rows);
                    next += range.rows;
                }
                prop_assert_eq!(next, rows);
            }
        }
    }

    #[test]
    fn small_tables_are_dealt_out_and_large_ones_divided() {
        let tables = [5, 40_000, 5].map(|rows| TableDefinition::new("t", "", Vec::new(), rows));
        let range = |table, first, rows| RowRange { table, first, rows };
        assert_eq!(
            ranges_by_generator(&tables, 2),
            [
                vec![range(0, 0, 5), range(1, 20_000, 20_000), range(2, 0, 5)],
                vec![range(1, 0, 20_000)]
            ]
        );
    }

    #[test]
    fn generators_together_have_no_more_loaders_than_clients() {
        let each = [(1, 1), (1, 2), (8, 2), (64, 4), (100, 50)];
        let loaders = each.map(|(clients, generators)| loaders_of_each(clients, generators));
        assert_eq!(loaders, [4, 2, 4, 4, 2]);
    }
}
