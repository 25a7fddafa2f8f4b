//! Access to files below a folder that another user may own; all such access goes through this
//! module.
//!
//! Where dyno runs as root, the server's user owns the server's scratch folder and may put anything
//! there at any time: a link to a file of root's, a pipe without a writer, another folder under a
//! name that was just checked. So nothing in there is accessed by path. A [`Folder`] is a
//! descriptor; entries are opened relative to it by name, links are not followed, new entries are
//! created exclusively, and the type and owner of an entry are checked on its descriptor.
//!
//! dyno's own files (logs, configurations, passwords passed to a server) are never in such folders:
//! the supervisor creates a separate folder for them that only dyno may write to
//! ([`is_protected`] tells whether such a folder is safe next to another one).

use rustix::fs::{AtFlags, CWD, FileType, Gid, Mode, OFlags, Uid, fchmod, fchown, fstat};
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The user and group of a process and of its folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// User id.
    pub user: u32,
    /// Group id.
    pub group: u32,
}

/// Flags for opening anything that another user may have put there. With `NONBLOCK`, opening a pipe
/// does not wait.
const CAREFULLY: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);

#[derive(Debug)]
pub(crate) struct Folder {
    descriptor: OwnedFd,
    /// Its path at the time of opening, for messages only.
    path: PathBuf,
}

/// The type of a folder's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Folder,
    File,
    Link,
    /// Sockets, pipes and devices.
    Other,
}

/// The error for a path without a file name.
pub(crate) fn no_name(path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("{}: has no name", path.display()))
}

impl Folder {
    /// Opens a folder that dyno's user named; links on the path are the user's own.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let descriptor = rustix::fs::openat(CWD, path, flags, Mode::empty()).map_err(at(path))?;
        Ok(Self { descriptor, path: path.to_owned() })
    }

    /// Opens a folder that was created for `owner`. A folder of another user in its place is
    /// rejected.
    pub(crate) fn of(path: &Path, owner: Option<Owner>) -> io::Result<Self> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(no_name(path));
        };
        Self::open(parent)?.folder(name)?.checked(owner)
    }

    pub(crate) fn folder(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        let path = self.path.join(name.as_ref());
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | CAREFULLY;
        let opened = rustix::fs::openat(&self.descriptor, name.as_ref(), flags, Mode::empty());
        Ok(Self { descriptor: opened.map_err(at(&path))?, path })
    }

    /// Checks that the folder belongs to the owner; without an owner, any folder is accepted.
    pub(crate) fn checked(self, owner: Option<Owner>) -> io::Result<Self> {
        check_owner(&self.descriptor, owner).map_err(|error| with_path(&self.path, &error))?;
        Ok(self)
    }

    /// Creates a folder that only dyno's user may enter, until it is handed over.
    pub(crate) fn make_folder(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        let path = self.path.join(name.as_ref());
        rustix::fs::mkdirat(&self.descriptor, name.as_ref(), Mode::RWXU).map_err(at(&path))?;
        let made = self.folder(name)?;
        let own = Owner { user: rustix::process::geteuid().as_raw(), group: 0 };
        made.checked(Some(own))
    }

    /// Creates a new file for writing.
    pub(crate) fn create(&self, name: impl AsRef<OsStr>, mode: u32) -> io::Result<File> {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | CAREFULLY;
        let made =
            rustix::fs::openat(&self.descriptor, name.as_ref(), flags, Mode::from_raw_mode(mode));
        made.map(File::from).map_err(at(&self.path.join(name.as_ref())))
    }

    /// Opens a regular file of the owner's for reading.
    pub(crate) fn read(&self, name: impl AsRef<OsStr>, owner: Option<Owner>) -> io::Result<File> {
        let path = self.path.join(name.as_ref());
        let opened = rustix::fs::openat(
            &self.descriptor,
            name.as_ref(),
            OFlags::RDONLY | CAREFULLY,
            Mode::empty(),
        );
        let file = File::from(opened.map_err(at(&path))?);
        let checked = check_regular(&file).and_then(|()| check_owner(&file, owner));
        checked.map_err(|error| with_path(&path, &error))?;
        Ok(file)
    }

    /// Names and types of its entries.
    pub(crate) fn entries(&self) -> io::Result<Vec<(OsString, Kind)>> {
        let mut entries = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.descriptor).map_err(at(&self.path))? {
            let entry = entry.map_err(at(&self.path))?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name != "." && name != ".." {
                entries.push((name.to_owned(), self.kind(name)?));
            }
        }
        Ok(entries)
    }

    pub(crate) fn kind(&self, name: impl AsRef<OsStr>) -> io::Result<Kind> {
        let found = self.status(name.as_ref())?;
        Ok(match FileType::from_raw_mode(found.st_mode) {
            FileType::Directory => Kind::Folder,
            FileType::RegularFile => Kind::File,
            FileType::Symlink => Kind::Link,
            _ => Kind::Other,
        })
    }

    /// Disk space of an entry in bytes, without holes.
    pub(crate) fn allocated(&self, name: impl AsRef<OsStr>) -> io::Result<u64> {
        Ok(u64::try_from(self.status(name.as_ref())?.st_blocks).unwrap_or(0) * 512)
    }

    /// Length of a file in bytes.
    pub(crate) fn length(&self, name: impl AsRef<OsStr>) -> io::Result<u64> {
        Ok(u64::try_from(self.status(name.as_ref())?.st_size).unwrap_or(0))
    }

    fn status(&self, name: &OsStr) -> io::Result<rustix::fs::Stat> {
        rustix::fs::statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(at(&self.path.join(name)))
    }

    /// The folder's mode, without the file type.
    pub(crate) fn mode(&self) -> io::Result<u32> {
        Ok(fstat(&self.descriptor).map_err(at(&self.path))?.st_mode & 0o7777)
    }

    /// Creates a link, which nothing here follows.
    pub(crate) fn link(&self, to: &Path, name: impl AsRef<OsStr>) -> io::Result<()> {
        rustix::fs::symlinkat(to, &self.descriptor, name.as_ref())
            .map_err(at(&self.path.join(name.as_ref())))
    }

    pub(crate) fn link_target(&self, name: impl AsRef<OsStr>) -> io::Result<PathBuf> {
        let found = rustix::fs::readlinkat(&self.descriptor, name.as_ref(), Vec::new());
        let found = found.map_err(at(&self.path.join(name.as_ref())))?;
        Ok(PathBuf::from(OsStr::from_bytes(found.to_bytes())))
    }

    /// Moves an entry to a folder on the same file system, under any name.
    pub(crate) fn rename(
        &self,
        name: impl AsRef<OsStr>,
        to: &Self,
        new: impl AsRef<OsStr>,
    ) -> io::Result<()> {
        rustix::fs::renameat(&self.descriptor, name.as_ref(), &to.descriptor, new.as_ref())
            .map_err(at(&self.path.join(name.as_ref())))
    }

    /// Removes a file or a link; a missing one is not an error.
    pub(crate) fn remove_file(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        match rustix::fs::unlinkat(&self.descriptor, name.as_ref(), AtFlags::empty()) {
            Err(rustix::io::Errno::NOENT) => Ok(()),
            other => other.map_err(at(&self.path.join(name.as_ref()))),
        }
    }

    /// Removes an entry with its content. The standard library follows no link below the folder
    /// that it is given, and the kernel's path of the descriptor leads to the folder itself.
    pub(crate) fn remove_all(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        let here = PathBuf::from(format!("/proc/self/fd/{}", self.descriptor.as_raw_fd()));
        fs::remove_dir_all(here.join(name.as_ref()))
            .map_err(|error| with_path(&self.path.join(name.as_ref()), &error))
    }

    /// Sets the folder's mode and transfers it to the owner.
    pub(crate) fn chown(&self, mode: u32, owner: Option<Owner>) -> io::Result<()> {
        fchmod(&self.descriptor, Mode::from_raw_mode(mode)).map_err(at(&self.path))?;
        give(&self.descriptor, owner).map_err(|error| with_path(&self.path, &error))
    }

    /// Lets a user's group traverse this folder, which stays dyno's.
    pub(crate) fn allow_traversal(&self, visitor: Owner) -> io::Result<()> {
        fchown(&self.descriptor, None, Some(Gid::from_raw(visitor.group)))
            .map_err(at(&self.path))?;
        fchmod(&self.descriptor, Mode::RWXU | Mode::XGRP).map_err(at(&self.path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Transfers an open file or folder to its owner.
pub(crate) fn give(open: impl AsFd, owner: Option<Owner>) -> io::Result<()> {
    let Some(Owner { user, group }) = owner else { return Ok(()) };
    fchown(open, Some(Uid::from_raw(user)), Some(Gid::from_raw(group))).map_err(io::Error::from)
}

/// Writes a file that only `owner` can read to a folder of dyno's own, and replaces an existing
/// one.
pub(crate) fn write_private(
    folder: &Path,
    name: &str,
    text: &str,
    owner: Option<Owner>,
) -> io::Result<PathBuf> {
    let folder = Folder::open(folder)?;
    folder.remove_file(name)?;
    let mut file = folder.create(name, 0o600)?;
    file.write_all(text.as_bytes())?;
    give(&file, owner)?;
    Ok(folder.path.join(name))
}

/// Reads at most `bytes_max` bytes of a regular file, whoever created it; never waits for a pipe.
pub(crate) fn read_beginning(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = File::from(rustix::fs::openat(CWD, path, flags, Mode::empty()).map_err(at(path))?);
    check_regular(&file).map_err(|error| with_path(path, &error))?;
    let mut bytes = Vec::new();
    file.take(bytes_max).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether only root and dyno's user can replace what dyno creates in a folder, or the folder
/// itself. A folder with the sticky bit, such as `/tmp`, is sufficient: users cannot rename entries
/// of others there.
pub(crate) fn is_protected(folder: &Path) -> bool {
    let own = rustix::process::geteuid().as_raw();
    fs::canonicalize(folder).is_ok_and(|folder| {
        folder.ancestors().all(|step| {
            fs::symlink_metadata(step).is_ok_and(|found| {
                let is_sticky = found.mode() & 0o1000 != 0;
                let others_may_write =
                    found.mode() & 0o002 != 0 || found.mode() & 0o020 != 0 && found.gid() != 0;
                [0, own].contains(&found.uid()) && (is_sticky || !others_may_write)
            })
        })
    })
}

fn check_regular(file: &File) -> io::Result<()> {
    match FileType::from_raw_mode(fstat(file)?.st_mode) {
        FileType::RegularFile => Ok(()),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
    }
}

fn check_owner(open: impl AsFd, owner: Option<Owner>) -> io::Result<()> {
    let found = fstat(open)?.st_uid;
    if owner.is_none_or(|owner| owner.user == found) {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::PermissionDenied, "it belongs to another user"))
}

/// Converts an error of the system and adds the path.
fn at(path: &Path) -> impl FnOnce(rustix::io::Errno) -> io::Error {
    let path = path.to_owned();
    move |errno| match errno {
        rustix::io::Errno::LOOP => {
            with_path(&path, &io::Error::new(io::ErrorKind::InvalidInput, "it is a link"))
        }
        other => with_path(&path, &other.into()),
    }
}

/// The same error with the path in its text. The kind is kept for callers.
pub(crate) fn with_path(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn pipe(path: &Path) {
        rustix::fs::mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR).unwrap();
    }

    #[test]
    fn links_are_not_followed_and_pipes_are_not_waited_for() {
        let temporary = tempfile::tempdir().unwrap();
        fs::write(temporary.path().join("secret"), "secret").unwrap();
        fs::create_dir(temporary.path().join("theirs")).unwrap();
        let theirs = temporary.path().join("theirs");
        symlink("../secret", theirs.join("link")).unwrap();
        symlink("..", theirs.join("way")).unwrap();
        pipe(&theirs.join("pipe"));
        let folder = Folder::open(&theirs).unwrap();
        for name in ["link", "pipe", "way"] {
            assert!(folder.read(name, None).is_err(), "{name} was read");
            assert_eq!(
                folder.create(name, 0o600).unwrap_err().kind(),
                io::ErrorKind::AlreadyExists,
                "{name}"
            );
            assert!(folder.folder(name).is_err(), "{name} was entered");
        }
        assert!(read_beginning(&theirs.join("pipe"), 9).is_err());
        write_private(&theirs, "link", "text", None).unwrap();
        assert_eq!(fs::read_to_string(temporary.path().join("secret")).unwrap(), "secret");
        assert_eq!(
            fs::read_to_string(theirs.join("link")).unwrap(),
            "text",
            "a file in place of the link"
        );
        folder.remove_all("way").unwrap();
        assert!(temporary.path().join("secret").exists(), "only the link is gone");
    }

    #[test]
    fn a_folder_of_another_user_is_rejected() {
        let temporary = tempfile::tempdir().unwrap();
        let own = fs::metadata(temporary.path()).unwrap().uid();
        let stranger = Owner { user: own ^ 1, group: 0 };
        assert!(Folder::of(temporary.path(), Some(Owner { user: own, group: 0 })).is_ok());
        let error = Folder::of(temporary.path(), Some(stranger)).unwrap_err().to_string();
        assert!(error.contains("belongs to another user"), "{error}");
    }

    #[test]
    fn folder_is_protected_if_others_cannot_replace_its_path() {
        let temporary = tempfile::tempdir().unwrap();
        let inner = temporary.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let mode =
            |mode| fs::set_permissions(temporary.path(), fs::Permissions::from_mode(mode)).unwrap();
        assert!(is_protected(&inner) && is_protected(&std::env::temp_dir()));
        mode(0o777);
        assert!(!is_protected(&inner), "everybody may rename it");
        mode(0o1777);
        assert!(is_protected(&inner));
        if rustix::process::geteuid().is_root() {
            mode(0o755);
            std::os::unix::fs::chown(temporary.path(), Some(4_000_000_000), None).unwrap();
            assert!(!is_protected(&inner), "its owner may rename it");
        }
    }
}
