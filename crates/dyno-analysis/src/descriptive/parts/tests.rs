//! Results of parts of a load, and limits on them.

use crate::analyse;
use crate::limits::limits;
use crate::model::{
    Conclusion, Figures, LimitVerdict, Metric, PartKind, PartRow, ReportModel, Scope,
};
use crate::view::View;
use dyno_model::audit::{AuditCheck, AuditVerdict};
use dyno_model::catalog::WorkloadOptions;
use dyno_model::client_group::{BackgroundPlan, GroupRecord};
use dyno_model::counters::{TransactionCounters, TrialCounters};
use dyno_model::databases::{Databases, transaction_names};
use dyno_model::limit::{Limit, LimitMetric, LimitPart};
use dyno_model::plan::{ComparisonMetric, LoadBy, Stages, WorkloadPlan};
use dyno_model::record::{NamedTransactions, OpenLoop, TrialRecord};
use dyno_model::response::{BoundedLatency, ResponseSummary};
use dyno_model::stages::{Segment, Stage, StageRecord};
use dyno_model::units::Nanos;
use dyno_model::warning::Warning;
use dyno_store::fixture::{Shape, each_record, one_configuration};
use dyno_store::{RunData, TrialOutcome};

/// Reads of 1 ms, nine of ten transactions, and payments of 50 ms, some of which fail.
fn run() -> RunData {
    let mut data = one_configuration(4).read();
    each_record(&mut data.run, |_, record| {
        let seconds = record.window_length.as_secs_f64();
        // Variation, so that limits can be tested.
        let scatter = (0.01 * (f64::from(record.trial.block) - 2.5)).exp();
        let named = |name: &str, rate: f64, nanos: f64| {
            let time = BoundedLatency::value(nanos * scatter);
            let response = ResponseSummary {
                count: 2_000,
                mean: time,
                p50: time,
                p95: time,
                p99: time,
                ..ResponseSummary::default()
            };
            NamedTransactions {
                name: name.to_owned(),
                think: None,
                weighted_commits: Some(rate * seconds * scatter),
                response: Some(response),
            }
        };
        record.transactions = vec![named("read", 900.0, 1e6), named("pay", 100.0, 5e7)];
        let count = |name: &str, started: u64, failed: u64| TransactionCounters {
            name: name.to_owned(),
            started,
            committed: started - failed,
            failed,
            retries: 3,
            unfinished: 0,
        };
        record.counters.transactions = vec![count("read", 9_000, 0), count("pay", 1_000, 20)];
        record.warnings.clear();
    });
    data
}

fn transactions(model: &ReportModel) -> Vec<PartRow> {
    model.parts(Scope::Transaction).cloned().collect()
}

/// A mean, rounded to three decimals.
fn mean(figures: &Figures, metric: Metric) -> f64 {
    (figures.value(metric).expect("known") * 1e3).round() / 1e3
}

fn counts(figures: &Figures) -> [u64; 3] {
    [Metric::Committed, Metric::Failed, Metric::Retries]
        .map(|metric| figures.count(metric).expect("counted"))
}

#[test]
fn named_transactions_have_rows_of_trial_means_and_sums() {
    let model = analyse(&run());
    let rows = transactions(&model);
    let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["read", "pay"]);
    let pay = &rows[1].figures;
    let times = [Metric::Throughput, Metric::Mean, Metric::P99].map(|it| mean(pay, it));
    assert_eq!(times, [100.0, 50.0, 50.0]);
    assert_eq!(counts(pay), [4 * 980, 4 * 20, 4 * 3]);
    assert_eq!(pay.estimate(Metric::Throughput).expect("known").repeats, 4);
}

#[test]
fn one_name_alone_has_no_row_of_its_own() {
    let mut data = run();
    each_record(&mut data.run, |_, record| record.transactions.truncate(1));
    assert!(analyse(&data).parts.is_empty());
}

/// The same transactions in two databases; the second has one of three clients and half of the
/// transactions of the first.
fn spread(own: &[&str]) -> RunData {
    let mut data = run();
    let databases = ["north", "south"].map(str::to_owned);
    let names = transaction_names(&databases, own);
    for configuration in &mut data.run.plan.configurations {
        (configuration.clients, configuration.load.databases) =
            (3, Databases::Named(databases.to_vec()));
    }
    each_record(&mut data.run, |_, record| {
        let (transactions, counts) =
            (record.transactions.clone(), record.counters.transactions.clone());
        record.transactions.clear();
        record.counters.transactions.clear();
        for (at, name) in names.iter().enumerate() {
            let (it, count) =
                (transactions[at % own.len()].clone(), counts[at % own.len()].clone());
            let share = if name.starts_with("north") { 1.0 } else { 0.4 };
            let weighted_commits = it.weighted_commits.map(|work| work * share);
            let count_of = |own: &str| if own == "pay" { 500 } else { 2_000 };
            let response =
                it.response.map(|all| ResponseSummary { count: count_of(&it.name), ..all });
            record.transactions.push(NamedTransactions {
                name: name.clone(),
                weighted_commits,
                response,
                think: None,
            });
            record.counters.transactions.push(TransactionCounters { name: name.clone(), ..count });
        }
    });
    data
}

#[test]
fn databases_have_rows_and_least_and_most_served_are_reported() {
    let model = analyse(&spread(&["read", "pay"]));
    let clients = |row: &PartRow| match row.part {
        PartKind::Database { clients } => Some(clients),
        _ => None,
    };
    let all = transactions(&model);
    let rows: Vec<_> = all.iter().map(|row| (row.name.as_str(), clients(row))).collect();
    let expected = [
        ("north", Some(2)),
        ("north: read", None),
        ("north: pay", None),
        ("south", Some(1)),
        ("south: read", None),
        ("south: pay", None),
    ];
    assert_eq!(rows, expected);
    let [north, south] = [0, 3].map(|at| &all[at].figures);
    let rates = [north, south].map(|it| mean(it, Metric::Throughput));
    assert_eq!(rates, [1_000.0, 400.0]);
    // 2,000 of 1 ms, and 500 of 50 ms.
    assert_eq!((mean(north, Metric::Mean), north.get(Metric::P99)), (10.8, None));
    assert_eq!(counts(north), [4 * (9_000 + 980), 4 * 20, 4 * 6]);
    let served = |model: &ReportModel| {
        let found = model.conclusions.iter().filter_map(|it| match it {
            Conclusion::Served { configuration, least, lowest, most, highest } => {
                Some((*configuration, least.clone(), lowest.round(), most.clone(), highest.round()))
            }
            _ => None,
        });
        found.collect::<Vec<_>>()
    };
    let expected = [(0, "south".to_owned(), 400.0, "north".to_owned(), 500.0)];
    assert_eq!(served(&model), expected, "a number for each client");
    // With several numbers of clients, the one with the largest difference.
    let mut several = model.clone();
    several.configurations.push(model.configurations[0].clone());
    let equal = |row: &PartRow| {
        let mut row = PartRow { configuration: 1, ..row.clone() };
        if let PartKind::Database { clients } = &mut row.part {
            *clients = 1;
        }
        row.figures.set(Metric::Throughput, Some(500.0));
        row
    };
    several.parts.extend(model.parts.iter().map(equal));
    several.conclusions = crate::conclusions::conclude(&several);
    assert_eq!(served(&several), expected);
    // Transactions without names are named after the database.
    let model = analyse(&spread(&["read"]));
    let all = transactions(&model);
    let rows: Vec<_> = all.iter().map(|row| (row.name.as_str(), clients(row))).collect();
    assert_eq!(rows, [("north", Some(2)), ("south", Some(1))]);
    assert!(all[0].figures.get(Metric::P99).is_some());
    assert_eq!(served(&model).len(), 1);
    assert!(served(&analyse(&run())).is_empty(), "names alone are no databases");
}

#[test]
fn arrivals_that_nobody_took_on_make_times_lower_bounds() {
    let mut data = run();
    each_record(&mut data.run, |_, record| {
        record.open_loop = Some(OpenLoop { arrived: 10_001, unstarted: 1, ..OpenLoop::default() });
    });
    let pay = transactions(&analyse(&data)).remove(1).figures;
    let is_bound = |metric| pay.get(metric).expect("known").is_bound();
    assert!(is_bound(Metric::P99) && !is_bound(Metric::Throughput));
}

#[test]
fn limits_are_of_the_transactions_or_statements_that_they_name() {
    let mut data = run();
    let statement = data.run.plan.trials[0].id.clone();
    let TrialOutcome::Finished(record) = &data.run.outcomes[&statement] else { panic!("finished") };
    let (statement, time) =
        (record.statements[0].name.clone(), record.statements[0].latency.mean / 1e6);
    let limit = |part: LimitPart, metric, value| Limit {
        metric,
        value,
        part: Some(part),
        configurations: vec![0],
        aborts: false,
    };
    let transaction = |name: &str| LimitPart::Transaction(name.to_owned());
    let of_statement = || LimitPart::Statement(statement.clone());
    let cases = [
        (limit(transaction("read"), LimitMetric::P99, 20.0), LimitVerdict::Passed),
        (limit(transaction("pay"), LimitMetric::P99, 20.0), LimitVerdict::Failed),
        (limit(transaction("pay"), LimitMetric::Throughput, 90.0), LimitVerdict::Passed),
        (limit(transaction("read"), LimitMetric::Throughput, 1_000.0), LimitVerdict::Failed),
        (limit(transaction("pay"), LimitMetric::Failed, 1.0), LimitVerdict::Failed),
        (limit(transaction("read"), LimitMetric::Failed, 1.0), LimitVerdict::Passed),
        (limit(transaction("gone"), LimitMetric::P99, 1.0), LimitVerdict::Undecided),
        (limit(of_statement(), LimitMetric::Mean, 2.0 * time), LimitVerdict::Passed),
        (limit(of_statement(), LimitMetric::Mean, 0.5 * time), LimitVerdict::Failed),
        (limit(of_statement(), LimitMetric::Failed, 50.0), LimitVerdict::Passed),
    ];
    let (written, expected): (Vec<Limit>, Vec<LimitVerdict>) = cases.into_iter().unzip();
    data.run.plan.limits.clone_from(&written);
    let found: Vec<LimitVerdict> =
        limits(&View::new(&data)).into_iter().map(|row| row.verdict).collect();
    assert_eq!(found, expected, "{written:#?}");
    let reported =
        analyse(&data).conclusions.into_iter().filter(|it| matches!(it, Conclusion::Limit { .. }));
    assert_eq!(reported.count(), written.len(), "the same limit on two transactions is two");
}

/// The same run with a background report, which takes 2 s and lost two of its payments in one
/// trial.
fn with_report() -> RunData {
    let mut data = run();
    let workload = WorkloadPlan::new("sql", WorkloadOptions::default());
    let plan = BackgroundPlan {
        name: "report".to_owned(),
        workload,
        clients: 3,
        rate: Some(0.5),
        think: None,
    };
    for configuration in &mut data.run.plan.configurations {
        configuration.background = vec![plan.clone()];
    }
    each_record(&mut data.run, |index, record| {
        let scatter = (0.01 * (f64::from(record.trial.block) - 2.5)).exp();
        let response = ResponseSummary {
            count: 2_000,
            mean: BoundedLatency::value(2e9 * scatter),
            p99: BoundedLatency::value(3e9 * scatter),
            ..ResponseSummary::default()
        };
        let found = if index == 0 { 8 } else { 10 };
        let audit = AuditCheck::Value {
            expression: "n".to_owned(),
            expected_min: 10,
            expected_max: 10,
            found,
        };
        let own = TrialRecord {
            window_length: record.window_length,
            counters: TrialCounters {
                started: 1_000,
                committed: 960,
                failed: 40,
                retries: 2,
                ..TrialCounters::default()
            },
            open_loop: Some(OpenLoop {
                arrived: 1_000,
                response: Some(response),
                ..OpenLoop::default()
            }),
            weighted_commits: Some(50.0 * record.window_length.as_secs_f64() * scatter),
            audit: audit.into(),
            ..TrialRecord::default()
        };
        record.background =
            vec![GroupRecord { name: "report".to_owned(), clients: 3, record: own }];
    });
    data
}

#[test]
fn background_row_has_trial_means_sums_and_the_worst_audit() {
    let model = analyse(&with_report());
    let mut rows = model.parts(Scope::Background);
    let row = rows.next().expect("one workload");
    assert!(rows.next().is_none());
    let expected = PartKind::Background {
        kind: "sql".to_owned(),
        clients: 3,
        rate: Some(0.5),
        audit: AuditVerdict::Violated,
    };
    assert_eq!(row.part, expected);
    let figures = &row.figures;
    let times = [Metric::Throughput, Metric::Mean, Metric::P99].map(|it| mean(figures, it));
    assert_eq!(times, [50.0, 2_000.0, 3_000.0]);
    assert_eq!(counts(figures), [4 * 960, 4 * 40, 4 * 2]);
}

#[test]
fn a_background_workload_without_a_valid_trial_has_no_counts() {
    use dyno_model::warning::Warning;
    let mut data = with_report();
    each_record(&mut data.run, |_, record| {
        record.warnings.push(Warning::Stalled { share: 0.5 });
    });
    let model = analyse(&data);
    let row = model.parts(Scope::Background).next().expect("one workload");
    assert_eq!(row.figures.count(Metric::Committed), None, "{:?}", row.figures);
}

#[test]
fn failed_background_workload_counts_against_its_configuration() {
    use crate::model::{NotWorkingReason as Reason, Verdict};
    use dyno_model::warning::Warning;
    let failures = |share| vec![Warning::Failures { failed: 1_000, share }];
    let behind = vec![Warning::FellBehind { share: 0.5, unstarted: 500 }];
    let open = |arrived| Some(OpenLoop { arrived, ..OpenLoop::default() });
    // Started and committed transactions, arrivals at a rate, warnings; the reason against the
    // second system.
    let rows = [
        (1_000, 0, None, vec![], Some(Reason::BackgroundNothingCommitted)),
        (0, 0, open(10), vec![], Some(Reason::BackgroundNothingCommitted)),
        (1_000, 0, None, failures(1.0), Some(Reason::BackgroundFailures)),
        (1_000, 900, None, failures(0.1), Some(Reason::BackgroundFailures)),
        (500, 500, open(1_000), behind, Some(Reason::BackgroundFellBehind)),
        (1_000, 1_000, None, vec![], None),
        // No transactions were due.
        (0, 0, open(0), vec![], None),
        (0, 0, None, vec![], None),
    ];
    for (started, committed, open_loop, warnings, expected) in rows {
        let mut data =
            Shape { clients: vec![8], blocks: 5, has_failures: false, ..Shape::small() }.read();
        let workload = WorkloadPlan::new("sql", WorkloadOptions::default());
        let plan = BackgroundPlan {
            name: "report".to_owned(),
            workload,
            clients: 3,
            rate: None,
            think: None,
        };
        data.run.plan.configurations.iter_mut().for_each(|it| it.background = vec![plan.clone()]);
        let part = Some(LimitPart::Background("report".to_owned()));
        let limit = |part| Limit {
            metric: LimitMetric::Mean,
            value: 1e9,
            part,
            configurations: vec![1],
            aborts: false,
        };
        data.run.plan.limits = vec![limit(None), limit(part)];
        each_record(&mut data.run, |_, record| {
            let is_second = record.trial.configuration == 1;
            // The second system's own results are twice as good.
            record.weighted_commits = Some(
                if is_second { 2_000.0 } else { 1_000.0 } * record.window_length.as_secs_f64(),
            );
            let background = match is_second {
                true => TrialRecord {
                    counters: TrialCounters {
                        started,
                        committed,
                        failed: started - committed,
                        ..TrialCounters::default()
                    },
                    open_loop,
                    warnings: warnings.clone(),
                    ..TrialRecord::default()
                },
                false => TrialRecord {
                    counters: TrialCounters {
                        started: 9,
                        committed: 9,
                        ..TrialCounters::default()
                    },
                    ..TrialRecord::default()
                },
            };
            record.background =
                vec![GroupRecord { name: "report".to_owned(), clients: 3, record: background }];
        });
        let model = analyse(&data);
        let case = format!("{started} {committed} {open_loop:?}");
        let held: Vec<Option<Reason>> =
            model.configurations.iter().map(|row| row.not_working.map(|it| it.because)).collect();
        assert_eq!(held, [None, expected], "{case}");
        let verdict = model.comparisons[0].effect.verdict;
        let reported = if expected.is_some() { Verdict::Invalid } else { Verdict::Better };
        assert_eq!(verdict, Some(reported), "{case}");
        let broken: Vec<bool> =
            model.limits.iter().map(|row| row.verdict == LimitVerdict::Failed).collect();
        assert_eq!(broken, [expected.is_some(); 2], "{case}: {:?}", model.limits);
    }
}

#[test]
fn limits_are_of_the_workload_beside_that_they_name() {
    let mut data = with_report();
    let limit = |metric, value| Limit {
        metric,
        value,
        part: Some(LimitPart::Background("report".to_owned())),
        configurations: vec![0],
        aborts: false,
    };
    let cases = [
        (limit(LimitMetric::P99, 4_000.0), LimitVerdict::Passed),
        (limit(LimitMetric::P99, 2_000.0), LimitVerdict::Failed),
        (limit(LimitMetric::Throughput, 40.0), LimitVerdict::Passed),
        (limit(LimitMetric::Throughput, 60.0), LimitVerdict::Failed),
        (limit(LimitMetric::Failed, 10.0), LimitVerdict::Passed),
        (limit(LimitMetric::Failed, 1.0), LimitVerdict::Failed),
        (limit(LimitMetric::Lost, 0.0), LimitVerdict::Failed),
    ];
    let (written, expected): (Vec<Limit>, Vec<LimitVerdict>) = cases.into_iter().unzip();
    data.run.plan.limits.clone_from(&written);
    let found: Vec<LimitVerdict> =
        limits(&View::new(&data)).into_iter().map(|row| row.verdict).collect();
    assert_eq!(found, expected, "{written:#?}");
}

#[test]
fn background_limit_passes_when_a_main_workload_trial_failed() {
    let mut data = with_report();
    let own = Limit {
        metric: LimitMetric::P99,
        value: 10_000.0,
        part: None,
        configurations: vec![0],
        aborts: false,
    };
    let part = Some(LimitPart::Background("report".to_owned()));
    data.run.plan.limits = vec![own.clone(), Limit { part, ..own }];
    let verdicts = |data: &RunData| {
        limits(&View::new(data)).into_iter().map(|row| row.verdict).collect::<Vec<_>>()
    };
    assert_eq!(verdicts(&data), [LimitVerdict::Passed; 2]);
    let outcome = data.run.outcomes.values_mut().next().expect("a trial");
    *outcome = TrialOutcome::Failed { reason: "nobody was let in".into(), search: None };
    assert_eq!(verdicts(&data), [LimitVerdict::Failed, LimitVerdict::Passed]);
}

const SECOND: u64 = 1_000_000_000;

/// Two stages of two and four seconds, the second a ramp. The first has 200, 202, 204, ...
/// commits of a millisecond, trial by trial; of the second, one commit in a hundred is lost.
fn staged() -> ReportModel {
    staged_with(Vec::new())
}

fn staged_with(limits: Vec<Limit>) -> ReportModel {
    let mut data = Shape { has_failures: false, ..Shape::small() }.read();
    let segment = |length: u64, from, to| Segment { length: Nanos(length * SECOND), from, to };
    let stages = vec![
        Stage { name: "usual".to_owned(), segments: vec![segment(2, 100.0, 100.0)] },
        Stage {
            name: "rise".to_owned(),
            segments: vec![segment(1, 100.0, 200.0), segment(3, 200.0, 400.0)],
        },
    ];
    for configuration in &mut data.run.plan.configurations {
        configuration.load.warmup = Nanos(SECOND);
        configuration.load.stages = Some(Stages { by: LoadBy::Rate, stages: stages.clone() });
    }
    data.run.plan.limits = limits;
    each_record(&mut data.run, |index, record| {
        let time = |is_bound| BoundedLatency { nanos: 1e6, is_bound };
        let response = |count: u64, censored: u64| ResponseSummary {
            count,
            censored,
            mean: time(censored > 0),
            p95: time(false),
            p99: time(censored > 0),
            ..ResponseSummary::default()
        };
        record.stages = vec![
            StageRecord { committed: 200 + 2 * index as u64, response: Some(response(200, 0)) },
            StageRecord { committed: 990, response: Some(response(1_000, 10)) },
        ];
        if index == 0 {
            record.warnings =
                vec![Warning::CutShort { reason: "somebody fell over the cable".into() }];
        }
    });
    analyse(&data)
}

#[test]
fn stages_are_means_over_the_valid_trials() {
    let model = staged();
    assert_eq!(model.parts.len(), 2 * model.configurations.len());
    let stages = || model.parts(Scope::Stage);
    for (row, rise) in stages().step_by(2).zip(stages().skip(1).step_by(2)) {
        let configuration = &model.configurations[row.configuration];
        let valid = u64::from(configuration.trials_valid);
        let trials = model
            .trials
            .iter()
            .enumerate()
            .filter(|(index, trial)| trial.configuration == row.configuration && *index > 0);
        let rates: Vec<f64> = trials.map(|(index, _)| 100.0 + index as f64).collect();
        let throughput = row.figures.estimate(Metric::Throughput).expect("valid trials");
        assert_eq!(throughput.repeats, configuration.trials_valid);
        let mean = rates.iter().map(|rate| rate.ln()).sum::<f64>() / rates.len() as f64;
        assert!((throughput.mean - mean.exp()).abs() < 1e-9, "{row:?}");
        let of = |row: &PartRow| {
            [Metric::Length, Metric::Offered, Metric::Started, Metric::NotCommitted]
                .map(|metric| row.figures.value(metric).expect("known"))
        };
        assert_eq!(row.name, "usual");
        assert_eq!(of(row), [2.0, 100.0, 200.0 * valid as f64, 0.0]);
        assert_eq!(row.figures.get(Metric::AtWork), None);
        let p95 = row.figures.get(Metric::P95).expect("ten lie beyond");
        assert!(p95.value() == 1.0 && !p95.is_bound());
        assert_eq!(row.figures.get(Metric::P99), None, "two lie beyond");
        assert_eq!(rise.name, "rise");
        assert_eq!(of(rise), [4.0, 262.5, 1_000.0 * valid as f64, 10.0 * valid as f64]);
        let p99 = rise.figures.estimate(Metric::P99);
        assert!(p99.is_some_and(|p99| p99.is_bound && p99.interval.is_none()), "{rise:?}");
        assert!(rise.figures.get(Metric::P95).is_some_and(|p95| !p95.is_bound()));
    }
}

#[test]
fn the_profile_of_a_stage_begins_where_the_one_before_ends() {
    let model = staged();
    let profile = |row: &PartRow| match &row.part {
        PartKind::Stage { profile, .. } => profile.iter().map(|it| (it.at_s, it.load)).collect(),
        _ => Vec::new(),
    };
    assert_eq!(profile(&model.parts[0]), [(1.0, 100.0), (3.0, 100.0)]);
    assert_eq!(profile(&model.parts[1]), [(3.0, 100.0), (4.0, 200.0), (7.0, 400.0)]);
    assert!(analyse(&Shape::small().read()).parts.is_empty());
}

#[test]
fn limits_of_a_stage_are_about_its_figures() {
    let limit = |stage: Option<&str>, metric, value| Limit {
        metric,
        value,
        part: stage.map(|stage| LimitPart::Stage(stage.to_owned())),
        configurations: vec![0],
        aborts: false,
    };
    let model = staged_with(vec![
        limit(Some("usual"), LimitMetric::P95, 2.0),
        limit(Some("usual"), LimitMetric::P95, 0.5),
        limit(Some("usual"), LimitMetric::Throughput, 90.0),
        limit(Some("rise"), LimitMetric::Throughput, 300.0),
        limit(Some("rise"), LimitMetric::P99, 2.0),
        limit(Some("rise"), LimitMetric::P95, 2.0),
    ]);
    let verdicts: Vec<LimitVerdict> = model.limits.iter().map(|row| row.verdict).collect();
    // The true value of a lower bound below the limit may lie beyond it.
    assert_eq!(
        verdicts,
        [
            LimitVerdict::Passed,
            LimitVerdict::Failed,
            LimitVerdict::Passed,
            LimitVerdict::Failed,
            LimitVerdict::Undecided,
            LimitVerdict::Passed
        ],
        "{:?}",
        model.limits
    );
    let reported: Vec<Option<&str>> = model
        .conclusions
        .iter()
        .filter_map(|it| {
            if let Conclusion::Limit { part, .. } = it {
                Some(part.as_ref().map(LimitPart::name))
            } else {
                None
            }
        })
        .collect();
    assert_eq!(reported.len(), 6, "the same limit on two stages is two");
    assert!(reported.iter().all(Option::is_some));
}

#[test]
fn a_staged_rate_is_an_input_and_response_times_are_what_is_judged() {
    assert_eq!(staged().primary_metric, ComparisonMetric::P95Ms);
}
