//! Figures that other programs measured, read from what these left: `dyno import`.
//!
//! * this file: which format a file is in ([`read`]); [`reading`]: what it says of a run;
//! * [`sysbench`], [`pgbench`], [`transaction_log`], [`histogram_log`], [`table`]: one format each;
//! * [`folder`]: readings as a results folder.
//!
//! What a file does not say stays unknown; nothing is guessed.

mod folder;
mod histogram_log;
mod pgbench;
mod reading;
mod sysbench;
mod table;
#[cfg(test)]
mod tests;
mod transaction_log;

pub(crate) use folder::{Named, write};
pub(crate) use table::COLUMNS;

use crate::failure::Failure;
use dyno_model::exit_code;
use dyno_model::failure::FailureKind;
use dyno_model::ledger::Ledger;
use dyno_model::units::Nanos;
use reading::Reading;
use std::collections::BTreeMap;
use std::path::Path;

/// What an error about a file of unknown format says beside its name.
const FORMATS: &str = "dyno import reads what sysbench and pgbench print, pgbench's logs of transactions (pgbench_log.*), histogram logs (.hlog), \
                       and tables (.csv) with a heading";

/// What the user says beside the files.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    /// Number of clients where a file does not tell.
    pub(crate) clients: Option<u32>,
    /// Nanoseconds that a value of a histogram log stands for.
    pub(crate) unit: Nanos,
    /// Columns of tables that are called otherwise: dyno's name to the file's.
    pub(crate) columns: BTreeMap<String, String>,
}

/// All runs that files of one name hold: one file, or the logs that the threads of one pgbench left.
///
/// # Errors
/// When a file cannot be read, is in no known format, or lacks what a run needs; with its name and the remedy.
pub(crate) fn read(files: &[&Path], hints: &Hints) -> Result<Vec<Reading>, Failure> {
    let mut texts = Vec::new();
    for file in files {
        let bytes = std::fs::read(file).map_err(|error| Failure::cannot("read", file, &error))?;
        texts.push(String::from_utf8_lossy(&bytes).into_owned());
    }
    let named = |what: String| {
        let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        Failure::new(exit_code::USAGE, format!("{}: {what}", names.join(", ")))
    };
    let text = texts.first().map(String::as_str).unwrap_or_default();
    let is_table = files.iter().any(|file| file.extension().is_some_and(|extension| extension == "csv"));
    let readings = match text {
        _ if is_table => table::read(text, &hints.columns),
        _ if histogram_log::is_one(text) => {
            histogram_log::read(text, hints.unit).map(|reading| vec![reading])
        }
        _ if transaction_log::is_one(text) => transaction_log::read(&texts).map(|reading| vec![reading]),
        _ if pgbench::is_one(text) => pgbench::read(text),
        _ if sysbench::is_one(text) => sysbench::read(text),
        _ => return Err(named("in no format that is known".to_owned()).help(FORMATS)),
    };
    let mut readings = readings.map_err(&named)?;
    for reading in &mut readings {
        balance(&mut reading.ledger);
        reading.clients = reading.clients.or(hints.clients);
        if reading.clients.is_none() {
            let what = "it does not say with how many clients this was measured".to_owned();
            return Err(named(what).help("say it with --clients N"));
        }
        if reading.measured.0 == 0 {
            let what = "it does not say how long the run took, or the run took no time".to_owned();
            return Err(named(what).help("in a table, a column `seconds` says it"));
        }
    }
    Ok(readings)
}

/// Fills in what follows from committed, failed, skipped and retries. Why something failed is not known.
fn balance(ledger: &mut Ledger) {
    ledger.attempts = ledger.committed + ledger.failed + ledger.retries;
    ledger.started = ledger.committed + ledger.failed + ledger.skipped;
    for (count, kinds) in
        [(ledger.failed, &mut ledger.failed_by_kind), (ledger.retries, &mut ledger.retries_by_kind)]
    {
        if count > 0 {
            kinds.insert(FailureKind::Other, count);
        }
    }
}
