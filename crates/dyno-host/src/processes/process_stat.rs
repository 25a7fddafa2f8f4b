//! Processes of this machine, from `/proc/<pid>/stat`.

use std::fs;

/// The state of one process.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct ProcessStat {
    /// It has ended and has not been reaped.
    pub(crate) is_zombie: bool,
    pub(crate) parent: u32,
    pub(crate) group: u32,
    /// Ticks in user mode and in the kernel, including those of ended threads.
    pub(crate) ticks: [f64; 2],
    /// Ticks of children that ended and were waited for.
    pub(crate) children_ticks: [f64; 2],
    pub(crate) threads: f64,
    /// Start time in ticks since boot. Together with the id it identifies a process uniquely.
    pub(crate) started: f64,
}

impl ProcessStat {
    /// Parses the file. The name of the program may contain blanks and parentheses.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (_, rest) = text.rsplit_once(')')?;
        // Numbered as in proc(5), starting with the state (3).
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let field = |number: usize| fields.get(number - 3)?.parse::<f64>().ok();
        Some(Self {
            is_zombie: *fields.first()? == "Z",
            parent: fields.get(1)?.parse().ok()?,
            group: fields.get(2)?.parse().ok()?,
            ticks: [field(14)?, field(15)?],
            children_ticks: [field(16)?, field(17)?],
            threads: field(20)?,
            started: field(22)?,
        })
    }

    /// The current state of a process; `None` when it does not exist.
    pub(crate) fn of(process: u32) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
    }
}

/// The entries of a folder that are numbers: all processes in `/proc`, the threads of one in its
/// `task`.
pub(crate) fn numbered_entries(folder: &str) -> impl Iterator<Item = u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Ids of the matching processes that have not ended.
pub(crate) fn living(is_meant: impl Fn(&ProcessStat) -> bool) -> Vec<u32> {
    all_processes(|stat| !stat.is_zombie && is_meant(stat))
}

/// Ids of the matching processes, including those that have ended and were not reaped.
pub(crate) fn all_processes(is_meant: impl Fn(&ProcessStat) -> bool) -> Vec<u32> {
    let is_it = |process: &u32| ProcessStat::of(*process).is_some_and(|stat| is_meant(&stat));
    numbered_entries("/proc").filter(is_it).collect()
}

/// Ids of a process's children. Without that file of the kernel, the parents of all processes are
/// read.
pub(crate) fn children(pid: u32) -> Vec<u32> {
    if let Ok(text) = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")) {
        return text.split_whitespace().filter_map(|number| number.parse().ok()).collect();
    }
    let is_child = |child: &u32| ProcessStat::of(*child).is_some_and(|stat| stat.parent == pid);
    numbered_entries("/proc").filter(is_child).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parentheses_and_blanks_in_process_names_shift_no_fields() {
        let text = "4242 (a) S 1 (b) Z 17 4241 4242 0 -1 4194560 9 8 7 6 150 50 30 20 20 0 12 0 987654 1 2";
        let seen = ProcessStat::parse(text).unwrap();
        assert_eq!((seen.is_zombie, seen.parent, seen.group), (true, 17, 4241));
        assert_eq!((seen.threads, seen.started), (12.0, 987_654.0));
        assert_eq!((seen.ticks, seen.children_ticks), ([150.0, 50.0], [30.0, 20.0]));
        assert_eq!(ProcessStat::parse("4242 (gone) Z"), None);
    }
}
