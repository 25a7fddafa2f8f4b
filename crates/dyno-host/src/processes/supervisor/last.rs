//! The final steps: folders are removed and commands run, by the supervisor, or by dyno if the
//! supervisor was killed.

use super::Last;
use super::launch::{send, shorten, spawn, watch_output};
use crate::process_stat::living;
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time limit for ending what a failed command left running.
const ENDING: Duration = Duration::from_secs(10);

/// Which process inherits the orphans of what this process starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heir {
    /// This one: its other children are such orphans.
    Own,
    /// Another one: in a test, other children belong to other tests.
    Other,
}

/// Removes folders and runs commands in reverse order; returns what failed.
pub(super) fn undo(
    folders: &[PathBuf],
    commands: &[Last],
    deadline: Instant,
    heir: Heir,
) -> Vec<String> {
    let run = |last| run(last, heir);
    let failed = |folder: &PathBuf| {
        let error = remove_folder(folder, deadline).err()?;
        Some(format!("cannot remove {}: {error}", folder.display()))
    };
    folders.iter().filter_map(failed).chain(commands.iter().rev().filter_map(run)).collect()
}

fn remove_folder(folder: &Path, deadline: Instant) -> io::Result<()> {
    loop {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            // Another process is still writing to it.
            Err(error)
                if error.kind() == io::ErrorKind::DirectoryNotEmpty
                    && Instant::now() < deadline =>
            {
                std::thread::sleep(Duration::from_millis(10));
            }
            removed => return removed,
        }
    }
}

/// Runs a command to its end; returns what failed, if anything. What a command leaves running that
/// succeeded, such as a restarted server, stays.
fn run(last: &Last, heir: Heir) -> Option<String> {
    let children = || living(|stat| heir == Heir::Own && stat.parent == std::process::id());
    let known = children();
    let fail = |reason: String| {
        Some(format!("{} {reason}; its output is in {}", last.what, last.launch.log.display()))
    };
    let mut child = match spawn(&last.launch) {
        Ok(child) => child,
        Err(error) => return fail(format!("cannot be run: {error}")),
    };
    let group = Pid::from_child(&child);
    watch_output(group, last.launch.log.clone());
    let deadline = Instant::now() + last.limit;
    let ended = loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => break None,
            Ok(Some(status)) => break fail(format!("failed ({status})")),
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(10)),
            Ok(None) => {
                let _ = kill_process_group(group, Signal::KILL);
                let _ = child.wait();
                break fail(format!("did not end within {} s", last.limit.as_secs()));
            }
            Err(error) => break fail(format!("cannot be waited for: {error}")),
        }
    };
    let until = Instant::now() + ENDING;
    while ended.is_some() && Instant::now() < until {
        let left: Vec<u32> = children().into_iter().filter(|it| !known.contains(it)).collect();
        if left.is_empty() {
            break;
        }
        send(Signal::KILL, left);
        std::thread::sleep(Duration::from_millis(5));
    }
    shorten(&last.launch.log);
    ended
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::supervisor::Launch;

    #[test]
    fn excessive_command_output_is_truncated_and_its_end_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let script = "echo the beginning; yes | head -c 300000000; echo the end";
        let launch = Launch {
            program: "/bin/sh".into(),
            arguments: vec!["-c".to_owned(), script.to_owned()],
            folder: folder.path().to_owned(),
            log: log.clone(),
            ..Launch::default()
        };
        let last = Last { launch, limit: Duration::from_secs(3600), what: "it".to_owned() };
        assert_eq!(run(&last, Heir::Other), None);
        let copied = fs::read(&log).unwrap();
        assert!(copied.len() < 20_000_000, "{}", copied.len());
        assert!(copied.starts_with(b"the beginning\ny\n") && copied.ends_with(b"y\nthe end\n"));
    }
}
