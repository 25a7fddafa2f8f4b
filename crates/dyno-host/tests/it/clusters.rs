//! Clusters: all nodes have the same data and settings, and nothing of any of them is left behind.

use crate::no_trace::keeper;
use crate::{ask, is_empty, open_folder, options, running};
use dyno_host::counters;
use dyno_host::server::{StartOptions, check_settings, start};
use dyno_model::plan::{ManagedServer, ServerKind};
use dyno_model::target::Target;
use dyno_testkit::{is_process, processes_with, require_server, wait_until};
use std::collections::BTreeMap;

const GALERA: ServerKind = ServerKind::Galera;

fn value(target: &Target, sql: &str) -> String {
    ask(target, sql).0[0][0].clone().unwrap()
}

#[test]
fn commits_on_one_node_reach_the_others_and_all_have_the_settings() {
    let scratch = open_folder();
    let Some(server) = running(GALERA, scratch.path(), &[("innodb_lock_wait_timeout", "7")]) else {
        return;
    };
    let nodes: Vec<_> = server.nodes().collect();
    assert_eq!(nodes.len(), 3);
    assert!(
        server.version.to_string().starts_with("3 × ")
            && server.version.to_string().contains("Galera "),
        "{}",
        server.version
    );
    ask(&nodes[2].target(), "CREATE TABLE t (id int PRIMARY KEY)");
    ask(&nodes[2].target(), "INSERT INTO t VALUES (7)");
    for node in &nodes {
        ask(&node.target(), node.barrier().unwrap());
        assert_eq!(value(&node.target(), "SELECT sum(id) FROM t"), "7");
        assert_eq!(value(&node.target(), "SELECT @@innodb_lock_wait_timeout"), "7");
        assert_eq!(node.settings["innodb_lock_wait_timeout"], "7");
    }
    let ports: Vec<_> = nodes.iter().map(|node| node.target().endpoint.to_string()).collect();
    assert!(ports[0] != ports[1] && ports[1] != ports[2] && ports[0] != ports[2], "{ports:?}");
    // A statement on each node that causes no work on the others, which count replicated work as
    // their own, and the counts of all nodes.
    let targets: Vec<Target> = nodes.iter().map(|node| node.target()).collect();
    let before = counters::sums(&targets).unwrap();
    for target in &targets {
        ask(target, "DO 1");
    }
    let after = counters::sums(&targets).unwrap();
    assert_eq!(after["Com_do"] - before["Com_do"], 3);
    let youngest = counters::snapshot(&targets[2]).unwrap()["Uptime"];
    assert!(after["Uptime"] <= youngest, "the sum of three ages is nobody's");
    let pids: Vec<u32> = nodes.iter().filter_map(|node| node.pid()).collect();
    let stopped = server.stop();
    assert!(stopped.problems.is_empty(), "{:?}", stopped.problems);
    assert!(pids.len() == 3 && pids.iter().all(|pid| !is_process(*pid)));
    assert!(is_empty(scratch.path()));
}

#[test]
fn a_dead_node_is_reported_and_the_others_can_be_stopped() {
    let scratch = open_folder();
    let Some(server) = running(GALERA, scratch.path(), &[]) else { return };
    assert_eq!(server.end_reason(), None);
    let second = server.nodes().nth(1).and_then(dyno_host::server::RunningServer::pid).unwrap();
    let second = rustix::process::Pid::from_raw(i32::try_from(second).unwrap()).unwrap();
    rustix::process::kill_process(second, rustix::process::Signal::KILL).unwrap();
    wait_until("the death of a node is noticed", || !server.is_alive());
    let ending = server.end_reason().unwrap().to_string();
    assert!(ending.starts_with("lost node 2, which ") && ending.contains("signal 9"), "{ending}");
    drop(server);
    assert!(is_empty(scratch.path()));
    assert_eq!(processes_with(scratch.path().to_str().unwrap()), Vec::<u32>::new());
}

#[test]
fn kill_9_leaves_nothing_before_or_after_nodes_have_joined() {
    if require_server(GALERA).is_none() {
        return;
    }
    let scratch = open_folder();
    let marker = scratch.path().to_str().unwrap();
    let is_gone = || is_empty(scratch.path()) && processes_with(marker).is_empty();
    let (mut whole, _) = keeper(GALERA, scratch.path());
    whole.kill().unwrap();
    whole.wait().unwrap();
    wait_until("a whole cluster vanishes", is_gone);
    let mut half = std::process::Command::new(env!("CARGO_BIN_EXE_dyno-server"))
        .arg(GALERA.name())
        .env("TMPDIR", scratch.path())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let is_joining = || {
        processes_with(marker).iter().any(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains("gcomm://127.0.0.1:")
        })
    };
    wait_until("a node joins", is_joining);
    half.kill().unwrap();
    half.wait().unwrap();
    wait_until("half a cluster vanishes", is_gone);
}

#[test]
fn failed_state_transfer_is_reported_with_log_and_cleaned_up() {
    use std::os::unix::fs::PermissionsExt;
    let Some(server) = require_server(GALERA) else { return };
    let (scratch, programs) = (open_folder(), open_folder());
    // The server's own programs come from its folder; without the one that copies, no node can
    // join.
    let original = dyno_host::server::locate(GALERA, None).unwrap();
    for (name, text) in [
        (
            "mariadbd",
            format!(
                "case \"$*\" in *--version*|*gcomm://\\ *) ;; *gcomm://127*) echo '[ERROR] no data for me'; exit 1;; esac\nexec {} \"$@\"",
                original.program.display()
            ),
        ),
        ("mariadb-install-db", "exec mariadb-install-db \"$@\"".to_owned()),
    ] {
        let program = programs.path().join(name);
        std::fs::write(&program, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let server = ManagedServer {
        bin_dir: Some(programs.path().to_owned()),
        scratch: Some(scratch.path().to_owned()),
        ..server
    };
    let error = start(&server, &StartOptions { name: "G".to_owned(), ..options() })
        .err()
        .unwrap()
        .to_string();
    assert!(
        error.starts_with(
            "node 2 of 3: the galera server ended with exit code 1 before it was ready"
        ),
        "{error}"
    );
    assert!(error.ends_with("| [ERROR] no data for me"), "{error}");
    assert!(is_empty(scratch.path()));
}

#[test]
fn settings_for_how_nodes_find_each_other_are_reserved() {
    let settings = BTreeMap::from([("wsrep-cluster-address".to_owned(), "gcomm://".to_owned())]);
    let error =
        check_settings(&ManagedServer { settings: settings.clone(), ..ManagedServer::new(GALERA) });
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("wsrep-cluster-address") && error.contains("nodes of a cluster"),
        "{error}"
    );
    check_settings(&ManagedServer { settings, ..ManagedServer::new(ServerKind::Mariadb) }).unwrap();
}
