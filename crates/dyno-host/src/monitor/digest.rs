//! Removes literals from statements, for storing what sessions were executing. Literals can hold
//! anything, including customer data and passwords, so everything that might be part of one is
//! removed.

use dyno_model::engine::{Backslash, Syntax};
use dyno_model::printable::shortened;

/// Longest digest, in characters.
const LENGTH_MAX: usize = 120;

/// The statement with `?` for every literal and list of literals, without comments, its blanks made
/// single. A statement that was cut off inside a literal loses everything from there on.
pub(super) fn digest(sql: &str, syntax: Syntax) -> String {
    let mut tokens = Tokens { rest: sql, syntax, text: String::new() };
    while tokens.next() {}
    shortened(&shorter_lists(tokens.text.trim()), LENGTH_MAX)
}

struct Tokens<'a> {
    rest: &'a str,
    syntax: Syntax,
    text: String,
}

impl Tokens<'_> {
    /// Processes the next token; false at the end.
    fn next(&mut self) -> bool {
        let mut characters = self.rest.chars();
        let Some(first) = characters.next() else { return false };
        let second = characters.next();
        match (first, second) {
            (c, _) if c.is_whitespace() => self.blank(c.len_utf8()),
            ('-', Some('-')) => self.skip_past("\n"),
            ('#', _) if self.syntax.has_hash_comments => self.skip_past("\n"),
            // Optimizer hints and comments for certain versions are removed, too, because they may
            // contain literals.
            ('/', Some('*')) => self.skip_past("*/"),
            ('\'', _) => self.literal('\'', self.escapes_with_backslash()),
            ('"', _) if self.syntax.has_texts_in_double_quotes => {
                let has_escapes = true;
                self.literal('"', has_escapes);
            }
            ('"' | '`', _) => self.quoted_name(first),
            ('$', _) if self.is_dollar_quote() => self.dollar_literal(),
            (c, _) if c.is_ascii_digit() => self.skip_number(),
            (c, _) if c.is_alphabetic() || c == '_' => self.word(),
            (c, _) => {
                self.text.push(c);
                self.rest = &self.rest[c.len_utf8()..];
            }
        }
        true
    }

    fn blank(&mut self, length: usize) {
        if !self.text.ends_with(' ') {
            self.text.push(' ');
        }
        self.rest = &self.rest[length..];
    }

    fn skip_past(&mut self, end: &str) {
        self.rest = self.rest.find(end).map_or("", |at| &self.rest[at + end.len()..]);
        self.blank(0);
    }

    /// MySQL reads a backslash as an escape; PostgreSQL only in `E'...'`.
    fn escapes_with_backslash(&self) -> bool {
        self.syntax.backslash == Backslash::Escapes || self.text.ends_with(['e', 'E'])
    }

    fn literal(&mut self, quote: char, has_escapes: bool) {
        // The prefix of a literal (`E'`, `N'`, `x'`, `_utf8mb4'`) may stay: it is not part of its
        // content.
        self.text.push('?');
        let mut characters = self.rest.char_indices().skip(1).peekable();
        while let Some((at, c)) = characters.next() {
            match c {
                '\\' if has_escapes => {
                    characters.next();
                }
                c if c == quote && characters.peek().is_some_and(|(_, next)| *next == quote) => {
                    characters.next();
                }
                c if c == quote => {
                    self.rest = &self.rest[at + c.len_utf8()..];
                    return;
                }
                _ => {}
            }
        }
        self.rest = "";
    }

    fn quoted_name(&mut self, quote: char) {
        match self.rest[1..].find(quote) {
            Some(length) => {
                self.text.push_str(&self.rest[..length + 2]);
                self.rest = &self.rest[length + 2..];
            }
            None => self.rest = "",
        }
    }

    /// `$tag$`, but not `$1`.
    fn is_dollar_quote(&self) -> bool {
        self.syntax.has_dollar_quotes && self.dollar_tag().is_some()
    }

    fn dollar_tag(&self) -> Option<&str> {
        let length = self.rest[1..].find('$')?;
        let tag = &self.rest[1..=length];
        let is_tag = !tag.starts_with(|c: char| c.is_ascii_digit())
            && tag.chars().all(|c| c.is_alphanumeric() || c == '_');
        is_tag.then(|| &self.rest[..length + 2])
    }

    fn dollar_literal(&mut self) {
        let tag = self.dollar_tag().unwrap_or("$").to_owned();
        self.text.push('?');
        let content = &self.rest[tag.len()..];
        self.rest = content.find(&tag).map_or("", |at| &content[at + tag.len()..]);
    }

    fn skip_number(&mut self) {
        let is_parameter = self.text.ends_with('$');
        let end = self
            .rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '.')
            .unwrap_or(self.rest.len());
        if is_parameter {
            self.text.push_str(&self.rest[..end]);
        } else {
            self.text.push('?');
        }
        self.rest = &self.rest[end..];
    }

    fn word(&mut self) {
        let end =
            self.rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        self.text.push_str(&self.rest[..end]);
        self.rest = &self.rest[end..];
    }
}

/// Shortens `(?, ?, ?)` to `(?, ...)`, and the rows of a multi-row insert to one: their number is
/// not a property of the statement.
fn shorter_lists(text: &str) -> String {
    let mut short = text.replace("?,?", "?, ?").replace("?,?", "?, ?");
    while short.contains("?, ?") {
        short = short.replace("?, ?", "?, ...").replace("..., ?", "...").replace("..., ...", "...");
    }
    short = short.replace("),(", "), (");
    for row in ["(?, ...)", "(?)"] {
        while short.contains(&format!("{row}, {row}")) {
            short = short.replace(&format!("{row}, {row}"), row);
        }
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_of_both_dialects_are_left_out() {
        let (mysql, postgres) = (Syntax::MYSQL, Syntax::POSTGRES);
        let rows = [
            (mysql, "SELECT c FROM sbtest1 WHERE id=5", "SELECT c FROM sbtest1 WHERE id=?"),
            (mysql, "UPDATE t SET c = 'it''s \\' x' WHERE a=\"b\"", "UPDATE t SET c = ? WHERE a=?"),
            (
                mysql,
                "SELECT `1 odd` FROM t1 # why\n WHERE x = 0x1F",
                "SELECT `1 odd` FROM t1 WHERE x = ?",
            ),
            (
                mysql,
                "INSERT INTO t VALUES (1,2,'x'),(3,4,'y'), (5, 6, 'z')",
                "INSERT INTO t VALUES (?, ...)",
            ),
            (
                mysql,
                "SELECT 1 FROM t WHERE id IN (1, 2, 3,4)",
                "SELECT ? FROM t WHERE id IN (?, ...)",
            ),
            (
                postgres,
                "SELECT c FROM t WHERE id = $1 AND x = $12",
                "SELECT c FROM t WHERE id = $1 AND x = $12",
            ),
            (
                postgres,
                "SELECT \"Name\", 'C:\\', E'a\\'b', $x$ it's $x$, 1.5e3 -- done",
                "SELECT \"Name\", ?, E?, ...",
            ),
            (postgres, "SELECT /* 'secret' */ 1", "SELECT ?"),
        ];
        for (engine, sql, expected) in rows {
            assert_eq!(digest(sql, engine), expected, "{sql}");
        }
    }

    #[test]
    fn passwords_are_removed_even_from_truncated_statements() {
        for (engine, sql) in [
            (Syntax::MYSQL, "ALTER USER a IDENTIFIED BY 'hunter2'"),
            (Syntax::MYSQL, "ALTER USER a IDENTIFIED BY 'hunter2 and more of"),
            (Syntax::MYSQL, "SET PASSWORD = \"hunter2"),
            (Syntax::POSTGRES, "ALTER ROLE a PASSWORD $$hunter2$$"),
            (Syntax::POSTGRES, "ALTER ROLE a PASSWORD $tag$hunter2"),
            (Syntax::POSTGRES, "CREATE ROLE a /* 'hunter2"),
        ] {
            assert!(!digest(sql, engine).contains("hunter2"), "{sql}: {}", digest(sql, engine));
        }
    }

    #[test]
    fn long_statements_are_truncated_at_whole_characters() {
        let long = format!("SELECT {}", "列, ".repeat(200));
        let short = digest(&long, Syntax::MYSQL);
        assert!(short.ends_with('…') && short.chars().count() == LENGTH_MAX + 1);
        assert_eq!(digest("", Syntax::POSTGRES), "");
    }
}
