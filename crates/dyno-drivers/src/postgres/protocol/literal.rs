//! Writes values (simple query mode) and names into SQL text.

use crate::sql_text::append_hexadecimal;
use crate::value::{Value, append_integer};

/// Appends a value as a literal that is independent of its context and of
/// `standard_conforming_strings`. False for values that no SQL text can contain: a text with the
/// character U+0000.
///
/// Negative numbers are put in parentheses, because `c--5` would be a comment; floating point keeps
/// its type and its special values by a cast; text with a backslash is written as an escape string,
/// like libpq's `PQescapeLiteral` does.
pub fn append(value: &Value<'_>, sql: &mut Vec<u8>) -> bool {
    match value {
        Value::Null => sql.extend_from_slice(b"NULL"),
        // Without the parentheses its digits would be read as numeric, because without the sign
        // they exceed a bigint.
        Value::Integer(i64::MIN) => sql.extend_from_slice(b"('-9223372036854775808'::bigint)"),
        Value::Integer(number) if *number < 0 => {
            sql.push(b'(');
            append_integer(*number, sql);
            sql.push(b')');
        }
        Value::Integer(number) => append_integer(*number, sql),
        Value::Float(number) => {
            sql.push(b'\'');
            append_float(*number, sql);
            sql.extend_from_slice(b"'::float8");
        }
        Value::Text(text) if text.contains('\0') => return false,
        Value::Text(text) => append_text(text.as_bytes(), sql),
        Value::Bytes(bytes) => {
            sql.extend_from_slice(b"E'\\\\x");
            append_hexadecimal(bytes, sql);
            sql.extend_from_slice(b"'::bytea");
        }
    }
    true
}

fn append_text(text: &[u8], sql: &mut Vec<u8>) {
    // The space separates the E from a preceding word.
    sql.extend_from_slice(if text.contains(&b'\\') { b" E'" } else { b"'" });
    for byte in text {
        if matches!(byte, b'\'' | b'\\') {
            sql.push(*byte);
        }
        sql.push(*byte);
    }
    sql.push(b'\'');
}

/// Appends a number as PostgreSQL reads it: the shortest digits with the same value, `NaN`,
/// `Infinity`.
pub fn append_float(number: f64, text: &mut Vec<u8>) {
    use std::io::Write;
    let written = if number.is_infinite() {
        write!(text, "{}Infinity", if number < 0.0 { "-" } else { "" })
    } else {
        write!(text, "{number:?}")
    };
    written.expect("writing to memory does not fail");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql_text::append_name;
    use proptest::prelude::*;

    fn literal(value: &Value<'_>) -> String {
        let mut sql = Vec::new();
        assert!(append(value, &mut sql));
        String::from_utf8(sql).unwrap()
    }

    #[test]
    fn literals_mean_the_same_in_every_context() {
        let cases = [
            (Value::Null, "NULL"),
            (Value::Integer(0), "0"),
            (Value::Integer(-5), "(-5)"), // c--5 would be a comment
            (Value::Integer(i64::MAX), "9223372036854775807"),
            (Value::Integer(i64::MIN), "('-9223372036854775808'::bigint)"),
            (Value::Float(-0.0), "'-0.0'::float8"),
            (Value::Float(1e300), "'1e300'::float8"),
            (Value::Float(f64::NAN), "'NaN'::float8"),
            (Value::Float(f64::NEG_INFINITY), "'-Infinity'::float8"),
            (Value::Text(""), "''"),
            (Value::Text("it's"), "'it''s'"),
            (Value::Text("a\\'b"), " E'a\\\\''b'"), // correct with standard_conforming_strings on and off
            (Value::Text("글 ? $1"), "'글 ? $1'"),
            (Value::Bytes(&[0, 0xff]), "E'\\\\x00ff'::bytea"),
        ];
        for (value, text) in cases {
            assert_eq!(literal(&value), text);
        }
    }

    #[test]
    fn a_zero_byte_is_rejected_because_it_would_end_the_statement() {
        assert!(!append(&Value::Text("a\0b"), &mut Vec::new()));
    }

    #[test]
    fn identifiers_keep_quotes_and_case() {
        let mut sql = Vec::new();
        append_name("We\"ird t", b'"', &mut sql);
        assert_eq!(sql, b"\"We\"\"ird t\"");
    }

    proptest! {
        #[test]
        fn digits_are_those_of_the_standard_library(number in any::<i64>()) {
            let mut text = Vec::new();
            append_integer(number, &mut text);
            prop_assert_eq!(String::from_utf8(text).unwrap(), number.to_string());
        }

        #[test]
        fn floats_are_read_back_unchanged(number in any::<f64>()) {
            let mut text = Vec::new();
            append_float(number, &mut text);
            let back: f64 = std::str::from_utf8(&text).unwrap().parse().unwrap();
            prop_assert!(back == number || (back.is_nan() && number.is_nan()));
        }
    }
}
