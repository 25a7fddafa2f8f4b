//! The spec as a tree in which every key and value has a position, so that profiles and `--set` can
//! override the file and errors still point at the text that the user wrote.

use crate::spec::diagnostic::{Diagnostic, Problems, Span};
use toml::de::{DeTable, DeValue};
use toml::{Spanned, de::DeInteger};

/// A value and its position.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::spec) struct Node {
    pub span: Span,
    pub value: Value,
}

/// A value of the spec.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::spec) enum Value {
    Text(String),
    Integer(i64),
    Number(f64),
    Boolean(bool),
    /// A date or time, which no key accepts.
    Time,
    List(Vec<Node>),
    Table(Table),
}

impl Value {
    /// The name of the type, with its article.
    pub(in crate::spec) fn type_name(&self) -> &'static str {
        match self {
            Self::Text(_) => "a string",
            Self::Integer(_) => "an integer",
            Self::Number(_) => "a number with a fraction",
            Self::Boolean(_) => "true or false",
            Self::Time => "a date or time",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }

    pub(in crate::spec) fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    pub(in crate::spec) fn table(&self) -> Option<&Table> {
        if let Self::Table(table) = self { Some(table) } else { None }
    }

    /// A whole number or a fraction.
    pub(in crate::spec) fn as_number(&self) -> Option<f64> {
        match self {
            Self::Integer(value) => Some(*value as f64),
            Self::Number(value) => Some(*value),
            _ => None,
        }
    }

    /// A scalar as the user would write it; `None` for lists, tables and times.
    pub(in crate::spec) fn scalar_text(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Integer(value) => Some(value.to_string()),
            Self::Number(value) => Some(value.to_string()),
            Self::Boolean(value) => Some(value.to_string()),
            Self::Time | Self::List(_) | Self::Table(_) => None,
        }
    }
}

/// Keys and values in the order of the file.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::spec) struct Table {
    pub entries: Vec<Entry>,
}

/// One key with its value.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::spec) struct Entry {
    pub key: String,
    pub key_span: Span,
    pub node: Node,
}

impl Table {
    pub(in crate::spec) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    pub(in crate::spec) fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.node)
    }

    /// Every value that is not a table, with its dotted path: keys may be quoted
    /// (`"workload.rows"`) or not, which nests tables. A table that is the value of an option
    /// (`workload.audit`) is treated as a value.
    pub(in crate::spec) fn leaves(&self) -> Vec<(String, &Entry)> {
        let mut leaves = Vec::new();
        self.collect_leaves("", &mut leaves);
        leaves
    }

    fn collect_leaves<'t>(&'t self, prefix: &str, leaves: &mut Vec<(String, &'t Entry)>) {
        for entry in &self.entries {
            let path = format!("{prefix}{}", entry.key);
            match &entry.node.value {
                Value::Table(inner) if !path.starts_with(OPTIONS) => {
                    inner.collect_leaves(&format!("{path}."), leaves);
                }
                _ => leaves.push((path, entry)),
            }
        }
    }

    pub(in crate::spec) fn table(&self, key: &str) -> Option<&Table> {
        self.get(key)?.value.table()
    }
}

/// Prefix of the name of a workload option.
const OPTIONS: &str = "workload.";

/// Stop rule keys of `[load]`. Exactly one is given.
pub(in crate::spec) const STOP_RULES: [&str; 5] =
    ["transactions", "transactions_per_client", "rows", "duration", "stages"];

/// Keys that exclude each other in a table: overriding with one of them removes the others, so that
/// a profile with `duration` can shorten an experiment that counts transactions.
const ALTERNATIVES: [(&str, &[&str]); 2] =
    [("load", &STOP_RULES), ("system", &["url", "url_env", "server"])];

/// Merges one table into another: tables are merged key by key, everything else is replaced.
/// `section` names the table.
pub(in crate::spec) fn merge(base: &mut Table, overlay: &Table, section: &str) {
    for (owner, keys) in ALTERNATIVES {
        if owner == section && keys.iter().any(|key| overlay.entry(key).is_some()) {
            let is_replaced = |entry: &Entry| {
                keys.contains(&entry.key.as_str()) && overlay.entry(&entry.key).is_none()
            };
            base.entries.retain(|entry| !is_replaced(entry));
        }
    }
    for entry in &overlay.entries {
        match base.entries.iter_mut().find(|other| other.key == entry.key) {
            None => base.entries.push(entry.clone()),
            Some(other) => match (&mut other.node.value, &entry.node.value) {
                (Value::Table(below), Value::Table(above)) => {
                    // Only top-level names are sections; a `load` inside a `load` has no meaning.
                    merge(below, above, if section.is_empty() { &entry.key } else { "" });
                }
                _ => *other = entry.clone(),
            },
        }
    }
}

/// Maximum number of syntax errors that are examined: a file that is not TOML has one in every
/// line.
const SYNTAX_ERRORS_MAX: usize = 20;

/// Parses TOML into a tree. `source` is the number of the text.
pub(in crate::spec) fn from_toml(text: &str, source: usize, problems: &Problems) -> Table {
    let (document, errors) = DeTable::parse_recoverable(text);
    let mut line_end = 0;
    for diagnostic in errors.iter().map(|error| syntax(error, source, 0)).take(SYNTAX_ERRORS_MAX) {
        // Further errors in a line follow from the first one.
        if diagnostic.span.start >= line_end {
            let start = diagnostic.span.start.min(text.len());
            let newline = text.as_bytes()[start..].iter().position(|&byte| byte == b'\n');
            line_end = newline.map_or(text.len(), |at| start + at);
            problems.report(*diagnostic);
        }
    }
    if !problems.is_empty() {
        return Table::default();
    }
    Builder { source, offset: 0, problems }.table(document.get_ref())
}

/// Parses one TOML value, such as the right side of `--set key=value`; `offset` is its position in
/// the text.
pub(in crate::spec) fn value_from_toml(
    text: &str,
    source: usize,
    offset: usize,
    problems: &Problems,
) -> Result<Node, Box<Diagnostic>> {
    match DeValue::parse(text) {
        Ok(value) => Ok(Builder { source, offset, problems }.node(&value)),
        Err(error) => Err(syntax(&error, source, offset)),
    }
}

fn syntax(error: &toml::de::Error, source: usize, offset: usize) -> Box<Diagnostic> {
    let range = error.span().unwrap_or(0..0);
    let span = Span::new(source, range.start + offset..range.end + offset);
    let message = error.message().lines().collect::<Vec<_>>().join("; ");
    Box::new(Diagnostic::new(span, format!("invalid TOML: {message}")))
}

/// Converts the parser's tree into ours.
struct Builder<'p> {
    source: usize,
    offset: usize,
    problems: &'p Problems,
}

impl Builder<'_> {
    fn span(&self, range: std::ops::Range<usize>) -> Span {
        Span::new(self.source, range.start + self.offset..range.end + self.offset)
    }

    fn table(&self, table: &DeTable<'_>) -> Table {
        let mut entries: Vec<Entry> = table
            .iter()
            .map(|(key, value)| Entry {
                key: key.get_ref().to_string(),
                key_span: self.span(key.span()),
                node: self.node(value),
            })
            .collect();
        entries.sort_by_key(|entry| entry.key_span); // the parser's map is sorted by name
        Table { entries }
    }

    fn node(&self, value: &Spanned<DeValue<'_>>) -> Node {
        let span = self.span(value.span());
        let value = match value.get_ref() {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Integer(integer) => self.integer(integer, span),
            DeValue::Float(number) => self.parse_number(number.as_str(), span),
            DeValue::Boolean(value) => Value::Boolean(*value),
            DeValue::Datetime(_) => Value::Time,
            DeValue::Array(items) => {
                Value::List(items.iter().map(|item| self.node(item)).collect())
            }
            DeValue::Table(table) => Value::Table(self.table(table)),
        };
        Node { span, value }
    }

    fn integer(&self, integer: &DeInteger<'_>, span: Span) -> Value {
        if let Ok(value) = i64::from_str_radix(integer.as_str(), integer.radix()) {
            return Value::Integer(value);
        }
        let limit = "integers range from -9223372036854775808 to 9223372036854775807";
        self.problems.report(Diagnostic::new(span, "this number is too large").help(limit));
        Value::Integer(0)
    }

    fn parse_number(&self, text: &str, span: Span) -> Value {
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Value::Number(value),
            _ => {
                self.problems.report(Diagnostic::new(span, "this is not a finite number"));
                Value::Number(0.0)
            }
        }
    }
}

/// True when a position lies in one of the table's keys or values.
pub(in crate::spec) fn covers(table: &Table, span: Span) -> bool {
    table
        .entries
        .iter()
        .any(|entry| entry.key_span.contains(span) || node_covers(&entry.node, span))
}

fn node_covers(node: &Node, span: Span) -> bool {
    node.span.contains(span)
        || match &node.value {
            Value::Table(table) => covers(table, span),
            Value::List(items) => items.iter().any(|item| node_covers(item, span)),
            _ => false,
        }
}
