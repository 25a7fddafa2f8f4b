//! The volume with the results in the coordinator's pod. A second container holds it
//! until the results are copied out of it: the image has neither a shell nor tar.
//!
//! The key with which the coordinator signs its tables is in the volume, too. It leaves the pod
//! with the results when the run has ended, and comes back with them, so that the tables of a
//! killed run are recognised. It moves: no two runs that cannot see each other have it.

use crate::cli::VolumeCommand;
use crate::failure::Failure;
use crate::printer::Printer;
use dyno_files::create_new;
use dyno_model::exit_code;
use dyno_store::{KEY_FILE, is_in_use};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder};
use std::io::{self, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// The results folder in the volume.
pub(super) const RUN: &str = "run";
/// The folder in the volume that dyno makes within `XDG_STATE_HOME`.
const STATE: &str = "dyno";
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
            pack(&run, key(folder).as_deref(), Printer::raw_output())
                .map_err(|error| Failure::cannot("read", &run, &error))?;
        }
        VolumeCommand::Receive { folder } => {
            let run = folder.join(RUN);
            unpack(io::stdin().lock(), &run)
                .and_then(|()| take_key(folder))
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

/// The key of a run that has ended.
fn key(folder: &Path) -> Option<PathBuf> {
    let path = folder.join(STATE).join("key");
    (path.exists() && !is_in_use(&folder.join(RUN))).then_some(path)
}

/// Moves a key that came with results to where the coordinator looks for it.
fn take_key(folder: &Path) -> io::Result<()> {
    let came = folder.join(RUN).join(KEY_FILE);
    if !came.exists() {
        return Ok(());
    }
    let state = folder.join(STATE);
    DirBuilder::new().recursive(true).mode(0o700).create(&state)?;
    fs::rename(came, state.join("key"))
}

/// Writes a folder as an archive, with a key from elsewhere.
///
/// # Errors
/// When it cannot be read or written.
pub(super) fn pack(folder: &Path, key: Option<&Path>, out: impl Write) -> io::Result<()> {
    let mut archive = tar::Builder::new(out);
    archive.follow_symlinks(false);
    archive.append_dir_all("", folder)?;
    if let Some(key) = key {
        archive.append_path_with_name(key, KEY_FILE)?;
    }
    let mut end = tar::Header::new_gnu();
    end.set_size(0);
    archive.append_data(&mut end, END, io::empty())?;
    archive.into_inner()?.flush()
}

/// The key of a results folder on its way to a pod: out of the folder, so that it is sent once, and
/// back in it unless it was received.
pub(super) struct MovedKeyFile {
    folder: PathBuf,
    path: Option<PathBuf>,
}

impl MovedKeyFile {
    pub(super) fn new(folder: &Path) -> Self {
        let mut path = folder.as_os_str().to_owned();
        path.push(KEY_FILE);
        let path = PathBuf::from(path);
        let is_taken = fs::rename(folder.join(KEY_FILE), &path).is_ok();
        Self { folder: folder.to_owned(), path: is_taken.then_some(path) }
    }

    pub(super) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Removes it here.
    pub(super) fn received(mut self) {
        if let Some(path) = self.path.take() {
            let _ = fs::remove_file(path);
        }
    }
}

impl Drop for MovedKeyFile {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            let _ = fs::rename(path, self.folder.join(KEY_FILE));
        }
    }
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
        let name = entry.path()?.into_owned();
        if name.as_os_str() == OsStr::new(END) {
            is_complete = true;
        } else if name.as_os_str() == OsStr::new(KEY_FILE) {
            // Nobody else may read it at any time.
            io::copy(&mut entry, &mut create_new(&folder.join(KEY_FILE), 0o600)?)?;
        } else if kind.is_file() || kind.is_dir() {
            entry.unpack_in(folder)?;
        }
    }
    if is_complete { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_store::EVENTS_FILE;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_signing_key_moves_with_a_finished_run_and_stays_private() {
        let scratch = tempfile::tempdir().expect("there is room");
        let volume = |name: &str| {
            let folder = scratch.path().join(name);
            fs::create_dir_all(&folder).expect("it is ours");
            folder
        };
        let (pod, other) = (volume("pod"), volume("other"));
        fs::create_dir_all(pod.join(RUN)).expect("it is ours");
        fs::create_dir_all(pod.join(STATE)).expect("it is ours");
        fs::write(pod.join(STATE).join("key"), [7; 32]).expect("it is ours");
        let events = pod.join(RUN).join(EVENTS_FILE);
        fs::write(&events, "").expect("it is ours");
        let running = fs::File::open(&events).expect("it is there");
        running.lock().expect("nobody else has it");
        assert_eq!(key(&pod), None, "it signs with it");
        drop(running);
        let mut bytes = Vec::new();
        let own = key(&pod).expect("it has ended");
        pack(&pod.join(RUN), Some(&own), &mut bytes).expect("it can be read");
        let copied = scratch.path().join("copied");
        unpack(&bytes[..], &copied).expect("it is complete");
        let mode = fs::metadata(copied.join(KEY_FILE)).expect("it came along").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let taken = MovedKeyFile::new(&copied);
        assert!(!copied.join(KEY_FILE).exists(), "nobody else can send it");
        assert_eq!(MovedKeyFile::new(&copied).path(), None);
        let mut bytes = Vec::new();
        pack(&copied, taken.path(), &mut bytes).expect("it can be read");
        drop(taken);
        assert!(copied.join(KEY_FILE).exists(), "it was not received");
        MovedKeyFile::new(&copied).received();
        assert!(!copied.join(KEY_FILE).exists() && MovedKeyFile::new(&copied).path().is_none());
        unpack(&bytes[..], &other.join(RUN)).and_then(|()| take_key(&other)).expect("it is ours");
        assert_eq!(fs::read(other.join(STATE).join("key")).expect("it arrived"), [7; 32]);
        assert!(!other.join(RUN).join(KEY_FILE).exists());
    }

    #[test]
    fn an_archive_has_the_whole_folder_or_is_refused() {
        let scratch = tempfile::tempdir().expect("there is room");
        let from = scratch.path().join("from");
        fs::create_dir_all(from.join("trials/b01-001")).expect("it is ours");
        fs::write(from.join("plan.json"), "{}").expect("it is ours");
        fs::write(from.join("trials/b01-001/latency.hlog"), "x".repeat(5_000)).expect("it is ours");
        let mut bytes = Vec::new();
        pack(&from, None, &mut bytes).expect("it can be read");
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
