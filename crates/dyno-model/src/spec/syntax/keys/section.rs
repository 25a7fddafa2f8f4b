//! Data types for the sections of a spec and their keys.

use std::fmt;
use std::ops::RangeInclusive;

/// A table of the spec.
#[derive(Debug)]
pub struct Section {
    /// Heading as written in the file, e.g. `[load]`; empty for the top level of the file.
    pub heading: &'static str,
    /// Prefix of its keys in messages, e.g. `load.`.
    pub prefix: &'static str,
    /// Its purpose, in a sentence.
    pub about: &'static str,
    /// Its keys; empty when the user chooses them.
    pub keys: &'static [Key],
}

impl Section {
    /// Location of its keys, for messages: `in [load]`.
    #[must_use]
    pub fn location(&self) -> String {
        if self.heading.is_empty() {
            "at the top of the file".to_owned()
        } else {
            format!("in {}", self.heading)
        }
    }
}

/// A key of the spec.
#[derive(Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// Accepted values, with range.
    pub value_type: ValueType,
    /// Default value; `required` when there is none.
    pub default: &'static str,
    /// Its effect, in one line.
    pub help: &'static str,
}

/// Accepted values of a key. The readers enforce these ranges, and the reference and error messages
/// show them.
#[derive(Debug)]
pub enum ValueType {
    /// Values that are not described by a range.
    Words(&'static str),
    /// A whole number.
    Integer(RangeInclusive<i64>),
    /// A whole number, or a list of them.
    IntegerOrList(RangeInclusive<i64>),
    /// A list of whole numbers.
    Integers(RangeInclusive<i64>),
    /// A duration; above 0 if the flag is `true`.
    Duration {
        /// 0 is rejected.
        is_positive: bool,
    },
    /// Arrival rate: transactions per unit of time.
    Rate,
    /// The load of a stage: none, a rate, or a list of two rates.
    StageRate,
    /// A rate, or a number of clients.
    RateOrClients,
    /// A list of numbers with this lower bound.
    NumbersFrom(i32),
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words(words) => f.write_str(words),
            Self::Integer(range) => f.write_str(&span(range)),
            Self::IntegerOrList(range) => write!(f, "{}, or a list of such", span(range)),
            Self::Integers(range) => write!(f, "list of {}", span(range)),
            Self::Duration { is_positive: true } => f.write_str("duration above 0"),
            Self::Duration { is_positive: false } => f.write_str("duration"),
            Self::Rate => {
                write!(f, "number per `s`, `min` or `h`, as `\"500/s\"`, {RATES_IN_WORDS}")
            }
            Self::StageRate => write!(f, "{}, or 0; or two in a list", Self::Rate),
            Self::RateOrClients => write!(f, "{}; or number of clients", Self::Rate),
            Self::NumbersFrom(least) => write!(f, "list of numbers, {least} and up"),
        }
    }
}

/// The range as shown in the reference.
fn span(range: &RangeInclusive<i64>) -> String {
    match (*range.start(), *range.end()) {
        (start, i64::MAX) => format!("{start} and up"),
        (start, end) => format!("{start} to {end}"),
    }
}

/// Slowest and fastest arrivals, per second. A generator cannot produce ten million; the bound
/// catches typing mistakes.
pub(in crate::spec) const RATES: RangeInclusive<f64> = 1.0 / 3600.0..=1e7;

/// The same as text.
pub(in crate::spec) const RATES_IN_WORDS: &str = "between one an hour and ten million a second";

/// Maximum number of clients of one configuration, which a thousand load generators can drive. One
/// machine has too few ports and too little memory; the bound catches typing mistakes.
pub(in crate::spec) const CLIENTS_MAX: i64 = 1_000_000;

/// Largest weight of a script.
pub(in crate::spec) const WEIGHT_MAX: i64 = 1_000_000;

/// A key whose values are not described by a range; [`Key::help`] describes them.
pub(super) const fn key(
    name: &'static str,
    value_type: &'static str,
    default: &'static str,
) -> Key {
    typed_key(name, ValueType::Words(value_type), default)
}

pub(super) const fn typed_key(
    name: &'static str,
    value_type: ValueType,
    default: &'static str,
) -> Key {
    Key { name, value_type, default, help: "" }
}

impl Key {
    pub(super) const fn help(self, help: &'static str) -> Self {
        Self { help, ..self }
    }
}
