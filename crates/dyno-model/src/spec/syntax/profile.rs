//! `[profile.NAME]`: variations of a file.

use crate::spec::argument;
use crate::spec::diagnostic::{Diagnostic, Problems, Source, Span};
use crate::spec::keys;
use crate::spec::tree::{Entry, Node, Table, Value};
use crate::words::suggestion;

/// The profiles of a file, as entries of its `profile` table.
pub(in crate::spec) fn all(file: &Table, problems: &Problems) -> Vec<Entry> {
    let Some(node) = file.get("profile") else { return Vec::new() };
    let Value::Table(table) = &node.value else {
        let message = format!("`profile` must contain tables, not {}", node.value.type_name());
        problems.refuse(node.span, message, "write `[profile.NAME]`");
        return Vec::new();
    };
    let mut profiles = Vec::new();
    for entry in &table.entries {
        if keys::TOP.keys.iter().any(|key| key.name == entry.key) {
            let message = format!(
                "`{0}` is a table of the spec and cannot be the name of a profile",
                entry.key
            );
            let help = format!("write `[profile.NAME]`, and `{}` under it", entry.key);
            problems.refuse(entry.key_span, message, help);
            break;
        }
        match &entry.node.value {
            Value::Table(overlay) => {
                if let Some(inner) = overlay.entry("profile") {
                    let help = "write `[profile.NAME]` at the top";
                    problems.refuse(inner.key_span, "a profile cannot contain profiles", help);
                }
                profiles.push(entry.clone());
            }
            other => {
                let message =
                    format!("profile `{}` must be a table, not {}", entry.key, other.type_name());
                let help = "keys under [profile] are names of profiles: write `[profile.NAME]`";
                problems.refuse(entry.key_span, message, help);
            }
        }
    }
    profiles
}

pub(in crate::spec) fn override_with(
    document: &mut Table,
    name: &str,
    profiles: &[Entry],
    sources: &mut Vec<Source>,
    problems: &Problems,
) {
    if let Some(Entry { node: Node { value: Value::Table(overlay), .. }, .. }) =
        profiles.iter().find(|profile| profile.key == name)
    {
        argument::apply_profile(document, overlay, problems);
        return;
    }
    let known: Vec<&str> = profiles.iter().map(|profile| profile.key.as_str()).collect();
    let span = Span::new(sources.len(), 0..name.len());
    sources.push(Source { name: "--profile".to_owned(), text: name.to_owned() });
    let message = format!("there is no profile `{name}`");
    let help = suggestion(name, &known, "profiles");
    problems.report(Diagnostic::new(span, message).label("not a profile").help(help));
}
