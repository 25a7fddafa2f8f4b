//! Bind: the values of one execution.
//!
//! Integers are sent in binary where the server reported an integer parameter: a fixed number of
//! bytes, no digits to format or parse. Everything else is sent as text, which any type's input
//! function reads.

use super::{literal, oid};
use crate::value::{Value, append_integer};

/// The known type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterType {
    /// `smallint`
    Int2,
    /// `integer`
    Int4,
    /// `bigint`
    Int8,
    /// `double precision`
    Float8,
    /// `bytea`
    Bytea,
    /// Any other, or unknown.
    Other,
}

impl ParameterType {
    /// From the id in ParameterDescription.
    #[must_use]
    pub fn from_oid(type_oid: u32) -> Self {
        match type_oid {
            oid::INT2 => Self::Int2,
            oid::INT4 => Self::Int4,
            oid::INT8 => Self::Int8,
            oid::FLOAT8 => Self::Float8,
            oid::BYTEA => Self::Bytea,
            _ => Self::Other,
        }
    }
}

/// Appends the values of a Bind message: format codes, count, values. `types` may be shorter than
/// `values`; the rest is [`ParameterType::Other`]. At most 65535 values, which the caller has
/// checked.
pub fn append(types: &[ParameterType], values: &[Value<'_>], message: &mut Vec<u8>) {
    let count = (values.len() as u16).to_be_bytes();
    message.extend_from_slice(&count);
    let formats = message.len();
    message.resize(formats + 2 * values.len(), 0);
    message.extend_from_slice(&count);
    for (index, value) in values.iter().enumerate() {
        let start = message.len();
        message.extend_from_slice(&[0; 4]);
        let kind = types.get(index).copied().unwrap_or(ParameterType::Other);
        let is_binary = append_binary(kind, value, message);
        if !is_binary && !append_text(value, message) {
            message[start..].copy_from_slice(&(-1_i32).to_be_bytes());
            continue;
        }
        message[formats + 2 * index + 1] = u8::from(is_binary);
        let length = (message.len() - start - 4) as u32;
        message[start..start + 4].copy_from_slice(&length.to_be_bytes());
    }
}

/// Appends the value in binary if type and value allow it. Numbers that do not fit the type are
/// left to its input function, whose error shows the value.
fn append_binary(kind: ParameterType, value: &Value<'_>, message: &mut Vec<u8>) -> bool {
    match (kind, value) {
        (ParameterType::Int4, Value::Integer(number)) => match i32::try_from(*number) {
            Ok(number) => message.extend_from_slice(&number.to_be_bytes()),
            Err(_) => return false,
        },
        (ParameterType::Int8, Value::Integer(number)) => {
            message.extend_from_slice(&number.to_be_bytes());
        }
        (ParameterType::Int2, Value::Integer(number)) => match i16::try_from(*number) {
            Ok(number) => message.extend_from_slice(&number.to_be_bytes()),
            Err(_) => return false,
        },
        (ParameterType::Float8, Value::Float(number)) => {
            message.extend_from_slice(&number.to_be_bytes());
        }
        // As text its escapes would be interpreted.
        (ParameterType::Bytea, Value::Text(text)) => message.extend_from_slice(text.as_bytes()),
        // The binary form of bytea and of all character types is the bytes themselves.
        (_, Value::Bytes(bytes)) => message.extend_from_slice(bytes),
        _ => return false,
    }
    true
}

/// Appends the value as text; false for NULL, which has none.
fn append_text(value: &Value<'_>, message: &mut Vec<u8>) -> bool {
    match value {
        Value::Null => return false,
        Value::Integer(number) => append_integer(*number, message),
        Value::Float(number) => literal::append_float(*number, message),
        Value::Text(text) => message.extend_from_slice(text.as_bytes()),
        Value::Bytes(bytes) => message.extend_from_slice(bytes),
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bind(types: &[ParameterType], values: &[Value<'_>]) -> Vec<u8> {
        let mut message = Vec::new();
        append(types, values, &mut message);
        message
    }

    #[test]
    fn integers_are_binary_where_the_type_is_an_integer() {
        let bytes = bind(
            &[ParameterType::Int4, ParameterType::Int8],
            &[Value::Integer(258), Value::Integer(-1)],
        );
        let mut expected = vec![0, 2, 0, 1, 0, 1, 0, 2, 0, 0, 0, 4, 0, 0, 1, 2, 0, 0, 0, 8];
        expected.extend([0xff; 8]);
        assert_eq!(bytes, expected);
    }

    #[test]
    fn integers_that_do_not_fit_and_unknown_types_are_sent_as_text() {
        let bytes = bind(&[ParameterType::Int2], &[Value::Integer(70_000), Value::Integer(-7)]);
        let mut expected = vec![0, 2, 0, 0, 0, 0, 0, 2, 0, 0, 0, 5];
        expected.extend(b"70000\0\0\0\x02-7");
        assert_eq!(bytes, expected);
    }

    #[test]
    fn null_has_the_length_minus_one() {
        assert_eq!(bind(&[], &[Value::Null]), [0, 1, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff]);
    }

    #[test]
    fn bytes_are_sent_unchanged_for_every_type() {
        assert_eq!(bind(&[], &[Value::Bytes(&[0, 92])]), [0, 1, 0, 1, 0, 1, 0, 0, 0, 2, 0, 92]);
        assert_eq!(
            bind(&[ParameterType::Bytea], &[Value::Text("\\")]),
            [0, 1, 0, 1, 0, 1, 0, 0, 0, 1, 92]
        );
    }

    #[test]
    fn no_values_are_three_zero_counts_shorter_than_any() {
        assert_eq!(bind(&[], &[]), [0, 0, 0, 0]);
    }
}
