//! Proof that dyno created something: a secret key of this account, notes of databases that are
//! being created, and locked files of the runs that have not ended.
//!
//! Anybody who may write to a database can write a marker and list their own tables in it. So each
//! row of a marker is signed with a key that only this account can read, and rows without a valid
//! signature are ignored. The key, the notes and the locked files are in `$XDG_STATE_HOME/dyno`
//! (`~/.local/state/dyno`). Where that folder is not writable, the key exists only as long as the
//! process, and tables that it leaves when it is killed are not recognised later.
//!
//! Whoever can verify a signature sees the locked files too. So the run that a signed row names is
//! known to have ended or not, whichever node of a cluster is asked. The kernel releases the lock
//! of a process that ends; one that is slow or stopped keeps it.

use crate::random;
use dyno_model::failure::OperationFailure;
use dyno_model::hex::hex;
use ring::hmac;
use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Size of a key in bytes.
const KEY_BYTES: usize = 32;
/// Only this account may read a file of this mode.
const PRIVATE: u32 = 0o600;
/// Folder of the locked files, each named after its run.
const RUNS: &str = "runs";
/// Length of a run's name in bytes.
const RUN_BYTES: usize = 16;

/// The name of this process in markers.
pub(crate) fn this_run() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| hex(&random::bytes::<RUN_BYTES>()))
}

/// Whether the run that a signed row names has not ended.
pub(crate) fn is_running(run: &str) -> bool {
    run == this_run() || folder().is_some_and(|folder| is_locked(&folder.join(RUNS).join(run)))
}

/// The signature of these texts with this account's key.
pub(crate) fn signature(texts: &[&str]) -> String {
    static KEY: OnceLock<(hmac::Key, Option<File>)> = OnceLock::new();
    let (key, _lock) = KEY.get_or_init(|| {
        // A run that nobody can recognise as running must not sign with the key of the account.
        let stored = folder().and_then(|folder| {
            let lock = lock_run(&folder, this_run()).ok()?;
            Some((kept_key(&folder).ok()?, lock))
        });
        let (key, lock) =
            stored.map_or_else(|| (random::bytes(), None), |(key, lock)| (key, Some(lock)));
        (hmac::Key::new(hmac::HMAC_SHA256, &key), lock)
    });
    let mut context = hmac::Context::with_key(key);
    for text in texts {
        context.update(&(text.len() as u64).to_be_bytes());
        context.update(text.as_bytes());
    }
    hex(context.sign().as_ref())
}

/// A note that a database is being created. It remains when dyno is killed before the database has
/// a marker.
pub struct CreationNote(Option<PathBuf>);

impl CreationNote {
    /// Writes the note. Without a folder for notes, nothing is written.
    pub(crate) fn begin(location: &str) -> Self {
        let note = |folder: PathBuf| {
            let path = note_path(&folder, location);
            make_folder(path.parent()?).ok()?;
            match dyno_files::create_new(&path, PRIVATE) {
                Ok(mut file) => {
                    file.write_all(location.as_bytes()).and_then(|()| file.sync_all()).ok()?;
                }
                // A killed run has left it.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(_) => return None,
            }
            Some(path)
        };
        Self(folder().and_then(note))
    }

    /// The note of a database whose creation was interrupted.
    pub(crate) fn left(location: &str) -> Option<Self> {
        let path = note_path(&folder()?, location);
        path.exists().then_some(Self(Some(path)))
    }

    /// Removes the note if the server rejected the creation. Without an answer, the database may
    /// exist.
    pub(crate) fn end_if_refused(self, failure: &OperationFailure) {
        if failure.is_answered() {
            self.end();
        }
    }

    /// Removes the note: the database has its marker, or has been removed.
    pub(crate) fn end(self) {
        if let Some(path) = self.0 {
            let _ = fs::remove_file(path);
        }
    }
}

fn note_path(folder: &Path, location: &str) -> PathBuf {
    folder.join("creating").join(signature(&["creating", location]))
}

/// The folder of this account, which may not exist yet.
fn folder() -> Option<PathBuf> {
    let absolute =
        |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state =
        absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))?;
    Some(state.join("dyno"))
}

fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Lets a test act as another run, until the file is dropped.
#[cfg(test)]
pub(crate) fn act_as_running(run: &str) -> File {
    lock_run(&folder().unwrap(), run).unwrap()
}

/// Creates and locks the file of a run; removes those of runs that have ended.
fn lock_run(folder: &Path, run: &str) -> io::Result<File> {
    let runs = folder.join(RUNS);
    make_folder(&runs)?;
    for ended in fs::read_dir(&runs)?.flatten().filter(|file| !is_locked(&file.path())) {
        let _ = fs::remove_file(ended.path());
    }
    // Under the name that others look for, it is locked from the beginning.
    let fresh = folder.join(format!("run-{run}"));
    let file = dyno_files::create_new(&fresh, PRIVATE)?;
    file.try_lock().map_err(io::Error::from).and_then(|()| fs::rename(&fresh, runs.join(run)))?;
    Ok(file)
}

/// Whether a process holds the lock of this file. One that cannot be opened counts as locked.
fn is_locked(path: &Path) -> bool {
    match dyno_files::open(path, 0) {
        Ok(file) => file.into_file().try_lock_shared().is_err(),
        Err(error) => error.kind() != ErrorKind::NotFound,
    }
}

/// The key in a folder, created if there is none. When several processes create one, the first
/// wins.
fn kept_key(folder: &Path) -> io::Result<[u8; KEY_BYTES]> {
    let path = folder.join("key");
    if !path.exists() {
        make_folder(folder)?;
        let fresh = folder.join(format!("key-{}", hex(&random::bytes::<RUN_BYTES>())));
        let mut file = dyno_files::create_new(&fresh, PRIVATE)?;
        file.write_all(&random::bytes::<KEY_BYTES>()).and_then(|()| file.sync_all())?;
        let linked = fs::hard_link(&fresh, &path);
        fs::remove_file(&fresh)?;
        linked.or_else(|error| if path.exists() { Ok(()) } else { Err(error) })?;
    }
    let key = dyno_files::read(&path, KEY_BYTES as u64)?;
    key.try_into()
        .map_err(|_| io::Error::new(ErrorKind::InvalidData, "the key file has the wrong length"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_key_is_created_once_and_readable_only_by_its_account() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("dyno");
        let keys: Vec<_> = std::thread::scope(|scope| {
            let make = || scope.spawn(|| kept_key(&folder).unwrap());
            let all = [make(), make(), make(), make()];
            all.into_iter().map(|it| it.join().unwrap()).collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0] && *key != [0; KEY_BYTES]));
        let files: Vec<_> = fs::read_dir(&folder).unwrap().map(|file| file.unwrap()).collect();
        let [key] = &files[..] else { panic!("{files:?}") };
        assert_eq!(key.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_run_counts_as_running_until_its_process_ends() {
        let folder = tempfile::tempdir().unwrap();
        let file = |run: &str| folder.path().join(RUNS).join(run);
        let lock = lock_run(folder.path(), "slow").unwrap();
        let _other = lock_run(folder.path(), "other").unwrap();
        assert!(is_locked(&file("slow")), "the lock of one that is slow is not taken from it");
        drop(lock);
        assert!(!is_locked(&file("slow")) && is_locked(&file("other")));
        let _third = lock_run(folder.path(), "third").unwrap();
        assert!(!file("slow").exists() && file("other").exists(), "only what ended is removed");
        assert!(!is_locked(&file("slow")));
    }

    #[test]
    fn a_signature_separates_its_texts() {
        assert_eq!(signature(&["a", "bc"]), signature(&["a", "bc"]));
        assert_ne!(signature(&["a", "bc"]), signature(&["ab", "c"]));
    }
}
