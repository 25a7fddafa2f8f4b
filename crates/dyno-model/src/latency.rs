//! The histogram every response time goes into.

use hdrhistogram::Histogram;

/// Smallest time told apart, in nanoseconds.
pub const LOWEST_NANOS: u64 = 1;
/// Largest time kept, in nanoseconds: one hour. Larger values are clamped to it and counted there.
pub const HIGHEST_NANOS: u64 = 3_600_000_000_000;
/// Significant decimal digits kept: a recorded value is off by less than 0.1 %.
pub const SIGNIFICANT_DIGITS: u8 = 3;

/// An empty histogram of nanoseconds: [`LOWEST_NANOS`] to [`HIGHEST_NANOS`], [`SIGNIFICANT_DIGITS`] digits. It starts
/// small and grows with the largest value it sees.
///
/// # Panics
/// Never: the bounds are constants that the constructor accepts.
#[must_use]
pub fn histogram() -> Histogram<u64> {
    let mut histogram = Histogram::new_with_bounds(LOWEST_NANOS, 1 << 20, SIGNIFICANT_DIGITS)
        .expect("the bounds are valid constants");
    histogram.auto(true);
    histogram
}

/// Records one time in nanoseconds, clamped to [`HIGHEST_NANOS`].
pub fn record(histogram: &mut Histogram<u64>, nanos: u64) {
    // Values within the bounds cannot fail: the histogram resizes itself.
    let _ = histogram.record(nanos.clamp(LOWEST_NANOS, HIGHEST_NANOS));
}
