//! Finds the parameters of a statement that is sent as text.

use super::literal::Backslash;
use crate::sql_text::{Doubled, Template, end_of, quoted_end};

/// Finds the parameters: question marks outside strings, quoted names and comments.
///
/// `backslash` is the session's current mode, which determines where strings end.
#[must_use]
pub fn parse(sql: &str, backslash: Backslash) -> Template {
    Template::cut(sql, Doubled::Parameters, |text, at| behind(text, at, backslash))
}

/// The position after the string, name or comment that begins at `at`, or of the next byte.
pub(crate) fn behind(text: &[u8], at: usize, backslash: Backslash) -> usize {
    match text[at] {
        b'`' | b'\'' | b'"' => quoted_end(text, at, backslash),
        b'#' => end_of(text, at, b"\n"),
        b'-' if text[at..].starts_with(b"--")
            && text.get(at + 2).is_none_or(u8::is_ascii_whitespace) =>
        {
            end_of(text, at, b"\n")
        }
        // Some servers execute the content of /*! */; no statement of dyno has parameters there.
        b'/' if text[at..].starts_with(b"/*") => end_of(text, at + 2, b"*/"),
        _ => at + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mysql::protocol::literal::write_literal;
    use crate::value::Value;

    #[test]
    fn parameters_are_found_outside_strings_names_and_comments() {
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
            assert_eq!(parse(sql, Backslash::Escapes).parameters(), parameters, "{sql}");
        }
        assert_eq!(parse("SELECT 'a\\', ?", Backslash::IsPlain).parameters(), 1);
    }

    #[test]
    fn parameters_replace_the_question_marks() {
        let template = parse("UPDATE t SET a = ?, b = '?' WHERE id = ?", Backslash::Escapes);
        let mut out = Vec::new();
        let values = [Value::Text("x'y"), Value::Integer(-3)];
        assert!(template.fill(&values, &mut out, |value, out| write_literal(
            out,
            value,
            Backslash::Escapes
        )));
        assert_eq!(out, b"UPDATE t SET a = 'x''y', b = '?' WHERE id = -3");
    }
}
