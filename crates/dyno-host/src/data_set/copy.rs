//! Copying a folder at the speed of the disk.
//!
//! Files are cloned where the file system can (`FICLONE`: btrfs, XFS and others share blocks until one side changes them),
//! which takes no time and no space. Elsewhere their data is copied inside the kernel, holes stay holes, several files at a
//! time; then each file is written through to the disk and dropped from the page cache, so that neither writing back nor a
//! warm cache reaches the measurement.

use crate::guard::Owner;
use rustix::fs::{Advice, SeekFrom, copy_file_range, fadvise, ioctl_ficlone, seek};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Files copied at a time: enough to keep a disk busy while others are synced.
const AT_A_TIME: usize = 4;
/// Piece of a file that the kernel is asked to copy at once.
const PIECE: usize = 64 << 20;

/// What a copy took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Copied {
    /// Number of files.
    pub files: usize,
    /// Bytes that were written; 0 when all files were cloned.
    pub bytes: u64,
    /// Files that share their blocks with the original.
    pub cloned: usize,
}

/// Copies a folder with everything in it. `to` must not exist; it and its files are given to `owner` and are as readable as
/// the originals.
///
/// # Errors
/// With the path that could not be read or written; the copy is incomplete then and the caller removes it.
pub fn copy_folder(from: &Path, to: &Path, owner: Option<Owner>) -> io::Result<Copied> {
    let mut files = Vec::new();
    make_folders(from, to, owner, &mut files)?;
    // The largest first: a small one at the end keeps nobody waiting.
    files.sort_by_key(|file| std::cmp::Reverse(file.length));
    let (next, cloned, bytes) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicU64::new(0));
    let work = || -> io::Result<()> {
        while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            match copy_file(file, owner).map_err(with_path(&file.to))? {
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
        let workers: Vec<_> = (0..AT_A_TIME.min(files.len())).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| match worker.join() {
            Ok(result) => result,
            Err(_) => Err(io::Error::other("a thread that copied files panicked")),
        })
    })?;
    Ok(Copied { files: files.len(), bytes: bytes.into_inner(), cloned: cloned.into_inner() })
}

fn with_path(path: &Path) -> impl FnOnce(io::Error) -> io::Error {
    let path = path.display().to_string();
    move |error| io::Error::new(error.kind(), format!("{path}: {error}"))
}

struct FileCopy {
    from: PathBuf,
    to: PathBuf,
    length: u64,
}

/// Makes the folders and collects the files. Anything else (sockets, say) belongs to a process and is left out; links are made
/// again.
fn make_folders(from: &Path, to: &Path, owner: Option<Owner>, files: &mut Vec<FileCopy>) -> io::Result<()> {
    let mode = fs::metadata(from).map_err(with_path(from))?.mode();
    fs::DirBuilder::new().mode(mode & 0o7777).create(to).map_err(with_path(to))?;
    give(to, owner)?;
    for entry in fs::read_dir(from).map_err(with_path(from))? {
        let entry = entry?;
        let (source, copy) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            make_folders(&source, &copy, owner, files)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&source)?, &copy)?;
        } else if kind.is_file() {
            files.push(FileCopy { length: entry.metadata()?.len(), from: source, to: copy });
        }
    }
    Ok(())
}

fn give(path: &Path, owner: Option<Owner>) -> io::Result<()> {
    owner.map_or(Ok(()), |owner| chown(path, Some(owner.user), Some(owner.group)))
}

/// Copies one file; the number of bytes written, or `None` when it was cloned.
fn copy_file(file: &FileCopy, owner: Option<Owner>) -> io::Result<Option<u64>> {
    let source = File::open(&file.from)?;
    let mode = source.metadata()?.permissions().mode() & 0o7777;
    let copy = File::options().write(true).create_new(true).mode(mode).open(&file.to)?;
    give(&file.to, owner)?;
    let written = if file.length > 0 && ioctl_ficlone(&copy, &source).is_ok() {
        None
    } else {
        copy.set_len(file.length)?;
        let written = copy_data(&source, &copy, file.length)?;
        copy.sync_data()?;
        Some(written)
    };
    for side in [&source, &copy] {
        // A cache that cannot be dropped is no error: the figures only begin warmer.
        let _ = fadvise(side, 0, None, Advice::DontNeed);
    }
    Ok(written)
}

/// Copies the data between the holes.
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
        copy_range(source, copy, begin, end)?;
        written += end - begin;
        at = end;
    }
    Ok(written)
}

fn copy_range(source: &File, copy: &File, begin: u64, end: u64) -> io::Result<()> {
    let (mut from, mut to) = (begin, begin);
    while from < end {
        let piece = usize::try_from(end - from).unwrap_or(PIECE).min(PIECE);
        match copy_file_range(source, Some(&mut from), copy, Some(&mut to), piece) {
            Ok(0) => return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file became shorter")),
            Ok(_) | Err(Errno::INTR) => {}
            // Between file systems of old kernels, and on some network file systems.
            Err(Errno::XDEV | Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                return copy_by_hand(source, copy, from, end);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn copy_by_hand(mut source: &File, mut copy: &File, begin: u64, end: u64) -> io::Result<()> {
    seek(source, SeekFrom::Start(begin))?;
    seek(copy, SeekFrom::Start(begin))?;
    let mut left = end - begin;
    let mut buffer = vec![0; 1 << 20];
    while left > 0 {
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

    #[test]
    fn a_copy_has_the_same_files_and_the_same_holes() {
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
        assert!(fs::metadata(to.join("sparse")).unwrap().blocks() * 512 < 1 << 20, "holes stay holes");
        let error = copy_folder(&from, &to, None).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
    }

    #[test]
    fn pieces_by_hand_are_the_same_as_those_of_the_kernel() {
        let folder = tempfile::tempdir().unwrap();
        let bytes: Vec<u8> = (0..3_000_000_u32).map(|i| (i.wrapping_mul(7919) >> 5) as u8).collect();
        fs::write(folder.path().join("from"), &bytes).unwrap();
        let source = File::open(folder.path().join("from")).unwrap();
        let copy = File::create_new(folder.path().join("to")).unwrap();
        copy_range(&source, &copy, 0, 1_000_003).unwrap();
        copy_by_hand(&source, &copy, 1_000_003, bytes.len() as u64).unwrap();
        assert!(fs::read(folder.path().join("to")).unwrap() == bytes);
    }
}
