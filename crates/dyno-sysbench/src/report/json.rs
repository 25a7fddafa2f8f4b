//! `--json`: a document with all figures of a run. docs/sysbench.md describes the fields.

use super::snapshot::{Counts, Snapshot};
use dyno_model::latency::is_shown;
use dyno_model::units::millis;
use serde_json::{Map, Value, json};

/// Version of the document's fields.
const FORMAT: u32 = 1;

#[derive(Debug, Clone, Default)]
pub(crate) struct Description {
    /// Script as named on the command line.
    pub(crate) script: String,
    /// `native` or `lua`.
    pub(crate) runner: &'static str,
    /// Driver, if one was used.
    pub(crate) driver: Option<String>,
    /// All options that were given or have a default, as text, without passwords.
    pub(crate) options: Vec<(String, String)>,
    pub(crate) percentiles: Vec<f64>,
}

/// The complete document, ending with a line end.
pub(crate) fn document(
    description: &Description,
    intervals: &[Snapshot],
    checkpoints: &[Snapshot],
    total: &Snapshot,
    failure: Option<&str>,
) -> String {
    let percentiles = &description.percentiles;
    let options: Map<String, Value> =
        description.options.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    let periods = |snapshots: &[Snapshot]| -> Vec<Value> {
        snapshots.iter().map(|snapshot| period(snapshot, percentiles)).collect()
    };
    let mut root = json!({
        "format": FORMAT,
        "program": format!("dyno {}", env!("CARGO_PKG_VERSION")),
        "script": description.script,
        "runner": description.runner,
        "driver": description.driver,
        "options": options,
        "intervals": periods(intervals),
        "checkpoints": periods(checkpoints),
        "total": period(total, percentiles),
        "failure": failure,
    });
    root["total"]["threads_fairness"] = total
        .client_statistics
        .iter()
        .map(|it| json!({"events": it.events, "busy_s": it.busy.as_secs_f64()}))
        .collect();
    let mut text =
        serde_json::to_string_pretty(&root).expect("maps with text keys are always JSON");
    text.push('\n');
    text
}

fn period(snapshot: &Snapshot, percentiles: &[f64]) -> Value {
    let counts = &snapshot.counts;
    let mut value = json!({
        "elapsed_s": snapshot.elapsed.as_secs_f64(),
        "length_s": snapshot.length.as_secs_f64(),
        "threads": snapshot.threads,
        "counts": by_name(counts, |count| json!(count)),
        "per_second": by_name(counts, |count| json!(snapshot.rate(count))),
        "latency_ms": latency(snapshot, percentiles),
    });
    if let Some(queue) = snapshot.queue {
        value["queue"] = json!({"length": queue.length, "concurrency": queue.concurrency});
        value["never_started"] = json!(snapshot.never_started);
    }
    if let Some(unfinished) = snapshot.unfinished {
        value["unfinished"] = json!(unfinished);
    }
    if snapshot.given_up > 0 {
        value["given_up"] = json!(snapshot.given_up);
    }
    if !snapshot.statements.is_empty() {
        value["statements"] = snapshot
            .statements
            .iter()
            .map(|it| {
                let p95_ms = is_shown(it.latency.count, 95.0).then_some(millis(it.latency.p95 as f64));
                json!({"name": it.name, "count": it.latency.count, "mean_ms": millis(it.latency.mean),
                       "p95_ms": p95_ms, "max_ms": millis(it.latency.max as f64)})
            })
            .collect();
    }
    value
}

/// Counters by name, formatted by `show`.
fn by_name(counts: &Counts, show: impl Fn(u64) -> Value) -> Value {
    json!({
        "events": show(counts.events),
        "queries": show(counts.outcomes.total()),
        "reads": show(counts.outcomes.reads),
        "writes": show(counts.outcomes.writes),
        "others": show(counts.outcomes.others),
        "errors": show(counts.errors),
        "reconnects": show(counts.reconnects),
    })
}

fn latency(snapshot: &Snapshot, percentiles: &[f64]) -> Value {
    let latency = &snapshot.latency;
    let by_percent: Map<String, Value> = percentiles
        .iter()
        .map(|percent| (percent.to_string(), json!(millis(latency.percentile(*percent) as f64))))
        .collect();
    json!({
        "min": millis(latency.exact.min as f64),
        "mean": millis(snapshot.mean()),
        "max": millis(latency.exact.max as f64),
        "sum": millis(latency.exact.sum as f64),
        "percentiles": by_percent,
    })
}
