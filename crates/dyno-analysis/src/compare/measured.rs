//! Figures of two matched configurations for a metric, before judgement.

use super::pool::PooledConfiguration;
use crate::compare::model::{ByRanks, MetricPair};
use crate::comparisons::{MIN_REPEATS, open_verdict};
use crate::estimate::{estimate_trials, has_bound};
use crate::model::{Effect, Estimate, Range, RatioBound, Verdict};
use crate::stats::compare::RatioTest;
use crate::stats::ranks::rank_sum;
use crate::stats::sides::Cell;
use crate::stats::student;
use dyno_model::audit::AuditVerdict;
use dyno_model::plan::{ComparisonMetric, LoadPlan};

/// A comparison before judgement.
pub(super) struct MeasuredPair {
    pub(super) metric: ComparisonMetric,
    /// Figures of base and new for display.
    shown: [Option<Estimate>; 2],
    pub(super) effect: Effect,
    pub(super) by_ranks: Option<ByRanks>,
    pub(super) repeats_needed: Option<u32>,
    /// The test, if both sides have enough values and no audit failed.
    pub(super) test: Option<RatioTest>,
    /// The values of both sides with their locations; empty if the configuration cannot be
    /// compared.
    pub(super) cell: Cell,
    /// True if both sides have a trial to compare.
    pub(super) is_usable: bool,
}

impl MeasuredPair {
    pub(super) fn new(
        metric: ComparisonMetric,
        cell: Cell,
        test: Option<RatioTest>,
        is_usable: bool,
    ) -> Self {
        let effect = Effect { verdict: Some(open_verdict(is_usable)), ..Effect::default() };
        let (shown, by_ranks, repeats_needed) = ([None; 2], None, None);
        Self { metric, shown, effect, by_ranks, repeats_needed, test, cell, is_usable }
    }

    /// False if there are trials to compare but one of them has no such figure, for example a
    /// percentile with too few transactions.
    pub(super) fn has_figures(&self) -> bool {
        !self.is_usable || !self.cell.base.is_empty() && !self.cell.new.is_empty()
    }

    pub(super) fn into_pair(self) -> MetricPair {
        let Self { metric, shown: [base, new], effect, by_ranks, repeats_needed, .. } = self;
        MetricPair {
            metric,
            base,
            new,
            ratio: effect.ratio,
            bound: effect.bound,
            ratio_interval: effect.ratio_interval,
            interval_level: effect.interval_level,
            p: effect.p,
            p_corrected: effect.p_corrected,
            detectable_ratio: effect.detectable_ratio,
            repeats_needed,
            by_ranks,
            exceeds_margin: effect.exceeds_margin,
            verdict: effect.verdict.unwrap_or(Verdict::Invalid),
        }
    }
}

/// Two matched configurations: base, new.
pub(super) type Sides<'a> = (&'a PooledConfiguration<'a>, &'a PooledConfiguration<'a>);

/// The comparisons of two configurations to report, by metric.
pub(super) fn measured_pairs(
    (base, new): Sides<'_>,
    metrics: &[ComparisonMetric],
) -> Vec<MeasuredPair> {
    let loads = || [base, new].into_iter().map(|side| &side.configuration.load);
    let is_given = loads().all(LoadPlan::gives_throughput);
    // A metric that is the only one requested is always reported.
    let is_reported = |metric: &&ComparisonMetric| match metric.searched() {
        Some(most) => {
            loads().all(|load| load.find.as_ref().is_some_and(|search| search.most == most))
        }
        None => metrics.len() == 1 || !is_given || **metric != ComparisonMetric::Throughput,
    };
    metrics.iter().filter(is_reported).map(|metric| measure(base, new, *metric)).collect()
}

fn measure(
    base: &PooledConfiguration<'_>,
    new: &PooledConfiguration<'_>,
    metric: ComparisonMetric,
) -> MeasuredPair {
    let cell = cell_of(base, new, |side| {
        // A side with a missing figure is not compared at all.
        let figures = side.eligibility.figures(metric)?;
        Some(figures.into_iter().map(|(_, value)| value).collect())
    });
    let shown = |side: &PooledConfiguration<'_>| match metric {
        // Trials without a commit have a throughput, too.
        ComparisonMetric::Throughput => estimate_trials(side.valid(), metric),
        _ => {
            let figures = side.eligibility.figures(metric)?;
            estimate_trials(figures.into_iter().map(|(record, _)| record), metric)
        }
    };
    let [of_base, of_new] = cell.values();
    let is_violated = is_violated(base, new);
    let ratio = geometric_mean(&of_new).zip(geometric_mean(&of_base)).map(|(new, base)| new / base);
    let has_enough = of_base.len().min(of_new.len()) >= MIN_REPEATS;
    let is_bound =
        |side: &PooledConfiguration<'_>| has_bound(side.eligibility.usable.iter().copied(), metric);
    let bound = RatioBound::of(is_bound(new), is_bound(base));
    let is_unknown = bound == Some(RatioBound::Unknown);
    let test = cell.welch().filter(|_| has_enough && !is_violated && !is_unknown);
    // Figures that are unknown because of too few transactions leave a comparison undecided; a side
    // without any trial to compare makes it invalid.
    let is_usable =
        !is_violated && [base, new].iter().all(|side| !side.eligibility.usable.is_empty());
    let by_ranks = test.and_then(|_| rank_sum(&of_new, &of_base)).map(|ranks| ByRanks {
        ratio: ranks.ratio,
        ratio_interval: ranks.interval.map(|(low, high)| Range { low, high }),
        p: ranks.p,
    });
    let mut pair = MeasuredPair::new(metric, cell, test, is_usable);
    pair.effect.ratio = ratio.filter(|_| !is_unknown);
    pair.effect.bound = bound;
    MeasuredPair { shown: [base, new].map(shown), by_ranks, ..pair }
}

/// Values of both sides with their locations; a side for which `values` returns `None` is empty.
pub(super) fn cell_of<'a>(
    base: &'a PooledConfiguration<'a>,
    new: &'a PooledConfiguration<'a>,
    values: impl Fn(&'a PooledConfiguration<'a>) -> Option<Vec<f64>>,
) -> Cell {
    let side = |side: &'a PooledConfiguration<'a>| {
        side.origins.iter().copied().zip(values(side).unwrap_or_default()).collect::<Vec<_>>()
    };
    Cell { base: side(base), new: side(new) }
}

/// True when an audit of a side found the data violated.
pub(super) fn is_violated(base: &PooledConfiguration<'_>, new: &PooledConfiguration<'_>) -> bool {
    let mut records = [base, new].into_iter().flat_map(|side| &side.records);
    records.any(|record| record.worst_audit() == AuditVerdict::Violated)
}

/// The geometric mean; `None` without values, or if one of them is not positive.
fn geometric_mean(values: &[f64]) -> Option<f64> {
    let are_positive = values.iter().all(|value| value.is_finite() && *value > 0.0);
    student::mean(&student::logarithms(values)).filter(|_| are_positive).map(f64::exp)
}
