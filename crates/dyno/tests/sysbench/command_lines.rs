//! Command lines that people type, bundled scripts included, in both programs on the same server:
//! output, messages, exit codes and tables. Each row is what a comparison of some hundred command
//! lines found to differ once.

use crate::comparison::lines_that_differ;
use crate::mask;
use crate::program::{Ended, Program};
use crate::server::{self, Server};
use dyno_model::plan::ServerKind;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Lines that are run one after another on an empty database.
const SAME: [(ServerKind, &[&str]); 6] = [
    // As many tables as there are told, though only the first one is read.
    (
        ServerKind::Mariadb,
        &[
            "select_random_points --tables=2 --table-size=20 prepare",
            "oltp_read_write --tables=2 cleanup",
        ],
    ),
    (ServerKind::Postgres, &["select_random_ranges --tables=2 --table-size=20 prepare"]),
    // Tables of bulk_insert may be there, and one thread makes them.
    (ServerKind::Mariadb, &["bulk_insert --threads=2 prepare", "bulk_insert --threads=3 prepare"]),
    (ServerKind::Postgres, &["bulk_insert --threads=2 prepare", "bulk_insert --threads=2 prepare"]),
    (
        ServerKind::Mariadb,
        &[
            "oltp_read_only --table-size=20 prepare",
            "oltp_read_only --table-size=20 --events=5 --time=-1 run",
            "oltp_read_only --table-size=20 --events=5 --config-file= run",
            "oltp_read_only --table-size=20 --events=5 --verbosity=5 run",
            "oltp_read_only --table-size=20 --events=5 --debug run",
            "oltp_read_only --table-size=20 --tables=2 --events=5 run",
            "oltp_read_only --table-size=20 prepare",
            "oltp_read_only --mysql-db= run",
            "oltp_read_only --mysql-db=nowhere run",
            "oltp_read_only --mysql-user=nobody run",
        ],
    ),
    (
        ServerKind::Postgres,
        &[
            "oltp_read_only --table-size=20 prepare",
            "oltp_read_only --table-size=20 --events=5 --verbosity=5 run",
            "oltp_read_only --table-size=20 prepare",
            "oltp_read_only --pgsql-db=nowhere run",
        ],
    ),
];

#[test]
fn command_lines_do_and_say_the_same_in_both_programs() {
    if !Program::Sysbench.is_available() {
        return;
    }
    for (kind, lines) in SAME {
        let Some(server) = server::take(kind) else { return };
        let [theirs, ours] =
            [Program::Sysbench, Program::Dyno].map(|program| observe(&server, program, lines));
        assert_eq!(
            theirs,
            ours,
            "{lines:?} on {}\n{}",
            kind.name(),
            lines_that_differ(&theirs, &ours)
        );
    }
}

fn observe(server: &Server, program: Program, lines: &[&str]) -> String {
    server.clear();
    let mut text = String::new();
    for line in lines {
        let ended = run(server, program, line);
        text += &format!(
            "$ {line}\n{}\n{}\nexit {}\n",
            comparable(&ended.stdout),
            comparable(&ended.stderr),
            ended.status
        );
    }
    text + &server.tables(true)
}

fn arguments(server: &Server, line: &str) -> Vec<String> {
    let mut arguments = vec![format!("--db-driver={}", server::driver(server.kind()))];
    arguments.extend(server::options(server.kind()).expect("the server runs"));
    arguments.extend(line.split(' ').map(str::to_owned));
    arguments
}

fn run(server: &Server, program: Program, line: &str) -> Ended {
    let folder = TempDir::new().expect("a temporary folder can be made");
    let arguments = arguments(server, line);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    program.run(folder.path(), &arguments, b"")
}

/// Output without times, and without what differs on purpose: the file and line of a mistake within
/// a bundled script, the text of `CREATE TABLE`, why a statement cannot be prepared, and the empty
/// line after libpq's words.
fn comparable(output: &str) -> String {
    let mut text = String::new();
    let mut is_create = false;
    for line in mask::lines(output).lines() {
        is_create &= !line.starts_with("FATAL");
        if is_create {
            continue;
        }
        let line = match line.split_once("CREATE TABLE ") {
            Some((before, _)) => {
                is_create = true;
                format!("{before}CREATE TABLE ...")
            }
            None => line.to_owned(),
        };
        let line = match (line.find("function failed: "), line.find("oltp_common")) {
            (Some(start), Some(module)) => {
                let reason = line[module..].split_once(": ").map_or("", |(_, reason)| reason);
                let reason = if reason.contains("errno = 1146") || reason.contains("errno = 1046") {
                    "SQL API error"
                } else {
                    reason
                };
                format!("{}function failed: {reason}", &line[..start])
            }
            _ => line,
        };
        if !line.is_empty() {
            text += &(line + "\n");
        }
    }
    text
}

#[test]
fn a_run_that_nobody_reads_ends_as_a_broken_pipe_ends_programs() {
    let Some(server) = server::take(ServerKind::Mariadb) else { return };
    server.clear();
    for script in ["oltp_point_select", "/nowhere/oltp_point_select.lua"] {
        run(&server, Program::Dyno, "oltp_point_select --table-size=20 cleanup");
        run(&server, Program::Dyno, "oltp_point_select --table-size=20 prepare");
        let line = format!("{script} --table-size=20 --time=0 --report-interval=0.1 run");
        let mut child = Command::new(env!("CARGO_BIN_EXE_dyno"))
            .arg("sysbench")
            .args(arguments(&server, &line))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("dyno can be started");
        // Closes the pipe: an endless run ends at the first line that it cannot write.
        drop(child.stdout.take());
        let status = child.wait().expect("dyno can be waited for");
        assert_eq!(status.code(), Some(141), "{line}");
    }
}

#[test]
fn an_output_that_cannot_be_written_is_reported_and_the_run_goes_on() {
    let Some(server) = server::take(ServerKind::Mariadb) else { return };
    server.clear();
    run(&server, Program::Dyno, "oltp_insert --table-size=20 prepare");
    let full = std::fs::File::options().write(true).open("/dev/full").expect("Linux has it");
    let ended = Command::new(env!("CARGO_BIN_EXE_dyno"))
        .arg("sysbench")
        .args(arguments(&server, "oltp_insert --table-size=20 --events=30 run"))
        .stdin(Stdio::null())
        .stdout(full)
        .output()
        .expect("dyno can be started");
    assert_eq!(ended.status.code(), Some(1));
    let reported = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(
        reported.matches("cannot write to standard output: No space left on device").count(),
        1,
        "{reported}"
    );
    let rows = server.query("SELECT COUNT(*) FROM sbtest1");
    assert_eq!(rows.first(), Some("50"));
}
