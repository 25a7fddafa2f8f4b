//! Converts database options to targets, and to the errors that are ignored.

use super::definition::{Kind, Value, dashed};
use super::error::OptionError;
use dyno_drivers::address::{self, Surroundings};
use dyno_lua::{Access, Databases};
use dyno_model::address::{AddressError, Key, Keys, host_and_port};
use dyno_model::retry::RetriedErrors;
use dyno_model::secret::Secret;
use dyno_model::target::{Endpoint, Engine, QueryMode, Target};
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv6Addr;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone)]
pub(crate) struct DatabaseOptions {
    /// The driver name as typed, and the targets of each driver.
    pub(crate) databases: Databases,
    /// `--db-ps-mode`: prepared on the server if possible, or text with literal values.
    pub(crate) query_mode: QueryMode,
    /// Given options that have no effect, as messages.
    pub(crate) notes: Vec<String>,
}

type Values = BTreeMap<String, Value>;

/// MySQL's default port.
const MYSQL_PORT: u16 = 3306;

/// Common socket paths of servers, in the order in which the distributions' client libraries search
/// them.
const MYSQL_SOCKETS: [&str; 4] = [
    "/run/mysqld/mysqld.sock",
    "/var/run/mysqld/mysqld.sock",
    "/var/lib/mysql/mysql.sock",
    "/tmp/mysql.sock",
];

impl DatabaseOptions {
    /// Reads and checks the options.
    ///
    /// # Errors
    /// When a port, an error number or an encryption mode is invalid.
    pub(crate) fn from_values(
        values: &Values,
        given: &BTreeSet<String>,
        surroundings: &Surroundings<'_>,
    ) -> Result<Self, OptionError> {
        let query_mode = match values["db_ps_mode"].text().as_str() {
            "auto" => QueryMode::Prepared,
            "disable" => QueryMode::Simple,
            other => {
                return Err(OptionError::Fatal(format!("Invalid value for db-ps-mode: {other}")));
            }
        };
        let postgres =
            postgres_targets(values, given, surroundings, query_mode).or_else(|error| {
                // Invalid variables are only reported when connecting to PostgreSQL.
                let no_variables = Surroundings { variable: &|_| None, ..*surroundings };
                let is_meant = values["db_driver"].text() == Engine::Postgres.sysbench().name;
                let others = || postgres_targets(values, given, &no_variables, query_mode);
                if is_meant { Err(error) } else { others() }
            })?;
        let file = values["sqlite_db"].text();
        let sqlite = Target::new(Engine::Sqlite, Endpoint::File(PathBuf::from(&file)));
        let mut databases = Databases {
            driver: values["db_driver"].text(),
            dry_run: values["mysql_dry_run"].is_on(),
            ..Databases::default()
        };
        *databases.access_mut(Engine::Mysql) = Access {
            targets: mysql_targets(values, surroundings, query_mode)?,
            ignored: mysql_ignored(values)?,
        };
        *databases.access_mut(Engine::Postgres) =
            Access { targets: postgres, ignored: postgres_ignored(values)? };
        if !file.is_empty() {
            databases.access_mut(Engine::Sqlite).targets.push(Target { query_mode, ..sqlite });
        }
        Ok(Self { databases, query_mode, notes: notes(values) })
    }

    /// The driver named by `--db-driver`; `None` when it is unknown.
    pub(crate) fn driver(&self) -> Option<Engine> {
        Engine::of_sysbench(&self.databases.driver)
    }

    /// Targets of a driver, in the order in which connections use them; empty when no database was
    /// named.
    pub(crate) fn targets(&self, driver: Engine) -> &[Target] {
        &self.databases.access(driver).targets
    }

    /// True for a dry run, in which every statement succeeds at once.
    pub(crate) fn is_dry(&self, driver: Engine) -> bool {
        driver == Engine::Mysql && self.databases.dry_run
    }
}

/// Sockets take precedence; otherwise every host with every port. `localhost` means the server's
/// socket if it exists, as in the client libraries, unless another port than the default is named.
fn mysql_targets(
    values: &Values,
    surroundings: &Surroundings<'_>,
    query_mode: QueryMode,
) -> Result<Vec<Target>, OptionError> {
    let encryption = mysql_encryption(values, surroundings);
    let sockets = values["mysql_socket"].items();
    let mut endpoints: Vec<Endpoint> =
        sockets.into_iter().map(|path| Endpoint::Unix(path.into())).collect();
    if endpoints.is_empty() {
        let mut ports = Vec::new();
        for text in values["mysql_port"].items() {
            ports.push(port("mysql-port", &text)?.unwrap_or(MYSQL_PORT));
        }
        if ports.is_empty() {
            ports.push(MYSQL_PORT);
        }
        // An empty list is an error, perhaps of an unset shell variable, which is reported on
        // connecting.
        for host in values["mysql_host"].items() {
            endpoints.extend(ports.iter().map(|port| mysql_endpoint(&host, *port, surroundings)));
        }
    }
    let target = |endpoint: Endpoint| {
        let mut keys = encryption.clone();
        match &endpoint {
            Endpoint::Tcp { host, port } => {
                keys.give(Key::Host, "--mysql-host", host);
                keys.give(Key::Port, "--mysql-port", port.to_string());
            }
            socket => keys.give(Key::Socket, "--mysql-socket", socket.to_string()),
        }
        let mut target = keys.target(Engine::Mysql).map_err(|errors| refused(&errors))?;
        address::complete(&mut target, surroundings).map_err(|error| refused(&[error]))?;
        Ok(Target {
            endpoint,
            user: values["mysql_user"].text(),
            password: Secret::new(values["mysql_password"].text()),
            database: values["mysql_db"].text(),
            query_mode,
            ..target
        })
    };
    endpoints.into_iter().map(target).collect()
}

/// Errors of an address, with their remedies.
fn refused(errors: &[AddressError]) -> OptionError {
    let texts: Vec<String> =
        errors.iter().map(|error| format!("{}; {}", error.message, error.help)).collect();
    OptionError::Fatal(texts.join("; "))
}

fn mysql_endpoint(host: &str, port: u16, surroundings: &Surroundings<'_>) -> Endpoint {
    if host == "localhost" && port == MYSQL_PORT {
        let named = (surroundings.variable)("MYSQL_UNIX_PORT");
        let usual = MYSQL_SOCKETS.iter().map(|path| (*path).to_owned());
        let socket =
            named.into_iter().chain(usual).find(|path| (surroundings.exists)(Path::new(path)));
        if let Some(socket) = socket {
            return Endpoint::Unix(PathBuf::from(socket));
        }
    }
    Endpoint::Tcp { host: host.to_owned(), port }
}

/// File names that are built into sysbench 1.0 for `--mysql-ssl=on`.
const MYSQL_CA: &str = "cacert.pem";
const MYSQL_CERTIFICATE: &str = "client-cert.pem";
const MYSQL_KEY: &str = "client-key.pem";

/// Encryption, and the client's certificate: as named, or for `--mysql-ssl=on` the files that are
/// built into sysbench 1.0, if they exist.
fn mysql_encryption(values: &Values, surroundings: &Surroundings<'_>) -> Keys {
    let mut keys = Keys::default();
    keys.give(Key::Authorities, "--mysql-ssl-ca", values["mysql_ssl_ca"].text());
    keys.give(Key::Certificate, "--mysql-ssl-cert", values["mysql_ssl_cert"].text());
    keys.give(Key::PrivateKey, "--mysql-ssl-key", values["mysql_ssl_key"].text());
    let is_there = |file: &str| (surroundings.exists)(Path::new(file));
    let is_on = values["mysql_ssl"] == Value::Boolean(true);
    if is_on && keys.text(Key::Authorities).is_none() && is_there(MYSQL_CA) {
        keys.give(Key::Authorities, "--mysql-ssl-ca", MYSQL_CA);
    }
    let is_named = keys.text(Key::Certificate).or(keys.text(Key::PrivateKey)).is_some();
    if is_on && !is_named && is_there(MYSQL_CERTIFICATE) && is_there(MYSQL_KEY) {
        keys.give(Key::Certificate, "--mysql-ssl-cert", MYSQL_CERTIFICATE);
        keys.give(Key::PrivateKey, "--mysql-ssl-key", MYSQL_KEY);
    }
    let mode = match &values["mysql_ssl"] {
        Value::Boolean(_) if keys.text(Key::Authorities).is_some() => "verify-full".to_owned(),
        Value::Boolean(true) => "require".to_owned(),
        Value::Boolean(false) => String::new(),
        mode => mode.text(),
    };
    keys.give(Key::Encryption, "--mysql-ssl", mode);
    keys
}

fn postgres_targets(
    values: &Values,
    given: &BTreeSet<String>,
    surroundings: &Surroundings<'_>,
    query_mode: QueryMode,
) -> Result<Vec<Target>, OptionError> {
    let mut common = Keys::default();
    for (key, option, name) in [
        (Key::User, "pgsql_user", "--pgsql-user"),
        (Key::Password, "pgsql_password", "--pgsql-password"),
        (Key::Database, "pgsql_db", "--pgsql-db"),
        (Key::Authorities, "pgsql_sslrootcert", "--pgsql-sslrootcert"),
        (Key::Certificate, "pgsql_sslcert", "--pgsql-sslcert"),
        (Key::PrivateKey, "pgsql_sslkey", "--pgsql-sslkey"),
    ] {
        common.give(key, name, values[option].text());
    }
    // The default must not be treated as given.
    if given.contains("pgsql_sslmode") {
        common.give(Key::Encryption, "--pgsql-sslmode", values["pgsql_sslmode"].text());
    }
    if let Some(port) = port("pgsql-port", &values["pgsql_port"].text())? {
        common.give(Key::Port, "--pgsql-port", port.to_string());
    }
    let mut hosts = values["pgsql_host"].items();
    if hosts.is_empty() {
        hosts.push(String::new());
    }
    let target = |host: String| {
        let mut keys = common.clone();
        // A host, a host with its own port (`a:5433`, `[::1]:5433`), or a folder of sockets.
        let is_bare = host.starts_with('/') || host.parse::<Ipv6Addr>().is_ok();
        let address = if is_bare { Ok((host, None)) } else { host_and_port(&host) };
        let (host, own_port) = address.map_err(|error| refused(&[error]))?;
        keys.give(Key::Host, "--pgsql-host", host);
        keys.give(
            Key::Port,
            "--pgsql-host",
            own_port.map(|port| port.to_string()).unwrap_or_default(),
        );
        let target = address::resolve(Engine::Postgres, keys, surroundings)
            .map_err(|errors| refused(&errors))?;
        Ok(Target { query_mode, ..target })
    };
    hosts.into_iter().map(target).collect()
}

/// A port; 0 and an empty text mean the default.
fn port(option: &str, text: &str) -> Result<Option<u16>, OptionError> {
    match text.trim() {
        "" => Ok(None),
        text => match text.parse::<u16>() {
            Ok(0) => Ok(None),
            Ok(port) => Ok(Some(port)),
            Err(_) => Err(OptionError::Fatal(format!(
                "Invalid value for --{option}: '{text}' is not a port"
            ))),
        },
    }
}

/// The errors of a list, each parsed by `take`, or all errors.
fn ignored(
    values: &Values,
    option: &str,
    what: &str,
    take: impl Fn(&str, &mut RetriedErrors) -> bool,
) -> Result<RetriedErrors, OptionError> {
    let items = values[option].items();
    let all = items.iter().any(|item| item.eq_ignore_ascii_case("all"));
    let mut errors = RetriedErrors { all, ..RetriedErrors::default() };
    match items.iter().find(|item| !all && !take(item, &mut errors)) {
        None => Ok(errors),
        Some(item) => {
            let text =
                format!("Invalid value for --{}: '{item}' is not a valid {what}", dashed(option));
            Err(OptionError::Fatal(text))
        }
    }
}

fn mysql_ignored(values: &Values) -> Result<RetriedErrors, OptionError> {
    ignored(values, "mysql_ignore_errors", "error number", |item, errors| {
        let number = Kind::Integer.parse(Some(item)).map_or(-1.0, |value| value.as_number());
        errors.codes.extend((number >= 0.0).then_some(number as u32));
        number >= 0.0
    })
}

fn postgres_ignored(values: &Values) -> Result<RetriedErrors, OptionError> {
    ignored(values, "pgsql_ignore_errors", "SQLSTATE", |item, errors| {
        errors.sqlstates.insert(item.to_ascii_uppercase());
        item.len() == 5 && item.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
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
        notes.push(
            "--mysql-ssl-cipher: not supported, dyno's TLS library chooses the ciphers".to_owned(),
        );
    }
    notes
}
