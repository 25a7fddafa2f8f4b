//! Values written into the text of a statement.

use crate::value::Value;
use std::fmt::Write;

/// A statement cut at its parameters, so that writing values into it needs no parsing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Template {
    /// One more than there are parameters.
    pieces: Vec<String>,
}

impl Template {
    /// Cuts at every `?` outside of quotes, identifiers and comments.
    pub(super) fn new(sql: &str) -> Self {
        let bytes = sql.as_bytes();
        let (mut pieces, mut from, mut at) = (Vec::new(), 0, 0);
        while at < bytes.len() {
            at = match bytes[at] {
                quote @ (b'\'' | b'"' | b'`') => end_of(bytes, at + 1, &[quote]),
                b'[' => end_of(bytes, at + 1, b"]"),
                b'-' if bytes[at..].starts_with(b"--") => end_of(bytes, at + 2, b"\n"),
                b'/' if bytes[at..].starts_with(b"/*") => end_of(bytes, at + 2, b"*/"),
                b'?' => {
                    pieces.push(sql[from..at].to_owned());
                    from = at + 1;
                    at + 1
                }
                _ => at + 1,
            };
        }
        pieces.push(sql[from..].to_owned());
        Self { pieces }
    }

    pub(super) fn parameters(&self) -> usize {
        self.pieces.len() - 1
    }

    /// Replaces what `text` holds by the statement with its values. There must be as many values as parameters.
    pub(super) fn write(&self, values: &[Value<'_>], text: &mut String) {
        text.clear();
        for (i, piece) in self.pieces.iter().enumerate() {
            text.push_str(piece);
            if let Some(value) = values.get(i) {
                write_literal(*value, text);
            }
        }
    }
}

/// The position after the next `mark`, or the end. A doubled quote ends one string and begins the next.
fn end_of(bytes: &[u8], from: usize, mark: &[u8]) -> usize {
    bytes[from..]
        .windows(mark.len())
        .position(|window| window == mark)
        .map_or(bytes.len(), |found| from + found + mark.len())
}

/// Writes one literal. Numbers get a blank before their sign: `a-?` must not become the comment `a--1`.
fn write_literal(value: Value<'_>, text: &mut String) {
    const WRITES: &str = "writing to a string cannot fail";
    match value {
        Value::Null => text.push_str("NULL"),
        Value::Integer(value) => {
            text.push_str(if value < 0 { " " } else { "" });
            write!(text, "{value}").expect(WRITES);
        }
        // SQLite stores NaN as NULL, and reads an overflowing number as infinity.
        Value::Float(value) if value.is_nan() => text.push_str("NULL"),
        Value::Float(f64::INFINITY) => text.push_str("9e999"),
        Value::Float(f64::NEG_INFINITY) => text.push_str(" -9e999"),
        Value::Float(value) => {
            text.push_str(if value.is_sign_negative() { " " } else { "" });
            write!(text, "{value:?}").expect(WRITES);
        }
        // A zero byte would end the statement.
        Value::Text(value) if value.contains('\0') => {
            text.push_str("CAST(");
            write_hex(value.as_bytes(), text);
            text.push_str(" AS TEXT)");
        }
        Value::Text(value) => {
            text.push('\'');
            for (i, part) in value.split('\'').enumerate() {
                text.push_str(if i == 0 { "" } else { "''" });
                text.push_str(part);
            }
            text.push('\'');
        }
        Value::Bytes(bytes) => write_hex(bytes, text),
    }
}

fn write_hex(bytes: &[u8], text: &mut String) {
    text.push_str("x'");
    for byte in bytes {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
    }
    text.push('\'');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(sql: &str, values: &[Value<'_>]) -> String {
        let mut text = String::from("left over");
        Template::new(sql).write(values, &mut text);
        text
    }

    #[test]
    fn only_question_marks_of_the_statement_itself_are_parameters() {
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
            assert_eq!(Template::new(sql).parameters(), count, "{sql}");
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
