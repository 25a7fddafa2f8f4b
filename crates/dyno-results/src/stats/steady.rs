//! Whether a series of per-second values has settled, and whether it still drifts.

/// Number of neighbouring values that MSER-5 averages into one batch.
const BATCH: usize = 5;

/// Number of values at the beginning to leave out so that the rest is steadiest (MSER-5); `None` when the series is too
/// short or never settles in its first half.
///
/// Values are averaged in batches of five, `z_1..z_m`; the truncation point is the `d <= m/2` that minimises
/// `1/(m-d)² · Σ_{j>d} (z_j - mean_{>d})²`. Source: K. P. White, M. J. Cobb and S. C. Spratt, "A comparison of five
/// steady-state truncation heuristics for simulation", Winter Simulation Conference 2000.
#[must_use]
pub fn mser5(values: &[f64]) -> Option<usize> {
    let batches: Vec<f64> =
        values.chunks_exact(BATCH).map(|batch| batch.iter().sum::<f64>() / BATCH as f64).collect();
    let m = batches.len();
    if m < 4 {
        return None;
    }
    let mut best = (f64::INFINITY, 0);
    for d in 0..=m / 2 {
        let rest = &batches[d..];
        let n = rest.len() as f64;
        let mean = rest.iter().sum::<f64>() / n;
        let score = rest.iter().map(|z| (z - mean).powi(2)).sum::<f64>() / (n * n);
        if score < best.0 {
            best = (score, d);
        }
    }
    // A minimum at the very end of the search says that the series had not settled by then.
    if best.1 == m / 2 { None } else { Some(best.1 * BATCH) }
}

/// Slope of a series per step: the median of the slopes between all pairs of values, which single outliers cannot move;
/// `None` for fewer than two values.
///
/// Source: P. K. Sen, "Estimates of the regression coefficient based on Kendall's tau", J. Amer. Statist. Assoc. 63 (1968).
#[must_use]
pub fn theil_sen(values: &[f64]) -> Option<f64> {
    let mut slopes = Vec::with_capacity(values.len() * values.len().saturating_sub(1) / 2);
    for (i, first) in values.iter().enumerate() {
        for (distance, second) in values[i + 1..].iter().enumerate() {
            slopes.push((second - first) / (distance + 1) as f64);
        }
    }
    slopes.sort_by(f64::total_cmp);
    let middle = slopes.len() / 2;
    match slopes.len() {
        0 => None,
        n if n % 2 == 1 => Some(slopes[middle]),
        _ => Some((slopes[middle - 1] + slopes[middle]) / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warm_up_is_cut_where_it_ends() {
        let series: Vec<f64> =
            (0..100).map(|i| if i < 15 { f64::from(i) * 6.0 } else { 100.0 + f64::from(i % 2) }).collect();
        assert_eq!(mser5(&series), Some(15));
    }

    #[test]
    fn a_steady_series_keeps_everything() {
        let series: Vec<f64> = (0..60).map(|i| 100.0 + f64::from(i % 5)).collect();
        assert_eq!(mser5(&series), Some(0));
    }

    #[test]
    fn a_series_that_rises_to_the_end_never_settles() {
        let series: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(mser5(&series), None);
        assert_eq!(mser5(&series[..10]), None);
    }

    #[test]
    fn the_slope_ignores_a_stall() {
        let mut series: Vec<f64> = (0..50).map(|i| 1000.0 + 2.0 * f64::from(i)).collect();
        series[20] = 0.0;
        assert!((theil_sen(&series).expect("many") - 2.0).abs() < 1e-9);
        assert_eq!(theil_sen(&[1.0]), None);
    }
}
