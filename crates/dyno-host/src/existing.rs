//! Systems that dyno did not start: their password, version and settings.

use crate::ask::ask;
use crate::control_connection::{ControlConnection, QueryResult};
use crate::engine::queries;
use crate::error::HostError;
use crate::queries::pooler::{self, Pooler};
use crate::settings::{self, Compared, RoundedSetting, SettingProblem};
use dyno_drivers::address::{self, Surroundings, password_file, read_secrets, usual_password};
use dyno_files::SCRIPT_MAX;
use dyno_model::address::{Address, AddressError};
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::plan::{DataPolicy, ExistingSystem, PasswordSource};
use dyno_model::reason::Reason;
use dyno_model::secret::Secret;
use dyno_model::target::{Endpoint, QueryMode, Target};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A system after a successful connection.
#[derive(Debug, Clone)]
pub struct ConnectedSystem {
    /// The address for clients.
    pub target: Target,
    /// The version it reports, after the name of a product that only shares the protocol.
    pub version: String,
    /// The pooler in front of it.
    pub pooler: Option<Pooler>,
    /// Effective values of the settings that affect results and of those that were requested.
    pub settings: BTreeMap<String, String>,
    /// Names of requested settings that the server cannot report.
    pub unread: BTreeSet<String>,
    /// Why the server did not report its settings, if so.
    pub settings_refused: Option<String>,
    /// Requested settings that are not in force.
    pub problems: Vec<SettingProblem>,
    /// Requested settings that are in force with a rounded value.
    pub rounded: Vec<RoundedSetting>,
}

/// Reads a system's password from its source. The target is the system's, without the password.
fn password(system: &ExistingSystem, target: &Target) -> Result<Secret, HostError> {
    match &system.password {
        PasswordSource::ClientFile => client_password(system, target),
        PasswordSource::None => Ok(usual_password(target, &Surroundings::of_process())),
        PasswordSource::Url { password } if password.is_empty() => {
            let usual = usual_password(target, &Surroundings::of_process());
            if usual.is_empty() { Err(not_kept(system)) } else { Ok(usual) }
        }
        PasswordSource::Url { password } => Ok(password.clone()),
        PasswordSource::Environment(name) => variable(name).map(Secret::new),
        PasswordSource::UrlVariable(name) => {
            let url = Address::of_url(&variable(name)?);
            url.target().map(|target| target.password).map_err(|errors| {
                let source = format!("the URL in the environment variable {name}");
                wrong_address(&source, &errors[0])
            })
        }
        PasswordSource::Command(command) => printed_password(command),
        PasswordSource::File(path) => {
            let text = dyno_files::read_text(path, SCRIPT_MAX)
                .map_err(|error| unreadable(path, &error))?;
            match text.lines().next() {
                Some(line) if !line.is_empty() => Ok(Secret::new(line)),
                _ => Err(HostError::new(format!(
                    "the password file {} has an empty first line\nhint: write the password into \
                     its first line",
                    path.display()
                ))),
            }
        }
    }
}

/// The first line that a shell command prints. No error contains its output: a command that fails
/// may have printed the password before, and its messages may contain another secret.
fn printed_password(command: &str) -> Result<Secret, HostError> {
    let refused = |reason: String| {
        HostError::new(format!(
            "`password_command` {reason}\nhint: run it by hand in this folder; dyno does not show \
             its output and messages, because they may contain the password"
        ))
    };
    let mut shell = Command::new("/bin/sh");
    let answer = ask(shell.args(["-c", command]).stdout(Stdio::piped()).stderr(Stdio::null()))
        .map_err(|error| refused(format!("could not be started: {error}")))?;
    match answer.status {
        Some(status) if status.success() => {}
        Some(status) => return Err(refused(format!("failed: {status}"))),
        None => return Err(refused("did not end in time and was killed".to_owned())),
    }
    match answer.text.lines().next() {
        Some(line) if !line.is_empty() => Ok(Secret::new(line)),
        _ => Err(refused("printed no first line".to_owned())),
    }
}

/// Gives the next connections to a system the current password, if a command prints it: a token
/// expires, so one from the beginning of a run would soon be rejected.
///
/// # Errors
/// When the command fails or prints nothing.
pub fn renew_password(system: &ExistingSystem, target: &mut Target) -> Result<(), HostError> {
    if let PasswordSource::Command(command) = &system.password {
        target.password = printed_password(command)?;
    }
    Ok(())
}

/// A plan read from results does not contain a URL's password.
fn not_kept(system: &ExistingSystem) -> HostError {
    HostError::new(format!(
        "the password of {} was part of the spec's URL, which is not stored with the results\n\
         hint: {}or pass the spec file or the URL again",
        location(system),
        system
            .engine
            .traits()
            .password_variable
            .map_or_else(String::new, |name| format!("export {name}=..., "))
    ))
}

fn variable(name: &str) -> Result<String, HostError> {
    std::env::var(name).map_err(|error| match error {
        std::env::VarError::NotPresent => not_set(name),
        // The value is not shown.
        std::env::VarError::NotUnicode(_) => {
            HostError::new(format!("the environment variable {name} is not valid UTF-8"))
        }
    })
}

fn not_set(name: &str) -> HostError {
    HostError::new(Reason::NoPassword(name.to_owned()))
}

fn unreadable(path: &Path, error: &io::Error) -> HostError {
    HostError::new(format!("cannot read the password file {}: {error}", path.display()))
}

/// The address requests something that is not supported here.
fn wrong_address(source: &str, error: &AddressError) -> HostError {
    HostError::new(format!("{source}: {}\nhint: {}", error.message, error.help))
}

/// The password of a system's account in the password file of the database's own clients.
fn client_password(system: &ExistingSystem, target: &Target) -> Result<Secret, HostError> {
    let path = password_file::path(system.engine, &Surroundings::of_process());
    let path = path.ok_or_else(|| not_set("HOME"))?;
    let text = read_secrets(&path).map_err(|error| unreadable(&path, &error))?;
    password_file::find(&text, target).ok_or_else(|| {
        HostError::new(format!(
            "{} has no password for {}\n\
             hint: add a line host:port:database:user:password to .pgpass, or user and password to \
             the group [client] of .my.cnf",
            path.display(),
            location(system)
        ))
    })
}

/// The address for clients, including the password.
///
/// # Errors
/// When the variable with the password is not set, when the file cannot be read or has no entry,
/// when the command that prints it fails, and when a required certificate is not named. Errors
/// never contain the password.
pub fn target(
    system: &ExistingSystem,
    query_mode: QueryMode,
    connect_timeout: Duration,
) -> Result<Target, HostError> {
    let mut target = Target {
        user: system.user.clone(),
        database: system.database.clone(),
        tls: system.tls.clone(),
        client_certificate: system.client_certificate.clone(),
        session_setup: system.session_setup.clone(),
        options: system.connection_options.clone(),
        query_mode,
        connect_timeout,
        ..Target::new(system.engine, system.endpoint.clone())
    };
    target.password = password(system, &target)?;
    address::complete(&mut target, &Surroundings::of_process())
        .map_err(|error| wrong_address(&location(system), &error))?;
    Ok(target)
}

/// Connects once and reads the version and settings, including the requested ones.
///
/// # Errors
/// As [`target`], and when the connection, login or a query fails.
pub fn connect(
    system: &ExistingSystem,
    query_mode: QueryMode,
    connect_timeout: Duration,
    requested: &BTreeMap<String, String>,
) -> Result<ConnectedSystem, HostError> {
    connect_by(ControlConnection::open, system, query_mode, connect_timeout, requested)
}

/// As [`connect`], for cleaning up; an interrupt by the user does not stop it.
///
/// # Errors
/// As [`connect`].
pub fn connect_to_clean_up(
    system: &ExistingSystem,
    query_mode: QueryMode,
    connect_timeout: Duration,
    requested: &BTreeMap<String, String>,
) -> Result<ConnectedSystem, HostError> {
    connect_by(ControlConnection::open_to_clean_up, system, query_mode, connect_timeout, requested)
}

fn connect_by(
    open: fn(&Target) -> QueryResult<ControlConnection>,
    system: &ExistingSystem,
    query_mode: QueryMode,
    connect_timeout: Duration,
    requested: &BTreeMap<String, String>,
) -> Result<ConnectedSystem, HostError> {
    let target = target(system, query_mode, connect_timeout)?;
    let location = location(system);
    if let (Endpoint::File(path), DataPolicy::Existing | DataPolicy::Copy) =
        (&target.endpoint, system.data)
        && !path.exists()
    {
        // Connecting would create an empty file.
        return Err(HostError::new(format!(
            "the database file {} does not exist\nhint: `data = \"existing\"` needs a database \
             with its tables; dyno does not create one",
            path.display()
        )));
    }
    let mut session = open(&target).map_err(|failure| {
        let hint = hint(&failure, &target, &system.password);
        HostError::new(Reason::NotConnected {
            location: location.clone(),
            failure: Box::new(failure),
            hint,
        })
    })?;
    let (found, settings_refused) = match settings::read_with(&mut session, system.engine) {
        Ok(found) => (found, None),
        // SQLite reads a file only now.
        Err(failure) if failure.is_refusal() && matches!(target.endpoint, Endpoint::File(_)) => {
            let text = format!("{location} cannot be used: {failure}");
            let hint = "name the file of an SQLite database";
            return Err(HostError::new(format!("{text}\nhint: {hint}")));
        }
        // Only requested settings must be read back.
        Err(failure) if failure.is_refusal() && requested.is_empty() => {
            (BTreeMap::new(), Some(failure.to_string()))
        }
        Err(failure) => {
            let text = format!("cannot read the settings of {location}: {failure}");
            return Err(HostError::new(text));
        }
    };
    let mut version = queries(system.engine).identity(&mut session, &found).shown();
    let pooler = pooler::examine(&mut session, &target).map_err(|failure| {
        HostError::new(format!("cannot tell whether a pooler is in front of {location}: {failure}"))
    })?;
    if let Some(pooler) = &pooler {
        version = format!("{version} behind {}", pooler.shown());
    }
    drop(session);
    let Compared { record: settings, unread, problems, rounded } =
        settings::compared(system.engine, requested, &found);
    Ok(ConnectedSystem {
        target,
        version,
        pooler,
        settings,
        unread,
        settings_refused,
        problems,
        rounded,
    })
}

/// A hint after a failed connection.
fn hint(failure: &OperationFailure, target: &Target, source: &PasswordSource) -> String {
    let hints = match failure.kind {
        FailureKind::ConnectRefused => unreachable(&target.endpoint),
        FailureKind::Authentication => {
            // Some servers return the same error for a wrong password and missing encryption.
            let password = wrong_password(failure, target, source);
            let encryption = address::may_want_encryption(failure, target).then(|| {
                let if_required = match password.is_some() {
                    true => "or, if the server requires encryption",
                    false => "the connection was not encrypted; if the server requires encryption",
                };
                format!("{if_required}, add `sslmode=require` to the URL")
            });
            password.into_iter().chain(encryption).collect()
        }
        FailureKind::BadStatement if !target.database.is_empty() => {
            vec!["create the database, or name another one in the URL".to_owned()]
        }
        FailureKind::Permission => {
            let text = "check the database in the URL, and grant the account access to it";
            vec![text.to_owned()]
        }
        // Servers of two different kinds may each wait for the other side to speak first.
        FailureKind::Protocol | FailureKind::Timeout => {
            vec!["check whether another kind of server listens at this address".to_owned()]
        }
        FailureKind::Certificate => vec![
            "`sslrootcert=FILE` in the URL names the authorities that sign the server's \
             certificate, `sslcert=FILE` and `sslkey=FILE` the client's own certificate and key"
                .to_owned(),
        ],
        _ => Vec::new(),
    };
    if hints.is_empty() { String::new() } else { format!("\nhint: {}", hints.join("; ")) }
}

/// What to check if nothing answers at an address.
fn unreachable(endpoint: &Endpoint) -> Vec<String> {
    let text = match endpoint {
        Endpoint::Tcp { .. } => {
            "check that the server is running, and the host and port in the URL".to_owned()
        }
        Endpoint::Unix(_) => {
            "check that the server is running, and the path of its socket".to_owned()
        }
        Endpoint::File(path) if path.is_dir() => {
            format!(
                "it is a folder; name a file in it, such as {}",
                path.join("bench.db").display()
            )
        }
        Endpoint::File(_) => "check that its folder exists, and the permissions".to_owned(),
        Endpoint::InProcess => return Vec::new(),
    };
    vec![text]
}

/// How to give a password, or another one, if a login may have failed because it is missing.
fn wrong_password(
    failure: &OperationFailure,
    target: &Target,
    source: &PasswordSource,
) -> Option<String> {
    let traits = target.engine.traits();
    let variable = traits.password_variable?;
    if !(traits.may_want_password)(failure) {
        return None;
    }
    if target.password.is_empty() {
        return Some(format!(
            "no password was given: export {variable}=..., add it to the URL, or name a variable \
             that holds it with `password_env`"
        ));
    }
    // The driver itself rejects methods, not passwords.
    if !failure.is_answered() {
        return None;
    }
    let source = match source {
        PasswordSource::Url { .. } => "the URL".to_owned(),
        PasswordSource::UrlVariable(name) => format!("the URL in the variable {name}"),
        PasswordSource::Environment(name) => format!("the variable {name}"),
        PasswordSource::File(path) => format!("the file {}", path.display()),
        PasswordSource::Command(_) => "`password_command`".to_owned(),
        PasswordSource::None if std::env::var_os(variable).is_some() => {
            format!("the variable {variable}")
        }
        PasswordSource::ClientFile | PasswordSource::None => {
            "the password file of the database's own clients".to_owned()
        }
    };
    Some(format!(
        "check the user's name and the password, which came from {source} (a password can be in \
         the URL, in the environment variable {variable}, or, in a spec, in what `password_env` \
         or `password_file` names)"
    ))
}

/// The location of a system, for messages.
fn location(system: &ExistingSystem) -> String {
    let ExistingSystem { engine, endpoint, user, database, .. } = system;
    match (user.is_empty(), database.is_empty()) {
        (true, true) if matches!(endpoint, Endpoint::Tcp { .. }) => {
            format!("{engine}://{endpoint}")
        }
        (true, true) => format!("{engine}:{endpoint}"),
        (false, true) => format!("{engine}://{user}@{endpoint}"),
        (true, false) => format!("{engine}://{endpoint}/{database}"),
        (false, false) => format!("{engine}://{user}@{endpoint}/{database}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_drivers::null::server::{Options, Persona, Protocol, Rejection, serve};
    use dyno_model::target::{ChannelBinding, Engine, Tls};
    use std::fs;

    fn of(source: PasswordSource) -> Result<Secret, HostError> {
        let system = system(source, Endpoint::InProcess);
        Ok(target(&system, QueryMode::Prepared, Duration::from_secs(1))?.password)
    }

    fn system(password: PasswordSource, endpoint: Endpoint) -> ExistingSystem {
        ExistingSystem {
            engine: Engine::Mysql,
            endpoint,
            user: "bench".to_owned(),
            password,
            database: "shop".to_owned(),
            tls: Tls::Off,
            client_certificate: None,
            session_setup: Vec::new(),
            connection_options: Box::default(),
            data: DataPolicy::Own,
            monitor: None,
            hooks: None,
        }
    }

    #[test]
    fn places_are_written_as_in_a_url() {
        let of = |engine, endpoint| {
            let (user, database) = (String::new(), String::new());
            let system = system(PasswordSource::None, endpoint);
            location(&ExistingSystem { engine, user, database, ..system })
        };
        let service = Endpoint::Tcp { host: "shop".to_owned(), port: 80 };
        assert_eq!(of(Engine::Http, service), "http://shop:80");
        assert_eq!(of(Engine::Sqlite, Endpoint::File("/d/shop.db".into())), "sqlite:/d/shop.db");
    }

    #[test]
    fn a_connection_has_the_options_of_its_system() {
        let mut system = system(PasswordSource::None, Endpoint::InProcess);
        system.connection_options.channel_binding = ChannelBinding::Require;
        system.connection_options.has_direct_tls = true;
        // As in a run that is resumed.
        let stored = serde_json::from_str(&serde_json::to_string(&system).unwrap()).unwrap();
        let target = target(&stored, QueryMode::Prepared, Duration::from_secs(1)).unwrap();
        assert_eq!(target.options, system.connection_options);
    }

    #[test]
    fn a_missing_variable_is_reported_by_name() {
        let error =
            of(PasswordSource::Environment("DYNO_TEST_NO_SUCH_VARIABLE".to_owned())).unwrap_err();
        assert!(
            error.to_string().contains("DYNO_TEST_NO_SUCH_VARIABLE for the password is not set"),
            "{error}"
        );
    }

    #[test]
    fn the_password_of_a_url_is_used_and_requested_again_if_not_stored() {
        let url = PasswordSource::Url { password: Secret::new("s3cret") };
        let written = serde_json::to_string(&url).unwrap();
        assert!(!written.contains("s3cret"), "{written}");
        assert_eq!(of(url).unwrap().reveal(), "s3cret");
        let error = of(serde_json::from_str(&written).unwrap()).unwrap_err().to_string();
        assert!(
            error.contains("export MYSQL_PWD=..., or pass the spec file or the URL again"),
            "{error}"
        );
    }

    #[test]
    fn the_password_is_the_first_line_of_its_file() {
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
    fn the_password_is_the_first_line_that_its_command_prints() {
        let of = |command: &str| of(PasswordSource::Command(command.to_owned()));
        let printed = of("printf 's3cret \\nsecond line\\n'; echo s3cret-message >&2").unwrap();
        assert_eq!(printed.reveal(), "s3cret ");
        for (command, reason) in [
            ("echo s3cret; echo s3cret >&2; exit 7", "failed: exit status: 7"),
            ("true", "printed no first line"),
            ("kill -9 $$", "failed: signal: 9"),
        ] {
            let error = of(command).unwrap_err().to_string();
            assert!(error.contains(&format!("`password_command` {reason}")), "{error}");
            assert!(!error.contains("s3cret"), "{error}");
        }
    }

    #[test]
    fn connection_hint_depends_on_the_failure() {
        let mut target =
            Target::new(Engine::Mysql, Endpoint::Tcp { host: "db".to_owned(), port: 1 });
        target.tls = Tls::Required;
        let of = |target: &Target, failure: OperationFailure| {
            hint(&failure, target, &PasswordSource::Environment("SHOP_PW".to_owned()))
        };
        let hint = |kind: FailureKind| of(&target, kind.failure(""));
        assert!(hint(FailureKind::Authentication).contains("no password was given"));
        let of_certificates = hint(FailureKind::Certificate);
        assert!(of_certificates.contains("sslrootcert") && !of_certificates.contains("password"));
        assert!(hint(FailureKind::ConnectRefused).contains("host and port"));
        assert_eq!(hint(FailureKind::OutOfConnections), "");
        // A password was given: where it came from, and where encryption is only a possibility,
        // that comes second.
        target.password = Secret::new("s3cret");
        let denied = |code| OperationFailure { code, ..FailureKind::Authentication.failure("no") };
        let encrypted = of(&target, denied(1045));
        assert!(encrypted.contains("the variable SHOP_PW"), "{encrypted}");
        assert!(encrypted.contains("environment variable MYSQL_PWD"), "{encrypted}");
        assert!(!encrypted.contains("sslmode") && !encrypted.contains("s3cret"), "{encrypted}");
        target.tls = Tls::Off;
        let [wrong, required] = [1045, 3159].map(|code| of(&target, denied(code)));
        assert!(wrong.find("SHOP_PW") < wrong.find("or, if the server requires"), "{wrong}");
        assert!(required.contains("was not encrypted") && !required.contains("password"));
        let mut target = Target { engine: Engine::Postgres, ..target };
        let state = |sqlstate: &str| OperationFailure {
            sqlstate: sqlstate.into(),
            ..FailureKind::Authentication.failure("no")
        };
        let wrong = of(&target, state("28P01"));
        assert!(wrong.contains("SHOP_PW") && !wrong.contains("sslmode"), "{wrong}");
        target.password = Secret::default();
        let rule = of(&target, state("28000"));
        assert!(rule.contains("sslmode") && !rule.contains("password"), "{rule}");
    }

    #[test]
    fn a_closed_port_is_named_and_the_password_is_not() {
        let closed = dyno_testkit::ClosedPort::new();
        let port = closed.address().port();
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "s3cret\n").unwrap();
        let endpoint = Endpoint::Tcp { host: "127.0.0.1".to_owned(), port };
        let system = system(PasswordSource::File(file.path().to_owned()), endpoint);
        let error =
            connect(&system, QueryMode::Prepared, Duration::from_secs(60), &BTreeMap::new())
                .unwrap_err()
                .to_string();
        assert!(
            error.starts_with(&format!(
                "cannot connect to mysql://bench@127.0.0.1:{port}/shop: connect-refused"
            )),
            "{error}"
        );
        assert!(!error.contains("s3cret"), "{error}");
    }

    /// Connects to a null server that imitates a product.
    fn connected_to(
        persona: &'static Persona,
        engine: Engine,
        requested: &[(&str, &str)],
    ) -> Result<ConnectedSystem, HostError> {
        let options = Options { persona: Some(persona), ..Options::default() };
        let server = serve(persona.protocol, ([127, 0, 0, 1], 0).into(), options).unwrap();
        let address = server.local_addr;
        let endpoint = Endpoint::Tcp { host: address.ip().to_string(), port: address.port() };
        let password = PasswordSource::Url { password: Secret::new("any") };
        let system = ExistingSystem { engine, ..system(password, endpoint) };
        let requested =
            requested.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        connect(&system, QueryMode::Prepared, Duration::from_secs(60), &requested.collect())
    }

    #[test]
    fn a_system_is_named_for_its_product_and_not_for_the_protocol() {
        let [cockroachdb, yugabytedb, tidb, vitess, proxysql] =
            Persona::ALL.map(|(_, _, persona)| persona);
        let rows = [
            (cockroachdb, Engine::Postgres, "CockroachDB CCL v25.2.0"),
            (yugabytedb, Engine::Postgres, "YugabyteDB 15.2-YB-2025.1.0.0-b0"),
            (tidb, Engine::Mysql, "TiDB 8.0.11-TiDB-v8.5.1-dyno-null-server"),
            (vitess, Engine::Mysql, "Vitess 8.0.40-Vitess-dyno-null-server"),
            (proxysql, Engine::Mysql, "ProxySQL 8.0.27-dyno-null-server"),
        ];
        for (persona, engine, version) in rows {
            let connected = connected_to(persona, engine, &[]).unwrap();
            assert_eq!(connected.version, version);
            assert_eq!(connected.settings_refused, None);
        }
    }

    #[test]
    fn unreadable_settings_are_an_error_only_if_some_are_requested() {
        static SILENT: Persona = Persona {
            protocol: Protocol::Postgres,
            version: "16.4",
            parameters: &[],
            answers: &[("SELECT version()", "Greenplum Database")],
            rejections: &[Rejection {
                statement: "SELECT lower(name), setting",
                code: 0,
                sqlstate: "42501",
                message: "permission denied for view pg_settings",
            }],
        };
        let connected = connected_to(&SILENT, Engine::Postgres, &[]).unwrap();
        assert!(connected.settings.is_empty());
        assert!(connected.settings_refused.unwrap().contains("permission denied for view"));
        assert_eq!(connected.version, "Greenplum 16.4");
        let requested = [("work_mem", "4MB")];
        let error = connected_to(&SILENT, Engine::Postgres, &requested).unwrap_err().to_string();
        assert!(error.contains("cannot read the settings"), "{error}");
    }
}
