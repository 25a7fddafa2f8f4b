//! `--histogram`: the latency histogram in sysbench's buckets.

use dyno_model::units::Nanos;
use hdrhistogram::Histogram;
use std::collections::BTreeMap;

/// Middle of the first bucket in milliseconds.
const LOWEST: f64 = 0.001;

/// Middle of sysbench's last bucket in milliseconds. dyno's buckets continue beyond it.
const HIGHEST: f64 = 100_000.0;

/// Number of buckets between the two.
const BUCKETS: f64 = 1024.0;

/// Number of stars of the largest bucket.
const STARS: f64 = 40.0;

/// Buckets per unit of the natural logarithm.
fn density() -> f64 {
    (BUCKETS - 1.0) / (HIGHEST / LOWEST).ln()
}

/// The bucket of a time in nanoseconds: buckets have equal widths on a logarithmic scale, and a
/// time belongs to the nearest.
fn bucket(nanos: u64) -> u32 {
    let millis = Nanos(nanos).as_millis_f64().max(LOWEST);
    ((millis / LOWEST).ln() * density()).round() as u32
}

/// Middle of a bucket in milliseconds.
fn middle(bucket: u32) -> f64 {
    LOWEST * (f64::from(bucket) / density()).exp()
}

/// The histogram as text; only the heading when it is empty.
pub(crate) fn text(histogram: &Histogram<u64>) -> String {
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    for value in histogram.iter_recorded() {
        *counts.entry(bucket(value.value_iterated_to())).or_default() += value.count_at_value();
    }
    let mut text = String::from(
        "Latency histogram (values are in milliseconds)\n       value  ------------- distribution \
         ------------- count\n",
    );
    let largest = counts.values().max().copied().unwrap_or(1) as f64;
    for (bucket, count) in &counts {
        let stars = "*".repeat((*count as f64 * STARS / largest).round() as usize);
        text.push_str(&format!("{:12.3} |{stars:<40} {count}\n", middle(*bucket)));
    }
    text.push(' ');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::latency;

    #[test]
    fn neighbouring_buckets_differ_by_a_constant_ratio() {
        let ratio = middle(500) / middle(499);
        assert!((ratio - 1.018_17).abs() < 1e-5, "{ratio}");
        assert_eq!(bucket(1), 0);
        assert_eq!(bucket(1_000), 0);
        assert_eq!(bucket(100_000_000_000), 1023);
        assert!(bucket(200_000_000_000) > 1023, "there is no cap");
    }

    #[test]
    fn the_largest_bucket_has_forty_stars() {
        let mut histogram = latency::histogram();
        for (nanos, count) in [(1_000_000, 10), (2_000_000, 5), (4_000_000, 1)] {
            for _ in 0..count {
                latency::record(&mut histogram, nanos);
            }
        }
        let stars = "*".repeat(40);
        let half = "*".repeat(20);
        let lines: Vec<String> = text(&histogram).lines().skip(2).map(str::to_owned).collect();
        assert_eq!(
            lines,
            [
                format!("       1.007 |{stars} 10"),
                format!("       1.996 |{half:<40} 5"),
                format!("       4.028 |{:<40} 1", "****"),
                " ".to_owned()
            ]
        );
    }
}
