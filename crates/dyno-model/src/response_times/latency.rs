//! The histogram of all response times, and the rules for its percentiles.

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Smallest distinguishable time, in nanoseconds.
pub const LOWEST_NANOS: u64 = 1;
/// Largest recordable time, in nanoseconds: one hour. Larger values are clamped to it and counted
/// there.
pub const HIGHEST_NANOS: u64 = 3_600_000_000_000;
/// Significant decimal digits: a recorded value is off by less than 0.1 %.
pub const SIGNIFICANT_DIGITS: u8 = 3;

/// An empty histogram of nanoseconds: [`LOWEST_NANOS`] to [`HIGHEST_NANOS`], [`SIGNIFICANT_DIGITS`]
/// digits. It starts with 16 KiB and grows with the largest recorded value: of the kinds of
/// statements that a script could send, most never occur.
#[must_use]
pub fn histogram() -> Histogram<u64> {
    let mut histogram =
        Histogram::new_with_bounds(LOWEST_NANOS, 2 * LOWEST_NANOS, SIGNIFICANT_DIGITS)
            .expect("the bounds are valid constants");
    histogram.auto(true);
    histogram
}

/// Records one time in nanoseconds, clamped to [`HIGHEST_NANOS`].
pub fn record(histogram: &mut Histogram<u64>, nanos: u64) {
    // Values within the bounds cannot fail: the histogram resizes itself.
    let _ = histogram.record(nanos.clamp(LOWEST_NANOS, HIGHEST_NANOS));
}

/// The index, from 1, of a percentile (0 to 100) among `count` sorted values by the nearest-rank
/// method. All percentiles are computed with this function.
#[must_use]
pub fn rank(count: u64, percentage: f64) -> u64 {
    let exact = count as f64 * percentage / 100.0;
    // 99.9 has no exact binary form, and 99.9 % of 1,000 would be a little more than 999. The three
    // roundings are off by half an epsilon each.
    ((exact * (1.0 - 4.0 * f64::EPSILON)).ceil() as u64).clamp(1, count.max(1))
}

/// The time below which a percentage (0 to 100) of the recorded ones lie, in nanoseconds; 0 when
/// the histogram is empty. It is the highest value equivalent to its bucket, limited to the largest
/// recorded value.
#[must_use]
pub fn percentile(histogram: &Histogram<u64>, percentage: f64) -> u64 {
    if histogram.is_empty() {
        return 0;
    }
    // The middle of the rank, so that rounding cannot lead to a neighbour.
    let middle = rank(histogram.len(), percentage) as f64 - 0.5;
    histogram.value_at_quantile(middle / histogram.len() as f64).min(histogram.max())
}

/// Number of bands per factor of ten in which charts count times; each is a third wider than the
/// one below.
pub const BANDS_PER_DECADE: u16 = 8;

/// The band of a time in nanoseconds: band 0 begins at one nanosecond.
#[must_use]
pub fn band(nanos: u64) -> u16 {
    (f64::from(BANDS_PER_DECADE) * (nanos.max(1) as f64).log10()).floor() as u16
}

/// Lower end of a band, in nanoseconds.
#[must_use]
pub fn band_begin(band: u16) -> f64 {
    10_f64.powf(f64::from(band) / f64::from(BANDS_PER_DECADE))
}

/// Minimum number of values beyond a percentile for it to be shown: fewer values do not determine
/// it.
pub const BEYOND_MIN: f64 = 10.0;

/// True when at least [`BEYOND_MIN`] of the values lie beyond a percentage (0 to 100), so that the
/// percentile is meaningful. Everything that shows, compares or writes a percentile applies this
/// rule; raw data (histograms, the timeline's file) contains all values.
#[must_use]
pub fn is_shown(count: u64, percentage: f64) -> bool {
    // A millionth of a value is rounding: of 200 values, 10 lie beyond 95 %.
    count as f64 * (100.0 - percentage) / 100.0 >= BEYOND_MIN - 1e-6
}

/// The smallest number of values for which [`is_shown`] accepts a percentile.
#[must_use]
pub fn needed(percentage: f64) -> u64 {
    ((BEYOND_MIN - 1e-6) * 100.0 / (100.0 - percentage)).ceil() as u64
}

/// Sum and extremes of times; exact, while a histogram is rounded. All 0 when `count` is 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExactLatency {
    /// Number of times.
    pub count: u64,
    /// Their sum in nanoseconds.
    pub sum: u64,
    /// The smallest, nanoseconds.
    pub min: u64,
    /// The largest, nanoseconds.
    pub max: u64,
}

impl ExactLatency {
    /// Adds one time in nanoseconds.
    pub fn record(&mut self, nanos: u64) {
        self.add(&Self { count: 1, sum: nanos, min: nanos, max: nanos });
    }

    /// Adds all times of another summary.
    pub fn add(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.min = if self.count == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.count += other.count;
        self.sum = self.sum.saturating_add(other.sum);
    }

    /// Arithmetic mean in nanoseconds; 0 without times.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 }
    }
}

/// Summary of a histogram. All times in nanoseconds; all 0 when `count` is 0.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct LatencySummary {
    /// Number of values.
    pub count: u64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation.
    pub standard_deviation: f64,
    /// Smallest.
    pub min: u64,
    /// Median.
    pub p50: u64,
    /// 70th percentile.
    pub p70: u64,
    /// 80th percentile.
    pub p80: u64,
    /// 90th percentile.
    pub p90: u64,
    /// 95th percentile.
    pub p95: u64,
    /// 99th percentile.
    pub p99: u64,
    /// 99.9th percentile.
    pub p999: u64,
    /// Largest.
    pub max: u64,
}

impl From<&Histogram<u64>> for LatencySummary {
    fn from(histogram: &Histogram<u64>) -> Self {
        if histogram.is_empty() {
            return Self::default();
        }
        let at = |percentage| percentile(histogram, percentage);
        Self {
            count: histogram.len(),
            mean: histogram.mean(),
            standard_deviation: histogram.stdev(),
            min: histogram.min(),
            p50: at(50.0),
            p70: at(70.0),
            p80: at(80.0),
            p90: at(90.0),
            p95: at(95.0),
            p99: at(99.0),
            p999: at(99.9),
            max: histogram.max(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rank_of_a_percentile_is_that_of_whole_numbers() {
        for thousandths in
            [1, 500, 50_000, 70_000, 90_000, 95_000, 99_000, 99_900, 99_990, 99_999, 100_000_u64]
        {
            let percentage = thousandths as f64 / 1_000.0;
            for count in (1..20_000)
                .chain((20_000..10_000_000).step_by(1_000))
                .chain([1_000_000_000, 7_777_777_777])
            {
                let exact = (count * thousandths).div_ceil(100_000);
                assert_eq!(rank(count, percentage), exact, "{percentage} % of {count}");
            }
        }
        assert_eq!((rank(0, 50.0), rank(10, 0.0), rank(10, 100.0)), (1, 1, 10));
    }

    #[test]
    fn a_percentile_is_the_value_at_its_rank() {
        // For 29 and 2,119 values, some ranks are not multiples of their own share in binary
        // fractions.
        for count in [29, 1_000, 2_000, 2_119, 10_000, 12_345_u64] {
            let mut values = histogram();
            // Below 2,048 each value has its own bucket.
            (1..=count).for_each(|value| {
                record(&mut values, if value == count { 2_000 } else { value * 1_000 / count });
            });
            let at = |rank: u64| if rank == count { 2_000 } else { (rank * 1_000 / count).max(1) };
            for percentage in [0.0, 50.0, 95.0, 99.0, 99.9, 99.99, 100.0] {
                assert_eq!(
                    percentile(&values, percentage),
                    at(rank(count, percentage)),
                    "{percentage} % of {count}"
                );
            }
        }
        assert_eq!(percentile(&histogram(), 99.9), 0);
    }

    #[test]
    fn a_percentile_is_shown_from_ten_values_beyond_it_on() {
        for (percentage, enough) in
            [(50.0, 20), (90.0, 100), (95.0, 200), (99.0, 1_000), (99.9, 10_000)]
        {
            assert_eq!(needed(percentage), enough, "{percentage}");
            assert!(is_shown(enough, percentage), "{percentage}");
            assert!(!is_shown(enough - 1, percentage), "{percentage}");
        }
        assert!(!is_shown(0, 50.0));
    }

    #[test]
    fn sums_and_extremes_are_exact_and_can_be_merged() {
        let mut first = ExactLatency::default();
        first.record(1_000_003);
        let mut second = ExactLatency::default();
        second.record(7);
        second.record(2_000_001);
        first.add(&second);
        first.add(&ExactLatency::default());
        assert_eq!(first, ExactLatency { count: 3, sum: 3_000_011, min: 7, max: 2_000_001 });
        assert!((first.mean() - 1_000_003.666).abs() < 0.001);
    }
}
