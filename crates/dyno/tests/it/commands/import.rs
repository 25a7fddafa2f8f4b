//! `dyno import`: figures of other programs become a folder that reports and comparisons take, and
//! a claim is held against them.

use crate::program::Bench;

/// What sysbench prints of a run with so many clients and transactions per second.
fn log(clients: u32, per_second: u32) -> String {
    let transactions = per_second * 10;
    format!(
        "Running the test with following options:\nNumber of threads: {clients}\n\nSQL statistics:\n    transactions:                        {transactions} \
         ({per_second}.00 per sec.)\n\nGeneral statistics:\n    total time:                          10.0000s\n    total number of events:              {transactions}\n\n\
         Latency (ms):\n         min:                                   1.06\n         avg:                                   3.10\n         \
         max:                                  65.04\n         95th percentile:                        7.83\n"
    )
}

/// One line of what a program says in paragraphs.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn logs_of_dynos_own_replacements_name_dyno() {
    let bench = Bench::new();
    bench.file("one.sql", "SELECT 1;\n");
    bench.file(
        "one.lua",
        "function thread_init() con = sysbench.sql.driver():connect() end\n\
         function event() con:query('SELECT 1') end\n",
    );
    for (program, arguments) in [
        ("pgbench", &["--url", "sqlite:a.db", "-n", "-t", "200", "-f", "one.sql"][..]),
        ("sysbench", &["one.lua", "--db-driver=sqlite", "--sqlite-db=a.db", "--events=200", "run"]),
    ] {
        let ended = bench.dyno(&[&[program], arguments].concat());
        assert!(ended.is_done(), "{ended}");
        bench.file("run.log", &ended.stdout);
        let ended = bench.dyno(&["import", "run.log"]);
        let reported = format!("(dyno {program} {})", env!("CARGO_PKG_VERSION"));
        assert!(flat(&ended.stdout).contains(&reported), "{reported}: {ended}");
        assert!(!ended.stdout.contains("PostgreSQL") && !ended.stdout.contains("version 15"));
    }
}

const CLAIM: &str = "pool is faster than threads";

#[test]
fn a_claim_is_contradicted_but_not_refuted_by_single_runs() {
    let bench = Bench::new();
    for (name, clients, rate) in [
        ("pool-10.log", 10, 188),
        ("pool-40.log", 40, 180),
        ("threads-10.log", 10, 211),
        ("threads-40.log", 40, 194),
    ] {
        bench.file(name, log(clients, rate));
    }
    let files = ["pool-10.log", "pool-40.log", "threads-10.log", "threads-40.log"];
    let ended = bench.dyno(&[&["import"], &files[..], &["--claim", CLAIM, "--out", "r"]].concat());
    assert!(ended.is_done(), "{ended}");
    let text = flat(&ended.stdout);
    for said in [
        "The measured means speak against the claim that pool is faster than threads at 10 and 40 clients, but do not refute it: pool has 7.2 % to 10.9 % lower throughput.",
        "a single run does not show the noise. Repeat each at least 3 times",
        "measured by other programs",
        "Measured by another program (sysbench)",
    ] {
        assert!(text.contains(said), "{said}: {ended}");
    }
    // One percentile is known; files that dyno itself would have left are not missed.
    assert!(
        text.contains("clients n tx/s mean ms p95 ms validity")
            && text.contains("10 1 188 3.10 7.83"),
        "{ended}"
    );
    assert!(!text.contains("Unreadable"), "{ended}");
    // No processor of this machine, and no load that dyno made, is told of what others measured.
    let markdown = bench.dyno(&["report", "r", "--format", "md"]);
    for known in ["logical processors", "warm-up", "Workload"] {
        assert!(!text.contains(known) && !markdown.stdout.contains(known), "{known}: {markdown}");
    }
    let again = bench.dyno(&["report", "r", "--format", "text"]);
    assert_eq!(again.stdout.trim(), ended.stdout.trim());
    assert!(bench.path().join("r/report.html").exists());
    for (language, said) in [("ja", "という主張と"), ("ko", "주장과")] {
        let other = bench.dyno(&["report", "r", "--format", "text", "--lang", language]);
        assert!(other.stdout.contains(said), "{other}");
    }
}

#[test]
fn several_runs_of_a_system_are_its_repeats_and_decide_a_claim() {
    let bench = Bench::new();
    for (repeat, rates) in [[300, 200], [303, 201], [298, 199], [301, 202]].into_iter().enumerate()
    {
        bench.file(&format!("pool{repeat}"), log(8, rates[0]));
        bench.file(&format!("threads{repeat}"), log(8, rates[1]));
    }
    let files: Vec<String> =
        (0..4).flat_map(|it| [format!("pool=pool{it}"), format!("threads=threads{it}")]).collect();
    let mut arguments = vec!["import", "--claim", CLAIM, "--out", "r"];
    arguments.extend(files.iter().map(String::as_str));
    let ended = bench.dyno(&arguments);
    assert!(ended.is_done(), "{ended}");
    let text = flat(&ended.stdout);
    assert!(
        text.contains("The claim that pool is faster than threads is confirmed at 8 clients"),
        "{ended}"
    );
    assert!(!text.contains("noise"), "{ended}");
    // Both sides of a comparison may be imported.
    let ended = bench.dyno(&["import", "S=pool0", "S=pool1", "S=pool2", "--out", "base"]);
    assert!(ended.is_done(), "{ended}");
    let ended = bench.dyno(&["import", "S=threads0", "S=threads1", "S=threads2", "--out", "new"]);
    assert!(ended.is_done(), "{ended}");
    let ended =
        bench.dyno(&["compare", "base", "new", "--metric", "throughput", "--fail-on", "worse"]);
    assert_eq!(ended.code, 8, "{ended}");
}

#[test]
fn mistakes_are_reported_with_place_and_remedy_and_nothing_is_written() {
    let bench = Bench::new();
    bench.file("a-8.log", log(8, 100));
    bench.file("b-8.log", log(8, 100));
    bench.file("poem", "Shall I compare thee\n");
    bench.file("t.csv", "throughput,seconds\n100,60\n");
    let cases: [(&[&str], &str); 7] = [
        (&["poem"], "poem: unknown format"),
        (&["nowhere.log"], "cannot read nowhere.log"),
        (&["a-8.log", "b-8.log", "--claim", "a wins"], "write 'A is faster than B'; systems: a, b"),
        (&["a-8.log", "b-8.log", "--claim", "a is faster than c"], "no system is called `c`"),
        (&["t.csv"], "add --clients N"),
        (&["t.csv", "--column", "tps=throughput"], "columns are system, clients"),
        (
            &["t.csv", "--column", "clients=threads"],
            "no column is called `threads`; columns: throughput, seconds",
        ),
    ];
    for (arguments, said) in cases {
        let ended = bench.dyno(&[&["import", "--out", "r"], arguments].concat());
        let code = if said.starts_with("cannot read") { 7 } else { 2 };
        assert_eq!(ended.code, code, "{arguments:?}: {ended}");
        assert!(flat(&ended.stderr).contains(said), "{arguments:?}: {ended}");
        assert!(!bench.path().join("r").exists(), "{arguments:?}");
    }
}

#[test]
fn files_named_by_thread_count_form_a_curve_and_unknown_is_null() {
    let bench = Bench::new();
    for clients in [8, 16] {
        bench.file(&format!("pool_{clients}threads.log"), log(clients, 100 + clients));
    }
    let ended = bench.dyno(&["import", "pool_8threads.log", "pool_16threads.log", "--out", "r"]);
    assert!(ended.is_done(), "{ended}");
    let text = std::fs::read_to_string(bench.path().join("r/summary.json")).expect("it is there");
    let summary: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let seen: Vec<_> = summary["trials"]
        .as_array()
        .expect("trials")
        .iter()
        .map(|it| (&it["system"], &it["clients"]))
        .collect();
    assert_eq!(seen, [(&"pool".into(), &8.into()), (&"pool".into(), &16.into())]);
    for unknown in ["failed", "retries", "p99_ms"] {
        assert_eq!(summary["trials"][0][unknown], serde_json::Value::Null, "{unknown}");
    }
    // Without a mean there is none, and not one of 0 ms.
    bench.file("t.csv", "clients,seconds,throughput,p95_ms\n8,60,100,3\n");
    let ended = bench.dyno(&["import", "t.csv", "--out", "table"]);
    assert!(flat(&ended.stdout).contains("clients n tx/s p95 ms validity"), "{ended}");
}

#[test]
fn an_incomplete_run_is_imported_as_invalid_with_exit_code_6() {
    let bench = Bench::new();
    let printed = "pgbench: error: client 1 aborted in command 0 (SQL) of script 0; perhaps the backend died while processing\n\
                   transaction type: ./select-1.sql\nnumber of clients: 600\nduration: 20 s\nnumber of transactions actually processed: 51186\n\
                   latency average = 8.600 ms\ntps = 3365.804033 (without initial connection time)\n\
                   pgbench: error: Run was aborted; the above results are incomplete.\n";
    bench.file("aborted.log", printed);
    let ended = bench.dyno(&["import", "aborted.log", "--out", "r"]);
    assert_eq!(ended.code, 6, "{ended}");
    for language in ["en", "ko", "ja"] {
        let report = bench.dyno(&["report", "r", "--format", "text", "--lang", language]);
        let text = flat(&report.stdout);
        for said in
            ["Run was aborted; the above results are incomplete.", "perhaps the backend died"]
        {
            assert!(text.contains(said), "{said}: {report}");
        }
        assert!(!text.contains("3,366"), "an invalid trial has no mean: {report}");
    }
}

#[test]
fn import_refuses_special_or_huge_files_and_reads_stdin() {
    let bench = Bench::new();
    let fifo = bench.path().join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().expect("coreutils").success());
    std::fs::create_dir(bench.path().join("folder")).expect("a folder");
    let huge = std::fs::File::create(bench.path().join("huge.log")).expect("a file");
    huge.set_len(2 << 30).expect("a hole takes no room");
    for (file, said) in [
        ("fifo", "a FIFO, not a regular file"),
        ("/dev/zero", "a device, not a regular file"),
        ("folder", "Is a directory"),
        ("huge.log", "larger than 1024 MiB, which is the limit"),
    ] {
        let ended = bench.dyno(&["import", file, "--out", "r"]);
        assert!(ended.code == 7 && flat(&ended.stderr).contains(said), "{file}: {ended}");
    }
    let input = bench.file("pool-8.log", log(8, 100));
    let mut command = bench.command(&["import", "pool=-", "--out", "r"]);
    command.stdin(std::fs::File::open(input).expect("it is there"));
    let ended = crate::program::Ended::from(command.output().expect("dyno can be started"));
    assert!(ended.is_done() && flat(&ended.stdout).contains("8 1 100"), "{ended}");
}

#[test]
fn one_run_is_imported_once_and_whole() {
    let bench = Bench::new();
    bench.file("pool-8.log", log(8, 100));
    bench.file("quoted.log", "They said > Running the test with following options:\n");
    let transactions = "0 1 1000 0 1700000100 500000\n0 2 3000 0 1700000101 200000\n";
    bench.file("pgbench_log.7", transactions);
    bench.file("pgbench_log.7.1", transactions.replace("\n0", "\n1").replacen('0', "1", 1));
    let far = "0 1 1000 0 1700000100 500000\n0 2 1000 0 1900000100 500000\n";
    bench.file("far.log", far);
    let cases: [(&[&str], &str); 4] = [
        (&["pool-8.log", "./pool-8.log"], "pool-8.log: named twice"),
        (&["pgbench_log.7"], "pgbench_log.7.1 is the log of another thread of the same run"),
        (&["quoted.log"], "quoted.log: unknown format"),
        (&["far.log"], "2314 days between its first and its last transaction"),
    ];
    for (arguments, said) in cases {
        let ended = bench.dyno(&[&["import", "--out", "r"], arguments].concat());
        assert_eq!(ended.code, 2, "{arguments:?}: {ended}");
        assert!(flat(&ended.stderr).contains(said), "{said}: {ended}");
        assert!(!bench.path().join("r").exists(), "{arguments:?}");
    }
    let both = bench.dyno(&["import", "pgbench_log.7", "pgbench_log.7.1", "--out", "r"]);
    assert!(both.is_done(), "{both}");
}
