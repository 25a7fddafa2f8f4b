//! `dyno run` on what needs no server: output, results, refusals and Ctrl-C.

use crate::program::{Bench, Ended, records, signal};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

/// A second or so on embedded SQLite.
const SHORT: &str = r#"
title = "A short run"
system = [{ name = "SQLite", server = { kind = "sqlite" } }]
workload = { kind = "rush", variant = "in-place" }
load = { clients = [1, 2], transactions = 20 }
design = { blocks = 2 }
"#;

/// Would take an hour; the system never answers a statement after the first few.
const ENDLESS: &str = r#"
title = "An endless run"
system = [{ name = "stuck", url = "null:hang_after=50" }]
workload = { kind = "rush", variant = "in-place" }
load = { clients = 2, duration = "1h", warmup = "0s", grace = "30m" }
design = { blocks = 1 }
"#;

/// Nothing but warnings: a busy machine has some.
fn is_silent(ended: &Ended) -> bool {
    ended.stderr.lines().all(|line| line.starts_with("warning: "))
}

fn json(ended: &Ended) -> serde_json::Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended}"))
}

#[test]
fn a_run_leaves_results_and_a_report_and_nothing_else() {
    let bench = Bench::new();
    bench.file("short.toml", SHORT);
    let ended = bench.dyno(&["run", "short.toml", "--out", "first"]);
    assert!(ended.is_done(), "{ended}");
    assert!(
        ended.stdout.contains("A short run") && ended.stdout.contains("first/report.html"),
        "{ended}"
    );
    for trial in ["b01-001", "b01-002", "b02-001", "b02-002"] {
        assert!(ended.stderr.contains(&format!("{trial}  SQLite, ")), "{ended}");
    }
    assert!(ended.stderr.contains("1 of 4 trials done, about"), "{ended}");
    assert_eq!(bench.names(), ["first", "short.toml"]);
    assert_eq!(std::fs::read_to_string(bench.path().join("first/spec.toml")).unwrap(), SHORT);
    let again = bench.dyno(&["report", "first", "--format", "text"]);
    assert!(again.code == 0 && ended.stdout.starts_with(again.stdout.trim_end()), "{again}");
    bench.forget_the_machine("first");
    let charts = bench.dyno(&["report", "first", "--format", "svg,text", "--out", "charts"]);
    assert_eq!(charts.code, 0, "{charts}");
    let throughput =
        std::fs::read_to_string(bench.path().join("charts/chart-throughput.svg")).unwrap();
    assert!(throughput.starts_with("<svg ") && throughput.contains("SQLite"), "{throughput}");
    assert!(
        charts.stdout.contains("chart-throughput.svg") && charts.stdout.contains("report.txt"),
        "{charts}"
    );
}

#[test]
fn a_test_report_contains_spec_texts_as_html_or_markdown_only() {
    let bench = Bench::new();
    bench.file(
        "short.toml",
        format!(
            "{SHORT}[report]\norganisation = \"An agency\"\npurpose = \"To choose.\"\n\
             [[report.revision]]\nversion = \"1.0\"\ndate = \"2026-11-23\"\nchange = \"first issue\"\n"
        ),
    );
    assert!(bench.dyno(&["run", "short.toml", "--out", "r"]).is_done());
    let markdown = bench.dyno(&["report", "r", "--template", "test-report", "--format", "md"]);
    for text in [
        "- organisation: An agency",
        "To choose.",
        "| 1.0 | 2026-11-23 |  | first issue |",
        "SQLite, 2 clients",
    ] {
        assert!(markdown.stdout.contains(text), "{text}: {markdown}");
    }
    let page = bench.dyno(&["report", "r", "--template", "test-report", "--lang", "ko"]);
    assert!(page.code == 0 && page.stdout.contains("r/test-report.html"), "{page}");
    assert!(
        std::fs::read_to_string(bench.path().join("r/test-report.html"))
            .unwrap()
            .contains("성능 테스트 결과서")
    );
    let refused = bench.dyno(&["report", "r", "--template", "test-report", "--format", "md,csv"]);
    assert!(refused.code == 2 && refused.stderr.contains("html and md"), "{refused}");
    let wrong = SHORT.to_owned() + "[report]\norganization = \"An agency\"\n";
    bench.file("wrong.toml", wrong);
    let refused = bench.dyno(&["plan", "wrong.toml"]);
    assert!(refused.code == 3 && refused.stderr.contains("organisation"), "{refused}");
}

#[test]
fn runs_of_one_thing_are_reported_together_and_others_are_refused() {
    let bench = Bench::new();
    for clients in ["1", "2", "8"] {
        let options = [
            "sysbench",
            "oltp_point_select",
            "--db-driver=sqlite",
            "--sqlite-db=t.db",
            "--tables=1",
            "--table-size=100",
            "--results=runs",
        ];
        if clients == "1" {
            assert_eq!(bench.dyno(&[&options[..], &["prepare"]].concat()).code, 0);
        }
        let threads = format!("--threads={clients}");
        let ended =
            bench.dyno(&[&options[..], &[&threads, "--events=200", "--time=0", "run"]].concat());
        assert!(ended.is_done(), "{ended}");
    }
    let report = bench.dyno(&["report", "runs", "--format", "text"]);
    assert_eq!(report.code, 0, "{report}");
    for clients in ["1 client", "2 clients", "8 clients"] {
        let number = clients.split(' ').next().unwrap();
        let is_row = |line: &str| line.split_whitespace().next() == Some(number);
        assert!(report.stdout.lines().any(is_row), "{clients}: {report}");
    }
    let page = bench.dyno(&["report", "runs", "--out", "page", "--title", "How it scales"]);
    assert!(page.code == 0 && page.stdout.contains("page/report.html"), "{page}");
    let text = std::fs::read_to_string(bench.path().join("page/report.html")).unwrap();
    assert!(
        text.contains("<title>How it scales</title>") && text.contains("<h1>How it scales</h1>")
    );
    bench.file("short.toml", SHORT);
    assert!(bench.dyno(&["run", "short.toml", "--out", "other"]).is_done());
    let refused = bench.dyno(&["report", "runs", "other", "--format", "text"]);
    assert!(refused.code == 2 && refused.stderr.contains("different experiments"), "{refused}");
    let nowhere = bench.dyno(&["report", "other", "other"]);
    assert!(nowhere.code == 2 && nowhere.stderr.contains("named twice"), "{nowhere}");
}

#[test]
fn results_go_to_a_folder_of_their_own_below_results() {
    let bench = Bench::new();
    bench.file("short.toml", SHORT);
    let ended = bench.dyno(&["run", "short.toml", "--quiet", "--blocks", "1"]);
    assert!(ended.is_done() && is_silent(&ended) && ended.stdout.is_empty(), "{ended}");
    let runs: Vec<_> = std::fs::read_dir(bench.path().join("results/short")).unwrap().collect();
    assert_eq!(runs.len(), 1);
    assert!(runs[0].as_ref().unwrap().path().join("report.html").is_file());
}

#[test]
fn quiet_and_json_leave_one_value_for_a_program() {
    let bench = Bench::new();
    bench.file("short.toml", SHORT);
    let ended = bench.dyno(&["run", "short.toml", "--quiet", "--json", "--out", "r"]);
    assert!(ended.is_done() && is_silent(&ended), "{ended}");
    assert!(json(&ended).is_object());
}

#[test]
fn a_results_folder_that_holds_something_is_left_alone() {
    let bench = Bench::new();
    bench.file("short.toml", SHORT);
    std::fs::create_dir(bench.path().join("mine")).unwrap();
    bench.file("mine/precious.txt", "do not touch");
    let file = bench.dyno(&["run", "short.toml", "--out", "short.toml"]);
    assert!(file.code == 7 && file.stderr.contains("name another folder with --out"), "{file}");
    let file = bench.dyno(&["report", "short.toml"]);
    assert!(file.code == 7 && file.stderr.contains("name the folder of one run"), "{file}");
    let ended = bench.dyno(&["run", "short.toml", "--out", "mine"]);
    assert!(ended.code == 7 && ended.stdout.is_empty(), "{ended}");
    assert!(
        ended.stderr.contains("mine exists and is not empty") && ended.stderr.contains("--out"),
        "{ended}"
    );
    assert_eq!(std::fs::read_dir(bench.path().join("mine")).unwrap().count(), 1);
}

#[test]
fn a_results_folder_that_cannot_be_created_fails_before_the_run() {
    let bench = Bench::new();
    bench.file("short.toml", SHORT);
    let ended = bench.dyno(&["run", "short.toml", "--out", "short.toml/results"]);
    assert!(ended.code == 7 && ended.stderr.contains("short.toml/results"), "{ended}");
    assert!(!ended.stderr.contains("b01-001"), "{ended}");
    assert_eq!(bench.names(), ["short.toml"]);
}

#[test]
fn a_folder_without_results_is_rejected() {
    let bench = Bench::new();
    let rows = [(".", "no results folder found in ."), ("missing", "missing")];
    for (folder, words) in rows {
        let ended = bench.dyno(&["report", folder]);
        assert!(
            ended.code == 7 && ended.stderr.contains(words) && ended.stdout.is_empty(),
            "{ended}"
        );
    }
    assert_eq!(bench.names(), [""; 0]);
}

/// Starts a run that goes on until it is interrupted, and waits until its first trial has begun.
fn endless(bench: &Bench, spec: &str, stdout: Stdio) -> (Child, impl Iterator<Item = String>) {
    bench.file("endless.toml", spec);
    let mut child = bench
        .command(&["run", "endless.toml", "--out", "r"])
        .stdout(stdout)
        .stderr(Stdio::piped())
        .spawn()
        .expect("dyno can be started");
    let stderr = BufReader::new(child.stderr.take().expect("stderr is piped"));
    let mut lines = stderr.lines().map(|line| line.expect("dyno writes UTF-8"));
    lines.find(|line| line.starts_with("stuck: ready")).expect("the system is announced");
    (child, lines)
}

#[test]
fn a_second_ctrl_c_ends_a_run_at_once_with_readable_results() {
    let bench = Bench::new();
    // A full pipe that nobody reads keeps the run from its orderly end.
    let (_reader, mut full) = std::io::pipe().expect("a pipe");
    full.write_all(&[0; 65_536]).expect("as much as fits");
    let (mut child, lines) = endless(&bench, ENDLESS, full.into());
    // One that follows the first at once is the same request.
    while child.try_wait().expect("the child can be waited for").is_none() {
        signal("-INT", child.id());
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let report = bench.dyno(&["report", "r", "--format", "json"]);
    assert_eq!(report.code, 0, "{report}");
    assert_eq!(json(&report)["completeness"]["is_complete"], false);
    assert_eq!(bench.names(), ["endless.toml", "r"]);
    let rest: Vec<String> = lines.collect();
    let how =
        |line: &String| line.contains("stopped at once") && line.contains("`dyno run --resume r`");
    assert!(rest.iter().any(how), "{rest:?}");
}

#[test]
fn the_first_ctrl_c_or_termination_ends_a_run_cleanly_with_a_report() {
    for signal in ["-INT", "-TERM"] {
        let bench = Bench::new();
        let spec = ENDLESS.replace("hang_after=50", "latency_us=1000").replace("30m", "5s");
        let (child, lines) = endless(&bench, &spec, Stdio::piped());
        // `timeout` signals its child and then the child's group: one request that comes twice.
        let id = child.id().to_string();
        let status =
            Command::new("kill").args([signal, &id, &id]).status().expect("kill can be run");
        assert!(status.success());
        // A full pipe would hold dyno up.
        let acknowledged = lines.filter(|line| line.starts_with("interrupted:")).count();
        let ended = Ended::from(child.wait_with_output().unwrap());
        assert_eq!((ended.code, acknowledged), (130, 1), "{ended}");
        assert!(ended.stdout.contains("r/report.html"), "{ended}");
        let report = bench.dyno(&["report", "r", "--format", "json"]);
        assert_eq!(json(&report)["completeness"]["is_interrupted"], true, "{report}");
    }
}

#[test]
fn a_system_that_commits_nothing_has_no_result_in_any_report() {
    let spec = |systems: &str| {
        format!(
            "title = \"t\"\nsystem = [{systems}]\nworkload = {{ kind = \"rush\", variant = \"in-place\" }}\n\
             load = {{ clients = 2, transactions = 40, attempts_max = 2 }}\ndesign = {{ blocks = 3 }}\n"
        )
    };
    let stuck =
        "{ name = \"stuck\", url = \"null:commit.fail=deadlock:1,update.fail=deadlock:1\" }";
    let bench = Bench::new();
    bench.file("alone.toml", spec(stuck));
    for (lang, words) in [
        ("en", "no trial committed a transaction"),
        ("ko", "커밋된 트랜잭션이 없습니다"),
        ("ja", "コミットされませんでした"),
    ] {
        let ended = bench.dyno(&["run", "alone.toml", "--out", lang, "--lang", lang]);
        assert!(ended.code == 6 && ended.stderr.contains(words), "{ended}");
    }
    bench.file(
        "beside.toml",
        spec(&format!("{{ name = \"fine\", url = \"null:latency_us=200\" }}, {stuck}")),
    );
    let ended = bench.dyno(&["run", "beside.toml", "--out", "beside", "-q"]);
    assert!(ended.is_done(), "{ended}");
    let report = json(&bench.dyno(&["report", "beside", "--format", "json"]));
    let comparisons = report["comparisons"].as_array().expect("a list");
    let verdicts: Vec<&str> = comparisons.iter().filter_map(|it| it["verdict"].as_str()).collect();
    assert!(
        !verdicts.is_empty() && verdicts.iter().all(|verdict| *verdict == "invalid"),
        "{report}"
    );
    let text = bench.dyno(&["report", "beside", "--format", "text"]).stdout;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let sentence = "stuck failed 3 of 3 trials at 2 clients: too many transactions failed.";
    assert!(text.contains(sentence), "{text}");
    assert!(!text.contains("lost no acknowledged updates"), "nothing was acknowledged: {text}");
}

#[test]
fn null_servers_without_data_get_no_audit_verdict() {
    for workload in ["rush", "oltp_read_write"] {
        let bench = Bench::new();
        bench.file(
            "null.toml",
            format!(
                "title = \"t\"\nsystem = [{{ name = \"N\", server = {{ kind = \"null\" }} }}]\nworkload = {{ kind = \"{workload}\" }}\n\
                 load = {{ clients = 2, transactions = 2_000 }}\ndesign = {{ blocks = 1 }}\n"
            ),
        );
        let ended = bench.dyno(&["run", "null.toml", "--out", "r"]);
        let records = records(&bench.path().join("r"));
        let [record] = &records[..] else { panic!("{ended}") };
        assert_eq!(
            (record.counters.committed, record.audit.checks.as_slice()),
            (2_000, &[][..]),
            "{ended}"
        );
        let reported = format!("{}{}", ended.stdout, ended.stderr);
        assert!(
            !reported.contains("LOST")
                && !reported.contains("DAMAGED")
                && !reported.contains("intact"),
            "{ended}"
        );
    }
}
