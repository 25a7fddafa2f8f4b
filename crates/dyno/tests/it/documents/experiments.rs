//! Every shipped experiment runs in its smoke profile, on real servers, from the repository's
//! folder as its head says.

use crate::program::{Bench, Ended, flaws, records};
use dyno_model::audit::AuditVerdict;
use dyno_model::plan::{Plan, ServerKind};
use dyno_testkit::repository::root;
use dyno_testkit::{require_application, require_server};
use std::collections::BTreeSet;
use std::path::Path;

/// Name of each shipped spec that needs servers, and which. `quickstart` and `rush` have tests of
/// their own.
const EXPERIMENTS: [(&str, &[ServerKind]); 13] = [
    (
        "anomalies",
        &[
            ServerKind::Mariadb,
            ServerKind::Galera,
            ServerKind::Mysql,
            ServerKind::Postgres,
            ServerKind::Ndb,
        ],
    ),
    ("cluster", &[ServerKind::Mysql, ServerKind::Ndb]),
    ("disk-bottleneck", &[ServerKind::Mariadb]),
    ("durability", &[ServerKind::Mariadb, ServerKind::Mysql, ServerKind::Postgres]),
    (
        "failover",
        &[
            ServerKind::Mariadb,
            ServerKind::Postgres,
            ServerKind::PostgresReplica,
            ServerKind::Galera,
            ServerKind::Ndb,
        ],
    ),
    (
        "isolation",
        &[
            ServerKind::Mariadb,
            ServerKind::Galera,
            ServerKind::Mysql,
            ServerKind::Postgres,
            ServerKind::Ndb,
        ],
    ),
    ("network-path", &[ServerKind::Mysql]),
    ("raid-buffer-pool", &[ServerKind::Mariadb]),
    ("temp-table", &[ServerKind::Mariadb, ServerKind::Mysql, ServerKind::Postgres]),
    (
        "tpcc",
        &[
            ServerKind::Mariadb,
            ServerKind::Galera,
            ServerKind::Mysql,
            ServerKind::Postgres,
            ServerKind::Ndb,
        ],
    ),
    ("tpcc-isolation", &[ServerKind::Mariadb, ServerKind::Mysql, ServerKind::Postgres]),
    ("thread-pool", &[ServerKind::Mariadb, ServerKind::Mysql]),
    ("ycsb", &[ServerKind::Mariadb, ServerKind::Mysql, ServerKind::Postgres]),
];

/// What `raid-buffer-pool.toml` makes its arrays in.
const ARRAYS: &str = "/var/tmp/dyno-raid";

/// Runs an experiment's smoke profile from the repository's folder; `None` where a server is
/// missing.
fn smoke(bench: &Bench, name: &str) -> Option<Ended> {
    let (_, servers) =
        EXPERIMENTS.iter().find(|(known, _)| *known == name).expect("a shipped experiment");
    for &kind in *servers {
        require_server(kind)?;
    }
    let spec = format!("experiments/{name}.toml");
    let out = bench.path().join("r");
    let mut command = bench.command(&["run", &spec, "--profile", "smoke", "--out"]);
    command.arg(&out).current_dir(root());
    let ended = Ended::from(command.output().expect("dyno can be started"));
    // Without a valid trial, as when other guests of the machine take much of its CPU time, a limit
    // is undecided.
    let is_undecided = ended.code == 9 && ended.stdout.contains("no valid trial has this figure");
    assert!(ended.is_done() || is_undecided, "{ended}");
    every_trial_is_there_and_intact(&out);
    assert_eq!(bench.names(), ["r"], "no scratch folder is left");
    Some(ended)
}

fn every_trial_is_there_and_intact(results: &Path) {
    let plan = std::fs::read_to_string(results.join("plan.json")).expect("a plan is written");
    let plan: Plan = serde_json::from_str(&plan).expect("it is a plan");
    let planned: BTreeSet<String> = plan.trials.iter().map(|trial| trial.id.clone()).collect();
    let records = records(results);
    assert_eq!(records.len(), planned.len(), "every trial is measured once");
    assert_eq!(
        records.iter().map(|record| record.trial.id.clone()).collect::<BTreeSet<_>>(),
        planned
    );
    for record in &records {
        let id = &record.trial.id;
        assert_eq!(record.counters.check(), Vec::<String>::new(), "{id}");
        let workload = &plan.configuration(&record.trial).workload;
        let is_weak = match workload.kind.as_str() {
            // What a way without a lock does under weak isolation is not said beforehand: that is
            // the experiment.
            "rush" => {
                workload.options.text("variant") == "read-modify-write"
                    && workload.options.text("isolation") != "serializable"
            }
            "tpcc" => {
                !workload.options.boolean("row_locks")
                    && workload.options.text("isolation") != "serializable"
            }
            // Nor what servers of the MySQL family make of REPEATABLE READ, and a cluster of Galera
            // of SERIALIZABLE.
            "history" => {
                plan.system(&record.trial).name == "Galera"
                    || workload.options.text("isolation") == "repeatable-read"
            }
            _ => false,
        };
        let verdict = record.audit.verdict();
        assert!(verdict == AuditVerdict::Intact || is_weak, "{id}: {:?}", record.audit);
        assert!(
            flaws(record).is_empty(),
            "{id}: {:?}, {:?}",
            flaws(record),
            record.counters.failed_by_kind
        );
    }
    // Over all, for a window of a second may pass without a commit on a slow disk.
    let committed: u64 = records.iter().map(|record| record.counters.committed).sum();
    assert!(
        committed as usize > records.len(),
        "only {committed} commits in {} trials",
        records.len()
    );
}

#[test]
fn every_shipped_experiment_is_tested() {
    let files = std::fs::read_dir(root().join("experiments")).expect("the folder can be listed");
    let shipped: BTreeSet<String> = files
        .map(|file| {
            file.expect("an entry")
                .path()
                .file_stem()
                .expect("a name")
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    let tested = EXPERIMENTS.iter().map(|(name, _)| (*name).to_owned());
    assert_eq!(shipped, tested.chain(["quickstart".to_owned(), "rush".to_owned()]).collect());
}

#[test]
fn isolation_levels_are_compared_on_servers_and_on_clusters() {
    let bench = Bench::new();
    let Some(ended) = smoke(&bench, "isolation") else { return };
    for curve in
        ["Galera (read-modify-write, serializable)", "NDB (read-modify-write, read-committed)"]
    {
        assert!(ended.stdout.contains(curve), "{ended}");
    }
    // Neither cluster keeps what two clients add at the same time.
    let reported = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for line in
        ["Galera (read-modify-write, repeatable-read)", "NDB (read-modify-write, read-committed)"]
    {
        let (_, rest) = reported
            .split_once(&format!("{line} lost "))
            .unwrap_or_else(|| panic!("{line}: {ended}"));
        let (percent, rest) =
            rest.split_once(" % of its acknowledged updates at 20 clients").expect(rest);
        assert!(percent.parse::<f64>().is_ok_and(|percent| percent > 0.0), "{percent}{rest}");
    }
}

#[test]
fn tpcc_keeps_its_conditions_on_servers_and_on_clusters() {
    let bench = Bench::new();
    let Some(ended) = smoke(&bench, "tpcc") else { return };
    assert!(ended.stdout.contains("new-order-rollback"), "{ended}");
}

#[test]
fn ycsb_keeps_all_rows_and_values_on_servers() {
    let bench = Bench::new();
    let Some(ended) = smoke(&bench, "ycsb") else { return };
    assert!(ended.stdout.contains("read-modify-write"), "{ended}");
}

#[test]
fn serializable_keeps_the_conditions_of_tpcc_without_row_locks() {
    let bench = Bench::new();
    let Some(ended) = smoke(&bench, "tpcc-isolation") else { return };
    assert!(ended.stdout.contains("condition 10: "), "{ended}");
}

#[test]
fn histories_are_searched_on_servers_and_on_clusters() {
    let bench = Bench::new();
    let Some(ended) = smoke(&bench, "anomalies") else { return };
    let allowed = "NDB (read-committed), 20 clients showed anomalies that READ COMMITTED permits:";
    assert!(ended.stdout.replace("\n  ", " ").contains(allowed), "{ended}");
}

#[test]
fn cluster_and_server_are_compared_directly_and_via_application() {
    let bench = Bench::new();
    if require_application().is_none() {
        return;
    }
    let Some(ended) = smoke(&bench, "cluster") else { return };
    for curve in ["MySQL (tomcat)", "MySQL (endpoint tcp)", "NDB (tomcat)", "NDB (endpoint tcp)"] {
        assert!(ended.stdout.contains(curve), "{ended}");
    }
}

#[test]
fn servers_are_killed_and_nothing_that_was_acknowledged_is_gone() {
    for name in ["failover", "durability"] {
        let bench = Bench::new();
        let Some(ended) = smoke(&bench, name) else { return };
        assert!(ended.stdout.contains("No acknowledged commit was lost"), "{ended}");
        assert!(!ended.stdout.contains("acknowledged commits, in"), "{ended}");
    }
}

#[test]
fn thread_pools_are_compared_on_both_families() {
    let bench = Bench::new();
    let Some(ended) = smoke(&bench, "thread-pool") else { return };
    for curve in ["MariaDB (thread pool)", "MySQL (thread pool)"] {
        assert!(ended.stdout.contains(curve), "{ended}");
    }
    // That the pool was there is the servers' own word.
    let events =
        std::fs::read_to_string(bench.path().join("r/events.jsonl")).expect("events are written");
    for handling in ["pool-of-threads", "loaded-dynamically"] {
        assert!(events.contains(&format!("\"thread_handling\":\"{handling}\"")), "{handling}");
    }
}

#[test]
fn row_formats_are_compared_while_their_tables_grow() {
    let bench = Bench::new();
    let Some(ended) = smoke(&bench, "disk-bottleneck") else { return };
    for format in ["plain", "compressed"] {
        assert!(ended.stdout.contains(format), "{ended}");
    }
}

#[test]
fn paths_are_compared_with_and_without_a_proxy() {
    let bench = Bench::new();
    let Some(ended) = smoke(&bench, "network-path") else { return };
    assert!(ended.stdout.contains("proxied"), "{ended}");
}

#[test]
fn temporary_tables_are_compared_with_none() {
    let bench = Bench::new();
    let Some(ended) = smoke(&bench, "temp-table") else { return };
    for kind in ["in-list-select", "temp-table-select", "row-by-row-update", "temp-table-update"] {
        assert!(ended.stdout.contains(kind), "{ended}");
    }
}

#[test]
fn arrays_are_made_measured_and_removed() {
    let is_root = std::fs::metadata("/proc/self")
        .is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    if !is_root {
        println!("skipped: making arrays of loop devices needs root");
        return;
    }
    let bench = Bench::new();
    let Some(ended) = smoke(&bench, "raid-buffer-pool") else { return };
    assert!(ended.stdout.contains("RAID10"), "{ended}");
    assert!(!Path::new(ARRAYS).exists(), "the arrays are gone");
    let mounts = std::fs::read_to_string("/proc/self/mounts").expect("Linux tells its mounts");
    assert!(!mounts.contains(ARRAYS), "{mounts}");
}
