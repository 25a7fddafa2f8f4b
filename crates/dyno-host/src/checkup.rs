//! Checks this machine for conditions that would distort a measurement, without a server: CPU use
//! by others, its clock, its memory, its disks.

use crate::engine::Values;
use crate::monitor::others::{self, ProcessTable};
use crate::monitor::procfs;
use dyno_model::observation::Observation;
use dyno_model::warning::{Severity, Warning};
use rustix::fs::{Mode, OFlags, fdatasync, open};
use std::hint::black_box;
use std::io::{self, Write};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// Number of timed clock readings.
const CLOCK_READINGS: u32 = 100_000;
/// Size of a synchronised write in bytes: a page of the file system.
const SYNC_BYTES: usize = 4096;
/// Maximum number of timed writes, and the maximum time for all of them.
const SYNCS: usize = 200;
const SYNC_TIME_MAX: Duration = Duration::from_secs(3);
/// `f_type` of an in-memory file system (`statfs(2)`: TMPFS_MAGIC).
const TMPFS: i64 = 0x0102_1994;

/// Measures for `length`, while dyno is idle, how much CPU time other programs and other guests of
/// the host take. Returns only what deserves a warning.
#[must_use]
pub fn neighbours(length: Duration) -> Vec<Warning> {
    let sample = || {
        let mut values = Values::default();
        procfs::stat(
            &std::fs::read_to_string("/proc/stat").unwrap_or_default(),
            ticks(),
            &mut values,
        );
        values
    };
    let (before, processes) = (sample(), ProcessTable::now());
    thread::sleep(length);
    let others = processes
        .zip(ProcessTable::now())
        .and_then(|(from, to)| others::warning(&from, &to, &[], ticks()));
    let after = sample();
    let grown = |name: &str| Some(after.get(name)? - before.get(name)?);
    let share = grown("host.cpu.steal_seconds_total").zip(after.get("host.cpu.processors"));
    let steal = share.map(|(seconds, processors)| Warning::Steal {
        share: seconds / processors / length.as_secs_f64(),
    });
    others.into_iter().chain(steal.filter(|steal| steal.severity() >= Severity::Warning)).collect()
}

fn ticks() -> f64 {
    rustix::param::clock_ticks_per_second() as f64
}

/// Duration of one clock reading in nanoseconds; a statement needs two.
#[must_use]
pub fn clock_cost() -> f64 {
    let began = Instant::now();
    (0..CLOCK_READINGS).for_each(|_| {
        black_box(Instant::now());
    });
    began.elapsed().as_nanos() as f64 / f64::from(CLOCK_READINGS)
}

/// The machine's current memory use; `None` when the system does not report it.
#[must_use]
pub fn memory() -> Option<Observation> {
    memory_of(&std::fs::read_to_string("/proc/meminfo").ok()?)
}

fn memory_of(meminfo: &str) -> Option<Observation> {
    let mut values = Values::default();
    procfs::meminfo(meminfo, &mut values);
    let bytes =
        |name: &str| values.get(&format!("host.memory.{name}_bytes")).map(|bytes| bytes as u64);
    Some(Observation::Memory {
        total: bytes("total")?,
        available: bytes("available")?,
        swapped: bytes("swap_used").unwrap_or(0),
    })
}

/// The minimum cost of a durable commit on a folder's disk.
#[must_use]
pub fn disk(folder: &Path) -> Observation {
    sync_times(folder).unwrap_or_else(|error| Observation::DiskUntimed {
        folder: folder.display().to_string(),
        reason: error.to_string(),
    })
}

/// Writes and syncs a page up to 200 times within three seconds. The file has no name and so
/// disappears in any case. Fails when the folder is not writable, or its file system does not
/// support unnamed files.
fn sync_times(folder: &Path) -> io::Result<Observation> {
    let unnamed = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let mut file = std::fs::File::from(open(folder, unnamed, Mode::RUSR | Mode::WUSR)?);
    let is_in_memory = rustix::fs::fstatfs(&file)?.f_type as i64 == TMPFS;
    let began = Instant::now();
    let mut times = Vec::with_capacity(SYNCS);
    while times.len() < SYNCS && (times.is_empty() || began.elapsed() < SYNC_TIME_MAX) {
        let write = Instant::now();
        file.write_all(&[0x5a; SYNC_BYTES])?;
        fdatasync(&file)?;
        times.push(write.elapsed());
    }
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() * percent).div_ceil(100) - 1];
    let folder = folder.display().to_string();
    Ok(Observation::Disk { folder, p50: at(50), p95: at(95), is_in_memory })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_in_bytes_and_swap_is_the_used_part() {
        let text = "MemTotal: 2048 kB\nMemFree: 100 kB\nMemAvailable: 1024 kB\nSwapTotal: 512 kB\nSwapFree: 500 kB\n";
        let expected =
            Observation::Memory { total: 2048 << 10, available: 1024 << 10, swapped: 12 << 10 };
        assert_eq!(memory_of(text), Some(expected));
        assert_eq!(memory_of(""), None);
    }

    #[test]
    fn a_missing_folder_has_no_sync_times() {
        assert!(sync_times(Path::new("/no/such/folder")).is_err());
    }
}
