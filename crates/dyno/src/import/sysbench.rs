//! Output of sysbench 0.4 to 1.1: interval lines, reports at checkpoints, and the final statistics.

use super::document::Line;
use super::labels::{Labels, measured_interval, parse_figure, replacement};
use super::reading::{PrintedWarnings, Reading, interval_rates, nanos, set_percentile};
use dyno_model::counters::UnknownCount;
use dyno_model::units::Nanos;
use dyno_model::warning::Warning;

/// First line of each run.
const BEGINNING: &str = "Running the test with following options:";
const THREADS: &str = "Number of threads:";
const RATE: &str = "Target transaction rate:";
const STATISTICS: &str = "SQL statistics:";
const TRANSACTIONS: &str = "transactions:";
const EVENTS: &str = "total number of events:";
/// Version 1.1 prints throughput under a separate heading.
const ELAPSED: &str = "time elapsed:";
const TIME: &str = "total time:";
const ERRORS: &str = "ignored errors:";
const DEADLOCKS: &str = "deadlocks:";
const RECONNECTS: &str = "reconnects:";
const UNFINISHED: &str = "Number of unfinished transactions on forced shutdown:";
const MIN: &str = "min:";
const MEAN: &str = "avg:";
const MAX: &str = "max:";
const PERCENTILE: &str = "percentile:";

/// Labels of a report.
const REPORTED: [&str; 11] = [
    STATISTICS,
    TRANSACTIONS,
    EVENTS,
    ELAPSED,
    TIME,
    ERRORS,
    DEADLOCKS,
    RECONNECTS,
    MIN,
    MEAN,
    MAX,
];
/// Labels of tests that do not use SQL.
const OTHER_TESTS: [(&str, &str); 6] = [
    ("CPU speed:", "cpu"),
    ("Prime numbers limit:", "cpu"),
    ("Maximum prime number checked in CPU test:", "cpu"),
    ("Running memory speed test", "memory"),
    ("File operations:", "fileio"),
    ("Extra file open flags:", "fileio"),
];
/// Prefixes of warnings and errors from sysbench.
const WARNINGS: [&str; 5] = ["FATAL:", "ALERT:", "WARNING:", "PANIC:", "Segmentation fault"];

/// True when some line occurs only in the output of sysbench.
pub(super) fn is_format(lines: &[Line<'_>]) -> bool {
    lines.iter().any(|line| line.text == BEGINNING || is_result(line.text.trim_start()))
}

fn is_result(text: &str) -> bool {
    text.starts_with(TRANSACTIONS) && text.contains("per sec.")
}

/// A run being parsed.
#[derive(Debug, Default)]
struct Run<'t> {
    program: String,
    head: Labels<'t>,
    /// The statistics at each checkpoint, and the final ones.
    reports: Vec<Labels<'t>>,
    /// True when the last report is that of a checkpoint.
    is_checkpoint: bool,
    intervals: Vec<(f64, f64)>,
    warned: PrintedWarnings,
    other_test: Option<&'static str>,
    line: usize,
}

/// All runs, one after another.
pub(super) fn read(lines: &[Line<'_>]) -> Result<Vec<Reading>, String> {
    let mut runs: Vec<Run<'_>> = Vec::new();
    let mut program = "sysbench".to_owned();
    let mut warned = PrintedWarnings::default();
    for line in lines {
        let text = line.text.trim_start();
        let is_first = line.text == BEGINNING || runs.is_empty() && is_result(text);
        if let Some(version) = line.text.strip_prefix("sysbench ") {
            // The output may include the command line.
            if version.starts_with(|c: char| c.is_ascii_digit()) {
                program = replacement(version, "sysbench").unwrap_or_else(|| {
                    let version = version.split_whitespace().next().unwrap_or_default();
                    format!("sysbench {}", version.trim_end_matches(':'))
                });
            }
        } else if is_first {
            let reports = vec![Labels::default()];
            let warned = std::mem::take(&mut warned);
            runs.push(Run {
                program: program.clone(),
                line: line.number,
                warned,
                reports,
                ..Run::default()
            });
        }
        let running = runs.last_mut().filter(|run| !run.has_ended());
        if WARNINGS.iter().any(|word| text.starts_with(word)) {
            running.map_or(&mut warned, |run| &mut run.warned).take(text);
        } else if let Some(run) = runs.last_mut() {
            run.take(Line { number: line.number, text })?;
        }
    }
    if let Some(last) = runs.last_mut() {
        last.warned.add(warned);
    }
    runs.into_iter().map(Run::reading).collect()
}

impl<'t> Run<'t> {
    /// True when the run is complete.
    fn has_ended(&self) -> bool {
        !self.is_checkpoint
            && self.reports.last().is_some_and(|report| report.has(MAX) || report.has(PERCENTILE))
    }

    fn take(&mut self, line: Line<'t>) -> Result<(), String> {
        let value = |label: &'static str| Some((label, line.text.strip_prefix(label)?));
        if let Some((_, test)) = OTHER_TESTS.iter().find(|(label, _)| line.text.starts_with(label))
        {
            self.other_test = Some(test);
        } else if line.text.starts_with('[') && line.text.ends_with("Checkpoint report:") {
            self.report();
            self.is_checkpoint = true;
        } else if let Some(interval) = interval(line)? {
            self.intervals.push(interval);
        } else if let Some((label, text)) = [THREADS, RATE, UNFINISHED].into_iter().find_map(value)
        {
            self.head.take(label, Line { text, ..line })?;
        } else {
            if line.text == STATISTICS && self.is_checkpoint && self.has_report() {
                self.report();
                self.is_checkpoint = false;
            }
            let report = self.reports.last_mut().expect("each run begins with a report");
            if let Some((label, text)) = REPORTED.into_iter().find_map(value) {
                report.take(label, Line { text, ..line })?;
            } else if line.text.contains(PERCENTILE) {
                report.take(PERCENTILE, line)?;
            }
        }
        Ok(())
    }

    fn has_report(&self) -> bool {
        self.reports.last().is_some_and(|report| report.has(STATISTICS))
    }

    /// Starts a report, unless the last one is still empty.
    fn report(&mut self) {
        if self.has_report() {
            self.reports.push(Labels::default());
        }
    }

    /// The complete result. Each report has the counts since the previous one, and the time since
    /// the start.
    fn reading(self) -> Result<Reading, String> {
        let last = self.reports.last().expect("each run begins with a report");
        self.check_complete(last)?;
        let seconds = last.number(ELAPSED)?.or(last.number(TIME)?).unwrap_or_default();
        let sum = |label| sum(&self.reports, label);
        let (transactions, events) = (sum(TRANSACTIONS)?.unwrap_or_default(), sum(EVENTS)?);
        let committed = events.filter(|events| *events > 0).unwrap_or(transactions);
        let mut reading = Reading {
            clients: self.head.count(THREADS)?.and_then(|threads| u32::try_from(threads).ok()),
            program: self.program.clone(),
            window_length: Nanos((seconds * 1e9).round() as u64),
            is_closed_loop: !self.head.has(RATE),
            line: self.line,
            ..Reading::default()
        };
        let counters = &mut reading.counters;
        counters.committed = committed;
        // sysbench's "ignored errors" are restarted transactions; older versions count deadlocks
        // only.
        let retries = sum(ERRORS)?.or(sum(DEADLOCKS)?);
        counters.retries = retries.unwrap_or_default();
        counters.reconnects = sum(RECONNECTS)?.unwrap_or_default();
        counters.unfinished = self.head.count(UNFINISHED)?.unwrap_or_default();
        // sysbench does not count transactions that failed permanently.
        counters.unknown.insert(UnknownCount::Failed);
        if retries.is_none() {
            counters.unknown.insert(UnknownCount::Retries);
        }
        self.set_latency(&mut reading)?;
        if committed == transactions && self.reports.len() == 1 {
            reading.rate = self.printed_rate(last, committed, seconds)?;
        } else if committed != transactions {
            reading.warnings.push(Warning::EventsCounted { transactions, events: committed });
        }
        reading.time_series = interval_rates(&self.intervals);
        reading.warnings.extend(self.warned.warning());
        Ok(reading)
    }

    fn check_complete(&self, last: &Labels<'_>) -> Result<(), String> {
        let prefix = format!("line {}: ", self.line);
        let end = self
            .warned
            .first()
            .map_or("; was it cut off?".to_owned(), |text| format!("; it said: {text}"));
        if !last.has(TRANSACTIONS) && (self.other_test.is_some() || last.has(EVENTS)) {
            let test = self.other_test.unwrap_or("threads` or `sysbench mutex");
            return Err(format!(
                "{prefix}a run of `sysbench {test}`, which does not use a database; import runs of \
                 database tests such as oltp_read_write"
            ));
        }
        for (label, is_there) in
            [(TRANSACTIONS, last.has(TRANSACTIONS)), (TIME, last.has(TIME) || last.has(ELAPSED))]
        {
            if !is_there {
                return Err(format!("{prefix}a run of sysbench without `{label}`{end}"));
            }
        }
        Ok(())
    }

    fn set_latency(&self, reading: &mut Reading) -> Result<(), String> {
        let (mut least, mut largest, mut weighted) = (Vec::new(), Vec::new(), Some(0.0));
        for report in &self.reports {
            least.extend(report.number(MIN)?);
            largest.extend(report.number(MAX)?);
            let (mean, events) =
                (report.number(MEAN)?, report.number(EVENTS)?.or(report.number(TRANSACTIONS)?));
            weighted =
                weighted.zip(mean.zip(events)).map(|(sum, (mean, events))| sum + mean * events);
        }
        let committed = reading.counters.committed;
        let latency = &mut reading.latency;
        latency.count = committed;
        // Without transactions, minimum and maximum are meaningless.
        if committed == 0 {
            return Ok(());
        }
        latency.min = nanos(least.into_iter().reduce(f64::min));
        latency.max = nanos(largest.into_iter().reduce(f64::max));
        latency.mean = nanos(weighted.map(|sum| sum / committed as f64)) as f64;
        if let [report] = self.reports.as_slice()
            && let Some(line) = report.text(PERCENTILE)
        {
            // `95th percentile:`; older versions write `approx.  95 percentile:`.
            let digits: String = line
                .split(PERCENTILE)
                .next()
                .unwrap_or_default()
                .chars()
                .filter(char::is_ascii_digit)
                .collect();
            let value = parse_figure(
                line.rsplit(':').next().unwrap_or_default().trim().trim_end_matches("ms"),
            );
            let (Ok(percentage), Some(value)) = (digits.parse(), value) else {
                return Err(
                    report.wrong(PERCENTILE, line.rsplit(':').next().unwrap_or_default().trim())
                );
            };
            set_percentile(latency, percentage, nanos(Some(value)));
        }
        Ok(())
    }

    /// The rate printed after the number of transactions: more exact than the rounded time, except
    /// below 1 per second.
    fn printed_rate(
        &self,
        report: &Labels<'_>,
        committed: u64,
        seconds: f64,
    ) -> Result<Option<f64>, String> {
        let printed = report.text(TRANSACTIONS).and_then(|text| text.split_once('('));
        let Some((_, printed)) = printed else { return Ok(None) };
        let word = printed.split_whitespace().next().unwrap_or_default();
        let rate = parse_figure(word).ok_or_else(|| report.wrong(TRANSACTIONS, word))?;
        let found = committed as f64 / seconds;
        if seconds >= 1.0 && (rate - found).abs() > 0.05 * found.max(rate) {
            return Err(format!(
                "line {}: {committed} transactions in {seconds} s are {found:.2} per second, but \
                 the file says {rate}; values of several runs are mixed",
                self.line
            ));
        }
        Ok((rate >= 1.0 && seconds > 0.0).then_some(rate))
    }
}

/// The sum over all reports; `None` when one lacks the label.
fn sum(reports: &[Labels<'_>], label: &'static str) -> Result<Option<u64>, String> {
    let counts: Result<Vec<Option<u64>>, String> =
        reports.iter().map(|report| report.count(label)).collect();
    Ok(counts?.into_iter().sum())
}

/// Parses lines such as `[ 10s ] thds: 4 tps: 1234.56 qps: ...`, in version 0.5
/// `[  10s] threads: 4, tps: 1234.56, ...`, into second and rate.
fn interval(line: Line<'_>) -> Result<Option<(f64, f64)>, String> {
    let parse = || {
        let (second, rest) = line.text.strip_prefix('[')?.split_once(']')?;
        let second = second.trim().strip_suffix('s')?;
        let (_, rest) = rest.split_once("tps:").or_else(|| rest.split_once("eps:"))?;
        Some((second, rest.split_whitespace().next()?.trim_end_matches(',')))
    };
    parse().map(|(second, rate)| measured_interval(line.number, second, rate)).transpose()
}
