//! Shared memory that a killed PostgreSQL leaves behind.
//!
//! A server that ends in order gives all of it back. One that is killed leaves a System V segment of a few bytes, and in
//! `/dev/shm` a control file with the segments of its sessions, which are files beside it.

use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where POSIX shared memory is.
const FOLDER: &str = "/dev/shm";
/// How files of PostgreSQL begin there.
const PREFIX: &str = "PostgreSQL.";
/// First word of a control file (`PG_DYNSHMEM_CONTROL_MAGIC` in PostgreSQL's `dsm.c`).
const CONTROL_MAGIC: u32 = 0x9a50_3d32;

/// Shared memory of a server.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SharedMemory {
    /// Files below `/dev/shm`.
    pub files: Vec<PathBuf>,
    /// System V identifiers.
    pub system_v: Vec<u64>,
}

impl SharedMemory {
    /// What a running process holds, from its memory map. The inode number of a System V segment is its identifier.
    #[must_use]
    pub fn of_process(pid: u32) -> Self {
        let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
        let mut shared = Self::default();
        for line in maps.lines() {
            // address permissions offset device inode path
            let mut fields = line.split_whitespace();
            let inode = fields.nth(4).and_then(|inode| inode.parse::<u64>().ok());
            let path = Path::new(fields.next().unwrap_or(""));
            if path.starts_with("/") && is_postgres_file(path) {
                shared.files.push(path.to_owned());
            } else if path.to_string_lossy().starts_with("/SYSV") {
                shared.system_v.extend(inode);
            }
        }
        shared.files.dedup();
        shared.system_v.dedup();
        shared
    }

    /// Gives it back. Called when no process uses it any more; where the server did so itself, nothing is there.
    pub(super) fn remove(&self) {
        for file in self.files.iter().filter(|file| is_postgres_file(file)) {
            for segment in fs::read(file).map(|bytes| segments(&bytes)).unwrap_or_default() {
                let _ = fs::remove_file(Path::new(FOLDER).join(format!("{PREFIX}{segment}")));
            }
            let _ = fs::remove_file(file);
        }
        for id in &self.system_v {
            let mut command = Command::new("ipcrm");
            let _ =
                command.arg("-m").arg(id.to_string()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        }
    }
}

fn is_postgres_file(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    path.parent() == Some(Path::new(FOLDER)) && name.is_some_and(|name| name.starts_with(PREFIX))
}

/// Numbers of the segments that a control file lists; none when it is no control file.
///
/// ```text
/// u32 magic, u32 items in use, u32 items in all, padding to 16 bytes, then per item: u32 number, u32 users, ...
/// ```
/// The size of an item differs between versions and follows from that of the file.
fn segments(control: &[u8]) -> Vec<u32> {
    const HEADER: usize = 16;
    let word = |at: usize| Some(u32::from_ne_bytes(control.get(at..at + 4)?.try_into().ok()?));
    let (Some(CONTROL_MAGIC), Some(used), Some(all)) = (word(0), word(4), word(8)) else { return Vec::new() };
    let size = control.len().saturating_sub(HEADER) / (all as usize).max(1);
    if used > all || size < 8 {
        return Vec::new();
    }
    (0..used as usize)
        .filter_map(|index| {
            let at = HEADER + index * size;
            (word(at + 4)? > 0).then(|| word(at)).flatten()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_file_lists_the_segments_in_use() {
        let mut control = Vec::new();
        for word in [CONTROL_MAGIC, 3, 5, 0] {
            control.extend(u32::to_ne_bytes(word));
        }
        for (number, users) in [(77, 2), (78, 0), (4_131_433_772, 1), (99, 9), (0, 0)] {
            control.extend(u32::to_ne_bytes(number));
            control.extend(u32::to_ne_bytes(users));
            control.extend([0; 32]);
        }
        assert_eq!(
            segments(&control),
            [77, 4_131_433_772],
            "an item without users is free, one beyond those in use is old"
        );
        control[0] ^= 1;
        assert!(segments(&control).is_empty(), "another file");
        assert!(segments(&[]).is_empty());
    }

    #[test]
    fn only_files_of_postgres_are_ever_removed() {
        assert!(is_postgres_file(Path::new("/dev/shm/PostgreSQL.1")));
        for path in ["/dev/shm/other", "/dev/shm/../etc/PostgreSQL.1", "/tmp/PostgreSQL.1", "PostgreSQL.1"] {
            assert!(!is_postgres_file(Path::new(path)), "{path}");
        }
    }
}
