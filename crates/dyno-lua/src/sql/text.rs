//! Formats values as each database's own client does.

use dyno_drivers::sql_text::append_hexadecimal;
use std::io::Write;

/// The client whose format is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Integers from 10^15 on and fractions below 10^-15 with an exponent: `1e15`.
    Mysql,
    /// FLOAT of MySQL: six digits.
    MysqlSingle,
    /// `1e+15`, `1e-05`.
    Postgres,
    /// Fifteen digits, always with a point: `1.0`.
    Sqlite,
}

/// Appends a floating-point number.
pub(crate) fn write_float(value: f64, style: Style, out: &mut Vec<u8>) {
    if !value.is_finite() {
        let name: &[u8] = match style {
            _ if value.is_nan() => b"NaN",
            Style::Sqlite if value > 0.0 => b"Inf",
            Style::Sqlite => b"-Inf",
            _ if value > 0.0 => b"Infinity",
            _ => b"-Infinity",
        };
        out.extend_from_slice(name);
        return;
    }
    // Digits and exponent of the shortest text that is read back unchanged, or with as many digits
    // as the client shows.
    let text = match style {
        Style::Mysql | Style::Postgres => format!("{value:e}"),
        Style::MysqlSingle => format!("{value:.5e}"),
        Style::Sqlite => format!("{value:.14e}"),
    };
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let is_negative = mantissa.starts_with('-');
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let digits = digits.trim_end_matches('0');
    if is_negative && (!digits.is_empty() || style == Style::Postgres) {
        out.push(b'-');
    }
    let digits = if digits.is_empty() { "0" } else { digits };
    let is_fixed = match style {
        Style::Mysql | Style::MysqlSingle => (-15..15).contains(&exponent),
        Style::Postgres | Style::Sqlite => (-4..15).contains(&exponent),
    };
    if is_fixed {
        write_fixed(digits, exponent, out);
        if style == Style::Sqlite && exponent + 1 >= digits.len() as i32 {
            out.extend_from_slice(b".0");
        }
        return;
    }
    let (first, rest) = digits.split_at(1);
    out.extend_from_slice(first.as_bytes());
    if !rest.is_empty() {
        out.push(b'.');
        out.extend_from_slice(rest.as_bytes());
    } else if style == Style::Sqlite {
        out.extend_from_slice(b".0");
    }
    // Writing to a vector cannot fail.
    let _ = match style {
        Style::Mysql | Style::MysqlSingle => write!(out, "e{exponent}"),
        Style::Postgres | Style::Sqlite => write!(out, "e{exponent:+03}"),
    };
}

/// `digits` with a point after the first `exponent + 1` of them.
fn write_fixed(digits: &str, exponent: i32, out: &mut Vec<u8>) {
    let bytes = digits.as_bytes();
    match usize::try_from(exponent) {
        Ok(exponent) if exponent + 1 >= bytes.len() => {
            out.extend_from_slice(bytes);
            out.resize(out.len() + exponent + 1 - bytes.len(), b'0');
        }
        Ok(exponent) => {
            out.extend_from_slice(&bytes[..=exponent]);
            out.push(b'.');
            out.extend_from_slice(&bytes[exponent + 1..]);
        }
        Err(_) => {
            out.extend_from_slice(b"0.");
            out.resize(out.len() + exponent.unsigned_abs() as usize - 1, b'0');
            out.extend_from_slice(bytes);
        }
    }
}

/// Appends bytes as PostgreSQL shows `bytea`: `\x` and hexadecimal digits.
pub(crate) fn write_hexadecimal(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"\\x");
    append_hexadecimal(bytes, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(value: f64, style: Style) -> String {
        let mut out = Vec::new();
        write_float(value, style, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn floats_are_formatted_as_in_each_client() {
        // As returned by the servers.
        let cases = [
            (0.0, "0", "0", "0.0"),
            (1.0, "1", "1", "1.0"),
            (-1.5, "-1.5", "-1.5", "-1.5"),
            (0.001, "0.001", "0.001", "0.001"),
            (1e-4, "0.0001", "0.0001", "0.0001"),
            (1e-5, "0.00001", "1e-05", "1.0e-05"),
            (1e-15, "0.000000000000001", "1e-15", "1.0e-15"),
            (1.5e-16, "1.5e-16", "1.5e-16", "1.5e-16"),
            (1e14, "100000000000000", "100000000000000", "100000000000000.0"),
            (1.5e15, "1.5e15", "1.5e+15", "1.5e+15"),
            (0.1 + 0.2, "0.30000000000000004", "0.30000000000000004", "0.3"),
            (1e300, "1e300", "1e+300", "1.0e+300"),
            (123.25, "123.25", "123.25", "123.25"),
        ];
        for (value, mysql, postgres, sqlite) in cases {
            assert_eq!(shown(value, Style::Mysql), mysql);
            assert_eq!(shown(value, Style::Postgres), postgres);
            assert_eq!(shown(value, Style::Sqlite), sqlite);
        }
        assert_eq!(shown(123_456.789, Style::MysqlSingle), "123457");
        assert_eq!(shown(16_777_216.0, Style::MysqlSingle), "16777200");
        assert_eq!(shown(f64::NEG_INFINITY, Style::Postgres), "-Infinity");
        assert_eq!(shown(f64::NAN, Style::Postgres), "NaN");
    }

    #[test]
    fn bytes_become_hexadecimal_digits() {
        let mut out = Vec::new();
        write_hexadecimal(&[0, 0xAB], &mut out);
        assert_eq!(out, b"\\x00ab");
    }
}
