//! The last lines of a file that a process writes.

use dyno_files::NO_LIMIT;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// How many bytes at the end of a log are read.
const END_BYTES: u64 = 64 * 1024;

/// The last lines of a log; empty when it cannot be read.
pub(crate) fn tail(path: &Path, lines: usize) -> Vec<String> {
    let read_end = || -> std::io::Result<String> {
        let mut file = dyno_files::open(path, NO_LIMIT)?.into_file();
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(END_BYTES)))?;
        let mut bytes = Vec::new();
        file.take(END_BYTES).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let text = read_end().unwrap_or_default();
    let all: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    all[all.len().saturating_sub(lines)..].iter().map(|line| (*line).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_log_has_no_empty_lines() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "one\n\ntwo\nthree\n\n").unwrap();
        assert_eq!(tail(file.path(), 2), ["two", "three"]);
        assert_eq!(tail(file.path(), 9).len(), 3);
        assert!(tail(Path::new("/nonexistent/log"), 2).is_empty());
    }
}
