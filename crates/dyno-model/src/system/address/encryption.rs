//! Encryption settings of connections in their different notations: libpq's `sslmode`, MySQL's
//! `ssl-mode`, dyno's own `tls`, and `ssl=true` of other clients. The sources are PostgreSQL's
//! manual, chapter "SSL Support", and MySQL's, "Command Options for Encrypted Connections".

use super::keys::{AddressError, Key, Keys, Value};
use crate::engine::TLS_ON_REQUEST;
use crate::target::{ClientCertificate, Endpoint, Engine, Tls};
use std::path::PathBuf;

/// The word for the authorities that the system trusts, used instead of a file name.
pub const SYSTEM_AUTHORITIES: &str = "system";

/// The encryption that an address requests, on a connection that supports it. The default is no
/// encryption: it affects the measurement and must be chosen explicitly.
pub(super) fn tls(keys: &Keys) -> Result<Tls, AddressError> {
    let authorities = keys.value(Key::Authorities);
    let ca = authorities.map(|value| PathBuf::from(&value.text));
    let at = |value: &Value, message: String, help: &str| {
        AddressError::new(value.range.clone(), message, help)
    };
    let Some(mode) = keys.value(Key::Encryption) else {
        return match authorities {
            None => Ok(Tls::Off),
            Some(value) => {
                let message = format!("`{}` has no effect without an encryption mode", value.name);
                Err(at(value, message, "add `sslmode=verify-full`"))
            }
        };
    };
    let requested = match (word(mode), ca) {
        // libpq tries without encryption first; if the server rejects that, the user gets an error.
        (Some("disable" | "allow"), _) => return Ok(Tls::Off),
        (Some("prefer"), None) => Tls::Preferred,
        (Some("prefer"), Some(_)) => {
            let message = format!("`{}={}` checks no certificate", mode.name, mode.text);
            return Err(at(mode, message, "write `sslmode=verify-ca` or `sslmode=verify-full`"));
        }
        (Some("require"), None) => Tls::Required,
        // As in libpq, naming certificate authorities implies that certificates are checked.
        (Some("require" | "verify-ca"), ca) => Tls::VerifyAuthority { ca },
        (Some("verify-full"), ca) => Tls::Verify { ca },
        _ => {
            let message = format!("`{}` cannot be `{}`", mode.name, mode.text);
            let help = "write `disable`, `prefer`, `require`, `verify-ca` or `verify-full`";
            return Err(at(mode, message, help));
        }
    };
    if requested == (Tls::VerifyAuthority { ca: Some(SYSTEM_AUTHORITIES.into()) }) {
        let message = format!(
            "`{}={}` with the system's certificate authorities accepts every server that has a \
             certificate from one of them",
            mode.name, mode.text
        );
        return Err(at(mode, message, "write `sslmode=verify-full`"));
    }
    Ok(requested)
}

/// libpq's name of a mode.
fn word(mode: &Value) -> Option<&'static str> {
    let text = mode.text.to_lowercase().replace('_', "-");
    Some(match (mode.name.as_str(), text.as_str()) {
        ("ssl" | "useSSL", "true") => "require",
        ("tls", "true") => "verify-full",
        ("ssl" | "useSSL" | "tls", "false") => "disable",
        ("ssl" | "useSSL", _) => return None,
        (_, "disable" | "disabled" | "off") => "disable",
        (_, "allow") => "allow",
        (_, "prefer" | "preferred") => "prefer",
        (_, "require" | "required" | "skip-verify") => "require",
        (_, "verify-ca") => "verify-ca",
        (_, "verify-full" | "verify-identity" | "verify") => "verify-full",
        _ => return None,
    })
}

/// The encryption of an endpoint's connections. A unix socket cannot be intercepted, so with a mode
/// that only prefers encryption it is not encrypted, and PostgreSQL does not support it there.
pub(super) fn on(
    engine: Engine,
    endpoint: &Endpoint,
    tls: Tls,
    keys: &Keys,
) -> Result<Tls, AddressError> {
    match (endpoint, tls) {
        (Endpoint::Tcp { .. }, tls) => Ok(tls),
        (_, Tls::Off | Tls::Preferred) => Ok(Tls::Off),
        (Endpoint::Unix(_), _) if !engine.traits().encrypts_sockets => {
            let range = keys.value(Key::Encryption).map_or(0..0, |value| value.range.clone());
            let message = "PostgreSQL has no encryption on unix sockets";
            Err(AddressError::new(range, message, "write `sslmode=disable`, or name a host"))
        }
        (_, tls) => Ok(tls),
    }
}

/// Whether the TLS handshake begins without asking the server. A server that does not expect it
/// closes the connection, so that it must be certain that the connection will be encrypted.
pub(super) fn is_direct(keys: &Keys, tls: &Tls) -> Result<bool, AddressError> {
    let Some(value) = keys.value(Key::TlsNegotiation) else { return Ok(false) };
    let refused =
        |message: String, help: &str| Err(AddressError::new(value.range.clone(), message, help));
    match (value.text.as_str(), tls) {
        (TLS_ON_REQUEST, _) => Ok(false),
        ("direct", Tls::Off | Tls::Preferred) => refused(
            format!("`{}=direct` needs encryption", value.name),
            "add `sslmode=require` or `sslmode=verify-full`",
        ),
        ("direct", _) => Ok(true),
        _ => refused(
            format!("`{}` cannot be `{}`", value.name, value.text),
            "write `postgres` or `direct`",
        ),
    }
}

/// A certificate requires its key, and vice versa.
pub(super) fn client_certificate(keys: &Keys) -> Result<Option<ClientCertificate>, AddressError> {
    let alone = |given: &Value, missing: &str| {
        let message = format!("`{}` needs {missing}", given.name);
        Err(AddressError::new(given.range.clone(), message, "name the PEM files of both"))
    };
    match (keys.value(Key::Certificate), keys.value(Key::PrivateKey)) {
        (Some(certificate), Some(key)) => Ok(Some(ClientCertificate {
            certificate: PathBuf::from(&certificate.text),
            key: PathBuf::from(&key.text),
        })),
        (None, None) => Ok(None),
        (Some(certificate), None) => alone(certificate, "its key (`sslkey`)"),
        (None, Some(key)) => alone(key, "its certificate (`sslcert`)"),
    }
}
