//! Files planted by a server's user where root works: links to files of root, and pipes without a
//! writer. Root follows none of the links and waits for none of the pipes.

use crate::{open_folder, supervisor};
use dyno_host::server::{StartOptions, start};
use dyno_model::plan::{ManagedServer, ServerKind};
use dyno_testkit::{TempDir, folder_holds, processes_with};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// All names of files that dyno has ever kept for a server.
const NAMES: &str =
    "server.log initialise.log password database.sql accounts.sql tmp proxy.cfg proxy.log";

/// Programs of a server that plant files as its user and then end.
fn server_that_plants(programs: &Path, scratch: &Path, plant: &str) -> ManagedServer {
    let script = |name: &str, text: &str| {
        let program = programs.join(name);
        fs::write(&program, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    };
    let version = "case \"$*\" in *--version) echo 'postgres (PostgreSQL) 99.1'; exit;; *--single*) exit;; esac";
    script("postgres", &format!("{version}\necho 'FATAL:  no'; exit 3"));
    // In every writable folder of the scratch folder, including itself.
    script(
        "initdb",
        &format!(
            "for folder in {0} {0}/* {0}/*/*; do [ -d \"$folder\" ] && for name in {NAMES}; do\n\
             at=\"$folder/$name\"; rm -rf \"$at\" 2>/dev/null; {plant}\ndone; done; exit 0",
            scratch.display()
        ),
    );
    ManagedServer {
        bin_dir: Some(programs.to_owned()),
        scratch: Some(scratch.to_owned()),
        ..ManagedServer::new(ServerKind::Postgres)
    }
}

/// True where the server runs as another user.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn is_root_with_servers_user() -> bool {
    let has_user = fs::read_to_string("/etc/passwd").unwrap_or_default().contains("\npostgres:");
    let is_testable = rustix::process::geteuid().is_root() && has_user;
    if !is_testable {
        eprintln!(
            "SKIPPED: only root starts servers as another user, and the user postgres is needed"
        );
    }
    is_testable
}

struct Scene {
    programs: TempDir,
    scratch: TempDir,
    logs: TempDir,
    secrets: TempDir,
}

impl Scene {
    fn new() -> Self {
        let secrets = open_folder();
        fs::write(secrets.path().join("secret"), "for root only\n").unwrap();
        fs::set_permissions(secrets.path().join("secret"), fs::Permissions::from_mode(0o600))
            .unwrap();
        Self {
            programs: open_folder(),
            scratch: open_folder(),
            logs: tempfile::tempdir().unwrap(),
            secrets,
        }
    }

    fn secret(&self) -> PathBuf {
        self.secrets.path().join("secret")
    }

    /// Starts the server that plants files; returns dyno's error.
    fn start(&self, plant: &str) -> String {
        let server = server_that_plants(self.programs.path(), self.scratch.path(), plant);
        let mut options = StartOptions::new("planted", supervisor());
        options.log_dir = Some(self.logs.path().to_owned());
        start(&server, &options).err().expect("it ends").to_string()
    }
}

#[test]
fn planted_link_to_a_root_file_is_not_written_chowned_or_copied() {
    if !is_root_with_servers_user() {
        return;
    }
    let scene = Scene::new();
    let secret = scene.secret();
    let said = scene.start(&format!("ln -s {} \"$at\" 2>/dev/null", secret.display()));
    assert_eq!(
        fs::read_to_string(&secret).unwrap(),
        "for root only\n",
        "it was written to: {said}"
    );
    let metadata = fs::metadata(&secret).unwrap();
    assert_eq!((metadata.uid(), metadata.mode() & 0o777), (0, 0o600), "it was given away");
    assert!(!said.contains("root only"), "it is shown: {said}");
    assert!(!folder_holds(scene.logs.path(), "root only"), "it was copied into the results");
    assert!(said.contains("FATAL:  no"), "the server's own log is there: {said}");
    assert!(crate::is_empty(scene.scratch.path()), "nothing is left");
}

#[test]
fn a_pipe_without_a_writer_blocks_neither_dyno_nor_its_supervisor() {
    if !is_root_with_servers_user() {
        return;
    }
    let scene = Scene::new();
    let said = scene.start("mkfifo \"$at\" 2>/dev/null");
    assert!(said.contains("FATAL:  no"), "the server's own log is there: {said}");
    assert!(crate::is_empty(scene.scratch.path()), "nothing is left");
    let marker = scene.scratch.path().to_str().unwrap();
    assert!(processes_with(marker).is_empty(), "no process is left");
}
