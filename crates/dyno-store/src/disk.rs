//! The files of a results folder as they are written: everything that reaches the disk goes through [`Disk`], in one order, so that what
//! must be on it before what can be tested.

use crate::error::StoreError;
use crate::layout::{EVENTS_FILE, TRIALS_FOLDER};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Folder for what half-measured trials left.
pub const SET_ASIDE_FOLDER: &str = "set-aside";

/// Where files are written. Paths name open files from [`Disk::create`] to [`Disk::close`].
pub(crate) trait Disk: Send {
    /// Makes a folder, and those above it, unless it is there.
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

    fn file(&mut self, path: &Path) -> io::Result<&mut File> {
        self.open.get_mut(path).ok_or_else(|| io::Error::other("the file is not open"))
    }
}

impl Disk for MachineDisk {
    fn make_folder(&mut self, path: &Path) -> Result<(), StoreError> {
        fs::create_dir_all(path).map_err(StoreError::io("make folder", path))
    }

    fn create(&mut self, path: &Path) -> Result<(), StoreError> {
        let file = File::create_new(path).map_err(StoreError::io("make", path))?;
        self.open.insert(path.to_owned(), file);
        Ok(())
    }

    fn append(&mut self, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        self.file(path).and_then(|file| file.write_all(bytes)).map_err(StoreError::io("write", path))
    }

    fn sync(&mut self, path: &Path) -> Result<(), StoreError> {
        self.file(path).and_then(|file| file.sync_all()).map_err(StoreError::io("write", path))
    }

    fn sync_folder(&mut self, path: &Path) -> Result<(), StoreError> {
        sync_folder(path)
    }

    fn close(&mut self, path: &Path) {
        self.open.remove(path);
    }

    fn rename(&mut self, from: &Path, to: &Path) -> Result<(), StoreError> {
        fs::rename(from, to).map_err(StoreError::io("rename to", to))
    }

    fn replace(&mut self, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        replace(path, bytes)
    }
}

/// Returns when the names in a folder would survive a loss of power; at once where the file system cannot promise that, or where the
/// folder is one that we may not read.
pub(crate) fn sync_folder(path: &Path) -> Result<(), StoreError> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    match File::open(path).and_then(|folder| folder.sync_all()) {
        Err(error) if matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported) => Ok(()),
        result => result.map_err(StoreError::io("write", path)),
    }
}

/// Writes a file as a whole, in place of an older one: under another name first, renamed when all of it is on the disk. Readers
/// find the old file or the new one; on a full disk the old one stays, and nothing else is left.
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
    let written = File::create(&new).and_then(|mut file| {
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

/// Moves the folder that an earlier attempt at a trial left away, if there is one. The event log must have said before that this
/// attempt counts no more.
pub(crate) fn set_aside(disk: &mut dyn Disk, folder: &Path, name: &str) -> Result<(), StoreError> {
    let from = folder.join(TRIALS_FOLDER).join(name);
    if !from.is_dir() {
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
        let nowhere = scratch.path().join("missing").join("report.html");
        let error = replace(&nowhere, b"").unwrap_err().to_string();
        assert_eq!(error, format!("cannot write {}", nowhere.display()));
    }
}
