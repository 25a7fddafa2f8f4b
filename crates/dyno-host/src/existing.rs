//! Systems that run already: their password, version and settings.

use crate::client_files::{self, Account};
use crate::session::Session;
use crate::settings;
use dyno_model::failure::OperationFailure;
use dyno_model::plan::{ExistingSystem, PasswordSource};
use dyno_model::secret::Secret;
use dyno_model::target::{Endpoint, Engine, QueryMode, Target};
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// A system that was reached.
#[derive(Debug, Clone)]
pub struct ConnectedSystem {
    /// How clients reach it.
    pub target: Target,
    /// The version it reports.
    pub version: String,
    /// Settings that matter for figures, read from it.
    pub settings: BTreeMap<String, String>,
}

/// Why a system could not be used.
#[derive(Debug)]
pub enum ExistingError {
    /// The environment variable with the password is not set.
    NoVariable {
        /// Its name.
        name: String,
    },
    /// The variable's value is no text. The value is not shown.
    VariableNotText {
        /// Its name.
        name: String,
    },
    /// The file with the password cannot be read.
    PasswordFile {
        /// Its path.
        path: PathBuf,
        /// The system's words.
        error: io::Error,
    },
    /// The file with the password is empty.
    PasswordFileEmpty {
        /// Its path.
        path: PathBuf,
    },
    /// The client programs' file has no entry for the account.
    NoClientEntry {
        /// Its path.
        path: PathBuf,
        /// The account, as `mysql://user@host:port/database`.
        place: String,
    },
    /// The system could not be reached or entered.
    Connect {
        /// Where, as `mysql://user@host:port/database`; without the password.
        place: String,
        /// What it said.
        failure: OperationFailure,
    },
    /// It answers and refuses to tell its settings.
    Settings {
        /// Where.
        place: String,
        /// What it said.
        failure: OperationFailure,
    },
}

impl fmt::Display for ExistingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoVariable { name } => write!(
                f,
                "the password is to come from the environment variable {name}, which is not set\n\
                 hint: export {name}=... before dyno is started"
            ),
            Self::VariableNotText { name } => write!(f, "the environment variable {name} is not valid UTF-8"),
            Self::PasswordFile { path, error } => {
                write!(f, "cannot read the password's file {}: {error}", path.display())
            }
            Self::PasswordFileEmpty { path } => write!(
                f,
                "the password's file {} has an empty first line\nhint: the password is its first line",
                path.display()
            ),
            Self::NoClientEntry { path, place } => write!(
                f,
                "{} has no password for {place}\n\
                 hint: in .pgpass a line host:port:database:user:password; in .my.cnf the group [client] with user and password",
                path.display()
            ),
            Self::Connect { place, failure } => write!(f, "cannot connect to {place}: {failure}"),
            Self::Settings { place, failure } => write!(f, "{place} does not tell its settings: {failure}"),
        }
    }
}

impl std::error::Error for ExistingError {}

/// Reads a system's password from where it is kept.
///
/// # Errors
/// When the variable is not set, the file cannot be read or has no entry; the password itself is never part of the error.
pub fn password(system: &ExistingSystem) -> Result<Secret, ExistingError> {
    match &system.password {
        PasswordSource::ClientFile => client_password(system),
        PasswordSource::None => Ok(Secret::default()),
        PasswordSource::Environment(name) => match std::env::var(name) {
            Ok(password) => Ok(Secret::new(password)),
            Err(std::env::VarError::NotPresent) => Err(ExistingError::NoVariable { name: name.clone() }),
            Err(std::env::VarError::NotUnicode(_)) => {
                Err(ExistingError::VariableNotText { name: name.clone() })
            }
        },
        PasswordSource::File(path) => {
            let text = fs::read_to_string(path)
                .map_err(|error| ExistingError::PasswordFile { path: path.clone(), error })?;
            match text.lines().next() {
                Some(line) if !line.is_empty() => Ok(Secret::new(line)),
                _ => Err(ExistingError::PasswordFileEmpty { path: path.clone() }),
            }
        }
    }
}

/// The entry for a system's account in the file of the database's own client programs.
fn client_password(system: &ExistingSystem) -> Result<Secret, ExistingError> {
    let (host, port) = match &system.endpoint {
        Endpoint::Tcp { host, port } => (host.as_str(), *port),
        _ => ("localhost", 0),
    };
    let account = Account { host, port, database: &system.database, user: &system.user };
    let (file, find): (_, fn(&str, Account<'_>) -> Option<String>) = match system.engine {
        Engine::Postgres => (client_files::pgpass_file(), client_files::pgpass),
        _ => (client_files::my_cnf_file(), client_files::my_cnf),
    };
    let Some(path) = file else { return Err(ExistingError::NoVariable { name: "HOME".to_owned() }) };
    let text = client_files::read(&path)
        .map_err(|error| ExistingError::PasswordFile { path: path.clone(), error })?;
    find(&text, account)
        .map(Secret::new)
        .ok_or_else(|| ExistingError::NoClientEntry { path, place: place(system) })
}

/// How clients reach a system, its password included.
///
/// # Errors
/// As [`password`].
pub fn target(
    system: &ExistingSystem,
    query_mode: QueryMode,
    connect_timeout: Duration,
) -> Result<Target, ExistingError> {
    Ok(Target {
        user: system.user.clone(),
        password: password(system)?,
        database: system.database.clone(),
        tls: system.tls.clone(),
        query_mode,
        connect_timeout,
        ..Target::new(system.engine, system.endpoint.clone())
    })
}

/// Connects once, and reads version and settings.
///
/// # Errors
/// When there is no password, or the system cannot be reached, entered or asked.
pub fn connect(
    system: &ExistingSystem,
    query_mode: QueryMode,
    connect_timeout: Duration,
) -> Result<ConnectedSystem, ExistingError> {
    let target = target(system, query_mode, connect_timeout)?;
    let mut session =
        Session::open(&target).map_err(|failure| ExistingError::Connect { place: place(system), failure })?;
    let found = settings::read_with(&mut session, system.engine)
        .map_err(|failure| ExistingError::Settings { place: place(system), failure })?;
    let version = session.server_version();
    drop(session);
    Ok(ConnectedSystem {
        target,
        version,
        settings: settings::for_the_record(system.engine, &BTreeMap::new(), &found),
    })
}

/// Where a system is, for people.
fn place(system: &ExistingSystem) -> String {
    let ExistingSystem { engine, endpoint, user, database, .. } = system;
    match (user.is_empty(), database.is_empty()) {
        (true, true) => format!("{engine}:{endpoint}"),
        (false, true) => format!("{engine}://{user}@{endpoint}"),
        (true, false) => format!("{engine}://{endpoint}/{database}"),
        (false, false) => format!("{engine}://{user}@{endpoint}/{database}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::target::Tls;

    fn of(source: PasswordSource) -> Result<Secret, ExistingError> {
        password(&system(source, Endpoint::InProcess))
    }

    fn system(password: PasswordSource, endpoint: Endpoint) -> ExistingSystem {
        ExistingSystem {
            engine: Engine::Mysql,
            endpoint,
            user: "bench".to_owned(),
            password,
            database: "shop".to_owned(),
            tls: Tls::Off,
            data: dyno_model::plan::DataPolicy::Own,
            monitor: None,
        }
    }

    #[test]
    fn a_missing_variable_is_named() {
        let error = of(PasswordSource::Environment("DYNO_TEST_NO_SUCH_VARIABLE".to_owned())).unwrap_err();
        assert!(error.to_string().contains("DYNO_TEST_NO_SUCH_VARIABLE, which is not set"), "{error}");
    }

    #[test]
    fn a_password_is_the_first_line_of_its_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "s3cret \r\nsecond line\n").unwrap();
        assert_eq!(of(PasswordSource::File(file.path().to_owned())).unwrap().reveal(), "s3cret ");
        fs::write(file.path(), "\n").unwrap();
        let error = of(PasswordSource::File(file.path().to_owned())).unwrap_err().to_string();
        assert!(error.contains("empty first line"), "{error}");
        let error = of(PasswordSource::File("/nonexistent/pw".into())).unwrap_err().to_string();
        assert!(error.contains("/nonexistent/pw"), "{error}");
    }

    #[test]
    fn a_closed_port_is_named_and_the_password_is_not() {
        let closed = dyno_testkit::ClosedPort::new();
        let port = closed.address().port();
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "s3cret\n").unwrap();
        let endpoint = Endpoint::Tcp { host: "127.0.0.1".to_owned(), port };
        let system = system(PasswordSource::File(file.path().to_owned()), endpoint);
        let error = connect(&system, QueryMode::Prepared, Duration::from_secs(60)).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!(
                "cannot connect to mysql://bench@127.0.0.1:{port}/shop: connect-refused"
            )),
            "{error}"
        );
        assert!(!error.contains("s3cret"), "{error}");
    }
}
