//! Data sets that are loaded once and restored by copy for every later start of a server.
//!
//! * [`SavedDataSet`]: the data folder of a cleanly stopped server, kept until the end of the run;
//!   created by [`crate::server::RunningServer::stop_and_save`] and used by
//!   [`crate::server::StartOptions::data`];
//! * [`DataSetKey`]: which starts may share it; [`loader`]: the server that loads it;
//! * [`copy_folder`]: the copying.
//!
//! Every start from a saved data set has the same state: its own files, on disk and not in the page
//! cache, an empty buffer pool (lists of pages to be loaded at start are left out), and no binary
//! log of the load.

mod copy;

pub(crate) use copy::copy_into;
pub use copy::{Copied, copy_folder};

use crate::engine::queries;
use crate::error::HostError;
use crate::folder::{Folder, Kind, no_name};
use crate::settings::listed_name;
use crate::supervisor::{Access, Owner, Supervisor, SupervisorCommand};
use dyno_model::plan::{ManagedServer, ServerKind};
use dyno_model::secret::Secret;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

/// Files of a data folder that list the pages in memory, or identify a server.
const LEFT_OUT: [&str; 4] = ["ib_buffer_pool", "auto.cnf", "autoprewarm.blocks", "postmaster.opts"];

/// What two starts must have in common to share a saved data set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataSetKey {
    kind: ServerKind,
    version: String,
    fingerprint: String,
    shaping: BTreeMap<String, String>,
}

impl DataSetKey {
    /// The key of a data set, given by its fingerprint, on a server of this version with these
    /// settings.
    #[must_use]
    pub fn new(server: &ManagedServer, version: &str, fingerprint: &str) -> Self {
        let engine = server.kind.engine();
        let settings =
            server.settings.iter().map(|(name, value)| (listed_name(engine, name), value.clone()));
        Self {
            kind: server.kind,
            version: version.to_owned(),
            fingerprint: fingerprint.to_owned(),
            shaping: settings.filter(|(name, _)| is_shaping(server.kind, name)).collect(),
        }
    }
}

fn is_shaping(kind: ServerKind, listed: &str) -> bool {
    queries(kind.engine()).settings.shaping.contains(&listed)
}

/// The server that loads a data set: with the settings that all configurations share (`base`) and
/// those that shape data, but without a binary log, which would hold all rows again.
#[must_use]
pub fn loader(server: &ManagedServer, base: &ManagedServer) -> ManagedServer {
    let engine = server.kind.engine();
    let mut loader = base.clone();
    for (name, value) in &server.settings {
        if is_shaping(server.kind, &listed_name(engine, name)) {
            loader.settings.insert(name.clone(), value.clone());
        }
    }
    (queries(engine).settings.spare)(&mut loader.settings);
    loader
}

/// A loaded data folder. It is removed when this is dropped, and when dyno ends in any way.
pub struct SavedDataSet {
    supervisor: Supervisor,
    /// Its path.
    pub folder: PathBuf,
    /// Password of dyno's account on this data set.
    pub(crate) password: Secret,
    /// Disk space of its files in bytes.
    pub bytes: u64,
}

impl SavedDataSet {
    /// Takes over the data folder of a stopped server: moves it into a folder of its own next to
    /// the scratch folder.
    pub(crate) fn take(
        data: &Path,
        beside: &Path,
        owner: Option<Owner>,
        password: Secret,
        command: &SupervisorCommand,
    ) -> Result<Self, HostError> {
        let mut supervisor = Supervisor::start(command)?;
        let folder = supervisor.make_folder(beside, "dyno-data", Access::Owned(owner), &[])?;
        let take = || -> io::Result<u64> {
            let no_name = || no_name(data);
            let scratch = Folder::of(data.parent().ok_or_else(no_name)?, owner)?;
            let (name, to) = (data.file_name().ok_or_else(no_name)?, Folder::of(&folder, owner)?);
            // Checks that the data folder is the server's own folder, before and after it is moved.
            drop(scratch.folder(name)?.checked(owner)?);
            scratch.rename(name, &to, "data")?;
            let moved = to.folder("data")?.checked(owner)?;
            LEFT_OUT.iter().try_for_each(|name| moved.remove_file(name))?;
            allocated(&moved)
        };
        let bytes = take().map_err(|error| uncopied(data, error))?;
        Ok(Self { supervisor, folder: folder.join("data"), password, bytes })
    }

    /// Removes the data set; returns what failed.
    #[must_use]
    pub fn remove(mut self) -> Vec<String> {
        self.supervisor.finish()
    }
}

/// The error of a data set that could not be saved or restored.
pub(crate) fn uncopied(path: &Path, reason: impl Display) -> HostError {
    HostError::of_files(format!(
        "cannot copy the loaded data set {}: {reason}\n\
         hint: make room, or name a larger disk as server.scratch, or load it each time with \
         design.data_set = \"load\"",
        path.display()
    ))
}

/// Disk space of a folder's files in bytes, without holes.
fn allocated(folder: &Folder) -> io::Result<u64> {
    let mut bytes = 0;
    for (name, kind) in folder.entries()? {
        bytes += match kind {
            Kind::Folder => allocated(&folder.folder(&name)?)?,
            _ => folder.allocated(&name)?,
        };
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn server(settings: &[(&str, &str)]) -> ManagedServer {
        let settings =
            settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        ManagedServer { settings: settings.collect(), ..ManagedServer::new(ServerKind::Mysql) }
    }

    #[test]
    fn starts_share_a_data_set_unless_a_setting_shapes_its_files() {
        let key = |settings: &[(&str, &str)]| DataSetKey::new(&server(settings), "9.7", "sbtest");
        assert_eq!(
            key(&[("innodb_buffer_pool_size", "4G")]),
            key(&[("innodb_buffer_pool_size", "8G")])
        );
        assert_eq!(key(&[("innodb-page-size", "8k")]), key(&[("innodb_page_size", "8k")]));
        assert_ne!(key(&[("innodb_page_size", "8k")]), key(&[]));
        assert_ne!(key(&[]), DataSetKey::new(&server(&[]), "9.8", "sbtest"));
        assert_ne!(key(&[]), DataSetKey::new(&server(&[]), "9.7", "rush"));
    }

    #[test]
    fn a_loader_has_the_shared_and_the_shaping_settings_but_no_binary_log() {
        let base = server(&[("max_connections", "99"), ("log-bin", "on")]);
        let server = server(&[
            ("max_connections", "99"),
            ("log-bin", "on"),
            ("innodb_page_size", "8k"),
            ("sync_binlog", "1"),
        ]);
        let loader = loader(&server, &base);
        let names: Vec<&str> = loader.settings.keys().map(String::as_str).collect();
        assert_eq!(names, ["innodb_page_size", "max_connections", "skip_log_bin"]);
    }

    /// An account for the tests' files that is neither root nor exists on this machine.
    const STRANGER: Owner = Owner { user: 4_000_000_000, group: 4_000_000_000 };

    #[test]
    fn a_link_in_place_of_a_data_folder_is_rejected() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("SKIPPED: only root takes folders of others over");
            return;
        }
        let (scratch, own) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(own.path().join("auto.cnf"), "root's").unwrap();
        let theirs = scratch.path().join("dyno-mysql-1-0");
        fs::create_dir(&theirs).unwrap();
        std::os::unix::fs::symlink(own.path(), theirs.join("data")).unwrap();
        std::os::unix::fs::chown(&theirs, Some(STRANGER.user), Some(STRANGER.group)).unwrap();
        let supervisor = dyno_testkit::supervisor_command();
        let supervisor =
            SupervisorCommand { program: supervisor.program, arguments: supervisor.arguments };
        let taken = SavedDataSet::take(
            &theirs.join("data"),
            scratch.path(),
            Some(STRANGER),
            Secret::new("x"),
            &supervisor,
        );
        assert!(taken.is_err(), "the link was taken for a data folder");
        assert!(own.path().join("auto.cnf").exists(), "what lies behind it was touched");
    }
}
