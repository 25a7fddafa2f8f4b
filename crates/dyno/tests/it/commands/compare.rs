//! `dyno compare` on what runs leave: verdicts, exit codes, forms of output, and the mistakes a
//! user makes.

use crate::program::{Bench, Ended};
use serde_json::{Value, json};
use std::fs;

const SPEC: &str = r#"
title = "Before and after"
system = [{ name = "SQLite", server = { kind = "sqlite" } }]
workload = { kind = "rush", variant = "in-place" }
load = { clients = 1, transactions = 5 }
design = { blocks = 3 }
"#;

/// A bench with the results folder `run` of three trials.
fn measured() -> Bench {
    let bench = Bench::new();
    bench.file("spec.toml", SPEC);
    let ended = bench.dyno(&["run", "spec.toml", "--quiet", "--out", "run"]);
    assert!(ended.is_done(), "{ended}");
    bench
}

/// Copies `run` to another folder with figures set by hand: transactions per second of each trial,
/// and response times that follow.
fn staged(bench: &Bench, name: &str, throughputs: [u64; 3], change: impl Fn(&mut Value)) {
    let (from, to) = (bench.path().join("run"), bench.path().join(name));
    fs::create_dir_all(&to).expect("a folder can be made");
    for file in ["FORMAT", "plan.json", "environment.json", "spec.toml"] {
        fs::copy(from.join(file), to.join(file)).expect("a file can be copied");
    }
    let events = fs::read_to_string(from.join("events.jsonl")).expect("the run has events");
    let mut values = throughputs.into_iter();
    let mut lines = String::new();
    for line in events.lines() {
        let mut event: Value = serde_json::from_str(line).expect("events are JSON");
        if event["event"] == "trial-finished" {
            let throughput = values.next().expect("three trials");
            event["window_length"] = json!(1_000_000_000_u64);
            for count in ["started", "attempts", "committed"] {
                event["counters"][count] = json!(throughput);
            }
            // Enough for every percentile.
            event["transaction_latency"]["count"] = json!(10_000);
            for time in ["mean", "p50", "p95", "p99"] {
                event["transaction_latency"][time] = json!(1_000_000_000 / throughput);
            }
            // How busy this machine was must not make it invalid, also when it is judged anew.
            event["warnings"] = json!([]);
            event["facts"]["steal"] = json!(0.0);
            event["generator"]["workers"] = json!([]);
            change(&mut event);
        }
        lines.push_str(&format!("{event}\n"));
    }
    fs::write(to.join("events.jsonl"), lines).expect("a file can be written");
}

fn last_line(ended: &Ended) -> &str {
    ended.stdout.lines().last().unwrap_or_default()
}

#[test]
fn verdicts_decide_the_exit_code_and_the_last_line_says_why() {
    let bench = measured();
    let as_it_is = |_: &mut Value| {};
    staged(&bench, "base", [1000, 1010, 990], as_it_is);
    staged(&bench, "same", [1001, 1009, 991], as_it_is);
    staged(&bench, "slower", [800, 810, 790], as_it_is);
    staged(&bench, "faster", [1300, 1310, 1290], as_it_is);
    staged(&bench, "wild", [500, 1000, 2000], as_it_is);
    staged(&bench, "dead", [1000, 1010, 990], |event| {
        for count in ["started", "attempts", "committed"] {
            event["counters"][count] = json!(0);
        }
        event["transaction_latency"]["count"] = json!(0);
    });
    staged(&bench, "broken", [1000, 1010, 990], |event| {
        let check = json!({"check": "row-count", "table": "t", "expected_min": 5, "expected_max": 5, "found": 4});
        event["audit"]["checks"] = json!([check]);
    });
    let rows: &[(&str, &[&str], i32, &str)] = &[
        ("same", &[], 0, "Equivalent: Throughput is unchanged"),
        (
            "slower",
            &[],
            8,
            "Also worse: mean response time, median response time, p95 response time",
        ),
        (
            "slower",
            &["--metric", "throughput"],
            8,
            "Worse: Throughput fell by 20 % at 1 client (95 % interval",
        ),
        ("slower", &["--margin", "60%"], 0, "the difference is less than 60 % (90 % interval"),
        ("slower", &["--fail-on", "none"], 0, "Worse: "),
        ("slower", &["--fail-on", "inconclusive"], 0, "Worse: "),
        ("dead", &["--fail-on", "worse"], 8, "Failed: new has no verdict in 5 of 5 comparisons"),
        ("faster", &[], 0, "Better: Throughput rose by 30 % at 1 client (95.1 % interval"),
        ("faster", &["--fail-on", "worse,better"], 9, "Better: "),
        ("wild", &[], 0, "Inconclusive: Undecided whether throughput changed"),
        ("wild", &["--fail-on", "worse,inconclusive"], 9, "Inconclusive: "),
        (
            "broken",
            &[],
            9,
            "Invalid: nothing is known to be worse, but 5 of 5 comparisons cannot be judged",
        ),
    ];
    for (new, options, code, sentence) in rows {
        let ended = bench.dyno(&[&["compare", "base", new], *options].concat());
        assert!(ended.code == *code && ended.stderr.is_empty(), "{new} {options:?}: {ended}");
        assert!(last_line(&ended).contains(sentence), "{new} {options:?}: {ended}");
    }
    let slower = bench.dyno(&["compare", "base", "slower"]).stdout;
    let line = slower.lines().find(|line| line.starts_with("  tx/s")).unwrap_or_default();
    assert!(
        line.contains(" 1,000 ") && line.contains(" 800 ") && line.ends_with("worse"),
        "{slower}"
    );
    assert!(
        slower.contains("The runs were not interleaved") || slower.contains("alternated"),
        "{slower}"
    );
    let json = bench.dyno(&["compare", "base", "slower", "--json"]);
    let value: Value = serde_json::from_str(&json.stdout).expect("one JSON value");
    assert_eq!(
        (json.code, &value["outcome"]["verdict"], &value["compare_format"]),
        (8, &json!("worse"), &json!(1))
    );
}

#[test]
fn forms_go_to_stdout_or_into_files() {
    let bench = measured();
    staged(&bench, "base", [1000, 1010, 990], |_| {});
    staged(&bench, "new", [800, 810, 790], |_| {});
    let rows = [
        ("md", "# Comparison: Before and after"),
        ("csv", "system,system_new,"),
        ("html", "<!DOCTYPE html>"),
    ];
    for (format, beginning) in rows {
        let ended = bench.dyno(&["compare", "base", "new", "--format", format]);
        assert!(ended.code == 8 && ended.stdout.starts_with(beginning), "{ended}");
    }
    let titled = bench.dyno(&[
        "compare",
        "base",
        "new",
        "--format",
        "html",
        "--title",
        "An index & its price",
    ]);
    for element in ["title", "h1"] {
        let text = format!("<{element}>An index &amp; its price</{element}>");
        assert!(titled.stdout.contains(&text), "{titled}");
    }
    let ended =
        bench.dyno(&["compare", "base", "new", "--format", "text,json,html", "--out", "folder"]);
    assert_eq!(ended.code, 8, "{ended}");
    let text = fs::read_to_string(bench.path().join("folder/compare.txt")).expect("a text");
    assert_eq!(text, bench.dyno(&["compare", "base", "new"]).stdout);
    for file in ["compare.json", "compare.html"] {
        assert!(
            ended.stdout.contains(file) && bench.path().join("folder").join(file).exists(),
            "{ended}"
        );
    }
}

/// `dyno sysbench` on a file, with its results below a folder.
fn sysbench(bench: &Bench, script: &str, arguments: &[&str]) {
    let options = [
        "sysbench",
        script,
        "--db-driver=sqlite",
        "--sqlite-db=file.db",
        "--table-size=20",
        "--events=5",
    ];
    let ended = bench.dyno(&[&options[..], arguments].concat());
    assert!(ended.is_done(), "{ended}");
}

#[test]
fn runs_of_sysbench_are_pooled_by_the_folder_that_they_were_given() {
    let bench = Bench::new();
    sysbench(&bench, "oltp_point_select", &["prepare"]);
    for (folder, threads) in
        [("base", "1"), ("base", "2"), ("new", "1"), ("base", "1"), ("new", "1")]
    {
        let (threads, results) = (format!("--threads={threads}"), format!("--results={folder}"));
        sysbench(&bench, "oltp_point_select", &[&threads, &results, "run"]);
    }
    for folder in ["base/oltp_point_select", "new/oltp_point_select"] {
        for run in fs::read_dir(bench.path().join(folder)).expect("runs lie there") {
            let run = run.expect("an entry").file_name().into_string().expect("a name of dyno's");
            bench.forget_the_machine(&format!("{folder}/{run}"));
        }
    }
    let ended = bench.dyno(&["compare", "base", "new"]);
    // Two trials on each side cannot be compared.
    assert!(ended.code == 9 && ended.stderr.is_empty(), "{ended}");
    assert!(ended.stdout.starts_with("Comparison: sysbench oltp_point_select\n"), "{ended}");
    assert!(ended.stdout.contains("1 client (n = 2 and 2)\n"), "{ended}");
    assert!(
        ended.stdout.contains("Only in base, not compared\n* sqlite file.db, 2 clients\n"),
        "{ended}"
    );
    let text = ended.stdout.replace('\n', " ");
    assert!(text.contains("A verdict needs at least 3 valid trials per side"), "{ended}");
    assert!(last_line(&ended).starts_with("Inconclusive: "), "{ended}");
    assert!(last_line(&ended).contains("needs at least 3 valid trials per side"), "{ended}");
    assert_eq!(bench.dyno(&["compare", "base", "new", "--fail-on", "missing"]).code, 9);
    assert_eq!(bench.dyno(&["compare", "base", "new", "--fail-on", "worse"]).code, 0);
}

#[test]
fn sysbench_with_other_keys_or_tables_is_not_the_same_thing() {
    let bench = Bench::new();
    sysbench(&bench, "oltp_point_select", &["prepare"]);
    sysbench(&bench, "oltp_point_select", &["--results=uniform", "--rand-type=uniform", "run"]);
    sysbench(&bench, "oltp_point_select", &["--results=special", "--rand-type=special", "run"]);
    sysbench(&bench, "oltp_read_only", &["--results=special", "--rand-type=special", "run"]);
    let keys = bench.dyno(&["compare", "uniform", "special/oltp_point_select"]);
    let text = "nothing to compare; rand_type: uniform in BASE, special in NEW";
    assert!(keys.code == 2 && keys.stdout.is_empty() && keys.stderr.contains(text), "{keys}");
    let mixed = bench.dyno(&["compare", "uniform", "special"]);
    let text =
        "NEW cannot be pooled: runs of different experiments are no repeats: oltp_point_select (";
    assert!(
        mixed.code == 2 && mixed.stderr.contains(text) && mixed.stderr.contains("help: "),
        "{mixed}"
    );
}

#[test]
fn mistakes_are_reported_with_their_remedy() {
    let bench = measured();
    staged(&bench, "base", [1000, 1010, 990], |_| {});
    fs::create_dir(bench.path().join("empty")).expect("a folder can be made");
    fs::create_dir(bench.path().join("newer")).expect("a folder can be made");
    bench.file("newer/FORMAT", "99");
    let rows: &[(&[&str], i32, &str)] = &[
        (&["base"], 2, "<NEW>"),
        (&["base", "nowhere"], 7, "nowhere does not exist"),
        (&["empty", "base"], 7, "no results folder found in empty or below it"),
        (&["base", "newer"], 7, "results format 99"),
        (&["base", "base"], 2, "the run base is on both sides"),
        (&["base", "run", "--system", "SQLite=Other"], 2, "BASE has `SQLite`; NEW has `SQLite`"),
        (&["base", "run", "--margin", "5"], 2, "for example 5% or 0.05"),
        (&["base", "run", "--metric", "p90"], 2, "p95"),
        (&["base", "run", "--fail-on", "wrose"], 2, "'worse'"),
        (&["base", "run", "--format", "md,csv"], 2, "--out DIR"),
        (&["base", "run", "--json", "--format", "md"], 2, "cannot be used with"),
    ];
    for (arguments, code, hint) in rows {
        let ended = bench.dyno(&[&["compare"], *arguments].concat());
        assert!(ended.code == *code && ended.stdout.is_empty(), "{arguments:?}: {ended}");
        assert!(ended.stderr.contains(hint), "{arguments:?}: {ended}");
    }
}

#[test]
fn a_run_that_was_killed_is_compared_as_far_as_it_came_and_told() {
    let bench = measured();
    staged(&bench, "base", [1000, 1010, 990], |_| {});
    staged(&bench, "new", [1001, 1009, 991], |_| {});
    let path = bench.path().join("new/events.jsonl");
    let events = fs::read_to_string(&path).expect("events");
    let last = events.rfind(r#""event":"trial-finished""#).expect("three trials");
    fs::write(&path, &events[..last]).expect("a file can be written");
    let ended = bench.dyno(&["compare", "base", "new"]);
    assert_eq!(ended.code, 9, "two pairs are too few: {ended}");
    let text = ended.stdout.replace("\n  ", " ");
    assert!(text.contains("1 of 3 trials of new has no results."), "{ended}");
    assert!(
        text.contains("without an end record") && text.contains("the last line is cut off"),
        "{ended}"
    );
    assert!(last_line(&ended).starts_with("Inconclusive: "), "{ended}");
}

#[test]
fn compare_reports_changed_scripts_and_refuses_changed_weights() {
    let bench = Bench::new();
    let run = |results: &str, script: &str, statement: &str| {
        bench.file("a.sql", statement);
        let arguments = [
            "pgbench",
            "--url",
            "sqlite:file.db",
            "-n",
            "-t",
            "3",
            "--results",
            results,
            "-f",
            script,
        ];
        let ended = bench.dyno(&arguments);
        assert!(ended.is_done(), "{ended}");
    };
    run("base", "a.sql", "SELECT 1;\n");
    run("same", "a.sql", "SELECT 1;\n");
    run("other", "a.sql", "SELECT 2;\n");
    run("weighted", "a.sql@7", "SELECT 1;\n");
    let reported = |new: &str| {
        bench.dyno(&["compare", "base", new]).stdout.contains("Different scripts: lines (SELECT")
    };
    assert!(reported("other") && !reported("same"));
    let weighted = bench.dyno(&["compare", "base", "weighted"]);
    let text = "scripts: a.sql in BASE, a.sql@7 in NEW";
    assert!(weighted.code == 2 && weighted.stderr.contains(text), "{weighted}");
}
