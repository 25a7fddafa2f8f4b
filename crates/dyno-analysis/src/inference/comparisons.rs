//! Comparisons of configuration pairs, the questions that they belong to, and their verdicts.

use crate::eligibility::counted_against;
use crate::estimate::{as_u32, has_bound};
use crate::model::{
    Comparison, ComparisonRules, Effect, Interaction, NotWorking, Question, Range, RatioBound,
    Verdict,
};
use crate::pairs::{Pair, pairs};
use crate::questions::{self, Answer, Cell, Group};
use crate::stats::compare::{self, DecisionCriteria, RatioTest};
use crate::stats::gate;
use crate::stats::moderated::moderated;
use crate::stats::verdict::{self, Decision, Judgement, Rules};
use crate::view::View;
use dyno_model::plan::ComparisonMetric;
use dyno_model::record::TrialRecord;
use std::collections::{BTreeMap, BTreeSet};

/// Minimum number of repeats for a verdict: with two, the interval is 12.7 standard errors wide and
/// says nothing.
pub(crate) const MIN_REPEATS: usize = 3;

/// Risk of an interval shown without a verdict.
const RISK_ALONE: f64 = 0.05;

/// All comparisons of a run.
pub(crate) struct Compared {
    pub(crate) questions: Vec<Question>,
    pub(crate) comparisons: Vec<Comparison>,
    pub(crate) rules: ComparisonRules,
    /// Number of questions about the metric by which the run is judged, including those of one
    /// comparison.
    pub(crate) question_count: u32,
    /// For each undecided question, the probability that it is decided once all blocks are
    /// measured.
    pub(crate) decision_probabilities: Vec<f64>,
}

/// Compares the measured data; `share` is the fraction of all blocks measured so far.
pub(crate) fn compare(view: &View<'_>, share: f64) -> Compared {
    let rules = Rules::default();
    let enabled = view.plan().blocks as usize >= MIN_REPEATS;
    let pairs = pairs(view);
    let metrics = view.plan().metrics();
    let families: Vec<Vec<PairMeasurement>> = metrics
        .iter()
        .map(|metric| {
            with_moderated_variances(
                pairs.iter().map(|pair| measure_trials(view, pair, *metric)).collect(),
            )
        })
        .collect();
    let family = as_u32(pairs.len());
    let groups = if enabled { questions::groups(view.plan(), &pairs) } else { Vec::new() };
    // Questions by metric: the primary ones first.
    let mut question_data: Vec<QuestionData<'_>> = Vec::new();
    for (at, (measured, metric)) in families.iter().zip(&metrics).enumerate() {
        let data_of =
            |group| QuestionData::new(view, &pairs, measured, *metric, at * pairs.len(), group);
        question_data.extend(groups.iter().map(data_of));
    }
    let judged = judge(&question_data, groups.len(), rules);
    // The pairs of all metrics, one metric after the other.
    let mut of_pairs: Vec<Option<Judgement>> = vec![None; pairs.len() * metrics.len()];
    let mut untested: Vec<usize> = Vec::new();
    for (it, judged) in question_data.iter().zip(&judged) {
        if judged.p.is_infinite() {
            untested.extend(it.tested.iter().map(|at| it.offset + at));
        }
        it.tested
            .iter()
            .zip(&judged.pairs)
            .for_each(|(at, judgement)| of_pairs[it.offset + at] = Some(*judgement));
    }
    let first = || question_data.iter().zip(&judged).take(groups.len());
    let decision_probabilities =
        first().filter_map(|(it, judged)| it.decision_probability(judged, share, rules)).collect();
    let question_count = as_u32(groups.len());
    let several = question_data.iter().zip(judged).filter(|(it, _)| it.measurements.len() > 1);
    let questions = several.map(|(it, judged)| it.question(view, &pairs, &judged, rules)).collect();
    let all = families.into_iter().flatten().zip(of_pairs);
    let mut comparisons: Vec<Comparison> =
        all.map(|(measured, judgement)| decided(measured, judgement, enabled)).collect();
    // The only testable pair of a question without an answer: no hypothesis covers it.
    for at in untested {
        let effect = &mut comparisons[at].effect;
        (effect.p, effect.p_corrected, effect.detectable_ratio) = (None, None, None);
    }
    let rules = ComparisonRules {
        margin: rules.margin,
        alpha: rules.alpha,
        reserve: gate::SHARE_OF_SECONDARY_METRICS,
        min_repeats: MIN_REPEATS as u32,
        verdicts_enabled: enabled,
        family,
    };
    Compared { questions, comparisons, rules, question_count, decision_probabilities }
}

/// Judges questions, ordered by metric with this many per metric: every question with all its
/// metrics.
fn judge(
    question_data: &[QuestionData<'_>],
    questions: usize,
    rules: Rules,
) -> Vec<gate::QuestionVerdicts> {
    let metrics = |question: usize| question_data.iter().skip(question).step_by(questions.max(1));
    let tests = |question: usize| metrics(question).map(|it| it.tests.clone()).collect::<Vec<_>>();
    let judged = gate::judge(
        &(0..questions).map(tests).collect::<Vec<_>>(),
        gate::EFFECT_SHARE_IN_REPORT,
        rules,
    );
    (0..question_data.len()).map(|at| judged[at % questions][at / questions].clone()).collect()
}

/// Moderates the variances of paired tests, which borrow strength from each other.
fn with_moderated_variances(mut family: Vec<PairMeasurement>) -> Vec<PairMeasurement> {
    let is_paired = |it: &&mut PairMeasurement| it.is_paired && it.usable_test().is_some();
    let tests: Vec<RatioTest> =
        family.iter_mut().filter(is_paired).filter_map(|it| it.test).collect();
    for (measured, test) in family.iter_mut().filter(is_paired).zip(moderated(&tests)) {
        measured.test = Some(test);
    }
    family
}

/// A question with its data.
struct QuestionData<'a> {
    group: &'a Group,
    metric: ComparisonMetric,
    /// Its comparisons.
    measurements: Vec<&'a PairMeasurement>,
    /// The indices of the pairs that are tested.
    tested: Vec<usize>,
    /// The pairs usable for an answer: both sides have values in at least two blocks.
    used: Vec<usize>,
    /// Index of the first comparison of its metric.
    offset: usize,
    answer: Option<Answer>,
    tests: gate::QuestionTests,
}

impl<'a> QuestionData<'a> {
    fn new(
        view: &View<'_>,
        pairs: &[Pair],
        measurements: &'a [PairMeasurement],
        metric: ComparisonMetric,
        offset: usize,
        group: &'a Group,
    ) -> Self {
        let of_group = || group.pairs.iter().map(|at| (*at, &measurements[*at]));
        let usable_test = || of_group().filter_map(|(at, it)| Some((at, it, it.usable_test()?)));
        let side =
            |configuration| trial_values(view, configuration, metric).by_block.unwrap_or_default();
        let (used, cells): (Vec<usize>, Vec<Cell<'_>>) = group
            .pairs
            .iter()
            .filter_map(|at| {
                let pair = &pairs[*at];
                Some((*at, Cell::new(pair, side(pair.subject), side(pair.baseline))?))
            })
            .unzip();
        // If the figures of some pairs are only bounds, the mean over the others would be biased in
        // their favour.
        let has_bounds = of_group().any(|(_, it)| it.comparison.effect.bound.is_some());
        let (used, cells) = if has_bounds { Default::default() } else { (used, cells) };
        let answer = questions::answer(view, metric, &cells, MIN_REPEATS);
        let tests: Vec<RatioTest> = usable_test().map(|(_, _, test)| test).collect();
        let tests = gate::QuestionTests {
            // The only comparison of a question is itself the answer.
            effect: match group.pairs.as_slice() {
                [only] => measurements[*only].usable_test(),
                _ => answer.as_ref().map(|it| it.test),
            },
            pairs: tests,
            interactions: answer
                .iter()
                .flat_map(|it| it.interactions.iter().map(|it| it.p.unwrap_or(1.0)))
                .collect(),
        };
        let tested = usable_test().map(|(at, _, _)| at).collect();
        Self {
            group,
            metric,
            measurements: of_group().map(|(_, it)| it).collect(),
            tested,
            used,
            offset,
            answer,
            tests,
        }
    }

    /// Probability that the question is decided once all blocks are measured, of which `share` are;
    /// `None` if it is decided already.
    fn decision_probability(
        &self,
        judged: &gate::QuestionVerdicts,
        share: f64,
        rules: Rules,
    ) -> Option<f64> {
        let is_reported = |it: &Judgement| it.decision != Decision::Inconclusive;
        if judged.effect.as_ref().is_some_and(is_reported) {
            return None;
        }
        let effects = || self.measurements.iter().map(|it| &it.comparison.effect);
        let is_lost = effects().any(|it| {
            it.bound.is_some()
                || it.subject_not_working.is_some()
                || it.baseline_not_working.is_some()
        });
        Some(match judged.effect.zip(self.tests.effect) {
            _ if is_lost => 0.0,
            // No data yet.
            None => 1.0,
            Some((Judgement { risk, .. }, test)) => test.decision_probability(
                share,
                DecisionCriteria { risk, alpha: rules.alpha, margin: rules.margin },
            ),
        })
    }

    fn question(
        &self,
        view: &View<'_>,
        pairs: &[Pair],
        judged: &gate::QuestionVerdicts,
        rules: Rules,
    ) -> Question {
        let used: Vec<&Pair> = self.used.iter().map(|at| &pairs[*at]).collect();
        let clients: BTreeSet<u32> =
            used.iter().map(|pair| view.plan().configurations[pair.subject].clients).collect();
        let not_working = |of: fn(&Effect) -> Option<NotWorking>| {
            let all = self.measurements.iter().filter_map(|it| of(&it.comparison.effect));
            all.reduce(NotWorking::with)
        };
        let test = self.answer.as_ref().map(|it| it.test);
        let effect = Effect {
            ratio: test.map(|it| it.ratio),
            subject_not_working: not_working(|it| it.subject_not_working),
            baseline_not_working: not_working(|it| it.baseline_not_working),
            ..Effect::default()
        };
        let is_usable = self.measurements.iter().any(|it| it.is_usable);
        let effect = judged_effect(
            effect,
            self.metric,
            Some(open_verdict(is_usable)),
            test.zip(judged.effect),
        );
        let answer = self.answer.as_ref().filter(|_| effect.verdict != Some(Verdict::Invalid));
        Question {
            of: self.group.of.clone(),
            metric: self.metric,
            subject: self.group.subject.clone(),
            baseline: self.group.baseline.clone(),
            comparisons: self.group.pairs.iter().map(|at| self.offset + at).collect(),
            pairs: as_u32(used.len()),
            clients: clients.into_iter().collect(),
            mixes: questions::mixes(view.plan(), self.group, &used),
            varied: questions::varied(&questions::settings(view.plan(), &used)),
            degrees: answer.map(|it| it.test.degrees()),
            effect,
            scatter: answer.and_then(|it| it.scatter),
            opens_pairs: judged.is_open,
            interactions: answer
                .map_or_else(Vec::new, |it| with_verdicts(&it.interactions, judged, rules)),
        }
    }
}

/// Interactions of a question with their verdicts.
pub(crate) fn with_verdicts(
    interactions: &[Interaction],
    judged: &gate::QuestionVerdicts,
    rules: Rules,
) -> Vec<Interaction> {
    let one = |(it, p): (&Interaction, &f64)| Interaction {
        p_corrected: it.p.map(|_| *p),
        depends: judged.is_open && *p < rules.alpha,
        ..it.clone()
    };
    interactions.iter().zip(&judged.interactions).map(one).collect()
}

/// The values of one side of a comparison.
pub(crate) struct SideValues {
    /// Values by block; `None` if a compared trial has none.
    pub(crate) by_block: Option<BTreeMap<u32, f64>>,
    /// True if there is a trial to compare.
    pub(crate) is_usable: bool,
    /// True if one of the values is only a lower bound.
    pub(crate) is_bound: bool,
    /// Trials in which the configuration did not work.
    pub(crate) not_working: Option<NotWorking>,
}

/// A comparison before its verdict.
struct PairMeasurement {
    comparison: Comparison,
    test: Option<RatioTest>,
    /// True for a paired test, with one pair per block.
    is_paired: bool,
    /// True if both sides have a trial to compare.
    is_usable: bool,
}

impl PairMeasurement {
    /// The test, if it has enough repeats for a verdict.
    fn usable_test(&self) -> Option<RatioTest> {
        self.test.filter(|test| test.repeats >= MIN_REPEATS)
    }
}

/// Comparisons of every pair in every step of a growing table, by step; together they form one
/// family. `values` returns the values of a configuration's trials in a step.
pub(crate) fn step_by_step(
    view: &View<'_>,
    steps: usize,
    values: &dyn Fn(usize, usize) -> SideValues,
) -> Vec<(usize, Comparison)> {
    let pairs = pairs(view);
    let pairs_and_steps = pairs.iter().flat_map(|pair| (0..steps).map(move |step| (pair, step)));
    let (at, family): (Vec<usize>, Vec<_>) = pairs_and_steps
        .map(|(pair, step)| {
            let (subject, baseline) = (values(pair.subject, step), values(pair.baseline, step));
            (step, measure(view, pair, ComparisonMetric::Throughput, &subject, &baseline))
        })
        .unzip();
    let enabled = view.plan().blocks as usize >= MIN_REPEATS;
    let tests: Vec<RatioTest> = family.iter().filter_map(PairMeasurement::usable_test).collect();
    let mut judgements = verdict::judge(&tests, Rules::default()).into_iter();
    let comparison = |measurement: PairMeasurement| {
        let judgement = measurement.usable_test().and_then(|_| judgements.next());
        decided(measurement, judgement, enabled)
    };
    at.into_iter().zip(family.into_iter().map(comparison)).collect()
}

/// The values of a configuration's whole trials.
fn trial_values(view: &View<'_>, configuration: usize, metric: ComparisonMetric) -> SideValues {
    let eligibility = &view.eligibilities[configuration];
    let by_block = |figures: Vec<(&TrialRecord, f64)>| {
        figures.into_iter().map(|(record, value)| (record.trial.block, value)).collect()
    };
    SideValues {
        by_block: eligibility.figures(metric).map(by_block),
        is_usable: !eligibility.usable.is_empty(),
        is_bound: has_bound(eligibility.usable.iter().copied(), metric),
        not_working: eligibility.not_working(),
    }
}

/// For each comparison, the logarithms of its ratios, one per block with both sides.
pub(crate) fn differences(view: &View<'_>, metric: ComparisonMetric) -> Vec<Vec<f64>> {
    let difference = |pair: &Pair| {
        let by_block =
            |configuration| trial_values(view, configuration, metric).by_block.unwrap_or_default();
        let (subject, baseline) = (by_block(pair.subject), by_block(pair.baseline));
        let ratios = subject.iter().filter_map(|(block, value)| Some(value / baseline.get(block)?));
        ratios.map(f64::ln).collect()
    };
    pairs(view).iter().map(difference).collect()
}

/// Compares whole trials.
fn measure_trials(view: &View<'_>, pair: &Pair, metric: ComparisonMetric) -> PairMeasurement {
    let of = |configuration| trial_values(view, configuration, metric);
    measure(view, pair, metric, &of(pair.subject), &of(pair.baseline))
}

/// The verdict if figures are lower bounds of response times: a bound that is already worse
/// decides, because the true value is worse still. Nothing else follows.
fn verdict_on_bounds(verdict: Verdict, bound: Option<RatioBound>) -> Verdict {
    match (bound, verdict) {
        (None, _)
        | (_, Verdict::Invalid)
        | (Some(RatioBound::AtLeast), Verdict::Worse)
        | (Some(RatioBound::AtMost), Verdict::Better) => verdict,
        _ => Verdict::Inconclusive,
    }
}

/// The ratio with its 95 % interval, without a verdict.
fn measure(
    view: &View<'_>,
    pair: &Pair,
    metric: ComparisonMetric,
    subject: &SideValues,
    baseline: &SideValues,
) -> PairMeasurement {
    let empty = BTreeMap::new();
    // A side with a missing figure is not compared at all.
    let (of_subject, of_baseline) = match (&subject.by_block, &baseline.by_block) {
        (Some(subject), Some(baseline)) => (subject, baseline),
        _ => (&empty, &empty),
    };
    let bound = RatioBound::of(subject.is_bound, baseline.is_bound);
    let (test, is_paired) = test(of_subject, of_baseline);
    let test = test
        .filter(|_| bound != Some(RatioBound::Unknown))
        .map(|test| test.at_interim(view.levels));
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
        clients: view.plan().configurations[pair.subject].clients,
        subject: pair.subject,
        baseline: pair.baseline,
        repeats: as_u32(repeats),
        effect: Effect {
            ratio: test.map(|test| test.ratio).or_else(means),
            bound,
            ratio_interval: interval.map(|(low, high)| Range { low, high }),
            interval_level: interval.map(|_| 1.0 - RISK_ALONE),
            subject_not_working: subject.not_working,
            baseline_not_working: baseline.not_working,
            ..Effect::default()
        },
    };
    PairMeasurement {
        comparison,
        test,
        is_paired,
        is_usable: subject.is_usable && baseline.is_usable,
    }
}

/// Tests both sides by block; also returns whether the test is paired.
fn test(subject: &BTreeMap<u32, f64>, baseline: &BTreeMap<u32, f64>) -> (Option<RatioTest>, bool) {
    let pair = |(block, value): (&u32, &f64)| baseline.get(block).map(|other| (*value, *other));
    let paired: Vec<(f64, f64)> = subject.iter().filter_map(pair).collect();
    // Pairing loses little; an unpaired test is used only if invalid trials leave too few blocks
    // with both sides.
    let unpaired = || {
        compare::welch(
            &subject.values().copied().collect::<Vec<_>>(),
            &baseline.values().copied().collect::<Vec<_>>(),
        )
    };
    match compare::paired(&paired) {
        Some(test) if test.repeats >= MIN_REPEATS => (Some(test), true),
        few => {
            (unpaired().filter(|test| test.repeats >= MIN_REPEATS).or(few).or_else(unpaired), false)
        }
    }
}

/// The verdict for a decision, and whether the whole interval lies beyond the margin. More is
/// better for throughput, less is better for times.
fn verdict(metric: ComparisonMetric, judgement: &Judgement) -> (Verdict, bool) {
    let (larger, smaller) = match metric.is_more_better() {
        true => (Verdict::Better, Verdict::Worse),
        false => (Verdict::Worse, Verdict::Better),
    };
    match judgement.decision {
        Decision::Larger { exceeds_margin } => (larger, exceeds_margin),
        Decision::Smaller { exceeds_margin } => (smaller, exceeds_margin),
        Decision::Equivalent => (Verdict::Equivalent, false),
        Decision::Inconclusive => (Verdict::Inconclusive, false),
    }
}

/// Removes from an effect what does not follow from lower bounds.
pub(crate) fn settle_bound(effect: &mut Effect) {
    let Some(bound) = effect.bound else { return };
    let verdict = effect.verdict.map(|verdict| verdict_on_bounds(verdict, Some(bound)));
    (effect.ratio_interval, effect.interval_level) = (None, None);
    effect.detectable_ratio = None;
    if verdict != effect.verdict || verdict == Some(Verdict::Inconclusive) {
        (effect.p, effect.p_corrected) = (None, None);
        effect.exceeds_margin = false;
    }
    effect.verdict = verdict;
    effect.ratio = effect.ratio.filter(|_| bound != RatioBound::Unknown);
}

/// The initial verdict: invalid if a side has no trial to compare; too few trials or unknown
/// figures leave it inconclusive.
pub(crate) fn open_verdict(is_usable: bool) -> Verdict {
    if is_usable { Verdict::Inconclusive } else { Verdict::Invalid }
}

/// Stores a judgement in an effect.
pub(crate) fn store_judgement(
    effect: &mut Effect,
    metric: ComparisonMetric,
    test: &RatioTest,
    judgement: &Judgement,
) {
    let (verdict, exceeds_margin) = verdict(metric, judgement);
    (effect.verdict, effect.exceeds_margin) = (Some(verdict), exceeds_margin);
    effect.ratio_interval = Some(Range { low: judgement.low, high: judgement.high });
    effect.interval_level = Some(judgement.level);
    (effect.p, effect.p_corrected) = (Some(test.p), Some(judgement.p_corrected));
    effect.detectable_ratio = Some(judgement.detectable_ratio);
}

/// An effect with its judgement; `verdict_without_judgement` is its verdict without one. There is
/// no verdict if verdicts are disabled.
pub(crate) fn judged_effect(
    mut effect: Effect,
    metric: ComparisonMetric,
    verdict_without_judgement: Option<Verdict>,
    judged: Option<(RatioTest, Judgement)>,
) -> Effect {
    if verdict_without_judgement.is_some() {
        effect.verdict = verdict_without_judgement;
        (effect.ratio_interval, effect.interval_level) = (None, None);
    }
    if let Some((test, judgement)) = judged {
        store_judgement(&mut effect, metric, &test, &judgement);
    }
    settle_bound(&mut effect);
    let Effect { subject_not_working, baseline_not_working, verdict, .. } = effect;
    let counted = counted_against(
        verdict.unwrap_or(Verdict::Inconclusive),
        subject_not_working,
        baseline_not_working,
    );
    match counted {
        // The remaining figures would look like a result.
        Verdict::Invalid => {
            let verdict = verdict.map(|_| counted);
            Effect { subject_not_working, baseline_not_working, verdict, ..Effect::default() }
        }
        _ => effect,
    }
}

/// A comparison with its judgement; without a verdict if verdicts are disabled.
fn decided(
    measurement: PairMeasurement,
    judgement: Option<Judgement>,
    enabled: bool,
) -> Comparison {
    let PairMeasurement { mut comparison, test, is_usable, .. } = measurement;
    let verdict_without_judgement = enabled.then(|| open_verdict(is_usable));
    let judged = test.zip(judgement).filter(|_| enabled);
    comparison.effect =
        judged_effect(comparison.effect, comparison.metric, verdict_without_judgement, judged);
    comparison
}
