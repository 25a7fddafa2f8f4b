//! Parameter names of addresses and their meaning. Addresses are copied from providers' pages and
//! from other programs, so each parameter is accepted under the names of both MySQL and PostgreSQL,
//! everywhere. An unknown name is an error: ignoring it could disable encryption.

use super::keys::{AddressError, Key, Keys, Value};
use crate::target::Engine;
use crate::words::{list, nearest};
use std::ops::Range;

/// The key of a name; if a key has several names, messages suggest the first.
struct Parameter {
    key: Key,
    names: &'static [&'static str],
    /// The only engine that supports it, if it is specific to one.
    engine: Option<Engine>,
}

const fn any(key: Key, names: &'static [&'static str]) -> Parameter {
    Parameter { key, names, engine: None }
}

const fn libpq(key: Key, names: &'static [&'static str]) -> Parameter {
    Parameter { key, names, engine: Some(Engine::OF_CONNECTION_STRINGS) }
}

#[rustfmt::skip]
const PARAMETERS: [Parameter; 19] = [
    any(Key::Encryption, &["sslmode", "ssl-mode", "ssl_mode", "sslMode", "tls", "ssl", "useSSL"]),
    any(Key::Authorities, &["sslrootcert", "ssl-ca", "ssl_ca", "ca"]),
    any(Key::Certificate, &["sslcert", "ssl-cert", "ssl_cert"]),
    any(Key::PrivateKey, &["sslkey", "ssl-key", "ssl_key"]),
    any(Key::Socket, &["socket", "unix_socket"]),
    any(Key::ConnectTimeout, &["connect_timeout", "connect-timeout"]),
    any(Key::Host, &["host"]),
    any(Key::Port, &["port"]),
    any(Key::User, &["user"]),
    any(Key::Password, &["password"]),
    libpq(Key::Database, &["dbname"]),
    libpq(Key::HostAddress, &["hostaddr"]),
    libpq(Key::PasswordFile, &["passfile"]),
    libpq(Key::Options, &["options"]),
    libpq(Key::ApplicationName, &["application_name"]),
    libpq(Key::ChannelBinding, &["channel_binding"]),
    libpq(Key::TlsNegotiation, &["sslnegotiation"]),
    libpq(Key::Protocol, &["max_protocol_version"]),
    libpq(Key::ServerState, &["target_session_attrs"]),
];

/// Names that other programs support and dyno ignores, with the values for which ignoring them is
/// correct.
const UNDONE: [(&str, &[&str]); 18] = [
    ("allowPublicKeyRetrieval", &["true", "false"]),
    ("characterEncoding", &["UTF-8", "utf8", "utf8mb4"]),
    ("charset", &["utf8mb4"]),
    ("client_encoding", &["UTF8", "utf8", "UTF-8"]),
    ("gssencmode", &["disable", "prefer"]),
    ("load_balance_hosts", &["disable"]),
    ("min_protocol_version", &["3.0"]),
    ("replication", &["false"]),
    ("require_auth", &[]),
    ("requirepeer", &[]),
    ("service", &[]),
    ("ssl_max_protocol_version", &["TLSv1.3"]),
    ("ssl_min_protocol_version", &["TLSv1.2", "TLSv1.1", "TLSv1"]),
    ("sslcompression", &["0"]),
    ("sslcrl", &[]),
    ("sslpassword", &[]),
    ("sslsni", &["1"]),
    ("useUnicode", &["true"]),
];

/// The key of a name; `None` when the requested behaviour is the default anyway. `name_range` and
/// `range` are the positions of the name and of the whole parameter.
pub(super) fn find(
    engine: Engine,
    name: &str,
    value: &str,
    name_range: Range<usize>,
    range: Range<usize>,
) -> Result<Option<Key>, AddressError> {
    if let Some(parameter) = PARAMETERS.iter().find(|parameter| parameter.names.contains(&name)) {
        return match parameter.engine {
            Some(only) if only != engine => {
                let message = format!("parameter `{name}` is not for {engine}, only for {only}");
                Err(AddressError::new(name_range, message, "remove it"))
            }
            _ => Ok(Some(parameter.key)),
        };
    }
    if let Some((name, right)) = UNDONE.iter().find(|(known, _)| *known == name) {
        if right.contains(&value) {
            return Ok(None);
        }
        let message = format!("dyno does not support this value of parameter `{name}`");
        let help = match right.first() {
            Some(right) => format!("remove it, or write `{name}={right}`"),
            None => "remove it".to_owned(),
        };
        return Err(AddressError::new(range, message, help));
    }
    let known =
        PARAMETERS.iter().filter(|parameter| parameter.engine.is_none_or(|only| only == engine));
    let help = match nearest(name, known.clone().flat_map(|parameter| parameter.names).copied()) {
        Some(candidate) => format!("did you mean `{candidate}`?"),
        None => {
            let first: Vec<&str> = known.map(|parameter| parameter.names[0]).collect();
            format!("known parameters: {}", list(&first))
        }
    };
    Err(AddressError::new(name_range, format!("unknown parameter `{name}`"), help))
}

/// Adds a parameter to the keys; duplicates are errors. The value's range covers its name and
/// itself.
pub(super) fn take(
    keys: &mut Keys,
    engine: Engine,
    value: Value,
    range: Range<usize>,
    errors: &mut Vec<AddressError>,
) {
    let name_range = range.start..range.start + value.name.len();
    match find(engine, &value.name, &value.text, name_range, range.clone()) {
        Ok(Some(key)) => {
            // Text before the question mark has no name.
            let message = match keys.0.get(&key).filter(|other| !other.text.is_empty()) {
                Some(other) if other.name == value.name => {
                    format!("parameter `{}` is given twice", value.name)
                }
                Some(other) if !other.name.is_empty() => {
                    format!("parameters `{}` and `{}` set the same option", other.name, value.name)
                }
                _ => return drop(keys.0.insert(key, value)),
            };
            errors.push(AddressError::new(range, message, "remove one of them"));
        }
        Ok(None) => {}
        Err(error) => errors.push(error),
    }
}
