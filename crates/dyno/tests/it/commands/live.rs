//! `dyno run --serve` and `dyno serve`, as a browser and Prometheus use them.

use crate::program::Bench;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;

/// One trial on embedded SQLite.
const SHORT: &[&str] =
    &["run", "--plain", "--blocks", "1", "--set", "load.clients=[1]", "--out", "results"];

/// A connection that has sent a request.
fn asked(host: &str, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(host).expect("dyno listens");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").expect("it takes the request");
    stream
}

fn answer(mut stream: TcpStream) -> String {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("dyno answers");
    answer
}

#[test]
fn a_page_that_is_open_at_the_end_of_the_run_becomes_the_report() {
    let bench = Bench::new();
    let mut command = bench.command(SHORT);
    command.arg("--serve=127.0.0.1:0").stdout(Stdio::null()).stderr(Stdio::piped());
    let mut dyno = command.spawn().expect("dyno can be started");
    let stderr = BufReader::new(dyno.stderr.take().expect("it is piped"));
    let mut lines = stderr.lines().map(|line| line.expect("dyno writes UTF-8"));
    let link = lines.find_map(|line| line.strip_prefix("Live view: http://").map(str::to_owned));
    let link = link.expect("dyno prints the link");
    let host = link.trim_end_matches('/');
    let events = asked(host, "/events");
    let metrics = answer(asked(host, "/metrics"));
    assert!(metrics.ends_with("# EOF\n"), "{metrics}");
    let events = answer(events);
    assert!(events.contains("event: state\n") && events.contains("event: report\n"), "{events}");
    let report = answer(asked(host, "/report.html"));
    assert!(report.contains("<h1>") && report.contains("script-src 'sha256-"), "{report}");
    let script = format!("<script>{}</script>", dyno_report::PAGE_SCRIPT);
    assert!(report.contains(&script), "the policy permits the script of the page");
    let timeline = bench.path().join("results/trials/b01-001/timeline.csv");
    assert!(timeline.is_file(), "what the page opens is there");
    lines.for_each(drop);
    dyno.wait().expect("dyno ends by itself");
}

#[test]
fn a_port_in_use_is_reported_before_anything_is_written() {
    let bench = Bench::new();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = taken.local_addr().expect("it has an address").to_string();
    let mut arguments = SHORT.to_vec();
    let serve = format!("--serve={address}");
    arguments.push(&serve);
    let ended = bench.dyno(&arguments);
    assert_eq!(ended.code, 2, "{ended}");
    assert!(ended.stderr.contains(&format!("cannot listen on {address}")), "{ended}");
    assert!(!bench.path().join("results").exists(), "{ended}");
}
