//! The storage under a server's data, which is filled on purpose and has room again: by a file that dyno writes beside the data and removes.

use super::running::DataPlace;
use crate::error::HostError;
use crate::folder::Folder;
use crate::guard::Owner;
use crate::probe::disk_space;
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The file. The server's folder is removed in the end, and it with it.
const FILE: &str = "dyno-fills-the-disk";
/// Bytes taken at once, and the fewest that are tried when there is no room for as many.
const CHUNK: u64 = 64 << 20;
const CHUNK_MIN: u64 = 512;
/// Bytes written at once, where they have to be.
const WRITTEN: u64 = 1 << 20;
/// Largest storage that is filled: at 1 GB/s it takes a minute, while the clients are at work.
const STORAGE_MAX: u64 = 64 << 30;

pub(super) struct FullDisk {
    /// Where the storage is mounted.
    storage: PathBuf,
    /// The server's folder on it.
    folder: PathBuf,
    owner: Option<Owner>,
}

impl FullDisk {
    pub(super) fn of(place: &DataPlace) -> Self {
        let folder = place.data.parent().unwrap_or(&place.data).to_owned();
        Self { storage: place.beside.clone(), folder, owner: place.owner }
    }

    /// Refuses to fill what others use.
    pub(super) fn check(&self) -> Result<(), HostError> {
        let storage = &self.storage;
        let refuse = |why: String| {
            Err(HostError::new(format!(
                "dyno does not fill the disk of {}: {why}\nhint: give the storage a file system of its own, for example a tmpfs with a size",
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
        let total = disk_space(storage).map_err(unknown)?.total;
        if total > STORAGE_MAX {
            return refuse(format!(
                "it holds {} GB, and more than {} take too long",
                total >> 30,
                STORAGE_MAX >> 30
            ));
        }
        Ok(())
    }

    /// Fills it up to the last block.
    pub(super) fn fill(&self) -> Result<(), HostError> {
        self.check()?;
        let failed = |error: io::Error| {
            HostError::new(format!("the disk of {} cannot be filled: {error}", self.storage.display()))
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

    /// It has room again; nothing happens when it had.
    pub(super) fn free(&self) -> Result<(), HostError> {
        let removed = Folder::of(&self.folder, self.owner).and_then(|folder| folder.remove_file(FILE));
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(HostError::new(format!("the disk of {} stays full: {error}", self.storage.display())))
            }
            _ => Ok(()),
        }
    }
}

/// Takes so many bytes of the disk behind those of the file, or some of them; returns how many. Most file systems give blocks without their being written, which is
/// a matter of moments.
fn reserve(file: &mut File, at: u64, size: u64) -> io::Result<u64> {
    match fallocate(&*file, FallocateFlags::empty(), at, size) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
            let zeros = vec![0; size.min(WRITTEN) as usize];
            Ok(file.write(&zeros)? as u64)
        }
        other => Ok(other.map(|()| size)?),
    }
}
