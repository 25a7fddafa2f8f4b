//! Response times of all arrivals, whether they committed or not.
//!
//! In an open loop an arrival without a commit is a **censored observation**: it never started,
//! failed, or was cut off, and its response time is only known to be at least its age when it was
//! last observed. Omitting such arrivals makes percentiles look better the worse the system is.
//! Therefore every figure is computed twice, with the censored observations at their ages and at
//! infinity. If both agree to 1 %, the first is the figure's value; otherwise it is a lower bound.

use crate::encoded;
use crate::latency::{self, LatencySummary};
use crate::units::{Nanos, millis};
use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// The two results of a figure agree when the second does not exceed the first by more than this
/// factor. One failure among many commits moves a percentile by one rank, which does not make it
/// uncertain.
const AGREEMENT: f64 = 1.01;

/// A figure of response times: a value, or a lower bound.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct BoundedLatency {
    /// Nanoseconds.
    pub nanos: f64,
    /// True when the figure is this or more, by an unknown amount.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_bound: bool,
}

impl BoundedLatency {
    /// A known figure.
    #[must_use]
    pub fn value(nanos: f64) -> Self {
        Self { nanos, is_bound: false }
    }

    /// Milliseconds.
    #[must_use]
    pub fn as_millis(self) -> f64 {
        millis(self.nanos)
    }
}

/// `1.30 ms`, or `≥ 1.30 ms`.
impl fmt::Display for BoundedLatency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_bound {
            f.write_str("≥ ")?;
        }
        Nanos(self.nanos.round() as u64).fmt(f)
    }
}

/// Summary of [`Responses`].
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ResponseSummary {
    /// Arrivals: commits and censored observations.
    pub count: u64,
    /// Censored observations: arrivals without a commit.
    pub censored: u64,
    /// Arithmetic mean.
    pub mean: BoundedLatency,
    /// Median.
    pub p50: BoundedLatency,
    /// 70th percentile.
    pub p70: BoundedLatency,
    /// 80th percentile.
    pub p80: BoundedLatency,
    /// 90th percentile.
    pub p90: BoundedLatency,
    /// 95th percentile.
    pub p95: BoundedLatency,
    /// 99th percentile.
    pub p99: BoundedLatency,
    /// 99.9th percentile.
    pub p999: BoundedLatency,
    /// Largest.
    pub max: BoundedLatency,
}

/// A summary of commits alone, in which everything is known.
impl From<&LatencySummary> for ResponseSummary {
    fn from(summary: &LatencySummary) -> Self {
        let exact = |nanos: u64| BoundedLatency::value(nanos as f64);
        Self {
            count: summary.count,
            censored: 0,
            mean: BoundedLatency::value(summary.mean),
            p50: exact(summary.p50),
            p70: exact(summary.p70),
            p80: exact(summary.p80),
            p90: exact(summary.p90),
            p95: exact(summary.p95),
            p99: exact(summary.p99),
            p999: exact(summary.p999),
            max: exact(summary.max),
        }
    }
}

/// Times of commits, and ages of arrivals without a commit.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Responses {
    /// Times of the commits.
    #[serde(with = "encoded")]
    pub committed: Histogram<u64>,
    /// Ages of the others.
    #[serde(with = "encoded")]
    pub censored: Histogram<u64>,
}

impl Default for Responses {
    fn default() -> Self {
        Self { committed: latency::histogram(), censored: latency::histogram() }
    }
}

impl Responses {
    /// Adds all observations of another.
    pub fn add(&mut self, other: &Self) {
        for (sum, part) in
            [(&mut self.committed, &other.committed), (&mut self.censored, &other.censored)]
        {
            // Auto-resizing histograms accept every value.
            let _ = sum.add(part);
        }
    }

    /// Number of arrivals.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.committed.len() + self.censored.len()
    }

    /// The histograms from which figures are computed.
    #[must_use]
    pub fn bounds(&self) -> Bounds<'_> {
        let lower = if self.censored.is_empty() {
            Cow::Borrowed(&self.committed)
        } else {
            let mut lower = self.committed.clone();
            lower.auto(true);
            let _ = lower.add(&self.censored);
            Cow::Owned(lower)
        };
        Bounds { committed: &self.committed, lower }
    }

    /// All figures; `None` without arrivals.
    #[must_use]
    pub fn summary(&self) -> Option<ResponseSummary> {
        let bounds = self.bounds();
        let at = |percentage| bounds.percentile(percentage);
        (self.count() > 0).then(|| ResponseSummary {
            count: self.count(),
            censored: self.censored.len(),
            mean: bounds.mean(),
            p50: at(50.0),
            p70: at(70.0),
            p80: at(80.0),
            p90: at(90.0),
            p95: at(95.0),
            p99: at(99.0),
            p999: at(99.9),
            max: bounds.max(),
        })
    }
}

/// Figures of [`Responses`].
#[derive(Debug)]
pub struct Bounds<'a> {
    committed: &'a Histogram<u64>,
    /// Commits, and the censored observations at their ages.
    lower: Cow<'a, Histogram<u64>>,
}

impl Bounds<'_> {
    /// Commits, and the others at their ages.
    #[must_use]
    pub fn lower(&self) -> &Histogram<u64> {
        &self.lower
    }

    /// The time below which a percentage (0 to 100) of the arrivals were answered.
    #[must_use]
    pub fn percentile(&self, percentage: f64) -> BoundedLatency {
        let nanos = latency::percentile(&self.lower, percentage);
        let rank = latency::rank(self.lower.len(), percentage);
        // With the censored observations at infinity, the figure is the first time at or below
        // which that many commits lie.
        let limit = (nanos as f64 * AGREEMENT) as u64;
        BoundedLatency {
            nanos: nanos as f64,
            is_bound: self.committed.count_between(0, limit) < rank,
        }
    }

    /// Arithmetic mean: a lower bound as soon as one arrival is censored.
    #[must_use]
    pub fn mean(&self) -> BoundedLatency {
        BoundedLatency { nanos: self.lower.mean(), is_bound: self.has_censored() }
    }

    /// The largest.
    #[must_use]
    pub fn max(&self) -> BoundedLatency {
        BoundedLatency { nanos: self.lower.max() as f64, is_bound: self.has_censored() }
    }

    fn has_censored(&self) -> bool {
        self.lower.len() > self.committed.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: u64 = 1_000_000;

    fn responses(
        committed: impl Iterator<Item = u64>,
        censored: impl Iterator<Item = u64>,
    ) -> Responses {
        let mut responses = Responses::default();
        committed.for_each(|time| latency::record(&mut responses.committed, time * MILLISECOND));
        censored.for_each(|age| latency::record(&mut responses.censored, age * MILLISECOND));
        responses
    }

    fn milliseconds(figure: BoundedLatency) -> (f64, bool) {
        (figure.as_millis().round(), figure.is_bound)
    }

    #[test]
    fn percentiles_that_arrivals_without_a_commit_reach_are_lower_bounds() {
        // 960 were answered within 96 ms; 40 never started and were 1 s to 1.039 s old when the
        // window closed.
        let late = responses((0..960).map(|i| 1 + i / 10), 1_000..1_040);
        let summary = late.summary().expect("there are arrivals");
        assert_eq!((summary.count, summary.censored), (1_000, 40));
        assert_eq!(milliseconds(summary.p50), (50.0, false));
        assert_eq!(milliseconds(summary.p95), (95.0, false));
        assert_eq!(milliseconds(summary.p99), (1_029.0, true), "30 of the 40 are not beyond");
        assert_eq!(milliseconds(summary.max), (1_039.0, true));
        assert!(summary.mean.is_bound);
    }

    #[test]
    fn young_arrivals_without_a_commit_bound_percentiles_too() {
        // Omitting them would give 99 ms as the 99th percentile.
        let young = responses(0..100, std::iter::repeat_n(1, 10));
        let summary = young.summary().expect("there are arrivals");
        assert_eq!(
            milliseconds(summary.p99),
            (98.0, true),
            "rank 109 of 110, the ten at their ages"
        );
        assert_eq!(milliseconds(summary.p90), (88.0, true));
        assert!(summary.p50.is_bound, "rank 55: between 44 ms and 54 ms");
    }

    #[test]
    fn without_censored_arrivals_every_figure_is_that_of_the_commits() {
        let all = responses((1..=1_000).rev(), std::iter::empty());
        let summary = all.summary().expect("there are arrivals");
        assert_eq!(summary, ResponseSummary::from(&LatencySummary::from(&all.committed)));
        assert_eq!(Responses::default().summary(), None);
    }

    #[test]
    fn merging_responses_can_turn_a_percentile_bound_into_a_value() {
        let bad = responses(0..95, std::iter::repeat_n(500, 5));
        let mut merged = responses(0..1_900, std::iter::empty());
        assert!(bad.bounds().percentile(99.0).is_bound);
        merged.add(&bad);
        assert_eq!((merged.count(), merged.censored.len()), (2_000, 5));
        assert_eq!(milliseconds(merged.bounds().percentile(99.0)), (1_879.0, false), "or 1,884");
        assert!(merged.bounds().percentile(99.9).is_bound);
        assert!(merged.bounds().max().is_bound);
    }

    #[test]
    fn a_bound_is_shown_as_one() {
        assert_eq!(BoundedLatency { nanos: 95e6, is_bound: true }.to_string(), "≥ 95.0 ms");
        assert_eq!(BoundedLatency::value(95e6).to_string(), "95.0 ms");
    }
}
