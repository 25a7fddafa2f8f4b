//! The workload `tpcb`: balances agree after every trial on every engine, and one that does not is
//! found.

use crate::program::{Bench, records};
use dyno_model::audit::{AuditCheck, AuditVerdict};
use dyno_model::plan::ServerKind;
use dyno_testkit::require_server;

/// The values of its audit that are wrong.
fn violated(checks: &[AuditCheck]) -> Vec<usize> {
    let is_wrong = |check: &AuditCheck| check.verdict() == AuditVerdict::Violated;
    (0..).zip(checks).filter(|(_, check)| is_wrong(check)).map(|(at, _)| at).collect()
}

#[test]
fn balances_agree_on_every_engine_and_planted_errors_are_found() {
    let kinds = [
        (ServerKind::Sqlite, "sqlite"),
        (ServerKind::Mariadb, "mariadb"),
        (ServerKind::Mysql, "mysql"),
        (ServerKind::Postgres, "postgres"),
    ];
    // A script beside it breaks a balance, or history.
    for (broken, wrong) in [
        ("", &[][..]),
        ("UPDATE pgbench_tellers SET tbalance = tbalance + 1 WHERE tid = 1", &[3]),
        ("UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = 1", &[2]),
        ("UPDATE pgbench_branches SET bbalance = bbalance + 1 WHERE bid = 1", &[0, 2, 3]),
        ("DELETE FROM pgbench_history WHERE delta > 0", &[0, 1]),
    ] {
        for (kind, name) in kinds {
            if require_server(kind).is_none() || !broken.is_empty() && kind != ServerKind::Postgres
            {
                continue;
            }
            let bench = Bench::new();
            let background = match broken {
                "" => String::new(),
                sql => format!(
                    "[[background]]\nname = \"plant\"\nclients = 1\nrate = \"20/s\"\n\
                     [background.workload]\nkind = \"sql\"\n[[background.workload.scripts]]\n\
                     name = \"plant\"\nsql = \"{sql};\"\n"
                ),
            };
            let spec = format!(
                "title = \"B\"\n[[system]]\nname = \"S\"\nserver = {{ kind = \"{name}\" }}\n\
                 [workload]\nkind = \"tpcb\"\n[load]\nclients = 2\nwarmup = \"0s\"\n\
                 duration = \"2s\"\nattempts_max = 100\n[design]\nblocks = 1\n{background}"
            );
            bench.file("b.toml", spec);
            let ended = bench.dyno(&["run", "b.toml", "--out", "r"]);
            assert!(bench.path().join("r/plan.json").exists(), "{ended}");
            let record = records(&bench.path().join("r")).remove(0);
            assert!(record.counters.committed > 0, "{name}: {ended}");
            let checks = &record.audit.checks;
            assert_eq!(checks.len(), 4, "{name}: {:?}", record.audit);
            assert_eq!(violated(checks), wrong, "{name}, {broken}: {:?}", record.audit);
        }
    }
}
