//! The client side of the MySQL protocol: encoding and decoding without I/O.
//!
//! * [`packet`]: packets in the receive buffer, and headers of sent packets;
//! * [`handshake`] and [`auth`]: greeting, login, authentication;
//! * [`command`]: commands of the client;
//! * [`reply`]: the state machine for the packets of an answer, with [`column`] and [`row`];
//! * [`literal`] and [`template`]: statements sent as text with values written into them.
//!
//! Sources: "MySQL Internals: Client/Server Protocol" (dev.mysql.com/doc/dev/mysql-server, page
//! PROTOCOL) and MariaDB's knowledge base, "Client/Server Protocol", for MariaDB's differences.

pub mod auth;
pub mod column;
pub mod command;
pub mod cursor;
pub mod handshake;
pub mod literal;
pub mod packet;
pub mod reply;
pub mod row;
pub mod template;

/// Bytes that violate the protocol. The text names the part and the bytes found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the server does not follow the MySQL protocol: {0}")]
pub struct Malformed(pub String);

impl Malformed {
    /// The error, as a fragment: "column count: 3 bytes missing".
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}

/// Result of decoding.
pub type Result<T> = std::result::Result<T, Malformed>;
