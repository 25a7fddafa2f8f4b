//! Searches for the highest load: what is tried, what is written down, and what is refused.

use crate::program::{Bench, events, records};
use dyno_model::event::Event;
use dyno_model::exit_code::{UNDECIDED, WORSE};
use dyno_model::plan::LoadBy;
use dyno_model::search::Outcome;

/// A queue of eight servers that each take 20 ms on average: it does 400 transactions per second,
/// and keeps nothing below its service time.
fn spec(load: &str) -> String {
    format!(
        "title = \"t\"\n[[system]]\nname = \"Queue\"\nurl = \"null:latency_us=exp:20000,value=1000\"\n\
         [workload]\nkind = \"oltp_point_select\"\ntable_size = 1000\n\
         [load]\nclients = 8\nduration = \"1s\"\nwarmup = \"100ms\"\n{load}\n[design]\nblocks = 1\n"
    )
}

#[test]
fn a_search_keeps_the_figures_of_the_load_that_it_confirmed() {
    let bench = Bench::new();
    bench.file("spec.toml", spec("find = { while = \"mean < 100ms\" }"));
    let ended = bench.dyno(&["run", "spec.toml", "--out", "r"]);
    let all = records(&bench.path().join("r"));
    if ended.code == i32::from(UNDECIDED) {
        // This machine was too busy for a result, which is said.
        assert!(ended.stderr.contains("FAILED: undecided") && all.is_empty(), "{ended}");
        return;
    }
    assert!(ended.is_done(), "{ended}");
    let [record] = &all[..] else { panic!("one trial") };
    let search = record.search.as_ref().expect("it searched");
    assert_eq!(search.search.most, LoadBy::Rate);
    let last = search.steps.last().unwrap();
    assert!(last.outcome == Outcome::Passed && Some(last.load) == search.passed, "{last:?}");
    assert_eq!(last.throughput, record.throughput());
    // However busy this machine is, no more than the queue can do was found.
    assert!(search.found().is_some_and(|found| found < 480.0), "{search:?}");
    let stepped = events(&bench.path().join("r"));
    let stepped: Vec<_> = stepped.iter().filter(|it| matches!(it, Event::Stepped { .. })).collect();
    assert_eq!(stepped.len(), search.steps.len());
    assert!(ended.stderr.contains("/s: mean ") && ended.stderr.contains(" ms, passed"), "{ended}");
    assert!(bench.path().join("r/trials/b01-001/timeline.csv").is_file());

    bench.forget_the_machine("r");
    let report = bench.dyno(&["report", "r", "--format", "text,csv,html", "--out", "x"]);
    let read =
        |name: &str| std::fs::read_to_string(bench.path().join("x").join(name)).unwrap_or_default();
    let text = read("report.txt");
    assert!(
        text.contains("Saturation search") && text.contains("with mean < 100 ms"),
        "{report} {text}"
    );
    assert!(
        read("report.csv").contains(",highest-rate,transactions-per-second,"),
        "{}",
        read("report.csv")
    );
    assert!(read("report.html").contains("id=\"searches\""));
}

#[test]
fn client_search_stops_at_the_configured_number_of_clients() {
    let bench = Bench::new();
    // No number of clients is too many for a server that gives each of them an answer in its own
    // time.
    bench.file("spec.toml", spec("find = { most = \"clients\", while = \"p50 < 1s\" }"));
    let ended = bench.dyno(&["run", "spec.toml", "--out", "r"]);
    assert!(ended.is_done(), "{ended}");
    let all = records(&bench.path().join("r"));
    let search = all[0].search.as_ref().expect("it searched");
    let mut loads: Vec<f64> = search.steps.iter().map(|step| step.load).collect();
    loads.dedup();
    assert_eq!(loads, [1.0, 2.0, 4.0, 8.0]);
    assert!(search.is_bound() && search.passed == Some(8.0), "{search:?}");
    assert_eq!(all[0].open_loop, None);
    bench.forget_the_machine("r");
    let text = bench.dyno(&["report", "r", "--format", "text"]).stdout;
    assert!(text.contains("Queue sustains at least 8 clients with p50 < 1,000 ms"), "{text}");
}

#[test]
fn a_limit_that_fails_at_every_load_is_an_answer() {
    let bench = Bench::new();
    bench.file("spec.toml", spec("find = { most = \"clients\", while = \"p50 < 1us\" }"));
    let ended = bench.dyno(&["run", "spec.toml", "--out", "r"]);
    assert_eq!(ended.code, i32::from(WORSE), "{ended}");
    assert!(
        ended
            .stderr
            .contains("FAILED: the limit p50 < 0.001 ms fails at every load; with a single client"),
        "{ended}"
    );
    let text = bench.dyno(&["report", "r", "--format", "text"]).stdout;
    assert!(text.contains("Queue: the limit p50 < 0.001 ms fails at every load"), "{text}");
    let report = bench.path().join("r/report.html");
    std::fs::remove_file(&report).expect("the run wrote it");
    let checked = bench.dyno(&["report", "r", "--check"]);
    assert_eq!((checked.code, report.exists()), (i32::from(WORSE), false), "{checked}");
}

#[test]
fn a_line_searches_too() {
    let bench = Bench::new();
    let line =
        ["run", "null:", "--workload", "oltp_point_select", "--find", "p99 < 20ms", "--print-spec"];
    let ended = bench.dyno(&line);
    assert!(
        ended.stdout.contains("clients = [64]")
            && ended.stdout.contains("find = { while = \"p99 < 20ms\" }"),
        "{ended}"
    );
    bench.file("list.sql", "SELECT 1;\n");
    let of_list = ["run", "postgres://me@localhost/shop", "--script", "list.sql", "--find"];
    let ended = bench.dyno(&[&of_list[..], &["p99 of list < 20ms", "--print-spec"]].concat());
    let find = "find = { while = \"p99 < 20ms\", transaction = \"list\" }";
    assert!(ended.code == 0 && ended.stdout.contains(find), "{ended}");
    let ended = bench.dyno(&[&of_list[..], &["p99 of lists < 20ms", "--print-spec"]].concat());
    assert!(ended.stderr.contains("no transaction is called `lists` in `load.find`"), "{ended}");
}
