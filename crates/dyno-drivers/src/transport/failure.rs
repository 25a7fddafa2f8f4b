//! Errors of connecting, and of established connections.

use crate::timeout::TimedOut;
use dyno_model::failure::{FailureKind, OperationFailure};
use std::io;

/// Why a connection could not be opened. Some drivers have a separate error number for an unknown
/// name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectFailure {
    /// The name does not resolve.
    UnknownHost {
        /// The name.
        host: String,
        /// The system's message.
        reason: String,
    },
    /// Anything else.
    Other(OperationFailure),
}

impl From<OperationFailure> for ConnectFailure {
    fn from(failure: OperationFailure) -> Self {
        Self::Other(failure)
    }
}

impl From<ConnectFailure> for OperationFailure {
    fn from(failure: ConnectFailure) -> Self {
        match failure {
            ConnectFailure::UnknownHost { host, reason } => FailureKind::ConnectRefused
                .failure(format!("host {host} cannot be resolved: {reason}")),
            ConnectFailure::Other(failure) => failure,
        }
    }
}

pub(super) fn connect_failure(error: io::Error, address: &str) -> OperationFailure {
    let error = match error.downcast::<TimedOut>() {
        Ok(reason) => {
            let failure = OperationFailure::from(reason);
            let message = format!("cannot connect to {address}: {}", failure.message);
            return OperationFailure { message, ..failure };
        }
        Err(error) => error,
    };
    let kind = match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => FailureKind::Timeout,
        _ => FailureKind::ConnectRefused,
    };
    kind.failure(format!("cannot connect to {address}: {error}"))
}

/// The failure for an error of reading or writing on an established connection.
#[must_use]
pub fn stream_failure(error: io::Error) -> OperationFailure {
    let error = match error.downcast::<TimedOut>() {
        Ok(reason) => return reason.into(),
        Err(error) => error,
    };
    match error.kind() {
        io::ErrorKind::TimedOut => {
            FailureKind::Timeout.failure("the server did not answer in time")
        }
        io::ErrorKind::InvalidData => FailureKind::Protocol.failure(error.to_string()),
        _ => FailureKind::ConnectionLost.failure(format!("the connection broke: {error}")),
    }
}
