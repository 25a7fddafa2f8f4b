//! Where products are named. What differs between them is looked up (`dyno-model/src/engine`,
//! `dyno-host/src/engine`), so that another product takes entries in these tables and no search
//! through the code. Sentences for users may name whom they like.

use super::{code_lines, is_test_file, shown};
use dyno_testkit::repository::{files, root};
use proc_macro2::{TokenStream, TokenTree};
use std::path::Path;

/// Names of products and of what they are sold with. NDB is too short to be looked for within
/// words.
const PRODUCTS: [&str; 8] =
    ["galera", "mariadb", "mysql", "percona", "postgres", "sqlite", "tidb", "yugabyte"];

/// Folders of tables about products. A file or folder with a product's name in its own is that
/// product's.
const TABLES: [&str; 2] = ["crates/dyno-model/src/engine/", "crates/dyno-host/src/server/recipes/"];

/// The only other files that may name one: where tables and drivers are found, and where programs
/// are imitated that name some.
const NAMED_IN: &[&str] = &[
    "crates/dyno-drivers/src/connection.rs",
    "crates/dyno-drivers/src/lib.rs",
    "crates/dyno-drivers/src/null/server/mod.rs",
    "crates/dyno-drivers/src/null/server/persona.rs",
    "crates/dyno-host/src/engine/mod.rs",
    "crates/dyno-host/src/server/cluster/mod.rs",
    "crates/dyno-host/src/server/mod.rs",
    "crates/dyno-lua/src/environment.rs",
    "crates/dyno-lua/src/sql/link.rs",
    "crates/dyno-lua/src/sql/rows.rs",
    "crates/dyno-lua/src/sql/text.rs",
    // Programs that take a password without a blank before it.
    "crates/dyno-model/src/system/mask/mod.rs",
    "crates/dyno-pgbench/src/own.rs",
    "crates/dyno-sysbench/src/options/database.rs",
    "crates/dyno-sysbench/src/options/registry.rs",
];

/// Most files that may be in that list.
const FILES_MAX: usize = 15;

#[test]
fn products_are_named_only_where_their_tables_are() {
    let mut seen = Vec::new();
    let mut wrong = Vec::new();
    for path in files(&root().join("crates"), "rs") {
        let shown = shown(&path);
        let is_for_tests =
            is_test_file(&path) || shown.contains("/fixture/") || shown.contains("dyno-testkit");
        if !shown.contains("/src/")
            || is_for_tests
            || shown.ends_with("/documents.rs")
            || is_own(&shown)
        {
            continue;
        }
        let found = named(&path);
        if !found.is_empty() && !NAMED_IN.contains(&shown.as_str()) {
            wrong.extend(found.iter().map(|(line, word)| format!("{shown}:{line}: {word}")));
        }
        seen.extend((!found.is_empty()).then_some(shown));
    }
    wrong.extend(
        NAMED_IN
            .iter()
            .filter(|file| !seen.iter().any(|it| it == *file))
            .map(|file| format!("{file} names none (any more); take it out of the list")),
    );
    assert_eq!(wrong, [""; 0]);
    assert!(NAMED_IN.len() <= FILES_MAX, "{} files name products", NAMED_IN.len());
}

/// True for a product's own files.
fn is_own(shown: &str) -> bool {
    let is_product = |part: &str| PRODUCTS.iter().any(|name| part.contains(name)) || is_ndb(part);
    TABLES.iter().any(|table| shown.starts_with(table))
        || shown.trim_end_matches(".rs").split('/').any(is_product)
}

fn is_ndb(word: &str) -> bool {
    word.starts_with("Ndb") || word.split('_').any(|part| part.eq_ignore_ascii_case("ndb"))
}

/// Words in the code of a file that name a product, with their lines. A text names one when it is
/// nothing but its name.
fn named(path: &Path) -> Vec<(usize, String)> {
    let lines = code_lines(path);
    let text = lines.iter().map(|(_, line)| line.as_str()).collect::<Vec<_>>().join("\n");
    let stream: TokenStream =
        text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut words = Vec::new();
    collect(stream, &mut words);
    let is_named = |at: usize| {
        let word: &str = &words[at].1;
        let before = |back: usize| at.checked_sub(back).map_or("", |at| &words[at].1);
        // Whoever makes a target knows of what.
        let is_compared = before(1) == "Engine" && (before(2), before(3)) != ("new", "Target");
        match word.strip_prefix('"') {
            Some(text) => {
                let text = text.trim_end_matches('"').to_lowercase();
                PRODUCTS.contains(&text.as_str()) || text == "postgresql" || text == "ndb"
            }
            None => {
                let lower = word.to_lowercase();
                let is_one = PRODUCTS.iter().any(|name| lower.contains(name)) || is_ndb(word);
                is_one || is_compared && ["Null", "Http"].contains(&word)
            }
        }
    };
    let found = (0..words.len()).filter(|at| is_named(*at));
    found.map(|at| (lines[words[at].0 - 1].0, words[at].1.clone())).collect()
}

/// Identifiers and literals in their order.
fn collect(stream: TokenStream, words: &mut Vec<(usize, String)>) {
    for tree in stream {
        let line = tree.span().start().line;
        match tree {
            TokenTree::Group(group) => collect(group.stream(), words),
            TokenTree::Ident(word) => words.push((line, word.to_string())),
            TokenTree::Literal(text) => words.push((line, text.to_string())),
            TokenTree::Punct(_) => {}
        }
    }
}
