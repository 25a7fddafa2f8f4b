//! The monitor of one trial, as a listener between the trial and its listeners: it passes them
//! samples in order of time, on the thread of all events, so that only the monitor's own threads
//! run during the load.

use super::others::{self, ProcessTable};
use super::sampler::{Order, Reading, Sampler};
use super::watched::Watched;
use dyno_model::event::{Event, Listener, Phase};
use dyno_model::history::History;
use dyno_model::judge::collapse::{self, CollapseDetector, IntervalRate, SessionSample};
use dyno_model::judge::is_meant;
use dyno_model::monitor::{MonitorSample, growth, names};
use dyno_model::plan::LoadPlan;
use dyno_model::record::{IntervalRecord, TrialRecord};
use dyno_model::units::Nanos;
use dyno_model::warning::{Severity, Warning};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

/// Totals with the monitor's own cost.
const COSTS: [&str; 3] =
    [names::MONITOR_CPU, names::MONITOR_SERVER_CPU, names::MONITOR_COMMAND_CPU];

/// Monitors one trial.
pub struct Watch<'l> {
    listener: &'l mut dyn Listener,
    trial: String,
    /// Length of the warm-up, i.e. time from the start of the first client to the start of the
    /// window.
    warmup: Duration,
    sampler: Option<Sampler>,
    /// Start of the first client; known a moment before it.
    epoch: Option<Instant>,
    /// Readings from before the epoch was known.
    early: Vec<Reading>,
    rates: Vec<IntervalRate>,
    samples: Vec<SessionSample>,
    /// The server's processes on this machine. CPU used by other processes is only reported when
    /// these are known or the server is elsewhere.
    servers: Vec<u32>,
    /// Whether a server on this machine has no known process, and would count as another process.
    is_server_unknown: bool,
    /// Processor times of all processes at the bounds, with their times in seconds since the start
    /// of the first client.
    processes: Vec<(f64, ProcessTable)>,
    /// What could not be observed.
    problems: Vec<String>,
    /// Samples with the monitor's own cost.
    costs: Vec<MonitorSample>,
    collapse_detector: CollapseDetector,
    /// The last interval was a collapse.
    is_low: bool,
    /// Nothing is committed at the moment.
    is_stalled: bool,
    is_collapsed: bool,
}

/// Tells the monitor that the clients are about to start or have ended.
pub struct Trigger(Option<Sender<Order>>);

impl Trigger {
    /// Requests a sample now.
    pub fn fire(&self) {
        if let Some(orders) = &self.0 {
            // A monitor that has ended receives nothing.
            let _ = orders.send(Order::Sample);
        }
    }
}

impl<'l> Watch<'l> {
    /// Starts sampling once a second, until [`Watch::finish`] or until the watch is dropped. Where
    /// the server's machine is observed through a command, this waits for its first answer or
    /// failure.
    pub fn begin(
        trial: &str,
        warmup: Duration,
        watched: Watched,
        listener: &'l mut dyn Listener,
    ) -> Self {
        Self {
            listener,
            trial: trial.to_owned(),
            warmup,
            servers: watched.pids.clone(),
            is_server_unknown: watched.is_local
                && watched.pids.is_empty()
                && watched.target.engine.is_server(),
            processes: Vec::new(),
            sampler: Sampler::start(watched),
            epoch: None,
            early: Vec::new(),
            rates: Vec::new(),
            samples: Vec::new(),
            problems: Vec::new(),
            costs: Vec::new(),
            collapse_detector: CollapseDetector::default(),
            is_low: false,
            is_stalled: false,
            is_collapsed: false,
        }
    }

    /// Triggers samples just before the clients start and after they have ended.
    #[must_use]
    pub fn trigger(&self) -> Trigger {
        Trigger(self.sampler.as_ref().map(|sampler| sampler.orders.clone()))
    }

    /// Ends the monitor and adds its warnings to the record of the trial, which had this load.
    pub fn finish(mut self, record: &mut TrialRecord, load: &LoadPlan) {
        self.stop();
        let opens = self.warmup.as_secs_f64();
        let closes = opens + record.window_length.as_secs_f64();
        collapse::explain_stalls(&mut record.warnings, &self.samples, opens);
        let collapses = collapse::warnings(&self.rates, &self.samples, opens, closes);
        let doubtful: Vec<Warning> =
            collapses.into_iter().filter(|warning| !is_meant(record, load, warning)).collect();
        record.warnings.extend(doubtful);
        record.warnings.extend(self.others());
        record.warnings.extend(self.cost(opens, closes));
        let problems = self.problems.drain(..);
        record.warnings.extend(problems.map(|what| Warning::RecordingIncomplete { what }));
    }

    /// A warning about other processes.
    fn others(&self) -> Option<Warning> {
        if self.is_server_unknown {
            return None;
        }
        let (from, to) = window(&self.processes, self.warmup.as_secs_f64())?;
        let ticks_per_second = rustix::param::clock_ticks_per_second() as f64;
        others::warning(from, to, &self.servers, ticks_per_second)
    }

    /// A warning about the monitor's own cost in the window.
    fn cost(&self, opens: f64, closes: f64) -> Option<Warning> {
        let own = growth(&self.costs, names::MONITOR_CPU, opens, closes)?;
        let of = |name| growth(&self.costs, name, opens, closes).unwrap_or(0.0);
        let at_server = of(names::MONITOR_SERVER_CPU) + of(names::MONITOR_COMMAND_CPU);
        // In less than a second, the samples at both bounds are most of the cost.
        let warning = Warning::MonitorCost { share: (own + at_server) / (closes - opens).max(1.0) };
        (warning.severity() >= Severity::Warning).then_some(warning)
    }

    fn order(&self, order: Order) {
        if let Some(sampler) = &self.sampler {
            let _ = sampler.orders.send(order);
        }
    }

    fn stop(&mut self) {
        let Some(sampler) = self.sampler.take() else { return };
        for reading in sampler.stop() {
            self.take(reading);
        }
    }

    /// Passes on new readings.
    fn pass_on(&mut self) {
        let Some(sampler) = &self.sampler else { return };
        for reading in sampler.readings.try_iter().collect::<Vec<_>>() {
            self.take(reading);
        }
    }

    fn take(&mut self, mut reading: Reading) {
        self.problems.extend(reading.problem.take());
        let Some(epoch) = self.epoch else {
            self.early.push(reading);
            return;
        };
        let since = reading.at.saturating_duration_since(epoch).as_secs_f64();
        let before = epoch.saturating_duration_since(reading.at).as_secs_f64();
        let at_s = since - before;
        self.processes.extend(reading.processes.take().map(|processes| (at_s, processes)));
        if !reading.sessions.is_empty() {
            self.samples.push(SessionSample { at: at_s, sessions: reading.sessions.clone() });
        }
        let sample = MonitorSample {
            trial: self.trial.clone(),
            at_s,
            values: reading.values.0,
            sessions: reading.sessions,
        };
        let cost = COSTS.into_iter();
        let cost: BTreeMap<String, f64> =
            cost.filter_map(|name| Some((name.to_owned(), *sample.values.get(name)?))).collect();
        if !cost.is_empty() {
            self.costs.push(MonitorSample { at_s, values: cost, ..MonitorSample::default() });
        }
        self.listener.sample(&sample);
    }

    fn note_collapse(&mut self) {
        let is_collapsed = self.is_low || self.is_stalled;
        if is_collapsed != self.is_collapsed {
            self.is_collapsed = is_collapsed;
            self.order(Order::Collapsed(is_collapsed));
        }
    }
}

/// Of the samples at the bounds, the one nearest to the start of the window, and the last. On a
/// busy machine the first may be from long before the clients began.
fn window<L>(samples: &[(f64, L)], opens: f64) -> Option<(&L, &L)> {
    let ((_, last), before) = samples.split_last()?;
    let distance = |(at, _): &&(f64, L)| (at - opens).abs();
    let first = before.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
    first.map(|(_, first)| (first, last))
}

impl Listener for Watch<'_> {
    fn event(&mut self, event: &Event) {
        if let Event::PhaseStarted { phase: Phase::Audit, .. } = event {
            self.stop();
        }
        self.pass_on();
        self.listener.event(event);
    }

    fn clients_begin(&mut self, from_now: Nanos) {
        let epoch = Instant::now() + Duration::from(from_now);
        self.epoch = Some(epoch);
        self.order(Order::Align(epoch + self.warmup));
        for reading in std::mem::take(&mut self.early) {
            self.take(reading);
        }
        self.listener.clients_begin(from_now);
    }

    fn interval(&mut self, interval: &IntervalRecord) {
        let rate = IntervalRate {
            start: interval.start.as_secs_f64(),
            length: interval.length.as_secs_f64(),
            committed: interval.response_times.len(),
        };
        self.rates.push(rate);
        self.is_low = self.collapse_detector.observe(rate).is_some();
        self.note_collapse();
        self.pass_on();
        self.listener.interval(interval);
    }

    fn commits_stopped(&mut self, since: Option<Nanos>) {
        self.is_stalled = since.is_some();
        self.note_collapse();
        self.listener.commits_stopped(since);
    }

    fn sample(&mut self, sample: &MonitorSample) {
        self.listener.sample(sample);
    }

    fn history(&mut self, trial: &str, group: Option<&str>, history: &Arc<History>) {
        self.listener.history(trial, group, history);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_between_the_sample_nearest_to_its_start_and_the_last() {
        let of =
            |samples: &[(f64, char)], opens| window(samples, opens).map(|(from, to)| (*from, *to));
        assert_eq!(of(&[(-1.5, 'a'), (3.0, 'z')], 0.0), Some(('a', 'z')), "none is nearer");
        assert_eq!(
            of(&[(-0.2, 'a'), (1.0, 'b'), (4.0, 'z')], 1.0),
            Some(('b', 'z')),
            "after a warm-up"
        );
        assert_eq!(of(&[(0.0, 'z')], 0.0), None);
        assert_eq!(of(&[], 0.0), None);
    }
}
