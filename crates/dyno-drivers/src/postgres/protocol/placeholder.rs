//! `?` in SQL text: found, numbered, or replaced by literals.
//!
//! A `?` counts as a placeholder unless it stands inside a string, an escape string, a dollar-quoted string, a quoted
//! name or a comment (PostgreSQL documentation, "Lexical Structure"). `??` stands for the operator `?`, as in JDBC.

use super::literal::{self, ZeroByte};
use crate::value::Value;

/// SQL text and the places of its placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// The text without the placeholders.
    text: String,
    /// Where in `text` the placeholders stood, ascending.
    places: Vec<usize>,
}

impl Template {
    /// Finds the placeholders. A string or comment without an end reaches to the end of the text; the server will say
    /// what is wrong with it. `standard_strings` is the session's `standard_conforming_strings`: when false, a backslash
    /// escapes in ordinary strings too.
    #[must_use]
    pub fn parse(sql: &str, standard_strings: bool) -> Self {
        let bytes = sql.as_bytes();
        let mut template = Self { text: String::with_capacity(sql.len()), places: Vec::new() };
        // Everything before `copied` is in the template.
        let (mut at, mut copied) = (0, 0);
        while at < bytes.len() {
            if bytes[at] != b'?' {
                at = opaque_end(bytes, at, standard_strings);
                continue;
            }
            template.text.push_str(&sql[copied..at]);
            at += 1;
            if bytes.get(at) == Some(&b'?') {
                template.text.push('?');
                at += 1;
            } else {
                template.places.push(template.text.len());
            }
            copied = at;
        }
        template.text.push_str(&sql[copied..]);
        template.places.shrink_to_fit();
        template
    }

    /// Number of placeholders.
    #[must_use]
    pub fn parameters(&self) -> usize {
        self.places.len()
    }

    /// The text with `$1`, `$2`... in the places.
    #[must_use]
    pub fn numbered(&self) -> String {
        self.typed(&[])
    }

    /// The same with `$1::type` where there is a type for the place.
    #[must_use]
    pub fn typed(&self, types: &[&str]) -> String {
        let mut sql = String::with_capacity(self.text.len() + 3 * self.places.len());
        let mut copied = 0;
        for (index, place) in self.places.iter().enumerate() {
            sql.push_str(&self.text[copied..*place]);
            sql.push('$');
            sql.push_str(&(index + 1).to_string());
            if let Some(name) = types.get(index) {
                sql.push_str("::");
                sql.push_str(name);
            }
            copied = *place;
        }
        sql.push_str(&self.text[copied..]);
        sql
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.text.capacity() + self.places.capacity() * size_of::<usize>()
    }

    /// Appends the text with literals in the places. There must be as many values as places.
    ///
    /// # Errors
    /// When a value is a text with a zero byte.
    pub fn append_filled(&self, values: &[Value<'_>], sql: &mut Vec<u8>) -> Result<(), ZeroByte> {
        let text = self.text.as_bytes();
        let mut copied = 0;
        for (place, value) in self.places.iter().zip(values) {
            sql.extend_from_slice(&text[copied..*place]);
            literal::append(value, sql)?;
            copied = *place;
        }
        sql.extend_from_slice(&text[copied..]);
        Ok(())
    }
}

/// The end of what begins at `at` and cannot hold a placeholder: a string, a name, a comment, or a single byte.
fn opaque_end(bytes: &[u8], at: usize, standard_strings: bool) -> usize {
    let next = bytes.get(at + 1);
    match bytes[at] {
        b'\'' => quoted_end(bytes, at, !standard_strings || is_escape_string(bytes, at)),
        b'"' => quoted_end(bytes, at, false),
        b'-' if next == Some(&b'-') => find(bytes, at, b"\n"),
        b'/' if next == Some(&b'*') => comment_end(bytes, at),
        b'$' => dollar_end(bytes, at),
        _ => at + 1,
    }
}

/// The end of the quoted string or name that begins at `start`, or of everything when it is not closed. A doubled quote ends it and
/// begins another one at once, which comes to the same.
#[must_use]
pub fn quoted_end(bytes: &[u8], start: usize, has_escapes: bool) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if has_escapes => at += 2,
            // In an escape string the part after a doubled quote still has escapes.
            byte if byte == bytes[start] && bytes.get(at + 1) == Some(&byte) => at += 2,
            byte if byte == bytes[start] => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// True when an E of its own stands right before the quote.
fn is_escape_string(bytes: &[u8], quote: usize) -> bool {
    quote > 0
        && bytes[quote - 1].eq_ignore_ascii_case(&b'e')
        && !(quote > 1 && is_identifier_byte(bytes[quote - 2]))
}

/// The end of the comment that begins at `start`, or of everything when it is not closed; comments nest.
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

/// The end of a dollar-quoted string, or of the dollar sign where it begins none.
fn dollar_end(bytes: &[u8], start: usize) -> usize {
    // In the middle of a name a dollar sign is part of the name.
    if start > 0 && is_identifier_byte(bytes[start - 1]) {
        return start + 1;
    }
    let length =
        bytes[start + 1..].iter().take_while(|byte| is_identifier_byte(**byte) && **byte != b'$').count();
    let end = start + 1 + length;
    let is_number = bytes.get(start + 1).is_some_and(u8::is_ascii_digit);
    if is_number || bytes.get(end) != Some(&b'$') {
        return start + 1;
    }
    let tag = &bytes[start..=end];
    find(bytes, end + 1, tag)
}

/// The end of the first occurrence of `needle`, or of everything.
fn find(bytes: &[u8], from: usize, needle: &[u8]) -> usize {
    bytes[from..]
        .windows(needle.len())
        .position(|window| window == needle)
        .map_or(bytes.len(), |at| from + at + needle.len())
}

fn is_identifier_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn types_stand_beside_their_places() {
        let template = Template::parse("SELECT '?', f(?, ?, ?)", true);
        assert_eq!(template.typed(&["integer", "varchar"]), "SELECT '?', f($1::integer, $2::varchar, $3)");
    }

    #[test]
    fn question_marks_are_numbered_only_where_they_are_placeholders() {
        let cases = [
            ("SELECT c FROM t WHERE id=?", "SELECT c FROM t WHERE id=$1"),
            ("VALUES (?,?,?)", "VALUES ($1,$2,$3)"),
            ("?", "$1"),
            ("SELECT '?' , ?", "SELECT '?' , $1"),
            ("SELECT 'it''s ?' || ?", "SELECT 'it''s ?' || $1"),
            (r"SELECT '\' || ?", r"SELECT '\' || $1"), // a backslash is an ordinary character
            (r"SELECT E'\'?' || ?", r"SELECT E'\'?' || $1"),
            (r"SELECT e'''\'?' || ?", r"SELECT e'''\'?' || $1"), // escapes go on after a doubled quote
            (r"SELECT fine'\' || ?", r"SELECT fine'\' || $1"),   // no E of its own
            ("SELECT \"a?\"\"?\" FROM t WHERE x=?", "SELECT \"a?\"\"?\" FROM t WHERE x=$1"),
            ("SELECT 1 -- why?\n, ?", "SELECT 1 -- why?\n, $1"),
            ("SELECT 1 -- why?", "SELECT 1 -- why?"),
            ("SELECT /* a? /* b? */ c? */ ?", "SELECT /* a? /* b? */ c? */ $1"),
            ("SELECT $$?$$, ?", "SELECT $$?$$, $1"),
            ("SELECT $tag$ $$ ? $tag$, ?", "SELECT $tag$ $$ ? $tag$, $1"),
            ("SELECT a$b$?, $1$c", "SELECT a$b$$1, $1$c"), // a dollar sign inside a name quotes nothing
            ("SELECT j ?? 'k' AND j ??| ?", "SELECT j ? 'k' AND j ?| $1"),
            ("SELECT ???", "SELECT ?$1"),
            ("SELECT '?", "SELECT '?"), // no end: the server will complain
            ("SELECT /* ?", "SELECT /* ?"),
            ("SELECT $a$ ?", "SELECT $a$ ?"),
            ("SELECT '글?', ?, 글", "SELECT '글?', $1, 글"),
            ("", ""),
        ];
        for (sql, expected) in cases {
            assert_eq!(Template::parse(sql, true).numbered(), expected, "{sql}");
        }
    }

    #[test]
    fn backslashes_escape_in_every_string_when_the_session_says_so() {
        let sql = r"SELECT '\'?' || ?";
        assert_eq!(Template::parse(sql, false).numbered(), r"SELECT '\'?' || $1");
        // With standard strings the first string ends before the question mark.
        assert_eq!(Template::parse(sql, true).numbered(), r"SELECT '\'$1' || ?");
    }

    #[test]
    fn literals_take_the_places() {
        let template = Template::parse("UPDATE t SET k=k-?, c=? WHERE id=?", true);
        let mut sql = Vec::new();
        template.append_filled(&[Value::Integer(-1), Value::Text("a?b"), Value::Null], &mut sql).unwrap();
        assert_eq!(sql, b"UPDATE t SET k=k-(-1), c='a?b' WHERE id=NULL");
    }

    proptest! {
        #[test]
        fn any_text_keeps_everything_but_its_placeholders(sql in "[-a-zE?$'\"/*\\\\\n 1글]{0,60}", standard in any::<bool>()) {
            let template = Template::parse(&sql, standard);
            let escapes = (sql.len() - template.text.len() - template.parameters()) as isize;
            prop_assert!(escapes >= 0);
            prop_assert_eq!(template.text.replace('?', ""), sql.replace('?', ""));
            prop_assert!(template.places.is_sorted());
            prop_assert_eq!(template.places.len(), template.parameters());
        }
    }
}
