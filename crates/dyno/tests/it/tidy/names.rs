//! Identifiers use the terms of the field, and comments have lines of at most 100 columns.

use super::{code_lines, is_test_file, shown, sources};
use std::fs;

/// Columns of a line of a comment.
const COLUMNS: usize = 100;

/// Characters of the name of a function, so that those of tests are statements and not stories.
const NAME_MAX: usize = 66;

/// Words that no identifier contains, each with the term that the field uses.
const BANNED: &[(&str, &str)] = &[
    ("treatment", "configuration"),
    ("whole_plot", "restart group"),
    ("finding", "warning"),
    ("patience", "timeout"),
    ("steering", "lifecycle hooks"),
    ("reins", "handle of a supervisor"),
    ("scribe", "writer thread"),
    ("crew", "worker pool"),
    ("looker", "sampler"),
    ("bury", "discard"),
    ("furnish", "configure"),
    ("insist", "retry"),
    ("invitation", "credentials"),
    ("kept_behind", "fell behind"),
    ("unwell", "unhealthy"),
    ("course", "time series"),
    ("in_all", "total"),
    ("told", "reported"),
    ("trouble", "problem"),
];

/// Names that do not say of what. As part of a longer name these words are clear (`has_begun`,
/// `kept_log`).
const BANNED_ALONE: &[(&str, &str)] = &[
    ("asked", "requested"),
    ("begun", "start, started"),
    ("ending", "end_reason, extension"),
    ("kept", "stored, remaining, or what is kept"),
    ("pause", "delay, wait"),
    ("settle", "flush, await_ended"),
    ("work", "weighted_commits, client_work, task"),
    ("Window", "MeasurementWindow"),
];

/// Fields and parameters whose type shows that the name is that of something else.
const BANNED_FIELDS: &[(&str, &str)] = &[
    ("kind: u16", "kind_index"),
    ("name: u16", "name_index"),
    ("measured: Nanos", "window_length"),
];

/// Keywords before a name that is declared.
const KEYWORDS: [&str; 9] = ["let", "mut", "fn", "struct", "enum", "type", "mod", "for", "const"];

/// An identifier in lower case, its words joined and surrounded by underscores.
fn words(identifier: &str) -> String {
    let mut words = String::from("_");
    for letter in identifier.chars() {
        if letter.is_uppercase() && !words.ends_with('_') {
            words.push('_');
        }
        words.extend(letter.to_lowercase());
    }
    words + "_"
}

fn banned(code: &str) -> Option<&'static (&'static str, &'static str)> {
    let mut identifiers = code.split(|c: char| !c.is_alphanumeric() && c != '_');
    identifiers.find_map(|identifier| {
        let words = words(identifier);
        BANNED.iter().find(|(word, _)| words.contains(&format!("_{word}_")))
    })
}

/// The identifiers that a line declares: after a keyword, before a type, or as a closure's only
/// parameter.
fn declared(code: &str) -> impl Iterator<Item = &str> {
    let mut from = 0;
    let identifiers = code.split(|c: char| !c.is_alphanumeric() && c != '_').map(move |word| {
        let at = from;
        from += word.len() + code[from + word.len()..].chars().next().map_or(0, char::len_utf8);
        (at, word)
    });
    identifiers
        .filter(|(at, word)| {
            let (before, after) = (code[..*at].trim_end(), &code[at + word.len()..]);
            let keyword = before.rsplit([' ', '(']).next().unwrap_or_default();
            let is_code = before.matches('"').count() % 2 == 0;
            let is_declared = KEYWORDS.contains(&keyword)
                || after.starts_with(": ")
                || before.ends_with('|') && after.starts_with('|');
            is_code && is_declared
        })
        .map(|(_, word)| word)
}

fn banned_declaration(code: &str) -> Option<&'static (&'static str, &'static str)> {
    let alone = BANNED_ALONE.iter().find(|(word, _)| declared(code).any(|it| it == *word));
    alone.or_else(|| BANNED_FIELDS.iter().find(|(field, _)| super::names(code, field)))
}

/// Whether a line is a comment that could be wrapped: no row of a table and not one long word.
fn is_too_long(line: &str) -> bool {
    let Some(comment) = line.trim_start().strip_prefix("//") else { return false };
    let text = comment.trim_start_matches(['/', '!']).trim();
    line.chars().count() > COLUMNS && text.contains(' ') && !text.starts_with('|')
}

#[test]
fn identifiers_use_the_terms_of_the_field() {
    let mut wrong = Vec::new();
    for path in sources().iter().filter(|path| !is_test_file(path)) {
        for (number, line) in code_lines(path) {
            if let Some((word, term)) = banned(&line).or_else(|| banned_declaration(&line)) {
                wrong.push(format!("{}:{number}: `{word}` is `{term}`", shown(path)));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}

/// The name of a function that begins in a line, if it is too long.
fn long_name(line: &str) -> Option<&str> {
    let name = line.split_once("fn ")?.1.split(['(', '<']).next()?;
    (name.len() > NAME_MAX && !name.contains(' ')).then_some(name)
}

#[test]
fn names_of_functions_have_at_most_66_characters() {
    let mut wrong = Vec::new();
    for path in sources() {
        for (number, line) in code_lines(&path) {
            wrong.extend(long_name(&line).map(|name| format!("{}:{number}: {name}", shown(&path))));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn lines_of_comments_have_at_most_100_columns() {
    let mut wrong = Vec::new();
    for path in sources() {
        let text = fs::read_to_string(&path).expect("sources are UTF-8");
        let long = (1..).zip(text.lines()).filter(|(_, line)| is_too_long(line));
        wrong.extend(long.map(|(number, _)| format!("{}:{number}", shown(&path))));
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn banned_identifiers_and_long_names_and_comments_are_found() {
    assert_eq!(banned("let of_crew = 1;").map(|(word, _)| *word), Some("crew"));
    assert_eq!(banned("struct WholePlotName;").map(|(word, _)| *word), Some("whole_plot"));
    assert_eq!(banned("let screw = rescribe();"), None);
    for (code, word) in [
        ("    pub work: Option<f64>,", Some("work")),
        ("fn settle(&self) {", Some("settle")),
        ("let mut pause = self.pause;", Some("pause")),
        ("all.map(|kept| kept + 1)", Some("kept")),
        ("pub struct Window<'a> {", Some("Window")),
        ("fn started(&mut self, name: u16) {", Some("name: u16")),
        ("let has_begun = it.begun(file_kind: u16);", None),
        (r#"let text = "so much work: done";"#, None),
    ] {
        assert_eq!(banned_declaration(code).map(|(word, _)| *word), word, "{code}");
    }
    let name = "a".repeat(NAME_MAX + 1);
    assert_eq!(long_name(&format!("    pub async fn {name}<T>(it: T) {{")), Some(name.as_str()));
    assert_eq!(long_name(&format!("fn {}() {{", &name[1..])), None);
    let long = "word ".repeat(20);
    assert!(is_too_long(&format!("    /// {long}")));
    assert!(!is_too_long(&format!("    let {long}")) && !is_too_long(&format!("// | {long}")));
}
