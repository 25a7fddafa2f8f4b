//! The parts of an address by their [`Key`], and what may be wrong with them.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

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
    pub(crate) fn new(
        range: Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self { message: message.into(), help: help.into(), range, is_password: false }
    }
}

/// The parts of an address; empty ones are as good as not there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Keys(pub(super) BTreeMap<Key, Value>);

impl Keys {
    /// Gives a key a value, which an empty one is not.
    pub fn give(&mut self, key: Key, name: impl Into<String>, text: impl Into<String>) {
        let value = Value { name: name.into(), text: text.into(), range: 0..0 };
        self.lay(Self(BTreeMap::from([(key, value)])));
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
}

/// Takes what is right of a part and notes what is wrong with it, so that the other parts are
/// looked at too.
pub(super) fn noted<T>(
    result: Result<T, AddressError>,
    errors: &mut Vec<AddressError>,
) -> Option<T> {
    result.map_err(|error| errors.push(error)).ok()
}
