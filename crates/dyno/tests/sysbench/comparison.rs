//! Runs one script in both programs and compares everything that can be observed.

use crate::differences::{self, Difference};
use crate::mask::masked;
use crate::program::{Ended, Program};
use crate::script::{self, Script};
use crate::server::{self, Server};
use dyno_model::plan::ServerKind;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::os::unix::fs::symlink;
use tempfile::TempDir;

/// What a script left in one program, as text with headings.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Observed(Vec<(&'static str, String)>);

/// Runs every script of a topic on a server, and fails with all differences that the table does not
/// allow.
pub(crate) fn compare_topic(topic: &str, kind: Option<ServerKind>) {
    let server = match kind {
        None => None,
        Some(kind) => match server::take(kind) {
            Some(server) => Some(server),
            None => return,
        },
    };
    let scripts = script::of_topic(topic, kind);
    let mut wrong = String::new();
    for script in &scripts {
        if let Err(difference) = compare(script, server.as_ref()) {
            writeln!(wrong, "==== {} {}\n{difference}", script.name, server_name(kind))
                .expect("a string takes everything");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn server_name(kind: Option<ServerKind>) -> &'static str {
    kind.map_or("without a server", ServerKind::name)
}

fn compare(script: &Script, server: Option<&Server>) -> Result<(), String> {
    let kind = server.map(Server::kind);
    let ours = observe(Program::Dyno, script, server);
    let theirs =
        Program::Sysbench.is_available().then(|| observe(Program::Sysbench, script, server));
    if std::env::var_os("SUITE_SHOW").is_some() {
        for (name, observed) in [("sysbench", theirs.as_ref()), ("dyno", Some(&ours))] {
            let text = observed.map_or_else(String::new, Observed::text);
            eprintln!("==== {} {} {name}\n{text}", script.name, server_name(kind));
        }
    }
    let Some(theirs) = theirs else { return Ok(()) };
    let allowed: Vec<&Difference> = differences::of(&script.name, kind).collect();
    let mut text = String::new();
    for ((part, expected), (_, found)) in theirs.0.iter().zip(&ours.0) {
        let mut expected = expected.clone();
        for difference in allowed.iter().filter(|difference| difference.is_in(part)) {
            let replaced = difference.apply(&expected);
            if replaced == expected {
                writeln!(text, "no longer seen: {}", difference.reason())
                    .expect("a string takes everything");
            }
            expected = replaced;
        }
        if expected != *found {
            writeln!(text, "-- {part}\n{}", lines_that_differ(&expected, found))
                .expect("a string takes everything");
        }
    }
    if text.is_empty() { Ok(()) } else { Err(text) }
}

/// Runs the script as its comment says, on an empty database and in an empty folder that holds a
/// link to its topic.
fn observe(program: Program, script: &Script, server: Option<&Server>) -> Observed {
    let folder = TempDir::new().expect("a temporary folder can be made");
    let (topic, _) = script.name.split_once('/').expect("a script has a topic");
    symlink(script::folder().join(topic), folder.path().join(topic)).expect("a link can be made");
    // The second server is counted on as well. It is always another kind than that of the turn we
    // have, and nobody waits the other way round: scripts with a second server run on PostgreSQL,
    // and the second is of the MySQL family.
    let _turn_beside = script.with.and_then(server::take);
    let mut options = Vec::new();
    if let Some(server) = server {
        server.clear();
        options.push(format!("--db-driver={}", server::driver(server.kind())));
        options.extend(server::options(server.kind()).expect("the server runs"));
    }
    options.extend(script.with.and_then(server::options_beside).unwrap_or_default());
    let before = server.map(Server::counters);
    let (mut output, mut messages) = (String::new(), String::new());
    for run in &script.runs {
        let Ended { status, stdout, stderr } = run_once(program, script, &folder, run, &options);
        let title = format!("$ {}", run.join(" "));
        writeln!(output, "{title}\n{}\nexit {status}", masked(script, &stdout))
            .expect("a string takes everything");
        writeln!(messages, "{title}\n{}", masked(script, &stderr))
            .expect("a string takes everything");
    }
    let mut parts = vec![("output", output), ("messages", messages)];
    if let (Some(server), Some(before)) = (server, before) {
        let counters = if script.has_random_counters {
            String::new()
        } else {
            counted(&before, &server.counters())
        };
        parts.push(("counters", counters));
        parts.push(("tables", server.tables(script.has_random_rows)));
    }
    Observed(parts)
}

fn run_once(
    program: Program,
    script: &Script,
    folder: &TempDir,
    run: &[String],
    options: &[String],
) -> Ended {
    let path = &*format!("{}.lua", script.name);
    let (mut arguments, mut stdin) =
        (options.iter().map(String::as_str).collect::<Vec<_>>(), Vec::new());
    let is_placed = run.iter().any(|word| word == "SCRIPT");
    if !is_placed {
        arguments.push(path);
    }
    let mut words = run.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "<" => {
                words.next();
                stdin = std::fs::read(folder.path().join(path)).expect("scripts can be read");
            }
            "SCRIPT" => arguments.push(path),
            other => arguments.push(other),
        }
    }
    program.run_with(&script.environment, folder.path(), &arguments, &stdin)
}

/// Counters that our own looking changes, and those of preparing and closing statements, which
/// neither program counts as queries and which drivers do at different times (sysbench prepares
/// even what MySQL cannot prepare, dyno lets the end of a session close its statements).
const UNCOUNTED: [&str; 4] =
    ["Com_show_status", "Com_show_processlist", "Com_stmt_prepare", "Com_stmt_close"];

/// Counters that changed.
pub(crate) fn counted(before: &BTreeMap<String, i64>, after: &BTreeMap<String, i64>) -> String {
    let mut text = String::new();
    for (name, value) in after {
        let change = value - before.get(name).copied().unwrap_or(0);
        if change != 0 && !UNCOUNTED.contains(&name.as_str()) {
            writeln!(text, "{name} {change}").expect("a string takes everything");
        }
    }
    text
}

impl Observed {
    fn text(&self) -> String {
        let mut text = String::new();
        for (part, content) in &self.0 {
            writeln!(text, "-- {part}\n{}", content.trim_end()).expect("a string takes everything");
        }
        text
    }
}

/// The lines of two texts that are in one only, in order.
pub(crate) fn lines_that_differ(theirs: &str, ours: &str) -> String {
    let (theirs, ours): (Vec<&str>, Vec<&str>) = (theirs.lines().collect(), ours.lines().collect());
    // Longest common subsequence; outputs are short.
    let mut longest = vec![vec![0_u32; ours.len() + 1]; theirs.len() + 1];
    for (i, their) in theirs.iter().enumerate().rev() {
        for (j, our) in ours.iter().enumerate().rev() {
            longest[i][j] = if their == our {
                longest[i + 1][j + 1] + 1
            } else {
                longest[i + 1][j].max(longest[i][j + 1])
            };
        }
    }
    let (mut text, mut i, mut j) = (String::new(), 0, 0);
    while i < theirs.len() || j < ours.len() {
        if i < theirs.len() && j < ours.len() && theirs[i] == ours[j] {
            (i, j) = (i + 1, j + 1);
        } else if j == ours.len() || (i < theirs.len() && longest[i + 1][j] >= longest[i][j + 1]) {
            writeln!(text, "sysbench: {}", theirs[i]).expect("a string takes everything");
            i += 1;
        } else {
            writeln!(text, "dyno:     {}", ours[j]).expect("a string takes everything");
            j += 1;
        }
    }
    text
}

#[test]
fn differing_lines_are_shown_in_order() {
    let text = lines_that_differ("a\nb\nc\n", "a\nx\nc\nd\n");
    assert_eq!(text, "sysbench: b\ndyno:     x\ndyno:     d\n");
}
