//! Opens files that are named by users, servers and results folders: [`open`] to read, [`append`]
//! to append.
//!
//! A name may refer to a device that never ends, to a FIFO without a writer, or to a file larger
//! than memory. [`open`] rejects anything but a regular file before it reads, and reads at most as
//! many bytes as the caller allows. Files passed by the shell (`/dev/stdin`, `/dev/fd/63` of
//! `<(zcat log.gz)`) may be pipes, because a writer exists.
//!
//! # Layout
//! [`open`] is the main function and [`Limited`] its result; [`read`], [`read_text`] and
//! [`read_from`] read everything at once; [`append`] opens files for writing; [`reason`] formats an
//! error.
//!
//! # Invariants
//! This crate uses no other crate of the workspace. Files opened for writing are never reached
//! through a link. No other crate opens a user-supplied path in another way
//! (`crates/dyno/tests/it/tidy/opening.rs`).
#![warn(missing_docs)]

use rustix::fs::OFlags;
use rustix::io::Errno;
use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Maximum size of a script, specification, certificate or option file, in bytes. Hand-written
/// files are far smaller.
pub const SCRIPT_MAX: u64 = 64 << 20;

/// Maximum size of the SQL that sets up a run's tables, in bytes. It may be a dump, and is held in
/// memory while it is sent.
pub const SETUP_MAX: u64 = 1 << 30;

/// Maximum size of a file of a results folder, in bytes. The histograms of a day-long trial
/// approach one gigabyte.
pub const RESULT_MAX: u64 = 4 << 30;

/// No limit, for input that is read piece by piece and not kept.
pub const NO_LIMIT: u64 = u64::MAX;

/// Opens a regular file of at most `limit` bytes for reading. Links are followed. Never waits for a
/// writer. `/dev/null` counts as an empty file, because users name it to pass no file.
///
/// # Errors
/// Those of the file system; [`ErrorKind::InvalidInput`] with a text for devices, sockets and
/// FIFOs; [`ErrorKind::IsADirectory`]; [`ErrorKind::FileTooLarge`] with a text for more than
/// `limit` bytes, also when the file grows while it is read.
pub fn open(path: &Path, limit: u64) -> io::Result<Limited<File>> {
    // Without this flag, opening a FIFO waits for a writer.
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    let file = OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(path)?;
    let metadata = file.metadata()?;
    let kind = metadata.file_type();
    if kind.is_dir() {
        return Err(Errno::ISDIR.into());
    }
    let is_readable =
        kind.is_file() || is_null(&metadata) || (kind.is_fifo() && is_handed_over(path));
    if !is_readable {
        return Err(io::Error::new(
            ErrorKind::InvalidInput,
            format!("{}, not a regular file", named(kind)),
        ));
    }
    if kind.is_file() && metadata.len() > limit {
        return Err(too_large(limit));
    }
    rustix::fs::fcntl_setfl(&file, OFlags::empty())?;
    Ok(Limited { source: file, left: limit, limit })
}

/// Creates a file with this mode and opens it for writing. Links are not followed.
///
/// # Errors
/// Those of the file system; [`ErrorKind::AlreadyExists`] when the name is taken.
pub fn create_new(path: &Path, mode: u32) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(mode).open(path)
}

/// Opens a regular file, or `/dev/null`, for appending and reading, and creates it with this mode
/// when it does not exist. A link in its place is not followed; a FIFO is neither waited for nor
/// written to.
///
/// # Errors
/// Those of the file system; [`ErrorKind::InvalidInput`] with a text for links and anything but a
/// regular file.
pub fn append(path: &Path, mode: u32) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW).bits();
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true).mode(mode).custom_flags(flags.cast_signed());
    let file = options.open(path).map_err(|error| match error.raw_os_error() {
        Some(number) if number == Errno::LOOP.raw_os_error() => {
            io::Error::new(ErrorKind::InvalidInput, "a link, not a regular file")
        }
        _ => error,
    })?;
    let metadata = file.metadata()?;
    let kind = metadata.file_type();
    if !kind.is_file() && !is_null(&metadata) {
        return Err(io::Error::new(
            ErrorKind::InvalidInput,
            format!("{}, not a regular file", named(kind)),
        ));
    }
    // Programs that inherit the descriptor must not see `EAGAIN`, so `O_NONBLOCK` is cleared.
    rustix::fs::fcntl_setfl(&file, OFlags::APPEND)?;
    Ok(file)
}

fn is_null(metadata: &Metadata) -> bool {
    metadata.file_type().is_char_device() && metadata.rdev() == rustix::fs::makedev(1, 3)
}

/// True for descriptors of this process, which its parent opened.
fn is_handed_over(path: &Path) -> bool {
    let folders = ["/dev/fd", "/proc/self/fd"].map(Path::new);
    path == Path::new("/dev/stdin") || path.parent().is_some_and(|folder| folders.contains(&folder))
}

fn named(kind: FileType) -> &'static str {
    match kind {
        kind if kind.is_fifo() => "a FIFO",
        kind if kind.is_socket() => "a socket",
        _ => "a device",
    }
}

fn too_large(limit: u64) -> io::Error {
    let size =
        if limit >> 20 > 0 { format!("{} MiB", limit >> 20) } else { format!("{limit} bytes") };
    io::Error::new(ErrorKind::FileTooLarge, format!("larger than {size}, which is the limit"))
}

/// A reader that fails when its source holds more bytes than the limit, instead of truncating.
#[derive(Debug)]
pub struct Limited<R> {
    source: R,
    left: u64,
    limit: u64,
}

impl<R: Read> Limited<R> {
    /// Wraps an open source, such as standard input, that may hold at most `limit` bytes.
    pub fn new(source: R, limit: u64) -> Self {
        Self { source, left: limit, limit }
    }
}

impl Limited<File> {
    /// The file, without its limit.
    #[must_use]
    pub fn into_file(self) -> File {
        self.source
    }
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            let mut one = [0];
            return match self.source.read(&mut one)? {
                0 => Ok(0),
                _ => Err(too_large(self.limit)),
            };
        }
        let room = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let count = self.source.read(&mut buffer[..room])?;
        self.left -= count as u64;
        Ok(count)
    }
}

/// Reads a file.
///
/// # Errors
/// As [`open`].
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    all(open(path, limit)?)
}

/// Reads a file as text.
///
/// # Errors
/// As [`open`]; [`ErrorKind::InvalidData`] when it is not UTF-8.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    String::from_utf8(read(path, limit)?)
        .map_err(|_| io::Error::new(ErrorKind::InvalidData, "not UTF-8 text"))
}

/// Reads an open source to its end.
///
/// # Errors
/// As [`Limited`].
pub fn read_from(source: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    all(Limited::new(source, limit))
}

fn all(mut source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The operating system's text for an error, without its number.
#[must_use]
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType as Kind, Mode, mknodat};
    use std::io::{Write, pipe};
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixListener;

    fn refused(path: &Path) -> (ErrorKind, String) {
        let error = open(path, 100).expect_err("it is refused");
        (error.kind(), reason(&error))
    }

    #[test]
    fn only_regular_files_are_opened_and_opening_never_waits_for_a_writer() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        mknodat(CWD, &fifo, Kind::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        let socket = folder.path().join("socket");
        let _listener = UnixListener::bind(&socket).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&fifo, &link).unwrap();
        let invalid = |what: &str| (ErrorKind::InvalidInput, format!("{what}, not a regular file"));
        assert_eq!(refused(&fifo), invalid("a FIFO"));
        assert_eq!(refused(&link), invalid("a FIFO"));
        assert_eq!(refused(Path::new("/dev/zero")), invalid("a device"));
        // A socket cannot be opened as a file.
        assert!(open(&socket, 100).is_err());
        assert_eq!(refused(folder.path()), (ErrorKind::IsADirectory, "Is a directory".to_owned()));
        assert_eq!(refused(&folder.path().join("nothing")).0, ErrorKind::NotFound);
        assert_eq!(read(Path::new("/dev/null"), 100).unwrap(), b"");
    }

    #[test]
    fn a_file_larger_than_its_limit_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "12345").unwrap();
        assert_eq!(read_text(&path, 5).unwrap(), "12345");
        let error = read(&path, 4).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (ErrorKind::FileTooLarge, "larger than 4 bytes, which is the limit")
        );
        // The file grows after it was opened.
        let mut opened = open(&path, 5).unwrap();
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"6").unwrap();
        assert_eq!(
            opened.read_to_end(&mut Vec::new()).unwrap_err().kind(),
            ErrorKind::FileTooLarge
        );
        assert_eq!(read_from(&[7; 3][..], 3).unwrap(), [7; 3]);
        let endless = read_from(io::repeat(0), 1 << 20).unwrap_err();
        assert_eq!(endless.to_string(), "larger than 1 MiB, which is the limit");
    }

    #[test]
    fn append_creates_regular_files_and_follows_no_link() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for text in ["one\n", "two\n"] {
            append(&path("log"), 0o600).unwrap().write_all(text.as_bytes()).unwrap();
        }
        assert_eq!(read_text(&path("log"), 100).unwrap(), "one\ntwo\n");
        std::os::unix::fs::symlink(path("log"), path("link")).unwrap();
        mknodat(CWD, path("fifo"), Kind::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        let refused = |name: &str| append(&path(name), 0o600).expect_err("it is refused");
        assert_eq!(refused("link").to_string(), "a link, not a regular file");
        // First without a reader, then with one.
        assert!(append(&path("fifo"), 0o600).is_err());
        let _reader = OpenOptions::new().read(true).write(true).open(path("fifo")).unwrap();
        assert_eq!(refused("fifo").to_string(), "a FIFO, not a regular file");
        assert_eq!(read_text(&path("log"), 100).unwrap(), "one\ntwo\n");
    }

    #[test]
    fn a_pipe_passed_by_the_shell_is_read_to_its_end() {
        let (reader, mut writer) = pipe().unwrap();
        let path = format!("/dev/fd/{}", reader.as_raw_fd());
        let read = std::thread::spawn(move || read_text(Path::new(&path), 100));
        writer.write_all(b"through a ").unwrap();
        writer.write_all(b"pipe").unwrap();
        drop(writer);
        assert_eq!(read.join().unwrap().unwrap(), "through a pipe");
        drop(reader);
    }
}
