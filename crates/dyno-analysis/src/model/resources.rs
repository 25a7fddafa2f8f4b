//! Resource usage of machine and server during trials, from the monitor.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the monitor observed during a configuration's valid trials.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Monitored {
    /// Trials that were monitored.
    pub trials: u32,
    /// Processors of the machine that runs dyno, and the server unless it is elsewhere.
    pub processors: Option<f64>,
    /// The block device that was busy for the longest time; empty when there is none.
    pub disk: String,
    /// Growth of the server's own counters per committed transaction, under the names of
    /// `monitor.csv` without `server.` and `_total`; those that did not move are left out.
    pub server_counters_per_transaction: BTreeMap<String, f64>,
}

/// The time between two samples, independent of the intervals of the timeline.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ResourcePoint {
    /// Start in seconds since the common start.
    pub start_s: f64,
    /// Length in seconds.
    pub length_s: f64,
    /// Processor time of the machine in user mode, percent of all its processors.
    pub user_percent: Option<f64>,
    /// In the kernel, with interrupts, percent.
    pub system_percent: Option<f64>,
    /// Idle while something waited for a device, percent.
    pub iowait_percent: Option<f64>,
    /// Taken by other guests of the host, percent.
    pub steal_percent: Option<f64>,
    /// Share of the server's processes in it, percent of all processors.
    pub server_percent: Option<f64>,
    /// Share of the generator in it, percent of all processors.
    pub generator_percent: Option<f64>,
    /// Bytes read per second from the device that was busiest in this trial.
    pub disk_read_bytes_per_second: Option<f64>,
    /// Bytes written to it per second.
    pub disk_written_bytes_per_second: Option<f64>,
    /// Share of the time with at least one request, percent.
    pub disk_busy_percent: Option<f64>,
    /// Share of the time in which some runnable task waited for a processor, percent.
    pub cpu_pressure_percent: Option<f64>,
    /// Share of the time in which some task waited for a device, percent.
    pub io_pressure_percent: Option<f64>,
    /// Active sessions at its end.
    pub sessions_active: Option<f64>,
    /// Waiting sessions at its end.
    pub sessions_waiting: Option<f64>,
}
