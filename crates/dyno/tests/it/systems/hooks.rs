//! Lifecycle hooks: settings as factors, restarts, restoration of settings, and exclusive slots.
//! The test starts, restarts and stops its server by PostgreSQL's own `pg_ctl`, as a service
//! manager would.

use crate::ends::{INTERRUPTED, RUN_INCOMPLETE, SERVER_FAILED};
use crate::program::{Bench, events, records};
use crate::running::Running;
use crate::shop::{ask, try_ask};
use dyno_model::address::Address;
use dyno_model::audit::AuditVerdict;
use dyno_model::event::{Event, Phase};
use dyno_model::plan::ServerKind;
use dyno_model::reason::Reason;
use dyno_model::record::TrialEnd;
use dyno_testkit::{require_server, wait_until};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
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
        let it = Self::stopped()?;
        it.run(&it.start(""));
        Some(it)
    }

    /// One that does not run yet.
    fn stopped() -> Option<Self> {
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
             echo \"include_if_exists = 'dyno.conf'\" >> '{data}/postgresql.conf'\n",
            folder = it.folder.path().display(),
            data = data.display(),
            initdb = it.command("initdb"),
        );
        it.run(&shell);
        Some(it)
    }

    fn run(&self, shell: &str) {
        let status = Command::new("sh").args(["-c", shell]).status().expect("the system does it");
        assert!(status.success(), "{status}: {shell}");
    }

    /// The command that starts it, with options besides.
    fn start(&self, options: &str) -> String {
        let (ctl, data, port) = (self.ctl(), self.data(), self.port);
        let data = data.display();
        format!(
            "{ctl} -w start -l '{data}/log' -o '-p {port} -k {data} -h 127.0.0.1{options}' >/dev/null"
        )
    }

    /// The command that stops it.
    fn stop(&self) -> String {
        format!("{} -m fast -w stop >/dev/null", self.ctl())
    }

    /// The command that ends it as a crash does.
    fn death(&self) -> String {
        format!("{} -m immediate -w stop >/dev/null", self.ctl())
    }

    fn url(&self) -> String {
        format!("postgres://bench@127.0.0.1:{}/postgres", self.port)
    }

    fn starts(&self) -> usize {
        text(&self.data().join("log")).matches("ready to accept connections").count()
    }

    /// True while it runs, or anything else where it would.
    fn answers(&self) -> bool {
        TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok()
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
        assert!(
            Command::new("chmod")
                .arg("755")
                .arg(&path)
                .status()
                .expect("the system does it")
                .success()
        );
        path
    }

    fn spec(&self, hooks: &str, levels: &str) -> String {
        format!(
            "title = \"t\"\n[[system]]\nname = \"Shop\"\nurl = \"{}\"\nhooks = {{ {hooks} }}\n\
             [workload]\nkind = \"rush\"\nrows = 10\n[load]\nclients = 2\ntransactions = 20\n\
             [factors]\n{levels}\n[design]\nblocks = 2\n",
            self.url()
        )
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let _ = Command::new("sh").args(["-c", &self.death()]).status();
    }
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

#[test]
fn settings_of_an_existing_server_are_varied_read_and_restored() {
    let bench = Bench::new();
    let Some(postgres) = Postgres::new() else { return };
    let apply = postgres.apply(&bench);
    let hooks = format!(
        "apply = \"{}\", restart = \"{} -w -l '{}' restart\"",
        apply.display(),
        postgres.ctl(),
        postgres.data().join("log").display()
    );
    bench.file(
        "spec.toml",
        postgres.spec(&hooks, "\"server.settings.shared_buffers\" = [\"16MB\", \"32MB\"]"),
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
    assert_eq!(
        (found.len(), count("16MB"), count("32MB")),
        (4, 2, 2),
        "each level in each block: {found:?}"
    );
    // PostgreSQL's own default is what it had.
    let applied = text(&bench.path().join("applied"));
    assert_eq!(applied.lines().count(), 5, "{applied}");
    assert_eq!(applied.lines().last(), Some("Shop: 128MB"), "{applied}");
    assert!(text(&postgres.data().join("dyno.conf")).contains("shared_buffers = '128MB'"));
    assert_eq!(
        postgres.starts(),
        6,
        "the first, one for each restart group, and the last with what it had"
    );

    // Without anything to apply, each block has a fresh start all the same.
    let restart = format!(
        "restart = \"{} -w -l '{}' restart\"",
        postgres.ctl(),
        postgres.data().join("log").display()
    );
    bench.file("blocks.toml", postgres.spec(&restart, "\"workload.variant\" = [\"in-place\"]"));
    let ended = bench.dyno(&["run", "blocks.toml", "--out", "b"]);
    assert!(ended.is_done(), "{ended}");
    assert_eq!(postgres.starts(), 8);
}

/// A run of one trial whose settings are applied, which waits for an end in its window.
fn endless(bench: &Bench, postgres: &Postgres) -> PathBuf {
    let apply = postgres.apply(bench);
    let log = postgres.data().join("log");
    let hooks = format!(
        "apply = \"{}\", restart = \"{} -w -l '{}' restart\"",
        apply.display(),
        postgres.ctl(),
        log.display()
    );
    let spec = postgres.spec(&hooks, "\"server.settings.shared_buffers\" = [\"16MB\"]");
    bench.file("endless.toml", spec.replace("transactions = 20", "duration = \"10m\""))
}

#[test]
fn settings_are_restored_whatever_ends_the_run() {
    let bench = Bench::new();
    let Some(postgres) = Postgres::new() else { return };
    endless(&bench, &postgres);
    let target = Address::of_url(&postgres.url()).target().expect("it is one");
    for signal in ["-INT", "-TERM", "-HUP", "-KILL"] {
        // Whoever runs the tests may ignore SIGHUP (nohup), and dyno would inherit that.
        let dyno = bench.command(&["run", "endless.toml", "--out", "r"]);
        let mut command = Command::new("env");
        command.arg("--default-signal=HUP").arg(dyno.get_program()).args(dyno.get_args());
        command.current_dir(bench.path()).env("TMPDIR", bench.path()).env_remove("NO_COLOR");
        let run = Running::of(&bench, command);
        run.await_phase(Phase::Measure);
        assert_eq!(ask(&target, "SHOW shared_buffers"), "16MB");
        crate::program::signal(signal, run.pid());
        let ended = run.ended();
        if signal != "-KILL" {
            assert_eq!(ended.code, INTERRUPTED, "{signal}: {ended}");
            let reported = "Shop: original settings restored: shared_buffers = 128MB";
            assert!(ended.stderr.contains(reported), "{signal}: {ended}");
        }
        let applied = || text(&bench.path().join("applied"));
        wait_until("the settings are applied", || applied().ends_with("Shop: 128MB\n"));
        let is_back = || {
            postgres.answers()
                && try_ask(&target, "SHOW shared_buffers").is_ok_and(|it| it == "128MB")
        };
        wait_until("the server has its settings", is_back);
        let noted = |event: &Event| matches!(event, Event::SettingsNoted { settings, .. } if settings["shared_buffers"] == "128MB");
        let events = events(&bench.path().join("r"));
        let position = |is_meant: &dyn Fn(&Event) -> bool| events.iter().position(is_meant);
        let ready = position(&|event| matches!(event, Event::SystemReady { .. }));
        assert!(position(&noted).is_some_and(|at| Some(at) < ready), "{signal}: {events:?}");
        assert!(bench.dyno(&["cleanup", "endless.toml"]).is_done());
        std::fs::remove_dir_all(bench.path().join("r")).expect("results of ours");
    }
}

/// Run and supervisor are both killed while settings are applied: nobody is left to restore them.
#[test]
fn a_resumed_run_restores_the_original_settings() {
    let bench = Bench::new();
    let Some(postgres) = Postgres::new() else { return };
    let hold = bench.file("hold", "");
    let apply = postgres.apply(&bench);
    let restart =
        format!("{} -w -l '{}' restart", postgres.ctl(), postgres.data().join("log").display());
    let hooks = format!(
        "apply = \"{}; {restart} >/dev/null; while [ -e '{}' ]; do sleep 0.05; done\"",
        apply.display(),
        hold.display()
    );
    bench.file(
        "spec.toml",
        postgres.spec(&hooks, "\"server.settings.shared_buffers\" = [\"16MB\"]"),
    );
    let run = Running::start(&bench, "spec.toml");
    let target = Address::of_url(&postgres.url()).target().expect("it is one");
    let has = |value: &str| try_ask(&target, "SHOW shared_buffers").is_ok_and(|it| it == value);
    wait_until("the setting is applied", || has("16MB"));
    let children = text(Path::new(&format!("/proc/{0}/task/{0}/children", run.pid())));
    let supervisors: Vec<u32> =
        children.split_whitespace().map(|it| it.parse().expect("a number")).collect();
    assert_eq!(supervisors.len(), 1, "one supervisor for all commands of a system");
    // The run first: a halted supervisor continues when its run ends, because its process
    // group becomes an orphan.
    crate::program::signal("-STOP", run.pid());
    crate::program::signal("-KILL", supervisors[0]);
    crate::program::signal("-KILL", run.pid());
    run.ended();
    std::fs::remove_file(hold).expect("it is ours");
    assert_eq!(ask(&target, "SHOW shared_buffers"), "16MB");

    let ended = bench.dyno(&["run", "--resume", "r"]);
    assert!(ended.is_done(), "{ended}");
    assert!(ended.stderr.contains("original settings restored: shared_buffers = 128MB"), "{ended}");
    assert!(has("128MB"));
    // What was restored is not restored once more.
    assert_eq!(
        dyno_store::Run::open(&bench.path().join("r")).expect("it is whole").changed_settings.len(),
        0
    );
}

#[test]
fn ineffective_settings_and_failing_hooks_are_reported() {
    let bench = Bench::new();
    let Some(postgres) = Postgres::new() else { return };
    let run = |hooks: &str| {
        bench.file(
            "spec.toml",
            postgres.spec(hooks, "\"server.settings.shared_buffers\" = [\"16MB\"]"),
        );
        let _ = std::fs::remove_dir_all(bench.path().join("r"));
        bench.dyno(&["run", "spec.toml", "--out", "r"])
    };
    // It applies nothing.
    let ended = run("apply = \"true\"");
    assert_ne!(ended.code, 0, "{ended}");
    let reported =
        "setting \"shared_buffers\" did not take effect: requested \"16MB\", in force \"128MB\"";
    assert!(ended.stderr.contains(reported), "{ended}");
    let ended = run("apply = \"echo no such server; exit 3\"");
    assert!(
        ended.stderr.contains("the command `apply`") && ended.stderr.contains("no such server"),
        "{ended}"
    );
    let ended = run("apply = \"no-such-program --now\"");
    assert!(
        ended.stderr.contains("the command `apply` runs no-such-program, which is not installed"),
        "{ended}"
    );
    // It ends the server and does not start it.
    let apply = postgres.apply(&bench);
    let stop = postgres.stop();
    let ended =
        run(&format!("apply = \"{}\", restart = \"{stop}\", time_limit = \"3s\"", apply.display()));
    assert!(
        ended
            .stderr
            .contains("it was not ready within 3 s: cannot connect to postgres://bench@127.0.0.1"),
        "{ended}"
    );
}

/// A system that is started and stopped by commands, which write down that they were run.
fn turns(bench: &Bench, postgres: &Postgres, name: &str, options: &str) -> String {
    let reported = bench.path().join("told");
    let (reported, start, stop) = (reported.display(), postgres.start(options), postgres.stop());
    let start = bench
        .file(&format!("start-{name}.sh"), format!("echo start {name} >> '{reported}'\n{start}\n"));
    let stop = bench
        .file(&format!("stop-{name}.sh"), format!("echo stop {name} >> '{reported}'\n{stop}\n"));
    format!(
        "[[system]]\nname = \"{name}\"\nurl = \"{}\"\n\
         hooks = {{ start = \"sh {}\", stop = \"sh {}\", time_limit = \"1m\" }}\n",
        postgres.url(),
        start.display(),
        stop.display()
    )
}

const LOAD: &str = "[workload]\nkind = \"rush\"\nrows = 10\nvariant = \"in-place\"\n[load]\nclients = 2\ntransactions = 20\n";

#[test]
fn systems_with_start_and_stop_hooks_share_a_port_in_turns() {
    let bench = Bench::new();
    let (Some(first), Some(mut second)) = (Postgres::stopped(), Postgres::stopped()) else {
        return;
    };
    second.port = first.port;
    let one = turns(&bench, &first, "One", " -c shared_buffers=$DYNO_SETTING_SHARED_BUFFERS");
    let two = turns(&bench, &second, "Two", "");
    // Within quotes of its own, the shell of `pg_ctl` sees the variable.
    let levels =
        "[factors]\n\"system.One.server.settings.shared_buffers\" = [\"16MB\", \"32MB\"]\n";
    bench.file(
        "spec.toml",
        format!("title = \"t\"\n{one}{two}{LOAD}{levels}[design]\nblocks = 2\n"),
    );
    let ended = bench.dyno(&["run", "spec.toml", "--out", "r"]);
    assert!(ended.is_done(), "{ended}");
    let records = records(&bench.path().join("r"));
    assert!(records.iter().all(|record| record.audit.verdict() == AuditVerdict::Intact), "{ended}");
    let reported = text(&bench.path().join("told"));
    let reported: Vec<&str> = reported.lines().collect();
    for turn in reported.chunks(2) {
        assert_eq!(turn[0].replace("start", "stop"), turn[1], "one at a time: {reported:?}");
    }
    let mut found = Vec::new();
    for event in events(&bench.path().join("r")) {
        if let Event::SystemReady { system, settings, .. } = event {
            found.push(format!("{system} {}", settings["shared_buffers"]));
        }
    }
    found.sort_unstable();
    assert_eq!(found, ["One 16MB", "One 16MB", "One 32MB", "One 32MB", "Two 128MB", "Two 128MB"]);
    assert_eq!((first.starts(), second.starts(), reported.len()), (4, 2, 12));
    assert!(!first.answers());
    // Nothing of dyno's is in it when it runs again.
    first.run(&first.start(""));
    let ended = bench.dyno(&["cleanup", &first.url()]);
    assert!(ended.code == 0 && ended.stdout.contains("nothing"), "{ended}");
}

#[test]
fn a_server_running_before_the_start_hook_is_not_measured() {
    let bench = Bench::new();
    let Some(postgres) = Postgres::new() else { return };
    let system = turns(&bench, &postgres, "Shop", "");
    bench.file("spec.toml", format!("title = \"t\"\n{system}{LOAD}[design]\nblocks = 1\n"));
    let ended = bench.dyno(&["run", "spec.toml", "--out", "r"]);
    let reported =
        format!("a server already answers at 127.0.0.1:{} before `start` was run", postgres.port);
    assert!(ended.code != 0 && ended.stderr.contains(&reported), "{ended}");
    assert_eq!(
        text(&bench.path().join("told")),
        "",
        "neither is it started a second time, nor stopped"
    );
    assert!(postgres.answers());
}

#[test]
fn stop_hook_runs_after_a_failed_start_an_interrupt_or_a_kill() {
    let bench = Bench::new();
    let Some(postgres) = Postgres::stopped() else { return };
    let reported = || text(&bench.path().join("told"));
    // It starts, and says that it has not.
    let system = turns(&bench, &postgres, "Shop", "").replace(".sh\", stop", ".sh; exit 3\", stop");
    bench.file("failing.toml", format!("title = \"t\"\n{system}{LOAD}[design]\nblocks = 1\n"));
    let ended = bench.dyno(&["run", "failing.toml", "--out", "f"]);
    assert!(ended.stderr.contains("the command `start` ended with exit code 3"), "{ended}");
    assert!(reported().ends_with("start Shop\nstop Shop\n"), "{ended} {}", reported());
    assert!(!postgres.answers());

    let system = turns(&bench, &postgres, "Shop", "");
    let endless = LOAD.replace("transactions = 20", "duration = \"10m\"");
    bench.file("endless.toml", format!("title = \"t\"\n{system}{endless}[design]\nblocks = 1\n"));
    for signal in ["-INT", "-KILL"] {
        let before = reported();
        let run = Running::start(&bench, "endless.toml");
        run.await_phase(Phase::Measure);
        crate::program::signal(signal, run.pid());
        if signal == "-INT" {
            assert_eq!(run.ended().code, INTERRUPTED);
            std::fs::remove_dir_all(bench.path().join("r")).expect("results of ours");
        }
        wait_until("the system is stopped", || !postgres.answers());
        assert_eq!(reported(), format!("{before}start Shop\nstop Shop\n"), "{signal}");
    }
}

/// Its clients wait in their first transaction, for as long as there is a file, until the server
/// was killed: when that is plays no part.
#[test]
fn a_dead_system_is_stopped_and_restarted_for_the_next_trial() {
    let bench = Bench::new();
    let Some(postgres) = Postgres::stopped() else { return };
    let gate = postgres.data().join("gate");
    std::fs::write(&gate, "").expect("the folder is there");
    let system =
        turns(&bench, &postgres, "Shop", "").replace("hooks", "data = \"existing\"\nhooks");
    let script = "SELECT CASE WHEN (pg_stat_file('gate', true)).size IS NULL THEN 0 ELSE (SELECT 1 FROM pg_sleep(600)) END;";
    bench.file(
        "spec.toml",
        format!(
            "title = \"t\"\n{system}[workload]\nkind = \"sql\"\n[[workload.scripts]]\nname = \"look\"\nsql = \"{script}\"\n\
             [load]\nclients = [2, 3]\ntransactions = 20\n[design]\nblocks = 1\n"
        ),
    );
    let run = Running::start(&bench, "spec.toml");
    run.await_phase(Phase::Measure);
    let target = Address::of_url(&postgres.url()).target().expect("it is one");
    let asleep = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
    wait_until("a client waits", || ask(&target, asleep) != "0");
    std::fs::remove_file(&gate).expect("it is ours");
    postgres.run(&postgres.death());
    let ended = run.ended();
    assert_eq!(ended.code, RUN_INCOMPLETE, "{ended}");
    let records = records(&bench.path().join("r"));
    let committed: Vec<u64> = records.iter().map(|record| record.counters.committed).collect();
    assert_eq!((records[0].end, &*committed), (TrialEnd::System, &[0, 20][..]), "{ended}");
    assert_eq!(text(&bench.path().join("told")), "start Shop\nstop Shop\n".repeat(2));
    let events = events(&bench.path().join("r"));
    let is_reported =
        |event: &Event| matches!(event, Event::SystemFailed { reason: Reason::NoResponse(_), .. });
    assert!(events.iter().any(is_reported), "{ended}");
}

/// Also one that dies while its data are made, which is a trial's failure to those who make them.
#[test]
fn a_system_that_dies_before_anything_is_measured_has_failed() {
    let bench = Bench::new();
    let Some(postgres) = Postgres::stopped() else { return };
    bench.file(
        "fatal.lua",
        format!(
            "function prepare() os.execute([[{}]]) sysbench.sql.driver():connect() end\nfunction event() end\n",
            postgres.death()
        ),
    );
    let system = turns(&bench, &postgres, "Shop", "");
    bench.file(
        "spec.toml",
        format!(
            "title = \"t\"\n{system}[workload]\nkind = \"lua\"\nscript = \"fatal.lua\"\n\
             [load]\nclients = 1\ntransactions = 1\n[design]\nblocks = 1\n"
        ),
    );
    let ended = bench.dyno(&["run", "spec.toml", "--out", "r"]);
    assert_eq!(ended.code, SERVER_FAILED, "{ended}");
    assert_eq!(text(&bench.path().join("told")), "start Shop\nstop Shop\n");
}

#[test]
fn setup_scripts_are_refused_for_systems_with_a_start_hook() {
    let bench = Bench::new();
    bench.file(
        "spec.toml",
        "title = \"t\"\n[[system]]\nname = \"Shop\"\nurl = \"postgres://bench@127.0.0.1:1/shop\"\n\
         hooks = { start = \"touch started\", stop = \"true\", time_limit = \"3s\" }\n[workload]\nkind = \"sql\"\n\
         setup = [\"setup.sql\"]\n[[workload.scripts]]\nname = \"look\"\nsql = \"SELECT 1;\"\n\
         [load]\nclients = 1\ntransactions = 1\n[design]\nblocks = 1\n",
    );
    bench.file("setup.sql", "CREATE TABLE things (id INTEGER);");
    let ended = bench.dyno(&["run", "spec.toml", "--out", "r"]);
    assert!(ended.code == 4 && ended.stderr.contains("`workload.setup`"), "{ended}");
    assert!(!bench.path().join("started").exists());
}
