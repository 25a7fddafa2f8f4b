//! The verdicts of a whole report: first the questions of the experiment, then the configuration
//! pairs of decided questions.
//!
//! 1. A question is asked of several metrics, the *primary* one first. For each metric the null
//!    hypothesis is that the effect over all pairs is zero. With several pairs there is a second
//!    null hypothesis, that no pair has an effect, tested by the procedure of R. J. Simes
//!    (Biometrika 73, 1986): the smallest p-value of the pairs after Benjamini and Hochberg's
//!    correction. All hypotheses of the report are tested in sequence ([`super::sequence`]):
//!    questions start with equal shares of alpha, nearly all of which goes to the primary metric
//!    ([`SHARE_OF_SECONDARY_METRICS`] is kept for the others, so that a clear change of another
//!    metric is detected even if the primary metric did not change). When the null hypothesis of
//!    the primary metric's effect is rejected, the other metrics get its level; with several
//!    questions, half of it goes to the primary metrics of the others. The probability of any false
//!    answer in the whole report is therefore at most alpha, whatever else differs.
//! 2. A question *opens* for a metric when one of its hypotheses is rejected. With `R` of `Q` open,
//!    pairs (and interactions) of each open one are corrected separately at the level
//!    `alpha · R / Q`, which controls the average share of false ones over open questions (Y.
//!    Benjamini, M. Bogomolov, J. R. Statist. Soc. B 76, 2014). `R` and `Q` are counted separately
//!    for primary metrics and for the others. Pairs of a closed question are not called better or
//!    worse.
//!
//! `dyno compare` asks one question, of all its metrics. Equivalence needs no correction: a false
//! verdict requires a difference as large as the margin. An effect over all pairs is not called
//! equivalent while one of its pairs is better or worse.
//!
//! If nothing differs at all, a false verdict requires a false answer first: at most a share alpha
//! of reports contains one.

use super::compare::RatioTest;
use super::sequence::{Hypothesis, in_sequence};
use super::verdict::{
    Corrected, Decision, Judgement, Rules, benjamini_hochberg, holm, judgement, shared_risk,
};

/// Share of a question's level for the secondary metrics before the primary one is decided: the
/// fallback procedure of B. L. Wiens (Pharmaceut. Statist. 2, 2003). Without it, even a tenfold
/// 99th percentile would not be reported if throughput is unchanged.
pub const SHARE_OF_SECONDARY_METRICS: f64 = 0.02;

/// Share of a metric's level for the effect over all pairs in a report; the rest is for an effect
/// in any of them.
pub const EFFECT_SHARE_IN_REPORT: f64 = 0.98;

/// The same for two sides: a change may harm one configuration alone.
pub const EFFECT_SHARE_OF_SIDES: f64 = 0.8;

/// Tests of a question.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct QuestionTests {
    /// The effect over all pairs, if it could be tested; with one pair, the test of that pair.
    pub effect: Option<RatioTest>,
    /// Its configuration pairs.
    pub pairs: Vec<RatioTest>,
    /// p-values of "the effect does not depend on it", one for each possible interaction.
    pub interactions: Vec<f64>,
}

/// Verdicts of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionVerdicts {
    /// The effect over all pairs.
    pub effect: Option<Judgement>,
    /// True when its pairs may be called better or worse.
    pub is_open: bool,
    /// The smaller corrected p-value of its hypotheses: below alpha if it is open.
    pub p: f64,
    /// Its pairs, in order.
    pub pairs: Vec<Judgement>,
    /// Corrected p-values of its interactions, in order.
    pub interactions: Vec<f64>,
}

/// Evaluates the questions of a report together, with the metrics of each, the primary one first.
/// `of_effect` is [`EFFECT_SHARE_IN_REPORT`] or [`EFFECT_SHARE_OF_SIDES`].
#[must_use]
pub fn judge(
    questions: &[Vec<QuestionTests>],
    of_effect: f64,
    rules: Rules,
) -> Vec<Vec<QuestionVerdicts>> {
    let gates = gates(questions, of_effect, rules.alpha);
    // Two passes: the primary metrics, then all others.
    let open = [true, false].map(|is_primary| {
        let of = |gates: &Vec<Gate>| {
            gates
                .iter()
                .enumerate()
                .filter(|(at, _)| (*at == 0) == is_primary)
                .map(|(_, it)| it.p())
                .collect()
        };
        share_open(&gates.iter().flat_map::<Vec<f64>, _>(of).collect::<Vec<_>>(), rules.alpha)
    });
    let judged = |(tests, gates): (&Vec<QuestionTests>, &Vec<Gate>)| {
        let metrics = tests.iter().zip(gates).enumerate();
        metrics.map(|(at, (tests, gate))| gate.judge(tests, open[at.min(1)], rules)).collect()
    };
    questions.iter().zip(&gates).map(judged).collect()
}

/// The hypotheses of all metrics of all questions, corrected.
fn gates(questions: &[Vec<QuestionTests>], of_effect: f64, alpha: f64) -> Vec<Vec<Gate>> {
    let (by_metric, mut hypotheses) = hypotheses(questions);
    connect(&by_metric, of_effect, &mut hypotheses);
    let corrected = in_sequence(&hypotheses, alpha);
    let gate = |of_metric: &Hypotheses| Gate {
        effect: of_metric.effect.map(|at| corrected[at]),
        any_pair: of_metric.any_pair.map(|at| corrected[at]),
    };
    by_metric.iter().map(|metrics| metrics.iter().map(gate).collect()).collect()
}

/// Indices of the hypotheses of a question's metric, if it has them.
#[derive(Clone, Copy)]
struct Hypotheses {
    effect: Option<usize>,
    any_pair: Option<usize>,
}

impl Hypotheses {
    /// The hypotheses that receive a level given to the metric, with their shares.
    fn entry(self, of_effect: f64) -> Vec<(usize, f64)> {
        match (self.effect, self.any_pair) {
            (Some(effect), Some(any_pair)) => {
                vec![(effect, of_effect), (any_pair, 1.0 - of_effect)]
            }
            (effect, any_pair) => effect.or(any_pair).map(|at| (at, 1.0)).into_iter().collect(),
        }
    }

    /// The hypothesis whose rejection passes the metric's level on.
    fn exit(self) -> Option<usize> {
        self.effect.or(self.any_pair)
    }
}

/// The hypotheses without their shares, and their indices by question and metric.
fn hypotheses(questions: &[Vec<QuestionTests>]) -> (Vec<Vec<Hypotheses>>, Vec<Hypothesis>) {
    let mut all = Vec::new();
    let mut add = |p: f64| {
        all.push(Hypothesis { p, share: 0.0, passes: Vec::new(), implies: None });
        all.len() - 1
    };
    let mut add_tests = |tests: &QuestionTests| {
        let effect = tests.effect.map(|test| add(test.p));
        let p_values: Vec<f64> = tests.pairs.iter().map(|test| test.p).collect();
        let smallest = benjamini_hochberg(&p_values).into_iter().fold(1.0, f64::min);
        Hypotheses { effect, any_pair: (p_values.len() > 1).then(|| add(smallest)) }
    };
    let by_metric =
        questions.iter().map(|metrics| metrics.iter().map(&mut add_tests).collect()).collect();
    (by_metric, all)
}

/// Sets the initial share of each hypothesis, and the hypotheses that receive its level.
fn connect(by_metric: &[Vec<Hypotheses>], of_effect: f64, hypotheses: &mut [Hypothesis]) {
    let spread = |metrics: &[Hypotheses], share: f64| spread(metrics, of_effect, share);
    let hypothesis_count = hypotheses.len();
    hypotheses.iter_mut().for_each(|it| it.passes = vec![0.0; hypothesis_count]);
    // A metric without a test is omitted from the sequence; the next one replaces it.
    let tested: Vec<Vec<Hypotheses>> = by_metric
        .iter()
        .map(|metrics| metrics.iter().copied().filter(|it| it.exit().is_some()).collect::<Vec<_>>())
        .filter(|metrics| !metrics.is_empty())
        .collect();
    for (at, metrics) in tested.iter().enumerate() {
        let (first, others) = (&metrics[..1], &metrics[1..]);
        let elsewhere: Vec<Hypotheses> = tested
            .iter()
            .enumerate()
            .filter(|(it, _)| *it != at)
            .map(|(_, metrics)| metrics[0])
            .collect();
        let share = 1.0 / tested.len() as f64;
        let reserve = if others.is_empty() { 0.0 } else { SHARE_OF_SECONDARY_METRICS };
        for (receivers, share) in [(first, share * (1.0 - reserve)), (others, share * reserve)] {
            spread(receivers, share)
                .into_iter()
                .for_each(|(to, share)| hypotheses[to].share = share);
        }
        let to_others = match (others.is_empty(), elsewhere.is_empty()) {
            (true, _) => 0.0,
            (false, true) => 1.0,
            (false, false) => 0.5,
        };
        for of_metric in metrics {
            let exit = of_metric.exit().expect("it was tested");
            let passes = &mut hypotheses[exit].passes;
            if exit == first[0].exit().expect("it was tested") {
                let to_both =
                    [spread(others, to_others), spread(&elsewhere, 1.0 - to_others)].concat();
                to_both.into_iter().for_each(|(to, share)| passes[to] = share);
            } else {
                spread(first, 1.0).into_iter().for_each(|(to, share)| passes[to] = share);
            }
            if let (Some(effect), Some(any_pair)) = (of_metric.effect, of_metric.any_pair) {
                hypotheses[any_pair].passes[effect] = 1.0;
                hypotheses[effect].implies = Some(any_pair);
            }
        }
    }
}

/// An equal share for several metrics, by hypothesis.
fn spread(metrics: &[Hypotheses], of_effect: f64, share: f64) -> Vec<(usize, f64)> {
    let each = share / metrics.len().max(1) as f64;
    let entries = metrics.iter().flat_map(|of_metric| of_metric.entry(of_effect));
    entries.map(|(to, fraction)| (to, each * fraction)).collect()
}

/// Share of open questions, from their p-values; infinite ones were not tested.
fn share_open(p_values: &[f64], alpha: f64) -> f64 {
    let tested = p_values.iter().filter(|p| p.is_finite()).count();
    let open = p_values.iter().filter(|p| **p < alpha).count();
    open as f64 / tested.max(1) as f64
}

/// Evaluates secondary tests of evaluated questions: corrected by Holm's procedure at the share of
/// open questions. If none is open, none of the tests is called better or worse.
#[must_use]
pub fn judge_secondary(
    tests: &[RatioTest],
    judged: &[QuestionVerdicts],
    rules: Rules,
) -> Vec<Judgement> {
    let p_values: Vec<f64> = judged.iter().map(|it| it.p).collect();
    let (open, least) =
        (share_open(&p_values, rules.alpha), p_values.iter().fold(1.0, |a: f64, b| a.min(*b)));
    let share = if open > 0.0 { open } else { 1.0 };
    let corrected =
        holm(&tests.iter().map(|test| (test.p, 1.0)).collect::<Vec<_>>(), rules.alpha * share);
    let judged = |(test, it): (&RatioTest, Corrected)| {
        let p = (it.p / share).min(1.0).max(least);
        // Without a verdict of a difference, the interval must not exclude 1.
        let risk = if p < rules.alpha { it.risk } else { it.risk.min(test.p / 2.0) };
        judgement(test, p, risk, rules)
    };
    tests.iter().zip(corrected).map(judged).collect()
}

/// The hypotheses of a question, corrected.
struct Gate {
    effect: Option<Corrected>,
    any_pair: Option<Corrected>,
}

impl Gate {
    /// Below alpha when the question is open.
    fn p(&self) -> f64 {
        [self.effect, self.any_pair]
            .into_iter()
            .flatten()
            .map(|it| it.p)
            .fold(f64::INFINITY, f64::min)
    }

    /// `selected` is the share of questions that are open.
    fn judge(&self, question: &QuestionTests, selected: f64, rules: Rules) -> QuestionVerdicts {
        let is_open = self.p() < rules.alpha;
        let effect = question
            .effect
            .zip(self.effect)
            .map(|(test, it)| judgement(&test, it.p, it.risk, rules));
        let share = if is_open { selected } else { 1.0 };
        // After division by the share, a p-value below alpha is one below alpha times the share.
        let beyond = |p: f64| (p / share).min(1.0).max(self.p().min(1.0));
        let interactions: Vec<(f64, f64)> =
            question.interactions.iter().map(|p| (*p, 1.0)).collect();
        let pairs = match (effect, question.pairs.as_slice()) {
            (Some(effect), [_]) => vec![effect],
            (_, pairs) => self.pairs(pairs, share, rules, beyond),
        };
        let effect = match effect {
            Some(it) if it.decision == Decision::Equivalent && pairs.iter().any(is_significant) => {
                question.effect.map(|test| not_equivalent(&test, &it, rules))
            }
            effect => effect,
        };
        QuestionVerdicts {
            pairs,
            interactions: holm(&interactions, rules.alpha)
                .into_iter()
                .map(|it| beyond(it.p))
                .collect(),
            effect,
            is_open,
            p: self.p(),
        }
    }

    fn pairs(
        &self,
        pairs: &[RatioTest],
        share: f64,
        rules: Rules,
        beyond: impl Fn(f64) -> f64,
    ) -> Vec<Judgement> {
        let p_values: Vec<f64> = pairs.iter().map(|test| test.p).collect();
        let corrected = benjamini_hochberg(&p_values);
        let risk = match self.any_pair {
            // No pair was significant at this level, so no interval at its share of the level
            // excludes 1.
            Some(any_pair) if self.p() >= rules.alpha => any_pair.risk / pairs.len() as f64,
            _ => shared_risk(&corrected, rules.alpha * share),
        };
        pairs
            .iter()
            .zip(corrected)
            .map(|(test, p)| judgement(test, beyond(p), risk, rules))
            .collect()
    }
}

fn is_significant(judgement: &Judgement) -> bool {
    matches!(judgement.decision, Decision::Larger { .. } | Decision::Smaller { .. })
}

/// An effect that is small on average but large in some pairs matters: it is evaluated with a
/// margin of zero.
fn not_equivalent(test: &RatioTest, judged: &Judgement, rules: Rules) -> Judgement {
    let strict = judgement(test, judged.p_corrected, judged.risk, Rules { margin: 0.0, ..rules });
    let decision = match strict.decision {
        Decision::Larger { .. } => Decision::Larger { exceeds_margin: false },
        Decision::Smaller { .. } => Decision::Smaller { exceeds_margin: false },
        decision => decision,
    };
    Judgement { decision, ..strict }
}

#[cfg(test)]
mod tests {
    use super::super::compare::paired;
    use super::super::noise::Noise;
    use super::*;

    /// Questions of one metric each.
    fn judge_alone(questions: &[QuestionTests]) -> Vec<QuestionVerdicts> {
        let each: Vec<Vec<QuestionTests>> = questions.iter().map(|it| vec![it.clone()]).collect();
        judge(&each, EFFECT_SHARE_IN_REPORT, Rules::default()).concat()
    }

    /// A question whose pairs have these effects.
    fn question(noise: &mut Noise, effects: &[f64]) -> QuestionTests {
        let pair = |effect: &f64, noise: &mut Noise| -> Vec<f64> {
            (0..5).map(|_| effect + 0.05 * noise.normal()).collect()
        };
        let pairs: Vec<Vec<f64>> = effects.iter().map(|effect| pair(effect, noise)).collect();
        let test = |logarithms: &[f64]| {
            let pairs: Vec<_> = logarithms.iter().map(|it| (it.exp(), 1.0)).collect();
            paired(&pairs).expect("pairs")
        };
        let by_block: Vec<f64> = (0..5)
            .map(|block| pairs.iter().map(|pair| pair[block]).sum::<f64>() / pairs.len() as f64)
            .collect();
        let pairs = pairs.iter().map(|pair| test(pair)).collect();
        QuestionTests { effect: Some(test(&by_block)), pairs, interactions: vec![0.03] }
    }

    #[test]
    fn where_nothing_differs_at_most_one_report_in_twenty_has_a_verdict() {
        let mut noise = Noise::of(17);
        let mut reports = 0;
        for _ in 0..1000 {
            let questions: Vec<_> =
                [6, 6, 1].map(|pairs| question(&mut noise, &vec![0.0; pairs])).into();
            let judged = judge_alone(&questions);
            let reported =
                judged.iter().any(|it| it.effect.iter().chain(&it.pairs).any(is_significant));
            assert_eq!(
                reported,
                judged
                    .iter()
                    .any(|it| it.effect.iter().chain(&it.pairs).any(is_significant) && it.is_open)
            );
            reports += usize::from(reported);
        }
        // 50 are expected at 5 %; 71 is three standard deviations above.
        assert!(reports <= 71, "{reports} of 1000");
    }

    #[test]
    fn question_and_pair_intervals_exclude_1_iff_significant() {
        let mut noise = Noise::of(23);
        for effects in
            [[0.0; 6], [0.2; 6], [0.0, 0.0, 0.0, 0.0, 0.0, 0.6], [0.1, 0.1, 0.0, 0.0, -0.1, -0.1]]
        {
            for _ in 0..50 {
                let questions = [question(&mut noise, &effects), question(&mut noise, &[0.0; 6])];
                for it in judge_alone(&questions) {
                    for judged in it.effect.iter().chain(&it.pairs) {
                        let leaves_out_1 = judged.low > 1.0 || judged.high < 1.0;
                        match judged.decision {
                            Decision::Equivalent => {}
                            _ => assert_eq!(leaves_out_1, is_significant(judged), "{judged:?}"),
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn secondary_tests_need_at_least_one_significant_question() {
        let at = |errors: f64| RatioTest::of(0.02 * errors, 0.02, 1e9, 5);
        let question = |errors| QuestionTests {
            effect: Some(at(errors)),
            pairs: vec![at(errors)],
            interactions: Vec::new(),
        };
        let statements = [at(3.5), at(0.2)];
        let behind = |errors: [f64; 2]| {
            let judged =
                judge(&[errors.map(question).to_vec()], EFFECT_SHARE_OF_SIDES, Rules::default())
                    .remove(0);
            judge_secondary(&statements, &judged, Rules::default())
        };
        let (open, half, closed) = (behind([5.0, 5.0]), behind([5.0, 0.5]), behind([1.0, 0.5]));
        assert!(
            is_significant(&open[0]) && is_significant(&half[0]) && !is_significant(&closed[0]),
            "{closed:?}"
        );
        // Two-sided p of 3.5 standard errors is 0.000465: doubled for the two pairs, and doubled
        // again with one of two questions open.
        assert!((open[0].p_corrected - 0.000_930_5).abs() < 1e-6, "{open:?}");
        assert!((half[0].p_corrected - 0.001_861).abs() < 1e-6, "{half:?}");
        assert!(
            closed[0].low < 1.0 && closed[0].high > 1.0 && !is_significant(&open[1]),
            "{closed:?}"
        );
    }

    #[test]
    fn an_effect_that_turns_its_sign_opens_its_cells() {
        let mut noise = Noise::of(31);
        let turning = question(&mut noise, &[0.5, 0.5, 0.5, -0.5, -0.5, -0.5]);
        let judged = judge_alone(&[turning]).remove(0);
        assert_eq!(judged.effect.expect("a test").decision, Decision::Inconclusive);
        assert!(judged.is_open && judged.pairs.iter().all(is_significant), "{judged:?}");
    }

    #[test]
    fn a_question_of_one_cell_is_judged_once() {
        let mut noise = Noise::of(37);
        let questions = [question(&mut noise, &[0.4]), question(&mut noise, &[0.4; 6])];
        let judged = judge_alone(&questions).remove(0);
        assert!(judged.pairs[0].p_corrected < 0.05, "{judged:?}");
        assert_eq!(
            judged.effect.as_slice(),
            judged.pairs,
            "its interval is the answer's, corrected among answers"
        );
    }

    #[test]
    fn closed_questions_report_no_interactions() {
        let mut noise = Noise::of(41);
        let judged = judge_alone(&[question(&mut noise, &[0.0; 6])]).remove(0);
        assert!(!judged.is_open && judged.interactions[0] >= 0.05, "{judged:?}");
        let judged = judge_alone(&[question(&mut noise, &[0.4; 6])]).remove(0);
        assert!(judged.is_open && judged.interactions[0] < 0.05, "{judged:?}");
    }

    #[test]
    fn pair_risk_depends_on_share_of_open_questions_or_hypothesis() {
        // Exactly known effects at this number of standard errors from 1.
        let at = |errors: f64| RatioTest::of(0.02 * errors, 0.02, 1e9, 5);
        let question = |effect, pairs: [f64; 2]| QuestionTests {
            effect: Some(at(effect)),
            pairs: pairs.map(at).to_vec(),
            interactions: Vec::new(),
        };
        // One clear answer, and one with p = 0.0801.
        let judged = judge_alone(&[question(20.0, [20.0, 2.5]), question(1.75, [1.2, 0.3])]);
        assert_eq!(judged.iter().map(|it| it.is_open).collect::<Vec<_>>(), [true, false]);
        // Two-sided p of 2.5 standard errors is 0.01242; doubled with one of two questions open.
        assert!((judged[0].pairs[1].p_corrected - 0.024_84).abs() < 1e-4, "{judged:?}");
        // Both are rejected at 2.5 %, with one of two questions open.
        assert!((judged[0].pairs[1].risk - 0.025).abs() < 1e-9, "{judged:?}");
        // The remaining level is 5 %, of which 2 % are for any pair, half of it for each of two.
        assert!(
            (judged[1].pairs[0].risk - 0.05 * (1.0 - EFFECT_SHARE_IN_REPORT) / 2.0).abs() < 1e-9,
            "{judged:?}"
        );
        assert!(
            (judged[1].effect.expect("tested").risk - 0.05 * EFFECT_SHARE_IN_REPORT).abs() < 1e-9,
            "{judged:?}"
        );
    }

    /// Metrics of a question with one pair, by their distance from 1 in standard errors.
    fn metrics(errors: &[f64]) -> Vec<QuestionVerdicts> {
        let metric = |errors: &f64| {
            let test = RatioTest::of(0.1 * errors, 0.1, 1e9, 5);
            QuestionTests { effect: Some(test), pairs: vec![test], interactions: Vec::new() }
        };
        judge(&[errors.iter().map(metric).collect()], EFFECT_SHARE_OF_SIDES, Rules::default())
            .remove(0)
    }

    #[test]
    fn primary_metric_gets_most_of_the_level_and_gates_the_others() {
        let reported = |errors: &[f64]| {
            let reported = |it: &QuestionVerdicts| it.effect.as_ref().is_some_and(is_significant);
            metrics(errors).iter().map(reported).collect::<Vec<_>>()
        };
        // p = 0.0486 of the primary, 0.0244 of one of two others, after which the third has the
        // whole level: p = 0.0486.
        assert_eq!(reported(&[1.9725, 2.25, 1.97]), [true, true, true]);
        assert_eq!(
            reported(&[1.9725, 1.97, 1.97]),
            [true, false, false],
            "two others share the level"
        );
        assert_eq!(
            reported(&[1.9, 2.25, 3.0]),
            [false, false, false],
            "the primary metric was not decided"
        );
        assert_eq!(
            reported(&[1.9, 2.25, 3.6]),
            [false, false, true],
            "what is beyond doubt is in the reserve"
        );
        let risks: Vec<f64> =
            metrics(&[1.9, 0.0, 0.0]).iter().map(|it| it.effect.expect("tested").risk).collect();
        let expected = [
            0.05 * (1.0 - SHARE_OF_SECONDARY_METRICS),
            0.05 * SHARE_OF_SECONDARY_METRICS / 2.0,
            0.05 * SHARE_OF_SECONDARY_METRICS / 2.0,
        ];
        assert!(risks.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{risks:?}");
    }

    #[test]
    fn open_questions_are_counted_separately_for_primary_metrics() {
        let at = |errors: f64| RatioTest::of(0.02 * errors, 0.02, 1e9, 5);
        let metric = |effect: f64, pairs: [f64; 2]| QuestionTests {
            effect: Some(at(effect)),
            pairs: pairs.map(at).to_vec(),
            interactions: Vec::new(),
        };
        let (clear, nothing) = (metric(20.0, [20.0, 2.5]), metric(0.1, [0.3, 0.1]));
        let judged = judge(
            &[vec![clear.clone(); 2], vec![clear, nothing]],
            EFFECT_SHARE_IN_REPORT,
            Rules::default(),
        );
        let open =
            |question: usize| judged[question].iter().map(|it| it.is_open).collect::<Vec<_>>();
        assert_eq!((open(0), open(1)), (vec![true, true], vec![true, false]));
        // Two-sided p of 2.5 standard errors is 0.01242: both primary metrics are open, and one of
        // two others, which doubles it.
        let p = |metric: usize| judged[0][metric].pairs[1].p_corrected;
        assert!((p(0) - 0.012_42).abs() < 1e-4 && (p(1) - 0.024_84).abs() < 1e-4, "{judged:?}");
    }

    #[test]
    fn an_effect_that_is_rejected_takes_the_level_of_its_cells_along() {
        let at = |errors: f64| RatioTest::of(0.1 * errors, 0.1, 1e9, 5);
        let metric = |effect: f64, pairs: &[f64]| QuestionTests {
            effect: Some(at(effect)),
            pairs: pairs.iter().map(|errors| at(*errors)).collect(),
            interactions: Vec::new(),
        };
        // p = 0.0357 of the primary metric's effect, but no pair below 0.05: an effect implies that
        // some pair differs, so the other metric, p = 0.0455, is tested with the level of the pairs
        // as well.
        let judged = judge(
            &[vec![metric(2.1, &[1.5, 1.5]), metric(2.0, &[2.0])]],
            EFFECT_SHARE_OF_SIDES,
            Rules::default(),
        )
        .remove(0);
        assert!(
            judged.iter().all(|it| it.effect.as_ref().is_some_and(is_significant)),
            "{judged:?}"
        );
        assert!((judged[1].p - 0.045_54).abs() < 1e-4, "{judged:?}");
    }

    #[test]
    fn a_primary_metric_without_a_test_leaves_its_place_to_the_next() {
        let tests = |errors: f64| {
            let test = RatioTest::of(0.1 * errors, 0.1, 1e9, 5);
            QuestionTests { effect: Some(test), pairs: vec![test], interactions: Vec::new() }
        };
        let judged = judge(
            &[vec![QuestionTests::default(), tests(2.0)]],
            EFFECT_SHARE_OF_SIDES,
            Rules::default(),
        )
        .remove(0);
        assert!(
            !judged[0].is_open && judged[1].effect.as_ref().is_some_and(is_significant),
            "{judged:?}"
        );
    }

    #[test]
    fn false_positive_rate_is_controlled_over_questions_and_metrics() {
        let mut noise = Noise::of(43);
        let mut reports = [0; 2];
        for _ in 0..1000 {
            // Metrics of a question share most of their variation. Either the first question
            // differs in its primary metric, or nothing does.
            for (at, effect) in [0.0, 0.3].into_iter().enumerate() {
                let mut both = |effects: [f64; 2]| {
                    let shared: Vec<f64> = (0..5).map(|_| 0.25 * noise.normal()).collect();
                    let mut metric = |effect: f64| {
                        let values: Vec<_> = shared
                            .iter()
                            .map(|it| ((effect + it + 0.1 * noise.normal()).exp(), 1.0))
                            .collect();
                        let test = paired(&values).expect("pairs");
                        QuestionTests {
                            effect: Some(test),
                            pairs: vec![test],
                            interactions: Vec::new(),
                        }
                    };
                    effects.map(&mut metric).to_vec()
                };
                let questions = [both([effect, 0.0]), both([0.0, 0.0])];
                let judged = judge(&questions, EFFECT_SHARE_IN_REPORT, Rules::default());
                let nothing_differs = judged.iter().flatten().skip(usize::from(effect > 0.0));
                let is_false =
                    nothing_differs.filter_map(|it| it.effect.as_ref()).any(is_significant);
                reports[at] += usize::from(is_false);
            }
        }
        // 50 are expected at most; 71 is three standard deviations above.
        assert!(reports.iter().all(|it| *it <= 71) && reports[0] > 10, "{reports:?} of 1000");
    }
}
