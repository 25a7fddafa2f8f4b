//! Tests of the progress messages of a run, in every language.

use super::*;
use crate::messages::{EN, LANGUAGES};
use dyno_model::catalog::WorkloadDescription;
use dyno_model::reason::Reason;
use dyno_model::search::Search;
use dyno_model::units::Nanos;

fn lang(code: &str) -> Lang {
    LANGUAGES.into_iter().find(|lang| lang.code == code).expect("there is this language")
}

fn plan() -> Plan {
    let text = "title = \"t\"\nsystem = [{ name = \"A\", url = \"null:\" }]\nworkload = { kind = \"idle\" }\nload = { clients = [1, 20], duration = \"1s\" }\ndesign = { blocks = 2 }";
    let workload =
        WorkloadDescription { name: "idle", summary: "", audit: "", options: Vec::new() };
    let input = dyno_model::spec::Input { file_name: "t.toml", text, ..Default::default() };
    dyno_model::spec::parse(input, &[workload]).expect("a plan").1
}

#[test]
fn server_messages_cannot_add_colours_or_lines() {
    let reason = "no \u{1b}[31mroom\nb01-002  MySQL, 8 clients: 9,999 transactions/s".into();
    let failed = Event::SystemFailed { system: "My\u{9b}2JSQL".to_owned(), reason };
    for lang in LANGUAGES {
        let text = event(&plan(), &failed, lang).expect("a failure is told");
        assert!(
            !text.contains(char::is_control) && text.contains("no \\u{1b}[31mroom b01-002"),
            "{text:?}"
        );
    }
}

#[test]
fn a_remedy_is_set_off_from_the_reason_in_its_line() {
    let reason = Reason::from("no room left\nhint: make some");
    let trial = plan().trials[0].id.clone();
    let system = "A".to_owned();
    for failed in [
        Event::SystemFailed { system, reason: reason.clone() },
        Event::TrialFailed { trial, reason, search: None },
    ] {
        let text = event(&plan(), &failed, EN).expect("a failure is told");
        assert!(text.ends_with("no room left; hint: make some"), "{text}");
    }
}

#[test]
fn a_load_step_says_whether_it_counts() {
    let mut plan = plan();
    let (most, metric) = (LoadBy::Rate, LimitMetric::P99);
    let search = Search { most, metric, below: 20.0, transaction: None, from: None };
    plan.configurations
        .iter_mut()
        .for_each(|configuration| configuration.load.find = Some(search.clone()));
    let trial = plan.trials[0].id.clone();
    let reported = |outcome, steal| {
        let (load, seconds, transactions) = (1_600.0, 2.0, 300);
        let (figure, excess, is_bound, throughput) = (Some(4.2), None, false, 1_600.0);
        let (is_by_generator, other_processes_cpu) = (false, 0.0);
        #[rustfmt::skip]
        let step = LoadStep { load, seconds, transactions, figure, excess, is_bound, throughput, outcome, is_by_generator, other_processes_cpu, steal };
        event(&plan, &Event::Stepped { trial: trial.clone(), step_number: 1, step }, EN)
            .expect("a line")
    };
    let rows = [
        (Outcome::Passed, 0.08, "at 1,600/s: p99 4.20 ms, passed"),
        (Outcome::Failed, 0.0, "at 1,600/s: p99 4.20 ms, failed"),
        (Outcome::Open, 0.04, "undecided after 300 transactions"),
        (Outcome::Open, 0.08, "discarded, this VM lost 8.0 % of its CPU time to other guests"),
        (Outcome::Generator, 0.08, "discarded, the load generator was the bottleneck"),
    ];
    for (outcome, steal, expected) in rows {
        let line = reported(outcome, steal);
        assert!(line.contains(expected), "{line}");
    }
}

#[test]
fn spans_of_time_are_rounded_to_what_matters() {
    let rows = [
        (400, "0 s", "0초"),
        (8_400, "8 s", "8초"),
        (59_600, "1 min", "1분"),
        (80_000, "1 min 20 s", "1분 20초"),
        (1_790_000, "30 min", "30분"),
        (3_599_000, "60 min", "60분"),
        (7_500_000, "2 h 5 min", "2시간 5분"),
        (7_200_000, "2 h", "2시간"),
    ];
    for (millis, english, korean) in rows {
        let time = Duration::from_millis(millis);
        assert_eq!(
            (duration(time, EN), duration(time, lang("ko"))),
            (english.to_owned(), korean.to_owned())
        );
    }
}

#[test]
fn planned_durations_are_not_rounded() {
    assert_eq!(exact(Duration::from_millis(1_500), EN), "1.5 s");
    assert_eq!(exact(Duration::from_secs(30), lang("ja")), "30秒");
    assert_eq!(exact(Duration::from_secs(80), EN), "1 min 20 s");
}

/// A record of 1,000 commits in a second; each took a millisecond, with the given audit results.
fn record(lost: u64, in_doubt: u64) -> TrialRecord {
    let mut times = dyno_model::latency::histogram();
    times.record_n(1_000_000, 1_000).unwrap();
    let committed = 1_000;
    let failed = lost + in_doubt;
    let check = AuditCheck::LostUpdates {
        committed,
        in_doubt,
        sum_before: 0,
        sum_after: 1_000 - lost as i64,
        witnessed: 0,
        examples: Vec::new(),
    };
    TrialRecord {
        window_length: Nanos(1_000_000_000),
        counters: dyno_model::counters::TrialCounters { committed, failed, ..Default::default() },
        transaction_latency: (&times).into(),
        audit: check.into(),
        end: dyno_model::record::TrialEnd::Trial,
        ..TrialRecord::default()
    }
}

#[test]
fn finished_trial_line_shows_rate_times_and_audit_result() {
    let of = |lost, in_doubt| trial_figures(&record(lost, in_doubt), EN);
    let times = "1,000 transactions/s, mean 1.00 ms, p95 1.00 ms, p99 1.00 ms";
    assert_eq!(of(0, 0), format!("{times}, data intact"));
    assert_eq!(of(1, 0), format!("{times}, 1 failed, 1 UPDATE LOST"));
    assert_eq!(of(999, 0), format!("{times}, 999 failed, 999 UPDATES LOST"));
    assert_eq!(of(0, 8), format!("{times}, 8 failed, data check undecided"));
    assert_eq!(of(5, 8), format!("{times}, 13 failed, AT LEAST 5 UPDATES LOST"));
}

#[test]
fn invalid_trial_line_gives_the_reason_in_a_sentence() {
    let of = |warning: Warning, code| {
        let warnings = vec![Warning::DebugBuild, warning];
        trial_figures(&TrialRecord { warnings, ..record(0, 0) }, lang(code))
    };
    let late = Warning::GeneratorLate { lag_ms: 14.0, share: 5.71 };
    let english = "NOT VALID: The load generator was too busy to start transactions on time (p99 \
                   14.0 ms late, 571 % of the median response time)";
    assert!(of(late.clone(), "en").ends_with(english), "{}", of(late.clone(), "en"));
    assert!(of(late.clone(), "ja").contains("無効：") && !of(late, "ja").ends_with('。'));
    let long = Warning::CutShort { reason: "x".repeat(200).into() };
    let line = of(long, "en");
    assert!(line.ends_with("xx…") && line.len() < 220, "{line}");
    assert!(!of(Warning::SharedMachine, "en").contains("NOT VALID"));
}

#[test]
fn only_anomalies_forbidden_by_the_isolation_level_are_reported() {
    use dyno_model::history::anomalies::{Anomaly, Found};
    use dyno_model::isolation::IsolationLevel;
    for (level, reported) in [
        (IsolationLevel::RepeatableRead, ", 7 ANOMALIES VIOLATING THE ISOLATION LEVEL"),
        (IsolationLevel::ReadCommitted, ", data intact"),
    ] {
        let found = vec![Found { anomaly: Anomaly::LostUpdate, count: 7, example: Vec::new() }];
        let level = Some(level);
        let check = AuditCheck::Anomalies {
            level,
            committed: 9,
            failed: 0,
            in_doubt: 0,
            outside: 0,
            found,
        };
        let line = trial_figures(&TrialRecord { audit: check.into(), ..record(0, 0) }, EN);
        assert!(line.ends_with(reported), "{line}");
    }
}

#[test]
fn violations_of_several_audit_checks_are_all_reported() {
    use dyno_model::history::anomalies::{Anomaly, Found};
    use dyno_model::isolation::IsolationLevel;
    let found = vec![Found { anomaly: Anomaly::LostUpdate, count: 7, example: Vec::new() }];
    let level = Some(IsolationLevel::RepeatableRead);
    let anomalies =
        AuditCheck::Anomalies { level, committed: 9, failed: 0, in_doubt: 0, outside: 0, found };
    let ledger = |lost, phantoms| AuditCheck::Ledger {
        acknowledged: 9,
        lost,
        phantoms,
        in_doubt: 0,
        took_effect: 0,
        examples: Vec::new(),
    };
    let rows = |table: &str, found| AuditCheck::RowCount {
        table: table.to_owned(),
        expected_min: 5,
        expected_max: 5,
        found,
    };
    let updates = record(2, 0).audit.checks.remove(0);
    let forbidden = "7 ANOMALIES VIOLATING THE ISOLATION LEVEL";
    for (checks, reported) in [
        (
            vec![anomalies.clone(), ledger(3, 0)],
            format!("{forbidden}, 3 ACKNOWLEDGED COMMITS LOST"),
        ),
        (vec![anomalies, ledger(0, 0)], forbidden.to_owned()),
        (vec![ledger(1, 1)], "1 ACKNOWLEDGED COMMIT LOST".to_owned()),
        (vec![ledger(0, 1)], "DATA DAMAGED".to_owned()),
        (vec![updates, rows("t", 4), rows("u", 4)], "2 UPDATES LOST, DATA DAMAGED".to_owned()),
        (vec![rows("t", 5), ledger(2, 0)], "2 ACKNOWLEDGED COMMITS LOST".to_owned()),
    ] {
        let audit = dyno_model::audit::AuditRecord { checks, ..Default::default() };
        let line = trial_figures(&TrialRecord { audit, ..record(0, 0) }, EN);
        let (_, last) = line.split_once("p99 1.00 ms, ").expect("times");
        assert_eq!(last, reported);
    }
}

#[test]
fn a_finished_trial_is_reported_in_the_language() {
    let trial = plan().trials[0].clone();
    let clients = plan().configuration(&trial).clients;
    let finished = Event::TrialFinished(Box::new(TrialRecord { trial, ..record(999, 0) }));
    assert_eq!(
        event(&plan(), &finished, lang("ko")).as_deref(),
        Some(&*format!(
            "b01-001  A, 클라이언트 {clients}개: 1,000 TPS, 평균 1.00 ms, p95 1.00 ms, p99 1.00 ms, 실패 999건, 갱신 손실 999건!"
        ))
    );
    assert_eq!(
        event(&plan(), &finished, lang("ja")).as_deref(),
        Some(&*format!(
            "b01-001  A、{clients}クライアント：1,000 TPS、平均1.00 ms、p95 1.00 ms、p99 1.00 ms、失敗999件、ロストアップデート999件！"
        ))
    );
}

#[test]
fn the_place_of_a_run_says_block_trial_configuration_and_phase() {
    let plan = plan();
    let clients = plan.configuration(&plan.trials[2]).clients;
    let english = if clients == 1 { "1 client".to_owned() } else { format!("{clients} clients") };
    let at = |phase, share| Note::At(Position { plan: &plan, trial: 2, phase, share });
    let rows = [
        (at(None, None), format!("block 2 of 2, trial 3 of 4: A, {english}")),
        (
            at(Some(Phase::Connecting), None),
            format!("block 2 of 2, trial 3 of 4: A, {english}: connecting"),
        ),
        (
            at(Some(Phase::Measure), Some(0.404)),
            format!("block 2 of 2, trial 3 of 4: A, {english}: measure 40 %"),
        ),
    ];
    for (position, text) in rows {
        assert_eq!(note(&position, EN), text);
    }
    assert_eq!(
        note(&at(Some(Phase::WarmUp), None), lang("ja")),
        format!("ブロック2/2、試行3/4：A、{clients}クライアント：ウォームアップ")
    );
}

#[test]
fn reasons_that_dyno_gives_are_reported_in_the_language() {
    let reason = Reason::SystemFailed(Box::new(Reason::Killed));
    let failed = Event::TrialFailed { trial: "b01-001".to_owned(), reason, search: None };
    let text = event(&plan(), &failed, lang("ko")).expect("a failure is told");
    assert!(text.ends_with(": 실패: 시스템이 중단됨: 강제 종료됨(시그널 9)"), "{text}");
}

#[test]
fn rates_have_their_thousands_apart() {
    let rows = [(0.0, "0.0"), (12.34, "12.3"), (999.6, "1,000"), (1_234_567.0, "1,234,567")];
    for (value, text) in rows {
        assert_eq!(per_second(value), text);
    }
}
