//! Samples of machine and server are reported with the results, and explain stalls.

use crate::program::{Bench, Ended, flaws, signal};
use dyno_drivers::{Connection, Discard, Driver, Io, block_on};
use dyno_model::event::Event;
use dyno_model::plan::ServerKind;
use dyno_model::record::TrialRecord;
use dyno_model::target::{Endpoint, Target};
use dyno_model::warning::Warning;
use dyno_testkit::{running_server, wait_until};
use std::process::{Child, Stdio};
use std::time::Instant;

/// Environment variable that hands the server's password to dyno.
const PASSWORD: &str = "DYNO_TEST_PASSWORD";

/// Clients of every run here.
const CLIENTS: u32 = 8;

/// Looks of a trial so far.
fn looks(bench: &Bench) -> usize {
    std::fs::read_to_string(bench.path().join("r/trials/b01-001/monitor.csv"))
        .map_or(0, |text| text.lines().count().saturating_sub(1))
}

/// A spec that measures a running server.
fn spec(target: &Target, load: &str) -> String {
    let Endpoint::Tcp { host, port } = &target.endpoint else {
        panic!("managed servers listen on TCP")
    };
    format!(
        "title = \"Stall\"\n[[system]]\nname = \"running\"\nurl = \"{}://{}@{host}:{port}/{}\"\n\
         password_env = \"{PASSWORD}\"\n[workload]\nkind = \"oltp_update_index\"\ntables = 1\ntable_size = 1000\n\
         [load]\nclients = {CLIENTS}\n{load}\nwarmup = \"1s\"\n[design]\nblocks = 1\n",
        target.engine, target.user, target.database
    )
}

/// Starts dyno on a spec that [`spec`] wrote.
fn start(bench: &Bench, target: &Target) -> Child {
    let mut command = bench.command(&["run", "stall.toml", "--out", "r"]);
    let command = command.env(PASSWORD, target.password.reveal()).stdout(Stdio::piped());
    command.stderr(Stdio::piped()).spawn().expect("dyno can be started")
}

/// The record of the only trial.
fn record(bench: &Bench) -> TrialRecord {
    let events =
        std::fs::read_to_string(bench.path().join("r/events.jsonl")).expect("the event log");
    let record =
        events.lines().find_map(|line| match serde_json::from_str(line).expect("an event") {
            Event::TrialFinished(record) => Some(*record),
            _ => None,
        });
    record.expect("the trial has figures")
}

/// A run of ten minutes in which nobody can update the table until the monitor has seen all clients
/// wait for so many seconds. It is interrupted when the clients have gone on; the seconds that it
/// took.
fn stalled(bench: &Bench, target: &Target, (lock, unlock): Locks, seconds: f64) -> (Ended, f64) {
    bench.file("stall.toml", spec(target, "duration = \"10m\""));
    let began = Instant::now();
    let run = start(bench, target);
    // One look before the clients begin, one as they do, then one a second.
    wait_until("the trial is under way", || looks(bench) >= 6);
    let mut holder = block_on(Connection::connect(target, &Io::Blocking)).expect("a connection");
    let mut tell = |statement: &str| {
        block_on(holder.query(statement, &mut Discard))
            .unwrap_or_else(|failure| panic!("{failure}"));
    };
    lock.iter().for_each(|statement| tell(statement));
    wait_until("all clients wait", || {
        let seen = looks_at_locks(bench, CLIENTS);
        // Regular looks are a second apart: two of them that are nearer are there because nothing
        // commits.
        seen.last().zip(seen.first()).is_some_and(|(last, first)| last - first >= seconds)
            && seen.windows(2).any(|pair| pair[1] - pair[0] < 0.6)
    });
    tell(unlock);
    let before = looks(bench);
    wait_until("clients go on", || looks(bench) > before + 2);
    signal("-INT", run.id());
    let ended = Ended::from(run.wait_with_output().expect("dyno ends"));
    assert_eq!(ended.code, 130, "{ended}");
    (ended, began.elapsed().as_secs_f64())
}

/// True when the monitor saw all clients wait at some time between these two, in seconds since the
/// window opened.
fn is_of_the_lock(bench: &Bench, at: f64, length: f64) -> bool {
    // The window opens after a second of warm-up.
    let opened = at + 1.0;
    looks_at_locks(bench, CLIENTS).iter().any(|look| *look >= opened && *look <= opened + length)
}

#[test]
fn a_stall_is_found_and_told_in_the_servers_words() {
    for kind in [ServerKind::Mariadb, ServerKind::Mysql, ServerKind::Postgres] {
        let Some(server) = running_server(kind, &[]) else { continue };
        let target = server.target();
        let bench = Bench::new();
        let lock: Locks = match kind {
            ServerKind::Postgres => locks(kind),
            _ => (&["LOCK TABLES sbtest1 WRITE"], "UNLOCK TABLES"),
        };
        // In so long there is at least one second of the timeline without a commit.
        let (ended, passed) = stalled(&bench, &target, lock, 2.2);
        let record = record(&bench);
        let collapse = record.warnings.iter().find_map(|warning| match warning {
            Warning::Collapse { at, seconds, sessions, .. } => {
                is_of_the_lock(&bench, *at, *seconds).then_some((*seconds, sessions))
            }
            _ => None,
        });
        let (seconds, sessions) =
            collapse.unwrap_or_else(|| panic!("{kind}: {:?}", record.warnings));
        assert!((1.0..passed).contains(&seconds), "{kind}: {seconds}");
        let blocked = sessions.iter().filter(|group| {
            group.wait.to_lowercase().contains("lock")
                && group.statement.starts_with("UPDATE sbtest1 SET k")
        });
        assert!(blocked.map(|group| group.sessions).sum::<u32>() >= 6, "{kind}: {sessions:?}");
        assert!(
            ended.stdout.replace("\n  ", " ").contains("stayed below a tenth of the usual"),
            "{ended}"
        );
    }
}

/// What locks the whole table, or server, and how it is let go.
type Locks = (&'static [&'static str], &'static str);

fn locks(kind: ServerKind) -> Locks {
    match kind {
        ServerKind::Mariadb => (&["FLUSH TABLES WITH READ LOCK"], "UNLOCK TABLES"),
        ServerKind::Mysql => (&["LOCK TABLES sbtest1 WRITE"], "UNLOCK TABLES"),
        _ => (&["BEGIN", "LOCK TABLE sbtest1 IN ACCESS EXCLUSIVE MODE"], "COMMIT"),
    }
}

/// Times of looks that saw this many sessions waiting for a lock, in seconds since the first client
/// began.
fn looks_at_locks(bench: &Bench, sessions: u32) -> Vec<f64> {
    let text = std::fs::read_to_string(bench.path().join("r/trials/b01-001/sessions.csv"))
        .unwrap_or_default();
    let mut waiting: Vec<(f64, u32)> = Vec::new();
    for line in text.lines().skip(1).filter(|line| line.to_lowercase().contains("lock")) {
        let mut cells = line.split(',');
        let (Some(Ok(at)), Some(Ok(count))) =
            (cells.next().map(str::parse), cells.next().map(str::parse::<u32>))
        else {
            continue;
        };
        match waiting.iter_mut().find(|(known, _)| *known == at) {
            Some((_, sum)) => *sum += count,
            None => waiting.push((at, count)),
        }
    }
    waiting.into_iter().filter(|(_, sum)| *sum >= sessions).map(|(at, _)| at).collect()
}

#[test]
fn sessions_are_looked_at_again_and_again_while_nothing_commits() {
    for kind in [ServerKind::Mariadb, ServerKind::Mysql, ServerKind::Postgres] {
        let Some(server) = running_server(kind, &[]) else { continue };
        let target = server.target();
        let bench = Bench::new();
        let (ended, _) = stalled(&bench, &target, locks(kind), 1.0);
        let record = record(&bench);
        let longest = record.longest_gap.expect("a figure of every trial");
        let stalls = record.warnings.iter().filter_map(|warning| match warning {
            Warning::Stall { longest_gap, at, sessions } => Some((*longest_gap, *at, sessions)),
            _ => None,
        });
        let stalls: Vec<_> = stalls.collect();
        let reported = stalls.first().map(|(length, at, _)| (*length, *at));
        assert_eq!(
            reported,
            Some((longest.length.as_secs_f64(), longest.at.as_secs_f64())),
            "{kind}"
        );
        // A busy machine may have held everything up for longer than the lock did.
        let stall = stalls.iter().find(|(length, at, _)| is_of_the_lock(&bench, *at, *length));
        let (_, _, sessions) = stall.unwrap_or_else(|| panic!("{kind}: {:?}", record.warnings));
        let blocked = sessions.iter().filter(|group| group.wait.to_lowercase().contains("lock"));
        assert!(blocked.map(|group| group.sessions).sum::<u32>() >= 6, "{kind}: {sessions:?}");
        let summary =
            std::fs::read_to_string(bench.path().join("r/summary.json")).expect("a summary");
        let summary: serde_json::Value = serde_json::from_str(&summary).expect("JSON");
        assert_eq!(summary["trials"][0]["longest_gap_ms"], longest.length.0 as f64 / 1e6, "{kind}");
        assert!(
            ended.stdout.replace("\n  ", " ").contains("No transaction committed for up to"),
            "{kind}: {ended}"
        );
    }
}

#[test]
fn a_machine_elsewhere_is_seen_through_a_command_until_that_ends() {
    for kind in [ServerKind::Mariadb, ServerKind::Mysql, ServerKind::Postgres] {
        let Some(server) = running_server(kind, &[]) else { continue };
        let target = server.target();
        let pid = server.pid().expect("a process");
        let bench = Bench::new();
        bench.file("server.pid", pid.to_string());
        // PostgreSQL is found by its sessions; others are told by a file, because several may run
        // here.
        let pid_file = match kind {
            ServerKind::Postgres => String::new(),
            _ => format!(", pid_file = \"{}\"", bench.path().join("server.pid").display()),
        };
        // What stands for ssh here writes down that it was started, and what it was given.
        let command = "echo Welcome; env > given.txt; echo started >> started.txt; exec sh";
        let monitor = format!("\"\nmonitor = {{ command = \"{command}\"{pid_file} }}\n[workload]");
        let text = spec(&target, "duration = \"3s\"").replace("\"\n[workload]", &monitor);
        bench.file("stall.toml", &text);
        let run = start(&bench, &target);
        let ended = Ended::from(run.wait_with_output().expect("dyno ends"));
        assert!(ended.is_done(), "{kind}: {ended}");
        let record = record(&bench);
        assert!(
            !record
                .warnings
                .iter()
                .any(|warning| matches!(warning, Warning::RecordingIncomplete { .. })),
            "{kind}: {:?}",
            record.warnings
        );
        let read = |name: &str| std::fs::read_to_string(bench.path().join(name)).expect("a file");
        assert_eq!(read("started.txt"), "started\n", "{kind}: once per trial");
        assert!(!read("given.txt").contains(target.password.reveal()), "{kind}");
        bench.forget_the_machine("r");
        let report = bench.dyno(&["report", "r", "--format", "json"]);
        let report: serde_json::Value = serde_json::from_str(&report.stdout).expect("JSON");
        let row = &report["configurations"][0]["figures"];
        let figure =
            |name: &str| row[name].as_f64().unwrap_or_else(|| panic!("{kind}: {name}: {row}"));
        assert!(
            figure("server-processors") > 0.01 && figure("server-memory") > 1e6,
            "{kind}: {row}"
        );
        assert!(figure("cpu-user") > 0.0 && figure("monitor") > 0.0, "{kind}");
        let header = read("r/trials/b01-001/monitor.csv");
        let header = header.lines().next().expect("a header");
        for column in [
            "host.cpu.user_seconds_total",
            "generator.host.cpu.user_seconds_total",
            "monitor.command_seconds",
        ] {
            assert!(header.split(',').any(|known| known == column), "{kind}: {column} in {header}");
        }
        let marker = bench.path().to_str().expect("a path of text");
        assert!(dyno_testkit::processes_with(marker).is_empty(), "{kind}: the command has ended");

        // One that fails at once, and one that is no shell: the trial is measured all the same.
        for (failing, words) in
            [("echo no route >&2; exit 255", "no route"), ("sed -n '/done/p;30q' | sh", "ended")]
        {
            bench.file("stall.toml", text.replace(command, failing).replace("\"3s\"", "\"1s\""));
            std::fs::remove_dir_all(bench.path().join("r")).expect("a folder");
            let run = start(&bench, &target);
            let ended = Ended::from(run.wait_with_output().expect("dyno ends"));
            assert!(ended.is_done(), "{kind}: {ended}");
            let record = self::record(&bench);
            assert!(
                flaws(&record).is_empty() && record.counters.committed > 0,
                "{kind}: {:?}",
                record.warnings
            );
            let reported = record.warnings.iter().find_map(|warning| match warning {
                Warning::RecordingIncomplete { what } => Some(what),
                _ => None,
            });
            let reported = reported.unwrap_or_else(|| panic!("{kind}: {:?}", record.warnings));
            assert!(
                reported.contains("monitor.command") && reported.contains(words),
                "{kind}: {reported}"
            );
        }
    }
}

#[test]
fn an_embedded_database_is_monitored_as_part_of_the_generator() {
    let bench = Bench::new();
    let spec = "title = \"Short\"\nsystem = [{ name = \"SQLite\", server = { kind = \"sqlite\" } }]\n\
                workload = { kind = \"rush\", variant = \"in-place\" }\n\
                load = { clients = 1, duration = \"2s\", warmup = \"0s\" }\ndesign = { blocks = 1 }\n";
    bench.file("short.toml", spec);
    let ended = bench.dyno(&["run", "short.toml", "--out", "r"]);
    assert!(ended.is_done(), "{ended}");
    bench.forget_the_machine("r");
    let report = bench.dyno(&["report", "r", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&report.stdout).expect("JSON");
    let row = &report["configurations"][0]["figures"];
    let figure = |name: &str| row[name].as_f64().unwrap_or_else(|| panic!("{name}: {row}"));
    assert!(figure("generator-cpu-per-transaction") > 0.0);
    assert!(figure("generator-processors") > 0.0 && figure("generator-processors") < 2.0);
    assert!(row["server-processors"].is_null());
    assert!(looks(&bench) >= 3);
    // A second each; a look that comes late makes one of two, or a part of a second at the end.
    let stretches = report["timelines"][0]["resources"].as_array().expect("a list").len();
    assert!((1..=3).contains(&stretches), "{stretches}");
}

#[test]
fn a_process_that_works_beside_the_trial_is_a_warning_with_its_name() {
    let bench = Bench::new();
    let spec = "title = \"Beside\"\nsystem = [{ name = \"SQLite\", server = { kind = \"sqlite\" } }]\n\
                workload = { kind = \"rush\", variant = \"in-place\" }\n\
                load = { clients = 1, duration = \"3s\", warmup = \"0s\" }\ndesign = { blocks = 1 }\n";
    bench.file("beside.toml", spec);
    let mut run =
        bench.command(&["run", "beside.toml", "--out", "r"]).spawn().expect("dyno can be started");
    // This process is not one of dyno's.
    while run.try_wait().expect("a child").is_none() {
        std::hint::black_box((0..1_000_000_u64).sum::<u64>());
    }
    let others = record(&bench).warnings.into_iter().find_map(|warning| match warning {
        Warning::OtherProcessesCpu { share, processes } => Some((share, processes)),
        _ => None,
    });
    let (share, processes) = others.expect("this test was at work");
    assert!(share > 0.0 && share <= 1.0, "{share}");
    assert!(
        !processes.is_empty() && processes.iter().all(|process| process.processors > 0.0),
        "{processes:?}"
    );
    let report = bench.dyno(&["report", "r", "--format", "text"]);
    assert!(report.stdout.contains("CPU used by other processes"), "{report}");
}
