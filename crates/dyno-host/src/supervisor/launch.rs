//! Starting a process as it was ordered.

use super::Launch;
use crate::folder::with_path;
use dyno_files::{NO_LIMIT, append, open};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Most bytes of the output of a user's command that are kept, and how many of its end, where it
/// says more.
const OUTPUT_MAX: u64 = 16 << 20;
const END_MAX: u64 = 64 << 10;
/// How often a command's output is looked at.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Keeps the output of a process that is not reaped yet from filling the disk, until it ends.
pub(super) fn watch_output(process: Pid, log: PathBuf) {
    std::thread::spawn(move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        while matches!(waitid(WaitId::Pid(process), options), Ok(None)) {
            shorten(&log);
            std::thread::sleep(CHECK_INTERVAL);
        }
    });
}

/// Leaves the beginning and the end of an output that is too long. What writes to it goes on at its
/// end.
pub(super) fn shorten(log: &Path) {
    let shorten = || -> io::Result<()> {
        let log = append(log, 0o600)?;
        let length = log.metadata()?.len();
        if length > OUTPUT_MAX {
            let mut end = vec![0; END_MAX as usize];
            log.read_exact_at(&mut end, length - END_MAX)?;
            log.set_len(OUTPUT_MAX / 2)?;
            (&log).write_all(CUT)?;
            (&log).write_all(&end)?;
        }
        Ok(())
    };
    // It has ended all the same, and a disk that cannot be written to takes no more of it.
    let _ = shorten();
}

/// What stands in the place of what was left out.
const CUT: &[u8] = b"\n[...]\n";

/// Starts a process in a group of its own; what it says goes into its log.
pub(super) fn spawn(launch: &Launch) -> io::Result<Child> {
    let log = append(&launch.log, 0o600).map_err(|error| with_path(&launch.log, &error))?;
    let input = match &launch.input {
        None => Stdio::null(),
        Some(path) => open(path, NO_LIMIT)?.into_file().into(),
    };
    let mut command = Command::new(&launch.program);
    command
        .args(&launch.arguments)
        .envs(launch.environment.iter().map(|(name, value)| (name, value)))
        .current_dir(&launch.folder)
        .stdin(input)
        .stdout(log.try_clone()?)
        .stderr(log)
        .process_group(0);
    // Started as root, a change of user also drops root's further groups (std does that).
    if let Some(owner) = launch.owner {
        command.gid(owner.group).uid(owner.user);
    }
    command.spawn()
}
