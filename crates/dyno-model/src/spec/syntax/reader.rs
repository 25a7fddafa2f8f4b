//! Reader of one table of the spec: known keys, types, ranges. It reports every error and
//! continues.

use crate::spec::diagnostic::{Diagnostic, Problems, Span};
use crate::spec::keys::{RATES, RATES_IN_WORDS, Section, ValueType};
use crate::spec::quantity;
use crate::spec::tree::{Node, Table, Value};
use crate::units::Nanos;
use crate::words::{list, nearest, suggestion};
use std::ops::RangeInclusive;

/// One table with its section.
pub(in crate::spec) struct Fields<'a> {
    pub section: &'static Section,
    pub table: &'a Table,
    pub span: Span,
    pub problems: &'a Problems,
}

impl<'a> Fields<'a> {
    /// Opens a table and reports every key that its section does not define.
    pub(in crate::spec) fn new(
        section: &'static Section,
        table: &'a Table,
        span: Span,
        problems: &'a Problems,
    ) -> Self {
        let known: Vec<&str> = section.keys.iter().map(|key| key.name).collect();
        for entry in &table.entries {
            if known.contains(&entry.key.as_str()) {
                continue;
            }
            let message = format!("unknown key `{}` {}", entry.key, section.location());
            let mut help = suggestion(&entry.key, &known, "its keys");
            if entry.key.to_lowercase().contains("passw") {
                problems.hide(entry.node.span);
                help = PASSWORD_HELP.to_owned();
            }
            problems.report(Diagnostic::new(entry.key_span, message).label("not a key").help(help));
        }
        Self { section, table, span, problems }
    }

    /// True when the table has an unknown key that is probably a misspelling of this one.
    pub(in crate::spec) fn is_mistyped(&self, key: &str) -> bool {
        let is_known = |word: &str| self.section.keys.iter().any(|known| known.name == word);
        let names = self.section.keys.iter().map(|known| known.name);
        self.table
            .entries
            .iter()
            .any(|entry| !is_known(&entry.key) && nearest(&entry.key, names.clone()) == Some(key))
    }

    /// Full name of a key, for messages.
    pub(in crate::spec) fn path(&self, key: &str) -> String {
        format!("{}{key}", self.section.prefix)
    }

    /// The value of a key. The key must be one of the section's.
    pub(in crate::spec) fn node(&self, key: &str) -> Option<&'a Node> {
        debug_assert!(
            self.section.keys.iter().any(|known| known.name == key),
            "{key} is not in keys.rs"
        );
        self.table.get(key)
    }

    /// Position of a key's value; that of the whole table if the key is missing.
    pub(in crate::spec) fn span_of(&self, key: &str) -> Span {
        self.node(key).map_or(self.span, |node| node.span)
    }

    /// Reports an error in the value of a key.
    pub(in crate::spec) fn refuse(
        &self,
        key: &str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.problems.refuse(self.span_of(key), message, help);
    }

    /// Reports an error in the table.
    pub(in crate::spec) fn refuse_table(
        &self,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.problems.refuse(self.span, message, help);
    }

    /// Reports a missing required key, unless a misspelling of it was already reported.
    pub(in crate::spec) fn missing(&self, key: &str, help: &str) {
        if self.is_mistyped(key) {
            return;
        }
        let message = format!("missing key `{key}` {}", self.section.location());
        self.refuse_table(message, help);
    }

    /// A required text that must not be blank.
    pub(in crate::spec) fn required_text(&self, key: &str, help: &str) -> Option<&'a str> {
        if self.node(key).is_none() {
            self.missing(key, help);
        }
        let text = self.text(key)?;
        if text.trim().is_empty() {
            self.refuse(key, format!("`{}` must not be empty", self.path(key)), help);
            return None;
        }
        Some(text)
    }

    /// The value of a key, validated against a type.
    fn typed<T>(
        &self,
        key: &str,
        expected: &str,
        of: impl Fn(&'a Value) -> Option<T>,
    ) -> Option<T> {
        let node = self.node(key)?;
        let found = of(&node.value);
        if found.is_none() {
            wrong_type(node, &self.path(key), expected, self.problems);
        }
        found
    }

    pub(in crate::spec) fn text(&self, key: &str) -> Option<&'a str> {
        self.typed(key, "a string", Value::text)
    }

    /// `true` or `false`.
    pub(in crate::spec) fn boolean(&self, key: &str) -> Option<bool> {
        let boolean =
            |value: &Value| if let Value::Boolean(value) = value { Some(*value) } else { None };
        self.typed(key, "true or false", boolean)
    }

    /// A whole number.
    pub(in crate::spec) fn integer<T: TryFrom<i64>>(&self, key: &str) -> Option<T> {
        self.node(key).and_then(|node| self.integer_of(key, node))
    }

    /// A whole number of a key, alone or an item of its list, in the range that the key declares.
    pub(in crate::spec) fn integer_of<T: TryFrom<i64>>(&self, key: &str, node: &Node) -> Option<T> {
        let (ValueType::Integer(range)
        | ValueType::IntegerOrList(range)
        | ValueType::Integers(range)) = self.value_type(key)
        else {
            unreachable!("{key} takes no whole number by keys.rs")
        };
        integer(node, &self.path(key), range, self.problems)
            .and_then(|number| T::try_from(number).ok())
    }

    pub(in crate::spec) fn value_type(&self, key: &str) -> &'static ValueType {
        let found = self.section.keys.iter().find(|known| known.name == key);
        &found.expect("the key is declared in keys.rs").value_type
    }

    pub(in crate::spec) fn duration(&self, key: &str) -> Option<Nanos> {
        let ValueType::Duration { is_positive } = self.value_type(key) else {
            unreachable!("{key} takes no duration by keys.rs")
        };
        let node = self.node(key)?;
        let path = self.path(key);
        let example = "write a number and a unit: `\"500ms\"`, `\"30s\"`, `\"5m\"`, `\"1h\"`";
        let Value::Text(text) = &node.value else {
            let help = match &node.value {
                Value::Integer(value) if *value > 0 => {
                    format!("`\"{value}s\"` for seconds, `\"{value}ms\"` for milliseconds")
                }
                _ => example.to_owned(),
            };
            let message = format!("`{path}` must be a duration, not {}", node.value.type_name());
            self.problems
                .report(Diagnostic::new(node.span, message).label("no duration").help(help));
            return None;
        };
        match quantity::duration(text) {
            Err(reason) => {
                self.refuse(key, format!("`{path}` is not a duration: {reason}"), example);
            }
            Ok(Nanos(0)) if *is_positive => {
                self.refuse(key, format!("`{path}` must be more than 0, got `{text}`"), example);
            }
            Ok(duration) => return Some(duration),
        }
        None
    }

    /// A rate per second of a key, alone or an item of its list.
    pub(in crate::spec) fn rate(&self, key: &str, node: &Node) -> Option<f64> {
        let is_zero_taken = match self.value_type(key) {
            ValueType::Rate | ValueType::RateOrClients => false,
            ValueType::StageRate => true,
            _ => unreachable!("{key} takes no rate by keys.rs"),
        };
        let path = self.path(key);
        let example = "write a number and a time: `\"500/s\"`, `\"2.5/s\"`, `\"30/min\"`";
        let message = match &node.value {
            Value::Text(text) => match quantity::rate(text) {
                Ok(rate) if RATES.contains(&rate) || is_zero_taken && rate == 0.0 => {
                    return Some(rate);
                }
                Ok(_) => format!("`{path}` must be {RATES_IN_WORDS}, got `{text}`"),
                Err(reason) => format!("`{path}` is not a rate: {reason}"),
            },
            other => format!("`{path}` must be a string, not {}", other.type_name()),
        };
        self.problems.refuse(node.span, message, example);
        None
    }

    /// One of a list of allowed values.
    pub(in crate::spec) fn choice<T: Copy>(&self, key: &str, choices: &[(&str, T)]) -> Option<T> {
        let text = self.text(key)?;
        if let Some((_, value)) = choices.iter().find(|(word, _)| *word == text) {
            return Some(*value);
        }
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        unknown_word(self.span_of(key), &self.path(key), text, &words, self.problems);
        None
    }

    /// The same for a required key.
    pub(in crate::spec) fn required_choice<T: Copy>(
        &self,
        key: &str,
        choices: &[(&str, T)],
        help: &str,
    ) -> Option<T> {
        if self.node(key).is_none() {
            self.missing(key, help);
        }
        self.choice(key, choices)
    }

    /// A table inside this one.
    pub(in crate::spec) fn table(&self, key: &str) -> Option<(&'a Table, Span)> {
        Some((self.typed(key, "a table", Value::table)?, self.span_of(key)))
    }

    /// The same, validated against a section.
    pub(in crate::spec) fn inner(&self, key: &str, section: &'static Section) -> Option<Self> {
        let (table, span) = self.table(key)?;
        Some(Self::new(section, table, span, self.problems))
    }

    /// The tables of `[[key]]` in order, validated against a section.
    pub(in crate::spec) fn each(
        &self,
        key: &str,
        section: &'static Section,
    ) -> impl Iterator<Item = Self> + use<'a> {
        let problems = self.problems;
        self.tables(key)
            .into_iter()
            .map(move |(table, span)| Self::new(section, table, span, problems))
    }

    /// The tables of `[[key]]`.
    pub(in crate::spec) fn tables(&self, key: &str) -> Vec<(&'a Table, Span)> {
        let Some(node) = self.node(key) else { return Vec::new() };
        let heading = format!("[[{}]]", self.path(key));
        let Value::List(items) = &node.value else {
            let message =
                format!("`{key}` must be a list of tables, not {}", node.value.type_name());
            let help = format!("write the heading with two brackets: `{heading}`");
            self.problems.refuse(node.span, message, help);
            return Vec::new();
        };
        let table = |item: &'a Node| {
            let table = item.value.table();
            if table.is_none() {
                wrong_type(item, &format!("each {heading}"), "a table", self.problems);
            }
            Some((table?, item.span))
        };
        items.iter().filter_map(table).collect()
    }
}

/// Help for a password in a spec.
pub(in crate::spec) const PASSWORD_HELP: &str = "the spec is stored with the results and must hold no \
     password: name its source with `password_env = \"VARIABLE\"` or `password_file = \"FILE\"`";

/// Reports a value of the wrong type.
pub(in crate::spec) fn wrong_type(node: &Node, path: &str, expected: &str, problems: &Problems) {
    let message = format!("`{path}` must be {expected}, not {}", node.value.type_name());
    problems.report(Diagnostic::new(node.span, message).label(format!("expected {expected}")));
}

/// Reports an unknown system name.
pub(in crate::spec) fn unknown_system(span: Span, name: &str, known: &[&str], problems: &Problems) {
    let message = format!("no system is called `{name}`");
    let help = suggestion(name, known, "systems");
    problems.report(Diagnostic::new(span, message).label("not a system").help(help));
}

/// Reports a value that is not among the allowed ones.
pub(in crate::spec) fn unknown_word(
    span: Span,
    path: &str,
    word: &str,
    words: &[&str],
    problems: &Problems,
) {
    let message = format!("`{path}` cannot be `{word}`");
    let label = format!("one of {}", list(words));
    let mut diagnostic = Diagnostic::new(span, message).label(label);
    if let Some(candidate) = nearest(word, words.iter().copied()) {
        diagnostic = diagnostic.help(format!("did you mean `{candidate}`?"));
    }
    problems.report(diagnostic);
}

/// A whole number in a range.
pub(in crate::spec) fn integer(
    node: &Node,
    path: &str,
    range: &RangeInclusive<i64>,
    problems: &Problems,
) -> Option<i64> {
    match &node.value {
        Value::Integer(value) if range.contains(value) => Some(*value),
        Value::Integer(value) => {
            let message = format!("`{path}` must be {}, got {value}", in_words(range));
            problems.report(Diagnostic::new(node.span, message).label("out of range"));
            None
        }
        Value::Text(text) if text.replace('_', "").parse::<i64>().is_ok() => {
            let message = format!("`{path}` must be an integer, not a string");
            problems.refuse(node.span, message, "remove the quotes");
            None
        }
        _ => {
            wrong_type(node, path, "an integer", problems);
            None
        }
    }
}

/// A range as shown in messages.
pub(in crate::spec) fn in_words(range: &RangeInclusive<i64>) -> String {
    match (*range.start(), *range.end()) {
        (start, i64::MAX) => format!("{start} or more"),
        (start, end) => format!("between {start} and {end}"),
    }
}
