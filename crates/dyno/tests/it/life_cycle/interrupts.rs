//! The first Ctrl-C is heard, whatever dyno is doing: every phase here would last for minutes or
//! hours without it, and a test that had to wait for that would fail by its own limit. Nothing
//! depends on how fast anything is.

use crate::ends::{INTERRUPTED, RUN_INCOMPLETE, mute, nothing_is_left};
use crate::program::{Bench, Ended, events};
use crate::running::Running;
use dyno_drivers::null::server::Protocol;
use dyno_drivers::{Connection, Discard, Driver, Io, block_on};
use dyno_model::event::{Event, Phase};
use dyno_model::plan::ServerKind;
use dyno_model::target::{Endpoint, Engine, Target};
use dyno_testkit::{BlackholeProxy, TIMEOUT, require_server, running_server, wait_until};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Environment variable that hands the servers' passwords to dyno.
const PASSWORD: &str = "DYNO_TEST_PASSWORD";

/// The kinds of servers, one for each protocol.
const KINDS: [ServerKind; 2] = [ServerKind::Mariadb, ServerKind::Postgres];

/// A folder that servers' users may enter.
fn open_bench() -> Bench {
    let bench = Bench::new();
    std::fs::set_permissions(bench.path(), PermissionsExt::from_mode(0o755)).expect("it is ours");
    bench
}

/// Where a server falls silent, named by what dyno says last.
struct Moment {
    name: &'static str,
    load: &'static str,
    /// From this phase on it is listened for.
    since: Phase,
    /// What is said, in MySQL's words and in PostgreSQL's.
    last_words: [&'static str; 2],
    /// True when the clients wait for a lock meanwhile, so that their sessions do not end by
    /// themselves.
    is_locked: bool,
    /// How long after these words the phase has begun for certain.
    later: Duration,
    /// Whether the trial has figures.
    has_figures: bool,
}

const MOMENTS: [Moment; 5] = [
    Moment {
        name: "warm-up",
        load: "warmup = \"1h\"\nduration = \"1h\"",
        since: Phase::Connecting,
        last_words: ["COMMIT", "COMMIT"],
        is_locked: false,
        later: Duration::ZERO,
        has_figures: true,
    },
    Moment {
        name: "grace",
        load: "warmup = \"0s\"\nduration = \"1s\"\ngrace = \"1h\"",
        since: Phase::Connecting,
        last_words: ["COMMIT", "COMMIT"],
        is_locked: false,
        later: Duration::from_millis(1_500),
        has_figures: true,
    },
    Moment {
        name: "settling",
        load: "warmup = \"6s\"\nduration = \"1s\"\ngrace = \"100ms\"",
        since: Phase::Connecting,
        last_words: ["KILL ", "application_name = 'dyno' AND pid"],
        is_locked: true,
        later: Duration::ZERO,
        has_figures: true,
    },
    Moment {
        name: "counters",
        load: "warmup = \"0s\"\nduration = \"4s\"",
        since: Phase::Measure,
        last_words: ["SHOW GLOBAL STATUS", "FROM pg_catalog.pg_stat_database AS d"],
        is_locked: false,
        later: Duration::ZERO,
        has_figures: true,
    },
    Moment {
        name: "tear-down",
        load: "warmup = \"0s\"\nduration = \"4s\"",
        since: Phase::Measure,
        last_words: ["DROP TABLE", "DROP TABLE"],
        is_locked: false,
        later: Duration::ZERO,
        has_figures: true,
    },
];

impl Moment {
    fn spec(&self, target: &Target, silencer: &BlackholeProxy) -> String {
        let Target { engine, user, database, .. } = target;
        format!(
            "title = \"Silent\"\n[[system]]\nname = \"S\"\nurl = \"{engine}://{user}@{}/{database}\"\n\
             password_env = \"{PASSWORD}\"\nquery_mode = \"simple\"\nconnect_timeout = \"1h\"\n\
             [workload]\nkind = \"oltp_read_write\"\ntables = 1\ntable_size = 100\n\
             [load]\nclients = 2\n{}\n[design]\nblocks = 1\n",
            silencer.address(),
            self.load
        )
    }

    /// Interrupts a run at this moment; how it ended, and the events that it wrote.
    fn interrupted(&self, bench: &Bench, target: &Target) -> (Ended, Vec<Event>) {
        let Endpoint::Tcp { host, port } = &target.endpoint else {
            panic!("servers of tests listen to TCP")
        };
        let silencer = BlackholeProxy::new(host, *port);
        bench.file("silent.toml", self.spec(target, &silencer));
        let mut command = bench.command(&["run", "silent.toml", "--out", "r"]);
        command.env(PASSWORD, target.password.reveal());
        let running = Running::of(bench, command);
        running.await_phase(self.since);
        let holder = self.is_locked.then(|| lock(target));
        let [mysql, postgres] = self.last_words;
        silencer.listen_for(if target.engine == Engine::Mysql { mysql } else { postgres });
        wait_until(self.name, || silencer.is_silent());
        let since = Instant::now();
        wait_until(self.name, || since.elapsed() >= self.later);
        running.interrupt();
        let ended = running.ended();
        drop(holder);
        (ended, events(&bench.path().join("r")))
    }
}

/// Has all clients wait that want to change the table; the lock goes with the connection.
fn lock(target: &Target) -> Connection {
    let mut holder = block_on(Connection::connect(target, &Io::Blocking)).expect("it runs");
    // Rows, not the table: a server may look whether somebody who waits for a table is still
    // connected.
    wait_until("all rows are locked", || {
        let mut say = |sql: &str| block_on(holder.query(sql, &mut Discard)).is_ok();
        // Deadlocks with the clients are tried again.
        say("BEGIN") && say("SELECT c FROM sbtest1 ORDER BY id FOR UPDATE") || !say("ROLLBACK")
    });
    holder
}

#[test]
fn ctrl_c_interrupts_each_phase_of_a_trial_on_a_silent_server() {
    for kind in KINDS {
        let Some(server) = running_server(kind, &[]) else { continue };
        let target = server.target();
        for moment in MOMENTS {
            let bench = Bench::new();
            let (ended, events) = moment.interrupted(&bench, &target);
            assert_eq!(ended.code, INTERRUPTED, "{kind}, {}: {ended}", moment.name);
            let has_figures = events.iter().any(|event| matches!(event, Event::TrialFinished(_)));
            assert_eq!(has_figures, moment.has_figures, "{kind}, {}: {ended}", moment.name);
            assert!(
                bench.path().join("r/report.html").exists(),
                "{kind}, {}: {ended}",
                moment.name
            );
            clean(&bench, &target);
        }
    }
}

/// Takes away what an interrupted run left on a server that fell silent.
fn clean(bench: &Bench, target: &Target) {
    let Endpoint::Tcp { host, port } = &target.endpoint else {
        panic!("servers of tests listen to TCP")
    };
    let text = std::fs::read_to_string(bench.path().join("silent.toml")).expect("it was written");
    let line = |line: &str| match line.split_once('@').filter(|_| line.starts_with("url")) {
        Some((before, after)) => {
            format!("{before}@{host}:{port}/{}", after.split_once('/').expect("a database").1)
        }
        None => line.to_owned(),
    };
    bench.file("direct.toml", text.lines().map(line).collect::<Vec<_>>().join("\n"));
    let mut command = bench.command(&["cleanup", "direct.toml"]);
    let output =
        command.env(PASSWORD, target.password.reveal()).output().expect("dyno can be started");
    assert!(output.status.success(), "{}", Ended::from(output));
}

#[test]
fn ctrl_c_ends_the_start_of_a_server() {
    for kind in KINDS {
        if require_server(kind).is_none() {
            continue;
        }
        // The program that makes the data folder, and the server before its first answer.
        for sign in ["", "port="] {
            let bench = open_bench();
            bench.file(
                "start.toml",
                format!(
                    "title = \"Start\"\nsystem = [{{ name = \"S\", server = {{ kind = \"{kind}\" }} }}]\n\
                     workload = {{ kind = \"rush\" }}\nload = {{ clients = 1, transactions = 5 }}\n\
                     design = {{ blocks = 1 }}\n"
                ),
            );
            let running = Running::start(&bench, "start.toml");
            wait_until("a process of the server is halted", || {
                let is_meant = |pid: &u32| {
                    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                    String::from_utf8_lossy(&line).contains(sign)
                };
                let servers: Vec<u32> =
                    running.servers(kind).into_iter().filter(is_meant).collect();
                // It may have ended by itself.
                let halted = servers.iter().filter(|pid| halt(**pid));
                halted.count() > 0
            });
            running.interrupt();
            let ended = running.ended();
            assert_eq!(ended.code, INTERRUPTED, "{kind} {sign}: {ended}");
            nothing_is_left(&bench, &["r", "start.toml"]);
        }
    }
}

/// Stops a process; false when it has ended.
fn halt(pid: u32) -> bool {
    let mut kill = std::process::Command::new("kill");
    let status =
        kill.args(["-STOP", &pid.to_string()]).stderr(std::process::Stdio::null()).status();
    status.expect("kill is there").success()
}

/// The file of the SQLite database that a run has made below a folder.
fn sqlite_file(folder: &Path) -> PathBuf {
    let entries = std::fs::read_dir(folder).expect("it can be listed").filter_map(Result::ok);
    let scratch = entries.map(|entry| entry.path().join("data/dyno.db")).find(|path| path.exists());
    scratch.expect("the run has made it")
}

#[test]
fn ctrl_c_ends_sqlite_clients_that_wait_for_a_lock() {
    let bench = Bench::new();
    bench.file(
        "locked.toml",
        "title = \"Locked\"\n\
         system = [{ name = \"S\", server = { kind = \"sqlite\", settings = { busy_timeout = 3600000 } } }]\n\
         workload = { kind = \"rush\" }\n\
         load = { clients = 2, warmup = \"0s\", duration = \"1h\", grace = \"1h\" }\ndesign = { blocks = 1 }\n",
    );
    let running = Running::start(&bench, "locked.toml");
    running.await_phase(Phase::Measure);
    let endpoint = Endpoint::File(sqlite_file(bench.path()));
    let setup = format!("PRAGMA busy_timeout = {}", TIMEOUT.as_millis());
    let target = Target { session_setup: vec![setup], ..Target::new(Engine::Sqlite, endpoint) };
    let mut holder = block_on(Connection::connect(&target, &Io::Blocking)).expect("it opens");
    block_on(holder.query("BEGIN EXCLUSIVE", &mut Discard)).expect("its turn comes");
    running.interrupt();
    let ended = running.ended();
    assert_eq!(ended.code, INTERRUPTED, "{ended}");
    assert_eq!(bench.dyno(&["report", "r", "--check"]).code, RUN_INCOMPLETE);
    nothing_is_left(&bench, &["locked.toml", "r"]);
}

/// Somewhere to connect, and a sign that somebody has.
enum Peer {
    /// The kernel takes the connection, and nobody greets.
    Nobody(TcpListener),
    /// It logs in and answers nothing.
    Mute(dyno_drivers::null::server::RunningServer),
}

impl Peer {
    fn of(protocol: Protocol, greets: bool) -> Self {
        match greets {
            true => Self::Mute(mute(protocol)),
            false => Self::Nobody(TcpListener::bind(("127.0.0.1", 0)).expect("a free port")),
        }
    }

    fn port(&self) -> u16 {
        match self {
            Self::Nobody(listener) => listener.local_addr().expect("it is bound").port(),
            Self::Mute(server) => server.local_addr.port(),
        }
    }

    /// Waits until somebody has connected; whatever is given back keeps the connection open.
    fn await_connection(&self) -> Option<std::net::TcpStream> {
        match self {
            Self::Nobody(listener) => Some(listener.accept().expect("somebody connects").0),
            Self::Mute(server) => {
                wait_until("somebody connects", || server.counters().connections() > 0);
                None
            }
        }
    }
}

#[test]
fn ctrl_c_interrupts_every_sysbench_command_on_a_silent_server() {
    let script = "function connect() return sysbench.sql.driver():connect() end\n\
                  function prepare() connect():query('SELECT 1') end\n\
                  function init() if sysbench.opt.early then connect():query('SELECT 1') end end\n\
                  function thread_init() if not sysbench.opt.late then connect():query('SELECT 1') end end\n\
                  function event() end\n\
                  function done() if sysbench.opt.late then connect():query('SELECT 1') end end\n\
                  sysbench.cmdline.options = { early = { 'in init', false }, late = { 'in done', false } }\n";
    let lines = [
        "oltp_read_only prepare",
        "oltp_read_only cleanup",
        "oltp_read_only run",
        "oltp_read_only --results=results run",
        "silent.lua prepare",
        "silent.lua run",
        "silent.lua --early run",
        "silent.lua --late --events=1 run",
    ];
    for greets in [false, true] {
        for line in lines {
            let bench = Bench::new();
            bench.file("silent.lua", script);
            let peer = Peer::of(Protocol::Mysql, greets);
            let port = format!("--mysql-port={}", peer.port());
            let mut command =
                bench.command(&["sysbench", "--db-driver=mysql", "--mysql-host=127.0.0.1"]);
            command.args([port.as_str(), "--mysql-user=bench"]).args(line.split(' '));
            let running = Running::of(&bench, command);
            let _open = peer.await_connection();
            running.interrupt();
            let ended = running.ended();
            assert_eq!(ended.code, INTERRUPTED, "{line}, greets: {greets}: {ended}");
        }
    }
}

#[test]
fn ctrl_c_interrupts_pgbench_in_every_mode_on_a_silent_server() {
    for greets in [false, true] {
        for line in ["-i", "-t 10", "-n -t 10", "-n -t 10 -f one.sql", "-t 10 -f one.sql"] {
            let bench = Bench::new();
            bench.file("one.sql", "SELECT 1;\n");
            let peer = Peer::of(Protocol::Postgres, greets);
            let mut command = bench.command(&["pgbench", "-h", "127.0.0.1", "-U", "bench"]);
            command.args(["-p", &peer.port().to_string()]).args(line.split(' ')).arg("shop");
            // Without a limit of its own, as libpq has none.
            command.env("PGCONNECT_TIMEOUT", "3600");
            let running = Running::of(&bench, command);
            let _open = peer.await_connection();
            running.interrupt();
            let ended = running.ended();
            assert!([1, 2].contains(&ended.code), "{line}, greets: {greets}: {ended}");
            assert!(!ended.stdout.contains("tps = "), "{line}, greets: {greets}: {ended}");
        }
    }
}
