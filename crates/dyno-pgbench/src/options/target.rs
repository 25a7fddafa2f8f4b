//! From options, environment and files to a target, as libpq does it for PostgreSQL.

use super::url::{self, Url};
use super::{Address, UsageError, conninfo};
use dyno_drivers::postgres::passfile::{self, Wanted};
use dyno_drivers::postgres::session_options;
use dyno_model::secret::Secret;
use dyno_model::target::{ClientCertificate, Endpoint, Engine, QueryMode, Target, Tls};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Folder of PostgreSQL's socket on Debian and others; without it a server is looked for at `localhost`.
const SOCKET_FOLDER: &str = "/var/run/postgresql";
const POSTGRES_PORT: &str = "5432";
const MYSQL_PORT: u16 = 3306;

/// What of the world decides where to connect.
pub struct Environment<'a> {
    /// A variable of the environment.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Contents of a file, if it can be read; a password file only if others cannot.
    pub file: &'a dyn Fn(&Path) -> Option<String>,
    /// True when a file or folder exists.
    pub exists: &'a dyn Fn(&Path) -> bool,
    /// Name of the user that runs the program.
    pub user: String,
}

/// Finds out where to connect.
///
/// # Errors
/// When a part of the address cannot be understood. No message holds a password.
pub fn resolve(address: &Address, mode: QueryMode, world: &Environment<'_>) -> Result<Target, UsageError> {
    if let Some(text) = &address.url {
        let url = url::parse(text)?;
        return match url.engine {
            Engine::Mysql => mysql(address, url, mode, world),
            Engine::Sqlite => Ok(sqlite(url)),
            _ => postgres(&Address { database: Some(text.clone()), ..address.clone() }, mode, world),
        };
    }
    match address.database.as_deref().and_then(url::engine) {
        Some(Engine::Mysql | Engine::Sqlite) => {
            let url = address.database.clone();
            resolve(&Address { database: None, url, ..address.clone() }, mode, world)
        }
        _ => postgres(address, mode, world),
    }
}

/// Variables of the environment and the keys of connection strings that they stand for.
const VARIABLES: [(&str, &str); 14] = [
    ("PGHOST", "host"),
    ("PGHOSTADDR", "hostaddr"),
    ("PGPORT", "port"),
    ("PGUSER", "user"),
    ("PGDATABASE", "dbname"),
    ("PGPASSWORD", "password"),
    ("PGPASSFILE", "passfile"),
    ("PGSSLMODE", "sslmode"),
    ("PGSSLROOTCERT", "sslrootcert"),
    ("PGSSLCERT", "sslcert"),
    ("PGSSLKEY", "sslkey"),
    ("PGCONNECT_TIMEOUT", "connect_timeout"),
    ("PGOPTIONS", "options"),
    ("PGAPPNAME", "application_name"),
];

fn postgres(address: &Address, mode: QueryMode, world: &Environment<'_>) -> Result<Target, UsageError> {
    let mut keys: BTreeMap<String, String> = VARIABLES
        .into_iter()
        .filter_map(|(variable, key)| Some((key.to_owned(), (world.variable)(variable)?)))
        .collect();
    for (key, value) in [("host", &address.host), ("port", &address.port), ("user", &address.user)] {
        keys.extend(value.clone().map(|value| (key.to_owned(), value)));
    }
    match &address.database {
        Some(text) if url::engine(text) == Some(Engine::Postgres) => keys.extend(of_url(url::parse(text)?)),
        Some(text) if text.contains('=') => keys.extend(conninfo::parse(text)?),
        Some(name) => drop(keys.insert("dbname".to_owned(), name.clone())),
        None => {}
    }
    let key = |name: &str| keys.get(name).map(String::as_str).filter(|value| !value.is_empty());
    // Of several hosts the first one is taken.
    let first = |list: &str| list.split(',').next().unwrap_or_default().to_owned();
    let host = key("hostaddr").or(key("host")).map_or_else(
        || {
            if (world.exists)(Path::new(SOCKET_FOLDER)) {
                SOCKET_FOLDER.to_owned()
            } else {
                "localhost".to_owned()
            }
        },
        first,
    );
    let port = key("port").map_or_else(|| POSTGRES_PORT.to_owned(), first);
    let number = port.parse().map_err(|_| {
        UsageError::new(format!("invalid integer value \"{port}\" for connection option \"port\""))
    })?;
    let user = key("user").unwrap_or(&world.user).to_owned();
    let database = key("dbname").unwrap_or(&user).to_owned();
    let is_socket = host.starts_with('/');
    let endpoint = if is_socket {
        Endpoint::Unix(PathBuf::from(&host).join(format!(".s.PGSQL.{port}")))
    } else {
        Endpoint::Tcp { host: host.clone(), port: number }
    };
    let mut target = Target::new(Engine::Postgres, endpoint);
    target.password = match key("password") {
        Some(password) => Secret::new(password),
        None => {
            let host = if host == SOCKET_FOLDER { "localhost" } else { &host };
            let wanted = Wanted { host, port: &port, database: &database, user: &user };
            let home = || Some(PathBuf::from((world.variable)("HOME")?).join(".pgpass"));
            let file = key("passfile").map(PathBuf::from).or_else(home);
            file.and_then(|file| passfile::find(&(world.file)(&file)?, &wanted)).unwrap_or_default()
        }
    };
    target.user = user;
    target.database = database;
    target.query_mode = mode;
    if !is_socket {
        target.tls = tls(key("sslmode").unwrap_or("prefer"), key("sslrootcert"), world)?;
        target.client_certificate = client_certificate(key("sslcert"), key("sslkey"), world);
    }
    if let Some(seconds) =
        key("connect_timeout").and_then(|text| text.parse().ok()).filter(|seconds| *seconds > 0)
    {
        target.connect_timeout = Duration::from_secs(seconds);
    }
    target.session_setup =
        session_options::statements(key("options").unwrap_or_default()).map_err(UsageError::new)?;
    target.session_setup.extend(key("application_name").map(session_options::application_name));
    Ok(target)
}

/// A URL's parts as keys of a connection string.
fn of_url(url: Url) -> BTreeMap<String, String> {
    let parts = [
        ("host", url.host),
        ("port", url.port),
        ("user", url.user),
        ("password", url.password.reveal().to_owned()),
        ("dbname", url.database),
    ];
    let parts = parts.into_iter().map(|(key, value)| (key.to_owned(), value));
    parts.chain(url.parameters).filter(|(_, value)| !value.is_empty()).collect()
}

/// libpq's modes. It prefers encryption when nothing is said; dyno does not encrypt unless it is told to, because that is part of
/// what is measured.
fn tls(mode: &str, ca: Option<&str>, world: &Environment<'_>) -> Result<Tls, UsageError> {
    match mode {
        "disable" | "allow" | "prefer" => Ok(Tls::Off),
        "require" => Ok(Tls::Required),
        "verify-ca" | "verify-full" => {
            let home = || Some(PathBuf::from((world.variable)("HOME")?).join(".postgresql/root.crt"));
            let ca = ca.map(PathBuf::from).or_else(home);
            ca.map(|ca| Tls::Verify { ca }).ok_or_else(|| UsageError::new("sslmode needs sslrootcert"))
        }
        other => Err(UsageError::new(format!("invalid sslmode value: \"{other}\""))),
    }
}

/// The client's certificate: libpq looks in the home folder for what is not named, and goes without when it is not there.
fn client_certificate(
    certificate: Option<&str>,
    key: Option<&str>,
    world: &Environment<'_>,
) -> Option<ClientCertificate> {
    let place = |named: Option<&str>, usual: &str| {
        let home = || Some(PathBuf::from((world.variable)("HOME")?).join(".postgresql").join(usual));
        named.map(PathBuf::from).or_else(|| home().filter(|file| (world.exists)(file)))
    };
    let (certificate, key) = (place(certificate, "postgresql.crt")?, place(key, "postgresql.key")?);
    Some(ClientCertificate { certificate, key })
}

fn mysql(
    address: &Address,
    url: Url,
    mode: QueryMode,
    world: &Environment<'_>,
) -> Result<Target, UsageError> {
    let or = |option: &Option<String>, of_url: String| option.clone().unwrap_or(of_url);
    let host = match or(&address.host, url.host) {
        host if host.is_empty() => "localhost".to_owned(),
        host => host,
    };
    let port = or(&address.port, url.port);
    let port = if port.is_empty() {
        MYSQL_PORT
    } else {
        port.parse().map_err(|_| UsageError::new(format!("invalid port \"{port}\"")))?
    };
    let parameter =
        |name: &str| url.parameters.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    let endpoint = match parameter("socket") {
        Some(file) => Endpoint::Unix(PathBuf::from(file)),
        None => Endpoint::Tcp { host, port },
    };
    let mut target = Target::new(Engine::Mysql, endpoint);
    let user = or(&address.user, url.user);
    target.user = if user.is_empty() { world.user.clone() } else { user };
    target.password = match (world.variable)("MYSQL_PWD") {
        Some(password) if url.password.is_empty() => Secret::new(password),
        _ => url.password,
    };
    target.database = or(&address.database, url.database);
    target.tls = match parameter("tls") {
        None | Some("off") => Tls::Off,
        Some("required") => Tls::Required,
        Some("verify") => match parameter("ca") {
            Some(ca) => Tls::Verify { ca: PathBuf::from(ca) },
            None => return Err(UsageError::new("tls=verify needs ca=FILE")),
        },
        Some(other) => {
            return Err(UsageError::new(format!("tls is off, required or verify, not \"{other}\"")));
        }
    };
    // The protocol knows texts and prepared statements, nothing in between.
    target.query_mode = if mode == QueryMode::Extended { QueryMode::Prepared } else { mode };
    Ok(target)
}

fn sqlite(url: Url) -> Target {
    let mut target = Target::new(Engine::Sqlite, Endpoint::File(PathBuf::from(url.database)));
    // Writers wait for each other instead of failing at once, and readers do not wait for writers.
    target.session_setup =
        vec!["PRAGMA journal_mode = WAL".to_owned(), "PRAGMA busy_timeout = 10000".to_owned()];
    target
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve_in(variables: &[(&str, &str)], address: &Address) -> Target {
        let world = Environment {
            variable: &|name| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            },
            file: &|path| {
                (path == Path::new("/home/me/.pgpass")).then(|| "h:5433:db:you:from file\n".to_owned())
            },
            exists: &|_| false,
            user: "me".to_owned(),
        };
        resolve(address, QueryMode::Simple, &world).expect("the address is one")
    }

    fn tcp(target: &Target) -> String {
        format!("{} {} {} {}", target.endpoint, target.user, target.database, target.password.reveal())
    }

    #[test]
    fn options_come_before_the_environment_and_a_connection_string_before_both() {
        let environment =
            [("PGHOST", "h"), ("PGPORT", "5433"), ("PGDATABASE", "db"), ("PGPASSWORD", "secret")];
        assert_eq!(tcp(&resolve_in(&environment, &Address::default())), "h:5433 me db secret");
        let address =
            Address { host: Some("other".into()), database: Some("x".into()), ..Address::default() };
        assert_eq!(tcp(&resolve_in(&environment, &address)), "other:5433 me x secret");
        let database = Some("host=third user=you password=p".into());
        let address = Address { database, ..address };
        assert_eq!(tcp(&resolve_in(&environment, &address)), "third:5433 you db p");
        let address = Address { database: Some("postgresql://u:p@u:1/d".into()), ..Address::default() };
        assert_eq!(tcp(&resolve_in(&environment, &address)), "u:1 u d p");
        assert_eq!(tcp(&resolve_in(&[], &Address::default())), "localhost:5432 me me ");
    }

    #[test]
    fn a_host_that_is_a_folder_has_the_socket_in_it() {
        let address = Address { host: Some("/tmp".into()), ..Address::default() };
        let target = resolve_in(&[("PGPORT", "99"), ("PGSSLMODE", "require")], &address);
        assert_eq!(target.endpoint, Endpoint::Unix("/tmp/.s.PGSQL.99".into()));
        assert_eq!(target.tls, Tls::Off);
    }

    #[test]
    fn the_password_file_is_read_when_no_password_is_given() {
        let environment = [("HOME", "/home/me"), ("PGHOST", "h"), ("PGPORT", "5433"), ("PGUSER", "you")];
        let address = Address { database: Some("db".into()), ..Address::default() };
        assert_eq!(resolve_in(&environment, &address).password.reveal(), "from file");
    }

    #[test]
    fn settings_of_the_session_are_taken_from_the_options() {
        let options = "-c default_transaction_isolation=repeatable\\ read --lock-timeout=5s -cwork_mem=1MB";
        let target = resolve_in(&[("PGOPTIONS", options)], &Address::default());
        let expected = [
            "SET default_transaction_isolation = 'repeatable read'",
            "SET lock_timeout = '5s'",
            "SET work_mem = '1MB'",
        ];
        assert_eq!(target.session_setup, expected);
    }

    #[test]
    fn other_engines_are_reached_by_url() {
        let address = Address { url: Some("mysql://u:p@h:3307/d".into()), ..Address::default() };
        let target = resolve_in(&[], &address);
        assert_eq!((target.engine, tcp(&target).as_str()), (Engine::Mysql, "h:3307 u d p"));
        let address = Address { database: Some("sqlite:x.db".into()), ..Address::default() };
        assert_eq!(resolve_in(&[], &address).endpoint, Endpoint::File("x.db".into()));
    }
}
