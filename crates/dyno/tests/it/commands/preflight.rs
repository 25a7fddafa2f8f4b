//! Experiments that cannot run here are rejected before anything is started or written.

use crate::program::Bench;
use crate::shop::ask;
use dyno_drivers::null::server::{Options, Protocol, serve};
use dyno_model::plan::ServerKind;
use dyno_model::target::{Endpoint, Engine, Target};
use dyno_testkit::require_server;
use std::net::TcpListener;

fn spec(system: &str, clients: u32) -> String {
    format!(
        "title = \"t\"\n[[system]]\nname = \"Target\"\n{system}\n[workload]\nkind = \"rush\"\n\
         [load]\nclients = {clients}\ntransactions = 1_000_000\n"
    )
}

/// Runs and plans a spec; both must refuse it with exit code 4, these words, and nothing left
/// behind.
fn assert_refused(system: &str, clients: u32, words: &[&str]) {
    let bench = Bench::new();
    bench.file("x.toml", spec(system, clients));
    let ran = bench.dyno(&["run", "x.toml"]);
    assert!(ran.code == 4 && ran.stdout.is_empty(), "{system}: {ran}");
    assert!(words.iter().all(|word| ran.stderr.contains(word)), "{system}: {ran}");
    let planned = bench.dyno(&["plan", "x.toml"]);
    assert!(planned.code == 4 && planned.stderr.is_empty(), "{system}: {planned}");
    assert!(words.iter().all(|word| planned.stdout.contains(word)), "{system}: {planned}");
    assert_eq!(bench.names(), ["x.toml"]);
}

#[test]
fn a_port_where_nobody_listens_is_named() {
    for scheme in ["mysql", "postgres"] {
        let closed = dyno_testkit::ClosedPort::new();
        let address = closed.address();
        let url = format!("url = \"{scheme}://bench@{address}/bench\"");
        assert_refused(&url, 1, &["Target", &address.to_string(), "refused"]);
    }
}

#[test]
fn tables_of_others_that_a_permitted_run_replaces_are_named() {
    let bench = Bench::new();
    let file = bench.path().join("shop.db");
    let target = Target::new(Engine::Sqlite, Endpoint::File(file));
    ask(&target, "CREATE TABLE rush (precious TEXT)");
    ask(&target, "CREATE TABLE customers (name TEXT)");
    bench.file("x.toml", spec("url = \"sqlite:shop.db\"", 1));
    let planned = bench.dyno(&["plan", "x.toml", "--yes-write-to", "shop.db"]);
    let reported = "the tables rush of the database shop.db were not created by dyno";
    assert!(planned.stdout.contains(reported), "{planned}");
    assert!(!planned.stdout.contains("customers"), "{planned}");
}

#[test]
fn a_host_that_does_not_exist_is_named() {
    assert_refused(
        "url = \"mysql://bench@no-such-host.invalid/bench\"",
        1,
        &["Target", "no-such-host.invalid"],
    );
}

#[test]
fn a_server_that_accepts_and_says_nothing_does_not_hold_dyno_up() {
    for scheme in ["mysql", "postgres"] {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = silent.local_addr().unwrap();
        let system =
            format!("url = \"{scheme}://bench@{address}/bench\"\nconnect_timeout = \"200ms\"");
        assert_refused(&system, 1, &["Target", &address.to_string()]);
    }
}

#[test]
fn a_server_of_another_kind_is_thought_of() {
    let server = serve(Protocol::Mysql, ([127, 0, 0, 1], 0).into(), Options::default())
        .expect("a free port");
    let system = format!("url = \"postgres://bench@{}/bench\"", server.local_addr);
    assert_refused(
        &system,
        1,
        &["Target", "does not follow the protocol", "another kind of server"],
    );
    // PostgreSQL waits for its client to speak first, and so does MySQL's client.
    let server = serve(Protocol::Postgres, ([127, 0, 0, 1], 0).into(), Options::default())
        .expect("a free port");
    let system =
        format!("url = \"mysql://bench@{}/bench\"\nconnect_timeout = \"200ms\"", server.local_addr);
    assert_refused(&system, 1, &["Target", "another kind of server"]);
}

#[test]
fn a_missing_password_variable_is_named() {
    let system =
        "url = \"mysql://bench@127.0.0.1:1/bench\"\npassword_env = \"DYNO_TEST_NO_SUCH_VARIABLE\"";
    assert_refused(system, 1, &["Target", "DYNO_TEST_NO_SUCH_VARIABLE"]);
    let system = "url = \"mysql://bench@127.0.0.1:1/bench\"\npassword_file = \"no/such/file\"";
    assert_refused(system, 1, &["Target", "no/such/file"]);
}

#[test]
fn programs_that_are_not_where_they_were_reported_to_be_are_named() {
    for kind in ["mariadb", "mysql", "postgres"] {
        let system = format!("server = {{ kind = \"{kind}\", bin_dir = \"no/such/folder\" }}");
        assert_refused(&system, 1, &["Target", "no/such/folder"]);
    }
}

#[test]
fn fewer_connections_than_clients_are_too_few() {
    let system = "server = { kind = \"mariadb\", settings = { max_connections = 20 } }";
    assert_refused(system, 50, &["Target", "needs 60 connections", "max_connections is set to 20"]);
}

#[test]
fn out_of_range_settings_are_reported_before_anything_starts() {
    for kind in [ServerKind::Mariadb, ServerKind::Mysql] {
        if require_server(kind).is_none() {
            continue;
        }
        let system = format!(
            "server = {{ kind = \"{kind}\", settings = {{ innodb_flush_log_at_trx_commit = 7 }} }}"
        );
        assert_refused(&system, 1, &["Target", "innodb_flush_log_at_trx_commit", "7 adjusted to"]);
    }
}

#[test]
fn a_scratch_folder_closed_to_the_server_user_fails_preflight() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    if std::fs::metadata("/proc/self").unwrap().uid() != 0 {
        eprintln!("SKIPPED: only root starts servers as another user");
        return;
    }
    let closed = tempfile::tempdir().unwrap();
    std::fs::set_permissions(closed.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    let inner = closed.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    for kind in [ServerKind::Mariadb, ServerKind::Mysql, ServerKind::Postgres] {
        if require_server(kind).is_some() {
            let system = format!("server = {{ kind = \"{kind}\", scratch = {inner:?} }}");
            let reason = format!("may not enter {}", closed.path().display());
            assert_refused(&system, 1, &["Target", &reason]);
        }
    }
}

#[test]
fn a_missing_storage_command_is_reported_before_anything_starts() {
    if require_server(ServerKind::Mariadb).is_none() {
        return;
    }
    for key in ["before", "after"] {
        let system = format!(
            "server = {{ kind = \"mariadb\" }}\n[[storage]]\nname = \"fast\"\ndata = \"/tmp\"\n\
             {key} = \"no-such-program --now\"\n[factors]\nstorage = [\"fast\"]\n"
        );
        assert_refused(&system, 1, &["storage fast", key, "no-such-program"]);
    }
}

/// What a command says where this process may have so many files open, and its exit code.
fn with_open_files(bench: &Bench, limit: u32, arguments: &[&str]) -> (String, i32) {
    let dyno = bench.command(arguments);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &format!("ulimit -n {limit} && exec \"$0\" \"$@\"")]);
    shell
        .arg(dyno.get_program())
        .args(dyno.get_args())
        .current_dir(bench.path())
        .env("TMPDIR", bench.path());
    let output = shell.output().expect("a shell is there");
    let text = [output.stdout, output.stderr].concat();
    (String::from_utf8_lossy(&text).into_owned(), output.status.code().unwrap_or(-1))
}

#[test]
fn clients_are_refused_only_if_the_open_file_limit_is_too_low() {
    let bench = Bench::new();
    // Each client of a null server needs none, of a server one, of SQLite two at most.
    for (kind, clients, is_possible) in [
        ("null", 5000, true),
        ("mariadb", 230, true),
        ("mariadb", 240, false),
        ("sqlite", 115, true),
        ("sqlite", 120, false),
    ] {
        if kind == "mariadb" && require_server(ServerKind::Mariadb).is_none() {
            continue;
        }
        bench.file("x.toml", spec(&format!("server = {{ kind = \"{kind}\" }}"), clients));
        let (said, code) = with_open_files(&bench, 300, &["plan", "x.toml"]);
        assert_eq!(
            said.contains("open files"),
            !is_possible,
            "{clients} clients of {kind}: {said}"
        );
        assert!(is_possible != (code == 4) || !said.contains("open files"), "{kind}: {said}");
    }
}

#[test]
fn pgbench_and_sysbench_know_the_same_limit_of_files() {
    let bench = Bench::new();
    let closed = dyno_testkit::ClosedPort::new();
    let port = closed.address().port().to_string();
    let pgbench = ["pgbench", "-h", "127.0.0.1", "-p", &port, "-U", "x", "-c", "300", "-n", "x"];
    let (said, code) = with_open_files(&bench, 300, &pgbench);
    assert!(said.contains("need at least 364 open files, but system limit is 300"), "{said}");
    assert_eq!(code, 1, "{said}");
    let host = ["sysbench", "oltp_point_select", "--mysql-host=127.0.0.1", "--threads=300"];
    let port = format!("--mysql-port={port}");
    let (said, code) = with_open_files(&bench, 300, &[&host[..], &[&port, "run"]].concat());
    assert!(said.contains("300 clients need up to 364 open files"), "{said}");
    assert_eq!(code, 1, "{said}");
}

#[test]
fn a_scratch_folder_must_be_there() {
    let system = "server = { kind = \"sqlite\", scratch = \"no/such/folder\" }";
    assert_refused(system, 1, &["Target", "no/such/folder"]);
}

/// A file system of 100 KiB; gone with the value.
struct TinyDisk(std::path::PathBuf);

impl TinyDisk {
    /// `None` where this user may not mount.
    fn mount(at: std::path::PathBuf) -> Option<Self> {
        std::fs::create_dir(&at).expect("a folder can be made");
        let mounted = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=100k", "tmpfs"])
            .arg(&at)
            .status();
        mounted.is_ok_and(|status| status.success()).then_some(Self(at))
    }
}

impl Drop for TinyDisk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_disk_too_small_for_the_results_is_refused_before_anything_runs() {
    let bench = Bench::new();
    let Some(disk) = TinyDisk::mount(bench.path().join("disk")) else {
        eprintln!("SKIPPED: only root may mount a small file system");
        return;
    };
    bench.file("small.toml", spec("server = { kind = \"sqlite\" }", 1));
    let ended = bench.dyno(&["run", "small.toml", "--out", "disk/results"]);
    assert_eq!(ended.code, 4, "{ended}");
    assert!(ended.stderr.contains("free") && ended.stderr.contains("free some space"), "{ended}");
    assert_eq!(std::fs::read_dir(&disk.0).unwrap().count(), 0, "nothing is half-written");
}
