//! Samples of the machine: processors, memory, disks, network and pressure, from `/proc` and
//! `/sys`.

use super::procfs;
use crate::engine::Values;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

#[derive(Debug)]
pub(super) struct Machine {
    ticks_per_second: f64,
    /// Whether a block device is a whole device rather than a partition; queried once per device.
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

    pub(super) fn sample(&mut self, values: &mut Values) {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let whole_devices = &mut self.whole_devices;
        let mut is_whole = |device: &str| match whole_devices.get(device) {
            Some(is_whole) => *is_whole,
            None => {
                let is_whole = is_whole_device(device);
                whole_devices.insert(device.to_owned(), is_whole);
                is_whole
            }
        };
        Self::put(read, &mut is_whole, self.ticks_per_second, values);
    }

    /// Adds the values of a machine from its files and the names of its whole devices.
    pub(super) fn put(
        read: impl Fn(&str) -> String,
        is_whole_device: impl FnMut(&str) -> bool,
        ticks_per_second: f64,
        values: &mut Values,
    ) {
        procfs::stat(&processor_lines(&read("/proc/stat")), ticks_per_second, values);
        procfs::meminfo(&read("/proc/meminfo"), values);
        procfs::vmstat(&read("/proc/vmstat"), values);
        procfs::diskstats(&read("/proc/diskstats"), is_whole_device, values);
        procfs::net_dev(&read("/proc/net/dev"), values);
        for resource in ["cpu", "io", "memory"] {
            procfs::pressure(resource, &read(&format!("/proc/pressure/{resource}")), values);
        }
    }
}

/// The line of interrupts can hold hundreds of numbers on large machines, and is not needed.
fn processor_lines(text: &str) -> String {
    text.lines()
        .filter(|line| !line.starts_with("intr") && !line.starts_with("softirq"))
        .fold(String::new(), |kept, line| kept + line + "\n")
}

/// Block devices in memory are not disks.
pub(super) fn is_memory(device: &str) -> bool {
    ["ram", "zram"].iter().any(|kind| {
        device.strip_prefix(kind).is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()))
    })
}

/// `/sys/block` lists only whole devices, with `!` in place of a slash in the name.
fn is_whole_device(device: &str) -> bool {
    !is_memory(device) && Path::new("/sys/block").join(device.replace('/', "!")).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_processors_and_memory() {
        let mut values = Values::default();
        Machine::new().sample(&mut values);
        assert!(values.get("host.cpu.processors").unwrap() >= 1.0);
        assert!(values.get("host.cpu.idle_seconds_total").is_some());
        let total = values.get("host.memory.total_bytes").unwrap();
        assert!(values.get("host.memory.available_bytes").unwrap() < total);
    }

    #[test]
    fn memory_used_as_a_disk_is_not_a_disk() {
        assert!(
            !is_whole_device("zram0")
                && !is_whole_device("ram1")
                && !is_whole_device("no-such-device")
        );
    }
}
