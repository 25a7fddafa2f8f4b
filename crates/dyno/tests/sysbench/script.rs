//! A script of the suite, and what its first comment says about running it.
//!
//! ```text
//! -- A statement that changes nothing is counted as other.
//! -- servers: mariadb mysql
//! -- $ --events=3 run
//! -- $ cleanup
//! ```
//! Each `$` is one run with these arguments after the script's path (`SCRIPT` puts it elsewhere,
//! `< SCRIPT` feeds it to the standard input). Further lines, all optional: `servers:` where it
//! runs, by default everywhere, `none` for scripts without SQL; `with:` a second server whose
//! options are given too; `lines: any order` for threads that write at the same time;
//! `rows: random` where only the number of rows can agree; `counters: random` where the server's
//! counts cannot; `environment:` variables that are set for it, as `NAME=VALUE`.

use dyno_model::plan::ServerKind;
use std::path::{Path, PathBuf};

/// One file of `scripts/TOPIC/`.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    /// `TOPIC/name`, without `.lua`.
    pub(crate) name: String,
    /// Arguments of each run, connection options not included.
    pub(crate) runs: Vec<Vec<String>>,
    /// Where it runs; `None` is a run without any server.
    pub(crate) servers: Vec<Option<ServerKind>>,
    /// A server whose connection options are given as well.
    pub(crate) with: Option<ServerKind>,
    pub(crate) has_ordered_lines: bool,
    pub(crate) has_random_rows: bool,
    pub(crate) has_random_counters: bool,
    /// Variables of the environment and their values.
    pub(crate) environment: Vec<(String, String)>,
}

/// The servers of the suite.
pub(crate) const SERVERS: [ServerKind; 3] =
    [ServerKind::Mariadb, ServerKind::Mysql, ServerKind::Postgres];

/// The folder of all scripts.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sysbench/scripts")
}

/// The scripts of a topic that run on a server, in the order of their names. Folders below the
/// topic hold what scripts require, and are no tests.
pub(crate) fn of_topic(topic: &str, server: Option<ServerKind>) -> Vec<Script> {
    let entries = std::fs::read_dir(folder().join(topic)).expect("the topic has a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut scripts: Vec<Script> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "lua"))
        .map(|path| {
            let name = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
            let text = std::fs::read(&path).expect("scripts can be read");
            parse(&format!("{topic}/{name}"), &String::from_utf8_lossy(&text))
        })
        .filter(|script| !script.runs.is_empty() && script.servers.contains(&server))
        .filter(|script| std::env::var("SUITE_SCRIPT").map_or(true, |name| name == script.name))
        .collect();
    scripts.sort_by(|a, b| a.name.cmp(&b.name));
    scripts
}

fn parse(name: &str, text: &str) -> Script {
    let mut script = Script {
        name: name.to_owned(),
        runs: Vec::new(),
        servers: SERVERS.map(Some).to_vec(),
        with: None,
        has_ordered_lines: true,
        has_random_rows: false,
        has_random_counters: false,
        environment: Vec::new(),
    };
    let comment = text
        .lines()
        .skip_while(|line| line.starts_with("#!"))
        .map_while(|line| line.strip_prefix("--"));
    for line in comment.map(str::trim) {
        if let Some(arguments) = line.strip_prefix('$') {
            script.runs.push(words(arguments));
        } else if let Some(names) = line.strip_prefix("servers:") {
            script.servers = names.split_whitespace().map(server).collect();
        } else if let Some(names) = line.strip_prefix("with:") {
            script.with = server(names.trim());
        } else if let Some(variables) = line.strip_prefix("environment:") {
            let pairs =
                variables.split_whitespace().filter_map(|variable| variable.split_once('='));
            script.environment =
                pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        } else if line == "lines: any order" {
            script.has_ordered_lines = false;
        } else if line == "rows: random" {
            script.has_random_rows = true;
        } else if line == "counters: random" {
            script.has_random_counters = true;
        }
    }
    script
}

fn server(name: &str) -> Option<ServerKind> {
    let known = SERVERS.into_iter().find(|kind| kind.name() == name);
    assert!(known.is_some() || name == "none", "{name} is no server of the suite");
    known
}

/// Words as a shell would split them, single quotes included.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in line.split('\'').enumerate() {
        if index % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

#[test]
fn the_first_comment_of_a_script_says_how_it_is_run() {
    let script = parse(
        "sql/x",
        "-- Shows a thing.\n-- servers: mariadb none\n-- lines: any order\n-- $ --events=2 run\n-- $ '--x=a b' cleanup\nf()\n-- $ no\n",
    );
    assert_eq!(script.runs, [vec!["--events=2", "run"], vec!["--x=a b", "cleanup"]]);
    assert_eq!(script.servers, [Some(ServerKind::Mariadb), None]);
    assert!(!script.has_ordered_lines && !script.has_random_rows && !script.has_random_counters);
}
