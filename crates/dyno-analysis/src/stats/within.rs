//! The variation of trial means that results from variation between seconds within trials, which
//! longer windows would reduce.
//!
//! Seconds are correlated, so a mean of `n` of them is less precise than a mean of `n` independent
//! values. They are modelled as a first-order autoregressive series:
//! `var(mean) = s² / n · (1 + r) / (1 - r)` (G. E. P. Box, G. M. Jenkins, *Time Series Analysis*,
//! 1970). A trial of ten seconds estimates `s` poorly and `r` hardly at all; all trials of a
//! question together estimate both.

use super::student::mean;

/// Minimum number of intervals of a trial.
const INTERVALS_MIN: usize = 5;
/// Minimum degrees of freedom of all trials together.
const DEGREES_MIN: f64 = 30.0;
/// Upper bound of the correlation between consecutive seconds.
const AUTOCORRELATION_MAX: f64 = 0.9;

/// Variance of the logarithm of a trial's mean that results from the variation within trials,
/// averaged over trials of similar length; `None` with too few intervals, or a trial with a mean of
/// 0.
#[must_use]
pub fn variance_of_means(trials: &[Vec<f64>]) -> Option<f64> {
    let (mut squares, mut products, mut degrees, mut intervals) = (0.0, 0.0, 0.0, 0.0);
    for values in trials {
        let mean = mean(values).filter(|mean| *mean > 0.0 && values.len() >= INTERVALS_MIN)?;
        let deviations: Vec<f64> = values.iter().map(|value| value / mean - 1.0).collect();
        squares += deviations.iter().map(|it| it * it).sum::<f64>();
        products += deviations.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>();
        degrees += (values.len() - 1) as f64;
        intervals += values.len() as f64;
    }
    if degrees < DEGREES_MIN {
        return None;
    }
    if squares == 0.0 {
        return Some(0.0);
    }
    let intervals_per_trial = intervals / trials.len() as f64;
    // Around their own mean, short series appear less correlated than they are: by (1 + 3 r) / n on
    // average (M. G. Kendall, Biometrika 41, 1954).
    let autocorrelation =
        (products / squares + 1.0 / intervals_per_trial) / (1.0 - 3.0 / intervals_per_trial);
    let autocorrelation = autocorrelation.clamp(0.0, AUTOCORRELATION_MAX);
    let factor = (1.0 + autocorrelation) / (1.0 - autocorrelation);
    // They also vary less around it than around the true mean.
    let seen = 1.0 - (factor - 1.0) / (intervals_per_trial - 1.0);
    Some(squares / degrees / seen.max(0.1) / intervals_per_trial * factor)
}

#[cfg(test)]
mod tests {
    use super::super::noise::Noise;
    use super::super::student::variance;
    use super::*;

    #[test]
    fn variance_of_means_is_correct_for_autocorrelated_seconds() {
        for (autocorrelation, length) in [(0.0, 10), (0.5, 10), (0.5, 30)] {
            let mut noise = Noise::of(13);
            let trial = |noise: &mut Noise| {
                let fresh = f64::sqrt(1.0 - autocorrelation * autocorrelation);
                let mut state = noise.normal();
                let mut next = || {
                    state = autocorrelation * state + fresh * noise.normal();
                    1000.0 * (1.0 + 0.05 * state)
                };
                (0..length).map(|_| next()).collect::<Vec<f64>>()
            };
            let trials: Vec<Vec<f64>> = (0..400).map(|_| trial(&mut noise)).collect();
            let means: Vec<f64> = trials.iter().filter_map(|it| mean(it)).map(f64::ln).collect();
            let (reported, true_one) =
                (variance_of_means(&trials).expect("enough"), variance(&means).expect("many"));
            assert!(
                (reported / true_one - 1.0).abs() < 0.25,
                "{autocorrelation} {length}: {reported} {true_one}"
            );
        }
    }

    #[test]
    fn windows_of_few_seconds_tell_nothing() {
        assert_eq!(variance_of_means(&vec![vec![1.0, 2.0, 3.0]; 100]), None);
        assert_eq!(variance_of_means(&[vec![1.0, 2.0, 3.0, 2.0, 1.0]]), None);
        assert_eq!(variance_of_means(&vec![vec![2.0; 6]; 10]), Some(0.0));
    }
}
