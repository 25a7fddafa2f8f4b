//! What is seen of a machine before anything is measured on it, and what of that may spoil a
//! measurement.

use crate::plan::ServerKind;
use crate::warning::Warning;
use std::time::Duration;

/// A reading of the clock that takes longer than this is a doubt: with two per statement it shows
/// in a generator that spends a few microseconds on one. Nanoseconds.
const CLOCK_SLOW: f64 = 250.0;
/// Below this share of the memory nothing is left for a server.
const MEMORY_SHORT: f64 = 0.1;
/// Synchronised writes of which the 95th percentile is so many times the median scatter so much
/// that short windows differ by chance.
const SYNC_SCATTER: f64 = 10.0;
/// Governors with which the processors' speed follows the load.
const SAVING: [&str; 3] = ["powersave", "conservative", "ondemand"];

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq)]
pub enum Observation {
    /// Logical processors that dyno may use, and what they call themselves, if they do.
    Processors {
        /// How many.
        usable: u32,
        /// Their name, perhaps empty.
        model: String,
    },
    /// What a reading of the clock costs.
    Clock {
        /// Time that it takes.
        nanos: f64,
        /// The kernel's name of the clock.
        source: String,
    },
    /// What sets the processors' speed.
    Governor {
        /// The kernel's name of it.
        name: String,
    },
    /// Memory of the machine, in bytes.
    Memory {
        /// In all.
        total: u64,
        /// What programs could still get without swapping.
        available: u64,
        /// What lies in swap.
        swapped: u64,
    },
    /// Files that dyno can have open at once.
    OpenFiles {
        /// How many.
        limit: u64,
    },
    /// Ports from which connections to one address can begin: a limit of clients over TCP.
    Ports {
        /// How many.
        number: u32,
    },
    /// What a durable commit costs at least on a folder's disk.
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
    /// A folder whose disk could not be timed.
    DiskUntimed {
        /// The folder.
        folder: String,
        /// Why not, in the system's words.
        reason: String,
    },
    /// Who else took the processors; empty when nobody did.
    Neighbours {
        /// What is worth a warning.
        warnings: Vec<Warning>,
    },
    /// A server that dyno can start, or would start if it were there.
    Server {
        /// Its kind.
        kind: ServerKind,
        /// Version and program; `None` when it was not found.
        found: Option<(String, String)>,
    },
    /// What the generator did against a server that answers at once.
    Generator {
        /// Clients at the same time.
        clients: u32,
        /// Statements answered per second.
        per_second: f64,
        /// Processor time of each, in microseconds; `None` when none was answered.
        cpu_us: Option<f64>,
        /// True for a debug build.
        is_debug_build: bool,
    },
}

impl Observation {
    /// Whether it may spoil a measurement.
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
