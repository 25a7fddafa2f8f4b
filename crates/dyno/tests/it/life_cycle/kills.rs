//! Campaigns that are ended at random moments, in every way that there is, and gone on with: each
//! trial is measured whole exactly once, and nothing stays on the machine.
//!
//! The suite ends a few runs. `DYNO_KILLS=100 cargo test -p dyno --test it kills -- --nocapture`
//! ends a hundred, and prints what came of them; `DYNO_KILLS_SEED` chooses others.

use crate::program::{Bench, Ended, signal};
use dyno_engine::random::{Random, Stream};
use dyno_model::event::Event;
use dyno_model::plan::ServerKind;
use dyno_store::Run;
use dyno_testkit::{TIMEOUT, is_process, processes_with, require_server};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Runs that the suite ends.
const KILLS: usize = 8;

/// Ways to end a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Ending {
    Kill,
    Interrupt,
    InterruptTwice,
    KillServer,
}

const WAYS: [Ending; 4] =
    [Ending::Kill, Ending::Interrupt, Ending::InterruptTwice, Ending::KillServer];

fn number(variable: &str) -> Option<usize> {
    std::env::var(variable).ok().and_then(|value| value.parse().ok())
}

fn spec(kind: ServerKind) -> String {
    format!(
        r#"
title = "To be ended"
system = [{{ name = "S", server = {{ kind = "{}" }} }}]
workload = {{ kind = "rush", variant = "in-place", rows = 20 }}
load = {{ clients = [1, 2], duration = "500ms", warmup = "0s" }}
design = {{ blocks = 2 }}
"#,
        kind.name()
    )
}

/// Segments of System V shared memory that nobody uses and whose maker is gone.
fn orphaned_memory() -> Vec<String> {
    let table = std::fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    let lines = table.lines().skip(1);
    let orphaned = lines.filter(|line| {
        // key, id, permissions, size, maker, last user, attached, ...
        let field =
            |at: usize| line.split_whitespace().nth(at).and_then(|text| text.parse::<u32>().ok());
        field(6) == Some(0) && field(4).is_some_and(|pid| !is_process(pid))
    });
    orphaned.map(|line| line.split_whitespace().nth(1).unwrap_or_default().to_owned()).collect()
}

/// Files, processes and shared memory that a run should have taken with it.
fn what_is_left(bench: &Bench, before: &[String]) -> Vec<String> {
    let names = bench.names().into_iter().filter(|name| name != "spec.toml" && name != "r");
    let line = |pid: u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        format!("process {pid}: {}", String::from_utf8_lossy(&line).replace('\0', " "))
    };
    let processes = processes_with(&bench.path().display().to_string()).into_iter().map(line);
    let memory = orphaned_memory().into_iter().filter(|segment| !before.contains(segment));
    names.chain(processes).chain(memory.map(|segment| format!("shared memory {segment}"))).collect()
}

/// Sends what ends the run, if it still runs. Whether it met anybody.
fn end(child: &mut Child, way: Ending, scratch: &Path, random: &mut Random) -> bool {
    let pid = child.id();
    let is_running =
        |child: &mut Child| child.try_wait().expect("its state can be asked").is_none();
    if !is_running(child) {
        return false;
    }
    let mut is_met = way != Ending::KillServer;
    match way {
        Ending::Kill => child.kill().expect("it runs or is to be waited for"),
        Ending::Interrupt => signal("-INT", pid),
        Ending::InterruptTwice => {
            signal("-INT", pid);
            std::thread::sleep(Duration::from_millis(random.below(400)));
            if is_running(child) {
                signal("-INT", pid);
            }
        }
        Ending::KillServer => {
            // Its supervisor has the folder in its arguments or environment, too; the server has a
            // data folder below it.
            let servers = processes_with(&format!("{}/dyno-", scratch.display()));
            for server in servers.into_iter().filter(|server| *server != pid) {
                let line = std::fs::read(format!("/proc/{server}/cmdline")).unwrap_or_default();
                let line = String::from_utf8_lossy(&line).into_owned();
                if line.contains("mariadbd\0") || line.contains("postgres\0") {
                    // It may have ended by itself.
                    let mut kill = Command::new("kill");
                    let status =
                        kill.args(["-9", &server.to_string()]).stderr(Stdio::null()).status();
                    is_met |= status.expect("kill is there").success();
                }
            }
        }
    }
    is_met
}

/// Runs dyno and ends it after a random time; false when that met nobody, because the run was over
/// or had no server.
fn ended_run(
    bench: &Bench,
    arguments: &[&str],
    way: Ending,
    random: &mut Random,
    longest: u64,
) -> (Ended, bool) {
    let mut child = bench
        .command(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("dyno can be started");
    std::thread::sleep(Duration::from_millis(random.below(longest)));
    let is_met = end(&mut child, way, bench.path(), random);
    (Ended::from(child.wait_with_output().expect("it ends")), is_met)
}

/// How often each trial was measured to its end.
fn whole(folder: &Path) -> BTreeMap<String, usize> {
    let text = std::fs::read_to_string(folder.join("events.jsonl")).expect("the log is there");
    let mut whole = BTreeMap::new();
    for line in text.lines() {
        if let Ok(Event::TrialFinished(record)) = serde_json::from_str(line)
            && record.is_whole()
        {
            *whole.entry(record.trial.id).or_insert(0) += 1;
        }
    }
    whole
}

/// Ends a run again and again until it has measured everything; how often it was ended, by way, and
/// the longest time until nothing was left.
fn campaign(kind: ServerKind, random: &mut Random, ends: &mut BTreeMap<Ending, usize>) -> Duration {
    let longest = if kind == ServerKind::Sqlite { 2_500 } else { 9_000 };
    let bench = Bench::new();
    bench.file("spec.toml", spec(kind));
    let before = orphaned_memory();
    let folder = bench.path().join("r");
    let mut slowest = Duration::ZERO;
    for attempt in 0.. {
        let is_begun = Run::open(&folder).is_ok();
        if !is_begun && folder.exists() {
            // Ended before its plan was written down: nothing can be lost, and nothing can be gone
            // on with.
            std::fs::remove_dir_all(&folder).expect("it is ours");
        }
        let arguments: &[&str] =
            if is_begun { &["run", "--resume", "r"] } else { &["run", "spec.toml", "--out", "r"] };
        let way = WAYS[random.below(WAYS.len() as u64) as usize];
        // The last attempt is let alone.
        let ended = if attempt < 6 {
            let (ended, is_met) = ended_run(&bench, arguments, way, random, longest);
            *ends.entry(way).or_insert(0) += usize::from(is_met);
            ended
        } else {
            bench.dyno(arguments)
        };
        let since = Instant::now();
        loop {
            let left = what_is_left(&bench, &before);
            if left.is_empty() {
                break;
            }
            assert!(since.elapsed() < TIMEOUT, "left after {way:?} of {kind:?}: {left:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
        slowest = slowest.max(since.elapsed());
        // Nothing is done by halves without being told: 0 stands for everything, 6 and 5 for trials
        // that are missing.
        let done = Run::open(&folder).map_or(0, |run| run.done().len());
        let reported = match ended.code {
            _ if ended.is_done() => done == 4,
            5 | 6 | 130 => true,
            -1 => way == Ending::Kill,
            _ => false,
        };
        assert!(reported, "{way:?} {kind:?} attempt {attempt}, {done} done: {ended}");
        if ended.is_done() {
            break;
        }
        assert!(attempt < 6, "a run that nobody ends measures everything: {ended}");
    }
    let whole = whole(&folder);
    assert_eq!(whole.len(), 4, "{kind:?}: a trial is missing: {whole:?}");
    assert!(whole.values().all(|times| *times == 1), "{kind:?}: a trial counts twice: {whole:?}");
    slowest
}

#[test]
fn randomly_stopped_runs_measure_each_trial_once_and_clean_up() {
    let seed = number("DYNO_KILLS_SEED").unwrap_or(9) as u64;
    let kills = number("DYNO_KILLS").unwrap_or(KILLS);
    let servers = [ServerKind::Sqlite, ServerKind::Mariadb, ServerKind::Postgres];
    let kinds: Vec<ServerKind> =
        servers.into_iter().filter(|kind| require_server(*kind).is_some()).collect();
    let mut random = Random::new(seed, Stream::Data, 0, 0);
    let (mut ends, mut slowest, mut campaigns) = (BTreeMap::new(), Duration::ZERO, 0);
    while ends.values().sum::<usize>() < kills {
        slowest = slowest.max(campaign(kinds[campaigns % kinds.len()], &mut random, &mut ends));
        campaigns += 1;
    }
    println!(
        "{campaigns} campaigns, ended {ends:?}; nothing was left after {slowest:?} at the latest"
    );
}
