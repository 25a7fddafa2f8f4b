//! `properties` of a workload: a file of another program with values of its options.

use crate::catalog::{
    ForeignProperty, OptionDescription, OptionKind, OptionValue, PROPERTIES, WorkloadDescription,
    WorkloadOptions,
};
use crate::spec::diagnostic::{Diagnostic, Problems, Span};
use crate::spec::option::{self, Known};
use crate::spec::tree::{Node, Value};
use crate::words::{list, nearest};

/// Reads the file that the spec names; the value of the option is its name, with the keys that are
/// not used.
pub(in crate::spec) fn read(
    node: &Node,
    description: &WorkloadDescription,
    options: &mut WorkloadOptions,
    known: Known<'_>,
    problems: &Problems,
) {
    let option = description.options.iter().find(|option| option.name == PROPERTIES);
    // A workload without the option reports the key with those that it has.
    let Some(OptionDescription { kind: OptionKind::Properties(foreign), .. }) = option else {
        return;
    };
    let Value::Text(file) = &node.value else {
        drop(option::value(PROPERTIES, &OptionKind::Text, node, known, problems));
        return;
    };
    let Some(text) = known.scripts.text("property file", file, node.span, problems) else {
        return;
    };
    let file = File { name: file, span: node.span, description, foreign };
    let mut skipped = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', '!']) {
            continue;
        }
        match file.line(line, options, known) {
            Ok(unused) => skipped.extend(unused),
            Err(mut diagnostic) => {
                diagnostic.message =
                    format!("{}, line {number}: {}", file.name, diagnostic.message);
                problems.report(*diagnostic);
            }
        }
    }
    let mut value = file.name.to_owned();
    if !skipped.is_empty() {
        value.push_str(&format!(" (without {})", skipped.join(", ")));
    }
    options.0.insert(PROPERTIES.to_owned(), OptionValue::Text(value));
}

struct File<'a> {
    name: &'a str,
    span: Span,
    description: &'a WorkloadDescription,
    foreign: &'static [ForeignProperty],
}

impl File<'_> {
    /// Reads a line; returns its key if it is not used.
    fn line(
        &self,
        line: &str,
        options: &mut WorkloadOptions,
        known: Known<'_>,
    ) -> Result<Option<&'static str>, Box<Diagnostic>> {
        let error =
            |message: String, help: &str| Box::new(Diagnostic::new(self.span, message).help(help));
        let Some((key, text)) = line.split_once(['=', ':']) else {
            return Err(error(format!("`{line}` is no property"), "write KEY=VALUE"));
        };
        let (key, text) = (key.trim(), text.trim());
        if let Some(foreign) = self.foreign.iter().find(|foreign| foreign.key == key) {
            return match foreign.accepted {
                None => Ok(Some(foreign.key)),
                Some(accepted) if accepted.contains(&text) => Ok(None),
                Some(_) => Err(error(format!("dyno cannot use `{key}={text}`"), foreign.remedy)),
            };
        }
        let options_of_files = || {
            let is_meant = |option: &&OptionDescription| option.name != PROPERTIES;
            self.description.options.iter().filter(is_meant)
        };
        let Some(option) = options_of_files().find(|option| option.name == key) else {
            let names: Vec<&str> = options_of_files().map(|option| option.name).collect();
            let help = match nearest(key, names.iter().copied()) {
                Some(candidate) => format!("did you mean `{candidate}`?"),
                None => format!("known properties: {}", list(&names)),
            };
            return Err(error(format!("unknown property `{key}`"), &help));
        };
        let node = Node { span: self.span, value: typed(text, &option.kind) };
        let found = Problems::default();
        match option::value(option.name, &option.kind, &node, known, &found) {
            Some(value) => drop(options.0.insert(option.name.to_owned(), value)),
            None => {
                if let Some(diagnostic) = found.into_parts().0.pop() {
                    return Err(Box::new(diagnostic));
                }
            }
        }
        Ok(None)
    }
}

/// A text as the type that an option needs; a text if it has another one.
fn typed(text: &str, kind: &OptionKind) -> Value {
    let value = match kind {
        OptionKind::Integer { .. } => text.parse().ok().map(Value::Integer),
        OptionKind::Number { .. } => text.parse().ok().map(Value::Number),
        OptionKind::Boolean => text.to_ascii_lowercase().parse().ok().map(Value::Boolean),
        _ => None,
    };
    value.unwrap_or_else(|| Value::Text(text.to_owned()))
}
