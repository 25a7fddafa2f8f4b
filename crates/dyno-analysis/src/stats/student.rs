//! Student's t distribution and the interval of a mean.
//!
//! Source: Student, "The Probable Error of a Mean", Biometrika 6 (1908). The distribution function
//! is computed from the regularised incomplete beta function (continued fraction, modified Lentz
//! method) and the gamma function by Lanczos' approximation (SIAM J. Numer. Anal. B 1, 1964); both
//! are accurate to about 1e-13 in the range used here.

/// A mean and its symmetric confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanInterval {
    /// Arithmetic mean.
    pub mean: f64,
    /// Half-width of the interval, in the unit of the values.
    pub half_width: f64,
}

/// Arithmetic mean; `None` without values.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() { None } else { Some(values.iter().sum::<f64>() / values.len() as f64) }
}

/// The median of ascending values; `None` without values.
#[must_use]
pub fn median(rising: &[f64]) -> Option<f64> {
    let upper = *rising.get(rising.len() / 2)?;
    Some(if rising.len() % 2 == 1 {
        upper
    } else {
        f64::midpoint(rising[rising.len() / 2 - 1], upper)
    })
}

/// Logarithms of the values.
#[must_use]
pub fn logarithms(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| value.ln()).collect()
}

/// Unbiased variance `Σ(x - mean)² / (n - 1)`; `None` for fewer than two values.
#[must_use]
pub fn variance(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    if values.len() < 2 {
        return None;
    }
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some(squares / (values.len() - 1) as f64)
}

/// Pooled standard deviation of sets of values with separate means, the number of these sets, and
/// the degrees of freedom: `s² = Σ (n_i - 1) s_i² / Σ (n_i - 1)` over those with two values or
/// more; `None` when there are none.
#[must_use]
pub fn pooled(sets: &[Vec<f64>]) -> Option<(f64, usize, usize)> {
    let (mut squares, mut count, mut degrees) = (0.0, 0, 0);
    for set in sets.iter().filter(|set| set.len() > 1) {
        let freedom = set.len() - 1;
        squares += variance(set)? * freedom as f64;
        count += 1;
        degrees += freedom;
    }
    (degrees > 0).then(|| ((squares / degrees as f64).sqrt(), count, degrees))
}

/// Mean with the interval `mean ± t(1 - (1 - confidence) / 2; n - 1) · s / √n`.
///
/// `confidence` is 0.95 for a 95 % interval. `None` for fewer than two values.
#[must_use]
pub fn mean_interval(values: &[f64], confidence: f64) -> Option<MeanInterval> {
    let mean = mean(values)?;
    let variance = variance(values)?;
    let n = values.len() as f64;
    let t = quantile(1.0 - (1.0 - confidence) / 2.0, n - 1.0);
    Some(MeanInterval { mean, half_width: t * (variance / n).sqrt() })
}

/// Probability that a t variable with this many degrees of freedom is at most `t`.
///
/// `F(t) = 1 - I(x; ν/2, 1/2) / 2` for `t > 0`, with `x = ν / (ν + t²)` and `I` the regularised
/// incomplete beta function.
#[must_use]
pub fn cumulative(t: f64, degrees: f64) -> f64 {
    let tail = upper_tail(t.abs(), degrees);
    if t > 0.0 { 1.0 - tail } else { tail }
}

/// Probability that the absolute value of a t variable is at least `|t|`: the two-sided p-value.
#[must_use]
pub fn two_sided_p(t: f64, degrees: f64) -> f64 {
    if t.is_infinite() { 0.0 } else { 2.0 * upper_tail(t.abs(), degrees) }
}

/// Quantile of the t distribution at `p` (0 < p < 1), by bisection.
#[must_use]
pub fn quantile(p: f64, degrees: f64) -> f64 {
    debug_assert!(p > 0.0 && p < 1.0 && degrees > 0.0, "p {p}, degrees {degrees}");
    if p < 0.5 {
        return -quantile(1.0 - p, degrees);
    }
    let tail = 1.0 - p;
    let mut high = 1.0;
    while upper_tail(high, degrees) > tail {
        high *= 2.0;
    }
    // 200 steps reach adjacent floating-point numbers from any start.
    let (low, high) = bisect((0.0, high), 200, |t| upper_tail(t, degrees) > tail);
    (low + high) / 2.0
}

/// Bisects an interval for `steps` steps, towards the point where a condition that holds near the
/// lower end stops holding.
pub(super) fn bisect(ends: (f64, f64), steps: usize, holds: impl Fn(f64) -> bool) -> (f64, f64) {
    let (mut low, mut high) = ends;
    for _ in 0..steps {
        let middle = (low + high) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        if holds(middle) { low = middle } else { high = middle }
    }
    (low, high)
}

/// Two-sided p-value of a difference with a standard error; with an error of zero, a nonzero
/// difference is certain.
pub(super) fn difference_p(difference: f64, error: f64, degrees: f64) -> f64 {
    match (error > 0.0, difference == 0.0) {
        (true, _) => two_sided_p(difference / error, degrees),
        (false, true) => 1.0,
        (false, false) => 0.0,
    }
}

/// Probability above `t >= 0`.
fn upper_tail(t: f64, degrees: f64) -> f64 {
    incomplete_beta(degrees / (degrees + t * t), degrees / 2.0, 0.5) / 2.0
}

/// Probability that an F variable with these degrees of freedom is at least `f`:
/// `I(d₂ / (d₂ + d₁ f); d₂/2, d₁/2)`.
#[must_use]
pub fn upper_tail_of_f(f: f64, numerator: f64, denominator: f64) -> f64 {
    incomplete_beta(
        denominator / (denominator + numerator * f.max(0.0)),
        denominator / 2.0,
        numerator / 2.0,
    )
}

/// Regularised incomplete beta function `I(x; a, b)` for `0 <= x <= 1`.
pub(super) fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front =
        (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp();
    // The continued fraction converges fast below the mean of the beta distribution, and by
    // symmetry above it.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(x, a, b) / a
    } else {
        1.0 - front * beta_fraction(1.0 - x, b, a) / b
    }
}

/// Continued fraction of the incomplete beta function, by the modified Lentz method. Near the mean
/// of the distribution it takes about `√(a + b)` steps.
fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let nonzero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for step in 1..10_000 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / nonzero(1.0 + even * d);
        c = nonzero(1.0 + even / c);
        fraction *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / nonzero(1.0 + odd * d);
        c = nonzero(1.0 + odd / c);
        let change = d * c;
        fraction *= change;
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    fraction
}

/// Logarithm of the gamma function for `x > 0`: Lanczos' approximation with g = 7 and nine
/// coefficients.
pub(super) fn ln_gamma(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 8] = [
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x < 0.5 {
        // Reflection: Γ(x) Γ(1 - x) = π / sin(πx).
        return (std::f64::consts::PI / (std::f64::consts::PI * x).sin()).ln() - ln_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let mut sum = 0.999_999_999_999_809_9;
    for (i, coefficient) in COEFFICIENTS.iter().enumerate() {
        sum += coefficient / (x + i as f64 + 1.0);
    }
    let t = x + 7.5;
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two-sided 95 % and 99 % points: NIST/SEMATECH e-Handbook of Statistical Methods, table
    /// 1.3.6.7.2.
    const TABLE: [(f64, f64, f64); 12] = [
        (1.0, 12.706, 63.657),
        (2.0, 4.303, 9.925),
        (3.0, 3.182, 5.841),
        (4.0, 2.776, 4.604),
        (5.0, 2.571, 4.032),
        (6.0, 2.447, 3.707),
        (8.0, 2.306, 3.355),
        (10.0, 2.228, 3.169),
        (15.0, 2.131, 2.947),
        (20.0, 2.086, 2.845),
        (30.0, 2.042, 2.750),
        (100.0, 1.984, 2.626),
    ];

    #[test]
    fn quantiles_agree_with_the_published_table() {
        for (degrees, t95, t99) in TABLE {
            assert!(
                (quantile(0.975, degrees) - t95).abs() < 0.000_6,
                "{degrees}: {}",
                quantile(0.975, degrees)
            );
            assert!(
                (quantile(0.995, degrees) - t99).abs() < 0.000_6,
                "{degrees}: {}",
                quantile(0.995, degrees)
            );
        }
    }

    #[test]
    fn many_degrees_of_freedom_are_normal() {
        assert!((quantile(0.975, 1e7) - 1.959_963_984_540).abs() < 1e-6);
    }

    #[test]
    fn one_degree_of_freedom_is_cauchy() {
        // F(t) = 1/2 + atan(t)/π exactly.
        for t in [-50.0, -3.0, -0.1, 0.0, 0.5, 1.0, 20.0] {
            let exact = 0.5 + f64::atan(t) / std::f64::consts::PI;
            assert!((cumulative(t, 1.0) - exact).abs() < 1e-12, "{t}");
        }
    }

    #[test]
    fn two_degrees_of_freedom_have_a_closed_form() {
        // F(t) = 1/2 + t / (2 √(2 + t²)) exactly.
        for t in [-8.0_f64, -1.0, 0.0, 0.3, 2.0, 30.0] {
            let exact = 0.5 + t / (2.0 * (2.0 + t * t).sqrt());
            assert!((cumulative(t, 2.0) - exact).abs() < 1e-12, "{t}");
        }
    }

    #[test]
    fn quantile_and_distribution_are_inverse() {
        for degrees in [1.0, 2.5, 4.0, 17.3, 200.0] {
            for p in [0.001, 0.05, 0.5, 0.8, 0.9999] {
                assert!(
                    (cumulative(quantile(p, degrees), degrees) - p).abs() < 1e-10,
                    "{p} {degrees}"
                );
            }
        }
    }

    #[test]
    fn the_interval_of_five_values_is_the_textbooks() {
        // 10, 12, 11, 9, 13: mean 11, s = √2.5, t(4) = 2.776445; 2.776445 · √(2.5/5) = 1.963243.
        let interval = mean_interval(&[10.0, 12.0, 11.0, 9.0, 13.0], 0.95).expect("five values");
        assert!((interval.mean - 11.0).abs() < 1e-12);
        assert!((interval.half_width - 1.963_243).abs() < 1e-5, "{interval:?}");
    }

    #[test]
    fn one_value_has_a_mean_and_no_interval() {
        assert_eq!(mean(&[3.0]), Some(3.0));
        assert_eq!(mean_interval(&[3.0], 0.95), None);
        assert_eq!(mean(&[]), None);
    }

    #[test]
    fn gamma_of_whole_and_half_numbers_is_exact() {
        for (x, gamma) in [
            (1.0, 1.0),
            (2.0, 1.0),
            (5.0, 24.0),
            (0.5, std::f64::consts::PI.sqrt()),
            (10.0, 362_880.0),
        ] {
            assert!((ln_gamma(x) - f64::ln(gamma)).abs() < 1e-11, "{x}");
        }
    }
}
