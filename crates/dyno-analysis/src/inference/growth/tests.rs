use super::*;
use crate::analyse;
use dyno_store::fixture::{ROWS_TARGET as TARGET, grown_run};

fn record() -> TrialRecord {
    let data = grown_run(1);
    let records = data.run.outcomes.into_values().filter_map(|outcome| match outcome {
        TrialOutcome::Finished(record) => Some(*record),
        TrialOutcome::Failed { .. } => None,
    });
    records.into_iter().next().expect("a trial was measured")
}

#[test]
fn rows_are_interpolated_and_a_stall_counts_in_the_next_step() {
    let record = record();
    let path = vec![(0.0, 100.0), (1.0, 300.0), (2.0, 300.0), (3.0, 400.0)];
    let trial = GrowingTrial { record: &record, samples: &[], rows_over_time: path };
    assert_eq!(trial.time_at(99.0), None, "the table never had so few");
    assert_eq!(trial.time_at(100.0), Some(0.0));
    assert_eq!(trial.time_at(200.0), Some(0.5));
    assert_eq!(trial.time_at(300.0), Some(1.0));
    assert_eq!(trial.time_at(350.0), Some(2.5));
    assert_eq!(trial.time_at(401.0), None, "the table never had so many");
    assert_eq!(trial.step(200, 300).map(|step| step.rows_per_second), Some(200.0));
    assert_eq!(trial.step(300, 400).map(|step| step.rows_per_second), Some(50.0));
    assert!(trial.step(300, 500).is_none(), "a step that was not finished has no figure");
}

#[test]
fn steps_are_equal_and_end_at_the_target() {
    assert_eq!(equal_steps(0, 1_000)[..2], [100, 200]);
    assert_eq!(equal_steps(500, 1_500).last(), Some(&1_500));
    assert_eq!(equal_steps(0, 3), [1, 2, 3]);
    assert!(equal_steps(7, 7).is_empty());
    assert_eq!(equal_steps(0, u64::MAX).len(), 10);
}

#[test]
fn each_step_has_its_rate_and_what_machine_and_server_did_meanwhile() {
    let model = analyse(&grown_run(3));
    let growth = model.growth.expect("its tables grow");
    assert_eq!(
        (growth.rows_before, growth.milestones.len(), growth.milestones[9]),
        (0, 10, TARGET)
    );
    let rates: Vec<f64> = growth.series[0]
        .steps
        .iter()
        .map(|step| step.value(Metric::RowThroughput).expect("finished").round())
        .collect();
    // 22,500 rows a second plus 2 % in the mean block; 5,000 after half of the rows.
    assert!((22_750.0..=23_125.0).contains(&rates[0]), "{rates:?}");
    assert!((5_075.0..=5_125.0).contains(&rates[9]), "{rates:?}");
    let last = &growth.series[0].steps[9];
    assert_eq!(last.estimate(Metric::RowThroughput).map(|rate| rate.repeats), Some(3));
    assert_eq!(last.value(Metric::HostCpu).map(f64::round), Some(50.0));
    assert_eq!(last.value(Metric::DiskBusy).map(f64::round), Some(100.0));
    assert_eq!(last.value(Metric::DiskRead).map(f64::round), Some(1e6));
    assert_eq!(last.value(Metric::DiskWritten).map(f64::round), Some(3e6));
    assert!(
        last.value(Metric::Data).expect("seen")
            > growth.series[0].steps[0].value(Metric::Data).expect("seen")
    );
}

#[test]
fn without_enough_blocks_nobody_is_reported_to_be_ahead() {
    let model = analyse(&grown_run(2));
    assert!(model.growth.is_some_and(|growth| {
        growth.comparisons.iter().all(|step| step.comparison.effect.verdict.is_none())
    }));
    let is_verdict = |conclusion: &Conclusion| {
        matches!(conclusion, Conclusion::GrowthCrossing { .. } | Conclusion::GrowthLead { .. })
    };
    assert!(!model.conclusions.iter().any(is_verdict), "{:?}", model.conclusions);
}

#[test]
fn a_trial_that_ended_early_counts_in_the_steps_that_it_finished() {
    let mut data = grown_run(3);
    let id = data
        .run
        .plan
        .trials
        .iter()
        .find(|trial| trial.configuration == 0)
        .expect("planned")
        .id
        .clone();
    let timeline = &mut data.trials.get_mut(&id).expect("measured").timeline;
    let lost = timeline.split_off(timeline.len() - 2);
    let Some(TrialOutcome::Finished(record)) = data.run.outcomes.get_mut(&id) else {
        panic!("measured")
    };
    record.counters.committed -= lost.iter().map(|line| line.committed).sum::<u64>();
    record.warnings.push(Warning::CutShort { reason: "the table is full".into() });
    let growth = analyse(&data).growth.expect("its tables grow");
    let repeats = |step: usize| {
        growth.series[0].steps[step].estimate(Metric::RowThroughput).map(|rate| rate.repeats)
    };
    assert_eq!((repeats(0), repeats(9)), (Some(3), Some(2)));
}

#[test]
fn a_timeline_with_a_hole_is_not_put_on_the_axis() {
    let mut data = grown_run(1);
    let id = data.run.plan.trials[0].id.clone();
    data.trials.get_mut(&id).expect("measured").timeline.remove(1);
    let configuration = data.run.plan.trials[0].configuration;
    let growth = analyse(&data).growth.expect("the other trial's table grows");
    assert!(growth.series.iter().all(|series| series.configuration != configuration));
}

#[test]
fn a_step_of_less_than_three_intervals_is_shown_and_not_compared() {
    let mut data = grown_run(3);
    // A step of 10,000 rows takes half a second, the others four and more.
    for configuration in &mut data.run.plan.configurations {
        configuration.load.milestones = vec![10_000, 500_000, TARGET];
    }
    let growth = analyse(&data).growth.expect("its tables grow");
    let of = |step: usize| {
        let compared = growth.comparisons.iter().find(|it| it.step == step).expect("compared");
        let rate = growth.series[0].steps[step].estimate(Metric::RowThroughput).expect("finished");
        (
            rate.interval.is_some(),
            compared.comparison.effect.p.is_some(),
            compared.comparison.effect.verdict,
        )
    };
    assert_eq!(of(0), (false, false, Some(Verdict::Inconclusive)));
    assert!(matches!(of(1), (true, true, Some(Verdict::Worse))), "{:?}", of(1));
}

#[test]
fn growth_step_is_invalid_if_a_trial_did_not_finish_it() {
    let mut data = grown_run(4);
    // The second configuration is faster at the end; in one of four blocks its table reached its
    // target earlier.
    let id = data
        .run
        .plan
        .trials
        .iter()
        .find(|trial| trial.configuration == 1)
        .expect("planned")
        .id
        .clone();
    let timeline = &mut data.trials.get_mut(&id).expect("measured").timeline;
    let lost = timeline.split_off(timeline.len() - 2);
    let Some(TrialOutcome::Finished(record)) = data.run.outcomes.get_mut(&id) else {
        panic!("measured")
    };
    record.counters.committed -= lost.iter().map(|line| line.committed).sum::<u64>();
    record.warnings.push(Warning::CutShort { reason: "the table is full".into() });
    let growth = analyse(&data).growth.expect("its tables grow");
    let verdict = |step: usize| {
        growth
            .comparisons
            .iter()
            .find(|it| it.step == step)
            .and_then(|it| it.comparison.effect.verdict)
    };
    assert_eq!((verdict(6), verdict(9)), (Some(Verdict::Better), Some(Verdict::Invalid)));
}
