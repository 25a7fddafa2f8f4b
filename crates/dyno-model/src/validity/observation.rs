//! Properties of a machine that are observed before measuring, and those that may affect a
//! measurement.

use crate::plan::ServerKind;
use crate::warning::Warning;
use std::time::Duration;

/// A clock reading that takes longer than this causes a warning: with two per statement it is
/// noticeable in a generator that spends a few microseconds per statement. Nanoseconds.
const CLOCK_SLOW: f64 = 250.0;
/// Below this share of free memory a server has too little memory.
const MEMORY_SHORT: f64 = 0.1;
/// When the 95th percentile of synchronised writes exceeds the median by this factor, results of
/// short windows differ by chance.
const SYNC_SCATTER: f64 = 10.0;
/// CPU frequency governors that adapt the frequency to the load.
const SAVING: [&str; 3] = ["powersave", "conservative", "ondemand"];

/// One observation.
#[derive(Debug, Clone, PartialEq)]
pub enum Observation {
    /// Logical processors that dyno may use, and their model name, if known.
    Processors {
        /// Number of processors.
        usable: u32,
        /// Model name, possibly empty.
        model: String,
    },
    /// The cost of reading the clock.
    Clock {
        /// Duration of a reading.
        nanos: f64,
        /// The kernel's name of the clock source.
        source: String,
    },
    /// The CPU frequency governor.
    Governor {
        /// The kernel's name of the governor.
        name: String,
    },
    /// Memory of the machine, in bytes.
    Memory {
        /// Total.
        total: u64,
        /// Available to programs without swapping.
        available: u64,
        /// Used swap.
        swapped: u64,
    },
    /// Limit on open files of dyno.
    OpenFiles {
        /// The limit.
        limit: u64,
    },
    /// Ephemeral ports for connections to one address: a limit on the number of clients over TCP.
    Ports {
        /// The number of ports.
        ports: u32,
    },
    /// The minimum cost of a durable commit on a folder's disk.
    Disk {
        /// The folder.
        folder: String,
        /// Median time of a synchronised write.
        p50: Duration,
        /// 95th percentile.
        p95: Duration,
        /// True for file systems in memory.
        is_in_memory: bool,
    },
    /// A folder whose disk could not be measured.
    DiskUntimed {
        /// The folder.
        folder: String,
        /// The error, as reported by the system.
        reason: String,
    },
    /// Other processes that used the processors; empty when there were none.
    Neighbours {
        /// Processes that deserve a warning.
        warnings: Vec<Warning>,
    },
    /// A server that dyno can start if it is installed.
    Server {
        /// Its kind.
        kind: ServerKind,
        /// Version and program; `None` when it was not found.
        found: Option<(String, String)>,
    },
    /// Performance of the generator against a server that answers immediately.
    Generator {
        /// Number of concurrent clients.
        clients: u32,
        /// Statements answered per second.
        per_second: f64,
        /// Processor time per statement, in microseconds; `None` when none was answered.
        cpu_us: Option<f64>,
        /// True for a debug build.
        is_debug_build: bool,
    },
}

impl Observation {
    /// True when it may affect a measurement.
    #[must_use]
    pub fn is_warning(&self) -> bool {
        match self {
            Self::Clock { nanos, .. } => *nanos > CLOCK_SLOW,
            Self::Governor { name } => SAVING.contains(&name.as_str()),
            Self::Memory { total, available, .. } => {
                (*available as f64) < MEMORY_SHORT * *total as f64
            }
            Self::Disk { p50, p95, is_in_memory, .. } => {
                *is_in_memory || p95.as_secs_f64() > SYNC_SCATTER * p50.as_secs_f64()
            }
            Self::Neighbours { warnings } => !warnings.is_empty(),
            Self::Generator { cpu_us, is_debug_build, .. } => cpu_us.is_none() || *is_debug_build,
            Self::Processors { .. }
            | Self::OpenFiles { .. }
            | Self::Ports { .. }
            | Self::DiskUntimed { .. }
            | Self::Server { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_clock_a_saving_governor_and_little_memory_are_warnings() {
        let clock = |nanos| Observation::Clock { nanos, source: "tsc".to_owned() };
        assert_eq!([30.0, 900.0].map(|nanos| clock(nanos).is_warning()), [false, true]);
        let governor = |name: &str| Observation::Governor { name: name.to_owned() };
        assert_eq!(
            ["performance", "powersave"].map(|name| governor(name).is_warning()),
            [false, true]
        );
        let memory = |available| Observation::Memory { total: 1000, available, swapped: 0 };
        assert_eq!([900, 90].map(|available| memory(available).is_warning()), [false, true]);
    }

    #[test]
    fn a_disk_in_memory_or_one_that_scatters_is_a_warning() {
        let disk = |p95, is_in_memory| Observation::Disk {
            folder: "/tmp".to_owned(),
            p50: Duration::from_millis(1),
            p95: Duration::from_millis(p95),
            is_in_memory,
        };
        let warnings =
            [disk(3, false), disk(11, false), disk(1, true)].map(|disk| disk.is_warning());
        assert_eq!(warnings, [false, true, true]);
    }

    #[test]
    fn a_generator_without_an_answer_and_a_debug_build_are_warnings() {
        let generator = |cpu_us, is_debug_build| {
            Observation::Generator { clients: 1, per_second: 1.0, cpu_us, is_debug_build }
                .is_warning()
        };
        assert_eq!(
            [generator(Some(3.0), false), generator(None, false), generator(Some(3.0), true)],
            [false, true, true]
        );
    }
}
