//! Random integers in a range with several distributions. Callers have checked ranges and
//! parameters.

use super::Generator;

/// Number of integers in a range; pgbench rejects ranges for which it overflows.
fn width(low: i64, high: i64) -> i64 {
    high - low + 1
}

/// Uniform in low..=high.
pub(crate) fn uniform(generator: &mut Generator, low: i64, high: i64) -> i64 {
    low.wrapping_add(generator.up_to(high.wrapping_sub(low) as u64) as i64)
}

/// Normal distribution on low..=high, truncated `parameter` standard deviations from the centre
/// (Box and Muller 1958, the sine of the pair).
pub(crate) fn gaussian(generator: &mut Generator, low: i64, high: i64, parameter: f64) -> i64 {
    let deviation = loop {
        let radius = (-2.0 * (1.0 - generator.unit()).ln()).sqrt();
        let deviation = radius * (2.0 * std::f64::consts::PI * (1.0 - generator.unit())).sin();
        if (-parameter..parameter).contains(&deviation) {
            break deviation;
        }
    };
    let share = (deviation + parameter) / (parameter * 2.0);
    low + (width(low, high) as f64 * share) as i64
}

/// Exponential distribution on low..=high, truncated at `parameter`: the inverse of its
/// distribution function.
pub(crate) fn exponential(generator: &mut Generator, low: i64, high: i64, parameter: f64) -> i64 {
    let cut = (-parameter).exp();
    let uniform = 1.0 - generator.unit();
    let share = -(cut + (1.0 - cut) * uniform).ln() / parameter;
    low + (width(low, high) as f64 * share) as i64
}

/// Zipf distribution on low..=high by rejection (Devroye, "Non-Uniform Random Variate Generation",
/// 1986, page 550).
pub(crate) fn zipfian(generator: &mut Generator, low: i64, high: i64, exponent: f64) -> i64 {
    let count = width(low, high);
    if count <= 1 {
        return low;
    }
    let less = exponent - 1.0;
    let bound = 2.0_f64.powf(less);
    loop {
        let u = generator.unit();
        let v = generator.unit();
        let x = u.powf(-1.0 / less).floor();
        let t = (1.0 + 1.0 / x).powf(less);
        if v * x * (t - 1.0) / (bound - 1.0) <= t / bound && x <= count as f64 {
            return low - 1 + x as i64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(seed: u64) -> Generator {
        Generator::new(seed).derive()
    }

    #[test]
    fn draws_equal_those_of_pgbench() {
        // pgbench --random-seed=42, one client, two transactions; hash and default_seed in between
        // draw nothing.
        let mut random = client(42);
        let rows = [
            [668_251, 5, 433_232, 328_091, 134, -3_719_739_170_315_812_889, 15, 1],
            [821_325, -2, 576_773, 174_219, 9, -3_430_976_997_844_524_175, 27, 1],
        ];
        for row in rows {
            assert_eq!(uniform(&mut random, 1, 1_000_000), row[0]);
            assert_eq!(uniform(&mut random, -5, 5), row[1]);
            assert_eq!(gaussian(&mut random, 1, 1_000_000, 2.5), row[2]);
            assert_eq!(exponential(&mut random, 1, 1_000_000, 3.0), row[3]);
            assert_eq!(zipfian(&mut random, 1, 1_000_000, 1.07), row[4]);
            assert_eq!(uniform(&mut random, -9_223_372_036_854_775_807, -3), row[5]);
            assert_eq!(gaussian(&mut random, 1, 100, 2.0), row[6]);
            assert_eq!(zipfian(&mut random, 1, 100, 2.5), row[7]);
        }
    }

    /// Share of draws that satisfy a condition.
    fn share(draw: impl Fn(&mut Generator) -> i64, is_hit: impl Fn(i64) -> bool) -> f64 {
        let mut random = client(7);
        let hits = (0..20_000).filter(|_| is_hit(draw(&mut random))).count();
        hits as f64 / 20_000.0
    }

    #[test]
    fn distributions_have_the_documented_shape() {
        // Half of a normal distribution truncated at 2.5 lies within 0.6745 standard deviations,
        // corrected for the truncation.
        let middle = share(|random| gaussian(random, 1, 1_000, 2.5), |n| (366..=635).contains(&n));
        assert!((middle - 0.5).abs() < 0.02, "{middle}");
        // The first half of an exponential distribution with parameter 3: (1 - e^-1.5) / (1 -
        // e^-3).
        let first = share(|random| exponential(random, 1, 1_000, 3.0), |n| n <= 500);
        assert!((first - 0.8176).abs() < 0.02, "{first}");
        // 1 is (2/1)^2.5 times as frequent as 2.
        let one = share(|random| zipfian(random, 1, 1_000, 2.5), |n| n == 1);
        let two = share(|random| zipfian(random, 1, 1_000, 2.5), |n| n == 2);
        assert!((one / two - 5.66).abs() < 0.4, "{one} {two}");
        assert!((share(|random| uniform(random, 0, 9), |n| n < 3) - 0.3).abs() < 0.02);
    }

    #[test]
    fn no_draw_is_out_of_range() {
        let mut random = client(3);
        for _ in 0..5_000 {
            for draw in [uniform(&mut random, -3, 3), gaussian(&mut random, -3, 3, 2.0)] {
                assert!((-3..=3).contains(&draw), "{draw}");
            }
            for draw in [exponential(&mut random, -3, 3, 0.1), zipfian(&mut random, -3, 3, 1.001)] {
                assert!((-3..=3).contains(&draw), "{draw}");
            }
        }
        assert_eq!(zipfian(&mut random, 5, 5, 2.0), 5);
    }
}
