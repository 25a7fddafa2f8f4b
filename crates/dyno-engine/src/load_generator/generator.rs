//! The load generator's measurements of itself: CPU time, wake-ups, memory.

use crate::window::MeasurementWindow;
use dyno_drivers::transport::ReactorCounters;
use dyno_model::latency;
use dyno_model::record::WorkerRecord;
use dyno_model::units::Nanos;
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

fn cpu(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

/// Time that this thread was ready to run but waiting for a processor, nanoseconds; `None` when the
/// kernel does not report it.
fn queued() -> Option<u64> {
    // Time on the processor, time in the queue, number of turns.
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().nth(1)?.parse().ok()
}

/// CPU time of one worker's thread over the measured window.
pub(crate) struct WorkerMeter {
    cpu_at_open: Duration,
    queued_at_open: Option<u64>,
    wall_at_open: u64,
    is_open: bool,
    pub(crate) has_just_opened: bool,
    statements_at_open: u64,
}

impl WorkerMeter {
    /// Starts the meter; called on the worker's thread when it starts working.
    pub(crate) fn start(window: &MeasurementWindow) -> Self {
        Self {
            cpu_at_open: cpu(ClockId::ThreadCPUTime),
            queued_at_open: queued(),
            wall_at_open: window.now(),
            is_open: window.opens() == 0,
            has_just_opened: false,
            statements_at_open: 0,
        }
    }

    /// Called after each turn of the event loop: records the time at which the window opens.
    pub(crate) fn record_opening(&mut self, window: &MeasurementWindow) {
        self.has_just_opened = false;
        if !self.is_open && window.now() >= window.opens() {
            self.is_open = true;
            self.has_just_opened = true;
            self.cpu_at_open = cpu(ClockId::ThreadCPUTime);
            self.queued_at_open = queued();
            self.wall_at_open = window.now();
        }
    }

    /// Records the statements sent in warm-up, which are subtracted at the end.
    pub(crate) fn set_statements_at_open(&mut self, statements: u64) {
        self.statements_at_open = statements;
    }

    /// The record at the end, on the worker's thread; with the counters of its event loop since the
    /// window opened, if it has one.
    pub(crate) fn finish(
        &self,
        window: &MeasurementWindow,
        clients: u32,
        statements: u64,
        counters: Option<&ReactorCounters>,
    ) -> WorkerRecord {
        WorkerRecord {
            clients,
            cpu: (cpu(ClockId::ThreadCPUTime) - self.cpu_at_open).into(),
            wall: Nanos(window.now() - self.wall_at_open),
            waited: counters.map(|counters| counters.waited.into()),
            queued: self
                .queued_at_open
                .zip(queued())
                .map(|(before, now)| Nanos(now.saturating_sub(before))),
            wakeups: counters.map_or(0, |counters| counters.wakeups),
            statements: statements - self.statements_at_open,
        }
    }
}

/// CPU time of the whole process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProcessCpu {
    total: Duration,
    user_ticks: u64,
    system_ticks: u64,
}

impl ProcessCpu {
    /// Reads the current CPU time. The total is exact; the split between user and system has a
    /// resolution of 10 ms.
    pub(crate) fn now() -> Self {
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
        // Fields 14 and 15, counted after the command name, which may contain blanks.
        let mut fields =
            stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().skip(11);
        let mut ticks = || fields.next().and_then(|field| field.parse().ok()).unwrap_or(0);
        Self { total: cpu(ClockId::ProcessCPUTime), user_ticks: ticks(), system_ticks: ticks() }
    }

    /// User and system time since an earlier moment.
    pub(crate) fn since(self, earlier: Self) -> (Nanos, Nanos) {
        let total = Nanos::from(self.total.saturating_sub(earlier.total)).0;
        let user = self.user_ticks.saturating_sub(earlier.user_ticks);
        let system = self.system_ticks.saturating_sub(earlier.system_ticks);
        let share = if user + system == 0 { 1.0 } else { user as f64 / (user + system) as f64 };
        let user_nanos = (total as f64 * share) as u64;
        (Nanos(user_nanos), Nanos(total - user_nanos))
    }
}

/// CPU time of the whole machine, in ticks.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MachineCpu {
    total: u64,
    stolen: u64,
}

impl MachineCpu {
    /// Reads the current CPU time; all 0 when the system does not report it.
    pub(crate) fn now() -> Self {
        let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
        let line =
            stat.lines().next().and_then(|line| line.strip_prefix("cpu ")).unwrap_or_default();
        // user, nice, system, idle, iowait, irq, softirq, steal; the following guest times are
        // included in user.
        let fields: Vec<u64> =
            line.split_whitespace().take(8).filter_map(|field| field.parse().ok()).collect();
        Self { total: fields.iter().sum(), stolen: fields.get(7).copied().unwrap_or(0) }
    }

    /// Share of the time since an earlier moment that other guests of the host took, 0 to 1.
    pub(crate) fn steal_since(self, earlier: Self) -> f64 {
        let total = self.total.saturating_sub(earlier.total);
        if total == 0 {
            0.0
        } else {
            self.stolen.saturating_sub(earlier.stolen) as f64 / total as f64
        }
    }
}

/// Largest resident set of this process so far, in bytes; 0 when the system does not report it.
pub(crate) fn memory_peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok())
        .map_or(0, |kilobytes| kilobytes * 1024)
}

/// The 99th percentile of wake-up lags (nearest rank); 0 when there are none.
pub(crate) fn wakeup_lag_p99(mut wakeup_lags: Vec<u64>) -> u64 {
    if wakeup_lags.is_empty() {
        return 0;
    }
    wakeup_lags.sort_unstable();
    wakeup_lags[latency::rank(wakeup_lags.len() as u64, 99.0) as usize - 1]
}
