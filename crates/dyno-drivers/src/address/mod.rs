//! The address book: what files, environment and network have to say about where a system is. What
//! people write is read by [`dyno_model::address`]; here the gaps are filled as the databases' own
//! clients fill them, and it is found out whether a system is on this machine. `dyno run`,
//! `dyno pgbench` and `dyno sysbench` ask here, and nowhere else.
//!
//! * `surroundings`: environment and files, passed in;
//! * [`password_file`]: `~/.pgpass` and `~/.my.cnf`.

pub mod password_file;
mod surroundings;

pub use surroundings::{Surroundings, read_secrets};

use crate::timeout::TimeoutPolicy;
use crate::transport::{Io, addresses, block_on};
use dyno_model::address::{AddressError, Key, Keys};
use dyno_model::failure::OperationFailure;
use dyno_model::secret::Secret;
use dyno_model::target::{ClientCertificate, Endpoint, Engine, Target, Tls};
use std::net::{IpAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use surroundings::POSTGRES_SOCKETS;

/// Longest wait for the addresses of a host's name; one that is not found by then is elsewhere.
const RESOLVE_MAX: Duration = Duration::from_secs(10);

/// libpq's variables of the environment and the parameters that they stand for.
const VARIABLES: [(&str, &str); 19] = [
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
    // What would make a connection less safe than the user believes it to be, or lead it elsewhere.
    ("PGCHANNELBINDING", "channel_binding"),
    ("PGGSSENCMODE", "gssencmode"),
    ("PGREQUIREPEER", "requirepeer"),
    ("PGSSLCRL", "sslcrl"),
    ("PGSERVICE", "service"),
];

/// How PostgreSQL is reached by what is given, with the rest from where libpq looks for it.
///
/// # Errors
/// What of it cannot be understood or done. No message holds a password.
pub fn postgres(given: Keys, world: &Surroundings<'_>) -> Result<Target, Vec<AddressError>> {
    let mut keys = Keys::default();
    for (variable, parameter) in VARIABLES {
        if let Some(text) = (world.variable)(variable).filter(|text| !text.is_empty()) {
            keys.give_parameter(parameter, variable, &text)?;
        }
    }
    keys.lay(given);
    let is_named =
        [Key::HostAddress, Key::Host, Key::Socket].iter().any(|key| keys.text(*key).is_some());
    if !is_named {
        let has_socket = (world.exists)(Path::new(POSTGRES_SOCKETS));
        keys.give(Key::Host, "", if has_socket { POSTGRES_SOCKETS } else { "localhost" });
    }
    let is_socket = keys.text(Key::Host).is_some_and(|host| host.starts_with('/'))
        && keys.text(Key::HostAddress).is_none()
        || keys.text(Key::Socket).is_some();
    // The variables are for all connections of a user, and mean nothing for one that cannot be
    // encrypted, or is not to be.
    if is_socket || keys.text(Key::Encryption).is_none() {
        for key in [Key::Encryption, Key::Authorities, Key::Certificate, Key::PrivateKey] {
            if keys.value(key).is_some_and(|value| value.name.starts_with("PGSSL")) {
                keys.remove(key);
            }
        }
    }
    if keys.text(Key::User).is_none() {
        keys.give(Key::User, "", (world.user)());
    }
    if keys.text(Key::Database).is_none() {
        keys.give(Key::Database, "", keys.text(Key::User).unwrap_or_default().to_owned());
    }
    let mut target = keys.target(Engine::Postgres)?;
    if target.password.is_empty() {
        let named = keys.text(Key::PasswordFile).map(PathBuf::from);
        let file = named.or_else(|| password_file::path(Engine::Postgres, world));
        let text = file.and_then(|file| (world.secrets)(&file).ok()).unwrap_or_default();
        target.password = password_file::find(&text, &target).unwrap_or_default();
    }
    complete(&mut target, world).map_err(|error| vec![error])?;
    Ok(target)
}

/// How MySQL or MariaDB is reached by what is given.
///
/// # Errors
/// As [`postgres`].
pub fn mysql(given: Keys, world: &Surroundings<'_>) -> Result<Target, Vec<AddressError>> {
    let mut keys = Keys::default();
    keys.give(Key::User, "", (world.user)());
    keys.lay(given);
    if keys.text(Key::Host).or(keys.text(Key::Socket)).is_none() {
        keys.give(Key::Host, "", "localhost");
    }
    let mut target = keys.target(Engine::Mysql)?;
    if target.password.is_empty() {
        target.password = usual_password(&target, world);
    }
    complete(&mut target, world).map_err(|error| vec![error])?;
    Ok(target)
}

/// The password that the database's own client programs use for a target when they are given none:
/// that of their variable or that in their file. libpq looks at the variable first, MySQL's
/// programs at the file (its manual, chapter "Specifying Program Options"). Empty where there is
/// none.
#[must_use]
pub fn usual_password(target: &Target, world: &Surroundings<'_>) -> Secret {
    let variable = || {
        let text = target.engine.traits().password_variable.and_then(world.variable)?;
        (!text.is_empty()).then(|| Secret::new(text))
    };
    let file = || {
        let text = (world.secrets)(&password_file::path(target.engine, world)?).ok()?;
        password_file::find(&text, target)
    };
    let found = match target.engine {
        Engine::Mysql => file().or_else(variable),
        _ => variable().or_else(file),
    };
    found.unwrap_or_default()
}

/// Certificates that the target does not name, from where libpq looks for them: `~/.postgresql`.
/// Its manual, chapter "SSL Support": with `root.crt` there, `require` means `verify-ca`.
///
/// # Errors
/// When the server's certificate is to be checked and nobody says by whom it must be signed.
pub fn complete(target: &mut Target, world: &Surroundings<'_>) -> Result<(), AddressError> {
    let usual = |name: &str| {
        let home = (world.variable)("HOME").filter(|_| target.engine == Engine::Postgres)?;
        Some(Path::new(&home).join(".postgresql").join(name)).filter(|file| (world.exists)(file))
    };
    if target.tls == Tls::Off {
        return Ok(());
    }
    if target.client_certificate.is_none() {
        let (certificate, key) = (usual("postgresql.crt"), usual("postgresql.key"));
        target.client_certificate =
            certificate.zip(key).map(|(certificate, key)| ClientCertificate { certificate, key });
    }
    target.tls = match (std::mem::take(&mut target.tls), usual("root.crt")) {
        (Tls::Required, ca @ Some(_)) | (Tls::VerifyAuthority { ca: None }, ca) => {
            Tls::VerifyAuthority { ca }
        }
        (Tls::Verify { ca: None }, ca) => Tls::Verify { ca },
        (other, _) => other,
    };
    if target.tls == (Tls::VerifyAuthority { ca: None }) {
        return Err(AddressError {
            message: "`verify-ca` needs the file of the certificate authorities".to_owned(),
            help: "name it (`sslrootcert=FILE`), or write `verify-full`, for which the authorities of the system do"
                .to_owned(),
            range: 0..0,
            is_password: false,
        });
    }
    Ok(())
}

/// Whether a login may have failed because it was not encrypted. MySQL has a number for a server
/// that wants encryption (3159); MariaDB, and both for an account that wants it, say no more than
/// for a wrong password (1045). PostgreSQL has one state for all who may not log in: what its rules
/// for connections (`pg_hba.conf`) refuse is told apart by the routine that raises it; a pooler in
/// front of it names none.
#[must_use]
pub fn may_want_encryption(failure: &OperationFailure, target: &Target) -> bool {
    let is_open = target.tls == Tls::Off && matches!(target.endpoint, Endpoint::Tcp { .. });
    let is_refused = match target.engine {
        Engine::Mysql => matches!(failure.code, 1045 | 3159),
        Engine::Postgres => {
            failure.sqlstate == "28000"
                && matches!(failure.routine.as_str(), "" | "ClientAuthentication")
        }
        Engine::Sqlite | Engine::Null | Engine::Http => false,
    };
    is_open && is_refused
}

/// Whether a system runs on this machine, so that it and the generator share processors. A host
/// name that cannot be resolved counts as elsewhere.
#[must_use]
pub fn shares_machine(endpoint: &Endpoint) -> bool {
    match endpoint {
        Endpoint::Unix(_) | Endpoint::File(_) | Endpoint::InProcess => true,
        Endpoint::Tcp { host, port } => {
            let io = Io::WithTimeout(TimeoutPolicy::new(RESOLVE_MAX));
            let addresses = block_on(addresses(host, *port, &io, Instant::now() + RESOLVE_MAX));
            addresses
                .is_ok_and(|addresses| addresses.iter().any(|address| is_own_address(address.ip())))
        }
    }
}

/// An address that a socket can be bound to is this machine's.
fn is_own_address(address: IpAddr) -> bool {
    address.is_loopback() || !address.is_unspecified() && UdpSocket::bind((address, 0)).is_ok()
}

#[cfg(test)]
mod tests;
