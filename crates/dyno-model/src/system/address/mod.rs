//! Addresses of systems as users write them: URLs, PostgreSQL's connection strings, and options and
//! environment variables of other programs. Pure functions of text; `dyno_drivers::address` adds
//! the information from files, environment and network.
//!
//! * `url`, `conninfo`: the two notations of a whole address; JDBC URLs are URLs after `jdbc:`;
//! * `parameter`: the names of parameters, with the aliases of MySQL and PostgreSQL;
//! * `keys`: the parts of an address by their [`Key`], which can override each other;
//! * `encryption`: the encryption modes; `session`: settings of a session;
//! * here: conversion of the parts into a [`Target`].

mod conninfo;
mod encryption;
mod keys;
mod parameter;
mod session;
mod url;

pub use encryption::SYSTEM_AUTHORITIES;
pub use keys::{AddressError, Key, Keys, Value};
pub use url::{Address, host_and_port};

use crate::engine::Execution;
use crate::secret::Secret;
use crate::target::{Endpoint, Engine, Target, Tls};
use keys::noted;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

impl Keys {
    /// Sets the key of a parameter to a value, as if it were in an address under this parameter's
    /// name; `variable` is its name in messages.
    ///
    /// # Errors
    /// When dyno does not support the value.
    pub fn give_parameter(
        &mut self,
        parameter: &str,
        variable: &str,
        text: &str,
    ) -> Result<(), Vec<AddressError>> {
        let of_variable = |error: AddressError| {
            vec![AddressError { message: format!("{variable}: {}", error.message), ..error }]
        };
        let found = parameter::find(Engine::OF_CONNECTION_STRINGS, parameter, text, 0..0, 0..0)
            .map_err(of_variable)?;
        found.into_iter().for_each(|key| self.give(key, variable, text));
        Ok(())
    }

    /// The target of the address.
    ///
    /// # Errors
    /// All errors, in the order of their positions.
    pub fn target(&self, engine: Engine) -> Result<Target, Vec<AddressError>> {
        let mut errors = Vec::new();
        let endpoint = noted(self.endpoint(engine), &mut errors);
        let tls = noted(encryption::tls(self), &mut errors);
        let client_certificate = noted(encryption::client_certificate(self), &mut errors);
        let connect_timeout = noted(self.connect_timeout(), &mut errors);
        let session_setup = noted(session::setup(self), &mut errors);
        let tls = match (&endpoint, tls) {
            (Some(endpoint), Some(tls)) => {
                noted(encryption::on(engine, endpoint, tls, self), &mut errors).unwrap_or_default()
            }
            _ => Tls::Off,
        };
        if !errors.is_empty() {
            errors.sort_by_key(|error| error.range.start);
            return Err(errors);
        }
        let mut target = Target::new(engine, endpoint.expect("what has no error is there"));
        let text = |key| self.text(key).unwrap_or_default().to_owned();
        (target.user, target.database, target.tls) = (text(Key::User), text(Key::Database), tls);
        target.password = Secret::new(text(Key::Password));
        target.client_certificate = client_certificate.flatten();
        target.connect_timeout = connect_timeout.flatten().unwrap_or(target.connect_timeout);
        target.session_setup = session_setup.unwrap_or_default();
        Ok(target)
    }

    fn endpoint(&self, engine: Engine) -> Result<Endpoint, AddressError> {
        let usual_port = match engine.traits().execution {
            Execution::Thread | Execution::Process | Execution::Service => engine.traits().port,
            Execution::Client => {
                return Ok(Endpoint::File(self.text(Key::File).unwrap_or_default().into()));
            }
            Execution::Nowhere => return Ok(Endpoint::InProcess),
        };
        let is_list = engine.traits().client_defaults.has_lists_of_hosts;
        let first =
            |text| if is_list { str::split(text, ',').next().unwrap_or_default() } else { text };
        let port = match self.value(Key::Port).map(|value| (first(&value.text), value)) {
            None | Some(("", _)) => usual_port,
            Some((text, value)) => url::port(text, value.range.clone())?,
        };
        let host = self.text(Key::HostAddress).or(self.text(Key::Host)).map(first);
        match (self.value(Key::Socket), host) {
            (Some(socket), None | Some("localhost")) => {
                Ok(Endpoint::Unix(socket_file(engine, &socket.text, port)))
            }
            (Some(socket), Some(_)) => Err(AddressError::new(
                socket.range.clone(),
                "host and `socket` cannot both be given",
                "remove one of them",
            )),
            (None, Some(path)) if path.starts_with('/') => {
                Ok(Endpoint::Unix(socket_file(engine, path, port)))
            }
            (None, Some(host)) => Ok(Endpoint::Tcp { host: host.to_owned(), port }),
            (None, None) => {
                let value = self.0.get(&Key::Host);
                let range = value.map_or(0..0, |value| value.range.clone());
                let help = url::remedy(value.map_or(engine.name(), |value| &value.name));
                Err(AddressError::new(range, "the address names no host", help))
            }
        }
    }

    /// `None` for dyno's default timeout.
    fn connect_timeout(&self) -> Result<Option<Duration>, AddressError> {
        let Some(value) = self.value(Key::ConnectTimeout) else { return Ok(None) };
        let seconds: i64 = value.text.trim().parse().map_err(|_| {
            let message = format!("`{}` cannot be `{}`", value.name, value.text);
            AddressError::new(value.range.clone(), message, "write a number of seconds")
        })?;
        Ok(u64::try_from(seconds).ok().filter(|seconds| *seconds > 0).map(Duration::from_secs))
    }
}

/// Users may name the folder; the driver needs the file.
fn socket_file(engine: Engine, socket: &str, port: u16) -> PathBuf {
    let path = PathBuf::from(socket);
    let is_file = |prefix: &str| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix))
    };
    match engine.traits().client_defaults.socket_prefix {
        Some(prefix) if !is_file(prefix) => path.join(format!("{prefix}{port}")),
        _ => path,
    }
}

impl Address {
    /// The engine of an address: that of a URL's scheme, or PostgreSQL for a connection string.
    #[must_use]
    pub fn scheme(text: &str) -> Option<Engine> {
        if conninfo::is_conninfo(text) {
            return Some(Engine::OF_CONNECTION_STRINGS);
        }
        url::engine(text.strip_prefix(url::JDBC).unwrap_or(text).split_once(':')?.0)
    }

    /// The parts, any of which may be missing.
    ///
    /// # Errors
    /// Errors in the parts that cannot belong to a URL.
    pub fn into_keys(self) -> Result<Keys, Vec<AddressError>> {
        if self.errors.is_empty() { Ok(self.keys) } else { Err(self.errors) }
    }

    /// The target of a URL that must be complete by itself.
    ///
    /// # Errors
    /// All errors and missing parts, in the order of their positions.
    pub fn target(&self) -> Result<Target, Vec<AddressError>> {
        let target = self.keys.target(self.engine);
        let missing = [(Key::User, "user"), (Key::Database, "database")].into_iter().filter_map(
            |(key, what)| {
                let value = self
                    .keys
                    .0
                    .get(&key)
                    .filter(|value| value.text.is_empty() && !value.name.is_empty())?;
                let message = format!("the address names no {what}");
                Some(AddressError::new(value.range.clone(), message, url::remedy(&value.name)))
            },
        );
        let mut errors: Vec<AddressError> = self.errors.iter().cloned().chain(missing).collect();
        match target {
            Ok(target) if errors.is_empty() => return Ok(target),
            Ok(_) => {}
            Err(others) => errors.extend(others),
        }
        errors.sort_by_key(|error| error.range.start);
        Err(errors)
    }

    /// The parsed text without its password; `None` if it contains none.
    #[must_use]
    pub fn without_password(&self, text: &str) -> Option<String> {
        let value = self.keys.value(Key::Password)?;
        // The colon before it is removed too; for a parameter, the separator on one of its sides.
        let Range { start, end } = value.range.clone();
        let is_first = start == 0 || !value.name.is_empty() && text[end..].starts_with('&');
        let (before, behind) = if is_first { (start, end + 1) } else { (start - 1, end) };
        Some(format!("{}{}", &text[..before], text.get(behind..).unwrap_or_default()))
    }

    /// Position of a key's value in the text; `None` when the text does not contain it.
    #[must_use]
    pub fn range(&self, key: Key) -> Option<Range<usize>> {
        self.keys.value(key).map(|value| value.range.clone())
    }
}

#[cfg(test)]
mod tests;
