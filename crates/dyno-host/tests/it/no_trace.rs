//! Whatever happens to dyno, no process and no folder stays behind, and the password is nowhere to be read.

use crate::{DATABASES, PROCESSES, ask, described, is_empty, open_folder, options, running};
use dyno_host::server::{StartOptions, start};
use dyno_model::plan::ServerKind;
use dyno_testkit::{folder_holds, is_process, processes_with, require_server, wait_until};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

fn pid(number: u32) -> Pid {
    Pid::from_raw(i32::try_from(number).unwrap()).unwrap()
}

/// A program of its own (in its own process group, as a shell would start it) that keeps a server running, and the server's process.
fn keeper(kind: ServerKind, scratch: &Path) -> (Child, Option<u32>) {
    let mut keeper = Command::new(env!("CARGO_BIN_EXE_dyno-server"))
        .arg(kind.name())
        .env("TMPDIR", scratch)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(keeper.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let told: serde_json::Value =
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
    (keeper, told["pid"].as_u64().map(|pid| u32::try_from(pid).unwrap()))
}

#[test]
fn kill_9_of_dyno_leaves_no_process_and_no_folder() {
    for kind in DATABASES {
        if require_server(kind).is_none() {
            continue;
        }
        let scratch = open_folder();
        let (mut keeper, server) = keeper(kind, scratch.path());
        assert!(!is_empty(scratch.path()));
        keeper.kill().unwrap();
        keeper.wait().unwrap();
        wait_until("folder and server vanish", Duration::from_secs(30), || {
            is_empty(scratch.path()) && server.is_none_or(|pid| !is_process(pid))
        });
        let marker = scratch.path().to_str().unwrap();
        wait_until("no process is left", Duration::from_secs(10), || processes_with(marker).is_empty());
    }
}

#[test]
fn kill_9_of_dyno_while_the_data_folder_is_being_made_leaves_nothing() {
    if require_server(ServerKind::Mysql).is_none() {
        return;
    }
    let scratch = open_folder();
    let mut keeper = Command::new(env!("CARGO_BIN_EXE_dyno-server"))
        .arg("mysql")
        .env("TMPDIR", scratch.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let marker = scratch.path().to_str().unwrap().to_owned();
    let is_initialising = || {
        processes_with(&marker).iter().any(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains("--initialize-insecure")
        })
    };
    wait_until("initialising begins", Duration::from_secs(30), is_initialising);
    keeper.kill().unwrap();
    keeper.wait().unwrap();
    wait_until("folder and server vanish", Duration::from_secs(30), || {
        is_empty(scratch.path()) && processes_with(&marker).is_empty()
    });
}

#[test]
fn ctrl_c_in_the_terminal_does_not_reach_the_server_before_dyno_has_its_say() {
    for kind in PROCESSES {
        if require_server(kind).is_none() {
            continue;
        }
        let scratch = open_folder();
        let (mut keeper, server) = keeper(kind, scratch.path());
        let server = server.unwrap();
        let group = |number: u32| {
            let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap();
            stat.rsplit_once(')').unwrap().1.split_whitespace().nth(2).unwrap().to_owned()
        };
        assert_ne!(group(server), group(keeper.id()), "{kind}: the terminal signals a whole process group");
        // The terminal's signal ends dyno; the guard then stops the server in order.
        kill_process_group(pid(keeper.id()), Signal::INT).unwrap();
        keeper.wait().unwrap();
        wait_until("folder and server vanish", Duration::from_secs(30), || {
            is_empty(scratch.path()) && !is_process(server)
        });
    }
}

#[test]
fn a_guard_that_is_killed_takes_neither_the_server_nor_the_folder_with_it_into_oblivion() {
    for kind in PROCESSES {
        let scratch = open_folder();
        let Some(server) = running(kind, scratch.path(), &[]) else { continue };
        let number = server.pid().unwrap();
        let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap();
        let guard: u32 = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(1).unwrap().parse().unwrap();
        kill_process(pid(guard), Signal::KILL).unwrap();
        wait_until("dyno notices", Duration::from_secs(10), || !server.is_alive());
        assert!(server.ending().unwrap().contains("guard"), "{:?}", server.ending());
        let stopped = server.stop();
        assert!(!stopped.problems.is_empty(), "{kind}: this is worth telling");
        wait_until("the server vanishes", Duration::from_secs(10), || !is_process(number));
        assert!(is_empty(scratch.path()), "{kind}");
    }
}

#[test]
fn a_killed_postgres_leaves_no_shared_memory() {
    let scratch = open_folder();
    let Some(server) = running(ServerKind::Postgres, scratch.path(), &[]) else { return };
    let number = server.pid().unwrap();
    let maps = std::fs::read_to_string(format!("/proc/{number}/maps")).unwrap();
    let files: Vec<&str> = maps.lines().filter_map(|line| Some(&line[line.find("/dev/shm/")?..])).collect();
    let segment = maps
        .lines()
        .find(|line| line.contains("/SYSV"))
        .unwrap()
        .split_whitespace()
        .nth(4)
        .unwrap()
        .to_owned();
    let is_segment = || {
        let table = std::fs::read_to_string("/proc/sysvipc/shm").unwrap();
        table.lines().any(|line| line.split_whitespace().nth(1) == Some(segment.as_str()))
    };
    assert!(!files.is_empty() && is_segment());
    kill_process(pid(number), Signal::KILL).unwrap();
    wait_until("its death is noticed", Duration::from_secs(10), || !server.is_alive());
    drop(server);
    assert!(!is_segment(), "System V segment {segment} is left");
    for file in files {
        assert!(!Path::new(file).exists(), "{file} is left");
    }
}

#[test]
fn the_password_is_in_no_log_no_argument_no_environment_and_no_file() {
    for kind in PROCESSES {
        let (scratch, logs) = (open_folder(), tempfile::tempdir().unwrap());
        // Everything that servers can log is logged.
        let settings: &[(&str, &str)] = match kind {
            ServerKind::Postgres => {
                &[("log_statement", "all"), ("log_connections", "on"), ("log_min_messages", "debug1")]
            }
            _ => &[("general_log", "ON")],
        };
        let Some(description) = described(kind, scratch.path(), settings) else { continue };
        let options = StartOptions { log_dir: Some(logs.path().to_owned()), ..options() };
        let server = start(&description, &options).unwrap_or_else(|error| panic!("{error}"));
        let target = server.target();
        let password = target.password.reveal().to_owned();
        assert!(password.len() >= 32);
        ask(&target, "SELECT 1");
        for entry in std::fs::read_dir("/proc").unwrap().filter_map(Result::ok) {
            for file in ["cmdline", "environ"] {
                let text = std::fs::read(entry.path().join(file)).unwrap_or_default();
                assert!(
                    !String::from_utf8_lossy(&text).contains(&password),
                    "{kind}: {}",
                    entry.path().join(file).display()
                );
            }
        }
        assert!(!folder_holds(scratch.path(), &password), "{kind}: a file of the server holds the password");
        assert!(!format!("{target:?}").contains(&password));
        let _ = server.stop();
        assert!(
            !is_empty(logs.path()) && !folder_holds(logs.path(), &password),
            "{kind}: its log holds the password"
        );
    }
}
