//! Ratios of both sides and their verdicts.
//!
//! p-values of all comparisons of a page are corrected together, whatever their metric, because any of them can fail a build. (In a
//! report each metric is a family of its own: nothing is decided there by all of them at once.)

use super::pool::PooledTreatment;
use crate::compare::model::{ByRanks, CompareDoubt, CompareFinding, CompareRules, MetricPair, TreatmentPair};
use crate::comparisons::{MIN_REPEATS, verdict, verdict_on_bounds};
use crate::estimate::{count, estimate_among, has_bound};
use crate::model::{Range, RatioBound, Verdict};
use crate::standing::held_against;
use crate::stats::compare::{RatioTest, repeats_needed, welch};
use crate::stats::ranks::rank_sum;
use crate::stats::student;
use crate::stats::verdict::{Rules, judge};
use dyno_model::audit::AuditVerdict;
use dyno_model::finding::Severity;
use dyno_model::plan::{LoadPlan, Metric};

/// What is known of one comparison before any is judged.
struct Measured {
    pair: MetricPair,
    /// The test, where there are enough values on both sides and the audits are not against it.
    test: Option<RatioTest>,
    /// Values of base and new.
    values: (Vec<f64>, Vec<f64>),
}

/// Comparisons of every pair of treatments (base, new), by pair, and how they were made.
pub(super) fn verdicts(
    pairs: &[(&PooledTreatment<'_>, &PooledTreatment<'_>)],
    metrics: &[Metric],
    rules: Rules,
) -> (Vec<Vec<MetricPair>>, CompareRules) {
    let mut all: Vec<Vec<Measured>> = pairs
        .iter()
        .map(|(base, new)| {
            let loads = || [base, new].into_iter().map(|side| &side.treatment.load);
            let is_given = loads().all(LoadPlan::gives_throughput);
            // Who asks for nothing else gets it nevertheless.
            let is_told = |metric: &&Metric| match metric.searched() {
                Some(most) => loads().all(|load| load.find.is_some_and(|search| search.most == most)),
                None => metrics.len() == 1 || !is_given || **metric != Metric::Throughput,
            };
            metrics.iter().filter(is_told).map(|metric| measure(base, new, *metric)).collect()
        })
        .collect();
    let tests: Vec<RatioTest> = all.iter().flatten().filter_map(|measured| measured.test).collect();
    let judgements = judge(&tests, rules);
    let risk = judgements.first().map_or(rules.alpha, |judgement| judgement.risk);
    let mut judgements = judgements.into_iter();
    for (measured, (base, new)) in
        all.iter_mut().zip(pairs).flat_map(|(row, sides)| row.iter_mut().map(move |one| (one, sides)))
    {
        let pair = &mut measured.pair;
        if let Some(test) = measured.test
            && let Some(judgement) = judgements.next()
        {
            (pair.verdict, pair.exceeds_margin) = verdict(pair.metric, &judgement);
            pair.ratio_interval = Some(Range { low: judgement.low, high: judgement.high });
            pair.interval_level = Some(judgement.level);
            pair.p = Some(test.p);
            pair.p_corrected = Some(judgement.p_corrected);
            pair.detectable_ratio = Some(judgement.detectable_ratio);
        }
        if pair.bound.is_some() {
            settle_bound(pair);
        }
        let (of_base, of_new) = (base.standing.not_working(), new.standing.not_working());
        if (of_base.is_some() || of_new.is_some())
            && held_against(pair.verdict, of_new, of_base) == Verdict::Invalid
        {
            // What is left of the figures would look like an answer.
            *pair = MetricPair { base: pair.base, new: pair.new, ..invalid(pair.metric) };
        }
        if pair.bound.is_none() && pair.verdict == Verdict::Inconclusive {
            let (base, new) = &measured.values;
            // Where as many as there are would have to do, a difference close to the margin needs still more.
            let more = base.len().min(new.len()) + 1;
            let needed =
                repeats_needed(new, base, rules.margin, risk).map(|needed| needed.max(more).max(MIN_REPEATS));
            pair.repeats_needed = needed.map(count);
        }
    }
    let pairs = all.into_iter().map(|row| row.into_iter().map(|measured| measured.pair).collect()).collect();
    let rules = CompareRules {
        margin: rules.margin,
        alpha: rules.alpha,
        min_repeats: MIN_REPEATS as u32,
        family: count(tests.len()),
        interval_level: 1.0 - risk,
    };
    (pairs, rules)
}

/// A comparison that nothing is known of.
fn invalid(metric: Metric) -> MetricPair {
    MetricPair {
        metric,
        base: None,
        new: None,
        ratio: None,
        bound: None,
        ratio_interval: None,
        interval_level: None,
        p: None,
        p_corrected: None,
        detectable_ratio: None,
        repeats_needed: None,
        by_ranks: None,
        exceeds_margin: false,
        verdict: Verdict::Invalid,
    }
}

fn measure(base: &PooledTreatment<'_>, new: &PooledTreatment<'_>, metric: Metric) -> Measured {
    let values = |side: &PooledTreatment<'_>| -> Vec<f64> {
        // A side of which a figure is missing is not compared at all.
        let figures = side.standing.figures(metric).unwrap_or_default();
        figures.into_iter().map(|(_, value)| value).collect()
    };
    let shown = |side: &PooledTreatment<'_>| match metric {
        // Trials without a commit have a throughput, too.
        Metric::Throughput => estimate_among(side.valid(), metric),
        _ => {
            let figures = side.standing.figures(metric)?;
            estimate_among(figures.into_iter().map(|(record, _)| record), metric)
        }
    };
    let (of_base, of_new) = (values(base), values(new));
    let is_violated = [base, new]
        .iter()
        .any(|side| side.records.iter().any(|record| record.audit.verdict() == AuditVerdict::Violated));
    let ratio = geometric_mean(&of_new).zip(geometric_mean(&of_base)).map(|(new, base)| new / base);
    let has_enough = of_base.len().min(of_new.len()) >= MIN_REPEATS;
    let is_bound = |side: &PooledTreatment<'_>| has_bound(side.standing.usable.iter().copied(), metric);
    let bound = RatioBound::of(is_bound(new), is_bound(base));
    let is_unknown = bound == Some(RatioBound::Unknown);
    let test = welch(&of_new, &of_base).filter(|_| has_enough && !is_violated && !is_unknown);
    // Figures that too few transactions leave unknown keep a comparison open; a side without any trial to compare makes it invalid.
    let is_usable = [base, new].iter().all(|side| !side.standing.usable.is_empty());
    let verdict = if is_violated || !is_usable { Verdict::Invalid } else { Verdict::Inconclusive };
    let pair = MetricPair {
        base: shown(base),
        new: shown(new),
        ratio: ratio.filter(|_| !is_unknown),
        bound,
        by_ranks: test.and_then(|_| rank_sum(&of_new, &of_base)).map(|ranks| ByRanks {
            ratio: ranks.ratio,
            ratio_interval: ranks.interval.map(|(low, high)| Range { low, high }),
            p: ranks.p,
        }),
        verdict,
        ..invalid(metric)
    };
    Measured { pair, test, values: (of_base, of_new) }
}

/// Takes from a comparison of lower bounds what does not follow from them.
fn settle_bound(pair: &mut MetricPair) {
    let verdict = verdict_on_bounds(pair.verdict, pair.bound);
    (pair.ratio_interval, pair.interval_level) = (None, None);
    (pair.by_ranks, pair.detectable_ratio) = (None, None);
    if verdict != pair.verdict || verdict == Verdict::Inconclusive {
        (pair.p, pair.p_corrected) = (None, None);
        pair.exceeds_margin = false;
    }
    pair.verdict = verdict;
}

/// `None` without values, or when one of them is not positive.
fn geometric_mean(values: &[f64]) -> Option<f64> {
    let are_positive = values.iter().all(|value| value.is_finite() && *value > 0.0);
    let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    student::mean(&logarithms).filter(|_| are_positive).map(f64::exp)
}

/// Valid trials on each side from which a disagreement of both tests says something about the trials. With fewer, ranks find a
/// difference only where the sides hardly overlap.
const RANKS_MIN: u32 = 6;

/// The comparisons in which one of the two tests sees a difference that the other does not, if there are any.
pub(super) fn disagreement(treatments: &[TreatmentPair], alpha: f64) -> Option<CompareFinding> {
    let all = treatments.iter().flat_map(|pair| pair.metrics.iter().map(move |metric| (pair, metric)));
    let comparisons: Vec<_> = all
        .filter(|(_, metric)| disagrees(metric, alpha))
        .map(|(pair, metric)| (pair.name.clone(), metric.metric))
        .collect();
    (!comparisons.is_empty()).then_some(CompareFinding {
        severity: Severity::Warning,
        doubt: CompareDoubt::RanksDisagree { comparisons },
    })
}

fn disagrees(pair: &MetricPair, alpha: f64) -> bool {
    let repeats = pair.base.zip(pair.new).map_or(0, |(base, new)| base.repeats.min(new.repeats));
    // Each alone: whether there is a difference, not whether it stands among many.
    let both = pair.p.zip(pair.by_ranks.map(|ranks| ranks.p));
    both.is_some_and(|(welch, ranks)| repeats >= RANKS_MIN && (welch < alpha) != (ranks < alpha))
}
