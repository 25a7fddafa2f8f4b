//! What charts draw: points over clients, percentile curves, courses of trials, figures published
//! elsewhere.

use super::estimate::{Estimate, Unit};
use super::resources::ResourcePoint;
use dyno_model::failure::FailureKind;
use dyno_model::plan::Metric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One chart over clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Panel {
    /// What is drawn.
    pub metric: Metric,
    /// Its unit.
    pub unit: Unit,
    /// Lines in the order of [`super::ReportModel::lines`]; lines without any data are left out.
    pub lines: Vec<PanelLine>,
}

/// One line of a chart over clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PanelLine {
    /// Index into [`super::ReportModel::lines`].
    pub line: usize,
    /// Points by rising number of clients.
    pub points: Vec<PanelPoint>,
}

/// One point of a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PanelPoint {
    /// Number of clients.
    pub clients: u32,
    /// Index of the configuration.
    pub configuration: usize,
    /// Mean with interval; absent when no trial is valid.
    pub estimate: Option<Estimate>,
    /// Every trial's value, invalid ones too.
    pub repeats: Vec<RepeatDot>,
}

/// One line over the rate at which transactions arrive: everything else is equal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RateLine {
    /// The system with its other levels, as in [`super::LineName::label`].
    pub label: String,
    /// Number of clients.
    pub clients: u32,
    /// Points by rising rate, two or more.
    pub points: Vec<RatePoint>,
}

/// One point of a line over the rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RatePoint {
    /// Transactions that arrive per second, all clients together.
    pub offered: f64,
    /// Index of the configuration.
    pub configuration: usize,
}

/// One trial's value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RepeatDot {
    /// Trial.
    pub trial: String,
    /// Block.
    pub block: u32,
    /// Value in the panel's unit.
    pub value: f64,
    /// False: drawn as an outline, and in no estimate.
    pub is_valid: bool,
}

/// Latency over percentiles.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PercentileCurve {
    /// Index of the configuration.
    pub configuration: usize,
    /// Number of transactions.
    pub count: u64,
    /// All valid trials merged; ends where fewer than ten values lie beyond.
    pub merged: Vec<PercentilePoint>,
    /// Each valid trial alone, ended likewise.
    pub repeats: Vec<Vec<PercentilePoint>>,
}

/// A point of a percentile curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PercentilePoint {
    /// Percentile, 0 to below 100.
    pub percentile: f64,
    /// `1 / (1 - percentile / 100)`: the x value of a percentile plot, on a log axis.
    pub one_in: f64,
    /// Response time in milliseconds that this share of transactions did not exceed.
    pub value_ms: f64,
}

/// What happened during one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timeline {
    /// Trial.
    pub trial: String,
    /// Index of the configuration.
    pub configuration: usize,
    /// Block.
    pub block: u32,
    /// Intervals in order of time.
    pub points: Vec<TimelinePoint>,
    /// Errors that clients met, by interval and kind, in order of time; empty for runs of older
    /// versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ErrorPoint>,
    /// What the monitor saw meanwhile, in order of time; empty without a monitor.
    #[serde(default)]
    pub resources: Vec<ResourcePoint>,
}

/// Errors of one kind in one interval of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorPoint {
    /// Start of the interval in seconds since the first client began.
    pub start_s: f64,
    /// What they were.
    pub kind: FailureKind,
    /// Attempts of transactions that ended with one, whether they were tried again or not, and
    /// attempts to connect anew that failed.
    pub errors: u64,
}

/// One interval of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimelinePoint {
    /// Start in seconds since the first client began; warm-up comes first.
    pub start_s: f64,
    /// Length in seconds.
    pub length_s: f64,
    /// True for warm-up.
    pub is_warmup: bool,
    /// Committed transactions per second; absent where the interval is too short to be a rate.
    pub throughput: Option<f64>,
    /// Transactions given up.
    pub failed: u64,
    /// Retries.
    pub retries: u64,
    /// Mean in ms; this and the following are absent when nothing was committed, percentiles also
    /// when fewer than ten values lie beyond them.
    pub mean_ms: Option<f64>,
    /// Median in ms.
    pub p50_ms: Option<f64>,
    /// 95th percentile in ms.
    pub p95_ms: Option<f64>,
    /// 99th percentile in ms.
    pub p99_ms: Option<f64>,
    /// Largest in ms.
    pub max_ms: Option<f64>,
}

/// A second, or some, as means over trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoursePoint {
    /// Seconds since the measured window opened.
    pub at_s: f64,
    /// Committed transactions per second.
    pub throughput: f64,
    /// Mean of the trials' 99th percentiles; absent where nothing was committed.
    pub p99_ms: Option<f64>,
}

/// Points that a mean course has at most.
const COURSE_POINTS: usize = 60;

/// The mean course of trials, from the opening of their windows on; several seconds are one point
/// where they are many.
pub fn mean_course<'a>(trials: impl IntoIterator<Item = &'a [TimelinePoint]>) -> Vec<CoursePoint> {
    let mut seconds: BTreeMap<u64, Vec<&TimelinePoint>> = BTreeMap::new();
    for points in trials {
        let measured = || points.iter().filter(|point| !point.is_warmup);
        let opens = measured().next().map_or(0.0, |point| point.start_s);
        for point in measured().filter(|point| point.throughput.is_some()) {
            seconds.entry((point.start_s - opens).round() as u64).or_default().push(point);
        }
    }
    let seconds: Vec<(u64, Vec<&TimelinePoint>)> = seconds.into_iter().collect();
    seconds.chunks(seconds.len().div_ceil(COURSE_POINTS).max(1)).map(joined).collect()
}

/// Some seconds as one point.
fn joined(seconds: &[(u64, Vec<&TimelinePoint>)]) -> CoursePoint {
    let mean = |figure: fn(&TimelinePoint) -> Option<f64>| {
        let points = seconds.iter().flat_map(|(_, points)| points);
        let values: Vec<f64> = points.filter_map(|point| figure(point)).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    CoursePoint {
        at_s: seconds[0].0 as f64,
        throughput: mean(|point| point.throughput).unwrap_or(0.0),
        p99_ms: mean(|point| point.p99_ms),
    }
}

/// How response times were distributed in the course of a trial's measured window: how many
/// transactions ended in each stretch of time, by bands of response time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeatMap {
    /// Trial.
    pub trial: String,
    /// Index of the configuration.
    pub configuration: usize,
    /// Block.
    pub block: u32,
    /// Lower ends of the bands in milliseconds, rising, and the upper end of the last. Each is as
    /// wide as the others on a logarithmic axis.
    pub bands_ms: Vec<f64>,
    /// Stretches in order of time, at most as many as a picture can show.
    pub columns: Vec<HeatColumn>,
}

/// A stretch of time of a heat map.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeatColumn {
    /// Start in seconds since the first client began.
    pub start_s: f64,
    /// Length in seconds.
    pub length_s: f64,
    /// Transactions committed in it, by band.
    pub counts: Vec<u64>,
}

/// Figures published elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedSeries {
    /// Where they stand.
    pub source: String,
    /// Name of the curve.
    pub series: String,
    /// Metric, hence the panel it is drawn in.
    pub metric: Metric,
    /// Unit of the values.
    pub unit: Unit,
    /// Index of the system it belongs beside; otherwise beside all.
    pub system: Option<usize>,
    /// True when values were read off a chart or are a trend.
    pub is_approximate: bool,
    /// Clients and value.
    pub points: Vec<PublishedPoint>,
    /// Rows of a table that grows and value; then there are no `points`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub over_rows: Vec<PublishedRows>,
}

/// One published figure of a table that grows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedRows {
    /// Rows in the table.
    pub rows: u64,
    /// Value in the series' unit.
    pub value: f64,
}

/// One published figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedPoint {
    /// Number of clients.
    pub clients: u32,
    /// Value in the series' unit.
    pub value: f64,
}
