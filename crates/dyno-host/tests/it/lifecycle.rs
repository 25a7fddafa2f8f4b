//! From starting to stopping a server.

use crate::{
    DATABASES, PROCESSES, ask, described, is_empty, open_folder, options, running, shared,
};
use dyno_host::server::{StartOptions, start};
use dyno_host::supervisor::SupervisorCommand;
use dyno_model::plan::{ManagedServer, ServerKind};
use dyno_model::reason::Reason;
use dyno_model::target::Endpoint;
use dyno_testkit::{is_process, require_server, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;
use std::time::Instant;

#[test]
fn every_kind_starts_answers_stops_and_leaves_nothing() {
    for kind in DATABASES {
        let scratch = open_folder();
        let Some(server) = described(kind, scratch.path(), &[]) else { continue };
        let begin = Instant::now();
        let server = start(&server, &options()).unwrap_or_else(|error| panic!("{error}"));
        let started = begin.elapsed();
        assert_eq!(ask(&server.target(), "SELECT 41 + 1").first(), Some("42"), "{kind}");
        assert!(server.is_alive() && server.end_reason().is_none());
        assert!(
            server.version.to_string().starts_with(|c: char| c.is_ascii_digit()),
            "{kind}: {}",
            server.version
        );
        let pid = server.pid();
        assert_eq!(pid.is_some(), PROCESSES.contains(&kind));
        let begin = Instant::now();
        let stopped = server.stop();
        println!("{kind}: started in {started:?}, stopped in {:?}", begin.elapsed());
        assert_eq!(
            (stopped.problems.as_slice(), stopped.was_dead),
            ([].as_slice(), false),
            "{kind}"
        );
        if let Some(pid) = pid {
            assert!(stopped.exit.unwrap().is_success(), "{kind}: {:?}", stopped.exit);
            assert!(!is_process(pid));
        }
        assert!(is_empty(scratch.path()), "{kind} left something in its scratch folder");
    }
}

#[test]
fn faults_are_not_injected_into_a_dead_server() {
    for kind in PROCESSES {
        let scratch = open_folder();
        let Some(server) = running(kind, scratch.path(), &[]) else { continue };
        let [node] = &server.fault_nodes()[..] else { panic!("{kind} is one server") };
        let pid = Pid::from_raw(i32::try_from(server.pid().unwrap()).unwrap()).unwrap();
        kill_process(pid, Signal::KILL).unwrap();
        wait_until("its death is noticed", || !server.is_alive());
        for harm in
            [node.kill(), node.halt(), node.resume(), node.start(), node.restart(), node.promote()]
        {
            let error = harm.unwrap_err().to_string();
            assert!(
                error.starts_with("server is not running: it was killed (signal 9)"),
                "{kind}: {error}"
            );
        }
        // It was not a fault of dyno's, and stays an unexpected end.
        assert!(server.end_reason() == Some(Reason::Killed), "{kind}");
        assert!(server.stop().was_dead);
        assert!(is_empty(scratch.path()));
    }
}

#[test]
fn the_null_server_needs_no_supervisor() {
    let server = ManagedServer::new(ServerKind::Null);
    let no_supervisor = SupervisorCommand { program: "/nonexistent".into(), arguments: Vec::new() };
    let server = start(&server, &StartOptions::new("null", no_supervisor)).unwrap();
    assert!(server.is_alive() && server.pid().is_none() && server.settings.is_empty());
    assert!(server.stop().problems.is_empty());
}

#[test]
fn loopback_tcp_and_socket_require_the_password() {
    for kind in PROCESSES {
        let Some(server) = shared(kind) else { continue };
        let (tcp, unix) = (server.target(), server.unix_target().unwrap());
        assert!(
            matches!(&tcp.endpoint, Endpoint::Tcp { host, .. } if host == "127.0.0.1"),
            "{kind}"
        );
        let Endpoint::Unix(socket) = &unix.endpoint else { panic!("{kind}: {}", unix.endpoint) };
        assert!(socket.as_os_str().len() <= 107 && socket.exists(), "{}", socket.display());
        for mut target in [tcp, unix] {
            assert_eq!(ask(&target, "SELECT 1").first(), Some("1"), "{kind} {}", target.endpoint);
            target.password = dyno_model::secret::Secret::new("wrong");
            let failure = dyno_drivers::block_on(
                <dyno_drivers::Connection as dyno_drivers::Driver>::connect(
                    &target,
                    &dyno_drivers::Io::Blocking,
                ),
            );
            let failure = failure.err().expect("a wrong password lets nobody in");
            assert_eq!(
                failure.kind,
                dyno_model::failure::FailureKind::Authentication,
                "{kind}: {failure}"
            );
        }
    }
}

#[test]
fn the_scratch_folder_is_accessible_only_to_the_server() {
    for kind in PROCESSES {
        let Some(server) = shared(kind) else { continue };
        let Endpoint::Unix(socket) = server.unix_target().unwrap().endpoint else {
            panic!("no socket")
        };
        let metadata = std::fs::metadata(socket.parent().unwrap()).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o700, "{kind}");
        let owner = std::fs::metadata(format!("/proc/{}", server.pid().unwrap())).unwrap().uid();
        assert_eq!(metadata.uid(), owner, "{kind}");
        assert_ne!(owner, 0, "{kind} runs as root");
    }
}

#[test]
fn two_servers_of_a_kind_run_at_the_same_time() {
    for kind in DATABASES {
        let scratch = open_folder();
        let Some(description) = described(kind, scratch.path(), &[]) else { continue };
        let (one, two) = std::thread::scope(|scope| {
            let start =
                || start(&description, &options()).unwrap_or_else(|error| panic!("{error}"));
            let other = scope.spawn(start);
            (start(), other.join().unwrap())
        });
        assert_ne!(one.target().endpoint, two.target().endpoint);
        ask(&one.target(), "CREATE TABLE only_here (id INTEGER)");
        assert_eq!(ask(&one.target(), "SELECT count(*) FROM only_here").first(), Some("0"));
        ask(&two.target(), "CREATE TABLE only_here (id INTEGER)");
        drop(one);
        assert_eq!(
            ask(&two.target(), "SELECT count(*) FROM only_here").first(),
            Some("0"),
            "{kind}"
        );
        drop(two);
        assert!(is_empty(scratch.path()));
    }
}

#[test]
fn the_log_is_kept_under_the_name_of_the_system() {
    for kind in PROCESSES {
        let (scratch, logs) = (open_folder(), tempfile::tempdir().unwrap());
        let Some(description) = described(kind, scratch.path(), &[]) else { continue };
        let log_dir = logs.path().join("server-logs");
        let options = StartOptions { log_dir: Some(log_dir.clone()), ..options() };
        let server = start(&description, &options).unwrap_or_else(|error| panic!("{error}"));
        let log = server.stop().log.unwrap();
        assert_eq!(log, std::fs::canonicalize(&log_dir).unwrap().join("test-server.log"));
        let text = std::fs::read_to_string(log).unwrap().to_lowercase();
        assert!(
            text.contains("ready for connections") || text.contains("ready to accept connections"),
            "{text}"
        );
        assert!(
            text.contains("shutdown") || text.contains("shut down"),
            "{kind}: the end is kept too: {text}"
        );
    }
}

#[test]
fn a_killed_server_is_noticed() {
    for kind in PROCESSES {
        let scratch = open_folder();
        let Some(server) = running(kind, scratch.path(), &[]) else { continue };
        let pid = server.pid().unwrap();
        kill(pid);
        wait_until("the server's death is noticed", || !server.is_alive());
        assert_eq!(server.end_reason(), Some(Reason::Killed), "{kind}");
        let stopped = server.stop();
        assert!(stopped.was_dead && stopped.problems.is_empty(), "{kind}: {stopped:?}");
        assert!(is_empty(scratch.path()), "{kind}");
    }
}

fn kill(pid: u32) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}

#[test]
fn a_missing_program_is_an_error_that_lists_the_searched_locations() {
    let empty = tempfile::tempdir().unwrap();
    for kind in PROCESSES {
        let server =
            ManagedServer { bin_dir: Some(empty.path().to_owned()), ..ManagedServer::new(kind) };
        let error = start(&server, &options()).err().expect("nothing to start").to_string();
        assert!(
            error.starts_with(&format!(
                "no {kind} server found; searched\n  {}",
                empty.path().display()
            )),
            "{error}"
        );
        assert!(error.contains("scripts/servers"), "{error}");
    }
}

#[test]
fn a_supervisor_that_cannot_be_started_is_reported() {
    let scratch = open_folder();
    let description = described(ServerKind::Sqlite, scratch.path(), &[]).unwrap();
    let supervisor =
        SupervisorCommand { program: PathBuf::from("/nonexistent/dyno"), arguments: Vec::new() };
    let error = start(&description, &StartOptions::new("x", supervisor)).err().unwrap().to_string();
    assert!(error.contains("/nonexistent/dyno"), "{error}");
}

#[test]
fn unusable_scratch_folder_is_reported_with_a_remedy() {
    let closed = tempfile::tempdir().unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    for kind in DATABASES {
        let Some(mut server) = require_server(kind) else { continue };
        for (path, reason) in [
            (PathBuf::from("/nonexistent/scratch"), "No such file"),
            (file.path().to_owned(), "not a folder"),
            (PathBuf::from("/proc"), ""),
        ] {
            server.scratch = Some(path.clone());
            let error =
                start(&server, &options()).err().expect("an unusable scratch folder").to_string();
            assert!(
                error.starts_with(&format!("cannot use the scratch folder {}", path.display())),
                "{kind}: {error}"
            );
            assert!(error.contains(reason) && error.contains("scratch = "), "{kind}: {error}");
        }
    }
    // Only root starts servers as other users, which may not enter this folder.
    if rustix::process::geteuid().is_root() {
        std::fs::set_permissions(closed.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
        for kind in PROCESSES {
            let Some(mut server) = require_server(kind) else { continue };
            server.scratch = Some(closed.path().to_owned());
            let error =
                start(&server, &options()).err().expect("a closed scratch folder").to_string();
            assert!(
                error.contains(&format!("may not enter {}", closed.path().display())),
                "{kind}: {error}"
            );
        }
    }
}

#[test]
fn with_a_long_scratch_path_the_socket_is_created_elsewhere() {
    for kind in PROCESSES {
        let scratch = open_folder();
        let deep = scratch.path().join("d".repeat(100));
        std::fs::create_dir(&deep).unwrap();
        let Some(server) = running(kind, &deep, &[]) else { continue };
        let unix = server.unix_target().unwrap();
        assert_eq!(ask(&unix, "SELECT 1").first(), Some("1"), "{kind}");
        let Endpoint::Unix(socket) = unix.endpoint else { panic!("no socket") };
        let folder = socket.parent().unwrap().to_owned();
        assert!(!folder.starts_with(&deep) && folder.exists());
        drop(server);
        assert!(!folder.exists() && is_empty(&deep), "{kind}: both folders go");
    }
}

#[test]
fn a_server_allows_the_planned_number_of_connections() {
    for kind in PROCESSES {
        let scratch = open_folder();
        let Some(description) = described(kind, scratch.path(), &[]) else { continue };
        let options = StartOptions { connections: 1200, ..options() };
        let server = start(&description, &options).unwrap_or_else(|error| panic!("{error}"));
        let limit = dyno_host::probe::connection_limit(&server.target()).unwrap().unwrap();
        assert!(limit.available() >= 1200, "{kind}: {limit:?}");
    }
}
