//! Trials that search for the highest load a system takes: which loads are tried is decided by [`Climb`], here they are tried. A step is a trial
//! of its own, with connections of its own and with data as every trial has them, so that nothing of the step before is left in a queue. Only the last,
//! which confirms what was found, is written down as the trial.

use crate::data::Missing;
use dyno_model::event::{Event, Listener};
use dyno_model::finding::{Finding, KEPT_UP_ENOUGH, Severity};
use dyno_model::limit::LimitMeasure;
use dyno_model::plan::{LoadBy, Treatment, Trial};
use dyno_model::record::TrialRecord;
use dyno_model::search::{Climb, Next, Search, Step};
use std::collections::BTreeMap;

type Measure<'m> = dyn FnMut(&Trial, &Treatment, &mut dyn Listener) -> Result<TrialRecord, Missing> + 'm;

#[derive(Debug, Default)]
pub(crate) struct Searches {
    /// What was found last, by treatment: the next block begins near it.
    found: BTreeMap<usize, f64>,
}

impl Searches {
    /// Searches for the highest load of a treatment.
    ///
    /// # Errors
    /// When a step cannot be measured, or when no load is held.
    pub(crate) fn run(
        &mut self,
        search: Search,
        trial: &Trial,
        treatment: &Treatment,
        listener: &mut dyn Listener,
        measure: &mut Measure<'_>,
    ) -> Result<TrialRecord, Missing> {
        let mut climb = Climb::new(search, treatment.clients);
        if let Some(found) = self.found.get(&trial.treatment) {
            climb = climb.near(*found);
        }
        for number in 1.. {
            let (load, is_last) = match climb.next() {
                Next::Try(load) => (load, false),
                Next::Confirm(load) => (load, true),
                Next::Hopeless => return Err(Missing::Trial(hopeless(&search, &climb))),
            };
            let under = with_load(treatment, search, load);
            // What a step draws follows from its id, so that none does the work of another again.
            let step = Trial { id: format!("{}-s{number:02}", trial.id), ..trial.clone() };
            let mut record = match is_last {
                false => measure(&step, &under, &mut Quiet(listener))?,
                true => measure(trial, &under, listener)?,
            };
            if record.is_cut_short() {
                record.trial = trial.clone();
                return Ok(record);
            }
            let step = judged(&search, load, &record);
            listener.event(&Event::Stepped { trial: trial.id.clone(), step });
            if climb.take(step) {
                record.search = climb.into_record();
                self.found.extend(record.search.as_ref().map(|found| (trial.treatment, found.found())));
                return Ok(record);
            }
            if is_last {
                // What was written of it counts no more.
                listener.event(&Event::TrialStarted { trial: trial.id.clone() });
            }
        }
        unreachable!("a search has a last step")
    }
}

fn with_load(treatment: &Treatment, search: Search, load: f64) -> Treatment {
    let mut under = treatment.clone();
    match search.most {
        LoadBy::Rate => under.load.rate = Some(load),
        LoadBy::Clients => under.clients = load as u32,
    }
    under
}

/// How a step went.
fn judged(search: &Search, load: f64, record: &TrialRecord) -> Step {
    let figure = match search.measure {
        LimitMeasure::Failed => Some(100.0 * missing(record)),
        measure => measure.metric().and_then(|metric| record.figure(metric)),
    };
    // Of too few transactions for a percentile, all have to stay below the limit.
    let slowest = record.response().map(|times| times.max.nanos / 1e6);
    let kept_up =
        record.open_loop.map_or(1.0, |open| record.ledger.committed as f64 / open.arrived.max(1) as f64);
    // A bound is compared as it is: whatever waited longer than the limit is in it, and what had not waited so long when
    // the window closed is no more than came in a time as long as the limit.
    let is_bound = search.measure.metric().is_some_and(|metric| record.is_bound(metric));
    let is_below = figure.or(slowest).is_some_and(|figure| figure < search.below);
    let ledger = &record.ledger;
    let lost = ledger.failed + ledger.unfinished;
    let failures = Finding::Failures { failed: lost, share: lost as f64 / ledger.started.max(1) as f64 };
    let has_failed = search.measure != LimitMeasure::Failed && failures.severity() == Severity::Invalid;
    let is_held = is_below && !has_failed && kept_up >= KEPT_UP_ENOUGH && ledger.committed > 0;
    let is_of_generator = |finding: &Finding| {
        matches!(
            finding,
            Finding::GeneratorBusy { .. } | Finding::HeldUp { .. } | Finding::GeneratorLate { .. }
        ) && finding.severity() == Severity::Invalid
    };
    Step {
        load,
        figure,
        is_bound,
        throughput: record.throughput(),
        is_held,
        is_by_generator: !is_held && record.findings.iter().any(is_of_generator),
    }
}

/// The share of what arrived, or was begun, that was not committed.
fn missing(record: &TrialRecord) -> f64 {
    let ledger = &record.ledger;
    let unstarted = record.open_loop.map_or(0, |open| open.unstarted);
    let missing = ledger.failed + ledger.unfinished + unstarted;
    missing as f64 / (ledger.started + unstarted).max(1) as f64
}

fn hopeless(search: &Search, climb: &Climb) -> String {
    let Search { most, measure, below, .. } = search;
    let (load, unit) = match (climb.lowest(), most) {
        (load, LoadBy::Rate) => (load, "transactions/s"),
        (load, LoadBy::Clients) => (load, "client(s)"),
    };
    let limit = if *measure == LimitMeasure::Failed { format!("{below} %") } else { format!("{below} ms") };
    format!("not even {load} {unit} kept {measure} below {limit}")
}

/// Hears of systems and of progress, and not of figures that are not the trial's.
struct Quiet<'l>(&'l mut dyn Listener);

impl Listener for Quiet<'_> {
    fn event(&mut self, event: &Event) {
        match event {
            Event::SystemStarting { .. }
            | Event::SystemReady { .. }
            | Event::SystemStopped { .. }
            | Event::SystemFailed { .. }
            | Event::SettingsNoted { .. }
            | Event::RunFinding(_) => self.0.event(event),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::latency::histogram;
    use dyno_model::ledger::Ledger;
    use dyno_model::plan::{LoadPlan, StopRule, WorkloadPlan};
    use dyno_model::record::OpenLoop;
    use dyno_model::response::Responses;
    use dyno_model::units::Nanos;

    const SEARCH: Search =
        Search { most: LoadBy::Rate, measure: LimitMeasure::P95, below: 20.0, from: 100.0 };

    /// A window of a second in which transactions of 10 ms were committed and others were never started, half a second old.
    fn record(committed: u64, unstarted: u64) -> TrialRecord {
        let (mut times, mut censored) = (histogram(), histogram());
        times.record_n(10_000_000, committed).unwrap();
        censored.record_n(500_000_000, unstarted).unwrap();
        let transaction = (&times).into();
        let response = Responses { committed: times, censored }.summary();
        TrialRecord {
            measured: Nanos(1_000_000_000),
            ledger: Ledger { started: committed, committed, ..Ledger::default() },
            transaction,
            open_loop: Some(OpenLoop { arrived: committed + unstarted, unstarted, response, lag: None }),
            ..TrialRecord::default()
        }
    }

    #[test]
    fn a_load_is_held_when_its_figure_is_known_to_lie_below_and_the_system_kept_up() {
        let held = |search: Search, record: &TrialRecord| {
            let step = judged(&search, 100.0, record);
            (step.is_held, step.is_bound)
        };
        let of = |measure, below| Search { measure, below, ..SEARCH };
        assert_eq!(held(SEARCH, &record(1_000, 0)), (true, false));
        assert_eq!(held(of(LimitMeasure::P95, 5.0), &record(1_000, 0)), (false, false));
        // 2 % waited for half a second when the window closed: of the 99th percentile only a bound is known, which lies
        // beyond; the 95th is known; and 4 % are no keeping up.
        assert_eq!(held(of(LimitMeasure::P99, 400.0), &record(1_000, 20)), (false, true));
        assert_eq!(held(SEARCH, &record(1_000, 20)), (true, false));
        assert_eq!(held(SEARCH, &record(1_000, 42)), (false, false));
        // What came last, and had not waited as long as the limit, is no reason to break it.
        assert_eq!(held(of(LimitMeasure::P99, 600.0), &record(1_000, 20)), (true, true));
        assert_eq!(held(of(LimitMeasure::Mean, 20.0), &record(1_000, 1)), (true, true));
        // Who fails quickly is not fast.
        let mut failing = record(1_000, 0);
        (failing.ledger.started, failing.ledger.failed) = (1_002, 2);
        assert!(!judged(&SEARCH, 1.0, &failing).is_held);
        (failing.ledger.started, failing.ledger.failed) = (2_000, 1);
        assert!(judged(&SEARCH, 1.0, &failing).is_held);
        // Too few for a percentile: the slowest counts.
        assert_eq!(judged(&SEARCH, 1.0, &record(5, 0)).figure, None);
        assert_eq!(held(SEARCH, &record(5, 0)), (true, false));
        assert_eq!(held(of(LimitMeasure::P95, 5.0), &record(5, 0)), (false, false));
        assert!(!judged(&SEARCH, 1.0, &record(0, 0)).is_held, "nothing is no proof");
        let step = judged(&of(LimitMeasure::Failed, 1.0), 100.0, &record(980, 20));
        assert_eq!((step.is_held, step.figure), (false, Some(2.0)));
    }

    #[test]
    fn a_generator_at_its_limit_is_told_where_the_load_was_not_held() {
        let busy = Finding::GeneratorBusy { share: 0.95 };
        let of = |below| {
            let record = TrialRecord { findings: vec![busy.clone()], ..record(1_000, 0) };
            judged(&Search { below, ..SEARCH }, 100.0, &record).is_by_generator
        };
        assert_eq!((of(5.0), of(20.0)), (true, false));
    }

    #[derive(Default)]
    struct Heard(Vec<String>);

    impl Listener for Heard {
        fn event(&mut self, event: &Event) {
            self.0.push(match event {
                Event::TrialStarted { trial } => format!("started {trial}"),
                Event::Stepped { step, .. } => format!("stepped {}", step.load),
                other => format!("{other:?}"),
            });
        }
    }

    #[test]
    fn each_step_has_a_name_of_its_own_and_the_last_is_the_trial() {
        let treatment = Treatment {
            system: 0,
            clients: 8,
            workload: WorkloadPlan::new("idle", dyno_model::catalog::WorkloadOptions::default()),
            load: LoadPlan { find: Some(SEARCH), ..LoadPlan::new(StopRule::Duration(Nanos(1))) },
            levels: Vec::new(),
            variation: dyno_model::plan::Variation::default(),
            beside: Vec::new(),
        };
        let (mut searches, mut heard) = (Searches::default(), Heard::default());
        let mut measured: Vec<(String, f64)> = Vec::new();
        let mut run = |block: u32, luck: usize| {
            let trial = Trial { id: format!("b0{block}-001"), block, treatment: 0 };
            measured.clear();
            let found =
                searches.run(SEARCH, &trial, &treatment, &mut heard, &mut |trial, under, listener| {
                    listener.event(&Event::PhaseStarted {
                        trial: trial.id.clone(),
                        phase: dyno_model::event::Phase::Ramp,
                    });
                    let rate = under.load.rate.unwrap();
                    measured.push((trial.id.clone(), rate));
                    // The system takes 1,000 per second; the confirmation of it meets a checkpoint once.
                    let is_held = rate <= 1_000.0 && measured.len() != luck;
                    Ok(record(if is_held { 1_000 } else { 0 }, 1_000 * u64::from(!is_held)))
                });
            (found.unwrap_or_else(|_| panic!("it finds something")).search.unwrap(), measured.clone())
        };
        let (first, steps) = run(1, 0);
        assert!((first.held..=first.broken.unwrap()).contains(&1_000.0), "{first:?}");
        let names: Vec<&str> = steps.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!((names[0], names[names.len() - 1]), ("b01-001-s01", "b01-001"));
        assert_eq!(names.iter().collect::<std::collections::BTreeSet<_>>().len(), names.len());
        let (second, near) = run(2, 0);
        assert!(near.len() < steps.len() && (near[0].1 / first.found() - 1.0).abs() < 0.01, "{near:?}");
        assert!((second.held / first.held - 1.0).abs() < 0.04, "{second:?}");
        let (third, again) = run(3, near.len());
        assert!((third.held / first.held - 1.0).abs() < 0.04 && again.len() > near.len(), "{third:?}");
        let of_third = |what: &str| heard.0.iter().filter(|it| it.starts_with(what)).count();
        assert_eq!(
            of_third("started b03-001"),
            1,
            "what was written of the attempt counts no more: {:?}",
            heard.0
        );
        assert_eq!(of_third("stepped"), steps.len() + near.len() + again.len());
        assert_eq!(of_third("PhaseStarted"), 4, "steps are told as steps: {:?}", heard.0);
    }
}
