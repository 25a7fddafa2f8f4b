//! A linear mixed model, fitted by restricted maximum likelihood: `value = mean of its cell +
//! random effect per group of each stratum + residual`.
//!
//! Strata are levels with shared random effects: blocks, and starts of a server within them.
//! Differences between groups of a stratum are compared with the variation of that stratum,
//! differences within groups with the residual; for balanced data the results equal those of the
//! classical analysis of a split-plot design (R. A. Fisher, 1925).
//!
//! # Sources
//! REML: H. D. Patterson, R. Thompson, Biometrika 58 (1971). Equations of means and random effects:
//! C. R. Henderson, Biometrics 31 (1975). Degrees of freedom: F. E. Satterthwaite, Biometrics
//! Bulletin 2 (1946); for several contrasts together: A. H. Fai, P. L. Cornelius, J. Stat. Comput.
//! Simul. 54 (1996), as in A. Kuznetsova, P. B. Brockhoff, R. H. B. Christensen, *lmerTest*, J.
//! Stat. Software 82 (2017).
//!
//! # How it is computed
//! Cell means are projected out first. With `M` this projection, `Z` the incidence matrix of values
//! in groups, `D` the diagonal matrix of the strata's variances and `RᵀR = ZᵀMZ`, everything
//! follows from `K = σ² I + R D Rᵀ`, which has at most as many rows as there are groups.

pub(super) mod matrix;
pub mod strata;
use super::matrix::{Matrix, dot};
use super::student::{two_sided_p, upper_tail_of_f};

/// A value with its cell and groups.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The value; a logarithm for performance values.
    pub value: f64,
    /// Number of its cell; each cell has its own mean.
    pub cell: usize,
    /// Its group in each stratum, numbered from 0 per stratum.
    pub groups: Vec<usize>,
}

/// Permitted variances of strata.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Components {
    /// Not negative; a variance that would be negative is 0, and its stratum is pooled with the one
    /// below, as in lme4.
    Bounded,
    /// Negative variances are permitted if the whole matrix is a covariance. A stratum then keeps
    /// its own error and degrees of freedom for all data, so that tests keep their risk; pooling
    /// when the data suggest it makes them anticonservative.
    Free,
}

/// A fitted model.
#[derive(Debug, Clone)]
pub struct Fit {
    /// Variance of each stratum, then that of the residual.
    variances: Vec<f64>,
    /// Covariance of these estimates.
    uncertainty: Matrix,
    /// Estimated means of cells.
    means: Vec<f64>,
    design: Design,
    /// `RᵀK⁻¹R`.
    inner: Matrix,
    /// `RᵀK⁻²R`.
    inner_squared: Matrix,
}

/// The estimate of a contrast of cells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contrast {
    /// Estimate.
    pub estimate: f64,
    /// Its standard error.
    pub error: f64,
    /// Satterthwaite's degrees of freedom.
    pub degrees: f64,
}

impl Contrast {
    /// Two-sided p-value of "it is 0".
    #[must_use]
    pub fn p(&self) -> f64 {
        two_sided_p(self.estimate / self.error, self.degrees)
    }
}

/// Whether several contrasts are all 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointTest {
    /// The F statistic.
    pub f: f64,
    /// Degrees of freedom of the contrasts.
    pub numerator: f64,
    /// Degrees of freedom of the error.
    pub denominator: f64,
}

impl JointTest {
    /// p-value of "all are 0".
    #[must_use]
    pub fn p(&self) -> f64 {
        upper_tail_of_f(self.f, self.numerator, self.denominator)
    }
}

/// Fits the model to values of cells numbered from 0. Strata that equal another one, or carry no
/// information (a group per value, or one group), must be removed first. `None` when values do not
/// vary, or when there are too few of them to separate the strata.
#[must_use]
pub fn fit(rows: &[Row], components: Components) -> Option<Fit> {
    let design = Design::of(rows)?;
    let all: Vec<usize> = (0..design.strata).collect();
    let best = match (components, design.maximum(&all)) {
        (Components::Free, found) => found?,
        (Components::Bounded, Some(found)) if found.variances.iter().all(|it| *it >= 0.0) => found,
        (Components::Bounded, _) => {
            // There are at most a handful of strata: try all sets of nonzero variances and take the
            // best.
            let choices = (0..1_usize << design.strata).filter_map(|choice| {
                let used: Vec<usize> =
                    all.iter().copied().filter(|at| choice >> at & 1 == 1).collect();
                design.maximum(&used).filter(|found| found.variances.iter().all(|it| *it >= 0.0))
            });
            choices.max_by(|a, b| a.likelihood.total_cmp(&b.likelihood))?
        }
    };
    best.into_fit(design)
}

/// Sums over values that the fit needs.
#[derive(Debug, Clone)]
struct Design {
    strata: usize,
    /// Stratum of each group; groups of all strata in one list.
    stratum_of: Vec<usize>,
    /// Values per cell.
    sizes: Vec<f64>,
    /// Raw mean of each cell.
    means: Vec<f64>,
    /// Share of each cell's values in each group.
    shares: Matrix,
    /// Degrees of freedom left after the cell means.
    residual_degrees: f64,
    /// `R`.
    root: Matrix,
    /// `z` with `Rᵀz = ZᵀMy`.
    target: Vec<f64>,
    /// `yᵀMy`.
    squares: f64,
}

impl Design {
    fn of(rows: &[Row]) -> Option<Self> {
        let strata = rows.first()?.groups.len();
        let cells = rows.iter().map(|row| row.cell).max()? + 1;
        let mut offsets = vec![0; strata + 1];
        for stratum in 0..strata {
            let groups = rows.iter().map(|row| row.groups[stratum]).max()? + 1;
            offsets[stratum + 1] = offsets[stratum] + groups;
        }
        let groups = offsets[strata];
        let stratum_of = (0..strata)
            .flat_map(|it| std::iter::repeat_n(it, offsets[it + 1] - offsets[it]))
            .collect();
        let mut sizes = vec![0.0; cells];
        let mut means = vec![0.0; cells];
        let mut counts = vec![0.0; cells * groups];
        for row in rows {
            sizes[row.cell] += 1.0;
            means[row.cell] += row.value;
            for (group, offset) in row.groups.iter().zip(&offsets) {
                counts[row.cell * groups + offset + group] += 1.0;
            }
        }
        if sizes.contains(&0.0) || rows.len() <= cells {
            return None;
        }
        means.iter_mut().zip(&sizes).for_each(|(mean, size)| *mean /= size);
        let shares =
            Matrix::of(cells, groups, |cell, group| counts[cell * groups + group] / sizes[cell]);
        // ZᵀMZ and ZᵀMy, value by value.
        let (mut products, mut sums, mut squares) =
            (vec![0.0; groups * groups], vec![0.0; groups], 0.0);
        for row in rows {
            let own: Vec<usize> =
                row.groups.iter().zip(&offsets).map(|(group, offset)| group + offset).collect();
            let deviation = row.value - means[row.cell];
            squares += deviation * deviation;
            for one in &own {
                sums[*one] += deviation;
                for other in &own {
                    products[one * groups + other] += 1.0;
                }
                for (other, share) in shares.row(row.cell).iter().enumerate() {
                    products[one * groups + other] -= share;
                }
            }
        }
        let (root, pivots) = Matrix::of(groups, groups, |a, b| products[a * groups + b]).root();
        let triangle =
            Matrix::of(pivots.len(), pivots.len(), |row, column| root.at(column, pivots[row]));
        let target = triangle.forward(&pivots.iter().map(|at| sums[*at]).collect::<Vec<_>>());
        let residual_degrees = (rows.len() - cells) as f64;
        (squares > 0.0).then_some(Self {
            strata,
            stratum_of,
            sizes,
            means,
            shares,
            residual_degrees,
            root,
            target,
            squares,
        })
    }

    /// The restricted likelihood and its derivatives at these variances; `None` where they are not
    /// a covariance.
    fn likelihood_state(&self, variances: &[f64]) -> Option<LikelihoodState> {
        let residual = *variances.last()?;
        let (rank, groups) = (self.root.rows(), self.stratum_of.len());
        if residual <= 0.0 {
            return None;
        }
        let variance_of: Vec<f64> =
            self.stratum_of.iter().map(|stratum| variances[*stratum]).collect();
        let kernel = Matrix::of(rank, rank, |row, column| {
            let own = if row == column { residual } else { 0.0 };
            let pairs = self.root.row(row).iter().zip(self.root.row(column)).zip(&variance_of);
            own + pairs.map(|((a, b), variance)| a * b * variance).sum::<f64>()
        });
        let lower = kernel.cholesky()?;
        let column =
            |group: usize| (0..rank).map(|row| self.root.at(row, group)).collect::<Vec<_>>();
        // L⁻¹R and K⁻¹R, one row per group.
        let lower_columns: Vec<Vec<f64>> =
            (0..groups).map(|group| lower.forward(&column(group))).collect();
        let kernel_columns: Vec<Vec<f64>> =
            lower_columns.iter().map(|half| lower.backward(half)).collect();
        let inner = Matrix::of(groups, groups, |a, b| dot(&lower_columns[a], &lower_columns[b]));
        let inner_squared =
            Matrix::of(groups, groups, |a, b| dot(&kernel_columns[a], &kernel_columns[b]));
        let half = lower.forward(&self.target);
        let outside = (self.squares - dot(&self.target, &self.target)).max(0.0);
        let outside_degrees = self.residual_degrees - rank as f64;
        let determinant: f64 = (0..rank).map(|at| 2.0 * lower.at(at, at).ln()).sum();
        let likelihood = -0.5
            * (determinant
                + outside_degrees * residual.ln()
                + dot(&half, &half)
                + outside / residual);
        let once = lower.backward(&half);
        let twice = lower.solve(&once);
        let inverse: Vec<Vec<f64>> =
            (0..rank).map(|at| lower.solve(&unit_vector(rank, at))).collect();
        let trace: f64 = inverse.iter().enumerate().map(|(at, row)| row[at]).sum();
        let trace_squared: f64 = inverse.iter().map(|row| dot(row, row)).sum();
        let project = |vector: &[f64]| -> Vec<f64> {
            (0..groups).map(|group| dot(&column(group), vector)).collect()
        };
        Some(LikelihoodState {
            likelihood,
            trace: trace + outside_degrees / residual,
            trace_squared: trace_squared + outside_degrees / residual.powi(2),
            squares: dot(&once, &once) + outside / residual.powi(2),
            cubes: dot(&twice, &once) + outside / residual.powi(3),
            first: project(&once),
            second: project(&twice),
            inner,
            inner_squared,
        })
    }

    /// The maximum over the variances of some strata, by Fisher scoring; the others are 0.
    fn maximum(&self, used: &[usize]) -> Option<LikelihoodMaximum> {
        const STEPS: usize = 200;
        let mut variances = vec![0.0; self.strata + 1];
        variances[self.strata] = self.squares / self.residual_degrees;
        let free: Vec<usize> = used.iter().copied().chain([self.strata]).collect();
        let mut state = self.likelihood_state(&variances)?;
        for _ in 0..STEPS {
            let score: Vec<f64> = free.iter().map(|at| self.score(&state, *at)).collect();
            let information = self.information(&state, &free, Information::Expected).cholesky()?;
            let step = information.solve(&score);
            // Gain of the step in log-likelihood.
            if dot(&step, &score) < 1e-14 {
                break;
            }
            let mut length = 1.0;
            let next = loop {
                let mut tried = variances.clone();
                free.iter().zip(&step).for_each(|(at, step)| tried[*at] += length * step);
                match self.likelihood_state(&tried) {
                    Some(found) if found.likelihood >= state.likelihood => {
                        break Some((tried, found));
                    }
                    _ if length < 1e-10 => break None,
                    _ => length /= 2.0,
                }
            };
            let Some(next) = next else { break };
            (variances, state) = next;
        }
        Some(LikelihoodMaximum { variances, likelihood: state.likelihood, state, free })
    }

    /// Derivative of the likelihood with respect to a variance.
    fn score(&self, state: &LikelihoodState, at: usize) -> f64 {
        if at == self.strata {
            return 0.5 * (state.squares - state.trace);
        }
        let groups = self.groups(at);
        groups.map(|group| 0.5 * (state.first[group].powi(2) - state.inner.at(group, group))).sum()
    }

    fn groups(&self, stratum: usize) -> impl Iterator<Item = usize> + Clone {
        let of = self.stratum_of.iter().enumerate();
        of.filter(move |(_, it)| **it == stratum).map(|(group, _)| group)
    }

    /// Information about variances: the negative second derivatives, or their expectation.
    fn information(&self, state: &LikelihoodState, free: &[usize], kind: Information) -> Matrix {
        let pair = |one: usize, other: usize| {
            let (trace, form) = match (one == self.strata, other == self.strata) {
                (true, true) => (state.trace_squared, state.cubes),
                (true, false) => self.mixed_with_residual(state, other),
                (false, true) => self.mixed_with_residual(state, one),
                (false, false) => {
                    let (mut trace, mut form) = (0.0, 0.0);
                    for a in self.groups(one) {
                        for b in self.groups(other) {
                            let inner = state.inner.at(a, b);
                            trace += inner * inner;
                            form += state.first[a] * inner * state.first[b];
                        }
                    }
                    (trace, form)
                }
            };
            match kind {
                Information::Expected => 0.5 * trace,
                Information::Observed => form - 0.5 * trace,
            }
        };
        Matrix::of(free.len(), free.len(), |row, column| pair(free[row], free[column]))
    }

    fn mixed_with_residual(&self, state: &LikelihoodState, stratum: usize) -> (f64, f64) {
        self.groups(stratum).fold((0.0, 0.0), |(trace, form), group| {
            (
                trace + state.inner_squared.at(group, group),
                form + state.first[group] * state.second[group],
            )
        })
    }
}

#[derive(Clone, Copy)]
enum Information {
    Expected,
    Observed,
}

/// The likelihood at given variances. With `P` the inverse covariance after projecting out cell
/// means:
#[derive(Debug, Clone)]
struct LikelihoodState {
    likelihood: f64,
    /// `tr P`.
    trace: f64,
    /// `tr PP`.
    trace_squared: f64,
    /// `yᵀPPy`.
    squares: f64,
    /// `yᵀPPPy`.
    cubes: f64,
    /// `ZᵀPy`.
    first: Vec<f64>,
    /// `ZᵀPPy`.
    second: Vec<f64>,
    /// `ZᵀPZ`.
    inner: Matrix,
    /// `ZᵀPPZ`.
    inner_squared: Matrix,
}

struct LikelihoodMaximum {
    variances: Vec<f64>,
    likelihood: f64,
    state: LikelihoodState,
    /// Indices of the free variances.
    free: Vec<usize>,
}

impl LikelihoodMaximum {
    fn into_fit(self, design: Design) -> Option<Fit> {
        let Self { variances, state, free, .. } = self;
        let lower = [Information::Observed, Information::Expected]
            .into_iter()
            .find_map(|kind| design.information(&state, &free, kind).cholesky())?;
        let inverse: Vec<Vec<f64>> =
            (0..free.len()).map(|at| lower.solve(&unit_vector(free.len(), at))).collect();
        let free_index = |at: usize| free.iter().position(|it| *it == at);
        let uncertainty = Matrix::of(variances.len(), variances.len(), |row, column| {
            free_index(row)
                .zip(free_index(column))
                .map_or(0.0, |(row, column)| inverse[row][column])
        });
        // Predicted random effects of groups; they shift the means of cells that were not measured
        // in all groups.
        let draws: Vec<f64> = state
            .first
            .iter()
            .zip(&design.stratum_of)
            .map(|(it, stratum)| it * variances[*stratum])
            .collect();
        let means = design
            .means
            .iter()
            .enumerate()
            .map(|(cell, mean)| mean - dot(design.shares.row(cell), &draws));
        let means = means.collect();
        let LikelihoodState { inner, inner_squared, .. } = state;
        Some(Fit { variances, uncertainty, means, design, inner, inner_squared })
    }
}

fn unit_vector(size: usize, at: usize) -> Vec<f64> {
    (0..size).map(|row| f64::from(u8::from(row == at))).collect()
}

/// The dependence of a contrast on groups.
struct GroupWeights {
    /// Weight of each group in it.
    groups: Vec<f64>,
    /// The same, times the variance of the group.
    scaled: Vec<f64>,
}

impl Fit {
    /// Variance of each stratum, then that of the residual.
    #[must_use]
    pub fn variances(&self) -> &[f64] {
        &self.variances
    }

    /// A contrast, given the weight of each cell. `None` if all weights are zero, or with a
    /// variance of 0.
    #[must_use]
    pub fn contrast(&self, weights: &[f64]) -> Option<Contrast> {
        let variance = self.covariance(weights, weights);
        let gradient = self.gradient(weights);
        let spread = dot(&gradient, &self.uncertainty.times(&gradient));
        let degrees = 2.0 * variance * variance / spread;
        let found =
            Contrast { estimate: dot(weights, &self.means), error: variance.sqrt(), degrees };
        (variance > 0.0 && degrees.is_finite() && degrees > 0.0).then_some(found)
    }

    /// Tests whether several contrasts are all 0; linearly dependent ones count once. `None` when
    /// none is left.
    #[must_use]
    pub fn joint(&self, contrasts: &[Vec<f64>]) -> Option<JointTest> {
        /// A variance below this share of the largest one is a rounding error.
        const ROUNDING: f64 = 1e-8;
        let covariance = Matrix::of(contrasts.len(), contrasts.len(), |row, column| {
            self.covariance(&contrasts[row], &contrasts[column])
        });
        let eigen = covariance.eigen();
        let largest = eigen.iter().map(|(value, _)| *value).fold(0.0, f64::max);
        let independent = eigen.iter().filter(|(value, _)| *value > ROUNDING * largest);
        let tests: Vec<Contrast> = independent
            .filter_map(|(_, vector)| {
                let cell =
                    |cell: usize| contrasts.iter().zip(vector).map(|(it, by)| it[cell] * by).sum();
                self.contrast(&(0..self.means.len()).map(cell).collect::<Vec<f64>>())
            })
            .collect();
        let numerator = tests.len() as f64;
        let f =
            tests.iter().map(|test| (test.estimate / test.error).powi(2)).sum::<f64>() / numerator;
        let denominator =
            joint_degrees(&tests.iter().map(|test| test.degrees).collect::<Vec<_>>())?;
        Some(JointTest { f, numerator, denominator })
    }

    fn group_weights(&self, weights: &[f64]) -> GroupWeights {
        let cells = || weights.iter().enumerate();
        let share =
            |group: usize| cells().map(|(cell, it)| it * self.design.shares.at(cell, group)).sum();
        let groups: Vec<f64> = (0..self.design.stratum_of.len()).map(share).collect();
        let variances = self.design.stratum_of.iter().map(|stratum| self.variances[*stratum]);
        let scaled = groups.iter().zip(variances).map(|(it, variance)| it * variance).collect();
        GroupWeights { groups, scaled }
    }

    fn covariance(&self, one: &[f64], other: &[f64]) -> f64 {
        let sizes = &self.design.sizes;
        let cells: f64 = one.iter().zip(other).zip(sizes).map(|((a, b), size)| a * b / size).sum();
        let (one, other) = (self.group_weights(one), self.group_weights(other));
        let known = dot(&one.scaled, &self.inner.times(&other.scaled));
        self.variances[self.design.strata] * cells + dot(&one.groups, &other.scaled) - known
    }

    /// Contribution of each stratum, then of the residual, to the variance of a contrast of plain
    /// means; zero where a stratum's variance is negative.
    #[must_use]
    pub fn variance_components(&self, weights: &[f64]) -> Vec<f64> {
        let weights_of_groups = self.group_weights(weights);
        let mut components = vec![0.0; self.design.strata + 1];
        for (group, stratum) in self.design.stratum_of.iter().enumerate() {
            components[*stratum] +=
                (weights_of_groups.groups[group] * weights_of_groups.scaled[group]).max(0.0);
        }
        let cells: f64 =
            weights.iter().zip(&self.design.sizes).map(|(it, size)| it * it / size).sum();
        components[self.design.strata] = self.variances[self.design.strata] * cells;
        components
    }

    /// Derivatives of a contrast's variance with respect to the variances.
    fn gradient(&self, weights: &[f64]) -> Vec<f64> {
        let weights_of_groups = self.group_weights(weights);
        let known = self.inner.times(&weights_of_groups.scaled);
        let mut gradient = vec![0.0; self.design.strata + 1];
        for (group, stratum) in self.design.stratum_of.iter().enumerate() {
            gradient[*stratum] += (weights_of_groups.groups[group] - known[group]).powi(2);
        }
        let cells: f64 =
            weights.iter().zip(&self.design.sizes).map(|(it, size)| it * it / size).sum();
        gradient[self.design.strata] = cells
            + dot(&weights_of_groups.scaled, &self.inner_squared.times(&weights_of_groups.scaled));
        gradient
    }
}

/// Degrees of freedom of an F statistic that is the mean of squares of independent t statistics,
/// chosen so that its expectation is right (Fai and Cornelius 1996).
fn joint_degrees(degrees: &[f64]) -> Option<f64> {
    let first = *degrees.first()?;
    if degrees.iter().all(|it| (it - first).abs() < 1e-8 * first) {
        return Some(first);
    }
    if degrees.iter().any(|it| *it <= 2.0) {
        return Some(2.0);
    }
    let expected: f64 = degrees.iter().map(|it| it / (it - 2.0)).sum();
    Some(2.0 * expected / (expected - degrees.len() as f64))
}

/// An effect with its fit.
#[derive(Debug, Clone)]
pub struct Effect {
    /// The fit, with free variances.
    pub fit: Fit,
    /// The effect: the contrast of the fit, with the error and the degrees of freedom that are
    /// used.
    pub contrast: Contrast,
    /// Share of the fit's degrees of freedom that is used, at most 1.
    pub share: f64,
}

/// The effect defined by weights of cells. Its degrees of freedom are at most those for cells with
/// separate variances (`own`), and at least `least`, those of the groups that remain however
/// different the cells are.
///
/// With missing trials, free variances may yield an error close to zero, which Satterthwaite's
/// small degrees of freedom then compensate. Here the error is at least that of the fit with
/// nonnegative variances.
#[must_use]
pub fn effect(rows: &[Row], weights: &[f64], own: &[(f64, f64)], least: f64) -> Option<Effect> {
    let fit = fit(rows, Components::Free)?;
    let free = fit.contrast(weights);
    let most = welch_degrees(own, least);
    // Smaller by more than a rounding error.
    if let Some(it) = free.filter(|it| it.degrees > 0.999 * least) {
        let contrast = Contrast { degrees: it.degrees.min(most).max(least), ..it };
        return Some(Effect { fit, contrast, share: (contrast.degrees / it.degrees).min(1.0) });
    }
    let bounded = self::fit(rows, Components::Bounded)?.contrast(weights)?;
    let error = free.map_or(bounded.error, |it| it.error.max(bounded.error));
    Some(Effect { fit, contrast: Contrast { error, degrees: least, ..bounded }, share: 1.0 })
}

/// Degrees of freedom of the mean of several cells with separate variances: those of a sum of
/// unequal variances (B. L. Welch, Biometrika 34, 1947), and at least those of the groups that
/// remain however different the cells are. The model assumes equal residual variances; where they
/// are unequal, it uses too many degrees of freedom.
#[must_use]
pub fn welch_degrees(variances: &[(f64, f64)], least: f64) -> f64 {
    let (mut sum, mut squares) = (0.0, 0.0);
    for (variance, degrees) in variances {
        sum += variance;
        squares += variance * variance / degrees;
    }
    if squares > 0.0 { (sum * sum / squares).max(least) } else { least }
}

#[cfg(test)]
mod tests;
