//! Means over trials with their confidence intervals, and other aggregates over trials.

use crate::model::{Estimate, Metric, Range};
use crate::stats::student;
use dyno_model::counters::TrialCounters;
use dyno_model::plan::ComparisonMetric;
use dyno_model::record::{OpenLoop, TrialRecord};

/// Confidence level of all confidence intervals.
const CONFIDENCE: f64 = 0.95;

/// Metrics whose mean over trials is a figure of their configuration.
pub(crate) const AVERAGED: [ComparisonMetric; 9] = [
    ComparisonMetric::Throughput,
    ComparisonMetric::MeanMs,
    ComparisonMetric::P50Ms,
    ComparisonMetric::P90Ms,
    ComparisonMetric::P95Ms,
    ComparisonMetric::P99Ms,
    ComparisonMetric::P999Ms,
    ComparisonMetric::HighestRate,
    ComparisonMetric::MostClients,
];

/// A confidence interval whose upper end exceeds this multiple of the mean is not reported.
const SENSE: f64 = 2.0;

/// Mean with its confidence interval. These figures cannot be negative, so the half-width of the
/// interval is computed on the logarithmic scale.
pub(crate) fn estimate(values: &[f64], metric: Metric) -> Option<Estimate> {
    let mean = student::mean(values)?;
    let factor = student::mean_interval(values, CONFIDENCE).map(|it| (it.half_width / mean).exp());
    let interval = factor
        .filter(|factor| *factor <= SENSE)
        .map(|factor| Range { low: mean / factor, high: mean * factor });
    let (unit, repeats) = (metric.unit(), count(values.len()));
    Some(Estimate { unit, mean, interval, repeats, is_bound: false })
}

/// The same for the figures of trials: if one of them is a lower bound, the mean is a lower bound,
/// too, and has no confidence interval.
pub(crate) fn estimate_among<'a>(
    records: impl Iterator<Item = &'a TrialRecord>,
    metric: ComparisonMetric,
) -> Option<Estimate> {
    let figure = |record: &TrialRecord| Some((record.figure(metric)?, record.is_bound(metric)));
    among(records.filter_map(figure), metric.into())
}

/// The mean of figures, each given with a flag that is true for a lower bound.
pub(crate) fn among(
    figures: impl Iterator<Item = (f64, bool)>,
    metric: Metric,
) -> Option<Estimate> {
    let (values, bounds): (Vec<f64>, Vec<bool>) = figures.unzip();
    let estimate = estimate(&values, metric)?;
    let is_bound = bounds.contains(&true);
    Some(Estimate { interval: estimate.interval.filter(|_| !is_bound), is_bound, ..estimate })
}

/// True if the figure of any of these trials is only a lower bound.
pub(crate) fn has_bound<'a>(
    mut records: impl Iterator<Item = &'a TrialRecord>,
    metric: ComparisonMetric,
) -> bool {
    records.any(|record| record.is_bound(metric))
}

/// Sum over the trials of an open loop; `None` without such trials.
pub(crate) fn arrived(records: &[&TrialRecord], pick: fn(&OpenLoop) -> u64) -> Option<u64> {
    let open_loops = || records.iter().filter_map(|record| record.open_loop.as_ref());
    open_loops().next().is_some().then(|| open_loops().map(pick).sum())
}

/// Converts a count to the integer type of the model.
pub(crate) fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
/// The sum of a counter over trials; `None` if a trial does not have it.
pub(crate) fn total(
    records: &[&TrialRecord],
    count: fn(&TrialCounters) -> Option<u64>,
) -> Option<u64> {
    records.iter().map(|record| count(&record.counters)).sum()
}
