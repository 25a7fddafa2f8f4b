//! Addresses as URLs, connection strings and options: every command parses them alike, and none
//! connects without the requested encryption.

use crate::program::{Bench, Ended, records};
use dyno_drivers::{Connection, Driver, Io, Table, block_on};
use dyno_host::server::RunningServer;
use dyno_model::plan::ServerKind;
use dyno_model::target::{Endpoint, Engine, Target, Tls};
use dyno_testkit::{TempDir, folder_holds, running_server};
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::process::Command;

/// A server that lets in over TCP only those who encrypt. Its certificate is made out to
/// `localhost`, and to no address.
struct Server {
    running: RunningServer,
    certificates: TempDir,
}

impl Server {
    fn start(kind: ServerKind) -> Option<Self> {
        let certificates = certificates(kind);
        let file = |name: &str| certificates.path().join(name).display().to_string();
        let (certificate, key) = (file("server.pem"), file("server.key"));
        let settings: &[(&str, &str)] = match kind {
            ServerKind::Postgres => {
                &[("ssl", "on"), ("ssl_cert_file", &certificate), ("ssl_key_file", &key)]
            }
            _ => &[("ssl_cert", &certificate), ("ssl_key", &key)],
        };
        let running = running_server(kind, settings)?;
        let server = Self { running, certificates };
        if kind == ServerKind::Postgres {
            let rules = server.ask("SHOW hba_file");
            let text = fs::read_to_string(&rules).expect("the server's rules can be read");
            fs::write(&rules, text.replace("host ", "hostssl ")).expect("and written");
            server.ask("SELECT pg_reload_conf()");
            // A reload takes effect some time later.
            dyno_testkit::wait_until("the rules are in force", || {
                let mut plain = server.running.target();
                plain.tls = Tls::Off;
                block_on(Connection::connect(&plain, &Io::Blocking)).is_err()
            });
        } else {
            server.ask("SET GLOBAL require_secure_transport = ON");
        }
        Some(server)
    }

    /// The first field of an answer.
    fn ask(&self, sql: &str) -> String {
        let mut table = Table::default();
        let target = Target { tls: Tls::Preferred, ..self.running.target() };
        block_on(async {
            let mut connection = Connection::connect(&target, &Io::Blocking).await?;
            connection.query(sql, &mut table).await
        })
        .unwrap_or_else(|failure| panic!("{sql}: {failure}"));
        table.0.into_iter().flatten().flatten().next().unwrap_or_default()
    }
}

/// `ca.pem` signed `server.pem`; `other.pem` signed nothing.
fn certificates(kind: ServerKind) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("it is ours");
    fs::write(
        folder.path().join("names"),
        "subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\n",
    )
    .expect("a file");
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
    for command in [
        &format!("req -x509 {key} -keyout ca.key -out ca.pem -days 2 -subj /CN=authority"),
        &format!("req -x509 {key} -keyout other.key -out other.pem -days 2 -subj /CN=other"),
        &format!("req {key} -keyout server.key -out server.csr -subj /CN=localhost"),
        "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.pem",
    ] {
        let made =
            Command::new("openssl").args(command.split(' ')).current_dir(folder.path()).output();
        let made = made.expect("openssl is there");
        assert!(made.status.success(), "{command}: {}", String::from_utf8_lossy(&made.stderr));
    }
    // As root, dyno runs the server as a user of its own, who alone may read its key.
    let user = if kind == ServerKind::Postgres { "postgres:" } else { "mysql:" };
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let of_user = users.lines().find(|line| line.starts_with(user));
    let ids: Vec<u32> = of_user
        .into_iter()
        .flat_map(|line| line.split(':').skip(2).take(2))
        .filter_map(|id| id.parse().ok())
        .collect();
    if let [user, group] = ids[..] {
        // Not root: the server runs as the one who made the file.
        let _ = chown(folder.path().join("server.key"), Some(user), Some(group));
    }
    folder
}

/// What an address is to lead to.
enum Outcome {
    /// An encrypted connection.
    In,
    /// An error with these words.
    Out(&'static str),
}

use Outcome::{In, Out};

/// Each row: host, mode of encryption and authorities as name and value, what comes of it.
type Row = (
    &'static str,
    Option<(&'static str, &'static str)>,
    Option<(&'static str, &'static str)>,
    Outcome,
);

const ROWS: [Row; 15] = [
    ("127.0.0.1", None, None, Out("sslmode=require")),
    ("127.0.0.1", Some(("sslmode", "disable")), None, Out("sslmode=require")),
    ("127.0.0.1", Some(("sslmode", "prefer")), None, In),
    ("127.0.0.1", Some(("tls", "required")), None, In),
    ("127.0.0.1", Some(("ssl-mode", "REQUIRED")), None, In),
    ("127.0.0.1", Some(("sslmode", "require")), Some(("sslrootcert", "other.pem")), Out("TLS: ")),
    ("127.0.0.1", Some(("sslmode", "verify-ca")), Some(("sslrootcert", "ca.pem")), In),
    ("127.0.0.1", Some(("sslmode", "verify-full")), Some(("sslrootcert", "ca.pem")), Out("TLS: ")),
    ("localhost", Some(("sslmode", "verify-full")), Some(("sslrootcert", "ca.pem")), In),
    ("localhost", Some(("ssl-mode", "VERIFY_IDENTITY")), Some(("ssl-ca", "ca.pem")), In),
    (
        "localhost",
        Some(("sslmode", "verify-full")),
        Some(("sslrootcert", "other.pem")),
        Out("TLS: "),
    ),
    // The authorities of the system; this test says which they are.
    ("localhost", Some(("sslmode", "verify-full")), None, In),
    ("localhost", Some(("sslmode", "verify-ca")), None, Out("`verify-ca` needs a file")),
    ("localhost", Some(("tls", "perhaps")), None, Out("cannot be `perhaps`")),
    ("localhost", Some(("sslmod", "require")), None, Out("unknown parameter `sslmod`")),
];

/// Commands that are told an address.
const COMMANDS: [&str; 4] = ["plan", "run", "pgbench", "sysbench"];

/// Runs a command on an address, with one transaction at most.
fn run(command: &str, bench: &Bench, server: &Server, row: &Row) -> Option<Ended> {
    let target = server.running.target();
    let Endpoint::Tcp { port, .. } = target.endpoint else {
        panic!("managed servers listen on TCP")
    };
    let (host, mode, authorities, _) = row;
    let file = |name: &str| server.certificates.path().join(name).display().to_string();
    let (password, is_postgres) = (target.password.reveal(), target.engine == Engine::Postgres);
    let query: Vec<String> = [
        mode.map(|(name, value)| format!("{name}={value}")),
        authorities.map(|(name, value)| format!("{name}={}", file(value))),
    ]
    .into_iter()
    .flatten()
    .collect();
    let url = format!(
        "{}://{}:{password}@{host}:{port}/{}?{}",
        target.engine,
        target.user,
        target.database,
        query.join("&")
    );
    let mut command = match command {
        "pgbench" => bench.command(&[
            "pgbench",
            "--url",
            &url,
            "-n",
            "-t",
            "1",
            "-f",
            "one.sql",
            "--results",
            "p",
        ]),
        "sysbench" => {
            let (driver, mode_option, ca_option) = match is_postgres {
                true => ("pgsql", "--pgsql-sslmode", "--pgsql-sslrootcert"),
                false => ("mysql", "--mysql-ssl", "--mysql-ssl-ca"),
            };
            // An option that is not known is told before anything is asked about addresses.
            let mode = mode.filter(|(name, _)| *name != "sslmod");
            if mode.is_none() && row.1.is_some() {
                return None;
            }
            let mut arguments = vec![
                "sysbench".to_owned(),
                "one.lua".to_owned(),
                format!("--db-driver={driver}"),
                "--events=1".to_owned(),
            ];
            for (option, value) in [
                ("host", *host),
                ("port", &port.to_string()),
                ("user", &target.user),
                ("password", password),
                ("db", &target.database),
            ] {
                arguments.push(format!("--{driver}-{option}={value}"));
            }
            arguments.extend(mode.map(|(_, value)| format!("{mode_option}={value}")));
            arguments.extend(authorities.map(|(_, value)| format!("{ca_option}={}", file(value))));
            arguments.extend(["--results=s".to_owned(), "run".to_owned()]);
            bench.command(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
        }
        verb => {
            bench.file(
                "one.toml",
                format!(
                    "title = \"One\"\n[[system]]\nname = \"S\"\nurl = \"{url}\"\n[workload]\nkind = \"rush\"\nrows = 1\n[load]\nclients = 1\n\
                     transactions = 1\nwarmup = \"0s\"\n[design]\nblocks = 1\n"
                ),
            );
            bench.command(if verb == "run" {
                &["run", "one.toml", "--out", "r"]
            } else {
                &["plan", "one.toml"]
            })
        }
    };
    command.env("SSL_CERT_FILE", file("ca.pem")).env("HOME", bench.path());
    command.env_remove("SSL_CERT_DIR").env_remove("PGSSLMODE").env_remove("PGSSLROOTCERT");
    Some(Ended::from(command.output().expect("dyno can be started")))
}

#[test]
fn the_question_with_which_the_guide_begins_is_one_line_and_encrypted() {
    let guide = include_str!("../../../../../docs/guide.md");
    let (_, block) = guide.split_once("```sql\n-- ").expect("the scripts stand at the beginning");
    let (scripts, rest) = block.split_once("\n```").expect("their end");
    for (kind, scheme) in [(ServerKind::Postgres, "postgres"), (ServerKind::Mariadb, "mysql")] {
        let Some(server) = Server::start(kind) else { continue };
        server
            .ask("CREATE TABLE orders (id INTEGER PRIMARY KEY, status VARCHAR(9), total INTEGER)");
        server.ask("INSERT INTO orders VALUES (1, 'open', 7)");
        let bench = Bench::new();
        for script in scripts.split("\n-- ") {
            let (name, sql) = script.split_once('\n').expect("a name, and its text");
            bench.file(name, sql.replace("100000", "1").replace("99990", "1"));
        }
        let target = server.running.target();
        let Endpoint::Tcp { port, .. } = target.endpoint else {
            panic!("managed servers listen on TCP")
        };
        let (_, line) = rest
            .split_once(&format!("\ndyno run '{scheme}://me@localhost/shop"))
            .expect("the line");
        let line = line
            .lines()
            .next()
            .expect("it goes on")
            .replace('\'', "")
            .replace("shop", &target.database);
        let (query, options) = line.split_once(' ').expect("options behind the address");
        let url = format!(
            "{scheme}://{}:{}@localhost:{port}/{}{query}",
            target.user,
            target.password.reveal(),
            target.database
        );
        let options = options.replace("1,8,64", "1,3");
        let options: Vec<&str> = options
            .split(' ')
            .chain(["--duration", "500ms", "--warmup", "0s", "--out", "r"])
            .collect();
        let ended = bench.dyno(&[&["run", &url], &options[..]].concat());
        assert!(ended.is_done(), "{ended}");
        let records = records(&bench.path().join("r"));
        assert_eq!(records.len(), 6, "two numbers of clients in three blocks");
        bench.forget_the_machine("r");
        let text = bench.dyno(&["report", "r", "--format", "text"]).stdout;
        for name in ["read", "list", "pay"] {
            assert!(text.lines().any(|line| line.contains(&format!(" {name} "))), "{name}: {text}");
        }
        assert_eq!(server.ask("SELECT status FROM orders"), "paid");
    }
}

#[test]
fn every_command_reads_the_same_address_the_same_way() {
    for kind in [ServerKind::Postgres, ServerKind::Mariadb, ServerKind::Mysql] {
        let Some(server) = Server::start(kind) else { continue };
        for command in COMMANDS {
            for row in &ROWS {
                let bench = Bench::new();
                bench.file("one.sql", "SELECT 1;\n");
                bench.file(
                    "one.lua",
                    "function thread_init() con = sysbench.sql.driver():connect() end\nfunction event() con:query('SELECT 1') end\n",
                );
                // The way of `run` to the server is that of `plan`.
                if command == "run" && !matches!(row.3, In) {
                    continue;
                }
                let Some(ended) = run(command, &bench, &server, row) else { continue };
                let said = format!("{}{}", ended.stdout, ended.stderr);
                let place = format!("{kind} {command} {} {:?} {:?}: {ended}", row.0, row.1, row.2);
                match &row.3 {
                    In => assert!(ended.is_done(), "{place}"),
                    Out(words) => {
                        let words =
                            if command == "sysbench" { sysbench_words(words, kind) } else { words };
                        assert!(ended.code != 0 && said.contains(words), "{place}");
                    }
                }
                assert_nowhere(
                    server.running.target().password.reveal(),
                    &said,
                    bench.path(),
                    &place,
                );
            }
        }
    }
}

/// sysbench has options where addresses have parameters.
fn sysbench_words(words: &'static str, kind: ServerKind) -> &'static str {
    match (words, kind) {
        ("sslmode=require", ServerKind::Postgres) => "--pgsql-sslmode=require",
        ("sslmode=require", ServerKind::Mysql) => "--mysql-ssl=required",
        // MariaDB refuses as it refuses a wrong password, which is told as sysbench tells it.
        ("sslmode=require", _) => "error 1045",
        (words, _) => words,
    }
}

/// A password that stood in a URL is neither said nor kept, but in the spec of the user.
fn assert_nowhere(password: &str, said: &str, folder: &Path, place: &str) {
    assert!(!said.contains(password), "{place}");
    for name in ["r", "p", "s"] {
        assert!(!folder_holds(&folder.join(name), password), "{place}: {name}");
    }
}

#[test]
fn unsupported_url_parameters_fail_before_anything_is_opened() {
    let bench = Bench::new();
    bench.file("one.sql", "SELECT 1;\n");
    for (address, words) in [
        ("postgres://u@127.0.0.1:1/d?sslmod=require", "did you mean `sslmode`?"),
        ("postgres://u@127.0.0.1:1/d?gssencmode=require", "gssencmode=disable"),
        ("host=127.0.0.1 port=1 sslmod=require", "did you mean `sslmode`?"),
        ("mysql://u@127.0.0.1:1/d?tsl=required", "unknown parameter `tsl`"),
        ("mysql://u@127.0.0.1:1/d?ssl-mode=SOMETIMES", "`ssl-mode` cannot be `SOMETIMES`"),
        ("mysql://u@127.0.0.1:1/d?options=x", "parameter `options` is not for mysql"),
        ("postgres://u:hunter2/x@127.0.0.1:1/d", "percent-encode"),
        (
            "postgres://u@/d?host=/tmp&sslmode=require",
            "PostgreSQL has no encryption on unix sockets",
        ),
    ] {
        let ended = bench.dyno(&["pgbench", "-n", "-t", "1", "-f", "one.sql", address]);
        assert!(ended.code == 1 && ended.stderr.contains(words), "{address}: {ended}");
        assert!(
            !ended.stderr.contains("failed") && !ended.stderr.contains("hunter"),
            "{address}: {ended}"
        );
        if address.contains("://") {
            bench.file("x.toml", format!("title = \"t\"\n[[system]]\nname = \"S\"\nurl = \"{address}\"\n[workload]\nkind = \"rush\"\n[load]\nclients = 1\ntransactions = 1\n"));
            let ended = bench.dyno(&["run", "x.toml"]);
            assert!(ended.code == 3 && ended.stderr.contains(words), "{address}: {ended}");
            assert!(!ended.stderr.contains("hunter"), "{address}: {ended}");
        }
    }
}
