//! A primary and its replica: the replica receives the commits, only the primary accepts writes
//! until the replica is promoted, and nothing is left behind.

use crate::{ask, is_empty, open_folder, options};
use dyno_host::server::{check_settings, start};
use dyno_model::plan::{ManagedServer, ServerKind};
use dyno_model::target::Target;
use dyno_testkit::{require_server, wait_until};
use std::collections::BTreeMap;

const REPLICA: ServerKind = ServerKind::PostgresReplica;

fn value(target: &Target, sql: &str) -> String {
    ask(target, sql).0[0][0].clone().unwrap()
}

#[test]
fn a_replica_receives_the_commits_of_its_primary_and_can_replace_it() {
    let Some(server) = require_server(REPLICA) else { return };
    for is_synchronous in [false, true] {
        let scratch = open_folder();
        let settings = BTreeMap::from([("work_mem".to_owned(), "5MB".to_owned())]);
        let server = ManagedServer {
            is_synchronous,
            settings,
            scratch: Some(scratch.path().to_owned()),
            ..server.clone()
        };
        let running = start(&server, &options()).unwrap_or_else(|error| panic!("{error}"));
        let nodes: Vec<_> = running.nodes().collect();
        let [primary, replica] = nodes[..] else { panic!("{} nodes", nodes.len()) };
        assert_eq!([primary.is_replica(), replica.is_replica()], [false, true]);
        let mode = if is_synchronous { "synchronous" } else { "asynchronous" };
        assert!(
            running.version.to_string().ends_with(&format!(", 1 replica, {mode}")),
            "{}",
            running.version
        );
        let sync_state = "SELECT sync_state FROM pg_stat_replication";
        let expected = if is_synchronous { "sync" } else { "async" };
        wait_until("the primary knows whether to wait", || {
            value(&primary.target(), sync_state) == expected
        });
        ask(&primary.target(), "CREATE TABLE t (id int PRIMARY KEY)");
        ask(&primary.target(), "INSERT INTO t VALUES (7)");
        wait_until("the replica has it", || {
            value(&replica.target(), "SELECT count(*) FROM pg_tables WHERE tablename = 't'") == "1"
                && value(&replica.target(), "SELECT count(*) FROM t") == "1"
        });
        for node in [primary, replica] {
            assert_eq!(value(&node.target(), "SHOW work_mem"), "5MB");
        }
        assert_eq!(value(&replica.target(), "SELECT pg_is_in_recovery()"), "t");
        let harm = running.fault_nodes();
        assert_eq!(
            harm.iter().map(|node| node.name.as_str()).collect::<Vec<_>>(),
            ["primary", "replica 1"]
        );
        assert!(harm[0].promote().unwrap_err().to_string().contains("primary cannot be promoted"));
        harm[0].kill().unwrap();
        assert_eq!(running.end_reason(), None, "it was meant");
        harm[1].promote().unwrap();
        assert_eq!(value(&replica.target(), "SELECT pg_is_in_recovery()"), "f");
        ask(&replica.target(), "INSERT INTO t VALUES (8)");
        assert_eq!(value(&replica.target(), "SELECT sum(id) FROM t"), "15");
        drop(harm);
        let stopped = running.stop();
        assert!(stopped.problems.is_empty(), "{:?}", stopped.problems);
        assert!(is_empty(scratch.path()));
    }
}

#[test]
fn settings_for_replication_are_reserved_for_dyno() {
    let settings = BTreeMap::from([("synchronous_standby_names".to_owned(), "*".to_owned())]);
    let server = ManagedServer { settings, ..ManagedServer::new(REPLICA) };
    let error = check_settings(&server).unwrap_err().to_string();
    assert!(
        error.contains("synchronous_standby_names") && error.contains("`synchronous = true`"),
        "{error}"
    );
}
