//! The machine and the program that produced a run, as stored in `environment.json`.
//!
//! Host name and command line are omitted on purpose: results folders are shared, and both may hold
//! private information.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What the figures depend on besides the experiment. Unknown values are empty or 0.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Environment {
    /// Processor model.
    pub cpu_model: String,
    /// Logical processors that this process may use.
    pub cpu_usable: u32,
    /// Logical processors of the machine.
    pub cpu_logical: u32,
    /// Physical cores of the machine; 0 when unknown.
    pub cpu_cores: u32,
    /// Memory of the machine in bytes.
    pub memory_bytes: u64,
    /// Kernel's name and release.
    pub kernel: String,
    /// Name of the distribution.
    pub os_release: String,
    /// Processor architecture.
    pub architecture: String,
    /// Hypervisor and container as far as the system reports them; empty when it appears to be
    /// bare metal.
    pub virtualisation: Vec<Virtualisation>,
    /// Version of dyno.
    pub dyno_version: String,
    /// `release` or `debug`.
    pub build_profile: String,
    /// Kernel settings that affect the results, by name below `/proc/sys` with dots, or by path
    /// below `/sys`.
    pub kernel_settings: BTreeMap<String, String>,
    /// Versions of the proxies that the run starts, by kind.
    pub proxies: BTreeMap<String, String>,
}

dyno_model::named! {
    /// A layer between the operating system and the hardware.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Virtualisation {
        /// A hypervisor.
        VirtualMachine = "virtual machine",
        /// A container.
        Container = "container",
    }
}

/// Kernel settings that database performance depends on: connections (queues, ports), write-back,
/// memory pages, scheduling, processor frequency.
const KERNEL_SETTINGS: [(&str, &str); 13] = [
    ("net.core.somaxconn", "proc/sys/net/core/somaxconn"),
    ("net.ipv4.tcp_max_syn_backlog", "proc/sys/net/ipv4/tcp_max_syn_backlog"),
    ("net.ipv4.ip_local_port_range", "proc/sys/net/ipv4/ip_local_port_range"),
    ("net.ipv4.tcp_tw_reuse", "proc/sys/net/ipv4/tcp_tw_reuse"),
    ("vm.swappiness", "proc/sys/vm/swappiness"),
    ("vm.dirty_ratio", "proc/sys/vm/dirty_ratio"),
    ("vm.dirty_background_ratio", "proc/sys/vm/dirty_background_ratio"),
    ("vm.overcommit_memory", "proc/sys/vm/overcommit_memory"),
    ("fs.aio-max-nr", "proc/sys/fs/aio-max-nr"),
    ("kernel.numa_balancing", "proc/sys/kernel/numa_balancing"),
    ("transparent_hugepage", "sys/kernel/mm/transparent_hugepage/enabled"),
    ("clocksource", "sys/devices/system/clocksource/clocksource0/current_clocksource"),
    ("scaling_governor", "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
];

impl Environment {
    /// Reads the description of this machine from `/proc` and `/etc/os-release`. Unreadable values
    /// stay empty.
    #[must_use]
    pub fn capture() -> Self {
        Self::capture_below(Path::new("/"))
    }

    /// As [`Self::capture`], with another folder as the file system root.
    fn capture_below(root: &Path) -> Self {
        let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap_or_default();
        let cpuinfo = read("proc/cpuinfo");
        let usable = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
        let name = read("proc/sys/kernel/ostype");
        let release = read("proc/sys/kernel/osrelease");
        Self {
            cpu_model: cpuinfo_field(&cpuinfo, "model name").next().unwrap_or_default().to_owned(),
            cpu_usable: u32::try_from(usable).unwrap_or(u32::MAX),
            cpu_logical: u32::try_from(cpuinfo_field(&cpuinfo, "processor").count())
                .unwrap_or(u32::MAX),
            cpu_cores: physical_cores(&cpuinfo),
            memory_bytes: memory_total(&read("proc/meminfo")),
            kernel: format!("{} {}", name.trim(), release.trim()).trim().to_owned(),
            os_release: os_pretty_name(&read("etc/os-release")),
            architecture: std::env::consts::ARCH.to_owned(),
            virtualisation: virtualisation(root, &cpuinfo),
            dyno_version: env!("CARGO_PKG_VERSION").to_owned(),
            build_profile: if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned(),
            kernel_settings: KERNEL_SETTINGS
                .iter()
                .filter_map(|(name, path)| Some(((*name).to_owned(), chosen(&read(path))?)))
                .collect(),
            proxies: BTreeMap::new(),
        }
    }
}

/// The kernel's id of the current boot; empty when it is not available.
#[must_use]
pub fn boot_id() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}

/// A setting as one line; of several words with one in brackets, the bracketed one (`always
/// [madvise] never`).
fn chosen(text: &str) -> Option<String> {
    let words = text.split_whitespace().collect::<Vec<_>>();
    let marked = words.iter().find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
    let value = marked.map_or_else(|| words.join(" "), str::to_owned);
    (!value.is_empty()).then_some(value)
}

fn cpuinfo_field<'a>(cpuinfo: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    cpuinfo
        .lines()
        .filter_map(|line| line.split_once(':'))
        .filter(move |(key, _)| key.trim() == name)
        .map(|(_, value)| value.trim())
}

/// Number of distinct pairs of socket and core.
fn physical_cores(cpuinfo: &str) -> u32 {
    let sockets = cpuinfo_field(cpuinfo, "physical id");
    let cores = cpuinfo_field(cpuinfo, "core id");
    let pairs: BTreeSet<_> = sockets.zip(cores).collect();
    u32::try_from(pairs.len()).unwrap_or(u32::MAX)
}

fn memory_total(meminfo: &str) -> u64 {
    meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))
        .and_then(|rest| rest.trim().strip_suffix("kB"))
        .and_then(|kilobytes| kilobytes.trim().parse::<u64>().ok())
        .map_or(0, |kilobytes| kilobytes * 1024)
}

fn os_pretty_name(os_release: &str) -> String {
    os_release
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="))
        .map(|name| name.trim().trim_matches('"').to_owned())
        .unwrap_or_default()
}

fn virtualisation(root: &Path, cpuinfo: &str) -> Vec<Virtualisation> {
    let mut kinds = Vec::new();
    if cpuinfo_field(cpuinfo, "flags")
        .next()
        .is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"))
    {
        kinds.push(Virtualisation::VirtualMachine);
    }
    if root.join(".dockerenv").exists() || root.join("run/.containerenv").exists() {
        kinds.push(Virtualisation::Container);
    }
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_settings_are_reported_as_selected() {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("proc/sys/net/core/somaxconn", "4096\n"),
            ("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n"),
            ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
        ] {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let settings = Environment::capture_below(root.path()).kernel_settings;
        let known: Vec<(&str, &str)> =
            settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(
            known,
            [
                ("net.core.somaxconn", "4096"),
                ("net.ipv4.ip_local_port_range", "32768 60999"),
                ("transparent_hugepage", "madvise"),
            ]
        );
    }

    #[test]
    fn this_machine_is_described() {
        let environment = Environment::capture();
        assert!(environment.cpu_usable >= 1);
        assert!(environment.memory_bytes > 1 << 20, "{environment:?}");
        assert!(environment.kernel.starts_with("Linux "), "{environment:?}");
        assert_eq!(environment.dyno_version, env!("CARGO_PKG_VERSION"));
    }

    #[test]
    fn values_that_the_machine_does_not_report_are_empty() {
        let environment = Environment::capture_below(Path::new("/nonexistent"));
        assert_eq!(environment.cpu_model, "");
        assert_eq!(environment.memory_bytes, 0);
        assert_eq!(environment.kernel, "");
    }

    #[test]
    fn hyperthreads_of_one_core_count_as_one() {
        let cpuinfo = "processor\t: 0\nphysical id\t: 0\ncore id\t\t: 0\n\nprocessor\t: 1\nphysical id\t: 0\ncore id\t\t: 0\n";
        assert_eq!(physical_cores(cpuinfo), 1);
        assert_eq!(cpuinfo_field(cpuinfo, "processor").count(), 2);
    }

    #[test]
    fn quotes_are_stripped_from_the_name_of_the_distribution() {
        assert_eq!(
            os_pretty_name("ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"),
            "Debian GNU/Linux 12 (bookworm)"
        );
    }

    #[test]
    fn memory_is_reported_in_kibibytes() {
        assert_eq!(memory_total("MemTotal:        4028092 kB\nMemFree: 1 kB\n"), 4_028_092 * 1024);
    }
}
