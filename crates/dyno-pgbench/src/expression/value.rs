//! Values of expressions and their text forms.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Value {
    Null,
    /// TRUE or FALSE.
    Boolean(bool),
    /// A signed 64-bit integer.
    Integer(i64),
    /// Double precision.
    Double(f64),
}

/// Number of digits of doubles, as in C's `DBL_DIG`.
const DIGITS: usize = 15;

/// Conversions to another type fail with pgbench's words.
impl Value {
    /// Name of the type in messages.
    pub(crate) fn type_name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean(_) => "boolean",
            Self::Integer(_) => "int",
            Self::Double(_) => "double",
        }
    }

    /// The value as an integer; doubles are rounded half to even.
    pub(crate) fn integer(self) -> Result<i64, String> {
        match self {
            Self::Integer(value) => Ok(value),
            Self::Double(value) => {
                let rounded = value.round_ties_even();
                // 2^63 is the first double out of range.
                if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&rounded) {
                    Ok(rounded as i64)
                } else {
                    Err(format!("double to int overflow for {}", fixed(value)))
                }
            }
            other => Err(format!("cannot coerce {} to int", other.type_name())),
        }
    }

    /// The value as a double.
    pub(crate) fn double(self) -> Result<f64, String> {
        match self {
            Self::Integer(value) => Ok(value as f64),
            Self::Double(value) => Ok(value),
            other => Err(format!("cannot coerce {} to double", other.type_name())),
        }
    }

    /// The value as a boolean; other types fail.
    pub(crate) fn boolean(self) -> Result<bool, String> {
        match self {
            Self::Boolean(value) => Ok(value),
            other => Err(format!("cannot coerce {} to boolean", other.type_name())),
        }
    }

    /// The truth value for `\if` and CASE: numbers other than zero are true, NULL is false.
    pub(crate) fn is_true(self) -> bool {
        match self {
            Self::Null => false,
            Self::Boolean(value) => value,
            Self::Integer(value) => value != 0,
            Self::Double(value) => value != 0.0,
        }
    }

    /// Parses the text of a variable (its name is for the message): `null`, the prefixes of `true`,
    /// `yes`, `false` and `no`, `on`, `of`, `off`, an integer, otherwise a double.
    ///
    /// # Errors
    /// When the text is none of these, in pgbench's words.
    pub(crate) fn from_text(text: &str, name: &str) -> Result<Self, String> {
        let begins = |word: &str| {
            word.get(..text.len()).is_some_and(|start| start.eq_ignore_ascii_case(text))
        };
        if text.eq_ignore_ascii_case("null") {
            return Ok(Self::Null);
        }
        if text.is_empty() {
            return Err(String::new());
        }
        if begins("true") || begins("yes") || text.eq_ignore_ascii_case("on") {
            return Ok(Self::Boolean(true));
        }
        if begins("false") || begins("no") || (text.len() > 1 && begins("off")) {
            return Ok(Self::Boolean(false));
        }
        if is_integer(text) {
            let range = || format!("value \"{text}\" is out of range for type bigint");
            return text.trim().parse().map(Self::Integer).map_err(|_| range());
        }
        let malformed = || format!("malformed variable \"{name}\" value: \"{text}\"");
        text.trim_start().parse().map(Self::Double).map_err(|_| malformed())
    }
}

/// Digits with an optional sign and surrounding spaces.
fn is_integer(text: &str) -> bool {
    let text = text.trim_matches(|c: char| c.is_ascii_whitespace());
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

impl fmt::Display for Value {
    /// The form used in a statement.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Boolean(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Double(value) => f.write_str(&general(*value, DIGITS)),
        }
    }
}

impl Value {
    /// The form used by `debug()`: with its type.
    pub(crate) fn described(self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            other => format!("{} {other}", other.type_name()),
        }
    }
}

/// C's `%f`, with PostgreSQL's names for NaN and infinity.
pub(crate) fn fixed(value: f64) -> String {
    special(value).unwrap_or_else(|| format!("{value:.6}"))
}

/// C's `%.<digits>g`.
fn general(value: f64, digits: usize) -> String {
    if let Some(text) = special(value) {
        return text;
    }
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) =
        scientific.split_once('e').expect("a number in this form has an exponent");
    let exponent: i32 = exponent.parse().expect("an exponent is an integer");
    let trimmed = |text: &str| {
        let text = if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.')
        } else {
            text
        };
        text.to_owned()
    };
    if exponent < -4 || exponent >= digits as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trimmed(mantissa), exponent.abs());
    }
    let decimals = digits as i32 - 1 - exponent;
    trimmed(&format!("{value:.*}", decimals as usize))
}

fn special(value: f64) -> Option<String> {
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if value.is_nan() {
        Some("NaN".to_owned())
    } else if value.is_infinite() {
        Some(format!("{sign}Infinity"))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_written_with_fifteen_digits_as_in_c() {
        let cases = [
            (1.5, "1.5"),
            (5.0, "5"),
            (1.0 / 3.0, "0.333333333333333"),
            (1e20, "1e+20"),
            (std::f64::consts::PI, "3.14159265358979"),
            (0.0001, "0.0001"),
            (0.000_01, "1e-05"),
            (123_456_789_012_345.0, "123456789012345"),
            (1_234_567_890_123_456.0, "1.23456789012346e+15"),
            (-2.5e-300, "-2.5e-300"),
            (0.0, "0"),
            (-0.0, "-0"),
            (100.0, "100"),
            (999_999_999_999_999.9, "1e+15"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
            (f64::NAN, "NaN"),
        ];
        for (value, text) in cases {
            assert_eq!(Value::Double(value).to_string(), text);
        }
        assert_eq!(fixed(1e30), "1000000000000000019884624838656.000000");
    }

    #[test]
    fn the_type_of_a_text_follows_from_its_form() {
        let cases = [
            ("5", Value::Integer(5)),
            (" -7 ", Value::Integer(-7)),
            ("2.5", Value::Double(2.5)),
            ("1e3", Value::Double(1000.0)),
            ("on", Value::Boolean(true)),
            ("T", Value::Boolean(true)),
            ("YE", Value::Boolean(true)),
            ("of", Value::Boolean(false)),
            ("f", Value::Boolean(false)),
            ("NULL", Value::Null),
            ("n", Value::Boolean(false)),
        ];
        for (text, value) in cases {
            assert_eq!(Value::from_text(text, "v"), Ok(value), "{text}");
        }
        assert_eq!(
            Value::from_text("abc", "v"),
            Err("malformed variable \"v\" value: \"abc\"".to_owned())
        );
        assert_eq!(
            Value::from_text("o", "v"),
            Err("malformed variable \"v\" value: \"o\"".to_owned())
        );
        let range = Value::from_text("12345678901234567890", "v");
        assert_eq!(
            range,
            Err("value \"12345678901234567890\" is out of range for type bigint".to_owned())
        );
    }

    #[test]
    fn doubles_are_rounded_half_to_even() {
        assert_eq!(Value::Double(2.5).integer(), Ok(2));
        assert_eq!(Value::Double(9.2).integer(), Ok(9));
        assert_eq!(Value::Double(f64::from(i32::MIN) * 4_294_967_296.0).integer(), Ok(i64::MIN));
        assert!(Value::Double(9_223_372_036_854_775_808.0).integer().is_err());
        assert!(Value::Double(f64::NAN).integer().is_err());
        assert_eq!(Value::Boolean(true).integer(), Err("cannot coerce boolean to int".to_owned()));
    }
}
