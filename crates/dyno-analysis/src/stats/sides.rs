//! Comparison of two sides of runs that share no block, over all common configurations: one effect,
//! and a test of each configuration.
//!
//! The effect comes from the mixed model of [`super::mixed`]. Its cells are the configurations of
//! each side; its strata are runs, blocks of a run, starts of a server in a block, and data sets of
//! a start, as far as they can be separated. If a side has several runs, the variation between them
//! is the error of the change. If each side is one run, this variation cannot be separated from the
//! change and is part of the effect; blocks are then the error ([`OverallEffect::runs`]).
//!
//! A single configuration is tested by Welch's test over its trials. That test assumes independent
//! trials, so the variance shared by trials of a run is added, as the model estimates it over all
//! configurations, with its degrees of freedom.

use super::compare::{RatioTest, welch};
use super::mixed::{self, Fit};
use super::strata::{self, GroupedValue};
use std::collections::{BTreeMap, BTreeSet};

/// Where a value was measured. Runs are numbered within their side, everything else within its
/// parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// The run.
    pub run: usize,
    /// The block of the run.
    pub block: u32,
    /// The start of a server in the block.
    pub start: usize,
    /// The data set of the start.
    pub data_set: usize,
}

/// A common configuration: its positive values with their origin.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cell {
    /// Values of base.
    pub base: Vec<(Origin, f64)>,
    /// Values of new.
    pub new: Vec<(Origin, f64)>,
}

impl Cell {
    /// New against base by Welch's test; `None` with fewer than two values on a side.
    #[must_use]
    pub fn welch(&self) -> Option<RatioTest> {
        let [base, new] = self.values();
        welch(&new, &base)
    }

    /// The values of base and new.
    #[must_use]
    pub fn values(&self) -> [Vec<f64>; 2] {
        self.sides().map(|side| side.iter().map(|(_, value)| *value).collect())
    }

    fn sides(&self) -> [&[(Origin, f64)]; 2] {
        [&self.base, &self.new]
    }
}

/// Variation between runs of a side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Runs {
    /// Variance between runs, of logarithms; negative where they vary less than their blocks
    /// predict.
    pub variance: f64,
    /// Its degrees of freedom: number of runs minus one for each side.
    pub degrees: f64,
}

/// Result over all configurations.
#[derive(Debug, Clone, Default)]
pub struct OverallEffect {
    /// New against base over all of them; absent with one configuration of one run on each side,
    /// with fewer than the minimum number of blocks on a side, or without variation.
    pub effect: Option<RatioTest>,
    /// Variation between runs of a side; absent where each side is one run, so that this variation
    /// is part of the effect and not of its error.
    pub runs: Option<Runs>,
    /// The model. The mean of configuration `i` has index `2 i` for base and `2 i + 1` for new.
    pub fit: Option<Fit>,
    /// Share of the model's degrees of freedom that is used.
    pub share: f64,
}

/// Fits configurations with at least two values on both sides.
#[must_use]
pub fn overall(cells: &[Cell], least_blocks: usize) -> OverallEffect {
    let (rows, strata_used) = strata::rows(&grouped_values(cells));
    let [of_base, of_new] =
        [0, 1].map(|side| group_count(cells, side, |origin| (origin.run, origin.block)));
    if strata_used.is_empty() {
        let enough = cells.len() > 1 && of_base.min(of_new) >= least_blocks;
        return OverallEffect {
            effect: effect_of_separate_runs(cells).filter(|_| enough),
            ..OverallEffect::default()
        };
    }
    let runs =
        [0, 1].map(|side| group_count(cells, side, |origin| origin.run)).iter().sum::<usize>();
    // Runs are the outermost stratum.
    let has_runs = strata_used.first() == Some(&0);
    let between_runs = runs.saturating_sub(2) as f64;
    let share = 1.0 / cells.len() as f64;
    let weights: Vec<f64> =
        (0..2 * cells.len()).map(|at| if at % 2 == 1 { share } else { -share }).collect();
    let own: Vec<(f64, f64)> =
        cells.iter().filter_map(Cell::welch).map(|test| test.error_variance()).collect();
    // The means of the blocks of both sides, or of their runs, minus a mean for each side, remain
    // however different the configurations are.
    let least = if has_runs { between_runs } else { (of_base + of_new).saturating_sub(2) as f64 };
    let Some(found) = mixed::effect(&rows, &weights, &own, least.max(1.0)) else {
        return OverallEffect::default();
    };
    let runs = has_runs.then(|| Runs { variance: found.fit.variances()[0], degrees: between_runs });
    // A single configuration with several runs has an effect over its runs, too.
    let enough = (cells.len() > 1 || has_runs) && of_base.min(of_new) >= least_blocks;
    let effect = RatioTest::of(
        found.contrast.estimate,
        found.contrast.error,
        found.contrast.degrees,
        of_base.min(of_new),
    );
    OverallEffect {
        effect: Some(effect).filter(|_| enough),
        runs,
        share: if enough { found.share } else { 1.0 },
        fit: Some(found.fit),
    }
}

/// The effect over configurations that share nothing, each measured in separate runs: the mean of
/// their differences.
fn effect_of_separate_runs(cells: &[Cell]) -> Option<RatioTest> {
    let tests: Vec<RatioTest> = cells.iter().map(Cell::welch).collect::<Option<_>>()?;
    let test_count = tests.len() as f64;
    let difference = tests.iter().map(|test| test.ratio.ln()).sum::<f64>() / test_count;
    let own: Vec<(f64, f64)> = tests.iter().map(RatioTest::error_variance).collect();
    let error = own.iter().map(|(variance, _)| variance).sum::<f64>().sqrt() / test_count;
    let repeats = tests.iter().map(|test| test.repeats).min()?;
    Some(RatioTest::of(difference, error, mixed::welch_degrees(&own, 1.0), repeats))
}

type GroupKey = (usize, usize, Option<u32>, Option<usize>, Option<usize>);

fn grouped_values(cells: &[Cell]) -> Vec<GroupedValue<GroupKey>> {
    let values = cells.iter().enumerate().flat_map(|(cell, it)| {
        let sides = it.sides().into_iter().enumerate();
        sides.flat_map(move |(side, values)| values.iter().map(move |value| (cell, side, value)))
    });
    let grouped = |(cell, side, (Origin { run, block, start, data_set }, value)): (
        usize,
        usize,
        &(Origin, f64),
    )| {
        GroupedValue {
            value: value.ln(),
            cell: 2 * cell + side,
            groups: vec![
                (side, *run, None, None, None),
                (side, *run, Some(*block), None, None),
                (side, *run, Some(*block), Some(*start), None),
                (side, *run, Some(*block), Some(*start), Some(*data_set)),
            ],
        }
    };
    values.map(grouped).collect()
}

/// Number of different groups of a side's values.
fn group_count<G: Ord>(cells: &[Cell], side: usize, group: impl Fn(&Origin) -> G) -> usize {
    let origins = cells.iter().flat_map(|cell| cell.sides()[side]);
    origins.map(|(origin, _)| group(origin)).collect::<BTreeSet<_>>().len()
}

/// A configuration's test with the variance between runs added to its error.
#[must_use]
pub fn with_runs(test: &RatioTest, cell: &Cell, runs: Option<Runs>) -> RatioTest {
    let Some(runs) = runs.filter(|runs| runs.degrees > 0.0) else { return *test };
    let added: f64 =
        cell.sides().into_iter().map(|side| runs.variance * share_not_included(side)).sum();
    test.with_added_variance(added, runs.degrees)
}

/// Share of the variance between runs that is missing from the error of a mean when its values are
/// treated as independent: zero where each value is a separate run. With `q` the sum of the squared
/// shares of runs, a mean has `q`, and the variation of `n` values includes `(1 - q) / (n - 1)`.
fn share_not_included(side: &[(Origin, f64)]) -> f64 {
    let mut sizes: BTreeMap<usize, f64> = BTreeMap::new();
    side.iter().for_each(|(origin, _)| *sizes.entry(origin.run).or_default() += 1.0);
    let n = side.len() as f64;
    let q = sizes.values().map(|size| (size / n).powi(2)).sum::<f64>();
    if n > 1.0 { (q - (1.0 - q) / (n - 1.0)).max(0.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::super::noise::Noise;
    use super::*;

    /// Configurations of two sides with runs of several blocks; base is `effect` lower. Runs vary
    /// by `between`, trials by 4 %.
    fn cells(
        noise: &mut Noise,
        configurations: usize,
        shape: [(usize, u32); 2],
        between: f64,
    ) -> Vec<Cell> {
        let mut cells = vec![Cell::default(); configurations];
        for (side, (runs, blocks)) in shape.into_iter().enumerate() {
            for run in 0..runs {
                let of_run = between * noise.normal();
                for block in 1..=blocks {
                    for cell in &mut cells {
                        let value = (of_run + 0.04 * noise.normal()).exp();
                        let values = if side == 0 { &mut cell.base } else { &mut cell.new };
                        values.push((Origin { run, block, start: 0, data_set: 0 }, value));
                    }
                }
            }
        }
        cells
    }

    #[test]
    fn one_run_a_side_rests_on_its_blocks_and_several_on_the_runs() {
        let mut noise = Noise::of(3);
        let one = overall(&cells(&mut noise, 6, [(1, 5), (1, 5)], 0.0), 3);
        // Ten blocks, minus a mean for each side.
        assert!(
            one.runs.is_none() && (one.effect.expect("a test").degrees() - 8.0).abs() < 1e-6,
            "{one:?}"
        );
        let several = overall(&cells(&mut noise, 6, [(3, 5), (3, 5)], 0.03), 3);
        assert!((several.effect.expect("a test").degrees() - 4.0).abs() < 1e-6, "{several:?}");
        assert_eq!(several.runs.map(|runs| runs.degrees), Some(4.0));
    }

    #[test]
    fn in_balanced_data_the_effect_is_the_mean_of_the_blocks_means() {
        let cells = cells(&mut Noise::of(5), 4, [(1, 4), (1, 4)], 0.0);
        let block = |side: usize, block: u32| {
            let of = |cell: &Cell| {
                cell.sides()[side].iter().find(|it| it.0.block == block).expect("it").1.ln()
            };
            cells.iter().map(of).sum::<f64>() / 4.0
        };
        let means = [0, 1].map(|side| (1..=4).map(|it| block(side, it).exp()).collect::<Vec<_>>());
        let test = welch(&means[1], &means[0]).expect("blocks");
        let effect = overall(&cells, 3).effect.expect("a test");
        assert!((effect.ratio - test.ratio).abs() < 1e-9, "{effect:?} {test:?}");
        assert!((effect.error_variance().0 / test.error_variance().0 - 1.0).abs() < 1e-6);
    }

    #[test]
    fn pairs_from_separate_runs_are_combined_without_a_mixed_model() {
        let mut cells = cells(&mut Noise::of(7), 3, [(1, 4), (1, 4)], 0.0);
        for (at, cell) in cells.iter_mut().enumerate() {
            cell.base.iter_mut().chain(&mut cell.new).for_each(|(origin, _)| origin.run = at);
        }
        let found = overall(&cells, 3);
        let effect = found.effect.expect("a test");
        assert!(found.fit.is_none() && found.runs.is_none());
        assert!(effect.degrees() > 6.0 && effect.degrees() <= 18.0, "{effect:?}");
    }

    #[test]
    fn variance_between_runs_is_added_to_a_pairs_error_once() {
        let origin = |run| Origin { run, block: 1, start: 0, data_set: 0 };
        let values =
            |runs: &[usize]| runs.iter().map(|run| (origin(*run), 1.0)).collect::<Vec<_>>();
        // Each trial is a separate run: the variation includes everything. One run: none of it.
        assert!(share_not_included(&values(&[0, 1, 2])).abs() < 1e-12);
        assert!((share_not_included(&values(&[0, 0, 0])) - 1.0).abs() < 1e-12);
        // Two runs of two: half, minus the third of half that the variation includes.
        assert!((share_not_included(&values(&[0, 0, 1, 1])) - 1.0 / 3.0).abs() < 1e-12);
        let test = RatioTest::of(0.1, 0.02, 8.0, 4);
        let cell = Cell { base: values(&[0, 0, 1, 1]), new: values(&[0, 0, 1, 1]) };
        let with = with_runs(&test, &cell, Some(Runs { variance: 0.0006, degrees: 2.0 }));
        assert!((with.error_variance().0 - 0.0008).abs() < 1e-12, "{with:?}");
        assert!(
            (with.degrees()
                - 0.0008_f64.powi(2) / (0.0004_f64.powi(2) / 8.0 + 0.0004_f64.powi(2) / 2.0))
                .abs()
                < 1e-9
        );
        assert_eq!(with_runs(&test, &cell, Some(Runs { variance: -0.1, degrees: 2.0 })), test);
    }
}
