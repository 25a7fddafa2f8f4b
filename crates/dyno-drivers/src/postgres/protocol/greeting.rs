//! The start of a session: authentication, and the server's settings up to ReadyForQuery.

use super::Malformed;
use super::authentication::Login;
use super::backend::{self, TransactionStatus};
use super::inbox::Frame;
use super::scram::SaltedPassword;
use crate::postgres::error;
use dyno_model::engine::{Backslash, Engine, Identity};
use dyno_model::failure::OperationFailure;
use std::num::NonZeroU32;

/// Facts about the session reported by the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFacts {
    /// Product and version of the server.
    pub identity: Identity,
    /// Process id of the session on the server.
    pub process: u32,
    /// State of the transaction after the last statement.
    pub transaction: TransactionStatus,
    /// `standard_conforming_strings`: a backslash in an ordinary string is an ordinary character.
    pub standard_strings: bool,
}

impl SessionFacts {
    /// Where a backslash escapes.
    #[must_use]
    pub fn backslash(&self) -> Backslash {
        if self.standard_strings { Backslash::EscapesWhereMarked } else { Backslash::Escapes }
    }
}

/// A session that is being opened.
#[derive(Debug)]
pub struct Greeting<'a> {
    login: Login<'a>,
    is_let_in: bool,
    session: SessionFacts,
}

impl<'a> Greeting<'a> {
    /// The state after the startup message was sent.
    #[must_use]
    pub fn new(login: Login<'a>) -> Self {
        Self {
            login,
            is_let_in: false,
            session: SessionFacts {
                identity: Identity::reported(Engine::Postgres, ""),
                process: 0,
                transaction: TransactionStatus::Idle,
                standard_strings: true,
            },
        }
    }

    /// Processes one message and appends the answer to it; true when the session is ready for its
    /// first statement. `derive` computes a salted password.
    ///
    /// # Errors
    /// A rejection by the server, an error of [`Login::answer`], or an unexpected message.
    pub fn take(
        &mut self,
        frame: Frame<'_>,
        derive: impl FnOnce(&str, &[u8], NonZeroU32) -> SaltedPassword,
        output: &mut Vec<u8>,
    ) -> Result<bool, OperationFailure> {
        match frame.tag {
            b'R' if !self.is_let_in => {
                self.is_let_in =
                    self.login.answer(backend::authentication(frame.body)?, derive, output)?;
            }
            b'S' => {
                let (name, value) = backend::parameter_status(frame.body)?;
                match &*name {
                    // CockroachDB also reports the version of PostgreSQL with which it is
                    // compatible, before or after its own.
                    "server_version" | "crdb_version"
                        if self.session.identity.product.compatible().is_none() =>
                    {
                        self.session.identity = Identity::reported(Engine::Postgres, &value);
                    }
                    "standard_conforming_strings" => self.session.standard_strings = value == "on",
                    _ => {}
                }
            }
            b'K' => self.session.process = backend::backend_process(frame.body)?,
            b'Z' if self.is_let_in => {
                self.session.transaction = backend::ready_for_query(frame.body)?;
                return Ok(true);
            }
            b'E' => return Err(error::failure(&backend::fault(frame.body)?)),
            // NoticeResponse; NegotiateProtocolVersion of a server whose newest protocol is older
            // than ours.
            b'N' | b'v' => {}
            other => {
                let what = "an unexpected message during login, type";
                return Err(Malformed { what, value: other.into() }.into());
            }
        }
        Ok(false)
    }

    /// The session, once it is ready.
    #[must_use]
    pub fn into_session(self) -> SessionFacts {
        self.session
    }
}
