use super::*;
use crate::campaign::tests::{campaign, seconds};
use dyno_report::EN;

fn state() -> State {
    State::new(campaign(), EN)
}

/// An interval of a second with response times in milliseconds.
fn interval(trial: &str, milliseconds: &[u64]) -> IntervalRecord {
    let mut interval = IntervalRecord::empty(trial, Nanos(0), Nanos(1_000_000_000), &[]);
    for time in milliseconds {
        latency::record(&mut interval.response_times, time * 1_000_000);
    }
    interval
}

fn start(state: &mut State, position: usize, at: f64) -> String {
    let trial = state.campaign().plan().trials[position].id.clone();
    state.event(&Event::TrialStarted { trial: trial.clone() }, seconds(at));
    trial
}

#[test]
fn intervals_become_points_and_the_oldest_are_dropped() {
    let mut state = state();
    let trial = start(&mut state, 1, 0.0);
    state.interval(&interval(&trial, &[1, 2, 3, 40]), seconds(1.0));
    state.interval(&interval(&trial, &[]), seconds(2.0));
    let points: Vec<Point> = state.points().copied().collect();
    assert_eq!(points.iter().map(|point| point.throughput).collect::<Vec<_>>(), [4.0, 0.0]);
    assert!(points[0].p99_ms.is_some_and(|p99| (p99 - 40.0).abs() < 0.1), "{points:?}");
    assert_eq!((points[1].p99_ms, points[1].trial), (None, 1));
    for second in 0..2 * POINTS_MAX {
        state.interval(&interval(&trial, &[1]), seconds(second as f64));
    }
    assert_eq!(state.points().len(), POINTS_MAX);
}

#[test]
fn errors_are_those_of_the_current_trial() {
    let mut state = state();
    let trial = start(&mut state, 0, 0.0);
    let mut with_errors = interval(&trial, &[1]);
    with_errors.errors_by_kind.insert(FailureKind::Deadlock, 3);
    state.interval(&with_errors, seconds(1.0));
    state.interval(&with_errors, seconds(2.0));
    assert_eq!(state.errors()[&FailureKind::Deadlock], 6);
    start(&mut state, 1, 3.0);
    assert!(state.errors().is_empty());
}

#[test]
fn cpus_are_the_growth_between_two_samples_of_a_trial() {
    let sample = |trial: &str, at_s: f64, seconds: f64| MonitorSample {
        trial: trial.to_owned(),
        at_s,
        values: BTreeMap::from([
            (names::GENERATOR_CPU_USER.to_owned(), seconds),
            (names::GENERATOR_CPU_SYSTEM.to_owned(), 2.0 * seconds),
        ]),
        ..MonitorSample::default()
    };
    let mut state = state();
    state.sample(&sample("a", 0.0, 1.0));
    assert_eq!(state.cpus(), Cpus::default());
    state.sample(&sample("a", 2.0, 2.0));
    assert_eq!(state.cpus(), Cpus { generator: Some(1.5), server: None });
    // A step of 10 ms within 10 ms is not the use of a whole CPU.
    state.sample(&sample("a", 2.01, 2.01));
    assert_eq!(state.cpus().generator, Some(1.5));
    state.sample(&sample("a", 3.0, 2.1));
    assert!((state.cpus().generator.unwrap() - 0.3).abs() < 1e-9, "{:?}", state.cpus());
    // Counters of another trial are not continued.
    let before = state.cpus();
    state.sample(&sample("b", 4.0, 0.0));
    assert_eq!(state.cpus(), before);
}

#[test]
fn warnings_are_kept_with_their_trial_but_notes_are_not() {
    let mut state = state();
    let trial = state.campaign().plan().trials[0].clone();
    let warnings = vec![Warning::SharedMachine, Warning::Failures { failed: 3, share: 0.5 }];
    assert_eq!(warnings[0].severity(), Severity::Note);
    let record = TrialRecord { trial, warnings, ..TrialRecord::default() };
    state.event(&Event::TrialFinished(Box::new(record)), seconds(1.0));
    let warnings: Vec<&str> = state.warnings().since(0).collect();
    assert!(warnings.len() == 1 && warnings[0].starts_with("b01-001  "), "{warnings:?}");
    assert!(matches!(state.trials()[0], Status::Measured(_)));
}

#[test]
fn only_the_last_lines_are_kept_and_their_numbers_stay() {
    let mut recent = Recent::default();
    (0..LINES_MAX + 5).for_each(|number| recent.push(&number.to_string()));
    assert_eq!(recent.total(), LINES_MAX + 5);
    assert_eq!(recent.since(LINES_MAX + 4).collect::<Vec<_>>(), [(LINES_MAX + 4).to_string()]);
    assert_eq!(recent.since(0).next(), Some("5"));
}

#[test]
fn terminal_control_sequences_are_removed_from_messages() {
    let mut state = state();
    state.say("\x1b]0;owned\x07");
    let line = state.lines().since(0).next().unwrap();
    assert!(!line.contains('\x1b') && !line.contains('\x07'), "{line:?}");
}

#[test]
fn the_silence_ends_with_commits_and_with_the_trial() {
    let mut state = state();
    start(&mut state, 0, 0.0);
    state.commits_stopped(true, seconds(5.0));
    assert_eq!(state.silence(seconds(8.0)), Some(seconds(3.0)));
    state.commits_stopped(false, seconds(9.0));
    assert_eq!(state.silence(seconds(9.0)), None);
    state.commits_stopped(true, seconds(10.0));
    start(&mut state, 1, 11.0);
    assert_eq!(state.silence(seconds(12.0)), None);
}
