//! Disks that servers write to, watched while a run goes on: a trial is ended before a disk is
//! full, because a full one also takes results, logs and other programs with it.

use dyno_host::probe::{DiskSpace, disk_space};
use dyno_model::plan::{Plan, SystemSource};
use std::cell::Cell;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Least room that must stay: 256 MiB, or a twentieth of a small disk.
const ROOM: u64 = 256 << 20;
/// With less room than this, a server that fails may have failed for want of it: files grow by as
/// much at once.
const SCARCE: u64 = 64 << 20;
/// Disks are looked at no more often. At 1 GB/s a disk loses 200 MB between two looks.
const PAUSE: Duration = Duration::from_millis(200);

/// The folders that are watched.
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

    /// Says which disk is about to be full, if one is. May be asked at any time: it looks a few
    /// times a second only.
    pub(crate) fn full(&self) -> Option<String> {
        if self.looked_at.get().is_some_and(|at| at.elapsed() < PAUSE) {
            return None;
        }
        self.full_now()
    }

    /// Says which disk has so little room that a failure may come from it: servers do not always
    /// say so.
    pub(crate) fn scarce(&self) -> Option<String> {
        let (disk, room) = self.short(|_| SCARCE)?;
        Some(format!("{disk} had {room} free then"))
    }

    /// The same as [`Self::full`], always looking.
    pub(crate) fn full_now(&self) -> Option<String> {
        self.looked_at.set(Some(Instant::now()));
        let (disk, room) = self.short(|total| ROOM.min(total / 20))?;
        Some(format!("{disk} is almost full: {room} are free"))
    }

    /// The first disk that has less room than it needs, of so much in all, and its room, in words.
    fn short(&self, needed: impl Fn(u64) -> u64) -> Option<(String, String)> {
        self.folders.iter().find_map(|folder| {
            let DiskSpace { free, total } = disk_space(folder).ok()?;
            let room = || format!("{} MB of {} MB", free >> 20, total >> 20);
            (free < needed(total)).then(|| (format!("the disk of {}", folder.display()), room()))
        })
    }
}
