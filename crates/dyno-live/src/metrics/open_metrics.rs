//! The text format of OpenMetrics 1.0
//! (<https://prometheus.io/docs/specs/om/open_metrics_spec/>).

use super::collected::{Collected, Family, Kind, Labels, Value};
use crate::state::BUCKETS_S;
use std::fmt::{Display, Write};

/// Content type of the format.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Names of all samples, for dashboards.
pub const NAMES: [&str; 15] = [
    "dyno_run_info",
    "dyno_trial_info",
    "dyno_phase",
    "dyno_trials_finished",
    "dyno_trials_planned",
    "dyno_time_left_seconds",
    "dyno_transaction_duration_seconds_bucket",
    "dyno_transaction_duration_seconds_count",
    "dyno_transaction_duration_seconds_sum",
    "dyno_transactions_failed_total",
    "dyno_retries_total",
    "dyno_errors_total",
    "dyno_arrivals_waiting",
    "dyno_generator_cpus",
    "dyno_server_cpus",
];

/// The text of metrics.
#[must_use]
pub fn expose(metrics: &[Collected]) -> String {
    let mut text = String::new();
    for collected in metrics {
        let Family { name, kind, unit, help } = collected.family;
        let _ = writeln!(text, "# TYPE {name} {}", type_of(kind));
        if !unit.is_empty() {
            let _ = writeln!(text, "# UNIT {name} {unit}");
        }
        let _ = writeln!(text, "# HELP {name} {help}.");
        let suffix = match kind {
            Kind::Info => "_info",
            Kind::Counter => "_total",
            _ => "",
        };
        for (labels, value) in &collected.values {
            let mut sample = |suffix: &str, bound: Option<&str>, value: &dyn Display| {
                let labels = written(labels, bound);
                let _ = writeln!(text, "{name}{suffix}{labels} {value}");
            };
            match value {
                Value::Count(count) => sample(suffix, None, count),
                Value::Number(number) => sample(suffix, None, number),
                Value::Histogram(totals) => {
                    let mut count = 0;
                    for (i, in_bucket) in totals.buckets.iter().enumerate() {
                        count += in_bucket;
                        let bound = BUCKETS_S.get(i).map(|bound| format!("{bound:?}"));
                        sample("_bucket", Some(bound.as_deref().unwrap_or("+Inf")), &count);
                    }
                    sample("_count", None, &count);
                    sample("_sum", None, &totals.response_s);
                }
            }
        }
    }
    text.push_str("# EOF\n");
    text
}

fn type_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Info => "info",
        Kind::StateSet => "stateset",
        Kind::Gauge => "gauge",
        Kind::Counter => "counter",
        Kind::Histogram => "histogram",
    }
}

/// Labels in braces, with the bound of a bucket, if there is one.
fn written(labels: &Labels, bound: Option<&str>) -> String {
    let labels = labels.iter().map(|(label, value)| (*label, value.as_str()));
    let all: Vec<String> = labels
        .chain(bound.map(|bound| ("le", bound)))
        .map(|(label, value)| format!("{label}=\"{}\"", escaped(value)))
        .collect();
    if all.is_empty() { String::new() } else { format!("{{{}}}", all.join(",")) }
}

/// A label's value as the format escapes it.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
