//! Failures after which no client of a trial can continue.

use crate::client_id::ClientId;
use dyno_model::failure::OperationFailure;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A failure that ended the run for all clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fatal {
    /// The client that failed.
    pub client: ClientId,
    /// The cause.
    pub cause: FatalCause,
}

/// The cause of a [`Fatal`] failure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FatalCause {
    /// The database's answer to a statement.
    Failure {
        /// The answer.
        failure: OperationFailure,
        /// Kind of the statement.
        statement: String,
        /// Its text, with `?` for parameters, if it is known; unknown for an operation that the
        /// workload measured itself.
        sql: Option<String>,
    },
    /// The error message of a script.
    Script(String),
}

impl fmt::Display for Fatal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            FatalCause::Failure { failure, statement, .. } => {
                write!(f, "client {}, {statement}: {failure}", self.client.0)
            }
            FatalCause::Script(message) => f.write_str(message),
        }
    }
}
