//! From tests to verdicts: correction for multiple comparisons, the five verdicts, and the matching
//! intervals.

use super::compare::RatioTest;

/// p-values corrected by the procedure of Benjamini and Hochberg, in the order given:
/// `min over j >= i of min(1, m / (j + 1) · p_(j))` on the sorted values, j from 0. Among the
/// comparisons called better or worse at a level alpha, at most that share is false on average;
/// when nothing differs at all, alpha is the probability of any false verdict. A report has many
/// comparisons and few repeats: controlling the probability of any false verdict (Holm) would make
/// nearly everything inconclusive.
///
/// Source: Y. Benjamini, Y. Hochberg, "Controlling the False Discovery Rate", J. R. Statist. Soc. B
/// 57 (1995).
#[must_use]
pub fn benjamini_hochberg(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*b].total_cmp(&p_values[*a]));
    let mut corrected = vec![0.0; p_values.len()];
    let mut smallest = 1.0_f64;
    for (above, index) in order.into_iter().enumerate() {
        let rank = (p_values.len() - above) as f64;
        smallest = smallest.min(p_values.len() as f64 / rank * p_values[index]);
        corrected[index] = smallest;
    }
    corrected
}

/// The risk of the intervals of a family, chosen so that they match the corrected verdicts:
/// `alpha · max(R, 1) / m`, where `R` of the `m` corrected p-values are below alpha. An interval at
/// this risk excludes 1 exactly where the corrected p-value is below alpha; of these intervals, at
/// most the share alpha misses the true ratio on average (false coverage rate).
///
/// Source: Y. Benjamini, D. Yekutieli, "False Discovery Rate-Adjusted Multiple Confidence Intervals
/// for Selected Parameters", J. Amer. Statist. Assoc. 100 (2005). They define no interval for
/// `R = 0`; the one for `R = 1` then contains 1 everywhere.
#[must_use]
pub fn shared_risk(corrected: &[f64], alpha: f64) -> f64 {
    let selected = corrected.iter().filter(|p| **p < alpha).count();
    alpha * selected.max(1) as f64 / corrected.len().max(1) as f64
}

/// A hypothesis after correction for all hypotheses of its family.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Corrected {
    /// Corrected p-value: below alpha exactly if the hypothesis is rejected.
    pub p: f64,
    /// The level at which the hypothesis was tested: an interval at this risk excludes 1 exactly if
    /// it is rejected.
    pub risk: f64,
}

/// p-values with weights, corrected by Holm's weighted procedure: sorted by `p / weight`, each is
/// tested at `alpha · weight / (sum of the weights from it on)` until the first one that is not
/// rejected. The probability of any false rejection is at most alpha, whichever hypotheses are true
/// and however they depend on each other.
///
/// Source: S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scand. J. Statist. 6
/// (1979), section 3.
#[must_use]
pub fn holm(hypotheses: &[(f64, f64)], alpha: f64) -> Vec<Corrected> {
    let mut order: Vec<usize> = (0..hypotheses.len()).collect();
    let share = |at: usize| hypotheses[at].0 / hypotheses[at].1;
    order.sort_by(|a, b| share(*a).total_cmp(&share(*b)));
    let mut corrected = vec![Corrected { p: 0.0, risk: alpha }; hypotheses.len()];
    let mut left: f64 = hypotheses.iter().map(|(_, weight)| weight).sum();
    let mut largest = 0.0_f64;
    // Sum of the weights from the first hypothesis that is not rejected.
    let mut stopped = None;
    for at in order {
        let weight = hypotheses[at].1;
        largest = largest.max((share(at) * left).min(1.0));
        if largest >= alpha && stopped.is_none() {
            stopped = Some(left);
        }
        corrected[at] = Corrected { p: largest, risk: alpha * weight / stopped.unwrap_or(left) };
        left -= weight;
    }
    corrected
}

/// Rules of a verdict.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    /// Smaller relative differences count as none: 0.05 is 5 %, the ratios 1/1.05 to 1.05.
    pub margin: f64,
    /// Average share of false verdicts among all verdicts better and worse.
    pub alpha: f64,
}

impl Default for Rules {
    fn default() -> Self {
        Self { margin: 0.05, alpha: 0.05 }
    }
}

/// Outcome of a test as a direction of the ratio; the metric defines whether larger is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The ratio is above 1.
    Larger {
        /// The whole interval lies outside the margin.
        exceeds_margin: bool,
    },
    /// The ratio is below 1.
    Smaller {
        /// The whole interval lies outside the margin.
        exceeds_margin: bool,
    },
    /// The 90 % interval lies inside the margin.
    Equivalent,
    /// None of these.
    Inconclusive,
}

/// The evaluation of a test within its family.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judgement {
    /// p-value after [`benjamini_hochberg`].
    pub p_corrected: f64,
    /// The outcome.
    pub decision: Decision,
    /// Lower end of the matching interval.
    pub low: f64,
    /// Upper end of the matching interval.
    pub high: f64,
    /// Confidence of the interval, 0 to 1: `1 - ` [`shared_risk`]; for equivalent that of the
    /// deciding interval, 0.90.
    pub level: f64,
    /// Smallest ratio above 1 that is detected with 80 % probability at the family's risk.
    pub detectable_ratio: f64,
    /// The risk of the family.
    pub risk: f64,
}

/// Evaluates all tests of a family together, in order. Verdicts are decided only here.
///
/// * equivalent: the 90 % interval of the ratio lies inside `[1/(1+margin), 1+margin]`. These are
///   the two one-sided tests of D. J. Schuirmann, J. Pharmacokinet. Biopharm. 15 (1987), each
///   comparison separately at 5 %. A tiny but significant difference is therefore equivalent, too:
///   it does not matter in practice;
/// * larger, smaller: the corrected p-value is below alpha;
/// * otherwise inconclusive, which does not mean "no difference".
#[must_use]
pub fn judge(tests: &[RatioTest], rules: Rules) -> Vec<Judgement> {
    let p_values: Vec<f64> = tests.iter().map(|test| test.p).collect();
    let corrected = benjamini_hochberg(&p_values);
    let risk = shared_risk(&corrected, rules.alpha);
    tests
        .iter()
        .zip(corrected)
        .map(|(test, p_corrected)| judgement(test, p_corrected, risk, rules))
        .collect()
}

/// Evaluates a single test with a corrected p-value at this risk, as a member of any family.
#[must_use]
pub fn judgement(test: &RatioTest, p_corrected: f64, risk: f64, rules: Rules) -> Judgement {
    let upper = 1.0 + rules.margin;
    let lower = 1.0 / upper;
    let detectable_ratio = test.detectable_ratio(risk);
    let judged = |decision, (low, high), level| Judgement {
        p_corrected,
        decision,
        low,
        high,
        level,
        detectable_ratio,
        risk,
    };
    let inner = test.interval(2.0 * rules.alpha);
    if inner.0 >= lower && inner.1 <= upper {
        return judged(Decision::Equivalent, inner, 1.0 - 2.0 * rules.alpha);
    }
    let (low, high) = test.interval(risk);
    let decision = if p_corrected >= rules.alpha {
        Decision::Inconclusive
    } else if test.ratio > 1.0 {
        Decision::Larger { exceeds_margin: low > upper }
    } else {
        Decision::Smaller { exceeds_margin: high < lower }
    };
    judged(decision, (low, high), 1.0 - risk)
}

#[cfg(test)]
mod tests {
    use super::super::compare::paired;
    use super::super::noise::Noise;
    use super::*;

    #[test]
    fn corrected_values_are_those_of_r() {
        // R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "BH") = 0.02 0.04 0.04 0.02
        let corrected = benjamini_hochberg(&[0.01, 0.04, 0.03, 0.005]);
        for (value, expected) in corrected.iter().zip([0.02, 0.04, 0.04, 0.02]) {
            assert!((value - expected).abs() < 1e-12, "{corrected:?}");
        }
        assert_eq!(benjamini_hochberg(&[]), Vec::<f64>::new());
        assert_eq!(benjamini_hochberg(&[0.9, 0.8]), [0.9, 0.9]);
    }

    #[test]
    fn holms_values_are_those_of_r_and_weights_give_more_to_some() {
        // R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") = 0.03 0.06 0.06 0.02
        let equal = holm(&[0.01, 0.04, 0.03, 0.005].map(|p| (p, 1.0)), 0.05);
        for (it, expected) in equal.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((it.p - expected).abs() < 1e-12, "{equal:?}");
        }
        // The first two are rejected at 5 % / 4 and / 3; then the procedure stops, and both others
        // were tested at 5 % / 2.
        for (it, risk) in equal.iter().zip([0.05 / 3.0, 0.025, 0.025, 0.0125]) {
            assert!((it.risk - risk).abs() < 1e-12, "{equal:?}");
        }
        let weighted = holm(&[(0.03, 4.0), (0.03, 1.0)], 0.05);
        assert!(
            (weighted[0].p - 0.0375).abs() < 1e-12 && (weighted[1].p - 0.0375).abs() < 1e-12,
            "{weighted:?}"
        );
        assert!(holm(&[(0.03, 1.0), (0.03, 1.0)], 0.05).iter().all(|it| it.p > 0.05));
    }

    #[test]
    fn interval_at_hypothesis_level_excludes_1_exactly_if_rejected() {
        let mut noise = Noise::of(3);
        for differing in [0, 1, 5, 20] {
            for _ in 0..50 {
                let tests: Vec<_> =
                    family(&mut noise, differing).into_iter().map(|(_, test)| test).collect();
                let hypotheses: Vec<_> = tests.iter().map(|test| (test.p, 1.0)).collect();
                for (test, it) in tests.iter().zip(holm(&hypotheses, 0.05)) {
                    let (low, high) = test.interval(it.risk);
                    assert_eq!(low > 1.0 || high < 1.0, it.p < 0.05, "{test:?} {it:?}");
                }
            }
        }
    }

    fn alone(pairs: &[(f64, f64)]) -> Decision {
        judge(&[paired(pairs).expect("pairs")], Rules::default())[0].decision
    }

    #[test]
    fn a_large_certain_difference_has_a_direction() {
        let pairs = [(150.0, 100.0), (151.0, 100.0), (149.0, 100.0)];
        assert_eq!(alone(&pairs), Decision::Larger { exceeds_margin: true });
        assert_eq!(alone(&pairs.map(|(a, b)| (b, a))), Decision::Smaller { exceeds_margin: true });
    }

    #[test]
    fn a_certain_difference_about_as_large_as_the_margin_says_so() {
        let pairs = [(106.0, 100.0), (107.5, 100.0), (104.5, 100.0), (106.0, 100.0)];
        assert_eq!(alone(&pairs), Decision::Larger { exceeds_margin: false });
    }

    #[test]
    fn a_tiny_certain_difference_is_equivalent() {
        assert_eq!(alone(&[(101.0, 100.0), (101.1, 100.0), (100.9, 100.0)]), Decision::Equivalent);
    }

    #[test]
    fn scatter_is_inconclusive_and_never_equivalent() {
        assert_eq!(alone(&[(140.0, 100.0), (80.0, 100.0), (110.0, 100.0)]), Decision::Inconclusive);
    }

    #[test]
    fn correction_takes_a_verdict_away() {
        let test = paired(&[(130.0, 100.0), (135.0, 100.0), (115.0, 100.0)]).expect("pairs");
        assert!(test.p < 0.05);
        let mut tests =
            [paired(&[(130.0, 100.0), (75.0, 100.0), (101.0, 100.0)]).expect("pairs"); 50];
        tests[0] = test;
        assert_eq!(judge(&tests, Rules::default())[0].decision, Decision::Inconclusive);
    }

    #[test]
    fn comparison_with_itself_keeps_the_false_positive_rate() {
        let mut noise = Noise::of(42);
        let mut verdicts = 0;
        for _ in 0..400 {
            let pairs: Vec<_> = (0..5)
                .map(|_| ((0.10 * noise.normal()).exp(), (0.10 * noise.normal()).exp()))
                .collect();
            if matches!(alone(&pairs), Decision::Larger { .. } | Decision::Smaller { .. }) {
                verdicts += 1;
            }
        }
        // 20 are expected at 5 %; 34 is three standard deviations above.
        assert!(verdicts <= 34, "{verdicts} of 400");
    }

    #[test]
    fn five_repeats_with_one_per_cent_scatter_see_five_per_cent() {
        let mut noise = Noise::of(7);
        let mut seen = 0;
        for _ in 0..200 {
            let pairs: Vec<_> = (0..5)
                .map(|_| (1.05 * (0.01 * noise.normal()).exp(), (0.01 * noise.normal()).exp()))
                .collect();
            let test = paired(&pairs).expect("pairs");
            seen += usize::from(test.p < 0.05);
        }
        assert!(seen >= 160, "{seen} of 200");
    }

    /// A family of 20 comparisons over five blocks, of which `differing` differ by 12 %; each test
    /// with its true logarithm.
    fn family(noise: &mut Noise, differing: usize) -> Vec<(f64, RatioTest)> {
        let one = |i: usize| {
            let truth = if i < differing { 0.12 } else { 0.0 };
            let pairs: Vec<_> =
                (0..5).map(|_| ((truth + 0.05 * noise.normal()).exp(), 1.0)).collect();
            (truth, paired(&pairs).expect("pairs"))
        };
        (0..20).map(one).collect()
    }

    #[test]
    fn interval_excludes_1_exactly_when_better_or_worse() {
        let mut noise = Noise::of(11);
        for differing in [0, 1, 5, 20] {
            for _ in 0..50 {
                let tests: Vec<_> =
                    family(&mut noise, differing).into_iter().map(|(_, test)| test).collect();
                for (test, judged) in tests.iter().zip(judge(&tests, Rules::default())) {
                    let leaves_out_1 = judged.low > 1.0 || judged.high < 1.0;
                    match judged.decision {
                        Decision::Larger { .. } | Decision::Smaller { .. } => {
                            assert!(leaves_out_1, "{test:?}");
                        }
                        Decision::Inconclusive => assert!(!leaves_out_1, "{test:?} {judged:?}"),
                        Decision::Equivalent => {
                            assert!(judged.low > 1.0 / 1.05 && judged.high < 1.05);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn significant_intervals_miss_the_truth_at_most_one_in_twenty() {
        let mut noise = Noise::of(5);
        for differing in [2, 10] {
            let (mut missed, mut families) = (0.0, 0.0);
            for _ in 0..400 {
                let family = family(&mut noise, differing);
                let tests: Vec<_> = family.iter().map(|(_, test)| *test).collect();
                let judged = judge(&tests, Rules::default());
                let reported: Vec<bool> = family
                    .iter()
                    .zip(&judged)
                    .filter(|(_, it)| {
                        matches!(it.decision, Decision::Larger { .. } | Decision::Smaller { .. })
                    })
                    .map(|((truth, _), it)| it.low.ln() > *truth || it.high.ln() < *truth)
                    .collect();
                families += 1.0;
                let misses = reported.iter().filter(|is_missed| **is_missed).count() as f64;
                missed += if reported.is_empty() { 0.0 } else { misses / reported.len() as f64 };
            }
            // The rate has a standard deviation of at most 0.25 per family: 0.0875 is three
            // standard deviations of the mean above 0.05.
            assert!(
                missed / families <= 0.05 + 3.0 * 0.25 / f64::sqrt(families),
                "{missed} in {families}"
            );
        }
    }

    #[test]
    fn detectable_ratio_is_reported_at_the_level_of_the_verdict() {
        let test = paired(&[(104.0, 100.0), (97.0, 100.0), (101.0, 100.0), (108.0, 100.0)])
            .expect("pairs");
        let (alone, among) =
            (judge(&[test], Rules::default())[0], judge(&[test; 20], Rules::default())[0]);
        assert!(
            (alone.level - 0.95).abs() < 1e-12 && (among.level - 0.9975).abs() < 1e-12,
            "{among:?}"
        );
        assert!((alone.detectable_ratio - test.detectable_ratio(0.05)).abs() < 1e-12);
        assert!((among.detectable_ratio - test.detectable_ratio(0.0025)).abs() < 1e-12);
    }
}
