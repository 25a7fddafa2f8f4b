//! Tests against limits: one-sided tests of a mean and of a proportion against a number.
//!
//! # Sources
//! Student's t on logarithms, because errors of performance values multiply; exact binomial
//! probabilities for proportions (C. J. Clopper, E. S. Pearson, Biometrika 26 (1934)), and the mean
//! of a lognormal distribution by its generalized p-value (K. Krishnamoorthy, T. Mathew,
//! "Inferences on the Means of Lognormal Distributions Using Generalized p-Values and Generalized
//! Confidence Intervals", J. Statist. Plann. Inference 115 (2003)).

use super::group_sequential::upper_tail;
use super::student::{bisect, cumulative, incomplete_beta, logarithms, mean, quantile, variance};

/// Risk on each side of the intervals: each end is the limit at which the test result changes.
const RISK: f64 = 0.05;

/// The largest number of values that [`needed_against`] proposes.
const NEEDED_MAX: usize = 1_000;

/// A test against a limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LimitTest {
    /// The mean, or the proportion.
    pub figure: f64,
    /// Ends of its 90 % interval.
    pub ends: (f64, f64),
    /// p-value of the null hypothesis "not below the limit".
    pub below: f64,
    /// p-value of the null hypothesis "not above the limit".
    pub above: f64,
}

/// Tests the geometric mean of positive values against a limit; `None` with fewer than two.
#[must_use]
pub fn mean_against(values: &[f64], limit: f64) -> Option<LimitTest> {
    let (center, error, degrees) = mean_and_error(&logarithms(values))?;
    let reach = quantile(1.0 - RISK, degrees) * error;
    let (below, above) = p_values(center - limit.ln(), error, degrees);
    Some(LimitTest {
        figure: center.exp(),
        ends: ((center - reach).exp(), (center + reach).exp()),
        below,
        above,
    })
}

/// The number of values that would decide the test of the geometric mean against a limit, if their
/// logarithms had the same mean and standard deviation; `None` with fewer than two values, or if a
/// thousand are not enough.
#[must_use]
pub fn needed_against(values: &[f64], limit: f64) -> Option<usize> {
    let logarithms = logarithms(values);
    let (distance, variance) = (mean(&logarithms)? - limit.ln(), variance(&logarithms)?);
    let decides = |number: &usize| {
        let number = *number as f64;
        quantile(1.0 - RISK, number - 1.0) * (variance / number).sqrt() < distance.abs()
    };
    (2..=NEEDED_MAX).find(decides)
}

/// Tests a proportion (0 to 1) against a limit, from the counts (events, total) of trials. Trials
/// vary more than independent draws, and some have many times the proportion of others. The
/// function therefore uses three tests and takes the largest p-value: the sum as binomial draws,
/// the mean by Student's t, and the mean of a lognormal distribution. Proportions of zero do not
/// vary, so only the binomial test applies; Student's t alone would pass limits too often, because
/// few trials have the large proportions that dominate the mean. `None` with fewer than two trials.
pub fn proportion_against(counts: &[(u64, u64)], limit: f64) -> Option<LimitTest> {
    let proportions = Proportions::of(counts)?;
    let (below, above) = proportions.p_values(limit);
    // The limit in 0 to 1 at which the test result changes; 1 if it never does.
    let (_, high) = bisect((0.0, 1.0), 50, |limit| proportions.p_values(limit).0 >= RISK);
    let (_, rest) = bisect((0.0, 1.0), 50, |rest| proportions.p_values(1.0 - rest).1 >= RISK);
    Some(LimitTest {
        figure: proportions.events / proportions.total.max(1.0),
        ends: (1.0 - rest, high),
        below,
        above,
    })
}

/// Proportions of trials: their sum as draws, their mean with its error, their logarithms.
struct Proportions {
    events: f64,
    total: f64,
    center: (f64, f64, f64),
    lognormal: Lognormal,
}

impl Proportions {
    fn of(counts: &[(u64, u64)]) -> Option<Self> {
        // Half an event more, so that every proportion has a logarithm.
        let shares = |more: f64| -> Vec<f64> {
            counts
                .iter()
                .map(|(events, total)| (*events as f64 + more) / (*total).max(1) as f64)
                .collect()
        };
        let sum = |of: fn(&(u64, u64)) -> u64| counts.iter().map(of).sum::<u64>() as f64;
        let (events, total) = (sum(|it| it.0), sum(|it| it.1));
        Some(Self {
            events,
            total,
            center: mean_and_error(&shares(0.0))?,
            lognormal: Lognormal::of(&shares(0.5))?,
        })
    }

    /// p-values of "not below" and "not above" the limit.
    fn p_values(&self, limit: f64) -> (f64, f64) {
        let (events, total) = (self.events, self.total);
        let (center, error, degrees) = self.center;
        let (below, above) = p_values(center - limit, error, degrees);
        // Probability of at most, and of at least, this number of events.
        let most = if events < total {
            incomplete_beta(1.0 - limit, total - events, events + 1.0)
        } else {
            1.0
        };
        let least =
            if events > 0.0 { incomplete_beta(limit, events, total - events + 1.0) } else { 1.0 };
        let not_below = if limit > 0.0 { self.lognormal.not_below(limit) } else { 1.0 };
        (below.max(most).max(not_below), above.max(least).max(1.0 - not_below))
    }
}

/// Logarithms of values: their number, mean and variance.
struct Lognormal {
    count: f64,
    mean: f64,
    variance: f64,
}

impl Lognormal {
    fn of(values: &[f64]) -> Option<Self> {
        let logarithms = logarithms(values);
        Some(Self {
            count: values.len() as f64,
            mean: mean(&logarithms)?,
            variance: variance(&logarithms)?,
        })
    }

    /// Generalized p-value of "the mean is not below the limit": with `s²` the variance of the
    /// logarithms, `V` a draw of χ² with `n - 1` degrees of freedom and `v = (n - 1) s² / V`, the
    /// probability that a normal draw of mean `m + v / 2` and variance `v / n` is not below the
    /// logarithm of the limit.
    fn not_below(&self, limit: f64) -> f64 {
        const STEPS: u32 = 160;
        const HIGH: f64 = 3.0;
        let distance = self.mean - limit.ln();
        if self.variance <= 0.0 {
            return if distance < 0.0 { 0.0 } else { 1.0 };
        }
        let degrees = self.count - 1.0;
        let (mut sum, mut weights) = (0.0, 0.0);
        // Integrates over the logarithm of V / (n - 1), whose density this is up to a factor; less
        // than 1e-6 of it is outside the ends.
        let low = -28.0 / degrees;
        for step in 0..=STEPS {
            let at = low + (HIGH - low) * f64::from(step) / f64::from(STEPS);
            let weight = (degrees / 2.0 * (at - at.exp())).exp();
            let variance = self.variance / at.exp();
            sum +=
                weight * upper_tail(-(distance + variance / 2.0) / (variance / self.count).sqrt());
            weights += weight;
        }
        (sum / weights).min(1.0)
    }
}

/// Mean, standard error and degrees of freedom.
fn mean_and_error(values: &[f64]) -> Option<(f64, f64, f64)> {
    let n = values.len() as f64;
    Some((mean(values)?, (variance(values)? / n).sqrt(), n - 1.0))
}

/// p-values of "not below" and "not above" for a distance from the limit.
fn p_values(distance: f64, error: f64, degrees: f64) -> (f64, f64) {
    let below = |distance: f64| match error > 0.0 {
        true => cumulative(distance / error, degrees),
        false if distance < 0.0 => 0.0,
        false => 1.0,
    };
    (below(distance), below(-distance))
}

#[cfg(test)]
mod tests {
    use super::super::noise::Noise;
    use super::*;

    #[track_caller]
    fn assert_near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-5 * expected.abs(), "{value} instead of {expected}");
    }

    #[test]
    fn a_mean_is_tested_as_r_tests_it() {
        // R: t.test(log(c(18, 19, 17.5)), mu = log(20), alternative = "less"), and "greater"
        // against 17.
        let values = [18.0, 19.0, 17.5];
        let found = mean_against(&values, 20.0).expect("three");
        assert_near(found.below, 0.028_481_08);
        assert_near(mean_against(&values, 17.0).expect("three").above, 0.056_151_12);
        // exp(t.test(log(c(18, 19, 17.5)), conf.level = 0.9)$conf.int)
        assert_near(found.ends.0, 16.920_854);
        assert_near(found.ends.1, 19.481_415);
        assert_eq!(mean_against(&[18.0], 20.0), None);
        // R: the first n with qt(0.95, n - 1) * sd(log(values)) / sqrt(n) < log(limit) - mean.
        assert_eq!(needed_against(&values, 20.0), Some(3));
        assert_eq!(needed_against(&values, 18.5), Some(16));
        assert_eq!((needed_against(&[18.0], 20.0), needed_against(&values, 18.16)), (None, None));
    }

    /// A lognormal value with mean 1 whose logarithm has this standard deviation.
    fn lognormal(noise: &mut Noise, deviation: f64) -> f64 {
        (deviation * noise.normal() - deviation * deviation / 2.0).exp()
    }

    #[test]
    fn the_mean_of_a_lognormal_is_tested_as_its_definition_by_draws_says() {
        let mut noise = Noise::of(3);
        let it = Lognormal::of(&[0.8, 1.0, 1.9, 1.2]).expect("four");
        for limit in [1.0, 1.5, 3.0] {
            let draws = 20_000;
            let beyond = |noise: &mut Noise| {
                let squares: f64 = (0..3).map(|_| noise.normal().powi(2)).sum();
                let variance = 3.0 * it.variance / squares;
                it.mean + variance / 2.0 + noise.normal() * (variance / 4.0).sqrt()
                    >= f64::ln(limit)
            };
            let share = (0..draws).filter(|_| beyond(&mut noise)).count() as f64 / f64::from(draws);
            assert!(
                (share - it.not_below(limit)).abs() < 0.01,
                "{limit}: {share} {}",
                it.not_below(limit)
            );
        }
    }

    #[test]
    fn share_at_the_limit_passes_at_most_five_percent_of_the_time() {
        let mut noise = Noise::of(11);
        for (trials, deviation) in [(3, 0.3), (3, 0.8), (5, 0.5), (5, 1.0), (10, 0.8)] {
            let mut passed = 0;
            for _ in 0..600 {
                let counts: Vec<(u64, u64)> = (0..trials)
                    .map(|_| ((1_000.0 * lognormal(&mut noise, deviation)).round() as u64, 100_000))
                    .collect();
                passed +=
                    usize::from(Proportions::of(&counts).expect("trials").p_values(0.01).0 < RISK);
            }
            // 30 are expected at 5 %; 46 is three standard deviations above.
            assert!(passed <= 46, "{passed} of 600 with {trials} trials and {deviation}");
        }
    }

    #[test]
    fn largest_p_value_of_three_share_tests_is_used() {
        // Computed independently: Student's t with two degrees of freedom in closed form, binomial
        // sums, and the lognormal integral in 200,000 steps.
        let near = |value: f64, expected: f64| {
            assert!((value - expected).abs() < 1e-3 * expected, "{value} instead of {expected}");
        };
        let test = |counts: [u64; 3], limit| {
            proportion_against(&counts.map(|events| (events, 1_000)), limit).expect("three")
        };
        // Binomial: the trials do not vary.
        near(test([10, 10, 10], 0.005).above, 4.031_57e-4);
        // Student's t decides: the binomial test gives 0.0032, the lognormal one 0.0043.
        near(test([8, 10, 13], 0.006).above, 0.048_219);
        // The lognormal test decides, with half an event more in each trial (without: 0.296);
        // Student's t gives 0.011, the binomial test nearly 0.
        near(test([1, 3, 9], 0.02).below, 0.248_019);
        near(test([0, 0, 10], 0.01).below, 0.549_703);
    }

    #[test]
    fn a_share_is_tested_as_draws_and_between_trials() {
        // Nothing failed: binom.test(0, 3000, 0.001, "less") in R, and its upper end 1 -
        // 0.05^(1/3000).
        let found = proportion_against(&[(0, 1000), (0, 1000), (0, 1000)], 0.001).expect("three");
        assert_near(found.below, 0.999_f64.powi(3000));
        assert_near(found.ends.1, 1.0 - 0.05_f64.powf(1.0 / 3000.0));
        assert!(found.ends.0 < 1e-9 && found.above > 0.99, "{found:?}");
        // binom.test(c(30, 2970), p = 0.02, alternative = "less") in R; the trials vary less than
        // draws do.
        assert_near(
            proportion_against(&[(10, 1000), (10, 1000), (10, 1000)], 0.02).expect("three").below,
            1.211_449e-5,
        );
        // One bad trial of three: the binomial test alone would be certain.
        let clumped = proportion_against(&[(0, 1000), (0, 1000), (60, 1000)], 0.01).expect("three");
        assert!(clumped.above > 0.1, "{clumped:?}");
        let clumped = proportion_against(&[(0, 1000), (0, 1000), (10, 1000)], 0.01).expect("three");
        assert!(clumped.below > 0.05, "{clumped:?}");
    }
}
