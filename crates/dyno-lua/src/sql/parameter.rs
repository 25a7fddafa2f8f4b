//! Parameters of prepared statements. Their values are kept from one execution to the next.

use dyno_drivers::Value;

/// The types of `sysbench.sql.type` that can be bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParameterType {
    /// TINYINT, SMALLINT, INT, BIGINT: 64 bits.
    Integer,
    /// FLOAT, DOUBLE.
    Float,
    /// CHAR, VARCHAR.
    Text,
}

impl ParameterType {
    /// The type with this number in `sysbench.sql.type`.
    pub(crate) fn of(type_number: f64) -> Option<Self> {
        match type_number as i64 {
            1..=4 => Some(Self::Integer),
            5 | 6 => Some(Self::Float),
            11 | 12 => Some(Self::Text),
            _ => None,
        }
    }
}

/// What PostgreSQL calls the types of `sysbench.sql.type`; the server casts their texts.
pub(super) fn type_name(type_number: f64) -> &'static str {
    match type_number as i64 {
        1 | 2 => "smallint",
        3 => "integer",
        4 => "bigint",
        5 => "real",
        6 => "double precision",
        11 => "bpchar",
        _ => "varchar",
    }
}

/// A parameter with its current value.
#[derive(Debug)]
pub(crate) struct Parameter {
    pub(super) kind: ParameterType,
    pub(super) type_name: &'static str,
    /// Texts are cut to so many bytes.
    length_max: usize,
    value: Held,
    text: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Held {
    Null,
    Integer(i64),
    Float(f64),
    /// In `text`, which is UTF-8.
    Text,
    /// In `text`, which is not UTF-8.
    Bytes,
}

impl Parameter {
    /// A parameter without a value: 0 or an empty text, as in sysbench, because columns are often
    /// NOT NULL.
    pub(crate) fn new(
        kind: ParameterType,
        type_name: &'static str,
        length_max: Option<usize>,
    ) -> Self {
        let value = match kind {
            ParameterType::Integer => Held::Integer(0),
            ParameterType::Float => Held::Float(0.0),
            ParameterType::Text => Held::Text,
        };
        Self {
            kind,
            type_name,
            length_max: length_max.unwrap_or(usize::MAX),
            value,
            text: Vec::new(),
        }
    }

    pub(crate) fn set_null(&mut self) {
        self.value = Held::Null;
    }

    /// Sets a number; fractions are truncated for integers. False for texts, for which Lua must
    /// format the number.
    #[inline]
    pub(crate) fn set_number(&mut self, number: f64) -> bool {
        self.value = match self.kind {
            ParameterType::Integer => Held::Integer(number as i64),
            ParameterType::Float => Held::Float(number),
            ParameterType::Text => return false,
        };
        true
    }

    /// Sets an integer that exceeds a Lua number's 53 bits.
    pub(crate) fn set_integer(&mut self, number: i64) -> bool {
        self.value = match self.kind {
            ParameterType::Integer => Held::Integer(number),
            ParameterType::Float => Held::Float(number as f64),
            ParameterType::Text => return false,
        };
        true
    }

    /// Sets a text written by the caller.
    #[inline]
    pub(crate) fn fill(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.text.clear();
        write(&mut self.text);
        self.text.truncate(self.length_max);
        self.value = if std::str::from_utf8(&self.text).is_ok() { Held::Text } else { Held::Bytes };
    }

    /// The value for the driver.
    #[inline]
    pub(crate) fn value(&self) -> Value<'_> {
        match self.value {
            Held::Null => Value::Null,
            Held::Integer(number) => Value::Integer(number),
            Held::Float(number) => Value::Float(number),
            // Checked when it was set; checking 120 bytes again costs a few nanoseconds and avoids
            // unsafe code.
            Held::Text => Value::Text(std::str::from_utf8(&self.text).unwrap_or_default()),
            Held::Bytes => Value::Bytes(&self.text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_take_the_type_of_their_parameter() {
        let mut integer = Parameter::new(ParameterType::Integer, "bigint", None);
        assert_eq!(integer.value(), Value::Integer(0));
        assert!(integer.set_number(-2.9));
        assert_eq!(integer.value(), Value::Integer(-2));
        assert!(integer.set_integer(i64::MIN));
        assert_eq!(integer.value(), Value::Integer(i64::MIN));
        let mut float = Parameter::new(ParameterType::Float, "real", None);
        assert!(float.set_number(1.5));
        assert_eq!(float.value(), Value::Float(1.5));
        let mut text = Parameter::new(ParameterType::Text, "varchar", Some(5));
        assert!(!text.set_number(1.0));
        text.fill(|held| held.extend_from_slice(b"abcdefgh"));
        assert_eq!(text.value(), Value::Text("abcde"));
        // Truncated in the middle of a character.
        text.fill(|held| held.extend_from_slice("abcdé".as_bytes()));
        assert_eq!(text.value(), Value::Bytes(b"abcd\xC3"));
        text.set_null();
        assert_eq!(text.value(), Value::Null);
    }
}
