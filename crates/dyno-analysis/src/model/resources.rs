//! What a trial took of machine and server, as the monitor saw it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Means over the measured windows of a configuration's valid trials. What the monitor could not
/// see is absent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ResourceRow {
    /// Index of the configuration.
    pub configuration: usize,
    /// Trials that were monitored.
    pub trials: u32,
    /// Processors of dyno's machine, which is the server's too unless it is elsewhere.
    pub processors: Option<f64>,
    /// Share of all its processor time in user mode, percent; of niced programs too.
    pub user_percent: Option<f64>,
    /// In the kernel, with interrupts, percent.
    pub system_percent: Option<f64>,
    /// Idle while something waited for a device, percent.
    pub iowait_percent: Option<f64>,
    /// Taken by other guests of the host, percent.
    pub steal_percent: Option<f64>,
    /// Processors that the server's processes kept busy (1 is one whole processor).
    pub server_processors: Option<f64>,
    /// Processors that the generator kept busy, the monitor included. With embedded SQLite the
    /// database's work is in it.
    pub generator_processors: Option<f64>,
    /// Processor time of the server per committed transaction, µs.
    pub server_cpu_per_transaction_us: Option<f64>,
    /// Processor time of the generator per committed transaction, µs.
    pub generator_cpu_per_transaction_us: Option<f64>,
    /// Bytes that the server's processes had read from devices, per committed transaction.
    pub server_read_bytes_per_transaction: Option<f64>,
    /// Bytes that the server's processes sent towards devices, per committed transaction.
    pub server_written_bytes_per_transaction: Option<f64>,
    /// Context switches of the server's threads per committed transaction, voluntary and not.
    pub server_switches_per_transaction: Option<f64>,
    /// Memory of the server's processes, bytes.
    pub server_resident_bytes: Option<f64>,
    /// Threads of the server's processes.
    pub server_threads: Option<f64>,
    /// The block device that was busy for the longest time; empty when there is none.
    pub disk: String,
    /// Share of the time in which it had a request, percent.
    pub disk_busy_percent: Option<f64>,
    /// Its mean number of requests, waiting and in service.
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
    /// What the monitor took of one processor, percent: its threads, and the server's work for its
    /// questions.
    pub monitor_percent: Option<f64>,
    /// Growth of the server's own counters per committed transaction, under the names of
    /// `monitor.csv` without `server.` and `_total`; those that did not move are left out.
    pub server_counters_per_transaction: BTreeMap<String, f64>,
}

impl ResourceRow {
    /// Share of all processor time in which something ran, percent.
    #[must_use]
    pub fn busy_percent(&self) -> Option<f64> {
        Some(self.user_percent? + self.system_percent?)
    }
}

/// A stretch between two looks, beside the interval of the timeline.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ResourcePoint {
    /// Start in seconds since the first client began.
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
    /// Of it, the server's processes, percent of all processors.
    pub server_percent: Option<f64>,
    /// Of it, the generator, percent of all processors.
    pub generator_percent: Option<f64>,
    /// Bytes read per second from the device that was busy for the longest time in this trial.
    pub disk_read_bytes_per_second: Option<f64>,
    /// Bytes written to it per second.
    pub disk_written_bytes_per_second: Option<f64>,
    /// Share of the time in which it had a request, percent.
    pub disk_busy_percent: Option<f64>,
    /// Share of the time in which some runnable task waited for a processor, percent.
    pub cpu_pressure_percent: Option<f64>,
    /// Share of the time in which some task waited for a device, percent.
    pub io_pressure_percent: Option<f64>,
    /// Sessions at work at its end.
    pub sessions_active: Option<f64>,
    /// Sessions waiting at its end.
    pub sessions_waiting: Option<f64>,
}
