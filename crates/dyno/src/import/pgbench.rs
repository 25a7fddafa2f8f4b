//! Output of pgbench 9 to 18: progress lines, errors of clients, and the final summary.

use super::document::Line;
use super::labels::{Labels, measured_interval, parse_figure, replacement};
use super::reading::{PrintedWarnings, Reading, interval_rates, nanos};
use dyno_model::counters::UnknownCount;
use dyno_model::reason::Reason;
use dyno_model::units::Nanos;
use dyno_model::warning::Warning;

const HEADING: &str = "pgbench (";
const TYPE: &str = "transaction type:";
const CLIENTS: &str = "number of clients:";
const TRIES: &str = "maximum number of tries:";
const DURATION: &str = "duration:";
const PROCESSED: &str = "number of transactions actually processed:";
const FAILED: &str = "number of failed transactions:";
const SKIPPED: &str = "number of transactions skipped:";
const RETRIES: &str = "total number of retries:";
const MEAN: &str = "latency average =";
/// Up to version 9.6.
const MEAN_OLD: &str = "latency average:";
const DEVIATION: &str = "latency stddev =";
const DEVIATION_OLD: &str = "latency stddev:";
const LAG: &str = "rate limit schedule lag:";
const RATE: &str = "tps =";
/// The rate over the total time including connecting, followed by the rate without it: up to
/// version 13.
const RATE_ALL: &str = "tps = ... (including connections establishing)";

const LABELS: [&str; 14] = [
    TYPE,
    CLIENTS,
    TRIES,
    DURATION,
    PROCESSED,
    FAILED,
    SKIPPED,
    RETRIES,
    MEAN,
    MEAN_OLD,
    DEVIATION,
    DEVIATION_OLD,
    LAG,
    RATE,
];
/// Prefixes of warnings and errors from pgbench or the server.
const WARNINGS: [&str; 5] =
    ["pgbench: error:", "pgbench: warning:", "pgbench: fatal:", "WARNING:", "ERROR:"];
const ABORTED: &str = "Run was aborted";

/// True when some line occurs only in the output of pgbench.
pub(super) fn is_format(lines: &[Line<'_>]) -> bool {
    lines.iter().any(|line| [TYPE, PROCESSED].iter().any(|label| line.text.starts_with(label)))
}

/// A run being parsed: the lines before its summary, and the summary.
#[derive(Debug, Default)]
struct Run<'t> {
    program: String,
    server: String,
    figures: Labels<'t>,
    intervals: Vec<(f64, f64)>,
    warned: PrintedWarnings,
    aborted: Option<String>,
    line: usize,
}

/// All runs, one after another.
pub(super) fn read(lines: &[Line<'_>]) -> Result<Vec<Reading>, String> {
    let mut runs: Vec<Run<'_>> = Vec::new();
    let (mut program, mut server) = ("pgbench".to_owned(), String::new());
    let mut next = Run::default();
    for line in lines {
        if let Some(heading) = line.text.strip_prefix(HEADING) {
            (program, server) = versions(heading);
        } else if WARNINGS.iter().any(|word| line.text.starts_with(word)) {
            match runs.last_mut() {
                Some(run) if line.text.contains(ABORTED) => {
                    run.aborted = Some(line.text.to_owned());
                }
                _ => next.warned.take(line.text),
            }
        } else if let Some(interval) = interval(*line)? {
            next.intervals.push(interval);
        } else {
            if line.text.starts_with(TYPE) || runs.is_empty() && line.text.starts_with(CLIENTS) {
                let (program, server) = (program.clone(), server.clone());
                runs.push(Run { program, server, line: line.number, ..std::mem::take(&mut next) });
            }
            if let Some(run) = runs.last_mut() {
                run.take(*line)?;
            }
        }
    }
    if let Some(run) = runs.last_mut() {
        run.warned.add(next.warned);
    }
    runs.into_iter().map(Run::reading).collect()
}

/// The versions in `15.18 (Debian), server 15.4)`; a client of the server's version prints only
/// one. `dyno pgbench` prints neither.
fn versions(heading: &str) -> (String, String) {
    if let Some(program) = replacement(heading, "pgbench") {
        return (program, String::new());
    }
    let version = |text: &str| text.split([' ', ')', ',']).next().unwrap_or_default().to_owned();
    let server =
        heading.split_once("server ").map_or_else(|| version(heading), |(_, text)| version(text));
    (format!("pgbench {}", version(heading)), server)
}

impl<'t> Run<'t> {
    fn take(&mut self, line: Line<'t>) -> Result<(), String> {
        let value = |label: &'static str| Some((label, line.text.strip_prefix(label)?));
        let Some((label, text)) = LABELS.into_iter().find_map(value) else { return Ok(()) };
        let is_all = label == RATE && text.contains("(including connections establishing)");
        self.figures.take(if is_all { RATE_ALL } else { label }, Line { text, ..line })
    }

    fn reading(self) -> Result<Reading, String> {
        let figures = &self.figures;
        let prefix = format!("line {}: ", self.line);
        let reason = self
            .warned
            .first()
            .map_or("; was it cut off?".to_owned(), |text| format!("; it said: {text}"));
        let lacks = |what: &str| format!("{prefix}a run of pgbench without `{what}`{reason}");
        let committed = figures.count(PROCESSED)?.ok_or_else(|| lacks(PROCESSED))?;
        let rate = figures.number(RATE)?.or(figures.number(RATE_ALL)?);
        // Its rate is relative to this time, which excludes connecting. Without transactions there
        // is no rate.
        let seconds = match rate {
            Some(rate) if rate > 0.0 => committed as f64 / rate,
            Some(_) => figures.number(DURATION)?.unwrap_or_default(),
            None if committed == 0 => figures.number(DURATION)?.ok_or_else(|| {
                format!("{prefix}a run of pgbench without transactions and duration{reason}")
            })?,
            None => return Err(lacks(RATE)),
        };
        let mut reading = Reading {
            clients: figures.count(CLIENTS)?.and_then(|clients| u32::try_from(clients).ok()),
            program: self.program.clone(),
            server_version: self.server.clone(),
            window_length: Nanos((seconds * 1e9).round() as u64),
            is_closed_loop: !figures.has(LAG),
            line: self.line,
            ..Reading::default()
        };
        self.enter_counters(&mut reading, committed)?;
        self.set_latency(&mut reading)?;
        reading.time_series = interval_rates(&self.intervals);
        reading
            .warnings
            .extend(self.cut_short(committed).map(|reason| Warning::CutShort { reason }));
        reading.warnings.extend(self.warned.warning());
        Ok(reading)
    }

    fn enter_counters(&self, reading: &mut Reading, committed: u64) -> Result<(), String> {
        let figures = &self.figures;
        let counters = &mut reading.counters;
        counters.committed = committed;
        counters.skipped = figures.count(SKIPPED)?.unwrap_or_default();
        let one_try = figures.count(TRIES)? == Some(1);
        let counts = [
            (FAILED, UnknownCount::Failed, &mut counters.failed),
            (RETRIES, UnknownCount::Retries, &mut counters.retries),
        ];
        for (label, kind, count) in counts {
            match figures.count(label)? {
                Some(number) => *count = number,
                // With a limit of one try there are no retries.
                None if kind == UnknownCount::Retries && one_try => {}
                None => drop(counters.unknown.insert(kind)),
            }
        }
        Ok(())
    }

    fn set_latency(&self, reading: &mut Reading) -> Result<(), String> {
        let figures = &self.figures;
        reading.latency.count = reading.counters.committed;
        // A mean that includes failures does not describe committed transactions.
        let includes_failures =
            figures.text(MEAN).is_some_and(|text| text.contains("including failures"));
        let mean =
            figures.number(MEAN)?.or(figures.number(MEAN_OLD)?).filter(|_| !includes_failures);
        reading.latency.mean = nanos(mean) as f64;
        reading.latency.standard_deviation =
            nanos(figures.number(DEVIATION)?.or(figures.number(DEVIATION_OLD)?)) as f64;
        Ok(())
    }

    /// Why the run is incomplete: `1210/1600` are the processed and the planned transactions.
    fn cut_short(&self, committed: u64) -> Option<Reason> {
        let planned = || parse_figure(self.figures.text(PROCESSED)?.split_once('/')?.1.trim());
        let done = committed
            + self.figures.count(FAILED).ok().flatten().unwrap_or_default()
            + self.figures.count(SKIPPED).ok().flatten().unwrap_or_default();
        let is_less = planned().filter(|planned| (done as f64) < *planned);
        self.aborted.clone().map(Reason::from).or_else(|| {
            is_less.map(|planned| Reason::TransactionsMissing { done, planned: planned as u64 })
        })
    }
}

/// Parses lines such as `progress: 5.0 s, 1234.5 tps, lat 0.8 ms stddev 0.1, 0 failed` into second
/// and rate.
fn interval(line: Line<'_>) -> Result<Option<(f64, f64)>, String> {
    let parse = || {
        let (second, rest) = line.text.strip_prefix("progress: ")?.split_once(" s, ")?;
        Some((second, rest.split_once(" tps")?.0))
    };
    parse().map(|(second, rate)| measured_interval(line.number, second, rate)).transpose()
}
