//! Options, help, and where output goes.

use crate::program::{Bench, signal};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

#[test]
fn help_is_a_result_and_shows_only_what_is_there() {
    let bench = Bench::new();
    let ended = bench.dyno(&["--help"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    for command in [
        "run",
        "plan",
        "report",
        "history",
        "compare",
        "import",
        "bundle",
        "cleanup",
        "workloads",
        "doctor",
        "null-server",
    ] {
        assert!(ended.stdout.contains(&format!("\n  {command} ")), "{ended}");
        let help = bench.dyno(&[command, "--help"]);
        assert!(help.code == 0 && help.stdout.contains("Examples:\n  dyno "), "{help}");
        assert!(help.stdout.lines().all(|line| line.chars().count() <= 80), "{help}");
    }
    assert!(!ended.stdout.contains("supervise"), "{ended}");
    insta::assert_snapshot!(bench.dyno(&["-h"]).stdout, @r#"
    A dynamometer for databases

    Usage: dyno [OPTIONS] [COMMAND]

    Commands:
      run          Run an experiment and write its results and report
      init         Write a first spec for a database, based on its schema
      plan         Show what an experiment would run: trials in order, estimated
                   time, and preflight checks
      report       Write the report of a results folder again
      history      Show the figures of an experiment over its runs, and prepare them
                   for change point detection
      compare      Compare runs before and after a change: a verdict per
                   configuration, and an exit code for CI
      serve        Show finished runs in a browser: a list, their reports, and
                   comparisons
      import       Import results of other programs into a results folder, and check
                   a claim against them
      bundle       Pack the files of a run that a bug report needs, without
                   passwords
      cleanup      Drop tables that an aborted run left on systems that dyno did not
                   start
      workloads    List the workloads, or explain one: statements, options, audit
      doctor       Check this machine: problems that distort measurements, installed
                   servers, load generator speed
      null-server  Serve canned replies over a database protocol, to measure the
                   limit of a load generator
      launch       Run an experiment in a cluster, with its generators
      completions  Print a completion script for a shell
      man          Write manual pages
      sysbench     Run with the command line, scripts and output of sysbench
      pgbench      Run with the command line, scripts and output of pgbench
      help         Print this message or the help of the given subcommand(s)

    Options:
      -v, --verbose...  Log connections, started programs and phases to stderr;
                        twice: more. DYNO_LOG sets levels per module
                        (`dyno_host=debug`)
      -h, --help        Print help (see more with '--help')
      -V, --version     Print version

    Without a command, dyno runs a built-in experiment on embedded SQLite, which
    takes less than a minute and needs no server.
    "#);
}

#[test]
fn a_command_line_that_is_not_understood_exits_with_2_and_a_hint() {
    let bench = Bench::new();
    let rows: &[(&[&str], &str)] = &[
        (&["rum"], "similar subcommand exists: 'run'"),
        (&["mysql://localhost/shop"], "tip: dyno run mysql://localhost/shop"),
        (&["rush.toml", "--blocks", "3"], "tip: dyno run rush.toml"),
        (&["oltp_read_write", "prepare"], "tip: dyno sysbench oltp_read_write"),
        (&["run", "--blokcs", "3"], "a similar argument exists: '--blocks'"),
        (&["run", "--blocks", "0"], "0 is not in 1..=1000"),
        (&["run", "--blocks", "many"], "invalid value 'many' for '--blocks <N>'"),
        (&["plan", "a.toml", "b.toml"], "unexpected argument 'b.toml'"),
        (&["report"], "<RESULTS>"),
        (&["report", "x", "--format", "htm"], "similar value exists: 'html'"),
        (&["report", "x", "--lang", "xx"], "[possible values: en"),
        (
            &["null-server", "--protocol", "mysql", "--listen", "somewhere"],
            "invalid value 'somewhere'",
        ),
        (&["workloads", "rsuh"], "did you mean `rush`?"),
        // Options of other programs.
        (&["run", "sqlite:a.db", "-f", "x.sql"], "tip: use --script FILE"),
        (&["run", "sqlite:a.db", "--time=10"], "tip: use --duration TIME"),
        (&["run", "sqlite:a.db", "--threads", "4"], "tip: use --clients N"),
        (&["run", "sqlite:a.db", "-j2"], "dyno chooses the number of its threads"),
        (&["plan", "sqlite:a.db", "-R", "100"], "tip: use --rate RATE, for example 500/s"),
        (&["run", "--mysql-host=h"], "tip: use the URL: postgres://"),
        (&["run", "sqlite:a.db", "--clients", "1-8"], "write a range as a list, for example 1,2"),
        (&["run", "sqlite:a.db", "--clients", "4,0"], "expected a whole number from 1, or several"),
        (&["run", "sqlite:a.db", "--clients", "-3"], "this option takes no negative number"),
    ];
    for (arguments, hint) in rows {
        let ended = bench.dyno(arguments);
        assert!(
            ended.code == 2 && ended.stdout.is_empty() && ended.stderr.contains(hint),
            "{arguments:?}: {ended}"
        );
    }
    assert_eq!(bench.names(), [""; 0]);
    // What is hidden or belongs to another command is not suggested.
    let hidden = bench.dyno(&["rn"]);
    assert!(hidden.code == 2 && !hidden.stderr.contains("kubernetes-job"), "{hidden}");
    let other = bench.dyno(&["report", "r", "-f", "json"]);
    assert!(other.code == 2 && !other.stderr.contains("tip"), "{other}");
}

#[test]
fn a_mistyped_scheme_is_an_error_in_a_url() {
    let bench = Bench::new();
    bench.file("x.sql", "SELECT 1;\n");
    for (scheme, meant) in [("postgress", "postgres"), ("mysq", "mysql")] {
        let url = format!("{scheme}://me:hunter2@localhost/shop");
        for options in [&["--script", "x.sql"][..], &["--workload", "rush"]] {
            let ended = bench.dyno(&[&["run", &url], options].concat());
            let help = format!("did you mean `{meant}`?");
            assert!(ended.code == 3 && ended.stderr.contains(&help), "{ended}");
            assert!(!ended.stderr.contains("hunter2"), "{ended}");
        }
    }
}

#[test]
fn nothing_is_coloured_when_nobody_looks() {
    let bench = Bench::new();
    for arguments in [&["run", "missing.toml"][..], &["--help"], &["run", "--oops"], &["workloads"]]
    {
        let ended = bench.dyno(arguments);
        assert!(!ended.stdout.contains('\x1b') && !ended.stderr.contains('\x1b'), "{ended}");
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let bench = Bench::new();
    let mut child = bench
        .command(&["workloads", "oltp_read_write"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take()); // nobody reads, as after `| head -0`
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn workloads_are_listed_and_explained() {
    let bench = Bench::new();
    let list = bench.dyno(&["workloads", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&list.stdout).unwrap();
    let names: Vec<&str> = json
        .as_array()
        .unwrap()
        .iter()
        .map(|workload| workload["name"].as_str().unwrap())
        .collect();
    let text = bench.dyno(&["workloads"]).stdout;
    for name in names {
        assert!(text.contains(name), "{text}");
        let explained = bench.dyno(&["workloads", name]).stdout;
        assert!(
            explained.starts_with(name) && explained.contains("Options, in [workload]"),
            "{explained}"
        );
    }
    assert!(text.contains("rush") && text.contains("oltp_read_write"), "{text}");
}

#[test]
fn the_null_server_tells_its_address_and_ends_with_ctrl_c() {
    let bench = Bench::new();
    let mut child = bench
        .command(&["null-server", "--protocol", "postgres", "--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let port = line.trim().rsplit(':').next().unwrap().parse::<u16>().unwrap();
    assert!(line.starts_with("listening at 127.0.0.1:") && port > 0, "{line}");
    let taken = bench.dyno(&[
        "null-server",
        "--protocol",
        "mysql",
        "--listen",
        &format!("127.0.0.1:{port}"),
    ]);
    assert!(
        taken.code == 5 && taken.stderr.contains(&format!("cannot listen on 127.0.0.1:{port}")),
        "{taken}"
    );
    signal("-INT", child.id());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stderr).contains("0 statements over 0 connections"));
}

#[test]
fn the_doctor_sees_a_neighbour_tries_the_generator_and_leaves_no_file() {
    let bench = Bench::new();
    let mut neighbour = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
    let ended = bench.dyno(&["doctor", "--json"]);
    neighbour.kill().unwrap();
    neighbour.wait().unwrap();
    assert!(ended.is_done(), "{ended}");
    let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    let check = |part: &str, subject: &str| {
        let checks = report[part].as_array().unwrap();
        checks
            .iter()
            .find(|check| check["subject"] == subject)
            .unwrap_or_else(|| panic!("{subject}: {ended}"))
            .clone()
    };
    assert_eq!(check("machine", "other processes")["is_warning"], true, "{ended}");
    for kind in ["mariadb", "mysql", "postgres"] {
        check("servers", kind);
    }
    for clients in ["1 client", "64 clients"] {
        let message = check("generator", clients)["message"].to_string();
        assert!(
            message.contains("statements/s against a null server") && !message.starts_with("\"0 "),
            "{ended}"
        );
    }
    assert_eq!(bench.names(), Vec::<String>::new());
}

#[test]
fn bash_completes_commands_and_options_and_manual_pages_exist() {
    let bench = Bench::new();
    let script = bench.dyno(&["completions", "bash"]);
    assert!(script.is_done(), "{script}");
    bench.file("dyno.bash", &script.stdout);
    let completed = |words: &str, number: usize| {
        let ask = format!(
            "source ./dyno.bash; COMP_WORDS=({words}); COMP_CWORD={number}; _dyno dyno \"${{COMP_WORDS[{number}]}}\" \
             \"${{COMP_WORDS[{number} - 1]}}\"; echo \"${{COMPREPLY[@]}}\""
        );
        let output = Command::new("bash").args(["-c", &ask]).current_dir(bench.path()).output();
        String::from_utf8(output.expect("bash is there").stdout).expect("text").trim().to_owned()
    };
    assert_eq!(completed("dyno pl", 1), "plan");
    assert_eq!(completed("dyno run --dura", 2), "--duration");
    assert_eq!(bench.dyno(&["completions", "tcsh"]).code, 2);

    let pages = bench.dyno(&["man", "pages/man1"]);
    assert!(pages.is_done(), "{pages}");
    let page = |name: &str| std::fs::read_to_string(bench.path().join("pages/man1").join(name));
    assert!(page("dyno-run.1").expect("a page").contains("\\fB\\-\\-duration\\fR"));
    assert!(page("dyno.1").expect("a page").contains("dyno\\-compare(1)"));
    let ended = bench.dyno(&["man", "dyno.bash"]);
    assert!(
        ended.code == 7 && ended.stderr.contains("cannot write manual pages to dyno.bash"),
        "{ended}"
    );
}
