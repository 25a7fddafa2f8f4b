//! Disks that servers write to, watched during a run: dyno ends a trial before a disk is full,
//! because a full disk also loses results and logs and makes other programs fail.

use dyno_host::probe::{DiskSpace, disk_space};
use dyno_model::plan::{Plan, SystemSource};
use dyno_model::reason::Reason;
use std::cell::Cell;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Free space that must remain: 256 MiB, or a twentieth of a small disk.
const ROOM: u64 = 256 << 20;
/// With less free space than this, a failed server may have run out of disk space: files grow by
/// this much at once.
const SCARCE: u64 = 64 << 20;
/// Minimum time between checks. At 1 GB/s a disk fills by 200 MB between two checks.
const PAUSE: Duration = Duration::from_millis(200);

/// The watched folders.
#[derive(Debug, Clone)]
pub(crate) struct DiskWatch {
    folders: Rc<[PathBuf]>,
    looked_at: Cell<Option<Instant>>,
}

impl DiskWatch {
    /// Watches the scratch folders of all servers that the plan starts, and all storages.
    pub(crate) fn of_plan(plan: &Plan) -> Self {
        let mut folders: Vec<PathBuf> = Vec::new();
        for system in &plan.systems {
            if let SystemSource::Managed(server) = &system.source
                && server.kind.engine().keeps_data()
            {
                folders.push(server.scratch.clone().unwrap_or_else(std::env::temp_dir));
            }
        }
        for storage in &plan.storages {
            folders.push(storage.data.clone());
            folders.extend(storage.log.clone());
        }
        folders.sort();
        folders.dedup();
        Self { folders: folders.into(), looked_at: Cell::new(None) }
    }

    /// The disk that is nearly full, if any. Callers may call it at any time: it checks at most
    /// five times per second.
    pub(crate) fn full(&self) -> Option<Reason> {
        if self.looked_at.get().is_some_and(|at| at.elapsed() < PAUSE) {
            return None;
        }
        self.full_now()
    }

    /// A folder on the disk whose free space is so low that it may explain a failure, its free
    /// space and its size in MB: servers do not always report it.
    pub(crate) fn scarce(&self) -> Option<(String, u64, u64)> {
        self.short(|_| SCARCE)
    }

    /// The same as [`Self::full`], without the pause between checks.
    pub(crate) fn full_now(&self) -> Option<Reason> {
        self.looked_at.set(Some(Instant::now()));
        let (folder, free, total) = self.short(|total| ROOM.min(total / 20))?;
        Some(Reason::DiskFull { folder, free, total })
    }

    /// A folder on the first disk with less free space than required (a function of its size), its
    /// free space and its size in MB.
    fn short(&self, needed: impl Fn(u64) -> u64) -> Option<(String, u64, u64)> {
        self.folders.iter().find_map(|folder| {
            let DiskSpace { free, total } = disk_space(folder).ok()?;
            let is_short = free < needed(total);
            let [free, total] = [free, total].map(|bytes| bytes / 1_000_000);
            is_short.then(|| (folder.display().to_string(), free, total))
        })
    }
}
