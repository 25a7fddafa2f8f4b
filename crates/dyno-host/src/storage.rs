//! Storage as a factor: folders named by the user, prepared and cleared by the user's commands.
//!
//! The commands run in a shell, as dyno's user, in dyno's working directory, with `DYNO_STORAGE`,
//! `DYNO_DATA` and `DYNO_LOG_FOLDER` in their environment. The supervisor runs them: `after` is
//! registered before `before` starts, so it runs in any case, when the server has stopped and its
//! folders are removed.

use crate::data_set::copy_into;
use crate::error::HostError;
use crate::folder::{Folder, Kind, give};
use crate::shell;
use crate::supervisor::{Last, Launch, Owner, Supervisor};
use dyno_model::plan::Storage;
use dyno_model::printable::file_name;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Runs the command `before` and registers `after` with the supervisor. `logs` is the folder for
/// their output.
///
/// # Errors
/// When the command fails, or the storage's folders do not exist after it.
pub fn prepare(
    supervisor: &mut Supervisor,
    storage: &Storage,
    logs: Option<&Path>,
) -> Result<(), HostError> {
    let name = &storage.name;
    let log = |which: &str| match logs {
        Some(folder) => folder.join(format!("storage-{}-{which}.log", file_name(name))),
        None => PathBuf::from("/dev/null"),
    };
    let limit = Duration::from(storage.time_limit);
    if let Some(command) = &storage.after {
        supervisor.run_at_end(Last {
            launch: launch(storage, command, log("after")),
            limit,
            what: format!("the command `after` of storage {name:?}"),
        })?;
    }
    if let Some(command) = &storage.before {
        let launch = launch(storage, command, log("before"));
        shell::run_in(
            supervisor,
            launch,
            &format!("storage {name:?}: the command `before`"),
            limit,
        )?;
    }
    for path in [Some(&storage.data), storage.log.as_ref()].into_iter().flatten() {
        let reason = match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => continue,
            Ok(_) => "it is not a folder".to_owned(),
            Err(error) => error.to_string(),
        };
        let path = path.display();
        return Err(HostError::new(format!(
            "storage {name:?}: cannot use the folder {path}: {reason}"
        )));
    }
    Ok(())
}

fn launch(storage: &Storage, command: &str, log: PathBuf) -> Launch {
    let text = |path: &Path| path.display().to_string();
    let environment = vec![
        ("DYNO_STORAGE".to_owned(), storage.name.clone()),
        ("DYNO_DATA".to_owned(), text(&storage.data)),
        ("DYNO_LOG_FOLDER".to_owned(), text(storage.log.as_ref().unwrap_or(&storage.data))),
    ];
    // The supervisor creates private files by default; the server's user must be able to enter the
    // folders that these commands create.
    shell::launch(&format!("umask 022\n{command}"), environment, log)
}

/// The transaction log of a kind of server, below its data folder.
pub(crate) enum TransactionLog {
    /// Files and folders with certain names. An option tells the server their location.
    Files(fn(&str) -> bool),
    /// A folder, which may be a link.
    Folder {
        name: &'static str,
        /// Its name in the other location.
        elsewhere: &'static str,
    },
}

/// Moves the transaction log of a copied data folder to the location in the storage. `folder` is an
/// empty folder of the server's.
pub(crate) fn move_log(
    log: &TransactionLog,
    data: &Path,
    folder: &Path,
    owner: Option<Owner>,
) -> io::Result<()> {
    let (from, to) = (Folder::of(data, owner)?, Folder::of(folder, owner)?);
    match *log {
        TransactionLog::Folder { name, elsewhere } => {
            move_entry(&from, OsStr::new(name), &to, OsStr::new(elsewhere), owner)?;
            from.link(&folder.join(elsewhere), name)
        }
        TransactionLog::Files(is_log) => {
            for (name, _) in from.entries()? {
                if name.to_str().is_some_and(is_log) {
                    move_entry(&from, &name, &to, &name, owner)?;
                }
            }
            Ok(())
        }
    }
}

/// Moves a file or folder of the server's, even to another file system.
fn move_entry(
    from: &Folder,
    name: &OsStr,
    to: &Folder,
    new: &OsStr,
    owner: Option<Owner>,
) -> io::Result<()> {
    match from.rename(name, to, new) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {}
        other => return other,
    }
    if from.kind(name)? == Kind::Folder {
        copy_into(from.folder(name)?.checked(owner)?, to, new.to_owned(), owner)?;
        from.remove_all(name)
    } else {
        let mut source = from.read(name, owner)?;
        let mut copy = to.create(new, source.metadata()?.permissions().mode() & 0o7777)?;
        io::copy(&mut source, &mut copy)?;
        give(&copy, owner)?;
        from.remove_file(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_can_be_moved_to_another_file_system() {
        let memory = Path::new("/dev/shm");
        let data = tempfile::tempdir().unwrap();
        let log = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }
            .unwrap();
        fs::write(data.path().join("ib_logfile0"), "redo").unwrap();
        fs::create_dir(data.path().join("#innodb_redo")).unwrap();
        fs::write(data.path().join("#innodb_redo/1"), "more").unwrap();
        let redo = TransactionLog::Files(|name| name != "ibdata1");
        move_log(&redo, data.path(), log.path(), None).unwrap();
        assert_eq!(fs::read(log.path().join("ib_logfile0")).unwrap(), b"redo");
        assert_eq!(fs::read(log.path().join("#innodb_redo/1")).unwrap(), b"more");
        assert_eq!(fs::read_dir(data.path()).unwrap().count(), 0);
    }
}
