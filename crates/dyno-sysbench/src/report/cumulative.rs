//! The full report at the end and at checkpoints.

use super::figures::{latency_row, millis, rate_row, row, spread};
use super::histogram;
use super::snapshot::Snapshot;
use crate::logger::Level;
use crate::options::general::{General, Layout};

pub(crate) type Message = (Level, String);

/// The report as messages, in order.
pub(crate) fn messages(snapshot: &Snapshot, general: &General, uses_sql: bool) -> Vec<Message> {
    let mut messages = Vec::new();
    let mut notice = |text: String| messages.push((Level::Notice, text));
    if general.histogram {
        notice(histogram::text(&snapshot.latency.histogram));
    }
    if uses_sql {
        // The message ends with the last line end.
        notice(statistics(snapshot).trim_end_matches('\n').to_owned());
    }
    if let Some(unfinished) = snapshot.unfinished {
        notice(format!("\nNumber of unfinished transactions on forced shutdown: {unfinished}"));
    }
    if snapshot.never_started > 0 {
        notice(format!(
            "\nNumber of events that were due and never started: {}",
            snapshot.never_started
        ));
    }
    if snapshot.given_up > 0 {
        notice(format!("\nNumber of events given up after --max-retries: {}", snapshot.given_up));
    }
    let mut text = summary(snapshot, general.layout);
    text.push_str(&latency(snapshot, &general.percentiles));
    text.push_str(&fairness(snapshot));
    // The last line end produces the blank line that closes the report.
    notice(text);
    if general.debug {
        messages.extend(threads(snapshot));
    }
    messages
}

fn statistics(snapshot: &Snapshot) -> String {
    let counts = &snapshot.counts;
    let mut text = String::from("SQL statistics:\n    queries performed:\n");
    text.push_str(&row("        read:", counts.outcomes.reads));
    text.push_str(&row("        write:", counts.outcomes.writes));
    text.push_str(&row("        other:", counts.outcomes.others));
    text.push_str(&row("        total:", counts.outcomes.total()));
    for (label, count) in [
        ("    transactions:", counts.events),
        ("    queries:", counts.outcomes.total()),
        ("    ignored errors:", counts.errors),
        ("    reconnects:", counts.reconnects),
    ] {
        text.push_str(&rate_row(label, count, snapshot.rate(count)));
    }
    text
}

fn summary(snapshot: &Snapshot, layout: Layout) -> String {
    let elapsed = format!("{:.4}s", snapshot.elapsed.as_secs_f64());
    let events = snapshot.counts.events;
    let mut text = String::new();
    match layout {
        Layout::V1_0 => {
            text.push_str("\nGeneral statistics:\n");
            text.push_str(&row("    total time:", elapsed));
        }
        Layout::V1_1 => {
            text.push_str("\nThroughput:\n");
            text.push_str(&row("    events/s (eps):", format!("{:.4}", snapshot.rate(events))));
            text.push_str(&row("    time elapsed:", elapsed));
        }
    }
    text.push_str(&row("    total number of events:", events));
    text
}

fn latency(snapshot: &Snapshot, percentiles: &[f64]) -> String {
    let latency = &snapshot.latency;
    let mut text = String::from("\nLatency (ms):\n");
    text.push_str(&latency_row("         min:", &millis(latency.exact.min as f64)));
    text.push_str(&latency_row("         avg:", &millis(snapshot.mean())));
    text.push_str(&latency_row("         max:", &millis(latency.exact.max as f64)));
    if percentiles.is_empty() {
        text.push_str("         percentile stats:               disabled\n");
    }
    for percentile in percentiles {
        // Percentiles are right-aligned to three digits, so that 5, 95 and 100 are aligned.
        let label = format!("        {percentile:>3}th percentile:");
        text.push_str(&latency_row(&label, &millis(latency.percentile(*percentile) as f64)));
    }
    text.push_str(&latency_row("         sum:", &millis(latency.exact.sum as f64)));
    text
}

fn fairness(snapshot: &Snapshot) -> String {
    let events: Vec<f64> = snapshot.client_statistics.iter().map(|it| it.events as f64).collect();
    let busy: Vec<f64> =
        snapshot.client_statistics.iter().map(|it| it.busy.as_secs_f64()).collect();
    let ((events, events_spread), (busy, busy_spread)) = (spread(&events), spread(&busy));
    format!(
        "\nThreads fairness:\n    events \
         (avg/stddev):           {events:.4}/{events_spread:.2}\n    execution time \
         (avg/stddev):   {busy:.4}/{busy_spread:.2}\n"
    )
}

/// `--debug`: every thread.
fn threads(snapshot: &Snapshot) -> Vec<Message> {
    let mut messages = vec![(Level::Debug, "Verbose per-thread statistics:\n".to_owned())];
    for (number, statistics) in snapshot.client_statistics.iter().enumerate() {
        let mean = if statistics.events == 0 {
            0.0
        } else {
            statistics.busy.as_secs_f64() / statistics.events as f64
        };
        messages.push((
            Level::Debug,
            format!(
                "    thread #{number:3}: min: {:.4}s  avg: {mean:.4}s  max: {:.4}s  events: {}",
                statistics.min.as_secs_f64(),
                statistics.max.as_secs_f64(),
                statistics.events
            ),
        ));
        let total = format!(
            "                 total time taken by event execution: {:.4}s",
            statistics.busy.as_secs_f64()
        );
        messages.push((Level::Debug, total));
    }
    messages.push((Level::Notice, String::new()));
    messages
}
