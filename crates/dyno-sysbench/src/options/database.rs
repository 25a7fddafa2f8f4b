//! Database options as targets: where connections go, in turn, and which errors are ignored.

use super::OptionError;
use super::definition::{Kind, Value};
use dyno_drivers::postgres::passfile::{self, Wanted};
use dyno_drivers::postgres::session_options;
use dyno_model::secret::Secret;
use dyno_model::target::{ClientCertificate, Endpoint, Engine, QueryMode, Target, Tls};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Everything about databases.
#[derive(Debug, Clone)]
pub struct DatabaseOptions {
    /// `--db-driver`: mysql, pgsql, sqlite, or whatever was typed; checked when a driver is wanted.
    pub driver: String,
    /// `--db-ps-mode`.
    pub prepared: PreparedMode,
    /// Where MySQL connections go, each to the next in turn; never empty.
    pub mysql: Vec<Target>,
    /// Errors of MySQL after which an event is repeated.
    pub mysql_ignored: Ignored<u32>,
    /// No server: every MySQL statement succeeds at once.
    pub mysql_dry_run: bool,
    /// Where PostgreSQL connections go, each to the next in turn; never empty.
    pub postgres: Vec<Target>,
    /// SQLSTATEs of PostgreSQL after which an event is rolled back and repeated.
    pub postgres_ignored: Ignored<String>,
    /// The SQLite database; its endpoint is in-process when no file was named.
    pub sqlite: Target,
    /// Options that were asked for and have no effect, in words.
    pub notes: Vec<String>,
}

/// A set of errors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ignored<T> {
    /// Every error.
    All,
    /// These.
    Codes(Vec<T>),
}

/// How statements travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreparedMode {
    /// Prepared in the server where it can.
    Auto,
    /// As text with the values written in.
    Disable,
}

/// The driver that the options name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DriverName {
    /// MySQL, MariaDB.
    Mysql,
    /// PostgreSQL.
    Pgsql,
    /// SQLite.
    Sqlite,
}

impl DriverName {
    /// Drivers by their name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        match name {
            "mysql" => Some(Self::Mysql),
            "pgsql" => Some(Self::Pgsql),
            "sqlite" => Some(Self::Sqlite),
            _ => None,
        }
    }

    /// Its name in `--db-driver`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mysql => "mysql",
            Self::Pgsql => "pgsql",
            Self::Sqlite => "sqlite",
        }
    }
}

type Values = BTreeMap<String, Value>;

/// MySQL's port when none is named.
const MYSQL_PORT: u16 = 3306;

/// Where servers put their socket, in the order in which client libraries of the distributions look.
const MYSQL_SOCKETS: [&str; 4] = [
    "/run/mysqld/mysqld.sock",
    "/var/run/mysqld/mysqld.sock",
    "/var/lib/mysql/mysql.sock",
    "/tmp/mysql.sock",
];

/// What of the environment matters: variables and existing files.
pub struct Surroundings<'a> {
    /// An environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// True when the file exists.
    pub exists: &'a dyn Fn(&Path) -> bool,
    /// Contents of a file of passwords, if it can be read, and by nobody else.
    pub secrets: &'a dyn Fn(&Path) -> Option<String>,
}

impl std::fmt::Debug for Surroundings<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Surroundings")
    }
}

/// As libpq, a file that others may read is not used.
fn secrets(file: &Path) -> Option<String> {
    let mode = std::fs::metadata(file).ok()?.permissions().mode();
    if mode & 0o077 == 0 { std::fs::read_to_string(file).ok() } else { None }
}

impl DatabaseOptions {
    /// Reads and checks the options, with the process's own environment.
    ///
    /// # Errors
    /// When a port, an error number or an encryption mode is none.
    pub fn from_values(values: &Values, given: &BTreeSet<String>) -> Result<Self, OptionError> {
        let surroundings = Surroundings {
            variable: &|name| std::env::var(name).ok(),
            exists: &|file| file.exists(),
            secrets: &secrets,
        };
        Self::within(values, given, &surroundings)
    }

    /// The same in other surroundings.
    ///
    /// # Errors
    /// As [`DatabaseOptions::from_values`].
    pub fn within(
        values: &Values,
        given: &BTreeSet<String>,
        surroundings: &Surroundings<'_>,
    ) -> Result<Self, OptionError> {
        let prepared = match values["db_ps_mode"].text().as_str() {
            "auto" => PreparedMode::Auto,
            "disable" => PreparedMode::Disable,
            other => return Err(OptionError::Fatal(format!("Invalid value for db-ps-mode: {other}"))),
        };
        let query_mode =
            if prepared == PreparedMode::Disable { QueryMode::Simple } else { QueryMode::Prepared };
        let file = values["sqlite_db"].text();
        let endpoint =
            if file.is_empty() { Endpoint::InProcess } else { Endpoint::File(PathBuf::from(file)) };
        Ok(Self {
            driver: values["db_driver"].text(),
            prepared,
            mysql: mysql_targets(values, surroundings, query_mode)?,
            mysql_ignored: mysql_ignored(&values["mysql_ignore_errors"])?,
            mysql_dry_run: values["mysql_dry_run"].is_on(),
            postgres: postgres_targets(values, given, surroundings, query_mode)?,
            postgres_ignored: postgres_ignored(&values["pgsql_ignore_errors"])?,
            sqlite: Target { query_mode, ..Target::new(Engine::Sqlite, endpoint) },
            notes: notes(values),
        })
    }

    /// The driver named by `--db-driver`; `None` when there is no such driver.
    #[must_use]
    pub fn driver(&self) -> Option<DriverName> {
        DriverName::find(&self.driver)
    }

    /// Targets of a driver, in the order in which connections are dealt; never empty.
    #[must_use]
    pub fn targets(&self, driver: DriverName) -> &[Target] {
        match driver {
            DriverName::Mysql => &self.mysql,
            DriverName::Pgsql => &self.postgres,
            DriverName::Sqlite => std::slice::from_ref(&self.sqlite),
        }
    }
}

/// Sockets come first; else every host with every port. `localhost` is the server's own socket where there is one, as
/// the client libraries have it, unless another port than the usual one is named.
fn mysql_targets(
    values: &Values,
    surroundings: &Surroundings<'_>,
    query_mode: QueryMode,
) -> Result<Vec<Target>, OptionError> {
    let tls = mysql_tls(values, surroundings)?;
    let certificate = mysql_certificate(values, surroundings)?;
    let sockets = values["mysql_socket"].items();
    let mut endpoints: Vec<Endpoint> = sockets.into_iter().map(|path| Endpoint::Unix(path.into())).collect();
    if endpoints.is_empty() {
        let mut ports = Vec::new();
        for text in values["mysql_port"].items() {
            ports.push(port("mysql-port", &text)?.unwrap_or(MYSQL_PORT));
        }
        if ports.is_empty() {
            ports.push(MYSQL_PORT);
        }
        // An empty list is a mistake, of a shell variable that is not set perhaps: whoever connects is told.
        for host in values["mysql_host"].items() {
            endpoints.extend(ports.iter().map(|port| mysql_endpoint(&host, *port, surroundings)));
        }
    }
    Ok(endpoints
        .into_iter()
        .map(|endpoint| Target {
            user: values["mysql_user"].text(),
            password: Secret::new(values["mysql_password"].text()),
            database: values["mysql_db"].text(),
            // A socket does not leave the machine.
            tls: if matches!(endpoint, Endpoint::Unix(_)) { Tls::Off } else { tls.clone() },
            client_certificate: certificate.clone(),
            query_mode,
            ..Target::new(Engine::Mysql, endpoint)
        })
        .collect())
}

fn mysql_endpoint(host: &str, port: u16, surroundings: &Surroundings<'_>) -> Endpoint {
    if host == "localhost" && port == MYSQL_PORT {
        let named = (surroundings.variable)("MYSQL_UNIX_PORT");
        let usual = MYSQL_SOCKETS.iter().map(|path| (*path).to_owned());
        let socket = named.into_iter().chain(usual).find(|path| (surroundings.exists)(Path::new(path)));
        if let Some(socket) = socket {
            return Endpoint::Unix(PathBuf::from(socket));
        }
    }
    Endpoint::Tcp { host: host.to_owned(), port }
}

/// File names that sysbench 1.0 has built in for `--mysql-ssl=on`.
const MYSQL_CA: &str = "cacert.pem";
const MYSQL_CERTIFICATE: &str = "client-cert.pem";
const MYSQL_KEY: &str = "client-key.pem";

/// The client's certificate: as named, or for `--mysql-ssl=on` in the files that sysbench 1.0 has built in, if both are there.
fn mysql_certificate(
    values: &Values,
    surroundings: &Surroundings<'_>,
) -> Result<Option<ClientCertificate>, OptionError> {
    let named = |name: &str| Some(values[name].text()).filter(|text| !text.is_empty());
    let certificate = client_certificate(
        ("mysql-ssl-cert", named("mysql_ssl_cert")),
        ("mysql-ssl-key", named("mysql_ssl_key")),
    )?;
    let are_there = || {
        values["mysql_ssl"] == Value::Boolean(true)
            && [MYSQL_CERTIFICATE, MYSQL_KEY].iter().all(|file| (surroundings.exists)(Path::new(file)))
    };
    Ok(certificate.or_else(|| {
        are_there()
            .then(|| ClientCertificate { certificate: MYSQL_CERTIFICATE.into(), key: MYSQL_KEY.into() })
    }))
}

/// A certificate needs its key, and the other way round.
fn client_certificate(
    (certificate_option, certificate): (&str, Option<String>),
    (key_option, key): (&str, Option<String>),
) -> Result<Option<ClientCertificate>, OptionError> {
    let alone = |given: &str, other: &str| Err(OptionError::Fatal(format!("--{given} needs --{other}")));
    match (certificate, key) {
        (Some(certificate), Some(key)) => {
            Ok(Some(ClientCertificate { certificate: certificate.into(), key: key.into() }))
        }
        (None, None) => Ok(None),
        (Some(_), None) => alone(certificate_option, key_option),
        (None, Some(_)) => alone(key_option, certificate_option),
    }
}

fn mysql_tls(values: &Values, surroundings: &Surroundings<'_>) -> Result<Tls, OptionError> {
    let ca = values["mysql_ssl_ca"].text();
    let verify = |what: &str| {
        if ca.is_empty() {
            Err(OptionError::Fatal(format!("--mysql-ssl={what} needs --mysql-ssl-ca")))
        } else {
            Ok(Tls::Verify { ca: PathBuf::from(&ca) })
        }
    };
    match &values["mysql_ssl"] {
        Value::Boolean(false) if ca.is_empty() => Ok(Tls::Off),
        Value::Boolean(_) if !ca.is_empty() => verify("on"),
        Value::Boolean(_) => Ok(if (surroundings.exists)(Path::new(MYSQL_CA)) {
            Tls::Verify { ca: PathBuf::from(MYSQL_CA) }
        } else {
            Tls::Required
        }),
        other => match other.text().to_ascii_lowercase().as_str() {
            "disabled" | "" | "preferred" => Ok(Tls::Off),
            "required" => Ok(Tls::Required),
            mode @ ("verify_ca" | "verify_identity") => verify(mode),
            mode => Err(OptionError::Fatal(format!("Invalid value for --mysql-ssl: '{mode}'"))),
        },
    }
}

fn postgres_targets(
    values: &Values,
    given: &BTreeSet<String>,
    surroundings: &Surroundings<'_>,
    query_mode: QueryMode,
) -> Result<Vec<Target>, OptionError> {
    let tls = postgres_tls(values, given, surroundings)?;
    let named = |option: &str, variable: &str| {
        let text = Some(values[option].text()).filter(|text| !text.is_empty());
        text.or_else(|| (surroundings.variable)(variable)).filter(|text| !text.is_empty())
    };
    let certificate = client_certificate(
        ("pgsql-sslcert", named("pgsql_sslcert", "PGSSLCERT")),
        ("pgsql-sslkey", named("pgsql_sslkey", "PGSSLKEY")),
    )?;
    let variable = |name: &str| (surroundings.variable)(name).filter(|text| !text.is_empty());
    let own_port = port("pgsql-port", &values["pgsql_port"].text())?;
    let common_port = match variable("PGPORT") {
        Some(text) if own_port.is_none() => port("PGPORT", &text)?,
        _ => own_port,
    };
    let user = named("pgsql_user", "PGUSER").or_else(|| variable("USER")).unwrap_or_default();
    let database = named("pgsql_db", "PGDATABASE").unwrap_or_else(|| user.clone());
    let given_password = named("pgsql_password", "PGPASSWORD").map(Secret::new);
    let mut session_setup = session_options::statements(&variable("PGOPTIONS").unwrap_or_default())
        .map_err(|text| OptionError::Fatal(format!("PGOPTIONS: {text}")))?;
    session_setup.extend(variable("PGAPPNAME").map(|name| session_options::application_name(&name)));
    let mut hosts = values["pgsql_host"].items();
    if hosts.is_empty() {
        let has_socket = (surroundings.exists)(Path::new(POSTGRES_SOCKETS));
        let usual = if has_socket { POSTGRES_SOCKETS } else { "localhost" };
        hosts.push(variable("PGHOST").unwrap_or_else(|| usual.to_owned()));
    }
    let mut targets = Vec::new();
    for host in hosts {
        let endpoint = postgres_endpoint(&host, common_port.unwrap_or(5432))?;
        let password =
            given_password.clone().or_else(|| kept_password(&endpoint, &database, &user, surroundings));
        targets.push(Target {
            user: user.clone(),
            password: password.unwrap_or_default(),
            database: database.clone(),
            tls: if matches!(endpoint, Endpoint::Unix(_)) { Tls::Off } else { tls.clone() },
            client_certificate: certificate.clone(),
            query_mode,
            session_setup: session_setup.clone(),
            ..Target::new(Engine::Postgres, endpoint)
        });
    }
    Ok(targets)
}

/// Folder of PostgreSQL's socket on Debian and others.
const POSTGRES_SOCKETS: &str = "/var/run/postgresql";

/// The password that libpq's password file has for a server.
fn kept_password(
    endpoint: &Endpoint,
    database: &str,
    user: &str,
    surroundings: &Surroundings<'_>,
) -> Option<Secret> {
    let named = (surroundings.variable)("PGPASSFILE").map(PathBuf::from);
    let home = || Some(PathBuf::from((surroundings.variable)("HOME")?).join(".pgpass"));
    let file = (surroundings.secrets)(&named.or_else(home)?)?;
    let (host, port) = match endpoint {
        Endpoint::Tcp { host, port } => (host.clone(), port.to_string()),
        // Sockets in the usual folder are `localhost`, others are told by their folder.
        Endpoint::Unix(socket) => {
            let folder = socket.parent()?.display().to_string();
            let host = if folder == POSTGRES_SOCKETS { "localhost".to_owned() } else { folder };
            (host, socket.extension()?.to_str()?.to_owned())
        }
        Endpoint::File(_) | Endpoint::InProcess => return None,
    };
    passfile::find(&file, &Wanted { host: &host, port: &port, database, user })
}

/// A host, a host with its own port (`a:5433`, `[::1]:5433`), or a folder of sockets.
fn postgres_endpoint(host: &str, common_port: u16) -> Result<Endpoint, OptionError> {
    if host.starts_with('/') {
        return Ok(Endpoint::Unix(Path::new(host).join(format!(".s.PGSQL.{common_port}"))));
    }
    if let Some((address, rest)) = host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        let own = rest.strip_prefix(':').map_or(Ok(None), |text| port("pgsql-host", text))?;
        return Ok(Endpoint::Tcp { host: address.to_owned(), port: own.unwrap_or(common_port) });
    }
    match host.split_once(':') {
        Some((name, text)) if !text.contains(':') => {
            let own = port("pgsql-host", text)?.unwrap_or(common_port);
            Ok(Endpoint::Tcp { host: name.to_owned(), port: own })
        }
        _ => Ok(Endpoint::Tcp { host: host.to_owned(), port: common_port }),
    }
}

/// `prefer` and `allow` leave the choice to the client; dyno never encrypts by itself, because encryption is part of
/// what is measured.
fn postgres_tls(
    values: &Values,
    given: &BTreeSet<String>,
    surroundings: &Surroundings<'_>,
) -> Result<Tls, OptionError> {
    let mut mode = values["pgsql_sslmode"].text();
    if !given.contains("pgsql_sslmode") {
        mode = (surroundings.variable)("PGSSLMODE").unwrap_or(mode);
    }
    let ca = Some(values["pgsql_sslrootcert"].text())
        .filter(|text| !text.is_empty())
        .or_else(|| (surroundings.variable)("PGSSLROOTCERT"));
    match mode.as_str() {
        "" | "disable" | "allow" | "prefer" => Ok(Tls::Off),
        "require" => Ok(ca.map_or(Tls::Required, |ca| Tls::Verify { ca: PathBuf::from(ca) })),
        "verify-ca" | "verify-full" => match ca {
            Some(ca) => Ok(Tls::Verify { ca: PathBuf::from(ca) }),
            None => Err(OptionError::Fatal(format!("--pgsql-sslmode={mode} needs --pgsql-sslrootcert"))),
        },
        other => Err(OptionError::Fatal(format!("Invalid value for --pgsql-sslmode: '{other}'"))),
    }
}

/// A port; 0 and nothing mean the usual one.
fn port(option: &str, text: &str) -> Result<Option<u16>, OptionError> {
    match text.trim() {
        "" => Ok(None),
        text => match text.parse::<u16>() {
            Ok(0) => Ok(None),
            Ok(port) => Ok(Some(port)),
            Err(_) => Err(OptionError::Fatal(format!("Invalid value for --{option}: '{text}' is no port"))),
        },
    }
}

fn mysql_ignored(value: &Value) -> Result<Ignored<u32>, OptionError> {
    let items = value.items();
    if items.iter().any(|item| item.eq_ignore_ascii_case("all")) {
        return Ok(Ignored::All);
    }
    let mut codes = Vec::new();
    for item in items {
        match Kind::Integer.parse(Some(&item)) {
            Ok(number) if number.number() >= 0.0 => codes.push(number.number() as u32),
            _ => {
                let text = format!("Invalid value for --mysql-ignore-errors: '{item}' is no error number");
                return Err(OptionError::Fatal(text));
            }
        }
    }
    Ok(Ignored::Codes(codes))
}

fn postgres_ignored(value: &Value) -> Result<Ignored<String>, OptionError> {
    let items = value.items();
    if items.iter().any(|item| item.eq_ignore_ascii_case("all")) {
        return Ok(Ignored::All);
    }
    for item in &items {
        let is_state = item.len() == 5 && item.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !is_state {
            let text = format!("Invalid value for --pgsql-ignore-errors: '{item}' is no SQLSTATE");
            return Err(OptionError::Fatal(text));
        }
    }
    Ok(Ignored::Codes(items.into_iter().map(|item| item.to_ascii_uppercase()).collect()))
}

fn notes(values: &Values) -> Vec<String> {
    let mut notes = Vec::new();
    if values["mysql_compression"].is_on() {
        notes.push("--mysql-compression: not supported, connections are not compressed".to_owned());
    }
    if !values["luajit_cmd"].text().is_empty() {
        notes.push("--luajit-cmd: not supported, the compiler stays on".to_owned());
    }
    if !values["mysql_ssl_cipher"].text().is_empty() {
        notes.push("--mysql-ssl-cipher: not supported, ciphers are chosen by TLS itself".to_owned());
    }
    notes
}
