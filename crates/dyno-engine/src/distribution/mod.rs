//! Key distributions as defined by sysbench: how often each of the keys low..=high is drawn.
//!
//! None of them scrambles: hot keys are neighbours (low keys for pareto and zipfian, the middle for
//! special and gaussian), as users of sysbench expect.

mod zipfian;

use crate::random::Random;
use zipfian::Zipfian;

/// A distribution over any range of keys.
#[derive(Debug, Clone)]
pub enum Distribution {
    /// All keys with equal probability.
    Uniform,
    /// A bell around the middle: the mean of `iterations` uniform draws.
    Gaussian {
        /// Draws per key; 12 makes the standard deviation 1/12 of the range.
        iterations: u32,
    },
    /// `share` of the draws hit the middle `width` of the range uniformly, the others the gaussian
    /// bell.
    Special {
        /// Draws per key of the bell.
        iterations: u32,
        /// Width of the hot middle as a share of the range (0 to 1).
        width: f64,
        /// Share of the draws that hit it (0 to 1).
        share: f64,
    },
    /// Self-similar: the lowest share h of the keys gets 1-h of the draws, and so on within them
    /// (Gray et al., SIGMOD 1994).
    Pareto {
        /// `ln h / ln (1-h)`.
        power: f64,
    },
    /// Zipf's law: key of rank k is drawn in proportion to `k^-exponent`.
    Zipfian(Zipfian),
}

impl Distribution {
    /// The 80/20 family: the lowest share `h` of the keys gets `1-h` of the draws.
    #[must_use]
    pub fn pareto(h: f64) -> Self {
        Self::Pareto { power: h.ln() / (1.0 - h).ln() }
    }

    /// Zipf's law with an exponent of at least 0.
    #[must_use]
    pub fn zipfian(exponent: f64) -> Self {
        Self::Zipfian(Zipfian::new(exponent))
    }

    /// Draws a key from low..=high.
    pub fn draw(&self, random: &mut Random, low: i64, high: i64) -> i64 {
        let size = (high - low + 1) as f64;
        let offset = match self {
            Self::Uniform => return random.between(low, high),
            Self::Gaussian { iterations } => mean_of_draws(random, *iterations) * size,
            Self::Special { iterations, width, share } => {
                if random.unit() < *share {
                    (0.5 + (random.unit() - 0.5) * width) * size
                } else {
                    mean_of_draws(random, *iterations) * size
                }
            }
            Self::Pareto { power } => random.unit().powf(*power) * size,
            Self::Zipfian(zipfian) => {
                return low + zipfian.rank(random, (high - low) as u64 + 1) as i64 - 1;
            }
        };
        (low + offset as i64).min(high)
    }
}

/// Mean of uniform draws in [0, 1).
fn mean_of_draws(random: &mut Random, iterations: u32) -> f64 {
    let iterations = iterations.max(1);
    (0..iterations).map(|_| random.unit()).sum::<f64>() / f64::from(iterations)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    const DRAWS: usize = 400_000;
    const KEYS: usize = 10_000;

    fn counts(distribution: &Distribution) -> Vec<u32> {
        let mut random = Random::new(11, Stream::Transaction, 0, 0);
        let mut counts = vec![0; KEYS];
        for _ in 0..DRAWS {
            let key = distribution.draw(&mut random, 1, KEYS as i64);
            counts[usize::try_from(key - 1).expect("keys start at 1")] += 1;
        }
        counts
    }

    fn share(counts: &[u32], keys: std::ops::Range<usize>) -> f64 {
        f64::from(counts[keys].iter().sum::<u32>()) / DRAWS as f64
    }

    #[test]
    fn pareto_gives_a_fifth_of_the_keys_four_fifths_of_the_draws() {
        let counts = counts(&Distribution::pareto(0.2));
        assert!((share(&counts, 0..KEYS / 5) - 0.8).abs() < 0.01);
        // Self-similar: a fifth of that fifth gets 0.64.
        assert!((share(&counts, 0..KEYS / 25) - 0.64).abs() < 0.01);
    }

    #[test]
    fn special_gives_the_middle_percent_three_quarters_of_the_draws() {
        let special = Distribution::Special { iterations: 12, width: 0.01, share: 0.75 };
        let counts = counts(&special);
        // The bell adds 0.25 times its own share of the middle (peak density 4.8 over 1 %).
        let middle = share(&counts, KEYS / 2 - 50..KEYS / 2 + 50);
        assert!((middle - 0.762).abs() < 0.01, "{middle}");
    }

    #[test]
    fn gaussian_has_a_standard_deviation_of_a_twelfth_of_the_range() {
        let counts = counts(&Distribution::Gaussian { iterations: 12 });
        let mean =
            counts.iter().enumerate().map(|(key, &n)| key as f64 * f64::from(n)).sum::<f64>()
                / DRAWS as f64;
        let variance = counts
            .iter()
            .enumerate()
            .map(|(key, &n)| (key as f64 - mean).powi(2) * f64::from(n))
            .sum::<f64>()
            / DRAWS as f64;
        assert!((mean - 5000.0).abs() < 10.0);
        assert!((variance.sqrt() - KEYS as f64 / 12.0).abs() < 10.0);
    }

    #[test]
    fn zipfian_follows_the_law_for_exponents_below_at_and_above_one() {
        for exponent in [0.0, 0.8, 1.0, 1.5] {
            let counts = counts(&Distribution::zipfian(exponent));
            let weights: Vec<f64> = (1..=KEYS).map(|rank| (rank as f64).powf(-exponent)).collect();
            let total: f64 = weights.iter().sum();
            for keys in [0..1, 0..10, 0..100, 0..5000] {
                let expected = weights[keys.clone()].iter().sum::<f64>() / total;
                let found = share(&counts, keys.clone());
                assert!(
                    (found - expected).abs() < 0.004,
                    "exponent {exponent}, {keys:?}: {found} against {expected}"
                );
            }
        }
    }

    #[test]
    fn no_distribution_leaves_its_range() {
        let all = [
            Distribution::Uniform,
            Distribution::Gaussian { iterations: 12 },
            Distribution::Special { iterations: 12, width: 0.01, share: 0.75 },
            Distribution::pareto(0.2),
            Distribution::zipfian(0.8),
        ];
        for distribution in all {
            for high in [5, 6, 100] {
                let mut random = Random::new(3, Stream::Transaction, 0, 0);
                for _ in 0..10_000 {
                    let key = distribution.draw(&mut random, 5, high);
                    assert!(
                        (5..=high).contains(&key),
                        "{distribution:?} drew {key} from 5..={high}"
                    );
                }
            }
        }
    }
}
