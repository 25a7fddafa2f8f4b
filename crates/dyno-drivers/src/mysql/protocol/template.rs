//! Statements with `?` for parameters, sent as text.

use super::literal::{Backslash, write_literal};
use crate::value::Value;

/// A statement's text, cut where its parameters go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    text: Box<[u8]>,
    /// Where the question marks are.
    marks: Box<[usize]>,
}

impl Template {
    /// Finds the parameters: question marks outside of strings, quoted names and comments.
    ///
    /// `backslash` is what the session says at this time: it decides where strings end.
    #[must_use]
    pub fn parse(sql: &str, backslash: Backslash) -> Self {
        let text = sql.as_bytes();
        let mut marks = Vec::new();
        let mut at = 0;
        while let Some(byte) = text.get(at) {
            at = match byte {
                b'?' => {
                    marks.push(at);
                    at + 1
                }
                b'\'' | b'"' | b'`' => behind_quote(text, at, backslash),
                b'#' => behind(text, at, b"\n"),
                b'-' if text[at..].starts_with(b"--")
                    && text.get(at + 2).is_none_or(u8::is_ascii_whitespace) =>
                {
                    behind(text, at, b"\n")
                }
                // What stands in /*! */ is executed by some servers; none of our statements has parameters there.
                b'/' if text[at..].starts_with(b"/*") => behind(text, at + 2, b"*/"),
                _ => at + 1,
            };
        }
        Self { text: text.into(), marks: marks.into() }
    }

    /// Number of parameters.
    #[must_use]
    pub fn parameters(&self) -> usize {
        self.marks.len()
    }

    /// Appends the text with the parameters in it; there must be as many as [`Self::parameters`]. False when a value has no literal.
    #[inline]
    pub fn write(&self, out: &mut Vec<u8>, parameters: &[Value<'_>], backslash: Backslash) -> bool {
        let mut from = 0;
        for (mark, value) in self.marks.iter().zip(parameters) {
            out.extend_from_slice(&self.text[from..*mark]);
            if !write_literal(out, value, backslash) {
                return false;
            }
            from = mark + 1;
        }
        out.extend_from_slice(&self.text[from..]);
        true
    }
}

fn behind_quote(text: &[u8], start: usize, backslash: Backslash) -> usize {
    let quote = text[start];
    let mut at = start + 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' if quote != b'`' && backslash == Backslash::Escapes => at += 2,
            // A doubled quote ends one string and begins the next, which comes to the same.
            byte if *byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

fn behind(text: &[u8], start: usize, end: &[u8]) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    rest.windows(end.len()).position(|window| window == end).map_or(text.len(), |at| start + at + end.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_found_outside_of_strings_names_and_comments() {
        let cases = [
            ("SELECT ?", 1),
            ("SELECT '?', \"?\", `?`, ?", 1),
            ("SELECT 'it''s ?', 'a\\'?' , ? -- ?\n, ?", 2),
            ("SELECT 1 # ?\n + ? /* ? */ + ?", 2),
            // Two dashes without a blank are two minus signs.
            ("SELECT 1--?", 1),
            ("SELECT '?", 0),
            ("/*", 0),
            ("SELECT '\\", 0),
            ("", 0),
        ];
        for (sql, parameters) in cases {
            assert_eq!(Template::parse(sql, Backslash::Escapes).parameters(), parameters, "{sql}");
        }
        assert_eq!(Template::parse("SELECT 'a\\', ?", Backslash::IsPlain).parameters(), 1);
    }

    #[test]
    fn parameters_are_written_where_the_marks_were() {
        let template = Template::parse("UPDATE t SET a = ?, b = '?' WHERE id = ?", Backslash::Escapes);
        let mut out = Vec::new();
        assert!(template.write(&mut out, &[Value::Text("x'y"), Value::Integer(-3)], Backslash::Escapes));
        assert_eq!(out, b"UPDATE t SET a = 'x''y', b = '?' WHERE id = -3");
    }
}
