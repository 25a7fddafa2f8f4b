use super::*;
use crate::catalog::Growth;
use crate::client_group::GroupRecord;
use crate::counters::TransactionCounters;
use crate::failure::FailureKind;
use crate::fault::FaultAction;
use crate::reason::Reason;
use crate::record::{BenchmarkFacts, GeneratorRecord, OpenLoop, WorkerRecord};
use crate::units::Nanos;

const SECOND: u64 = 1_000_000_000;

/// Requirements of a trial with eight clients in which no transaction may fail.
fn requirements(engine: Engine, load: &LoadPlan) -> TrialRequirements<'_> {
    TrialRequirements { engine, clients: 8, load, tolerated_failures: 0.0 }
}

/// A record of ten seconds with 50,000 commits and no warnings.
fn record() -> TrialRecord {
    let committed = 50_000;
    let statement = crate::counters::StatementCounters {
        name: "commit".to_owned(),
        sent: committed,
        ok: committed,
        ..Default::default()
    };
    let outcomes = crate::counters::Outcomes { others: committed, ..Default::default() };
    let counters = TrialCounters {
        started: committed,
        committed,
        attempts: committed,
        outcomes,
        statements: vec![statement],
        ..TrialCounters::default()
    };
    let worker = WorkerRecord {
        clients: 8,
        cpu: Nanos(3 * SECOND),
        wall: Nanos(10 * SECOND),
        ..WorkerRecord::default()
    };
    TrialRecord {
        trial: Trial { id: "b01-001".to_owned(), block: 1, configuration: 0 },
        window_length: Nanos(10 * SECOND),
        counters,
        generator: GeneratorRecord { workers: vec![worker], ..GeneratorRecord::default() },
        end: crate::record::TrialEnd::Trial,
        facts: Some(Facts {
            committed_total: committed,
            commits_sent_total: committed,
            ..Facts::default()
        }),
        ..TrialRecord::default()
    }
}

fn facts(record: &mut TrialRecord) -> &mut Facts {
    record.facts.as_mut().expect("records of this version have them")
}

/// The warnings of the record after a change, on a server that speaks MySQL, under a stop rule.
fn judged_under(stop: StopRule, change: impl FnOnce(&mut TrialRecord)) -> Vec<Warning> {
    let load = LoadPlan::new(stop);
    let mut record = record();
    change(&mut record);
    let mut warnings = judge(&record, &requirements(Engine::Mysql, &load));
    // Few tests are about it.
    let is_unreported =
        |warning: &Warning| matches!(warning, Warning::CommitsNotCompared { in_doubt: 0, .. });
    warnings.retain(|warning| !is_unreported(warning));
    warnings
}

fn judged(change: impl FnOnce(&mut TrialRecord)) -> Vec<Warning> {
    judged_under(StopRule::Duration(Nanos(10 * SECOND)), change)
}

fn cut_short(reason: impl Into<Reason>) -> Vec<Warning> {
    vec![Warning::CutShort { reason: reason.into() }]
}

#[test]
fn exceeding_pacing_is_invalid_and_unpaced_runs_are_flagged() {
    let benchmark = |per_minute_max| {
        let transaction = "new-order".to_owned();
        Some(BenchmarkFacts { transaction, per_minute_max, ..BenchmarkFacts::default() })
    };
    assert_eq!(judged(|it| facts(it).benchmark = benchmark(None)), [Warning::Unpaced]);
    let paced = |committed| {
        let warnings = judged(|it| {
            facts(it).benchmark = benchmark(Some(600.0));
            it.counters.committed = 1_000_000;
            it.counters.started = 1_000_000;
            let name = "new-order".to_owned();
            let others = 1_000_000 - committed;
            it.counters.transactions = vec![
                TransactionCounters { name, started: committed, committed, ..Default::default() },
                TransactionCounters { started: others, committed: others, ..Default::default() },
            ];
        });
        let paced = warnings.into_iter().find(|it| matches!(it, Warning::Paced { .. }));
        paced.map(|warning| warning.severity())
    };
    assert_eq!(paced(50), Some(Severity::Note));
    assert_eq!(paced(130), Some(Severity::Note), "think times are random");
    assert_eq!(paced(150), Some(Severity::Invalid), "100 are possible in ten seconds");
}

#[test]
fn a_trial_without_trouble_is_not_doubted_and_each_trouble_is_named() {
    assert_eq!(judged(|_| {}), []);
    assert_eq!(judged(|it| facts(it).steal = 0.02), [Warning::Steal { share: 0.02 }]);
    assert_eq!(judged(|it| facts(it).steal = 0.009), [], "too little for a warning");
    let short_and_stolen = |it: &mut TrialRecord| {
        it.window_length = Nanos(SECOND / 10 * 9);
        facts(it).steal = 0.5;
    };
    assert_eq!(
        judged(short_and_stolen),
        [Warning::ShortWindow { seconds: 0.9 }],
        "ticks say too little of so short a window"
    );
    assert_eq!(judged(|it| facts(it).is_debug_build = true), [Warning::DebugBuild]);
    assert_eq!(judged(|it| it.generator.shares_machine = true), [Warning::SharedMachine]);
    let held_up = |it: &mut TrialRecord| {
        // Of ten seconds the worker computed for three and waited for six.
        it.generator.workers[0].waited = Some(Nanos(6 * SECOND));
        it.generator.workers[0].queued = Some(Nanos(0));
    };
    assert_eq!(judged(held_up), [Warning::Stalled { share: 0.1 }]);
    assert_eq!(
        judged(|it| it.window_length = Nanos(SECOND / 2)),
        [Warning::ShortWindow { seconds: 0.5 }]
    );
    assert_eq!(
        judged(|it| it.open_loop =
            Some(OpenLoop { arrived: 100_000, unstarted: 50_000, ..OpenLoop::default() })),
        [Warning::FellBehind { share: 0.5, unstarted: 50_000 }]
    );
    let differ =
        Warning::CountersDiffer { counter: "Com_commit".to_owned(), ours: 50_000, theirs: 50_001 };
    assert_eq!(
        judged(|it| {
            it.server_counters.insert("Com_commit".to_owned(), 50_001);
        }),
        [differ]
    );
    let theirs = |theirs: i64| {
        judged(|it| {
            it.server_counters.insert("Com_commit".to_owned(), theirs);
            it.facts.get_or_insert_default().commits_failed_total = 7;
        })
    };
    assert_eq!(theirs(49_993), [], "a refused COMMIT may not have been counted");
    let differ =
        Warning::CountersDiffer { counter: "Com_commit".to_owned(), ours: 50_000, theirs: 49_992 };
    assert_eq!(theirs(49_992), [differ]);
}

#[test]
fn an_overload_on_purpose_is_reported_and_leaves_the_trial_valid() {
    let stop = StopRule::Duration(Nanos(10 * SECOND));
    let load = LoadPlan { rate: Some(10_000.0), is_overload: true, ..LoadPlan::new(stop) };
    let mut overloaded = record();
    overloaded.server_counters.insert("Com_commit".to_owned(), 50_000);
    overloaded.open_loop =
        Some(OpenLoop { arrived: 100_000, unstarted: 50_000, ..OpenLoop::default() });
    overloaded.warnings = judge(&overloaded, &requirements(Engine::Mysql, &load));
    assert_eq!(overloaded.warnings, [Warning::Overload { share: 0.5, unstarted: 50_000 }]);
    assert!(overloaded.is_valid());
}

#[test]
fn busiest_worker_counts_except_embedded_or_script_only_work() {
    let busy = |it: &mut TrialRecord| it.generator.workers[0].cpu = Nanos(95 * SECOND / 10);
    assert_eq!(judged(busy), [Warning::GeneratorBusy { share: 0.95 }]);
    let never_waits = |it: &mut TrialRecord| {
        let worker = &mut it.generator.workers[0];
        (worker.cpu, worker.wall) = (Nanos(110_798), Nanos(4_007));
    };
    assert_eq!(judged(never_waits), [Warning::GeneratorBusy { share: 1.0 }]);
    let load = LoadPlan::new(StopRule::Duration(Nanos(10 * SECOND)));
    let mut embedded = record();
    busy(&mut embedded);
    embedded.generator.shares_machine = true;
    assert_eq!(judge(&embedded, &requirements(Engine::Sqlite, &load)), []);
    let without_statements = |it: &mut TrialRecord| {
        busy(it);
        it.counters.statements.clear();
        it.counters.outcomes = crate::counters::Outcomes::default();
    };
    assert_eq!(judged(without_statements), []);
}

#[test]
fn the_longest_stalls_are_reported_and_gaps_that_are_usual_are_not() {
    let gap = |at: u64, milliseconds: u64| CommitGap {
        at: Nanos(at),
        length: Nanos(milliseconds * 1_000_000),
    };
    let gaps = [gap(5, 900), gap(4, 800), gap(3, 700), gap(2, 600), gap(1, 400)];
    let found = judged(|it| facts(it).gaps = gaps.to_vec());
    let lengths = found.iter().map(|warning| match warning {
        Warning::Stall { longest_gap, .. } => *longest_gap,
        other => panic!("{other:?}"),
    });
    assert_eq!(lengths.collect::<Vec<_>>(), [0.9, 0.8, 0.7]);
    let rare = |it: &mut TrialRecord| {
        facts(it).gaps = gaps.to_vec();
        it.counters.committed = 50;
    };
    assert!(
        !judged(rare).iter().any(|warning| matches!(warning, Warning::Stall { .. })),
        "five a second"
    );
    let dead = |it: &mut TrialRecord| {
        facts(it).gaps = vec![gap(0, 10_000)];
        it.counters.committed = 0;
    };
    assert!(
        judged(dead).iter().any(|warning| matches!(warning, Warning::Stall { .. })),
        "nothing at all"
    );
}

#[test]
fn a_wave_of_clients_that_think_is_as_long_as_their_thoughts() {
    let waves = |think: Option<Nanos>, of_name: Option<Nanos>| {
        let load = LoadPlan { think, ..LoadPlan::new(StopRule::Duration(Nanos(10 * SECOND))) };
        let mut record = record();
        record.weighted_commits = Some(50_000.0);
        (record.transaction_latency.count, record.transaction_latency.mean) = (50_000, 1e6);
        // Half of the transactions have a name with a separate think time.
        let count = |started| TransactionCounters { started, ..Default::default() };
        record.counters.transactions = vec![count(25_000); 2];
        let named = |think| crate::record::NamedTransactions { think, ..Default::default() };
        record.transactions = vec![named(None), named(of_name)];
        judge(&record, &requirements(Engine::Mysql, &load)).into_iter().find_map(|warning| {
            if let Warning::FewWaves { waves } = warning { Some(waves.round()) } else { None }
        })
    };
    assert_eq!(waves(None, None), None);
    assert_eq!(waves(Some(Nanos(2 * SECOND)), None), Some(5.0));
    assert_eq!(waves(None, Some(Nanos(8 * SECOND))), Some(2.0));
    assert_eq!(waves(Some(Nanos(2 * SECOND)), Some(Nanos(8 * SECOND))), Some(2.0));
}

#[test]
fn unbalanced_named_transaction_counts_are_reported() {
    let unbalanced = |committed: u64| {
        judged(|record| {
            let count = TransactionCounters { started: 50_000, committed, ..Default::default() };
            record.counters.transactions = vec![count];
        })
        .iter()
        .any(|warning| matches!(warning, Warning::CountersUnbalanced { .. }))
    };
    assert!(!unbalanced(50_000) && unbalanced(49_999));
}

#[test]
fn a_gap_is_no_stall_where_the_stages_ask_for_little() {
    use crate::stages::{LoadBy, Segment, Stage, Stages};
    let stalls = |by: LoadBy, quiet: f64, at: u64| {
        let stage = |name: &str, load: f64| Stage {
            name: name.to_owned(),
            segments: vec![Segment { length: Nanos(5 * SECOND), from: load, to: load }],
        };
        let load = LoadPlan {
            stages: Some(Stages {
                by,
                stages: vec![stage("busy", 10_000.0), stage("quiet", quiet)],
            }),
            warmup: Nanos(SECOND),
            ..LoadPlan::new(StopRule::Duration(Nanos(10 * SECOND)))
        };
        let mut record = record();
        facts(&mut record).gaps =
            vec![CommitGap { at: Nanos(at * SECOND), length: Nanos(2 * SECOND) }];
        let found = judge(&record, &requirements(Engine::Mysql, &load));
        found.into_iter().filter(|warning| matches!(warning, Warning::Stall { .. })).count()
    };
    assert_eq!(stalls(LoadBy::Rate, 1.0, 2), 1, "twenty thousand were due");
    assert_eq!(stalls(LoadBy::Rate, 1.0, 6), 0, "two were due");
    assert_eq!(stalls(LoadBy::Clients, 0.0, 2), 1);
    assert_eq!(stalls(LoadBy::Clients, 0.0, 6), 0, "nobody was at work");
}

#[test]
fn early_end_of_a_trial_is_reported_with_one_reason() {
    let stopped = |it: &mut TrialRecord| facts(it).stopped = Some(Reason::Interrupted);
    assert_eq!(judged(stopped), cut_short(Reason::Interrupted));
    let died = |it: &mut TrialRecord| {
        facts(it).stopped = Some("the server died".into());
        facts(it).system_failed = Some(Reason::Killed);
    };
    assert_eq!(judged(died), [Warning::SystemFailed { reason: Reason::Killed }]);
    let missing = judged_under(StopRule::Transactions(60_000), |_| {});
    assert_eq!(missing, cut_short(Reason::TransactionsLeft { started: 50_000, wanted: 60_000 }));
    assert_eq!(judged_under(StopRule::TransactionsPerClient(6_250), |_| {}), []);
    // Work of aborted clients is missing, and the reason is known.
    let aborted = |it: &mut TrialRecord| facts(it).problems.push("1 clients were aborted".into());
    assert_eq!(
        judged_under(StopRule::TransactionsPerClient(7_000), aborted),
        cut_short("1 clients were aborted")
    );
    let growth = |it: &mut TrialRecord| {
        it.growth = Some(Growth { rows_before: 10, rows_per_transaction: 2 });
    };
    let rows = judged_under(StopRule::Rows(200_000), growth);
    assert_eq!(rows, cut_short(Reason::RowsLeft { rows: 100_010, target: 200_000 }));
}

#[test]
fn rejudging_uses_current_rules_and_keeps_observed_warnings() {
    let load = LoadPlan::new(StopRule::Duration(Nanos(10 * SECOND)));
    let requirements = requirements(Engine::Mysql, &load);
    let seen = Warning::OtherProcessesCpu { share: 0.5, processes: Vec::new() };
    let mut written = record();
    written.server_counters.insert("Com_commit".to_owned(), 50_000);
    facts(&mut written).steal = 0.04;
    // As under a rule that no longer applies.
    written.warnings = vec![seen.clone(), Warning::FewTransactions { committed: 50_000 }];
    assert_eq!(rejudge(&written, &requirements), [Warning::Steal { share: 0.04 }, seen]);
}

#[test]
fn rejudging_old_records_keeps_warnings_and_adds_missing_ones() {
    let load = LoadPlan::new(StopRule::Duration(Nanos(10 * SECOND)));
    let requirements = requirements(Engine::Mysql, &load);
    let mut old = record();
    old.facts = None;
    old.generator.workers[0].cpu = Nanos(8 * SECOND);
    old.longest_gap = Some(CommitGap { at: Nanos(SECOND), length: Nanos(2 * SECOND) });
    old.warnings = cut_short(Reason::Interrupted);
    let stall = Warning::Stall { longest_gap: 2.0, at: 1.0, sessions: Vec::new() };
    let expected =
        [cut_short(Reason::Interrupted), vec![Warning::GeneratorBusy { share: 0.8 }, stall]];
    assert_eq!(rejudge(&old, &requirements), expected.concat());
    // A second evaluation gives the same result.
    old.warnings = rejudge(&old, &requirements);
    assert_eq!(rejudge(&old, &requirements), old.warnings);
}

#[test]
fn transactions_that_were_skipped_are_reported_and_are_no_failures() {
    let skipped = |it: &mut TrialRecord| {
        it.counters.started += 50_000;
        it.counters.skipped = 50_000;
    };
    assert_eq!(judged(skipped), [Warning::Skipped { skipped: 50_000, share: 0.5 }]);
    let apart = |it: &mut TrialRecord| facts(it).unbalanced.push("a = b: 1 against 2".to_owned());
    assert_eq!(
        judged(apart),
        [Warning::CountersUnbalanced { identities: vec!["a = b: 1 against 2".to_owned()] }]
    );
}

#[test]
fn uptime_shorter_than_elapsed_time_means_a_server_restart() {
    let of = |before, after, passed| {
        judged(|it| {
            facts(it).uptime = Some(Uptime { before, after, passed: Nanos(passed * SECOND) });
        })
    };
    assert_eq!(of(100, 160, 60), []);
    assert_eq!(of(100, 158, 60), [], "whole seconds, and a clock that is set");
    assert_eq!(of(0, 0, 60), [], "a server that does not count it");
    assert_eq!(of(100, 4, 60), [Warning::ServerRestarted { up: 4 }]);
    assert_eq!(of(100, 0, 60), [Warning::ServerRestarted { up: 0 }]);
    assert_eq!(of(9, 9, 60), [Warning::ServerRestarted { up: 9 }]);
    assert_eq!(
        of(5, 30, 60),
        [Warning::ServerRestarted { up: 30 }],
        "longer up than before, and yet not all the time"
    );
}

#[test]
fn expected_fault_effects_are_no_warning_but_missing_faults_are() {
    let harmed = |failed: Option<String>| FaultRecord {
        action: FaultAction::Kill,
        node: "node 2".to_owned(),
        at: Nanos(2 * SECOND),
        failed,
    };
    let lose = |it: &mut TrialRecord, kinds: &[(FailureKind, u64)]| {
        let failed: u64 = kinds.iter().map(|(_, number)| number).sum();
        it.counters.failed_by_kind = kinds.iter().copied().collect();
        (it.counters.failed, it.counters.unfinished) = (failed, 4);
        it.counters.started += failed + 4;
        it.counters.attempts += failed + 4;
        facts(it).gaps = vec![CommitGap { at: Nanos(2 * SECOND), length: Nanos(5 * SECOND) }];
        facts(it).uptime = Some(Uptime { before: 100, after: 3, passed: Nanos(10 * SECOND) });
    };
    let kinds = |warnings: &[Warning]| warnings.iter().map(discriminant).collect::<Vec<_>>();
    let expected = |it: &mut TrialRecord| {
        lose(it, &[(FailureKind::ConnectionLost, 100), (FailureKind::Deadlock, 20)]);
        facts(it).faults = vec![harmed(None)];
    };
    assert_eq!(judged(expected), []);
    let by_accident =
        judged(|it| lose(it, &[(FailureKind::ConnectionLost, 100), (FailureKind::Deadlock, 20)]));
    let reported = [
        Warning::ServerRestarted { up: 3 },
        Warning::Failures { failed: 120, share: 0.0 },
        Warning::Unfinished { unfinished: 4 },
        Warning::Stall { longest_gap: 5.0, at: 2.0, sessions: Vec::new() },
    ];
    assert_eq!(kinds(&by_accident), kinds(&reported), "{by_accident:?}");
    let other = judged(|it| {
        lose(it, &[(FailureKind::ConnectionLost, 100), (FailureKind::DuplicateKey, 7)]);
        facts(it).faults = vec![harmed(None)];
    });
    assert!(matches!(other[..], [Warning::Failures { failed: 7, .. }]), "{other:?}");
    let without_room = |action: FaultAction| {
        judged(|it| {
            lose(it, &[(FailureKind::OutOfResources, 9)]);
            facts(it).faults = vec![FaultRecord { action, ..harmed(None) }, harmed(None)];
        })
    };
    assert_eq!(without_room(FaultAction::FillDisk), []);
    let of_itself = without_room(FaultAction::Restart);
    assert!(matches!(of_itself[..], [Warning::Failures { failed: 9, .. }]), "{of_itself:?}");
    let not_made = judged(|it| facts(it).faults = vec![harmed(Some("it does not run".to_owned()))]);
    let (action, node) = (FaultAction::Kill, "node 2".to_owned());
    let reason = "it does not run".to_owned();
    assert_eq!(not_made, [Warning::FaultNotInjected { action, node, reason }]);
}

#[test]
fn missing_commit_counter_is_noted_if_the_engine_has_one() {
    let load = LoadPlan::new(StopRule::Duration(Nanos(10 * SECOND)));
    let missing = |counter: Option<&str>, engine| {
        let mut record = record();
        let counter = counter.map(|name| (name.to_owned(), 50_000));
        record.server_counters.extend(counter);
        judge(&record, &requirements(engine, &load))
    };
    let note =
        |counter: &str| Warning::CommitsNotCompared { counter: counter.to_owned(), in_doubt: 0 };
    assert_eq!(note("x").severity(), Severity::Note);
    for counter in [None, Some("Com_select")] {
        assert_eq!(missing(counter, Engine::Mysql), [note("Com_commit")]);
    }
    assert_eq!(missing(Some("Com_commit"), Engine::Mysql), []);
    // Statements in autocommit mode send no COMMIT, and the server counts none.
    let autocommit = |sent: u64| {
        let mut record = record();
        facts(&mut record).commits_sent_total = sent;
        record.server_counters.insert("Com_commit".to_owned(), 0);
        let engine = Engine::Mysql;
        judge(&record, &requirements(engine, &load))
    };
    assert_eq!(autocommit(0), []);
    assert_eq!(autocommit(50_000), [note("Com_commit")]);
    assert_eq!(missing(None, Engine::Postgres), [note("xact_commit")]);
    assert_eq!(missing(None, Engine::Sqlite), []);
}

#[test]
fn postgresql_may_count_more_commits_than_were_sent_but_not_fewer() {
    let load = LoadPlan::new(StopRule::Duration(Nanos(10 * SECOND)));
    let counted = |theirs: i64| {
        let mut record = record();
        record.server_counters.insert("xact_commit".to_owned(), theirs);
        judge(&record, &requirements(Engine::Postgres, &load))
    };
    assert_eq!([counted(50_000), counted(60_000)], [[], []]);
    let differ =
        Warning::CountersDiffer { counter: "xact_commit".to_owned(), ours: 50_000, theirs: 49_999 };
    assert_eq!(counted(49_999), [differ]);
}

#[test]
fn server_commit_count_is_compared_with_all_workloads() {
    let background = |reconnects: u64| {
        judged(|it| {
            it.server_counters.insert("Com_commit".to_owned(), 100_000);
            let mut other = record();
            other.counters.reconnects = reconnects;
            it.background =
                vec![GroupRecord { name: "report".to_owned(), clients: 1, record: other }];
        })
    };
    assert_eq!(background(0), []);
    let differ = |theirs| Warning::CountersDiffer {
        counter: "Com_commit".to_owned(),
        ours: 100_000,
        theirs,
    };
    let alone = judged(|it| {
        it.server_counters.insert("Com_commit".to_owned(), 50_000);
        it.background =
            vec![GroupRecord { name: "report".to_owned(), clients: 1, record: record() }];
    });
    assert_eq!(alone, [differ(50_000)]);
    let in_doubt = Warning::CommitsNotCompared { counter: "Com_commit".to_owned(), in_doubt: 1 };
    assert_eq!(background(1), [in_doubt], "a lost connection may have sent an uncounted COMMIT");
}

#[test]
fn background_warnings_have_severity_by_effect_on_the_trial() {
    let reported = |inner: Warning, is_stopped: bool| {
        let all = judged(|it| {
            facts(it).stopped = is_stopped.then_some(Reason::Interrupted);
            let other = TrialRecord { warnings: vec![inner], ..record() };
            it.background =
                vec![GroupRecord { name: "report".to_owned(), clients: 1, record: other }];
        });
        let of_background = |warning: &&Warning| matches!(warning, Warning::Background { name, .. } if name == "report");
        all.iter().find(of_background).map(Warning::severity)
    };
    let cut_short = || Warning::CutShort { reason: "its script failed".into() };
    for (inner, weighs) in [
        (cut_short(), Some(Severity::Invalid)),
        (Warning::GeneratorBusy { share: 0.95 }, Some(Severity::Invalid)),
        (Warning::AuditViolated, Some(Severity::Warning)),
        (Warning::Failures { failed: 3, share: 0.5 }, Some(Severity::Warning)),
        (Warning::FellBehind { share: 0.1, unstarted: 9 }, Some(Severity::Warning)),
        (Warning::FewTransactions { committed: 2 }, Some(Severity::Note)),
        (Warning::Stall { longest_gap: 3.0, at: 0.0, sessions: Vec::new() }, Some(Severity::Note)),
        (Warning::SharedMachine, None),
        (Warning::ShortWindow { seconds: 1.0 }, None),
    ] {
        assert_eq!(reported(inner.clone(), false), weighs, "{inner:?}");
    }
    assert_eq!(reported(cut_short(), true), None, "the trial was, and says so itself");
}

#[test]
fn failures_that_a_limit_permits_leave_a_trial_valid() {
    let load = LoadPlan::new(StopRule::Duration(Nanos(10 * SECOND)));
    let judged = |failed: u64, tolerated_failures: f64| {
        let mut record = record();
        record.counters.failed = failed;
        record.counters.started = 1_000;
        let requirements = TrialRequirements {
            engine: Engine::Mysql,
            clients: 8,
            load: &load,
            tolerated_failures,
        };
        let found = judge(&record, &requirements)
            .into_iter()
            .find(|it| matches!(it, Warning::Failures { .. } | Warning::ToleratedFailures { .. }));
        found.map(|it| it.severity())
    };
    assert_eq!(judged(0, 0.5), None);
    assert_eq!(judged(30, 0.0), Some(Severity::Invalid), "no limit");
    assert_eq!(judged(30, 0.5), Some(Severity::Warning));
    assert_eq!(judged(500, 0.5), Some(Severity::Invalid), "as much as the limit is too much");
    assert_eq!(judged(30, 0.000_1), Some(Severity::Invalid), "a limit that is stricter");
}
