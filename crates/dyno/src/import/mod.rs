//! `dyno import`: reads results of other programs from their output.
//!
//! * this file: recognises the format of a file ([`read`]); [`document`]: a file as lines;
//!   [`labels`]: labelled values;
//! * [`sysbench`], [`pgbench`], [`transaction_log`], [`aggregate_log`], [`histogram_log`],
//!   [`table`]: one format each;
//! * [`reading`]: the result of one run; [`sample`]: single transactions; [`folder`]: results as a
//!   results folder.
//!
//! Values missing from a file stay unknown; nothing is guessed. Contradictory values are an error.

mod aggregate_log;
mod document;
mod folder;
mod histogram_log;
mod labels;
mod pgbench;
#[cfg(test)]
mod printed_tests;
mod reading;
mod sample;
mod sysbench;
mod table;
#[cfg(test)]
mod tests;
mod transaction_log;

pub(crate) use folder::{Named, write};
pub(crate) use table::COLUMNS;

use crate::failure::Failure;
use document::Line;
use dyno_model::counters::TrialCounters;
use dyno_model::exit_code;
use dyno_model::failure::FailureKind;
use dyno_model::units::Nanos;
use reading::Reading;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

/// Text of the error for a file of unknown format, after its name.
const FORMATS: &str = "dyno import reads the output of sysbench and pgbench, pgbench's logs of \
                       transactions and of intervals (pgbench_log.*), histogram logs (.hlog), and \
                       tables (.csv) with a heading";

/// Information from the user that complements the files.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    /// Number of clients for files that do not contain it.
    pub(crate) clients: Option<u32>,
    /// The time that a value of 1 in a histogram log represents.
    pub(crate) unit: Nanos,
    /// Names of table columns that differ from the defaults: from dyno's name to the file's.
    pub(crate) columns: BTreeMap<String, String>,
}

/// All runs in the files of one name: a single file, or the logs of one pgbench's threads.
///
/// # Errors
/// When a file cannot be read, has an unknown format, contains no run, or lacks required values;
/// with its name and a remedy.
pub(crate) fn read(files: &[&Path], hints: &Hints) -> Result<Vec<Reading>, Failure> {
    let named = |what: String| {
        let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        Failure::new(exit_code::USAGE, format!("{}: {what}", names.join(", ")))
    };
    let mut texts = Vec::new();
    for file in files {
        let bytes = document::read_bytes(file).map_err(|error| {
            let failure = Failure::cannot("read", file, &error);
            match error.kind() {
                ErrorKind::IsADirectory => failure.help("name the files in it"),
                _ => failure,
            }
        })?;
        texts.push(document::decode(bytes).map_err(&named)?);
    }
    let is_called_table =
        files.iter().any(|file| file.extension().is_some_and(|extension| extension == "csv"));
    let Some(readings) = readings(&texts, is_called_table, hints) else {
        return Err(named("unknown format".to_owned()).help(FORMATS));
    };
    let mut readings = readings.map_err(&named)?;
    for reading in &mut readings {
        balance(&mut reading.counters);
        reading.clients = reading.clients.or(hints.clients);
        let with_line = |what: &str| match reading.line {
            0 => what.to_owned(),
            line => format!("line {line}: {what}"),
        };
        if reading.clients.unwrap_or_default() == 0 {
            let what = with_line("the number of clients is missing");
            return Err(named(what).help("add --clients N"));
        }
        if reading.window_length.0 == 0 {
            let what = with_line("the duration of the run is missing or 0");
            return Err(named(what).help("in a table, add a column `seconds`"));
        }
        reading.check().map_err(|what| named(with_line(&what)))?;
    }
    Ok(readings)
}

/// The runs in texts; `None` when the format is unknown. Each format is recognised by its content.
fn readings(
    texts: &[String],
    is_called_table: bool,
    hints: &Hints,
) -> Option<Result<Vec<Reading>, String>> {
    let one = |reading: Result<Reading, String>| Some(reading.map(|reading| vec![reading]));
    let text = texts.first().map(String::as_str).unwrap_or_default();
    match text {
        _ if histogram_log::is_format(text) => one(histogram_log::read(text, hints.unit)),
        _ if transaction_log::is_format(text) => one(transaction_log::read(texts)),
        _ if aggregate_log::is_format(text) => one(aggregate_log::read(texts)),
        _ => printed(text).or_else(|| {
            (is_called_table || table::is_format(text, &hints.columns))
                .then(|| table::read(text, &hints.columns))
        }),
    }
}

/// The runs of sysbench and pgbench in a text, in order; `None` when there are none.
fn printed(text: &str) -> Option<Result<Vec<Reading>, String>> {
    let mut found = None;
    for source in document::sources(text) {
        for (is_format, read) in PRINTED {
            if !is_format(&source.lines) {
                continue;
            }
            match read(&source.lines) {
                Ok(readings) => found.get_or_insert_with(Vec::new).extend(readings),
                Err(what) => return Some(Err(what)),
            }
        }
    }
    let mut readings = found.filter(|readings| !readings.is_empty())?;
    readings.sort_by_key(|reading| reading.line);
    Some(Ok(readings))
}

/// A test for the output of a program, and its parser.
type Printed = (fn(&[Line<'_>]) -> bool, fn(&[Line<'_>]) -> Result<Vec<Reading>, String>);
const PRINTED: [Printed; 2] =
    [(sysbench::is_format, sysbench::read), (pgbench::is_format, pgbench::read)];

/// Derives the remaining counters from committed, failed, skipped and retries. The reasons for
/// failures are unknown.
fn balance(counters: &mut TrialCounters) {
    counters.attempts =
        counters.committed + counters.failed + counters.unfinished + counters.retries;
    counters.started =
        counters.committed + counters.failed + counters.unfinished + counters.skipped;
    for (count, kinds) in [
        (counters.failed, &mut counters.failed_by_kind),
        (counters.retries, &mut counters.retries_by_kind),
    ] {
        if count > 0 {
            kinds.insert(FailureKind::Other, count);
        }
    }
}
