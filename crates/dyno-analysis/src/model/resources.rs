//! Resource usage of machine and server during trials, from the monitor.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Means over the measured windows of a configuration's valid trials. Values that the monitor could
/// not read are absent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ResourceRow {
    /// Index of the configuration.
    pub configuration: usize,
    /// Trials that were monitored.
    pub trials: u32,
    /// Processors of dyno's machine, which is also the server's unless that is remote.
    pub processors: Option<f64>,
    /// Share of all processor time in user mode, including niced programs, percent.
    pub user_percent: Option<f64>,
    /// In the kernel, with interrupts, percent.
    pub system_percent: Option<f64>,
    /// Idle while something waited for a device, percent.
    pub iowait_percent: Option<f64>,
    /// Taken by other guests of the host, percent.
    pub steal_percent: Option<f64>,
    /// Processors used by the server's processes (1 is one whole processor).
    pub server_processors: Option<f64>,
    /// Processors used by the generator, including the monitor. With embedded SQLite it includes
    /// the database's work.
    pub generator_processors: Option<f64>,
    /// Processor time of the server per committed transaction, µs.
    pub server_cpu_per_transaction_us: Option<f64>,
    /// Processor time of the generator per committed transaction, µs.
    pub generator_cpu_per_transaction_us: Option<f64>,
    /// Bytes read from devices for the server's processes, per committed transaction.
    pub server_read_bytes_per_transaction: Option<f64>,
    /// Bytes written towards devices by the server's processes, per committed transaction.
    pub server_written_bytes_per_transaction: Option<f64>,
    /// Context switches of the server's threads per committed transaction, voluntary and not.
    pub server_switches_per_transaction: Option<f64>,
    /// Memory of the server's processes, bytes.
    pub server_resident_bytes: Option<f64>,
    /// Threads of the server's processes.
    pub server_threads: Option<f64>,
    /// The busiest block device; empty when there is none.
    pub disk: String,
    /// Share of the time with at least one request, percent.
    pub disk_busy_percent: Option<f64>,
    /// Its mean number of requests, queued and in service.
    pub disk_queue: Option<f64>,
    /// Bytes read from it per second.
    pub disk_read_bytes_per_second: Option<f64>,
    /// Bytes written to it per second.
    pub disk_written_bytes_per_second: Option<f64>,
    /// Share of the time in which some runnable task waited for a processor, percent.
    pub cpu_pressure_percent: Option<f64>,
    /// Share of the time in which some task waited for a device, percent.
    pub io_pressure_percent: Option<f64>,
    /// Share of the time in which some task waited for memory, percent.
    pub memory_pressure_percent: Option<f64>,
    /// Processor time of the monitor, percent of one processor: its threads, and the server's work
    /// for its queries.
    pub monitor_percent: Option<f64>,
    /// Increase of the server's own counters per committed transaction, under the names of
    /// `monitor.csv` without `server.` and `_total`; unchanged counters are omitted.
    pub server_counters_per_transaction: BTreeMap<String, f64>,
}

impl ResourceRow {
    /// Share of all processor time that was busy, percent.
    #[must_use]
    pub fn busy_percent(&self) -> Option<f64> {
        Some(self.user_percent? + self.system_percent?)
    }
}

/// The time between two samples, independent of the intervals of the timeline.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ResourcePoint {
    /// Start in seconds since the first client started.
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
