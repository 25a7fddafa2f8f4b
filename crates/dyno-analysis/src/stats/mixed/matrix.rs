//! Small dense matrices, for mixed models of a few hundred values
//! (docs/decisions/016-questions-first.md explains why no library is used). Textbook algorithms: G.
//! H. Golub, C. F. Van Loan, *Matrix Computations*, 4th edition (2013), sections 4.2.8 (Cholesky
//! with pivots) and 8.5 (Jacobi).

/// A matrix, row by row.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::stats) struct Matrix {
    columns: usize,
    values: Vec<f64>,
}

impl Matrix {
    /// A matrix from a function of row and column.
    pub(super) fn of(rows: usize, columns: usize, element: impl Fn(usize, usize) -> f64) -> Self {
        let row_and_column = |at: usize| (at / columns.max(1), at % columns.max(1));
        let values = (0..rows * columns)
            .map(|at| element(row_and_column(at).0, row_and_column(at).1))
            .collect();
        Self { columns, values }
    }

    pub(in crate::stats) fn rows(&self) -> usize {
        self.values.len().checked_div(self.columns).unwrap_or(0)
    }

    pub(in crate::stats) fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.columns + column]
    }

    pub(in crate::stats) fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.columns..][..self.columns]
    }

    /// The product with a vector.
    pub(in crate::stats) fn times(&self, vector: &[f64]) -> Vec<f64> {
        (0..self.rows()).map(|row| dot(self.row(row), vector)).collect()
    }

    /// The lower triangle `L` of a symmetric positive definite matrix `L Lᵀ`; `None` for any other.
    pub(in crate::stats) fn cholesky(&self) -> Option<Self> {
        let size = self.columns;
        let mut lower = Self::of(size, size, |_, _| 0.0);
        for row in 0..size {
            for column in 0..=row {
                let sum = dot(&lower.row(row)[..column], &lower.row(column)[..column]);
                let rest = self.at(row, column) - sum;
                let value =
                    if row == column { rest.sqrt() } else { rest / lower.at(column, column) };
                // A NaN on the diagonal ends here as well.
                if row == column && value.partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
                    return None;
                }
                lower.values[row * size + column] = value;
            }
        }
        Some(lower)
    }

    /// Solves `L x = right` for a lower triangle.
    pub(super) fn forward(&self, right: &[f64]) -> Vec<f64> {
        let mut solved: Vec<f64> = Vec::with_capacity(right.len());
        for (row, value) in right.iter().enumerate() {
            let known = dot(&self.row(row)[..row], &solved);
            solved.push((value - known) / self.at(row, row));
        }
        solved
    }

    /// Solves `Lᵀ x = right` for a lower triangle.
    pub(super) fn backward(&self, right: &[f64]) -> Vec<f64> {
        let mut solved = right.to_vec();
        for row in (0..solved.len()).rev() {
            let known: f64 =
                (row + 1..solved.len()).map(|below| self.at(below, row) * solved[below]).sum();
            solved[row] = (solved[row] - known) / self.at(row, row);
        }
        solved
    }

    /// Solves `L Lᵀ x = right` for a lower triangle.
    pub(super) fn solve(&self, right: &[f64]) -> Vec<f64> {
        self.backward(&self.forward(right))
    }

    /// A root `R` with `Rᵀ R` equal to this symmetric positive semidefinite matrix, with as many
    /// rows as its rank, and the pivots: `Rᵀ` restricted to these rows is a lower triangle.
    pub(super) fn root(&self) -> (Self, Vec<usize>) {
        /// A diagonal element below this share of the largest element is a rounding error.
        const ROUNDING: f64 = 1e-10;
        let size = self.columns;
        let mut diagonal: Vec<f64> = (0..size).map(|at| self.at(at, at)).collect();
        let least = ROUNDING * diagonal.iter().copied().fold(0.0, f64::max);
        let mut root = Self { columns: size, values: Vec::new() };
        let mut pivots = Vec::new();
        while let Some(pivot) = (0..size).max_by(|a, b| diagonal[*a].total_cmp(&diagonal[*b])) {
            if diagonal[pivot] <= least {
                break;
            }
            let length = diagonal[pivot].sqrt();
            let element = |column: usize| {
                let known: f64 =
                    (0..pivots.len()).map(|row| root.at(row, pivot) * root.at(row, column)).sum();
                if pivots.contains(&column) {
                    0.0
                } else {
                    (self.at(pivot, column) - known) / length
                }
            };
            let row: Vec<f64> = (0..size).map(element).collect();
            for (rest, value) in diagonal.iter_mut().zip(&row) {
                *rest -= value * value;
            }
            // Never chosen again, whatever the rounding error.
            diagonal[pivot] = 0.0;
            pivots.push(pivot);
            root.values.extend(row);
        }
        (root, pivots)
    }

    /// Eigenvalues of a symmetric matrix, each with its unit eigenvector, by Jacobi rotations.
    pub(super) fn eigen(&self) -> Vec<(f64, Vec<f64>)> {
        let size = self.columns;
        let mut matrix = self.clone();
        // Its rows become the eigenvectors.
        let mut vectors = Self::of(size, size, |row, column| f64::from(u8::from(row == column)));
        for _ in 0..60 {
            let mut is_diagonal = true;
            for p in 0..size {
                for q in p + 1..size {
                    let off = matrix.at(p, q);
                    if off.abs() <= f64::EPSILON * (matrix.at(p, p) * matrix.at(q, q)).abs().sqrt()
                    {
                        continue;
                    }
                    is_diagonal = false;
                    let tau = (matrix.at(q, q) - matrix.at(p, p)) / (2.0 * off);
                    let t = tau.signum() / (tau.abs() + (1.0 + tau * tau).sqrt());
                    let cosine = 1.0 / (1.0 + t * t).sqrt();
                    matrix.rotate_columns(p, q, cosine, t * cosine);
                    matrix.rotate_rows(p, q, cosine, t * cosine);
                    vectors.rotate_rows(p, q, cosine, t * cosine);
                }
            }
            if is_diagonal {
                break;
            }
        }
        (0..size).map(|at| (matrix.at(at, at), vectors.row(at).to_vec())).collect()
    }

    fn rotate_rows(&mut self, p: usize, q: usize, cosine: f64, sine: f64) {
        for column in 0..self.columns {
            let (one, other) = (self.at(p, column), self.at(q, column));
            self.values[p * self.columns + column] = cosine * one - sine * other;
            self.values[q * self.columns + column] = sine * one + cosine * other;
        }
    }

    fn rotate_columns(&mut self, p: usize, q: usize, cosine: f64, sine: f64) {
        for row in 0..self.rows() {
            let (one, other) = (self.at(row, p), self.at(row, q));
            self.values[row * self.columns + p] = cosine * one - sine * other;
            self.values[row * self.columns + q] = sine * one + cosine * other;
        }
    }
}

/// The inner product.
pub(in crate::stats) fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of rank 2: the third row is the sum of the others.
    const SINGULAR: [[f64; 3]; 3] = [[4.0, 1.0, 5.0], [1.0, 3.0, 4.0], [5.0, 4.0, 9.0]];

    fn matrix<const N: usize>(values: [[f64; N]; N]) -> Matrix {
        Matrix::of(N, N, |row, column| values[row][column])
    }

    #[test]
    fn a_triangle_solves_what_it_was_made_of() {
        let definite = matrix([[4.0, 2.0, 0.6], [2.0, 5.0, 1.0], [0.6, 1.0, 3.0]]);
        let lower = definite.cholesky().expect("positive definite");
        let solved = lower.solve(&[1.0, 2.0, 3.0]);
        for (value, expected) in definite.times(&solved).iter().zip([1.0, 2.0, 3.0]) {
            assert!((value - expected).abs() < 1e-12, "{solved:?}");
        }
        assert_eq!(matrix([[1.0, 2.0], [2.0, 1.0]]).cholesky(), None, "an eigenvalue is negative");
    }

    #[test]
    fn a_root_has_as_many_rows_as_the_rank() {
        let (root, pivots) = matrix(SINGULAR).root();
        assert_eq!((root.rows(), pivots.len()), (2, 2));
        for (row, values) in SINGULAR.iter().enumerate() {
            for (column, value) in values.iter().enumerate() {
                let product: f64 = (0..2).map(|at| root.at(at, row) * root.at(at, column)).sum();
                assert!((product - value).abs() < 1e-12, "{row} {column}");
            }
        }
    }

    #[test]
    fn rounding_errors_do_not_increase_the_matrix_rank() {
        for seed in 1..50 {
            // Of rank 1, apart from rounding errors.
            let vector = [0.1, 0.7, 1.3].map(|it: f64| (it * f64::from(seed)).sin());
            let products = Matrix::of(3, 3, |row, column| vector[row] * vector[column]);
            assert_eq!(products.root().1.len(), 1, "{vector:?}");
        }
    }

    #[test]
    fn eigenvectors_are_only_stretched() {
        let symmetric = matrix(SINGULAR);
        let mut eigen = symmetric.eigen();
        eigen.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(
            eigen[0].0.abs() < 1e-12
                && (eigen.iter().map(|it| it.0).sum::<f64>() - 16.0).abs() < 1e-12
        );
        for (value, vector) in &eigen {
            for (image, element) in symmetric.times(vector).iter().zip(vector) {
                assert!((image - value * element).abs() < 1e-12, "{eigen:?}");
            }
        }
    }
}
