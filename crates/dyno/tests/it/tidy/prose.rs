//! Markdown written by hand has lines of at most 100 columns and uses the field's terms.

use dyno_testkit::repository;

/// Columns of a line that can be wrapped.
const COLUMNS: usize = 100;

/// Pages that explain how dyno's terms relate to those of statistics.
const STATISTICS: &[&str] = &[
    "docs/glossary.md",
    "docs/methodology.md",
    "docs/statistics.md",
    "docs/decisions/010-settings-experiments.md",
];

/// Terms and phrases that no reader of these pages would expect, with the pages that may use them.
const BANNED: &[(&str, &[&str])] = &[
    ("treatment", STATISTICS),
    ("treatments", STATISTICS),
    ("whole plot", STATISTICS),
    ("whole plots", STATISTICS),
    ("books", &[]),
    ("broken limit", &[]),
    ("limit is broken", &[]),
    ("limit was held", &[]),
    ("workload beside", &[]),
    ("workloads beside", &[]),
    ("stands beside", &[]),
    ("stand beside", &[]),
    ("is told", &[]),
    ("are told", &[]),
    ("was told", &[]),
    ("were told", &[]),
    ("guard process", &[]),
    ("reins", &[]),
    ("crew", &[]),
    ("patience", &[]),
    ("missed work", &[]),
    ("others busy", &[]),
    ("of one's own", &[]),
    ("of dyno's own", &[]),
    ("seen to fire", &[]),
    ("for ever", &[]),
];

fn pages() -> Vec<String> {
    repository::pages(&["", "docs", "docs/decisions", "docs/experiments", "examples/webapp"])
}

/// Lines outside of code blocks, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// Whether a line is too long and could be wrapped: it is no row of a table, no single link or
/// image, and not one long word.
fn is_too_long(line: &str) -> bool {
    let content = line.trim();
    let is_link = content.trim_start_matches('!').starts_with('[')
        && content.ends_with(')')
        && content.matches("](").count() == 1;
    line.chars().count() > COLUMNS && content.contains(' ') && !content.starts_with('|') && !is_link
}

/// Lower-case words of a page outside of code, with one blank between them and around them.
fn words(text: &str) -> String {
    let lines: Vec<&str> = prose(text).map(|(_, line)| line).collect();
    let lines = lines.join(" ").to_lowercase();
    // A code span parts the words around it.
    let outside_of_code: Vec<&str> = lines.split('`').step_by(2).collect();
    let is_of_a_word = |c: char| c.is_alphanumeric() || "'-·".contains(c);
    let outside_of_code = outside_of_code.join(" · ");
    let words: Vec<&str> =
        outside_of_code.split(|c: char| !is_of_a_word(c)).filter(|word| !word.is_empty()).collect();
    format!(" {} ", words.join(" "))
}

/// Banned terms of a page.
fn banned(page: &str, text: &str) -> Vec<&'static str> {
    let words = words(text);
    let is_found = |(term, allowed): &&(&str, &[&str])| {
        !allowed.contains(&page) && words.contains(&format!(" {term} "))
    };
    BANNED.iter().filter(is_found).map(|(term, _)| *term).collect()
}

#[test]
fn lines_of_markdown_have_at_most_100_columns() {
    let mut wrong = Vec::new();
    for page in pages() {
        let text = repository::text(&page);
        let long = prose(&text).filter(|(_, line)| is_too_long(line));
        wrong.extend(
            long.map(|(number, line)| format!("{page}:{number}: {} columns", line.chars().count())),
        );
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn markdown_uses_the_terms_of_the_field() {
    let mut wrong = Vec::new();
    for page in pages() {
        wrong.extend(
            banned(&page, &repository::text(&page))
                .into_iter()
                .map(|term| format!("{page}: {term}")),
        );
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn a_planted_long_line_and_a_planted_term_are_found() {
    let long = "word ".repeat(21);
    assert!(is_too_long(&long));
    assert!(!is_too_long(&format!("| {long}")));
    assert!(!is_too_long(&format!("![{long}](image.svg)")));
    assert!(is_too_long(&format!("[a]({long}) and [b](c)")));
    assert!(!is_too_long(&"w".repeat(101)));
    let code = format!("```text\n{long}\ntreatment\n```\nWhat `a treatment` is\n");
    assert_eq!(prose(&code).count(), 1);
    assert_eq!(banned("README.md", &code), [""; 0]);
    assert_eq!(banned("README.md", "This is\ntold: a Treatment."), ["treatment", "is told"]);
    assert_eq!(banned("docs/statistics.md", "A treatment."), [""; 0]);
}
