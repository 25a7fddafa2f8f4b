//! Interval lines and the line about the queue.

use super::figures::millis;
use super::snapshot::Snapshot;

/// Text of an interval line without the time. The first of several percentiles is where parsers
/// expect it, and the others follow at the end.
pub(crate) fn line(snapshot: &Snapshot, percentiles: &[f64], uses_sql: bool) -> String {
    let counts = &snapshot.counts;
    let rate = |count| format!("{:.2}", snapshot.rate(count));
    let first = percentiles.first().copied();
    let latency = format!(
        "lat (ms,{}%): {}",
        first.unwrap_or(0.0),
        millis(first.map_or(0.0, |first| snapshot.latency.percentile(first) as f64))
    );
    let mut line = if uses_sql {
        format!(
            "thds: {} tps: {} qps: {} (r/w/o: {}/{}/{}) {latency} err/s: {} reconn/s: {}",
            snapshot.threads,
            rate(counts.events),
            rate(counts.outcomes.total()),
            rate(counts.outcomes.reads),
            rate(counts.outcomes.writes),
            rate(counts.outcomes.others),
            rate(counts.errors),
            rate(counts.reconnects)
        )
    } else {
        format!("thds: {} eps: {} {latency}", snapshot.threads, rate(counts.events))
    };
    for further in percentiles.iter().skip(1) {
        let value = millis(snapshot.latency.percentile(*further) as f64);
        line.push_str(&format!(" p{further}: {value}"));
    }
    line
}

/// Text of the line about the queue without the time; `None` in a closed loop.
pub(crate) fn queue(snapshot: &Snapshot, uses_sql: bool) -> Option<String> {
    let queue = snapshot.queue?;
    // sysbench omits the comma, too, when there is no SQL.
    let comma = if uses_sql { "," } else { "" };
    Some(format!("queue length: {}{comma} concurrency: {}", queue.length, queue.concurrency))
}
