//! What of this machine would spoil a measurement, in words: for `dyno doctor`, which shows all of it, and for preflight, which asks for the
//! doubts.

use crate::preflight_finding::{PreflightFinding, Weight};
use dyno_drivers::open_files;
use dyno_host::checkup::{self, Memory, SyncTimes};
use dyno_store::environment::Environment;
use serde::Serialize;
use std::path::Path;

/// A reading of the clock that takes longer than this is a doubt: with two per statement it shows in a generator that spends a few
/// microseconds on one.
const CLOCK_SLOW: f64 = 250.0;
/// Below this share of the memory nothing is left for a server.
const MEMORY_SHORT: f64 = 0.1;
/// Synchronised writes of which the 95th percentile is so many times the median scatter so much that short windows differ by chance.
const SYNC_SCATTER: f64 = 10.0;

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Check {
    /// What was looked at.
    pub(crate) place: String,
    /// What was found, with the values.
    pub(crate) message: String,
    /// True when it may spoil a measurement.
    pub(crate) is_doubt: bool,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) remedy: Option<String>,
}

impl Check {
    pub(crate) fn fine(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into(), is_doubt: false, remedy: None }
    }

    pub(crate) fn doubt(place: impl Into<String>, message: impl Into<String>, remedy: &str) -> Self {
        Self { is_doubt: true, remedy: Some(remedy.to_owned()), ..Self::fine(place, message) }
    }

    /// For preflight: a warning, if it is a doubt.
    pub(crate) fn warning(self) -> Option<PreflightFinding> {
        self.is_doubt.then_some(PreflightFinding {
            weight: Weight::Warning,
            place: self.place,
            message: self.message,
            remedy: self.remedy,
        })
    }
}

/// What can be told at once: processors, clock, memory, limits.
pub(crate) fn machine(environment: &Environment) -> Vec<Check> {
    let setting = |name: &str| environment.kernel_settings.get(name).map(String::as_str);
    let processors = format!("{} usable, {}", environment.cpu_usable, environment.cpu_model);
    let mut checks = vec![
        Check::fine("processors", processors.trim_end_matches([' ', ','])),
        clock(setting("clocksource").unwrap_or("unknown"), checkup::clock_cost()),
    ];
    checks.extend(setting("scaling_governor").map(governor));
    checks.extend(checkup::memory().map(memory));
    checks.push(Check::fine("open files", format!("{} at once", open_files::raise_limit())));
    checks.extend(setting("net.ipv4.ip_local_port_range").and_then(ports));
    checks
}

fn clock(source: &str, nanos: f64) -> Check {
    let message = format!("a reading takes {nanos:.0} ns (source {source})");
    if nanos <= CLOCK_SLOW {
        return Check::fine("clock", message);
    }
    let message = format!("{message}; each statement needs two, so the generator itself is slow");
    let remedy = "use the processor's own clock, if the kernel trusts it: clocksource=tsc (on a virtual machine, the host's)";
    Check::doubt("clock", message, remedy)
}

fn governor(governor: &str) -> Check {
    match governor {
        "powersave" | "conservative" | "ondemand" => Check::doubt(
            "processor speed",
            format!(
                "the governor is {governor}: the speed follows the load, and light loads look slower than they are"
            ),
            "cpupower frequency-set -g performance",
        ),
        _ => Check::fine("processor speed", format!("governor {governor}")),
    }
}

fn memory(memory: Memory) -> Check {
    let Memory { total, available, swapped } = memory;
    let message = format!("{} MB, {} MB of it available", total >> 20, available >> 20);
    if (available as f64) < MEMORY_SHORT * total as f64 {
        let message = format!("{message}, {} MB in swap: servers will wait for the disk", swapped >> 20);
        return Check::doubt("memory", message, "end programs that need much memory");
    }
    Check::fine("memory", message)
}

/// Ports from which connections to one address can begin: a limit of clients over TCP.
fn ports(range: &str) -> Option<Check> {
    let (first, last) = range.split_once(char::is_whitespace)?;
    let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    Some(Check::fine("local ports", format!("{} clients over TCP at most", last.checked_sub(first)? + 1)))
}

/// What a durable commit costs at least on a folder's disk.
pub(crate) fn disk(folder: &Path) -> Check {
    let place = format!("disk of {}", folder.display());
    match checkup::sync_times(folder) {
        Ok(times) => disk_of(&place, times),
        Err(error) => Check::fine(place, format!("cannot be timed: {error}")),
    }
}

fn disk_of(place: &str, times: SyncTimes) -> Check {
    let millis = |time: std::time::Duration| format!("{:.2} ms", time.as_secs_f64() * 1e3);
    if times.is_in_memory {
        let message = "is in memory: commits that are to be durable cost nothing there, and are not durable";
        return Check::doubt(
            place,
            message,
            "put the server's data on a disk: server.scratch in the spec, or TMPDIR",
        );
    }
    let (p50, p95) = (millis(times.p50), millis(times.p95));
    let message = format!("a durable write of 4 KB takes {p50} (95 % within {p95})");
    if times.p95.as_secs_f64() > SYNC_SCATTER * times.p50.as_secs_f64() {
        let message = format!("{message}: it scatters, and with it every commit");
        return Check::doubt(
            place,
            message,
            "let nothing else write there, or measure in long windows and many blocks",
        );
    }
    Check::fine(place, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn doubts(checks: &[Check]) -> Vec<bool> {
        checks.iter().map(|check| check.is_doubt).collect()
    }

    #[test]
    fn a_slow_clock_a_saving_governor_and_little_memory_are_doubts() {
        let of =
            |available: u64| memory(Memory { total: 1000 << 20, available: available << 20, swapped: 0 });
        assert_eq!(doubts(&[clock("tsc", 30.0), clock("hpet", 900.0)]), [false, true]);
        assert_eq!(doubts(&[governor("performance"), governor("powersave")]), [false, true]);
        assert_eq!(doubts(&[of(900), of(90)]), [false, true]);
    }

    #[test]
    fn a_disk_in_memory_or_one_that_scatters_is_a_doubt() {
        let times = |p95: u64, is_in_memory| {
            let (p50, p95) = (Duration::from_millis(1), Duration::from_millis(p95));
            disk_of("disk", SyncTimes { p50, p95, is_in_memory })
        };
        assert_eq!(doubts(&[times(3, false), times(11, false), times(1, true)]), [false, true, true]);
    }

    #[test]
    fn ports_bound_the_clients() {
        let check = ports("32768\t60999").expect("a range");
        assert_eq!(check.message, "28232 clients over TCP at most");
        assert_eq!(ports("none"), None);
    }

    #[test]
    fn only_doubts_are_warnings_of_preflight() {
        assert_eq!(Check::fine("clock", "fast").warning(), None);
        let warning = Check::doubt("clock", "slow", "another").warning().expect("a warning");
        assert_eq!((warning.weight, warning.remedy.as_deref()), (Weight::Warning, Some("another")));
    }
}
