//! A real PgBouncer in front of a server: recognised, named, and refused before the run where its
//! mode does not suit the run.

use crate::ends::PREFLIGHT_FAILED;
use crate::program::{Bench, Ended, records};
use dyno_model::audit::AuditVerdict;
use dyno_model::plan::ServerKind;
use dyno_model::target::{Endpoint, Target};
use dyno_testkit::{REQUIRE_SERVERS, RunningServer, running_server, wait_until};
use std::fs::{self, Permissions};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command};

const PROGRAM: &str = "/usr/sbin/pgbouncer";

struct PgBouncer {
    program: Child,
    bench: Bench,
    target: Target,
    port: u16,
    _server: RunningServer,
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

impl PgBouncer {
    #[expect(clippy::print_stderr, reason = "a skipped test says so")]
    fn start(mode: &str) -> Option<Self> {
        if !Path::new(PROGRAM).exists() {
            assert!(std::env::var_os(REQUIRE_SERVERS).is_none_or(|it| it != "1"), "{PROGRAM}");
            eprintln!("SKIPPED: {PROGRAM} is not installed");
            return None;
        }
        let server = running_server(ServerKind::Postgres, &[])?;
        let (bench, target) = (Bench::new(), server.target());
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
        bench.file("pgbouncer.ini", text);
        let file = bench.path().join("pgbouncer.ini");
        let mut command = Command::new(PROGRAM);
        if rustix::process::geteuid().is_root() {
            // It refuses to run as root.
            for (path, mode) in [(bench.path(), 0o755), (&file, 0o644)] {
                fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
            }
            command.args(["-u", "nobody"]);
        }
        let program = command.arg("-q").arg(&file).spawn().expect("it starts");
        wait_until("PgBouncer", || TcpStream::connect((Ipv4Addr::LOCALHOST, own)).is_ok());
        Some(Self { program, bench, target, port: own, _server: server })
    }

    /// A run with this end of the URL and these keys of the system.
    fn run(&self, out: &str, parameters: &str, system: &str) -> Ended {
        let (user, database) = (&self.target.user, &self.target.database);
        let spec = format!(
            "title = \"t\"\n[[system]]\nname = \"Pooled\"\nurl = \"postgres://{user}:any@127.0.0.1:{}/{database}{parameters}\"\n\
             {system}\n[workload]\nkind = \"rush\"\nrows = 100\nvariant = \"in-place\"\n[load]\nclients = 4\n\
             transactions = 200\n[design]\nblocks = 1\n",
            self.port
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
    }
}

#[test]
fn a_run_through_pgbouncer_in_session_mode_names_it() {
    let Some(pooler) = PgBouncer::start("session") else { return };
    let ended = pooler.run("r", "", "");
    pooler.is_whole("r", &ended);
    assert!(ended.to_string().contains("behind PgBouncer 1."), "{ended}");
    assert!(ended.to_string().contains("(session mode)"), "{ended}");
}

#[test]
fn what_pgbouncer_loses_in_transaction_mode_is_refused_before_the_run() {
    let Some(pooler) = PgBouncer::start("transaction") else { return };
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
