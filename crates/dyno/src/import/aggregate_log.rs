//! pgbench's log of intervals (`--log --aggregate-interval`): start time, number of transactions,
//! and sum, sum of squares, minimum and maximum of their times in microseconds, followed by the
//! same values for delays, and counts of skipped, retried or failed transactions.
//!
//! pgbench starts intervals at whole seconds and writes each when it is over. The first one is
//! therefore shorter than the others by an unknown time and is ignored; the last is not written.

use super::reading::{Reading, TimeSeries};
use super::transaction_log::EPOCH;
use dyno_model::counters::UnknownCount;
use dyno_model::units::Nanos;
use dyno_store::{TimelineLine, utc};
use std::collections::BTreeMap;

/// An interval of one log, or summed over all logs.
#[derive(Debug, Clone, Copy, Default)]
struct Row {
    transactions: f64,
    sum: f64,
    squares: f64,
    min: f64,
    max: f64,
    skipped: f64,
    retries: f64,
    failed: f64,
    /// Number of logs with this interval.
    logs: usize,
    columns: usize,
}

pub(super) fn is_format(text: &str) -> bool {
    text.lines().next().is_some_and(|line| parse(line).is_some())
}

/// Parses the start and the values of an interval. Versions before 15 have 6, 10 (`--rate`) or 11
/// columns (`--latency-limit`), later ones always 15.
fn parse(line: &str) -> Option<(u64, Row)> {
    let columns: Vec<u64> =
        line.split_ascii_whitespace().map(|word| word.parse().ok()).collect::<Option<_>>()?;
    let [start, numbers @ ..] = columns.as_slice() else { return None };
    let numbers: Vec<f64> = numbers.iter().map(|number| *number as f64).collect();
    let [counted, sum, squares, min, max, more @ ..] = numbers.as_slice() else { return None };
    let mut transactions = *counted;
    let (skipped, retries, failed) = match more {
        [] | [_, _, _, _] => (0.0, 0.0, 0.0),
        // In this format the number of transactions includes skipped ones.
        [_, _, _, _, skipped] => {
            transactions -= skipped;
            (*skipped, 0.0, 0.0)
        }
        [_, _, _, _, skipped, _retried, retries, serialization, deadlocks] => {
            (*skipped, *retries, serialization + deadlocks)
        }
        _ => return None,
    };
    let row = Row {
        transactions,
        sum: *sum,
        squares: *squares,
        min: *min,
        max: *max,
        skipped,
        retries,
        failed,
        logs: 1,
        columns: columns.len(),
    };
    (EPOCH.contains(start) && row.is_plausible()).then_some((*start, row))
}

impl Row {
    /// Checks relations that hold for any sums, allowing for rounding.
    fn is_plausible(&self) -> bool {
        let Self { transactions: n, sum, squares, min, max, .. } = *self;
        let within = |low: f64, high: f64| low <= high * (1.0 + 1e-6) + n;
        n >= 0.0
            && within(min, max)
            && within(n * min, sum)
            && within(sum, n * max)
            && within(sum * sum, squares * n * (1.0 + 1e-6) + n * sum)
    }

    fn add(&mut self, other: &Self) {
        let is_first = self.transactions == 0.0;
        if other.transactions > 0.0 {
            self.min = if is_first { other.min } else { self.min.min(other.min) };
            self.max = self.max.max(other.max);
        }
        self.transactions += other.transactions;
        self.sum += other.sum;
        self.squares += other.squares;
        self.skipped += other.skipped;
        self.retries += other.retries;
        self.failed += other.failed;
        self.logs += other.logs;
        self.columns = other.columns;
    }
}

/// The run whose threads wrote these logs, from its second interval on.
///
/// # Errors
/// When a line does not belong to such a log, when the logs are not from one run, and when there is
/// no complete interval.
pub(super) fn read(logs: &[String]) -> Result<Reading, String> {
    let mut rows: BTreeMap<u64, Row> = BTreeMap::new();
    let mut columns = None;
    for log in logs {
        let mut before = 0;
        for (number, line) in (1..).zip(log.lines()) {
            let (start, row) = parse(line)
                .ok_or_else(|| format!("line {number}: not an interval of pgbench: `{line}`"))?;
            if start <= before || *columns.get_or_insert(row.columns) != row.columns {
                return Err(format!(
                    "line {number}: starts at {start}, after {before}, with {} columns: logs of \
                     several runs are mixed",
                    row.columns
                ));
            }
            before = start;
            rows.entry(start).or_default().add(&row);
        }
    }
    // An interval is complete only if all threads have written it.
    let rows: Vec<(u64, Row)> =
        rows.into_iter().filter(|(_, row)| row.logs == logs.len()).collect();
    let starts: Vec<u64> = rows.iter().map(|(start, _)| *start).collect();
    let length = starts.get(..2).map(|starts| starts[1] - starts[0]);
    let Some(length) =
        length.filter(|length| starts.windows(2).all(|pair| pair[1] - pair[0] == *length))
    else {
        return Err(match starts.len() {
            0 | 1 => "no interval has a known length, because the first one of a log is \
                      incomplete; measure longer"
                .to_owned(),
            _ => "its intervals differ in length: a part is missing, or logs of several runs are \
                 mixed"
                .to_owned(),
        });
    };
    Ok(reading(&rows[1..], length))
}

fn reading(rows: &[(u64, Row)], length: u64) -> Reading {
    let mut sum = Row::default();
    rows.iter().for_each(|(_, row)| sum.add(row));
    let began = rows.first().map_or(0, |(start, _)| *start);
    let mut reading = Reading {
        program: "pgbench, log of intervals without the first".to_owned(),
        started_at: utc(i64::try_from(began * 1_000).unwrap_or_default()),
        window_length: Nanos(rows.len() as u64 * length * 1_000_000_000),
        ..Reading::default()
    };
    let counters = &mut reading.counters;
    counters.committed = sum.transactions as u64;
    (counters.skipped, counters.retries, counters.failed) =
        (sum.skipped as u64, sum.retries as u64, sum.failed as u64);
    // Without `--failures-detailed` the columns of failures are 0, even if transactions failed.
    if sum.failed == 0.0 {
        counters.unknown.insert(UnknownCount::Failed);
    }
    if sum.transactions > 0.0 {
        let mean = sum.sum / sum.transactions;
        let latency = &mut reading.latency;
        latency.count = counters.committed;
        latency.mean = mean * 1e3;
        latency.standard_deviation =
            (sum.squares / sum.transactions - mean * mean).max(0.0).sqrt() * 1e3;
        (latency.min, latency.max) = (sum.min as u64 * 1_000, sum.max as u64 * 1_000);
    }
    reading.time_series = TimeSeries::Rates(
        rows.iter().map(|(start, row)| line(start - began, length, row)).collect(),
    );
    reading
}

fn line(start: u64, length: u64, row: &Row) -> TimelineLine {
    TimelineLine {
        start_s: start as f64,
        length_s: length as f64,
        is_warmup: false,
        committed: row.transactions as u64,
        failed: row.failed as u64,
        retries: row.retries as u64,
        latency_ms: None,
    }
}
