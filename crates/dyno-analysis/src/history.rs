//! A figure over the runs of an experiment: that of the newest run against the earlier ones.

use crate::stats::student::median;

/// The newest run against the earlier ones. No test is made: Apache Otava finds change points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// Value of the newest run; `None` if it has none.
    pub newest: Option<f64>,
    /// Median of the values of the earlier runs.
    pub before: Option<f64>,
    /// Difference of the newest value from that median, in percent of it.
    pub change_percent: Option<f64>,
    /// Number of runs with a value.
    pub runs: usize,
}

impl Trend {
    /// Compares the last of these values with the others; one per run, in order of time.
    #[must_use]
    pub fn of(values: &[Option<f64>]) -> Self {
        let (newest, before) = values.split_last().map_or((None, values), |(it, rest)| (*it, rest));
        let mut rising: Vec<f64> = before.iter().copied().flatten().collect();
        rising.sort_by(f64::total_cmp);
        let before = median(&rising);
        let change = |newest: f64, before: f64| (newest / before - 1.0) * 100.0;
        let change_percent = newest.zip(before.filter(|before| *before > 0.0));
        Self {
            newest,
            before,
            change_percent: change_percent.map(|(newest, before)| change(newest, before)),
            runs: rising.len() + usize::from(newest.is_some()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Values = [Option<f64>];
    type Expected = ([Option<f64>; 3], usize);

    #[test]
    fn the_newest_value_is_compared_with_the_median_of_all_earlier_ones() {
        let rows: [(&Values, Expected); 6] = [
            (&[], ([None; 3], 0)),
            (&[Some(5.0)], ([Some(5.0), None, None], 1)),
            (&[Some(4.0), None], ([None, Some(4.0), None], 1)),
            (
                &[Some(9.0), None, Some(4.0), Some(2.0), Some(5.0)],
                ([Some(5.0), Some(4.0), Some(25.0)], 4),
            ),
            (&[Some(1.0), Some(3.0), Some(1.0)], ([Some(1.0), Some(2.0), Some(-50.0)], 3)),
            (&[Some(0.0), Some(3.0)], ([Some(3.0), Some(0.0), None], 2)),
        ];
        for (values, ([newest, before, change_percent], runs)) in rows {
            assert_eq!(Trend::of(values), Trend { newest, before, change_percent, runs });
        }
    }
}
