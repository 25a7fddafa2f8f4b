//! Diagnostic messages (`-v`, `DYNO_LOG`): on stderr, on request only, and without passwords.

use crate::program::Bench;

const PASSWORD: &str = "hunter2-Xyz";
const SPEC: &str = r#"
title = "A short run"
system = [{ name = "SQLite", server = { kind = "sqlite" } }]
workload = { kind = "rush", variant = "in-place" }
load = { clients = 1, transactions = 20 }
design = { blocks = 1 }
"#;

/// Standard error of a command.
fn stderr(bench: &Bench, levels: Option<&str>, arguments: &[&str]) -> String {
    let mut command = bench.command(arguments);
    command.envs(levels.map(|levels| ("DYNO_LOG", levels)));
    let output = command.output().expect("dyno can be started");
    assert!(!String::from_utf8_lossy(&output.stdout).contains(" DEBUG "), "{arguments:?}");
    String::from_utf8(output.stderr).expect("UTF-8")
}

#[test]
fn messages_appear_on_request_only() {
    let bench = Bench::new();
    bench.file("short.toml", SPEC);
    let rows: [(Option<&str>, &[&str], bool); 6] = [
        (None, &["run", "short.toml"], false),
        (Some(""), &["run", "short.toml"], false),
        (Some("dyno_host=debug"), &["run", "short.toml"], false),
        (None, &["-v", "run", "short.toml", "--quiet"], true),
        (None, &["run", "-v", "short.toml"], true),
        (Some("dyno=debug,dyno_drivers=debug"), &["run", "short.toml"], true),
    ];
    for (levels, arguments, is_shown) in rows {
        let text = stderr(&bench, levels, arguments);
        for message in ["dyno_drivers::connection: connected", "phase=\"measure\"", "committed=20"]
        {
            assert_eq!(text.contains(message), is_shown, "{levels:?} {arguments:?}: {text}");
        }
    }
    let text = stderr(&bench, Some("dyno=loud"), &["run", "short.toml"]);
    assert!(text.contains("DYNO_LOG is ignored"), "{text}");
}

#[test]
fn messages_contain_no_password() {
    let bench = Bench::new();
    bench.file("a.sql", "SELECT 1;");
    let url = |scheme: &str| format!("{scheme}://u:{PASSWORD}@127.0.0.1:1/d");
    let (postgres, mysql) = (url("postgres"), url("mysql"));
    let mysql_password = format!("--mysql-password={PASSWORD}");
    let sysbench = [
        "sysbench",
        "--mysql-host=127.0.0.1",
        "--mysql-port=1",
        &mysql_password,
        "oltp_read_only",
        "run",
    ];
    let rows: [&[&str]; 4] = [
        &["run", &postgres, "--script", "a.sql"],
        &["run", &mysql, "--script", "a.sql"],
        &["pgbench", "-n", &postgres],
        &sysbench,
    ];
    for arguments in rows {
        let text = stderr(&bench, Some("trace"), arguments);
        assert!(text.contains("not connected"), "{arguments:?}: {text}");
        assert!(!text.contains(PASSWORD), "{arguments:?}: {text}");
    }
}
