//! Files that users write, such as scripts and specs: read whole, up to a limit. A device that never ends would take all memory otherwise. And
//! the names in them.

use dyno_drivers::lock;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Mutex;

/// Largest script or file of options, bytes. None that anybody wrote by hand comes near.
pub const SCRIPT_MAX: u64 = 64 << 20;

/// A file's content.
///
/// # Errors
/// As the file system says; [`io::ErrorKind::FileTooLarge`], in words, when there is more than `limit` bytes.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_from(File::open(path)?, limit)
}

/// The same of what is open already.
///
/// # Errors
/// As [`read`].
pub fn read_from(source: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    source.take(limit.saturating_add(1)).read_to_end(&mut text)?;
    if text.len() as u64 > limit {
        let reason = format!("larger than {} MiB, which is the limit", limit >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, reason));
    }
    Ok(text)
}

/// The system's words for an error, without its number.
#[must_use]
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// The name for as long as the program runs; one that was given before is not kept twice, since every trial gives them anew.
#[must_use]
pub fn lasting(name: String) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = lock(&NAMES);
    if let Some(known) = names.get(name.as_str()) {
        return known;
    }
    let name: &'static str = Box::leak(name.into_boxed_str());
    names.insert(name);
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_without_an_end_is_told_and_what_has_the_limit_s_size_is_read() {
        let failure = read(Path::new("/dev/zero"), 1 << 20).unwrap_err();
        assert_eq!(failure.kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(failure.to_string(), "larger than 1 MiB, which is the limit");
        assert_eq!(read_from(&[7; 3][..], 3).unwrap(), [7; 3]);
    }
}
