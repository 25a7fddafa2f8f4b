//! The coordinator's monitoring while the clients work, apart from sorting samples.

use super::load::LoadInput;
use crate::generator::{MachineCpu, ProcessCpu};
use crate::recording::Collector;
use crate::window::MeasurementWindow;
use dyno_model::catalog::Growth;
use dyno_model::event::{Event, Listener, Phase, ProgressUnit};
use dyno_model::plan::StopRule;
use dyno_model::reason::Reason;
use dyno_model::units::Nanos;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Time between two progress reports.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(500);

/// The generator's processor time, the phases, and reasons to stop.
pub(super) struct LoadMonitor {
    cpu_at_open: ProcessCpu,
    machine_at_open: MachineCpu,
    is_measuring: bool,
    progress_at: Instant,
}

impl LoadMonitor {
    pub(super) fn new() -> Self {
        Self {
            cpu_at_open: ProcessCpu::now(),
            machine_at_open: MachineCpu::now(),
            is_measuring: false,
            progress_at: Instant::now(),
        }
    }

    pub(super) fn check(
        &mut self,
        window: &MeasurementWindow,
        collector: &Collector,
        input: &LoadInput<'_>,
        listener: &mut dyn Listener,
    ) {
        let now = window.now();
        if !self.is_measuring && now >= window.opens() {
            self.is_measuring = true;
            if window.opens() > 0 {
                self.cpu_at_open = ProcessCpu::now();
                self.machine_at_open = MachineCpu::now();
            }
            listener.event(&input.phase_started(Phase::Measure));
        }
        let is_interrupted = input.interrupts.load(Ordering::Relaxed) > 0;
        if !window.is_stopped() {
            if is_interrupted {
                window.stop(Reason::Interrupted);
            } else if let Some(reason) = (input.is_dead)() {
                window.stop(reason);
            }
        }
        if is_interrupted {
            window.shorten_grace();
        }
        if self.progress_at <= Instant::now() {
            self.progress_at = Instant::now() + PROGRESS_INTERVAL;
            listener.event(&progress(window, collector, input, now));
        }
    }

    /// CPU time of the process in user and system mode since the window opened.
    pub(super) fn cpu(&self) -> (Nanos, Nanos) {
        ProcessCpu::now().since(self.cpu_at_open)
    }

    /// Share of the machine's CPU time since the window opened that went to other guests (steal).
    pub(super) fn steal(&self) -> f64 {
        MachineCpu::now().steal_since(self.machine_at_open)
    }
}

fn progress(
    window: &MeasurementWindow,
    collector: &Collector,
    input: &LoadInput<'_>,
    now: u64,
) -> Event {
    let (done, total, unit) = match input.load.stop {
        StopRule::Transactions(count) => (collector.committed, count, ProgressUnit::Transactions),
        StopRule::TransactionsPerClient(count) => {
            let total = count.saturating_mul(input.clients.count().into());
            (collector.committed, total, ProgressUnit::Transactions)
        }
        StopRule::Rows(target) => {
            let rows = |growth: Growth| growth.rows_after(collector.committed);
            let done = input.growth.map_or_else(|| collector.committed, rows);
            (done.min(target), target, ProgressUnit::Rows)
        }
        StopRule::Duration(duration) => {
            let total = window.opens().saturating_add(duration.0);
            (now.min(total), total, ProgressUnit::Nanoseconds)
        }
    };
    let phase = if now < window.opens() { Phase::WarmUp } else { Phase::Measure };
    Event::Progress { trial: input.name.clone(), phase, done, total, unit }
}
