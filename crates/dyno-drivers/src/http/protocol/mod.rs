//! Decodes answers (RFC 9110, RFC 9112): a head, and a framed body.

pub mod body;
pub mod head;

use dyno_model::failure::{FailureKind, OperationFailure};

/// The received data is not valid HTTP/1.1, or exceeds a limit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(pub(crate) String);

impl Malformed {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}

impl From<Malformed> for OperationFailure {
    fn from(malformed: Malformed) -> Self {
        FailureKind::Protocol.failure(malformed.to_string())
    }
}
