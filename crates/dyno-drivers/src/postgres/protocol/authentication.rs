//! Answers the server's authentication requests.

use super::Malformed;
use super::backend::Authentication;
use super::frontend;
use super::scram::{self, Binding, SaltedPassword, Scram, ScramError};
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::hex::hex;
use dyno_model::secret::Secret;
use dyno_model::target::ChannelBinding;
use md5::{Digest, Md5};
use std::num::NonZeroU32;

/// The user, and the state of the login.
#[derive(Debug)]
pub struct Login<'a> {
    user: &'a str,
    password: &'a Secret,
    /// Random, for SCRAM.
    nonce: String,
    /// Whether SCRAM is bound to the TLS connection.
    binding: ChannelBinding,
    /// Hash of the server's certificate; `None` on a connection that cannot be bound to it.
    certificate: Option<Vec<u8>>,
    scram: Option<Scram>,
    /// SCRAM only: the server has proved that it knows the password.
    is_server_verified: bool,
}

impl<'a> Login<'a> {
    /// The state before the first request. `nonce` must be random.
    #[must_use]
    pub fn new(user: &'a str, password: &'a Secret, nonce: String) -> Self {
        Self {
            user,
            password,
            nonce,
            binding: ChannelBinding::default(),
            certificate: None,
            scram: None,
            is_server_verified: false,
        }
    }

    /// Binds the login to a TLS connection; `certificate` is the hash of the server's certificate.
    #[must_use]
    pub fn bound(self, binding: ChannelBinding, certificate: Option<Vec<u8>>) -> Self {
        let certificate = certificate.filter(|_| binding != ChannelBinding::Disable);
        Self { binding, certificate, ..self }
    }

    /// Appends the answer to one message. True when the login has succeeded.
    ///
    /// # Errors
    /// [`FailureKind::Authentication`] when a password is missing or the server cannot be trusted,
    /// [`FailureKind::Unsupported`] for an unsupported method, [`FailureKind::Protocol`] for
    /// messages out of order.
    pub fn answer(
        &mut self,
        request: Authentication<'_>,
        derive: impl FnOnce(&str, &[u8], NonZeroU32) -> SaltedPassword,
        output: &mut Vec<u8>,
    ) -> Result<bool, OperationFailure> {
        let is_scram = match request {
            Authentication::Ok => self.scram.is_some(),
            _ => matches!(
                request,
                Authentication::Sasl(_)
                    | Authentication::SaslContinue(_)
                    | Authentication::SaslFinal(_)
            ),
        };
        // Checked before a password is sent.
        if self.binding == ChannelBinding::Require && !is_scram {
            return Err(self.unbound("the server did not ask for a SCRAM login"));
        }
        match request {
            Authentication::Ok if self.scram.is_some() && !self.is_server_verified => {
                return Err(self.distrust(ScramError(
                    "it ended the login without proving that it knows the password",
                )));
            }
            Authentication::Ok => return Ok(true),
            Authentication::Cleartext => frontend::password(self.password()?.as_bytes(), output),
            Authentication::Md5(salt) => {
                frontend::password(&md5_answer(self.user, self.password()?, salt), output);
            }
            Authentication::Sasl(mechanisms) => {
                let offers = |name: &str| {
                    mechanisms.split(|byte| *byte == 0).any(|it| it == name.as_bytes())
                };
                let (mechanism, binding) = match &self.certificate {
                    Some(hash) if offers(scram::MECHANISM_PLUS) => {
                        (scram::MECHANISM_PLUS, Binding::Certificate(hash))
                    }
                    Some(_) => (scram::MECHANISM, Binding::NotOffered),
                    None => (scram::MECHANISM, Binding::Unsupported),
                };
                if self.binding == ChannelBinding::Require && mechanism == scram::MECHANISM {
                    return Err(self.unbound(match self.certificate {
                        Some(_) => "the server does not offer SCRAM-SHA-256-PLUS",
                        None => "the connection is not encrypted, or its certificate has no hash",
                    }));
                }
                if !offers(mechanism) {
                    return Err(self.unsupported("SASL without SCRAM-SHA-256"));
                }
                self.password()?;
                let scram = Scram::new("", &self.nonce, binding);
                frontend::sasl_initial(mechanism, scram.first().as_bytes(), output);
                self.scram = Some(scram);
            }
            Authentication::SaslContinue(message) => {
                let password = self.password()?;
                let scram = self.scram.as_mut().ok_or_else(out_of_turn)?;
                let answer =
                    scram.answer(message, |salt, iterations| derive(password, salt, iterations));
                match answer {
                    Ok(answer) => frontend::sasl_response(answer.as_bytes(), output),
                    Err(error) => return Err(self.distrust(error)),
                }
            }
            Authentication::SaslFinal(message) => {
                let scram = self.scram.as_ref().ok_or_else(out_of_turn)?;
                scram.verify(message).map_err(|error| self.distrust(error))?;
                self.is_server_verified = true;
            }
            Authentication::Other(2) => return Err(self.unsupported("Kerberos 5")),
            Authentication::Other(7 | 8) => return Err(self.unsupported("GSSAPI")),
            Authentication::Other(9) => return Err(self.unsupported("SSPI")),
            Authentication::Other(number) => {
                return Err(self.unsupported(&format!("method {number}")));
            }
        }
        Ok(false)
    }

    fn password(&self) -> Result<&'a str, OperationFailure> {
        match self.password.reveal() {
            "" => Err(FailureKind::Authentication.failure(format!(
                "the server requires a password, but none is given for user {:?}",
                self.user
            ))),
            password if password.contains('\0') => Err(FailureKind::Authentication
                .failure(format!("the password of user {:?} contains a zero byte", self.user))),
            password => Ok(password),
        }
    }

    fn distrust(&self, error: ScramError) -> OperationFailure {
        FailureKind::Authentication.failure(format!(
            "SCRAM login of user {:?} cancelled because the server cannot be trusted: {}",
            self.user, error.0
        ))
    }

    fn unbound(&self, reason: &str) -> OperationFailure {
        FailureKind::Authentication.failure(format!(
            "login of user {:?} cancelled because `channel_binding=require` is given: {reason}",
            self.user
        ))
    }

    fn unsupported(&self, method: &str) -> OperationFailure {
        FailureKind::Unsupported.failure(format!(
            "the server requires user {:?} to log in with {method}, which dyno does not support; \
                 add a line for the user with scram-sha-256, md5, password or trust in pg_hba.conf",
            self.user
        ))
    }
}

fn out_of_turn() -> OperationFailure {
    let malformed = Malformed { what: "an unexpected SASL message, type", value: 11 };
    FailureKind::Protocol.failure(malformed.to_string())
}

/// `md5` and the hex digits of MD5(hex digits of MD5(password user), salt).
fn md5_answer(user: &str, password: &str, salt: [u8; 4]) -> Vec<u8> {
    let inner = hex(&Md5::new().chain_update(password).chain_update(user).finalize());
    let outer = hex(&Md5::new().chain_update(inner).chain_update(salt).finalize());
    format!("md5{outer}").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn login(password: &Secret) -> Login<'_> {
        Login::new("u", password, "nonce".to_owned())
    }

    fn derive(_: &str, _: &[u8], _: NonZeroU32) -> SaltedPassword {
        [0; 32]
    }

    #[test]
    fn md5_hashes_password_user_and_salt() {
        // echo -n pwu | md5sum; then its digits and the salt again.
        let inner = hex(&Md5::digest(b"pwu"));
        let outer = hex(&Md5::digest([inner.as_bytes(), &[1, 2, 3, 4]].concat()));
        assert_eq!(md5_answer("u", "pw", [1, 2, 3, 4]), format!("md5{outer}").as_bytes());
        assert_eq!(hex(&Md5::digest(b"")), "d41d8cd98f00b204e9800998ecf8427e"); // RFC 1321
    }

    #[test]
    fn a_missing_password_is_reported_before_anything_is_sent() {
        let none = Secret::default();
        for request in [
            Authentication::Cleartext,
            Authentication::Md5([0; 4]),
            Authentication::Sasl(b"SCRAM-SHA-256\0\0"),
        ] {
            let mut output = Vec::new();
            let failure = login(&none).answer(request, derive, &mut output).unwrap_err();
            assert_eq!(failure.kind, FailureKind::Authentication);
            assert!(failure.message.contains("none is given for user \"u\""), "{failure}");
            assert!(output.is_empty());
        }
    }

    #[test]
    fn a_server_that_skips_its_proof_is_rejected() {
        let password = Secret::new("pw");
        let mut login = login(&password);
        let mut output = Vec::new();
        login
            .answer(
                Authentication::Sasl(b"SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0"),
                derive,
                &mut output,
            )
            .unwrap();
        let failure = login.answer(Authentication::Ok, derive, &mut output).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Authentication);
        assert!(!failure.message.contains("pw"));
    }

    #[test]
    fn a_login_that_must_be_bound_sends_no_password_unless_it_is() {
        let password = Secret::new("pw");
        let certificate = Some(b"hash".to_vec());
        let both = Authentication::Sasl(b"SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0");
        let rows = [
            (Authentication::Ok, certificate.clone(), "did not ask for a SCRAM login"),
            (Authentication::Cleartext, certificate.clone(), "did not ask for a SCRAM login"),
            (Authentication::Md5([0; 4]), certificate.clone(), "did not ask for a SCRAM login"),
            (
                Authentication::Sasl(b"SCRAM-SHA-256\0\0"),
                certificate.clone(),
                "does not offer SCRAM-SHA-256-PLUS",
            ),
            (both, None, "not encrypted"),
        ];
        for (request, certificate, reason) in rows {
            let mut output = Vec::new();
            let mut login = login(&password).bound(ChannelBinding::Require, certificate);
            let failure = login.answer(request, derive, &mut output).unwrap_err();
            assert_eq!(failure.kind, FailureKind::Authentication);
            assert!(failure.message.contains(reason), "{failure}");
            assert!(output.is_empty());
        }
        let first = |binding, certificate: Option<&[u8]>, request| {
            let mut output = Vec::new();
            let mut login = login(&password).bound(binding, certificate.map(<[u8]>::to_vec));
            login.answer(request, derive, &mut output).unwrap();
            // A begun SCRAM login does not allow another method either.
            let other = login.answer(Authentication::Cleartext, derive, &mut Vec::new());
            assert_eq!(other.is_err(), binding == ChannelBinding::Require);
            String::from_utf8_lossy(&output).into_owned()
        };
        let hash: Option<&[u8]> = Some(b"hash");
        let plain = Authentication::Sasl(b"SCRAM-SHA-256\0\0");
        for (binding, certificate, request, header) in [
            (ChannelBinding::Require, hash, both, "p=tls-server-end-point,,"),
            (ChannelBinding::Prefer, hash, both, "p=tls-server-end-point,,"),
            (ChannelBinding::Prefer, hash, plain, "y,,"),
            (ChannelBinding::Prefer, None, both, "n,,"),
            (ChannelBinding::Disable, hash, both, "n,,"),
        ] {
            assert!(first(binding, certificate, request).contains(header), "{binding:?}");
        }
    }

    #[test]
    fn messages_out_of_order_violate_the_protocol() {
        let password = Secret::new("pw");
        for request in [Authentication::SaslContinue(b"r=x"), Authentication::SaslFinal(b"v=x")] {
            let failure = login(&password).answer(request, derive, &mut Vec::new()).unwrap_err();
            assert_eq!(failure.kind, FailureKind::Protocol);
        }
    }

    #[test]
    fn unsupported_methods_are_named() {
        let password = Secret::new("pw");
        for (request, name) in [
            (Authentication::Other(7), "GSSAPI"),
            (Authentication::Other(99), "method 99"),
            (Authentication::Sasl(b"OAUTHBEARER\0\0"), "SASL without SCRAM-SHA-256"),
        ] {
            let failure = login(&password).answer(request, derive, &mut Vec::new()).unwrap_err();
            assert_eq!(failure.kind, FailureKind::Unsupported);
            assert!(failure.message.contains(name), "{failure}");
        }
    }
}
