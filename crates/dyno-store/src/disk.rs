//! The files of a results folder as they are written: everything that reaches the disk goes through
//! [`Disk`], in one order, so that what must be on it before what can be tested.

use crate::error::StoreError;
use crate::layout::{EVENTS_FILE, TRIALS_FOLDER};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Folder for what half-measured trials left.
pub const SET_ASIDE_FOLDER: &str = "set-aside";

/// Where files are written. Paths name open files from [`Disk::create`] to [`Disk::close`].
pub(crate) trait Disk: Send {
    /// Makes a folder in one that exists, unless it is there.
    fn make_folder(&mut self, path: &Path) -> Result<(), StoreError>;
    /// Makes a file, which must not exist, and keeps it open.
    fn create(&mut self, path: &Path) -> Result<(), StoreError>;
    /// Writes to the end of an open file.
    fn append(&mut self, path: &Path, bytes: &[u8]) -> Result<(), StoreError>;
    /// Returns when an open file would survive a loss of power.
    fn sync(&mut self, path: &Path) -> Result<(), StoreError>;
    /// The same of the names in a folder.
    fn sync_folder(&mut self, path: &Path) -> Result<(), StoreError>;
    /// Closes a file; of others nothing happens.
    fn close(&mut self, path: &Path);
    /// Gives a file or folder another name.
    fn rename(&mut self, from: &Path, to: &Path) -> Result<(), StoreError>;
    /// Writes a file as a whole: readers find the old or the new one.
    fn replace(&mut self, path: &Path, bytes: &[u8]) -> Result<(), StoreError>;
}

#[derive(Debug, Default)]
pub(crate) struct MachineDisk {
    open: BTreeMap<PathBuf, File>,
}

impl MachineDisk {
    /// With a file that is open already.
    pub(crate) fn with(path: PathBuf, file: File) -> Self {
        Self { open: BTreeMap::from([(path, file)]) }
    }

    fn file(&mut self, path: &Path) -> Result<&mut File, StoreError> {
        let missing = || StoreError::io("write", path)(io::Error::other("the file is not open"));
        let file = self.open.get_mut(path).ok_or_else(missing)?;
        // What is written to a file without a name is lost. Some file systems count no names.
        if file.metadata().is_ok_and(|found| found.nlink() == 0) && !path.exists() {
            return Err(StoreError::Gone { path: path.to_owned() });
        }
        Ok(file)
    }
}

/// The error of something in the results folder that cannot be made or written. The folder was
/// there when the run began.
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
            // A link to a folder is none of ours.
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

/// Returns when the names in a folder would survive a loss of power; at once where the file system
/// cannot promise that, or where the folder is one that we may not read.
pub(crate) fn sync_folder(path: &Path) -> Result<(), StoreError> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    match File::open(path).and_then(|folder| folder.sync_all()) {
        Err(error) if matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported) => {
            Ok(())
        }
        result => result.map_err(StoreError::io("write", path)),
    }
}

/// Writes a file as a whole, in place of an older one: under another name first, renamed when all
/// of it is on the disk. Readers find the old file or the new one; on a full disk the old one
/// stays, and nothing else is left.
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
    // What a killed dyno left is not needed, and a link that somebody put there is not followed.
    let _ = fs::remove_file(&new);
    let written = File::create_new(&new).and_then(|mut file| {
        write(&mut file)?;
        file.sync_all()
    });
    let renamed = written.and_then(|()| fs::rename(&new, path));
    if renamed.is_err() {
        // What is left of it would only take room.
        let _ = fs::remove_file(&new);
    }
    renamed
}

/// Moves the folder that an earlier attempt at a trial left away, if there is one. The event log
/// must have said before that this attempt counts no more.
pub(crate) fn set_aside(disk: &mut dyn Disk, folder: &Path, name: &str) -> Result<(), StoreError> {
    let from = folder.join(TRIALS_FOLDER).join(name);
    if !is_folder(&from) {
        return Ok(());
    }
    disk.sync(&folder.join(EVENTS_FILE))?;
    let aside = folder.join(SET_ASIDE_FOLDER);
    disk.make_folder(&aside)?;
    for number in 1.. {
        let to = aside.join(format!("{name}-{number}"));
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
    fn a_results_folder_that_is_deleted_or_moved_is_an_error_and_is_not_made_again() {
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
    fn a_link_in_the_place_of_a_folder_is_not_followed() {
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
    fn a_file_that_cannot_be_written_as_a_whole_leaves_the_old_one_and_nothing_else() {
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
        // Somebody else put a link where the new file is written.
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
