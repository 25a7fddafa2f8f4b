//! Quantities whose type includes their unit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// A span of time in nanoseconds; the unit of every recorded time.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(transparent)]
pub struct Nanos(pub u64);

/// True for values that carry no information: such fields are not written.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Converts fractional nanoseconds, such as means and deviations, to milliseconds.
#[must_use]
pub fn millis(nanos: f64) -> f64 {
    nanos / 1e6
}

impl Nanos {
    /// Whole seconds.
    #[must_use]
    pub const fn from_secs(seconds: u64) -> Self {
        Self(seconds * 1_000_000_000)
    }

    /// Seconds as a floating-point number, for rates and charts.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Milliseconds as a floating-point number.
    #[must_use]
    pub fn as_millis_f64(self) -> f64 {
        millis(self.0 as f64)
    }

    /// Microseconds as a floating-point number.
    #[must_use]
    pub fn as_micros_f64(self) -> f64 {
        self.0 as f64 / 1e3
    }
}

impl From<Duration> for Nanos {
    /// Saturates at 584 years.
    #[inline]
    fn from(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl From<Nanos> for Duration {
    fn from(nanos: Nanos) -> Self {
        Self::from_nanos(nanos.0)
    }
}

/// Three significant digits and a suitable unit: `850 ns`, `12.3 µs`, `4.56 ms`, `1.20 s`.
impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0 as f64;
        let (value, unit) = match self.0 {
            0 => return f.write_str("0 s"),
            1..1_000 => return write!(f, "{} ns", self.0),
            1_000..1_000_000 => (ns / 1e3, "µs"),
            1_000_000..1_000_000_000 => (ns / 1e6, "ms"),
            _ => (ns / 1e9, "s"),
        };
        let decimals = if value < 9.995 {
            2
        } else if value < 99.95 {
            1
        } else {
            0
        };
        write!(f, "{value:.decimals$} {unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_with_three_digits_and_a_fitting_unit() {
        let rows = [
            (0, "0 s"),
            (1, "1 ns"),
            (999, "999 ns"),
            (1_000, "1.00 µs"),
            (12_345, "12.3 µs"),
            (123_456, "123 µs"),
            (4_560_000, "4.56 ms"),
            (1_200_000_000, "1.20 s"),
            (61_000_000_000, "61.0 s"),
        ];
        for (nanos, text) in rows {
            assert_eq!(Nanos(nanos).to_string(), text);
        }
    }
}
