//! File operations of a results folder. Every write goes through [`Disk`], in one order, so that
//! tests can check which data is durable before which.

use crate::error::StoreError;
use crate::layout::{EVENTS_FILE, TRIALS_FOLDER};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Folder for the remains of half-measured trials.
pub const SET_ASIDE_FOLDER: &str = "set-aside";

/// Where files are written. A path names an open file from [`Disk::create`] to [`Disk::close`].
pub(crate) trait Disk: Send {
    /// Creates a folder in an existing one, unless it exists.
    fn make_folder(&mut self, path: &Path) -> Result<(), StoreError>;
    /// Creates a file, which must not exist, and keeps it open.
    fn create(&mut self, path: &Path) -> Result<(), StoreError>;
    /// Appends to an open file.
    fn append(&mut self, path: &Path, bytes: &[u8]) -> Result<(), StoreError>;
    /// Returns when an open file's content would survive a power loss.
    fn sync(&mut self, path: &Path) -> Result<(), StoreError>;
    /// Returns when the names in a folder would survive a power loss.
    fn sync_folder(&mut self, path: &Path) -> Result<(), StoreError>;
    /// Closes a file; does nothing for files that are not open.
    fn close(&mut self, path: &Path);
    /// Renames a file or folder.
    fn rename(&mut self, from: &Path, to: &Path) -> Result<(), StoreError>;
    /// Replaces a file atomically: readers see the old or the new content.
    fn replace(&mut self, path: &Path, bytes: &[u8]) -> Result<(), StoreError>;
}

#[derive(Debug, Default)]
pub(crate) struct MachineDisk {
    open: BTreeMap<PathBuf, File>,
}

impl MachineDisk {
    /// Starts with a file that is open already.
    pub(crate) fn with(path: PathBuf, file: File) -> Self {
        Self { open: BTreeMap::from([(path, file)]) }
    }

    fn file(&mut self, path: &Path) -> Result<&mut File, StoreError> {
        let missing = || StoreError::io("write", path)(io::Error::other("the file is not open"));
        let file = self.open.get_mut(path).ok_or_else(missing)?;
        // Writes to an unlinked file would be lost. Some file systems report no link count.
        if file.metadata().is_ok_and(|found| found.nlink() == 0) && !path.exists() {
            return Err(StoreError::Gone { path: path.to_owned() });
        }
        Ok(file)
    }
}

/// An error while something in the results folder is created or written. The folder existed when
/// the run began.
fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    move |error| {
        let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
        match path.ancestors().skip(1).take_while(is_missing).last() {
            Some(folder) if error.kind() == io::ErrorKind::NotFound => {
                StoreError::Gone { path: folder.to_owned() }
            }
            _ => StoreError::io(doing, path)(error),
        }
    }
}

impl Disk for MachineDisk {
    fn make_folder(&mut self, path: &Path) -> Result<(), StoreError> {
        match fs::create_dir(path) {
            // A link to a folder was not created by dyno.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && is_folder(path) => Ok(()),
            made => made.map_err(failed("make folder", path)),
        }
    }

    fn create(&mut self, path: &Path) -> Result<(), StoreError> {
        let file = File::create_new(path).map_err(failed("make", path))?;
        self.open.insert(path.to_owned(), file);
        Ok(())
    }

    fn append(&mut self, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        self.file(path)?.write_all(bytes).map_err(StoreError::io("write", path))
    }

    fn sync(&mut self, path: &Path) -> Result<(), StoreError> {
        self.file(path)?.sync_all().map_err(StoreError::io("write", path))
    }

    fn sync_folder(&mut self, path: &Path) -> Result<(), StoreError> {
        sync_folder(path)
    }

    fn close(&mut self, path: &Path) {
        self.open.remove(path);
    }

    fn rename(&mut self, from: &Path, to: &Path) -> Result<(), StoreError> {
        fs::rename(from, to).map_err(failed("rename to", to))
    }

    fn replace(&mut self, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        replace_by(path, |file| file.write_all(bytes)).map_err(failed("write", path))
    }
}

fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir())
}

/// Returns when the names in a folder would survive a power loss; at once where the file system
/// cannot guarantee that, or where the folder is not readable.
pub(crate) fn sync_folder(path: &Path) -> Result<(), StoreError> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    match File::open(path).and_then(|folder| folder.sync_all()) {
        Err(error) if matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported) => {
            Ok(())
        }
        result => result.map_err(StoreError::io("write", path)),
    }
}

/// Replaces a file atomically: writes a new file under another name and renames it when its content
/// is durable. Readers see the old or the new file; on a full disk the old one stays, and nothing
/// else is left.
///
/// # Errors
/// [`StoreError::Io`] with the file's own name when it cannot be written.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    replace_by(path, |file| file.write_all(bytes)).map_err(StoreError::io("write", path))
}

fn replace_by(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let new = path.with_file_name(name);
    // Removes what a killed dyno left, and never follows a planted link.
    let _ = fs::remove_file(&new);
    let written = File::create_new(&new).and_then(|mut file| {
        write(&mut file)?;
        file.sync_all()
    });
    let renamed = written.and_then(|()| fs::rename(&new, path));
    if renamed.is_err() {
        // A partial file would only take space.
        let _ = fs::remove_file(&new);
    }
    renamed
}

/// Moves away the folder of an earlier attempt at a trial, if one exists. The event log must
/// already hold that this attempt no longer counts.
pub(crate) fn set_aside(disk: &mut dyn Disk, folder: &Path, name: &str) -> Result<(), StoreError> {
    let from = folder.join(TRIALS_FOLDER).join(name);
    if !is_folder(&from) {
        return Ok(());
    }
    disk.sync(&folder.join(EVENTS_FILE))?;
    let aside = folder.join(SET_ASIDE_FOLDER);
    disk.make_folder(&aside)?;
    for suffix in 1.. {
        let to = aside.join(format!("{name}-{suffix}"));
        if to.exists() {
            continue;
        }
        return disk.rename(&from, &to);
    }
    Err(StoreError::io("rename", &from)(io::Error::other("no number is free")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_to_a_missing_results_folder_fail_and_never_create_it() {
        let scratch = tempfile::tempdir().unwrap();
        let (folder, moved) = (scratch.path().join("r"), scratch.path().join("moved"));
        fs::create_dir(&folder).unwrap();
        let mut disk = MachineDisk::default();
        let events = folder.join("events.jsonl");
        disk.create(&events).unwrap();
        disk.append(&events, b"1\n").unwrap();
        let gone = |result: Result<(), StoreError>, path: &Path| {
            let error = result.expect_err("it is gone").to_string();
            assert_eq!(error, StoreError::Gone { path: path.to_owned() }.to_string());
        };
        let trial = folder.join("trials").join("b01-001");
        gone(disk.make_folder(&trial), trial.parent().unwrap());
        fs::rename(&folder, &moved).unwrap();
        gone(disk.replace(&folder.join("summary.json"), b"{}"), &folder);
        gone(disk.create(&trial.join("timeline.csv")), &folder);
        fs::rename(&moved, &folder).unwrap();
        disk.append(&events, b"2\n").unwrap();
        fs::remove_dir_all(&folder).unwrap();
        gone(disk.append(&events, b"3\n"), &events);
        gone(disk.sync(&events), &events);
        gone(disk.make_folder(&trial), &folder);
        assert!(!folder.exists());
    }

    #[test]
    fn a_link_in_place_of_a_folder_is_not_followed() {
        let scratch = tempfile::tempdir().unwrap();
        let (trials, trial) =
            (scratch.path().join("trials"), scratch.path().join("trials/b01-001"));
        let other = tempfile::tempdir().unwrap();
        fs::create_dir(&trials).unwrap();
        std::os::unix::fs::symlink(other.path(), &trial).unwrap();
        let mut disk = MachineDisk::default();
        let error = disk.make_folder(&trial).unwrap_err();
        assert_eq!(
            error.in_full(),
            format!("cannot make folder {}: File exists (os error 17)", trial.display())
        );
        set_aside(&mut disk, scratch.path(), "b01-001").unwrap();
        assert!(!scratch.path().join(SET_ASIDE_FOLDER).exists());
    }

    #[test]
    fn a_failed_replacement_leaves_only_the_old_file() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("report.html");
        replace(&path, b"the old report").unwrap();
        let failed = replace_by(&path, |file| {
            file.write_all(b"the n")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read(&path).unwrap(), b"the old report");
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1, "nothing else is left");
        // Another user planted a link where the new file is written.
        let other = scratch.path().join("of somebody else");
        fs::write(&other, "theirs").unwrap();
        std::os::unix::fs::symlink(&other, scratch.path().join("report.html.new")).unwrap();
        replace(&path, b"the new report").unwrap();
        assert_eq!(fs::read(&other).unwrap(), b"theirs");
        assert_eq!(fs::read(&path).unwrap(), b"the new report");
        assert!(path.symlink_metadata().unwrap().is_file());
        let nowhere = scratch.path().join("missing").join("report.html");
        let error = replace(&nowhere, b"").unwrap_err().to_string();
        assert_eq!(error, format!("cannot write {}", nowhere.display()));
    }
}
