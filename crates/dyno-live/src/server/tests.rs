use super::*;
use crate::campaign::tests::{campaign, seconds};
use crate::live::Live;
use crate::metrics::{self, NAMES as METRIC_NAMES};
use crate::state::State;
use dyno_model::event::{Event, Listener};
use dyno_model::failure::FailureKind;
use dyno_model::record::IntervalRecord;
use dyno_model::units::Nanos;
use dyno_report::{EN, LANGUAGES};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

const HOSTILE: &str = "</script><script>alert(1)</script>\"><img src=x onerror=alert(1)>\n# x";

fn request(head: &str) -> Result<Request, Status> {
    let head = head.replace('\n', "\r\n") + "\r\n\r\n";
    Request::parse(head.as_bytes()).expect("the head is complete")
}

/// A run with an interval in its first trial, and what others wrote in its texts.
fn live() -> Live {
    let mut live = Live::new(State::new(campaign(), EN));
    let trial = "b01-001".to_owned();
    live.event(&Event::TrialStarted { trial: trial.clone() });
    let mut interval = IntervalRecord::empty(&trial, Nanos(0), Nanos(1_000_000_000), &[]);
    for time in [90_000, 3_000_000, 20_000_000_000_u64] {
        dyno_model::latency::record(&mut interval.response_times, time);
        interval.latency.record(time);
    }
    interval.errors_by_kind.insert(FailureKind::Deadlock, 2);
    live.interval(&interval);
    live.say(HOSTILE);
    live
}

fn site(live: &Live) -> Arc<LiveRunHandler> {
    Arc::new(LiveRunHandler::new(live.clone(), EN, PathBuf::from("/nonexistent")))
}

/// Sends bytes to a server of this site and returns everything that it answers.
fn answered(access: Access, site: Arc<dyn Handler>, head: &str) -> String {
    let server = Server::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = server.address().unwrap();
    server.serve(access, site).unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let head = head.replace("HOST", &address.to_string()).replace('\n', "\r\n") + "\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer
}

#[test]
fn access_requires_a_local_host_name_or_the_token() {
    let (local, token) = (Access::local(), Access::token("secret".to_owned()));
    let rows = [
        (&local, "Host: 127.0.0.1:7341", None),
        (&local, "Host: localhost", None),
        (&local, "Host: [::1]:9", None),
        (&local, "Host: 127.0.0.1:7341\nOrigin: http://127.0.0.1:7341", None),
        (&local, "Host: evil.example:7341", Some(Status::Forbidden)),
        (&local, "Host: 192.0.2.1:7341", Some(Status::Forbidden)),
        (&local, "Host: localhost\nHost: evil.example", Some(Status::BadRequest)),
        (&local, "X: y", Some(Status::BadRequest)),
        (&local, "Host: localhost\nOrigin: http://evil.example", Some(Status::Forbidden)),
        (&local, "Host: localhost\nOrigin: null", Some(Status::Forbidden)),
        (&local, "Host: localhost\nSec-Fetch-Site: cross-site", Some(Status::Forbidden)),
        (
            &local,
            "Host: localhost\nSec-Fetch-Site: cross-site\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: document",
            None,
        ),
        (&token, "Host: 192.0.2.1", Some(Status::Unauthorized)),
        (&token, "Host: localhost", Some(Status::Unauthorized)),
        (&token, "Host: a\nAuthorization: Bearer secret", None),
        (&token, "Host: a\nAuthorization: Bearer secre", Some(Status::Unauthorized)),
        (&token, "Host: a\nCookie: x=1; dyno_token=secret", None),
        (&token, "Host: a\nCookie: dyno_token=", Some(Status::Unauthorized)),
        (&token, "Host: a\nCookie: dyno_token=secret\nOrigin: http://b", Some(Status::Forbidden)),
    ];
    for (access, fields, expected) in rows {
        let request = request(&format!("GET /state.json HTTP/1.1\n{fields}")).unwrap();
        assert_eq!(access.check(&request).err(), expected, "{fields}");
    }
    let with_token = request("GET /?token=secret HTTP/1.1\nHost: a").unwrap();
    assert!(token.check(&with_token).unwrap().unwrap().contains("HttpOnly; SameSite=Lax"));
}

#[test]
fn nothing_but_get_is_answered() {
    for method in ["POST", "PUT", "DELETE", "HEAD", "OPTIONS", "CONNECT"] {
        let head = format!("{method} / HTTP/1.1\nHost: localhost");
        assert_eq!(request(&head), Err(Status::MethodNotAllowed), "{method}");
    }
    assert_eq!(request("GET http://evil/ HTTP/1.1\nHost: localhost"), Err(Status::BadRequest));
    assert_eq!(request("GET //evil.example/ HTTP/1.1\nHost: localhost"), Err(Status::BadRequest));
    assert_eq!(request("nonsense"), Err(Status::BadRequest));
}

#[test]
fn a_head_without_end_is_refused() {
    let head = format!("GET / HTTP/1.1\nX: {}", "x".repeat(20_000));
    let answer = answered(Access::local(), site(&live()), &head);
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400"), "{answer}");
}

#[test]
fn a_wrong_token_gets_nothing_of_the_run() {
    let access = || Access::token("secret".to_owned());
    for path in ["/", "/state.json", "/metrics", "/events", "/report.html", "/live.js"] {
        let head = format!("GET {path}?token=wrong HTTP/1.1\nHost: HOST");
        let answer = answered(access(), site(&live()), &head);
        assert!(answer.starts_with("HTTP/1.1 401"), "{path}: {answer}");
        assert!(answer.ends_with("\r\n\r\n401 Unauthorized\n"), "{path}: {answer}");
    }
}

#[test]
fn only_trials_of_the_plan_are_read_from_the_results() {
    for path in ["/trials/../../etc/passwd.csv", "/trials/b09-001.csv", "/trials/%2e%2e.csv"] {
        let head = format!("GET {path} HTTP/1.1\nHost: HOST");
        let answer = answered(Access::local(), site(&live()), &head);
        assert!(answer.starts_with("HTTP/1.1 404"), "{path}: {answer}");
    }
}

#[test]
fn events_hold_the_whole_state_and_end_with_the_report() {
    let live = live();
    let site = site(&live);
    let page = thread::spawn({
        let site = Arc::clone(&site);
        move || answered(Access::local(), site, "GET /events HTTP/1.1\nHost: HOST")
    });
    // The report is set before or after the page connects; the stream ends either way.
    site.finish("<p>the report</p>".to_owned());
    let answer = page.join().unwrap();
    assert!(answer.contains("Content-Type: text/event-stream"), "{answer}");
    let data = answer.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
    let state: serde_json::Value = serde_json::from_str(data).unwrap();
    assert_eq!(state["points"][0]["throughput"], 3.0);
    assert_eq!(state["errors"]["deadlock"], 2);
    assert!(state["log"][0].as_str().unwrap().starts_with("</script>"), "{data}");
    assert!(answer.trim_end().ends_with("data: {}"), "{answer}");
    let report = answered(Access::local(), site, "GET /report.html HTTP/1.1\nHost: HOST");
    assert!(report.ends_with("<p>the report</p>"), "{report}");
    assert!(report.contains("script-src 'sha256-"), "{report}");
}

/// Connections to a server of this site that have sent a request for a path and read nothing.
fn connected(site: Arc<dyn Handler>, path: &str, count: usize) -> Vec<TcpStream> {
    let server = Server::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = server.address().unwrap();
    server.serve(Access::local(), site).unwrap();
    let connect = |_| {
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
        stream
    };
    (0..count).map(connect).collect()
}

/// Memory of this process.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

#[test]
fn stalled_event_clients_use_bounded_memory_and_are_dropped() {
    let mut live = live();
    // Events of 5 MB, more than the operating system buffers.
    for _ in 0..100 {
        live.say(&"x".repeat(50_000));
    }
    let before = resident_bytes();
    let mut silent = connected(site(&live), "/events", CONNECTIONS_MAX);
    // The head of a response is shorter: all events have begun.
    for stream in &mut silent {
        stream.read_exact(&mut [0; 1024]).unwrap();
    }
    let second = Nanos(1_000_000_000);
    let interval = IntervalRecord::empty("b01-001", Nanos(0), second, &[]);
    for _ in 0..10_000 {
        live.interval(&interval);
    }
    let grown = resident_bytes().saturating_sub(before) >> 20;
    assert!(grown < 32 * 16, "{grown} MB");
    let address = silent[0].peer_addr().unwrap();
    let answers = || {
        let mut stream = TcpStream::connect(address).unwrap();
        let _ = write!(stream, "GET /metrics HTTP/1.1\r\nHost: {address}\r\n\r\n");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).is_ok_and(|_| answer.ends_with("# EOF\n"))
    };
    assert!(!answers(), "all connections are in use");
    let until = Instant::now() + 4 * TIMEOUT;
    while !answers() {
        assert!(Instant::now() < until, "nobody was dropped");
        thread::park_timeout(Duration::from_millis(50));
    }
}

#[test]
fn a_client_that_takes_a_little_at_a_time_is_dropped() {
    let (live, whole) = (live(), 64 << 20);
    let site = site(&live);
    site.finish("x".repeat(whole));
    let mut slow = connected(site, "/report.html", 1).remove(0);
    let (mut piece, mut received) = (vec![0; 64 << 10], 0);
    // At this pace the report would take a minute.
    while let Ok(length @ 1..) = slow.read(&mut piece) {
        received += length;
        thread::park_timeout(Duration::from_millis(50));
    }
    assert!(received < whole, "{received}");
}

#[test]
fn pages_hold_no_text_of_others_and_run_only_our_script() {
    for lang in LANGUAGES {
        let page = page::run(lang);
        assert_eq!(page.matches("<script").count(), 1, "{page}");
        assert!(!page.contains("style=") && !page.contains("onclick"), "{page}");
    }
    for banned in ["innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "document.write"] {
        assert!(!page::RUN_SCRIPT.contains(banned), "{banned}");
    }
    let answer = answered(Access::local(), site(&live()), "GET / HTTP/1.1\nHost: HOST");
    assert!(answer.contains("default-src 'none'; script-src 'self'; style-src 'self'"), "{answer}");
}

/// Samples by name, after a check of the rules of OpenMetrics that Prometheus relies on.
fn checked(text: &str) -> BTreeMap<String, Vec<(String, f64)>> {
    let (mut families, mut samples) = (Vec::new(), BTreeMap::<String, Vec<(String, f64)>>::new());
    let body = text.strip_suffix("# EOF\n").expect("the end is marked");
    for line in body.lines() {
        if let Some(family) = line.strip_prefix("# TYPE ") {
            let (name, kind) = family.split_once(' ').unwrap();
            assert!(!families.iter().any(|(known, _)| *known == name), "{name} is split");
            families.push((name, kind));
            continue;
        }
        let (family, kind) = *families.last().expect("the type comes first");
        if line.starts_with('#') {
            assert!(line.split(' ').nth(2) == Some(family), "{line}");
            continue;
        }
        let (sample, value) = line.rsplit_once(' ').unwrap();
        let (name, labels) = sample.split_once('{').unwrap_or((sample, ""));
        let suffix = name.strip_prefix(family).unwrap_or_else(|| panic!("{name}, not {family}"));
        let allowed: &[&str] = match kind {
            "counter" => &["_total"],
            "info" => &["_info"],
            "histogram" => &["_bucket", "_count", "_sum"],
            _ => &[""],
        };
        assert!(allowed.contains(&suffix), "{line} of type {kind}");
        let value = value.parse().unwrap_or_else(|_| panic!("{line}"));
        samples.entry(name.to_owned()).or_default().push((labels.to_owned(), value));
    }
    samples
}

#[test]
fn metrics_follow_openmetrics_and_all_their_names_are_listed() {
    let mut live = live();
    live.sample(&sample(0.0, 0.0));
    live.sample(&sample(1.0, 0.5));
    let samples = checked(&metrics::expose(&live.read(metrics::collect)));
    let mut names: Vec<&str> = samples.keys().map(String::as_str).collect();
    let mut listed = METRIC_NAMES.to_vec();
    names.sort_unstable();
    listed.sort_unstable();
    assert_eq!(names, listed);
    let buckets = &samples["dyno_transaction_duration_seconds_bucket"];
    assert!(buckets.windows(2).all(|pair| pair[0].1 <= pair[1].1), "{buckets:?}");
    let counted: Vec<f64> = [0, 5, 15, 16].map(|i| buckets[i].1).to_vec();
    assert_eq!(counted, [1.0, 2.0, 2.0, 3.0], "{buckets:?}");
    assert!(buckets[16].0.ends_with("le=\"+Inf\"}"), "{buckets:?}");
    assert_eq!(samples["dyno_transaction_duration_seconds_count"][0].1, 3.0);
    // Before the first trial there are no samples of trials.
    checked(&metrics::expose(&metrics::collect(&State::new(campaign(), EN), seconds(0.0))));
}

fn sample(at_s: f64, cpu_s: f64) -> dyno_model::monitor::MonitorSample {
    use dyno_model::monitor::{MonitorSample, names::*};
    let names = [GENERATOR_CPU_USER, GENERATOR_CPU_SYSTEM, SERVER_CPU_USER, SERVER_CPU_SYSTEM];
    let values = names.map(|name| (name.to_owned(), cpu_s));
    MonitorSample { trial: "b01-001".to_owned(), at_s, values: values.into(), sessions: Vec::new() }
}

#[test]
fn dashboard_uses_each_metric_but_run_info_and_docs_list_all() {
    let text = include_str!("../../../../examples/grafana/dyno.json");
    let dashboard: serde_json::Value = serde_json::from_str(text).expect("JSON");
    let mut used = std::collections::BTreeSet::new();
    let annotations = dashboard["annotations"]["list"].as_array().unwrap().iter();
    let targets = dashboard["panels"].as_array().unwrap().iter();
    let targets = targets.flat_map(|panel| panel["targets"].as_array().unwrap());
    for expression in annotations.chain(targets).map(|it| it["expr"].as_str().unwrap()) {
        let words = expression.split(|it: char| !it.is_ascii_alphanumeric() && it != '_');
        used.extend(words.filter(|word| word.starts_with("dyno_")));
    }
    let known: std::collections::BTreeSet<&str> =
        METRIC_NAMES.into_iter().filter(|name| *name != "dyno_run_info").collect();
    assert_eq!(used, known);
    let page = include_str!("../../../../docs/live.md");
    for name in METRIC_NAMES {
        let short = name.strip_prefix("dyno_transaction_duration_seconds").unwrap_or(name);
        assert!(
            page.contains(&format!("`{name}`")) || page.contains(&format!("`{short}`")),
            "{name}"
        );
    }
}
