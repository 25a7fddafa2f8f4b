//! Creation and loading of a workload's tables: in parallel within one table, with the engine's
//! bulk load interface.

use crate::workload::{DataSet, TableDefinition, count_rows};
use dyno_drivers::statistics::RejectedStatement;
use dyno_drivers::{
    BulkLoad, Connection, Discard, Driver, Io, RowSource, RowWriter, TimeoutPolicy, block_on, lock,
    update_statistics,
};
use dyno_model::event::{Event, Listener, Phase, ProgressUnit};
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::target::Target;
use dyno_model::warning::Warning;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// Rows of one bulk load, which is one transaction: large enough to make its overhead negligible,
/// and small enough to keep its undo log small.
const ROWS_PER_LOAD: u64 = 100_000;
/// Tables smaller than this are not divided.
const ROWS_PER_PART_MIN: u64 = 10_000;
/// Connections that load at the same time. More than the processors: while one waits for the log,
/// another parses.
pub const LOADERS: usize = 4;
/// How often progress is reported.
const LOOK: Duration = Duration::from_millis(20);

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

type Result<T> = std::result::Result<T, OperationFailure>;

/// Drops the tables if they exist, creates and fills them, and builds their indexes; then lets the
/// data set create its additional objects, which may read the tables. Returns the number of rows
/// loaded.
///
/// # Errors
/// When the server rejects a statement, or the user interrupts ([`FailureKind::Cancelled`]).
pub fn load(loading: &Loading<'_>, listener: &mut dyn Listener) -> Result<u64> {
    let tables = loading.data.tables();
    listener.event(&Event::PhaseStarted { trial: loading.trial.to_owned(), phase: Phase::Schema });
    let timeout = work(loading.target);
    let mut connection = connect(loading.target, &timeout)?;
    for table in &tables {
        ask(&mut connection, [format!("DROP TABLE IF EXISTS {}", table.name)])?;
        ask(&mut connection, [&table.create].into_iter().filter(|create| !create.is_empty()))?;
    }
    listener.event(&Event::PhaseStarted { trial: loading.trial.to_owned(), phase: Phase::Load });
    let total: u64 = tables.iter().map(|table| table.rows).sum();
    let loaders = if loading.target.engine.traits().has_one_writer { 1 } else { LOADERS };
    let board = Board::new(&tables, 0, loaders, timeout);
    fill(loading, &board, loaders, |done| {
        listener.event(&Event::Progress {
            trial: loading.trial.to_owned(),
            phase: Phase::Load,
            done,
            total,
            unit: ProgressUnit::Rows,
        });
    })?;
    // Tables with rows already have their indexes; an empty table has no last part whose loader
    // builds them.
    ask(
        &mut connection,
        tables.iter().filter(|table| table.rows == 0).flat_map(|table| &table.indexes),
    )?;
    let parts = loading.data.parts();
    for part in if parts.is_empty() { vec![loading.data] } else { parts } {
        part.make(loading.target, loading.interrupts)?;
        note_rejected(part.update_statistics(loading.target)?, listener);
    }
    // Refreshes the planner's statistics, so that the first trial does not run on estimates.
    if total > 0 {
        let names: Vec<String> = tables.into_iter().map(|table| table.name).collect();
        note_rejected(block_on(update_statistics(&mut connection, &names))?, listener);
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
    let mut connection = connect(target, &work(target))?;
    for table in data.tables().iter().filter(|table| !table.create.is_empty()) {
        let found = block_on(count_rows(&mut connection, &table.name))?;
        if found != table.rows {
            let TableDefinition { name, rows, .. } = table;
            let message = format!(
                "the existing table {name} has {found} rows, and the options of the workload say \
                 {rows}: set its size in `[workload]` as it is, or name a database with tables of \
                 this size"
            );
            return Err(FailureKind::BadStatement.failure(message));
        }
    }
    block_on(connection.close());
    Ok(())
}

/// Reports statements about the planner's statistics that the server rejected: the data is
/// complete without them.
pub fn note_rejected(rejected: Vec<RejectedStatement>, listener: &mut dyn Listener) {
    for RejectedStatement { statement, failure } in rejected {
        let reason = failure.to_string();
        listener.event(&Event::RunWarning(Warning::StatementRefused { statement, reason }));
    }
}

/// Fills one table, which exists and is empty, with this many concurrent connections, and builds
/// its indexes after calling `is_filled`. `number` is the table's index in the data set, `table`
/// its definition. For callers that create the tables themselves one after another because the user
/// ordered exactly that: nothing else ends it.
///
/// # Errors
/// When the server rejects a statement, or the user interrupts ([`FailureKind::Cancelled`]).
pub fn load_table(
    loading: &Loading<'_>,
    number: usize,
    table: &TableDefinition,
    connections: usize,
    is_filled: impl FnOnce(),
) -> Result<()> {
    let unindexed = TableDefinition { indexes: Vec::new(), ..table.clone() };
    let loaders =
        if loading.target.engine.traits().has_one_writer { 1 } else { connections.max(1) };
    let board =
        Board::new(std::slice::from_ref(&unindexed), number, loaders, TimeoutPolicy::endless());
    fill(loading, &board, loaders, |_| {})?;
    is_filled();
    if !table.indexes.is_empty() {
        let mut connection = connect(loading.target, &board.timeout)?;
        ask(&mut connection, &table.indexes)?;
        block_on(connection.close());
    }
    Ok(())
}

/// The timeout policy of bulk operations: they continue while the server is healthy and the user
/// does not interrupt. A partial load is useless.
fn work(target: &Target) -> TimeoutPolicy {
    TimeoutPolicy::for_work(target).hasty()
}

fn connect(target: &Target, timeout: &TimeoutPolicy) -> Result<Connection> {
    block_on(Connection::connect(target, &Io::WithTimeout(timeout.clone())))
}

/// Sends statements one after the other.
fn ask(
    connection: &mut Connection,
    statements: impl IntoIterator<Item = impl AsRef<str>>,
) -> Result<()> {
    statements
        .into_iter()
        .try_for_each(|sql| block_on(connection.query(sql.as_ref(), &mut Discard)).map(|_| ()))
}

/// A unit of work: a range of a table's rows, which one connection loads from the first row to the
/// last. Neighbouring rows come from one connection because that fills the pages of a clustered
/// index sequentially instead of splitting them.
#[derive(Debug, Clone, Copy)]
struct Part {
    table: usize,
    first: u64,
    rows: u64,
}

/// The remaining work, and the progress of each table.
struct Board<'a> {
    tables: &'a [TableDefinition],
    /// Index of the first of them in the data set.
    first: usize,
    parts: Mutex<Vec<Part>>,
    /// Parts of each table that are not loaded yet.
    open: Vec<AtomicUsize>,
    rows_done: AtomicU64,
    is_cancelled: AtomicBool,
    /// The timeout policy of the loaders' connections.
    timeout: TimeoutPolicy,
}

impl<'a> Board<'a> {
    /// Divides all rows of the tables into parts for this many loaders.
    fn new(
        tables: &'a [TableDefinition],
        first: usize,
        loaders: usize,
        timeout: TimeoutPolicy,
    ) -> Self {
        let parts_per_table = (loaders as u64).div_ceil(tables.len().max(1) as u64);
        let mut parts = Vec::new();
        let mut open = Vec::new();
        for (table, definition) in tables.iter().enumerate() {
            let rows = definition.rows;
            let length = rows.div_ceil(parts_per_table).max(ROWS_PER_PART_MIN);
            open.push(AtomicUsize::new(rows.div_ceil(length) as usize));
            let starts = (0..rows).step_by(length as usize);
            parts.extend(starts.map(|first| Part { table, first, rows: length.min(rows - first) }));
        }
        parts.reverse();
        Self {
            tables,
            first,
            parts: Mutex::new(parts),
            open,
            rows_done: AtomicU64::new(0),
            is_cancelled: AtomicBool::new(false),
            timeout,
        }
    }
}

/// Loads all parts of the board; calls `progress` regularly with the number of rows loaded.
fn fill(
    loading: &Loading<'_>,
    board: &Board<'_>,
    loaders: usize,
    mut progress: impl FnMut(u64),
) -> Result<()> {
    let loaders = loaders.min(lock(&board.parts).len());
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..loaders).map(|_| scope.spawn(|| loader(loading, board))).collect();
        while threads.iter().any(|thread| !thread.is_finished()) {
            std::thread::sleep(LOOK);
            if loading.interrupts.load(Ordering::Relaxed) > 0 {
                board.is_cancelled.store(true, Ordering::Relaxed);
            }
            progress(board.rows_done.load(Ordering::Relaxed));
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

fn loader(loading: &Loading<'_>, board: &Board<'_>) -> Result<()> {
    let work = || {
        let mut connection = connect(loading.target, &board.timeout)?;
        loop {
            let Some(part) = lock(&board.parts).pop() else { break };
            load_part(loading, board, &mut connection, part)?;
        }
        block_on(connection.close());
        Ok(())
    };
    let result = work();
    if result.is_err() {
        board.is_cancelled.store(true, Ordering::Relaxed);
    }
    result
}

fn load_part(
    loading: &Loading<'_>,
    board: &Board<'_>,
    connection: &mut Connection,
    part: Part,
) -> Result<()> {
    let table = &board.tables[part.table];
    let end = part.first + part.rows;
    for first in (part.first..end).step_by(ROWS_PER_LOAD as usize) {
        load_rows(
            loading,
            board,
            connection,
            Part { first, rows: ROWS_PER_LOAD.min(end - first), ..part },
        )?;
    }
    // The loader of a table's last part builds its indexes, while others load the next table.
    if board.open[part.table].fetch_sub(1, Ordering::AcqRel) == 1 {
        ask(connection, &table.indexes)?;
    }
    Ok(())
}

fn load_rows(
    loading: &Loading<'_>,
    board: &Board<'_>,
    connection: &mut Connection,
    part: Part,
) -> Result<()> {
    let table = &board.tables[part.table];
    let mut rows = PartRows { loading, board, part, next: part.first };
    let load = BulkLoad { table: &table.name, columns: &table.columns };
    let loaded = block_on(connection.bulk_load(&load, &mut rows))?;
    if board.is_cancelled.load(Ordering::Relaxed) {
        return Err(FailureKind::Cancelled.failure("loading was interrupted"));
    }
    if loaded == part.rows {
        return Ok(());
    }
    let message = format!(
        "only {loaded} of {} rows from number {} on were loaded into table {}; rows of an earlier \
         load may conflict with them",
        part.rows,
        part.first + 1,
        table.name
    );
    Err(FailureKind::Other.failure(message))
}

/// The rows of a part, generated while they are sent.
struct PartRows<'a> {
    loading: &'a Loading<'a>,
    board: &'a Board<'a>,
    part: Part,
    next: u64,
}

/// Number of rows after which a loader updates the shared count and checks whether to stop.
const ROWS_PER_CHECK: u64 = 500;

impl RowSource for PartRows<'_> {
    fn next(&mut self, row: &mut dyn RowWriter) -> bool {
        let done = self.next - self.part.first;
        let is_end = done == self.part.rows;
        if is_end || done > 0 && done.is_multiple_of(ROWS_PER_CHECK) {
            let since = if done.is_multiple_of(ROWS_PER_CHECK) {
                ROWS_PER_CHECK
            } else {
                done % ROWS_PER_CHECK
            };
            self.board.rows_done.fetch_add(since.min(done), Ordering::Relaxed);
            if self.board.is_cancelled.load(Ordering::Relaxed) {
                return false;
            }
        }
        if is_end {
            return false;
        }
        self.loading.data.row(self.board.first + self.part.table, self.next, row);
        self.next += 1;
        true
    }
}
