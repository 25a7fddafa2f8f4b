//! Comparisons: each system against the first one at equal clients and levels, each level of a factor within a system against the
//! first one that was measured with it, other levels equal; where the spec says what is compared, only that.

use crate::estimate::{count, has_bound};
use crate::model::{Comparison, ComparisonOf, ComparisonRules, NotWorking, Range, RatioBound, Verdict};
use crate::standing::held_against;
use crate::stats::compare::{self, RatioTest};
use crate::stats::verdict::{self, Judgement, Outcome, Rules};
use crate::view::View;
use dyno_model::plan::{Compare, Metric, Treatment};
use dyno_model::record::TrialRecord;
use std::collections::BTreeMap;

/// Fewer repeats than this give no verdict: with two, the interval is 12.7 standard errors wide and says nothing.
pub(crate) const MIN_REPEATS: usize = 3;

/// Risk of an interval that no verdict stands beside.
const RISK_ALONE: f64 = 0.05;

/// What is compared. Mean response time in a closed loop is the number of clients over throughput, so it is left out.
const METRICS: [Metric; 2] = [Metric::Throughput, Metric::P95Ms];

pub(crate) fn compare(view: &View<'_>) -> (Vec<Comparison>, ComparisonRules) {
    let rules = Rules::default();
    let enabled = view.plan().blocks as usize >= MIN_REPEATS;
    let pairs = pairs(view);
    let mut comparisons = Vec::new();
    for metric in METRICS {
        let family = pairs.iter().map(|pair| measure_whole(view, pair, metric)).collect();
        comparisons.extend(judged(family, enabled.then_some(rules)));
    }
    let rules = ComparisonRules {
        margin: rules.margin,
        alpha: rules.alpha,
        min_repeats: MIN_REPEATS as u32,
        verdicts_enabled: enabled,
        family: count(pairs.len()),
    };
    (comparisons, rules)
}

/// What one side of a comparison has.
pub(crate) struct SideValues {
    /// Values by block; `None` when a trial that is compared has none.
    pub(crate) by_block: Option<BTreeMap<u32, f64>>,
    /// True when there is a trial that is compared.
    pub(crate) is_usable: bool,
    /// True when one of the values is only a lower bound.
    pub(crate) is_bound: bool,
    /// Trials in which it did not work.
    pub(crate) not_working: Option<NotWorking>,
}

/// A comparison without its verdict.
struct Measured {
    comparison: Comparison,
    test: Option<RatioTest>,
    /// True when both sides have a trial that is compared.
    is_usable: bool,
}

/// Comparisons of every pair in every step of a growing table, by step; all of them are one family. `values` are those of a treatment's trials
/// in a step.
pub(crate) fn step_by_step(
    view: &View<'_>,
    steps: usize,
    values: &dyn Fn(usize, usize) -> SideValues,
) -> Vec<(usize, Comparison)> {
    let pairs = pairs(view);
    let places = pairs.iter().flat_map(|pair| (0..steps).map(move |step| (pair, step)));
    let (at, family): (Vec<usize>, Vec<_>) = places
        .map(|(pair, step)| {
            let (subject, baseline) = (values(pair.subject, step), values(pair.baseline, step));
            (step, measure(view, pair, Metric::Throughput, &subject, &baseline))
        })
        .unzip();
    let enabled = view.plan().blocks as usize >= MIN_REPEATS;
    at.into_iter().zip(judged(family, enabled.then(Rules::default))).collect()
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

/// What a treatment's trials have.
fn whole(view: &View<'_>, treatment: usize, metric: Metric) -> SideValues {
    let standing = &view.standings[treatment];
    let by_block = |figures: Vec<(&TrialRecord, f64)>| {
        figures.into_iter().map(|(record, value)| (record.trial.block, value)).collect()
    };
    SideValues {
        by_block: standing.figures(metric).map(by_block),
        is_usable: !standing.usable.is_empty(),
        is_bound: has_bound(standing.usable.iter().copied(), metric),
        not_working: standing.not_working(),
    }
}

/// For each comparison, the logarithms of its ratios, one per block that has both sides.
pub(crate) fn differences(view: &View<'_>, metric: Metric) -> Vec<Vec<f64>> {
    let difference = |pair: &Pair| {
        let by_block = |treatment| whole(view, treatment, metric).by_block.unwrap_or_default();
        let (subject, baseline) = (by_block(pair.subject), by_block(pair.baseline));
        let ratios = subject.iter().filter_map(|(block, value)| Some(value / baseline.get(block)?));
        ratios.map(f64::ln).collect()
    };
    pairs(view).iter().map(difference).collect()
}

/// Whole trials.
fn measure_whole(view: &View<'_>, pair: &Pair, metric: Metric) -> Measured {
    let of = |treatment| whole(view, treatment, metric);
    measure(view, pair, metric, &of(pair.subject), &of(pair.baseline))
}

/// What a verdict is worth where figures are lower bounds of response times: a bound that is worse already decides, because what it stands for
/// is worse still. Nothing else is known.
pub(crate) fn verdict_on_bounds(verdict: Verdict, bound: Option<RatioBound>) -> Verdict {
    match (bound, verdict) {
        (None, _)
        | (_, Verdict::Invalid)
        | (Some(RatioBound::AtLeast), Verdict::Worse)
        | (Some(RatioBound::AtMost), Verdict::Better) => verdict,
        _ => Verdict::Inconclusive,
    }
}

/// The ratio with its 95 % interval, still without verdict.
fn measure(
    view: &View<'_>,
    pair: &Pair,
    metric: Metric,
    subject: &SideValues,
    baseline: &SideValues,
) -> Measured {
    let empty = BTreeMap::new();
    // A side of which a figure is missing is not compared at all.
    let (of_subject, of_baseline) = match (&subject.by_block, &baseline.by_block) {
        (Some(subject), Some(baseline)) => (subject, baseline),
        _ => (&empty, &empty),
    };
    let bound = RatioBound::of(subject.is_bound, baseline.is_bound);
    let test = test(of_subject, of_baseline).filter(|_| bound != Some(RatioBound::Unknown));
    let means = || {
        let mean = |values: &BTreeMap<u32, f64>| {
            let logarithms: Vec<f64> = values.values().map(|value| value.ln()).collect();
            crate::stats::student::mean(&logarithms)
        };
        Some((mean(of_subject)? - mean(of_baseline)?).exp())
    };
    let interval = test.map(|test| test.interval(RISK_ALONE));
    let repeats = test.map_or_else(|| of_subject.len().min(of_baseline.len()), |test| test.repeats);
    let comparison = Comparison {
        of: pair.of.clone(),
        metric,
        clients: view.plan().treatments[pair.subject].clients,
        subject: pair.subject,
        baseline: pair.baseline,
        ratio: test.map(|test| test.ratio).or_else(means),
        bound,
        ratio_interval: interval.map(|(low, high)| Range { low, high }),
        interval_level: interval.map(|_| 1.0 - RISK_ALONE),
        repeats: count(repeats),
        p: None,
        p_corrected: None,
        detectable_ratio: None,
        exceeds_margin: false,
        subject_not_working: subject.not_working,
        baseline_not_working: baseline.not_working,
        verdict: None,
    };
    Measured { comparison, test, is_usable: subject.is_usable && baseline.is_usable }
}

/// Both sides by block.
fn test(subject: &BTreeMap<u32, f64>, baseline: &BTreeMap<u32, f64>) -> Option<RatioTest> {
    let both = |(block, value): (&u32, &f64)| baseline.get(block).map(|other| (*value, *other));
    let paired: Vec<(f64, f64)> = subject.iter().filter_map(both).collect();
    // Pairs lose little; only when invalid trials leave too few blocks with both sides are they compared unpaired.
    let unpaired = || {
        compare::welch(
            &subject.values().copied().collect::<Vec<_>>(),
            &baseline.values().copied().collect::<Vec<_>>(),
        )
    };
    match compare::paired(&paired) {
        Some(test) if test.repeats >= MIN_REPEATS => Some(test),
        few => unpaired().filter(|test| test.repeats >= MIN_REPEATS).or(few).or_else(unpaired),
    }
}

/// The verdict that an outcome means, and whether the whole interval lies beyond the margin. Of throughput more is better, of time less.
pub(crate) fn verdict(metric: Metric, judgement: &Judgement) -> (Verdict, bool) {
    let larger_is_better = metric == Metric::Throughput;
    let direction =
        |is_larger: bool| if is_larger == larger_is_better { Verdict::Better } else { Verdict::Worse };
    match judgement.outcome {
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
    (comparison.ratio_interval, comparison.interval_level) = (None, None);
    comparison.detectable_ratio = None;
    if verdict != comparison.verdict || verdict == Some(Verdict::Inconclusive) {
        (comparison.p, comparison.p_corrected) = (None, None);
        comparison.exceeds_margin = false;
    }
    comparison.verdict = verdict;
    comparison.ratio = comparison.ratio.filter(|_| bound != RatioBound::Unknown);
}

/// Gives verdicts to all comparisons of a family together; none without rules.
fn judged(family: Vec<Measured>, rules: Option<Rules>) -> Vec<Comparison> {
    let enough = |measured: &Measured| measured.test.filter(|test| test.repeats >= MIN_REPEATS);
    let tests: Vec<RatioTest> = family.iter().filter_map(enough).collect();
    let mut judgements = rules.map(|rules| verdict::judge(&tests, rules)).unwrap_or_default().into_iter();
    let one = |measured: Measured| {
        let is_judged = enough(&measured).is_some();
        let mut comparison = measured.comparison;
        let held = |verdict, comparison: &Comparison| {
            held_against(verdict, comparison.subject_not_working, comparison.baseline_not_working)
        };
        if rules.is_some() {
            // A side without any trial to compare makes the comparison invalid; too few, or figures that are not known, only leave it open.
            let open = if measured.is_usable { Verdict::Inconclusive } else { Verdict::Invalid };
            let judgement = if is_judged { judgements.next() } else { None };
            comparison.verdict = Some(open);
            comparison.ratio_interval = judgement.map(|it| Range { low: it.low, high: it.high });
            comparison.interval_level = judgement.map(|it| it.level);
            if let (Some(judgement), Some(test)) = (judgement, measured.test) {
                let (verdict, exceeds_margin) = verdict(comparison.metric, &judgement);
                (comparison.verdict, comparison.exceeds_margin) = (Some(verdict), exceeds_margin);
                comparison.p = Some(test.p);
                comparison.p_corrected = Some(judgement.p_corrected);
                comparison.detectable_ratio = Some(judgement.detectable_ratio);
            }
        }
        settle_bound(&mut comparison);
        let verdict = held(comparison.verdict.unwrap_or(Verdict::Inconclusive), &comparison);
        if verdict == Verdict::Invalid {
            // What is left of the figures would look like an answer.
            (comparison.ratio, comparison.ratio_interval, comparison.interval_level) = (None, None, None);
            (comparison.p, comparison.p_corrected, comparison.detectable_ratio) = (None, None, None);
            (comparison.bound, comparison.exceeds_margin) = (None, false);
            comparison.verdict = rules.map(|_| verdict);
        }
        comparison
    };
    family.into_iter().map(one).collect()
}
