//! `dyno run --serve` and `dyno serve` as HTTP clients see them.

use crate::program::Bench;
use dyno_testkit::wait_until;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};

/// One trial on embedded SQLite.
pub(super) const SHORT: &[&str] =
    &["run", "--plain", "--blocks", "1", "--set", "load.clients=[1]", "--out", "results"];

/// A run, or a list of runs, that is served. It ends with its value.
pub(super) struct Served {
    dyno: Child,
    pub(super) host: String,
}

impl Served {
    /// Starts dyno and waits for its link.
    pub(super) fn start(mut command: Command) -> Self {
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut dyno = command.spawn().expect("dyno can be started");
        let mut stderr = BufReader::new(dyno.stderr.take().expect("it is piped"));
        let (mut line, mut host) = (String::new(), None);
        while host.is_none() {
            line.clear();
            assert!(stderr.read_line(&mut line).expect("UTF-8") > 0, "dyno prints a link");
            host = line.split_once("http://").map(|(_, link)| link.trim_end().replace('/', ""));
        }
        std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        Self { dyno, host: host.expect("the loop found it") }
    }

    /// Waits until dyno ends by itself.
    pub(super) fn ended(&mut self) -> ExitStatus {
        let is_over = || self.dyno.try_wait().expect("it is our child").is_some();
        wait_until("dyno ends", is_over);
        self.dyno.wait().expect("it has ended")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.dyno.kill();
        let _ = self.dyno.wait();
    }
}

/// A connection that has sent a request.
fn asked(host: &str, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(host).expect("a server listens");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
        .expect("it takes the request");
    stream
}

/// The answer to a request, with its head.
pub(super) fn get(host: &str, path: &str) -> String {
    answer(asked(host, path))
}

fn answer(mut stream: TcpStream) -> String {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    answer
}

#[test]
fn events_end_with_the_report_of_the_run() {
    let bench = Bench::new();
    let mut command = bench.command(SHORT);
    command.arg("--serve=127.0.0.1:0");
    let mut dyno = Served::start(command);
    let events = asked(&dyno.host, "/events");
    let metrics = get(&dyno.host, "/metrics");
    assert!(metrics.ends_with("# EOF\n"), "{metrics}");
    let events = answer(events);
    assert!(events.contains("event: state\n") && events.contains("event: report\n"), "{events}");
    let report = get(&dyno.host, "/report.html");
    assert!(report.contains("<h1>") && report.contains("script-src 'sha256-"), "{report}");
    let script = format!("<script>{}</script>", dyno_report::PAGE_SCRIPT);
    assert!(report.contains(&script), "the policy permits the script of the page");
    let timeline = bench.path().join("results/trials/b01-001/timeline.csv");
    assert!(timeline.is_file(), "what the page opens is there");
    dyno.ended();
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

#[test]
fn runs_of_a_curve_link_to_the_report_of_all() {
    let bench = Bench::new();
    bench.file(
        "tiny.toml",
        "title = \"t\"\nsystem = [{ name = \"A\", url = \"null:\" }]\n\
         workload = { kind = \"rush\" }\nload = { clients = 1, transactions = 10 }\n\
         design = { blocks = 1 }\n",
    );
    for (out, clients) in [("curve/tiny/1", 1), ("curve/tiny/2", 2), ("alone/tiny/1", 1)] {
        let set = format!("load.clients={clients}");
        let ended = bench.dyno(&["run", "tiny.toml", "--set", &set, "--out", out]);
        assert!(ended.is_done(), "{ended}");
    }
    let ended = bench.dyno(&["report", "curve"]);
    assert!(ended.is_done(), "{ended}");
    let dyno = Served::start(bench.command(&["serve", ".", "--listen", "127.0.0.1:0"]));
    let list = get(&dyno.host, "/");
    let rows: Vec<&str> = list.split("<tr>").filter(|row| row.contains("tiny")).collect();
    let link = |row: &str| {
        let (before, _) = row.split_once("\">combined report")?;
        Some(before.rsplit_once('"')?.1.to_owned())
    };
    let found: Vec<_> = rows.iter().map(|row| (row.contains("./curve/"), link(row))).collect();
    assert_eq!(found.len(), 3, "{list}");
    assert!(found.iter().all(|(is_of_curve, link)| *is_of_curve == link.is_some()), "{found:?}");
    let report = found.iter().find_map(|(_, link)| link.clone()).expect("a link");
    let served = get(&dyno.host, &report);
    assert!(served.starts_with("HTTP/1.1 200") && served.contains("2 clients"), "{served}");
    // Folders above those of the command line are not read.
    let line = ["serve", "./curve/tiny/1", "--listen", "127.0.0.1:0"];
    let dyno = Served::start(bench.command(&line));
    assert!(!get(&dyno.host, "/").contains("combined report"));
    assert!(!get(&dyno.host, &report).starts_with("HTTP/1.1 200"));
}
