//! The frontend/backend protocol, version 3 (PostgreSQL documentation, chapter "Frontend/Backend
//! Protocol"): encoding and decoding.
//!
//! Nothing here imports sockets, files or clocks. A decoder that needs more bytes returns
//! `Ok(None)`, and no data from a server can make one panic or allocate more than what has arrived.

pub mod authentication;
pub mod backend;
#[cfg(test)]
mod captured;
pub mod certificate;
pub mod copy;
pub mod frontend;
pub mod greeting;
pub mod inbox;
pub mod literal;
pub mod parameter;
pub mod placeholder;
pub mod reply;
pub mod row;
pub mod scram;

use dyno_model::failure::{FailureKind, OperationFailure};

/// Bytes that violate the protocol. The position in the stream is lost with them, so the connection
/// is unusable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the server does not follow the protocol: {what} {value}")]
pub struct Malformed {
    /// The error, a fragment such as `message with a length of`.
    pub what: &'static str,
    /// The invalid value: a length, a count, a message type.
    pub value: i64,
}

impl From<Malformed> for OperationFailure {
    fn from(malformed: Malformed) -> Self {
        FailureKind::Protocol.failure(malformed.to_string())
    }
}

/// Ids of built-in types (`pg_type.oid`), the same in every server version.
pub mod oid {
    pub const BYTEA: u32 = 17;
    /// `bigint`
    pub const INT8: u32 = 20;
    /// `smallint`
    pub const INT2: u32 = 21;
    /// `integer`
    pub const INT4: u32 = 23;
    pub const OID: u32 = 26;
    /// `real`
    pub const FLOAT4: u32 = 700;
    /// `double precision`
    pub const FLOAT8: u32 = 701;
}
