//! Finds `?` placeholders in SQL text.
//!
//! A `?` counts as a placeholder unless it is inside a string, an escape string, a dollar-quoted
//! string, a quoted name or a comment (PostgreSQL documentation, "Lexical Structure"). `??` stands
//! for the operator `?`, as in JDBC.

use crate::sql_text::{Doubled, Template, end_of, is_identifier_byte, quoted_end};
use dyno_model::engine::Backslash;

/// Finds the placeholders. An unterminated string or comment extends to the end of the text; the
/// server will report the error.
#[must_use]
pub fn parse(sql: &str, backslash: Backslash) -> Template {
    Template::cut(sql, Doubled::Operator, |bytes, at| behind(bytes, at, backslash))
}

/// The position after the string, name or comment that begins at `at`, or of the next byte.
pub(crate) fn behind(bytes: &[u8], at: usize, backslash: Backslash) -> usize {
    match bytes[at] {
        b'\'' => quoted_end(bytes, at, backslash),
        b'"' => quoted_end(bytes, at, Backslash::IsPlain),
        b'-' if bytes[at..].starts_with(b"--") => end_of(bytes, at, b"\n"),
        b'/' if bytes[at..].starts_with(b"/*") => comment_end(bytes, at),
        // Inside a name a dollar sign is part of the name.
        b'$' if at == 0 || !is_identifier_byte(bytes[at - 1]) => dollar_end(bytes, at),
        _ => at + 1,
    }
}

/// The end of the comment that begins at `start`, or of the text when it is unterminated; comments
/// nest.
#[must_use]
pub fn comment_end(bytes: &[u8], start: usize) -> usize {
    let mut depth = 0;
    let mut at = start;
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    bytes.len()
}

/// The end of a dollar-quoted string, or of the dollar sign when it begins none.
#[must_use]
pub fn dollar_end(bytes: &[u8], start: usize) -> usize {
    let length = bytes[start + 1..]
        .iter()
        .take_while(|byte| is_identifier_byte(**byte) && **byte != b'$')
        .count();
    let end = start + 1 + length;
    let is_number = bytes.get(start + 1).is_some_and(u8::is_ascii_digit);
    if is_number || bytes.get(end) != Some(&b'$') {
        return start + 1;
    }
    end_of(bytes, end + 1, &bytes[start..=end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postgres::protocol::literal;
    use crate::value::Value;
    use proptest::prelude::*;

    #[test]
    fn casts_next_to_placeholders_are_kept() {
        let template = parse("SELECT '?', f(?, ?, ?)", Backslash::EscapesWhereMarked);
        assert_eq!(
            template.typed(&["integer", "varchar"]),
            "SELECT '?', f($1::integer, $2::varchar, $3)"
        );
    }

    #[test]
    fn only_placeholders_are_numbered() {
        let cases = [
            ("SELECT c FROM t WHERE id=?", "SELECT c FROM t WHERE id=$1"),
            ("VALUES (?,?,?)", "VALUES ($1,$2,$3)"),
            ("?", "$1"),
            ("SELECT '?' , ?", "SELECT '?' , $1"),
            ("SELECT 'it''s ?' || ?", "SELECT 'it''s ?' || $1"),
            (r"SELECT '\' || ?", r"SELECT '\' || $1"), // a backslash is an ordinary character
            (r"SELECT E'\'?' || ?", r"SELECT E'\'?' || $1"),
            (r"SELECT e'''\'?' || ?", r"SELECT e'''\'?' || $1"), // escapes continue after a doubled quote
            (r"SELECT fine'\' || ?", r"SELECT fine'\' || $1"),   // the E belongs to a word
            ("SELECT \"a?\"\"?\" FROM t WHERE x=?", "SELECT \"a?\"\"?\" FROM t WHERE x=$1"),
            ("SELECT 1 -- why?\n, ?", "SELECT 1 -- why?\n, $1"),
            ("SELECT 1 -- why?", "SELECT 1 -- why?"),
            ("SELECT /* a? /* b? */ c? */ ?", "SELECT /* a? /* b? */ c? */ $1"),
            ("SELECT $$?$$, ?", "SELECT $$?$$, $1"),
            ("SELECT $tag$ $$ ? $tag$, ?", "SELECT $tag$ $$ ? $tag$, $1"),
            ("SELECT a$b$?, $1$c", "SELECT a$b$$1, $1$c"), // a dollar sign inside a name quotes nothing
            ("SELECT j ?? 'k' AND j ??| ?", "SELECT j ? 'k' AND j ?| $1"),
            ("SELECT ???", "SELECT ?$1"),
            ("SELECT '?", "SELECT '?"), // unterminated: the server will report it
            ("SELECT /* ?", "SELECT /* ?"),
            ("SELECT $a$ ?", "SELECT $a$ ?"),
            ("SELECT '글?', ?, 글", "SELECT '글?', $1, 글"),
            ("", ""),
        ];
        for (sql, expected) in cases {
            assert_eq!(parse(sql, Backslash::EscapesWhereMarked).numbered(), expected, "{sql}");
        }
    }

    #[test]
    fn backslashes_escape_in_every_string_if_the_session_says_so() {
        let sql = r"SELECT '\'?' || ?";
        assert_eq!(parse(sql, Backslash::Escapes).numbered(), r"SELECT '\'?' || $1");
        // With standard strings the first string ends before the question mark.
        assert_eq!(parse(sql, Backslash::EscapesWhereMarked).numbered(), r"SELECT '\'$1' || ?");
    }

    #[test]
    fn literals_replace_the_placeholders() {
        let template = parse("UPDATE t SET k=k-?, c=? WHERE id=?", Backslash::EscapesWhereMarked);
        let mut sql = Vec::new();
        let values = [Value::Integer(-1), Value::Text("a?b"), Value::Null];
        assert!(template.fill(&values, &mut sql, literal::append));
        assert_eq!(sql, b"UPDATE t SET k=k-(-1), c='a?b' WHERE id=NULL");
    }

    proptest! {
        #[test]
        fn everything_but_placeholders_is_unchanged(sql in "[-a-zE?$'\"/*\\\\\n 1글]{0,60}", standard in any::<bool>()) {
            let backslash = if standard { Backslash::EscapesWhereMarked } else { Backslash::Escapes };
            let template = parse(&sql, backslash);
            let escapes = (sql.len() - template.text.len() - template.parameters()) as isize;
            prop_assert!(escapes >= 0);
            prop_assert_eq!(template.text.replace('?', ""), sql.replace('?', ""));
            prop_assert!(template.positions.is_sorted());
            prop_assert_eq!(template.positions.len(), template.parameters());
        }
    }
}
