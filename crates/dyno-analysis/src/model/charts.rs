//! Data of charts: points over clients, percentile curves, timelines of trials, published results.

use super::estimate::{Estimate, Unit};
use super::resources::ResourcePoint;
use dyno_model::failure::FailureKind;
use dyno_model::plan::ComparisonMetric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One chart over clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Panel {
    /// The metric on the y axis.
    pub metric: ComparisonMetric,
    /// Its unit.
    pub unit: Unit,
    /// Series in the order of [`super::ReportModel::series`], without those that have no data.
    pub series: Vec<PanelSeries>,
}

/// One series of a chart over client counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PanelSeries {
    /// Index into [`super::ReportModel::series`].
    pub series: usize,
    /// Points by ascending number of clients.
    pub points: Vec<PanelPoint>,
}

/// One point of a series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PanelPoint {
    /// Number of clients.
    pub clients: u32,
    /// Index of the configuration.
    pub configuration: usize,
    /// Mean with interval; absent when no trial is valid.
    pub estimate: Option<Estimate>,
    /// Every trial's value, including invalid ones.
    pub repeats: Vec<RepeatDot>,
}

/// One series over the arrival rate; everything else is equal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RateSeries {
    /// The system with its other levels, as in [`super::SeriesName::label`].
    pub label: String,
    /// Number of clients.
    pub clients: u32,
    /// Points by ascending rate, two or more.
    pub points: Vec<RatePoint>,
}

/// One point of such a series.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RatePoint {
    /// Arrival rate of all clients together, per second.
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
    /// False: drawn as an outline, and excluded from estimates.
    pub is_valid: bool,
}

/// Latency over percentiles.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PercentileCurve {
    /// Index of the configuration.
    pub configuration: usize,
    /// Number of transactions.
    pub count: u64,
    /// All valid trials merged; ends where fewer than ten values lie above.
    pub merged: Vec<PercentilePoint>,
    /// Each valid trial separately, with the same end.
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

/// Timeline of one trial.
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
    /// Errors at clients, by interval and kind, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ErrorPoint>,
    /// Samples of the monitor, in order of time; empty without a monitor.
    pub resources: Vec<ResourcePoint>,
}

/// Errors of one kind in one interval of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorPoint {
    /// Start of the interval in seconds since the common start.
    pub start_s: f64,
    /// Kind of the errors.
    pub kind: FailureKind,
    /// Attempts of transactions that ended with such an error, whether or not they were retried,
    /// and failed attempts to reconnect.
    pub errors: u64,
}

/// One interval of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimelinePoint {
    /// Start in seconds since the common start; warm-up comes first.
    pub start_s: f64,
    /// Length in seconds.
    pub length_s: f64,
    /// True for warm-up.
    pub is_warmup: bool,
    /// Committed transactions per second; absent where the interval is too short to be a rate.
    pub throughput: Option<f64>,
    /// Transactions that failed permanently.
    pub failed: u64,
    /// Retries.
    pub retries: u64,
    /// Mean in ms; this and the following are absent when nothing was committed, percentiles also
    /// when fewer than ten values lie above them.
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

/// One or several seconds, averaged over trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeanTimelinePoint {
    /// Seconds since the measured window opened.
    pub at_s: f64,
    /// Committed transactions per second.
    pub throughput: f64,
    /// Mean of the trials' 99th percentiles; absent where nothing was committed.
    pub p99_ms: Option<f64>,
}

/// Maximum number of points of a mean time series.
const MEAN_POINTS: usize = 60;

/// The mean time series of trials from the start of their windows; long ones combine seconds
/// into one point.
pub fn mean_timeline<'a>(
    trials: impl IntoIterator<Item = &'a [TimelinePoint]>,
) -> Vec<MeanTimelinePoint> {
    let mut seconds: BTreeMap<u64, Vec<&TimelinePoint>> = BTreeMap::new();
    for points in trials {
        let points_of_window = || points.iter().filter(|point| !point.is_warmup);
        let opens = points_of_window().next().map_or(0.0, |point| point.start_s);
        for point in points_of_window().filter(|point| point.throughput.is_some()) {
            seconds.entry((point.start_s - opens).round() as u64).or_default().push(point);
        }
    }
    let seconds: Vec<(u64, Vec<&TimelinePoint>)> = seconds.into_iter().collect();
    seconds.chunks(seconds.len().div_ceil(MEAN_POINTS).max(1)).map(joined).collect()
}

/// Several seconds as one point.
fn joined(seconds: &[(u64, Vec<&TimelinePoint>)]) -> MeanTimelinePoint {
    let mean = |figure: fn(&TimelinePoint) -> Option<f64>| {
        let points = seconds.iter().flat_map(|(_, points)| points);
        let values: Vec<f64> = points.filter_map(|point| figure(point)).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    MeanTimelinePoint {
        at_s: seconds[0].0 as f64,
        throughput: mean(|point| point.throughput).unwrap_or(0.0),
        p99_ms: mean(|point| point.p99_ms),
    }
}

/// Distribution of response times over a trial's measured window: how many transactions ended in
/// each time slice, by bands of response time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeatMap {
    /// Trial.
    pub trial: String,
    /// Index of the configuration.
    pub configuration: usize,
    /// Block.
    pub block: u32,
    /// Lower ends of the bands in milliseconds, ascending, and the upper end of the last. All bands
    /// have equal width on a logarithmic axis.
    pub bands_ms: Vec<f64>,
    /// Time slices in order, at most as many as a picture can show.
    pub columns: Vec<HeatColumn>,
}

/// A time slice of a heat map.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeatColumn {
    /// Start in seconds since the common start.
    pub start_s: f64,
    /// Length in seconds.
    pub length_s: f64,
    /// Transactions committed in it, by band.
    pub counts: Vec<u64>,
}

/// Results published elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedSeries {
    /// Source of the results.
    pub source: String,
    /// Name of the curve.
    pub series: String,
    /// Metric, which selects the panel.
    pub metric: ComparisonMetric,
    /// Unit of the values.
    pub unit: Unit,
    /// Index of the system that it is shown with; absent: all systems.
    pub system: Option<usize>,
    /// True when values were read off a chart or are a trend.
    pub is_approximate: bool,
    /// Clients and value.
    pub points: Vec<PublishedPoint>,
    /// Rows of a growing table and value; `points` is then empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub over_rows: Vec<PublishedRows>,
}

/// One published result of a growing table.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedRows {
    /// Rows in the table.
    pub rows: u64,
    /// Value in the series' unit.
    pub value: f64,
}

/// One published result.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedPoint {
    /// Number of clients.
    pub clients: u32,
    /// Value in the series' unit.
    pub value: f64,
}
