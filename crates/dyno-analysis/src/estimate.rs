//! Geometric means over trials with their confidence intervals, and other aggregates over trials.

use crate::model::{Estimate, Metric, Range};
use crate::stats::student;
use dyno_model::counters::TrialCounters;
use dyno_model::plan::ComparisonMetric;
use dyno_model::record::{OpenLoop, TrialRecord};

/// Confidence level of all confidence intervals.
const CONFIDENCE: f64 = 0.95;

/// Metrics whose mean over trials is a figure of their configuration.
pub(crate) const AVERAGED_METRICS: [ComparisonMetric; 9] = [
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
const INTERVAL_FACTOR_MAX: f64 = 2.0;

/// Geometric mean with its confidence interval, so that the quotient of two figures is the ratio of
/// their comparison. If a value is 0, the arithmetic mean without an interval.
pub(crate) fn estimate(values: &[f64], metric: Metric) -> Option<Estimate> {
    let are_positive = values.iter().all(|value| *value > 0.0);
    let (mean, factor) = match are_positive {
        true => {
            // Relative to one of them, so that the mean of equal values is exact.
            let first = *values.first()?;
            let ratios: Vec<f64> = values.iter().map(|value| value / first).collect();
            let logarithms = student::logarithms(&ratios);
            let interval = student::mean_interval(&logarithms, CONFIDENCE);
            (first * student::mean(&logarithms)?.exp(), interval.map(|it| it.half_width.exp()))
        }
        false => (student::mean(values)?, None),
    };
    let interval = factor
        .filter(|factor| *factor <= INTERVAL_FACTOR_MAX)
        .map(|factor| Range { low: mean / factor, high: mean * factor });
    let (unit, repeats) = (metric.unit(), as_u32(values.len()));
    Some(Estimate { unit, mean, interval, repeats, is_bound: false })
}

/// The same for the figures of trials: if one of them is a lower bound, the mean is a lower bound,
/// too, and has no confidence interval.
pub(crate) fn estimate_trials<'a>(
    records: impl Iterator<Item = &'a TrialRecord>,
    metric: ComparisonMetric,
) -> Option<Estimate> {
    let figure = |record: &TrialRecord| Some((record.figure(metric)?, record.is_bound(metric)));
    estimate_figures(records.filter_map(figure), metric.into())
}

/// The mean of figures, each given with a flag that is true for a lower bound.
pub(crate) fn estimate_figures(
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
pub(crate) fn sum_over_open_loops(
    records: &[&TrialRecord],
    pick: fn(&OpenLoop) -> u64,
) -> Option<u64> {
    let open_loops = || records.iter().filter_map(|record| record.open_loop.as_ref());
    open_loops().next().is_some().then(|| open_loops().map(pick).sum())
}

/// Converts a count to the integer type of the model.
pub(crate) fn as_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
/// The sum of a counter over trials; `None` if a trial does not have it.
pub(crate) fn total(
    records: &[&TrialRecord],
    count: fn(&TrialCounters) -> Option<u64>,
) -> Option<u64> {
    records.iter().map(|record| count(&record.counters)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotient_of_geometric_means_equals_the_welch_ratio() {
        let of = |values: &[f64]| estimate(values, Metric::Throughput).expect("values");
        let (base, new) = ([100.0, 200.0, 400.0], [300.0, 150.0, 1_200.0]);
        let test = crate::stats::compare::welch(&new, &base).expect("three on each side");
        assert!((of(&new).mean / of(&base).mean - test.ratio).abs() < 1e-9);
        assert!((of(&base).mean - 200.0).abs() < 1e-9);
        // exp(t.test(log(c(95, 100, 106)))$conf.int) in R.
        let interval = of(&[95.0, 100.0, 106.0]).interval.expect("little variation");
        assert!((interval.low - 87.472).abs() < 0.01 && (interval.high - 114.855).abs() < 0.01);
        // A trial without a commit.
        let with_zero = of(&[0.0, 100.0, 200.0]);
        assert_eq!((with_zero.mean, with_zero.interval), (100.0, None));
        assert_eq!(estimate(&[], Metric::Throughput), None);
    }
}
