//! What users, servers and results folders name and say may be no file, without an end, deleted, or
//! meant for somebody's terminal.

use crate::program::{Bench, Ended, records};
use crate::running::Running;
use dyno_drivers::null::server::{Options, Protocol, serve};
use dyno_model::audit::AuditCheck;
use dyno_model::event::Phase;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

const PREFLIGHT_FAILED: i32 = 4;
const RESULTS_FAILED: i32 = 7;

/// Six short trials in the folder `r`.
const SHORT: &str = "title = \"Short\"\nsystem = [{ name = \"S\", server = { kind = \"sqlite\" } }]\n\
                     workload = { kind = \"rush\" }\nload = { clients = [1, 2], duration = \"300ms\", warmup = \"0s\" }\n\
                     design = { blocks = 3 }\n";

fn measured() -> Bench {
    let bench = Bench::new();
    bench.file("short.toml", SHORT);
    let ended = bench.dyno(&["run", "short.toml", "--out", "r"]);
    assert!(ended.is_done(), "{ended}");
    bench
}

fn fifo(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.expect("it is installed").success());
}

#[test]
fn certificates_and_passwords_are_read_from_files_only() {
    let server = serve(Protocol::Postgres, ([127, 0, 0, 1], 0).into(), Options::default())
        .expect("a free port");
    let bench = Bench::new();
    let pipe = bench.path().join("pipe");
    fifo(&pipe);
    let url = |options: &str| format!("postgres://bench@{}/bench{options}", server.local_addr);
    let run = |options: &str, variable: Option<(&str, &str)>, settings: &[&str]| {
        let url = url(options);
        let arguments =
            [&["run", &url, "--workload", "rush", "--clients", "1", "--out", "r"], settings]
                .concat();
        let mut command = bench.command(&arguments);
        command.envs(variable);
        Ended::from(command.output().expect("dyno can be started"))
    };
    let trusted = "?sslmode=verify-full&sslrootcert=system";
    let password = "system.bench.password_file=\"/dev/zero\"";
    let rows = [
        ("?sslmode=verify-full&sslrootcert=/dev/zero", None, vec![], "/dev/zero: a device"),
        ("?sslmode=verify-full&sslrootcert=pipe", None, vec![], "pipe: a FIFO"),
        ("?sslmode=require&sslcert=/dev/zero&sslkey=pipe", None, vec![], "/dev/zero: a device"),
        (trusted, Some(("SSL_CERT_FILE", "/dev/zero")), vec![], "/dev/zero: a device"),
        (trusted, Some(("SSL_CERT_FILE", "pipe")), vec![], "pipe: a FIFO"),
        ("", None, vec!["--set", password], "/dev/zero: a device"),
    ];
    for (options, variable, settings, why) in rows {
        let ended = run(options, variable, &settings);
        assert_eq!(ended.code, PREFLIGHT_FAILED, "{options} {variable:?}: {ended}");
        let words = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            words.contains(&format!("{why}, not a regular file")),
            "{options} {variable:?}: {ended}"
        );
    }
}

#[test]
fn special_files_in_a_results_folder_do_not_block_reports() {
    let bench = measured();
    let results = bench.path().join("r");
    let trial = std::fs::read_dir(results.join("trials"))
        .expect("trials")
        .next()
        .expect("one")
        .expect("one");
    let report = results.join("report.html");
    let replaced = |file: &Path, by: &dyn Fn(&Path)| {
        let kept = file.with_extension("kept");
        std::fs::rename(file, &kept).expect("it is there");
        by(file);
        let ended = bench.dyno(&["report", "r", "--format", "html"]);
        std::fs::remove_file(file).expect("it is there");
        std::fs::rename(&kept, file).expect("it is there");
        (ended, std::fs::read_to_string(&report).expect("there is one"))
    };
    let device = |path: &Path| symlink("/dev/zero", path).expect("it is new");
    for (maker, why) in [(&fifo as &dyn Fn(&Path), "a FIFO"), (&device, "a device")] {
        let why = format!("{why}, not a regular file");
        let (ended, _) = replaced(&results.join("FORMAT"), maker);
        assert_eq!(ended.code, RESULTS_FAILED, "{ended}");
        let (ended, _) = replaced(&results.join("plan.json"), maker);
        assert!(ended.code == RESULTS_FAILED && ended.stderr.contains(&why), "{ended}");
        for file in ["environment.json", "spec.toml", "events.jsonl"] {
            let (ended, report) = replaced(&results.join(file), maker);
            assert!(
                ended.is_done() && report.contains(&format!("{file}: {why}")),
                "{file}: {ended}"
            );
        }
        for file in ["latency.hlog", "timeline.csv", "monitor.csv"] {
            let (ended, report) = replaced(&trial.path().join(file), maker);
            assert!(
                ended.is_done() && report.contains(&format!("{file}: {why}")),
                "{file}: {ended}"
            );
        }
    }
}

#[test]
fn no_link_is_followed_to_what_is_written_into_results() {
    let bench = measured();
    let other = bench.file("other", "theirs\n");
    let results = bench.path().join("r");
    for name in ["report.html", "report.html.new"] {
        let _ = std::fs::remove_file(results.join(name));
        symlink(&other, results.join(name)).expect("it is new");
    }
    let ended = bench.dyno(&["report", "r", "--format", "html"]);
    assert!(ended.is_done(), "{ended}");
    assert_eq!(std::fs::read_to_string(&other).expect("it is there"), "theirs\n");
    assert!(results.join("report.html").symlink_metadata().expect("it is there").is_file());
    // A run that goes on writes to the event log that it finds.
    let events = results.join("events.jsonl");
    let moved = bench.path().join("events");
    std::fs::rename(&events, &moved).expect("it is there");
    symlink(&moved, &events).expect("it is new");
    let ended = bench.dyno(&["run", "--resume", "r"]);
    assert!(
        ended.code == RESULTS_FAILED && ended.stderr.contains("a link, not a regular file"),
        "{ended}"
    );
}

#[test]
fn an_audit_whose_answer_does_not_end_is_an_audit_that_failed() {
    let bench = Bench::new();
    bench.file("tables.sql", "CREATE TABLE t (v INTEGER);\n");
    bench.file("add.sql", "INSERT INTO t VALUES (1);\n");
    // It has one row before the first transaction.
    let audit = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE EXISTS (SELECT * FROM t)) SELECT i FROM n";
    let spec = format!(
        "title = \"Endless\"\nsystem = [{{ name = \"S\", server = {{ kind = \"sqlite\" }} }}]\n\
         [workload]\nkind = \"sql\"\nscripts = [\"add.sql\"]\nsetup = \"tables.sql\"\n\
         audit = {{ \"{audit}\" = \"unchanged\" }}\n[load]\nclients = 1\ntransactions = 10\n[design]\nblocks = 2\n"
    );
    bench.file("endless.toml", spec);
    let ended = bench.dyno(&["run", "endless.toml", "--out", "r"]);
    let records = records(&bench.path().join("r"));
    assert_eq!(records.len(), 2, "the campaign goes on: {ended}");
    for record in records {
        let [AuditCheck::NotRun { reason, .. }] = &record.audit.checks[..] else {
            panic!("{:?}\n{ended}", record.audit)
        };
        assert!(reason.to_string().contains("more than 64 MiB of rows"), "{reason}");
    }
}

#[test]
fn a_results_folder_that_is_deleted_ends_the_run_and_stays_deleted() {
    let bench = Bench::new();
    bench.file("short.toml", SHORT);
    let run = Running::start(&bench, "short.toml");
    run.await_phase(Phase::Measure);
    let results = bench.path().join("r");
    // Files may be made in it meanwhile.
    while std::fs::remove_dir_all(&results).is_err() || results.exists() {}
    let ended = run.ended();
    assert_eq!(ended.code, RESULTS_FAILED, "{ended}");
    assert!(ended.stderr.contains("was deleted or moved while dyno was writing to it"), "{ended}");
    assert_eq!(bench.names(), ["short.toml"], "{ended}");
}

#[test]
fn a_limit_for_the_size_of_files_is_an_error_that_names_the_file() {
    let bench = measured();
    let report = bench.path().join("r/report.html");
    std::fs::write(&report, "the old report").expect("it can be written");
    // Blocks of 1024 bytes.
    let command =
        format!("ulimit -f 8; exec '{}' report r --format html", env!("CARGO_BIN_EXE_dyno"));
    let mut limited = Command::new("bash");
    limited.args(["-c", &command]).current_dir(bench.path());
    let ended = Ended::from(limited.output().expect("bash is there"));
    assert_eq!(ended.code, RESULTS_FAILED, "{ended}");
    assert!(ended.stderr.contains("cannot write r/report.html"), "{ended}");
    assert!(ended.stderr.contains("File too large"), "{ended}");
    assert_eq!(std::fs::read_to_string(&report).expect("it is there"), "the old report");
    assert!(!bench.path().join("r/report.html.new").exists(), "it would only take room");
}

#[test]
fn names_and_server_messages_cannot_inject_ci_commands_or_lines() {
    let bench = measured();
    let plan = bench.path().join("r/plan.json");
    let text = std::fs::read_to_string(&plan).expect("it is there");
    let forged = "S\\n::error::forged\\nerror: forged \\u001b[2J##[error]forged";
    std::fs::write(&plan, text.replace("\"name\": \"S\"", &format!("\"name\": \"{forged}\"")))
        .expect("it can be written");
    let is_safe = |line: &str| {
        let is_command = line.trim_start().starts_with("::") || line.contains("##[");
        !is_command && !line.starts_with("error: forged") && !line.contains('\u{1b}')
    };
    for arguments in [&["report", "r"][..], &["run", "--resume", "r"]] {
        let ended = bench.dyno(arguments);
        assert!(ended.stderr.lines().all(is_safe), "{ended}");
    }
    // SQLite repeats the name; the shell that calls dyno chose the other.
    bench.file("fails.sql", "SELECT `a\n::error::forged\nerror: forged ##[error]forged`;\n");
    bench.file("shop.db", "");
    let missing = "missing\n::error::forged\u{1b}[2J.toml";
    for arguments in [&["run", "sqlite:shop.db", "--script", "fails.sql"][..], &["run", missing]] {
        let ended = bench.dyno(arguments);
        assert!(ended.code != 0 && ended.stderr.contains(":error::forged"), "{ended}");
        assert!(ended.stderr.lines().all(is_safe), "{ended}");
    }
}
