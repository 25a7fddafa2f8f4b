use super::*;
use dyno_model::event::ProgressUnit;
use dyno_model::record::{TrialEnd, TrialRecord};
use dyno_model::spec::{self, Input};

/// Two systems, one number of clients, two blocks; each trial is planned with 10 s plus 0.3 s.
pub(crate) fn campaign() -> Campaign {
    planned("")
}

/// The same with additional keys of the load.
fn planned(load: &str) -> Campaign {
    let text = r#"
title = "two systems"
system = [{ name = "A", url = "null:" }, { name = "B", url = "null:" }]
workload = { kind = "idle" }
load = { clients = 1, duration = "10s", warmup = "0s"LOAD }
design = { blocks = 2 }
"#;
    let text = &text.replace("LOAD", load);
    let catalog = [dyno_model::catalog::WorkloadDescription {
        name: "idle",
        summary: "",
        audit: "",
        options: Vec::new(),
    }];
    let (_, plan) =
        spec::parse(Input { file_name: "t.toml", text, ..Input::default() }, &catalog).unwrap();
    Campaign::new(plan, &BTreeSet::new())
}

pub(crate) fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

/// Starts the trial at a position of the run order and ends it without results.
fn fail_trial(campaign: &mut Campaign, position: usize, from: f64, to: f64) {
    let trial = campaign.plan().trials[position].id.clone();
    campaign.event(&Event::TrialStarted { trial: trial.clone() }, seconds(from));
    campaign.event(&Event::TrialFailed { trial, reason: "".into(), search: None }, seconds(to));
}

fn measure_trial(campaign: &mut Campaign, position: usize, from: f64, to: f64) {
    let trial = campaign.plan().trials[position].clone();
    campaign.event(&Event::TrialStarted { trial: trial.id.clone() }, seconds(from));
    campaign.end(&trial.id, Some(seconds(to)));
}

#[test]
fn before_the_first_trial_the_plan_is_believed() {
    assert_eq!(campaign().left(Duration::ZERO), seconds(4.0 * 10.3));
}

#[test]
fn measured_times_correct_the_estimate_of_all_that_is_left() {
    let mut campaign = campaign();
    measure_trial(&mut campaign, 0, 0.0, 20.6); // twice as long as planned
    let left = campaign.left(seconds(20.6)).as_secs_f64();
    assert!((left - 3.0 * 20.6).abs() < 0.001, "{left}");
    assert!((campaign.share(seconds(20.6)) - 0.25).abs() < 0.001);
}

#[test]
fn a_trial_that_the_user_ended_is_not_done() {
    let mut campaign = campaign();
    measure_trial(&mut campaign, 0, 0.0, 10.3);
    let trial = campaign.plan().trials[1].clone();
    campaign.event(&Event::TrialStarted { trial: trial.id.clone() }, seconds(10.3));
    let ended = TrialRecord { trial, end: TrialEnd::User, ..TrialRecord::default() };
    campaign.event(&Event::TrialFinished(Box::new(ended)), seconds(12.0));
    assert_eq!((campaign.done(), campaign.current().is_none()), (1, true));
}

#[test]
fn a_failed_trial_says_nothing_about_how_long_others_take() {
    let mut campaign = campaign();
    fail_trial(&mut campaign, 0, 0.0, 0.1);
    assert_eq!(campaign.done(), 1);
    assert_eq!(campaign.left(seconds(0.1)), seconds(3.0 * 10.3));
}

/// Starts the first trial at 0 s, measures from 1 s, and has completed this share at a later time.
fn measure_part(campaign: &mut Campaign, done: u64, total: u64, at: f64) {
    part(campaign, Phase::Measure, done, total, at);
}

fn part(campaign: &mut Campaign, phase: Phase, done: u64, total: u64, at: f64) {
    let trial = campaign.plan().trials[0].id.clone();
    campaign.event(&Event::TrialStarted { trial: trial.clone() }, seconds(0.0));
    campaign.event(&Event::PhaseStarted { trial: trial.clone(), phase }, seconds(1.0));
    let unit = ProgressUnit::Transactions;
    campaign.event(&Event::Progress { trial, phase, done, total, unit }, seconds(at));
}

#[test]
fn the_current_trial_is_projected_from_how_far_it_is() {
    let mut campaign = campaign();
    measure_part(&mut campaign, 500, 1000, 21.0);
    // Half of the measurement took 20 s, so 20 s are left, plus three trials as planned.
    let left = campaign.left(seconds(21.0)).as_secs_f64();
    assert!((left - (20.0 + 3.0 * 10.3)).abs() < 0.001, "{left}");
}

#[test]
fn a_load_that_takes_long_is_projected_and_the_measurement_follows() {
    let mut campaign = campaign();
    part(&mut campaign, Phase::Load, 250, 1000, 101.0);
    // A quarter took 100 s, so 300 s are left, plus this trial and three more as planned.
    let left = campaign.left(seconds(101.0)).as_secs_f64();
    assert!((left - (300.0 + 4.0 * 10.3)).abs() < 0.001, "{left}");
}

#[test]
fn trials_measured_before_an_interruption_take_no_time_any_more() {
    let plan = campaign().plan().clone();
    let done = plan.trials[..3].iter().map(|trial| trial.id.clone()).collect();
    let resumed = Campaign::new(plan, &done);
    assert_eq!(resumed.done(), 3);
    assert_eq!(resumed.left(Duration::ZERO), seconds(10.3));
}

#[test]
fn restarted_search_trial_counts_time_from_its_first_start() {
    let mut campaign = campaign();
    let trial = campaign.plan().trials[0].id.clone();
    for at in [0.0, 180.0, 230.0] {
        campaign.event(&Event::TrialStarted { trial: trial.clone() }, seconds(at));
    }
    campaign.end(&trial, Some(seconds(240.0)));
    let left = campaign.left(seconds(240.0)).as_secs_f64();
    assert!((left - 3.0 * 240.0).abs() < 0.001, "{left}");
}

#[test]
fn time_left_includes_remaining_search_load_steps() {
    let mut campaign = planned(", find = { while = \"p99 < 20ms\" }");
    let each = campaign.left(Duration::ZERO).as_secs_f64() / 4.0;
    assert!(each > 20.0, "a search has several steps: {each}");
    measure_part(&mut campaign, 9, 10, 10.0);
    let left = campaign.left(seconds(10.0)).as_secs_f64();
    assert!((left - (4.0 * each - 10.0)).abs() < 0.001, "{left}");
    // A trial that takes longer than other searches ends with its load step at the earliest.
    let left = campaign.left(seconds(1_000.0)).as_secs_f64();
    assert!(left > 3.0 * each, "{left}");
}
