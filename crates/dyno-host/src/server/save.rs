//! Keeps a server's data folder after loading, and copies it for later starts.

use super::RunningServer;
use super::instance::ServerInstance;
use crate::data_set::{SavedDataSet, copy_into, uncopied};
use crate::error::HostError;
use crate::folder::Folder;
use crate::probe::disk_space;
use crate::storage::move_log;
use crate::supervisor::Owner;
use std::path::Path;

/// Free space that must remain next to a copy, for logs, temporary tables and the server's writes:
/// 256 MiB.
const ROOM: u64 = 256 << 20;

impl RunningServer {
    /// Stops the server cleanly and keeps its data folder for other starts.
    ///
    /// # Errors
    /// When it has no data folder, did not end cleanly, or the folder cannot be kept. Nothing is
    /// left behind then.
    pub fn stop_and_save(mut self) -> Result<SavedDataSet, HostError> {
        let (Some(mut supervisor), Some(location)) =
            (self.supervisor.take(), self.data_location.take())
        else {
            return Err(uncopied(
                Path::new("-"),
                format!("{} has no data folder to save", self.kind),
            ));
        };
        if let Some(process) = self.process.take() {
            let exit = supervisor.handle.stop(&process.stop)?;
            if !exit.is_some_and(|exit| exit.is_success()) {
                let how = exit.map_or_else(|| "did not end".to_owned(), |exit| exit.to_string());
                return Err(uncopied(&location.data, format!("the server that loaded it {how}")));
            }
        }
        let password = self.target.password.clone();
        let saved = SavedDataSet::take(
            &location.data,
            &location.beside,
            location.owner,
            password,
            &location.supervisor,
        )?;
        match supervisor.finish().into_iter().next() {
            Some(problem) => Err(uncopied(&location.data, problem)),
            None => Ok(saved),
        }
    }
}

/// Copies a saved data set into the scratch folder of a server that is about to start.
pub(super) fn restore(
    instance: &ServerInstance<'_>,
    saved: &SavedDataSet,
) -> Result<(), HostError> {
    let data = instance.directories.data();
    copy(saved, &data, instance.directories.owner)?;
    match &instance.log_folder {
        None => Ok(()),
        Some(log) => move_log(&instance.recipe.log, &data, log, instance.directories.owner)
            .map_err(|error| uncopied(log, error)),
    }
}

/// Copies a saved data set to a folder that does not exist yet, if there is space for it.
pub(super) fn copy(
    saved: &SavedDataSet,
    data: &Path,
    owner: Option<Owner>,
) -> Result<(), HostError> {
    let scratch = data.parent().unwrap_or(data);
    let free = disk_space(scratch).map_or(u64::MAX, |space| space.free);
    if free < saved.bytes.saturating_add(ROOM) && !shares_blocks(scratch) {
        let [free, needed] = [free, saved.bytes].map(|bytes| bytes / 1_000_000);
        let reason = format!("{free} MB are free, and a copy takes {needed} MB");
        return Err(uncopied(data, reason));
    }
    let copied = Folder::of(&saved.folder, owner).and_then(|from| {
        let name = data.file_name().unwrap_or_default().to_owned();
        copy_into(from, &Folder::of(scratch, owner)?, name, owner)
    });
    copied.map(|_| ()).map_err(|error| uncopied(data, error))
}

/// True for file systems that can clone files, where a copy takes no space until something changes.
fn shares_blocks(folder: &Path) -> bool {
    const BTRFS: u64 = 0x9123_683E;
    const XFS: u64 = 0x5846_5342;
    rustix::fs::statfs(folder).is_ok_and(|found| [BTRFS, XFS].contains(&(found.f_type as u64)))
}
