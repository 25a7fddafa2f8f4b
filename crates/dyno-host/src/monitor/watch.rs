//! The monitor of one trial, as a listener between the trial and those who hear it: samples come to them in the order of
//! time, on the same thread as all events, so nobody but the monitor's own threads runs beside the load.

use super::Subject;
use super::collapse::{self, Beat, Look, Pulse};
use super::looker::{Looker, Order, Reading};
use dyno_model::event::{Event, Listener, Phase, ProgressUnit};
use dyno_model::finding::{Finding, Severity};
use dyno_model::monitor::{Sample, growth, names};
use dyno_model::record::{Interval, TrialRecord};
use std::collections::BTreeMap;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

/// Watches one trial.
pub struct Watch<'l> {
    listener: &'l mut dyn Listener,
    trial: String,
    /// Length of the warm-up: the window opens so long after the first client begins.
    warmup: Duration,
    looker: Option<Looker>,
    /// When the first client began; known a moment later.
    epoch: Option<Instant>,
    /// Readings from before the epoch was known.
    early: Vec<Reading>,
    beats: Vec<Beat>,
    looks: Vec<Look>,
    /// The monitor's own cost, out of the samples.
    costs: Vec<Sample>,
    pulse: Pulse,
    is_collapsed: bool,
    /// Commits at the last progress, under stop rules by count.
    committed: Option<u64>,
}

/// Tells the monitor that the window is about to begin or has just ended.
pub struct Bell(Option<Sender<Order>>);

impl Bell {
    /// Has it look now.
    pub fn ring(&self) {
        if let Some(orders) = &self.0 {
            // A monitor that has ended hears nothing.
            let _ = orders.send(Order::Look);
        }
    }
}

impl<'l> Watch<'l> {
    /// Begins to look, once a second, until [`Watch::finish`] or the watch is dropped.
    pub fn begin(trial: &str, warmup: Duration, subject: Subject, listener: &'l mut dyn Listener) -> Self {
        Self {
            listener,
            trial: trial.to_owned(),
            warmup,
            looker: Looker::start(subject),
            epoch: None,
            early: Vec::new(),
            beats: Vec::new(),
            looks: Vec::new(),
            costs: Vec::new(),
            pulse: Pulse::default(),
            is_collapsed: false,
            committed: None,
        }
    }

    /// Has the monitor look at the bounds of the window.
    #[must_use]
    pub fn bell(&self) -> Bell {
        Bell(self.looker.as_ref().map(|looker| looker.orders.clone()))
    }

    /// Ends it and adds what it found to the trial's record.
    pub fn finish(mut self, record: &mut TrialRecord) {
        self.stop();
        let opens = self.warmup.as_secs_f64();
        let closes = opens + record.measured.as_secs_f64();
        record.findings.extend(collapse::findings(&self.beats, &self.looks, opens, closes));
        record.findings.extend(self.cost(opens, closes));
    }

    /// What it cost over the window, when that is worth a warning.
    fn cost(&self, opens: f64, closes: f64) -> Option<Finding> {
        let own = growth(&self.costs, names::MONITOR_CPU, opens, closes)?;
        let at_server = growth(&self.costs, names::MONITOR_SERVER_CPU, opens, closes).unwrap_or(0.0);
        // Over less than a second the looks at both bounds are most of it.
        let finding = Finding::MonitorCost { share: (own + at_server) / (closes - opens).max(1.0) };
        (finding.severity() >= Severity::Warning).then_some(finding)
    }

    fn order(&self, order: Order) {
        if let Some(looker) = &self.looker {
            let _ = looker.orders.send(order);
        }
    }

    fn stop(&mut self) {
        let Some(looker) = self.looker.take() else { return };
        for reading in looker.stop() {
            self.take(reading);
        }
    }

    /// Passes on what was seen since the last time.
    fn pass_on(&mut self) {
        let Some(looker) = &self.looker else { return };
        for reading in looker.readings.try_iter().collect::<Vec<_>>() {
            self.take(reading);
        }
    }

    fn take(&mut self, reading: Reading) {
        let Some(epoch) = self.epoch else {
            self.early.push(reading);
            return;
        };
        let since = reading.at.saturating_duration_since(epoch).as_secs_f64();
        let before = epoch.saturating_duration_since(reading.at).as_secs_f64();
        let at_s = since - before;
        if !reading.sessions.is_empty() {
            self.looks.push(Look { at: at_s, sessions: reading.sessions.clone() });
        }
        let sample =
            Sample { trial: self.trial.clone(), at_s, values: reading.values.0, sessions: reading.sessions };
        let cost = [names::MONITOR_CPU, names::MONITOR_SERVER_CPU].into_iter();
        let cost: BTreeMap<String, f64> =
            cost.filter_map(|name| Some((name.to_owned(), *sample.values.get(name)?))).collect();
        if !cost.is_empty() {
            self.costs.push(Sample { at_s, values: cost, ..Sample::default() });
        }
        self.listener.sample(&sample);
    }

    /// The first progress of the working clients tells when they began: exactly under a stop rule by time, else to the
    /// tenth of a second in which the coordinator looks around.
    fn note_epoch(&mut self, done: u64, unit: ProgressUnit) {
        let since =
            if unit == ProgressUnit::Nanoseconds { Duration::from_nanos(done) } else { Duration::ZERO };
        let now = Instant::now();
        let epoch = now.checked_sub(since).unwrap_or(now);
        self.epoch = Some(epoch);
        self.order(Order::Align(epoch + self.warmup));
        for reading in std::mem::take(&mut self.early) {
            self.take(reading);
        }
    }

    fn note_collapse(&mut self, is_collapsed: bool) {
        if is_collapsed != self.is_collapsed {
            self.is_collapsed = is_collapsed;
            self.order(Order::Collapsed(is_collapsed));
        }
    }
}

impl Listener for Watch<'_> {
    fn event(&mut self, event: &Event) {
        match event {
            Event::Progress { phase: Phase::WarmUp | Phase::Measure, done, unit, .. } => {
                if self.epoch.is_none() {
                    self.note_epoch(*done, *unit);
                }
                if *unit == ProgressUnit::Transactions && *done > 0 {
                    // Progress comes twice a second: nothing since the last one is a collapse already.
                    let is_stuck = self.committed == Some(*done);
                    self.committed = Some(*done);
                    self.note_collapse(is_stuck);
                }
            }
            Event::PhaseStarted { phase: Phase::Audit, .. } => self.stop(),
            _ => {}
        }
        self.pass_on();
        self.listener.event(event);
    }

    fn interval(&mut self, interval: &Interval) {
        let beat = Beat {
            start: interval.start.as_secs_f64(),
            length: interval.length.as_secs_f64(),
            committed: interval.transaction.len(),
        };
        self.beats.push(beat);
        let is_collapsed = self.pulse.beat(beat).is_some();
        self.note_collapse(is_collapsed);
        self.pass_on();
        self.listener.interval(interval);
    }

    fn sample(&mut self, sample: &Sample) {
        self.listener.sample(sample);
    }
}
