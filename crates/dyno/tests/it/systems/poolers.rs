//! A real PgBouncer in front of a server: recognised, named, and refused before the run where its
//! mode does not suit the run.

use crate::ends::PREFLIGHT_FAILED;
use crate::program::{Bench, Ended, compares_postgres_commits, records};
use dyno_model::audit::AuditVerdict;
use dyno_model::plan::ServerKind;
use dyno_model::record::TrialRecord;
use dyno_model::target::{Endpoint, Target};
use dyno_testkit::{RunningServer, running_server, skip, wait_until};
use std::fs::{self, Permissions};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

/// Debian's, which loses prepared statements in transaction mode.
const PROGRAM: &str = "/usr/sbin/pgbouncer";
/// Lets the account write nothing.
const READ_ONLY: &str = "connect_query='SET default_transaction_read_only = on'";

/// The newest program that scripts/servers installed.
fn newest_program() -> PathBuf {
    let servers = std::env::var_os("DYNO_SERVERS_DIR").unwrap_or("/opt/dyno-servers".into());
    let folders = fs::read_dir(servers).into_iter().flatten().flatten();
    let mut found: Vec<_> = folders.map(|folder| folder.path().join("bin/pgbouncer")).collect();
    found.retain(|program| program.exists());
    found.sort();
    found.pop().unwrap_or_else(|| PathBuf::from("the newest pgbouncer"))
}

/// A program that ends with this value.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const RUSH: &str = "kind = \"rush\"\nrows = 100\nvariant = \"in-place\"";

/// A server behind PgBouncer, once per mode.
struct PgBouncer {
    _programs: Vec<Running>,
    bench: Bench,
    target: Target,
    ports: Vec<u16>,
    _server: RunningServer,
}

/// Starts PgBouncer in front of a server, and returns its port. `options` are added to the line of
/// its database.
fn in_front_of(
    (program, mode, options): (&Path, &str, &str),
    target: &Target,
    bench: &Bench,
) -> (Running, u16) {
    let Endpoint::Tcp { host, port } = &target.endpoint else { panic!("it listens to TCP") };
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let own = free.local_addr().expect("it is bound").port();
    drop(free);
    let (user, password) = (&target.user, target.password.reveal());
    let text = format!(
        "[databases]\n* = host={host} port={port} user={user} password={password} {options}\n\
         [pgbouncer]\n\
         listen_addr = 127.0.0.1\nlisten_port = {own}\nunix_socket_dir =\nauth_type = any\n\
         pool_mode = {mode}\n"
    );
    let file = bench.file(&format!("{own}.ini"), text);
    let mut command = Command::new(program);
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
    fn start(modes: &[&str]) -> Option<Self> {
        let all: Vec<_> = modes.iter().map(|mode| (Path::new(PROGRAM), *mode, "")).collect();
        Self::start_all(&all)
    }

    /// One for each program, mode and options of the database.
    fn start_all(all: &[(&Path, &str, &str)]) -> Option<Self> {
        if let Some((missing, ..)) = all.iter().find(|(program, ..)| !program.exists()) {
            skip(format_args!("{} is not installed", missing.display()));
            return None;
        }
        let server = running_server(ServerKind::Postgres, &[])?;
        let (bench, target) = (Bench::new(), server.target());
        let (programs, ports) =
            all.iter().map(|each| in_front_of(*each, &target, &bench)).collect();
        Some(Self { _programs: programs, bench, target, ports, _server: server })
    }

    /// A run with this end of the URL and these keys of the system.
    fn run(&self, out: &str, parameters: &str, system: &str) -> Ended {
        self.run_of(out, parameters, system, RUSH)
    }

    fn run_of(&self, out: &str, parameters: &str, system: &str, workload: &str) -> Ended {
        let (user, database) = (&self.target.user, &self.target.database);
        let spec = format!(
            "title = \"t\"\n[[system]]\nname = \"Pooled\"\nurl = \"postgres://{user}:any@127.0.0.1:{}/{database}{parameters}\"\n\
             {system}\n[workload]\n{workload}\n[load]\nclients = 4\n\
             transactions = 200\n[design]\nblocks = 1\n",
            self.ports[0]
        );
        self.bench.file("pooled.toml", spec);
        self.bench.dyno(&["run", "pooled.toml", "--out", out, "--yes-write-to", database])
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
fn features_lost_in_pgbouncer_transaction_mode_are_refused() {
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

#[test]
fn the_newest_pgbouncer_keeps_prepared_statements_in_transaction_mode() {
    let program = newest_program();
    let ways = ["transaction", "transaction\nmax_prepared_statements = 0", "session"];
    let ways: Vec<_> = ways.iter().map(|mode| (&*program, *mode, "")).collect();
    let Some(mut pooler) = PgBouncer::start_all(&ways) else { return };
    for (out, mode) in [("kept", "transaction"), ("lost", "transaction"), ("session", "session")] {
        for query_mode in ["prepared", "extended", "simple"] {
            let folder = format!("{out}-{query_mode}");
            let ended = pooler.run(&folder, "", &format!("query_mode = \"{query_mode}\""));
            if (out, query_mode) == ("lost", "prepared") {
                assert_eq!(ended.code, PREFLIGHT_FAILED, "{ended}");
                assert!(ended.stderr.contains("does not keep prepared statements"), "{ended}");
                continue;
            }
            pooler.is_whole(&folder, &ended);
            assert!(ended.to_string().contains(&format!("({mode} mode)")), "{ended}");
        }
        pooler.ports.rotate_left(1);
    }
}

#[test]
fn session_state_is_refused_behind_a_transaction_pooler() {
    let Some(mut pooler) = PgBouncer::start(&["transaction", "session"]) else { return };
    let script = |sql: &str| {
        pooler.bench.file("own.sql", sql);
        "kind = \"sql\"\nscripts = [\"own.sql\"]".to_owned()
    };
    let system = "query_mode = \"simple\"\ndata = \"existing\"";
    let lasting = [
        ("SET work_mem = '8MB';\n", "SET work_mem"),
        ("CREATE TEMP TABLE IF NOT EXISTS kept (n int);\n", "CREATE TEMP TABLE"),
        ("SELECT pg_advisory_lock_shared(7);\n", "pg_advisory_lock_shared(7)"),
    ];
    for (sql, shown) in lasting {
        let refused = pooler.run_of("no", "", system, &script(sql));
        assert_eq!(refused.code, PREFLIGHT_FAILED, "{refused}");
        assert!(refused.stderr.contains("would be lost"), "{refused}");
        assert!(refused.stderr.contains(shown), "{refused}");
    }
    let rush = format!("{RUSH}\nisolation = \"repeatable-read\"");
    let refused = pooler.run_of("no", "", "query_mode = \"simple\"", &rush);
    assert_eq!(refused.code, PREFLIGHT_FAILED, "{refused}");
    assert!(refused.stderr.contains("ISOLATION LEVEL REPEATABLE READ"), "{refused}");
    let within = "BEGIN;\nSET LOCAL work_mem = '8MB';\nSELECT pg_advisory_xact_lock_shared(7);\n\
                  CREATE TEMP TABLE kept (n int) ON COMMIT DROP;\nCOMMIT;\n";
    let ended = pooler.run_of("within", "", system, &script(within));
    assert!(ended.is_done(), "{ended}");
    pooler.ports.rotate_left(1);
    for (i, (sql, _)) in lasting.iter().enumerate() {
        let ended = pooler.run_of(&format!("session-{i}"), "", system, &script(sql));
        assert!(ended.is_done(), "{ended}");
    }
}

#[test]
fn a_pooler_refusing_writes_or_connections_fails_preflight() {
    let modes = [READ_ONLY, "dbname=missing", ""].map(|it| (Path::new(PROGRAM), "transaction", it));
    let Some(mut pooler) = PgBouncer::start_all(&modes) else { return };
    let refused = pooler.run("no", "?target_session_attrs=any", "query_mode = \"simple\"");
    assert_eq!(refused.code, PREFLIGHT_FAILED, "{refused}");
    assert!(refused.stderr.contains("transaction_read_only is on"), "{refused}");
    // The next host of the URL is used where it is the wanted one.
    let spec = fs::read_to_string(pooler.bench.path().join("pooled.toml")).expect("the spec");
    let [first, _, last] = pooler.ports[..] else { panic!("three poolers") };
    let hosts = format!("127.0.0.1:{first},127.0.0.1:{last}");
    let spec = spec.replace(&format!("127.0.0.1:{first}"), &hosts).replace("=any", "=read-write");
    pooler.bench.file("hosts.toml", spec);
    let database = &pooler.target.database;
    let run = ["run", "hosts.toml", "--out", "hosts", "--yes-write-to", database];
    pooler.is_whole("hosts", &pooler.bench.dyno(&run));
    let refused = {
        pooler.ports.rotate_left(1);
        pooler.bench.file("paths.toml", example(&pooler));
        pooler.bench.dyno(&["run", "paths.toml", "--out", "no"])
    };
    assert_eq!(refused.code, PREFLIGHT_FAILED, "{refused}");
    assert!(refused.stderr.contains("endpoint session"), "{refused}");
    assert!(refused.stderr.contains("\"missing\" does not exist"), "{refused}");
    pooler.ports.rotate_left(1);
    pooler.bench.file("paths.toml", example(&pooler));
    let refused = pooler.bench.dyno(&["run", "paths.toml", "--out", "no"]);
    assert_eq!(refused.code, PREFLIGHT_FAILED, "{refused}");
    let reason = "endpoint transaction: the server refuses to write at this address";
    assert!(refused.stderr.contains(reason), "{refused}");
    assert!(!refused.stderr.contains("endpoint session"), "{refused}");
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
    let is_counted = |record: &&TrialRecord| record.server_counters.contains_key("xact_commit");
    let expected = usize::from(compares_postgres_commits(&records[0]));
    assert_eq!(records.iter().filter(is_counted).count(), expected, "{ended}");
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
    let reported = changed("query_mode = \"extended\"", "query_mode = \"prepared\"");
    assert!(
        reported.contains("endpoint transaction") && reported.contains("prepared statements"),
        "{reported}"
    );
    assert!(!reported.contains("endpoint session"), "{reported}");
    let closed = format!("127.0.0.1:{}", pooler.ports[1]);
    let reported = changed(&closed, "127.0.0.1:1");
    assert!(reported.contains("endpoint transaction"), "{reported}");
}

/// Programs and logins of both versions; neither offers channel binding.
#[test]
fn pgbouncer_tls_logins_work_unless_channel_binding_is_required() {
    let newest = newest_program();
    for program in [Path::new(PROGRAM), &newest] {
        let Some(mut pooler) = PgBouncer::start_all(&[]) else { return };
        let folder = pooler.bench.path().to_owned();
        pooler.bench.file("names", "subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n");
        let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
        for command in [
            &*format!("req -x509 {key} -keyout ca.key -out ca.pem -days 2 -subj /CN=authority"),
            &format!("req {key} -keyout pooler.key -out pooler.csr -subj /CN=pooler"),
            "x509 -req -in pooler.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out pooler.pem",
        ] {
            let made =
                Command::new("openssl").args(command.split(' ')).current_dir(&folder).output();
            assert!(made.expect("openssl").status.success(), "{command}");
        }
        let user = pooler.target.user.clone();
        pooler.bench.file("users.txt", format!("\"{user}\" \"any\"\n"));
        for name in ["pooler.key", "pooler.pem", "users.txt"] {
            let mode = Permissions::from_mode(0o644);
            fs::set_permissions(folder.join(name), mode).expect("it is ours");
        }
        let file = |name: &str| folder.join(name).display().to_string();
        for login in ["scram-sha-256", "md5"] {
            let mode = format!(
                "session\nauth_type = {login}\nauth_file = {}\nclient_tls_sslmode = require\n\
                 client_tls_key_file = {}\nclient_tls_cert_file = {}",
                file("users.txt"),
                file("pooler.key"),
                file("pooler.pem")
            );
            let way = (program, &*mode, "");
            let (_running, port) = in_front_of(way, &pooler.target, &pooler.bench);
            pooler.ports = vec![port];
            let tls = format!("?sslmode=verify-full&sslrootcert={}", file("ca.pem"));
            let ended = pooler.run(&format!("r-{login}"), &tls, "");
            pooler.is_whole(&format!("r-{login}"), &ended);
            let bound = format!("{tls}&channel_binding=require");
            let refused = pooler.run("no", &bound, "");
            assert_eq!(refused.code, PREFLIGHT_FAILED, "{refused}");
            assert!(refused.stderr.contains("channel_binding"), "{refused}");
        }
    }
}
