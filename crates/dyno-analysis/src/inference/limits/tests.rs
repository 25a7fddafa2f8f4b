//! Verdicts on limits for synthetic results.

use super::limits;
use crate::model::{Conclusion, LimitRow, LimitVerdict, NotWorkingReason};
use crate::view::View;
use dyno_model::audit::AuditCheck;
use dyno_model::limit::{Limit, LimitMetric};
use dyno_store::fixture::{Shape, leave_unstarted};
use dyno_store::{RunData, TrialOutcome};

/// Two systems at two numbers of clients in some blocks, all valid, each trial with about `work`
/// transactions per second.
fn run(blocks: u32, work: impl Fn(u32) -> f64) -> RunData {
    let mut data =
        Shape { clients: vec![1, 8], blocks, has_failures: false, ..Shape::small() }.read();
    for outcome in data.run.outcomes.values_mut() {
        let TrialOutcome::Finished(record) = outcome else { continue };
        record.weighted_commits =
            Some(work(record.trial.block) * record.window_length.as_secs_f64());
    }
    data
}

fn judged(data: &mut RunData, metric: LimitMetric, value: f64) -> Vec<LimitRow> {
    let configurations = (0..data.run.plan.configurations.len()).collect();
    data.run.plan.limits = vec![Limit { metric, value, part: None, configurations, aborts: false }];
    limits(&View::new(data))
}

fn verdicts(rows: &[LimitRow]) -> Vec<LimitVerdict> {
    rows.iter().map(|row| row.verdict).collect()
}

#[test]
fn limit_verdict_follows_from_the_mean_and_its_interval() {
    // Logarithms vary by 2 %.
    let mut data = run(3, |block| 5_000.0 * (0.02 * (f64::from(block) - 2.0)).exp());
    let of = |data: &mut RunData, value| verdicts(&judged(data, LimitMetric::Throughput, value));
    assert_eq!(of(&mut data, 4_500.0), [LimitVerdict::Passed; 4]);
    assert_eq!(of(&mut data, 5_800.0), [LimitVerdict::Failed; 4]);
    assert_eq!(of(&mut data, 4_950.0), [LimitVerdict::Undecided; 4]);
    let rows = judged(&mut data, LimitMetric::Throughput, 4_500.0);
    let (figure, interval) =
        (rows[0].figure.expect("known"), rows[0].interval.expect("three blocks"));
    // 1.686 = t(0.95; 2) / √3.
    let half = (0.02 * 1.685_85_f64).exp();
    assert!((figure - 5_000.0).abs() < 1e-6, "{figure}");
    assert!(
        (interval.low * half - 5_000.0).abs() < 0.1 && (interval.high / half - 5_000.0).abs() < 0.1
    );
    // Two of three planned trials decide what is far from the limit, and one decides nothing.
    let mut short = run(3, |block| 5_000.0 * (0.02 * f64::from(block)).exp());
    short.run.outcomes.retain(|id, _| !id.starts_with("b03"));
    assert_eq!(of(&mut short, 75_000.0), [LimitVerdict::Failed; 4]);
    assert_eq!(of(&mut short, 400.0), [LimitVerdict::Passed; 4]);
    let rows = judged(&mut short, LimitMetric::Throughput, 5_300.0);
    assert_eq!(verdicts(&rows), [LimitVerdict::Undecided; 4]);
    // t(0.95; 2) · 0.01414 / √3 = 0.0238 < ln(5300 / 5152) = 0.0283; with two trials it is 0.0631.
    assert_eq!(rows[0].trials_needed, Some(3), "{rows:?}");
    short.run.outcomes.retain(|id, _| id.starts_with("b01"));
    let rows = judged(&mut short, LimitMetric::Throughput, 10.0);
    assert!(
        rows.iter().all(|row| row.verdict == LimitVerdict::Undecided && !row.is_untested),
        "{rows:?}"
    );
}

#[test]
fn a_run_of_one_block_compares_the_figures_themselves_and_says_so() {
    let mut data = run(1, |_| 5_000.0);
    let of = |data: &mut RunData, metric, value| judged(data, metric, value);
    let rows = of(&mut data, LimitMetric::Throughput, 4_900.0);
    assert_eq!(verdicts(&rows), [LimitVerdict::Passed; 4]);
    assert!(rows.iter().all(|row| row.is_untested && row.interval.is_none()), "{rows:?}");
    assert_eq!(
        verdicts(&of(&mut data, LimitMetric::Throughput, 5_100.0)),
        [LimitVerdict::Failed; 4]
    );
    assert_eq!(verdicts(&of(&mut data, LimitMetric::Failed, 0.1)), [LimitVerdict::Passed; 4]);
    // A lower bound may be beyond the limit; only another measurement could decide.
    let commits = data.trials["b01-001"].response_times.len();
    let configuration = data.run.plan.trials[0].configuration;
    leave_unstarted(&mut data, configuration, commits / 5);
    let rows = of(&mut data, LimitMetric::P95, 1e9);
    assert_eq!(rows[configuration].verdict, LimitVerdict::Undecided, "{rows:?}");
    // A loss is certain even with few trials.
    assert!(of(&mut data, LimitMetric::Lost, 0.0).iter().all(|row| !row.is_untested));
    let conclusions = crate::analyse(&data).conclusions;
    assert!(conclusions.iter().any(|it| matches!(
        it,
        Conclusion::Limit { metric: LimitMetric::Lost, is_untested: false, .. }
    )));
}

#[test]
fn percentile_shortage_reports_count_and_required_duration() {
    let mut data = run(3, |_| 5_000.0);
    let mut fewest = u64::MAX;
    for outcome in data.run.outcomes.values_mut() {
        let TrialOutcome::Finished(record) = outcome else { continue };
        record.transaction_latency.count = 250 + u64::from(record.trial.block);
        fewest = fewest.min(record.transaction_latency.count);
    }
    let window = data.run.plan.configurations[0].load.stop;
    let rows = judged(&mut data, LimitMetric::P99, 1e9);
    assert_eq!(verdicts(&rows), [LimitVerdict::Undecided; 4]);
    for row in &rows {
        let shortage = row.shortage.expect("too few");
        assert_eq!((shortage.transactions, shortage.needed), (fewest, 1_000));
        assert_eq!(
            shortage.duration_s.is_some(),
            matches!(window, dyno_model::plan::StopRule::Duration(_))
        );
    }
    // The 95th percentile of 250 transactions exists. If it is above the limit, the 99th is, too.
    let broken = judged(&mut data, LimitMetric::P99, 1e-6);
    assert_eq!(verdicts(&broken), [LimitVerdict::Failed; 4], "{broken:?}");
    assert!(
        broken.iter().all(|row| row.lower_percentile == Some(LimitMetric::P95) && row.is_bound),
        "{broken:?}"
    );
    let mut of = |metric| judged(&mut data, metric, 1e9).remove(0);
    assert_eq!(of(LimitMetric::P999).shortage.expect("too few").needed, 10_000);
    assert!(
        of(LimitMetric::P90).shortage.is_none()
            && of(LimitMetric::P90).verdict == LimitVerdict::Passed
    );
    // A program that reports no p99 would not report one after more transactions.
    for outcome in data.run.outcomes.values_mut() {
        let TrialOutcome::Finished(record) = outcome else { continue };
        record.transaction_latency.p99 = 0;
    }
    assert!(judged(&mut data, LimitMetric::P99, 1e9).iter().all(|row| row.shortage.is_none()));
    let model = crate::analyse(&data);
    assert!(model.configurations.iter().all(|row| row.shortage.is_none()));
}

#[test]
fn the_longest_time_of_all_trials_is_compared_with_a_limit_on_max() {
    let mut data = run(3, |_| 5_000.0);
    for outcome in data.run.outcomes.values_mut() {
        let TrialOutcome::Finished(record) = outcome else { continue };
        record.transaction_latency.max =
            if record.trial.block == 2 { 80_000_000 } else { 20_000_000 };
    }
    let of = |data: &mut RunData, value| judged(data, LimitMetric::Max, value).remove(0);
    let (over, under) = (of(&mut data, 79.0), of(&mut data, 81.0));
    assert_eq!((over.figure, over.verdict), (Some(80.0), LimitVerdict::Failed));
    assert_eq!(
        (under.verdict, under.interval, under.is_untested),
        (LimitVerdict::Passed, None, false)
    );
}

#[test]
fn that_one_of_many_is_broken_is_corrected_for_their_number() {
    // Alone, p is 0.02: each of four limits fails at 0.08.
    let broken = |of: usize| {
        let mut data = run(3, |block| 5_000.0 * (0.02 * (f64::from(block) - 2.0)).exp());
        let limit = 5_000.0 * (0.02 / 3.0_f64.sqrt() * 4.849).exp();
        let configurations = (0..of).collect();
        data.run.plan.limits = vec![Limit {
            metric: LimitMetric::Throughput,
            value: limit,
            part: None,
            configurations,
            aborts: false,
        }];
        verdicts(&limits(&View::new(&data)))
    };
    assert_eq!(broken(1), [LimitVerdict::Failed]);
    assert_eq!(broken(4), [LimitVerdict::Undecided; 4]);
}

#[test]
fn a_system_that_did_not_work_has_broken_its_limits() {
    let mut data = run(3, |_| 5_000.0);
    let id = data
        .run
        .plan
        .trials
        .iter()
        .find(|trial| trial.configuration == 1)
        .expect("planned")
        .id
        .clone();
    data.run
        .outcomes
        .insert(id, TrialOutcome::Failed { reason: "it did not start".into(), search: None });
    let rows = judged(&mut data, LimitMetric::Throughput, 10.0);
    let (held, broken) = (LimitVerdict::Passed, LimitVerdict::Failed);
    assert_eq!(verdicts(&rows), [held, broken, held, held]);
    assert_eq!(
        rows[1].not_working.map(|it| (it.trials, it.of, it.because)),
        Some((1, 3, NotWorkingReason::NotMeasured))
    );
    let conclusions = crate::analyse(&data).conclusions;
    let first = conclusions.iter().find(|it| matches!(it, Conclusion::Limit { .. }));
    assert!(
        matches!(first, Some(Conclusion::Limit { verdict: LimitVerdict::Failed, .. })),
        "{first:?}"
    );
}

#[test]
fn a_transaction_that_is_longer_than_the_window_is_work() {
    let mut data = run(3, |_| 5_000.0);
    for outcome in data.run.outcomes.values_mut() {
        let TrialOutcome::Finished(record) = outcome else { continue };
        // Each client is running a transaction that began before the window and ends after it.
        let measured = record.window_length.as_secs_f64();
        (record.counters, record.transaction_latency) = <_>::default();
        record.weighted_commits = Some(measured / 3.0);
    }
    let rows = judged(&mut data, LimitMetric::Throughput, 0.25);
    assert_eq!(verdicts(&rows), [LimitVerdict::Passed; 4], "{rows:?}");
    let rows = judged(&mut data, LimitMetric::P99, 1e9);
    assert_eq!(verdicts(&rows), [LimitVerdict::Undecided; 4], "nobody knows its response time");
    let model = crate::analyse(&data);
    assert!(
        model.configurations.iter().all(|row| row.not_working.is_none()),
        "{:?}",
        model.configurations
    );

    for outcome in data.run.outcomes.values_mut() {
        let TrialOutcome::Finished(record) = outcome else { continue };
        record.weighted_commits = Some(0.0);
    }
    let rows = judged(&mut data, LimitMetric::Throughput, 0.25);
    assert_eq!(verdicts(&rows), [LimitVerdict::Failed; 4]);
    assert_eq!(rows[0].not_working.map(|it| it.because), Some(NotWorkingReason::NothingCommitted));
}

#[test]
fn failed_transactions_are_counted_over_trials_however_many_they_are() {
    let mut data = run(3, |_| 5_000.0);
    for outcome in data.run.outcomes.values_mut() {
        let TrialOutcome::Finished(record) = outcome else { continue };
        // 0.39 to 0.41 %, more than a valid trial may have.
        record.counters.started = 100_000;
        record.counters.failed = 380 + 10 * u64::from(record.trial.block);
        record.warnings.push(dyno_model::warning::Warning::Failures {
            failed: record.counters.failed,
            share: 0.004,
        });
    }
    let of = |data: &mut RunData, value| verdicts(&judged(data, LimitMetric::Failed, value));
    assert_eq!(of(&mut data, 0.1), [LimitVerdict::Failed; 4]);
    assert_eq!(of(&mut data, 1.0), [LimitVerdict::Passed; 4]);
    assert_eq!(of(&mut data, 0.405), [LimitVerdict::Undecided; 4]);
}

#[test]
fn lower_bound_can_fail_a_latency_limit_but_never_pass_it() {
    let mut data = run(3, |_| 5_000.0);
    let id = data
        .run
        .plan
        .trials
        .iter()
        .find(|trial| trial.configuration == 0)
        .expect("planned")
        .id
        .clone();
    let commits = data.trials[&id].response_times.len();
    leave_unstarted(&mut data, 0, commits / 5);
    let of = |data: &mut RunData, value| judged(data, LimitMetric::P95, value).remove(0);
    let (far, near) = (of(&mut data, 1e9), of(&mut data, 1e-6));
    assert!(far.is_bound && far.interval.is_none(), "{far:?}");
    assert_eq!((far.verdict, near.verdict), (LimitVerdict::Undecided, LimitVerdict::Failed));
}

#[test]
fn early_stopping_limits_are_judged_at_a_stricter_level() {
    let of = |aborts: bool| {
        let mut data = run(4, |block| 5_000.0 * (0.02 * (f64::from(block) - 2.0)).exp());
        data.run
            .outcomes
            .retain(|id, _| data.run.plan.trials.iter().any(|it| it.id == *id && it.block <= 3));
        // Alone, p is 0.04.
        let value = 5_000.0 * (0.02 / 3.0_f64.sqrt() * 3.32).exp();
        data.run.plan.limits = vec![Limit {
            metric: LimitMetric::Throughput,
            value,
            part: None,
            configurations: vec![0],
            aborts,
        }];
        verdicts(&limits(&View::new(&data)))
    };
    assert_eq!(of(false), [LimitVerdict::Failed]);
    assert_eq!(of(true), [LimitVerdict::Undecided]);
}

#[test]
fn lost_work_breaks_its_limit_and_what_nobody_audited_is_not_decided() {
    let mut data = Shape { has_failures: false, ..Shape::rush() }.read();
    let lost = |data: &RunData, row: &LimitRow| {
        let mut checks = data.run.outcomes.values().filter_map(|outcome| match outcome {
            TrialOutcome::Finished(record) if record.trial.configuration == row.configuration => {
                Some(&record.audit.checks)
            }
            _ => None,
        });
        checks.any(|checks| {
            checks.iter().filter_map(AuditCheck::balance).any(|balance| balance.lost_min > 0)
        })
    };
    let rows = judged(&mut data, LimitMetric::Lost, 0.0);
    assert!(rows.iter().any(|row| row.verdict == LimitVerdict::Failed), "{rows:?}");
    assert!(rows.iter().any(|row| row.verdict == LimitVerdict::Passed), "{rows:?}");
    for row in &rows {
        assert_eq!(row.verdict == LimitVerdict::Failed, lost(&data, row), "{row:?}");
        assert_eq!(row.figure > Some(0.0), lost(&data, row), "{row:?}");
    }
    for outcome in data.run.outcomes.values_mut() {
        let TrialOutcome::Finished(record) = outcome else { continue };
        record.audit.checks.clear();
    }
    let rows = judged(&mut data, LimitMetric::Lost, 0.0);
    assert!(rows.iter().all(|row| row.verdict == LimitVerdict::Undecided), "{rows:?}");
}
