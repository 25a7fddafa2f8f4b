//! The coordinator of a load that is distributed over several generators: starts their clients
//! together, combines their intervals and results as they arrive, and stops all generators when one
//! of them fails.

use super::load::{LoadInput, LoadRecord, TrialError};
use super::load_monitor::LoadMonitor;
use super::partial_result::{AuditState, EndedMeasurement, MeasuredLoad, PartialResult};
use super::stall::StallDetector;
use super::start::Start;
use crate::loading::LoadingReport;
use crate::recording::stages::StageTally;
use crate::recording::{Collector, SampleNames};
use crate::window::MeasurementWindow;
use dyno_model::catalog::Growth;
use dyno_model::client_group::ClientSubset;
use dyno_model::event::{CommitActivity, Event, Listener, Phase, ProgressUnit};
use dyno_model::launcher::LauncherKind;
use dyno_model::reason::Reason;
use dyno_model::record::{GeneratorSummary, GeneratorsRecord, IntervalRecord};
use dyno_model::target::Target;
use dyno_model::units::Nanos;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How often the coordinator checks whether it has to stop.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// Time after the grace period in which a generator must have ended: its threads end, and its
/// result travels.
const END_TIMEOUT: Duration = Duration::from_secs(15);

/// The generators of a trial.
pub trait Generators {
    /// Assigns clients to each generator, which connects them and reports that it is ready.
    ///
    /// # Errors
    /// When a generator is lost.
    fn assign(&self, growth: Option<Growth>) -> Result<(), TrialError>;

    /// Numbers and machines of the generators, and what is known of their clocks, by their number.
    fn summaries(&self) -> Vec<GeneratorSummary>;

    /// Sets the moment at which all clients begin, and tells every generator.
    ///
    /// # Errors
    /// When a generator is lost.
    fn start(&self) -> Result<Instant, TrialError>;

    /// The next report of any generator; `None` when there is none for so long.
    ///
    /// # Errors
    /// When a generator is lost.
    fn next(&self, wait: Duration) -> Result<Option<(usize, GeneratorReport)>, TrialError>;

    /// Ends measuring in all generators.
    fn stop(&self, cause: &Reason);
}

/// A load outside of an experiment that generators drive.
pub struct DistributedLoad<'a, W> {
    /// Number of generators.
    pub generators: u32,
    /// What starts them.
    pub launcher: LauncherKind,
    /// What all clients do.
    pub client_work: W,
    /// Where the clients connect.
    pub targets: &'a [Target],
    /// The load of all clients.
    pub input: &'a LoadInput<'a>,
}

/// Starts generators for a load outside of an experiment.
pub trait GeneratorSource<W>: Sync {
    /// Calls `run` with the generators of a load, and ends them afterwards.
    ///
    /// # Errors
    /// Why they could not be started.
    fn with_generators(
        &self,
        load: &DistributedLoad<'_, W>,
        run: &mut dyn FnMut(&dyn Generators),
    ) -> Result<(), String>;
}

impl<W> DistributedLoad<'_, W> {
    /// Measures the load with generators of a source.
    ///
    /// # Errors
    /// Those of `run`, and when generators cannot be started.
    pub fn measure(
        &self,
        source: Option<&dyn GeneratorSource<W>>,
        run: impl FnOnce(&dyn Generators) -> Result<LoadRecord, TrialError>,
    ) -> Result<LoadRecord, TrialError> {
        let failed = |reason: &str| Err(TrialError::Failed(reason.into()));
        let Some(source) = source else { return failed("this program cannot start generators") };
        let (mut run, mut outcome) = (Some(run), None);
        let started = source.with_generators(self, &mut |generators| {
            outcome = run.take().map(|run| run(generators));
        });
        match (started, outcome) {
            (Ok(()), Some(outcome)) => outcome,
            (Err(reason), _) => failed(&reason),
            (Ok(()), None) => failed("no generator was started"),
        }
    }
}

/// A report of a generator to the coordinator.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GeneratorReport {
    /// So many of its clients are ready.
    Connected(u32),
    /// All of its clients are ready.
    Ready,
    /// It cannot begin.
    Failed(Reason),
    /// An interval is complete.
    Interval(Box<IntervalRecord>),
    /// The commits of its clients so far.
    Activity(CommitActivity),
    /// It ends measuring early.
    Stopped(Reason),
    /// Its clients have ended.
    Done(Box<PartialResult>),
    /// It loads data, before a trial.
    Loading(LoadingReport),
    /// A message of its program for the terminal.
    Message(String),
}

impl GeneratorReport {
    /// A complete interval. The response times of all transactions are left out if the transactions
    /// have names: the collector of the coordinator adds up those.
    #[must_use]
    pub fn interval(interval: &IntervalRecord) -> Self {
        let mut sent = interval.clone();
        if !sent.transactions.is_empty() {
            sent.response_times.reset();
        }
        Self::Interval(Box::new(sent))
    }
}

/// What is known of each generator.
#[derive(Default)]
struct GeneratorState {
    connected: u32,
    is_ready: bool,
    /// Its intervals are complete up to this time, nanoseconds since the epoch.
    complete_until: u64,
    commit_activity: CommitActivity,
    result: Option<PartialResult>,
}

/// Measures a load with the clients of all generators. `ready` is called when they are ready, and
/// returns their common start. Returns also what the audit needs.
pub(crate) fn measure(
    kinds: &SampleNames,
    generators: &dyn Generators,
    input: &LoadInput<'_>,
    common_start: impl FnOnce() -> Result<Start, TrialError>,
    listener: &mut dyn Listener,
) -> Result<(MeasuredLoad, Vec<AuditState>), TrialError> {
    generators.assign(input.growth)?;
    let states = generators.summaries().iter().map(|_| GeneratorState::default()).collect();
    let collector = Collector::new(&input.name, kinds, input.load.warmup.0, input.interval.0)
        .with_stages(StageTally::of(input.load));
    let mut coordinator = Coordinator { kinds, generators, input, states, collector };
    coordinator.await_ready(listener)?;
    let start = common_start()?;
    let window = Arc::new(input.window(start.epoch));
    listener.clients_begin(start.epoch.saturating_duration_since(Instant::now()).into());
    let monitor = coordinator.run(&start, &window, listener)?;
    Ok(coordinator.finish(window, &monitor, listener))
}

struct Coordinator<'a> {
    kinds: &'a SampleNames,
    generators: &'a dyn Generators,
    input: &'a LoadInput<'a>,
    states: Vec<GeneratorState>,
    collector: Collector,
}

impl Coordinator<'_> {
    fn await_ready(&mut self, listener: &mut dyn Listener) -> Result<(), TrialError> {
        let input = self.input;
        while !self.states.iter().all(|it| it.is_ready) {
            if input.interrupts.load(Ordering::Relaxed) > 0 {
                return Err(TrialError::Interrupted);
            }
            if let Some(reason) = (input.is_dead)() {
                return Err(TrialError::SystemDied(reason));
            }
            match self.generators.next(CHECK_INTERVAL)? {
                Some((from, GeneratorReport::Connected(connected))) => {
                    self.states[from].connected = connected;
                    listener.event(&Event::Progress {
                        trial: input.name.clone(),
                        phase: Phase::Connecting,
                        done: self.states.iter().map(|it| u64::from(it.connected)).sum(),
                        total: input.clients.count().into(),
                        unit: ProgressUnit::Connections,
                    });
                }
                Some((from, GeneratorReport::Ready)) => self.states[from].is_ready = true,
                Some((_, GeneratorReport::Message(text))) => listener.message_of_generator(&text),
                Some((from, GeneratorReport::Failed(reason))) => {
                    return Err(self.failed(from, reason));
                }
                Some((from, _)) => return Err(self.failed(from, "it sent results too early")),
                None => {}
            }
        }
        Ok(())
    }

    fn failed(&self, from: usize, reason: impl Into<Reason>) -> TrialError {
        TrialError::Failed(self.of_generator(from, reason.into()))
    }

    fn of_generator(&self, from: usize, reason: Reason) -> Reason {
        Reason::GeneratorFailed { name: self.name_of(from), reason: Box::new(reason) }
    }

    fn name_of(&self, from: usize) -> String {
        self.generators.summaries()[from].name()
    }

    /// Receives reports until all generators are done.
    fn run(
        &mut self,
        start: &Start,
        window: &MeasurementWindow,
        listener: &mut dyn Listener,
    ) -> Result<LoadMonitor, TrialError> {
        let (mut monitor, mut stall) = (LoadMonitor::new(), StallDetector::default());
        let mut is_stop_sent = false;
        while self.states.iter().any(|it| it.result.is_none()) {
            monitor.check(window, &self.collector, self.input, listener);
            start.propagate_stop(window);
            let activity =
                self.states.iter().map(|it| it.commit_activity).reduce(CommitActivity::and);
            let activity = activity.unwrap_or_default();
            stall.report(activity.at, || activity, listener);
            if let (Some(cause), false) = (window.stop_cause(), is_stop_sent) {
                is_stop_sent = true;
                self.generators.stop(&cause);
            }
            let limit = window.grace_ends().saturating_add(Nanos::from(END_TIMEOUT).0);
            if window.now() > limit {
                let from = self.states.iter().position(|it| it.result.is_none()).unwrap_or(0);
                return Err(self.failed(from, "it did not end in time"));
            }
            match self.generators.next(CHECK_INTERVAL)? {
                Some((_, GeneratorReport::Message(text))) => listener.message_of_generator(&text),
                Some((from, report)) => self.handle(from, report, window)?,
                None => continue,
            }
            let until = self.states.iter().map(|it| it.complete_until).min().unwrap_or(0);
            if until < u64::MAX {
                while let Some(interval) = self.collector.pop_complete(until) {
                    listener.interval(&interval);
                }
            }
        }
        Ok(monitor)
    }

    fn handle(
        &mut self,
        from: usize,
        report: GeneratorReport,
        window: &MeasurementWindow,
    ) -> Result<(), TrialError> {
        match report {
            GeneratorReport::Interval(interval) => {
                let limit = window.closes().saturating_add(self.input.load.grace.0);
                let is_late = interval.start.0 > limit.saturating_add(Nanos::from(END_TIMEOUT).0);
                if is_late || !self.collector.fits(&interval) {
                    return Err(self.failed(from, "it sent an interval of another workload"));
                }
                self.states[from].complete_until = interval.start.0 + interval.length.0;
                self.collector.merge(&interval);
            }
            GeneratorReport::Activity(activity) => self.states[from].commit_activity = activity,
            GeneratorReport::Stopped(cause) => window.stop(match cause {
                Reason::Interrupted => cause,
                cause => self.of_generator(from, cause),
            }),
            GeneratorReport::Done(result) => {
                if !result.fits(self.kinds) {
                    return Err(self.failed(from, "it sent results of another workload"));
                }
                // Its clients commit nothing more: the others decide whether commits have stopped.
                (self.states[from].complete_until, self.states[from].commit_activity.at) =
                    (u64::MAX, u64::MAX);
                self.states[from].result = Some(*result);
            }
            GeneratorReport::Failed(reason) => return Err(self.failed(from, reason)),
            GeneratorReport::Connected(_)
            | GeneratorReport::Ready
            | GeneratorReport::Loading(_)
            | GeneratorReport::Message(_) => {}
        }
        Ok(())
    }

    /// Combines the results.
    fn finish(
        mut self,
        window: Arc<MeasurementWindow>,
        monitor: &LoadMonitor,
        listener: &mut dyn Listener,
    ) -> (MeasuredLoad, Vec<AuditState>) {
        let (user, system) = monitor.cpu();
        let mut sum = PartialResult::default();
        let mut audit_state = Vec::new();
        let mut summaries = self.generators.summaries();
        let generators = summaries.len() as u32;
        for (summary, it) in summaries.iter_mut().zip(std::mem::take(&mut self.states)) {
            let mut result = it.result.expect("all are done");
            result.describe(summary, self.input.load.offered().is_some());
            if let Some(collector) = result.collector.take() {
                self.collector.merge_state(&collector);
            }
            let clients = self.input.clients.total;
            let subset = ClientSubset::new(clients, summary.number, generators);
            let statistics = std::mem::take(&mut result.client_statistics);
            self.input.client_statistics.enter(subset.ids, &statistics);
            audit_state.push(std::mem::take(&mut result.audit_state));
            sum.add(result);
        }
        let coordinator_cpu = Nanos(user.0 + system.0);
        let interval = self.input.interval;
        let generators = Some(GeneratorsRecord { summaries, coordinator_cpu, interval });
        let ended = EndedMeasurement {
            input: self.input,
            kinds: self.kinds.clone(),
            window,
            collector: self.collector,
            result: sum,
            generators,
        };
        (ended.into_measured(listener), audit_state)
    }
}
