//! Steadiness of a series of per-second values: warm-up and drift.

use super::student::{difference_p, mean, median, variance};

/// Number of consecutive values that MSER-5 averages into one batch.
const BATCH: usize = 5;

/// Number of initial batches to discard so that the rest is steadiest: the `d <= m/2` that
/// minimises `1/(m-d)² · Σ_{j>d} (z_j - mean_{>d})²` over batches `z_1..z_m` of five values
/// (MSER-5). A result of half of them means that the series had not settled by then.
///
/// Source: K. P. White, M. J. Cobb and S. C. Spratt, "A comparison of five steady-state truncation
/// heuristics for simulation", Winter Simulation Conference 2000.
fn truncation(batches: &[f64]) -> usize {
    let mut best = (f64::INFINITY, 0);
    for out in 0..=batches.len() / 2 {
        let rest = &batches[out..];
        let score = sum_of_squares(rest) / (rest.len() as f64).powi(2);
        if score < best.0 {
            best = (score, out);
        }
    }
    best.1
}

/// Sum of squared deviations from the mean.
fn sum_of_squares(values: &[f64]) -> f64 {
    let mean = mean(values).unwrap_or_default();
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

/// Slope of a series per step: the median of the slopes between all pairs of values, which is
/// robust against outliers; `None` for fewer than two values.
///
/// Source: P. K. Sen, "Estimates of the regression coefficient based on Kendall's tau", J. Amer.
/// Statist. Assoc. 63 (1968).
fn theil_sen(values: &[f64]) -> Option<f64> {
    let mut slopes = Vec::with_capacity(values.len() * values.len().saturating_sub(1) / 2);
    for (i, first) in values.iter().enumerate() {
        for (distance, second) in values[i + 1..].iter().enumerate() {
            slopes.push((second - first) / (distance + 1) as f64);
        }
    }
    slopes.sort_by(f64::total_cmp);
    median(&slopes)
}

/// Minimum number of values: eight batches; with fewer, a trend cannot be significant at [`RISK`].
pub const VALUES_MIN: usize = 8 * BATCH;
/// Changes up to this share of the mean count as none.
const SHARE_MIN: f64 = 0.02;
/// Probability that a steady series appears to have a warm-up or a drift.
const RISK: f64 = 0.001;
/// Maximum number of batches of a series; longer series use longer batches, because the number of
/// slopes grows quadratically.
const BATCHES_MAX: usize = 500;

/// Result for a series of per-second values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Steadiness {
    /// Number of initial values that differ from the rest.
    pub warm_up: usize,
    /// Relative shift of the mean by these values: mean of all over mean of the rest, minus 1.
    pub excess: f64,
    /// Two-sided p-value of "they equal the rest", at most 1.
    pub excess_p: f64,
    /// Change of the rest from its beginning to its end, relative to its mean: the Theil-Sen slope
    /// times its length.
    pub drift: f64,
    /// Two-sided p-value of "the rest has no trend".
    pub drift_p: f64,
}

impl Steadiness {
    /// True when a warm-up at the beginning shifts the mean.
    #[must_use]
    pub fn has_warm_up(&self) -> bool {
        self.excess.abs() >= SHARE_MIN && self.excess_p < RISK
    }

    /// True when the series still rises or falls.
    #[must_use]
    pub fn drifts(&self) -> bool {
        self.drift.abs() >= SHARE_MIN && self.drift_p < RISK
    }
}

/// Analyses a series; `None` when it is shorter than [`VALUES_MIN`] or its mean is not positive.
///
/// MSER-5 selects the initial values that differ; if a straight line fits the whole series better
/// than two levels do, the series drifts and none are selected. The selected values are compared
/// with the rest by the t of their mean against the variation of the rest,
/// `t = (mean_out - mean_rest) / (f · s_rest · √(1/n_out + 1/n_rest))` over batches of five values;
/// the p-value is multiplied by the number of possible truncation points (Bonferroni). The trend of
/// the rest is tested by Mann and Kendall's `z = (|S| - 1) / (f · σ)`, with `S` the number of
/// ascending pairs minus the number of descending ones and `σ² = n(n-1)(2n+5)/18` (H. B. Mann,
/// "Nonparametric tests against trend", Econometrica 13, 1945).
///
/// Consecutive seconds are correlated, so both are widened by `f = √((1+r)/(1-r))`, the factor for
/// a first-order autoregressive series. `r` is the correlation of consecutive batches without their
/// trend, at least 0, plus `(1+4r)/n`, its bias (M. G. Kendall, "Note on bias in the estimation of
/// autocorrelation", Biometrika 41, 1954).
#[must_use]
pub fn steadiness(values: &[f64]) -> Option<Steadiness> {
    if values.len() < VALUES_MIN {
        return None;
    }
    let batch = BATCH.max(values.len().div_ceil(BATCHES_MAX));
    let batches = averaged(values, batch);
    let cut = truncation(&batches);
    let levels = sum_of_squares(&batches[..cut]) + sum_of_squares(&batches[cut..]);
    let is_line = sum_of_squares(&without_trend(&batches, theil_sen(&batches)?)) <= levels;
    let (initial, rest) = batches.split_at(if is_line { 0 } else { cut });
    let (all, of_rest) = (mean(&batches)?, mean(rest).filter(|mean| *mean > 0.0)?);
    let slope = theil_sen(rest)?;
    let error_inflation = error_inflation(&without_trend(rest, slope));
    Some(Steadiness {
        warm_up: initial.len() * batch,
        excess: all / of_rest - 1.0,
        excess_p: (warm_up_p(initial, rest, error_inflation)? * (batches.len() / 2) as f64)
            .min(1.0),
        drift: slope * rest.len() as f64 / of_rest,
        drift_p: trend_p(rest, error_inflation),
    })
}

/// Means of `batch` consecutive values; an incomplete last group is ignored.
fn averaged(values: &[f64], batch: usize) -> Vec<f64> {
    values.chunks_exact(batch).filter_map(mean).collect()
}

fn without_trend(values: &[f64], slope: f64) -> Vec<f64> {
    values.iter().enumerate().map(|(i, value)| value - slope * i as f64).collect()
}

/// Factor by which correlation increases errors.
fn error_inflation(values: &[f64]) -> f64 {
    let (mean, squares) = (mean(values).unwrap_or_default(), sum_of_squares(values));
    let products: f64 = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    // Rounding errors of a straight line are not variation.
    let is_scatter = squares > 1e-24 * values.iter().map(|value| value * value).sum::<f64>();
    let r = if is_scatter { products / squares } else { 0.0 };
    // With few values an estimate close to 1 is unreliable.
    let r = (r + (1.0 + 4.0 * r) / values.len() as f64).clamp(0.0, 0.95);
    ((1.0 + r) / (1.0 - r)).sqrt()
}

/// Two-sided p-value of "the first values equal the others", with the variation of the rest.
fn warm_up_p(first: &[f64], rest: &[f64], error_inflation: f64) -> Option<f64> {
    let Some(mean_of_first) = mean(first) else { return Some(1.0) };
    let difference = (mean_of_first - mean(rest)?).abs();
    let error = error_inflation
        * (variance(rest)? * (1.0 / first.len() as f64 + 1.0 / rest.len() as f64)).sqrt();
    Some(difference_p(difference, error, rest.len() as f64 - 1.0))
}

/// Two-sided p-value of "there is no trend".
fn trend_p(values: &[f64], error_inflation: f64) -> f64 {
    let pairs = values
        .iter()
        .enumerate()
        .flat_map(|(i, first)| values[i + 1..].iter().map(move |it| it.total_cmp(first)));
    let rising = pairs.fold(0_i64, |sum, order| sum + order as i64);
    let n = values.len() as f64;
    let deviation = error_inflation * (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
    // With this many degrees of freedom t is normal.
    difference_p((rising.abs() as f64 - 1.0).max(0.0), deviation, 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warm_up_is_cut_where_it_ends() {
        let series: Vec<f64> = (0..100)
            .map(|i| if i < 15 { f64::from(i) * 6.0 } else { 100.0 + f64::from(i % 2) })
            .collect();
        assert_eq!(truncation(&averaged(&series, BATCH)), 3);
        let judged = steadiness(&series).expect("long enough");
        assert!(judged.has_warm_up() && judged.warm_up == 15 && !judged.drifts(), "{judged:?}");
    }

    #[test]
    fn a_steady_series_keeps_everything() {
        let series: Vec<f64> = (0..60).map(|i| 100.0 + f64::from(i % 5)).collect();
        assert_eq!(truncation(&averaged(&series, BATCH)), 0);
    }

    #[test]
    fn a_series_that_rises_to_the_end_never_settles_and_is_a_drift() {
        let series: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(truncation(&averaged(&series, BATCH)), 10);
        let judged = steadiness(&series).expect("long enough");
        assert!(judged.drifts() && !judged.has_warm_up() && judged.warm_up == 0, "{judged:?}");
    }

    /// Noise around 1 with a standard deviation of 5 %, in which each second depends on the one
    /// before (xorshift64*).
    struct AutoregressiveNoise {
        state: u64,
        carried: f64,
        last: f64,
    }

    impl AutoregressiveNoise {
        fn new(seed: u64, carried: f64) -> Self {
            let state = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            Self { state, carried, last: 0.0 }
        }

        fn uniform(&mut self) -> f64 {
            self.state ^= self.state >> 12;
            self.state ^= self.state << 25;
            self.state ^= self.state >> 27;
            (self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1_u64 << 53) as f64
        }

        fn next(&mut self) -> f64 {
            let normal = (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0;
            self.last = self.carried * self.last + (1.0 - self.carried.powi(2)).sqrt() * normal;
            1.0 + 0.05 * self.last
        }

        fn series(&mut self, seconds: usize, of: impl Fn(f64) -> f64) -> Vec<f64> {
            (0..seconds).map(|second| 1000.0 * of(second as f64) * self.next()).collect()
        }
    }

    #[test]
    fn steady_series_raise_no_alarm_however_their_seconds_hang_together() {
        for carried in [0.0, 0.5, 0.8] {
            for seconds in [40, 60, 120, 300] {
                let alarms = (0..300).filter(|seed| {
                    let series = AutoregressiveNoise::new(*seed, carried).series(seconds, |_| 1.0);
                    let found = steadiness(&series).expect("long enough");
                    found.has_warm_up() || found.drifts()
                });
                let alarms = alarms.count();
                assert!(alarms <= 3, "{alarms} of 300 with {seconds} s, {carried}");
            }
        }
    }

    #[test]
    fn a_cycle_is_no_drift() {
        for period in [10.0, 20.0, 30.0] {
            let series = AutoregressiveNoise::new(1, 0.0)
                .series(120, |second| 1.0 + 0.2 * (second * std::f64::consts::TAU / period).sin());
            let found = steadiness(&series).expect("long enough");
            assert!(!found.has_warm_up() && !found.drifts(), "{period}: {found:?}");
        }
    }

    #[test]
    fn missed_warm_up_is_detected_with_length_and_effect_on_mean() {
        let mut found = 0;
        for seed in 0..50 {
            let series = AutoregressiveNoise::new(seed, 0.3)
                .series(90, |second| if second < 20.0 { 0.5 } else { 1.0 });
            let judged = steadiness(&series).expect("long enough");
            assert!(!judged.drifts(), "{judged:?}");
            if judged.has_warm_up() {
                found += 1;
                assert!(judged.warm_up >= 20, "{judged:?}");
                assert!((judged.excess + 20.0 * 0.5 / 90.0).abs() < 0.04, "{judged:?}");
            }
        }
        assert!(found >= 45, "{found} of 50");
    }

    #[test]
    fn a_drift_is_found_with_its_size_and_direction() {
        let mut found = 0;
        for seed in 0..50 {
            let falling = AutoregressiveNoise::new(seed, 0.3)
                .series(300, |second| 1.1 - 0.2 * second / 300.0);
            let judged = steadiness(&falling).expect("long enough");
            if judged.warm_up == 0 {
                assert!((judged.drift + 0.2).abs() < 0.06, "{judged:?}");
            }
            found += usize::from(judged.drifts());
        }
        assert!(found >= 45, "{found} of 50");
        let rising =
            AutoregressiveNoise::new(1, 0.0).series(300, |second| 0.9 + 0.2 * second / 300.0);
        assert!(steadiness(&rising).expect("long enough").drift > 0.15);
        // Significant, but too small to matter.
        let small: Vec<f64> = (0..120).map(|i| 1000.0 + f64::from(i) * 0.1).collect();
        let judged = steadiness(&small).expect("long enough");
        assert!(!judged.drifts() && judged.drift_p < 0.001, "{judged:?}");
    }

    #[test]
    fn too_short_a_series_is_not_judged() {
        assert_eq!(steadiness(&[1000.0; 39]), None);
        assert_eq!(steadiness(&[0.0; 60]), None);
        let same = steadiness(&[1000.0; 40]).expect("long enough");
        assert!(!same.has_warm_up() && !same.drifts(), "{same:?}");
    }

    #[test]
    fn a_long_series_is_averaged_into_few_parts() {
        let series: Vec<f64> = (0..20_000).map(|i| 1000.0 - 0.01 * f64::from(i)).collect();
        let judged = steadiness(&series).expect("long enough");
        assert!(judged.drifts() && (judged.drift + 200.0 / 900.0).abs() < 0.01, "{judged:?}");
    }

    #[test]
    fn the_slope_ignores_a_stall() {
        let mut series: Vec<f64> = (0..50).map(|i| 1000.0 + 2.0 * f64::from(i)).collect();
        series[20] = 0.0;
        assert!((theil_sen(&series).expect("many") - 2.0).abs() < 1e-9);
        assert_eq!(theil_sen(&[1.0]), None);
    }
}
