//! `dyno import`: figures of other programs become a folder that reports and comparisons take, and a claim is held against them.

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

const CLAIM: &str = "pool is faster than threads";

#[test]
fn a_claim_is_contradicted_by_the_logs_and_one_run_each_shows_no_noise() {
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
        "The claim that pool is faster than threads is contradicted at 10 and 40 clients: pool commits 7.2 % to 10.9 % fewer transactions per second.",
        "one run does not show how large the noise is; repeat each at least 3 times",
        "other programs measured these figures",
        "Figures of another program (sysbench)",
    ] {
        assert!(text.contains(said), "{said}: {ended}");
    }
    // One percentile is known; files that dyno itself would have left are not missed.
    assert!(text.contains("10 1 188 3.10 7.83 0 0"), "{ended}");
    assert!(!text.contains("Not readable"), "{ended}");
    // No processor of this machine, and no load that dyno made, is told of what others measured.
    let markdown = bench.dyno(&["report", "r", "--format", "md"]);
    for known in ["logical processors", "warm-up", "Workload"] {
        assert!(!text.contains(known) && !markdown.stdout.contains(known), "{known}: {markdown}");
    }
    let again = bench.dyno(&["report", "r", "--format", "text"]);
    assert_eq!(again.stdout.trim(), ended.stdout.trim());
    assert!(bench.path().join("r/report.html").exists());
    for (language, said) in [("ja", "という主張は"), ("ko", "주장은")] {
        let other = bench.dyno(&["report", "r", "--format", "text", "--lang", language]);
        assert!(other.stdout.contains(said), "{other}");
    }
}

#[test]
fn several_runs_of_a_system_are_its_repeats_and_decide_a_claim() {
    let bench = Bench::new();
    for (repeat, rates) in [[300, 200], [303, 201], [298, 199], [301, 202]].into_iter().enumerate() {
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
    assert!(text.contains("The claim that pool is faster than threads holds at 8 clients"), "{ended}");
    assert!(!text.contains("noise"), "{ended}");
    // Both sides of a comparison may be imported.
    let ended = bench.dyno(&["import", "S=pool0", "S=pool1", "S=pool2", "--out", "base"]);
    assert!(ended.is_done(), "{ended}");
    let ended = bench.dyno(&["import", "S=threads0", "S=threads1", "S=threads2", "--out", "new"]);
    assert!(ended.is_done(), "{ended}");
    let ended = bench.dyno(&["compare", "base", "new", "--metric", "throughput", "--fail-on", "worse"]);
    assert_eq!(ended.code, 8, "{ended}");
}

#[test]
fn mistakes_are_told_with_place_and_remedy_and_nothing_is_written() {
    let bench = Bench::new();
    bench.file("a-8.log", log(8, 100));
    bench.file("b-8.log", log(8, 100));
    bench.file("poem", "Shall I compare thee\n");
    bench.file("t.csv", "throughput,seconds\n100,60\n");
    let cases: [(&[&str], &str); 7] = [
        (&["poem"], "poem: in no format that is known"),
        (&["nowhere.log"], "cannot read nowhere.log"),
        (
            &["a-8.log", "b-8.log", "--claim", "a wins"],
            "write 'A is faster than B'; the systems here are a, b",
        ),
        (&["a-8.log", "b-8.log", "--claim", "a is faster than c"], "no system is called `c`"),
        (&["t.csv"], "say it with --clients N"),
        (&["t.csv", "--column", "tps=throughput"], "columns are system, clients"),
        (
            &["t.csv", "--column", "clients=threads"],
            "no column is called `threads`; there are throughput, seconds",
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
