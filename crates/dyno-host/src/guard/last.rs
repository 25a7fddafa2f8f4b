//! The very end: folders are removed and commands run, by the guard, or by dyno when the guard was killed.

use super::Last;
use super::launch::spawn;
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Removes folders and runs commands, the last first; says what did not work.
pub(super) fn undo(folders: &[PathBuf], commands: &[Last], deadline: Instant) -> Vec<String> {
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
            // Something was still writing into it.
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty && Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(10));
            }
            removed => return removed,
        }
    }
}

/// Runs a command to its end; says what went wrong, if anything did.
fn run(last: &Last) -> Option<String> {
    let fail = |reason: String| {
        Some(format!("{} {reason}; its output is in {}", last.what, last.launch.log.display()))
    };
    let mut child = match spawn(&last.launch) {
        Ok(child) => child,
        Err(error) => return fail(format!("cannot be run: {error}")),
    };
    let group = Pid::from_child(&child);
    let deadline = Instant::now() + last.limit;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return None,
            Ok(Some(status)) => return fail(format!("failed ({status})")),
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(10)),
            Ok(None) => {
                let _ = kill_process_group(group, Signal::KILL);
                let _ = child.wait();
                return fail(format!("did not end within {} s", last.limit.as_secs()));
            }
            Err(error) => return fail(format!("cannot be waited for: {error}")),
        }
    }
}
