//! Reads one table of the spec: known keys, types, ranges. Whatever is wrong is reported and reading goes on.

use super::diagnostic::{Diagnostic, Problems, Span};
use super::keys::{RATES, RATES_IN_WORDS, Section, Takes};
use super::quantity;
use super::tree::{Node, Table, Value};
use crate::units::Nanos;
use crate::words::{list, nearest, suggestion};
use std::ops::RangeInclusive;

/// One table under its rules.
pub(super) struct Fields<'a> {
    pub section: &'static Section,
    pub table: &'a Table,
    pub span: Span,
    pub problems: &'a Problems,
}

impl<'a> Fields<'a> {
    /// Opens a table and reports every key that its section does not know.
    pub(super) fn new(
        section: &'static Section,
        table: &'a Table,
        span: Span,
        problems: &'a Problems,
    ) -> Self {
        let fields = Self { section, table, span, problems };
        let known: Vec<&str> = section.keys.iter().map(|key| key.name).collect();
        for entry in &table.entries {
            if known.contains(&entry.key.as_str()) {
                continue;
            }
            let message = format!("unknown key `{}` {}", entry.key, section.place());
            let mut help = suggestion(&entry.key, &known, "its keys");
            if entry.key.to_lowercase().contains("passw") {
                problems.hide(entry.node.span);
                help = PASSWORD_HELP.to_owned();
            }
            problems.report(Diagnostic::new(entry.key_span, message).label("not a key").help(help));
        }
        fields
    }

    /// True when the table has an unknown key that is probably meant to be this one.
    pub(super) fn is_mistyped(&self, key: &str) -> bool {
        let is_known = |word: &str| self.section.keys.iter().any(|known| known.name == word);
        let names = self.section.keys.iter().map(|known| known.name);
        self.table
            .entries
            .iter()
            .any(|entry| !is_known(&entry.key) && nearest(&entry.key, names.clone()) == Some(key))
    }

    /// Full name of a key, for messages.
    pub(super) fn path(&self, key: &str) -> String {
        format!("{}{key}", self.section.prefix)
    }

    /// The value of a key. The key must be one of the section's.
    pub(super) fn node(&self, key: &str) -> Option<&'a Node> {
        debug_assert!(self.section.keys.iter().any(|known| known.name == key), "{key} is not in keys.rs");
        self.table.get(key)
    }

    /// Reports that a required key is missing, unless it is there with a slip in its name, which is reported already.
    pub(super) fn missing(&self, key: &str, help: &str) {
        if self.is_mistyped(key) {
            return;
        }
        let message = format!("missing key `{key}` {}", self.section.place());
        self.problems.report(Diagnostic::new(self.span, message).help(help));
    }

    /// A text that must be there and not be blank.
    pub(super) fn required_text(&self, key: &str, help: &str) -> Option<&'a str> {
        let Some(node) = self.node(key) else {
            self.missing(key, help);
            return None;
        };
        let text = self.as_text(node, key)?;
        if text.trim().is_empty() {
            let message = format!("`{}` must not be empty", self.path(key));
            self.problems.report(Diagnostic::new(node.span, message).help(help));
            return None;
        }
        Some(text)
    }

    pub(super) fn text(&self, key: &str) -> Option<&'a str> {
        self.node(key).and_then(|node| self.as_text(node, key))
    }

    fn as_text(&self, node: &'a Node, key: &str) -> Option<&'a str> {
        match &node.value {
            Value::Text(text) => Some(text),
            other => {
                wrong_type(node.span, &self.path(key), "a text", other, self.problems);
                None
            }
        }
    }

    /// `true` or `false`.
    pub(super) fn boolean(&self, key: &str) -> Option<bool> {
        let node = self.node(key)?;
        match &node.value {
            Value::Boolean(value) => Some(*value),
            other => {
                wrong_type(node.span, &self.path(key), "true or false", other, self.problems);
                None
            }
        }
    }

    /// A whole number.
    pub(super) fn integer<T: TryFrom<i64>>(&self, key: &str) -> Option<T> {
        self.node(key).and_then(|node| self.number(key, node))
    }

    /// A whole number of a key, which holds it alone or in a list, in the range that the key declares.
    pub(super) fn number<T: TryFrom<i64>>(&self, key: &str, node: &Node) -> Option<T> {
        let (Takes::Integer(range) | Takes::IntegerOrList(range) | Takes::Integers(range)) = self.takes(key)
        else {
            unreachable!("{key} takes no whole number by keys.rs")
        };
        integer(node, &self.path(key), range, self.problems).and_then(|number| T::try_from(number).ok())
    }

    pub(super) fn takes(&self, key: &str) -> &'static Takes {
        let found = self.section.keys.iter().find(|known| known.name == key);
        &found.expect("whoever asks for a key has looked for its value by keys.rs").takes
    }

    pub(super) fn duration(&self, key: &str) -> Option<Nanos> {
        let Takes::Duration { is_positive } = self.takes(key) else {
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
            self.problems.report(Diagnostic::new(node.span, message).label("no duration").help(help));
            return None;
        };
        match quantity::duration(text) {
            Err(reason) => {
                let message = format!("`{path}` is not a duration: {reason}");
                self.problems.report(Diagnostic::new(node.span, message).help(example));
                None
            }
            Ok(Nanos(0)) if *is_positive => {
                let message = format!("`{path}` must be more than 0, got `{text}`");
                self.problems.report(Diagnostic::new(node.span, message).help(example));
                None
            }
            Ok(duration) => Some(duration),
        }
    }

    /// A rate per second of a key, which holds it alone or in a list.
    pub(super) fn rate(&self, key: &str, node: &Node) -> Option<f64> {
        let is_zero_taken = match self.takes(key) {
            Takes::Rate | Takes::RateOrClients => false,
            Takes::StageRate => true,
            _ => unreachable!("{key} takes no rate by keys.rs"),
        };
        let path = self.path(key);
        let example = "write a number and a time: `\"500/s\"`, `\"2.5/s\"`, `\"30/min\"`";
        let message = match &node.value {
            Value::Text(text) => match quantity::rate(text) {
                Ok(rate) if RATES.contains(&rate) || is_zero_taken && rate == 0.0 => return Some(rate),
                Ok(_) => format!("`{path}` must be {RATES_IN_WORDS}, got `{text}`"),
                Err(reason) => format!("`{path}` is not a rate: {reason}"),
            },
            other => format!("`{path}` must be a text, not {}", other.type_name()),
        };
        self.problems.report(Diagnostic::new(node.span, message).help(example));
        None
    }

    /// One of a list of words.
    pub(super) fn choice<T: Copy>(&self, key: &str, choices: &[(&str, T)]) -> Option<T> {
        let node = self.node(key)?;
        let text = self.as_text(node, key)?;
        if let Some((_, value)) = choices.iter().find(|(word, _)| *word == text) {
            return Some(*value);
        }
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        unknown_word(node.span, &self.path(key), text, &words, self.problems);
        None
    }

    /// A table inside this one.
    pub(super) fn table(&self, key: &str) -> Option<(&'a Table, Span)> {
        let node = self.node(key)?;
        match &node.value {
            Value::Table(table) => Some((table, node.span)),
            other => {
                wrong_type(node.span, &self.path(key), "a table", other, self.problems);
                None
            }
        }
    }

    /// The tables of `[[key]]`.
    pub(super) fn tables(&self, key: &str) -> Vec<(&'a Table, Span)> {
        let Some(node) = self.node(key) else { return Vec::new() };
        let heading = format!("[[{}]]", self.path(key));
        let Value::List(items) = &node.value else {
            let message = format!("`{key}` must be a list of tables, not {}", node.value.type_name());
            let help = format!("write the heading with two brackets: `{heading}`");
            self.problems.report(Diagnostic::new(node.span, message).help(help));
            return Vec::new();
        };
        let mut tables = Vec::new();
        for item in items {
            match &item.value {
                Value::Table(table) => tables.push((table, item.span)),
                other => wrong_type(item.span, &format!("each {heading}"), "a table", other, self.problems),
            }
        }
        tables
    }
}

/// What to do about a password in a spec.
pub(super) const PASSWORD_HELP: &str = "the spec is stored with the results and must hold no password: name its source with \
     `password_env = \"VARIABLE\"` or `password_file = \"FILE\"`";

/// Reports a value of the wrong type.
pub(super) fn wrong_type(span: Span, path: &str, expected: &str, found: &Value, problems: &Problems) {
    let message = format!("`{path}` must be {expected}, not {}", found.type_name());
    problems.report(Diagnostic::new(span, message).label(format!("expected {expected}")));
}

/// Reports a word that is not among the allowed ones.
pub(super) fn unknown_word(span: Span, path: &str, word: &str, words: &[&str], problems: &Problems) {
    let message = format!("`{path}` cannot be `{word}`");
    let label = format!("one of {}", list(words));
    let mut diagnostic = Diagnostic::new(span, message).label(label);
    if let Some(candidate) = nearest(word, words.iter().copied()) {
        diagnostic = diagnostic.help(format!("did you mean `{candidate}`?"));
    }
    problems.report(diagnostic);
}

/// A whole number in a range.
pub(super) fn integer(
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
            let message = format!("`{path}` must be an integer, not a text");
            problems.report(Diagnostic::new(node.span, message).help("remove the quotes"));
            None
        }
        other => {
            wrong_type(node.span, path, "an integer", other, problems);
            None
        }
    }
}

/// A range as a message has it.
pub(super) fn in_words(range: &RangeInclusive<i64>) -> String {
    match (*range.start(), *range.end()) {
        (start, i64::MAX) => format!("{start} or more"),
        (start, end) => format!("between {start} and {end}"),
    }
}
