//! One time, or one count, with its moment.

use dyno_model::failure::FailureKind;
use dyno_model::ledger::{OutcomeClass, ScriptCounter};

/// What a sample is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Occurrence {
    /// A committed transaction.
    Committed,
    /// A transaction that was too late to be begun; the time is its age.
    Skipped,
    /// A transaction given up; the time is its age.
    Failed(FailureKind),
    /// A retry after a failure.
    Retried(FailureKind),
    /// An attempt to connect anew failed.
    NotConnected(FailureKind),
    /// A statement answered with an error.
    StatementFailed,
    /// A connection opened again.
    Reconnected,
    /// A transaction cut off; the time is its age.
    CutOff,
    /// A transaction of an open loop that a free client waited for has begun; the time is how late.
    Late,
    /// A script counted something itself; how often stands in place of the duration.
    Counted(ScriptCounter),
    /// A successful statement of a kind, and what it left.
    Statement(u16, OutcomeClass),
}

/// Packed into sixteen bytes: times of a trial fit 48 bits of nanoseconds (three days).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    /// End, nanoseconds since the epoch, and above bit 48 the occurrence.
    end_and_occurrence: u64,
    /// Duration in nanoseconds; in bits 60 and 61 what the statement left; in bits 48 to 55 the kind of a failure; in bit 63 whether it counts (else it is warm-up).
    duration_and_marks: u64,
}

/// Times above this are clamped to it.
pub(super) const TIME_MASK: u64 = (1 << 48) - 1;
const COUNTED: u64 = 1 << 63;
const CLASS_SHIFT: u32 = 60;
/// Eight bits for the kind of a failure.
const FAILURE_SHIFT: u32 = 48;
/// Codes of the occurrences; kinds of statements follow behind the last.
const FIRST_COUNTER: u64 = 9;
const COUNTERS: [ScriptCounter; 6] = [
    ScriptCounter::Events,
    ScriptCounter::Reads,
    ScriptCounter::Writes,
    ScriptCounter::Others,
    ScriptCounter::Errors,
    ScriptCounter::Reconnects,
];
const FIRST_KIND: u64 = FIRST_COUNTER + COUNTERS.len() as u64;

impl Sample {
    #[inline]
    pub(crate) fn new(occurrence: Occurrence, end: u64, duration: u64, is_counted: bool) -> Self {
        let of_failure = |kind: FailureKind| (kind as u64) << FAILURE_SHIFT;
        let (code, mark) = match occurrence {
            Occurrence::Committed => (0, 0),
            Occurrence::Failed(kind) => (1, of_failure(kind)),
            Occurrence::Retried(kind) => (2, of_failure(kind)),
            Occurrence::NotConnected(kind) => (8, of_failure(kind)),
            Occurrence::StatementFailed => (3, 0),
            Occurrence::Reconnected => (4, 0),
            Occurrence::CutOff => (5, 0),
            Occurrence::Late => (6, 0),
            Occurrence::Skipped => (7, 0),
            Occurrence::Counted(counter) => (FIRST_COUNTER + counter as u64, 0),
            Occurrence::Statement(kind, class) => {
                (FIRST_KIND + u64::from(kind), (class as u64) << CLASS_SHIFT)
            }
        };
        let counted = if is_counted { COUNTED } else { 0 };
        Self {
            end_and_occurrence: end.min(TIME_MASK) | code << 48,
            duration_and_marks: duration.min(TIME_MASK) | mark | counted,
        }
    }

    #[inline]
    pub(crate) fn occurrence(self) -> Occurrence {
        match self.end_and_occurrence >> 48 {
            0 => Occurrence::Committed,
            1 => Occurrence::Failed(self.failure()),
            2 => Occurrence::Retried(self.failure()),
            8 => Occurrence::NotConnected(self.failure()),
            3 => Occurrence::StatementFailed,
            4 => Occurrence::Reconnected,
            5 => Occurrence::CutOff,
            6 => Occurrence::Late,
            7 => Occurrence::Skipped,
            code if code < FIRST_KIND => Occurrence::Counted(COUNTERS[(code - FIRST_COUNTER) as usize]),
            code => Occurrence::Statement((code - FIRST_KIND) as u16, self.class()),
        }
    }

    fn failure(self) -> FailureKind {
        FailureKind::ALL[(self.duration_and_marks >> FAILURE_SHIFT & 0xff) as usize]
    }

    fn class(self) -> OutcomeClass {
        match self.duration_and_marks >> CLASS_SHIFT & 3 {
            0 => OutcomeClass::Read,
            1 => OutcomeClass::Write,
            _ => OutcomeClass::Other,
        }
    }

    #[inline]
    pub(crate) fn end(self) -> u64 {
        self.end_and_occurrence & TIME_MASK
    }

    #[inline]
    pub(crate) fn duration(self) -> u64 {
        self.duration_and_marks & TIME_MASK
    }

    #[inline]
    pub(crate) fn is_counted(self) -> bool {
        self.duration_and_marks & COUNTED != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_packed_sample_gives_back_what_went_in(
            kind in 0_u16..1000, end in 0_u64..TIME_MASK, duration in 0_u64..TIME_MASK, is_counted: bool
        ) {
            let classes = [OutcomeClass::Read, OutcomeClass::Write, OutcomeClass::Other];
            let occurrences = [
                Occurrence::Committed,
                Occurrence::StatementFailed,
                Occurrence::Reconnected,
                Occurrence::CutOff,
                Occurrence::Late,
                Occurrence::Skipped,
            ]
            .into_iter()
            .chain(FailureKind::ALL.map(Occurrence::Failed))
            .chain(FailureKind::ALL.map(Occurrence::Retried))
            .chain(FailureKind::ALL.map(Occurrence::NotConnected))
            .chain(COUNTERS.map(Occurrence::Counted))
            .chain(classes.map(|class| Occurrence::Statement(kind, class)));
            for occurrence in occurrences {
                let sample = Sample::new(occurrence, end, duration, is_counted);
                prop_assert_eq!(sample.occurrence(), occurrence);
                prop_assert_eq!(sample.end(), end);
                prop_assert_eq!(sample.duration(), duration);
                prop_assert_eq!(sample.is_counted(), is_counted);
            }
        }
    }
}
