//! MySQL NDB Cluster: SQL nodes return the same data from the data nodes, each kind of node has its
//! settings, and nothing of any of them is left behind.

use crate::no_trace::keeper;
use crate::{ask, is_empty, open_folder, options, running};
use dyno_host::server::{check_settings, check_values, locate, start};
use dyno_model::plan::{ManagedServer, ServerKind};
use dyno_model::target::Target;
use dyno_testkit::{is_process, require_server, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const NDB: ServerKind = ServerKind::Ndb;

fn value(target: &Target, sql: &str) -> String {
    ask(target, sql).0[0][0].clone().unwrap()
}

/// Processes working in a folder. The command line of data nodes does not contain it.
fn working_in(folder: &Path) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let entry = entry.ok()?;
        let works =
            std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder));
        entry.file_name().to_str()?.parse().ok().filter(|_| works)
    });
    processes.collect()
}

#[test]
fn sql_nodes_share_data_and_a_dead_data_node_is_reported() {
    let scratch = open_folder();
    let settings =
        [("innodb_lock_wait_timeout", "7"), ("DataMemory", "50M"), ("MaxNoOfTables", "300")];
    let Some(server) = running(NDB, scratch.path(), &settings) else { return };
    let nodes: Vec<Target> = server.nodes().map(dyno_host::server::RunningServer::target).collect();
    assert_eq!(nodes.len(), 2);
    assert!(
        server.version.to_string().starts_with("2 × ")
            && server.version.to_string().ends_with(", 2 data nodes"),
        "{}",
        server.version
    );
    assert_eq!(server.settings["innodb_lock_wait_timeout"], "7");
    assert_eq!(server.settings["datamemory"], (50 << 20).to_string());
    // Its own tables are added, which is reported.
    let [rounded] = &server.rounded[..] else { panic!("{:?}", server.rounded) };
    assert_eq!((rounded.name.as_str(), rounded.requested.as_str()), ("MaxNoOfTables", "300"));
    assert!(
        rounded.found.parse::<u32>().is_ok_and(|found| (301..=332).contains(&found)),
        "{rounded:?}"
    );
    assert_eq!(server.barrier(), None);
    ask(&nodes[0], "CREATE TABLE t (id int PRIMARY KEY)");
    ask(&nodes[1], "INSERT INTO t VALUES (7)");
    for node in &nodes {
        assert_eq!(value(node, "SELECT sum(id) FROM t"), "7");
        assert_eq!(value(node, "SELECT @@innodb_lock_wait_timeout"), "7");
    }
    let engine = "SELECT engine FROM information_schema.tables WHERE table_name = 't'";
    assert_eq!(value(&nodes[0], engine), "ndbcluster");

    // The SQL nodes, the management node, two data nodes.
    let pids: Vec<u32> = server.pids().collect();
    assert_eq!(pids.len(), 5);
    assert!(pids.iter().all(|pid| working_in(scratch.path()).contains(pid)));
    assert_eq!(server.end_reason(), None);
    let last = Pid::from_raw(i32::try_from(pids[4]).unwrap()).unwrap();
    kill_process(last, Signal::KILL).unwrap();
    wait_until("the death of a data node is noticed", || !server.is_alive());
    let ending = server.end_reason().unwrap().to_string();
    assert!(
        ending.starts_with("lost data node 2, which ") && ending.contains("signal 9"),
        "{ending}"
    );
    let stopped = server.stop();
    assert!(stopped.problems.is_empty(), "{:?}", stopped.problems);
    assert!(pids.iter().all(|pid| !is_process(*pid)));
    assert!(is_empty(scratch.path()));
}

#[test]
fn kill_9_of_dyno_leaves_no_node() {
    if require_server(NDB).is_none() {
        return;
    }
    let scratch = open_folder();
    let (mut keeper, _) = keeper(NDB, scratch.path());
    let guarded = working_in(scratch.path());
    assert_eq!(guarded.len(), 5);
    keeper.kill().unwrap();
    keeper.wait().unwrap();
    wait_until("a whole cluster vanishes", || {
        is_empty(scratch.path()) && !guarded.iter().any(|pid| is_process(*pid))
    });
}

#[test]
fn settings_rejected_by_the_management_node_fail_before_start() {
    let Some(server) = require_server(NDB) else { return };
    let binary = locate(NDB, None).unwrap();
    let refused = |server: ManagedServer| check_values(&server, &binary).unwrap_err().to_string();
    let with = |name: &str, value: &str| {
        let settings = BTreeMap::from([(name.to_owned(), value.to_owned())]);
        ManagedServer { settings, ..server.clone() }
    };
    check_values(&server, &binary).unwrap();
    check_values(&with("DataMemory", "50M"), &binary).unwrap();
    for (name, value, words) in [
        ("DataMemry", "50M", "Unknown parameter: DataMemry"),
        ("DataMemory", "much", "DataMemory"),
        ("TimeBetweenLocalCheckpoints", "99", "Illegal value 99"),
        ("NoOfReplicas", "3", "NoOfReplicas=3"),
    ] {
        let error = refused(with(name, value));
        assert!(
            error.starts_with(&format!("ndb rejects the setting {name:?} = {value:?}")),
            "{error}"
        );
        assert!(error.contains(words), "{error}");
    }
    let error = refused(ManagedServer { data_nodes: 3, ..server.clone() });
    assert!(
        error.starts_with("the configuration of ndb with 2 SQL nodes and 3 data nodes is invalid. Output of the management node:"),
        "{error}"
    );
    assert!(error.contains("NoOfReplicas"), "{error}");
    let error = refused(with("innodb_bufer", "1"));
    assert!(error.contains("innodb_bufer"), "{error}");
    for name in ["NodeId", "ndb-connectstring"] {
        let error = check_settings(&with(name, "1")).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("nodes of a cluster"), "{error}");
    }
}

#[test]
fn data_node_start_failure_is_reported_with_log_and_cleaned_up() {
    let Some(server) = require_server(NDB) else { return };
    let (scratch, programs) = (open_folder(), open_folder());
    let original = locate(NDB, None).unwrap();
    let script = |name: &str, text: &str| {
        let program = programs.path().join(name);
        std::fs::write(&program, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    let real = |name: &str| format!("exec {} \"$@\"", original.folder().join(name).display());
    script("mysqld", &real("mysqld"));
    let server = ManagedServer {
        bin_dir: Some(programs.path().to_owned()),
        scratch: Some(scratch.path().to_owned()),
        ..server
    };
    let failed = || start(&server, &options()).err().expect("it cannot start").to_string();
    if !std::env::var_os("PATH")
        .iter()
        .flat_map(std::env::split_paths)
        .any(|dir| dir.join("ndb_mgmd").is_file())
    {
        let error = failed();
        assert!(
            error.starts_with("ndb needs ndb_mgmd, which is in none of these folders"),
            "{error}"
        );
    }
    script("ndb_mgmd", &real("ndb_mgmd"));
    script(
        "ndbmtd",
        "case \"$*\" in *nodeid=2*) echo no disk for me; exit 3;; esac\nexec sleep 600",
    );
    let error = failed();
    assert_eq!(
        error,
        "data node 2 ended with exit code 3 before it was ready; the last lines of its log:\n  | no disk for me"
    );
    assert!(is_empty(scratch.path()));
    assert_eq!(working_in(scratch.path()), Vec::<u32>::new());
}
