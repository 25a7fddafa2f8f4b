//! Guesses the columns of a `SELECT` from its select list, because there are no tables.

use crate::null::statement::{skip_blanks, unquoted};

/// Characters of a text field, as in sysbench's column `c`: ten groups of eleven digits.
pub(super) const TEXT: &[u8] = b"68487932199-96439406143-93774651418-41631865787-96406072701-\
20604855487-25459966574-28203206787-41238978918-19503783441";

/// Text that is not data, such as a version.
pub(super) const LABEL: &[u8] = b"dyno null server";

/// Maximum number of columns in an answer; further ones are left out.
const COLUMNS_MAX: usize = 64;

/// Content of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    /// [`TEXT`], as `CHAR(120)`.
    Text,
    /// The integer 1.
    One,
    /// An integer that exceeds any limit a client may query.
    Limit,
    Label,
    /// A text of the imitated product.
    Constant(&'static str),
    Null,
}

impl Column {
    /// The field as an integer, or `None` when it is none.
    pub(super) fn integer(self) -> Option<u32> {
        match self {
            Self::One => Some(1),
            Self::Limit => Some(1_000_000),
            _ => None,
        }
    }

    /// The field as text; `None` for NULL.
    pub(super) fn text(self) -> Option<&'static [u8]> {
        match self {
            Self::Text => Some(TEXT),
            Self::One => Some(b"1"),
            Self::Limit => Some(b"1000000"),
            Self::Label => Some(LABEL),
            Self::Constant(text) => Some(text.as_bytes()),
            Self::Null => None,
        }
    }
}

/// Columns of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Columns {
    /// The usual case, which allocates nothing.
    Single(Column),
    /// Two or more.
    Several(Box<[Column]>),
}

impl Columns {
    pub(super) fn as_slice(&self) -> &[Column] {
        match self {
            Self::Single(column) => std::slice::from_ref(column),
            Self::Several(columns) => columns,
        }
    }

    /// Columns of a statement that begins with `SELECT` (or, as one text column, with another word
    /// that returns rows).
    pub(super) fn of(sql: &[u8]) -> Self {
        let sql = skip_blanks(sql);
        let Some((head, list)) = sql.split_at_checked("SELECT ".len()) else {
            return Self::Single(Column::Text);
        };
        if !head[..6].eq_ignore_ascii_case(b"SELECT") {
            return Self::Single(Column::Text);
        }
        let mut items = Items { list }.take(COLUMNS_MAX);
        let first = items.next().unwrap_or_default();
        let mut rest = items.peekable();
        if first.trim_ascii() == b"*" {
            // sbtest: id, k, c, pad.
            return Self::Several(Box::new([Column::One, Column::One, Column::Text, Column::Text]));
        }
        if rest.peek().is_none() {
            return Self::Single(column(first));
        }
        Self::Several(std::iter::once(first).chain(rest).map(column).collect())
    }
}

/// The items of a select list, up to `FROM` or the end.
struct Items<'a> {
    list: &'a [u8],
}

impl<'a> Iterator for Items<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.list.is_empty() {
            return None;
        }
        let mut depth = 0_u32;
        for (at, byte) in unquoted(self.list, b"'\"`") {
            match byte {
                b'(' => depth += 1,
                b')' => depth = depth.saturating_sub(1),
                b',' if depth == 0 => return Some(self.cut(at, at + 1)),
                b'f' | b'F' if depth == 0 && is_from(self.list, at) => {
                    return Some(self.cut(at, self.list.len()));
                }
                _ => {}
            }
        }
        Some(self.cut(self.list.len(), self.list.len()))
    }
}

impl<'a> Items<'a> {
    fn cut(&mut self, end: usize, next: usize) -> &'a [u8] {
        let item = &self.list[..end];
        self.list = &self.list[next..];
        item
    }
}

fn is_from(list: &[u8], at: usize) -> bool {
    let is_space = |at: usize| list.get(at).is_none_or(u8::is_ascii_whitespace);
    at > 0
        && is_space(at - 1)
        && is_space(at + 4)
        && list[at..].get(..4).is_some_and(|word| word.eq_ignore_ascii_case(b"from"))
}

/// Functions with an integer result.
const INTEGER_FUNCTIONS: [&[u8]; 6] = [b"count(", b"sum(", b"max(", b"min(", b"avg(", b"length("];

/// Integer columns of the usual benchmarks: sbtest, pgbench, rush.
const INTEGER_NAMES: [&[u8]; 10] =
    [b"id", b"k", b"aid", b"bid", b"tid", b"abalance", b"bbalance", b"tbalance", b"c1", b"c2"];

fn column(expression: &[u8]) -> Column {
    let mut expression = expression.trim_ascii();
    if starts_with(expression, b"distinct ") {
        expression = expression["distinct ".len()..].trim_ascii_start();
    }
    if starts_with(expression, b"@@") {
        let is_limit = [&b"max_connections"[..], b"max_allowed_packet"]
            .iter()
            .any(|name| ends_with(expression, name));
        return if is_limit { Column::Limit } else { Column::Label };
    }
    if starts_with(expression, b"version(") {
        return Column::Label;
    }
    // A schema or table in front of the name is ignored.
    let name_end = expression.iter().position(|byte| *byte == b'(').unwrap_or(expression.len());
    let name_start =
        expression[..name_end].iter().rposition(|byte| *byte == b'.').map_or(0, |at| at + 1);
    let last = &expression[name_start..];
    let name = last.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    let name = name.strip_prefix(b"`").unwrap_or(name);
    let name = name.strip_suffix(b"`").unwrap_or(name);
    // pgbench queries how its tables are partitioned, which they are not.
    if name.eq_ignore_ascii_case(b"partstrat") || name.eq_ignore_ascii_case(b"null") {
        return Column::Null;
    }
    let is_integer = INTEGER_NAMES.iter().any(|known| name.eq_ignore_ascii_case(known))
        || INTEGER_FUNCTIONS.iter().any(|function| starts_with(last, function))
        || expression.first().is_some_and(u8::is_ascii_digit);
    if is_integer { Column::One } else { Column::Text }
}

fn starts_with(text: &[u8], start: &[u8]) -> bool {
    text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}

fn ends_with(text: &[u8], end: &[u8]) -> bool {
    text.len() >= end.len() && text[text.len() - end.len()..].eq_ignore_ascii_case(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_the_length_of_sysbenchs_column() {
        assert_eq!(TEXT.len(), 119);
    }

    #[test]
    fn columns_follow_from_the_select_list() {
        use Column::{Label, Limit, Null, One, Text};
        let rows: [(&str, &[Column]); 18] = [
            ("SELECT c FROM sbtest1 WHERE id=?", &[Text]),
            ("SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN ? AND ? ORDER BY c", &[Text]),
            ("SELECT SUM(k) FROM sbtest1", &[One]),
            ("select count(*) from pgbench_branches", &[One]),
            ("SELECT abalance FROM pgbench_accounts WHERE aid = $1", &[One]),
            ("SELECT id, k, c, pad FROM sbtest1", &[One, One, Text, Text]),
            ("SELECT * FROM sbtest1", &[One, One, Text, Text]),
            ("SELECT t.`id`, concat(a, 'from, b') FROM t", &[One, Text]),
            ("SELECT c2 FROM rush WHERE c1 = 5 FOR UPDATE", &[One]),
            ("select @@version_comment limit 1", &[Label]),
            ("SELECT @@max_connections", &[Limit]),
            ("SELECT version()", &[Label]),
            ("SELECT 1", &[One]),
            ("SELECT", &[Text]),
            ("SELECT ", &[Text]),
            ("SELECT (SELECT a FROM b), 2 FROM c", &[Text, One]),
            ("WITH x AS (SELECT 1) SELECT * FROM x", &[Text]),
            (
                "select o.n, p.partstrat, pg_catalog.count(i.inhparent) from pg_catalog.pg_class as c",
                &[Text, Null, One],
            ),
        ];
        for (sql, expected) in rows {
            assert_eq!(Columns::of(sql.as_bytes()).as_slice(), expected, "{sql}");
        }
    }
}
