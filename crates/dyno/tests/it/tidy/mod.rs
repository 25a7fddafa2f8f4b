//! Rules that neither the compiler nor clippy checks: which crate may depend on which, that modules
//! of a crate use each other one way, what they may import, how long files are and what they are
//! called, that files are opened in one place, and the lines and terms of Markdown.

mod literals;
mod modules;
mod names;
mod opening;
mod products;
mod prose;

use dyno_testkit::repository::{files, root};
use modules::{Modules, Use, between_entries, circles};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Which of our crates a crate may depend on. An arrow that is not here is forbidden.
const ARROWS: &[(&str, &[&str])] = &[
    ("dyno-model", &[]),
    ("dyno-files", &[]),
    ("dyno-drivers", &["dyno-files", "dyno-model"]),
    ("dyno-engine", &["dyno-drivers", "dyno-model"]),
    ("dyno-host", &["dyno-drivers", "dyno-files", "dyno-model"]),
    ("dyno-store", &["dyno-files", "dyno-model"]),
    ("dyno-analysis", &["dyno-store", "dyno-model"]),
    ("dyno-report", &["dyno-analysis", "dyno-store", "dyno-model"]),
    ("dyno-live", &["dyno-report", "dyno-analysis", "dyno-store", "dyno-files", "dyno-model"]),
    ("dyno-lua", &["dyno-engine", "dyno-drivers", "dyno-files", "dyno-model"]),
    (
        "dyno-sysbench",
        &["dyno-lua", "dyno-engine", "dyno-store", "dyno-drivers", "dyno-files", "dyno-model"],
    ),
    ("dyno-pgbench", &["dyno-engine", "dyno-store", "dyno-drivers", "dyno-files", "dyno-model"]),
    (
        "dyno",
        &[
            "dyno-sysbench",
            "dyno-pgbench",
            "dyno-engine",
            "dyno-host",
            "dyno-live",
            "dyno-report",
            "dyno-analysis",
            "dyno-store",
            "dyno-drivers",
            "dyno-files",
            "dyno-model",
        ],
    ),
    ("dyno-testkit", &["dyno-engine", "dyno-host", "dyno-store", "dyno-drivers", "dyno-model"]),
];

/// Folders of modules (`*` is any one folder), and what their files must not name after `use` or in
/// a path. Tests within them may.
const IMPORTS: &[(&str, &[&str], &str)] = &[
    (
        "crates/dyno-model/src",
        &[
            "std::fs",
            "std::net::Tcp",
            "std::process",
            "std::env",
            "std::time::Instant",
            "std::time::SystemTime",
            "tokio",
        ],
        "the model is pure data",
    ),
    (
        "crates/dyno-drivers/src/*/protocol",
        &["std::io", "std::net", "mio", "socket2", "rustix", "rustls", "crate::transport"],
        "protocol code is bytes in, bytes out",
    ),
    (
        "crates/dyno-analysis/src/stats",
        &[
            "crate::model",
            "crate::view",
            "crate::compare",
            "dyno_store",
            "dyno_model",
            "serde",
            "hdrhistogram",
        ],
        "stats import std only",
    ),
    (
        "crates/dyno-report/src",
        &["dyno_store::Run", "dyno_analysis::stats", "std::net", "std::process", "hdrhistogram"],
        "reports compute nothing and read no results",
    ),
];

/// Modules are domain nouns.
const BANNED_NAMES: &[&str] =
    &["utils", "util", "common", "helpers", "helper", "misc", "lib_", "shared", "stuff"];

/// What must not be committed. Written in two parts, so that this file does not hold it.
const BANNED_WORDS: &[[&str; 2]] = &[
    ["todo", "!("],
    ["unimplemented", "!("],
    ["dbg", "!("],
    ["TO", "DO:"],
    ["FIX", "ME"],
    ["/work", "/"],
    ["/ro", "ot/"],
];

/// Most source files in a folder.
const FILES_MAX: usize = 16;

/// Longest file, lines.
const LINES_MAX: usize = 700;

#[test]
fn crates_depend_on_each_other_only_along_the_arrows() {
    let mut wrong = Vec::new();
    let mut seen = Vec::new();
    for (path, manifest) in manifests() {
        let name = manifest["package"]["name"].as_str().expect("a package has a name").to_owned();
        let Some((_, allowed)) = ARROWS.iter().find(|(owner, _)| *owner == name) else {
            wrong.push(format!("{}: crate {name} is not in the list of arrows", path.display()));
            continue;
        };
        for dependency in ours(&manifest, "dependencies") {
            if !allowed.contains(&dependency.as_str()) {
                wrong.push(format!("{}: {name} must not depend on {dependency}", path.display()));
            }
        }
        // Tests may use the crates below, and whatever the test kit offers.
        for dependency in ours(&manifest, "dev-dependencies") {
            if dependency != "dyno-testkit"
                && dependency != name
                && !allowed.contains(&dependency.as_str())
            {
                wrong.push(format!(
                    "{}: tests of {name} must not depend on {dependency}",
                    path.display()
                ));
            }
        }
        seen.push(name);
    }
    assert!(seen.len() >= 6, "the crates were not found: {seen:?}");
    assert_eq!(wrong, [""; 0]);
}

/// Crates whose modules are private, so that the lint for dead code sees what nobody uses, and the
/// modules that are not.
const PRIVATE: &[(&str, &[&str])] =
    &[("dyno-lua", &[]), ("dyno-sysbench", &[]), ("dyno-pgbench", &["exit_code"])];

#[test]
fn modules_that_no_other_crate_names_are_private() {
    let mut wrong = Vec::new();
    for (owner, public) in PRIVATE {
        let lib = root().join("crates").join(owner).join("src/lib.rs");
        for (number, line) in code_lines(&lib) {
            let module =
                line.strip_prefix("pub mod ").and_then(|rest| rest.split([';', ' ']).next());
            if module.is_some_and(|module| !public.contains(&module)) {
                wrong.push(format!("{}:{number}: {line}", shown(&lib)));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn source_files_name_only_crates_that_they_may_depend_on() {
    let mut wrong = Vec::new();
    for (owner, allowed) in ARROWS {
        for path in files(&root().join("crates").join(owner).join("src"), "rs") {
            for (number, line) in code_lines(&path) {
                for (other, _) in ARROWS {
                    let module = format!("{}::", other.replace('-', "_"));
                    let is_allowed =
                        other == owner || allowed.contains(other) || *other == "dyno-testkit";
                    if !is_allowed && names(&line, &module) {
                        wrong.push(format!(
                            "{}:{number}: {owner} must not use {module}",
                            shown(&path)
                        ));
                    }
                }
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn pure_modules_import_nothing_that_acts() {
    let mut wrong = Vec::new();
    for (folder, banned, reason) in IMPORTS {
        let paths: Vec<_> = folders(folder).iter().flat_map(|folder| files(folder, "rs")).collect();
        assert!(!paths.is_empty(), "{folder} is gone; this test must follow it");
        for path in paths.into_iter().filter(|path| !is_test_file(path)) {
            for (number, line) in code_lines(&path) {
                for word in *banned {
                    let bare = line.trim_start().starts_with("use ") || line.contains("::");
                    // Formatting into a vector of bytes goes by this trait and touches nothing
                    // outside.
                    let is_formatting = line.contains("std::io::Write");
                    if bare && !is_formatting && names(&line, word) {
                        wrong.push(format!("{}:{number}: {word} ({reason})", shown(&path)));
                    }
                }
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}

fn folders(path: &str) -> Vec<PathBuf> {
    let Some((before, after)) = path.split_once("/*/") else { return vec![root().join(path)] };
    let entries = fs::read_dir(root().join(before)).expect("the folder can be read");
    let inner = entries.map(|entry| entry.expect("an entry").path().join(after));
    inner.filter(|folder| folder.is_dir()).collect()
}

#[test]
fn modules_and_folders_of_a_crate_do_not_use_each_other_in_circles() {
    let mut wrong = Vec::new();
    for (owner, _) in ARROWS {
        let folder = root().join("crates").join(owner).join("src");
        let lib = folder.join("lib.rs");
        let uses = Modules::read(&if lib.exists() { lib } else { folder.join("main.rs") }).uses();
        for (files, within) in circles(&uses).into_iter().chain(circles(&between_entries(&uses))) {
            wrong.push(format!("{owner}: {} files or folders use each other:", files.len()));
            let line = |one: &Use| {
                format!(
                    "  {}:{}: {} is in {}",
                    shown(&one.user),
                    one.line,
                    one.path,
                    shown(&one.used)
                )
            };
            wrong.extend(within.iter().map(line));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A test of the test: a crate of three files, once as it should be and once with an arrow back.
#[test]
fn a_circle_of_modules_would_be_found() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let write = |name: &str, text: &str| {
        fs::create_dir_all(folder.path().join("room")).expect("a folder");
        fs::write(folder.path().join(name), text).expect("a file");
    };
    let found = || circles(&Modules::read(&folder.path().join("lib.rs")).uses());
    write("lib.rs", "mod room; pub use room::Chair; fn sit() { room::table::Table::new(); }");
    write("room/mod.rs", "pub mod table; mod chair; pub use chair::Chair; pub struct Wall;");
    write("room/table.rs", "use super::{Chair, Wall}; #[cfg(test)] mod tests { use crate::sit; }");
    write(
        "room/chair.rs",
        "/// [`super::table::Table`]\nstruct Chair; const NOTE: &str = \"super::table\";",
    );
    assert!(found().is_empty(), "the names that a folder hands on are those of its modules");
    // By a path inside of a macro, by a name that the folder hands on, and by the folder's own use
    // of what it declares.
    for (name, text) in [
        (
            "room/chair.rs",
            "struct Chair; fn f() { print!(\"{}\", crate::room::table::Table::LEGS) }",
        ),
        ("room/chair.rs", "use super::*; use table::Table as T; pub struct Chair(T);"),
        (
            "room/mod.rs",
            "pub mod table; mod chair; pub use chair::Chair; pub struct Wall; fn f(t: table::Table) {}",
        ),
        ("room/table.rs", "use crate::sit; use super::Chair;"),
    ] {
        let path = folder.path().join(name);
        let before = fs::read_to_string(&path).expect("it was written");
        write(name, text);
        assert_eq!(found().len(), 1, "{name}: {text}");
        fs::write(path, before).expect("a file");
    }
}

#[test]
fn a_circle_of_folders_would_be_found_although_their_files_form_none() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    };
    write("lib.rs", "mod one; mod two; use one::first; use two::second;");
    write("one/mod.rs", "pub mod first; pub mod third;");
    write("two/mod.rs", "pub mod second;");
    write("one/first.rs", "use crate::second::Second; fn f(_: Second) {}");
    write("one/third.rs", "pub struct Third;");
    write("two/second.rs", "pub struct Second;");
    let uses = || Modules::read(&folder.path().join("lib.rs")).uses();
    assert_eq!(between_entries(&uses()).len(), 1);
    assert!(circles(&between_entries(&uses())).is_empty());
    write("two/second.rs", "use crate::one::third::Third; pub struct Second(Third);");
    assert!(circles(&uses()).is_empty());
    assert_eq!(circles(&between_entries(&uses())).len(), 1);
}

#[test]
fn folders_hold_few_files_and_declare_their_modules_in_one_way() {
    let mut wrong = Vec::new();
    let mut folders: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for path in sources() {
        *folders.entry(path.parent().expect("a folder").to_owned()).or_default() += 1;
        if path.with_extension("").is_dir() {
            wrong.push(format!("{}: a module with children is a `mod.rs`", shown(&path)));
        }
    }
    for (folder, count) in folders {
        if count > FILES_MAX {
            wrong.push(format!("{}: {count} files, at most {FILES_MAX}", shown(&folder)));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn paths_in_the_documents_for_contributors_exist() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for page in ["ARCHITECTURE.md", "CONTRIBUTING.md"] {
        let text = fs::read_to_string(root().join(page)).expect("the page is there");
        for (number, line) in (1..).zip(text.lines()) {
            let words = line.split(|c: char| c.is_whitespace() || "`();[]|".contains(c));
            for word in words.map(|word| word.trim_end_matches([',', '.', ':', ';'])) {
                let is_inside = word.starts_with("dyno") && word.contains('/');
                let is_path = ["crates/", "docs/", "scripts/", "experiments/"]
                    .iter()
                    .any(|top| word.starts_with(top));
                if is_inside || is_path {
                    count += 1;
                    let folder = if is_inside { root().join("crates") } else { root() };
                    for path in alternatives(word) {
                        if !is_there(&folder, &path) {
                            wrong.push(format!("{page}:{number}: there is no {path}"));
                        }
                    }
                }
            }
        }
    }
    assert!(count > 40, "the paths were not found: {count}");
    assert_eq!(wrong, [""; 0]);
}

/// `a/{b,c}.rs` as `a/b.rs` and `a/c.rs`.
fn alternatives(path: &str) -> Vec<String> {
    let Some((before, (inside, after))) =
        path.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
    else {
        return vec![path.to_owned()];
    };
    inside.split(',').map(|word| format!("{before}{word}{after}")).collect()
}

/// True when a path exists below a folder; `*` stands for any part of a name.
fn is_there(folder: &Path, path: &str) -> bool {
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    let (before, after) = first.split_once('*').unwrap_or((first, ""));
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.map(|entry| entry.expect("an entry").path()).any(|inner| {
        let name = inner.file_name().unwrap_or_default().to_string_lossy();
        let is_it = name == first
            || first.contains('*') && name.starts_with(before) && name.ends_with(after);
        is_it && (rest.is_empty() || is_there(&inner, rest))
    })
}

#[test]
fn files_are_short_and_named_for_what_they_hold() {
    let mut wrong = Vec::new();
    // A language is one file, however much there is to say.
    let texts = root().join("crates/dyno-report/src/messages/languages");
    for path in sources() {
        let lines = fs::read_to_string(&path).expect("sources are UTF-8").lines().count();
        if lines > LINES_MAX && path.parent() != Some(&texts) {
            wrong.push(format!("{}: {lines} lines, at most {LINES_MAX}", shown(&path)));
        }
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let folder = path
            .parent()
            .and_then(Path::file_name)
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if BANNED_NAMES.contains(&stem.as_str()) || BANNED_NAMES.contains(&folder.as_str()) {
            wrong.push(format!("{}: modules are domain nouns", shown(&path)));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn nothing_unfinished_and_no_machine_is_in_the_sources() {
    let mut wrong = Vec::new();
    for path in sources() {
        let text = fs::read_to_string(&path).expect("sources are UTF-8");
        for (number, line) in (1..).zip(text.lines()) {
            for word in BANNED_WORDS.iter().map(|parts| parts.concat()) {
                if line.contains(&word) {
                    wrong.push(format!("{}:{number}: {word}", shown(&path)));
                }
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn only_the_printer_writes_to_the_terminal() {
    let mut wrong = Vec::new();
    for path in files(&root().join("crates"), "rs") {
        let is_allowed = path.ends_with("dyno/src/printer.rs") || is_test_file(&path);
        for (number, line) in code_lines(&path) {
            let writes = ["println!(", "print!(", "stdout()", "process::exit("];
            if !is_allowed && path.components().any(|part| part.as_os_str() == "src") {
                for word in writes.iter().filter(|word| names(&line, word)) {
                    wrong.push(format!("{}:{number}: {word}", shown(&path)));
                }
            }
        }
    }
    // The supervisor is a separate process whose standard output is its pipe to dyno; other
    // programs than dyno have no printer.
    let is_other = |line: &str| {
        line.starts_with("crates/dyno-host/src/processes/supervisor/process.rs")
            || line.contains("/src/bin/")
    };
    wrong.retain(|line| !is_other(line));
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn every_dependency_of_the_workspace_says_why_it_is_not_our_own_code() {
    let text = fs::read_to_string(root().join("Cargo.toml")).expect("the workspace has a manifest");
    let (mut is_inside, mut above) = (false, "");
    let mut wrong = Vec::new();
    let mut count = 0;
    for (number, line) in (1..).zip(text.lines()) {
        let is_explained = line.contains(" # ") || above.starts_with("# ");
        above = line;
        if line.starts_with('[') {
            is_inside = line == "[workspace.dependencies]";
        } else if is_inside
            && line.contains('=')
            && !line.trim_start().starts_with('#')
            && !line.contains("path = ")
        {
            count += 1;
            if !is_explained {
                wrong.push(format!("Cargo.toml:{number}: {line}"));
            }
        }
    }
    assert!(count > 5, "the dependencies were not found");
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn versions_stand_in_the_workspace_only() {
    let mut wrong = Vec::new();
    for (path, manifest) in manifests() {
        for table in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let Some(dependencies) = manifest.get(table).and_then(toml::Value::as_table) else {
                continue;
            };
            for (name, value) in dependencies {
                if value.get("workspace").and_then(toml::Value::as_bool) != Some(true)
                    && value.get("path").is_none()
                {
                    wrong.push(format!(
                        "{}: {name} must take its version from the workspace",
                        path.display()
                    ));
                }
            }
        }
        let lints = manifest
            .get("lints")
            .and_then(|lints| lints.get("workspace"))
            .and_then(toml::Value::as_bool);
        if lints != Some(true) {
            wrong.push(format!("{}: lints must come from the workspace", path.display()));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

/// A test of the tests: what they look for is found where it is.
#[test]
fn a_forbidden_import_would_be_found() {
    assert!(names("use dyno_engine::trial;", "dyno_engine::"));
    assert!(names("    let x = std::io::stdin();", "std::io"));
    assert!(!names("use dyno_store::x;", "dyno::"));
    assert!(!names("// mio is thin", "std::io"));
    assert!(!names("let prism::iosys = 1;", "mio"));
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// Every manifest of the workspace's crates.
fn manifests() -> BTreeMap<PathBuf, toml::Value> {
    let crates = fs::read_dir(root().join("crates")).expect("the crates are in crates/");
    let paths = crates
        .map(|entry| entry.expect("an entry").path().join("Cargo.toml"))
        .filter(|path| path.exists());
    paths
        .map(|path| {
            let text = fs::read_to_string(&path).expect("manifests are UTF-8");
            let manifest = text.parse::<toml::Table>().expect("manifests are TOML");
            (PathBuf::from(shown(&path)), toml::Value::Table(manifest))
        })
        .collect()
}

/// Our crates among the dependencies of a manifest.
fn ours(manifest: &toml::Value, table: &str) -> Vec<String> {
    let dependencies = manifest.get(table).and_then(toml::Value::as_table);
    let names = dependencies.into_iter().flat_map(toml::Table::keys);
    names.filter(|name| name.starts_with("dyno")).cloned().collect()
}

/// All source files of the crates, tests included.
fn sources() -> Vec<PathBuf> {
    let sources = files(&root().join("crates"), "rs");
    assert!(sources.len() > 50, "the sources were not found");
    sources
}

fn is_test_file(path: &Path) -> bool {
    let is_test = |name: &str| {
        name == "tests" || name == "tests.rs" || name == "benches" || name == "examples"
    };
    path.components().any(|part| is_test(&part.as_os_str().to_string_lossy()))
}

/// Lines that are neither comments nor in the unit tests at a file's end, with their numbers.
fn code_lines(path: &Path) -> Vec<(usize, String)> {
    let text = fs::read_to_string(path).expect("sources are UTF-8");
    let lines: Vec<&str> = text.lines().collect();
    // A declaration of tests in a file of their own ends nothing.
    let is_end = |at: usize| {
        lines[at] == "#[cfg(test)]" && lines.get(at + 1).is_some_and(|next| !next.ends_with(';'))
    };
    let code = (0..lines.len()).take_while(|at| !is_end(*at));
    code.filter(|at| !lines[*at].trim_start().starts_with("//"))
        .map(|at| (at + 1, lines[at].to_owned()))
        .collect()
}

/// True when a line holds a path as a word of its own, not as the end of a longer one.
fn names(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + path.len()..].chars().next();
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        !is_word(before) && (path.ends_with([':', '(']) || !is_word(after))
    })
}
