//! A real PgBouncer in front of a server: recognised, named, and refused before the run where its
//! mode does not suit the run.

use crate::ends::PREFLIGHT_FAILED;
use crate::program::{Bench, Ended, records};
use dyno_model::audit::AuditVerdict;
use dyno_model::plan::ServerKind;
use dyno_model::record::TrialRecord;
use dyno_model::target::{Endpoint, Target};
use dyno_testkit::{REQUIRE_SERVERS, RunningServer, running_server, wait_until};
use std::fs::{self, Permissions};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command};

const PROGRAM: &str = "/usr/sbin/pgbouncer";

/// A program that ends with this value.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server behind PgBouncer, once per mode.
struct PgBouncer {
    _programs: Vec<Running>,
    bench: Bench,
    target: Target,
    ports: Vec<u16>,
    _server: RunningServer,
}

/// Starts PgBouncer in front of a server, and returns its port.
fn in_front_of(target: &Target, bench: &Bench, mode: &str) -> (Running, u16) {
    let Endpoint::Tcp { host, port } = &target.endpoint else { panic!("it listens to TCP") };
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let own = free.local_addr().expect("it is bound").port();
    drop(free);
    let (user, password) = (&target.user, target.password.reveal());
    let text = format!(
        "[databases]\n* = host={host} port={port} user={user} password={password}\n[pgbouncer]\n\
         listen_addr = 127.0.0.1\nlisten_port = {own}\nunix_socket_dir =\nauth_type = any\n\
         pool_mode = {mode}\n"
    );
    let file = bench.file(&format!("{mode}.ini"), text);
    let mut command = Command::new(PROGRAM);
    if rustix::process::geteuid().is_root() {
        // It refuses to run as root.
        for (path, mode) in [(bench.path(), 0o755), (&*file, 0o644)] {
            fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
        }
        command.args(["-u", "nobody"]);
    }
    let program = Running(command.arg("-q").arg(&file).spawn().expect("it starts"));
    wait_until("PgBouncer", || TcpStream::connect((Ipv4Addr::LOCALHOST, own)).is_ok());
    (program, own)
}

impl PgBouncer {
    #[expect(clippy::print_stderr, reason = "a skipped test says so")]
    fn start(modes: &[&str]) -> Option<Self> {
        if !Path::new(PROGRAM).exists() {
            assert!(std::env::var_os(REQUIRE_SERVERS).is_none_or(|it| it != "1"), "{PROGRAM}");
            eprintln!("SKIPPED: {PROGRAM} is not installed");
            return None;
        }
        let server = running_server(ServerKind::Postgres, &[])?;
        let (bench, target) = (Bench::new(), server.target());
        let (programs, ports) =
            modes.iter().map(|mode| in_front_of(&target, &bench, mode)).collect();
        Some(Self { _programs: programs, bench, target, ports, _server: server })
    }

    /// A run with this end of the URL and these keys of the system.
    fn run(&self, out: &str, parameters: &str, system: &str) -> Ended {
        let (user, database) = (&self.target.user, &self.target.database);
        let spec = format!(
            "title = \"t\"\n[[system]]\nname = \"Pooled\"\nurl = \"postgres://{user}:any@127.0.0.1:{}/{database}{parameters}\"\n\
             {system}\n[workload]\nkind = \"rush\"\nrows = 100\nvariant = \"in-place\"\n[load]\nclients = 4\n\
             transactions = 200\n[design]\nblocks = 1\n",
            self.ports[0]
        );
        self.bench.file("pooled.toml", spec);
        self.bench.dyno(&["run", "pooled.toml", "--out", out])
    }

    fn is_whole(&self, out: &str, ended: &Ended) {
        assert!(ended.is_done(), "{ended}");
        let record = &records(&self.bench.path().join(out))[0];
        assert_eq!(
            (record.counters.committed, record.audit.verdict()),
            (200, AuditVerdict::Intact)
        );
        // The sessions behind a pooler report their commits later than those of the clients.
        assert!(!record.server_counters.contains_key("xact_commit"));
    }
}

#[test]
fn a_run_through_pgbouncer_in_session_mode_names_it() {
    let Some(pooler) = PgBouncer::start(&["session"]) else { return };
    let ended = pooler.run("r", "", "");
    pooler.is_whole("r", &ended);
    assert!(ended.to_string().contains("behind PgBouncer 1."), "{ended}");
    assert!(ended.to_string().contains("(session mode)"), "{ended}");
}

#[test]
fn what_pgbouncer_loses_in_transaction_mode_is_refused_before_the_run() {
    let Some(pooler) = PgBouncer::start(&["transaction"]) else { return };
    let rows = [
        ("", "", "does not keep prepared statements"),
        ("?options=-c%20work_mem%3D8MB", "query_mode = \"simple\"", "session parameters"),
    ];
    for (parameters, system, reason) in rows {
        let refused = pooler.run("no", parameters, system);
        assert_eq!(refused.code, PREFLIGHT_FAILED, "{refused}");
        assert!(refused.stderr.contains(reason), "{refused}");
    }
    for mode in ["simple", "extended"] {
        let ended = pooler.run(mode, "", &format!("query_mode = \"{mode}\""));
        pooler.is_whole(mode, &ended);
        assert!(ended.to_string().contains("(transaction mode)"), "{ended}");
    }
}

/// The guide's example of a pooler as an endpoint, on this server.
fn example(pooler: &PgBouncer) -> String {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide.md");
    let guide = fs::read_to_string(guide).expect("the guide");
    let start = guide.find("title = \"What does the pooler cost?\"").expect("the example");
    let (example, _) = guide[start..].split_once("```").expect("its end");
    let Endpoint::Tcp { port, .. } = &pooler.target.endpoint else { panic!("it listens to TCP") };
    let Target { user, database, password, .. } = &pooler.target;
    let url = format!("postgres://{user}:{}@127.0.0.1:{port}/{database}", password.reveal());
    [("5432", *port), ("6432", pooler.ports[0]), ("6433", pooler.ports[1])]
        .iter()
        .fold(example.replace("postgres://bench@db.example/bench", &url), |text, (known, port)| {
            text.replace(&format!("db.example:{known}"), &format!("127.0.0.1:{port}"))
        })
        .replace("duration = \"30s\"", "transactions = 200")
        .replace("blocks = 5", "blocks = 1")
}

#[test]
fn a_pooler_is_an_endpoint_that_is_named_and_compared() {
    let Some(pooler) = PgBouncer::start(&["session", "transaction"]) else { return };
    let bench = &pooler.bench;
    bench.file("paths.toml", example(&pooler));
    let ended = bench.dyno(&["run", "paths.toml", "--out", "r"]);
    assert!(ended.is_done(), "{ended}");
    let records = records(&bench.path().join("r"));
    assert_eq!(records.len(), 3, "{ended}");
    for record in &records {
        assert_eq!(record.counters.committed, 200, "{ended}");
        assert_eq!(record.audit.verdict(), AuditVerdict::Intact, "{ended}");
    }
    // Only those of the direct path are compared.
    let counted = |record: &TrialRecord| record.server_counters.contains_key("xact_commit");
    assert_eq!(records.iter().filter(|record| counted(record)).count(), 1, "{ended}");
    let page = fs::read_to_string(bench.path().join("r/report.html")).expect("a report");
    for mode in ["session", "transaction"] {
        assert!(page.contains(&format!("({mode} mode)")), "{mode}");
    }
    // Prepared statements are refused behind the pooler of one endpoint, although the system's URL
    // has no pooler.
    let changed = |from: &str, to: &str| {
        bench.file("paths.toml", example(&pooler).replace(from, to));
        let refused = bench.dyno(&["run", "paths.toml", "--out", "no"]);
        assert_eq!(refused.code, PREFLIGHT_FAILED, "{refused}");
        refused.stderr
    };
    let told = changed("query_mode = \"extended\"", "query_mode = \"prepared\"");
    assert!(
        told.contains("endpoint transaction") && told.contains("prepared statements"),
        "{told}"
    );
    assert!(!told.contains("endpoint session"), "{told}");
    let closed = format!("127.0.0.1:{}", pooler.ports[1]);
    let told = changed(&closed, "127.0.0.1:1");
    assert!(told.contains("endpoint transaction"), "{told}");
}
