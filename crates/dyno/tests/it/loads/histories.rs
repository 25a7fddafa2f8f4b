//! Histories on real servers: each isolation level shows the anomalies that it is known for, and
//! none that it forbids but those of which its server is known not to keep it; what is written down
//! is what was counted.

use crate::program::{Bench, records};
use dyno_model::audit::{AuditCheck, AuditVerdict};
use dyno_model::history::anomalies::Anomaly::{
    self, DirtyRead, IntermediateRead, LostUpdate, NonRepeatableRead, WriteSkew,
};
use dyno_model::isolation::IsolationLevel::{
    self, ReadCommitted, ReadUncommitted, RepeatableRead, Serializable,
};
use dyno_model::plan::ServerKind;
use dyno_model::record::TrialRecord;
use dyno_testkit::require_server;
use std::path::Path;

/// Under a level: what has to be found, and what must not be.
type Row = (IsolationLevel, &'static [Anomaly], &'static [Anomaly]);

/// REPEATABLE READ of both lets one update overwrite another.
const MYSQL_FAMILY: &[Row] = &[
    (ReadUncommitted, &[DirtyRead, LostUpdate], &[]),
    (ReadCommitted, &[LostUpdate, NonRepeatableRead], &[DirtyRead, IntermediateRead]),
    (RepeatableRead, &[LostUpdate], &[DirtyRead, IntermediateRead, NonRepeatableRead]),
    (Serializable, &[], &Anomaly::ALL),
];
/// MariaDB with `innodb_snapshot_isolation`, the default from version 11.6 on.
const SNAPSHOT: &[Row] = &[
    (ReadCommitted, &[LostUpdate, NonRepeatableRead], &[DirtyRead, IntermediateRead]),
    (RepeatableRead, &[], &[DirtyRead, IntermediateRead, NonRepeatableRead, LostUpdate]),
];
const POSTGRES: &[Row] = &[
    (ReadCommitted, &[LostUpdate, NonRepeatableRead], &[DirtyRead, IntermediateRead]),
    (RepeatableRead, &[WriteSkew], &[DirtyRead, IntermediateRead, NonRepeatableRead, LostUpdate]),
    (Serializable, &[], &Anomaly::ALL),
];
const SQLITE: &[Row] = &[(Serializable, &[], &Anomaly::ALL)];

fn spec(kind: ServerKind, settings: &str, objects: &str, levels: &[Row]) -> String {
    let levels: Vec<String> = levels.iter().map(|(level, ..)| format!("\"{level}\"")).collect();
    format!(
        "title = \"Histories\"\n[[system]]\nname = \"S\"\nserver = {{ kind = \"{kind}\", settings = {settings} }}\n[workload]\nkind = \"history\"\n\
         objects = \"{objects}\"\nkeys = 3\nrollbacks = 20\n[factors]\n\"workload.isolation\" = [{}]\n\
         [load]\nclients = 8\nwarmup = \"0s\"\ntransactions = 600\nattempts_max = 1000\n[design]\nblocks = 1\n",
        levels.join(", ")
    )
}

/// The level in force, the commits in the history and how often each anomaly was found.
fn found(record: &TrialRecord) -> (IsolationLevel, u64, impl Fn(Anomaly) -> u64) {
    let [AuditCheck::Anomalies { level: Some(level), committed, outside: 0, found, .. }] =
        &record.audit.checks[..]
    else {
        panic!("unexpected audit {:?}", record.audit);
    };
    let found = found.clone();
    let of = move |anomaly| found.iter().find(|it| it.anomaly == anomaly).map_or(0, |it| it.count);
    (*level, *committed, of)
}

#[test]
fn isolation_levels_show_expected_and_no_excluded_anomalies() {
    let rows = [
        (ServerKind::Mariadb, "{ innodb_snapshot_isolation = \"OFF\" }", MYSQL_FAMILY),
        (ServerKind::Mariadb, "{ innodb_snapshot_isolation = \"ON\" }", SNAPSHOT),
        (ServerKind::Mysql, "{}", MYSQL_FAMILY),
        (ServerKind::Postgres, "{}", POSTGRES),
        (ServerKind::Sqlite, "{}", SQLITE),
    ];
    for (kind, settings, levels) in rows {
        if require_server(kind).is_none() {
            continue;
        }
        for objects in ["registers", "lists"] {
            let bench = Bench::new();
            bench.file("h.toml", spec(kind, settings, objects, levels));
            let ended = bench.dyno(&["run", "h.toml", "--out", "r"]);
            let records = records(&bench.path().join("r"));
            assert_eq!(records.len(), levels.len(), "{ended}");
            for record in &records {
                let (level, committed, found) = found(record);
                let (_, there, absent) = levels
                    .iter()
                    .find(|(known, ..)| *known == level)
                    .expect("a level that was asked for");
                for anomaly in *there {
                    assert!(
                        found(*anomaly) > 0,
                        "{kind} {settings}, {objects}, {level}: no {anomaly}: {:?}",
                        record.audit
                    );
                }
                for anomaly in *absent {
                    assert_eq!(
                        found(*anomaly),
                        0,
                        "{kind} {settings}, {objects}, {level}: {anomaly}: {:?}",
                        record.audit
                    );
                }
                let is_broken = level == RepeatableRead && found(LostUpdate) > 0;
                let verdict = if is_broken { AuditVerdict::Violated } else { AuditVerdict::Intact };
                assert_eq!(
                    record.audit.verdict(),
                    verdict,
                    "{kind} {settings}, {objects}, {level}"
                );
                assert_eq!(
                    committed, record.counters.committed,
                    "{kind} {settings}, {objects}, {level}"
                );
                written(
                    &bench.path().join("r/trials").join(&record.trial.id).join("history.edn"),
                    record,
                );
            }
        }
    }
}

/// The file holds each attempt's beginning and end, in order of time.
fn written(file: &Path, record: &TrialRecord) {
    let text = std::fs::read_to_string(file).expect("a history");
    let of_type = |kind: &str| {
        text.lines().filter(|line| line.contains(&format!(":type :{kind},"))).count() as u64
    };
    let [AuditCheck::Anomalies { committed, failed, in_doubt, .. }] = &record.audit.checks[..]
    else {
        panic!("unexpected audit {:?}", record.audit);
    };
    assert_eq!((of_type("ok"), of_type("fail"), of_type("info")), (*committed, *failed, *in_doubt));
    assert_eq!(of_type("invoke"), committed + failed + in_doubt);
    let time = |line: &str| {
        let (_, rest) = line.split_once(":time ").expect("a time");
        rest.split_once(',').expect("more").0.parse::<u64>().expect("a number")
    };
    assert!(text.lines().is_sorted_by_key(time), "{}", file.display());
}

#[test]
fn a_history_that_is_full_stays_whole_and_the_load_goes_on() {
    let bench = Bench::new();
    let spec = spec(ServerKind::Sqlite, "{}", "lists", SQLITE)
        .replace("keys = 3", "keys = 3\nhistory_max = 80");
    let spec = spec.replace("transactions = 600", "transactions_per_client = 40");
    bench.file("h.toml", &spec);
    let ended = bench.dyno(&["run", "h.toml", "--out", "r"]);
    let records = records(&bench.path().join("r"));
    let [AuditCheck::Anomalies { committed, failed, in_doubt, outside, .. }] =
        &records[0].audit.checks[..]
    else {
        panic!("unexpected audit {:?}", records[0].audit);
    };
    assert_eq!((committed + failed + in_doubt, committed + outside), (80, 320), "{ended}");
    assert_eq!(
        records[0].audit.verdict(),
        AuditVerdict::Intact,
        "whoever is outside touches nothing in it"
    );
    let report = bench.dyno(&["report", "r", "--format", "md"]);
    assert!(report.stdout.contains("the history was full before"), "{report}");
}

#[test]
fn a_history_of_a_background_workload_is_written_under_its_name() {
    let bench = Bench::new();
    bench.file(
        "h.toml",
        "title = \"Background\"\n[[system]]\nname = \"S\"\nserver = { kind = \"sqlite\" }\n\
         [workload]\nkind = \"oltp_point_select\"\ntables = 1\ntable_size = 100\n\
         [[background]]\nname = \"../who reads?\"\nworkload = { kind = \"history\", keys = 3 }\nclients = 3\n\
         [load]\nclients = 1\nduration = \"500ms\"\nwarmup = \"0s\"\nattempts_max = 1000\n[design]\nblocks = 1\n",
    );
    let ended = bench.dyno(&["run", "h.toml", "--out", "r"]);
    let records = records(&bench.path().join("r"));
    let [record] = &records[..] else { panic!("{ended}") };
    let background = &record.background[0].record;
    assert!(background.counters.committed > 0, "{ended}");
    let folder = bench.path().join("r/trials").join(&record.trial.id);
    assert!(!folder.join("history.edn").exists(), "the trial is about another workload");
    written(&folder.join("history----who-reads-.edn"), background);
}
