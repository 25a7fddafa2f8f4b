//! Interim analyses without more false verdicts: group-sequential bounds from an alpha-spending
//! function.
//!
//! Testing after each block and stopping at the first p-value below 5 % yields far more than 5 %
//! false verdicts. The risk is therefore spent over the interim analyses: `t²` of it after the
//! share `t` of all blocks, and all of it at the last analysis. The bound of an analysis is the
//! value that a Brownian motion, after staying inside all earlier bounds, crosses with the
//! probability to be spent. Its level is the corresponding p-value, which is also used for tests
//! with few degrees of freedom.
//!
//! A p-value at an interim analysis is *adjusted* to the smallest risk at which this analysis
//! rejects. The probability that any adjusted p-value of a run is below a risk is at most that
//! risk, so they can be corrected for multiple comparisons like others, and an interval at the
//! level of an analysis covers the true value at all analyses together.
//!
//! # Sources
//! K. K. G. Lan, D. L. DeMets, Biometrika 70 (1983); the power of `t`: K. Kim, D. L. DeMets,
//! Biometrika 74 (1987); the recursion: P. Armitage, C. K. McPherson, B. C. Rowe, J. R. Statist.
//! Soc. A 132 (1969); intervals: C. Jennison, B. W. Turnbull, J. R. Statist. Soc. B 51 (1989).

use super::student::bisect;
use std::f64::consts::PI;

/// The first interim analysis follows this block.
pub const FIRST_INTERIM: u32 = 3;

/// Points of the tables of risks and levels.
const TABLE_POINTS: usize = 20;
/// Smallest and largest risk in them.
const RISK_RANGE: (f64, f64) = (1e-6, 0.5);
/// Number of points of a density between its bounds.
const DENSITY_POINTS: usize = 61;
/// Standard deviations beyond which a density is negligible.
const Z_MAX: f64 = 5.5;

/// The levels of an interim analysis: map between its p-values and the risk over all analyses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Levels(
    /// Logarithms of levels by ascending risk, the last at the risk 1; `None` with one analysis.
    Option<[f64; TABLE_POINTS + 1]>,
);

impl Levels {
    /// Data that are analysed once.
    pub const ONCE: Self = Self(None);

    /// The analysis after a block, of at most `most` blocks. The last one spends the whole risk,
    /// even when fewer blocks were measured than planned; the reason for stopping must then not be
    /// the data.
    #[must_use]
    pub fn after(block: u32, most: u32, is_last: bool) -> Self {
        let mut levels = [0.0; TABLE_POINTS + 1];
        for (at, level) in levels.iter_mut().enumerate().take(TABLE_POINTS) {
            *level = level_of(ln_risk(at).exp(), block, most, is_last).max(f64::MIN_POSITIVE).ln();
        }
        for at in 1..=TABLE_POINTS {
            levels[at] = levels[at].max(levels[at - 1]);
        }
        Self(Some(levels))
    }

    /// The level of a test at this analysis that corresponds to this risk over all analyses.
    #[must_use]
    pub fn level(&self, risk: f64) -> f64 {
        let Some(levels) = &self.0 else { return risk };
        interpolate(&risks(), levels, risk)
    }

    /// The smallest risk over all analyses at which a test with this p-value rejects.
    #[must_use]
    pub fn adjusted(&self, p: f64) -> f64 {
        let Some(levels) = &self.0 else { return p };
        interpolate(levels, &risks(), p)
    }
}

fn ln_risk(at: usize) -> f64 {
    let (low, high) = (RISK_RANGE.0.ln(), RISK_RANGE.1.ln());
    low + (high - low) * at as f64 / (TABLE_POINTS - 1) as f64
}

fn risks() -> [f64; TABLE_POINTS + 1] {
    std::array::from_fn(|at| if at == TABLE_POINTS { 0.0 } else { ln_risk(at) })
}

/// Interpolates in ascending tables of logarithms; below their first entry, proportionally.
fn interpolate(from: &[f64; TABLE_POINTS + 1], to: &[f64; TABLE_POINTS + 1], value: f64) -> f64 {
    let at = value.ln();
    if at <= from[0] {
        return (to[0] + at - from[0]).exp();
    }
    let above = from.iter().position(|it| *it >= at).unwrap_or(TABLE_POINTS).max(1);
    let step = from[above] - from[above - 1];
    let share = if step > 0.0 { ((at - from[above - 1]) / step).min(1.0) } else { 1.0 };
    (to[above - 1] + share * (to[above] - to[above - 1])).exp()
}

/// The two-sided level of the analysis after `block`.
fn level_of(risk: f64, block: u32, most: u32, is_last: bool) -> f64 {
    let information = |block: u32| f64::from(block) / f64::from(most);
    let spent = |at: u32| match at >= most || at == block && is_last {
        true => risk,
        false => risk * information(at).powi(2),
    };
    let (mut density, mut before, mut since) = (Density::START, 0.0, 0.0);
    for at in FIRST_INTERIM.min(block)..=block {
        let (now, step) = (information(at), (information(at) - since).sqrt());
        let ends = (0.0, Z_MAX * 2.0 * now.sqrt());
        let (low, high) = bisect(ends, 36, |bound| {
            density.crossing_probability(bound, step) > spent(at) - before
        });
        let bound = (low + high) / 2.0;
        if at == block {
            return 2.0 * upper_tail(bound / now.sqrt());
        }
        density = density.next(bound.min(Z_MAX * now.sqrt()), step);
        (before, since) = (spent(at), now);
    }
    0.0
}

/// The density of a symmetric process that is still inside its bounds: points from 0 to the bound,
/// each with the weight of itself and its mirror image.
struct Density(Vec<(f64, f64)>);

impl Density {
    const START: Self = Self(Vec::new());

    /// Probability of crossing the bound one step later.
    fn crossing_probability(&self, bound: f64, step: f64) -> f64 {
        if self.0.is_empty() {
            return 2.0 * upper_tail(bound / step);
        }
        let of = |(at, weight): &(f64, f64)| {
            weight * (upper_tail((bound - at) / step) + upper_tail((bound + at) / step))
        };
        self.0.iter().map(of).sum()
    }

    /// The density inside the bound one step later.
    fn next(&self, bound: f64, step: f64) -> Self {
        let width = bound / (DENSITY_POINTS - 1) as f64;
        let height = |x: f64| (-0.5 * (x / step).powi(2)).exp() / (step * (2.0 * PI).sqrt());
        let point = |index: usize| {
            let x = width * index as f64;
            // Simpson's rule.
            let simpson = match index {
                0 => 1.0,
                last if last == DENSITY_POINTS - 1 => 1.0,
                odd if odd % 2 == 1 => 4.0,
                _ => 2.0,
            };
            let density = match self.0.is_empty() {
                true => 2.0 * height(x),
                false => self
                    .0
                    .iter()
                    .map(|(at, weight)| weight * (height(x - at) + height(x + at)))
                    .sum(),
            };
            (x, density * simpson * width / 3.0)
        };
        Self((0..DENSITY_POINTS).map(point).collect())
    }
}

/// Probability of a standard normal value above `z`: a series near 0, Laplace's continued fraction
/// elsewhere.
pub(super) fn upper_tail(z: f64) -> f64 {
    if z < 0.0 {
        return 1.0 - upper_tail(-z);
    }
    let height = (-0.5 * z * z).exp() / (2.0 * PI).sqrt();
    if z < 2.5 {
        let (mut term, mut sum, mut odd) = (z, z, 1.0);
        while term > 1e-17 * sum {
            odd += 2.0;
            term *= z * z / odd;
            sum += term;
        }
        return 0.5 - height * sum;
    }
    height / (1..=40).rev().fold(z, |rest, at| z + f64::from(at) / rest)
}

#[cfg(test)]
mod tests {
    use super::super::noise::Noise;
    use super::*;

    #[test]
    fn bounds_are_those_of_an_integration_by_other_means() {
        // Five equal steps, two-sided 5 %, without the first two analyses. The expected values come
        // from a program that integrates with 120 Gauss-Legendre points.
        for (block, expected) in [(3, 0.018), (4, 0.023_835_9), (5, 0.035_248_8)] {
            let level = level_of(0.05, block, 5, false);
            assert!((level - expected).abs() < 2e-6, "{block}: {level}");
        }
        assert_eq!(format!("{:.4}", level_of(0.05, 3, 3, false)), "0.0500", "one look spends all");
    }

    #[test]
    fn the_normal_tail_is_that_of_the_tables() {
        for (z, tail) in
            [(0.0, 0.5), (1.0, 0.158_655_253_9), (1.959_963_985, 0.025), (4.0, 3.167_124_183e-5)]
        {
            assert!((upper_tail(z) / tail - 1.0).abs() < 1e-8, "{z}: {}", upper_tail(z));
            assert!((upper_tail(-z) + tail - 1.0).abs() < 1e-8);
        }
        assert!(
            (upper_tail(2.499_999) / upper_tail(2.500_001) - 1.0).abs() < 1e-4,
            "both ways agree"
        );
    }

    #[test]
    fn an_adjusted_p_value_is_below_a_risk_exactly_where_the_look_rejects() {
        for (block, is_last) in [(3, false), (4, true), (5, false)] {
            let levels = Levels::after(block, 5, is_last);
            for risk in [1e-5, 1e-4, 0.002, 0.0125, 0.05, 0.1, 0.3, 0.8] {
                let level = levels.level(risk);
                assert!(
                    (levels.adjusted(level) / risk - 1.0).abs() < 1e-9,
                    "{block} {risk} {level}"
                );
                assert!(
                    level <= risk * 1.01,
                    "a look spends no more than there is: {block} {risk} {level}"
                );
            }
            let (between, exact) = (levels.level(0.05), level_of(0.05, block, 5, is_last));
            assert!((between / exact - 1.0).abs() < 0.02, "{block}: {between} for {exact}");
        }
        assert_eq!((Levels::ONCE.level(0.05), Levels::ONCE.adjusted(0.03)), (0.05, 0.03));
    }

    #[test]
    fn group_sequential_tests_keep_the_false_positive_rate() {
        let most = 12;
        let levels: Vec<f64> =
            (FIRST_INTERIM..=most).map(|block| level_of(0.05, block, most, false)).collect();
        let mut noise = Noise::of(0x9E37_79B9_7F4A_7C15);
        let (mut wrong, mut naive) = (0, 0);
        for _ in 0..2000 {
            let values: Vec<f64> = (0..most).map(|_| noise.normal()).collect();
            let p = |block: u32| {
                let sum: f64 = values[..block as usize].iter().sum();
                2.0 * upper_tail((sum / f64::from(block).sqrt()).abs())
            };
            wrong += usize::from(
                (FIRST_INTERIM..=most).zip(&levels).any(|(block, level)| p(block) < *level),
            );
            naive += usize::from((FIRST_INTERIM..=most).any(|block| p(block) < 0.05));
        }
        // 100 are expected at 5 %; three standard deviations are 29.
        assert!((71..=129).contains(&wrong) && naive > 250, "{wrong} and {naive} of 2000");
    }
}
