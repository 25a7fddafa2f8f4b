//! Starting a process as it was ordered.

use super::Launch;
use crate::folder::append;
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// Starts a process in a group of its own; what it says goes into its log.
pub(super) fn spawn(launch: &Launch) -> io::Result<Child> {
    let log = append(&launch.log)?;
    let input =
        launch.input.as_ref().map_or_else(|| Ok(Stdio::null()), |path| File::open(path).map(Stdio::from))?;
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
