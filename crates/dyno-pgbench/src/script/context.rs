//! The context of a variable in a statement, which determines whether its value can be a parameter.

use crate::expression::variables::continues_name;
use dyno_model::engine::Syntax;

/// The part of a statement to which a byte belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nature {
    Code,
    /// A quoted text or name, including the quotes.
    Quoted,
    /// A comment or a blank.
    Blank,
}

/// The context of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VariableContext {
    /// A position for a value, so it can be a parameter.
    Value,
    /// In a comment that servers ignore.
    Comment,
    /// In quotes, or in a comment that the server executes.
    Quoted,
    /// Directly after a word, of which its value becomes a part: `orders_:part`.
    Joined,
    /// As [`Self::Joined`] but in brackets, where a slice of an array was probably meant: `a[1:n]`.
    Slice,
    /// In the list of ORDER BY or GROUP BY, where a number in the text is a column position and a
    /// parameter is not.
    Position,
    /// After PostgreSQL's `->` or `->>`, where a number in the text is an index and a parameter is
    /// a key.
    Key,
}

/// State of reading a statement.
#[derive(Debug)]
pub(super) struct Context {
    syntax: Syntax,
    parentheses: usize,
    brackets: usize,
    /// Depth of the current list of ORDER BY or GROUP BY.
    list: Option<usize>,
    /// The last word, and the one before it.
    word: String,
    before: String,
    is_in_word: bool,
    /// The last signs after it.
    signs: String,
    /// Start of the current comment.
    comment: Option<usize>,
}

/// Words that end the list of ORDER BY or GROUP BY.
const ENDS: [&str; 11] = [
    "limit",
    "offset",
    "fetch",
    "having",
    "union",
    "intersect",
    "except",
    "for",
    "window",
    "rows",
    "range",
];

impl Context {
    pub(super) fn new(syntax: Syntax) -> Self {
        let (word, before, signs) = Default::default();
        let (parentheses, brackets, list, comment, is_in_word) = (0, 0, None, None, false);
        Self { syntax, parentheses, brackets, list, word, before, is_in_word, signs, comment }
    }

    /// Processes a byte of the text.
    pub(super) fn pass(&mut self, text: &[u8], at: usize, nature: Nature) {
        let byte = text[at];
        if nature != Nature::Blank {
            self.comment = None;
        } else if byte == b'/' && text.get(at + 1) == Some(&b'*') && self.comment.is_none() {
            self.comment = Some(at);
        } else if at >= 2 && text[at - 2..at] == *b"*/" {
            self.comment = None;
        }
        if nature != Nature::Code || !continues_name(byte) {
            self.end_word();
        }
        match nature {
            Nature::Code if continues_name(byte) => {
                if !self.is_in_word {
                    self.before = std::mem::take(&mut self.word);
                    self.signs.clear();
                }
                self.is_in_word = true;
                self.word.push(char::from(byte.to_ascii_lowercase()));
            }
            Nature::Code if !byte.is_ascii_whitespace() => self.sign(byte),
            // A quoted name or text takes the place of a word.
            Nature::Quoted => {
                self.word.clear();
                self.signs.clear();
            }
            _ => {}
        }
    }

    fn end_word(&mut self) {
        if !std::mem::take(&mut self.is_in_word) {
            return;
        }
        if self.word == "by" && matches!(self.before.as_str(), "order" | "group") {
            self.list = Some(self.parentheses);
        } else if self.list == Some(self.parentheses) && ENDS.contains(&self.word.as_str()) {
            self.list = None;
        }
    }

    fn sign(&mut self, byte: u8) {
        self.signs.push(char::from(byte));
        match byte {
            b'(' => self.parentheses += 1,
            b')' => {
                self.parentheses = self.parentheses.saturating_sub(1);
                self.list = self.list.filter(|depth| *depth <= self.parentheses);
            }
            b'[' => self.brackets += 1,
            b']' => self.brackets = self.brackets.saturating_sub(1),
            _ => {}
        }
    }

    /// True inside brackets.
    pub(super) fn is_in_brackets(&self) -> bool {
        self.brackets > 0
    }

    /// The context of a variable whose colon is at this position.
    pub(super) fn context_of(&mut self, text: &[u8], at: usize, nature: Nature) -> VariableContext {
        match nature {
            Nature::Quoted => return VariableContext::Quoted,
            Nature::Blank => {
                let comment = self.comment.map_or(&b""[..], |start| &text[start..at]);
                let is_read =
                    [&b"/*+"[..], b"/*!", b"/*M!"].iter().any(|start| comment.starts_with(start));
                return if is_read { VariableContext::Quoted } else { VariableContext::Comment };
            }
            Nature::Code => {}
        }
        if at > 0 && (continues_name(text[at - 1]) || text[at - 1] == b'$') {
            return if self.is_in_brackets() {
                VariableContext::Slice
            } else {
                VariableContext::Joined
            };
        }
        self.end_word();
        let is_item = self.signs.ends_with(',') || self.signs.is_empty() && self.word == "by";
        if self.list == Some(self.parentheses) && is_item {
            VariableContext::Position
        } else if self.syntax.has_typed_keys
            && (self.signs.ends_with("->") || self.signs.ends_with("->>"))
        {
            VariableContext::Key
        } else {
            VariableContext::Value
        }
    }

    /// Continues after a variable, which takes the place of a word.
    pub(super) fn pass_variable(&mut self) {
        self.word.clear();
        self.signs.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::super::statement::cut;
    use super::*;
    use crate::expression::variables::Names;

    fn contexts(source: &str, syntax: Syntax) -> Vec<VariableContext> {
        let sql = cut(source, 0, syntax).into_sql(&mut Names::default(), syntax);
        sql.variables().map(|(_, context)| context).collect()
    }

    #[test]
    fn a_variable_is_a_parameter_only_where_a_value_may_be() {
        use VariableContext::{Comment, Joined, Key, Position, Quoted, Slice, Value};
        let cases: [(&str, &[VariableContext]); 22] = [
            ("SELECT :a, (:b), f(:c) + :d", &[Value; 4]),
            ("SELECT 'x :a', \"c:b\", $$ :c $$", &[Quoted; 3]),
            ("SELECT 1 /* :a */ -- :b\n, :c", &[Comment, Comment, Value]),
            ("SELECT /* a */ /*+ Set(x :a) */ 1 /* :b */", &[Quoted, Comment]),
            ("SELECT * FROM orders_:a, t:b.c", &[Joined, Joined]),
            ("SELECT a[1:n], a[:n], a[1 : :n], a[b:n]", &[Slice, Value, Value, Slice]),
            ("SELECT a FROM t ORDER BY :a", &[Position]),
            ("SELECT a FROM t GROUP BY b, :a ORDER BY x DESC, :b", &[Position, Position]),
            ("SELECT a FROM t ORDER BY a + :a LIMIT :b", &[Value, Value]),
            ("SELECT a FROM t ORDER BY a, f(:a, :b), :c", &[Value, Value, Position]),
            ("SELECT a FROM t ORDER BY 'x', \"y\", :a OFFSET :b", &[Position, Value]),
            ("SELECT a FROM (SELECT b FROM u ORDER BY b) t WHERE c IN (1, :a)", &[Value]),
            ("SELECT x FROM t GROUP BY x HAVING x IN (1, :a), :b", &[Value, Value]),
            ("SELECT rank() OVER (PARTITION BY :a ORDER BY b)", &[Value]),
            ("SELECT j -> :a, j->>:b, j -> 'x' = :c", &[Key, Key, Value]),
            ("SELECT a->:a, b > :b, c - :c", &[Key, Value, Value]),
            ("SELECT :a::int, ':b'::text", &[Value, Quoted]),
            ("INSERT INTO t (a, b) VALUES (:a, :b)", &[Value, Value]),
            ("UPDATE t SET a = a + :a WHERE b = :b", &[Value, Value]),
            ("SELECT * FROM :a", &[Value]),
            ("SELECT 'a' 'b', :a", &[Value]),
            ("SET LOCAL work_mem = :a", &[Value]),
        ];
        for (source, expected) in cases {
            assert_eq!(contexts(source, Syntax::POSTGRES), expected, "{source}");
        }
        assert_eq!(contexts("SELECT j -> :a", Syntax::SQLITE), [Value]);
        assert_eq!(contexts("SELECT `a:a` /*!40100 , :b */", Syntax::MYSQL), [Quoted, Quoted]);
        assert_eq!(contexts("SELECT 1 # :a", Syntax::MYSQL), [Comment]);
    }
}
