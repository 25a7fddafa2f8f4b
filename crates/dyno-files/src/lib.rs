//! Files that users, servers and results folders name, opened in one place: [`open`] to read,
//! [`append`] to add to one.
//!
//! A name may lead to a device that never ends, to a FIFO that nobody writes to, or to more than
//! memory holds. [`open`] refuses what is not a regular file before it reads from it, and reads at
//! most as many bytes as its caller says. What the shell hands over (`/dev/stdin`, `/dev/fd/63` of
//! `<(zcat log.gz)`) may be a pipe, because somebody is writing to it.
//!
//! # Layout
//! [`open`] is the function, [`Limited`] what it returns; [`read`], [`read_text`] and [`read_from`]
//! take everything at once; [`append`] opens what is written; [`reason`] words an error.
//!
//! # Invariants
//! No other crate of ours is used here. No link is followed to a file that is written. No other
//! crate reads a file that somebody names in another way (`crates/dyno/tests/it/tidy/opening.rs`).
#![warn(missing_docs)]

use rustix::fs::OFlags;
use rustix::io::Errno;
use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Largest script, specification, certificate or file of options, bytes. None that anybody wrote by
/// hand comes near.
pub const SCRIPT_MAX: u64 = 64 << 20;

/// Largest text that makes the tables of a run, which may be a dump, bytes. All of it is in memory
/// while it is sent.
pub const SETUP_MAX: u64 = 1 << 30;

/// Largest file of a results folder, bytes. The histograms of a trial of a day come near a
/// gigabyte.
pub const RESULT_MAX: u64 = 4 << 30;

/// No limit: for what is read piece by piece and not kept.
pub const NO_LIMIT: u64 = u64::MAX;

/// Opens a regular file of at most `limit` bytes for reading; links are followed. It does not wait
/// for anybody to write. `/dev/null` is an empty file, because people name it to say that they have
/// none.
///
/// # Errors
/// As the file system says; [`ErrorKind::InvalidInput`], in words, for devices, sockets and FIFOs;
/// [`ErrorKind::IsADirectory`]; [`ErrorKind::FileTooLarge`], in words, for more than `limit` bytes,
/// also when the file grows while it is read.
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

/// Makes a file with this mode and opens it to be written. No link is followed.
///
/// # Errors
/// As the file system says; [`ErrorKind::AlreadyExists`] when there is something of that name.
pub fn create_new(path: &Path, mode: u32) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(mode).open(path)
}

/// Opens a regular file, or `/dev/null`, to add to its end and to be read; it is made, with this
/// mode, unless it exists. A link in its place is not followed, and a FIFO is neither waited for
/// nor written to.
///
/// # Errors
/// As the file system says; [`ErrorKind::InvalidInput`], in words, for links and for what is no
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
    // A program that inherits it must not see writes fail for want of patience.
    rustix::fs::fcntl_setfl(&file, OFlags::APPEND)?;
    Ok(file)
}

fn is_null(metadata: &Metadata) -> bool {
    metadata.file_type().is_char_device() && metadata.rdev() == rustix::fs::makedev(1, 3)
}

/// True for descriptors of this process, which whoever started it opened.
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

/// A source that ends in an error, and not in silence, where it holds more than its limit.
#[derive(Debug)]
pub struct Limited<R> {
    source: R,
    left: u64,
    limit: u64,
}

impl<R: Read> Limited<R> {
    /// A source that is open already, such as standard input, and the most bytes it may hold.
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

/// A file's content.
///
/// # Errors
/// As [`open`].
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    all(open(path, limit)?)
}

/// A file's content as text.
///
/// # Errors
/// As [`open`]; [`ErrorKind::InvalidData`] when it is not UTF-8.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    String::from_utf8(read(path, limit)?)
        .map_err(|_| io::Error::new(ErrorKind::InvalidData, "not UTF-8 text"))
}

/// The content of what is open already.
///
/// # Errors
/// As [`Limited`] reads.
pub fn read_from(source: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    all(Limited::new(source, limit))
}

fn all(mut source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The system's words for an error, without its number.
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
    fn what_is_no_regular_file_is_refused_and_nothing_waits_for_a_writer() {
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
        // The system itself opens no socket.
        assert!(open(&socket, 100).is_err());
        assert_eq!(refused(folder.path()), (ErrorKind::IsADirectory, "Is a directory".to_owned()));
        assert_eq!(refused(&folder.path().join("nothing")).0, ErrorKind::NotFound);
        assert_eq!(read(Path::new("/dev/null"), 100).unwrap(), b"");
    }

    #[test]
    fn a_file_is_read_up_to_its_limit_and_one_byte_more_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "12345").unwrap();
        assert_eq!(read_text(&path, 5).unwrap(), "12345");
        let error = read(&path, 4).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (ErrorKind::FileTooLarge, "larger than 4 bytes, which is the limit")
        );
        // It grows after it was opened.
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
    fn what_is_written_is_a_regular_file_and_no_link_is_followed_to_it() {
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
        // Nobody reads from it, and then somebody does.
        assert!(append(&path("fifo"), 0o600).is_err());
        let _reader = OpenOptions::new().read(true).write(true).open(path("fifo")).unwrap();
        assert_eq!(refused("fifo").to_string(), "a FIFO, not a regular file");
        assert_eq!(read_text(&path("log"), 100).unwrap(), "one\ntwo\n");
    }

    #[test]
    fn a_pipe_that_the_shell_hands_over_is_read_to_its_end() {
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
