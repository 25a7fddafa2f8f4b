//! Variances of many configuration pairs that borrow strength from each other (empirical Bayes).
//!
//! A pair measured in three blocks estimates its variance with two degrees of freedom, which is
//! very imprecise; the other pairs show roughly how much trials vary in this experiment. Each
//! variance is therefore shrunk towards a common one, the more so the more the pairs agree:
//! `(d₀ s₀² + d s²) / (d₀ + d)` with `d₀ + d` degrees of freedom.
//!
//! # Sources
//! The moderated t: G. K. Smyth, Stat. Appl. Genet. Mol. Biol. 3 (2004). That paper estimates the
//! prior from the moments of logarithms, which suits thousands of variances: with a dozen it often
//! treats the variances as equal by chance, which yields too many false verdicts. Here `d₀` is the
//! *smallest* value that the likelihood of the variances does not reject ([`LOG_LIKELIHOOD_DROP`]);
//! docs/statistics.md has the error rates of both.

use super::compare::RatioTest;
use super::student::{bisect, ln_gamma};

/// The common distribution of the pairs' variances.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    /// The common variance, `s₀²`.
    pub variance: f64,
    /// Its weight in degrees of freedom, `d₀`; infinite when all variances may be equal.
    pub degrees: f64,
}

/// Maximum distance of the log-likelihood of `d₀` from its maximum: half of the 95 % point of χ²
/// with one degree of freedom, so that `d₀` is the lower end of its 95 % profile likelihood
/// interval.
pub const LOG_LIKELIHOOD_DROP: f64 = 1.92;

/// Minimum number of variances for a prior.
const VARIANCES_MIN: usize = 3;

impl Prior {
    /// The prior of variances with their degrees of freedom; `None` for fewer than three, or when
    /// most of them are 0.
    #[must_use]
    pub fn of(variances: &[(f64, f64)]) -> Option<Self> {
        Self::within(variances, LOG_LIKELIHOOD_DROP)
    }

    /// The same with another allowance; for the program that selected it (`examples/error_rates`).
    #[must_use]
    pub fn within(variances: &[(f64, f64)], drop: f64) -> Option<Self> {
        let mut sorted: Vec<f64> = variances.iter().map(|(variance, _)| *variance).collect();
        sorted.sort_by(f64::total_cmp);
        let median = *sorted.get(sorted.len() / 2).filter(|median| **median > 0.0)?;
        if sorted.len() < VARIANCES_MIN {
            return None;
        }
        // A variance near 0 is caused by rounding and would outweigh all others.
        let floored: Vec<(f64, f64)> = variances
            .iter()
            .map(|(variance, degrees)| (variance.max(1e-5 * median), *degrees))
            .collect();
        let candidates = candidates().map(|degrees| {
            let variance = common_variance(&floored, degrees);
            (Self { variance, degrees }, likelihood(&floored, variance, degrees))
        });
        let candidates: Vec<(Self, f64)> = candidates.collect();
        let best = candidates.iter().map(|(_, it)| *it).fold(f64::NEG_INFINITY, f64::max);
        candidates.into_iter().find(|(_, it)| *it >= best - drop).map(|(prior, _)| prior)
    }

    /// A pair's variance and its degrees of freedom, shrunk towards the common one. `total` are the
    /// total degrees of freedom of all pairs, the maximum for one.
    #[must_use]
    pub fn moderate(&self, variance: f64, degrees: f64, total: f64) -> (f64, f64) {
        if self.degrees.is_infinite() {
            return (self.variance, total);
        }
        let sum = self.degrees + degrees;
        ((self.degrees * self.variance + degrees * variance) / sum, sum.min(total))
    }
}

/// Paired tests whose variances borrow strength from each other; unchanged without a prior.
#[must_use]
pub fn moderated(tests: &[RatioTest]) -> Vec<RatioTest> {
    let variances: Vec<(f64, f64)> = tests.iter().map(RatioTest::variance).collect();
    let Some(prior) = Prior::of(&variances) else { return tests.to_vec() };
    let total = variances.iter().map(|(_, degrees)| degrees).sum();
    let one = |(test, (variance, degrees)): (&RatioTest, &(f64, f64))| {
        let (variance, degrees) = prior.moderate(*variance, *degrees, total);
        test.with_variance(variance, degrees)
    };
    tests.iter().zip(&variances).map(one).collect()
}

/// Candidate degrees of freedom, ascending: a tenth to a thousand, then infinity.
fn candidates() -> impl Iterator<Item = f64> {
    (-10..=30).map(|tenth| 10_f64.powf(f64::from(tenth) / 10.0)).chain([f64::INFINITY])
}

/// The most likely common variance at `d₀`: the solution of
/// `Σ (d + d₀) d s² / (d₀ s₀² + d s²) = Σ d`, by bisection of its logarithm.
fn common_variance(variances: &[(f64, f64)], degrees: f64) -> f64 {
    let all: f64 = variances.iter().map(|(_, own)| own).sum();
    if degrees.is_infinite() {
        return variances.iter().map(|(variance, own)| variance * own).sum::<f64>() / all;
    }
    let excess = |common: f64| {
        let terms = variances.iter().map(|(variance, own)| {
            (own + degrees) * own * variance / (degrees * common + own * variance)
        });
        terms.sum::<f64>() - all
    };
    let ends = variances.iter().map(|(variance, _)| variance.ln());
    let ends = ends
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), it| (low.min(it), high.max(it)));
    // The sum is too large at the smallest variance and too small at the largest.
    let (low, high) = bisect(ends, 60, |middle| excess(middle.exp()) > 0.0);
    ((low + high) / 2.0).exp()
}

/// Log-likelihood of the variances: `s² / s₀²` has an F distribution with `d` and `d₀` degrees of
/// freedom.
fn likelihood(variances: &[(f64, f64)], common: f64, degrees: f64) -> f64 {
    let one = |(variance, own): &(f64, f64)| {
        let half = own / 2.0;
        let scaled = own * variance / common;
        if degrees.is_infinite() {
            return half * (scaled / 2.0).ln() - ln_gamma(half) - scaled / 2.0;
        }
        let gammas = ln_gamma(half + degrees / 2.0) - ln_gamma(half) - ln_gamma(degrees / 2.0);
        gammas + half * (scaled / degrees).ln()
            - (half + degrees / 2.0) * (scaled / degrees).ln_1p()
    };
    variances.iter().map(one).sum()
}

#[cfg(test)]
mod tests {
    use super::super::compare::paired;
    use super::super::noise::Noise;
    use super::super::verdict::benjamini_hochberg;
    use super::*;

    #[test]
    fn alike_variances_are_pooled_and_unlike_ones_left_alone() {
        let alike = Prior::of(&[(4.0, 9.0); 20]).expect("a prior");
        assert!(alike.degrees > 20.0 && (alike.variance - 4.0).abs() < 1e-6, "{alike:?}");
        let unlike: Vec<(f64, f64)> = (0..12).map(|at| (10_f64.powi(at - 6), 9.0)).collect();
        let unlike = Prior::of(&unlike).expect("a prior");
        assert!(unlike.degrees < 0.5, "{unlike:?}");
    }

    #[test]
    fn the_likeliest_common_variance_solves_its_equation() {
        // At d₀ = ∞ it is the pooled variance, and nearly so with many degrees of freedom.
        let variances = [(1.0, 2.0), (2.0, 4.0), (4.0, 2.0)];
        assert!((common_variance(&variances, f64::INFINITY) - 18.0 / 8.0).abs() < 1e-12);
        assert!((common_variance(&variances, 1e6) - 18.0 / 8.0).abs() < 1e-4);
    }

    #[test]
    fn a_variance_moves_towards_the_common_one_by_its_degrees_of_freedom() {
        let prior = Prior { variance: 4.0, degrees: 6.0 };
        assert_eq!(prior.moderate(1.0, 2.0, 100.0), ((24.0 + 2.0) / 8.0, 8.0));
        assert_eq!(prior.moderate(1.0, 2.0, 4.0).1, 4.0, "all cells together know no more");
        assert_eq!(
            Prior { variance: 4.0, degrees: f64::INFINITY }.moderate(1.0, 2.0, 24.0),
            (4.0, 24.0)
        );
    }

    #[test]
    fn cells_that_scatter_alike_decide_what_none_decides_alone() {
        let pairs =
            |shift: f64| [1.10 + shift, 1.14, 1.18 - shift].map(|ratio| (ratio * 100.0, 100.0));
        let tests: Vec<RatioTest> =
            (0..8).map(|at| paired(&pairs(f64::from(at) / 1000.0)).expect("pairs")).collect();
        for (alone, among) in tests.iter().zip(moderated(&tests)) {
            assert!(among.p < alone.p && among.ratio == alone.ratio, "{alone:?} {among:?}");
        }
        assert_eq!(moderated(&tests[..2]), tests[..2], "two have nothing in common");
    }

    #[test]
    fn pairs_of_unequal_variance_keep_the_false_positive_rate() {
        let mut noise = Noise::of(9);
        let mut reports = 0;
        for _ in 0..600 {
            let tests: Vec<RatioTest> = (0..12)
                .map(|_| {
                    let deviation = 0.06 * (0.5 * noise.normal()).exp();
                    let pairs = [(); 3].map(|()| ((deviation * noise.normal()).exp(), 1.0));
                    paired(&pairs).expect("pairs")
                })
                .collect();
            let p_values: Vec<f64> = moderated(&tests).iter().map(|test| test.p).collect();
            reports += usize::from(benjamini_hochberg(&p_values).iter().any(|p| *p < 0.05));
        }
        // 30 are expected at 5 %; 46 is three standard deviations above.
        assert!(reports <= 46, "{reports} of 600");
    }
}
