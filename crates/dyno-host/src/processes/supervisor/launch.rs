//! Starts a requested process.

use super::Launch;
use crate::folder::with_path;
use dyno_files::{NO_LIMIT, append, open};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How many bytes of the output of a user's command are kept, and how many of its end when there
/// are more.
const OUTPUT_MAX: u64 = 16 << 20;
const END_MAX: u64 = 64 << 10;
/// How often the size of a command's output is checked.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Keeps the output of a process from filling the disk, until the process ends and before it is
/// reaped.
pub(super) fn watch_output(process: Pid, log: PathBuf) {
    std::thread::spawn(move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        while matches!(waitid(WaitId::Pid(process), options), Ok(None)) {
            shorten(&log);
            std::thread::sleep(CHECK_INTERVAL);
        }
    });
}

/// Keeps only the beginning and the end of an output that is too long. The process continues to
/// append to it.
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
    // The process has ended anyway, and no more output arrives.
    let _ = shorten();
}

/// Stands for the omitted part.
const CUT: &[u8] = b"\n[...]\n";

/// Starts a process in its own process group with its output in its log.
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
    // When dyno runs as root, changing the user also drops root's supplementary groups (std does
    // that).
    if let Some(owner) = launch.owner {
        command.gid(owner.group).uid(owner.user);
    }
    command.spawn()
}

/// Sends a signal to each process; a missing one is ignored.
pub(super) fn send(signal: Signal, processes: Vec<u32>) {
    for process in processes.into_iter().filter_map(|number| Pid::from_raw(number.cast_signed())) {
        let _ = kill_process(process, signal);
    }
}
