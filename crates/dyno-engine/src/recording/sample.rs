//! A sample: one duration or one count, with its time.

use dyno_model::counters::{OutcomeClass, ScriptCounter};
use dyno_model::failure::FailureKind;

/// What a sample records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Occurrence {
    /// A committed transaction.
    Committed,
    /// A transaction that was skipped because it was too late; the time is its age.
    Skipped,
    /// A transaction that failed permanently; the time is its age.
    Failed(FailureKind),
    /// A retry after a failure.
    Retried(FailureKind),
    /// A failed attempt to reconnect.
    NotConnected(FailureKind),
    /// A statement answered with an error.
    StatementFailed,
    /// A reopened connection.
    Reconnected,
    /// A transaction cut off; the time is its age.
    CutOff,
    /// A transaction of an open loop that a free client waited for; the time is its delay.
    StartDelay,
    /// A counter of the script itself; the count replaces the duration.
    ScriptCount(ScriptCounter),
    /// A successful statement of a kind, and the class of its outcome.
    Statement(u16, OutcomeClass),
}

/// Packed into sixteen bytes: times of a trial fit 48 bits of nanoseconds (three days).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    /// End, nanoseconds since the epoch, and above bit 48 the occurrence.
    end_and_occurrence: u64,
    /// Duration in nanoseconds; from bit 48 on the name of the transaction; in bits 60 and 61 the
    /// outcome of the statement; in bit 63 whether it counts (otherwise it is warm-up).
    duration_and_marks: u64,
}

/// Times above this are clamped to it.
pub(super) const TIME_MASK: u64 = (1 << 48) - 1;
const COUNTED: u64 = 1 << 63;
const CLASS_SHIFT: u32 = 60;
const NAME_SHIFT: u32 = 48;
/// Maximum number of transaction names that a sample can distinguish.
pub(crate) const NAMES_MAX: usize = 1 << (CLASS_SHIFT - NAME_SHIFT);
/// Codes of the occurrences; kinds of statements follow the last one.
const FIRST_COUNTER: u64 = 6;
const COUNTERS: [ScriptCounter; 6] = [
    ScriptCounter::Events,
    ScriptCounter::Reads,
    ScriptCounter::Writes,
    ScriptCounter::Others,
    ScriptCounter::Errors,
    ScriptCounter::Reconnects,
];
const FIRST_FAILED: u64 = FIRST_COUNTER + COUNTERS.len() as u64;
const FIRST_RETRIED: u64 = FIRST_FAILED + FailureKind::ALL.len() as u64;
const FIRST_NOT_CONNECTED: u64 = FIRST_RETRIED + FailureKind::ALL.len() as u64;
const FIRST_KIND: u64 = FIRST_NOT_CONNECTED + FailureKind::ALL.len() as u64;

impl Sample {
    #[inline]
    pub(crate) fn new(occurrence: Occurrence, end: u64, duration: u64, is_counted: bool) -> Self {
        let (code, class) = match occurrence {
            Occurrence::Committed => (0, 0),
            Occurrence::StatementFailed => (1, 0),
            Occurrence::Reconnected => (2, 0),
            Occurrence::CutOff => (3, 0),
            Occurrence::StartDelay => (4, 0),
            Occurrence::Skipped => (5, 0),
            Occurrence::ScriptCount(counter) => (FIRST_COUNTER + counter as u64, 0),
            Occurrence::Failed(kind) => (FIRST_FAILED + kind as u64, 0),
            Occurrence::Retried(kind) => (FIRST_RETRIED + kind as u64, 0),
            Occurrence::NotConnected(kind) => (FIRST_NOT_CONNECTED + kind as u64, 0),
            Occurrence::Statement(kind, class) => (FIRST_KIND + u64::from(kind), class as u64),
        };
        let counted = if is_counted { COUNTED } else { 0 };
        Self {
            end_and_occurrence: end.min(TIME_MASK) | code << 48,
            duration_and_marks: duration.min(TIME_MASK) | class << CLASS_SHIFT | counted,
        }
    }

    /// The sample of a named transaction; `name_index` is its index, which must be below
    /// [`NAMES_MAX`].
    #[inline]
    pub(crate) fn named(self, name_index: u16) -> Self {
        Self {
            duration_and_marks: self.duration_and_marks | u64::from(name_index) << NAME_SHIFT,
            ..self
        }
    }

    /// Index of the transaction's name.
    #[inline]
    pub(crate) fn name(self) -> usize {
        (self.duration_and_marks >> NAME_SHIFT) as usize & (NAMES_MAX - 1)
    }

    #[inline]
    pub(crate) fn occurrence(self) -> Occurrence {
        match self.end_and_occurrence >> 48 {
            0 => Occurrence::Committed,
            1 => Occurrence::StatementFailed,
            2 => Occurrence::Reconnected,
            3 => Occurrence::CutOff,
            4 => Occurrence::StartDelay,
            5 => Occurrence::Skipped,
            code if code < FIRST_FAILED => {
                Occurrence::ScriptCount(COUNTERS[(code - FIRST_COUNTER) as usize])
            }
            code if code < FIRST_RETRIED => Occurrence::Failed(failure(code - FIRST_FAILED)),
            code if code < FIRST_NOT_CONNECTED => {
                Occurrence::Retried(failure(code - FIRST_RETRIED))
            }
            code if code < FIRST_KIND => {
                Occurrence::NotConnected(failure(code - FIRST_NOT_CONNECTED))
            }
            code => Occurrence::Statement((code - FIRST_KIND) as u16, self.class()),
        }
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

fn failure(index: u64) -> FailureKind {
    FailureKind::ALL[index as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_packed_sample_gives_back_what_went_in(
            kind in 0_u16..1000, name in 0..NAMES_MAX as u16, end in 0_u64..TIME_MASK, duration in 0_u64..TIME_MASK, is_counted: bool
        ) {
            let classes = [OutcomeClass::Read, OutcomeClass::Write, OutcomeClass::Other];
            let occurrences = [
                Occurrence::Committed,
                Occurrence::StatementFailed,
                Occurrence::Reconnected,
                Occurrence::CutOff,
                Occurrence::StartDelay,
                Occurrence::Skipped,
            ]
            .into_iter()
            .chain(FailureKind::ALL.map(Occurrence::Failed))
            .chain(FailureKind::ALL.map(Occurrence::Retried))
            .chain(FailureKind::ALL.map(Occurrence::NotConnected))
            .chain(COUNTERS.map(Occurrence::ScriptCount))
            .chain(classes.map(|class| Occurrence::Statement(kind, class)));
            for occurrence in occurrences {
                let sample = Sample::new(occurrence, end, duration, is_counted).named(name);
                prop_assert_eq!(sample.name(), usize::from(name));
                prop_assert_eq!(sample.occurrence(), occurrence);
                prop_assert_eq!(sample.end(), end);
                prop_assert_eq!(sample.duration(), duration);
                prop_assert_eq!(sample.is_counted(), is_counted);
            }
        }
    }
}
