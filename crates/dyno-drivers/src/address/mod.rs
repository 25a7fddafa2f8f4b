//! Resolves the address of a system. User input is parsed by [`dyno_model::address`]; this module
//! adds what is missing from environment and files, like the databases' own clients do, and finds
//! out whether a system is on this machine. `dyno run`, `dyno pgbench` and `dyno sysbench` all use
//! this module.
//!
//! * `surroundings`: environment and files, passed in;
//! * [`password_file`]: `~/.pgpass` and `~/.my.cnf`.

pub mod password_file;
mod surroundings;

pub use surroundings::{Surroundings, read_secrets};

use crate::timeout::TimeoutPolicy;
use crate::transport::{Io, addresses, block_on};
use dyno_model::address::{AddressError, Key, Keys};
use dyno_model::engine::CertificateFiles;
use dyno_model::failure::OperationFailure;
use dyno_model::secret::Secret;
use dyno_model::target::{ClientCertificate, Endpoint, Engine, Target, Tls};
use std::net::{IpAddr, UdpSocket};
use std::path::Path;
use std::time::{Duration, Instant};

/// Timeout for resolving a host name; a host that is not resolved by then is on another machine.
const RESOLVE_MAX: Duration = Duration::from_secs(10);

/// How a server is reached by what is given, with the rest from where its own client programs look
/// for it.
///
/// # Errors
/// What of it cannot be understood or done. No message holds a password.
pub fn resolve(
    engine: Engine,
    given: Keys,
    world: &Surroundings<'_>,
) -> Result<Target, Vec<AddressError>> {
    let usual = &engine.traits().client_defaults;
    let mut keys = Keys::default();
    for (variable, parameter) in usual.variables {
        if let Some(text) = (world.variable)(variable).filter(|text| !text.is_empty()) {
            keys.give_parameter(parameter, variable, &text)?;
        }
    }
    keys.lay(given);
    let is_named =
        [Key::HostAddress, Key::Host, Key::Socket].iter().any(|key| keys.text(*key).is_some());
    if !is_named {
        let folder = usual.socket_folder.filter(|folder| (world.exists)(Path::new(folder)));
        keys.give(Key::Host, "", folder.unwrap_or("localhost"));
    }
    let is_socket = keys.text(Key::Host).is_some_and(|host| host.starts_with('/'))
        && keys.text(Key::HostAddress).is_none()
        || keys.text(Key::Socket).is_some();
    // The variables apply to all connections of a user, and have no effect on one that cannot or
    // should not be encrypted.
    if is_socket || keys.text(Key::Encryption).is_none() {
        for key in [
            Key::Encryption,
            Key::TlsNegotiation,
            Key::Authorities,
            Key::Certificate,
            Key::PrivateKey,
        ] {
            let is_variable =
                |name: &str| usual.variables.iter().any(|(variable, _)| *variable == name);
            if keys.value(key).is_some_and(|value| is_variable(&value.name)) {
                keys.remove(key);
            }
        }
    }
    if keys.text(Key::User).is_none() {
        keys.give(Key::User, "", (world.user)());
    }
    if usual.has_database_of_user && keys.text(Key::Database).is_none() {
        keys.give(Key::Database, "", keys.text(Key::User).unwrap_or_default().to_owned());
    }
    let mut target = keys.target(engine)?;
    if target.password.is_empty() {
        target.password = match keys.text(Key::PasswordFile) {
            Some(file) => password_in(Path::new(file), &target, world).unwrap_or_default(),
            None => usual_password(&target, world),
        };
    }
    complete(&mut target, world).map_err(|error| vec![error])?;
    Ok(target)
}

fn password_in(file: &Path, target: &Target, world: &Surroundings<'_>) -> Option<Secret> {
    password_file::find(&(world.secrets)(file).ok()?, target)
}

/// The password that the database's own client programs use for a target when none is given: from
/// their environment variable or their file. libpq reads the variable first, MySQL's programs the
/// file (manual, "Specifying Program Options"). Empty when there is none.
#[must_use]
pub fn usual_password(target: &Target, world: &Surroundings<'_>) -> Secret {
    let variable = || {
        let text = target.engine.traits().password_variable.and_then(world.variable)?;
        (!text.is_empty()).then(|| Secret::new(text))
    };
    let file = || password_in(&password_file::path(target.engine, world)?, target, world);
    let is_file_first =
        target.engine.traits().password_file.as_ref().is_some_and(|file| file.comes_first);
    let found = if is_file_first { file().or_else(variable) } else { variable().or_else(file) };
    found.unwrap_or_default()
}

/// Certificates that the target does not name, from where its own client programs look for them.
/// libpq's manual, chapter "SSL Support": with authorities there, `require` means `verify-ca`.
///
/// # Errors
/// When the server's certificate is to be verified but no certificate authority is named.
pub fn complete(target: &mut Target, world: &Surroundings<'_>) -> Result<(), AddressError> {
    let home = (world.variable)("HOME");
    let certificates = target.engine.traits().client_defaults.certificates.as_ref();
    let usual = |file: fn(&CertificateFiles) -> &'static str| {
        let path = Path::new(home.as_ref()?).join(file(certificates?));
        Some(path).filter(|path| (world.exists)(path))
    };
    if target.tls == Tls::Off {
        return Ok(());
    }
    if target.client_certificate.is_none() {
        let (certificate, key) = (usual(|files| files.certificate), usual(|files| files.key));
        target.client_certificate =
            certificate.zip(key).map(|(certificate, key)| ClientCertificate { certificate, key });
    }
    target.tls = match (std::mem::take(&mut target.tls), usual(|files| files.authorities)) {
        (Tls::Required, ca @ Some(_)) | (Tls::VerifyAuthority { ca: None }, ca) => {
            Tls::VerifyAuthority { ca }
        }
        (Tls::Verify { ca: None }, ca) => Tls::Verify { ca },
        (other, _) => other,
    };
    if target.tls == (Tls::VerifyAuthority { ca: None }) {
        return Err(AddressError {
            message: "`verify-ca` needs a file with the certificate authorities".to_owned(),
            help: "name it (`sslrootcert=FILE`), or write `verify-full`, which uses the \
                   certificate authorities of the operating system"
                .to_owned(),
            range: 0..0,
            is_password: false,
        });
    }
    Ok(())
}

/// Whether a login may have failed because it was not encrypted.
#[must_use]
pub fn may_want_encryption(failure: &OperationFailure, target: &Target) -> bool {
    let is_open = target.tls == Tls::Off && matches!(target.endpoint, Endpoint::Tcp { .. });
    is_open && (target.engine.traits().may_want_encryption)(failure)
}

/// Whether a system is on this machine, so that it shares processors with the generator. A host
/// name that cannot be resolved counts as another machine.
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

/// An address to which a socket can be bound belongs to this machine.
fn is_own_address(address: IpAddr) -> bool {
    address.is_loopback() || !address.is_unspecified() && UdpSocket::bind((address, 0)).is_ok()
}

#[cfg(test)]
mod tests;
