//! `--otlp`: what a collector of OpenTelemetry receives, and what users see if there is none.

use super::prometheus::Killed;
use super::served::SHORT;
use crate::program::{Bench, signal};
use dyno_testkit::{ClosedPort, wait_until};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};

/// Answers every request with status 200, and passes on its first line and its body.
fn collector() -> (String, Receiver<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it has an address").to_string();
    let (sender, received) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.expect("dyno connects"));
            let (mut head, mut length) = (Vec::new(), 0);
            loop {
                let mut line = String::new();
                stream.read_line(&mut line).expect("a head");
                if let Some(value) = line.strip_prefix("Content-Length: ") {
                    length = value.trim().parse().expect("a number");
                }
                match line.trim_end() {
                    "" => break,
                    line => head.push(line.to_owned()),
                }
            }
            let mut body = vec![0; length];
            stream.read_exact(&mut body).expect("the whole body");
            let body = serde_json::from_slice(&body).expect("JSON");
            write!(stream.get_mut(), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{{}}")
                .expect("ok");
            let _ = sender.send((head[0].clone(), body));
        }
    });
    (address, received)
}

/// A 64-bit integer, which the JSON encoding writes as text.
fn integer(value: &Value) -> u64 {
    value.as_str().and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("{value}"))
}

#[test]
fn a_collector_receives_all_metrics_at_the_end_of_the_run() {
    let (bench, (address, received)) = (Bench::new(), collector());
    let otlp = format!("--otlp=http://{address}");
    let ended = bench.dyno(&[SHORT, &[&otlp]].concat());
    assert!(ended.is_done() && !ended.stderr.contains("not sent"), "{ended}");
    let requests: Vec<(String, Value)> = received.try_iter().collect();
    assert!(requests.iter().all(|(line, _)| line == "POST /v1/metrics HTTP/1.1"), "{requests:?}");
    let (_, last) = requests.last().expect("one at the start and one at the end");
    let resource = &last["resourceMetrics"][0];
    let service = &resource["resource"]["attributes"][0];
    assert_eq!(
        (&service["key"], &service["value"]["stringValue"]),
        (&"service.name".into(), &"dyno".into())
    );
    let metrics = resource["scopeMetrics"][0]["metrics"].as_array().expect("a list");
    let metric = |name: &str| {
        metrics.iter().find(|metric| metric["name"] == name).unwrap_or_else(|| panic!("{name}"))
    };
    let planned = &metric("dyno_trials_planned")["gauge"]["dataPoints"][0]["asInt"];
    let finished = &metric("dyno_trials_finished")["gauge"]["dataPoints"][0]["asInt"];
    assert_eq!(finished, planned, "the run is over");
    let failed = &metric("dyno_transactions_failed")["sum"];
    assert_eq!(
        (&failed["isMonotonic"], &failed["aggregationTemporality"]),
        (&true.into(), &2.into())
    );
    let times = &metric("dyno_transaction_duration_seconds");
    assert_eq!(times["unit"], "s");
    let of_unit_1 = metrics.iter().filter(|metric| metric["unit"] == "1");
    assert_eq!(of_unit_1.count(), 0, "Prometheus would call them ratios");
    assert_eq!(metric("dyno_run_info")["gauge"]["dataPoints"][0]["asInt"], "1");
    let point = &times["histogram"]["dataPoints"][0];
    let buckets = point["bucketCounts"].as_array().expect("a list");
    let bounds = point["explicitBounds"].as_array().expect("a list").len();
    assert_eq!(buckets.len(), bounds + 1, "the last bucket has no bound");
    let count = integer(&point["count"]);
    assert!(count > 0 && count == buckets.iter().map(integer).sum::<u64>(), "{point}");
    assert!(point["sum"].as_f64() > Some(0.0), "{point}");
    assert!(integer(&point["startTimeUnixNano"]) < integer(&point["timeUnixNano"]), "{point}");
    assert_eq!(point["attributes"][0]["key"], "trial", "{point}");
}

#[test]
fn a_collector_receives_the_commits_of_every_trial() {
    let (bench, (address, received)) = (Bench::new(), collector());
    let otlp = format!("--otlp=http://{address}");
    let load = "--set=load={clients=[1], warmup=\"0s\", transactions=100}";
    let ended = bench.dyno(&["run", "--blocks=1", load, &otlp]);
    assert!(ended.is_done(), "{ended}");
    let mut trials = BTreeMap::new();
    for (_, request) in received.try_iter() {
        let metrics = &request["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
        let metrics = metrics.as_array().expect("a list");
        let is_of_times = |it: &&Value| it["name"] == "dyno_transaction_duration_seconds";
        for times in metrics.iter().filter(is_of_times) {
            let point = &times["histogram"]["dataPoints"][0];
            let trial = point["attributes"][0]["value"]["stringValue"].to_string();
            trials.insert(trial, integer(&point["count"]));
        }
    }
    let counts: Vec<u64> = trials.values().copied().collect();
    assert_eq!(counts, [100, 100], "{trials:?}");
}

/// Counts of trials, by metric and the labels `trial`, `system` and `clients`.
type Counts = BTreeMap<(String, [String; 3]), u64>;

/// The largest count of each trial among the requests that a collector wrote.
fn received(requests: &[Value]) -> Counts {
    let mut counts = Counts::new();
    let list = |of: &Value, name: &str| of[name].as_array().cloned().unwrap_or_default();
    let resources = requests.iter().flat_map(|request| list(request, "resourceMetrics"));
    let scopes = resources.flat_map(|resource| list(&resource, "scopeMetrics"));
    for metric in scopes.flat_map(|scope| list(&scope, "metrics")) {
        let (data, field, name) = match metric["name"].as_str() {
            Some("dyno_transaction_duration_seconds") => ("histogram", "count", "committed"),
            Some("dyno_transactions_failed") => ("sum", "asInt", "failed"),
            Some("dyno_retries") => ("sum", "asInt", "retries"),
            _ => continue,
        };
        for point in list(&metric[data], "dataPoints") {
            let labels = ["trial", "system", "clients"].map(|key| {
                let attributes = list(&point, "attributes");
                let label = attributes.iter().find(|it| it["key"] == key).expect("a label");
                label["value"]["stringValue"].as_str().expect("a text").to_owned()
            });
            let count = counts.entry((name.to_owned(), labels)).or_default();
            *count = (*count).max(integer(&point[field]));
        }
    }
    counts
}

/// The same counts in a report as CSV.
fn reported(report: &str) -> Counts {
    let mut reader = csv::Reader::from_reader(report.as_bytes());
    let heads = reader.headers().expect("heads").clone();
    let mut counts = Counts::new();
    for row in reader.records() {
        let row = row.expect("a row");
        let cell = |name: &str| {
            let index = heads.iter().position(|head| head == name).expect("a column");
            row[index].to_owned()
        };
        let metric = cell("metric");
        if cell("scope") == "trial" && ["committed", "failed", "retries"].contains(&&*metric) {
            let labels = ["trial", "system", "clients"].map(cell);
            counts.insert((metric, labels), cell("value").parse().expect("a count"));
        }
    }
    counts
}

#[test]
#[ignore = "needs the program that scripts/collector builds in some minutes"]
fn a_real_collector_receives_the_counts_and_labels_of_each_trial() {
    let bench = Bench::new();
    // As for Prometheus: it does not tell which port the system chose.
    let free = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port");
    bench.file(
        "collector.yaml",
        format!(
            "receivers: {{ otlp: {{ protocols: {{ http: {{ endpoint: \"{free}\" }} }} }} }}\n\
             exporters: {{ file: {{ path: received.json }} }}\n\
             service:\n  pipelines: {{ metrics: {{ receivers: [otlp], exporters: [file] }} }}\n"
        ),
    );
    let home = std::env::home_dir().expect("a home");
    let mut command = Command::new(home.join(".cache/dyno/tools/bin/otel-collector"));
    command.arg("--config=collector.yaml").current_dir(bench.path());
    let log = std::fs::File::create(bench.path().join("collector.log")).expect("a log");
    let mut collector =
        Killed(command.stderr(log).spawn().expect("scripts/collector has built it"));
    wait_until("the collector listens", || {
        let ended = collector.0.try_wait().expect("it is our child");
        let log = || std::fs::read_to_string(bench.path().join("collector.log"));
        assert!(ended.is_none(), "{:?}", log());
        std::net::TcpStream::connect(free).is_ok()
    });
    let load = "--set=load={clients=[1, 2], warmup=\"0s\", transactions=100}";
    let otlp = format!("--otlp=http://{free}");
    let ended = bench.dyno(&["run", "--blocks=1", load, &otlp, "--out=r"]);
    assert!(ended.is_done() && !ended.stderr.contains("not sent"), "{ended}");
    // It writes what it received before it ends.
    signal("-TERM", collector.0.id());
    assert!(collector.0.wait().expect("it ends").success());
    let file = std::fs::read_to_string(bench.path().join("received.json")).expect("it wrote");
    let requests: Vec<Value> =
        file.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let report = bench.dyno(&["report", "r", "--format", "csv", "--out", "."]);
    assert!(report.is_done(), "{report}");
    let report = std::fs::read_to_string(bench.path().join("report.csv")).expect("a report");
    let counts = received(&requests);
    assert!(counts.len() >= 12, "three counts of each of four trials: {counts:?}");
    assert_eq!(counts, reported(&report));
    for name in ["dyno_run_info", "dyno_trial_info", "dyno_phase", "dyno_trials_planned"] {
        assert!(file.contains(&format!("\"name\":\"{name}\"")), "{name}");
    }
}

#[test]
fn an_unreachable_collector_is_reported_once_and_run_completes() {
    let (bench, closed) = (Bench::new(), ClosedPort::new());
    let otlp = format!("--otlp=http://{}/path", closed.address());
    let ended = bench.dyno(&[SHORT, &[&otlp]].concat());
    assert!(ended.is_done(), "{ended}");
    let message = format!("Metrics were not sent to http://{}/path: ", closed.address());
    assert_eq!(ended.stderr.matches(&message).count(), 1, "{ended}");
}

#[test]
fn a_collector_that_dyno_cannot_use_is_an_error_of_the_command_line() {
    let addresses = ["https://host", "host:4318", "http://", "http://me:secret@host", "http://a b"];
    let ports = ["http://host:", "http://host:0", "http://host:65536/v1/metrics", "http://[::1]:x"];
    for url in addresses.into_iter().chain(ports) {
        let ended = Bench::new().dyno(&["run", "--otlp", url]);
        assert_eq!(ended.code, 2, "{url}: {ended}");
    }
}
