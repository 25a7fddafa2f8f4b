//! Number of blocks that the next run needs, from the variation in an earlier run (the pilot).
//!
//! The variation is the standard deviation of `d_b = ln(subject_b / baseline_b)`, pooled over all
//! comparisons of the judged metric in the pilot: `s² = Σ (n_i - 1) s_i² / Σ (n_i - 1)`. With `n`
//! blocks, a difference is detected four times in five at 5 % risk if it is at least `exp((t(0.975;
//! n-1) + t(0.80; n-1)) · s / √n) - 1` (minimum detectable effect, Bloom 1995). A pilot with one
//! configuration has no differences; then `s²` is twice the variance of its logarithms, as for two
//! independent sides.

use crate::comparisons;
use crate::stats::student::{pooled, quantile};
use crate::view::View;
use dyno_model::plan::ComparisonMetric;
use dyno_store::RunData;

/// Most blocks that a plan may have.
pub const BLOCKS_MAX: u32 = 1000;
/// Fewest blocks that allow a verdict.
const BLOCKS_MIN: u32 = 3;
/// Relative differences for which a number of blocks is proposed.
pub const DIFFERENCES: [f64; 5] = [0.02, 0.05, 0.1, 0.2, 0.5];

/// The variation between the blocks of a pilot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pilot {
    /// The metric.
    pub metric: ComparisonMetric,
    /// Standard deviation, between blocks, of the difference of two configurations on the
    /// logarithmic scale: 0.05 is about 5 %.
    pub deviation: f64,
    /// Number of comparisons pooled; 0 if the estimate comes from the trials of single
    /// configurations.
    pub comparisons: usize,
    /// Degrees of freedom of the estimate.
    pub degrees: usize,
}

/// The variation of a run; `None` if nothing was measured twice.
#[must_use]
pub fn pilot(data: &RunData) -> Option<Pilot> {
    let view = View::new(data);
    let metric = view.plan().primary_metric();
    let differences = comparisons::differences(&view, metric);
    if let Some((deviation, comparisons, degrees)) = pooled(&differences) {
        return Some(Pilot { metric, deviation, comparisons, degrees });
    }
    let logarithms = |(configuration, _)| -> Vec<f64> {
        let values = view.valid(configuration).filter_map(|record| record.figure(metric));
        values.filter(|value| *value > 0.0).map(f64::ln).collect()
    };
    let values: Vec<Vec<f64>> = view.configurations().map(logarithms).collect();
    let (deviation, _, degrees) = pooled(&values)?;
    Some(Pilot { metric, deviation: deviation * 2_f64.sqrt(), comparisons: 0, degrees })
}

impl Pilot {
    /// The smallest relative difference that this number of blocks detects four times in five;
    /// `None` for fewer than two blocks.
    #[must_use]
    pub fn detectable(&self, blocks: u32) -> Option<f64> {
        let degrees = f64::from(blocks.checked_sub(1).filter(|degrees| *degrees > 0)?);
        let t = quantile(0.975, degrees) + quantile(0.80, degrees);
        Some((t * self.deviation / f64::from(blocks).sqrt()).exp_m1())
    }

    /// The number of blocks that detects a relative difference (0.05: 5 %) four times in five;
    /// `None` if a thousand are not enough.
    #[must_use]
    pub fn blocks_for(&self, difference: f64) -> Option<u32> {
        (BLOCKS_MIN..=BLOCKS_MAX)
            .find(|blocks| self.detectable(*blocks).is_some_and(|from| from <= difference))
    }

    /// The deviation as a relative difference: 0.05 for a variation of 5 %.
    #[must_use]
    pub fn scatter(&self) -> f64 {
        self.deviation.exp_m1()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pilot(deviation: f64) -> Pilot {
        Pilot { metric: ComparisonMetric::Throughput, deviation, comparisons: 1, degrees: 2 }
    }

    #[test]
    fn pilot_blocks_follow_from_variance_and_effect_size() {
        // (t(.975; n-1) + t(.80; n-1)) / √n for n = 5: (2.776 + 0.941) / 2.236 = 1.662.
        assert!((pilot(0.03).detectable(5).unwrap() - (1.662_f64 * 0.03).exp_m1()).abs() < 1e-4);
        assert_eq!(pilot(0.03).blocks_for(0.06), Some(5));
        assert_eq!(pilot(0.001).blocks_for(0.05), Some(3), "fewer get no verdict");
        assert_eq!(pilot(2.0).blocks_for(0.01), None);
        assert_eq!(pilot(0.03).detectable(1), None);
    }

    #[test]
    fn scatter_is_pooled_by_degrees_of_freedom() {
        let sets = [vec![1.0, 3.0], vec![2.0, 2.0, 2.0], vec![9.0]];
        let (deviation, count, degrees) = pooled(&sets).unwrap();
        assert!((deviation - (2.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!((count, degrees), (2, 3));
        assert_eq!(pooled(&[vec![1.0]]), None);
    }

    #[test]
    fn a_run_tells_the_scatter_of_its_differences() {
        let folder = tempfile::tempdir().unwrap();
        let run = dyno_store::fixture::Shape::rush().write(&folder.path().join("run")).unwrap();
        let data = dyno_store::Run::open(&run).unwrap().read_trials();
        let found = super::pilot(&data).unwrap();
        assert!(found.comparisons > 10 && found.degrees >= found.comparisons * 2, "{found:?}");
        assert!((0.001..0.5).contains(&found.deviation), "{found:?}");
    }
}
