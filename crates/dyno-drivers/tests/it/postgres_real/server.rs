//! A PostgreSQL server for the tests: scratch folder, free port, one account per login method.

use dyno_drivers::postgres::Connection;
use dyno_drivers::{Discard, Driver, Io, Table, block_on};
use dyno_model::failure::OperationFailure;
use dyno_model::secret::Secret;
use dyno_model::target::{Endpoint, Engine, QueryMode, Target, Tls};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

/// The password of every account that has one. No output of a driver may contain it.
pub(crate) const PASSWORD: &str = "s3cret 글 'pw";

/// Accounts with the addresses they may connect from.
const PG_HBA: &str = "\
local   all all                       trust
host    all admin     127.0.0.1/32    trust
host    all trusted   127.0.0.1/32    trust
host    all scram     127.0.0.1/32    scram-sha-256
host    all hashed    127.0.0.1/32    md5
host    all plain     127.0.0.1/32    password
hostssl all encrypted 127.0.0.1/32    scram-sha-256
hostssl all shown     127.0.0.1/32    cert
host    all refused   127.0.0.1/32    reject
host    all limited   127.0.0.1/32    trust
host    all missing   127.0.0.1/32    trust
host    all shut      127.0.0.1/32    trust
";

const SETTINGS: &str = "listen_addresses = '127.0.0.1'
max_connections = 130
fsync = off
ssl = on
deadlock_timeout = 50ms
logging_collector = off
";

/// Stops the server and removes its folder when the process of the tests has ended in any way,
/// which closes its end of the pipe. `$0` is the folder, `$1` the programs' folder.
const KEEPER: &str = r#"
"$1/pg_ctl" start -w -D "$0/data" -l "$0/log" -o "-c config_file=$0/server.conf" >"$0/start" 2>&1 && echo ready || echo failed
read -r _
"$1/pg_ctl" stop -m immediate -D "$0/data" >/dev/null 2>&1
rm -rf "$0"
"#;

pub(crate) struct Server {
    pub(crate) port: u16,
    pub(crate) folder: PathBuf,
    _keeper: Child,
}

static SERVER: OnceLock<Option<Server>> = OnceLock::new();

/// The server shared by all tests, started by the first. `None`, with the reason printed, when it
/// is not installed.
pub(crate) fn server() -> Option<&'static Server> {
    SERVER
        .get_or_init(|| match programs() {
            Some(programs) => Some(Server::start(&programs)),
            None => {
                // Not with println, which is hidden for passing tests.
                let why = "no PostgreSQL in /usr/lib/postgresql; scripts/servers installs one";
                let mut terminal = std::io::stderr();
                terminal
                    .write_all(format!("PostgreSQL driver's tests skipped: {why}\n").as_bytes())
                    .unwrap();
                None
            }
        })
        .as_ref()
}

/// The folder that the environment names, otherwise that of the newest installed version.
fn programs() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("DYNO_POSTGRES_BIN_DIR") {
        return Some(folder.into());
    }
    let version =
        |path: &Path| path.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok());
    let mut versions: Vec<_> =
        fs::read_dir("/usr/lib/postgresql").ok()?.flatten().map(|entry| entry.path()).collect();
    versions.retain(|path| path.join("bin/initdb").exists());
    versions.sort_by_key(|path| version(path));
    Some(versions.pop()?.join("bin"))
}

/// PostgreSQL refuses to run as root; root's tests run it as this user.
fn account() -> Option<(u32, u32)> {
    // The owner of this process, without a dependency.
    let is_root =
        fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    let users = fs::read_to_string("/etc/passwd").ok()?;
    let line = users.lines().find(|line| line.starts_with("postgres:"))?;
    let mut numbers = line.split(':').skip(2).map(|field| field.parse().ok());
    let ids = (numbers.next()??, numbers.next()??);
    is_root.then_some(ids)
}

fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir("/").stdin(Stdio::null());
    if let Some((user, group)) = account() {
        command.uid(user).gid(group);
    }
    command
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

impl Server {
    fn start(programs: &Path) -> Self {
        let folder = tempfile::Builder::new().prefix("dyno-postgres-").tempdir().unwrap().keep();
        if let Some((user, group)) = account() {
            chown(&folder, Some(user), Some(group)).unwrap();
        }
        certificates(&folder);
        run(command(programs.join("initdb")).arg("-D").arg(folder.join("data")).args([
            "-U",
            "admin",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--no-locale",
            "--no-sync",
        ]));
        fs::write(folder.join("hba.conf"), PG_HBA).unwrap();
        for _ in 0..5 {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let place = folder.display();
            fs::write(
                folder.join("server.conf"),
                format!(
                    "{SETTINGS}port = {port}\nhba_file = '{place}/hba.conf'\nunix_socket_directories = '{place}'\n\
                     ssl_cert_file = '{place}/server.pem'\nssl_key_file = '{place}/server.key'\n\
                     ssl_ca_file = '{place}/ca.pem'\n"
                ),
            )
            .unwrap();
            let mut keeper = command("sh")
                .arg("-c")
                .arg(KEEPER)
                .arg(&folder)
                .arg(programs)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let mut answer = String::new();
            BufReader::new(keeper.stdout.take().unwrap()).read_line(&mut answer).unwrap();
            if answer == "ready\n" {
                let server = Self { port, folder, _keeper: keeper };
                server.make_accounts();
                return server;
            }
            // Another process took the port; the supervising shell must not remove the folder yet.
            keeper.kill().unwrap();
            keeper.wait().unwrap();
        }
        panic!(
            "PostgreSQL does not start: {}",
            fs::read_to_string(folder.join("log")).unwrap_or_default()
        );
    }

    fn make_accounts(&self) {
        let mut admin = self.admin();
        let password = PASSWORD.replace('\'', "''");
        let mut statements = vec!["SET password_encryption = 'md5'".to_owned()];
        statements.push(format!("CREATE ROLE hashed LOGIN PASSWORD '{password}'"));
        statements.push("SET password_encryption = 'scram-sha-256'".to_owned());
        for role in ["scram", "plain", "encrypted"] {
            statements.push(format!("CREATE ROLE {role} LOGIN PASSWORD '{password}'"));
        }
        for role in ["trusted", "refused", "shown"] {
            statements.push(format!("CREATE ROLE {role} LOGIN"));
        }
        statements.push("CREATE ROLE shut NOLOGIN".to_owned());
        statements.push("CREATE ROLE limited LOGIN CONNECTION LIMIT 0".to_owned());
        statements.push("CREATE DATABASE bench".to_owned());
        for statement in statements {
            block_on(admin.query(&statement, &mut Discard)).unwrap();
        }
    }

    /// A target over TCP.
    pub(crate) fn target(&self, user: &str) -> Target {
        let endpoint = Endpoint::Tcp { host: "127.0.0.1".to_owned(), port: self.port };
        let mut target = Target::new(Engine::Postgres, endpoint);
        user.clone_into(&mut target.user);
        "postgres".clone_into(&mut target.database);
        target.password = Secret::new(PASSWORD);
        target
    }

    /// The unix socket.
    pub(crate) fn socket(&self) -> Endpoint {
        Endpoint::Unix(self.folder.join(format!(".s.PGSQL.{}", self.port)))
    }

    /// Trusts the server's authority.
    pub(crate) fn verified(&self) -> Tls {
        Tls::Verify { ca: Some(self.folder.join("ca.pem")) }
    }

    /// A session of the superuser over the unix socket.
    pub(crate) fn admin(&self) -> Connection {
        connect(&Target { endpoint: self.socket(), ..self.target("admin") }).unwrap()
    }

    /// A session in a mode, with its own schema first in its search path.
    pub(crate) fn session(&self, mode: QueryMode, schema: &str) -> Connection {
        let mut target = self.target("admin");
        target.query_mode = mode;
        target.session_setup = vec![
            format!("CREATE SCHEMA IF NOT EXISTS {schema}"),
            format!("SET search_path = {schema}"),
        ];
        // Two sessions that create the same schema at the same time conflict in the catalogue.
        static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());
        let _turn = ONE_AT_A_TIME.lock().unwrap();
        connect(&target).unwrap()
    }
}

/// A certificate authority and a certificate for this host.
fn certificates(folder: &Path) {
    let openssl = |arguments: &str| {
        run(command("openssl").current_dir(folder).args(arguments.split(' ')));
    };
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
    openssl(&format!("req -x509 {key} -keyout ca.key -out ca.pem -days 2 -subj /CN=authority"));
    openssl(&format!("req {key} -keyout server.key -out server.csr -subj /CN=server"));
    fs::write(folder.join("names"), "subjectAltName=DNS:localhost,IP:127.0.0.1\n").unwrap();
    openssl(
        "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.pem",
    );
    openssl(&format!("req {key} -keyout client.key -out client.csr -subj /CN=shown"));
    openssl(
        "x509 -req -in client.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out client.pem",
    );
}

pub(crate) fn connect(target: &Target) -> Result<Connection, OperationFailure> {
    block_on(Connection::connect(target, &Io::Blocking))
}

/// All rows of a text, as text.
pub(crate) fn table(connection: &mut Connection, sql: &str) -> Vec<Vec<Option<String>>> {
    let mut table = Table::default();
    block_on(connection.query(sql, &mut table))
        .unwrap_or_else(|failure| panic!("{sql}: {failure}"));
    table.0
}

/// The first field of the first row.
pub(crate) fn first(connection: &mut Connection, sql: &str) -> String {
    table(connection, sql)[0][0].clone().unwrap_or_else(|| panic!("{sql}: NULL"))
}

/// Runs statements that must not fail.
pub(crate) fn run_all(connection: &mut Connection, statements: &[&str]) {
    for sql in statements {
        block_on(connection.query(sql, &mut Discard))
            .unwrap_or_else(|failure| panic!("{sql}: {failure}"));
    }
}
