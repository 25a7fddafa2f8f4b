//! Releases shared memory that a killed PostgreSQL leaves.
//!
//! A clean shutdown releases all of it. A killed server leaves a System V segment of a few bytes,
//! and in `/dev/shm` a control file that lists the segments of its sessions, which are files next
//! to it. The programs that create a data folder are short-lived servers and leave the same. Their
//! memory map cannot be read in time, so their segments are identified by the process that created
//! them ([`remove_abandoned`]), and their control files by their creation time and by having no
//! user ([`remove_unused`]).

use crate::folder::{Folder, Owner};
use crate::process_stat::living;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

/// Folder of POSIX shared memory.
const FOLDER: &str = "/dev/shm";
/// Prefix of PostgreSQL's files there.
const PREFIX: &str = "PostgreSQL.";
/// Larger than the control file of any server.
const CONTROL_BYTES_MAX: u64 = 64 << 20;
/// First word of a control file (`PG_DYNSHMEM_CONTROL_MAGIC` in PostgreSQL's `dsm.c`).
const CONTROL_MAGIC: u32 = 0x9a50_3d32;

/// Shared memory of a server.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SharedMemory {
    /// Files below `/dev/shm`.
    pub files: Vec<PathBuf>,
    /// System V identifiers.
    pub system_v: Vec<u64>,
    /// Its owner.
    pub owner: Option<Owner>,
}

/// A System V segment as listed in `/proc/sysvipc/shm`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Segment {
    key: i32,
    id: u64,
    /// The process that created it.
    made_by: u32,
    /// Number of processes that have it mapped.
    attached: u64,
    /// The user that created it.
    user: u32,
}

/// `key shmid perms size cpid lpid nattch uid gid cuid cgid ...`, below a header line.
fn segments_of_system(table: &str) -> impl Iterator<Item = Segment> {
    table.lines().skip(1).filter_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        Some(Segment {
            key: fields.first()?.parse().ok()?,
            id: fields.get(1)?.parse().ok()?,
            made_by: fields.get(4)?.parse().ok()?,
            attached: fields.get(6)?.parse().ok()?,
            user: fields.get(9)?.parse().ok()?,
        })
    })
}

/// Releases System V segments that ended servers of these scratch folders left: those that no
/// process uses and that were created by a folder's user, either by one of `processes` (ids of ours
/// that have ended) or with the key that PostgreSQL 13 and later derive from the data folder, its
/// inode number.
pub(super) fn remove_abandoned(folders: &[PathBuf], processes: &BTreeSet<u32>) {
    let table = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    if segments_of_system(&table).next().is_none() {
        return;
    }
    let found = |path: &Path| fs::symlink_metadata(path).ok();
    let users: BTreeSet<u32> =
        folders.iter().filter_map(|folder| Some(found(folder)?.uid())).collect();
    // The key is the inode number truncated to its size.
    let keys = folders.iter().filter_map(|folder| Some(found(&folder.join("data"))?.ino() as i32));
    let keys: BTreeSet<i32> = keys.collect();
    for segment in segments_of_system(&table) {
        if is_abandoned(segment, &users, processes, &keys) {
            remove_system_v(segment.id);
        }
    }
}

fn is_abandoned(
    segment: Segment,
    users: &BTreeSet<u32>,
    processes: &BTreeSet<u32>,
    keys: &BTreeSet<i32>,
) -> bool {
    let is_ours = processes.contains(&segment.made_by) || keys.contains(&segment.key);
    segment.attached == 0 && users.contains(&segment.user) && is_ours
}

/// Releases control files, with the segments they list, that servers of these scratch folders left:
/// those of a folder's user that were created after `since` and that no process has mapped. A
/// server has its own mapped from start to end, so the files of other servers stay.
pub(super) fn remove_unused(folders: &[PathBuf], since: SystemTime) {
    let users: BTreeSet<u32> =
        folders.iter().filter_map(|it| Some(fs::symlink_metadata(it).ok()?.uid())).collect();
    let since = since - CLOCK_STEP;
    let unused = || -> BTreeMap<PathBuf, Owner> {
        let entries = fs::read_dir(FOLDER).into_iter().flatten().flatten();
        let mut files: BTreeMap<PathBuf, Owner> = entries
            .filter_map(|entry| {
                let (path, found) = (entry.path(), entry.metadata().ok()?);
                let is_it = is_shared_file(&path)
                    && found.is_file()
                    && users.contains(&found.uid())
                    && found.modified().is_ok_and(|modified| modified >= since);
                is_it.then(|| (path, Owner { user: found.uid(), group: found.gid() }))
            })
            .collect();
        if !files.is_empty() {
            for process in living(|_| true) {
                let used = SharedMemory::of_process(process).files;
                files.retain(|file, _| !used.contains(file));
            }
        }
        files
    };
    let first = unused();
    if first.is_empty() {
        return;
    }
    // A server maps a file shortly after creating it.
    std::thread::sleep(SETTLING);
    for (file, owner) in unused().into_iter().filter(|(file, _)| first.contains_key(file)) {
        let shared = SharedMemory { owner: Some(owner), ..SharedMemory::default() };
        let _ = shared.remove_files(&file);
    }
}

/// How far the timestamps of files may be behind the clock.
const CLOCK_STEP: Duration = Duration::from_millis(100);
/// Longer than a server takes from creating its control file to mapping it, even on a busy machine.
const SETTLING: Duration = Duration::from_millis(500);

fn remove_system_v(id: u64) {
    let mut command = Command::new("ipcrm");
    let _ =
        command.arg("-m").arg(id.to_string()).stdout(Stdio::null()).stderr(Stdio::null()).status();
}

impl SharedMemory {
    /// The shared memory of a running process, from its memory map. The inode number of a System V
    /// segment is its identifier.
    #[must_use]
    pub fn of_process(pid: u32) -> Self {
        let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
        let owner = fs::metadata(format!("/proc/{pid}")).ok();
        let owner = owner.map(|found| Owner { user: found.uid(), group: found.gid() });
        let mut shared = Self { owner, ..Self::default() };
        for line in maps.lines() {
            // address permissions offset device inode path
            let mut fields = line.split_whitespace();
            let inode = fields.nth(4).and_then(|inode| inode.parse::<u64>().ok());
            let path = Path::new(fields.next().unwrap_or(""));
            if path.starts_with("/") && is_shared_file(path) {
                shared.files.push(path.to_owned());
            } else if path.to_string_lossy().starts_with("/SYSV") {
                shared.system_v.extend(inode);
            }
        }
        shared.files.dedup();
        shared.system_v.dedup();
        shared
    }

    /// Releases it. Called when no process uses it any more; after a clean shutdown there is
    /// nothing left.
    pub(super) fn remove(&self) {
        for file in self.files.iter().filter(|file| is_shared_file(file)) {
            let _ = self.remove_files(file);
        }
        for id in &self.system_v {
            remove_system_v(*id);
        }
    }

    /// Removes a control file and the segments it lists. Its user may have put another file there,
    /// or listed files of others, so only regular files of that user are removed.
    fn remove_files(&self, control: &Path) -> io::Result<()> {
        let (folder, name) =
            (Folder::open(Path::new(FOLDER))?, control.file_name().unwrap_or_default());
        let mut bytes = Vec::new();
        folder.read(name, self.owner)?.take(CONTROL_BYTES_MAX).read_to_end(&mut bytes)?;
        let Some(segments) = segments(&bytes) else { return Ok(()) };
        for segment in segments {
            let name = format!("{PREFIX}{segment}");
            if folder.read(&name, self.owner).is_ok() {
                folder.remove_file(&name)?;
            }
        }
        folder.remove_file(name)
    }
}

fn is_shared_file(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    path.parent() == Some(Path::new(FOLDER)) && name.is_some_and(|name| name.starts_with(PREFIX))
}

/// Handles of the segments that a control file lists; `None` when it is not a control file.
///
/// ```text
/// u32 magic, u32 items in use, u32 maximum of items, padding to 16 bytes,
/// then per item: u32 handle, u32 reference count, ...
/// ```
/// The size of an item differs between versions and follows from that of the file.
fn segments(control: &[u8]) -> Option<Vec<u32>> {
    const HEADER: usize = 16;
    let word = |at: usize| Some(u32::from_ne_bytes(control.get(at..at + 4)?.try_into().ok()?));
    let (Some(CONTROL_MAGIC), Some(used), Some(all)) = (word(0), word(4), word(8)) else {
        return None;
    };
    let size = control.len().saturating_sub(HEADER) / (all as usize).max(1);
    if used > all || size < 8 {
        return None;
    }
    let listed = (0..used as usize).filter_map(|index| {
        let at = HEADER + index * size;
        (word(at + 4)? > 0).then(|| word(at)).flatten()
    });
    Some(listed.collect())
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
            Some(vec![77, 4_131_433_772]),
            "an item without users is free, one beyond those in use is old"
        );
        control[0] ^= 1;
        assert_eq!(segments(&control), None, "another file");
        assert_eq!(segments(&[]), None);
    }

    #[test]
    fn only_unused_segments_of_our_own_are_abandoned() {
        let table = "       key      shmid perms                  size  cpid  lpid nattch   uid   gid  cuid  cgid\n\
                     \x20  1234567          3   600                    56  4321  4321      0   105   111   105   111 0 0 0 0 0\n";
        let segment = segments_of_system(table).next().expect("one line");
        assert_eq!(
            segment,
            Segment { key: 1_234_567, id: 3, made_by: 4321, attached: 0, user: 105 }
        );
        let is_abandoned = |segment, process, key| {
            is_abandoned(
                segment,
                &BTreeSet::from([105]),
                &BTreeSet::from([process]),
                &BTreeSet::from([key]),
            )
        };
        assert!(is_abandoned(segment, 4321, 0), "made by a process of ours");
        assert!(is_abandoned(segment, 1, 1_234_567), "made for a data folder of ours");
        assert!(!is_abandoned(segment, 1, 0), "somebody else's");
        assert!(!is_abandoned(Segment { attached: 1, ..segment }, 4321, 1_234_567), "it is in use");
        assert!(!is_abandoned(Segment { user: 0, ..segment }, 4321, 1_234_567), "another user's");
    }

    #[test]
    fn only_files_of_postgres_are_ever_removed() {
        assert!(is_shared_file(Path::new("/dev/shm/PostgreSQL.1")));
        for path in
            ["/dev/shm/other", "/dev/shm/../etc/PostgreSQL.1", "/tmp/PostgreSQL.1", "PostgreSQL.1"]
        {
            assert!(!is_shared_file(Path::new(path)), "{path}");
        }
    }
}
