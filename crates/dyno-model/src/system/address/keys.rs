//! The parts of an address by their [`Key`], and the errors in them.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

/// A part of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// Host name or address; a path is the folder of PostgreSQL's socket, or MySQL's socket.
    Host,
    /// IP address to use instead of resolving the host name.
    HostAddress,
    /// TCP port.
    Port,
    /// A unix socket, or the folder of PostgreSQL's socket.
    Socket,
    /// File of an SQLite database.
    File,
    /// Account.
    User,
    /// Its password.
    Password,
    /// PostgreSQL's password file.
    PasswordFile,
    /// Database; for the null driver, its script.
    Database,
    /// Encryption mode.
    Encryption,
    /// PEM file of trusted certificate authorities; `system` for those that the system trusts.
    Authorities,
    /// PEM file of the client's certificate.
    Certificate,
    /// PEM file of its key.
    PrivateKey,
    /// Whether a SCRAM login is bound to the TLS connection.
    ChannelBinding,
    /// Whether the server is asked before the TLS handshake.
    TlsNegotiation,
    /// The newest version of the protocol.
    Protocol,
    /// The state that the server must be in.
    ServerState,
    /// Connection timeout in seconds.
    ConnectTimeout,
    /// PostgreSQL's session settings, as in `PGOPTIONS`.
    Options,
    /// Name of the session in PostgreSQL's views.
    ApplicationName,
}

/// The value of a key, and its position.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Value {
    /// The key as it was written: `sslmode`, `tls`, `PGSSLMODE`, `--mysql-ssl`.
    pub name: String,
    /// Its value; possibly a password.
    pub text: String,
    /// Its position in the address, bytes; empty for options and variables.
    pub range: Range<usize>,
}

/// Any value may be a password.
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Value({})", self.name)
    }
}

/// An error in an address. Its text never contains any part of a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressError {
    /// The error.
    pub message: String,
    /// The remedy.
    pub help: String,
    /// Position in the address, bytes.
    pub range: Range<usize>,
    /// True when the range is a password.
    pub is_password: bool,
}

impl AddressError {
    pub(crate) fn new(
        range: Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self { message: message.into(), help: help.into(), range, is_password: false }
    }
}

/// The parts of an address; an empty part is equivalent to a missing one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Keys(pub(super) BTreeMap<Key, Value>);

impl Keys {
    /// Sets the value of a key, unless the value is empty.
    pub fn give(&mut self, key: Key, name: impl Into<String>, text: impl Into<String>) {
        let value = Value { name: name.into(), text: text.into(), range: 0..0 };
        self.lay(Self(BTreeMap::from([(key, value)])));
    }

    /// Overrides these parts with others.
    pub fn lay(&mut self, others: Self) {
        self.0.extend(others.0.into_iter().filter(|(_, value)| !value.text.is_empty()));
    }

    /// Removes a key.
    pub fn remove(&mut self, key: Key) {
        self.0.remove(&key);
    }

    /// The part of a key.
    #[must_use]
    pub fn value(&self, key: Key) -> Option<&Value> {
        self.0.get(&key).filter(|value| !value.text.is_empty())
    }

    /// The text of a key.
    #[must_use]
    pub fn text(&self, key: Key) -> Option<&str> {
        self.value(key).map(|value| value.text.as_str())
    }
}

/// Returns the value of a valid part and records the error of an invalid one, so that the other
/// parts are checked too.
pub(super) fn noted<T>(
    result: Result<T, AddressError>,
    errors: &mut Vec<AddressError>,
) -> Option<T> {
    result.map_err(|error| errors.push(error)).ok()
}
