//! From tests to verdicts: correction for many comparisons, and the five outcomes.

use super::compare::RatioTest;

/// p-values corrected for their number by the procedure of Benjamini and Hochberg, in the order given: `min over j >= i of
/// min(1, m / (j + 1) · p_(j))` on the sorted values, j from 0. Of the comparisons called better or worse at a level alpha at most
/// that share is false on average; when nothing differs at all, that is the risk of any false verdict. A report has many comparisons
/// and few repeats: holding the risk of even one false verdict (Holm) would call nearly everything inconclusive.
///
/// Source: Y. Benjamini, Y. Hochberg, "Controlling the False Discovery Rate", J. R. Statist. Soc. B 57 (1995).
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

/// Rules of a verdict.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    /// Differences inside this share count as none: 0.05 is 5 %, the ratios 1/1.05 to 1.05.
    pub margin: f64,
    /// Share of false ones among all verdicts better and worse, on average.
    pub alpha: f64,
}

impl Default for Rules {
    fn default() -> Self {
        Self { margin: 0.05, alpha: 0.05 }
    }
}

/// Outcome of a comparison as a direction of the ratio; whether larger is better is the metric's business.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The ratio is above 1.
    Larger {
        /// The whole 95 % interval lies beyond the margin.
        exceeds_margin: bool,
    },
    /// The ratio is below 1.
    Smaller {
        /// The whole 95 % interval lies beyond the margin.
        exceeds_margin: bool,
    },
    /// The 90 % interval lies inside the margin.
    Equivalent,
    /// None of these can be said.
    Inconclusive,
}

/// The outcome of a test whose p-value was corrected by [`benjamini_hochberg`].
///
/// * equivalent: the 90 % interval of the ratio lies inside `[1/(1+margin), 1+margin]`. These are the two one-sided
///   tests of D. J. Schuirmann, J. Pharmacokinet. Biopharm. 15 (1987). A tiny but certain difference is therefore
///   equivalent, too: it does not matter in practice;
/// * larger, smaller: the corrected p-value is below alpha;
/// * else inconclusive, which is not "no difference".
#[must_use]
pub fn outcome(test: &RatioTest, p_corrected: f64, rules: Rules) -> Outcome {
    let upper = 1.0 + rules.margin;
    let lower = 1.0 / upper;
    if test.low_90 >= lower && test.high_90 <= upper {
        Outcome::Equivalent
    } else if p_corrected >= rules.alpha {
        Outcome::Inconclusive
    } else if test.ratio > 1.0 {
        Outcome::Larger { exceeds_margin: test.low > upper }
    } else {
        Outcome::Smaller { exceeds_margin: test.high < lower }
    }
}

#[cfg(test)]
mod tests {
    use super::super::compare::paired;
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

    fn judge(pairs: &[(f64, f64)]) -> Outcome {
        let test = paired(pairs).expect("pairs");
        outcome(&test, test.p, Rules::default())
    }

    #[test]
    fn a_large_certain_difference_has_a_direction() {
        let pairs = [(150.0, 100.0), (151.0, 100.0), (149.0, 100.0)];
        assert_eq!(judge(&pairs), Outcome::Larger { exceeds_margin: true });
        assert_eq!(judge(&pairs.map(|(a, b)| (b, a))), Outcome::Smaller { exceeds_margin: true });
    }

    #[test]
    fn a_certain_difference_about_as_large_as_the_margin_says_so() {
        let pairs = [(106.0, 100.0), (107.5, 100.0), (104.5, 100.0), (106.0, 100.0)];
        assert_eq!(judge(&pairs), Outcome::Larger { exceeds_margin: false });
    }

    #[test]
    fn a_tiny_certain_difference_is_equivalent() {
        assert_eq!(judge(&[(101.0, 100.0), (101.1, 100.0), (100.9, 100.0)]), Outcome::Equivalent);
    }

    #[test]
    fn scatter_is_inconclusive_and_never_equivalent() {
        assert_eq!(judge(&[(140.0, 100.0), (80.0, 100.0), (110.0, 100.0)]), Outcome::Inconclusive);
    }

    #[test]
    fn correction_takes_a_verdict_away() {
        let test = paired(&[(130.0, 100.0), (135.0, 100.0), (115.0, 100.0)]).expect("pairs");
        assert!(test.p < 0.05);
        let mut p_values = [0.9; 50];
        p_values[0] = test.p;
        assert_eq!(outcome(&test, benjamini_hochberg(&p_values)[0], Rules::default()), Outcome::Inconclusive);
    }

    /// xorshift64*, only to have repeatable scatter here.
    struct Scatter(u64);

    impl Scatter {
        /// Sum of twelve uniform numbers minus six: nearly standard normal.
        fn normal(&mut self) -> f64 {
            (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
        }

        fn uniform(&mut self) -> f64 {
            self.0 ^= self.0 >> 12;
            self.0 ^= self.0 << 25;
            self.0 ^= self.0 >> 27;
            (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1u64 << 53) as f64
        }
    }

    #[test]
    fn comparing_a_system_with_itself_finds_nothing_more_often_than_the_risk_allows() {
        let mut scatter = Scatter(42);
        let mut verdicts = 0;
        for _ in 0..400 {
            let pairs: Vec<_> =
                (0..5).map(|_| ((0.10 * scatter.normal()).exp(), (0.10 * scatter.normal()).exp())).collect();
            if matches!(judge(&pairs), Outcome::Larger { .. } | Outcome::Smaller { .. }) {
                verdicts += 1;
            }
        }
        // 20 are expected at 5 %; 34 is three standard deviations above.
        assert!(verdicts <= 34, "{verdicts} of 400");
    }

    #[test]
    fn five_repeats_with_one_per_cent_scatter_see_five_per_cent() {
        let mut scatter = Scatter(7);
        let mut seen = 0;
        for _ in 0..200 {
            let pairs: Vec<_> = (0..5)
                .map(|_| (1.05 * (0.01 * scatter.normal()).exp(), (0.01 * scatter.normal()).exp()))
                .collect();
            let test = paired(&pairs).expect("pairs");
            seen += usize::from(test.p < 0.05);
        }
        assert!(seen >= 160, "{seen} of 200");
    }
}
