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
use crate::target::{ChannelBinding, Endpoint, Engine, ServerState, Target, Tls};
use crate::words::list;
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
        let endpoints = noted(self.endpoints(engine), &mut errors);
        let endpoint = endpoints.as_ref().and_then(|all| all.first());
        let tls = noted(encryption::tls(self), &mut errors);
        let client_certificate = noted(encryption::client_certificate(self), &mut errors);
        let connect_timeout = noted(self.connect_timeout(), &mut errors);
        let session_setup = noted(session::setup(self), &mut errors);
        let binding = noted(
            self.named(Key::ChannelBinding, ChannelBinding::ALL, ChannelBinding::name),
            &mut errors,
        );
        let state =
            noted(self.named(Key::ServerState, ServerState::ALL, ServerState::name), &mut errors);
        let protocol =
            noted(self.named(Key::Protocol, ["3.0", "3.2", "latest"], |it| it), &mut errors);
        let tls = match (endpoint, tls) {
            (Some(endpoint), Some(tls)) => {
                noted(encryption::on(engine, endpoint, tls, self), &mut errors).unwrap_or_default()
            }
            _ => Tls::Off,
        };
        let is_direct = noted(encryption::is_direct(self, &tls), &mut errors);
        if !errors.is_empty() {
            errors.sort_by_key(|error| error.range.start);
            return Err(errors);
        }
        let mut endpoints = endpoints.expect("what has no error is there");
        let mut target = Target::new(engine, endpoints.remove(0));
        target.options.alternatives = endpoints;
        target.options.wanted_state = state.flatten().unwrap_or_default();
        target.options.channel_binding = binding.flatten().unwrap_or_default();
        target.options.offers_protocol_3_2 =
            protocol.flatten().is_some_and(|newest| newest != "3.0");
        target.options.has_direct_tls = is_direct.unwrap_or_default();
        let text = |key| self.text(key).unwrap_or_default().to_owned();
        (target.user, target.database, target.tls) = (text(Key::User), text(Key::Database), tls);
        target.password = Secret::new(text(Key::Password));
        target.client_certificate = client_certificate.flatten();
        target.connect_timeout = connect_timeout.flatten().unwrap_or(target.connect_timeout);
        target.session_setup = session_setup.unwrap_or_default();
        Ok(target)
    }

    /// One of these values, given by its name; `None` for the default.
    fn named<T: Copy, const N: usize>(
        &self,
        key: Key,
        all: [T; N],
        name: fn(T) -> &'static str,
    ) -> Result<Option<T>, AddressError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        all.into_iter().find(|one| name(*one) == value.text).map(Some).ok_or_else(|| {
            let message = format!("`{}` cannot be `{}`", value.name, value.text);
            let names: Vec<&str> = all.into_iter().map(name).collect();
            AddressError::new(value.range.clone(), message, format!("write {}", list(&names)))
        })
    }

    /// The addresses, at least one.
    fn endpoints(&self, engine: Engine) -> Result<Vec<Endpoint>, AddressError> {
        if !engine.traits().client_defaults.has_lists_of_hosts {
            let host = self.text(Key::HostAddress).or(self.text(Key::Host));
            return Ok(vec![self.endpoint(engine, host, self.text(Key::Port))?]);
        }
        let hosts = self.value(Key::HostAddress).or(self.value(Key::Host));
        let names: Vec<&str> = hosts.map(|it| it.text.split(',').collect()).unwrap_or_default();
        let ports: Vec<&str> = self.text(Key::Port).unwrap_or_default().split(',').collect();
        if let (Some(hosts), 2..) = (hosts, ports.len())
            && ports.len() != names.len()
        {
            let message = format!("{} ports for {} hosts", ports.len(), names.len());
            let help = "name one port for each host, or one for all";
            return Err(AddressError::new(hosts.range.clone(), message, help));
        }
        let port = |i: usize| ports.get(i).or(ports.first()).copied();
        (0..names.len().max(1))
            .map(|i| self.endpoint(engine, names.get(i).copied(), port(i)))
            .collect()
    }

    fn endpoint(
        &self,
        engine: Engine,
        host: Option<&str>,
        port: Option<&str>,
    ) -> Result<Endpoint, AddressError> {
        let usual_port = match engine.traits().execution {
            Execution::Thread | Execution::Process | Execution::Service => engine.traits().port,
            Execution::Client => {
                return Ok(Endpoint::File(self.text(Key::File).unwrap_or_default().into()));
            }
            Execution::Nowhere => return Ok(Endpoint::InProcess),
        };
        let port = match (port, self.value(Key::Port)) {
            (None | Some(""), _) | (_, None) => usual_port,
            (Some(text), Some(value)) => url::port(text, value.range.clone())?,
        };
        match (self.value(Key::Socket), host.filter(|host| !host.is_empty())) {
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
