//! Searches for the highest load: what is tried, what is written down, and what is refused.

use crate::program::{Bench, events, records};
use dyno_model::event::Event;
use dyno_model::plan::LoadBy;
use dyno_model::search::PRECISION;

/// A queue of eight servers that each take 20 ms on average: it does 400 transactions per second, and keeps nothing below its service time.
fn spec(load: &str) -> String {
    format!(
        "title = \"t\"\n[[system]]\nname = \"Queue\"\nurl = \"null:latency_us=exp:20000,value=1000\"\n\
         [workload]\nkind = \"oltp_point_select\"\ntable_size = 1000\n\
         [load]\nclients = 8\nduration = \"1s\"\nwarmup = \"100ms\"\n{load}\n[design]\nblocks = 1\n"
    )
}

#[test]
fn a_search_tries_loads_and_keeps_the_figures_of_the_one_that_it_confirmed() {
    let bench = Bench::new();
    bench.file("spec.toml", spec("find = { while = \"mean < 100ms\", from = \"50/s\" }"));
    let ended = bench.dyno(&["run", "spec.toml", "--out", "r"]);
    assert!(ended.is_done(), "{ended}");
    let all = records(&bench.path().join("r"));
    let [record] = &all[..] else { panic!("one trial") };
    let search = record.search.as_ref().expect("it searched");
    assert_eq!(search.search.most, LoadBy::Rate);
    let last = search.steps.last().unwrap();
    assert!(last.is_held && last.load == search.held && last.throughput == record.throughput(), "{last:?}");
    let is_tried_twice = |load: f64| search.steps.iter().filter(|step| step.load == load).count() >= 2;
    assert!(is_tried_twice(search.held), "{search:?}");
    // However busy this machine is, no more than the queue can do was found, and steps end near each other.
    assert!(search.found() < 480.0, "{search:?}");
    if let Some(broken) = search.broken {
        assert!(is_tried_twice(broken) && broken / search.held <= PRECISION * 1.01, "{search:?}");
    }
    let stepped = events(&bench.path().join("r"));
    let stepped: Vec<_> = stepped.iter().filter(|it| matches!(it, Event::Stepped { .. })).collect();
    assert_eq!(stepped.len(), search.steps.len());
    assert!(ended.stderr.contains("at 50.0/s: mean ") && ended.stderr.contains("held"), "{ended}");
    assert!(bench.path().join("r/trials/b01-001/timeline.csv").is_file());

    bench.forget_the_machine("r");
    let report = bench.dyno(&["report", "r", "--format", "text,csv,html", "--out", "x"]);
    let read = |name: &str| std::fs::read_to_string(bench.path().join("x").join(name)).unwrap_or_default();
    let text = read("report.txt");
    assert!(text.contains("How much it takes") && text.contains("while mean < 100 ms"), "{report} {text}");
    assert!(read("report.csv").contains(",highest-rate,transactions-per-second,"), "{}", read("report.csv"));
    assert!(read("report.html").contains("id=\"searches\""));
}

#[test]
fn clients_are_searched_up_to_those_of_the_spec_and_each_step_draws_what_is_its_own() {
    let bench = Bench::new();
    // No number of clients is too many for a server that gives each of them an answer in its own time.
    bench.file("spec.toml", spec("find = { most = \"clients\", while = \"p50 < 10s\" }"));
    let ended = bench.dyno(&["run", "spec.toml", "--out", "r"]);
    assert!(ended.is_done(), "{ended}");
    let all = records(&bench.path().join("r"));
    let search = all[0].search.as_ref().expect("it searched");
    assert_eq!(search.steps.iter().map(|step| step.load).collect::<Vec<_>>(), [1.0, 2.0, 4.0, 8.0, 8.0]);
    assert!(search.is_bound() && search.held == 8.0, "{search:?}");
    assert_eq!(all[0].open_loop, None);
    bench.forget_the_machine("r");
    let text = bench.dyno(&["report", "r", "--format", "text"]).stdout;
    assert!(text.contains("Queue takes at least 8 clients while p50 < 10,000 ms"), "{text}");
}

#[test]
fn a_system_that_keeps_no_load_is_said_to() {
    let bench = Bench::new();
    bench.file("spec.toml", spec("find = { while = \"p50 < 1us\", from = \"0.2/s\" }"));
    let ended = bench.dyno(&["run", "spec.toml", "--out", "r"]);
    assert_eq!(ended.code, 6, "{ended}");
    assert!(ended.stderr.contains("FAILED: not even 0.1 transactions/s kept p50 below 0.001 ms"), "{ended}");
}

#[test]
fn a_line_searches_too() {
    let bench = Bench::new();
    let line = ["run", "null:", "--workload", "oltp_point_select", "--find", "p99 < 20ms", "--print-spec"];
    let ended = bench.dyno(&line);
    assert!(
        ended.stdout.contains("clients = [64]") && ended.stdout.contains("find = { while = \"p99 < 20ms\" }"),
        "{ended}"
    );
}
