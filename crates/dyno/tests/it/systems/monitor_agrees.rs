//! The monitor's figures are those of independent readings over the same window: `/proc`, the
//! server's own counters, and sysstat's programs where they are installed.
//!
//! Nothing here depends on how fast anything is. Totals only grow, and the order of readings is
//! known: a look whose line is in the file came before what is read next, and one that is later by
//! its own clock after what was read. So the growth between looks that lie within two readings is
//! at most what the readings grew by, and between looks that lie around them at least as much.
//! sysstat measures a part of the time between two readings whose length is known; outside of it no
//! more time can have been used than passed.

use crate::program::{Bench, signal};
use dyno_drivers::{Connection, Driver, Io, Table, block_on};
use dyno_model::plan::ServerKind;
use dyno_model::target::{Endpoint, Target};
use dyno_testkit::{running_server_on_disk, wait_until};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::{Child, Command, Output, Stdio};
use std::time::Instant;

/// Environment variable that hands the server's password to dyno.
const PASSWORD: &str = "DYNO_TEST_PASSWORD";
/// Seconds that sysstat's programs measure for.
const SECONDS: u32 = 6;
/// A look may hold the server's answer to the question before, if it came late; an answer older
/// than a second is left out.
const ANSWER_AGE: f64 = 1.01;
/// Questions of the monitor in a look, which it takes off its own counts.
const QUESTIONS: f64 = 3.0;
/// Processor times are told in ticks, percentages with two digits; seconds.
const ROUNDING: f64 = 0.05;

/// Lines of `monitor.csv` that are whole, and the names of their columns.
fn looks(bench: &Bench) -> (Vec<String>, Vec<Vec<f64>>) {
    let text = std::fs::read_to_string(bench.path().join("r/trials/b01-001/monitor.csv"))
        .unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let mut lines = whole.lines();
    let names =
        lines.next().map(|line| line.split(',').map(str::to_owned).collect()).unwrap_or_default();
    let values =
        |line: &str| line.split(',').map(|cell| cell.parse().unwrap_or(f64::NAN)).collect();
    (names, lines.map(values).collect())
}

/// Totals by the monitor's names, read by this test itself.
struct Reading {
    totals: BTreeMap<String, f64>,
    /// Looks that were written down before.
    looks_before: usize,
    began: Instant,
    ended: Instant,
}

fn file(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// As the manuals say where what is: proc_stat(5), proc_pid_stat(5), proc_pid_io(5),
/// Documentation/admin-guide/iostats.rst.
fn totals(pid: u32, target: &Target, totals: &mut BTreeMap<String, f64>) {
    let ticks = 100.0;
    let stat = file("/proc/stat");
    let cpu = stat.lines().next().expect("a line").split_whitespace().skip(1);
    for (mode, time) in
        ["user", "nice", "system", "idle", "iowait", "irq", "softirq"].iter().zip(cpu)
    {
        // Times without work may go back by a tick.
        if !["idle", "iowait"].contains(mode) {
            let time: f64 = time.parse().expect("ticks");
            totals.insert(format!("host.cpu.{mode}_seconds_total"), time / ticks);
        }
    }
    for line in file("/proc/diskstats").lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let number = |i: usize| fields[i].parse::<f64>().expect("a number");
        let mut put = |what: &str, value: f64| {
            totals.insert(format!("host.disk.{}.{what}", fields[2]), value)
        };
        put("reads_total", number(3));
        put("read_bytes_total", number(5) * 512.0);
        put("writes_total", number(7));
        put("written_bytes_total", number(9) * 512.0);
        put("busy_seconds_total", number(12) / 1e3);
    }
    let stat = file(&format!("/proc/{pid}/stat"));
    let fields: Vec<&str> =
        stat.rsplit_once(')').expect("a name in brackets").1.split_whitespace().collect();
    for (what, number) in [("user", 14), ("system", 15)] {
        let time: f64 = fields[number - 3].parse().expect("ticks");
        totals.insert(format!("server.process.cpu_{what}_seconds_total"), time / ticks);
    }
    let io = file(&format!("/proc/{pid}/io"));
    for (key, what) in
        [("read_bytes: ", "read_bytes_total"), ("write_bytes: ", "written_bytes_total")]
    {
        let bytes = io.lines().find_map(|line| line.strip_prefix(key)).expect("the key");
        totals.insert(format!("server.process.{what}"), bytes.parse().expect("bytes"));
    }
    let mut status = Table::default();
    block_on(async {
        let mut connection = Connection::connect(target, &Io::Blocking).await?;
        connection.query("SHOW GLOBAL STATUS", &mut status).await
    })
    .unwrap_or_else(|failure| panic!("{failure}"));
    for name in [
        "Com_select",
        "Com_commit",
        "Com_insert",
        "Innodb_data_fsyncs",
        "Innodb_data_written",
        "Innodb_os_log_written",
    ] {
        let row = status.0.iter().find(|row| row[0].as_deref() == Some(name));
        let value = row.and_then(|row| row[1].as_deref()).and_then(|text| text.parse().ok());
        totals.insert(
            format!("server.status.{name}_total"),
            value.unwrap_or_else(|| panic!("{name}")),
        );
    }
}

impl Reading {
    fn take(bench: &Bench, pid: u32, target: &Target) -> Self {
        let looks_before = looks(bench).1.len();
        let mut found = BTreeMap::new();
        let began = Instant::now();
        totals(pid, target, &mut found);
        Self { totals: found, looks_before, began, ended: Instant::now() }
    }
}

/// A program of sysstat that measures once for [`SECONDS`], if it is there.
fn sysstat(program: &str, arguments: &[&str]) -> Option<Child> {
    let seconds = SECONDS.to_string();
    let mut command = Command::new(program);
    command.args(arguments).args([seconds.as_str(), "1"]).env("LC_ALL", "C").stdout(Stdio::piped());
    match command.spawn() {
        Ok(child) => Some(child),
        Err(error) => {
            let is_required =
                std::env::var_os(dyno_testkit::REQUIRE_SERVERS).is_some_and(|value| value == "1");
            assert!(!is_required, "{program}: {error}; scripts/servers installs it");
            None
        }
    }
}

/// The columns of the last line of a program's output that holds a word, by the words of the
/// heading before it.
fn columns(child: Child, word: &str) -> BTreeMap<String, f64> {
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8(output.stdout).expect("text");
    let mut found = BTreeMap::new();
    let mut heading: Vec<&str> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with("Average")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if line.contains('%') {
            heading = words;
        } else if words.contains(&word) {
            // Both begin with the time, or neither does.
            let values = heading
                .iter()
                .zip(&words)
                .filter_map(|(name, value)| Some(((*name).to_owned(), value.parse().ok()?)));
            found.extend(values);
        }
    }
    found
}

/// What sysstat's programs told; `None` where they are not installed.
struct Sysstat {
    machine: Option<BTreeMap<String, f64>>,
    process: Option<BTreeMap<String, f64>>,
    disks: Option<Output>,
}

impl Sysstat {
    /// Compares with what this test's readings grew by while so many seconds passed.
    fn agrees(self, grown: &dyn Fn(&str) -> f64, passed: f64, known: &BTreeMap<String, f64>) {
        // sysstat's window lies within ours.
        let processors = std::thread::available_parallelism().expect("a number").get() as f64;
        let seconds = f64::from(SECONDS);
        let beside = (passed - seconds).max(0.0);
        let check = |what: &str, share: f64, ours: f64, of: f64| {
            let theirs = share / 100.0 * seconds * of;
            assert!(theirs <= ours + ROUNDING * of, "{what}: {theirs} > {ours}");
            assert!(
                theirs >= ours - 2.0 * beside * of - ROUNDING * of,
                "{what}: {theirs} << {ours} ({beside} s beside)"
            );
        };
        if let Some(machine) = self.machine {
            check("user", machine["%usr"], grown("host.cpu.user_seconds_total"), processors);
            check("system", machine["%sys"], grown("host.cpu.system_seconds_total"), processors);
        }
        if let Some(process) = self.process {
            // Of one processor, and the process may use all of them.
            let ours = ["user", "system"]
                .map(|mode| grown(&format!("server.process.cpu_{mode}_seconds_total")));
            check("server, user", process["%usr"] / processors, ours[0], processors);
            check("server, system", process["%system"] / processors, ours[1], processors);
        }
        if let Some(disks) = self.disks {
            let text = String::from_utf8(disks.stdout).expect("text");
            let lines = text.lines().skip_while(|line| !line.starts_with("Device")).skip(1);
            for line in lines.filter(|line| !line.trim().is_empty()) {
                let words: Vec<&str> = line.split_whitespace().collect();
                let name = format!("host.disk.{}.busy_seconds_total", words[0]);
                let busy: f64 =
                    words.last().and_then(|word| word.parse().ok()).expect("a percentage");
                if known.contains_key(&name) {
                    check(words[0], busy, grown(&name), 1.0);
                }
            }
        }
    }
}

/// A run on a server that runs already, in its own process and under way; and a moment before its
/// clients connected.
fn begin(bench: &Bench, target: &Target) -> (Child, Instant) {
    let Endpoint::Tcp { host, port } = &target.endpoint else {
        panic!("managed servers listen on TCP")
    };
    let spec = format!(
        "title = \"Agreement\"\n[[system]]\nname = \"running\"\nurl = \"mysql://{}@{host}:{port}/{}\"\n\
         password_env = \"{PASSWORD}\"\n[workload]\nkind = \"oltp_read_write\"\ntables = 1\ntable_size = 10000\n\
         [load]\nclients = 8\nduration = \"10m\"\nwarmup = \"0s\"\n[design]\nblocks = 1\n",
        target.user, target.database
    );
    bench.file("agreement.toml", spec);
    let mut command = bench.command(&["run", "agreement.toml", "--quiet", "--out", "r"]);
    let command =
        command.env(PASSWORD, target.password.reveal()).stdout(Stdio::null()).stderr(Stdio::null());
    let run = command.spawn().expect("dyno can be started");
    // The monitor's clock begins later than this: seconds since then are at least those of looks at
    // the same moment.
    let mut not_yet = Instant::now();
    wait_until("clients connect", || {
        let now = Instant::now();
        let text = std::fs::read_to_string(bench.path().join("r/events.jsonl")).unwrap_or_default();
        let is_begun = text.contains(r#""phase":"connecting""#);
        if !is_begun {
            not_yet = now;
        }
        is_begun
    });
    wait_until("the trial is under way", || looks(bench).1.len() >= 5);
    (run, not_yet)
}

#[test]
fn the_monitor_agrees_with_proc_sysstat_and_server_counters() {
    let Some(server) = running_server_on_disk(ServerKind::Mariadb) else { return };
    let (target, pid) = (server.target(), server.pid().expect("a process"));
    let bench = Bench::new();
    let (mut run, not_yet) = begin(&bench, &target);
    // Seconds of the monitor's clock from which on all of a look came after a reading.
    let after_it =
        |reading: &Reading| reading.ended.duration_since(not_yet).as_secs_f64() + ANSWER_AGE;
    let newest = || {
        let (names, looks) = looks(&bench);
        // With the server's answer.
        let known = names.iter().position(|name| name == "server.status.Com_select_total");
        looks
            .iter()
            .rfind(|look| known.is_some_and(|i| look[i].is_finite()))
            .map_or(0.0, |look| look[0])
    };

    let before = Reading::take(&bench, pid, &target);
    let number = pid.to_string();
    let machine = sysstat("mpstat", &[]);
    let disks = sysstat("iostat", &["-dxy"]);
    let process = sysstat("pidstat", &["-u", "-p", &number]);
    let (machine, process) =
        (machine.map(|child| columns(child, "all")), process.map(|child| columns(child, &number)));
    let disks = disks.map(|child| child.wait_with_output().expect("it ends"));
    // The same window without sysstat.
    wait_until("the window is long enough", || newest() >= after_it(&before) + 3.0);
    let after = Reading::take(&bench, pid, &target);
    let passed = after.ended.duration_since(before.began).as_secs_f64();
    wait_until("looks after the window", || newest() >= after_it(&after));
    let (names, looks) = looks(&bench);
    signal("-INT", run.id());
    run.wait().expect("dyno ends");

    let mut table = String::new();
    let grown = |name: &str| after.totals[name] - before.totals[name];
    let mut compared = 0;
    for name in before.totals.keys() {
        let Some(column) = names.iter().position(|known| known == name) else {
            assert!(name.starts_with("host.disk."), "{name} is not monitored");
            continue;
        };
        // A look that was not answered in time has no figures of the server.
        let last_before = |reading: &Reading| {
            let known = looks[..reading.looks_before].iter().map(|look| look[column]);
            known
                .rev()
                .find(|value| value.is_finite())
                .unwrap_or_else(|| panic!("{name}: {looks:?}"))
        };
        let first_after = |reading: &Reading| {
            let known =
                looks.iter().filter(|look| look[0] >= after_it(reading)).map(|look| look[column]);
            known
                .into_iter()
                .find(|value| value.is_finite())
                .unwrap_or_else(|| panic!("{name}: {looks:?}"))
        };
        let within = last_before(&after) - first_after(&before);
        let own = if name == "server.status.Com_select_total" {
            QUESTIONS * looks.len() as f64
        } else {
            0.0
        };
        let around = first_after(&after) - last_before(&before) + own;
        let _ = writeln!(table, "{name}: {within} <= {} <= {around}", grown(name));
        // Sums of several reads of one file are rounded to six decimals in the file.
        assert!(within <= grown(name) + 1e-5 && grown(name) <= around + 1e-5, "{table}");
        compared += usize::from(within > 0.0);
    }
    assert!(compared >= 8, "something moved:\n{table}");
    for name in [
        "server.status.Com_select_total",
        "server.process.cpu_user_seconds_total",
        "host.cpu.user_seconds_total",
    ] {
        assert!(grown(name) > 0.0, "{name}:\n{table}");
    }

    if machine.is_none() || disks.is_none() || process.is_none() {
        eprintln!("SKIPPED in part: sysstat is not installed");
    }
    Sysstat { machine, process, disks }.agrees(&grown, passed, &before.totals);
    print!("{table}");
}
