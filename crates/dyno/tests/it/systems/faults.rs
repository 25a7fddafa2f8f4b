//! Servers are harmed on purpose while they are measured: what is lost is found, what is kept is
//! not called lost, and the report says how long it took.

use crate::program::{Bench, Ended, events, records, system_failure};
use dyno_model::audit::{AuditCheck, AuditVerdict};
use dyno_model::event::Event;
use dyno_model::failure::FailureKind;
use dyno_model::fault::FaultAction;
use dyno_model::plan::ServerKind;
use dyno_model::record::TrialRecord;
use dyno_model::warning::Warning;
use dyno_testkit::{processes_with, require_server};
use serde_json::Value;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;

/// A spec of one system under eight clients that write, and leave the processors to other tests now
/// and then.
fn spec(server: &str, load: &str, faults: &str) -> String {
    format!(
        "title = \"Harm\"\n[[system]]\nname = \"S\"\nserver = {{ {server} }}\n[workload]\nkind = \"rush\"\n\
         variant = \"in-place\"\nledger = true\n[load]\nclients = 8\nwarmup = \"0s\"\nthink = \"3ms\"\n{load}\n[design]\nblocks = 1\n{faults}"
    )
}

fn run(bench: &Bench, text: &str) -> (Ended, TrialRecord) {
    bench.file("harm.toml", text);
    let ended = bench.dyno(&["run", "harm.toml", "--out", "r"]);
    let mut records = records(&bench.path().join("r"));
    assert_eq!(records.len(), 1, "{ended}");
    let scratch = bench.path().to_str().expect("a path of text");
    assert_eq!(processes_with(scratch), Vec::<u32>::new(), "nothing is left running");
    (ended, records.remove(0))
}

/// Acknowledged, lost, in doubt.
fn counters(record: &TrialRecord) -> (u64, u64, u64) {
    let found = record.audit.checks.iter().find_map(|check| match check {
        AuditCheck::Ledger { acknowledged, lost, phantoms, in_doubt, .. } => {
            assert_eq!(*phantoms, 0, "{check:?}");
            Some((*acknowledged, *lost, *in_doubt))
        }
        _ => None,
    });
    found.unwrap_or_else(|| panic!("no ledger: {:?}", record.audit))
}

fn kill_and_start(after_ms: u64) -> String {
    format!(
        "[[fault]]\nat = \"1s\"\naction = \"kill\"\n[[fault]]\nafter = \"{after_ms}ms\"\naction = \"start\"\n"
    )
}

#[test]
fn a_killed_and_restarted_server_keeps_acknowledged_commits() {
    // MariaDB is away for longer than clients try to connect when no fault is planned.
    let rows = [
        (ServerKind::Mariadb, "mariadb", 6_000, "12s"),
        (ServerKind::Mysql, "mysql", 500, "8s"),
        (ServerKind::Postgres, "postgres", 500, "8s"),
    ];
    for (kind, name, away, duration) in rows {
        if require_server(kind).is_none() {
            continue;
        }
        let bench = Bench::new();
        let server = format!("kind = \"{name}\"");
        let (ended, record) = run(
            &bench,
            &spec(&server, &format!("duration = \"{duration}\""), &kill_and_start(away)),
        );
        assert!(ended.is_done(), "{ended}");
        let (acknowledged, lost, in_doubt) = counters(&record);
        assert!(
            acknowledged >= record.counters.committed && lost == 0,
            "{name}: {lost} of {acknowledged}"
        );
        // One answer that is outstanding per client, at most.
        assert!(in_doubt <= 8, "{name}: {in_doubt}");
        // The sum of the counters allows for those in doubt, the ledger knows what became of them.
        assert!(record.audit.verdict() <= AuditVerdict::Undecided, "{name}: {:?}", record.audit);
        let facts = record.facts.as_ref().expect("facts");
        let made: Vec<_> =
            facts.faults.iter().map(|fault| (fault.action, fault.failed.clone())).collect();
        assert_eq!(made, [(FaultAction::Kill, None), (FaultAction::Start, None)], "{name}");
        assert!(facts.faults[1].at.0 >= (1_000 + away) * 1_000_000);
        assert_eq!(
            record.audit.unsettled, 0,
            "{name}: numbers of sessions from before say nothing"
        );
        assert!(record.counters.reconnects >= 8, "{name}: all clients came back");
        assert!(!record.is_cut_short(), "{name}: {:?}", record.warnings);
        bench.forget_the_machine("r");
        let report = bench.dyno(&["report", "r", "--format", "json"]);
        let model: Value = serde_json::from_str(&report.stdout).expect("a model");
        let row = &model["configurations"][0]["figures"];
        assert!(row["outage-max"].as_f64().is_some_and(|seconds| seconds >= 0.5), "{name}: {row}");
        let text = bench.dyno(&["report", "r", "--format", "text"]).stdout;
        assert!(text.contains("kill server, start server: write outage"), "{text}");
        assert!(text.contains("No acknowledged commit was lost"), "{text}");
    }
}

#[test]
fn commits_acknowledged_before_they_are_durable_are_found_lost() {
    // Neither writes its log by itself within the time of the trial.
    let unsafe_servers = [
        (
            ServerKind::Mariadb,
            "kind = \"mariadb\", settings = { innodb_flush_log_at_trx_commit = 0, innodb_flush_log_at_timeout = 2700 }",
        ),
        (
            ServerKind::Postgres,
            "kind = \"postgres\", settings = { synchronous_commit = \"off\", wal_writer_delay = \"10s\", wal_writer_flush_after = \"1GB\" }",
        ),
    ];
    for (kind, server) in unsafe_servers {
        if require_server(kind).is_none() {
            continue;
        }
        let bench = Bench::new();
        // It is not started by a fault: dyno does that before it audits.
        let kill = "[[fault]]\nat = \"800ms\"\naction = \"kill\"\n";
        let (ended, record) =
            run(&bench, &spec(server, "duration = \"1500ms\"\ngrace = \"0s\"", kill));
        let (acknowledged, lost, _) = counters(&record);
        assert!(lost > 0 && lost <= acknowledged, "{kind}: {lost} of {acknowledged}");
        assert_eq!(record.audit.verdict(), AuditVerdict::Violated);
        assert!(ended.stdout.contains("* S, 8 clients lost "), "{ended}");
    }
}

#[test]
fn a_server_that_hangs_goes_on_where_it_was() {
    if require_server(ServerKind::Postgres).is_none() {
        return;
    }
    let bench = Bench::new();
    let halt = "[[fault]]\nat = \"500ms\"\naction = \"stop\"\n[[fault]]\nafter = \"2s\"\naction = \"continue\"\n";
    let (ended, record) = run(&bench, &spec("kind = \"postgres\"", "duration = \"5s\"", halt));
    assert!(ended.is_done(), "{ended}");
    assert_eq!(counters(&record).1, 0);
    assert_eq!((record.audit.verdict(), record.counters.reconnects), (AuditVerdict::Intact, 0));
    let longest = record.longest_gap.expect("a gap").length.0;
    assert!(longest >= 1_000_000_000, "{longest}");

    // It hangs still when measuring ends: whoever waits for an answer is cut off, and the audit has
    // one.
    let bench = Bench::new();
    let halt = "[[fault]]\nat = \"500ms\"\naction = \"stop\"\n";
    let (_, record) =
        run(&bench, &spec("kind = \"postgres\"", "duration = \"1s\"\ngrace = \"200ms\"", halt));
    assert_eq!(record.counters.unfinished, 8);
    assert_eq!(counters(&record).1, 0);
}

#[test]
fn each_trial_has_its_own_fault_time_and_its_own_server_start() {
    if require_server(ServerKind::Mariadb).is_none() {
        return;
    }
    let bench = Bench::new();
    let kill = "[[fault]]\nat = \"300ms\"\nwithin = \"1s\"\naction = \"kill\"\n";
    let text = spec("kind = \"mariadb\"", "duration = \"1500ms\"\ngrace = \"0s\"", kill);
    bench.file(
        "harm.toml",
        text.replace("clients = 8", "clients = [4, 8]").replace("[design]", "[design]\nseed = 10"),
    );
    let ended = bench.dyno(&["run", "harm.toml", "--out", "r"]);
    let results = bench.path().join("r");
    let moments: Vec<u64> = records(&results)
        .iter()
        .map(|record| record.facts.as_ref().expect("facts").faults[0].at.0)
        .collect();
    let [first, second] = moments[..] else { panic!("two trials: {ended}") };
    assert!(first.abs_diff(second) > 400_000_000, "{first} and {second}");
    let starts =
        events(&results).into_iter().filter(|event| matches!(event, Event::SystemReady { .. }));
    assert_eq!(starts.count(), 2, "{ended}");
}

#[test]
fn a_server_is_shut_down_in_order_and_started_again() {
    if require_server(ServerKind::Mariadb).is_none() {
        return;
    }
    let bench = Bench::new();
    let restart = "[[fault]]\nat = \"1s\"\naction = \"restart\"\n";
    let (ended, record) = run(&bench, &spec("kind = \"mariadb\"", "duration = \"8s\"", restart));
    assert!(ended.is_done(), "{ended}");
    let (acknowledged, lost, _) = counters(&record);
    assert!(
        acknowledged > 0 && lost == 0 && record.counters.reconnects >= 8,
        "{:?}",
        record.counters
    );
}

#[test]
fn script_data_is_audited_after_a_server_restart() {
    for (kind, name) in [(ServerKind::Mariadb, "mariadb"), (ServerKind::Postgres, "postgres")] {
        if require_server(kind).is_none() {
            continue;
        }
        let bench = Bench::new();
        bench.file(
            "count.lua",
            "function prepare() sysbench.sql.driver():connect():query('CREATE TABLE c (n INTEGER)') end\n\
             function thread_init() connection = sysbench.sql.driver():connect() end\n\
             function event() connection:query('INSERT INTO c VALUES (1)') end\n",
        );
        let restart = "[[fault]]\nat = \"500ms\"\naction = \"restart\"\n";
        let text = spec(&format!("kind = \"{name}\""), "duration = \"2s\"", restart);
        let rush = "kind = \"rush\"\nvariant = \"in-place\"\nledger = true";
        let own = "kind = \"lua\"\nscript = \"count.lua\"\naudit = { \"count(*) from c\" = \"+1 per count\" }";
        let (ended, record) = run(&bench, &text.replace(rush, own));
        let [AuditCheck::Value { found, .. }] = &record.audit.checks[..] else {
            panic!("{name}: {:?}\n{ended}", record.audit)
        };
        assert!(*found > 0, "{name}: {:?}", record.audit);
    }
}

#[test]
fn a_command_receives_the_system_and_its_settings() {
    let bench = Bench::new();
    let command = "[[fault]]\nat = \"100ms\"\naction = \"run\"\n\
                   command = 'echo \"$DYNO_SYSTEM, $DYNO_SETTINGS, $DYNO_SETTING_CACHE_SIZE\" > told'\n\
                   [factors]\n\"server.settings.cache_size\" = [500]\n";
    let (ended, _) = run(&bench, &spec("kind = \"sqlite\"", "duration = \"500ms\"", command));
    let reported =
        std::fs::read_to_string(bench.path().join("told")).unwrap_or_else(|_| panic!("{ended}"));
    assert_eq!(reported, "S, cache_size=500\n, 500\n", "{ended}");
}

#[test]
fn a_fault_that_cannot_be_made_makes_the_trial_invalid() {
    if require_server(ServerKind::Mariadb).is_none() {
        return;
    }
    let bench = Bench::new();
    let command = "[[fault]]\nat = \"300ms\"\naction = \"run\"\ncommand = \"echo no; exit 3\"\n";
    let (ended, record) = run(&bench, &spec("kind = \"mariadb\"", "duration = \"1s\"", command));
    let found = record.warnings.iter().find_map(|warning| match warning {
        Warning::FaultNotInjected { action, node, reason } => {
            Some((*action, node.as_str(), reason.as_str()))
        }
        _ => None,
    });
    assert_eq!(
        found,
        Some((
            FaultAction::Run,
            "echo no; exit 3",
            "the command ended with exit code 3; the last lines of its output:\n  | no"
        ))
    );
    assert_eq!(ended.code, 6, "{ended}");
    assert!(
        ended.stdout.contains("A fault could not be injected (run echo no; exit 3)"),
        "{ended}"
    );
}

#[test]
fn a_promoted_synchronous_replica_has_all_acknowledged_commits() {
    if require_server(ServerKind::PostgresReplica).is_none() {
        return;
    }
    let bench = Bench::new();
    let faults = "[[fault]]\nat = \"1s\"\naction = \"kill\"\nnode = \"primary\"\n\
                  [[fault]]\nafter = \"500ms\"\naction = \"promote\"\nnode = \"replica 1\"\n";
    let server = "kind = \"postgres-replica\", synchronous = true";
    let (ended, record) =
        run(&bench, &spec(server, "duration = \"8s\"\nattempts_max = 1000", faults));
    assert!(ended.is_done(), "{ended}");
    let facts = record.facts.as_ref().expect("facts");
    assert!(facts.faults.iter().all(|fault| fault.failed.is_none()), "{:?}", facts.faults);
    let (acknowledged, lost, _) = counters(&record);
    assert!(acknowledged >= record.counters.committed && lost == 0, "{lost} of {acknowledged}");
    assert!(record.counters.reconnects >= 8, "all clients went to the replica");
    assert!(!record.is_cut_short(), "{:?}", record.warnings);
    // They were at work before and after.
    let longest = record.longest_gap.expect("a gap");
    assert!(
        longest.at.0 > 0 && longest.at.0 + longest.length.0 < record.window_length.0,
        "{longest:?}"
    );
}

#[test]
fn clients_of_a_node_that_dies_go_to_another() {
    if require_server(ServerKind::Galera).is_none() {
        return;
    }
    let bench = Bench::new();
    let kill = "[[fault]]\nat = \"1s\"\naction = \"kill\"\nnode = \"node 1\"\n";
    let server = "kind = \"galera\", nodes = 3";
    let (ended, record) =
        run(&bench, &spec(server, "duration = \"15s\"\nattempts_max = 1000", kill));
    assert!(ended.is_done(), "{ended}");
    let (acknowledged, lost, _) = counters(&record);
    assert!(acknowledged > 0 && lost == 0, "{lost} of {acknowledged}");
    // Three of eight clients were on it.
    assert_eq!(record.counters.reconnects, 3, "{:?}", record.counters);
    let plan = bench.dyno(&["plan", "harm.toml"]);
    assert!(plan.stdout.contains("  fault     S: kill node 1 after 1 s\n"), "{plan}");
}

/// The way is cut after a second and mended two seconds later.
fn cut(node: &str) -> String {
    format!(
        "[[fault]]\nat = \"1s\"\naction = \"disconnect\"\n{node}[[fault]]\nafter = \"2s\"\naction = \"reconnect\"\n{node}"
    )
}

/// Answers that clients did not wait for.
fn timeouts(record: &TrialRecord) -> u64 {
    let counters = &record.counters;
    let of = |counts: &BTreeMap<FailureKind, u64>| {
        counts.get(&FailureKind::Timeout).copied().unwrap_or(0)
    };
    of(&counters.retries_by_kind) + of(&counters.failed_by_kind)
}

#[test]
fn a_silent_network_cut_times_out_and_clients_reconnect() {
    for (kind, name) in [
        (ServerKind::Mariadb, "mariadb"),
        (ServerKind::Mysql, "mysql"),
        (ServerKind::Postgres, "postgres"),
    ] {
        if require_server(kind).is_none() {
            continue;
        }
        let bench = Bench::new();
        let load = "duration = \"8s\"\nstatement_timeout = \"500ms\"\nattempts_max = 1000";
        let (ended, record) = run(&bench, &spec(&format!("kind = \"{name}\""), load, &cut("")));
        assert!(ended.is_done(), "{ended}");
        let (acknowledged, lost, _) = counters(&record);
        assert!(acknowledged > 0 && lost == 0, "{name}: {lost} of {acknowledged}");
        assert!(record.audit.verdict() <= AuditVerdict::Undecided, "{name}: {:?}", record.audit);
        let facts = record.facts.as_ref().expect("facts");
        assert!(facts.faults.iter().all(|fault| fault.failed.is_none()), "{:?}", facts.faults);
        // Each client noticed that nobody answers, and came back when somebody did.
        assert!(
            timeouts(&record) >= 8 && record.counters.reconnects >= 8,
            "{name}: {:?}",
            record.counters
        );
        let longest = record.longest_gap.expect("a gap");
        assert!(longest.length.0 >= 1_900_000_000, "{name}: {longest:?}");
        assert!(longest.at.0 + longest.length.0 < record.window_length.0, "{name}: {longest:?}");
        assert_eq!(
            record.audit.unsettled, 0,
            "{name}: the server has heard of the connections' end"
        );
        assert!(!record.is_cut_short(), "{name}: {:?}", record.warnings);
    }
}

#[test]
fn clients_of_a_node_that_they_do_not_reach_go_to_another() {
    if require_server(ServerKind::Galera).is_none() {
        return;
    }
    let bench = Bench::new();
    let load = "duration = \"8s\"\nstatement_timeout = \"500ms\"\nattempts_max = 1000";
    let faults = cut("node = \"node 1\"\n");
    let (ended, record) = run(&bench, &spec("kind = \"galera\", nodes = 3", load, &faults));
    assert!(ended.is_done(), "{ended}");
    let (acknowledged, lost, _) = counters(&record);
    assert!(acknowledged > 0 && lost == 0, "{lost} of {acknowledged}");
    // Three of eight clients were on it; others waited for what these had locked.
    assert!(timeouts(&record) >= 3 && record.counters.reconnects >= 3, "{:?}", record.counters);
    assert!(!record.is_cut_short(), "{:?}", record.warnings);
}

#[test]
fn a_disk_that_others_use_is_not_filled() {
    if require_server(ServerKind::Mariadb).is_none() {
        return;
    }
    let bench = Bench::new();
    std::fs::set_permissions(bench.path(), std::fs::Permissions::from_mode(0o755))
        .expect("it is ours");
    std::fs::create_dir(bench.path().join("shared")).expect("it is new");
    let storage =
        "[factors]\nstorage = [\"shared\"]\n[[storage]]\nname = \"shared\"\ndata = \"shared\"\n";
    let fill = "[[fault]]\nat = \"1s\"\naction = \"fill-disk\"\n";
    bench.file(
        "harm.toml",
        spec("kind = \"mariadb\"", "duration = \"5s\"", &format!("{fill}{storage}")),
    );
    let ended = bench.dyno(&["run", "harm.toml", "--out", "r"]);
    assert_eq!(ended.code, 6, "{ended}");
    let reported = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        reported.contains("dyno cannot fill the disk of")
            && reported.contains("is on the same file system"),
        "{ended}"
    );
    assert_eq!(records(&bench.path().join("r")).len(), 0, "nothing was measured");
    assert_eq!(processes_with(bench.path().to_str().expect("a path of text")), Vec::<u32>::new());
}

#[test]
fn a_server_that_died_before_its_fault_is_a_system_failure() {
    if require_server(ServerKind::Mariadb).is_none() {
        return;
    }
    let bench = Bench::new();
    // It dies by a hand that dyno knows nothing of; the command does not find itself.
    let command = format!(
        "for it in /proc/[0-9]*; do if tr '\\0' ' ' < $it/cmdline | grep -q '^[^ ]*[m]ariadbd .*{}'; then kill -9 ${{it#/proc/}}; fi; done; true",
        bench.path().display()
    );
    let faults = format!(
        "[[fault]]\nat = \"500ms\"\naction = \"run\"\ncommand = '''{command}'''\n\
         [[fault]]\nafter = \"0s\"\naction = \"kill\"\n[[fault]]\nafter = \"3s\"\naction = \"start\"\n"
    );
    let (ended, record) = run(&bench, &spec("kind = \"mariadb\"", "duration = \"20s\"", &faults));
    assert_ne!(ended.code, 0, "{ended}");
    assert!(
        system_failure(&record).contains("signal 9") && record.is_cut_short(),
        "{:?}",
        record.warnings
    );
    let facts = record.facts.as_ref().expect("facts");
    let failed: Vec<_> = facts.faults.iter().map(|fault| fault.failed.as_deref()).collect();
    let [None, Some(kill), Some(start)] = failed[..] else { panic!("{failed:?}") };
    // Whoever looks first: the fault, or those who watch the server.
    for why in [kill, start] {
        assert!(
            why.starts_with("server is not running: it ")
                || why == "the measurement had already ended",
            "{why}"
        );
    }
}
