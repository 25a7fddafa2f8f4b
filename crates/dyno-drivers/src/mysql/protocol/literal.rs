//! Writes values into the text of a statement.

use crate::value::{Value, append_integer};
use std::io::Write;

/// `IsPlain` in the SQL mode `NO_BACKSLASH_ESCAPES`.
pub use dyno_model::engine::Backslash;

/// Appends a value as a literal. False for values without one: NaN and infinity.
#[inline]
pub fn write_literal(out: &mut Vec<u8>, value: &Value<'_>, backslash: Backslash) -> bool {
    match value {
        Value::Null => out.extend_from_slice(b"NULL"),
        Value::Integer(value) => append_integer(*value, out),
        // With an exponent the literal is a DOUBLE; without one it would be a DECIMAL.
        Value::Float(value) if value.is_finite() => {
            let _ = write!(out, "{value:e}");
        }
        Value::Float(_) => return false,
        Value::Text(text) => write_string(out, text.as_bytes(), backslash),
        Value::Bytes(bytes) => {
            out.extend_from_slice(b"_binary");
            write_string(out, bytes, backslash);
        }
    }
    true
}

/// Appends a quoted string. In UTF-8 no byte of a multi-byte character equals a quote or backslash,
/// so bytes can be processed one by one.
#[inline]
pub fn write_string(out: &mut Vec<u8>, bytes: &[u8], backslash: Backslash) {
    out.push(b'\'');
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|byte| *byte == b'\'' || *byte == b'\\') {
        let special = rest[at];
        out.extend_from_slice(&rest[..=at]);
        if special == b'\'' || backslash == Backslash::Escapes {
            out.push(special);
        }
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'\'');
}

/// Appends a field's text as `LOAD DATA` reads it: tab, newline and backslash escaped.
#[inline]
pub fn write_load_data(out: &mut Vec<u8>, bytes: &[u8]) {
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b'\t' | b'\n' | b'\\')) {
        out.extend_from_slice(&rest[..at]);
        // A backslash may precede the character itself.
        out.extend_from_slice(&[b'\\', rest[at]]);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql_text::append_name;

    fn literal(value: Value<'_>, backslash: Backslash) -> String {
        let mut out = Vec::new();
        assert!(write_literal(&mut out, &value, backslash));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_become_literals() {
        let cases = [
            (Value::Null, "NULL"),
            (Value::Integer(i64::MIN), "-9223372036854775808"),
            (Value::Integer(0), "0"),
            (Value::Integer(1234567890), "1234567890"),
            (Value::Float(0.1), "1e-1"),
            (Value::Float(-2.5e300), "-2.5e300"),
            (Value::Text("it's"), "'it''s'"),
            (Value::Text("a\\'b"), "'a\\\\''b'"),
            (Value::Bytes(b"x"), "_binary'x'"),
        ];
        for (value, text) in cases {
            assert_eq!(literal(value, Backslash::Escapes), text);
        }
        assert_eq!(literal(Value::Text("a\\'b"), Backslash::IsPlain), "'a\\''b'");
        assert!(!write_literal(&mut Vec::new(), &Value::Float(f64::NAN), Backslash::Escapes));
    }

    #[test]
    fn names_and_fields_are_escaped() {
        let mut out = Vec::new();
        append_name("a`b", b'`', &mut out);
        write_load_data(&mut out, b"\ttab\\ \n");
        assert_eq!(out, b"`a``b`\\\ttab\\\\ \\\n");
    }
}
