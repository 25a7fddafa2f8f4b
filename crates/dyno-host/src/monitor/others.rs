//! CPU used by other processes during the window: all but dyno, the server, and the processes that
//! they started. Processor times of all processes are read at the bounds of the window.

use crate::process_stat::{ProcessStat, numbered_entries};
use dyno_model::warning::{BusyProcess, Severity, Warning};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Instant;

/// With more processes than this nothing is read, because it would take too long.
const PROCESSES_MAX: usize = 4000;
/// Maximum number of processes named in a warning.
const NAMED_MAX: usize = 3;
/// Parent of the kernel's own threads. They work for whoever writes or sends, mostly for the
/// server.
const KERNEL: u32 = 2;

/// Processor times of all processes at one time.
#[derive(Debug, Clone)]
pub(crate) struct ProcessTable {
    at: Instant,
    /// Number of processors of the machine.
    processors: f64,
    /// Ticks in which all processors together worked for processes.
    machine: f64,
    processes: BTreeMap<u32, Process>,
}

#[derive(Debug, Clone)]
struct Process {
    name: String,
    stat: ProcessStat,
}

impl Process {
    /// Ticks of the process itself.
    fn own(&self) -> f64 {
        self.stat.ticks.iter().sum()
    }

    /// Ticks of its children that have ended and been waited for, including those that these had
    /// waited for.
    fn children(&self) -> f64 {
        self.stat.children_ticks.iter().sum()
    }

    fn ticks(&self) -> f64 {
        self.own() + self.children()
    }
}

impl ProcessTable {
    /// Reads all processes. `None` when there are too many, or `/proc` is not readable.
    pub(crate) fn now() -> Option<Self> {
        let numbers: Vec<u32> = numbered_entries("/proc").collect();
        if numbers.len() > PROCESSES_MAX {
            return None;
        }
        let at = Instant::now();
        let (processors, machine) = machine(&fs::read_to_string("/proc/stat").ok()?)?;
        let read = |pid: u32| {
            Some((pid, process(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?))
        };
        Some(Self {
            at,
            processors,
            machine,
            processes: numbers.into_iter().filter_map(read).collect(),
        })
    }

    /// The processes and all their descendants.
    fn families(&self, roots: &[u32]) -> BTreeSet<u32> {
        let mut members: BTreeSet<u32> = roots.iter().copied().collect();
        loop {
            let before = members.len();
            let children =
                self.processes.iter().filter(|(_, it)| members.contains(&it.stat.parent));
            let children: Vec<u32> = children.map(|(pid, _)| *pid).collect();
            members.extend(children);
            if members.len() == before {
                return members;
            }
        }
    }
}

/// From `/proc/stat`: the number of processors, and the sum of their ticks in user mode (1), with
/// lower priority (2) and in the kernel (3). Interrupts are attributed to nobody.
fn machine(stat: &str) -> Option<(f64, f64)> {
    let lines = stat.lines().take_while(|line| line.starts_with("cpu"));
    let mut fields = stat.lines().next()?.strip_prefix("cpu ")?.split_whitespace();
    let mut next = || fields.next()?.parse::<f64>().ok();
    Some(((lines.count() - 1) as f64, next()? + next()? + next()?))
}

/// `/proc/<pid>/stat`, with the name between the outermost parentheses.
fn process(text: &str) -> Option<Process> {
    let name = text.get(text.find('(')? + 1..text.rfind(')')?)?;
    Some(Process { name: name.to_owned(), stat: ProcessStat::parse(text)? })
}

/// The CPU used between two readings by all processes but the `known` ones and their descendants;
/// `None` when it is not worth a warning.
pub(crate) fn warning(
    from: &ProcessTable,
    to: &ProcessTable,
    known: &[u32],
    ticks_per_second: f64,
) -> Option<Warning> {
    let seconds = to.at.saturating_duration_since(from.at).as_secs_f64();
    let (others, all) = others(from, to, known);
    let mut by_name: BTreeMap<&str, f64> = BTreeMap::new();
    for (name, ticks) in others {
        *by_name.entry(name).or_default() += ticks;
    }
    // Both the sum over processes and the total of the machine must confirm it: times move between
    // processes when some end. The kernel counts in ticks, and the time of a reading is
    // approximate, so the machine's total is limited to its capacity.
    let reported: f64 = by_name.values().sum();
    let ticks = reported.min(all).min(to.processors * seconds * ticks_per_second);
    let processors_taken = |ticks: f64| ticks / ticks_per_second / seconds;
    let share = processors_taken(ticks) / to.processors;
    let warning = |processes| Warning::OtherProcessesCpu { share, processes };
    if seconds <= 0.0 || warning(Vec::new()).severity() < Severity::Warning {
        return None;
    }
    let mut named: Vec<(&str, f64)> =
        by_name.into_iter().filter(|(_, ticks)| *ticks > 0.0).collect();
    named.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let named = named.into_iter().take(NAMED_MAX);
    // Each process as counted, scaled down if their sum exceeds the total.
    let scale = ticks / reported;
    let named = named.map(|(name, ticks)| BusyProcess {
        name: name.to_owned(),
        processors: processors_taken(ticks * scale),
    });
    Some(warning(named.collect()))
}

/// Ticks of each other process by its own count, and of all of them by the machine's.
fn others<'e>(
    from: &'e ProcessTable,
    to: &'e ProcessTable,
    known: &[u32],
) -> (Vec<(&'e str, f64)>, f64) {
    let mut known = known.to_vec();
    known.push(std::process::id());
    let (mut own_families, mut kernel_families) = (to.families(&known), to.families(&[KERNEL]));
    own_families.append(&mut from.families(&known));
    kernel_families.append(&mut from.families(&[KERNEL]));
    let grown = grown(from, to);
    let worked = to.machine - from.machine;
    let own_of_all: f64 = grown.values().map(|grown| grown.own).sum();
    let of_children: f64 = grown.values().map(|grown| grown.children).sum();
    // When the parent of an ended child was not known at the first reading, it is unknown how much
    // of the child's time came before it. Children did no more work than the machine minus the
    // living processes.
    let scale = ((worked - own_of_all).max(0.0) / of_children).min(1.0);
    let ticks = |grown: &ProcessCpuUse| {
        grown.own + if grown.children > 0.0 { grown.children * scale } else { 0.0 }
    };
    let of_ours: f64 =
        grown.iter().filter(|(pid, _)| own_families.contains(pid)).map(|(_, it)| ticks(it)).sum();
    let others = grown
        .iter()
        .filter(|(pid, _)| !own_families.contains(pid) && !kernel_families.contains(pid));
    let others =
        others.map(|(pid, grown)| (to.processes[pid].name.as_str(), ticks(grown))).collect();
    (others, (worked - of_ours).max(0.0))
}

/// Ticks of a process between two readings.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct ProcessCpuUse {
    own: f64,
    /// Ticks of children that ended meanwhile, as far as their share before the first reading is
    /// known.
    children: f64,
}

/// How much each process that lives at the second reading has worked since the first.
fn grown(from: &ProcessTable, to: &ProcessTable) -> BTreeMap<u32, ProcessCpuUse> {
    let is_same = |one: &Process, other: &Process| one.stat.started == other.stat.started;
    let lives = |pid: u32| {
        from.processes
            .get(&pid)
            .is_none_or(|was| to.processes.get(&pid).is_some_and(|is| is_same(was, is)))
    };
    let mut grown: BTreeMap<u32, ProcessCpuUse> = BTreeMap::new();
    for (pid, process) in &to.processes {
        let before = from.processes.get(pid).filter(|before| is_same(before, process));
        let of = |ticks: fn(&Process) -> f64| ticks(process) - before.map_or(0.0, ticks);
        grown.insert(
            *pid,
            ProcessCpuUse { own: of(Process::own).max(0.0), children: of(Process::children) },
        );
    }
    // When a process ends, all of its time moves to its parent, and with the parent's end to the
    // grandparent: only the part after the first reading counts for the one that still lives.
    for (pid, process) in from.processes.iter().filter(|(pid, _)| !lives(**pid)) {
        let mut ancestor = process.stat.parent;
        // Every ended process has a parent here, but ids are reused: follow at most as many parents
        // as there are processes.
        for _ in 0..from.processes.len() {
            let Some(parent) =
                from.processes.get(&ancestor).filter(|_| ancestor != *pid && !lives(ancestor))
            else {
                break;
            };
            ancestor = parent.stat.parent;
        }
        if let Some(grown) = grown.get_mut(&ancestor) {
            grown.children -= process.ticks();
        }
    }
    grown.values_mut().for_each(|grown| grown.children = grown.children.max(0.0));
    grown
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};
    use std::time::Duration;

    /// Id, parent, name, ticks of its own, ticks of children that ended.
    type Row<'r> = (u32, u32, &'r str, f64, f64);

    fn table(at: Instant, machine: f64, rows: &[Row<'_>]) -> ProcessTable {
        let processes = rows.iter().map(|(pid, parent, name, own, children)| {
            let text = format!(
                "{pid} ({name}) S {parent} 1 1 0 -1 0 0 0 0 0 {own} 0 {children} 0 20 0 1 0 77 0"
            );
            (*pid, process(&text).expect("as in proc(5)"))
        });
        ProcessTable { at, processors: 4.0, machine, processes: processes.collect() }
    }

    #[test]
    fn other_processes_are_named_without_dyno_the_server_and_the_kernel() {
        let (own, start) = (std::process::id(), Instant::now());
        let before = [
            (2, 0, "kthreadd", 0.0, 0.0),
            (3, 2, "kworker/0:1", 5.0, 0.0),
            (own, 1, "dyno", 10.0, 0.0),
        ];
        let more = [
            (900, 1, "mariadbd", 100.0, 0.0),
            (901, 1, "a (strange) name", 7.0, 0.0),
            (902, 1, "make", 1.0, 0.0),
        ];
        let compilers = [(903, 902, "cc1", 50.0, 0.0)];
        let from = table(start, 1000.0, &[&before[..], &more, &compilers].concat());
        // 10 s at 100 ticks per second: dyno 300, its child 50, the server 400, the kernel's thread
        // 90, the foreign one 40; one compiler ended at 70 and one at 30 within the window, and one
        // is running.
        let after = [
            (2, 0, "kthreadd", 0.0, 0.0),
            (3, 2, "kworker/0:1", 95.0, 0.0),
            (own, 1, "dyno", 310.0, 0.0),
        ];
        let more = [
            (900, 1, "mariadbd", 500.0, 0.0),
            (901, 1, "a (strange) name", 47.0, 0.0),
            (902, 1, "make", 1.0, 100.0),
        ];
        let young = [(904, 902, "cc1", 60.0, 0.0), (905, own, "dyno", 50.0, 0.0)];
        let total = 300.0 + 50.0 + 400.0 + 90.0 + 40.0 + 20.0 + 30.0 + 60.0;
        let to = table(
            start + Duration::from_secs(10),
            1000.0 + total,
            &[&after[..], &more, &young].concat(),
        );
        let (named, all) = others(&from, &to, &[900]);
        assert_eq!(all, 90.0 + 40.0 + 20.0 + 30.0 + 60.0);
        assert_eq!(named, [("a (strange) name", 40.0), ("make", 50.0), ("cc1", 60.0)]);

        // At 10 ticks per second the same ticks are ten times as much: 150 ticks in 10 s are 1.5
        // processors.
        let Some(Warning::OtherProcessesCpu { share, processes }) =
            warning(&from, &to, &[900], 10.0)
        else {
            panic!("nothing found")
        };
        assert!((share - 1.5 / 4.0).abs() < 1e-9, "{share}");
        let reported: Vec<(&str, f64)> =
            processes.iter().map(|it| (it.name.as_str(), it.processors)).collect();
        assert_eq!(reported, [("cc1", 0.6), ("make", 0.5), ("a (strange) name", 0.4)]);
    }

    #[test]
    fn ended_grandchild_adds_only_its_cpu_time_within_the_window() {
        let start = Instant::now();
        let from = [
            (902, 1, "make", 1.0, 0.0),
            (910, 902, "sh", 2.0, 500.0),
            (911, 910, "cc1", 90_000.0, 0.0),
        ];
        let from = table(start, 1000.0, &from);
        // Compiler and shell end; make has waited for the shell, which had waited for the compiler:
        // 30 ticks are new.
        let to = table(
            start + Duration::from_secs(10),
            1030.0,
            &[(902, 1, "make", 1.0, 2.0 + 500.0 + 90_000.0 + 30.0)],
        );
        assert_eq!(others(&from, &to, &[]), (vec![("make", 30.0)], 30.0));
    }

    #[test]
    fn processes_never_use_more_than_the_machine_has() {
        let start = Instant::now();
        // The shell's children had another parent at the first reading, or were not seen: their
        // times are years.
        let from = table(start, 0.0, &[(1, 0, "init", 0.0, 0.0), (902, 1, "sh", 0.0, 0.0)]);
        let to = table(
            start + Duration::from_secs(10),
            3000.0,
            &[(1, 0, "init", 0.0, 900_000.0), (902, 1, "sh", 1000.0, 100_000.0)],
        );
        let Some(Warning::OtherProcessesCpu { share, processes }) = warning(&from, &to, &[], 100.0)
        else {
            panic!("nothing found")
        };
        let taken: f64 = processes.iter().map(|it| it.processors).sum();
        assert!((share - 0.75).abs() < 1e-9 && (taken - 3.0).abs() < 1e-9, "{share} {processes:?}");
        // Nor when the machine's total exceeds its capacity.
        let full = ProcessTable { machine: 9000.0, ..to };
        let Some(Warning::OtherProcessesCpu { share, processes }) =
            warning(&from, &full, &[], 100.0)
        else {
            panic!("nothing found")
        };
        let taken: f64 = processes.iter().map(|it| it.processors).sum();
        assert!((share - 1.0).abs() < 1e-9 && (taken - 4.0).abs() < 1e-9, "{share} {processes:?}");
    }

    #[test]
    fn time_of_a_grandchild_before_the_first_reading_is_not_counted() {
        // The innermost shell works for a while, reports it, and ends when it reads a line; so does
        // its parent, and the outermost one lives until it reads another.
        let burn = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo worked; read x";
        let script = "sh -c 'sh -c \"$0\"; true' \"$0\"; echo waited; read y";
        let mut shell = Command::new("sh")
            .args(["-c", script, burn])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("there is a shell");
        let (mut input, output) =
            (shell.stdin.take().expect("piped"), shell.stdout.take().expect("piped"));
        let mut lines = BufReader::new(output).lines().map(|line| line.expect("a line"));
        assert_eq!(lines.next().as_deref(), Some("worked"));
        let from = ProcessTable::now().expect("/proc");
        input.write_all(b"\n").expect("it reads");
        assert_eq!(lines.next().as_deref(), Some("waited"));
        let to = ProcessTable::now().expect("/proc");
        input.write_all(b"\n").expect("it reads");
        shell.wait().expect("it ends");
        let worked = to.processes[&shell.id()].children();
        let counted = grown(&from, &to)[&shell.id()].children;
        assert!(worked >= 4.0 && counted <= worked / 2.0, "{counted} of {worked} ticks");
    }

    #[test]
    fn processors_are_counted_without_interrupts_and_idle_time() {
        let stat = "cpu  10 1 5 1000 70 20 30 40 0 0\ncpu0 4 1 3 500 0 0 0 0 0 0\ncpu1 6 0 2 500 0 0 0 0 0 0\nintr 1 2 3\n";
        assert_eq!(machine(stat), Some((2.0, 16.0)));
        assert_eq!(machine("nothing of the kind"), None);
    }

    #[test]
    fn reused_pid_is_a_new_process_and_small_use_is_not_reported() {
        let start = Instant::now();
        let from = table(start, 0.0, &[(900, 1, "old", 500.0, 0.0)]);
        let mut to = table(start + Duration::from_secs(1), 9.0, &[(900, 1, "new", 9.0, 0.0)]);
        to.processes.get_mut(&900).expect("it is there").stat.started = 78.0;
        assert_eq!(others(&from, &to, &[]), (vec![("new", 9.0)], 9.0));
        assert_eq!(warning(&from, &to, &[], 100.0), None);
    }

    #[test]
    fn a_busy_process_outside_the_family_is_found_in_proc() {
        let from = ProcessTable::now().expect("/proc");
        let own = std::process::id();
        let ticks = |at: &ProcessTable| at.processes[&own].ticks();
        let mut to = from.clone();
        // The machine's time and this process's are read one after the other, and counted in
        // different ways.
        while ticks(&to) < ticks(&from) + 3.0 || to.machine < from.machine + 3.0 {
            std::hint::black_box((0..1_000_000_u64).sum::<u64>());
            to = ProcessTable::now().expect("/proc");
        }
        assert!(from.families(&[from.processes[&own].stat.parent]).contains(&own));
        assert!(to.processes[&own].name.starts_with("dyno"), "{:?}", to.processes[&own].name);
        // This process belongs to dyno, whichever processes are passed as known.
        assert!(others(&from, &to, &[]).0.iter().all(|(name, _)| *name != to.processes[&own].name));
    }
}
