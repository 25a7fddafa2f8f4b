//! Parsers for the files of `/proc`: from text to named values; nothing here opens a file.
//!
//! Kernels differ: fields are appended to lines, and parts can be missing. What is missing yields
//! no value, and never an error.

use crate::engine::Values;
use dyno_model::monitor::names::{
    BUSY, CPU_MODES, QUEUED, READ_BYTES, READS, SECONDS_TOTAL, WRITES, WRITTEN_BYTES,
};

/// A sector in `/proc/diskstats`, independent of the device's own sector size
/// (Documentation/block/stat.rst).
const SECTOR: f64 = 512.0;

fn numbers(text: &str) -> Vec<f64> {
    text.split_whitespace()
        .map_while(|field| field.parse::<u64>().ok())
        .map(|number| number as f64)
        .collect()
}

/// `/proc/stat`: processor time of the machine by mode, and the number of processors.
pub(crate) fn stat(text: &str, ticks_per_second: f64, values: &mut Values) {
    let all = text.lines().find_map(|line| line.strip_prefix("cpu ")).unwrap_or_default();
    for (mode, ticks) in CPU_MODES.iter().zip(numbers(all)) {
        values.put(&format!("host.cpu.{mode}{SECONDS_TOTAL}"), ticks / ticks_per_second);
    }
    let is_processor = |line: &&str| {
        line.strip_prefix("cpu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let processors = text.lines().filter(is_processor).count();
    if processors > 0 {
        values.put("host.cpu.processors", processors as f64);
    }
    for (key, name) in
        [("ctxt ", "host.context_switches_total"), ("processes ", "host.processes_started_total")]
    {
        let line = text.lines().find_map(|line| line.strip_prefix(key));
        values.put(name, line.and_then(|rest| numbers(rest).first().copied()));
    }
}

/// `/proc/meminfo`.
pub(crate) fn meminfo(text: &str, values: &mut Values) {
    let bytes = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        line.and_then(|rest| numbers(rest).first().map(|kilobytes| kilobytes * 1024.0))
    };
    for (key, name) in [
        ("MemTotal", "total"),
        ("MemAvailable", "available"),
        ("Cached", "cached"),
        ("Dirty", "dirty"),
        ("Writeback", "writeback"),
    ] {
        values.put(&format!("host.memory.{name}_bytes"), bytes(key));
    }
    if let (Some(total), Some(free)) = (bytes("SwapTotal"), bytes("SwapFree")) {
        values.put("host.memory.swap_used_bytes", total - free);
    }
}

/// `/proc/vmstat`: pages swapped in and out.
pub(super) fn vmstat(text: &str, values: &mut Values) {
    for (key, name) in
        [("pswpin ", "host.swap.pages_in_total"), ("pswpout ", "host.swap.pages_out_total")]
    {
        let line = text.lines().find_map(|line| line.strip_prefix(key));
        values.put(name, line.and_then(|rest| numbers(rest).first().copied()));
    }
}

/// `/proc/diskstats`: the devices accepted by `is_wanted` that have ever been used.
pub(super) fn diskstats(text: &str, mut is_wanted: impl FnMut(&str) -> bool, values: &mut Values) {
    for line in text.lines() {
        let mut fields = line.split_whitespace();
        let Some(device) = fields.nth(2) else { continue };
        let rest: Vec<f64> =
            fields.map_while(|field| field.parse::<u64>().ok()).map(|n| n as f64).collect();
        // Partitions of old kernels (before 2.6.25) have four fields with another meaning.
        if rest.len() < 11 || (rest[0] == 0.0 && rest[4] == 0.0) || !is_wanted(device) {
            continue;
        }
        let name = format!("host.disk.{}", instance(device));
        for (field, quantity, per_unit) in DISK {
            let value = rest.get(field).map(|value| value / per_unit);
            values.put(&format!("{name}{quantity}"), value);
        }
    }
}

/// Fields of `/proc/diskstats` after the device: index, value name, and the divisor or factor to
/// seconds, bytes or counts.
const DISK: [(usize, &str, f64); 11] = [
    (0, READS, 1.0),
    (2, READ_BYTES, 1.0 / SECTOR),
    (3, ".read_seconds_total", 1e3),
    (4, WRITES, 1.0),
    (6, WRITTEN_BYTES, 1.0 / SECTOR),
    (7, ".write_seconds_total", 1e3),
    (8, ".in_flight", 1.0),
    (9, BUSY, 1e3),
    (10, QUEUED, 1e3),
    // Since Linux 5.5: flush requests.
    (15, ".flushes_total", 1.0),
    (16, ".flush_seconds_total", 1e3),
];

/// `/proc/net/dev`: the interfaces that have ever been used.
pub(super) fn net_dev(text: &str, values: &mut Values) {
    for line in text.lines() {
        let Some((interface, rest)) = line.rsplit_once(':') else { continue };
        let fields = numbers(rest);
        let (Some(received), Some(sent)) = (fields.get(..4), fields.get(8..12)) else { continue };
        if received[1] == 0.0 && sent[1] == 0.0 {
            continue;
        }
        for (direction, fields) in [("received", received), ("sent", sent)] {
            for (what, value) in ["bytes", "packets", "errors", "drops"].iter().zip(fields) {
                values.put(
                    &format!("host.net.{}.{direction}_{what}_total", instance(interface.trim())),
                    *value,
                );
            }
        }
    }
}

/// A file of `/proc/pressure`: time in which some, and in which all, runnable tasks waited for the
/// resource.
pub(super) fn pressure(resource: &str, text: &str, values: &mut Values) {
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let Some(share @ ("some" | "full")) = words.next() else { continue };
        let total = words.find_map(|word| word.strip_prefix("total=")?.parse::<u64>().ok());
        let name = format!("host.pressure.{resource}.{share}{SECONDS_TOTAL}");
        values.put(&name, total.map(|micros| micros as f64 / 1e6));
    }
}

/// The name of a device or interface as a part of a value's name, whose parts are separated by dots
/// (`eth0.100`, `cciss/c0d0`).
fn instance(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_alphanumeric() || matches!(c, '-' | '_' | '/') { c } else { '_' })
        .collect()
}

/// The number after a key in `/proc/<pid>/status`, `/proc/<pid>/io` or any other file of `key:
/// number` lines.
pub(super) fn keyed(text: &str, key: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
    line.and_then(|rest| numbers(rest).first().copied())
}

#[cfg(test)]
mod tests;
