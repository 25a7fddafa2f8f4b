//! Workloads that follow well-known benchmarks.

mod tpcb;
mod tpcc;
mod ycsb;

use crate::program::{Bench, flaws, records};
use dyno_model::audit::AuditVerdict;
use dyno_model::plan::ServerKind;
use dyno_model::record::TrialRecord;
use dyno_testkit::require_server;

/// Runs a workload on each server while it is killed and started again, and returns the records
/// with the names of the servers. All clients have come back, and no audit has found a violation.
fn killed(workload: &str) -> Vec<(&'static str, TrialRecord)> {
    let kinds = [(ServerKind::Mariadb, "mariadb"), (ServerKind::Postgres, "postgres")];
    let kinds = kinds.into_iter().filter(|(kind, _)| require_server(*kind).is_some());
    let run = |(_, name): (ServerKind, &'static str)| {
        let bench = Bench::new();
        let spec = format!(
            "title = \"Harm\"\n[[system]]\nname = \"S\"\nserver = {{ kind = \"{name}\" }}\n\
             [workload]\n{workload}[load]\nclients = 4\nwarmup = \"0s\"\nduration = \"6s\"\n\
             think = \"5ms\"\nattempts_max = 1000\n[design]\nblocks = 1\n\
             [[fault]]\nat = \"1s\"\naction = \"kill\"\n\
             [[fault]]\nafter = \"500ms\"\naction = \"start\"\n"
        );
        bench.file("harm.toml", spec);
        let ended = bench.dyno(&["run", "harm.toml", "--out", "r"]);
        assert!(ended.is_done(), "{ended}");
        let record = records(&bench.path().join("r")).remove(0);
        assert!(record.audit.verdict() <= AuditVerdict::Undecided, "{name}: {:?}", record.audit);
        assert!(record.counters.reconnects >= 4 && flaws(&record).is_empty(), "{name}: {ended}");
        (name, record)
    };
    kinds.map(run).collect()
}
