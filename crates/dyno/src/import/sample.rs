//! Single transactions, and the intervals computed from them.

use dyno_model::latency;
use dyno_model::record::IntervalRecord;
use dyno_model::units::Nanos;

/// Length of an interval, microseconds.
const INTERVAL: u64 = 1_000_000;
/// A transaction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    /// End, microseconds since 1970.
    pub(super) ended: u64,
    pub(super) outcome: Outcome,
    pub(super) retries: u32,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Outcome {
    /// Microseconds.
    Took(u32),
    Failed,
    Skipped,
}

impl Sample {
    pub(super) fn began(&self) -> u64 {
        match self.outcome {
            Outcome::Took(time) => self.ended.saturating_sub(time.into()),
            Outcome::Failed | Outcome::Skipped => self.ended,
        }
    }
}

/// Yields the intervals of a run one by one: all at once would need a histogram for each second.
pub(super) fn intervals(samples: &[Sample]) -> impl Iterator<Item = IntervalRecord> {
    let began = samples.iter().map(Sample::began).min().unwrap_or_default();
    let ended = samples.last().map_or(began, |sample| sample.ended);
    let mut rest = samples.iter().peekable();
    (0..(ended - began).div_ceil(INTERVAL)).map(move |number| {
        let start = number * INTERVAL;
        let end = (start + INTERVAL).min(ended - began);
        let [at, length] = [start, end - start].map(|micros| Nanos(micros * 1_000));
        let mut interval = IntervalRecord::empty("", at, length, &[]);
        while let Some(sample) = rest.next_if(|sample| sample.ended - began <= end) {
            match sample.outcome {
                Outcome::Took(micros) => {
                    let nanos = u64::from(micros) * 1_000;
                    latency::record(&mut interval.response_times, nanos);
                    interval.latency.record(nanos);
                }
                Outcome::Failed => interval.failed += 1,
                Outcome::Skipped => {}
            }
            interval.retries += u64::from(sample.retries);
        }
        interval
    })
}
