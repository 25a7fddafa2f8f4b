//! Passwords never appear in output, files or process lists.

use crate::program::Bench;
use dyno_testkit::wait_until;
use std::fs;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;

const PASSWORD: &str = "hunter2-Xyz";

/// What a list of processes shows of a command line while a server keeps it waiting for an answer.
fn seen_while_connecting(bench: &Bench, name: Option<&str>, arguments: &[&str]) -> String {
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    silent.set_nonblocking(true).expect("it is ours");
    let port = silent.local_addr().expect("an address").port().to_string();
    let arguments: Vec<String> =
        arguments.iter().map(|it| it.replace("PORT", &port).replace("PW", PASSWORD)).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut command = bench.command(&arguments);
    if let Some(name) = name {
        command.arg0(name);
    }
    let mut child =
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("dyno can be started");
    // It speaks first or waits for the server to do so; either way it has looked at its arguments
    // long before.
    let mut connection = None;
    wait_until("dyno has connected", || {
        assert_eq!(child.try_wait().expect("it is ours"), None, "{arguments:?}");
        connection = silent.accept().ok();
        connection.is_some()
    });
    let of_process =
        |what: &str| fs::read(format!("/proc/{}/{what}", child.id())).expect("it lives");
    let shown = [of_process("cmdline"), of_process("environ")].concat();
    drop(connection);
    child.kill().expect("it lives");
    child.wait().expect("it ends");
    String::from_utf8_lossy(&shown).into_owned()
}

#[test]
fn a_list_of_processes_shows_no_password_of_the_command_line() {
    let bench = Bench::new();
    bench.file("a.sql", "SELECT 1;");
    bench.file("x.toml", "title = \"X\"\nsystem = [{ name = \"A\", url = \"mysql://127.0.0.1/d\", data = \"existing\" }]\nworkload = { kind = \"sql\", scripts = [\"a.sql\"] }\nload = { clients = 1, duration = \"1s\" }\n");
    let sysbench = [
        "--mysql-host=127.0.0.1",
        "--mysql-port=PORT",
        "--mysql-user=u",
        "--mysql-password=PW",
        "oltp_read_only",
        "run",
    ];
    let rows: [(Option<&str>, &[&str]); 7] = [
        (None, &["run", "postgres://u:PW@127.0.0.1:PORT/d", "--script", "a.sql"]),
        (None, &["init", "mysql://u:PW@127.0.0.1:PORT/d"]),
        (
            None,
            &["run", "host=127.0.0.1 port=PORT user=u password=PW dbname=d", "--script", "a.sql"],
        ),
        (None, &["run", "x.toml", "--set", "system.A.url=mysql://u:PW@127.0.0.1:PORT/d"]),
        (None, &["pgbench", "-n", "host=127.0.0.1 port=PORT user=u password=PW dbname=d"]),
        (Some("pgbench"), &["-n", "postgres://u:PW@127.0.0.1:PORT/d"]),
        (Some("sysbench"), &sysbench),
    ];
    for (name, arguments) in rows {
        let shown = seen_while_connecting(&bench, name, arguments);
        assert!(!shown.contains(PASSWORD), "{arguments:?}: {shown:?}");
        assert!(shown.contains("***"), "{arguments:?}: {shown:?}");
    }
}

/// Addresses that are none, in ways in which people mistype them; `PW` is the password.
const MISTYPED: &[&str] = &[
    "postgres:/u:PW@127.0.0.1:1/d",
    "postgres:u:PW@127.0.0.1:1/d",
    "postgres//u:PW@127.0.0.1:1/d",
    "postgress://u:PW@127.0.0.1:1/d",
    "mysql:/u:PW@127.0.0.1:1/d",
    "u:PW@127.0.0.1:1/d",
    "postgres://u:PW",
    "postgres://u:PW/d",
    "postgres://u:PW127.0.0.1/d",
    "postgres://u:PW@127.0.0.1:x/d",
    "postgres://u:PW@127.0.0.1:1/d/e",
    "postgres://u:PW/x@127.0.0.1:1/d",
    "postgres://u:%zzPW@127.0.0.1:1/d",
    "postgres://u@127.0.0.1:1/d?passwd=PW",
    "postgres://u@127.0.0.1:1/d?password=PW&sslmode=perhaps",
    "postgres://u@127.0.0.1:1/d?password=%zzPW",
    "postgres://u@127.0.0.1:1/d?pasword=PW",
    "jdbc:postgresql://127.0.0.1:1/d?user=u&password=PW&sslmode=x",
    "jdbc:postgresql:u:PW@127.0.0.1/d",
    "jdbc:oracle://127.0.0.1:1/d?user=u&password=PW",
    "http://u:PW@127.0.0.1:1/",
    "sqlite://u:PW@h/d",
    "host=127.0.0.1 port=1 user=u passwd=PW dbname=d",
    "host=127.0.0.1 port=1 user=u password='PW dbname=d",
    "host=127.0.0.1 port=x user=u password=PW dbname=d",
    "host=127.0.0.1 port=1 user=u password PW dbname=d",
    "host=127.0.0.1 port=1 user=u password=my PW",
    "Host=127.0.0.1 Password=PW",
    "postgres://u:PW@127.0.0.1:1/d",
    "mysql://u:PW@127.0.0.1:1/d",
    "host=127.0.0.1 port=1 user=u password=PW dbname=d",
];

#[test]
fn no_message_about_an_address_shows_its_password() {
    let bench = Bench::new();
    bench.file("a.sql", "SELECT 1;");
    for address in MISTYPED {
        let address = address.replace("PW", PASSWORD);
        let set = format!("system.A.url={address}");
        let spec = format!(
            "title = \"X\"\nsystem = [{{ name = \"A\", url = \"{address}\" }}]\nworkload = {{ kind = \"rush\" }}\nload = {{ clients = 1 }}\n"
        );
        bench.file("bad.toml", spec);
        let option = format!("--mysql-pass={PASSWORD}");
        let lines: [&[&str]; 11] = [
            &["run", &address, "--script", "a.sql"],
            &["plan", &address, "--script", "a.sql"],
            &["run", "a.sql", &address],
            &["doctor", &address],
            &["init", &address],
            &["cleanup", &address],
            &["report", &address],
            &["plan", "bad.toml"],
            &["plan", "bad.toml", "--set", &set],
            &["pgbench", "-n", &address],
            &["sysbench", "oltp_read_only", &option, "run", &address],
        ];
        for line in lines {
            // Outside of an address nobody knows that a blank belongs to a password.
            if address.contains("=my ") && ["report", "sysbench", "cleanup"].contains(&line[0]) {
                continue;
            }
            let ended = bench.dyno(line);
            assert!(!ended.to_string().contains("unter2"), "{line:?}: {ended}");
        }
    }
}

/// Every file below a folder with this text.
fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else if String::from_utf8_lossy(&fs::read(&path).expect("a file")).contains(text) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

const SPEC: &str = r#"
title = "Against postgres://u:hunter2-Xyz@h/d"
description = """
See postgres:/u:hunter2-Xyz@h/d, host=h password='hunter2-Xyz' and jdbc:postgresql://h/d?password=hunter2-Xyz,
or mysql -uroot -phunter2-Xyz.
"""

[[system]]
name = "S"
server = { kind = "sqlite" }

[factors]
"threads" = [{ name = "u:hunter2-Xyz@h", "workload.table_size" = 100 }, { name = "b", "workload.table_size" = 200 }]

[workload]
kind = "oltp_point_select"
tables = 1

[load]
clients = 1
duration = "200ms"
warmup = "0s"

[design]
blocks = 1

[[published]]
source = "postgres://u:hunter2-Xyz@h/d"
series = "u:hunter2-Xyz@h"
clients = [1]
metric = "throughput"
values = [1.0]

[report]
purpose = "PGPASSWORD=hunter2-Xyz psql"
"#;

#[test]
fn no_free_text_of_a_spec_brings_a_password_into_results() {
    let bench = Bench::new();
    bench.file("secret.toml", SPEC);
    let outside = |ended: &crate::program::Ended| {
        assert!(!ended.to_string().contains("unter2"), "{ended}");
    };
    let ended = bench.dyno(&["run", "secret.toml", "--out", "r"]);
    outside(&ended);
    assert!(ended.is_done(), "{ended}");
    assert_eq!(files_with(&bench.path().join("r"), "unter2"), Vec::<String>::new());
    let plan = fs::read_to_string(bench.path().join("r/plan.json")).expect("a plan");
    assert!(plan.contains("postgres://u:***@h/d"), "{plan}");
    // What older versions wrote is shown no more than what this one writes.
    for file in ["plan.json", "events.jsonl", "spec.toml"] {
        let path = bench.path().join("r").join(file);
        let text = fs::read_to_string(&path).expect("a file");
        fs::write(&path, text.replace("***", PASSWORD)).expect("it can be written");
    }
    for format in ["text", "markdown", "html", "json", "csv"] {
        outside(&bench.dyno(&["report", "r", "--format", format]));
    }
    outside(&bench.dyno(&["compare", "r", "r"]));
    outside(&bench.dyno(&["plan", "secret.toml"]));
    outside(&bench.dyno(&["run", "secret.toml", "--print-spec"]));
    let reports = files_with(&bench.path().join("r"), "unter2");
    assert!(
        reports.iter().all(|file| file.ends_with(".jsonl")
            || file.ends_with(".toml")
            || file.ends_with("plan.json")),
        "{reports:?}"
    );
}

#[test]
fn a_bundle_has_the_files_of_a_run_and_no_password() {
    let bench = Bench::new();
    bench.file("x.toml", "title = \"X\"\nsystem = [{ name = \"A\", url = \"null:\" }]\nworkload = { kind = \"rush\", rows = 10 }\nload = { clients = 1, duration = \"100ms\" }\ndesign = { blocks = 1 }\n");
    let ended = bench.dyno(&["run", "x.toml", "--out", "r", "--quiet"]);
    assert!(bench.path().join("r/report.html").is_file(), "{ended}");
    // Places where a server, a script or another version of dyno may have left one.
    fs::create_dir_all(bench.path().join("r/server-logs")).expect("made");
    let planted = [
        ("r/server-logs/A.log", "ALTER USER u IDENTIFIED BY 'PW'\nconnected as mysql://u:PW@h/d\n"),
        ("r/spec.toml", "url = \"postgres://u:PW@h/d\"\n"),
        ("r/environment.json", "{\"command\": \"psql \\\"host=h password=PW\\\"\"}"),
        ("r/trials/note.txt", "PGPASSWORD=PW psql"),
    ];
    for (name, text) in planted {
        fs::write(bench.path().join(name), text.replace("PW", PASSWORD)).expect("written");
    }
    std::os::unix::fs::symlink("/etc/passwd", bench.path().join("r/link")).expect("made");
    let ended = bench.dyno(&["bundle", "r"]);
    assert_eq!((ended.code, ended.stdout.trim()), (0, "r-bundle.tar.gz"), "{ended}");
    let unpack = std::process::Command::new("tar")
        .args(["-xzf", "r-bundle.tar.gz", "-C", ".", "--one-top-level=unpacked"])
        .current_dir(bench.path())
        .status();
    assert!(unpack.expect("tar").success());
    let unpacked = bench.path().join("unpacked/r");
    for name in ["plan.json", "events.jsonl", "about.txt", "server-logs/A.log", "trials/note.txt"] {
        assert!(unpacked.join(name).is_file(), "{name}");
    }
    assert!(!unpacked.join("link").exists() && !unpacked.join("report.html").exists());
    let found = std::process::Command::new("grep")
        .args(["-rl", PASSWORD, "unpacked"])
        .current_dir(bench.path())
        .output();
    assert_eq!(String::from_utf8_lossy(&found.expect("grep").stdout), "");
    // It never overwrites.
    assert_eq!(bench.dyno(&["bundle", "r"]).code, 7);
}
