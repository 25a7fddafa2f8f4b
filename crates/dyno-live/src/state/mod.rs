//! The state of a run that all views show: figures of the last minutes, errors, the load of
//! generator and server, trials, warnings. Times are parameters.

use crate::campaign::Campaign;
use dyno_model::event::{Event, Phase};
use dyno_model::failure::FailureKind;
use dyno_model::latency;
use dyno_model::mask::masked;
use dyno_model::monitor::{MonitorSample, names};
use dyno_model::plan::ComparisonMetric;
use dyno_model::printable;
use dyno_model::record::{IntervalRecord, TrialRecord};
use dyno_model::units::Nanos;
use dyno_model::warning::{Severity, Warning};
use dyno_report::Lang;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// Intervals that are kept: ten minutes, if an interval is a second.
const POINTS_MAX: usize = 600;

/// Lines and warnings that are kept.
const LINES_MAX: usize = 2_000;

/// Minimum time between the two samples that give the CPUs in use. Processes' CPU times grow in
/// steps of 10 ms, and the monitor takes several samples shortly before a trial is measured.
const CPUS_OVER_S: f64 = 0.5;

/// The figures of one interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Position of its trial in the run order.
    pub trial: usize,
    /// Its end, since the run began.
    pub at: Duration,
    /// True for warm-up.
    pub is_warmup: bool,
    /// Committed transactions per second.
    pub throughput: f64,
    /// 99th percentile of response time; absent when nothing was committed.
    pub p99_ms: Option<f64>,
    /// Errors per second.
    pub errors: f64,
}

/// The progress of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Status {
    /// It has not started.
    #[default]
    Waiting,
    /// It is the current trial.
    Running,
    /// It has results.
    Measured(TrialFigures),
    /// It could not be measured.
    Failed,
}

/// The figures of a measured trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrialFigures {
    /// Committed transactions per second.
    pub throughput: f64,
    /// 99th percentile of response time, if it is known.
    pub p99_ms: Option<f64>,
    /// False when a warning makes the trial invalid.
    pub is_valid: bool,
}

impl From<&TrialRecord> for TrialFigures {
    fn from(record: &TrialRecord) -> Self {
        Self {
            throughput: record.throughput(),
            p99_ms: record.figure(ComparisonMetric::P99Ms),
            is_valid: record.is_valid(),
        }
    }
}

/// Upper bounds of the buckets of response times, in seconds, but for the last, which has none.
pub const BUCKETS_S: [f64; 16] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5,
    5.0, 10.0,
];

/// Counters of a trial since its clients began, warm-up included.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Totals {
    /// Failed transactions.
    pub failed: u64,
    /// Retries.
    pub retries: u64,
    /// Sum of the response times of committed transactions.
    pub response_s: f64,
    /// Committed transactions with a response time in each bucket; the last has no upper bound.
    pub buckets: [u64; BUCKETS_S.len() + 1],
}

impl Totals {
    fn add(&mut self, interval: &IntervalRecord) {
        self.failed += interval.failed;
        self.retries += interval.retries;
        self.response_s += interval.latency.sum as f64 / 1e9;
        for step in interval.response_times.iter_recorded() {
            let seconds = step.value_iterated_to() as f64 / 1e9;
            let bucket = BUCKETS_S.partition_point(|bound| *bound < seconds);
            self.buckets[bucket] += step.count_since_last_iteration();
        }
    }
}

/// CPUs in use, as of the last two samples of the monitor.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cpus {
    /// By the load generator.
    pub generator: Option<f64>,
    /// By the server's processes.
    pub server: Option<f64>,
}

/// The state of a run.
#[derive(Debug)]
pub struct State {
    campaign: Campaign,
    lang: Lang,
    points: VecDeque<Point>,
    trials: Vec<Status>,
    errors: BTreeMap<FailureKind, u64>,
    totals: Totals,
    queue: u64,
    sample: Option<MonitorSample>,
    cpus: Cpus,
    /// When the last transaction before the present silence was committed.
    silent_since: Option<Duration>,
    lines: Recent,
    warnings: Recent,
    address: Option<String>,
    is_over: bool,
}

/// The last texts of a growing list.
#[derive(Debug, Default)]
pub struct Recent {
    newest: VecDeque<String>,
    total: usize,
}

impl Recent {
    /// Adds a text of another program, perhaps: it must not control a terminal, or tell passwords.
    fn push(&mut self, text: &str) {
        let text = printable::line(&masked(text)).into_owned();
        if self.newest.len() == LINES_MAX {
            self.newest.pop_front();
        }
        self.newest.push_back(text);
        self.total += 1;
    }

    /// Number of texts, including those that are no longer kept.
    #[must_use]
    pub fn total(&self) -> usize {
        self.total
    }

    /// The texts after the first `seen`, in order.
    pub fn since(&self, seen: usize) -> impl DoubleEndedIterator<Item = &str> {
        let dropped = self.total - self.newest.len();
        self.newest.iter().skip(seen.saturating_sub(dropped)).map(String::as_str)
    }
}

impl State {
    /// The state before the run begins.
    #[must_use]
    pub fn new(campaign: Campaign, lang: Lang) -> Self {
        Self {
            trials: vec![Status::default(); campaign.plan().trials.len()],
            campaign,
            lang,
            points: VecDeque::new(),
            errors: BTreeMap::new(),
            totals: Totals::default(),
            queue: 0,
            sample: None,
            cpus: Cpus::default(),
            silent_since: None,
            lines: Recent::default(),
            warnings: Recent::default(),
            address: None,
            is_over: false,
        }
    }

    /// Title of the experiment.
    #[must_use]
    pub fn title(&self) -> String {
        printable::line(&masked(&self.campaign.plan().title)).into_owned()
    }

    /// Where a browser finds the run, if a server is started.
    #[must_use]
    pub fn address(&self) -> Option<&str> {
        self.address.as_deref()
    }

    /// A server was started.
    pub fn served_at(&mut self, address: &str) {
        self.address = Some(address.to_owned());
    }

    /// Place in the plan and time left.
    #[must_use]
    pub fn campaign(&self) -> &Campaign {
        &self.campaign
    }

    /// The language of its texts.
    #[must_use]
    pub fn lang(&self) -> Lang {
        self.lang
    }

    /// The last intervals, in order.
    pub fn points(&self) -> impl DoubleEndedIterator<Item = &Point> + ExactSizeIterator {
        self.points.iter()
    }

    /// The trials in run order.
    #[must_use]
    pub fn trials(&self) -> &[Status] {
        &self.trials
    }

    /// Errors of the current trial, or of the last one, by kind.
    #[must_use]
    pub fn errors(&self) -> &BTreeMap<FailureKind, u64> {
        &self.errors
    }

    /// Counters of the current trial, or of the last one.
    #[must_use]
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Arrivals of an open loop that are due and have not started.
    #[must_use]
    pub fn queue(&self) -> u64 {
        self.queue
    }

    /// CPUs in use.
    #[must_use]
    pub fn cpus(&self) -> Cpus {
        self.cpus
    }

    /// How long no transaction has committed, although commits are usually frequent.
    #[must_use]
    pub fn silence(&self, now: Duration) -> Option<Duration> {
        self.silent_since.map(|since| now.saturating_sub(since))
    }

    /// What happened, a line each.
    #[must_use]
    pub fn lines(&self) -> &Recent {
        &self.lines
    }

    /// Warnings about trials and the run.
    #[must_use]
    pub fn warnings(&self) -> &Recent {
        &self.warnings
    }

    /// True when the run has ended.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Adds a line.
    pub fn say(&mut self, line: &str) {
        self.lines.push(line);
    }

    /// Processes an event that occurred at `now` (since the run began).
    pub fn event(&mut self, event: &Event, now: Duration) {
        self.campaign.event(event, now);
        if let Some(line) = dyno_report::event(self.campaign.plan(), event, self.lang) {
            self.lines.push(&line);
        }
        match event {
            Event::TrialStarted { trial } => {
                self.set(trial, Status::Running);
                self.begin_trial();
            }
            Event::PhaseStarted { phase: Phase::Audit, .. } => self.silent_since = None,
            Event::TrialFinished(record) => {
                self.set(&record.trial.id, Status::Measured(TrialFigures::from(&**record)));
                for warning in &record.warnings {
                    self.warn(Some(&record.trial.id), warning);
                }
            }
            Event::TrialFailed { trial, .. } => self.set(trial, Status::Failed),
            Event::RunWarning(warning) => self.warn(None, warning),
            Event::RunFinished { .. } => self.is_over = true,
            _ => {}
        }
    }

    fn begin_trial(&mut self) {
        self.errors.clear();
        self.totals = Totals::default();
        self.queue = 0;
        self.sample = None;
        self.cpus = Cpus::default();
        self.silent_since = None;
    }

    fn set(&mut self, id: &str, status: Status) {
        let position = self.campaign.plan().trials.iter().position(|trial| trial.id == id);
        if let Some(position) = position {
            self.trials[position] = status;
        }
    }

    fn warn(&mut self, trial: Option<&str>, warning: &Warning) {
        if warning.severity() == Severity::Note {
            return;
        }
        let text = dyno_report::warning(warning, self.lang);
        let text = trial.map_or_else(|| text.clone(), |trial| format!("{trial}  {text}"));
        self.warnings.push(&text);
    }

    /// Processes an interval of the current trial, which ended at `now`.
    pub fn interval(&mut self, interval: &IntervalRecord, now: Duration) {
        self.campaign.interval(interval);
        let Some(trial) = self.campaign.current().map(|current| current.position) else { return };
        for (kind, count) in &interval.errors_by_kind {
            *self.errors.entry(*kind).or_default() += count;
        }
        self.totals.add(interval);
        self.queue = interval.queue;
        let (seconds, histogram) = (interval.length.as_secs_f64(), &interval.response_times);
        if seconds <= 0.0 {
            return;
        }
        let p99 = || Nanos(latency::percentile(histogram, 99.0)).as_millis_f64();
        if self.points.len() == POINTS_MAX {
            self.points.pop_front();
        }
        self.points.push_back(Point {
            trial,
            at: now,
            is_warmup: interval.is_warmup,
            throughput: histogram.len() as f64 / seconds,
            p99_ms: (!histogram.is_empty()).then(p99),
            errors: interval.errors_by_kind.values().sum::<u64>() as f64 / seconds,
        });
    }

    /// Commits have stopped or begun again; see [`dyno_model::event::Listener::commits_stopped`].
    pub fn commits_stopped(&mut self, has_stopped: bool, now: Duration) {
        self.silent_since = has_stopped.then_some(now);
    }

    /// Processes a sample of the monitor.
    pub fn sample(&mut self, sample: &MonitorSample) {
        if sample.values.is_empty() {
            return;
        }
        if let Some(last) = self.sample.as_ref().filter(|last| last.trial == sample.trial) {
            let seconds = sample.at_s - last.at_s;
            if seconds < CPUS_OVER_S {
                return;
            }
            let rate = |user: &str, system: &str| {
                let grown = |name| Some(sample.values.get(name)? - last.values.get(name)?);
                Some((grown(user)? + grown(system)?) / seconds).filter(|rate| *rate >= 0.0)
            };
            let Cpus { generator, server } = self.cpus;
            self.cpus = Cpus {
                generator: rate(names::GENERATOR_CPU_USER, names::GENERATOR_CPU_SYSTEM)
                    .or(generator),
                server: rate(names::SERVER_CPU_USER, names::SERVER_CPU_SYSTEM).or(server),
            };
        }
        self.sample = Some(sample.clone());
    }
}

#[cfg(test)]
mod tests;
