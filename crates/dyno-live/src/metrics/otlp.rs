//! The metrics as an export request of the OpenTelemetry protocol 1.x, in its JSON encoding
//! (<https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>): 64-bit integers are
//! strings, enums are numbers.

use super::collected::{Collected, Kind, Labels, Value};
use crate::state::BUCKETS_S;
use serde_json::{Value as Json, json};
use std::time::Duration;

/// `AGGREGATION_TEMPORALITY_CUMULATIVE`.
const CUMULATIVE: u8 = 2;

/// The request for metrics. `started` and `sent` are times since the Unix epoch: that of the run's
/// beginning and that of this request.
pub(super) fn request(metrics: &[Collected], started: Duration, sent: Duration) -> String {
    let times = [started, sent].map(|time| time.as_nanos().to_string());
    let metrics: Vec<Json> = metrics.iter().map(|collected| metric(collected, &times)).collect();
    let service = attributes(&vec![("service.name", "dyno".to_owned())]);
    let scope = json!({ "scope": { "name": "dyno" }, "metrics": metrics });
    let resource = json!({ "resource": { "attributes": service }, "scopeMetrics": [scope] });
    json!({ "resourceMetrics": [resource] }).to_string()
}

fn metric(collected: &Collected, times: &[String; 2]) -> Json {
    let family = collected.family;
    let points: Vec<Json> =
        collected.values.iter().map(|(labels, value)| point(labels, value, times)).collect();
    let (field, mut data) = match family.kind {
        Kind::Counter => ("sum", json!({ "isMonotonic": true })),
        Kind::Histogram => ("histogram", json!({})),
        Kind::Info | Kind::StateSet | Kind::Gauge => ("gauge", json!({})),
    };
    data["dataPoints"] = points.into();
    if field != "gauge" {
        data["aggregationTemporality"] = CUMULATIVE.into();
    }
    // Collectors that pass metrics on to Prometheus add `_total` to counters, but not `_info`; and
    // they would add `_ratio` to gauges of the unit "1".
    let suffix = if family.kind == Kind::Info { "_info" } else { "" };
    let unit = if family.unit == "seconds" { "s" } else { "" };
    let name = format!("{}{suffix}", family.name);
    json!({ "name": name, "description": family.help, "unit": unit, field: data })
}

fn point(labels: &Labels, value: &Value, [started, sent]: &[String; 2]) -> Json {
    let mut point = json!({
        "attributes": attributes(labels), "startTimeUnixNano": started, "timeUnixNano": sent,
    });
    match value {
        Value::Count(count) => point["asInt"] = count.to_string().into(),
        Value::Number(number) => point["asDouble"] = (*number).into(),
        Value::Histogram(totals) => {
            let buckets = totals.buckets.map(|count| count.to_string());
            point["count"] = totals.buckets.iter().sum::<u64>().to_string().into();
            point["sum"] = totals.response_s.into();
            point["bucketCounts"] = buckets.to_vec().into();
            point["explicitBounds"] = BUCKETS_S.to_vec().into();
        }
    }
    point
}

fn attributes(labels: &Labels) -> Json {
    let attribute =
        |(key, value): &(&str, String)| json!({ "key": key, "value": { "stringValue": value } });
    labels.iter().map(attribute).collect()
}
