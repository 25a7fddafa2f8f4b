//! Where a system is, as people write it: URLs, PostgreSQL's connection strings, and options and variables of other programs. Text in,
//! values out; what files, environment and network have to say about it is `dyno_drivers::address`.
//!
//! * `url`, `conninfo`: the two ways of writing an address in one text;
//! * `parameter`: the names that may stand in them, with the aliases of both worlds;
//! * `encryption`: what the modes of both worlds mean; `session`: settings of a session;
//! * here: the parts of an address by their [`Key`], laid over each other, and read into a [`Target`].

mod conninfo;
mod encryption;
mod parameter;
mod session;
mod url;

pub use url::{host_and_port, without_passwords};

pub(crate) use url::passwords;

use crate::engine::Execution;
use crate::secret::Secret;
use crate::target::{Endpoint, Engine, Target, Tls};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

/// What a part of an address says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// Host name or address; a path is the folder of PostgreSQL's socket, or MySQL's socket.
    Host,
    /// Address in place of the host's name.
    HostAddress,
    /// TCP port.
    Port,
    /// A unix socket, or the folder of PostgreSQL's.
    Socket,
    /// File of an SQLite database.
    File,
    /// Account.
    User,
    /// Its password.
    Password,
    /// PostgreSQL's file of passwords.
    PasswordFile,
    /// Database; what the null driver does.
    Database,
    /// Whether and how the connection is encrypted.
    Encryption,
    /// PEM file of trusted certificate authorities; `system` for those that the system trusts.
    Authorities,
    /// PEM file of the client's certificate.
    Certificate,
    /// PEM file of its key.
    PrivateKey,
    /// Seconds that connecting may take.
    ConnectTimeout,
    /// PostgreSQL's settings of the session, as for `PGOPTIONS`.
    Options,
    /// Name of the session in PostgreSQL's views.
    ApplicationName,
}

/// What is said for a key, and where.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Value {
    /// The key as it was written: `sslmode`, `tls`, `PGSSLMODE`, `--mysql-ssl`.
    pub name: String,
    /// What it is given; perhaps a password.
    pub text: String,
    /// Where it stands in the address, bytes; empty for options and variables.
    pub range: Range<usize>,
}

/// Any value may be a password.
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Value({})", self.name)
    }
}

/// Why an address is not one. Its text never holds any part of a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressError {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
    /// Where in the address, bytes.
    pub range: Range<usize>,
    /// True when the range is a password.
    pub is_password: bool,
}

impl AddressError {
    pub(crate) fn new(range: Range<usize>, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into(), range, is_password: false }
    }
}

/// The parts of an address; empty ones are as good as not there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Keys(BTreeMap<Key, Value>);

impl Keys {
    /// Gives a key a value, which an empty one is not.
    pub fn give(&mut self, key: Key, name: impl Into<String>, text: impl Into<String>) {
        let value = Value { name: name.into(), text: text.into(), range: 0..0 };
        self.lay(Self(BTreeMap::from([(key, value)])));
    }

    /// Gives the key of a parameter a value, as if it stood in an address under this parameter's name; `variable` is what messages call it.
    ///
    /// # Errors
    /// When dyno cannot do what it asks.
    pub fn give_parameter(
        &mut self,
        parameter: &str,
        variable: &str,
        text: &str,
    ) -> Result<(), Vec<AddressError>> {
        match parameter::find(Engine::Postgres, parameter, text, 0..0, 0..0) {
            Ok(Some(key)) => self.give(key, variable, text),
            Ok(None) => {}
            Err(error) => {
                return Err(vec![AddressError {
                    message: format!("{variable}: {}", error.message),
                    ..error
                }]);
            }
        }
        Ok(())
    }

    /// Lays others over these.
    pub fn lay(&mut self, others: Self) {
        self.0.extend(others.0.into_iter().filter(|(_, value)| !value.text.is_empty()));
    }

    /// Forgets a key.
    pub fn remove(&mut self, key: Key) {
        self.0.remove(&key);
    }

    /// What is said for a key.
    #[must_use]
    pub fn value(&self, key: Key) -> Option<&Value> {
        self.0.get(&key).filter(|value| !value.text.is_empty())
    }

    /// Its text.
    #[must_use]
    pub fn text(&self, key: Key) -> Option<&str> {
        self.value(key).map(|value| value.text.as_str())
    }

    /// How the system is reached.
    ///
    /// # Errors
    /// Everything that is wrong, in the order of its places.
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
            Execution::Thread | Execution::Process => engine.traits().port,
            Execution::Client => return Ok(Endpoint::File(self.text(Key::File).unwrap_or_default().into())),
            Execution::Nowhere => return Ok(Endpoint::InProcess),
        };
        // Of several hosts of PostgreSQL the first one is taken.
        let is_list = engine == Engine::Postgres;
        let first = |text| if is_list { str::split(text, ',').next().unwrap_or_default() } else { text };
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
                let range = self.0.get(&Key::Host).map_or(0..0, |value| value.range.clone());
                Err(AddressError::new(range, "the address names no host", url::example(engine.name())))
            }
        }
    }

    /// `None` for no limit but dyno's own.
    fn connect_timeout(&self) -> Result<Option<Duration>, AddressError> {
        let Some(value) = self.value(Key::ConnectTimeout) else { return Ok(None) };
        let seconds: i64 = value.text.trim().parse().map_err(|_| {
            let message = format!("`{}` cannot be `{}`", value.name, value.text);
            AddressError::new(value.range.clone(), message, "write a number of seconds")
        })?;
        Ok(u64::try_from(seconds).ok().filter(|seconds| *seconds > 0).map(Duration::from_secs))
    }
}

/// PostgreSQL users name the folder; the driver wants the file.
fn socket_file(engine: Engine, socket: &str, port: u16) -> PathBuf {
    let path = PathBuf::from(socket);
    let is_file = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".s.PGSQL."));
    if engine == Engine::Postgres && !is_file { path.join(format!(".s.PGSQL.{port}")) } else { path }
}

/// A URL's engine and parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// From the scheme.
    pub engine: Engine,
    keys: Keys,
    errors: Vec<AddressError>,
}

impl Address {
    /// The engine that a text's scheme names, if it is a URL.
    #[must_use]
    pub fn scheme(text: &str) -> Option<Engine> {
        url::engine(text.split_once(':')?.0)
    }

    /// The parts, of which any may be missing.
    ///
    /// # Errors
    /// What of it cannot be a URL.
    pub fn into_keys(self) -> Result<Keys, Vec<AddressError>> {
        if self.errors.is_empty() { Ok(self.keys) } else { Err(self.errors) }
    }

    /// How the system is reached, where nothing but the URL says it.
    ///
    /// # Errors
    /// Everything that is wrong or missing, in the order of its places.
    pub fn target(&self) -> Result<Target, Vec<AddressError>> {
        let target = self.keys.target(self.engine);
        let missing =
            [(Key::User, "user"), (Key::Database, "database")].into_iter().filter_map(|(key, what)| {
                let value =
                    self.keys.0.get(&key).filter(|value| value.text.is_empty() && !value.name.is_empty())?;
                let message = format!("the address names no {what}");
                Some(AddressError::new(value.range.clone(), message, url::example(&value.name)))
            });
        let mut errors: Vec<AddressError> = self.errors.iter().cloned().chain(missing).collect();
        match target {
            Ok(target) if errors.is_empty() => return Ok(target),
            Ok(_) => {}
            Err(others) => errors.extend(others),
        }
        errors.sort_by_key(|error| error.range.start);
        Err(errors)
    }

    /// Where the password stands in the text; `None` when it holds none.
    #[must_use]
    pub fn password_range(&self) -> Option<Range<usize>> {
        self.keys.value(Key::Password).map(|value| value.range.clone())
    }

    /// Where the file of passwords is named.
    #[must_use]
    pub fn password_file_range(&self) -> Option<Range<usize>> {
        self.keys.value(Key::PasswordFile).map(|value| value.range.clone())
    }
}

/// Takes what is right of a part and notes what is wrong with it, so that the other parts are looked at too.
fn noted<T>(result: Result<T, AddressError>, errors: &mut Vec<AddressError>) -> Option<T> {
    result.map_err(|error| errors.push(error)).ok()
}

#[cfg(test)]
mod tests;
