//! Whatever happens to dyno, no process and no folder is left behind, and the password is nowhere
//! readable.

use crate::{
    DATABASES, PROCESSES, ask, connect, described, is_empty, open_folder, options, running,
};
use dyno_drivers::{Discard, Driver, block_on};
use dyno_host::server::{StartOptions, start};
use dyno_host::supervisor::SharedMemory;
use dyno_model::plan::ServerKind;
use dyno_model::reason::Reason;
use dyno_testkit::{folder_holds, is_process, processes_with, require_server, wait_until};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

fn pid(number: u32) -> Pid {
    Pid::from_raw(i32::try_from(number).unwrap()).unwrap()
}

/// A separate program (in its own process group, as a shell would start it) that keeps a server
/// running, and the server's process.
pub(crate) fn keeper(kind: ServerKind, scratch: &Path) -> (Child, Option<u32>) {
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
    let reported: serde_json::Value =
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
    (keeper, reported["pid"].as_u64().map(|pid| u32::try_from(pid).unwrap()))
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
        wait_until("folder and server vanish", || {
            is_empty(scratch.path()) && server.is_none_or(|pid| !is_process(pid))
        });
        let marker = scratch.path().to_str().unwrap();
        wait_until("no process is left", || processes_with(marker).is_empty());
    }
}

/// A program that is starting a server, and a text that the command lines of all of its processes
/// contain.
fn starting(kind: ServerKind, scratch: &Path) -> (Child, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dyno-server"));
    command.arg(kind.name()).env("TMPDIR", scratch).stdin(Stdio::piped());
    let keeper = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    (keeper, scratch.to_str().unwrap().to_owned())
}

#[test]
fn kill_9_of_dyno_while_the_data_folder_is_created_leaves_nothing() {
    if require_server(ServerKind::Mysql).is_none() {
        return;
    }
    let scratch = open_folder();
    let (mut keeper, marker) = starting(ServerKind::Mysql, scratch.path());
    let is_initialising = || {
        processes_with(&marker).iter().any(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains("--initialize-insecure")
        })
    };
    wait_until("initialising begins", is_initialising);
    keeper.kill().unwrap();
    keeper.wait().unwrap();
    wait_until("folder and server vanish", || {
        is_empty(scratch.path()) && processes_with(&marker).is_empty()
    });
}

#[test]
fn kill_during_initdb_leaves_no_shared_memory_files() {
    if require_server(ServerKind::Postgres).is_none() {
        return;
    }
    let scratch = open_folder();
    let (mut keeper, marker) = starting(ServerKind::Postgres, scratch.path());
    let is_there = |file: &PathBuf| file.exists();
    // initdb runs servers one after the other, each for a fraction of a second.
    let halted = || {
        processes_with(&marker).into_iter().find_map(|process| {
            let line = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).into_owned();
            let is_short =
                ["--boot", "--single", "--check"].iter().any(|option| line.contains(option));
            if !is_short || kill_process(pid(process), Signal::STOP).is_err() {
                return None;
            }
            let files = SharedMemory::of_process(process).files;
            let is_caught = !files.is_empty() && files.iter().all(is_there);
            if !is_caught {
                let _ = kill_process(pid(process), Signal::CONT);
            }
            is_caught.then_some((process, files))
        })
    };
    let mut found = None;
    wait_until("a server of initdb has shared memory", || {
        found = halted();
        found.is_some()
    });
    let (process, files) = found.unwrap();
    kill_process(pid(process), Signal::KILL).unwrap();
    keeper.kill().unwrap();
    keeper.wait().unwrap();
    wait_until("folder and servers vanish", || {
        is_empty(scratch.path()) && processes_with(&marker).is_empty()
    });
    wait_until("the shared memory vanishes", || !files.iter().any(is_there));
}

#[test]
fn ctrl_c_in_the_terminal_reaches_the_server_only_through_dyno() {
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
        assert_ne!(
            group(server),
            group(keeper.id()),
            "{kind}: the terminal signals a whole process group"
        );
        // The terminal's signal ends dyno; the supervisor then stops the server cleanly.
        kill_process_group(pid(keeper.id()), Signal::INT).unwrap();
        keeper.wait().unwrap();
        wait_until("folder and server vanish", || is_empty(scratch.path()) && !is_process(server));
    }
}

#[test]
fn server_and_folder_of_a_killed_supervisor_are_still_removed() {
    for kind in PROCESSES {
        let scratch = open_folder();
        let Some(server) = running(kind, scratch.path(), &[]) else { continue };
        let number = server.pid().unwrap();
        kill_process(pid(parent(number).unwrap()), Signal::KILL).unwrap();
        wait_until("dyno notices", || !server.is_alive());
        assert!(server.end_reason() == Some(Reason::SupervisorLost), "{:?}", server.end_reason());
        let stopped = server.stop();
        assert!(!stopped.problems.is_empty(), "{kind}: this is worth telling");
        wait_until("the server vanishes", || !is_process(number));
        assert!(is_empty(scratch.path()), "{kind}");
    }
}

/// Shared memory of a server and of its sessions.
fn shared_memory(server: u32) -> SharedMemory {
    let mut all = SharedMemory::of_process(server);
    for entry in std::fs::read_dir("/proc").unwrap().filter_map(Result::ok) {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        if parent(pid) == Some(server) {
            all.files.extend(SharedMemory::of_process(pid).files);
        }
    }
    all
}

fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[test]
fn a_killed_postgres_leaves_no_shared_memory() {
    for is_supervisor_killed in [false, true] {
        let scratch = open_folder();
        let Some(server) = running(ServerKind::Postgres, scratch.path(), &[]) else { return };
        // A session has shared memory in addition to the server's own.
        let mut session = connect(&server.target());
        block_on(session.query("CREATE TABLE t AS SELECT 1", &mut Discard)).unwrap();
        let number = server.pid().unwrap();
        let memory = shared_memory(number);
        assert!(memory.files.len() >= 2 && memory.system_v.len() == 1, "{memory:?}");
        let victim = if is_supervisor_killed { parent(number).unwrap() } else { number };
        kill_process(pid(victim), Signal::KILL).unwrap();
        wait_until("its death is noticed", || !server.is_alive());
        drop(server);
        let table = std::fs::read_to_string("/proc/sysvipc/shm").unwrap();
        let left = table
            .lines()
            .any(|line| line.split_whitespace().nth(1) == Some(&memory.system_v[0].to_string()));
        assert!(!left, "System V segment {} is left", memory.system_v[0]);
        for file in memory.files {
            assert!(
                !file.exists(),
                "{} is left, supervisor killed: {is_supervisor_killed}",
                file.display()
            );
        }
    }
}

/// Identifiers of System V segments with the processes that created them.
fn system_v() -> Vec<(u64, u32)> {
    let table = std::fs::read_to_string("/proc/sysvipc/shm").unwrap();
    let field = |line: &str, index| line.split_whitespace().nth(index).unwrap().to_owned();
    let segments = table.lines().skip(1);
    segments
        .map(|line| (field(line, 1).parse().unwrap(), field(line, 4).parse().unwrap()))
        .collect()
}

#[test]
fn kill_during_initdb_leaves_no_system_v_shared_memory() {
    if require_server(ServerKind::Postgres).is_none() {
        return;
    }
    for victim in ["dyno", "its supervisor", "the maker of the segment"] {
        let scratch = open_folder();
        let mut keeper = Command::new(env!("CARGO_BIN_EXE_dyno-server"))
            .arg("postgres")
            .env("TMPDIR", scratch.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let marker = scratch.path().to_str().unwrap().to_owned();
        let mut found = None;
        wait_until("a segment is made", || {
            found = system_v().into_iter().find(|(segment, maker)| {
                let line = std::fs::read(format!("/proc/{maker}/cmdline")).unwrap_or_default();
                let folder = std::fs::read_link(format!("/proc/{maker}/cwd")).unwrap_or_default();
                let is_ours = String::from_utf8_lossy(&line).contains(&marker)
                    || folder.to_string_lossy().contains(&marker);
                if !is_ours || kill_process(pid(*maker), Signal::STOP).is_err() {
                    return false;
                }
                // While suspended it keeps its segment until it is killed; one that had already
                // released it must continue.
                let has_segment = system_v().contains(&(*segment, *maker));
                if !has_segment {
                    let _ = kill_process(pid(*maker), Signal::CONT);
                }
                has_segment
            });
            found.is_some()
        });
        let (segment, maker) = found.unwrap();
        match victim {
            "dyno" => keeper.kill().unwrap(),
            "its supervisor" => {
                let is_supervisor = |number: u32| {
                    let line = std::fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
                    line.ends_with(b"\0supervise\0")
                };
                let ancestors = std::iter::successors(Some(maker), |number| parent(*number));
                let supervisor = ancestors
                    .into_iter()
                    .find(|number| is_supervisor(*number))
                    .expect("a supervisor");
                kill_process(pid(supervisor), Signal::KILL).unwrap();
            }
            _ => kill_process(pid(maker), Signal::KILL).unwrap(),
        }
        if victim == "the maker of the segment" {
            // Other processes may continue after one is killed; closing the input ends them too.
            drop(keeper.stdin.take());
        }
        keeper.wait().unwrap();
        wait_until("folder and processes vanish", || {
            is_empty(scratch.path()) && processes_with(&marker).is_empty()
        });
        assert!(
            system_v().iter().all(|(id, _)| *id != segment),
            "{victim} was killed: segment {segment} is left"
        );
    }
}

#[test]
fn the_password_is_in_no_log_no_argument_no_environment_and_no_file() {
    for kind in PROCESSES {
        let (scratch, logs) = (open_folder(), tempfile::tempdir().unwrap());
        // Everything that servers can log is logged.
        let settings: &[(&str, &str)] = match kind {
            ServerKind::Postgres => &[
                ("log_statement", "all"),
                ("log_connections", "on"),
                ("log_min_messages", "debug1"),
            ],
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
        assert!(
            !folder_holds(scratch.path(), &password),
            "{kind}: a file of the server holds the password"
        );
        assert!(!format!("{target:?}").contains(&password));
        let _ = server.stop();
        assert!(
            !is_empty(logs.path()) && !folder_holds(logs.path(), &password),
            "{kind}: its log holds the password"
        );
    }
}
