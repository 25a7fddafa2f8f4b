//! Workloads that follow well-known benchmarks.

mod tpcb;
mod tpcc;
mod ycsb;

use crate::program::{Bench, flaws, records};
use dyno_model::audit::AuditVerdict;
use dyno_model::plan::ServerKind;
use dyno_model::record::TrialRecord;
use dyno_testkit::require_server;

/// A server of a kind in a spec, the faults that hit it, and how many clients these disconnect. A
/// single server is started again, and a cluster continues without a member.
fn harm(kind: ServerKind) -> (&'static str, &'static str, u64) {
    const RESTART: &str = "action = \"kill\"\n[[fault]]\nafter = \"500ms\"\naction = \"start\"\n";
    match kind {
        ServerKind::Galera => {
            ("kind = \"galera\", nodes = 3", "action = \"kill\"\nnode = \"node 2\"\n", 1)
        }
        ServerKind::Ndb => {
            ("kind = \"ndb\", nodes = 1", "action = \"kill\"\nnode = \"data node 2\"\n", 0)
        }
        ServerKind::Mariadb => ("kind = \"mariadb\"", RESTART, 4),
        _ => ("kind = \"postgres\"", RESTART, 4),
    }
}

/// Runs a workload on servers of these kinds while they are harmed, and returns the records. All
/// clients have come back, and no audit has found a violation.
fn harmed(kinds: &[ServerKind], workload: &str) -> Vec<(ServerKind, TrialRecord)> {
    let kinds = kinds.iter().copied().filter(|kind| require_server(*kind).is_some());
    let run = |kind: ServerKind| {
        let bench = Bench::new();
        let (server, faults, disconnected) = harm(kind);
        let spec = format!(
            "title = \"Harm\"\n[[system]]\nname = \"S\"\nserver = {{ {server} }}\n\
             [workload]\n{workload}[load]\nclients = 4\nwarmup = \"0s\"\nduration = \"6s\"\n\
             think = \"5ms\"\nattempts_max = 1000\n[design]\nblocks = 1\n\
             [[fault]]\nat = \"1s\"\n{faults}"
        );
        bench.file("harm.toml", spec);
        let ended = bench.dyno(&["run", "harm.toml", "--out", "r"]);
        assert!(ended.is_done(), "{ended}");
        let record = records(&bench.path().join("r")).remove(0);
        assert!(record.audit.verdict() <= AuditVerdict::Undecided, "{kind}: {:?}", record.audit);
        let reconnects = record.counters.reconnects;
        assert!(reconnects >= disconnected && flaws(&record).is_empty(), "{kind}: {ended}");
        (kind, record)
    };
    kinds.map(run).collect()
}
