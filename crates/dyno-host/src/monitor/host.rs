//! The machine: its processors, memory, disks, network and pressure, read from `/proc` and `/sys`.

use super::{Values, procfs};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Reads the machine.
#[derive(Debug)]
pub(super) struct Machine {
    ticks_per_second: f64,
    /// Whether a block device is one of its own, rather than a part of another; asked once per device.
    whole_devices: BTreeMap<String, bool>,
}

impl Machine {
    pub(super) fn new() -> Self {
        Self {
            ticks_per_second: rustix::param::clock_ticks_per_second() as f64,
            whole_devices: BTreeMap::new(),
        }
    }

    /// Ticks per second of processor times in `/proc`.
    pub(super) fn ticks_per_second(&self) -> f64 {
        self.ticks_per_second
    }

    pub(super) fn look(&mut self, values: &mut Values) {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        procfs::stat(&processor_lines(&read("/proc/stat")), self.ticks_per_second, values);
        procfs::meminfo(&read("/proc/meminfo"), values);
        procfs::vmstat(&read("/proc/vmstat"), values);
        let disks = read("/proc/diskstats");
        for device in disks.lines().filter_map(|line| line.split_whitespace().nth(2)) {
            if !self.whole_devices.contains_key(device) {
                self.whole_devices.insert(device.to_owned(), is_whole_device(device));
            }
        }
        procfs::diskstats(&disks, |device| self.whole_devices.get(device) == Some(&true), values);
        procfs::net_dev(&read("/proc/net/dev"), values);
        for resource in ["cpu", "io", "memory"] {
            procfs::pressure(resource, &read(&format!("/proc/pressure/{resource}")), values);
        }
    }
}

/// The line of interrupts can be hundreds of numbers long on large machines; nobody here needs it.
fn processor_lines(text: &str) -> String {
    text.lines()
        .filter(|line| !line.starts_with("intr") && !line.starts_with("softirq"))
        .fold(String::new(), |kept, line| kept + line + "\n")
}

/// `/sys/block` has whole devices only, with `!` for the slash in a name. Disks in memory are no disks.
fn is_whole_device(device: &str) -> bool {
    let is_memory = ["ram", "zram"]
        .iter()
        .any(|kind| device.strip_prefix(kind).is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit())));
    !is_memory && Path::new("/sys/block").join(device.replace('/', "!")).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_processors_and_memory() {
        let mut values = Values::default();
        Machine::new().look(&mut values);
        assert!(values.get("host.cpu.processors").unwrap() >= 1.0);
        assert!(values.get("host.cpu.idle_seconds_total").is_some());
        let total = values.get("host.memory.total_bytes").unwrap();
        assert!(values.get("host.memory.available_bytes").unwrap() < total);
    }

    #[test]
    fn memory_that_is_used_as_a_disk_is_no_disk() {
        assert!(!is_whole_device("zram0") && !is_whole_device("ram1") && !is_whole_device("no-such-device"));
    }
}
