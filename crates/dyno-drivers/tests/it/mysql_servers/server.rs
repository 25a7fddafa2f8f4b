//! Real servers for these tests, each started once, in a scratch folder that is removed with the
//! test process.

use dyno_drivers::mysql::Connection;
use dyno_drivers::{Discard, Driver, Io, Table, block_on};
use dyno_model::target::{Endpoint, Engine, Target};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::LazyLock;

/// Which server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Mariadb,
    Mysql,
}

/// A running server; root has no password.
pub(crate) struct Server {
    pub(crate) kind: Kind,
    pub(crate) socket: PathBuf,
    pub(crate) port: u16,
    /// The authority that signed the server's certificate for 127.0.0.1 and localhost.
    pub(crate) authority: PathBuf,
    /// An authority that signed nothing.
    pub(crate) other_authority: PathBuf,
    /// A supervising shell stops the server and removes its folder as soon as this end of its pipe
    /// closes for any reason.
    _leash: ChildStdin,
}

static MARIADB: LazyLock<Option<Server>> = LazyLock::new(|| start_or_say(Kind::Mariadb));
static MYSQL: LazyLock<Option<Server>> = LazyLock::new(|| start_or_say(Kind::Mysql));

/// The installed servers.
pub(crate) fn servers() -> impl Iterator<Item = &'static Server> {
    [mariadb(), mysql()].into_iter().flatten()
}

pub(crate) fn mariadb() -> Option<&'static Server> {
    MARIADB.as_ref()
}

pub(crate) fn mysql() -> Option<&'static Server> {
    MYSQL.as_ref()
}

impl Server {
    /// Root over the unix socket, without a database.
    pub(crate) fn root(&self) -> Target {
        let mut target = Target::new(Engine::Mysql, Endpoint::Unix(self.socket.clone()));
        target.user = "root".to_owned();
        target
    }

    pub(crate) fn tcp(&self) -> Endpoint {
        Endpoint::Tcp { host: "127.0.0.1".to_owned(), port: self.port }
    }

    /// Root with a new database of this name.
    pub(crate) fn database(&self, name: &str) -> Target {
        let mut root = self.connect(&self.root());
        run(&mut root, &format!("DROP DATABASE IF EXISTS {name}"));
        run(&mut root, &format!("CREATE DATABASE {name} CHARACTER SET utf8mb4"));
        block_on(root.close());
        let mut target = self.root();
        target.database = name.to_owned();
        target
    }

    pub(crate) fn connect(&self, target: &Target) -> Connection {
        block_on(Connection::connect(target, &Io::Blocking))
            .unwrap_or_else(|failure| panic!("{:?}: {failure}", self.kind))
    }
}

pub(crate) fn run(connection: &mut Connection, sql: &str) {
    block_on(connection.query(sql, &mut Discard))
        .unwrap_or_else(|failure| panic!("{sql}: {failure}"));
}

pub(crate) fn table(connection: &mut Connection, sql: &str) -> Vec<Vec<Option<String>>> {
    let mut table = Table::default();
    block_on(connection.query(sql, &mut table))
        .unwrap_or_else(|failure| panic!("{sql}: {failure}"));
    table.0
}

pub(crate) fn first(connection: &mut Connection, sql: &str) -> String {
    table(connection, sql)[0][0].clone().unwrap_or_else(|| "NULL".to_owned())
}

fn start_or_say(kind: Kind) -> Option<Server> {
    let Some(binaries) = binaries(kind) else {
        println!("skipped: no {kind:?} server on this machine; scripts/servers installs one");
        return None;
    };
    Some(start(kind, &binaries))
}

/// The folder of the server's programs.
fn binaries(kind: Kind) -> Option<PathBuf> {
    let (name, variable, program) = match kind {
        Kind::Mariadb => ("mariadb", "DYNO_MARIADB_BIN_DIR", "mariadbd"),
        Kind::Mysql => ("mysql", "DYNO_MYSQL_BIN_DIR", "mysqld"),
    };
    if std::env::var("DYNO_TEST_SERVERS").is_ok_and(|kinds| !kinds.contains(name)) {
        return None;
    }
    let mut folders: Vec<PathBuf> =
        std::env::var_os(variable).map(PathBuf::from).into_iter().collect();
    match kind {
        Kind::Mariadb => {
            folders.extend(["/usr/sbin", "/usr/bin", "/usr/local/bin"].map(PathBuf::from));
        }
        // Where MariaDB is installed, `mysqld` in the usual folders is MariaDB; ours has a folder
        // per version.
        Kind::Mysql => {
            let base = std::env::var("DYNO_SERVERS_DIR")
                .unwrap_or_else(|_| "/opt/dyno-servers".to_owned());
            let versions = fs::read_dir(base).into_iter().flatten().flatten();
            folders.extend(versions.map(|entry| entry.path().join("bin")));
        }
    }
    folders.into_iter().find(|folder| folder.join(program).is_file())
}

fn start(kind: Kind, binaries: &Path) -> Server {
    // The server's user must be able to enter, and unix socket paths must be short.
    let folder =
        tempfile::Builder::new().prefix("dyno-db").tempdir().expect("a scratch folder").keep();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    let data = folder.join("data");
    fs::create_dir(&data).unwrap();
    certificates(&folder);
    let owner = server_user();
    if let Some((_, user, group)) = owner {
        for path in [&folder, &data, &folder.join("server.key")] {
            chown(path, Some(user), Some(group)).unwrap();
        }
    }
    let user_option: Vec<String> =
        owner.iter().map(|(name, ..)| format!("--user={name}")).collect();
    initialise(kind, binaries, &data, &user_option);
    let socket = folder.join("s");
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut options = vec![
        "--no-defaults".to_owned(),
        format!("--datadir={}", data.display()),
        format!("--socket={}", socket.display()),
        format!("--port={port}"),
        format!("--ssl-ca={}", folder.join("ca.pem").display()),
        format!("--ssl-cert={}", folder.join("server.pem").display()),
        format!("--ssl-key={}", folder.join("server.key").display()),
    ];
    options.extend(user_option);
    options.extend(
        "--bind-address=127.0.0.1 --skip-name-resolve --max-connections=400 --max-allowed-packet=64M \
         --innodb-buffer-pool-size=256M --innodb-flush-log-at-trx-commit=0 --innodb-lock-wait-timeout=2 \
         --max-connect-errors=1000000"
            .split_whitespace()
            .map(str::to_owned),
    );
    let program = match kind {
        Kind::Mariadb => {
            options.push("--plugin-load-add=auth_ed25519".to_owned());
            binaries.join("mariadbd")
        }
        Kind::Mysql => {
            options.extend(["--mysqlx=OFF", "--skip-log-bin"].map(str::to_owned));
            binaries.join("mysqld")
        }
    };
    let leash = watch(&folder, &program, &options);
    let server = Server {
        kind,
        socket,
        port,
        authority: folder.join("ca.pem"),
        other_authority: folder.join("other.pem"),
        _leash: leash,
    };
    let mut root = server.connect(&server.root());
    // Over TCP, root connects from here.
    run(&mut root, "CREATE USER IF NOT EXISTS root@'127.0.0.1'");
    run(&mut root, "GRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION");
    server
}

/// Root may not run database servers; their packages create a user for them.
fn server_user() -> Option<(&'static str, u32, u32)> {
    let is_root = fs::metadata("/proc/self")
        .is_ok_and(|process| std::os::unix::fs::MetadataExt::uid(&process) == 0);
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let line = users.lines().find(|line| line.starts_with("mysql:"))?;
    let mut fields = line.split(':').skip(2);
    let (user, group) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    is_root.then_some(("mysql", user, group))
}

fn initialise(kind: Kind, binaries: &Path, data: &Path, user_option: &[String]) {
    // A starting MariaDB removes temporary tables of others in the same folder.
    let temporary = data.parent().expect("it is in the server's folder");
    let data = format!("--datadir={}", data.display());
    let mut command = match kind {
        Kind::Mariadb => {
            let near = binaries.join("mariadb-install-db");
            let program = if near.is_file() { near } else { "mariadb-install-db".into() };
            let mut command = Command::new(program);
            command.args([
                "--no-defaults",
                "--auth-root-authentication-method=normal",
                "--skip-test-db",
            ]);
            command
        }
        Kind::Mysql => {
            let mut command = Command::new(binaries.join("mysqld"));
            command.args(["--no-defaults", "--initialize-insecure"]);
            command
        }
    };
    let output = command.arg(data).args(user_option).env("TMPDIR", temporary).output();
    let output = output.expect("the server's installer starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Starts the server under a shell that waits for the end of this process, and returns when the
/// server is ready.
fn watch(folder: &Path, program: &Path, options: &[String]) -> ChildStdin {
    let script = r#"folder=$1; shift
        "$@" </dev/null & server=$!
        read -r _
        kill -KILL $server; wait $server 2>/dev/null; rm -rf "$folder""#;
    #[expect(
        clippy::zombie_processes,
        reason = "it outlives this process by a moment, to clean up behind it"
    )]
    let mut watcher: Child = Command::new("sh")
        .args(["-c", script, "watch"])
        .arg(folder)
        .arg(program)
        .args(options)
        .env("TMPDIR", folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a shell");
    let mut log = BufReader::new(watcher.stderr.take().expect("piped"));
    let mut said = String::new();
    while !said.contains("ready for connections") {
        assert_ne!(log.read_line(&mut said).unwrap(), 0, "the server did not start:\n{said}");
    }
    // A full pipe would block the server.
    std::thread::spawn(move || std::io::copy(&mut log, &mut File::create("/dev/null").unwrap()));
    watcher.stdin.take().expect("piped")
}

/// An authority, a certificate that it signed for the server, and an authority that signed nothing.
fn certificates(folder: &Path) {
    fs::write(
        folder.join("extensions"),
        "subjectAltName=IP:127.0.0.1,DNS:localhost\nbasicConstraints=CA:FALSE\n",
    )
    .unwrap();
    let key = "-newkey rsa:2048 -nodes";
    for command in [
        &format!("req -x509 {key} -keyout ca.key -out ca.pem -subj /CN=authority -days 2"),
        &format!("req -x509 {key} -keyout other.key -out other.pem -subj /CN=other -days 2"),
        &format!("req {key} -keyout server.key -out server.csr -subj /CN=server"),
        "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out server.pem -days 2 -extfile extensions",
        &format!("req {key} -keyout client.key -out client.csr -subj /CN=client"),
        "x509 -req -in client.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out client.pem -days 2 -extfile extensions",
    ] {
        let output = Command::new("openssl")
            .args(command.split(' '))
            .current_dir(folder)
            .output()
            .expect("openssl");
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
