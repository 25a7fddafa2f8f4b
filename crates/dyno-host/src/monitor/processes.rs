//! Samples of processes: the server's, with its child processes, and this one.

use super::pace::{Pace, thread_cpu};
use super::procfs::keyed;
use crate::engine::Values;
use crate::process_stat::{ProcessStat, children, numbered_entries};
use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

/// At the bounds of the window details are always read, unless they cost more than this.
const DETAILS_AT_BOUNDS_MAX: Duration = Duration::from_millis(10);
/// Cost of a sample without details as a share of one with details: two of four files per process.
const WITHOUT_DETAILS: f64 = 0.4;

/// A process (several for a cluster) and, where the server works in child processes, its children;
/// values are sums.
#[derive(Debug, Default)]
pub(super) struct Processes {
    /// `server` or `generator`.
    source: &'static str,
    pids: Vec<u32>,
    has_children: bool,
    /// Totals so far. A child's times move to its parent when it ends, so a sample in between can
    /// miss or double them; totals never decrease.
    totals: BTreeMap<&'static str, f64>,
    switches: Switches,
    /// Pace for processor time and bytes.
    pace: Pace,
    /// Pace for memory, open files and context switches.
    details_pace: Pace,
    /// Cost of the last sample with details.
    details_cost: Duration,
}

/// A sample of one process.
pub(super) struct ProcessSample {
    pid: u32,
    stat: ProcessStat,
    /// Text of `/proc/<pid>/status`; empty in a sample without details.
    status: String,
    /// Text of `/proc/<pid>/io`; empty when this account may not read it.
    io: String,
    open_files: Option<f64>,
}

impl ProcessSample {
    /// A sample of a process on another machine, whose number of open files is unknown.
    pub(super) fn of_texts(pid: u32, stat: ProcessStat, status: String, io: String) -> Self {
        Self { pid, stat, status, io, open_files: None }
    }

    /// True for a sample with details.
    pub(super) fn has_status(&self) -> bool {
        !self.status.is_empty()
    }

    fn read(pid: u32, has_details: bool) -> Option<Self> {
        let read = |file: &str| fs::read_to_string(format!("/proc/{pid}/{file}"));
        Some(Self {
            pid,
            stat: ProcessStat::of(pid)?,
            status: if has_details { read("status").unwrap_or_default() } else { String::new() },
            io: read("io").unwrap_or_default(),
            open_files: has_details.then(|| open_files(pid)).flatten(),
        })
    }
}

/// Number of open files of a process. Since Linux 6.2 the folder's size is their number; before,
/// they are counted.
fn open_files(pid: u32) -> Option<f64> {
    let folder = format!("/proc/{pid}/fd");
    match fs::metadata(&folder).map(|metadata| metadata.len()) {
        Ok(0) => fs::read_dir(folder).ok().map(|entries| entries.count() as f64),
        Ok(files) => Some(files as f64),
        Err(_) => None,
    }
}

impl Processes {
    pub(super) fn of_server(pids: Vec<u32>, has_children: bool) -> Self {
        Self { source: "server", pids, has_children, ..Self::default() }
    }

    pub(super) fn of_generator() -> Self {
        Self { source: "generator", pids: vec![std::process::id()], ..Self::default() }
    }

    /// Adds the values to `values`: with many processes only as often as the pace allows, but
    /// processor time and bytes always when `is_boundary`.
    pub(super) fn sample(&mut self, ticks_per_second: f64, is_boundary: bool, values: &mut Values) {
        let now = Instant::now();
        let has_details = match is_boundary {
            true => self.details_cost <= DETAILS_AT_BOUNDS_MAX,
            false => self.details_pace.is_due(now),
        };
        if !is_boundary && !has_details && !self.pace.is_due(now) {
            return;
        }
        let began = thread_cpu();
        // Children first: the time of one that ends in between is then in its parent at the latest.
        let mut all: Vec<ProcessSample> = if self.has_children {
            let children = self.pids.iter().flat_map(|pid| children(*pid));
            children.filter_map(|child| ProcessSample::read(child, has_details)).collect()
        } else {
            Vec::new()
        };
        let workers = all.len();
        all.extend(self.pids.iter().filter_map(|pid| ProcessSample::read(*pid, has_details)));
        if all.len() == workers {
            return;
        }
        self.put(&all, ticks_per_second, values);
        if has_details {
            self.put_details(&all, values);
        }
        let cost = thread_cpu().saturating_sub(began);
        if has_details {
            self.details_cost = cost;
            self.details_pace.note(Instant::now(), cost);
        }
        self.pace
            .note(Instant::now(), if has_details { cost.mul_f64(WITHOUT_DETAILS) } else { cost });
    }

    /// Adds the values of processes on another machine. Their context switches are left out,
    /// because those of all threads would cost a file each.
    pub(super) fn put_seen(
        &mut self,
        all: &[ProcessSample],
        ticks_per_second: f64,
        has_details: bool,
        values: &mut Values,
    ) {
        self.put(all, ticks_per_second, values);
        if has_details {
            values.put(&format!("{}.process.resident_bytes", self.source), resident(all));
        }
    }

    fn put(&mut self, all: &[ProcessSample], ticks_per_second: f64, values: &mut Values) {
        let source = self.source;
        let sum = |of: &dyn Fn(&ProcessSample) -> f64| {
            all.iter().map(of).fold(0.0, |sum, value| sum + value)
        };
        let ticks =
            |mode: usize| sum(&|seen| seen.stat.ticks[mode] + seen.stat.children_ticks[mode]);
        self.put_total("cpu_user_seconds_total", ticks(0) / ticks_per_second, values);
        self.put_total("cpu_system_seconds_total", ticks(1) / ticks_per_second, values);
        if all.iter().any(|seen| !seen.io.is_empty()) {
            for (key, quantity) in
                [("read_bytes", "read_bytes_total"), ("write_bytes", "written_bytes_total")]
            {
                self.put_total(quantity, sum(&|seen| keyed(&seen.io, key).unwrap_or(0.0)), values);
            }
        }
        let mut put =
            |quantity: &str, value: f64| values.put(&format!("{source}.process.{quantity}"), value);
        put("threads", sum(&|seen| seen.stat.threads));
        put("processes", all.len() as f64);
    }

    fn put_details(&mut self, all: &[ProcessSample], values: &mut Values) {
        values.put(&format!("{}.process.resident_bytes", self.source), resident(all));
        let files: Vec<f64> = all.iter().filter_map(|seen| seen.open_files).collect();
        if !files.is_empty() {
            values.put(&format!("{}.process.open_files", self.source), files.iter().sum::<f64>());
        }
        // Those of the generator's threads are of no interest, and cost a file per thread.
        if self.source == "server" {
            self.put_switches(all, values);
        }
    }

    fn put_total(&mut self, quantity: &'static str, now: f64, values: &mut Values) {
        let total = self.totals.entry(quantity).or_insert(now);
        *total = total.max(now);
        values.put(&format!("{}.process.{quantity}", self.source), *total);
    }

    fn put_switches(&mut self, all: &[ProcessSample], values: &mut Values) {
        let [voluntary, involuntary] = self.switches.sample(all);
        self.put_total("voluntary_switches_total", voluntary, values);
        self.put_total("involuntary_switches_total", involuntary, values);
    }
}

/// Memory of processes that share some: private memory is summed up; of files and shared memory,
/// which are mostly common, the largest is used. Where the kernel does not separate them (before
/// Linux 4.5), the sum of all resident sets.
fn resident(all: &[ProcessSample]) -> f64 {
    let bytes = |seen: &ProcessSample, key: &str| {
        keyed(&seen.status, key).map(|kilobytes| kilobytes * 1024.0)
    };
    let largest = |key: &str| all.iter().filter_map(|seen| bytes(seen, key)).fold(0.0, f64::max);
    if all.iter().any(|seen| bytes(seen, "RssAnon").is_some()) {
        let own: f64 = all.iter().filter_map(|seen| bytes(seen, "RssAnon")).sum();
        own + largest("RssFile") + largest("RssShmem")
    } else {
        all.iter().filter_map(|seen| bytes(seen, "VmRSS")).sum()
    }
}

/// Context switches. The kernel counts them per thread and forgets them with the thread, so those
/// of ended threads are kept here as last seen.
#[derive(Debug, Default)]
struct Switches {
    living: BTreeMap<u32, [f64; 2]>,
    gone: [f64; 2],
}

impl Switches {
    fn sample(&mut self, all: &[ProcessSample]) -> [f64; 2] {
        let mut living = BTreeMap::new();
        for seen in all {
            if seen.stat.threads <= 1.0 {
                living.extend(switches(&seen.status).map(|count| (seen.pid, count)));
                continue;
            }
            let folder = format!("/proc/{}/task", seen.pid);
            for thread in numbered_entries(&folder) {
                let status =
                    fs::read_to_string(format!("{folder}/{thread}/status")).unwrap_or_default();
                living.extend(switches(&status).map(|count| (thread, count)));
            }
        }
        self.take(living)
    }

    /// Voluntary and involuntary switches of all threads so far.
    fn take(&mut self, living: BTreeMap<u32, [f64; 2]>) -> [f64; 2] {
        for (thread, last) in &self.living {
            // A thread id with fewer switches than before has been reused.
            if living.get(thread).is_none_or(|now| now[0] < last[0] || now[1] < last[1]) {
                self.gone = [self.gone[0] + last[0], self.gone[1] + last[1]];
            }
        }
        self.living = living;
        self.living.values().fold(self.gone, |sum, count| [sum[0] + count[0], sum[1] + count[1]])
    }
}

fn switches(status: &str) -> Option<[f64; 2]> {
    Some([keyed(status, "voluntary_ctxt_switches")?, keyed(status, "nonvoluntary_ctxt_switches")?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn this_process_uses_the_processor_and_memory() {
        let mut processes = Processes::of_generator();
        let mut sample = || {
            let mut values = Values::default();
            processes.sample(100.0, true, &mut values);
            values
        };
        let before = sample();
        assert!(before.get("generator.process.resident_bytes").unwrap() > 1e5);
        assert!(before.get("generator.process.threads").unwrap() >= 1.0);
        assert!(before.get("generator.process.open_files").unwrap() >= 3.0);
        let cpu = |values: &Values| values.get("generator.process.cpu_user_seconds_total").unwrap();
        let mut work = 0_u64;
        while cpu(&sample()) <= cpu(&before) {
            work = (0..1_000_000).fold(work, u64::wrapping_add);
        }
    }

    #[test]
    fn work_of_an_ended_child_stays_in_the_sum() {
        // A shell with a child that works and then ends.
        let script =
            "i=0; sh -c 'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done'; echo done; read line";
        let mut shell = Command::new("sh")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut processes = Processes::of_server(vec![shell.id()], true);
        let mut output = std::io::BufReader::new(shell.stdout.take().unwrap());
        let mut line = String::new();
        std::io::BufRead::read_line(&mut output, &mut line).unwrap();
        let mut values = Values::default();
        processes.sample(100.0, true, &mut values);
        let cpu = ["user", "system"]
            .map(|mode| values.get(&format!("server.process.cpu_{mode}_seconds_total")).unwrap());
        drop(shell.stdin.take());
        shell.wait().unwrap();
        assert!(cpu[0] + cpu[1] > 0.0, "{cpu:?}");
        assert_eq!(values.get("server.process.processes"), Some(1.0));
    }

    #[test]
    fn switches_of_ended_threads_are_kept() {
        let mut switches = Switches::default();
        assert_eq!(
            switches.take(BTreeMap::from([(1, [10.0, 1.0]), (2, [20.0, 2.0])])),
            [30.0, 3.0]
        );
        assert_eq!(switches.take(BTreeMap::from([(1, [15.0, 1.0])])), [35.0, 3.0]);
        // Ids 2 and 1 have been reused.
        let again = BTreeMap::from([(1, [1.0, 0.0]), (2, [5.0, 0.0])]);
        assert_eq!(switches.take(again), [41.0, 3.0]);
    }

    #[test]
    fn a_missing_process_has_no_values() {
        let mut values = Values::default();
        Processes::of_server(vec![u32::MAX], true).sample(100.0, true, &mut values);
        assert_eq!(values, Values::default());
    }
}
