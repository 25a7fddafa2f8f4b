//! HdrHistogram interval logs (`.hlog`), as written by jHiccup, cassandra-stress, YCSB and dyno.
//! Lines with a tag describe parts of the whole and are ignored.

use super::reading::{Reading, TimeSeries};
use dyno_model::counters::UnknownCount;
use dyno_model::latency::{self, LatencySummary};
use dyno_model::record::IntervalRecord;
use dyno_model::units::Nanos;
use dyno_store::logged_intervals;

/// Longest interval: a day.
const INTERVAL_MAX: Nanos = Nanos(86_400 * 1_000_000_000);

pub(super) fn is_format(text: &str) -> bool {
    text.starts_with("#[") && text.contains("Histogram log")
        || text.lines().any(|line| !line.starts_with('#') && line.contains(",HISTFAAA"))
}

/// The run in a log; `unit` is the time that a value of 1 represents.
pub(super) fn read(text: &str, unit: Nanos) -> Result<Reading, String> {
    let mut sum = latency::histogram();
    let mut intervals: Vec<IntervalRecord> = Vec::new();
    for logged in logged_intervals(text.as_bytes()) {
        let logged = logged.map_err(|(line, what)| format!("line {line}: {what}"))?;
        if logged.tag.is_some() {
            continue;
        }
        let number = 1 + intervals.len();
        if logged.length > INTERVAL_MAX {
            return Err(format!("interval {number} is longer than a day"));
        }
        if intervals.last().is_some_and(|last| logged.start < last.start) {
            return Err(format!(
                "interval {number} starts before the previous one: logs of several runs are mixed"
            ));
        }
        let mut interval = IntervalRecord::empty("", logged.start, logged.length, &[]);
        for value in logged.histogram.iter_recorded() {
            let nanos = value.value_iterated_to().saturating_mul(unit.0);
            let nanos = nanos.clamp(latency::LOWEST_NANOS, latency::HIGHEST_NANOS);
            let count = value.count_at_value();
            // A resizing histogram accepts every value within its bounds.
            let _ = interval.response_times.record_n(nanos, count);
            let _ = sum.record_n(nanos, count);
        }
        let values = &interval.response_times;
        interval.latency.count = values.len();
        interval.latency.sum = (values.mean() * values.len() as f64) as u64;
        (interval.latency.min, interval.latency.max) = (values.min(), values.max());
        intervals.push(interval);
    }
    if intervals.is_empty() {
        return Err("it contains no interval without a tag".to_owned());
    }
    let mut reading = Reading {
        program: "a histogram log".to_owned(),
        window_length: Nanos(intervals.iter().map(|interval| interval.length.0).sum()),
        latency: LatencySummary::from(&sum),
        ..Reading::default()
    };
    reading.counters.committed = sum.len();
    reading.counters.unknown.extend([UnknownCount::Failed, UnknownCount::Retries]);
    reading.time_series = TimeSeries::Times(intervals);
    Ok(reading)
}
