//! The volume with the results in the coordinator's pod. A second container holds it
//! until the results are copied out of it: the image has neither a shell nor tar.

use crate::cli::VolumeCommand;
use crate::failure::Failure;
use crate::printer::Printer;
use dyno_files::create_new;
use dyno_model::exit_code;
use dyno_store::is_in_use;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// The results folder in the volume.
pub(super) const RUN: &str = "run";
/// Marks that nobody needs the volume any more.
const RELEASED: &str = ".released";
/// The last entry of an archive: without it, the archive is not complete.
const END: &str = ".end";
const PAUSE: Duration = Duration::from_millis(100);
/// How often it is checked whether a run still writes to the volume.
const CHECK_INTERVAL: Duration = Duration::from_secs(60);
/// How long results wait for somebody who fetches them.
const ABANDONED: Duration = Duration::from_secs(3_600);

/// Carries out a command.
///
/// # Errors
/// When the volume cannot be read or written.
pub(crate) fn run(command: &VolumeCommand) -> Result<u8, Failure> {
    match command {
        VolumeCommand::Hold { folder } => {
            // Results are copied while the pod is being ended, too.
            let ignored = Arc::new(AtomicBool::new(false));
            for signal in [SIGTERM, SIGINT] {
                flag::register(signal, Arc::clone(&ignored)).map_err(|error| {
                    Failure::new(exit_code::INTERNAL, "cannot install signal handlers")
                        .because(&error)
                })?;
            }
            hold(folder);
        }
        VolumeCommand::Release { folder } => {
            let mark = create_new(&folder.join(RELEASED), 0o600);
            mark.map_err(|error| Failure::cannot("write", folder, &error))?;
        }
        VolumeCommand::Send { folder } => {
            let run = folder.join(RUN);
            pack(&run, Printer::raw_output())
                .map_err(|error| Failure::cannot("read", &run, &error))?;
        }
        VolumeCommand::Receive { folder } => {
            let run = folder.join(RUN);
            unpack(io::stdin().lock(), &run)
                .map_err(|error| Failure::cannot("write", &run, &error))?;
        }
    }
    Ok(exit_code::OK)
}

/// Waits until the volume is released, or nobody has fetched the results for long.
fn hold(folder: &Path) {
    let (run, mut used, mut checked) = (folder.join(RUN), Instant::now(), Instant::now());
    // The container that received earlier results was released with the same mark.
    let _ = fs::remove_file(folder.join(RELEASED));
    while !folder.join(RELEASED).exists() && used.elapsed() < ABANDONED {
        std::thread::sleep(PAUSE);
        if checked.elapsed() > CHECK_INTERVAL {
            checked = Instant::now();
            if is_in_use(&run) {
                used = checked;
            }
        }
    }
}

/// Writes a folder as an archive.
///
/// # Errors
/// When it cannot be read or written.
pub(super) fn pack(folder: &Path, out: impl Write) -> io::Result<()> {
    let mut archive = tar::Builder::new(out);
    archive.follow_symlinks(false);
    archive.append_dir_all("", folder)?;
    let mut end = tar::Header::new_gnu();
    end.set_size(0);
    archive.append_data(&mut end, END, io::empty())?;
    archive.into_inner()?.flush()
}

/// Unpacks an archive into a new folder.
///
/// # Errors
/// When the archive ends early, or the folder exists or cannot be written.
pub(super) fn unpack(input: impl Read, folder: &Path) -> io::Result<()> {
    fs::create_dir(folder)?;
    let mut is_complete = false;
    for entry in tar::Archive::new(input).entries()? {
        let mut entry = entry?;
        let kind = entry.header().entry_type();
        if entry.path()?.as_os_str() == OsStr::new(END) {
            is_complete = true;
        } else if kind.is_file() || kind.is_dir() {
            entry.unpack_in(folder)?;
        }
    }
    if is_complete { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_has_the_whole_folder_or_is_refused() {
        let scratch = tempfile::tempdir().expect("there is room");
        let from = scratch.path().join("from");
        fs::create_dir_all(from.join("trials/b01-001")).expect("it is ours");
        fs::write(from.join("plan.json"), "{}").expect("it is ours");
        fs::write(from.join("trials/b01-001/latency.hlog"), "x".repeat(5_000)).expect("it is ours");
        let mut bytes = Vec::new();
        pack(&from, &mut bytes).expect("it can be read");
        let to = scratch.path().join("to");
        unpack(&bytes[..], &to).expect("it is complete");
        assert_eq!(fs::read_to_string(to.join("plan.json")).expect("it is there"), "{}");
        let log = fs::read(to.join("trials/b01-001/latency.hlog")).expect("it is there");
        assert_eq!(log.len(), 5_000);
        assert!(!to.join(END).exists());
        // Cut at the end of an entry, and within one.
        for cut in [bytes.len() - 1_536, 2_000] {
            let to = scratch.path().join(cut.to_string());
            assert!(unpack(&bytes[..cut], &to).is_err(), "{cut} bytes are not all");
        }
    }
}
