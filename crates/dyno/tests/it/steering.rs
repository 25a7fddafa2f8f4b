//! Systems that run elsewhere, steered by commands: settings as factors, restarts, and settings that are put back. The server is one that this
//! test makes, started and restarted by PostgreSQL's own `pg_ctl`, as a service manager would.

use crate::program::{Bench, events};
use dyno_model::event::Event;
use dyno_model::plan::ServerKind;
use dyno_testkit::require_server;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A PostgreSQL of its own, which ends with the test.
struct Postgres {
    folder: tempfile::TempDir,
    programs: PathBuf,
    port: u16,
}

impl Postgres {
    fn new() -> Option<Self> {
        require_server(ServerKind::Postgres)?;
        let binary = dyno_host::server::locate(ServerKind::Postgres, None).expect("it is here");
        let programs = binary.program.parent().expect("a folder").to_owned();
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .expect("the system does it")
            .local_addr()
            .expect("the system does it")
            .port();
        let it = Self { folder: tempfile::tempdir().expect("the system does it"), programs, port };
        let data = it.data();
        let shell = format!(
            "set -e\nchmod 755 '{folder}'\nmkdir '{data}'\n[ $(id -u) != 0 ] || chown postgres '{data}'\n\
             {initdb} -D '{data}' -A trust -U bench --no-sync >/dev/null\n\
             echo \"include_if_exists = 'dyno.conf'\" >> '{data}/postgresql.conf'\n\
             {ctl} -w start -l '{data}/log' -o '-p {port} -k {data} -h 127.0.0.1' >/dev/null\n",
            folder = it.folder.path().display(),
            data = data.display(),
            initdb = it.command("initdb"),
            ctl = it.ctl(),
        );
        let status = Command::new("sh").args(["-c", &shell]).status().expect("the system does it");
        assert!(status.success(), "{status}");
        Some(it)
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// One of its programs, which root must not run.
    fn command(&self, program: &str) -> String {
        let path = self.programs.join(program);
        let is_root = Command::new("id").arg("-u").output().is_ok_and(|it| it.stdout == b"0\n");
        format!("{}{}", if is_root { "runuser -u postgres -- " } else { "" }, path.display())
    }

    fn ctl(&self) -> String {
        format!("{} -D '{}'", self.command("pg_ctl"), self.data().display())
    }

    /// What gives it settings: a file that its configuration includes.
    fn apply(&self, bench: &Bench) -> PathBuf {
        let configuration = self.data().join("dyno.conf");
        let file = configuration.display();
        let script = format!(
            "#!/bin/sh\nset -e\nprintf '%s' \"$DYNO_SETTINGS\" | sed \"s/=\\(.*\\)/ = '\\1'/\" > '{file}'\nchmod 644 '{file}'\n\
             echo \"$DYNO_SYSTEM: $DYNO_SETTING_SHARED_BUFFERS\" >> '{}'\n",
            bench.path().join("applied").display()
        );
        let path = bench.file("apply.sh", script);
        assert!(Command::new("chmod").arg("755").arg(&path).status().expect("the system does it").success());
        path
    }

    fn spec(&self, steering: &str, levels: &str) -> String {
        format!(
            "title = \"t\"\n[[system]]\nname = \"Shop\"\nurl = \"postgres://bench@127.0.0.1:{}/postgres\"\nsteering = {{ {steering} }}\n\
             [workload]\nkind = \"rush\"\nrows = 10\n[load]\nclients = 2\ntransactions = 20\n\
             [factors]\n{levels}\n[design]\nblocks = 2\n",
            self.port
        )
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let stop = format!("{} -m immediate -w stop >/dev/null", self.ctl());
        let _ = Command::new("sh").args(["-c", &stop]).status();
    }
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

#[test]
fn settings_of_a_server_that_others_started_are_varied_read_back_and_put_back() {
    let bench = Bench::new();
    let Some(postgres) = Postgres::new() else { return };
    let apply = postgres.apply(&bench);
    let steering = format!(
        "apply = \"{}\", restart = \"{} -w -l '{}' restart\"",
        apply.display(),
        postgres.ctl(),
        postgres.data().join("log").display()
    );
    bench.file(
        "spec.toml",
        postgres.spec(&steering, "\"server.settings.shared_buffers\" = [\"16MB\", \"32MB\"]"),
    );
    let ended = bench.dyno(&["run", "spec.toml", "--out", "r"]);
    assert!(ended.is_done(), "{ended}");
    let mut found: Vec<String> = Vec::new();
    for event in events(&bench.path().join("r")) {
        if let Event::SystemReady { settings, start, .. } = event {
            found.push(settings["shared_buffers"].clone());
            assert!(start.is_some(), "how long it took is written down");
        }
    }
    let count = |value: &str| found.iter().filter(|it| *it == value).count();
    assert_eq!((found.len(), count("16MB"), count("32MB")), (4, 2, 2), "each level in each block: {found:?}");
    // PostgreSQL's own default is what it had.
    let applied = text(&bench.path().join("applied"));
    assert_eq!(applied.lines().count(), 5, "{applied}");
    assert_eq!(applied.lines().last(), Some("Shop: 128MB"), "{applied}");
    assert!(text(&postgres.data().join("dyno.conf")).contains("shared_buffers = '128MB'"));
    let starts = || text(&postgres.data().join("log")).matches("ready to accept connections").count();
    assert_eq!(starts(), 6, "the first, one for each whole plot, and the last with what it had");

    // Without anything to apply, each block has a fresh start all the same.
    let restart =
        format!("restart = \"{} -w -l '{}' restart\"", postgres.ctl(), postgres.data().join("log").display());
    bench.file("blocks.toml", postgres.spec(&restart, "\"workload.variant\" = [\"in-place\"]"));
    let ended = bench.dyno(&["run", "blocks.toml", "--out", "b"]);
    assert!(ended.is_done(), "{ended}");
    assert_eq!(starts(), 8);
}

#[test]
fn what_does_not_take_effect_or_fails_is_told_in_the_servers_words_and_the_commands() {
    let bench = Bench::new();
    let Some(postgres) = Postgres::new() else { return };
    let run = |steering: &str| {
        bench.file("spec.toml", postgres.spec(steering, "\"server.settings.shared_buffers\" = [\"16MB\"]"));
        let _ = std::fs::remove_dir_all(bench.path().join("r"));
        bench.dyno(&["run", "spec.toml", "--out", "r"])
    };
    // It applies nothing.
    let ended = run("apply = \"true\"");
    assert_ne!(ended.code, 0, "{ended}");
    let told = "setting \"shared_buffers\" did not take effect: asked for \"16MB\", the server has \"128MB\"";
    assert!(ended.stderr.contains(told), "{ended}");
    let ended = run("apply = \"echo no such server; exit 3\"");
    assert!(
        ended.stderr.contains("the command `apply`") && ended.stderr.contains("no such server"),
        "{ended}"
    );
    let ended = run("apply = \"no-such-program --now\"");
    assert!(
        ended.stderr.contains("the command `apply` runs no-such-program, which is not on this machine"),
        "{ended}"
    );
    // It ends the server and does not start it.
    let apply = postgres.apply(&bench);
    let stop = format!("{} -m fast -w stop >/dev/null", postgres.ctl());
    let ended = run(&format!("apply = \"{}\", restart = \"{stop}\", time_limit = \"3s\"", apply.display()));
    assert!(
        ended.stderr.contains("it was not ready within 3 s: cannot connect to postgres://bench@127.0.0.1"),
        "{ended}"
    );
}
