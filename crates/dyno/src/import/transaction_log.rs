//! pgbench's log of transactions (`--log`): client, number, time in microseconds, script, and when the transaction ended.

use super::reading::{Course, Reading};
use dyno_model::latency::{self, LatencySummary};
use dyno_model::record::Interval;
use dyno_model::units::Nanos;
use dyno_store::utc;
use std::collections::BTreeSet;

/// Length of an interval, microseconds.
const INTERVAL: u64 = 1_000_000;

/// A line: who, how long, and when it ended, microseconds since 1970.
struct Line {
    client: u32,
    outcome: Outcome,
    ended: u64,
}

enum Outcome {
    Took(u64),
    Failed,
    Skipped,
}

pub(super) fn is_one(text: &str) -> bool {
    text.lines().next().is_some_and(|line| parse(line).is_some())
}

fn parse(line: &str) -> Option<Line> {
    let columns: Vec<&str> = line.split_ascii_whitespace().collect();
    let [client, _number, time, _script, seconds, micros, ..] = columns.as_slice() else { return None };
    let outcome = match *time {
        "skipped" => Outcome::Skipped,
        "failed" | "serialization" | "deadlock" => Outcome::Failed,
        time => Outcome::Took(time.parse().ok()?),
    };
    let ended = seconds.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(micros.parse().ok()?)?;
    Some(Line { client: client.parse().ok()?, outcome, ended })
}

/// The run whose threads left these logs. Its clock begins with the first transaction and ends with the last.
pub(super) fn read(logs: &[String]) -> Result<Reading, String> {
    let mut lines = Vec::new();
    for (number, line) in logs.iter().flat_map(|log| log.lines().enumerate()) {
        lines.push(
            parse(line)
                .ok_or_else(|| format!("line {}: not a transaction of pgbench: `{line}`", number + 1))?,
        );
    }
    lines.sort_by_key(|line| line.ended);
    let began = |line: &Line| match line.outcome {
        Outcome::Took(time) => line.ended.saturating_sub(time),
        Outcome::Failed | Outcome::Skipped => line.ended,
    };
    let (Some(began), Some(ended)) = (lines.iter().map(began).min(), lines.last().map(|line| line.ended))
    else {
        return Err("it holds no transaction".to_owned());
    };
    let mut reading = Reading {
        clients: u32::try_from(lines.iter().map(|line| line.client).collect::<BTreeSet<_>>().len()).ok(),
        program: "pgbench".to_owned(),
        started_at: utc(i64::try_from(began / 1_000).unwrap_or_default()),
        measured: Nanos((ended - began).saturating_mul(1_000)),
        ..Reading::default()
    };
    let mut sum = latency::histogram();
    let mut intervals: Vec<Interval> = Vec::new();
    for line in &lines {
        let position = (line.ended - began).saturating_sub(1) / INTERVAL;
        while intervals.len() as u64 <= position {
            let start = intervals.len() as u64 * INTERVAL;
            let length = INTERVAL.min(ended - began - start);
            let [start, length] = [start, length].map(|micros| Nanos(micros * 1_000));
            intervals.push(Interval::empty("", false, start, length, &[]));
        }
        let Some(interval) = intervals.last_mut() else { continue };
        match line.outcome {
            Outcome::Took(micros) => {
                let nanos = micros.saturating_mul(1_000);
                latency::record(&mut interval.transaction, nanos);
                interval.latency.record(nanos);
                latency::record(&mut sum, nanos);
            }
            Outcome::Failed => interval.failed += 1,
            Outcome::Skipped => reading.ledger.skipped += 1,
        }
    }
    reading.ledger.committed = sum.len();
    reading.ledger.failed = intervals.iter().map(|interval| interval.failed).sum();
    reading.latency = LatencySummary::from(&sum);
    reading.course = Course::Times(intervals);
    Ok(reading)
}
