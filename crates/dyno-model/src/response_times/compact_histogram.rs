//! A histogram that uses little memory while it holds few distinct times. A script may have
//! thousands of statements, each with its own histogram.

use crate::latency::{self, HIGHEST_NANOS, LOWEST_NANOS, LatencySummary};
use hdrhistogram::Histogram;
use std::borrow::Cow;

/// Bits that [`latency::SIGNIFICANT_DIGITS`] decimal digits need: values below 2^11 are exact,
/// larger values keep their leading 11 bits.
const BITS: u32 = 11;
/// Maximum number of distinct times in the list, four bytes each. A statement with more gets a full
/// histogram, of 16 KiB and more.
const FEW_MAX: usize = 512;

/// Response times with the precision of [`latency::histogram`]: a sorted list of the times that
/// occurred, and a full histogram above [`FEW_MAX`].
#[derive(Debug, Clone)]
pub struct CompactHistogram(Form);

#[derive(Debug, Clone)]
enum Form {
    /// Ascending, each with the number of its occurrences.
    Few(Vec<(Bucket, u16)>),
    Full(Box<Histogram<u64>>),
}

/// Equivalent times: their leading bits, and above these the number of bits that follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Bucket(u16);

impl Bucket {
    fn of(nanos: u64) -> Self {
        let nanos = nanos.clamp(LOWEST_NANOS, HIGHEST_NANOS);
        let shift = (u64::BITS - nanos.leading_zeros()).saturating_sub(BITS);
        // Five bits for the shift, since HIGHEST_NANOS has 42 bits.
        Self(((u64::from(shift) << BITS) | (nanos >> shift)) as u16)
    }

    /// The lowest of the equivalent times.
    fn nanos(self) -> u64 {
        (u64::from(self.0) & ((1 << BITS) - 1)) << (self.0 >> BITS)
    }
}

impl Default for CompactHistogram {
    fn default() -> Self {
        Self(Form::Few(Vec::new()))
    }
}

impl CompactHistogram {
    /// Records one time in nanoseconds, clamped to [`HIGHEST_NANOS`].
    #[inline]
    pub fn record(&mut self, nanos: u64) {
        self.record_n(nanos, 1);
    }

    /// Records one time with a number of occurrences.
    pub fn record_n(&mut self, nanos: u64, count: u64) {
        if let Form::Few(few) = &mut self.0 {
            let bucket = Bucket::of(nanos);
            match few.binary_search_by_key(&bucket, |(known, _)| *known) {
                Ok(at) => {
                    if let Some(sum) =
                        u16::try_from(count).ok().and_then(|count| few[at].1.checked_add(count))
                    {
                        few[at].1 = sum;
                        return;
                    }
                }
                Err(at) => {
                    if let Some(count) = u16::try_from(count).ok().filter(|_| few.len() < FEW_MAX) {
                        few.insert(at, (bucket, count));
                        return;
                    }
                }
            }
        }
        // Values within the bounds cannot fail: the histogram resizes itself.
        let _ = self.make_full().record_n(nanos.clamp(LOWEST_NANOS, HIGHEST_NANOS), count);
    }

    /// Adds all times of another.
    pub fn add(&mut self, other: &Self) {
        match &other.0 {
            Form::Few(few) => {
                few.iter()
                    .for_each(|(bucket, count)| self.record_n(bucket.nanos(), (*count).into()));
            }
            Form::Full(full) => {
                self.make_full()
                    .add(&**full)
                    .expect("all histograms have the same bounds and grow");
            }
        }
    }

    /// Adds all times of a full histogram.
    pub fn add_histogram(&mut self, other: &Histogram<u64>) {
        match &mut self.0 {
            Form::Full(full) => {
                full.add(other).expect("all histograms have the same bounds and grow");
            }
            Form::Few(_) => {
                let values = other.iter_recorded();
                values.for_each(|value| {
                    self.record_n(value.value_iterated_to(), value.count_at_value());
                });
            }
        }
    }

    /// True when it contains no time.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of recorded times.
    #[must_use]
    pub fn len(&self) -> u64 {
        match &self.0 {
            Form::Few(few) => few.iter().map(|(_, count)| u64::from(*count)).sum(),
            Form::Full(full) => full.len(),
        }
    }

    /// The full histogram of the same times.
    #[must_use]
    pub fn full(&self) -> Cow<'_, Histogram<u64>> {
        match &self.0 {
            Form::Few(few) => Cow::Owned(filled(few)),
            Form::Full(full) => Cow::Borrowed(full),
        }
    }

    /// Bytes allocated on the heap.
    #[must_use]
    pub fn memory(&self) -> usize {
        match &self.0 {
            Form::Few(few) => few.capacity() * size_of::<(Bucket, u16)>(),
            Form::Full(full) => {
                size_of::<Histogram<u64>>() + full.distinct_values() * size_of::<u64>()
            }
        }
    }

    fn make_full(&mut self) -> &mut Histogram<u64> {
        if let Form::Few(few) = &self.0 {
            self.0 = Form::Full(Box::new(filled(few)));
        }
        match &mut self.0 {
            Form::Full(full) => full,
            Form::Few(_) => unreachable!("it was just filled"),
        }
    }
}

fn filled(few: &[(Bucket, u16)]) -> Histogram<u64> {
    let mut full = latency::histogram();
    for (bucket, count) in few {
        // Values within the bounds cannot fail: the histogram resizes itself.
        let _ = full.record_n(bucket.nanos(), (*count).into());
    }
    full
}

/// Keeps a full histogram of more times than the list can hold. Whether few of them are distinct
/// would have to be counted, which costs more than the memory of one that exists already.
impl From<Histogram<u64>> for CompactHistogram {
    fn from(full: Histogram<u64>) -> Self {
        if full.len() > FEW_MAX as u64 {
            return Self(Form::Full(Box::new(full)));
        }
        let mut few = Self::default();
        few.add_histogram(&full);
        few
    }
}

impl From<&CompactHistogram> for LatencySummary {
    fn from(histogram: &CompactHistogram) -> Self {
        Self::from(&*histogram.full())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_holds_what_a_full_histogram_holds(
            values in prop::collection::vec((0_u32..45, 0_u64..u64::MAX, prop_oneof![Just(1_u64), 1_u64..70_000]), 0..900)
        ) {
            let mut full = latency::histogram();
            let mut parts = [CompactHistogram::default(), CompactHistogram::default()];
            for (at, (bits, value, count)) in values.iter().enumerate() {
                let nanos = value & ((1 << bits) - 1);
                full.record_n(nanos.clamp(LOWEST_NANOS, HIGHEST_NANOS), *count).expect("it grows");
                parts[at % 2].record_n(nanos, *count);
            }
            let [mut sum, part] = parts;
            sum.add(&part);
            prop_assert_eq!(sum.len(), full.len());
            prop_assert_eq!(&*sum.full(), &full);
            prop_assert_eq!(LatencySummary::from(&sum), LatencySummary::from(&full));
            let mut of_full = CompactHistogram::default();
            of_full.add_histogram(&full);
            prop_assert_eq!(&*of_full.full(), &full);
            let converted = CompactHistogram::from(full.clone());
            prop_assert_eq!(&*converted.full(), &full);
        }
    }

    #[test]
    fn few_times_take_little_memory_however_long_they_are() {
        let mut histogram = CompactHistogram::default();
        assert_eq!(histogram.memory(), 0);
        for at in 0..10_000_u64 {
            histogram.record(HIGHEST_NANOS / 2 + (at % FEW_MAX as u64) * (HIGHEST_NANOS >> BITS));
        }
        assert!(histogram.memory() <= 2048, "{}", histogram.memory());
        assert_eq!(histogram.len(), 10_000);
        (1..=FEW_MAX as u64 + 1).for_each(|nanos| histogram.record(nanos));
        assert!(matches!(histogram.0, Form::Full(_)), "more are worth a full histogram");
    }
}
