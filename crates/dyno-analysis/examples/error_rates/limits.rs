//! Limits: how often a figure passes, or fails, that lies exactly at its limit.

use crate::{Random, out};
use dyno_analysis::stats::limit::{LimitTest, mean_against, proportion_against};

/// Distribution of the trials; its mean is 1.
#[derive(Clone, Copy, PartialEq)]
enum Trials {
    Lognormal,
    Gamma,
}

pub(crate) fn at_the_limit(random: &mut Random, reports: usize) {
    out(
        "\n## Figures at their limit: % of reports in which it passes, and in which it fails, each tested at 5 %. Shares of failed transactions (1 % of 100,000 and of 1,000 transactions in a trial), and times or throughput (geometric mean)",
    );
    out(
        "| trials vary by | distribution | trials | share passes | fails | few draws passes | fails | mean passes | fails |",
    );
    out("|---|---|---|---|---|---|---|---|---|");
    for variation in [0.0, 0.1, 0.3, 0.5, 1.0] {
        for of in [Trials::Lognormal, Trials::Gamma] {
            let center = of.geometric_mean(variation);
            for trials in [2, 3, 5, 10] {
                let mut sums = [0.0; 6];
                for _ in 0..reports {
                    let values: Vec<f64> =
                        (0..trials).map(|_| of.value(random, variation)).collect();
                    let mut count = |it: Option<LimitTest>, at: usize| {
                        let it = it.expect("trials");
                        sums[at] += f64::from(u8::from(it.below < 0.05));
                        sums[at + 1] += f64::from(u8::from(it.above < 0.05));
                    };
                    for (at, draws) in [(0, 100_000_u32), (2, 1_000)] {
                        let mean = 0.01 * f64::from(draws);
                        let counts: Vec<(u64, u64)> = values
                            .iter()
                            .map(|it| (random.poisson(mean * it), u64::from(draws)))
                            .collect();
                        count(proportion_against(&counts, 0.01), at);
                    }
                    let values: Vec<f64> = values.iter().map(|it| it.max(1e-12)).collect();
                    count(mean_against(&values, center), 4);
                }
                let shares: Vec<String> =
                    sums.iter().map(|sum| format!("{:.1}", 100.0 * sum / reports as f64)).collect();
                let name = if of == Trials::Lognormal { "lognormal" } else { "gamma" };
                let variation = 100.0 * variation;
                out(&format!("| {variation} % | {name} | {trials} | {} |", shares.join(" | ")));
            }
        }
    }
}

impl Trials {
    /// A trial, with this coefficient of variation.
    fn value(self, random: &mut Random, variation: f64) -> f64 {
        if variation == 0.0 {
            return 1.0;
        }
        let shape = variation.powi(-2);
        match self {
            Self::Lognormal => {
                let variance = variation.powi(2).ln_1p();
                (variance.sqrt() * random.normal() - variance / 2.0).exp()
            }
            // Whole shapes by sums of exponentials, halves by the square of a normal.
            Self::Gamma => {
                let exponentials: f64 =
                    (0..shape as u32).map(|_| -(1.0 - random.uniform()).ln()).sum();
                let rest = shape - shape.floor();
                let half = if rest > 0.25 { random.normal().powi(2) / 2.0 } else { 0.0 };
                (exponentials + half) / (shape.floor() + if rest > 0.25 { 0.5 } else { 0.0 })
            }
        }
    }

    fn geometric_mean(self, variation: f64) -> f64 {
        match self {
            Self::Lognormal => (-variation.powi(2).ln_1p() / 2.0).exp(),
            Self::Gamma if variation == 0.0 => 1.0,
            Self::Gamma => {
                let mut random = Random(99);
                let number = 100_000;
                let sum: f64 =
                    (0..number).map(|_| self.value(&mut random, variation).max(1e-12).ln()).sum();
                (sum / f64::from(number)).exp()
            }
        }
    }
}

impl Random {
    /// A Poisson number: by exponential gaps, and by the normal approximation beyond 500.
    fn poisson(&mut self, mean: f64) -> u64 {
        if mean > 500.0 {
            return (mean + mean.sqrt() * self.normal()).round().max(0.0) as u64;
        }
        let (mut sum, mut number) = (0.0, 0);
        loop {
            sum -= (1.0 - self.uniform()).ln();
            if sum > mean {
                return number;
            }
            number += 1;
        }
    }
}
