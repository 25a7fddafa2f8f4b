//! Extracts statements and their variables from a script.

use super::context::{Context, Nature, VariableContext};
use crate::expression::variables::{
    Names, Parameter, Slot, Variables, continues_name, starts_name,
};
use dyno_drivers::placeholder::{comment_end, dollar_end};
use dyno_drivers::sql_text::quoted_end;
use dyno_model::engine::Syntax;
use std::fmt::Write;

/// How a statement's rows are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Store {
    /// They are discarded.
    Nothing,
    /// `\gset`: the only row of the last query, in variables with this prefix.
    LastRow(String),
    /// `\aset`: the last row of each query that has one, in variables with this prefix.
    AnyRow(String),
}

/// An SQL command: one statement, or several joined by `\;`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sql {
    /// Its text, split at its variables.
    pieces: Vec<Piece>,
    /// The text with `?` for variables, for drivers; variables in quotes and comments are
    /// unchanged.
    template: String,
    /// The variables of the template.
    parameters: Vec<Slot>,
    /// True when it is several statements, joined by `\;`.
    is_several: bool,
    /// What becomes of its rows.
    pub(crate) store: Store,
}

#[derive(Debug, Clone, PartialEq)]
enum Piece {
    Text(Fixed),
    Variable { slot: Slot, context: VariableContext, is_in_brackets: bool },
}

/// A part of a statement without variables.
#[derive(Debug, Clone, PartialEq)]
struct Fixed {
    text: String,
    /// The form for drivers, if different.
    escaped: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Semicolon,
    /// At the backslash of a meta command at this position.
    Backslash(usize),
    Script,
}

/// Number of words at the beginning of a statement that show whether it creates a routine.
const HEAD_MAX: usize = 8;

/// The text of an extracted statement.
pub(crate) struct Cut {
    pub(crate) text: String,
    /// The part to which each byte belongs.
    pub(super) natures: Vec<Nature>,
    /// True when it contains `\;`.
    is_several: bool,
    /// Where to continue reading.
    pub(crate) at: usize,
    pub(crate) end: End,
}

/// The default end of a statement.
pub(crate) const SEMICOLON: &str = ";";

/// Cuts the next statement out of a script. Blanks and comments in front of it are left out.
pub(super) fn cut(source: &str, start: usize, syntax: Syntax) -> Cut {
    cut_at(source, start, syntax, SEMICOLON)
}

/// The same where something else than a semicolon may end statements, which is then no part of
/// them.
pub(crate) fn cut_at(source: &str, start: usize, syntax: Syntax, delimiter: &str) -> Cut {
    let mut scanner = Scanner {
        source: source.as_bytes(),
        at: start,
        syntax,
        delimiter,
        bytes: Vec::new(),
        natures: Vec::new(),
        depth: 0,
        block: 0,
        words: Vec::new(),
        is_several: false,
    };
    let end = scanner.scan();
    let is_several = scanner.is_several;
    let (mut bytes, mut natures) = (scanner.bytes, scanner.natures);
    // Blanks before a meta command are kept, as in pgbench, whose reports show them.
    while end == End::Script && bytes.last().is_some_and(u8::is_ascii_whitespace) {
        bytes.pop();
        natures.pop();
    }
    let text =
        String::from_utf8(bytes).expect("quotes and escapes are ASCII, so characters stay whole");
    Cut { text, natures, is_several, at: scanner.at, end }
}

struct Scanner<'s> {
    source: &'s [u8],
    at: usize,
    syntax: Syntax,
    delimiter: &'s str,
    bytes: Vec<u8>,
    natures: Vec<Nature>,
    /// Number of open parentheses.
    depth: usize,
    /// Number of open BEGIN and CASE of a routine's body; semicolons inside it belong to the
    /// statement.
    block: usize,
    /// The first words of the statement, which show whether it creates a routine.
    words: Vec<String>,
    is_several: bool,
}

impl Scanner<'_> {
    fn scan(&mut self) -> End {
        while let Some(&byte) = self.source.get(self.at) {
            let next = self.source.get(self.at + 1).copied();
            let ends_by_semicolon = self.delimiter == SEMICOLON;
            if !ends_by_semicolon && self.source[self.at..].starts_with(self.delimiter.as_bytes()) {
                self.at += self.delimiter.len();
                return End::Semicolon;
            }
            match byte {
                b'\\' if matches!(next, Some(b';' | b':')) => {
                    self.at += 1;
                    self.is_several |= next == Some(b';');
                    self.take(1, Nature::Code);
                }
                b'\\' => return End::Backslash(self.at),
                b';' => {
                    self.take(1, Nature::Code);
                    if ends_by_semicolon && self.depth == 0 && self.block == 0 {
                        return End::Semicolon;
                    }
                }
                b'(' => {
                    self.depth += 1;
                    self.take(1, Nature::Code);
                }
                b')' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.take(1, Nature::Code);
                }
                b'-' if next == Some(b'-') => self.blank(self.line_end()),
                b'#' if self.syntax.has_hash_comments => self.blank(self.line_end()),
                b'/' if next == Some(b'*') => {
                    self.take(comment_end(self.source, self.at) - self.at, Nature::Blank);
                }
                b'\'' | b'"' => self.take(self.quoted_length(), Nature::Quoted),
                b'`' if self.syntax.has_backticks => {
                    self.take(self.quoted_length(), Nature::Quoted);
                }
                b'$' if self.syntax.has_dollar_quotes => {
                    let length = dollar_end(self.source, self.at) - self.at;
                    self.take(length, if length > 1 { Nature::Quoted } else { Nature::Code });
                }
                _ if byte.is_ascii_whitespace() => self.blank(1),
                _ if starts_name(byte) => self.word(),
                _ if byte.is_ascii_digit() => {
                    self.take(
                        self.run(|byte| byte.is_ascii_alphanumeric() || byte == b'_'),
                        Nature::Code,
                    );
                }
                _ => self.take(1, Nature::Code),
            }
        }
        End::Script
    }

    fn take(&mut self, length: usize, nature: Nature) {
        let end = (self.at + length).min(self.source.len());
        self.bytes.extend_from_slice(&self.source[self.at..end]);
        self.natures.resize(self.bytes.len(), nature);
        self.at = end;
    }

    /// Blanks and comments up to the end of a line; skipped in front of a statement.
    fn blank(&mut self, length: usize) {
        if self.bytes.is_empty() { self.at += length } else { self.take(length, Nature::Blank) }
    }

    fn run(&self, belongs: impl Fn(u8) -> bool) -> usize {
        self.source[self.at..].iter().take_while(|byte| belongs(**byte)).count()
    }

    fn line_end(&self) -> usize {
        self.run(|byte| byte != b'\n')
    }

    /// Length of a quoted string or name.
    fn quoted_length(&self) -> usize {
        quoted_end(self.source, self.at, self.syntax.backslash) - self.at
    }

    /// A word, which may open or close the body of a routine.
    fn word(&mut self) {
        let length = self.run(|byte| continues_name(byte) || byte == b'$');
        let word =
            String::from_utf8_lossy(&self.source[self.at..self.at + length]).to_ascii_lowercase();
        if self.depth == 0 {
            match word.as_str() {
                "begin" if self.makes_routine() => self.block += 1,
                "case" if self.block > 0 => self.block += 1,
                "end" if !self.ends_loop(length) => self.block = self.block.saturating_sub(1),
                _ => {}
            }
        }
        if self.words.len() < HEAD_MAX {
            self.words.push(word);
        }
        self.take(length, Nature::Code);
    }

    /// `CREATE`, optionally `OR REPLACE` and `DEFINER = ...`, and an object with a body.
    fn makes_routine(&self) -> bool {
        let has_body =
            |word: &String| ["function", "procedure", "trigger", "event"].contains(&word.as_str());
        self.words.first().is_some_and(|word| word == "create") && self.words.iter().any(has_body)
    }

    /// `END IF` and the like end blocks that no BEGIN or CASE opened. `length` is that of the word
    /// END.
    fn ends_loop(&self, length: usize) -> bool {
        let rest = self.source[self.at + length..].trim_ascii_start();
        let end = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        ["if", "loop", "while", "repeat"]
            .iter()
            .any(|word| rest[..end].eq_ignore_ascii_case(word.as_bytes()))
    }
}

impl Cut {
    /// Finds the variables.
    pub(crate) fn into_sql(self, names: &mut Names, syntax: Syntax) -> Sql {
        let bytes = self.text.as_bytes();
        let mut pieces = Vec::new();
        let mut scanner = Context::new(syntax);
        // Everything before `copied` is in the pieces.
        let (mut at, mut copied) = (0, 0);
        while at < bytes.len() {
            // A cast has two colons and is not followed by a variable.
            let colons = bytes[at..].iter().take_while(|byte| **byte == b':').count();
            let length =
                bytes[at + colons..].iter().take_while(|byte| continues_name(**byte)).count();
            if colons != 1 || length == 0 || !starts_name(bytes[at + 1]) {
                for passed in at..at + colons.max(1) {
                    scanner.pass(bytes, passed, self.natures[passed]);
                }
                at += colons.max(1);
                continue;
            }
            pieces.extend(self.fixed(copied..at, syntax));
            let slot = names.slot(&self.text[at + 1..=at + length]);
            let context = scanner.context_of(bytes, at, self.natures[at]);
            pieces.push(Piece::Variable {
                slot,
                context,
                is_in_brackets: scanner.is_in_brackets(),
            });
            scanner.pass_variable();
            at += 1 + length;
            copied = at;
        }
        pieces.extend(self.fixed(copied..bytes.len(), syntax));
        let is_several = self.is_several;
        let store = Store::Nothing;
        let mut sql =
            Sql { pieces, template: String::new(), parameters: Vec::new(), is_several, store };
        sql.compose(names);
        sql
    }

    /// Text without variables.
    fn fixed(&self, range: std::ops::Range<usize>, syntax: Syntax) -> Option<Piece> {
        let text = &self.text[range.clone()];
        // To the driver a question mark is a parameter and two are the operator.
        let is_operator = |at: usize| self.natures[range.start + at] == Nature::Code;
        let escaped = syntax.has_question_mark_operators.then(|| {
            let marks = text.match_indices('?').filter(|(at, _)| is_operator(*at));
            let mut escaped = text.to_owned();
            marks.collect::<Vec<_>>().into_iter().rev().for_each(|(at, _)| escaped.insert(at, '?'));
            escaped
        });
        let escaped = escaped.filter(|escaped| escaped != text);
        (!text.is_empty()).then(|| Piece::Text(Fixed { text: text.to_owned(), escaped }))
    }
}

/// A statement's text as the driver of an engine takes it to prepare it.
pub(crate) fn escaped(text: &str, syntax: Syntax) -> String {
    let cut = cut(text, 0, syntax);
    match cut.fixed(0..cut.text.len(), syntax) {
        Some(Piece::Text(Fixed { text, escaped })) => escaped.unwrap_or(text),
        _ => String::new(),
    }
}

impl Sql {
    /// The text with `?` for variables.
    pub(crate) fn template(&self) -> &str {
        &self.template
    }

    /// The variables of the template in order.
    pub(crate) fn parameters(&self) -> &[Slot] {
        &self.parameters
    }

    /// True for several statements.
    pub(crate) fn is_several(&self) -> bool {
        self.is_several
    }

    /// Its variables with their contexts.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (Slot, VariableContext)> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Variable { slot, context, .. } => Some((*slot, *context)),
            Piece::Text(_) => None,
        })
    }

    /// Treats names in brackets that are never set as text: they are the upper bound of a slice,
    /// `a[1:n]`.
    pub(crate) fn keep_slices(&mut self, names: &Names, is_set: impl Fn(Slot) -> bool) {
        for piece in &mut self.pieces {
            if let Piece::Variable { slot, is_in_brackets: true, context } = piece
                && *context != VariableContext::Quoted
                && !is_set(*slot)
            {
                *piece =
                    Piece::Text(Fixed { text: format!(":{}", names.name(*slot)), escaped: None });
            }
        }
        self.compose(names);
    }

    /// Builds the template from the pieces.
    fn compose(&mut self, names: &Names) {
        self.template.clear();
        self.parameters.clear();
        for piece in &self.pieces {
            match piece {
                Piece::Text(Fixed { text, escaped }) => {
                    self.template.push_str(escaped.as_ref().unwrap_or(text));
                }
                Piece::Variable {
                    slot,
                    context: VariableContext::Quoted | VariableContext::Comment,
                    ..
                } => {
                    self.template.push(':');
                    self.template.push_str(names.name(*slot));
                }
                Piece::Variable { slot, .. } => {
                    self.template.push('?');
                    self.parameters.push(*slot);
                }
            }
        }
    }

    /// Appends the text with values in place of variables. Variables that are not set are kept as
    /// written.
    pub(crate) fn write(&self, variables: &Variables, names: &Names, text: &mut String) {
        for piece in &self.pieces {
            let begin = text.len();
            let written = match piece {
                Piece::Text(piece) => text.write_str(&piece.text),
                Piece::Variable { slot, .. } => match variables.content(*slot) {
                    Parameter::Value(value) => write!(text, "{value}"),
                    Parameter::Text(content) => text.write_str(content),
                    Parameter::Unset => write!(text, ":{}", names.name(*slot)),
                },
            };
            written.expect("writing to memory does not fail");
            if text[..begin].ends_with('-') && text[begin..].starts_with('-') {
                // A negative number after a minus would begin a comment.
                text.insert(begin, ' ');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expression::Value;

    fn cuts(source: &str, syntax: Syntax) -> Vec<String> {
        let mut at = 0;
        let mut all = Vec::new();
        loop {
            let cut = cut(source, at, syntax);
            at = cut.at;
            if !cut.text.is_empty() {
                all.push(cut.text);
            }
            if cut.end == End::Script {
                return all;
            }
        }
    }

    #[test]
    fn statements_end_at_semicolons_outside_quotes_comments_and_bodies() {
        let cases: [(&str, &[&str]); 12] = [
            ("SELECT 1; SELECT 2", &["SELECT 1;", "SELECT 2"]),
            ("-- a; b\nSELECT 1;", &["SELECT 1;"]),
            ("SELECT 1 -- c ; x\n, 2;", &["SELECT 1 -- c ; x\n, 2;"]),
            ("select /* ; */ 3;", &["select /* ; */ 3;"]),
            ("SELECT ';'';', \";\";", &["SELECT ';'';', \";\";"]),
            (r"SELECT E'\';'; SELECT '\';", &[r"SELECT E'\';';", r"SELECT '\';"]),
            ("SELECT $$;$$, $a$ $$;$a$;", &["SELECT $$;$$, $a$ $$;$a$;"]),
            ("SELECT a$b$; SELECT $1;", &["SELECT a$b$;", "SELECT $1;"]),
            ("select (1;2);", &["select (1;2);"]),
            (r"SELECT 1 \; SELECT 2;", &["SELECT 1 ; SELECT 2;"]),
            (
                "create or replace function f() returns int begin atomic select case when true then 1 end; end; x;",
                &[
                    "create or replace function f() returns int begin atomic select case when true then 1 end; end;",
                    "x;",
                ],
            ),
            ("BEGIN; END;", &["BEGIN;", "END;"]),
        ];
        for (source, expected) in cases {
            assert_eq!(cuts(source, Syntax::POSTGRES), expected, "{source}");
        }
    }

    #[test]
    fn quotes_are_those_of_the_engine() {
        assert_eq!(cuts(r"SELECT '\';'; x", Syntax::MYSQL), [r"SELECT '\';';", "x"]);
        assert_eq!(cuts("SELECT `;`; # a;\nx", Syntax::MYSQL), ["SELECT `;`;", "x"]);
        assert_eq!(cuts(r"SELECT '\'; x", Syntax::SQLITE), [r"SELECT '\';", "x"]);
        assert_eq!(cuts("SELECT $a; $b", Syntax::SQLITE), ["SELECT $a;", "$b"]);
        // The E belongs to a name, so that the string has no escapes.
        assert_eq!(cuts(r"SELECT a$e'\'; x", Syntax::POSTGRES), [r"SELECT a$e'\';", "x"]);
    }

    fn sql(source: &str) -> (String, String) {
        let mut names = Names::default();
        let mut variables = Variables::default();
        variables.set(names.slot("x"), Value::Integer(-5));
        variables.set(names.slot("d"), Value::Double(1.0 / 3.0));
        variables.set_text(names.slot("t"), "a b");
        let sql = cut(source, 0, Syntax::POSTGRES).into_sql(&mut names, Syntax::POSTGRES);
        let mut text = String::new();
        sql.write(&variables, &names, &mut text);
        let parameters: Vec<&str> = sql.parameters().iter().map(|slot| names.name(*slot)).collect();
        (text, format!("{} {}", sql.template(), parameters.join(" ")))
    }

    #[test]
    fn variables_become_text_or_parameters() {
        let cases = [
            ("SELECT :x + :x", "SELECT -5 + -5", "SELECT ? + ? x x"),
            ("SELECT :d, :t", "SELECT 0.333333333333333, a b", "SELECT ?, ? d t"),
            (
                "SELECT ':x'::text, :x::int",
                "SELECT '-5'::text, -5::int",
                "SELECT ':x'::text, ?::int x",
            ),
            ("SELECT :y", "SELECT :y", "SELECT ? y"),
            (
                "SELECT '12:34:56', a[1:2]",
                "SELECT '12:34:56', a[1:2]",
                "SELECT '12:34:56', a[1:2] ",
            ),
            ("SELECT j ? 'a?' AND :x", "SELECT j ? 'a?' AND -5", "SELECT j ?? 'a?' AND ? x"),
            ("SELECT 1 -- :x", "SELECT 1 -- -5", "SELECT 1 -- :x "),
            ("SELECT a:x", "SELECT a-5", "SELECT a? x"),
            ("SELECT 1 -:x", "SELECT 1 - -5", "SELECT 1 -? x"),
        ];
        for (source, text, template) in cases {
            assert_eq!(sql(source), (text.to_owned(), template.to_owned()), "{source}");
        }
    }
}
