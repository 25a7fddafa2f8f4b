//! Writes values into the text of a statement.

use crate::sql_text::{Doubled, Template, append_hexadecimal, append_name, end_of, quoted_end};
use crate::value::{Value, append_integer};
use dyno_model::engine::Backslash;
use std::io::Write;

/// Splits a statement at every `?` outside quotes, identifiers and comments.
pub(super) fn parse(sql: &str) -> Template {
    Template::cut(sql, Doubled::Parameters, |bytes, at| match bytes[at] {
        b'\'' | b'"' | b'`' => quoted_end(bytes, at, Backslash::IsPlain),
        b'[' => end_of(bytes, at + 1, b"]"),
        b'-' if bytes[at..].starts_with(b"--") => end_of(bytes, at + 2, b"\n"),
        b'/' if bytes[at..].starts_with(b"/*") => end_of(bytes, at + 2, b"*/"),
        _ => at + 1,
    })
}

/// Appends a literal; true, because every value has one. Numbers get a blank before their sign:
/// `a-?` must not become the comment `a--1`.
pub(super) fn write_literal(value: &Value<'_>, text: &mut Vec<u8>) -> bool {
    match *value {
        Value::Null => text.extend_from_slice(b"NULL"),
        Value::Integer(value) => {
            text.extend_from_slice(if value < 0 { b" " } else { b"" });
            append_integer(value, text);
        }
        // SQLite stores NaN as NULL, and reads an overflowing number as infinity.
        Value::Float(value) if value.is_nan() => text.extend_from_slice(b"NULL"),
        Value::Float(f64::INFINITY) => text.extend_from_slice(b"9e999"),
        Value::Float(f64::NEG_INFINITY) => text.extend_from_slice(b" -9e999"),
        Value::Float(value) => {
            text.extend_from_slice(if value.is_sign_negative() { b" " } else { b"" });
            write!(text, "{value:?}").expect("writing to memory does not fail");
        }
        // A zero byte would end the statement.
        Value::Text(value) if value.contains('\0') => {
            text.extend_from_slice(b"CAST(");
            write_hexadecimal(value.as_bytes(), text);
            text.extend_from_slice(b" AS TEXT)");
        }
        Value::Text(value) => append_name(value, b'\'', text),
        Value::Bytes(bytes) => write_hexadecimal(bytes, text),
    }
    true
}

fn write_hexadecimal(bytes: &[u8], text: &mut Vec<u8>) {
    text.extend_from_slice(b"x'");
    append_hexadecimal(bytes, text);
    text.push(b'\'');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(sql: &str, values: &[Value<'_>]) -> String {
        let mut text = Vec::new();
        assert!(parse(sql).fill(values, &mut text, write_literal));
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn only_question_marks_outside_quotes_and_comments_are_parameters() {
        let rows = [
            ("SELECT ?", 1),
            ("SELECT '?', \"?\", `?`, [?], ?", 1),
            ("SELECT 'it''s ?' , ?", 1),
            ("SELECT ? -- ?\n, ?", 2),
            ("SELECT /* ? */ ?", 1),
            ("SELECT 'never closed ?", 0),
            ("", 0),
        ];
        for (sql, count) in rows {
            assert_eq!(parse(sql).parameters(), count, "{sql}");
        }
    }

    #[test]
    fn every_kind_of_value_becomes_a_literal() {
        let rows = [
            (Value::Null, "NULL"),
            (Value::Integer(7), "7"),
            (Value::Integer(-7), " -7"),
            (Value::Float(1.0), "1.0"),
            (Value::Float(-0.5), " -0.5"),
            (Value::Float(f64::NAN), "NULL"),
            (Value::Float(f64::NEG_INFINITY), " -9e999"),
            (Value::Text("it's"), "'it''s'"),
            (Value::Text("a\0"), "CAST(x'6100' AS TEXT)"),
            (Value::Bytes(&[0, 255]), "x'00ff'"),
        ];
        for (value, literal) in rows {
            assert_eq!(written("?", &[value]), literal);
        }
        assert_eq!(written("a-?+?", &[Value::Integer(-1), Value::Integer(2)]), "a- -1+2");
    }
}
