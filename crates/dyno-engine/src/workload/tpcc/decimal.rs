//! Amounts of money and rates: whole numbers of cents here, decimals in the tables.

use dyno_drivers::Value;

/// Longest text of an amount.
const LENGTH: usize = 24;

/// A number with digits after the point, as text: `-12.05`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decimal {
    text: [u8; LENGTH],
    from: usize,
}

impl Decimal {
    /// An amount of cents.
    pub(super) fn cents(amount: i64) -> Self {
        Self::scaled(amount, 2)
    }

    /// A number of units of so many digits after the point.
    pub(super) fn scaled(mantissa: i64, digits: usize) -> Self {
        let (mut text, mut from) = ([0; LENGTH], LENGTH);
        let mut rest = mantissa.unsigned_abs();
        let mut written = 0;
        while written <= digits || rest > 0 {
            if written == digits && digits > 0 {
                from -= 1;
                text[from] = b'.';
            }
            from -= 1;
            text[from] = b'0' + (rest % 10) as u8;
            rest /= 10;
            written += 1;
        }
        if mantissa < 0 {
            from -= 1;
            text[from] = b'-';
        }
        Self { text, from }
    }

    pub(super) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.text[self.from..]).expect("digits, a point and a sign")
    }

    /// As a parameter.
    pub(super) fn value(&self) -> Value<'_> {
        Value::Text(self.as_str())
    }
}

/// The cents of an amount that a server returned: as text, or from SQLite as a number.
pub(super) fn cents(value: &Value<'_>) -> Option<i64> {
    match value {
        Value::Integer(whole) => whole.checked_mul(100),
        Value::Float(amount) => Some((amount * 100.0).round() as i64),
        Value::Text(text) => {
            let (sign, digits) = text.strip_prefix('-').map_or((1, *text), |digits| (-1, digits));
            let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
            let digit = |at: usize| match part.as_bytes().get(at) {
                None => Some(0),
                Some(digit) => char::from(*digit).to_digit(10).map(i64::from),
            };
            let whole = whole.parse::<i64>().ok()?.checked_mul(100)?;
            Some(sign * whole.checked_add(digit(0)? * 10 + digit(1)?)?)
        }
        Value::Null | Value::Bytes(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_and_read_back() {
        let rows = [
            (0, "0.00"),
            (5, "0.05"),
            (-5, "-0.05"),
            (1_205, "12.05"),
            (-30_000_000, "-300000.00"),
            (i64::MAX, "92233720368547758.07"),
        ];
        for (amount, text) in rows {
            assert_eq!(Decimal::cents(amount).as_str(), text);
            assert_eq!(cents(&Value::Text(text)), Some(amount));
        }
        assert_eq!(Decimal::scaled(1_234, 4).as_str(), "0.1234");
        assert_eq!(cents(&Value::Float(-9.999_999_999)), Some(-1_000));
        assert_eq!(cents(&Value::Integer(-10)), Some(-1_000));
        assert_eq!(cents(&Value::Text("12.1")), Some(1_210));
        for text in ["", "a", "1.x", "-"] {
            assert_eq!(cents(&Value::Text(text)), None, "{text}");
        }
    }
}
