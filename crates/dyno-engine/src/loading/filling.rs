//! Filling of tables that exist: ranges of rows, loaded by several connections of this process.

use crate::workload::{DataSet, TableDefinition};
use dyno_drivers::{
    BulkLoad, Connection, Discard, Driver, Io, RowSource, RowWriter, TimeoutPolicy, block_on,
};
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::sync::lock;
use dyno_model::target::Target;
use serde::{Deserialize, Serialize};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// Rows of one bulk load, which is one transaction: large enough to make its overhead negligible,
/// and small enough to keep its undo log small.
const ROWS_PER_LOAD: u64 = 100_000;
/// Ranges of rows that are smaller than this are not divided.
pub(super) const ROWS_PER_RANGE_MIN: u64 = 10_000;
/// Connections that load at the same time. More than the processors: while one waits for the log,
/// another parses.
pub const LOADERS: usize = 4;
/// How often progress is reported.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(20);

/// The input of loading.
pub struct Loading<'a> {
    /// The trial that needs the data; progress events name it.
    pub trial: &'a str,
    /// The database to load into.
    pub target: &'a Target,
    /// The data set to load.
    pub data: &'a dyn DataSet,
    /// Number of interrupts by the user so far.
    pub interrupts: &'a AtomicUsize,
}

pub(super) type Result<T> = std::result::Result<T, OperationFailure>;

/// The timeout policy of bulk operations: they continue while the server is healthy and the user
/// does not interrupt. A partial load is useless.
pub(super) fn timeout_policy(target: &Target) -> TimeoutPolicy {
    TimeoutPolicy::for_work(target).hasty()
}

pub(super) fn connect(target: &Target, timeout: &TimeoutPolicy) -> Result<Connection> {
    block_on(Connection::connect(target, &Io::WithTimeout(timeout.clone())))
}

/// Sends statements one after the other.
pub(super) fn send(
    connection: &mut Connection,
    statements: impl IntoIterator<Item = impl AsRef<str>>,
) -> Result<()> {
    statements
        .into_iter()
        .try_for_each(|sql| block_on(connection.query(sql.as_ref(), &mut Discard)).map(|_| ()))
}

/// A range of a table's rows. One connection loads it from the first row to the last: neighbouring
/// rows come from one connection because that fills the pages of a clustered index sequentially
/// instead of splitting them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowRange {
    /// Index of the table in the data set.
    pub table: usize,
    /// Its first row, from 0.
    pub first: u64,
    /// Number of rows; at least 1.
    pub rows: u64,
}

impl RowRange {
    /// All rows of the tables that have any.
    pub(super) fn all(tables: &[TableDefinition]) -> Vec<Self> {
        let whole = tables.iter().enumerate().map(|(table, it)| (table, it.rows));
        let whole = whole.filter(|(_, rows)| *rows > 0);
        whole.map(|(table, rows)| Self { table, first: 0, rows }).collect()
    }

    /// Divides it into ranges of about equal length, so many at most.
    pub(super) fn divided(self, parts: u64) -> impl Iterator<Item = Self> {
        let end = self.first + self.rows;
        let length = self.rows.div_ceil(parts.max(1)).max(ROWS_PER_RANGE_MIN);
        let starts = (self.first..end).step_by(length as usize);
        starts.map(move |first| Self { first, rows: length.min(end - first), ..self })
    }
}

/// The remaining work, and the progress of each table.
pub(super) struct RangeQueue<'a> {
    tables: &'a [TableDefinition],
    /// Index of the first of them in the data set.
    first: usize,
    pending: Mutex<Vec<RowRange>>,
    /// Number of ranges of each table that are not loaded yet.
    unloaded: Vec<AtomicUsize>,
    rows_done: AtomicU64,
    is_cancelled: AtomicBool,
    /// The timeout policy of the loaders' connections.
    pub(super) timeout: TimeoutPolicy,
}

impl<'a> RangeQueue<'a> {
    /// Divides ranges of the tables' rows further, for this many loaders.
    pub(super) fn new(
        tables: &'a [TableDefinition],
        first: usize,
        ranges: &[RowRange],
        loaders: usize,
        timeout: TimeoutPolicy,
    ) -> Self {
        let divisor = (loaders as u64).div_ceil(ranges.len().max(1) as u64);
        let mut pending: Vec<RowRange> =
            ranges.iter().flat_map(|range| range.divided(divisor)).collect();
        let count = |table| pending.iter().filter(|range| range.table == table).count();
        let unloaded = (0..tables.len()).map(|table| AtomicUsize::new(count(table))).collect();
        pending.reverse();
        Self {
            tables,
            first,
            pending: Mutex::new(pending),
            unloaded,
            rows_done: AtomicU64::new(0),
            is_cancelled: AtomicBool::new(false),
            timeout,
        }
    }

    /// Number of rows loaded.
    pub(super) fn rows_done(&self) -> u64 {
        self.rows_done.load(Ordering::Relaxed)
    }

    /// True when all ranges of a table are loaded.
    pub(super) fn is_filled(&self, table: usize) -> bool {
        self.unloaded[table].load(Ordering::Acquire) == 0
    }
}

/// Loads all ranges of the queue; calls `progress` regularly.
pub(super) fn fill(
    loading: &Loading<'_>,
    queue: &RangeQueue<'_>,
    loaders: usize,
    mut progress: impl FnMut(),
) -> Result<()> {
    let loaders = loaders.min(lock(&queue.pending).len());
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..loaders).map(|_| scope.spawn(|| loader(loading, queue))).collect();
        while threads.iter().any(|thread| !thread.is_finished()) {
            std::thread::sleep(PROGRESS_INTERVAL);
            if loading.interrupts.load(Ordering::Relaxed) > 0 {
                queue.is_cancelled.store(true, Ordering::Relaxed);
            }
            progress();
        }
        let mut outcome: Result<()> = Ok(());
        for thread in threads {
            let result = thread.join().unwrap_or_else(|_| {
                Err(FailureKind::Other.failure("a loader panicked; this is a bug of dyno"))
            });
            // The first real error counts; the other loaders were only told to stop.
            if outcome.as_ref().err().is_none_or(|failure| failure.kind == FailureKind::Cancelled)
                && result.is_err()
            {
                outcome = result;
            }
        }
        outcome
    })
}

fn loader(loading: &Loading<'_>, queue: &RangeQueue<'_>) -> Result<()> {
    let load_ranges_in_order = || {
        let mut connection = connect(loading.target, &queue.timeout)?;
        loop {
            let Some(range) = lock(&queue.pending).pop() else { break };
            load_range(loading, queue, &mut connection, range)?;
        }
        block_on(connection.close());
        Ok(())
    };
    let result = load_ranges_in_order();
    if result.is_err() {
        queue.is_cancelled.store(true, Ordering::Relaxed);
    }
    result
}

fn load_range(
    loading: &Loading<'_>,
    queue: &RangeQueue<'_>,
    connection: &mut Connection,
    range: RowRange,
) -> Result<()> {
    let table = &queue.tables[range.table];
    let end = range.first + range.rows;
    for first in (range.first..end).step_by(ROWS_PER_LOAD as usize) {
        load_rows(
            loading,
            queue,
            connection,
            RowRange { first, rows: ROWS_PER_LOAD.min(end - first), ..range },
        )?;
    }
    // The loader of a table's last range builds its indexes, while others load the next table.
    if queue.unloaded[range.table].fetch_sub(1, Ordering::AcqRel) == 1 {
        send(connection, &table.indexes)?;
    }
    Ok(())
}

fn load_rows(
    loading: &Loading<'_>,
    queue: &RangeQueue<'_>,
    connection: &mut Connection,
    range: RowRange,
) -> Result<()> {
    let table = &queue.tables[range.table];
    let mut rows = RangeRows { loading, queue, range, next: range.first };
    let load = BulkLoad { table: &table.name, columns: &table.columns };
    let loaded = block_on(connection.bulk_load(&load, &mut rows))?;
    if queue.is_cancelled.load(Ordering::Relaxed) {
        return Err(FailureKind::Cancelled.failure("loading was interrupted"));
    }
    if loaded == range.rows {
        return Ok(());
    }
    let message = format!(
        "only {loaded} of {} rows from number {} on were loaded into table {}; rows of an earlier \
         load may conflict with them",
        range.rows,
        range.first + 1,
        table.name
    );
    Err(FailureKind::Other.failure(message))
}

/// The rows of a range, generated while they are sent.
struct RangeRows<'a> {
    loading: &'a Loading<'a>,
    queue: &'a RangeQueue<'a>,
    range: RowRange,
    next: u64,
}

/// Number of rows after which a loader updates the shared count and checks whether to stop.
const ROWS_PER_CHECK: u64 = 500;

impl RowSource for RangeRows<'_> {
    fn next(&mut self, row: &mut dyn RowWriter) -> bool {
        let done = self.next - self.range.first;
        let is_end = done == self.range.rows;
        if is_end || done > 0 && done.is_multiple_of(ROWS_PER_CHECK) {
            let since = if done.is_multiple_of(ROWS_PER_CHECK) {
                ROWS_PER_CHECK
            } else {
                done % ROWS_PER_CHECK
            };
            self.queue.rows_done.fetch_add(since.min(done), Ordering::Relaxed);
            if self.queue.is_cancelled.load(Ordering::Relaxed) {
                return false;
            }
        }
        if is_end {
            return false;
        }
        self.loading.data.row(self.queue.first + self.range.table, self.next, row);
        self.next += 1;
        true
    }
}
