//! Whether figures keep to a limit: one-sided tests of a mean and of a share against a number.
//!
//! # Sources
//! Student's t on logarithms, because errors of performance figures multiply; exact binomial probabilities for shares (C. J. Clopper, E. S. Pearson, Biometrika
//! 26 (1934)).

use super::student::{cumulative, halved, incomplete_beta, logarithms, mean, quantile, variance};

/// Risk on each side of the intervals: each end is where the test changes its mind.
const RISK: f64 = 0.05;

/// Figures beside a limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beside {
    /// The mean, or the share.
    pub figure: f64,
    /// Ends of its 90 % interval.
    pub ends: (f64, f64),
    /// p-value of "it does not lie below the limit".
    pub below: f64,
    /// p-value of "it does not lie above the limit".
    pub above: f64,
}

/// The geometric mean of positive figures beside a limit; `None` with fewer than two.
#[must_use]
pub fn mean_beside(values: &[f64], limit: f64) -> Option<Beside> {
    let (center, error, degrees) = center(&logarithms(values))?;
    let reach = quantile(1.0 - RISK, degrees) * error;
    let (below, above) = sides(center - limit.ln(), error, degrees);
    Some(Beside {
        figure: center.exp(),
        ends: ((center - reach).exp(), (center + reach).exp()),
        below,
        above,
    })
}

/// A share beside a limit (0 to 1), from trials' counts: how many, and of how many. Trials scatter more than single draws do, and shares of
/// nothing do not scatter at all, so the mean of the trials' shares is tested by Student's t, their sum as draws, and the larger p-value holds. `None` with fewer than two trials.
#[must_use]
pub fn share_beside(counts: &[(u64, u64)], limit: f64) -> Option<Beside> {
    let shares: Vec<f64> = counts.iter().map(|(part, whole)| *part as f64 / (*whole).max(1) as f64).collect();
    let (center, error, degrees) = center(&shares)?;
    let sum = |of: fn(&(u64, u64)) -> u64| counts.iter().map(of).sum::<u64>() as f64;
    let (part, whole) = (sum(|it| it.0), sum(|it| it.1));
    let at = |limit: f64| {
        let (below, above) = sides(center - limit, error, degrees);
        // At most, and at least, so many of so many draws.
        let most = if part < whole { incomplete_beta(1.0 - limit, whole - part, part + 1.0) } else { 1.0 };
        let least = if part > 0.0 { incomplete_beta(limit, part, whole - part + 1.0) } else { 1.0 };
        (below.max(most), above.max(least))
    };
    let (below, above) = at(limit);
    // Where in 0 to 1 the test changes its mind; 1 when it nowhere does.
    let (_, high) = halved((0.0, 1.0), 50, |limit| at(limit).0 >= RISK);
    let (_, rest) = halved((0.0, 1.0), 50, |rest| at(1.0 - rest).1 >= RISK);
    let low = 1.0 - rest;
    Some(Beside { figure: part / whole.max(1.0), ends: (low, high), below, above })
}

/// Mean, standard error and degrees of freedom.
fn center(values: &[f64]) -> Option<(f64, f64, f64)> {
    let n = values.len() as f64;
    Some((mean(values)?, (variance(values)? / n).sqrt(), n - 1.0))
}

/// p-values of "not below" and "not above" for a distance from the limit.
fn sides(distance: f64, error: f64, degrees: f64) -> (f64, f64) {
    let below = |distance: f64| match error > 0.0 {
        true => cumulative(distance / error, degrees),
        false if distance < 0.0 => 0.0,
        false => 1.0,
    };
    (below(distance), below(-distance))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-5 * expected.abs(), "{value} instead of {expected}");
    }

    #[test]
    fn a_mean_is_tested_as_r_tests_it() {
        // R: t.test(log(c(18, 19, 17.5)), mu = log(20), alternative = "less"), and "greater" against 17.
        let values = [18.0, 19.0, 17.5];
        let found = mean_beside(&values, 20.0).expect("three");
        assert_near(found.below, 0.028_481_08);
        assert_near(mean_beside(&values, 17.0).expect("three").above, 0.056_151_12);
        // exp(t.test(log(c(18, 19, 17.5)), conf.level = 0.9)$conf.int)
        assert_near(found.ends.0, 16.920_854);
        assert_near(found.ends.1, 19.481_415);
        assert_eq!(mean_beside(&[18.0], 20.0), None);
    }

    #[test]
    fn a_share_is_tested_as_draws_and_between_trials() {
        // Nothing failed: binom.test(0, 3000, 0.001, "less") in R, and its upper end 1 - 0.05^(1/3000).
        let found = share_beside(&[(0, 1000), (0, 1000), (0, 1000)], 0.001).expect("three");
        assert_near(found.below, 0.999_f64.powi(3000));
        assert_near(found.ends.1, 1.0 - 0.05_f64.powf(1.0 / 3000.0));
        assert!(found.ends.0 < 1e-9 && found.above > 0.99, "{found:?}");
        // binom.test(c(30, 2970), p = 0.02, alternative = "less") in R, where trials scatter less than draws do.
        assert_near(
            share_beside(&[(10, 1000), (10, 1000), (10, 1000)], 0.02).expect("three").below,
            1.211_449e-5,
        );
        // One bad trial of three: the draws alone would be sure.
        let clumped = share_beside(&[(0, 1000), (0, 1000), (60, 1000)], 0.01).expect("three");
        assert!(clumped.above > 0.1, "{clumped:?}");
        let clumped = share_beside(&[(0, 1000), (0, 1000), (10, 1000)], 0.01).expect("three");
        assert!(clumped.below > 0.05, "{clumped:?}");
    }
}
