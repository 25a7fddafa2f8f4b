//! Resource usage of trials on the machine and in the server: the monitor's samples, aggregated
//! over the measurement window and over intervals of a second.

use crate::estimate::as_u32;
use crate::model::{Figures, Metric, Monitored, ResourcePoint};
use crate::view::View;
use dyno_model::monitor::{MonitorSample, growth, mean, names};
use dyno_model::plan::{StopRule, Trial};
use dyno_model::record::TrialRecord;
use dyno_store::TrialOutcome;
use std::collections::BTreeMap;

/// Samples closer than this, in s, count as one in the timeline: the monitor takes additional
/// samples at the bounds of the window.
const POINT_SECONDS_MIN: f64 = 0.5;
/// CPU modes in which something runs.
const BUSY_MODES: [&str; 5] = ["user", "nice", "system", "irq", "softirq"];

/// What the monitor observed in a configuration: means over the measurement windows of its valid
/// trials. `None` if it was not monitored.
pub(crate) fn observed(view: &View<'_>, configuration: usize) -> Option<(Monitored, Figures)> {
    let windows: Vec<ResourceWindow<'_>> =
        view.valid(configuration).filter_map(|record| ResourceWindow::of(view, record)).collect();
    let averaged = |of: &dyn Fn(&ResourceWindow<'_>) -> Option<f64>| {
        let values: Vec<f64> = windows.iter().filter_map(of).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    let first = windows.first()?;
    let disk = first.busiest_disk().unwrap_or_default();
    let of_disk = |quantity: &str| format!("{}{disk}{quantity}", names::HOST_DISK);
    let pressure =
        |resource: &str| format!("{}{resource}.some{}", names::HOST_PRESSURE, names::SECONDS_TOTAL);
    let sum = |one: &'static str, other: &'static str| {
        move |w: &ResourceWindow<'_>| Some(w.growth(one)? + w.growth(other)?)
    };
    let server_cpu = sum(names::SERVER_CPU_USER, names::SERVER_CPU_SYSTEM);
    let switches = sum(names::SERVER_VOLUNTARY, names::SERVER_INVOLUNTARY);
    let figures = [
        (Metric::HostCpu, averaged(&|w| w.mode_percent(&BUSY_MODES))),
        (Metric::CpuUser, averaged(&|w| w.mode_percent(&["user", "nice"]))),
        (Metric::CpuSystem, averaged(&|w| w.mode_percent(&["system", "irq", "softirq"]))),
        (Metric::CpuIowait, averaged(&|w| w.mode_percent(&["iowait"]))),
        (Metric::CpuSteal, averaged(&|w| w.mode_percent(&["steal"]))),
        (Metric::ServerProcessors, averaged(&|w| Some(server_cpu(w)? / w.length()))),
        (Metric::GeneratorProcessors, averaged(&|w| Some(w.generator_cpu()? / w.length()))),
        (Metric::ServerCpuPerTransaction, averaged(&|w| w.per_transaction(server_cpu(w)? * 1e6))),
        (
            Metric::GeneratorCpuPerTransaction,
            averaged(&|w| w.per_transaction(w.generator_cpu()? * 1e6)),
        ),
        (Metric::ServerSwitchesPerTransaction, averaged(&|w| w.per_transaction(switches(w)?))),
        (
            Metric::ServerReadPerTransaction,
            averaged(&|w| w.per_transaction(w.growth(names::SERVER_READ)?)),
        ),
        (
            Metric::ServerWrittenPerTransaction,
            averaged(&|w| w.per_transaction(w.growth(names::SERVER_WRITTEN)?)),
        ),
        (Metric::ServerMemory, averaged(&|w| w.mean(names::SERVER_RESIDENT))),
        (Metric::ServerThreads, averaged(&|w| w.mean(names::SERVER_THREADS))),
        (Metric::DiskBusy, averaged(&|w| Some(100.0 * w.rate(&of_disk(names::BUSY))?))),
        (Metric::DiskQueue, averaged(&|w| w.rate(&of_disk(names::QUEUED)))),
        (Metric::DiskRead, averaged(&|w| w.rate(&of_disk(names::READ_BYTES)))),
        (Metric::DiskWritten, averaged(&|w| w.rate(&of_disk(names::WRITTEN_BYTES)))),
        (Metric::CpuPressure, averaged(&|w| Some(100.0 * w.rate(&pressure("cpu"))?))),
        (Metric::IoPressure, averaged(&|w| Some(100.0 * w.rate(&pressure("io"))?))),
        (Metric::MemoryPressure, averaged(&|w| Some(100.0 * w.rate(&pressure("memory"))?))),
        (
            Metric::Monitor,
            averaged(&|w| {
                let at_server = w.rate(names::MONITOR_SERVER_CPU).unwrap_or(0.0);
                let elsewhere = w.rate(names::MONITOR_COMMAND_CPU).unwrap_or(0.0);
                Some(100.0 * (w.rate(names::MONITOR_CPU)? + at_server + elsewhere))
            }),
        ),
    ];
    let monitored = Monitored {
        trials: as_u32(windows.len()),
        processors: averaged(&|w| w.mean(names::HOST_PROCESSORS)),
        server_counters_per_transaction: counters(&windows),
        disk,
    };
    Some((monitored, Figures::from(figures.map(|(metric, it)| (metric, it.map(Into::into))))))
}

/// Growth of the server's counters per transaction, over all windows.
fn counters(windows: &[ResourceWindow<'_>]) -> BTreeMap<String, f64> {
    let mut sums: BTreeMap<String, f64> = BTreeMap::new();
    let mut committed = 0.0;
    for window in windows {
        committed += window.committed as f64;
        let Some(first) = window.samples.first() else { continue };
        for name in first.values.keys() {
            let is_process = name.starts_with("server.process.");
            let Some(short) =
                name.strip_prefix("server.").and_then(|rest| rest.strip_suffix("_total"))
            else {
                continue;
            };
            if let Some(grown) = window.growth(name).filter(|grown| *grown > 0.0 && !is_process) {
                *sums.entry(short.to_owned()).or_default() += grown;
            }
        }
    }
    if committed > 0.0 {
        sums.into_iter().map(|(name, sum)| (name, sum / committed)).collect()
    } else {
        BTreeMap::new()
    }
}

/// The monitor's samples of a part of a trial, for example of the measurement window.
#[derive(Clone, Copy)]
struct ResourceWindow<'a> {
    samples: &'a [MonitorSample],
    /// Start in seconds since the common start.
    opens: f64,
    closes: f64,
    /// Transactions of the measurement window.
    committed: u64,
    /// CPU time of load generators in other processes, in seconds.
    generators_cpu: Option<f64>,
}

impl<'a> ResourceWindow<'a> {
    fn of(view: &View<'a>, record: &TrialRecord) -> Option<Self> {
        let samples = view.data.trials.get(&record.trial.id)?.samples.as_slice();
        let opens = view.plan().configuration(&record.trial).load.warmup.as_secs_f64();
        let closes = opens + record.window_length.as_secs_f64();
        let committed = record.counters.committed;
        let generators_cpu = record
            .generators
            .as_ref()
            .map(|it| it.summaries.iter().map(|summary| summary.cpu.as_secs_f64()).sum());
        (samples.len() > 1 && closes > opens).then_some(Self {
            samples,
            opens,
            closes,
            committed,
            generators_cpu,
        })
    }

    /// From the first sample to the last.
    fn of_all_samples(samples: &'a [MonitorSample]) -> Option<Self> {
        let (opens, closes) = (samples.first()?.at_s, samples.last()?.at_s);
        Some(Self { samples, opens, closes, committed: 0, generators_cpu: None })
    }

    fn length(&self) -> f64 {
        self.closes - self.opens
    }

    fn growth(&self, name: &str) -> Option<f64> {
        growth(self.samples, name, self.opens, self.closes)
    }

    fn rate(&self, name: &str) -> Option<f64> {
        Some(self.growth(name)? / self.length())
    }

    fn mean(&self, name: &str) -> Option<f64> {
        mean(self.samples, name, self.opens, self.closes)
    }

    /// CPU time of the load generator, in seconds. Generators in other processes report what they
    /// used; the monitor sees only their coordinator.
    fn generator_cpu(&self) -> Option<f64> {
        self.generators_cpu.or_else(|| {
            Some(
                self.growth(names::GENERATOR_CPU_USER)?
                    + self.growth(names::GENERATOR_CPU_SYSTEM)?,
            )
        })
    }

    fn per_transaction(&self, amount: f64) -> Option<f64> {
        (self.committed > 0).then(|| amount / self.committed as f64)
    }

    /// Share of all CPU time spent in these modes, percent.
    fn mode_percent(&self, modes: &[&str]) -> Option<f64> {
        let grown =
            |mode: &str| self.growth(&format!("{}{mode}{}", names::HOST_CPU, names::SECONDS_TOTAL));
        let all: f64 = names::CPU_MODES.iter().filter_map(|mode| grown(mode)).sum();
        let wanted: Vec<f64> = modes.iter().filter_map(|mode| grown(mode)).collect();
        (all > 0.0 && !wanted.is_empty()).then(|| 100.0 * wanted.iter().sum::<f64>() / all)
    }

    /// The device with the longest busy time.
    fn busiest_disk(&self) -> Option<String> {
        let devices = self.samples.first()?.values.keys().filter_map(|name| {
            let device = name.strip_prefix(names::HOST_DISK)?.strip_suffix(names::BUSY)?;
            Some((device, self.growth(name)?))
        });
        let busiest = devices.max_by(|(_, a), (_, b)| a.total_cmp(b));
        busiest.filter(|(_, busy)| *busy > 0.0).map(|(device, _)| device.to_owned())
    }
}

/// Activity of machine and server in a part of a trial.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ResourceUse {
    /// CPU utilisation of the machine, percent of all CPUs.
    pub(crate) cpu_percent: Option<f64>,
    /// CPU utilisation of the server's processes, percent of all CPUs.
    pub(crate) server_percent: Option<f64>,
    /// Bytes read per second from the device with the longest busy time in the trial.
    pub(crate) disk_read: Option<f64>,
    /// Bytes written per second to that device.
    pub(crate) disk_written: Option<f64>,
    /// Share of the time in which that device had a request, percent.
    pub(crate) disk_busy_percent: Option<f64>,
}

/// The activity between two times, in seconds since the common start.
pub(crate) fn resource_use(samples: &[MonitorSample], from: f64, to: f64) -> ResourceUse {
    let Some(all) = ResourceWindow::of_all_samples(samples) else { return ResourceUse::default() };
    let (disk, window) = (all.busiest_disk(), ResourceWindow { opens: from, closes: to, ..all });
    let of_disk = |quantity: &str| {
        window.rate(&format!("{}{}{quantity}", names::HOST_DISK, disk.as_deref()?))
    };
    let processors = window.mean(names::HOST_PROCESSORS);
    let server =
        || Some(window.rate(names::SERVER_CPU_USER)? + window.rate(names::SERVER_CPU_SYSTEM)?);
    ResourceUse {
        cpu_percent: window.mode_percent(&BUSY_MODES),
        server_percent: server().and_then(|busy| Some(100.0 * busy / processors?.max(1.0))),
        disk_read: of_disk(names::READ_BYTES),
        disk_written: of_disk(names::WRITTEN_BYTES),
        disk_busy_percent: of_disk(names::BUSY).map(|busy| (100.0 * busy).min(100.0)),
    }
}

/// The time series of a trial, starting with its first client.
pub(crate) fn timeline(view: &View<'_>, trial: &Trial) -> Vec<ResourcePoint> {
    let Some(TrialOutcome::Finished(record)) = view.run.outcomes.get(&trial.id) else {
        return Vec::new();
    };
    let Some(data) = view.data.trials.get(&trial.id) else { return Vec::new() };
    let load = &view.plan().configuration(trial).load;
    let closes = load.warmup.as_secs_f64() + record.window_length.as_secs_f64();
    // After the window the clients leave; a stop rule by count ends between two samples.
    let end = if matches!(load.stop, StopRule::Duration(_)) {
        closes + 0.2
    } else {
        closes + POINT_SECONDS_MIN
    };
    points(&data.samples, end)
}

fn points(samples: &[MonitorSample], end: f64) -> Vec<ResourcePoint> {
    let mut points = Vec::new();
    let all = ResourceWindow::of_all_samples(samples);
    let disk = all.and_then(|all| {
        ResourceWindow { opens: 0.0, closes: end, ..all }
            .busiest_disk()
            .or_else(|| all.busiest_disk())
    });
    let mut from: Option<usize> = None;
    for (i, sample) in samples.iter().enumerate() {
        let Some(begin) = from else {
            from = (sample.at_s >= -0.1).then_some(i);
            continue;
        };
        if sample.at_s > end {
            break;
        }
        if sample.at_s - samples[begin].at_s >= POINT_SECONDS_MIN {
            points.push(point(&samples[begin..=i], disk.as_deref()));
            from = Some(i);
        }
    }
    points
}

/// The point from the first to the last of these samples.
fn point(samples: &[MonitorSample], disk: Option<&str>) -> ResourcePoint {
    let (first, last) = (&samples[0], &samples[samples.len() - 1]);
    let (start, end) = (first.at_s, last.at_s);
    let length = end - start;
    let grown = |name: &str| Some((last.values.get(name)? - first.values.get(name)?).max(0.0));
    let rate = |name: &str| Some(grown(name)? / length);
    let of_disk = |quantity: &str| rate(&format!("{}{}{quantity}", names::HOST_DISK, disk?));
    let pressure = |resource: &str| {
        Some(
            100.0
                * rate(&format!(
                    "{}{resource}.some{}",
                    names::HOST_PRESSURE,
                    names::SECONDS_TOTAL
                ))?,
        )
    };
    let processors = last.values.get(names::HOST_PROCESSORS).copied().unwrap_or(1.0).max(1.0);
    // The generator may run on a different machine from the server.
    let own = last.values.get(&format!("{}{}", names::GENERATOR, names::HOST_PROCESSORS));
    let own = own.copied().unwrap_or(processors).max(1.0);
    let share =
        |user: &str, system: &str, of: f64| Some(100.0 * (rate(user)? + rate(system)?) / of);
    let modes = |modes: &[&str]| ResourceWindow::of_all_samples(samples)?.mode_percent(modes);
    ResourcePoint {
        start_s: start.max(0.0),
        length_s: end - start.max(0.0),
        user_percent: modes(&["user", "nice"]),
        system_percent: modes(&["system", "irq", "softirq"]),
        iowait_percent: modes(&["iowait"]),
        steal_percent: modes(&["steal"]),
        server_percent: share(names::SERVER_CPU_USER, names::SERVER_CPU_SYSTEM, processors),
        generator_percent: share(names::GENERATOR_CPU_USER, names::GENERATOR_CPU_SYSTEM, own),
        disk_read_bytes_per_second: of_disk(names::READ_BYTES),
        disk_written_bytes_per_second: of_disk(names::WRITTEN_BYTES),
        disk_busy_percent: of_disk(names::BUSY).map(|busy| (100.0 * busy).min(100.0)),
        cpu_pressure_percent: pressure("cpu"),
        io_pressure_percent: pressure("io"),
        sessions_active: last.values.get(names::SESSIONS_ACTIVE).copied(),
        sessions_waiting: last.values.get(names::SESSIONS_WAITING).copied(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at_s: f64, values: &[(&str, f64)]) -> MonitorSample {
        let values = values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        MonitorSample { at_s, values, ..MonitorSample::default() }
    }

    fn samples() -> Vec<MonitorSample> {
        let sample = |at: f64, user: f64, idle: f64, busy: f64| {
            sample(
                at,
                &[
                    ("host.cpu.user_seconds_total", user),
                    ("host.cpu.idle_seconds_total", idle),
                    ("host.cpu.processors", 2.0),
                    ("host.disk.sda.busy_seconds_total", busy),
                    ("host.disk.sda.written_bytes_total", busy * 1e6),
                    ("host.disk.sdb.busy_seconds_total", 0.0),
                    ("server.process.cpu_user_seconds_total", user / 2.0),
                    ("server.process.cpu_system_seconds_total", 0.0),
                ],
            )
        };
        vec![
            sample(-1.0, 0.0, 0.0, 0.0),
            sample(-0.01, 0.0, 1.98, 0.0),
            sample(1.0, 1.5, 2.5, 0.5),
            sample(1.1, 1.6, 2.6, 0.6),
            sample(2.0, 3.0, 3.0, 0.9),
            sample(3.0, 3.0, 5.0, 0.9),
        ]
    }

    #[test]
    fn a_stretch_lies_between_two_looks_and_near_looks_are_one() {
        let points = points(&samples(), 2.2);
        assert_eq!(
            points.iter().map(|p| (p.start_s, p.length_s)).collect::<Vec<_>>(),
            [(0.0, 1.0), (1.0, 1.0)]
        );
        assert_eq!(points[1].user_percent, Some(75.0));
        assert_eq!(points[1].server_percent, Some(37.5));
        assert_eq!(points[1].disk_written_bytes_per_second.map(f64::round), Some(400_000.0));
        assert_eq!((points[1].steal_percent, points[1].sessions_active), (None, None));
    }

    #[test]
    fn generators_in_other_processes_use_the_time_that_they_report() {
        let at = |at_s: f64, used: f64| {
            let values = [(names::GENERATOR_CPU_USER, used), (names::GENERATOR_CPU_SYSTEM, used)];
            sample(at_s, &values)
        };
        let samples = [at(0.0, 1.0), at(2.0, 1.5)];
        let own = ResourceWindow::of_all_samples(&samples).expect("two samples");
        assert_eq!(own.generator_cpu(), Some(1.0));
        let elsewhere = ResourceWindow { generators_cpu: Some(3.5), ..own };
        assert_eq!(elsewhere.generator_cpu(), Some(3.5));
    }

    #[test]
    fn the_busiest_disk_is_found_and_idle_ones_are_none() {
        let busiest = |samples: &[MonitorSample], opens: f64, closes: f64| {
            ResourceWindow { opens, closes, ..ResourceWindow::of_all_samples(samples)? }
                .busiest_disk()
        };
        assert_eq!(busiest(&samples(), 0.0, 2.0).as_deref(), Some("sda"));
        assert_eq!(busiest(&samples()[..2], -1.0, 0.0), None);
        assert_eq!(points(&[], 5.0), []);
    }
}
