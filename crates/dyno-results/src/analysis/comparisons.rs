//! Comparisons: each system against the first one at equal clients and levels, each level of a factor within a system against the
//! first one that was measured with it, other levels equal; where the spec says what is compared, only that.

use super::View;
use crate::report::model::{Comparison, ComparisonOf, ComparisonRules, Range, RatioBound, Verdict};
use crate::stats::compare::{self, RatioTest};
use crate::stats::verdict::{Outcome, Rules, benjamini_hochberg, outcome};
use dyno_model::plan::{Compare, Metric, Treatment};
use std::collections::BTreeMap;

/// Fewer repeats than this give no verdict: with two, the interval is 12.7 standard errors wide and says nothing.
pub(super) const MIN_REPEATS: usize = 3;

/// What is compared. Mean response time in a closed loop is the number of clients over throughput, so it is left out.
const METRICS: [Metric; 2] = [Metric::Throughput, Metric::P95Ms];

pub(super) fn compare(view: &View<'_>) -> (Vec<Comparison>, ComparisonRules) {
    let rules = Rules::default();
    let enabled = view.plan().blocks as usize >= MIN_REPEATS;
    let pairs = pairs(view);
    let mut comparisons = Vec::new();
    for metric in METRICS {
        let mut family: Vec<(Comparison, Option<RatioTest>)> =
            pairs.iter().map(|pair| measure_whole(view, pair, metric)).collect();
        if enabled {
            judge(&mut family, rules);
        }
        family.iter_mut().for_each(|(comparison, _)| settle_bound(comparison));
        comparisons.extend(family.into_iter().map(|(comparison, _)| comparison));
    }
    let rules = ComparisonRules {
        margin: rules.margin,
        alpha: rules.alpha,
        min_repeats: MIN_REPEATS as u32,
        verdicts_enabled: enabled,
        family: super::count(pairs.len()),
    };
    (comparisons, rules)
}

/// Comparisons of every pair in every step of a growing table, by step; all of them are one family. `values` are those of a treatment's trials
/// in a step, by block.
pub(super) fn step_by_step(
    view: &View<'_>,
    steps: usize,
    values: &dyn Fn(usize, usize) -> BTreeMap<u32, f64>,
) -> Vec<(usize, Comparison)> {
    let pairs = pairs(view);
    let places = pairs.iter().flat_map(|pair| (0..steps).map(move |step| (pair, step)));
    let (at, mut family): (Vec<usize>, Vec<_>) = places
        .map(|(pair, step)| {
            let (subject, baseline) = (values(pair.subject, step), values(pair.baseline, step));
            (step, measure(view, pair, Metric::Throughput, &subject, &baseline))
        })
        .unzip();
    if view.plan().blocks as usize >= MIN_REPEATS {
        judge(&mut family, Rules::default());
    }
    at.into_iter().zip(family.into_iter().map(|(comparison, _)| comparison)).collect()
}

struct Pair {
    of: ComparisonOf,
    subject: usize,
    baseline: usize,
}

fn pairs(view: &View<'_>) -> Vec<Pair> {
    let plan = view.plan();
    let find = |wanted: &dyn Fn(&Treatment) -> bool| plan.treatments.iter().position(wanted);
    let is_asked = |compare: Compare| plan.compare.is_none_or(|asked| asked == compare);
    let mut pairs = Vec::new();
    let systems =
        view.treatments().filter(|(_, treatment)| treatment.system > 0 && is_asked(Compare::System));
    for (subject, treatment) in systems {
        let baseline = find(&|other| {
            other.system == 0 && other.clients == treatment.clients && other.levels == treatment.levels
        });
        pairs.extend(baseline.map(|baseline| Pair { of: ComparisonOf::System, subject, baseline }));
    }
    for factor in (0..plan.factors.len()).filter(|&factor| is_asked(Compare::Factor(factor))) {
        for (subject, treatment) in view.treatments() {
            // The first level, or where that is excluded (it may make no sense with the other levels) the first that is not.
            let baseline = find(&|other| {
                let mut levels = other.levels.iter().zip(&treatment.levels).enumerate();
                other.system == treatment.system
                    && other.clients == treatment.clients
                    && levels.all(|(position, (one, another))| position == factor || one == another)
            });
            let baseline = baseline.filter(|baseline| *baseline != subject);
            pairs.extend(baseline.map(|baseline| Pair {
                of: ComparisonOf::Level { factor },
                subject,
                baseline,
            }));
        }
    }
    pairs
}

/// Values of a treatment's valid trials by block.
fn by_block(view: &View<'_>, treatment: usize, metric: Metric) -> BTreeMap<u32, f64> {
    view.valid(treatment)
        .filter_map(|record| Some((record.trial.block, record.figure(metric)?)))
        .filter(|(_, value)| *value > 0.0)
        .collect()
}

/// For each comparison, the logarithms of its ratios, one per block that has both sides.
pub(super) fn differences(view: &View<'_>, metric: Metric) -> Vec<Vec<f64>> {
    let difference = |pair: &Pair| {
        let (subject, baseline) =
            (by_block(view, pair.subject, metric), by_block(view, pair.baseline, metric));
        let ratios = subject.iter().filter_map(|(block, value)| Some(value / baseline.get(block)?));
        ratios.map(f64::ln).collect()
    };
    pairs(view).iter().map(difference).collect()
}

/// Whole trials.
fn measure_whole(view: &View<'_>, pair: &Pair, metric: Metric) -> (Comparison, Option<RatioTest>) {
    let of = |treatment| by_block(view, treatment, metric);
    let is_bound = |treatment| super::has_bound(view.valid(treatment), metric);
    let (mut comparison, test) = measure(view, pair, metric, &of(pair.subject), &of(pair.baseline));
    comparison.bound = RatioBound::of(is_bound(pair.subject), is_bound(pair.baseline));
    let test = test.filter(|_| comparison.bound != Some(RatioBound::Unknown));
    (comparison, test)
}

/// What a verdict is worth where figures are lower bounds of response times: a bound that is worse already decides, because what it stands for
/// is worse still. Nothing else is known.
pub(super) fn verdict_on_bounds(verdict: Verdict, bound: Option<RatioBound>) -> Verdict {
    match (bound, verdict) {
        (None, _)
        | (_, Verdict::Invalid)
        | (Some(RatioBound::AtLeast), Verdict::Worse)
        | (Some(RatioBound::AtMost), Verdict::Better) => verdict,
        _ => Verdict::Inconclusive,
    }
}

/// The ratio with its interval, still without verdict. Both sides by block.
fn measure(
    view: &View<'_>,
    pair: &Pair,
    metric: Metric,
    subject: &BTreeMap<u32, f64>,
    baseline: &BTreeMap<u32, f64>,
) -> (Comparison, Option<RatioTest>) {
    let paired: Vec<(f64, f64)> = subject
        .iter()
        .filter_map(|(block, value)| baseline.get(block).map(|other| (*value, *other)))
        .collect();
    // Pairs lose little; only when invalid trials leave too few blocks with both sides are they compared unpaired.
    let unpaired = || {
        compare::welch(
            &subject.values().copied().collect::<Vec<_>>(),
            &baseline.values().copied().collect::<Vec<_>>(),
        )
    };
    let test = match compare::paired(&paired) {
        Some(test) if test.repeats >= MIN_REPEATS => Some(test),
        few => unpaired().filter(|test| test.repeats >= MIN_REPEATS).or(few).or_else(unpaired),
    };
    let means = || {
        let mean = |values: &BTreeMap<u32, f64>| {
            let logarithms: Vec<f64> = values.values().map(|value| value.ln()).collect();
            crate::stats::student::mean(&logarithms)
        };
        Some((mean(subject)? - mean(baseline)?).exp())
    };
    let comparison = Comparison {
        of: pair.of.clone(),
        metric,
        clients: view.plan().treatments[pair.subject].clients,
        subject: pair.subject,
        baseline: pair.baseline,
        ratio: test.map(|test| test.ratio).or_else(means),
        bound: None,
        ratio_interval: test.map(|test| Range { low: test.low, high: test.high }),
        repeats: super::count(test.map_or_else(|| subject.len().min(baseline.len()), |test| test.repeats)),
        p: None,
        p_corrected: None,
        detectable_ratio: None,
        exceeds_margin: false,
        verdict: None,
    };
    (comparison, test)
}

/// The verdict of a test, and whether the whole interval lies beyond the margin. Of throughput more is better, of time less.
pub(super) fn verdict(metric: Metric, test: &RatioTest, p_corrected: f64, rules: Rules) -> (Verdict, bool) {
    let larger_is_better = metric == Metric::Throughput;
    let direction =
        |is_larger: bool| if is_larger == larger_is_better { Verdict::Better } else { Verdict::Worse };
    match outcome(test, p_corrected, rules) {
        Outcome::Larger { exceeds_margin } => (direction(true), exceeds_margin),
        Outcome::Smaller { exceeds_margin } => (direction(false), exceeds_margin),
        Outcome::Equivalent => (Verdict::Equivalent, false),
        Outcome::Inconclusive => (Verdict::Inconclusive, false),
    }
}

/// Takes from a comparison of lower bounds what does not follow from them.
fn settle_bound(comparison: &mut Comparison) {
    let Some(bound) = comparison.bound else { return };
    let verdict = comparison.verdict.map(|verdict| verdict_on_bounds(verdict, Some(bound)));
    comparison.ratio_interval = None;
    comparison.detectable_ratio = None;
    if verdict != comparison.verdict || verdict == Some(Verdict::Inconclusive) {
        (comparison.p, comparison.p_corrected) = (None, None);
        comparison.exceeds_margin = false;
    }
    comparison.verdict = verdict;
    comparison.ratio = comparison.ratio.filter(|_| bound != RatioBound::Unknown);
}

/// Gives verdicts to all comparisons of one metric together.
fn judge(family: &mut [(Comparison, Option<RatioTest>)], rules: Rules) {
    let enough = |test: &Option<RatioTest>| test.filter(|test| test.repeats >= MIN_REPEATS);
    let p_values: Vec<f64> = family.iter().filter_map(|(_, test)| enough(test)).map(|test| test.p).collect();
    let mut corrected = benjamini_hochberg(&p_values).into_iter();
    for (comparison, test) in family {
        let Some(test) = enough(test) else {
            // A side without any usable figure makes the comparison invalid; too few usable ones only leave it open.
            let verdict = if comparison.ratio.is_none() { Verdict::Invalid } else { Verdict::Inconclusive };
            comparison.verdict = Some(verdict);
            comparison.ratio_interval = None;
            continue;
        };
        let p_corrected = corrected.next().unwrap_or(1.0);
        let (verdict, exceeds_margin) = verdict(comparison.metric, &test, p_corrected, rules);
        comparison.p = Some(test.p);
        comparison.p_corrected = Some(p_corrected);
        comparison.detectable_ratio = Some(test.detectable_ratio);
        comparison.verdict = Some(verdict);
        comparison.exceeds_margin = exceeds_margin;
    }
}
