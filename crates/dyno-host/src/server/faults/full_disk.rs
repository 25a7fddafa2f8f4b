//! Fills the storage of a server's data with a file that dyno writes next to the data, and frees it
//! by removing the file.

use crate::error::HostError;
use crate::folder::Folder;
use crate::probe::disk_space;
use crate::server::running::DataLocation;
use crate::supervisor::{Owner, is_scratch};
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The guide's section on preparing such a storage.
const GUIDE: &str = "guide, section 5, \"A full disk\"";
/// The file. It is removed with the server's folder at the latest.
const FILE: &str = "dyno-fills-the-disk";
/// Bytes allocated per step, halved down to the minimum while there is no space for as many.
const CHUNK: u64 = 64 << 20;
const CHUNK_MIN: u64 = 512;
/// Bytes written per step, where writing is necessary.
const WRITTEN: u64 = 1 << 20;
/// Largest storage that is filled: at 1 GB/s it takes a minute while the clients are working.
const STORAGE_MAX: u64 = 64 << 30;

pub(in crate::server) struct FullDisk {
    /// Mount point of the storage.
    storage: PathBuf,
    /// The server's folder on it.
    folder: PathBuf,
    owner: Option<Owner>,
}

impl FullDisk {
    pub(in crate::server) fn of(location: &DataLocation) -> Self {
        let folder = location.data.parent().unwrap_or(&location.data).to_owned();
        Self { storage: location.beside.clone(), folder, owner: location.owner }
    }

    /// Fails for a storage that others use.
    pub(in crate::server) fn check(&self) -> Result<(), HostError> {
        let storage = &self.storage;
        let refuse = |why: String| {
            Err(HostError::new(format!(
                "dyno cannot fill the disk of {}: {why}\nhint: give the storage an empty file \
                 system of its own, such as a tmpfs with a size: {GUIDE}",
                storage.display()
            )))
        };
        let unknown = |error: io::Error| HostError::new(format!("{}: {error}", storage.display()));
        let device = |path: &Path| fs::metadata(path).map(|metadata| metadata.dev());
        let own = device(storage).map_err(unknown)?;
        let outside = storage.canonicalize().map_err(unknown)?;
        let outside = outside.parent().map(Path::to_owned);
        let is_shared = |path: &Path| device(path).is_ok_and(|other| other == own);
        for other in outside.into_iter().chain([std::env::temp_dir(), PathBuf::from("/")]) {
            if is_shared(&other) {
                return refuse(format!("{} is on the same file system", other.display()));
            }
        }
        let mounts = fs::read_to_string("/proc/self/mountinfo").map_err(unknown)?;
        if let Some(other) = mounted_elsewhere(&mounts, &storage.canonicalize().map_err(unknown)?) {
            return refuse(format!("its file system is mounted at {other} too"));
        }
        if let Some(name) = foreign(storage).map_err(unknown)? {
            return refuse(format!("it holds `{name}`, which dyno did not create"));
        }
        let total = disk_space(storage).map_err(unknown)?.total;
        if total > STORAGE_MAX {
            return refuse(format!(
                "its size is {} GB, and more than {} GB would take too long",
                total >> 30,
                STORAGE_MAX >> 30
            ));
        }
        Ok(())
    }

    /// Fills it to the last block.
    pub(in crate::server) fn fill(&self) -> Result<(), HostError> {
        self.check()?;
        let failed = |error: io::Error| {
            HostError::new(format!("cannot fill the disk of {}: {error}", self.storage.display()))
        };
        let mut file = Folder::of(&self.folder, self.owner)
            .and_then(|folder| folder.create(FILE, 0o600))
            .map_err(failed)?;
        let (mut at, mut size) = (0, CHUNK);
        while size >= CHUNK_MIN {
            match reserve(&mut file, at, size) {
                Ok(taken) => at += taken,
                Err(error) if error.kind() == io::ErrorKind::StorageFull => size /= 2,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(error)),
            }
        }
        Ok(())
    }

    /// Frees the space; does nothing when the disk is not filled.
    pub(in crate::server) fn free(&self) -> Result<(), HostError> {
        let removed =
            Folder::of(&self.folder, self.owner).and_then(|folder| folder.remove_file(FILE));
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(HostError::new(format!(
                "cannot free the disk of {}: {error}",
                self.storage.display()
            ))),
            _ => Ok(()),
        }
    }
}

/// An entry of the storage that dyno did not create, of any owner. New file systems contain
/// `lost+found`.
fn foreign(storage: &Path) -> io::Result<Option<String>> {
    for entry in fs::read_dir(storage)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_folder = entry.file_type()?.is_dir();
        let is_empty =
            |path: &Path| fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
        let is_own = is_scratch(&name) || name == "lost+found" && is_empty(&entry.path());
        if !is_folder || !is_own {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// Another mount point of the same file system, or the folder of it that is mounted when the mount
/// covers only a part; from `/proc/self/mountinfo`, proc_pid_mountinfo(5).
fn mounted_elsewhere(mounts: &str, storage: &Path) -> Option<String> {
    // Blanks and backslashes in paths are escaped in octal.
    let path =
        |field: &str| field.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\");
    let mounts: Vec<(&str, String, String)> = mounts
        .lines()
        .filter_map(|line| {
            let mut fields = line.split(' ').skip(2);
            Some((fields.next()?, path(fields.next()?), path(fields.next()?)))
        })
        .collect();
    let (device, root, _) = mounts.iter().rfind(|(_, _, at)| Path::new(at) == storage)?;
    if root != "/" {
        return Some(format!("a folder above `{root}`"));
    }
    mounts
        .iter()
        .find(|(other, _, at)| other == device && Path::new(at) != storage)
        .map(|(_, _, at)| at.clone())
}

/// Allocates up to this many bytes of the disk after those of the file; returns how many. Most file
/// systems allocate blocks without writing them, which is fast.
fn reserve(file: &mut File, at: u64, size: u64) -> io::Result<u64> {
    match fallocate(&*file, FallocateFlags::empty(), at, size) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
            let zeros = vec![0; size.min(WRITTEN) as usize];
            Ok(file.write(&zeros)? as u64)
        }
        other => Ok(other.map(|()| size)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_storage_with_foreign_content_is_rejected_naming_it() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["lost+found", "dyno-mariadb-4194304-0", "dyno-own-17-12"] {
            fs::create_dir(at(name)).unwrap();
        }
        assert_eq!(foreign(folder.path()).unwrap(), None);
        for name in ["dyno-notes", "postgres", "dyno-a-b", "-1-1", ".hidden"] {
            fs::create_dir(at(name)).unwrap();
            assert_eq!(foreign(folder.path()).unwrap().as_deref(), Some(name));
            fs::remove_dir(at(name)).unwrap();
        }
        fs::write(at("dyno-file-1-1"), "").unwrap();
        assert_eq!(foreign(folder.path()).unwrap().as_deref(), Some("dyno-file-1-1"), "no folder");
        fs::remove_file(at("dyno-file-1-1")).unwrap();
        fs::write(at("lost+found/x"), "").unwrap();
        assert_eq!(foreign(folder.path()).unwrap().as_deref(), Some("lost+found"));
    }

    #[test]
    fn a_part_of_a_file_system_and_one_with_two_mounts_are_rejected() {
        let mounts = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
                      30 22 8:2 / /data rw - ext4 /dev/sda2 rw\n\
                      31 22 8:2 /part /mnt/part rw - ext4 /dev/sda2 rw\n\
                      32 22 0:40 / /mnt/my\\040own rw - tmpfs dyno rw\n";
        let elsewhere = |at: &str| mounted_elsewhere(mounts, Path::new(at));
        assert_eq!(elsewhere("/mnt/my own"), None);
        assert_eq!(elsewhere("/data").as_deref(), Some("/mnt/part"));
        assert_eq!(elsewhere("/mnt/part").as_deref(), Some("a folder above `/part`"));
    }
}
