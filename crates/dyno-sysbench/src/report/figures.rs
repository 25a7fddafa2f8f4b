//! Number formats of sysbench's reports: widths and decimals.

use dyno_model::units;

/// Nanoseconds as milliseconds with two decimals.
pub(crate) fn millis(nanos: f64) -> String {
    format!("{:.2}", units::millis(nanos))
}

/// A label with its value starting in column 42.
pub(crate) fn row(label: &str, value: impl std::fmt::Display) -> String {
    format!("{label:<41}{value}\n")
}

pub(crate) fn rate_row(label: &str, value: u64, per_second: f64) -> String {
    format!("{label:<41}{value:<6} ({per_second:.2} per sec.)\n")
}

/// A latency's label with the value ending in column 53.
pub(crate) fn latency_row(label: &str, value: &str) -> String {
    let width = 53_usize.saturating_sub(label.len());
    format!("{label}{value:>width$}\n")
}

/// Mean and population standard deviation; 0 for no values.
pub(crate) fn spread(values: &[f64]) -> (f64, f64) {
    if values.is_empty() {
        return (0.0, 0.0);
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    (mean, variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_deviation_is_that_of_the_population() {
        assert_eq!(spread(&[47.0, 45.0]), (46.0, 1.0));
        assert_eq!(spread(&[]), (0.0, 0.0));
    }
}
