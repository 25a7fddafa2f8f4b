//! Samples of the monitor, taken each second of a trial during the load: the machine, the server's
//! processes, the server's own counters, and the activity of its sessions.
//!
//! # Names of values
//! `<source>.<thing>[.<instance>].<quantity>`, with the unit last and as a base unit (seconds,
//! bytes). Sources: `host` is the server's machine if the monitor can read it: the machine that
//! dyno runs on, or another one that `monitor.command` reads; for a remote server without that
//! command it is the machine that dyno runs on. `server` is the system under test, `generator` this
//! process (and its machine, `generator.host`, in addition to a `host` read by the command),
//! `monitor` the overhead of monitoring. A name that ends in `_total` is a cumulative counter: its
//! growth between two samples is what matters ([`growth`]). Every other value is a gauge
//! ([`mean`]).
//!
//! Counters of the server keep the server's own names: `server.status.Innodb_log_waits_total`,
//! `server.pg_stat_database.blks_read_total`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Names that the report uses. All others are only written to `monitor.csv`.
pub mod names {
    /// Processor time of the machine by mode; the modes are [`CPU_MODES`].
    pub const HOST_CPU: &str = "host.cpu.";
    /// Modes of processor time, in the order of `/proc/stat`. Guest time is included in `user` and
    /// `nice`.
    pub const CPU_MODES: [&str; 8] =
        ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"];
    /// Suffix of names of processor time, and of all other cumulative times.
    pub const SECONDS_TOTAL: &str = "_seconds_total";
    /// Processors that are online.
    pub const HOST_PROCESSORS: &str = "host.cpu.processors";
    /// Prefix of every name of a block device.
    pub const HOST_DISK: &str = "host.disk.";
    /// Bytes read, of a device or of processes.
    pub const READ_BYTES: &str = ".read_bytes_total";
    /// Bytes written, of a device or of processes.
    pub const WRITTEN_BYTES: &str = ".written_bytes_total";
    /// Read requests that a device completed.
    pub const READS: &str = ".reads_total";
    /// Write requests that a device completed.
    pub const WRITES: &str = ".writes_total";
    /// Time in which a device had at least one request in flight.
    pub const BUSY: &str = ".busy_seconds_total";
    /// Total time that requests of a device waited and were served; its growth per second is the
    /// mean queue length.
    pub const QUEUED: &str = ".queue_seconds_total";
    /// Stall time (`/proc/pressure`): `host.pressure.<resource>.<some|full>_seconds_total`.
    pub const HOST_PRESSURE: &str = "host.pressure.";
    /// Processor time of the server's processes in user mode.
    pub const SERVER_CPU_USER: &str = "server.process.cpu_user_seconds_total";
    /// Processor time of the server's processes in the kernel.
    pub const SERVER_CPU_SYSTEM: &str = "server.process.cpu_system_seconds_total";
    /// Memory of the server's processes; shared memory counts once.
    pub const SERVER_RESIDENT: &str = "server.process.resident_bytes";
    /// Bytes that the server's processes caused to be read from devices.
    pub const SERVER_READ: &str = "server.process.read_bytes_total";
    /// Bytes that the server's processes caused to be written to devices.
    pub const SERVER_WRITTEN: &str = "server.process.written_bytes_total";
    /// Threads of all processes of the server.
    pub const SERVER_THREADS: &str = "server.process.threads";
    /// Voluntary context switches: a thread waited.
    pub const SERVER_VOLUNTARY: &str = "server.process.voluntary_switches_total";
    /// Involuntary context switches: a thread was preempted.
    pub const SERVER_INVOLUNTARY: &str = "server.process.involuntary_switches_total";
    /// Processor time of this process in user mode.
    pub const GENERATOR_CPU_USER: &str = "generator.process.cpu_user_seconds_total";
    /// Processor time of this process in the kernel.
    pub const GENERATOR_CPU_SYSTEM: &str = "generator.process.cpu_system_seconds_total";
    /// Processor time of the monitor's own threads; included in that of the generator.
    pub const MONITOR_CPU: &str = "monitor.cpu_seconds_total";
    /// Processor time that the server spent on the monitor's queries, as measured for its thread or
    /// process.
    pub const MONITOR_SERVER_CPU: &str = "monitor.server_cpu_seconds_total";
    /// Prefix of the names of the machine that dyno runs on, when `host` is another machine.
    pub const GENERATOR: &str = "generator.";
    /// Processor time of `monitor.command` on the server's machine.
    pub const MONITOR_COMMAND_CPU: &str = "monitor.command_cpu_seconds_total";
    /// Duration of the last answer of `monitor.command`; present only when `host` is the machine
    /// that it reads.
    pub const COMMAND_ANSWER: &str = "monitor.command_seconds";
    /// Duration of the monitor's last query on the server.
    pub const SERVER_ANSWER: &str = "server.answer_seconds";
    /// Size of the data files, as the server reports it.
    pub const SERVER_DATA: &str = "server.data_bytes";
    /// Active client sessions.
    pub const SESSIONS_ACTIVE: &str = "server.sessions.active";
    /// Waiting client sessions: for a lock, for a device, for another session.
    pub const SESSIONS_WAITING: &str = "server.sessions.waiting";
    /// All client sessions.
    pub const SESSIONS: &str = "server.sessions.all";
}

/// One sample.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MonitorSample {
    /// Trial it belongs to.
    pub trial: String,
    /// Seconds since the common start, as in the timeline; negative while clients connect.
    pub at_s: f64,
    /// Values by name; empty for a sample of sessions only.
    pub values: BTreeMap<String, f64>,
    /// Activity of sessions, most frequent first; empty when they were not sampled.
    pub sessions: Vec<SessionGroup>,
}

/// Sessions with the same activity.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
pub struct SessionGroup {
    /// Number of sessions.
    pub sessions: u32,
    /// State, as the server names it.
    pub state: String,
    /// Wait event, as the server names it; empty when they do not wait.
    pub wait: String,
    /// The statement without its literals; empty when there is none.
    pub statement: String,
}

impl SessionGroup {
    /// True for idle sessions: they wait for their client.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        matches!(self.state.as_str(), "Sleep" | "idle") || self.wait.starts_with("Client:")
    }
}

/// True for a cumulative counter.
#[must_use]
pub fn is_total(name: &str) -> bool {
    name.ends_with("_total")
}

/// Growth of a counter between two moments (seconds since the common start), interpolated
/// linearly between samples. `None` when there are no samples around these moments, or when the
/// counter was reset in between.
#[must_use]
pub fn growth(samples: &[MonitorSample], name: &str, from_s: f64, to_s: f64) -> Option<f64> {
    let known: Vec<(f64, f64)> = samples
        .iter()
        .filter_map(|sample| Some((sample.at_s, *sample.values.get(name)?)))
        .collect();
    if known.windows(2).any(|pair| pair[1].1 < pair[0].1) {
        return None;
    }
    Some(interpolated(&known, to_s)? - interpolated(&known, from_s)?)
}

/// The value at a moment; the nearest one when the moment is up to half a second before the first
/// or after the last sample.
fn interpolated(known: &[(f64, f64)], at: f64) -> Option<f64> {
    const OUTSIDE: f64 = 0.5;
    let (first, last) = (known.first()?, known.last()?);
    if at < first.0 - OUTSIDE || at > last.0 + OUTSIDE || known.len() < 2 {
        return None;
    }
    let after = known.partition_point(|(time, _)| *time <= at);
    match (after.checked_sub(1).map(|i| known[i]), known.get(after)) {
        (Some((t0, v0)), Some((t1, v1))) if *t1 > t0 => {
            Some(v0 + (v1 - v0) * (at - t0) / (t1 - t0))
        }
        (Some((_, value)), _) => Some(value),
        (None, _) => Some(first.1),
    }
}

/// Mean of a gauge over the samples between two moments; when there are none, over the samples
/// around them.
#[must_use]
pub fn mean(samples: &[MonitorSample], name: &str, from_s: f64, to_s: f64) -> Option<f64> {
    let between = |reach: f64| {
        let inside =
            samples.iter().filter(move |s| s.at_s >= from_s - reach && s.at_s <= to_s + reach);
        inside.filter_map(|sample| sample.values.get(name).copied()).collect::<Vec<f64>>()
    };
    let values =
        Some(between(0.0)).filter(|values| !values.is_empty()).unwrap_or_else(|| between(1.0));
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(values: &[(f64, f64)]) -> Vec<MonitorSample> {
        let sample = |(at_s, value): &(f64, f64)| MonitorSample {
            at_s: *at_s,
            values: BTreeMap::from([("x_total".to_owned(), *value)]),
            ..MonitorSample::default()
        };
        values.iter().map(sample).collect()
    }

    #[test]
    fn growth_between_two_looks_is_even() {
        let samples = samples(&[(-1.0, 100.0), (0.0, 100.0), (1.0, 140.0), (2.0, 140.0)]);
        for (from, to, grown) in
            [(0.0, 1.0, 40.0), (0.5, 1.0, 20.0), (0.25, 0.75, 20.0), (1.0, 2.3, 0.0)]
        {
            assert_eq!(growth(&samples, "x_total", from, to), Some(grown), "{from} to {to}");
        }
    }

    #[test]
    fn growth_is_unknown_without_samples_or_after_a_counter_reset() {
        let seen = samples(&[(0.0, 1.0), (1.0, 2.0)]);
        assert_eq!(growth(&seen, "y_total", 0.0, 1.0), None);
        assert_eq!(growth(&seen, "x_total", 0.0, 3.0), None);
        assert_eq!(growth(&samples(&[(0.0, 1.0)]), "x_total", 0.0, 0.2), None);
        assert_eq!(
            growth(&samples(&[(0.0, 5.0), (1.0, 2.0)]), "x_total", 0.0, 1.0),
            None,
            "was set back"
        );
    }

    #[test]
    fn means_are_over_the_looks_in_the_window_or_those_beside_it() {
        let seen = samples(&[(-1.0, 100.0), (0.5, 1.0), (1.5, 3.0), (9.0, 100.0)]);
        assert_eq!(mean(&seen, "x_total", 0.0, 2.0), Some(2.0));
        assert_eq!(mean(&seen, "x_total", 0.6, 0.7), Some(2.0), "both lie within a second");
        assert_eq!(mean(&seen, "x_total", 5.0, 6.0), None);
    }
}
