//! Ratios of both sides and their verdicts.
//!
//! p-values of all comparisons of a page are corrected together, whatever their metric, because any of them can fail a build. (In a
//! report each metric is a family of its own: nothing is decided there by all of them at once.)

use super::Question;
use super::pool::PooledTreatment;
use crate::analysis::comparisons::{MIN_REPEATS, verdict, verdict_on_bounds};
use crate::analysis::{count, estimate_among, has_bound};
use crate::report::compare::model::{
    ByRanks, CompareDoubt, CompareFinding, CompareRules, MetricPair, TreatmentPair,
};
use crate::report::model::{Range, RatioBound, Verdict};
use crate::stats::compare::{RatioTest, repeats_needed, welch};
use crate::stats::ranks::rank_sum;
use crate::stats::student;
use crate::stats::verdict::benjamini_hochberg;
use dyno_model::audit::AuditVerdict;
use dyno_model::finding::Severity;
use dyno_model::plan::Metric;

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
    question: &Question,
) -> (Vec<Vec<MetricPair>>, CompareRules) {
    let rules = question.rules;
    let mut all: Vec<Vec<Measured>> = pairs
        .iter()
        .map(|(base, new)| question.metrics.iter().map(|metric| measure(base, new, *metric)).collect())
        .collect();
    let p_values: Vec<f64> =
        all.iter().flatten().filter_map(|measured| measured.test).map(|test| test.p).collect();
    let mut corrected = benjamini_hochberg(&p_values).into_iter();
    for measured in all.iter_mut().flatten() {
        if let Some(test) = measured.test {
            let p_corrected = corrected.next().unwrap_or(1.0);
            let pair = &mut measured.pair;
            (pair.verdict, pair.exceeds_margin) = verdict(pair.metric, &test, p_corrected, rules);
            pair.p = Some(test.p);
            pair.p_corrected = Some(p_corrected);
            pair.detectable_ratio = Some(test.detectable_ratio);
        }
        if measured.pair.bound.is_some() {
            settle_bound(&mut measured.pair);
        } else if measured.pair.verdict == Verdict::Inconclusive {
            let (base, new) = &measured.values;
            // Where as many as there are would have to do, a difference close to the margin needs still more.
            let more = base.len().min(new.len()) + 1;
            let needed =
                repeats_needed(new, base, rules.margin).map(|needed| needed.max(more).max(MIN_REPEATS));
            measured.pair.repeats_needed = needed.map(count);
        }
    }
    let pairs = all.into_iter().map(|row| row.into_iter().map(|measured| measured.pair).collect()).collect();
    let rules = CompareRules {
        margin: rules.margin,
        alpha: rules.alpha,
        min_repeats: MIN_REPEATS as u32,
        family: count(p_values.len()),
    };
    (pairs, rules)
}

fn measure(base: &PooledTreatment<'_>, new: &PooledTreatment<'_>, metric: Metric) -> Measured {
    let values = |side: &PooledTreatment<'_>| -> Vec<f64> {
        side.valid().filter_map(|record| record.figure(metric)).collect()
    };
    let (of_base, of_new) = (values(base), values(new));
    let is_violated = [base, new]
        .iter()
        .any(|side| side.records.iter().any(|record| record.audit.verdict() == AuditVerdict::Violated));
    let ratio = geometric_mean(&of_new).zip(geometric_mean(&of_base)).map(|(new, base)| new / base);
    let has_enough = of_base.len().min(of_new.len()) >= MIN_REPEATS;
    // A value of 0 has no logarithm: without a ratio there is no test either.
    let is_bound = |side: &PooledTreatment<'_>| has_bound(side.valid(), metric);
    let bound = RatioBound::of(is_bound(new), is_bound(base));
    let is_unknown = bound == Some(RatioBound::Unknown);
    let test = welch(&of_new, &of_base).filter(|_| has_enough && !is_violated && !is_unknown);
    let verdict = if is_violated || ratio.is_none() { Verdict::Invalid } else { Verdict::Inconclusive };
    let pair = MetricPair {
        metric,
        base: estimate_among(base.valid(), metric),
        new: estimate_among(new.valid(), metric),
        ratio: ratio.filter(|_| !is_unknown),
        bound,
        ratio_interval: test.map(|test| Range { low: test.low, high: test.high }),
        p: None,
        p_corrected: None,
        detectable_ratio: None,
        repeats_needed: None,
        by_ranks: test.and_then(|_| rank_sum(&of_new, &of_base)).map(|ranks| ByRanks {
            ratio: ranks.ratio,
            ratio_interval: ranks.interval.map(|(low, high)| Range { low, high }),
            p: ranks.p,
        }),
        exceeds_margin: false,
        verdict,
    };
    Measured { pair, test, values: (of_base, of_new) }
}

/// Takes from a comparison of lower bounds what does not follow from them.
fn settle_bound(pair: &mut MetricPair) {
    let verdict = verdict_on_bounds(pair.verdict, pair.bound);
    (pair.ratio_interval, pair.by_ranks, pair.detectable_ratio) = (None, None, None);
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
pub(super) fn disagreement(treatments: &[TreatmentPair]) -> Option<CompareFinding> {
    let all = treatments.iter().flat_map(|pair| pair.metrics.iter().map(move |metric| (pair, metric)));
    let comparisons: Vec<_> = all
        .filter(|(_, metric)| disagrees(metric))
        .map(|(pair, metric)| (pair.name.clone(), metric.metric))
        .collect();
    (!comparisons.is_empty()).then_some(CompareFinding {
        severity: Severity::Warning,
        doubt: CompareDoubt::RanksDisagree { comparisons },
    })
}

fn disagrees(pair: &MetricPair) -> bool {
    let repeats = pair.base.zip(pair.new).map_or(0, |(base, new)| base.repeats.min(new.repeats));
    let leaves_out_one = |range: Range| range.low > 1.0 || range.high < 1.0;
    let by_ranks = pair.by_ranks.and_then(|ranks| ranks.ratio_interval);
    pair.ratio_interval
        .zip(by_ranks)
        .is_some_and(|(welch, ranks)| repeats >= RANKS_MIN && leaves_out_one(welch) != leaves_out_one(ranks))
}
