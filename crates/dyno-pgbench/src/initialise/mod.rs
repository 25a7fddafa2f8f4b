//! `-i`: creates and fills the standard tables.
//!
//! * this file: the steps and their times; [`statements`]: their SQL in the engines' dialects;
//!   [`rows`]: the loaded rows.

mod rows;
mod statements;
mod tables;

use crate::exit_code;
use crate::failure;
use crate::options::{Initialisation, STEPS, Step};
use crate::terminal::Terminal;
use dyno_drivers::{Connection, Discard, Driver, Io, TimeoutPolicy, block_on};
use dyno_engine::loading::{LOADERS, Loading, load_table};
use dyno_model::failure::OperationFailure;
use dyno_model::target::Target;
use rows::Accounts;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
pub(crate) use tables::standard_tables;

/// Number of rows per line of progress.
const ROWS_PER_LINE: u64 = 100_000;
/// Time between two lines of progress with `-q`.
const QUIET: Duration = Duration::from_secs(5);
/// How often the progress of loading is checked.
const LOOK: Duration = Duration::from_millis(20);

/// A statement that failed.
struct Refused {
    sql: String,
    failure: OperationFailure,
}

/// Creates and fills the tables. Returns the exit code.
pub(crate) fn initialise(
    wanted: &Initialisation,
    target: &Target,
    terminal: &dyn Terminal,
    interrupts: &AtomicUsize,
) -> u8 {
    if let Err(message) = statements::check(wanted, target.engine) {
        terminal.error(&message);
        return exit_code::FAILED;
    }
    let connection =
        match block_on(Connection::connect(target, &Io::WithTimeout(TimeoutPolicy::endless()))) {
            Ok(connection) => connection,
            Err(failure) => {
                terminal.error(&failure::connecting(&failure, target));
                terminal.error("could not create connection for initialization");
                return exit_code::FAILED;
            }
        };
    let mut steps = Steps { wanted, target, terminal, interrupts, connection };
    let mut times = Vec::new();
    let began = Instant::now();
    for step in &wanted.steps {
        let started = Instant::now();
        let (_, _, title, name) =
            STEPS.iter().find(|(_, known, ..)| known == step).expect("all are there");
        terminal.message(&format!("{title}...\n"));
        if let Err(refused) = steps.take(*step) {
            terminal.error(&format!("query failed: {}", failure::words(&refused.failure)));
            terminal.note(&format!("detail: Query was: {}", refused.sql));
            return exit_code::FAILED;
        }
        times.push(format!("{name} {:.2} s", started.elapsed().as_secs_f64()));
    }
    block_on(steps.connection.close());
    let seconds = began.elapsed().as_secs_f64();
    terminal.message(&format!("done in {seconds:.2} s ({}).\n", times.join(", ")));
    exit_code::OK
}

struct Steps<'a> {
    wanted: &'a Initialisation,
    target: &'a Target,
    terminal: &'a dyn Terminal,
    interrupts: &'a AtomicUsize,
    connection: Connection,
}

impl Steps<'_> {
    fn take(&mut self, step: Step) -> Result<(), Refused> {
        let engine = self.target.engine;
        let statements = match step {
            Step::Drop => statements::drop(engine),
            Step::Tables => statements::tables(self.wanted, engine),
            Step::Generate => statements::small_rows(self.wanted, engine),
            Step::GenerateOnServer => statements::generate(self.wanted),
            Step::Vacuum => statements::vacuum(engine),
            Step::PrimaryKeys => statements::primary_keys(self.wanted, engine),
            Step::ForeignKeys => statements::foreign_keys(),
        };
        for sql in statements {
            self.run(sql)?;
        }
        match step {
            Step::Tables if self.wanted.partitions > 0 => {
                self.terminal
                    .message(&format!("creating {} partitions...\n", self.wanted.partitions));
                statements::partitions(self.wanted).into_iter().try_for_each(|sql| self.run(sql))
            }
            Step::Generate => self.load_accounts(),
            _ => Ok(()),
        }
    }

    fn run(&mut self, sql: String) -> Result<(), Refused> {
        match block_on(self.connection.query(&sql, &mut Discard)) {
            Ok(_) => Ok(()),
            Err(failure) => Err(Refused { sql, failure }),
        }
    }

    /// Fills `pgbench_accounts` with the engine's bulk loading.
    fn load_accounts(&mut self) -> Result<(), Refused> {
        let accounts = Accounts::new(self.wanted.scale);
        let table = accounts.table();
        let total = table.rows;
        let loading = Loading {
            trial: "pgbench",
            target: self.target,
            data: &accounts,
            interrupts: self.interrupts,
        };
        let is_loaded = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let (terminal, is_quiet) = (self.terminal, self.wanted.is_quiet);
            let (accounts, is_loaded) = (&accounts, &is_loaded);
            scope.spawn(move || show_progress(terminal, accounts, total, is_quiet, is_loaded));
            let loaded = load_table(&loading, 0, &table, LOADERS, || {});
            is_loaded.store(true, Ordering::Release);
            let sql = || format!("load {total} rows into {}", table.name);
            loaded.map_err(|failure| Refused { sql: sql(), failure })
        })
    }
}

/// Writes lines of progress until all rows are loaded.
fn show_progress(
    terminal: &dyn Terminal,
    accounts: &Accounts,
    total: u64,
    is_quiet: bool,
    is_loaded: &AtomicBool,
) {
    let began = Instant::now();
    let (mut shown, mut due) = (0, began + QUIET);
    loop {
        let is_last = is_loaded.load(Ordering::Acquire);
        let done = if is_last { total } else { accounts.made().min(total) };
        let is_due = if is_quiet {
            Instant::now() >= due || is_last && shown < total
        } else {
            done / ROWS_PER_LINE > shown / ROWS_PER_LINE
        };
        if is_due && done > shown {
            let lines = if is_quiet { vec![done] } else { lines(shown, done) };
            for rows in lines {
                terminal.message(&line(rows, total, began.elapsed()));
            }
            (shown, due) = (done, Instant::now() + QUIET);
        }
        if is_last {
            return;
        }
        std::thread::park_timeout(LOOK);
    }
}

/// The multiples of [`ROWS_PER_LINE`] after one number of rows, up to another.
fn lines(shown: u64, done: u64) -> Vec<u64> {
    (shown / ROWS_PER_LINE + 1..=done / ROWS_PER_LINE).map(|line| line * ROWS_PER_LINE).collect()
}

fn line(done: u64, total: u64, elapsed: Duration) -> String {
    let elapsed = elapsed.as_secs_f64();
    let remaining = elapsed * (total - done) as f64 / done as f64;
    let share = done * 100 / total;
    format!(
        "{done} of {total} tuples ({share}%) done (elapsed {elapsed:.2} s, remaining \
         {remaining:.2} s)\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_progress_is_written_every_hundred_thousand_rows() {
        assert_eq!(lines(0, 250_000), [100_000, 200_000]);
        assert_eq!(lines(200_000, 299_999), [0; 0]);
        assert_eq!(
            line(100_000, 200_000, Duration::from_millis(1_500)),
            "100000 of 200000 tuples (50%) done (elapsed 1.50 s, remaining 1.50 s)\n"
        );
    }
}
