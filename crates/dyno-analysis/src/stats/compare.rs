//! Comparison of two configurations by the ratio of their values.
//!
//! Performance values are positive and their errors multiply, so all computations use logarithms
//! and the results are exponentiated. With blocks the two sides are paired, which removes what a
//! whole block shares: `d_b = ln(subject_b / baseline_b)`, interval `mean(d) ± t(n-1) · s(d) / √n`.
//! Without pairs Welch's test applies: B. L. Welch, "The generalization of 'Student's' problem when
//! several different population variances are involved", Biometrika 34 (1947), with Satterthwaite's
//! degrees of freedom.

use super::group_sequential::Levels;
use super::student::{cumulative, difference_p, logarithms, mean, pooled, quantile, variance};

/// How the subject compares with the baseline. All ratios are subject over baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatioTest {
    /// Geometric mean of the ratio.
    pub ratio: f64,
    /// Two-sided p-value of "the ratio is 1", adjusted for interim analyses.
    pub p: f64,
    /// Number of pairs, or of values on the smaller side.
    pub repeats: usize,
    /// Logarithm of the ratio.
    difference: f64,
    /// Its standard error.
    error: f64,
    /// Degrees of freedom of the error.
    degrees: f64,
    /// Significance levels of its interim analysis.
    levels: Levels,
}

impl RatioTest {
    /// Ends of the interval with this error probability: 0.05 for the 95 % interval.
    #[must_use]
    pub fn interval(&self, risk: f64) -> (f64, f64) {
        let half_width = self.half_width(risk);
        ((self.difference - half_width).exp(), (self.difference + half_width).exp())
    }

    /// Half-width of the interval on the logarithmic scale.
    fn half_width(&self, risk: f64) -> f64 {
        quantile(1.0 - self.levels.level(risk) / 2.0, self.degrees) * self.error
    }

    /// The same test at an interim analysis: its p-value and the risk of its intervals hold over
    /// all interim analyses.
    #[must_use]
    pub fn at_interim(self, levels: Levels) -> Self {
        Self { p: levels.adjusted(self.p), levels, ..self }
    }

    /// A test of the logarithm of a ratio.
    #[must_use]
    pub fn of(difference: f64, error: f64, degrees: f64, repeats: usize) -> Self {
        let p = difference_p(difference, error, degrees);
        Self {
            ratio: difference.exp(),
            p,
            repeats,
            difference,
            error,
            degrees,
            levels: Levels::ONCE,
        }
    }

    /// Degrees of freedom of its error.
    #[must_use]
    pub fn degrees(&self) -> f64 {
        self.degrees
    }

    /// Variance of a paired test's differences, and its degrees of freedom.
    #[must_use]
    pub fn variance(&self) -> (f64, f64) {
        (self.error.powi(2) * self.repeats as f64, self.degrees)
    }

    /// The same test with an additional variance that the values of a run share, and its degrees of
    /// freedom. The degrees of freedom of the sum are Satterthwaite's.
    #[must_use]
    pub fn with_added_variance(&self, variance: f64, degrees: f64) -> Self {
        let own = self.error.powi(2);
        let spread = own.powi(2) / self.degrees + variance.powi(2) / degrees;
        if variance <= 0.0 || spread <= 0.0 {
            return *self;
        }
        let sum = own + variance;
        Self::of(self.difference, sum.sqrt(), sum.powi(2) / spread, self.repeats)
            .at_interim(self.levels)
    }

    /// Variance of its difference, and its degrees of freedom.
    #[must_use]
    pub fn error_variance(&self) -> (f64, f64) {
        (self.error.powi(2), self.degrees)
    }

    /// The same paired differences, tested with another variance.
    #[must_use]
    pub fn with_variance(&self, variance: f64, degrees: f64) -> Self {
        let error = (variance / self.repeats as f64).sqrt();
        Self::of(self.difference, error, degrees, self.repeats).at_interim(self.levels)
    }

    /// Smallest ratio above 1 that is detected with 80 % probability at this risk:
    /// `(t(1 - risk/2) + t(0.80)) · standard error` on the log scale (minimum detectable effect: H.
    /// S. Bloom, Evaluation Review 19, 1995).
    #[must_use]
    pub fn detectable_ratio(&self, risk: f64) -> f64 {
        (self.half_width(risk) + quantile(0.80, self.degrees) * self.error).exp()
    }
}

/// Criteria that decide a question: the risk of its test and the margin.
#[derive(Debug, Clone, Copy)]
pub struct DecisionCriteria {
    /// Risk of the test of a difference.
    pub risk: f64,
    /// Risk of each of the two tests of equivalence.
    pub alpha: f64,
    /// Smaller relative differences count as none.
    pub margin: f64,
}

impl RatioTest {
    /// Predicted probability that an undecided question will be decided, different or equivalent,
    /// when all blocks are measured; `share` of them have been. The prediction includes the
    /// uncertainty of the data (D. J. Spiegelhalter, L. S. Freedman, P. R. Blackburn, Controlled
    /// Clinical Trials 7, 1986).
    #[must_use]
    pub fn decision_probability(&self, share: f64, criteria: DecisionCriteria) -> f64 {
        let spread = (1.0 - share).sqrt() * self.error;
        if spread <= 0.0 {
            return 0.0;
        }
        let below = |end: f64| cumulative((end - self.difference) / spread, self.degrees);
        let then =
            |risk: f64| quantile(1.0 - risk, self.degrees / share) * self.error * share.sqrt();
        let (half_width, margin_left) =
            (then(criteria.risk / 2.0), (criteria.margin.ln_1p() - then(criteria.alpha)).max(0.0));
        let (different, equivalent) = (
            below(-half_width) + 1.0 - below(half_width),
            below(margin_left) - below(-margin_left),
        );
        (different + equivalent).min(1.0)
    }
}

/// Compares pairs `(subject, baseline)`, one per block. `None` for fewer than two pairs or a value
/// that is not positive.
#[must_use]
pub fn paired(pairs: &[(f64, f64)]) -> Option<RatioTest> {
    if pairs.iter().any(|(subject, baseline)| !is_positive(*subject) || !is_positive(*baseline)) {
        return None;
    }
    let differences: Vec<f64> =
        pairs.iter().map(|(subject, baseline)| (subject / baseline).ln()).collect();
    let difference = mean(&differences)?;
    let n = differences.len() as f64;
    let error = (variance(&differences)? / n).sqrt();
    Some(RatioTest::of(difference, error, n - 1.0, differences.len()))
}

/// Compares two independent sets of values. `None` when a side has fewer than two or a value is not
/// positive.
///
/// `t = (m1 - m2) / √(a + b)` with `a = s1²/n1`, `b = s2²/n2` and
/// `(a + b)² / (a²/(n1-1) + b²/(n2-1))` degrees of freedom.
#[must_use]
pub fn welch(subject: &[f64], baseline: &[f64]) -> Option<RatioTest> {
    if subject.iter().chain(baseline).any(|value| !is_positive(*value)) {
        return None;
    }
    let (subject, baseline) = (logarithms(subject), logarithms(baseline));
    let difference = mean(&subject)? - mean(&baseline)?;
    let (n1, n2) = (subject.len() as f64, baseline.len() as f64);
    let (a, b) = (variance(&subject)? / n1, variance(&baseline)? / n2);
    let degrees = if a + b > 0.0 {
        (a + b).powi(2) / (a.powi(2) / (n1 - 1.0) + b.powi(2) / (n2 - 1.0))
    } else {
        n1 + n2 - 2.0
    };
    Some(RatioTest::of(difference, (a + b).sqrt(), degrees, subject.len().min(baseline.len())))
}

/// Maximum number of repeats that is proposed.
const REPEATS_MAX: usize = 1000;

/// Repeats needed on each of two independent sides to detect a difference of `effect` (0.05: 5 %)
/// with 80 % probability at this risk, given the variation of the values; `None` without variation,
/// or when a thousand are not enough.
///
/// The smallest `n` with `(t(1 - risk/2; 2n-2) + t(0.80; 2n-2)) · s · √(2/n) <= ln(1 + effect)`,
/// where `s` is the standard deviation of the logarithms pooled over both sides (minimum detectable
/// effect: H. S. Bloom, Evaluation Review 19, 1995).
#[must_use]
pub fn repeats_needed(subject: &[f64], baseline: &[f64], effect: f64, risk: f64) -> Option<usize> {
    let positive =
        |values: &[f64]| values.iter().copied().filter(|it| is_positive(*it)).collect::<Vec<_>>();
    let (deviation, ..) = pooled(&[subject, baseline].map(|values| logarithms(&positive(values))))?;
    let is_enough = |repeats: &usize| {
        let n = *repeats as f64;
        let t = quantile(1.0 - risk / 2.0, 2.0 * n - 2.0) + quantile(0.80, 2.0 * n - 2.0);
        t * deviation * (2.0 / n).sqrt() <= effect.ln_1p()
    };
    (2..=REPEATS_MAX).find(is_enough)
}

fn is_positive(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() < tolerance, "{value} against {expected}");
    }

    #[test]
    fn students_own_data_give_students_own_t() {
        // Student 1908, table 1: additional hours of sleep of ten patients under two drugs; the
        // published paired t is 4.0621 with p = 0.002833 (also R's `sleep` data set). The test
        // works on logarithms, so the data are passed as exponentials.
        let first: [f64; 10] = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let second: [f64; 10] = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let pairs: Vec<_> = first.iter().zip(second).map(|(a, b)| (b.exp(), a.exp())).collect();
        let test = paired(&pairs).expect("ten pairs");
        close(test.ratio.ln(), 1.58, 1e-9);
        close(test.p, 0.002_833, 1e-6);
        close(test.interval(0.05).0.ln(), 0.700_114_2, 1e-6);
        close(test.interval(0.05).1.ln(), 2.459_885_8, 1e-6);
    }

    #[test]
    fn welch_on_the_same_data_gives_the_published_p() {
        // R: t.test(extra ~ group, data = sleep): t = -1.8608, df = 17.776, p-value = 0.07939,
        // interval -3.3654832 to 0.2054832.
        let first: [f64; 10] = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let second: [f64; 10] = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let test = welch(&first.map(f64::exp), &second.map(f64::exp)).expect("ten values each");
        close(test.p, 0.079_39, 1e-5);
        close(test.interval(0.05).0.ln(), -3.365_483_2, 1e-6);
        close(test.interval(0.05).1.ln(), 0.205_483_2, 1e-6);
    }

    #[test]
    fn swapping_the_sides_inverts_the_ratio() {
        let pairs = [(10.0, 8.0), (11.0, 8.5), (9.5, 8.1)];
        let there = paired(&pairs).expect("pairs");
        let back = paired(&pairs.map(|(a, b)| (b, a))).expect("pairs");
        close(there.ratio * back.ratio, 1.0, 1e-12);
        close(there.interval(0.05).0 * back.interval(0.05).1, 1.0, 1e-12);
        close(there.p, back.p, 1e-12);
    }

    #[test]
    fn pairing_removes_what_a_block_shares() {
        // Blocks differ by a factor of two, the ratio hardly at all.
        let pairs = [(110.0, 100.0), (221.0, 200.0), (54.8, 50.0)];
        let paired = paired(&pairs).expect("pairs");
        let welch = welch(&pairs.map(|pair| pair.0), &pairs.map(|pair| pair.1)).expect("values");
        assert!(paired.p < 0.01 && welch.p > 0.5, "{} {}", paired.p, welch.p);
    }

    #[test]
    fn values_without_scatter_are_certain() {
        let equal = paired(&[(5.0, 5.0), (5.0, 5.0)]).expect("pairs");
        assert_eq!((equal.p, equal.interval(0.05)), (1.0, (1.0, 1.0)));
        let double = paired(&[(2.0, 1.0), (2.0, 1.0)]).expect("pairs");
        assert_eq!(double.p, 0.0);
    }

    #[test]
    fn nothing_follows_from_one_pair_or_from_zero() {
        assert_eq!(paired(&[(1.0, 2.0)]), None);
        assert_eq!(paired(&[(1.0, 2.0), (0.0, 2.0)]), None);
        assert_eq!(welch(&[1.0], &[1.0, 2.0]), None);
    }

    #[test]
    fn repeats_needed_match_the_documented_power_table() {
        // Smallest detectable effect over the coefficient of variation for n = 3, 4, 5, 6, 8, 10
        // per side: 3.04, 2.37, 2.02, 1.79, 1.51, 1.33.
        let logs: [f64; 3] = [-0.03, 0.0, 0.03]; // standard deviation 0.03
        let values = logs.map(f64::exp);
        for (repeats, multiple) in
            [(3, 3.04), (4, 2.37), (5, 2.02), (6, 1.79), (8, 1.51), (10, 1.33)]
        {
            let effect = |multiple: f64| (0.03 * multiple).exp_m1();
            assert_eq!(
                repeats_needed(&values, &values, effect(multiple + 0.01), 0.05),
                Some(repeats),
                "{multiple}"
            );
            let fewer = repeats_needed(&values, &values, effect(multiple - 0.01), 0.05)
                .expect("some number");
            assert!(fewer > repeats, "{fewer} for {multiple}");
        }
        assert_eq!(repeats_needed(&[5.0], &[6.0], 0.05, 0.05), None, "one value has no scatter");
        assert_eq!(repeats_needed(&[5.0, 5.0], &[6.0], 0.05, 0.05), Some(2), "no scatter at all");
        assert_eq!(repeats_needed(&[1.0, 100.0], &[6.0], 0.05, 0.05), None, "more than a thousand");
    }

    #[test]
    fn visible_effects_have_the_table_value() {
        // (t(.975;4) + t(.80;4)) / √5 = (2.776445 + 0.940965) / 2.236068 = 1.662476 standard
        // deviations.
        let logs: [f64; 5] = [-0.02, -0.01, 0.0, 0.01, 0.02];
        let pairs: Vec<_> = logs.iter().map(|log| (log.exp(), 1.0)).collect();
        let test = paired(&pairs).expect("pairs");
        let deviation = variance(&logs).expect("five").sqrt();
        close(test.detectable_ratio(0.05).ln() / deviation, 1.662_476, 1e-5);
    }

    #[test]
    fn the_chance_to_decide_falls_with_the_scatter() {
        let criteria = DecisionCriteria { risk: 0.05, alpha: 0.05, margin: 0.05 };
        let chance = |difference, error| {
            RatioTest::of(difference, error, 20.0, 5).decision_probability(0.5, criteria)
        };
        assert!(chance(0.03, 0.013) > 0.5, "a little more decides: {}", chance(0.03, 0.013));
        assert!(chance(0.0, 0.01) > 0.9, "nothing will be found equivalent: {}", chance(0.0, 0.01));
        assert!(chance(0.02, 0.5) < 0.1, "{}", chance(0.02, 0.5));
    }
}
