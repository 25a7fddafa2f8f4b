//! Whole runs on PostgreSQL.

use crate::program::{BOTH, Bench, Program, has_pgbench, postgres};
use dyno_model::event::Event;
use dyno_model::record::TrialRecord;
use dyno_model::warning::Warning;
use std::path::PathBuf;
use std::time::Instant;

/// A line of a report, without its label.
fn figure<'a>(report: &'a str, label: &str) -> &'a str {
    report
        .lines()
        .find_map(|line| line.trim_start_matches(" - ").strip_prefix(label))
        .unwrap_or_else(|| panic!("no {label} in {report}"))
        .trim()
}

fn programs() -> impl Iterator<Item = Program> {
    BOTH.into_iter().filter(|program| *program == Program::Dyno || has_pgbench())
}

/// The three balances and the history agree, and the history has this many rows.
fn assert_balanced(bench: &Bench, rows: u64) {
    let sums = "SELECT (SELECT sum(abalance) FROM pgbench_accounts) = (SELECT sum(delta) FROM pgbench_history) \
                AND (SELECT sum(tbalance) FROM pgbench_tellers) = (SELECT sum(delta) FROM pgbench_history) \
                AND (SELECT sum(bbalance) FROM pgbench_branches) = (SELECT sum(delta) FROM pgbench_history)";
    assert_eq!(bench.first(sums), "t");
    assert_eq!(bench.first("SELECT count(*) FROM pgbench_history"), rows.to_string());
}

/// Balances and history as new.
fn reset(bench: &Bench) {
    bench.script(
        "reset.sql",
        "truncate pgbench_history;\nupdate pgbench_accounts set abalance = 0 where abalance <> 0;\n\
         update pgbench_tellers set tbalance = 0;\nupdate pgbench_branches set bbalance = 0;\n",
    );
    let ended = bench.run(Program::Dyno, &["-n", "-f", "reset.sql", "-t", "1"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

#[test]
fn the_same_seed_leaves_the_same_rows_in_both_programs() {
    let Some(bench) = postgres() else { return };
    let rows = "SELECT string_agg(concat_ws(' ', tid, bid, aid, delta), ',' ORDER BY mtime) FROM pgbench_history";
    for mode in ["simple", "extended", "prepared"] {
        let mut left = Vec::new();
        for program in programs() {
            reset(&bench);
            let arguments = ["-n", "-t", "40", "--random-seed=11", "-M", mode];
            let ended = bench.run(program, &arguments);
            assert_eq!(ended.code, Some(0), "{}", ended.stderr);
            assert_balanced(&bench, 40);
            left.push(bench.first(rows));
        }
        assert!(left.windows(2).all(|pair| pair[0] == pair[1]), "{mode}: {left:?}");
    }
}

#[test]
fn reports_are_equal_but_for_their_figures() {
    let Some(bench) = postgres() else { return };
    let lines = [
        "-t 10 -c 2",
        "-n -t 10 -c 3 -j 2 -S -r",
        "-n -t 5 -c 2 -C -j 2 -N",
        "-n -t 5 -c 2 -M prepared -S -N -b tpcb-like@3 --random-seed=4 --failures-detailed -r",
        "-n -t 5 -R 2000 -L 5000 --max-tries=3 -r",
        "-n -t 5 -c 2 -P 100 -S",
        "-n -t 5 -S -s 7",
        "-v -t 2",
    ];
    if !has_pgbench() {
        return;
    }
    for line in lines {
        let arguments: Vec<&str> = line.split_whitespace().collect();
        let [theirs, ours] = BOTH.map(|program| bench.run(program, &arguments).masked());
        // With several clients the choice of scripts depends on the order in which threads run.
        let comparable = |text: &str| {
            let lines = text
                .lines()
                .filter(|line| !(line.contains(" transactions (") || line.contains("NaN")));
            lines.collect::<Vec<_>>().join("\n")
        };
        assert_eq!(comparable(&ours.stdout), comparable(&theirs.stdout), "{line}");
        assert_eq!((ours.code, &ours.stderr), (theirs.code, &theirs.stderr), "{line}");
    }
}

#[test]
fn clients_run_all_transactions_and_counters_match_the_tables() {
    let Some(bench) = postgres() else { return };
    reset(&bench);
    let ended =
        bench.run(Program::Dyno, &["-n", "-c", "20", "-j", "2", "-t", "25", "-M", "prepared"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(figure(&ended.stdout, "number of transactions actually processed:"), "500/500");
    assert_balanced(&bench, 500);
    let ended = bench.run(Program::Dyno, &["-n", "-c", "8", "-T", "1", "-P", "1"]);
    let done: u64 =
        figure(&ended.stdout, "number of transactions actually processed:").parse().unwrap();
    assert_balanced(&bench, 500 + done);
}

#[test]
fn tables_are_made_alike_by_both_programs() {
    let Some(bench) = postgres() else { return };
    if !has_pgbench() {
        return;
    }
    let tables = "SELECT string_agg(concat_ws(' ', c.relname, c.relkind, c.relpersistence, c.reloptions, a.attname, \
                  format_type(a.atttypid, a.atttypmod), a.attnotnull, pg_get_expr(c.relpartbound, c.oid)), ',' \
                  ORDER BY c.relname, a.attnum) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid \
                  WHERE c.relname LIKE 'pgbench%' AND a.attnum > 0";
    let keys = "SELECT string_agg(concat_ws(' ', conname, conrelid::regclass, pg_get_constraintdef(oid)), ',' \
                ORDER BY conname, conrelid::regclass::text) FROM pg_constraint WHERE conname LIKE 'pgbench%'";
    let rows = "SELECT md5(string_agg(concat_ws(' ', aid, bid, abalance, '<' || filler || '>'), ',' ORDER BY aid)) \
                || (SELECT md5(string_agg(concat_ws(' ', tid, bid, tbalance, filler), ',' ORDER BY tid)) FROM pgbench_tellers) \
                || (SELECT md5(string_agg(concat_ws(' ', bid, bbalance, filler), ',' ORDER BY bid)) FROM pgbench_branches) \
                FROM pgbench_accounts";
    for line in [
        "-i -q -s 2",
        "-i -q -F 80 --unlogged-tables",
        "-i -q --foreign-keys --partitions=3",
        "-i -q -I dtGvpf --partitions=2 --partition-method=hash",
        "-i -q",
    ] {
        let arguments: Vec<&str> = line.split_whitespace().collect();
        let mut made = Vec::new();
        for program in [Program::Pgbench, Program::Dyno] {
            let ended = bench.run(program, &arguments);
            assert_eq!(ended.code, Some(0), "{line}: {}", ended.stderr);
            made.push([tables, keys, rows].map(|sql| bench.first(sql)));
        }
        assert_eq!(made[0], made[1], "{line}");
    }
}

#[test]
fn transactions_that_conflict_are_tried_again_with_the_same_numbers() {
    let Some(bench) = postgres() else { return };
    reset(&bench);
    let variables = [("PGOPTIONS", "-c default_transaction_isolation=serializable")];
    let arguments =
        ["-n", "-c", "8", "-t", "20", "--max-tries=0", "-T", "60", "--failures-detailed", "-r"];
    let without_time: Vec<&str> =
        arguments.iter().copied().filter(|argument| !["-T", "60"].contains(argument)).collect();
    let refused = bench.run_with(Program::Dyno, &without_time, &variables);
    assert_eq!(refused.code, Some(1), "an unlimited number of tries needs another limit");
    let arguments = ["-n", "-c", "8", "-t", "20", "--max-tries=1000", "--failures-detailed", "-r"];
    let ended = bench.run_with(Program::Dyno, &arguments, &variables);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(figure(&ended.stdout, "number of transactions actually processed:"), "160/160");
    assert_eq!(figure(&ended.stdout, "number of failed transactions:"), "0 (0.000%)");
    let retries: u64 = figure(&ended.stdout, "total number of retries:").parse().unwrap();
    assert!(retries > 0, "eight clients on one branch conflict");
    assert_balanced(&bench, 160);

    // With a single try they fail, are counted, and leave nothing behind.
    reset(&bench);
    let ended = bench.run_with(
        Program::Dyno,
        &["-n", "-c", "8", "-t", "20", "--failures-detailed"],
        &variables,
    );
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let done: u64 = figure(&ended.stdout, "number of transactions actually processed:")
        .split('/')
        .next()
        .and_then(|count| count.parse().ok())
        .expect("a count");
    let count = |label| {
        figure(&ended.stdout, label)
            .split(' ')
            .next()
            .and_then(|count| count.parse::<u64>().ok())
            .expect("a count")
    };
    assert_eq!(done + count("number of failed transactions:"), 160);
    let kinds = count("number of serialization failures:") + count("number of deadlock failures:");
    assert_eq!(kinds, count("number of failed transactions:"));
    assert_balanced(&bench, done);
}

#[test]
fn an_aborted_client_leaves_the_others_running_unless_told_otherwise() {
    let Some(bench) = postgres() else { return };
    bench.script(
        "abort.sql",
        "\\if :client_id = 0\nselect 1/0;\n\\endif\nselect 1;\n\\sleep 1 ms\n",
    );
    for program in programs() {
        let ended = bench.run(program, &["-n", "-f", "abort.sql", "-c", "3", "-t", "7"]);
        assert_eq!(ended.code, Some(2));
        assert_eq!(figure(&ended.stdout, "number of transactions actually processed:"), "14/21");
        assert!(
            ended.stderr.contains(
                "client 0 script 0 aborted in command 1 query 0: ERROR:  division by zero"
            )
        );
        assert!(
            ended
                .stderr
                .ends_with("pgbench: error: Run was aborted; the above results are incomplete.\n")
        );
    }
    let ended = bench
        .run(Program::Dyno, &["-n", "-f", "abort.sql", "-c", "3", "-T", "30", "--exit-on-abort"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("division by zero"));
}

#[test]
fn a_rate_is_kept_and_what_is_too_late_is_skipped() {
    let Some(bench) = postgres() else { return };
    bench.script("slow.sql", "\\sleep 20 ms\n");
    let arguments =
        ["-n", "-f", "slow.sql", "-R", "500", "-L", "30", "-t", "40", "-l", "--log-prefix=late"];
    let ended = bench.run(Program::Dyno, &[&arguments[..], &["--results", "late"]].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let report = &ended.stdout;
    let done: u64 = figure(report, "number of transactions actually processed:")
        .trim_end_matches("/40")
        .parse()
        .unwrap();
    let skipped = figure(report, "number of transactions skipped:")
        .split(' ')
        .next()
        .unwrap()
        .parse::<u64>()
        .unwrap();
    assert_eq!(done + skipped, 40);
    assert!(skipped > 0, "fifty a second are not five hundred");
    assert!(report.contains("rate limit schedule lag: avg "));
    let log = std::fs::read_to_string(&logs(&bench, "late")[0]).unwrap();
    assert_eq!(log.lines().filter(|line| line.contains(" skipped ")).count() as u64, skipped);
    // Seven fields: the last is the lag.
    assert!(log.lines().all(|line| line.split(' ').count() == 7), "{log}");
    // The books have the same counts, nobody calls them failures, and a report shows them.
    let (record, csv) = (record(&bench, "late"), reported(&bench, "late", "csv"));
    let counters = &record.counters;
    assert_eq!(
        (counters.started, counters.committed, counters.skipped, counters.failed),
        (40, done, skipped, 0)
    );
    assert!(record.warnings.iter().any(|warning| matches!(warning, Warning::Skipped { .. })));
    let is_flaw = |warning: &&Warning| {
        matches!(warning, Warning::Failures { .. } | Warning::CountersUnbalanced { .. })
    };
    assert_eq!(record.warnings.iter().find(is_flaw), None);
    assert!(
        csv.lines().any(|line| line.contains("skipped") && line.contains(&skipped.to_string())),
        "{csv}"
    );
}

#[test]
fn both_programs_skip_the_same_transactions() {
    let Some(bench) = postgres() else { return };
    // All arrive within microseconds. Each client is in time for its first; when that has ended,
    // all others are too late for the limit.
    bench.script("long.sql", "\\sleep 4 s\n");
    let arguments = ["-n", "-f", "long.sql", "-R", "1000000", "-L", "3000", "-c", "3", "-t", "5"];
    for program in programs() {
        let ended = bench.run(program, &arguments);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let reported = |label| figure(&ended.stdout, label);
        assert_eq!(reported("number of transactions actually processed:"), "3/15", "{program:?}");
        assert_eq!(reported("number of transactions skipped:"), "12 (80.000%)", "{program:?}");
        assert_eq!(reported("number of failed transactions:"), "0 (0.000%)", "{program:?}");
        let late = reported("number of transactions above the 3000.0 ms latency limit:");
        assert_eq!(late, "3/3 (100.000%)", "{program:?}");
    }
}

#[test]
fn a_server_that_stands_still_is_a_stall_in_the_results() {
    let Some(bench) = postgres() else { return };
    bench.script(
        "still.sql",
        "\\set n :n + 1\n\\if :n = 300\nSELECT pg_sleep(2);\n\\else\nSELECT 1;\n\\endif\n",
    );
    let arguments = ["-n", "-f", "still.sql", "-D", "n=0", "-t", "600", "--results", "still"];
    let ended = bench.run(Program::Dyno, &arguments);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let is_reported = |warning: &Warning| matches!(warning, Warning::Stall { longest_gap, .. } if *longest_gap >= 2.0);
    let warnings = record(&bench, "still").warnings;
    assert!(warnings.iter().any(is_reported), "{warnings:?}");
    let json = reported(&bench, "still", "json");
    assert!(json.contains("\"warning\": \"stall\""), "{json}");
}

/// The results folder of the only run below a folder.
fn results(bench: &Bench, root: &str) -> PathBuf {
    let experiment = bench.folder().join(root).join("pgbench");
    let mut runs = std::fs::read_dir(experiment).expect("results were written");
    runs.next().expect("a run").expect("its folder can be read").path()
}

/// The record of its trial, as it was written.
fn record(bench: &Bench, root: &str) -> TrialRecord {
    let events = std::fs::read_to_string(results(bench, root).join("events.jsonl"))
        .expect("the log is there");
    let mut events =
        events.lines().map(|line| serde_json::from_str::<Event>(line).expect("an event"));
    let record = events.find_map(|event| match event {
        Event::TrialFinished(record) => Some(*record),
        _ => None,
    });
    record.expect("the trial has figures")
}

/// What `dyno report` says of it.
fn reported(bench: &Bench, root: &str, format: &str) -> String {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_dyno"));
    let output = command
        .args(["report", "--format", format])
        .arg(results(bench, root))
        .output()
        .expect("dyno can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Log files of a prefix, by name.
fn logs(bench: &Bench, prefix: &str) -> Vec<PathBuf> {
    let begins = |path: &PathBuf| {
        path.file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with(&format!("{prefix}.")))
    };
    let mut files: Vec<PathBuf> = std::fs::read_dir(bench.folder())
        .expect("the folder of the test is there")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(begins)
        .collect();
    files.sort();
    files
}

#[test]
fn logs_have_a_line_per_transaction_or_per_interval() {
    let Some(bench) = postgres() else { return };
    for program in programs() {
        let prefix = format!("plain-{program:?}");
        let option = format!("--log-prefix={prefix}");
        let ended =
            bench.run(program, &["-n", "-S", "-c", "3", "-j", "2", "-t", "10", "-l", &option]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let files = logs(&bench, &prefix);
        assert_eq!(files.len(), 2, "one per thread");
        let lines: Vec<Vec<u64>> = files
            .iter()
            .flat_map(|file| {
                std::fs::read_to_string(file)
                    .unwrap()
                    .lines()
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            })
            .map(|line| line.split(' ').map(|field| field.parse().unwrap()).collect())
            .collect();
        assert_eq!(lines.len(), 30);
        for client in 0..3 {
            let numbers: Vec<u64> =
                lines.iter().filter(|line| line[0] == client).map(|line| line[1]).collect();
            assert_eq!(numbers, (1..=10).collect::<Vec<_>>());
        }
        assert!(lines.iter().all(|line| line.len() == 6 && line[3] == 0 && line[5] < 1_000_000));

        let prefix = format!("sums-{program:?}");
        let option = format!("--log-prefix={prefix}");
        let arguments = ["-n", "-S", "-T", "2", "-l", "--aggregate-interval=1", &option];
        let began = Instant::now();
        assert_eq!(bench.run(program, &arguments).code, Some(0));
        let passed = began.elapsed().as_secs() as usize;
        let text = std::fs::read_to_string(&logs(&bench, &prefix)[0]).unwrap();
        assert!((1..=passed).contains(&text.lines().count()), "{passed} s:\n{text}");
        assert!(text.lines().all(|line| line.split(' ').count() == 15), "{text}");
    }
    let ended = bench.run(
        Program::Dyno,
        &[
            "-n",
            "-S",
            "-t",
            "1000",
            "-l",
            "--log-prefix=sampled",
            "--sampling-rate=0.1",
            "--random-seed=1",
        ],
    );
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let lines = std::fs::read_to_string(&logs(&bench, "sampled")[0]).unwrap().lines().count();
    assert!((60..140).contains(&lines), "{lines}");
}

#[test]
fn progress_is_reported_every_second() {
    let Some(bench) = postgres() else { return };
    let began = Instant::now();
    let ended = bench.run(Program::Dyno, &["-n", "-S", "-T", "2", "-P", "1", "-c", "2"]);
    let passed = began.elapsed().as_secs();
    let lines: Vec<&str> =
        ended.stderr.lines().filter(|line| line.starts_with("progress: ")).collect();
    assert!((1..=passed as usize).contains(&lines.len()), "{passed} s:\n{}", ended.stderr);
    // On a busy machine it comes late, and never early.
    let time = lines[0]
        .strip_prefix("progress: ")
        .and_then(|line| line.split_once(" s, "))
        .map(|(time, _)| time);
    let time: f64 =
        time.and_then(|time| time.parse().ok()).unwrap_or_else(|| panic!("{}", lines[0]));
    assert!((1.0..=passed as f64 + 1.0).contains(&time), "{}", lines[0]);
    assert!(lines[0].ends_with(", 0 failed"), "{}", lines[0]);
    assert!(ended.stdout.contains("latency stddev = "));
    // A run that lasts as long as its last line is due has that line too.
    let ended = bench.run(Program::Dyno, &["-n", "-S", "-T", "1", "-P", "1"]);
    assert!(ended.stderr.lines().any(|line| line.starts_with("progress: ")), "{}", ended.stderr);
}

#[test]
fn a_pipeline_is_one_transaction_and_costs_one_wait() {
    let Some(bench) = postgres() else { return };
    reset(&bench);
    let script = "\\set aid random(1, 100000)\n\\set delta random(-5000, 5000)\n\\startpipeline\n\
                  UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;\n\
                  UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = 1;\n\
                  UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = 1;\n\
                  INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (1, 1, :aid, :delta, CURRENT_TIMESTAMP);\n\
                  \\endpipeline\n";
    bench.script("pipeline.sql", script);
    for (turn, mode) in ["extended", "prepared"].into_iter().enumerate() {
        let ended = bench
            .run(Program::Dyno, &["-n", "-f", "pipeline.sql", "-c", "4", "-t", "25", "-M", mode]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert_balanced(&bench, 100 * (turn as u64 + 1));
    }
    bench.script("broken.sql", &script.replace("\\endpipeline", "SELECT 1/0;\n\\endpipeline"));
    let ended = bench.run(Program::Dyno, &["-n", "-f", "broken.sql", "-t", "1", "-M", "prepared"]);
    assert_eq!(ended.code, Some(2));
    assert_balanced(&bench, 200);
}

#[test]
fn many_clients_share_one_thread() {
    let Some(bench) = postgres() else { return };
    let ended = bench.run(Program::Dyno, &["-n", "-S", "-c", "90", "-t", "5", "-M", "prepared"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(figure(&ended.stdout, "number of transactions actually processed:"), "450/450");
    assert_eq!(figure(&ended.stdout, "number of threads:"), "1");
}

#[test]
fn a_script_that_sends_nothing_lets_other_clients_run() {
    let Some(bench) = postgres() else { return };
    bench.script("idle.sql", "\\set x 1 + 1\n");
    let arguments = ["-n", "-f", "idle.sql", "-c", "3", "-t", "3000", "-l", "--log-prefix=idle"];
    let ended = bench.run(Program::Dyno, &arguments);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let log = std::fs::read_to_string(&logs(&bench, "idle")[0]).unwrap();
    let lines: Vec<&str> = log.lines().collect();
    let first = |client: &str| lines.iter().position(|line| line.starts_with(client));
    let last = |client: &str| lines.iter().rposition(|line| line.starts_with(client));
    for (client, other) in [("0 ", "1 "), ("1 ", "2 "), ("2 ", "0 ")] {
        assert!(
            first(client) < last(other),
            "client {other}had all its turns before client {client}"
        );
    }
}

#[test]
fn a_statement_that_hangs_is_cut_off_after_the_time_limit() {
    let Some(bench) = postgres() else { return };
    bench.script(
        "hang.sql",
        "\\if :client_id = 0\nselect pg_sleep(25);\n\\endif\nselect 1;\n\\sleep 1 ms\n",
    );
    let run = |limit: &str| {
        bench.run(
            Program::Dyno,
            &["-n", "-f", "hang.sql", "-c", "2", "-T", "1", "--hang-timeout", limit],
        )
    };
    let ended = run("0.2");
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    let reported = "transactions were still running 0.2 seconds after the time limit and were cut off (--hang-timeout)";
    assert!(ended.stderr.contains(reported), "{}", ended.stderr);
    let done = figure(&ended.stdout, "number of transactions actually processed:");
    assert_ne!(done, "0", "the other client's transactions are reported");
    let refused = run("-1");
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{}", refused.stderr);
}

#[test]
fn a_list_of_clients_is_run_in_every_block_and_reported_as_one() {
    let Some(bench) = postgres() else { return };
    let arguments = ["-nS", "-t", "20", "-c", "1,2,4", "--blocks=3", "--results", "curve"];
    let ended = bench.run(Program::Dyno, &arguments);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(
        ended.stderr.lines().filter(|line| line.contains(" of 9, block ")).count(),
        9,
        "{}",
        ended.stderr
    );
    let has_row = |clients| dyno_testkit::has_row_of_trials(&ended.stdout, clients, 3);
    assert!([1, 2, 4].into_iter().all(has_row), "three trials each: {}", ended.stdout);
    let processed = ended
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix("number of transactions actually processed: "));
    let mut processed: Vec<&str> = processed.collect();
    processed.sort_unstable();
    assert_eq!(
        processed,
        ["20/20", "20/20", "20/20", "40/40", "40/40", "40/40", "80/80", "80/80", "80/80"]
    );
    let page =
        ended.stdout.lines().find_map(|line| line.strip_prefix("Report: ")).expect("it says where");
    assert!(page.starts_with("curve/pgbench/") && bench.folder().join(page).is_file(), "{page}");
    let password = bench.target().password.reveal().to_owned();
    assert!(!dyno_testkit::folder_holds(&bench.folder().join("curve"), &password));

    let refused = bench.run(Program::Dyno, &["-nS", "-t", "20", "-c", "1,x"]);
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.stderr.contains("-c/--clients \"1,x\": `x` is not a number of 1 or more"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_results_folder_can_be_reported() {
    let Some(bench) = postgres() else { return };
    let arguments = ["-n", "-S", "-t", "50", "-c", "2", "--results", "out"];
    let ended = bench.run(Program::Dyno, &arguments);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(reported(&bench, "out", "csv").contains("postgres"));
    let password = bench.target().password.reveal().to_owned();
    assert!(!dyno_testkit::folder_holds(&results(&bench, "out"), &password));
}

#[test]
fn a_login_refused_during_a_run_is_reported_with_host_and_port() {
    let Some(bench) = postgres() else { return };
    let password = bench.target().password.reveal().to_owned();
    for program in programs() {
        bench.script(
            "guest.sql",
            &format!("create role guest superuser login password '{password}';\n"),
        );
        let made = bench.run(Program::Dyno, &["-n", "-f", "guest.sql", "-t", "1"]);
        assert_eq!(made.code, Some(0), "{}", made.stderr);
        bench.script("shut.sql", "alter role guest nologin;\n");
        let ended = bench.run_with(
            program,
            &["-n", "-C", "-f", "shut.sql", "-t", "2"],
            &[("PGUSER", "guest")],
        );
        bench.script("gone.sql", "drop role guest;\n");
        let gone = bench.run(Program::Dyno, &["-n", "-f", "gone.sql", "-t", "1"]);
        assert_eq!(gone.code, Some(0), "{}", gone.stderr);
        let reported = ended.stderr.lines().find(|line| line.contains("not permitted to log in"));
        let reported = reported.unwrap_or_else(|| panic!("{program:?}: {}", ended.stderr));
        assert!(
            reported.contains("connection to server at \"") && reported.contains("\", port "),
            "{reported}"
        );
    }
}
