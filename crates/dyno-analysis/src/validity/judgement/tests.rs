//! The same load gets the same warnings from every command that runs or reads it.

use crate::compare::{self, Side};
use dyno_model::catalog::WorkloadOptions;
use dyno_model::event::{Event, Listener};
use dyno_model::judge::{TrialRequirements, judge};
use dyno_model::monitor::{MonitorSample, SessionGroup};
use dyno_model::plan::{LoadBy, LoadPlan, Plan, Stages, StopRule, Trial};
use dyno_model::record::{CommitGap, Facts, IntervalRecord, TrialRecord};
use dyno_model::single::SingleTrial;
use dyno_model::stages::{Segment, Stage};
use dyno_model::target::{Endpoint, Engine, Target};
use dyno_model::units::Nanos;
use dyno_model::warning::{Severity, Warning};
use dyno_store::environment::Environment;
use dyno_store::fixture::Shape;
use dyno_store::{RunWriter, SingleRun, TimelineLine, TrialOutcome};
use std::mem::{Discriminant, discriminant};
use std::path::Path;

const SECOND: u64 = 1_000_000_000;
/// Seconds of the window, which follows one second of warm-up.
const WINDOW: u64 = 9;

/// Receives the events of the fixture's trial.
#[derive(Default)]
struct Heard(Option<TrialRecord>);

impl Listener for Heard {
    fn event(&mut self, event: &Event) {
        if let Event::TrialFinished(record) = event {
            self.0 = Some(TrialRecord::clone(record));
        }
    }
}

fn single() -> SingleTrial {
    let stop = StopRule::Duration(Nanos(WINDOW * SECOND));
    SingleTrial {
        name: "oltp_read_write".to_owned(),
        title: "sysbench oltp_read_write".to_owned(),
        description: String::new(),
        seed: 7,
        system: "MariaDB".to_owned(),
        target: Target::new(Engine::Mysql, Endpoint::Tcp { host: "db".to_owned(), port: 3306 }),
        clients: 8,
        options: WorkloadOptions::default(),
        load: LoadPlan { warmup: Nanos(SECOND), ..LoadPlan::new(stop) },
    }
}

/// A load with a busy generator, steal, and a stall of two seconds in which sessions waited for a
/// lock. No command has judged it yet.
fn record(trial: Trial) -> TrialRecord {
    let shape = Shape {
        systems: 1,
        variants: vec!["in-place"],
        clients: vec![8],
        blocks: 1,
        ..Shape::small()
    };
    let mut heard = Heard::default();
    shape.play(&shape.plan(), &mut heard);
    let mut record = heard.0.expect("the fixture's trial ends");
    record.trial = trial;
    record.window_length = Nanos(WINDOW * SECOND);
    let worker = &mut record.generator.workers[0];
    (worker.cpu, worker.wall) = (Nanos(95 * WINDOW * SECOND / 100), Nanos(WINDOW * SECOND));
    let gap = CommitGap { at: Nanos(4 * SECOND), length: Nanos(2 * SECOND) };
    record.longest_gap = Some(gap);
    record.facts = Some(Facts { steal: 0.07, gaps: vec![gap], ..Facts::default() });
    record.warnings.clear();
    record
}

/// Its intervals: 1,000 commits in each second except the two of the stall.
fn intervals() -> impl Iterator<Item = IntervalRecord> {
    (0..=WINDOW).map(|second| {
        let start = Nanos(second * SECOND);
        let mut interval = IntervalRecord::empty("b01-001", start, Nanos(SECOND), &[]);
        interval.is_warmup = second == 0;
        let commits = if (5..7).contains(&second) { 0 } else { 1000 };
        interval.response_times.record_n(8_000_000, commits).expect("the histogram grows");
        interval
    })
}

/// A sample in the middle of the stall.
fn sample() -> MonitorSample {
    let sessions = vec![SessionGroup {
        sessions: 8,
        state: "Query".to_owned(),
        wait: "Waiting for table metadata lock".to_owned(),
        statement: "UPDATE t SET c = ?".to_owned(),
    }];
    MonitorSample { trial: "b01-001".to_owned(), at_s: 6.0, sessions, ..MonitorSample::default() }
}

/// The results folder of `dyno run`.
fn by_run(folder: &Path, judged: bool) {
    let plan: Plan = single().plan();
    let trial = plan.trials[0].clone();
    let mut writer =
        RunWriter::create_at(folder, &plan, "", &Environment::default()).expect("a folder");
    writer.event(&Event::RunStarted {
        trials: 1,
        dyno_version: String::new(),
        boot: String::new(),
    });
    intervals().for_each(|interval| writer.interval(&interval));
    writer.sample(&sample());
    let mut record = record(trial.clone());
    if judged {
        record.warnings = judge(&record, &TrialRequirements::of(&plan, &trial));
    } else {
        record.facts = None;
    }
    writer.event(&Event::TrialFinished(Box::new(record)));
    writer.event(&Event::RunFinished { is_complete: true, is_interrupted: false });
    writer.finish().expect("written");
}

/// The results folder of `dyno sysbench` and `dyno pgbench`.
fn by_single(root: &Path) -> std::path::PathBuf {
    let mut writer = SingleRun::create(root, single(), "", String::new()).expect("a folder");
    intervals().for_each(|interval| writer.interval(&interval));
    writer.finish(Ok(|trial, _, _| record(trial)), false).expect("written")
}

fn reported(folder: &Path) -> Vec<Warning> {
    crate::read_model(folder).expect("readable").trials[0].warnings.clone()
}

fn compared(folder: &Path) -> Vec<Warning> {
    let Side { runs, .. } = compare::read_side(folder).expect("readable");
    let TrialOutcome::Finished(record) = &runs[0].outcomes["b01-001"] else {
        panic!("it has figures")
    };
    record.warnings.clone()
}

fn kinds(warnings: &[Warning]) -> Vec<Discriminant<Warning>> {
    warnings.iter().map(discriminant).collect()
}

#[test]
fn busy_generator_steal_and_stall_are_reported_by_every_command() {
    let scratch = tempfile::tempdir().expect("scratch");
    let of_run = scratch.path().join("run");
    by_run(&of_run, true);
    let of_single = by_single(scratch.path());
    let found = reported(&of_single);
    let is = |wanted: fn(&Warning) -> bool| found.iter().any(wanted);
    assert!(is(
        |it| matches!(it, Warning::GeneratorBusy { .. }) && it.severity() == Severity::Invalid
    ));
    assert!(is(|it| matches!(it, Warning::Steal { .. }) && it.severity() == Severity::Invalid));
    assert!(
        is(|it| matches!(it, Warning::Stall { .. }))
            && is(|it| matches!(it, Warning::Collapse { .. }))
    );
    assert_eq!(kinds(&reported(&of_run)), kinds(&found));
    assert_eq!(compared(&of_single), found, "dyno compare judges as dyno report does");
    assert_eq!(compared(&of_run), reported(&of_run));
}

#[test]
fn session_waits_of_a_stored_run_are_reported_on_reading() {
    let scratch = tempfile::tempdir().expect("scratch");
    for is_judged in [true, false] {
        let folder = scratch.path().join(format!("judged-{is_judged}"));
        by_run(&folder, is_judged);
        let found = reported(&folder);
        let stall = found.iter().find_map(|warning| match warning {
            Warning::Stall { sessions, longest_gap, .. } => Some((*longest_gap, sessions.clone())),
            _ => None,
        });
        assert_eq!(stall, Some((2.0, sample().sessions)), "{found:?}");
        let collapse = found.iter().find_map(|warning| match warning {
            Warning::Collapse { seconds, sessions, .. } => Some((*seconds, sessions.clone())),
            _ => None,
        });
        assert_eq!(collapse, Some((2.0, sample().sessions)), "{found:?}");
        assert!(
            found.iter().any(|warning| matches!(warning, Warning::GeneratorBusy { .. })),
            "{found:?}"
        );
    }
}

#[test]
fn a_fall_of_throughput_that_the_stages_ask_for_is_no_collapse() {
    let mut plan: Plan = single().plan();
    let trial = plan.trials[0].clone();
    let mut record = record(trial);
    record.facts = Some(Facts::default());
    record.window_length = Nanos(40 * SECOND);
    let second = |second: u64| TimelineLine {
        start_s: second as f64,
        length_s: 1.0,
        is_warmup: second == 0,
        committed: if second <= 20 { 1_000 } else { 10 },
        failed: 0,
        retries: 0,
        latency_ms: None,
    };
    let timeline: Vec<TimelineLine> = (0..=40).map(second).collect();
    let has_collapse = |plan: &Plan| {
        let judged = super::judge(plan, &record, &timeline, &[]);
        (
            judged.warnings.iter().any(|it| matches!(it, Warning::Collapse { .. })),
            judged.steadiness.is_some(),
        )
    };
    assert_eq!(has_collapse(&plan), (true, true));
    let stage = |name: &str, length: u64, rate: f64| Stage {
        name: name.to_owned(),
        segments: vec![Segment { length: Nanos(length * SECOND), from: rate, to: rate }],
    };
    let stages = vec![stage("busy", 20, 1_000.0), stage("quiet", 20, 10.0)];
    plan.configurations[0].load.stages = Some(Stages { by: LoadBy::Rate, stages });
    assert_eq!(has_collapse(&plan), (false, false), "it was meant to change");
}
