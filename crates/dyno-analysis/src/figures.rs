//! Formatting of plain numbers, with the same digits and separators in all languages.

/// A whole number with thousands separators: `12,345`.
#[must_use]
pub fn count(value: u64) -> String {
    group(&value.to_string())
}

/// Three significant digits, or more if the integer part has more: `0.00123`, `1.23`, `12.3`,
/// `123`, `1,234`.
#[must_use]
pub fn digits(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let decimals = decimals(value);
    let text = format!("{:.decimals$}", value.abs());
    // Only the integer part needs grouping: `1234.5` cannot occur, because four digits have no
    // decimals.
    let text = if decimals == 0 { group(&text) } else { text };
    if value < 0.0 { format!("-{text}") } else { text }
}

/// An arrival rate per second, as written in specs: `500/s`, `0.5/s`.
#[must_use]
pub fn rate(per_second: f64) -> String {
    format!("{}/s", digits(per_second))
}

/// Bytes as megabytes with unit: `18.2 MB`.
#[must_use]
pub fn megabytes(bytes: u64) -> String {
    format!("{} MB", digits(bytes as f64 / 1e6))
}

/// The number of decimals that shows three significant digits.
#[must_use]
pub fn decimals(value: f64) -> usize {
    match value.abs() {
        v if v >= 99.95 || v == 0.0 => 0,
        v if v >= 9.995 => 1,
        v if v >= 0.9995 => 2,
        v if v >= 0.09995 => 3,
        v if v >= 0.009_995 => 4,
        _ => 5,
    }
}

/// Inserts commas between groups of three digits of an integer.
#[must_use]
pub fn group(whole: &str) -> String {
    let (sign, number) = whole.strip_prefix('-').map_or(("", whole), |rest| ("-", rest));
    let mut grouped = String::with_capacity(whole.len() + whole.len() / 3);
    grouped.push_str(sign);
    for (i, digit) in number.chars().enumerate() {
        if i > 0 && (number.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_significant_digits() {
        let rows = [
            (0.0, "0"),
            (0.001_234, "0.00123"),
            (0.012_34, "0.0123"),
            (0.9996, "1.00"),
            (1.234, "1.23"),
            (12.34, "12.3"),
            (99.96, "100"),
            (123.4, "123"),
            (1234.5, "1,234"),
            (1_234_567.0, "1,234,567"),
            (-12.34, "-12.3"),
            (-1234.0, "-1,234"),
        ];
        for (value, text) in rows {
            assert_eq!(digits(value), text, "{value}");
        }
    }

    #[test]
    fn whole_numbers_are_grouped_by_thousands() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1000), "1,000");
        assert_eq!(count(12_345_678), "12,345,678");
    }
}
