//! Parameters of prepared statements. Their values stay here from one execution to the next.

use super::{CLOSED, Sql};
use crate::random::Draws;
use dyno_drivers::Value;
use dyno_drivers::postgres::protocol::placeholder::Template;

/// What `sysbench.sql.type` names, as far as values can be bound.
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
    /// By its number in `sysbench.sql.type`.
    pub(crate) fn of(number: f64) -> Option<Self> {
        match number as i64 {
            1..=4 => Some(Self::Integer),
            5 | 6 => Some(Self::Float),
            11 | 12 => Some(Self::Text),
            _ => None,
        }
    }
}

/// What PostgreSQL calls the types of `sysbench.sql.type`; the server casts their texts.
fn postgres_type(number: f64) -> &'static str {
    match number as i64 {
        1 | 2 => "smallint",
        3 => "integer",
        4 => "bigint",
        5 => "real",
        6 => "double precision",
        11 => "bpchar",
        _ => "varchar",
    }
}

/// A parameter with its present value.
#[derive(Debug)]
pub(crate) struct Parameter {
    kind: ParameterType,
    postgres_type: &'static str,
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
    /// In `text`, which is not.
    Bytes,
}

impl Parameter {
    /// A parameter that nobody has set: 0 or an empty text, as in sysbench, because columns are often NOT NULL.
    pub(crate) fn new(kind: ParameterType, postgres_type: &'static str, length_max: Option<usize>) -> Self {
        let value = match kind {
            ParameterType::Integer => Held::Integer(0),
            ParameterType::Float => Held::Float(0.0),
            ParameterType::Text => Held::Text,
        };
        Self { kind, postgres_type, length_max: length_max.unwrap_or(usize::MAX), value, text: Vec::new() }
    }

    pub(crate) fn kind(&self) -> ParameterType {
        self.kind
    }

    pub(crate) fn set_null(&mut self) {
        self.value = Held::Null;
    }

    /// Sets a number; fractions are cut for integers. False for texts, which Lua must make of a number.
    #[inline]
    pub(crate) fn set_number(&mut self, number: f64) -> bool {
        self.value = match self.kind {
            ParameterType::Integer => Held::Integer(number as i64),
            ParameterType::Float => Held::Float(number),
            ParameterType::Text => return false,
        };
        true
    }

    /// Sets a number beyond a Lua number's 53 bits.
    pub(crate) fn set_integer(&mut self, number: i64) -> bool {
        self.value = match self.kind {
            ParameterType::Integer => Held::Integer(number),
            ParameterType::Float => Held::Float(number as f64),
            ParameterType::Text => return false,
        };
        true
    }

    /// Sets a text, cut to the parameter's length.
    pub(crate) fn set_text(&mut self, bytes: &[u8]) {
        self.fill(|text| text.extend_from_slice(bytes));
    }

    /// Sets a text that the caller writes.
    #[inline]
    pub(crate) fn fill(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.text.clear();
        write(&mut self.text);
        self.text.truncate(self.length_max);
        self.value = if std::str::from_utf8(&self.text).is_ok() { Held::Text } else { Held::Bytes };
    }

    /// As the driver takes it.
    #[inline]
    pub(crate) fn value(&self) -> Value<'_> {
        match self.value {
            Held::Null => Value::Null,
            Held::Integer(number) => Value::Integer(number),
            Held::Float(number) => Value::Float(number),
            // Checked when it was set; checking 120 bytes again costs a few nanoseconds and no unsafe code.
            Held::Text => Value::Text(std::str::from_utf8(&self.text).unwrap_or_default()),
            Held::Bytes => Value::Bytes(&self.text),
        }
    }
}

const NO_PARAMETER: &str = "no such parameter";

impl Sql {
    /// Makes a parameter of a statement; its number.
    pub(crate) fn parameter(&mut self, statement: f64, kind: f64, length_max: Option<f64>) -> f64 {
        let name = postgres_type(kind);
        let Some(kind) = ParameterType::of(kind) else {
            return self.misuse(format!("Unsupported argument type: {kind}"));
        };
        match self.statements.get_mut(statement) {
            Some(prepared) if !prepared.is_closed => {
                let length_max = length_max.map(|length| length.max(0.0) as usize);
                let number = self.parameters.insert(Parameter::new(kind, name, length_max));
                prepared.own.push(number);
                number
            }
            _ => self.misuse(CLOSED),
        }
    }

    /// Says which parameters a statement's places take, in order.
    pub(crate) fn bind(&mut self, statement: f64, parameters: &[f64]) -> f64 {
        if let Some(at) = parameters.iter().position(|number| self.parameters.get(*number).is_none()) {
            return self.misuse(format!("bind_param: argument {} is no parameter", at + 1));
        }
        match self.statements.get_mut(statement) {
            Some(prepared) if !prepared.is_closed => {
                prepared.bound.clear();
                prepared.bound.extend_from_slice(parameters);
                if prepared.awaits_types {
                    prepared.awaits_types = false;
                    let types = parameters.iter().filter_map(|number| self.parameters.get(*number));
                    let types: Vec<&str> = types.map(|parameter| parameter.postgres_type).collect();
                    prepared.sql = Template::parse(&prepared.sql, true).typed(&types).into();
                }
                0.0
            }
            _ => self.misuse(CLOSED),
        }
    }

    /// Sets a parameter to a number: 0, or 1 when it is a text and Lua must say how the number looks, or trouble.
    #[inline]
    pub(crate) fn set_number(&mut self, number: f64, value: f64) -> f64 {
        match self.parameters.get_mut(number) {
            Some(parameter) => f64::from(u8::from(!parameter.set_number(value))),
            None => self.misuse(NO_PARAMETER),
        }
    }

    /// Sets a parameter to a 64-bit number; see [`Self::set_number`].
    pub(crate) fn set_integer(&mut self, number: f64, value: i64) -> f64 {
        match self.parameters.get_mut(number) {
            Some(parameter) => f64::from(u8::from(!parameter.set_integer(value))),
            None => self.misuse(NO_PARAMETER),
        }
    }

    /// Sets a parameter to NULL.
    pub(crate) fn set_null(&mut self, number: f64) -> f64 {
        match self.parameters.get_mut(number) {
            Some(parameter) => {
                parameter.set_null();
                0.0
            }
            None => self.misuse(NO_PARAMETER),
        }
    }

    /// Sets a parameter to a text.
    pub(crate) fn set_text(&mut self, number: f64, value: &[u8]) -> f64 {
        match self.parameters.get_mut(number) {
            Some(parameter) if parameter.kind() == ParameterType::Text => {
                parameter.set_text(value);
                0.0
            }
            Some(parameter) => {
                // Kinder than sysbench, which refuses all texts here.
                let text = String::from_utf8_lossy(value);
                match text.trim().parse::<f64>() {
                    Ok(value) => f64::from(u8::from(!parameter.set_number(value))),
                    Err(_) => self.misuse(format!("a number is wanted, got the text '{text}'")),
                }
            }
            None => self.misuse(NO_PARAMETER),
        }
    }

    /// Gives a pattern of random strings a number.
    pub(crate) fn pattern(&mut self, pattern: &[u8]) -> f64 {
        self.patterns.push(pattern.into());
        (self.patterns.len() - 1) as f64
    }

    /// A random string by a known pattern.
    #[inline]
    pub(crate) fn random_text(&mut self, pattern: f64, draws: &mut Draws) -> &[u8] {
        let Self { patterns, text, .. } = self;
        text.clear();
        if let Some(pattern) = patterns.get(pattern as usize) {
            draws.fill(pattern, text);
        }
        text
    }

    /// Sets a parameter to a random string.
    #[inline]
    pub(crate) fn set_random(&mut self, number: f64, pattern: f64, draws: &mut Draws) -> f64 {
        let Self { parameters, patterns, .. } = self;
        match (parameters.get_mut(number), patterns.get(pattern as usize)) {
            (Some(parameter), Some(pattern)) if parameter.kind() == ParameterType::Text => {
                parameter.fill(|text| draws.fill(pattern, text));
                0.0
            }
            (Some(_), Some(_)) => self.misuse("set_rand_str needs a parameter of type CHAR or VARCHAR"),
            _ => self.misuse(NO_PARAMETER),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_take_the_form_of_their_parameter() {
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
        text.set_text(b"abcdefgh");
        assert_eq!(text.value(), Value::Text("abcde"));
        // Cut in the middle of a character.
        text.set_text("abcdé".as_bytes());
        assert_eq!(text.value(), Value::Bytes(b"abcd\xC3"));
        text.set_null();
        assert_eq!(text.value(), Value::Null);
    }
}
