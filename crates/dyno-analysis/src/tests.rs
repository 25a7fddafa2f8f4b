//! Figures that are shown, and figures that are not.

use super::*;
use crate::estimate::estimate;
use crate::model::{
    Conclusion, ConfigurationRow, Figure, Figures, LimitVerdict, Metric, Question, RatePoint,
    RatioBound, TrialState, Verdict,
};
use crate::series::all_series;
use dyno_model::audit::{AuditCheck, AuditVerdict};
use dyno_model::limit::{Limit, LimitMetric};
use dyno_model::plan::{ComparisonMetric, LoadBy, LoadPlan};
use dyno_model::reason::Reason;
use dyno_model::record::{OpenLoop, TrialEnd, TrialRecord};
use dyno_model::search::{LoadStep, Outcome, Search, SearchEnd, SearchRecord, Slow};
use dyno_model::warning::Warning;
use dyno_store::TrialOutcome;
use dyno_store::fixture::{Shape, each_record, leave_unstarted};

#[test]
fn an_interval_reaches_neither_below_zero_nor_beyond_twice_the_mean() {
    let interval = |values: &[f64]| estimate(values, Metric::Throughput).expect("values").interval;
    assert_eq!(interval(&[10.0, 500.0, 900.0]), None);
    // By hand: the geometric mean is 498.3, the standard error of its logarithm 0.0580, t(0.975; 2)
    // 4.303, so the factor is exp(0.2494).
    let narrow = interval(&[450.0, 500.0, 550.0]).expect("these scatter little");
    assert!((narrow.low - 388.4).abs() < 0.1 && (narrow.high - 639.5).abs() < 0.1, "{narrow:?}");
}

#[test]
fn a_level_that_says_little_alone_is_named_with_its_factor() {
    let mut plan = Shape::rush().plan();
    plan.factors = vec!["server.settings.innodb_buffer_pool_size".to_owned()];
    for (index, configuration) in plan.configurations.iter_mut().enumerate() {
        configuration.levels = vec![["4G", "8G"][index % 2].to_owned()];
    }
    let (series, _) = all_series(&plan);
    assert_eq!(series[0].label, "MariaDB (innodb_buffer_pool_size 4G)");
    assert_eq!(series.len(), 6);
}

#[test]
fn percentiles_of_a_second_need_as_many_values_as_others() {
    let mut data = Shape::small().read();
    let id = data.run.plan.trials[0].id.clone();
    let line = &mut data.trials.get_mut(&id).expect("measured").timeline[1];
    (line.committed, line.latency_ms) = (250, Some([1.0; 5]));
    let point = analyse(&data).timelines[0].points[1];
    assert_eq!((point.p50_ms, point.p95_ms, point.p99_ms), (Some(1.0), Some(1.0), None));
}

/// A report of two systems whose commits leave rows in a ledger, of which the first loses so many
/// in its first trial; and what is missing from its counters.
fn audited(lost_rows: u64, lost_updates: i64) -> ReportModel {
    audited_with(lost_rows, lost_updates, |_| ())
}

/// The same with a change of the first system's records.
fn audited_with(
    lost_rows: u64,
    lost_updates: i64,
    change: impl Fn(&mut TrialRecord),
) -> ReportModel {
    let shape = Shape { variants: vec!["in-place"], clients: vec![8], ..Shape::small() };
    let mut data = shape.read();
    let configurations = (0..data.run.plan.configurations.len()).collect();
    let limit =
        Limit { metric: LimitMetric::Lost, value: 0.0, part: None, configurations, aborts: false };
    data.run.plan.limits = vec![limit];
    each_record(&mut data.run, |index, record| {
        let is_losing = record.trial.configuration == 0 && record.trial.block == 1;
        assert!(!is_losing || index < 2);
        if record.trial.configuration == 0 {
            change(record);
        }
        for check in &mut record.audit.checks {
            if let AuditCheck::LostUpdates { sum_after, .. } = check {
                *sum_after -= if is_losing { lost_updates } else { 0 };
            }
        }
        record.audit.checks.push(AuditCheck::Ledger {
            acknowledged: record.counters.committed,
            lost: if is_losing { lost_rows } else { 0 },
            phantoms: 0,
            in_doubt: 0,
            took_effect: 0,
            examples: Vec::new(),
        });
    });
    analyse(&data)
}

#[test]
fn invalid_trials_come_before_limits_only_if_no_trial_is_valid() {
    let conclusions = |is_held_up: fn(usize) -> bool| {
        let mut data = Shape::small().read();
        let configurations = (0..data.run.plan.configurations.len()).collect();
        let (metric, value, part) = (LimitMetric::P99, 20.0, None);
        data.run.plan.limits = vec![Limit { metric, value, part, configurations, aborts: false }];
        each_record(&mut data.run, |index, record| {
            let share = if is_held_up(index) { 0.5 } else { 0.0 };
            record.warnings.push(Warning::Stalled { share });
        });
        analyse(&data).conclusions
    };
    let position = |conclusions: &[Conclusion], is_it: fn(&Conclusion) -> bool| {
        conclusions.iter().position(is_it).unwrap_or_else(|| panic!("{conclusions:?}"))
    };
    let limit = |it: &Conclusion| matches!(it, Conclusion::Limit { .. });
    let invalid = |it: &Conclusion| matches!(it, Conclusion::InvalidTrials { .. });
    let none = conclusions(|_| true);
    assert!(position(&none, invalid) < position(&none, limit), "{none:?}");
    let some = conclusions(|index| index == 0);
    assert!(position(&some, invalid) > position(&some, limit), "{some:?}");
}

#[test]
fn loss_reports_and_limits_combine_all_audit_checks() {
    for (lost_rows, lost_updates, lost) in [(5, 0, 5), (0, 3, 3), (5, 3, 5), (0, 0, 0)] {
        let model = audited(lost_rows, lost_updates);
        let case = format!("{lost_rows} {lost_updates}: {:?}", model.conclusions);
        let lost_percent =
            |row: usize| model.configurations[row].figures.value(Metric::LostPercent);
        let of_trials: Vec<Option<u64>> = model
            .trials
            .iter()
            .map(|trial| trial.figures.as_ref().and_then(|it| it.count(Metric::Lost)))
            .collect();
        assert_eq!(of_trials.iter().flatten().sum::<u64>(), lost, "{case}");
        assert!(of_trials.iter().all(Option::is_some), "{case}");
        assert_eq!(lost_percent(0) > Some(0.0), lost > 0, "{case}");
        assert_eq!(lost_percent(1), Some(0.0), "{case}");
        let audit = &model.audits[0];
        assert_eq!((audit.has_losses(), audit.has_lost_commits()), (lost > 0, lost > 0), "{case}");
        let verdicts: Vec<LimitVerdict> = model.limits.iter().map(|row| row.verdict).collect();
        let first = if lost > 0 { LimitVerdict::Failed } else { LimitVerdict::Passed };
        assert_eq!(verdicts, [first, LimitVerdict::Passed], "{case}");
        // One sentence says what is lost, and none that nothing is.
        let reported = |is_meant: fn(&Conclusion) -> bool| {
            model.conclusions.iter().filter(|it| is_meant(it)).count()
        };
        let commits = reported(|it| matches!(it, Conclusion::LostCommits { .. }));
        let updates = reported(|it| matches!(it, Conclusion::LostUpdates { .. }));
        let expected =
            (usize::from(lost_rows > 0), usize::from(lost_rows == 0 && lost_updates > 0));
        assert_eq!((commits, updates), expected, "{case}");
        assert_eq!(reported(|it| matches!(it, Conclusion::NoLostUpdates { .. })), 0, "{case}");
        let none = model.conclusions.iter().find_map(|it| match it {
            Conclusion::NoLostCommits { configurations, .. } => Some(*configurations),
            _ => None,
        });
        assert_eq!(none, Some(if lost > 0 { 1 } else { 2 }), "{case}");
    }
}

#[test]
fn commits_lost_in_invalid_trials_are_counted() {
    let busy = Warning::GeneratorBusy { share: 0.95 };
    let model = audited_with(5, 3, |record| record.warnings.push(busy.clone()));
    assert!(
        model
            .trials
            .iter()
            .all(|trial| (trial.configuration == 0) == (trial.state == TrialState::Invalid))
    );
    let audit = &model.audits[0];
    assert_eq!(audit.losses, AuditVerdict::Violated);
    assert_eq!(audit.commits.as_ref().map(|it| (it.lost, it.trials_with_losses)), Some((5, 1)));
    assert_eq!(model.limits[0].verdict, LimitVerdict::Failed);
    let losses = model.losses().expect("audited");
    assert_eq!((losses.verdict, losses.lost), (AuditVerdict::Violated, 5));
    assert!(model.conclusions.iter().any(|it| matches!(it, Conclusion::LostCommits { .. })));
}

#[test]
fn commits_of_a_configuration_are_those_of_valid_trials() {
    let mut data = Shape::small().read();
    each_record(&mut data.run, |_, record| {
        if record.trial.block == 1 {
            record.warnings.push(Warning::GeneratorBusy { share: 0.95 });
        }
    });
    let model = analyse(&data);
    for (row, of_row) in model.configurations.iter().enumerate() {
        let valid = model.trials.iter().filter(|it| it.configuration == row);
        let valid = valid.filter(|it| it.state != TrialState::Invalid);
        let committed = |of: &Figures| of.count(Metric::Committed).expect("counted");
        let each = valid.map(|it| committed(it.figures.as_ref().expect("measured")));
        assert_eq!(committed(&of_row.figures), each.sum::<u64>());
        assert!(of_row.trials_valid > 0 && of_row.trials_valid < of_row.trials_measured);
    }
}

#[test]
fn short_remainder_at_trial_end_has_no_throughput_point() {
    let mut data = Shape::small().read();
    let id = data.run.plan.trials[0].id.clone();
    let timeline = &mut data.trials.get_mut(&id).expect("measured").timeline;
    let whole = timeline.len();
    // Ten commits of clients that left together in 4 ms, then nothing: 2,500 and 0 per second.
    for (length_s, committed) in [(0.004, 10), (0.4, 0)] {
        let start_s = timeline.last().map_or(0.0, |line| line.start_s + line.length_s);
        timeline.push(dyno_store::TimelineLine {
            start_s,
            length_s,
            is_warmup: false,
            committed,
            failed: 0,
            retries: 0,
            latency_ms: None,
        });
    }
    let model = analyse(&data);
    let rates: Vec<Option<f64>> =
        model.timelines[0].points.iter().map(|point| point.throughput).collect();
    assert!(rates[..whole].iter().all(Option::is_some), "{rates:?}");
    assert_eq!(rates[whole..], [None, None]);
}

#[test]
fn a_lower_bound_decides_a_comparison_only_when_it_is_already_worse() {
    // Pairs when these configurations are overloaded, and all others take so long.
    let verdicts_beside = |configurations: &[usize], p95: Option<u64>| {
        let mut data = Shape::small().read();
        for outcome in data.run.outcomes.values_mut() {
            if let (TrialOutcome::Finished(record), Some(p95)) = (outcome, p95) {
                record.transaction_latency.p95 = p95;
            }
        }
        for configuration in configurations {
            // One in five: the 95th percentile is among the arrivals that were never started.
            let trial =
                data.run.plan.trials.iter().find(|trial| trial.configuration == *configuration);
            let commits = data.trials[&trial.expect("planned").id].response_times.len();
            leave_unstarted(&mut data, *configuration, commits / 4);
        }
        let model = analyse(&data);
        let of_p95 = model.comparisons.iter().filter(|it| it.metric == ComparisonMetric::P95Ms);
        of_p95
            .map(|it| (it.subject, it.baseline, it.effect.verdict, it.effect.bound))
            .collect::<Vec<_>>()
    };
    let verdicts = |configurations: &[usize]| verdicts_beside(configurations, None);
    let (subject, baseline, ..) = verdicts(&[])[0];
    let pair = |all: Vec<(usize, usize, Option<Verdict>, Option<RatioBound>)>| {
        let found =
            all.into_iter().find(|it| (it.0, it.1) == (subject, baseline)).expect("the same pairs");
        (found.2, found.3)
    };
    assert_eq!(pair(verdicts(&[])).1, None);
    assert_eq!(pair(verdicts(&[subject])), (Some(Verdict::Worse), Some(RatioBound::AtLeast)));
    assert_eq!(pair(verdicts(&[baseline])), (Some(Verdict::Better), Some(RatioBound::AtMost)));
    assert_eq!(
        pair(verdicts(&[subject, baseline])),
        (Some(Verdict::Inconclusive), Some(RatioBound::Unknown))
    );
    // A bound of 2 s that is better than the other side's value, or the same, says nothing.
    for p95 in [20_000_000_000, 2_000_000_000] {
        let beside = |configuration| pair(verdicts_beside(&[configuration], Some(p95)));
        assert_eq!(beside(subject), (Some(Verdict::Inconclusive), Some(RatioBound::AtLeast)));
        assert_eq!(beside(baseline), (Some(Verdict::Inconclusive), Some(RatioBound::AtMost)));
    }
}

#[test]
fn old_open_loop_records_yield_only_bounds_for_percentiles() {
    let mut data = Shape::small().read();
    for outcome in data.run.outcomes.values_mut() {
        let TrialOutcome::Finished(record) = outcome else { continue };
        let old = OpenLoop {
            response: None,
            lag: None,
            ..dyno_store::fixture::open_loop(record, record.counters.started / 50, 1)
        };
        record.open_loop = Some(old);
    }
    let model = analyse(&data);
    let of = |metric: Metric| model.configurations[0].figures.get(metric);
    assert!(
        of(Metric::P50).is_none() && of(Metric::P99).is_none(),
        "a trial's record does not tell"
    );
    assert!(of(Metric::MergedP99).is_some_and(Figure::is_bound), "the histograms tell more");
}

/// What a run is judged by when its transactions arrive at these rates, by configuration; and what
/// the conclusions of it are about.
fn judged(change: impl Fn(usize, &mut LoadPlan)) -> ReportModel {
    let mut data = Shape { has_failures: false, ..Shape::small() }.read();
    for (index, configuration) in data.run.plan.configurations.iter_mut().enumerate() {
        change(index, &mut configuration.load);
    }
    analyse(&data)
}

#[test]
fn a_rate_that_is_given_is_no_outcome() {
    let closed = judged(|_, _| {});
    let open = judged(|_, load| load.rate = Some(500.0));
    let mixed = judged(|index, load| load.rate = (index > 0).then_some(500.0));
    let overload = judged(|_, load| (load.rate, load.is_overload) = (Some(500.0), true));
    let is_peak = |it: &Conclusion| matches!(it, Conclusion::PeakThroughput { .. });
    for model in [&closed, &mixed, &overload] {
        assert_eq!(model.primary_metric, ComparisonMetric::Throughput);
        assert_eq!(model.comparisons[0].metric, ComparisonMetric::Throughput);
        assert!(model.comparisons.iter().all(|it| it.metric != ComparisonMetric::MeanMs));
        assert!(model.conclusions.iter().any(is_peak));
    }
    assert_eq!(open.primary_metric, ComparisonMetric::P95Ms);
    assert_eq!(open.comparisons[0].metric, ComparisonMetric::P95Ms);
    assert!(open.comparisons.iter().all(|it| it.metric != ComparisonMetric::Throughput));
    assert!(open.questions.iter().all(|it| it.metric != ComparisonMetric::Throughput));
    assert!(!open.conclusions.iter().any(is_peak), "what was given is no peak");
    let compared = open.conclusions.iter().filter_map(|it| match it {
        Conclusion::Comparison { metric, .. } => Some(*metric),
        _ => None,
    });
    let compared: Vec<ComparisonMetric> = compared.collect();
    assert!(
        !compared.is_empty() && compared.iter().all(|metric| *metric == ComparisonMetric::P95Ms),
        "{compared:?}"
    );
}

/// A run whose trials searched for the highest rate; what each system takes, by its index, and how
/// much blocks differ.
fn searched(takes: [f64; 2]) -> ReportModel {
    let mut data = Shape { has_failures: false, ..Shape::small() }.read();
    data.run
        .plan
        .configurations
        .iter_mut()
        .for_each(|configuration| configuration.load.find = Some(for_p99()));
    let plan = data.run.plan.clone();
    for outcome in data.run.outcomes.values_mut() {
        let TrialOutcome::Finished(record) = outcome else { continue };
        // Blocks differ by a per cent, trials by less.
        let (block, trial) =
            (f64::from(record.trial.block), record.trial.id.bytes().last().unwrap_or(0) % 4);
        let scatter = 1.0 + 0.01 * block + 0.002 * f64::from(trial);
        let held = takes[plan.configuration(&record.trial).system] * scatter;
        record.search = Some(search_record(held, SearchEnd::Found));
    }
    analyse(&data)
}

fn for_p99() -> Search {
    Search {
        most: LoadBy::Rate,
        metric: LimitMetric::P99,
        below: 20.0,
        transaction: None,
        from: None,
    }
}

/// A search in which this load passed, and 2 % more failed.
fn search_record(passed: f64, end: SearchEnd) -> SearchRecord {
    let step = |load: f64, outcome: Outcome| LoadStep {
        load,
        seconds: 10.0,
        transactions: 20_000,
        excess: Some(if outcome == Outcome::Passed { -0.5 } else { 0.5 }),
        figure: Some(if outcome == Outcome::Passed { 10.0 } else { 40.0 }),
        is_bound: false,
        throughput: load,
        outcome,
        is_by_generator: false,
        other_processes_cpu: 0.0,
        steal: 0.0,
    };
    let steps = vec![step(1.02 * passed, Outcome::Failed), step(passed, Outcome::Passed)];
    SearchRecord {
        search: for_p99(),
        steps,
        passed: Some(passed),
        failed: Some(1.02 * passed),
        end,
    }
}

#[test]
fn searches_without_a_result_keep_their_steps_and_say_why() {
    let mut data = Shape { has_failures: false, ..Shape::small() }.read();
    data.run
        .plan
        .configurations
        .iter_mut()
        .for_each(|configuration| configuration.load.find = Some(for_p99()));
    let trials = data.run.plan.trials.clone();
    // One was interrupted, of one everything is lost but its steps, the others never pass.
    for (at, trial) in trials.iter().enumerate() {
        let slow = Slow { transaction: Some("slow".to_owned()), alone_ms: 30.0 };
        let end = match at {
            0 => SearchEnd::Interrupted,
            _ => SearchEnd::FailsEverywhere { slow: Some(slow), failing: None },
        };
        let search = search_record(1_000.0, end);
        match (at, data.run.outcomes.remove(&trial.id)) {
            (0, Some(TrialOutcome::Finished(mut record))) => {
                record.search = Some(search);
                data.run.outcomes.insert(trial.id.clone(), TrialOutcome::Finished(record));
            }
            (1, _) => drop(data.run.stepped.insert(trial.id.clone(), search.steps)),
            _ => {
                let failed =
                    TrialOutcome::Failed { reason: "".into(), search: Some(Box::new(search)) };
                data.run.outcomes.insert(trial.id.clone(), failed);
            }
        }
    }
    let model = analyse(&data);
    let found = |row: &ConfigurationRow| row.figures.get(Metric::HighestRate);
    assert!(model.configurations.iter().all(|row| found(row).is_none()), "{:?}", model.searches);
    let steps: usize = model.searches.iter().map(|row| row.steps.len()).sum();
    assert_eq!(steps, 2 * trials.len());
    let ends = model.searches.iter().flat_map(|row| &row.ended);
    let interrupted = ends.clone().filter(|ended| ended.end == SearchEnd::Interrupted).count();
    assert_eq!((ends.count(), interrupted), (trials.len(), 2));
    // A search that ended is no trial that failed; the one whose trial never ended is missing.
    let incomplete = model.conclusions.iter().find_map(|it| match it {
        Conclusion::Incomplete { failed, missing, .. } => Some((*failed, *missing)),
        _ => None,
    });
    assert_eq!(incomplete, Some((0, 1)));
}

#[test]
fn systems_are_compared_by_the_searched_metric() {
    let model = searched([1_000.0, 1_500.0]);
    assert_eq!(model.primary_metric, ComparisonMetric::HighestRate);
    assert!(model.comparisons.iter().all(|it| it.metric == ComparisonMetric::HighestRate));
    let is_decided =
        |it: &&Question| matches!(it.effect.verdict, Some(Verdict::Better | Verdict::Worse));
    let decided = model.questions.iter().find(is_decided).expect("it is decided");
    let takes_more = decided.subject == model.provenance.systems[1].name;
    assert_eq!(decided.effect.verdict == Some(Verdict::Better), takes_more, "{decided:?}");
    let row = &model.searches[0];
    // Half way between the two loads of each block, on the scale of logarithms.
    let found =
        model.estimate(row.configuration, ComparisonMetric::HighestRate).expect("three blocks");
    assert!(
        (found.mean / row.steps.iter().map(|it| it.step.load).sum::<f64>()
            * row.steps.len() as f64
            - 1.0)
            .abs()
            < 0.001
    );
    assert!(
        !found.is_bound
            && found.interval.is_some()
            && row.steps.len() == 2 * found.repeats as usize
    );
    assert!(model.conclusions.iter().any(|it| matches!(it, Conclusion::Found { row: 0 })));
    assert!(!model.conclusions.iter().any(|it| matches!(it, Conclusion::PeakThroughput { .. })));

    let same = searched([1_000.0, 1_000.0]);
    assert!(!same.questions.iter().any(|it| is_decided(&it)), "no difference is told as none");
    assert!(analyse(&Shape::small().read()).searches.is_empty());
}

#[test]
fn series_over_the_rate_join_what_differs_in_nothing_else() {
    let mut data = Shape::small().read();
    assert!(analyse(&data).rates.is_empty());
    let plan = &mut data.run.plan;
    let sides: Vec<_> = plan.configurations.iter().map(|it| (it.system, it.clients)).collect();
    // As many lines as there are systems: what the fixture has as numbers of clients are rates
    // here, the highest first.
    plan.factors = vec!["load.rate".to_owned()];
    for (configuration, (_, clients)) in plan.configurations.iter_mut().zip(&sides) {
        let rate = 1_000.0 / f64::from(*clients);
        (configuration.levels, configuration.load.rate) = (vec![format!("{rate}/s")], Some(rate));
        configuration.clients = 8;
    }
    let model = analyse(&data);
    assert_eq!(model.rates.len(), model.provenance.systems.len());
    for series in &model.rates {
        assert_eq!(series.clients, 8);
        assert!(
            model.provenance.systems.iter().any(|system| system.name == series.label),
            "{series:?}"
        );
        assert!(
            series.points.windows(2).all(|pair| pair[0].offered < pair[1].offered),
            "{series:?}"
        );
        let of = |point: &RatePoint| 1_000.0 / f64::from(sides[point.configuration].1);
        assert!(
            series.points.len() > 1 && series.points.iter().all(|point| of(point) == point.offered)
        );
    }
}

#[test]
fn trials_that_the_user_cut_off_are_counted_alike_everywhere() {
    let mut data = Shape { has_failures: false, ..Shape::small() }.read();
    let planned = data.run.plan.trials.len();
    let ids: Vec<String> = data.run.plan.trials.iter().map(|trial| trial.id.clone()).collect();
    data.run.outcomes.remove(&ids[planned - 1]);
    let Some(TrialOutcome::Finished(cut)) = data.run.outcomes.get_mut(&ids[planned - 2]) else {
        panic!("it was measured")
    };
    cut.end = TrialEnd::User;
    cut.warnings.push(Warning::CutShort { reason: Reason::Interrupted });
    data.run.is_interrupted = true;
    let done = data.run.done().len();
    let model = analyse(&data);
    let completeness = &model.completeness;
    assert_eq!((done, completeness.planned as usize), (planned - 2, planned));
    assert_eq!(completeness.measured as usize, done, "as `--resume` counts them");
    assert_eq!((completeness.with_results as usize, completeness.cut.len()), (planned - 1, 1));
    let reported = model.conclusions.iter().find_map(|it| match it {
        Conclusion::Incomplete { planned, measured, missing, .. } => {
            Some((*planned, *measured, *missing))
        }
        _ => None,
    });
    assert_eq!(reported, Some((completeness.planned, completeness.measured, 2)));
    // A cut trial is reported once.
    assert!(!model.conclusions.iter().any(|it| matches!(it, Conclusion::InvalidTrials { .. })));
}
