//! Syntax of durations, rates and sizes in a spec: `"500ms"`, `"30s"`, `"1h30m"`, `"4G"`.

use crate::units::Nanos;

/// Maximum duration in a spec: a year. It prevents overflow of every sum of times in 64 bits.
const DURATION_MAX_SECONDS: f64 = 366.0 * 86_400.0;

/// Units of time, with their length in seconds. Longer names first, so that `ms` is not read as
/// `m`.
const TIME_UNITS: [(&str, f64); 5] =
    [("ms", 1e-3), ("us", 1e-6), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];

/// Parses a duration; the error describes the mistake in the text.
pub(in crate::spec) fn duration(text: &str) -> Result<Nanos, String> {
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err("it is empty".to_owned());
    }
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let digits =
            rest.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(rest.len());
        let (number, tail) = rest.split_at(digits);
        let value: f64 = number.replace('_', "").parse().map_err(|_| {
            if rest.starts_with('-') {
                "it is negative".to_owned()
            } else {
                format!("`{rest}` is not a number with a unit")
            }
        })?;
        let tail = tail.trim_start();
        let letters = tail.find(|c: char| !c.is_alphabetic()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(letters);
        if unit.is_empty() {
            return Err(format!("`{number}` has no unit"));
        }
        let (_, length) = TIME_UNITS
            .iter()
            .find(|(name, _)| *name == unit)
            .ok_or_else(|| format!("`{unit}` is not a unit of time"))?;
        seconds += value * length;
        rest = tail.trim_start();
    }
    if seconds > DURATION_MAX_SECONDS {
        return Err("it is longer than a year".to_owned());
    }
    // Up to a year in nanoseconds is below 2^55; rounding is to the nanosecond for anything below
    // 104 days.
    Ok(Nanos((seconds * 1e9).round() as u64))
}

/// Parses a rate, `500/s` or `30/min`, as a number per second; the error describes the mistake in
/// the text.
pub(in crate::spec) fn rate(text: &str) -> Result<f64, String> {
    let Some((number, unit)) = text.trim().split_once('/') else {
        return Err(format!("`{text}` has no unit of time"));
    };
    let number = number.trim();
    let value: f64 = match number.replace('_', "").parse() {
        Ok(value) if number.starts_with(|c: char| c.is_ascii_digit() || c == '.') => value,
        _ => return Err(format!("`{number}` is not a number")),
    };
    let seconds = match unit.trim() {
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        other => return Err(format!("`{other}` is not one of `s`, `min` and `h`")),
    };
    Ok(value / seconds)
}

/// Parses a size in bytes with a binary unit: `K`, `M`, `G`, `T`, also as `KiB`, `KB` and so on,
/// all powers of 1024 as in database settings.
pub(in crate::spec) fn size(text: &str) -> Option<i64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let value: i64 = number.replace('_', "").parse().ok()?;
    let power = match unit.trim().to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 1,
        "M" | "MB" | "MIB" => 2,
        "G" | "GB" | "GIB" => 3,
        "T" | "TB" | "TIB" => 4,
        _ => return None,
    };
    value.checked_mul(1024_i64.pow(power))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_with_their_units() {
        let rows = [
            ("500ms", 500_000_000),
            ("30s", 30_000_000_000),
            ("5m", 300_000_000_000),
            ("1h", 3_600_000_000_000),
            ("1h30m", 5_400_000_000_000),
            ("1.5s", 1_500_000_000),
            ("0s", 0),
            (" 2 s ", 2_000_000_000),
            ("10us", 10_000),
        ];
        for (text, nanos) in rows {
            assert_eq!(duration(text), Ok(Nanos(nanos)), "{text}");
        }
    }

    #[test]
    fn rates_are_per_second_minute_or_hour() {
        let rows =
            [("500/s", 500.0), ("2.5/s", 2.5), ("30/min", 0.5), ("1_800 / h", 0.5), (".5/s", 0.5)];
        for (text, expected) in rows {
            assert_eq!(rate(text), Ok(expected), "{text}");
        }
        for text in ["", "500", "/s", "inf/s", "-1/s", "1e3e/s", "5/day"] {
            assert!(rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations_without_sense_are_refused_with_the_reason() {
        let rows = [
            ("", "it is empty"),
            ("30", "`30` has no unit"),
            ("-5s", "it is negative"),
            ("soon", "`soon` is not a number with a unit"),
            ("3 days", "`days` is not a unit of time"),
            ("9999h", "it is longer than a year"),
            ("1.2.3s", "`1.2.3s` is not a number with a unit"),
        ];
        for (text, reason) in rows {
            assert_eq!(duration(text), Err(reason.to_owned()), "{text}");
        }
    }

    #[test]
    fn sizes_are_powers_of_1024() {
        let rows = [
            ("4096", Some(4096)),
            ("4K", Some(4096)),
            ("1_0M", Some(10 << 20)),
            ("4 GiB", Some(4 << 30)),
            ("1t", Some(1 << 40)),
            ("4X", None),
            ("-1K", None),
            ("9000000000T", None),
        ];
        for (text, bytes) in rows {
            assert_eq!(size(text), bytes, "{text}");
        }
    }
}
