//! What the pages of the repository lead to is there, and options that they name are options of a
//! program.

use crate::program::Bench;
use dyno_testkit::repository::{self, files, root, text};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// All pages, by their path in the repository.
fn pages() -> Vec<String> {
    repository::pages(&[
        "",
        "docs",
        "docs/decisions",
        "docs/experiments",
        "docs/reference",
        "examples/webapp",
    ])
}

/// What a heading is called in a link: lower case, blanks as hyphens, no punctuation.
fn anchor(heading: &str) -> String {
    let letters = heading.trim_start_matches('#').trim().chars().flat_map(char::to_lowercase);
    letters
        .filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter))
        .map(|letter| if letter == ' ' { '-' } else { letter })
        .collect()
}

/// The lines of a page that are no code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    text.split("```").step_by(2).flat_map(str::lines)
}

#[test]
fn links_of_readme_guide_and_all_other_pages_lead_somewhere() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for page in pages() {
        let text_here = text(&page);
        let folder = Path::new(&page).parent().unwrap_or(Path::new("")).to_owned();
        for link in prose(&text_here)
            .flat_map(|line| line.split("](").skip(1))
            .filter_map(|rest| rest.split(')').next())
        {
            if link.contains("://") {
                continue;
            }
            count += 1;
            let (file, place) =
                link.split_once('#').map_or((link, None), |(file, place)| (file, Some(place)));
            let path = if file.is_empty() { PathBuf::from(&page) } else { folder.join(file) };
            if !root().join(&path).exists() {
                wrong.push(format!("{page}: there is no {}", path.display()));
            } else if let Some(place) = place {
                let text = text(&path.display().to_string());
                let is_there =
                    prose(&text).any(|line| line.starts_with('#') && anchor(line) == place);
                if !is_there {
                    wrong.push(format!("{page}: {} has no heading for #{place}", path.display()));
                }
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
    assert!(count > 100, "{count}");
}

/// Options of other programs that the pages for users name.
const OTHERS: [&str; 17] = [
    "--container",
    "--ignored",
    "--from-file",
    "--name",
    "--rm",
    "--release",
    "--path",
    "--headless",
    "--no-pdf-header-footer",
    "--print-to-pdf",
    "--test",
    "--example",
    "--no-run",
    "--create",
    "--databases",
    "--routines",
    "--triggers",
];

/// Words of a text that are long options, without their values.
fn options(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| c.is_whitespace() || "`(),;|'\"[]<>=:/".contains(c));
    let words = words.filter(|word| {
        word.strip_prefix("--").is_some_and(|name| name.starts_with(char::is_alphabetic))
    });
    words.map(|word| word.trim_end_matches(['.', '!', '?', '*', '\\']).replace('_', "-")).collect()
}

#[test]
fn every_option_named_in_user_documentation_exists() {
    let bench = Bench::new();
    let mut known = options(&text("docs/reference/cli.md"));
    known.extend(OTHERS.map(str::to_owned));
    for help in [
        &["sysbench", "--help"][..],
        &["sysbench", "oltp_read_write", "help"],
        &["sysbench", "select_random_points", "help"],
        &["sysbench", "select_random_ranges", "help"],
        &["pgbench", "--help"],
    ] {
        let ended = bench.dyno(help);
        assert!(ended.is_done(), "{ended}");
        known.extend(options(&ended.stdout));
    }
    known.extend(options(&text("scripts/bench-generator")));
    // Names of the 0.5 era, which help does not list.
    let legacy = text("crates/dyno-sysbench/src/legacy.rs");
    let is_legacy = |option: &str| {
        option
            .strip_prefix("--oltp-")
            .is_some_and(|name| legacy.contains(&format!("\"oltp_{}\"", name.replace('-', "_"))))
    };
    let mut wrong = Vec::new();
    let mut count = 0;
    let folders = ["docs/decisions", "docs/reference", "examples"];
    for page in
        pages().into_iter().filter(|page| !folders.iter().any(|folder| page.starts_with(folder)))
    {
        if ["CHANGELOG.md", "ARCHITECTURE.md"].contains(&&*page) {
            continue;
        }
        for option in options(&text(&page)) {
            count += 1;
            if !known.contains(&option) && !is_legacy(&option) {
                wrong.push(format!("{page}: {option}"));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
    assert!(count > 100, "{count}");
}

#[test]
fn the_help_names_every_exit_code_and_the_reference_no_other() {
    let help = Bench::new().dyno(&["--help"]).stdout;
    let (_, list) = help.split_once("Exit codes:").expect("they are at the end");
    let listed: BTreeSet<u8> = list
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|number| number.parse().ok())
        .collect();
    assert_eq!(listed, dyno_model::exit_code::ALL.iter().map(|(code, _)| *code).collect());
}

#[test]
fn tests_that_the_pages_name_are_there() {
    let paths = ["crates", "fuzz"].map(|folder| files(&root().join(folder), "rs"));
    let sources: Vec<String> =
        paths.iter().flatten().map(|path| fs::read_to_string(path).expect("text")).collect();
    let mut wrong = Vec::new();
    let mut count = 0;
    for page in pages() {
        for name in
            text(&page).split('`').skip(1).step_by(2).filter(|name| name.matches('_').count() >= 5)
        {
            let is_name =
                name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
            if is_name {
                count += 1;
                if !sources.iter().any(|text| text.contains(&format!("fn {name}("))) {
                    wrong.push(format!("{page}: {name}"));
                }
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
    assert!(count > 20, "{count}");
}

/// Files below a folder, by their names.
fn names(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            names(&path, found);
        } else {
            found.insert(path.file_name().expect("a name").to_string_lossy().into_owned());
        }
    }
}

#[test]
fn the_documentation_names_each_file_of_a_results_folder() {
    let bench = Bench::new();
    let line = "run sqlite:own.db --workload rush --clients 1 --blocks 1 --duration 200ms --out r";
    let ended = bench.dyno(&line.split(' ').collect::<Vec<_>>());
    assert!(ended.is_done(), "{ended}");
    let mut found = BTreeSet::new();
    names(&bench.path().join("r"), &mut found);
    assert!(found.len() > 7, "{found:?}");
    for page in ["docs/guide.md", "docs/results-folder.md"] {
        let text = text(page);
        for name in &found {
            let is_named =
                text.contains(&format!("`{name}`")) || text.contains(&format!("/{name}`"));
            assert!(is_named, "{page} does not name {name}");
        }
    }
}
