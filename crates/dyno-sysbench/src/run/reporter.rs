//! From the engine's intervals to interval lines and checkpoints.

use crate::logger::{Level, Logger};
use crate::options::general::General;
use crate::report::header;
use crate::report::{Counts, Latency, Queue, Snapshot};
use dyno_engine::LoadRecord;
use dyno_engine::recording::client_statistics::{ClientStatistics, StatisticsByClient};
use dyno_model::event::Listener;
use dyno_model::record::IntervalRecord;
use dyno_model::units::Nanos;
use std::collections::VecDeque;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Once};
use std::time::Duration;

/// Output of the printing thread, in order.
#[derive(Debug)]
pub(crate) enum Line {
    Interval(Box<Snapshot>),
    /// A full report, after which counting restarts.
    Checkpoint(Box<Snapshot>),
}

/// Announces once that all threads have started. This is done by the reporter, or before by a
/// thread that is about to run its first event, so that no output of events precedes it.
pub(crate) struct Start {
    logger: Arc<Logger>,
    /// Number of threads that have not yet reported that they are ready.
    silent: u32,
    lines: Vec<String>,
    once: Once,
}

impl Start {
    /// The announcement for a run with these options.
    pub(crate) fn new(logger: &Arc<Logger>, general: &General) -> Self {
        let mut lines = vec![header::STARTED.to_owned()];
        if !general.warmup.is_zero() {
            lines.push(header::warming_up(general));
        }
        Self { logger: Arc::clone(logger), silent: 0, lines, once: Once::new() }
    }

    /// The announcement where clients have no threads of their own.
    pub(crate) fn of_native(logger: &Arc<Logger>, general: &General) -> Self {
        Self { silent: general.threads, ..Self::new(logger, general) }
    }

    /// Prints the announcement, unless it was printed.
    pub(crate) fn announce(&self) {
        self.once.call_once(|| {
            for interval in 0..self.silent {
                self.logger.log(Level::Debug, &format!("Worker thread (#{interval}) initialized"));
            }
            self.lines.iter().for_each(|line| self.logger.notice(line));
        });
    }
}

/// Adds up intervals until output is due, and passes it to the printing thread: the coordinator of
/// a run must not wait for a terminal.
pub(crate) struct Reporter<'a> {
    general: &'a General,
    /// Remaining checkpoints.
    checkpoints: VecDeque<Duration>,
    start: Arc<Start>,
    /// Sums since the last interval line.
    current: Snapshot,
    /// Sums since the last checkpoint.
    since_checkpoint: Snapshot,
    client_statistics: Arc<StatisticsByClient>,
    statistics_before: Vec<ClientStatistics>,
    lines: Sender<Line>,
    /// All printed intervals, if kept for the JSON document.
    intervals: Vec<Snapshot>,
    checkpoint_reports: Vec<Snapshot>,
}

/// The reporter's data at the end of a run.
#[derive(Debug)]
pub(crate) struct ReportTotals {
    /// The last report: since the last checkpoint, or for the whole run.
    pub(crate) last: Snapshot,
    pub(crate) total: Snapshot,
    pub(crate) intervals: Vec<Snapshot>,
    /// Checkpoints, if there were any.
    pub(crate) checkpoints: Vec<Snapshot>,
}

impl<'a> Reporter<'a> {
    /// A reporter that sends its lines to `lines`.
    pub(crate) fn new(
        general: &'a General,
        client_statistics: Arc<StatisticsByClient>,
        start: Arc<Start>,
        lines: Sender<Line>,
    ) -> Self {
        Self {
            general,
            checkpoints: general
                .checkpoints
                .iter()
                .copied()
                .filter(|time| !time.is_zero())
                .collect(),
            start,
            current: Snapshot::default(),
            since_checkpoint: Snapshot::default(),
            client_statistics,
            statistics_before: vec![ClientStatistics::default(); general.threads as usize],
            lines,
            intervals: Vec::new(),
            checkpoint_reports: Vec::new(),
        }
    }

    /// Ends reporting, with the exact figures of the record.
    pub(crate) fn finish(self, record: &LoadRecord) -> ReportTotals {
        let total = whole(record, self.general.threads);
        let last = match self.checkpoint_reports.last() {
            None => total.clone(),
            Some(before) => Snapshot {
                length: total.elapsed.saturating_sub(before.elapsed),
                client_statistics: since(&total.client_statistics, &self.statistics_before),
                counts: self.since_checkpoint.counts,
                latency: self.since_checkpoint.latency,
                ..total.clone()
            },
        };
        ReportTotals {
            last,
            total,
            intervals: self.intervals,
            checkpoints: self.checkpoint_reports,
        }
    }

    /// Adds an interval to the sums, and prints what is due.
    fn take(&mut self, interval: &IntervalRecord) {
        let period = period(interval, self.general);
        // An interval cut short by the end of the run belongs to no line.
        let elapsed = period.elapsed;
        add(&mut self.current, &period);
        add(&mut self.since_checkpoint, &period);
        if self.general.interval.is_some_and(|length| is_multiple(elapsed, length)) {
            let mut snapshot = std::mem::take(&mut self.current);
            snapshot.threads = self.general.threads;
            if self.general.json.is_some() {
                self.intervals.push(snapshot.clone());
            }
            self.send(Line::Interval(Box::new(snapshot)));
        }
        while self.checkpoints.front().is_some_and(|time| *time <= elapsed) {
            self.checkpoints.pop_front();
            self.checkpoint();
        }
    }

    fn checkpoint(&mut self) {
        let mut snapshot = std::mem::take(&mut self.since_checkpoint);
        let now: Vec<ClientStatistics> = self.client_statistics.iter().collect();
        self.client_statistics.forget_extremes();
        snapshot.client_statistics = since(&now, &self.statistics_before);
        snapshot.threads = self.general.threads;
        self.statistics_before = now;
        self.checkpoint_reports.push(snapshot.clone());
        self.send(Line::Checkpoint(Box::new(snapshot)));
    }

    fn send(&self, line: Line) {
        // The printing thread outlives the run; if it is gone, output is impossible.
        let _ = self.lines.send(line);
    }
}

impl Listener for Reporter<'_> {
    fn clients_begin(&mut self, _from_now: Nanos) {
        self.start.announce();
    }

    fn message_of_generator(&mut self, text: &str) {
        self.start.logger.forward(text);
    }

    fn interval(&mut self, interval: &IntervalRecord) {
        if !interval.is_warmup {
            self.take(interval);
        }
    }
}

/// Whether a time is a multiple of an interval, to a microsecond.
fn is_multiple(time: Duration, interval: Duration) -> bool {
    let rest = time.as_nanos() % interval.as_nanos().max(1);
    rest < 1_000
}

/// Measured counts, plus those that a script added.
fn counts(mut measured: Counts, own: &Counts) -> Counts {
    measured.add(own);
    measured
}

fn period(interval: &IntervalRecord, general: &General) -> Snapshot {
    let end = Duration::from_nanos(interval.start.0 + interval.length.0);
    let exact = &interval.latency;
    Snapshot {
        elapsed: end.saturating_sub(general.warmup),
        length: Duration::from_nanos(interval.length.0),
        threads: general.threads,
        counts: counts(
            Counts {
                events: exact.count,
                outcomes: interval.outcomes,
                errors: interval.statement_errors,
                reconnects: interval.reconnects,
            },
            &interval.script_counters,
        ),
        latency: Latency { exact: *exact, histogram: interval.response_times.clone() },
        queue: general
            .rate
            .map(|_| Queue { length: interval.queue, concurrency: interval.concurrency }),
        ..Snapshot::default()
    }
}

/// Adds the next period to the sum.
fn add(sum: &mut Snapshot, period: &Snapshot) {
    sum.elapsed = period.elapsed;
    sum.length += period.length;
    sum.counts.add(&period.counts);
    sum.latency.add(&period.latency);
    sum.queue = period.queue;
}

fn since(now: &[ClientStatistics], before: &[ClientStatistics]) -> Vec<ClientStatistics> {
    now.iter()
        .zip(before)
        .map(|(now, before)| ClientStatistics {
            events: now.events - before.events,
            busy: Nanos(now.busy.0 - before.busy.0),
            ..*now
        })
        .collect()
}

fn whole(record: &LoadRecord, threads: u32) -> Snapshot {
    let counters = &record.counters;
    let elapsed = Duration::from_nanos(record.elapsed.0);
    Snapshot {
        elapsed,
        length: elapsed,
        threads,
        counts: counts(
            Counts {
                events: counters.committed,
                outcomes: counters.outcomes,
                errors: counters.statement_errors(),
                reconnects: counters.reconnects,
            },
            &record.script_counters,
        ),
        latency: Latency { exact: record.exact_latency, histogram: record.response_times.clone() },
        // At the end nothing is running, and queued events were never started.
        queue: record
            .open_loop
            .map(|open_loop| Queue { length: open_loop.unstarted, concurrency: 0 }),
        client_statistics: record.client_statistics.clone(),
        unfinished: record.is_cut_off.then_some(counters.unfinished),
        never_started: record.open_loop.map_or(0, |open_loop| open_loop.unstarted),
        given_up: counters.failed,
        statements: record.statements.clone(),
    }
}
