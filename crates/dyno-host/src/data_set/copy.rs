//! Copies a folder at the speed of the disk.
//!
//! Files are cloned where the file system supports it (`FICLONE`: btrfs, XFS and others share
//! blocks until one side changes them), which takes neither time nor space. Elsewhere the kernel
//! copies the data, several files at a time, and holes stay holes; then each file is synced and
//! dropped from the page cache, so that neither write-back nor a warm cache affects the
//! measurement.

use crate::folder::{Folder, Kind, give, no_name, with_path};
use crate::supervisor::Owner;
use dyno_drivers::timeout::is_end_requested;
use rustix::fs::{Advice, SeekFrom, copy_file_range, fadvise, ioctl_ficlone, seek};
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Number of files copied at a time: enough to keep a disk busy while others are synced.
const AT_A_TIME: usize = 4;
/// Amount of data that the kernel copies per call. Ctrl-C is not noticed during a call.
const PIECE: usize = 16 << 20;
/// Amount of data that is copied before a sync, which cannot be interrupted either.
const WRITTEN_AT_ONCE: u64 = 256 << 20;

/// Result of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Copied {
    /// Number of files.
    pub files: usize,
    /// Bytes written; 0 when all files were cloned.
    pub bytes: u64,
    /// Files that share their blocks with the original.
    pub cloned: usize,
}

/// Copies a folder with its content. `to` must not exist; it and its files are given to `owner`
/// with the permissions of the originals. With an owner only that owner's files and folders are
/// copied; without one, everything that this user may read.
///
/// # Errors
/// With the path that could not be read or written. The copy is then incomplete, and the caller
/// removes it.
pub fn copy_folder(from: &Path, to: &Path, owner: Option<Owner>) -> io::Result<Copied> {
    let (Some(parent), Some(name)) = (to.parent(), to.file_name()) else {
        return Err(no_name(to));
    };
    copy_into(Folder::of(from, owner)?, &Folder::open(parent)?, name.to_owned(), owner)
}

/// As [`copy_folder`] for open folders: copies `from` into `parent` under `name`.
pub(crate) fn copy_into(
    from: Folder,
    parent: &Folder,
    name: OsString,
    owner: Option<Owner>,
) -> io::Result<Copied> {
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    make_folders(from, parent, name, owner, &mut files, &mut folders)?;
    // Large files first, so that none of them is copied alone at the end.
    files.sort_by_key(|file| std::cmp::Reverse(file.length));
    let (next, cloned, bytes) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicU64::new(0));
    let copy_all = || -> io::Result<()> {
        while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            match copy_file(file, owner)? {
                None => cloned.fetch_add(1, Ordering::Relaxed),
                Some(written) => {
                    bytes.fetch_add(written, Ordering::Relaxed);
                    0
                }
            };
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> =
            (0..AT_A_TIME.min(files.len())).map(|_| scope.spawn(copy_all)).collect();
        workers.into_iter().try_for_each(|worker| match worker.join() {
            Ok(result) => result,
            Err(_) => Err(io::Error::other("a thread that copied files panicked")),
        })
    })?;
    // Until now only dyno's user could enter the copy. The outermost folder was added first and is
    // opened last.
    for (folder, mode) in folders.iter().rev() {
        folder.chown(*mode, owner)?;
    }
    Ok(Copied { files: files.len(), bytes: bytes.into_inner(), cloned: cloned.into_inner() })
}

struct FileCopy {
    from: Arc<Folder>,
    to: Arc<Folder>,
    name: OsString,
    length: u64,
}

/// Creates the folders, closed to other users, and collects the files. Links are recreated.
/// Anything else (sockets, say) belongs to a process and is left out.
fn make_folders(
    from: Folder,
    parent: &Folder,
    name: OsString,
    owner: Option<Owner>,
    files: &mut Vec<FileCopy>,
    folders: &mut Vec<(Arc<Folder>, u32)>,
) -> io::Result<()> {
    let (from, to) = (Arc::new(from), Arc::new(parent.make_folder(name)?));
    folders.push((Arc::clone(&to), from.mode()?));
    for (name, kind) in from.entries()? {
        match kind {
            Kind::Folder => {
                let inner = from.folder(&name)?.checked(owner)?;
                make_folders(inner, &to, name, owner, files, folders)?;
            }
            Kind::Link => to.link(&from.link_target(&name)?, &name)?,
            Kind::File => {
                let length = from.length(&name)?;
                files.push(FileCopy { from: Arc::clone(&from), to: Arc::clone(&to), name, length });
            }
            Kind::Other => {}
        }
    }
    Ok(())
}

/// Copies one file; returns the number of bytes written, or `None` when it was cloned.
fn copy_file(file: &FileCopy, owner: Option<Owner>) -> io::Result<Option<u64>> {
    let source = file.from.read(&file.name, owner)?;
    let found = source.metadata()?;
    let copy = file.to.create(&file.name, found.permissions().mode() & 0o7777)?;
    let fill = || -> io::Result<Option<u64>> {
        give(&copy, owner)?;
        let length = found.len();
        if length > 0 && ioctl_ficlone(&copy, &source).is_ok() {
            return Ok(None);
        }
        copy.set_len(length)?;
        let written = copy_data(&source, &copy, length)?;
        copy.sync_data()?;
        Ok(Some(written))
    };
    let written = fill().map_err(|error| with_path(&file.to.path().join(&file.name), &error))?;
    for side in [&source, &copy] {
        // Failing to drop the cache is not an error: the measurement only starts warmer.
        let _ = fadvise(side, 0, None, Advice::DontNeed);
    }
    Ok(written)
}

/// Copies the data and keeps the holes.
fn copy_data(source: &File, copy: &File, length: u64) -> io::Result<u64> {
    let mut written = 0;
    let mut at = 0;
    while at < length {
        let begin = match seek(source, SeekFrom::Data(at)) {
            Ok(begin) => begin,
            Err(Errno::NXIO) => break, // the rest is a hole
            Err(Errno::INVAL | Errno::OPNOTSUPP) => at,
            Err(error) => return Err(error.into()),
        };
        let end = match seek(source, SeekFrom::Hole(begin)) {
            Ok(end) => end.min(length),
            Err(Errno::INVAL | Errno::OPNOTSUPP) => length,
            Err(error) => return Err(error.into()),
        };
        let end = end.min(begin.saturating_add(WRITTEN_AT_ONCE));
        copy_range(source, copy, begin, end)?;
        written += end - begin;
        at = end;
        if at < length {
            copy.sync_data()?;
        }
    }
    Ok(written)
}

fn copy_range(source: &File, copy: &File, begin: u64, end: u64) -> io::Result<()> {
    let (mut from, mut to) = (begin, begin);
    while from < end {
        not_interrupted()?;
        let piece = usize::try_from(end - from).unwrap_or(PIECE).min(PIECE);
        match copy_file_range(source, Some(&mut from), copy, Some(&mut to), piece) {
            Ok(0) => {
                return Err(io::Error::new(
                    io::ErrorKind::UnexpectedEof,
                    "the file was truncated while it was copied",
                ));
            }
            Ok(_) | Err(Errno::INTR) => {}
            // On old kernels between file systems, and on some network file systems.
            Err(Errno::XDEV | Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                return copy_by_hand(source, copy, from, end);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Fails after an interrupt by the user.
fn not_interrupted() -> io::Result<()> {
    if is_end_requested() { Err(io::Error::other("interrupted by the user")) } else { Ok(()) }
}

fn copy_by_hand(mut source: &File, mut copy: &File, begin: u64, end: u64) -> io::Result<()> {
    seek(source, SeekFrom::Start(begin))?;
    seek(copy, SeekFrom::Start(begin))?;
    let mut left = end - begin;
    let mut buffer = vec![0; 1 << 20];
    while left > 0 {
        not_interrupted()?;
        let piece = usize::try_from(left).unwrap_or(buffer.len()).min(buffer.len());
        source.read_exact(&mut buffer[..piece])?;
        copy.write_all(&buffer[..piece])?;
        left -= piece as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{MetadataExt, chown};

    #[test]
    fn a_copy_has_the_same_content_and_the_same_holes() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(from.join("deep/er")).unwrap();
        fs::write(from.join("empty"), "").unwrap();
        fs::write(from.join("deep/er/text"), "words").unwrap();
        fs::set_permissions(from.join("deep/er/text"), fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink("er/text", from.join("deep/link")).unwrap();
        let sparse = File::create_new(from.join("sparse")).unwrap();
        sparse.set_len(64 << 20).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&sparse, b"data", 32 << 20).unwrap();
        let copied = copy_folder(&from, &to, None).unwrap();
        assert_eq!(copied.files, 3);
        assert!(copied.bytes < 1 << 20, "{copied:?}");
        assert_eq!(fs::read_to_string(to.join("deep/link")).unwrap(), "words");
        let metadata = fs::metadata(to.join("deep/er/text")).unwrap();
        assert_eq!(metadata.mode() & 0o7777, 0o640);
        let copy = fs::read(to.join("sparse")).unwrap();
        assert_eq!((copy.len(), &copy[32 << 20..(32 << 20) + 4]), (64 << 20, &b"data"[..]));
        assert!(
            fs::metadata(to.join("sparse")).unwrap().blocks() * 512 < 1 << 20,
            "holes stay holes"
        );
        let error = copy_folder(&from, &to, None).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
    }

    #[test]
    fn copying_without_the_kernel_gives_the_same_content() {
        let folder = tempfile::tempdir().unwrap();
        let bytes: Vec<u8> =
            (0..3_000_000_u32).map(|i| (i.wrapping_mul(7919) >> 5) as u8).collect();
        fs::write(folder.path().join("from"), &bytes).unwrap();
        let source = File::open(folder.path().join("from")).unwrap();
        let copy = File::create_new(folder.path().join("to")).unwrap();
        copy_range(&source, &copy, 0, 1_000_003).unwrap();
        copy_by_hand(&source, &copy, 1_000_003, bytes.len() as u64).unwrap();
        assert!(fs::read(folder.path().join("to")).unwrap() == bytes);
    }

    #[test]
    fn files_of_other_owners_are_not_copied() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("SKIPPED: only root copies files for others");
            return;
        }
        let stranger = Owner { user: 4_000_000_000, group: 4_000_000_000 };
        let give_away =
            |path: &Path| chown(path, Some(stranger.user), Some(stranger.group)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(from.join("theirs")).unwrap();
        fs::write(from.join("theirs/table"), "rows").unwrap();
        for path in [from.clone(), from.join("theirs"), from.join("theirs/table")] {
            give_away(&path);
        }
        copy_folder(&from, &to, Some(stranger)).unwrap();
        assert_eq!(fs::metadata(to.join("theirs/table")).unwrap().uid(), stranger.user);
        fs::remove_dir_all(&to).unwrap();
        // A hard link to a file of root's; some systems let every user create one.
        fs::write(folder.path().join("secret"), "root's").unwrap();
        fs::hard_link(folder.path().join("secret"), from.join("theirs/link")).unwrap();
        let error = copy_folder(&from, &to, Some(stranger)).unwrap_err().to_string();
        assert!(
            error.contains("theirs/link") && error.contains("belongs to another user"),
            "{error}"
        );
        fs::remove_file(from.join("theirs/link")).unwrap();
        // A link to a folder of root's.
        std::os::unix::fs::symlink(folder.path(), folder.path().join("way")).unwrap();
        let to = folder.path().join("elsewhere");
        copy_folder(&folder.path().join("way"), &to, Some(stranger)).unwrap_err();
        assert!(!to.exists(), "nothing of it was copied");
    }
}
