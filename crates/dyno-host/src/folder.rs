//! The one way to reach files below a folder that another user may own.
//!
//! Where dyno is root, a server's user owns the server's scratch folder and may put anything there
//! at any moment: a link to a file of root's, a pipe that nobody writes to, another folder under a
//! name that was looked at a moment ago. So nothing in there is named by a path. A [`Folder`] is a
//! descriptor; what lies in it is opened relative to that, by its own name, no link is followed,
//! what is made is made exclusively, and whether a thing is what it should be is asked of its
//! descriptor.
//!
//! Files that are dyno's own (logs, configurations, passwords on their way to a server) do not lie
//! in such folders at all: the guard makes a folder for them that stays dyno's ([`is_out_of_reach`]
//! says beside which others it may lie).

use rustix::fs::{AtFlags, CWD, FileType, Gid, Mode, OFlags, Uid, fchmod, fchown, fstat};
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A user and group as which a process runs and to which a folder belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Number of the user.
    pub user: u32,
    /// Number of its group.
    pub group: u32,
}

/// What is given to every opening of something that another user may have put there. `NONBLOCK`:
/// opening a pipe does not wait.
const CAREFULLY: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);

#[derive(Debug)]
pub(crate) struct Folder {
    descriptor: OwnedFd,
    /// Where it was found, for messages only.
    path: PathBuf,
}

/// What an entry of a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Folder,
    File,
    Link,
    /// Sockets, pipes and devices.
    Other,
}

/// The error of a path that ends in no name.
pub(crate) fn no_name(path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("{}: has no name", path.display()))
}

impl Folder {
    /// Opens a folder that dyno's user named: links on the way are the user's own.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let descriptor = rustix::fs::openat(CWD, path, flags, Mode::empty()).map_err(at(path))?;
        Ok(Self { descriptor, path: path.to_owned() })
    }

    /// Opens a folder that was made for `owner`. Another one in its place, of another user's, is
    /// refused.
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

    /// This folder, if it belongs to the owner; any, if there is none but dyno's own user.
    pub(crate) fn checked(self, owner: Option<Owner>) -> io::Result<Self> {
        check_owner(&self.descriptor, owner).map_err(|error| with_path(&self.path, &error))?;
        Ok(self)
    }

    /// Makes a folder that only dyno's user may enter, until it is given away.
    pub(crate) fn make_folder(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        let path = self.path.join(name.as_ref());
        rustix::fs::mkdirat(&self.descriptor, name.as_ref(), Mode::RWXU).map_err(at(&path))?;
        let made = self.folder(name)?;
        let own = Owner { user: rustix::process::geteuid().as_raw(), group: 0 };
        made.checked(Some(own))
    }

    /// Makes a file that is not there yet, to be written.
    pub(crate) fn create(&self, name: impl AsRef<OsStr>, mode: u32) -> io::Result<File> {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | CAREFULLY;
        let made =
            rustix::fs::openat(&self.descriptor, name.as_ref(), flags, Mode::from_raw_mode(mode));
        made.map(File::from).map_err(at(&self.path.join(name.as_ref())))
    }

    /// Opens a file to be read: a regular one, and the owner's own.
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

    /// Names and kinds of what is in it.
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

    /// Bytes that an entry takes on disk; holes take none.
    pub(crate) fn allocated(&self, name: impl AsRef<OsStr>) -> io::Result<u64> {
        Ok(u64::try_from(self.status(name.as_ref())?.st_blocks).unwrap_or(0) * 512)
    }

    /// Bytes of a file.
    pub(crate) fn length(&self, name: impl AsRef<OsStr>) -> io::Result<u64> {
        Ok(u64::try_from(self.status(name.as_ref())?.st_size).unwrap_or(0))
    }

    fn status(&self, name: &OsStr) -> io::Result<rustix::fs::Stat> {
        rustix::fs::statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(at(&self.path.join(name)))
    }

    /// The folder's mode, without what kind of file it is.
    pub(crate) fn mode(&self) -> io::Result<u32> {
        Ok(fstat(&self.descriptor).map_err(at(&self.path))?.st_mode & 0o7777)
    }

    /// Makes a link; nobody follows it here.
    pub(crate) fn link(&self, to: &Path, name: impl AsRef<OsStr>) -> io::Result<()> {
        rustix::fs::symlinkat(to, &self.descriptor, name.as_ref())
            .map_err(at(&self.path.join(name.as_ref())))
    }

    pub(crate) fn link_target(&self, name: impl AsRef<OsStr>) -> io::Result<PathBuf> {
        let found = rustix::fs::readlinkat(&self.descriptor, name.as_ref(), Vec::new());
        let found = found.map_err(at(&self.path.join(name.as_ref())))?;
        Ok(PathBuf::from(OsStr::from_bytes(found.to_bytes())))
    }

    /// Moves an entry into another folder on the same file system, under the same name or another
    /// one.
    pub(crate) fn rename(
        &self,
        name: impl AsRef<OsStr>,
        to: &Self,
        new: impl AsRef<OsStr>,
    ) -> io::Result<()> {
        rustix::fs::renameat(&self.descriptor, name.as_ref(), &to.descriptor, new.as_ref())
            .map_err(at(&self.path.join(name.as_ref())))
    }

    /// Removes a file or a link; one that is not there is as good as removed.
    pub(crate) fn remove_file(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        match rustix::fs::unlinkat(&self.descriptor, name.as_ref(), AtFlags::empty()) {
            Err(rustix::io::Errno::NOENT) => Ok(()),
            other => other.map_err(at(&self.path.join(name.as_ref()))),
        }
    }

    /// Removes an entry with all that is in it. The standard library follows no link below the
    /// folder that it is given, and the kernel's name of a descriptor leads to the folder itself.
    pub(crate) fn remove_all(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        let here = PathBuf::from(format!("/proc/self/fd/{}", self.descriptor.as_raw_fd()));
        fs::remove_dir_all(here.join(name.as_ref()))
            .map_err(|error| with_path(&self.path.join(name.as_ref()), &error))
    }

    /// Sets the folder's mode and gives it away; it is the owner's from now on.
    pub(crate) fn hand_over(&self, mode: u32, owner: Option<Owner>) -> io::Result<()> {
        fchmod(&self.descriptor, Mode::from_raw_mode(mode)).map_err(at(&self.path))?;
        give(&self.descriptor, owner).map_err(|error| with_path(&self.path, &error))
    }

    /// Lets the group of a user pass through this folder, which stays dyno's.
    pub(crate) fn let_pass(&self, visitor: Owner) -> io::Result<()> {
        fchown(&self.descriptor, None, Some(Gid::from_raw(visitor.group)))
            .map_err(at(&self.path))?;
        fchmod(&self.descriptor, Mode::RWXU | Mode::XGRP).map_err(at(&self.path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Gives what is open to its owner.
pub(crate) fn give(open: impl AsFd, owner: Option<Owner>) -> io::Result<()> {
    let Some(Owner { user, group }) = owner else { return Ok(()) };
    fchown(open, Some(Uid::from_raw(user)), Some(Gid::from_raw(group))).map_err(io::Error::from)
}

/// Writes a file that only `owner` can read, into a folder of dyno's own; one of that name from
/// before is replaced.
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

/// The beginning of a regular file, of at most so many bytes, whoever put it there; a pipe is not
/// waited for.
pub(crate) fn read_beginning(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = File::from(rustix::fs::openat(CWD, path, flags, Mode::empty()).map_err(at(path))?);
    check_regular(&file).map_err(|error| with_path(path, &error))?;
    let mut bytes = Vec::new();
    file.take(bytes_max).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether nobody but root and dyno's user can put something else in place of what dyno makes in a
/// folder, or in place of the folder itself. A folder with the sticky bit, such as `/tmp`, is good
/// enough: nobody may rename there what is another's.
pub(crate) fn is_out_of_reach(folder: &Path) -> bool {
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
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file")),
    }
}

fn check_owner(open: impl AsFd, owner: Option<Owner>) -> io::Result<()> {
    let found = fstat(open)?.st_uid;
    if owner.is_none_or(|owner| owner.user == found) {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::PermissionDenied, "it belongs to another user"))
}

/// An error of the system with the path that it is about.
fn at(path: &Path) -> impl FnOnce(rustix::io::Errno) -> io::Error {
    let path = path.to_owned();
    move |errno| match errno {
        rustix::io::Errno::LOOP => {
            with_path(&path, &io::Error::new(io::ErrorKind::InvalidInput, "it is a link"))
        }
        other => with_path(&path, &other.into()),
    }
}

/// The same error, with the path in its words. The kind stays; callers look at it.
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
    fn links_and_pipes_are_neither_followed_nor_waited_for() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("secret"), "secret").unwrap();
        fs::create_dir(place.path().join("theirs")).unwrap();
        let theirs = place.path().join("theirs");
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
        assert_eq!(fs::read_to_string(place.path().join("secret")).unwrap(), "secret");
        assert_eq!(
            fs::read_to_string(theirs.join("link")).unwrap(),
            "text",
            "a file in place of the link"
        );
        folder.remove_all("way").unwrap();
        assert!(place.path().join("secret").exists(), "only the link is gone");
    }

    #[test]
    fn a_folder_of_another_user_is_not_taken_for_the_owners() {
        let place = tempfile::tempdir().unwrap();
        let own = fs::metadata(place.path()).unwrap().uid();
        let stranger = Owner { user: own ^ 1, group: 0 };
        assert!(Folder::of(place.path(), Some(Owner { user: own, group: 0 })).is_ok());
        let error = Folder::of(place.path(), Some(stranger)).unwrap_err().to_string();
        assert!(error.contains("belongs to another user"), "{error}");
    }

    #[test]
    fn a_folder_is_out_of_reach_when_others_can_replace_nothing_on_the_way() {
        let place = tempfile::tempdir().unwrap();
        let inner = place.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let mode =
            |mode| fs::set_permissions(place.path(), fs::Permissions::from_mode(mode)).unwrap();
        assert!(is_out_of_reach(&inner) && is_out_of_reach(&std::env::temp_dir()));
        mode(0o777);
        assert!(!is_out_of_reach(&inner), "everybody may rename it");
        mode(0o1777);
        assert!(is_out_of_reach(&inner));
        if rustix::process::geteuid().is_root() {
            mode(0o755);
            std::os::unix::fs::chown(place.path(), Some(4_000_000_000), None).unwrap();
            assert!(!is_out_of_reach(&inner), "its owner may rename it");
        }
    }
}
