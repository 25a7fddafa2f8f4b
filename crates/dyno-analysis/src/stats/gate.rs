//! The verdicts of a whole report: first the questions of the experiment, then the cells of those that were answered.
//!
//! 1. All questions of the report are corrected together by Holm's weighted procedure. Each has one hypothesis with weight 4, that its effect over all cells is
//!    none, and where it has several cells one with weight 1, that there is no effect in any of them; that one is tested by the procedure of R. J. Simes
//!    (Biometrika 73, 1986), the smallest p-value of the cells after Benjamini and Hochberg's correction. So the risk of even one false answer is
//!    alpha over the whole report, whatever else differs.
//! 2. A question *opens* when one of its hypotheses is rejected. With `R` of `Q` questions open, cells (and interactions) of an open one are corrected by
//!    themselves at the level `alpha · R / Q`, which holds the share of false ones on average over open questions (Y. Benjamini, M. Bogomolov, J. R.
//!    Statist. Soc. B 76, 2014). Cells of a closed question are not called better or worse.
//!
//! `dyno compare` ([`SIDES`]) corrects its questions, one for each metric, by Benjamini and Hochberg's procedure with weights in the place of Holm's: metrics rise and fall
//! together, and where one changed the others do. Of false answers there are then on average at most alpha among all, and where nothing differs the risk of any is alpha, as with
//! Holm's. With one treatment this is Benjamini and Hochberg's procedure over its metrics. Both hypotheses have the same
//! weight where each side is one run, because a change may harm one treatment alone; with several runs ([`SIDES_OF_RUNS`]) they have those of reports.
//!
//! What is equivalent needs no correction: a false one takes a difference as large as the margin. An effect over all cells is not called equivalent while one
//! of its cells is better or worse.
//!
//! So where nothing differs at all, a report with any false verdict needs a false answer first: at most alpha of reports have one.

use super::compare::RatioTest;
use super::verdict::{
    Corrected, Decision, Judgement, Rules, benjamini_hochberg, holm, judgement, shared_risk, step_up,
};

/// Corrects p-values with weights at a risk.
type Correction = fn(&[(f64, f64)], f64) -> Vec<Corrected>;

/// How the hypotheses of all questions are corrected together.
#[derive(Debug, Clone, Copy)]
pub struct Together {
    /// p-values with weights, corrected at a risk.
    correct: Correction,
    /// Weight of the effect over all cells; an effect in any of the cells has 1.
    weight_of_effect: f64,
}

/// The questions of a report.
pub const REPORT: Together = Together { correct: holm, weight_of_effect: 4.0 };

/// The metrics of two sides, one run each.
pub const SIDES: Together = Together { correct: step_up, weight_of_effect: 1.0 };

/// The metrics of two sides of several runs. What runs differ in is known with few degrees of freedom, and the tests of treatments are less exact there than the effect.
pub const SIDES_OF_RUNS: Together = Together { correct: step_up, weight_of_effect: 4.0 };

/// What is known of a question.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct QuestionTests {
    /// The effect over all cells, where it could be tested; with one cell the test of that cell.
    pub effect: Option<RatioTest>,
    /// Its cells.
    pub cells: Vec<RatioTest>,
    /// p-values of "the effect does not depend on it", one for each thing that it may depend on.
    pub interactions: Vec<f64>,
}

/// What follows for a question.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionVerdicts {
    /// The effect over all cells.
    pub effect: Option<Judgement>,
    /// True when its cells may be called better or worse.
    pub is_open: bool,
    /// The smaller p-value of its hypotheses, corrected: below alpha where it is open.
    pub p: f64,
    /// Its cells, in their order.
    pub cells: Vec<Judgement>,
    /// Corrected p-values of its interactions, in their order.
    pub interactions: Vec<f64>,
}

/// Judges the questions of a report together.
#[must_use]
pub fn judge(questions: &[QuestionTests], together: Together, rules: Rules) -> Vec<QuestionVerdicts> {
    let any_cell = |question: &QuestionTests| {
        let p_values: Vec<f64> = question.cells.iter().map(|test| test.p).collect();
        let smallest = benjamini_hochberg(&p_values).into_iter().fold(1.0, f64::min);
        (question.cells.len() > 1).then_some((smallest, 1.0))
    };
    let hypotheses = questions.iter().flat_map(|question| {
        [question.effect.map(|test| (test.p, together.weight_of_effect)), any_cell(question)]
    });
    let mut corrected =
        (together.correct)(&hypotheses.flatten().collect::<Vec<_>>(), rules.alpha).into_iter();
    let gates: Vec<Gate> = questions
        .iter()
        .map(|question| Gate {
            effect: question.effect.and_then(|_| corrected.next()),
            any_cell: any_cell(question).and_then(|_| corrected.next()),
        })
        .collect();
    let selected = share_open(&gates.iter().map(Gate::p).collect::<Vec<_>>(), rules.alpha);
    questions.iter().zip(gates).map(|(question, gate)| gate.judge(question, selected, rules)).collect()
}

/// The share of questions that are open, by their p-values; infinite ones were not tested.
fn share_open(p_values: &[f64], alpha: f64) -> f64 {
    let asked = p_values.iter().filter(|p| p.is_finite()).count();
    let open = p_values.iter().filter(|p| **p < alpha).count();
    open as f64 / asked.max(1) as f64
}

/// Judges what says more of questions that are judged: corrected by Holm's procedure at the share of questions that are open, and where none is open nothing of it is
/// called better or worse.
#[must_use]
pub fn judge_behind(tests: &[RatioTest], judged: &[QuestionVerdicts], rules: Rules) -> Vec<Judgement> {
    let p_values: Vec<f64> = judged.iter().map(|it| it.p).collect();
    let (open, least) =
        (share_open(&p_values, rules.alpha), p_values.iter().fold(1.0, |a: f64, b| a.min(*b)));
    let share = if open > 0.0 { open } else { 1.0 };
    let corrected = holm(&tests.iter().map(|test| (test.p, 1.0)).collect::<Vec<_>>(), rules.alpha * share);
    let judged = |(test, it): (&RatioTest, Corrected)| {
        let p = (it.p / share).min(1.0).max(least);
        // Where nothing may be told, an interval must not tell it.
        let risk = if p < rules.alpha { it.risk } else { it.risk.min(test.p / 2.0) };
        judgement(test, p, risk, rules)
    };
    tests.iter().zip(corrected).map(judged).collect()
}

/// The hypotheses of a question, corrected.
struct Gate {
    effect: Option<Corrected>,
    any_cell: Option<Corrected>,
}

impl Gate {
    /// Below alpha when the question is open.
    fn p(&self) -> f64 {
        [self.effect, self.any_cell].into_iter().flatten().map(|it| it.p).fold(f64::INFINITY, f64::min)
    }

    /// `selected` is the share of questions that are open.
    fn judge(&self, question: &QuestionTests, selected: f64, rules: Rules) -> QuestionVerdicts {
        let is_open = self.p() < rules.alpha;
        let effect =
            question.effect.zip(self.effect).map(|(test, it)| judgement(&test, it.p, it.risk, rules));
        let share = if is_open { selected } else { 1.0 };
        // Divided by the share, a p-value below alpha is one below alpha times the share.
        let beyond = |p: f64| (p / share).min(1.0).max(self.p().min(1.0));
        let interactions: Vec<(f64, f64)> = question.interactions.iter().map(|p| (*p, 1.0)).collect();
        let cells = match (effect, question.cells.as_slice()) {
            (Some(effect), [_]) => vec![effect],
            (_, cells) => self.cells(cells, share, rules, beyond),
        };
        let effect = match effect {
            Some(it) if it.decision == Decision::Equivalent && cells.iter().any(is_told) => {
                question.effect.map(|test| not_equivalent(&test, &it, rules))
            }
            effect => effect,
        };
        QuestionVerdicts {
            cells,
            interactions: holm(&interactions, rules.alpha).into_iter().map(|it| beyond(it.p)).collect(),
            effect,
            is_open,
            p: self.p(),
        }
    }

    fn cells(
        &self,
        cells: &[RatioTest],
        share: f64,
        rules: Rules,
        beyond: impl Fn(f64) -> f64,
    ) -> Vec<Judgement> {
        let p_values: Vec<f64> = cells.iter().map(|test| test.p).collect();
        let corrected = benjamini_hochberg(&p_values);
        let risk = match self.any_cell {
            // Nothing was found in any cell at this level, so no interval at its share of it leaves out 1.
            Some(any_cell) if self.p() >= rules.alpha => any_cell.risk / cells.len() as f64,
            _ => shared_risk(&corrected, rules.alpha * share),
        };
        cells.iter().zip(corrected).map(|(test, p)| judgement(test, beyond(p), risk, rules)).collect()
    }
}

fn is_told(judgement: &Judgement) -> bool {
    matches!(judgement.decision, Decision::Larger { .. } | Decision::Smaller { .. })
}

/// An effect that is small on average and large here and there does matter: it is judged as if nothing were too small.
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

    /// A question whose cells differ by so much each.
    fn question(noise: &mut Noise, effects: &[f64]) -> QuestionTests {
        let cell = |effect: &f64, noise: &mut Noise| -> Vec<f64> {
            (0..5).map(|_| effect + 0.05 * noise.normal()).collect()
        };
        let cells: Vec<Vec<f64>> = effects.iter().map(|effect| cell(effect, noise)).collect();
        let test = |logarithms: &[f64]| {
            let pairs: Vec<_> = logarithms.iter().map(|it| (it.exp(), 1.0)).collect();
            paired(&pairs).expect("pairs")
        };
        let by_block: Vec<f64> = (0..5)
            .map(|block| cells.iter().map(|cell| cell[block]).sum::<f64>() / cells.len() as f64)
            .collect();
        let cells = cells.iter().map(|cell| test(cell)).collect();
        QuestionTests { effect: Some(test(&by_block)), cells, interactions: vec![0.03] }
    }

    #[test]
    fn where_nothing_differs_at_most_one_report_in_twenty_has_a_verdict() {
        let mut noise = Noise::of(17);
        let mut reports = 0;
        for _ in 0..1000 {
            let questions: Vec<_> = [6, 6, 1].map(|cells| question(&mut noise, &vec![0.0; cells])).into();
            let judged = judge(&questions, REPORT, Rules::default());
            let told = judged.iter().any(|it| it.effect.iter().chain(&it.cells).any(is_told));
            assert_eq!(
                told,
                judged.iter().any(|it| it.effect.iter().chain(&it.cells).any(is_told) && it.is_open)
            );
            reports += usize::from(told);
        }
        // 50 are expected at 5 %; 71 is three standard deviations above.
        assert!(reports <= 71, "{reports} of 1000");
    }

    #[test]
    fn intervals_of_effects_and_cells_leave_out_1_exactly_where_they_are_better_or_worse() {
        let mut noise = Noise::of(23);
        for effects in [[0.0; 6], [0.2; 6], [0.0, 0.0, 0.0, 0.0, 0.0, 0.6], [0.1, 0.1, 0.0, 0.0, -0.1, -0.1]]
        {
            for _ in 0..50 {
                let questions = [question(&mut noise, &effects), question(&mut noise, &[0.0; 6])];
                for it in judge(&questions, REPORT, Rules::default()) {
                    for judged in it.effect.iter().chain(&it.cells) {
                        let leaves_out_1 = judged.low > 1.0 || judged.high < 1.0;
                        match judged.decision {
                            Decision::Equivalent => {}
                            _ => assert_eq!(leaves_out_1, is_told(judged), "{judged:?}"),
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn what_says_more_of_questions_is_told_only_when_one_is_answered() {
        let at = |errors: f64| RatioTest::of(0.02 * errors, 0.02, 1e9, 5);
        let question = |errors| QuestionTests {
            effect: Some(at(errors)),
            cells: vec![at(errors)],
            interactions: Vec::new(),
        };
        let statements = [at(3.5), at(0.2)];
        let behind = |errors: [f64; 2]| {
            let judged = judge(&errors.map(question), SIDES, Rules::default());
            judge_behind(&statements, &judged, Rules::default())
        };
        let (open, half, closed) = (behind([5.0, 5.0]), behind([5.0, 0.5]), behind([1.0, 0.5]));
        assert!(is_told(&open[0]) && is_told(&half[0]) && !is_told(&closed[0]), "{closed:?}");
        // Two-sided p of 3.5 standard errors is 0.000465: twice that of two, twice again with one of two questions open.
        assert!((open[0].p_corrected - 0.000_930_5).abs() < 1e-6, "{open:?}");
        assert!((half[0].p_corrected - 0.001_861).abs() < 1e-6, "{half:?}");
        assert!(closed[0].low < 1.0 && closed[0].high > 1.0 && !is_told(&open[1]), "{closed:?}");
    }

    #[test]
    fn an_effect_that_turns_its_sign_opens_its_cells() {
        let mut noise = Noise::of(31);
        let turning = question(&mut noise, &[0.5, 0.5, 0.5, -0.5, -0.5, -0.5]);
        let judged = judge(&[turning], REPORT, Rules::default()).remove(0);
        assert_eq!(judged.effect.expect("a test").decision, Decision::Inconclusive);
        assert!(judged.is_open && judged.cells.iter().all(is_told), "{judged:?}");
    }

    #[test]
    fn a_question_of_one_cell_is_judged_once() {
        let mut noise = Noise::of(37);
        let questions = [question(&mut noise, &[0.4]), question(&mut noise, &[0.4; 6])];
        let judged = judge(&questions, REPORT, Rules::default()).remove(0);
        assert!(judged.cells[0].p_corrected < 0.05, "{judged:?}");
        assert_eq!(
            judged.effect.as_slice(),
            judged.cells,
            "its interval is the answer's, corrected among answers"
        );
    }

    #[test]
    fn interactions_of_a_closed_question_are_not_told() {
        let mut noise = Noise::of(41);
        let judged = judge(&[question(&mut noise, &[0.0; 6])], REPORT, Rules::default()).remove(0);
        assert!(!judged.is_open && judged.interactions[0] >= 0.05, "{judged:?}");
        let judged = judge(&[question(&mut noise, &[0.4; 6])], REPORT, Rules::default()).remove(0);
        assert!(judged.is_open && judged.interactions[0] < 0.05, "{judged:?}");
    }

    #[test]
    fn cells_are_tested_at_the_share_of_questions_that_are_open_and_closed_ones_at_that_of_their_hypothesis()
    {
        // As many standard errors from 1 as said, known exactly.
        let at = |errors: f64| RatioTest::of(0.02 * errors, 0.02, 1e9, 5);
        let question = |effect, cells: [f64; 2]| QuestionTests {
            effect: Some(at(effect)),
            cells: cells.map(at).to_vec(),
            interactions: Vec::new(),
        };
        // Answered beyond doubt; and with p = 0.0801, which is 0.1001 as one of the two hypotheses that are left with weights 4 and 1.
        let judged =
            judge(&[question(20.0, [20.0, 2.5]), question(1.75, [1.2, 0.3])], REPORT, Rules::default());
        assert_eq!(judged.iter().map(|it| it.is_open).collect::<Vec<_>>(), [true, false]);
        // Two-sided p of 2.5 standard errors is 0.01242; with one of two questions open, twice that.
        assert!((judged[0].cells[1].p_corrected - 0.024_84).abs() < 1e-4, "{judged:?}");
        // Both are rejected at 2.5 %, one question of two being open.
        assert!((judged[0].cells[1].risk - 0.025).abs() < 1e-9, "{judged:?}");
        // 5 % · 1 / (4 + 1) is for any cell, half of it for each of two.
        assert!((judged[1].cells[0].risk - 0.005).abs() < 1e-9, "{judged:?}");
    }
}
