//! pgbench's log of transactions (`--log`): client, number, time in microseconds, script, end time,
//! and optionally the delay and the number of retries.

use super::reading::{Reading, TimeSeries};
use super::sample::{Outcome, Sample};
use dyno_model::counters::UnknownCount;
use dyno_model::latency::{self, ExactLatency, LatencySummary};
use dyno_model::units::Nanos;
use dyno_store::utc;
use std::collections::BTreeMap;

/// Longest run, microseconds: 31 days. Lines further apart are from different runs.
const RUN_MAX: u64 = 31 * 86_400 * 1_000_000;
/// Valid Unix timestamps in a log: 2001 to 2100. With other numbers the file is not such a log.
pub(super) const EPOCH: std::ops::Range<u64> = 978_307_200..4_102_444_800;
/// Longest time, microseconds: an hour, the maximum of the histograms.
const TIME_MAX: u64 = latency::HIGHEST_NANOS / 1_000;

/// A line: client, number of the transaction within the client, outcome, and number of columns.
struct Row {
    client: u32,
    sequence: u64,
    sample: Sample,
    columns: usize,
}

pub(super) fn is_format(text: &str) -> bool {
    text.lines().next().is_some_and(|line| parse(line).is_some())
}

fn parse(line: &str) -> Option<Row> {
    let columns: Vec<&str> = line.split_ascii_whitespace().collect();
    let [client, number, time, script, seconds, micros, more @ ..] = columns.as_slice() else {
        return None;
    };
    let outcome = match *time {
        "skipped" => Outcome::Skipped,
        "failed" | "serialization" | "deadlock" | "other" => Outcome::Failed,
        time => Outcome::Took(u32::try_from(time.parse::<u64>().ok()?.min(TIME_MAX)).ok()?),
    };
    let seconds = seconds.parse::<u64>().ok().filter(|seconds| EPOCH.contains(seconds))?;
    let micros = micros.parse::<u64>().ok().filter(|micros| *micros < 1_000_000)?;
    script.parse::<u32>().ok()?;
    // A single additional column may be the delay of `--rate` or the retries of `--max-tries`.
    let retries = match more {
        [] => 0,
        [either] => either.parse::<u64>().ok().map(|_| 0)?,
        [lag, retries] => lag.parse::<u64>().ok().and_then(|_| retries.parse().ok())?,
        _ => return None,
    };
    let sample = Sample { ended: seconds * 1_000_000 + micros, outcome, retries };
    Some(Row {
        client: client.parse().ok()?,
        sequence: number.parse().ok()?,
        sample,
        columns: columns.len(),
    })
}

/// The run whose threads wrote these logs. It starts with the first transaction and ends with the
/// last.
///
/// # Errors
/// When a line does not belong to such a log, and when the logs hold less or more than one run.
pub(super) fn read(logs: &[String]) -> Result<Reading, String> {
    let mut samples: Vec<Sample> = Vec::new();
    let mut clients = Clients::default();
    let mut columns = None;
    for (number, line) in logs.iter().flat_map(|log| (1..).zip(log.lines())) {
        let row = parse(line)
            .ok_or_else(|| format!("line {number}: not a transaction of pgbench: `{line}`"))?;
        if *columns.get_or_insert(row.columns) != row.columns {
            return Err(format!(
                "line {number}: {} columns, but the lines before it have another number; logs of \
                 several runs are mixed",
                row.columns
            ));
        }
        clients.take(&row, number)?;
        samples.push(row.sample);
    }
    samples.sort_by_key(|sample| sample.ended);
    let began = samples.iter().map(Sample::began).min();
    let (Some(began), Some(ended)) = (began, samples.last().map(|sample| sample.ended)) else {
        return Err("it contains no transaction".to_owned());
    };
    if ended - began > RUN_MAX {
        let days = (ended - began) / 86_400_000_000;
        return Err(format!(
            "{days} days between its first and its last transaction are too long for one run"
        ));
    }
    let mut reading = Reading {
        clients: Some(clients.count()?),
        program: "pgbench".to_owned(),
        started_at: utc(i64::try_from(began / 1_000).unwrap_or_default()),
        window_length: Nanos((ended - began).saturating_mul(1_000)),
        ..Reading::default()
    };
    summarise(&samples, &mut reading);
    if columns == Some(7) {
        reading.counters.unknown.insert(UnknownCount::Retries);
        reading.counters.retries = 0;
    }
    reading.time_series = TimeSeries::Samples(samples);
    Ok(reading)
}

fn summarise(samples: &[Sample], reading: &mut Reading) {
    let mut sum = latency::histogram();
    let mut exact = ExactLatency::default();
    for sample in samples {
        match sample.outcome {
            Outcome::Took(micros) => {
                latency::record(&mut sum, u64::from(micros) * 1_000);
                exact.record(u64::from(micros) * 1_000);
            }
            Outcome::Failed => reading.counters.failed += 1,
            Outcome::Skipped => reading.counters.skipped += 1,
        }
        reading.counters.retries += u64::from(sample.retries);
    }
    reading.counters.committed = sum.len();
    // Histograms are rounded.
    let (mean, min, max) = (exact.mean(), exact.min, exact.max);
    reading.latency = LatencySummary { mean, min, max, ..LatencySummary::from(&sum) };
}

/// The last transaction number of each client: each client counts its own.
#[derive(Debug, Default)]
struct Clients {
    last: BTreeMap<u32, (u64, usize)>,
}

impl Clients {
    fn take(&mut self, row: &Row, line: usize) -> Result<(), String> {
        let Row { client, sequence, .. } = *row;
        let (last, before) =
            self.last.insert(client, (sequence, line)).unwrap_or((sequence.saturating_sub(1), 0));
        if sequence <= last && before > 0 {
            return Err(format!(
                "line {line}: transaction {sequence} of client {client} follows {last} in line \
                 {before}: logs of several runs are mixed; name the logs of each run separately, \
                 such as base=pgbench_log.1 base=pgbench_log.2"
            ));
        }
        if sequence > last + 1 || before == 0 && sequence > 1 {
            return Err(format!(
                "line {line}: transaction {sequence} of client {client}, but the previous ones are \
                 missing: this is a sample (--sampling-rate) or a part of a log; import the output \
                 of pgbench"
            ));
        }
        Ok(())
    }

    fn count(&self) -> Result<u32, String> {
        let missing = (0..).zip(self.last.keys()).find(|(expected, client)| expected != *client);
        match missing {
            Some((missing, _)) => Err(format!(
                "it has no transaction of client {missing}; each thread of pgbench writes a \
                 separate log: name all of them"
            )),
            None => u32::try_from(self.last.len()).map_err(|error| error.to_string()),
        }
    }
}
