//! SCRAM-SHA-256 (RFC 5802, RFC 7677), on request bound to the TLS connection.
//!
//! | symbol | meaning |
//! |---|---|
//! | SaltedPassword | PBKDF2-HMAC-SHA-256(password, salt, iterations), 32 bytes |
//! | ClientKey | HMAC(SaltedPassword, "Client Key") |
//! | StoredKey | SHA-256(ClientKey) |
//! | AuthMessage | client-first-bare "," server-first "," client-final-without-proof |
//! | proof | ClientKey xor HMAC(StoredKey, AuthMessage) |
//! | server signature | HMAC(HMAC(SaltedPassword, "Server Key"), AuthMessage) |

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ring::{digest, hmac, pbkdf2};
use std::num::NonZeroU32;

/// The mechanism's name.
pub const MECHANISM: &str = "SCRAM-SHA-256";
/// The same with channel binding.
pub const MECHANISM_PLUS: &str = "SCRAM-SHA-256-PLUS";

/// More iterations are rejected, so that a server cannot keep a client busy for seconds. The
/// default is 4096.
const ITERATIONS_MAX: u32 = 1_000_000;

/// The salted password.
pub type SaltedPassword = [u8; 32];

/// Why a server is not trusted, or cannot be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScramError(pub &'static str);

/// What a login says about channel binding (RFC 5802, section 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding<'a> {
    /// The client does not support it.
    Unsupported,
    /// The client supports it, but the server did not offer it. A server that did offer it rejects
    /// the login, because somebody in between removed the offer.
    NotOffered,
    /// Bound to the hash of the server's certificate (`tls-server-end-point`, RFC 5929).
    Certificate(&'a [u8]),
}

impl Binding<'_> {
    /// The first part of the first message.
    fn header(self) -> &'static str {
        match self {
            Self::Unsupported => "n,,",
            Self::NotOffered => "y,,",
            Self::Certificate(_) => "p=tls-server-end-point,,",
        }
    }
}

/// A login from the client's view. Each step is done once, in this order: first, [`Self::answer`],
/// [`Self::verify`].
#[derive(Debug)]
pub struct Scram {
    header: &'static str,
    first_bare: String,
    nonce: String,
    /// The header and the data to which the login is bound, base64.
    bound: String,
    server_signature: Option<Vec<u8>>,
}

impl Scram {
    /// Starts a login. PostgreSQL ignores `user` here (it is in the startup message) and libpq
    /// leaves it empty. `nonce` is printable, without commas, and never reused.
    #[must_use]
    pub fn new(user: &str, nonce: &str, binding: Binding<'_>) -> Self {
        let user = user.replace('=', "=3D").replace(',', "=2C");
        let data: &[u8] = if let Binding::Certificate(hash) = binding { hash } else { &[] };
        Self {
            header: binding.header(),
            bound: BASE64.encode([binding.header().as_bytes(), data].concat()),
            first_bare: format!("n={user},r={nonce}"),
            nonce: nonce.to_owned(),
            server_signature: None,
        }
    }

    /// The first message.
    #[must_use]
    pub fn first(&self) -> String {
        format!("{}{}", self.header, self.first_bare)
    }

    /// Answers the server's first message. `derive` computes the salted password from salt and
    /// iterations (see [`salted_password`]).
    ///
    /// # Errors
    /// When the message does not have the form of the RFC, or its nonce does not continue ours.
    pub fn answer(
        &mut self,
        server_first: &[u8],
        derive: impl FnOnce(&[u8], NonZeroU32) -> SaltedPassword,
    ) -> Result<String, ScramError> {
        let server_first =
            std::str::from_utf8(server_first).map_err(|_| ScramError("its message is not text"))?;
        let mut attributes = server_first.split(',');
        let mut attribute = |name: &str| {
            let text = attributes.next().unwrap_or_default();
            text.strip_prefix(name)
                .ok_or(ScramError("its first message lacks nonce, salt or iterations"))
        };
        let nonce = attribute("r=")?;
        let salt =
            BASE64.decode(attribute("s=")?).map_err(|_| ScramError("its salt is not base64"))?;
        let iterations: NonZeroU32 = attribute("i=")?
            .parse()
            .map_err(|_| ScramError("its number of iterations is not a number above 0"))?;
        if !nonce.starts_with(&self.nonce) || nonce.len() == self.nonce.len() {
            return Err(ScramError("its nonce does not continue ours"));
        }
        if iterations.get() > ITERATIONS_MAX {
            return Err(ScramError("it asks for more than a million iterations"));
        }
        let salted = derive(&salt, iterations);
        let without_proof = format!("c={},r={nonce}", self.bound);
        let message = format!("{},{server_first},{without_proof}", self.first_bare);
        let client_key = sign(&salted, b"Client Key");
        let stored_key = digest::digest(&digest::SHA256, client_key.as_ref());
        let signature = sign(stored_key.as_ref(), message.as_bytes());
        let proof: Vec<u8> =
            client_key.as_ref().iter().zip(signature.as_ref()).map(|(a, b)| a ^ b).collect();
        let server_key = sign(&salted, b"Server Key");
        self.server_signature =
            Some(sign(server_key.as_ref(), message.as_bytes()).as_ref().to_vec());
        Ok(format!("{without_proof},p={}", BASE64.encode(proof)))
    }

    /// Checks that the server knows the password too.
    ///
    /// # Errors
    /// When it does not, or reports that the proof was wrong.
    pub fn verify(&self, server_final: &[u8]) -> Result<(), ScramError> {
        let expected = self
            .server_signature
            .as_ref()
            .ok_or(ScramError("it ended the login before it started"))?;
        let Some(encoded) = server_final.strip_prefix(b"v=") else {
            return Err(ScramError("it did not prove that it knows the password"));
        };
        let end = encoded.iter().position(|byte| *byte == b',').unwrap_or(encoded.len());
        match BASE64.decode(&encoded[..end]) {
            Ok(signature) if signature == *expected => Ok(()),
            _ => Err(ScramError("its proof that it knows the password is wrong")),
        }
    }
}

/// The salted password; computing it takes about a millisecond.
#[must_use]
pub fn salted_password(password: &str, salt: &[u8], iterations: NonZeroU32) -> SaltedPassword {
    // A password that SASLprep rejects (control characters, unassigned code points) is used
    // unchanged, as in the server.
    let prepared = stringprep::saslprep(password).unwrap_or(password.into());
    let mut salted = [0; 32];
    pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, iterations, salt, prepared.as_bytes(), &mut salted);
    salted
}

fn sign(key: &[u8], message: &[u8]) -> hmac::Tag {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // RFC 7677, section 3.
    const NONCE: &str = "rOprNGfwEbeRWgbNEkqO";
    const SERVER_FIRST: &[u8] =
        b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
    const CLIENT_FINAL: &str = "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
        p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
    const SERVER_FINAL: &[u8] = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";

    fn pencil(salt: &[u8], iterations: NonZeroU32) -> SaltedPassword {
        salted_password("pencil", salt, iterations)
    }

    #[test]
    fn the_example_of_rfc_7677_is_reproduced() {
        let mut scram = Scram::new("user", NONCE, Binding::Unsupported);
        assert_eq!(scram.first(), "n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
        assert_eq!(scram.answer(SERVER_FIRST, pencil).unwrap(), CLIENT_FINAL);
        scram.verify(SERVER_FINAL).unwrap();
    }

    #[test]
    fn a_server_that_does_not_know_the_password_is_not_trusted() {
        let mut scram = Scram::new("user", NONCE, Binding::Unsupported);
        assert!(scram.verify(SERVER_FINAL).is_err(), "before the login began");
        scram.answer(SERVER_FIRST, pencil).unwrap();
        for wrong in [&b"v=AAAA"[..], b"v=", b"v=***", b"e=invalid-proof", b""] {
            assert!(scram.verify(wrong).is_err(), "{}", String::from_utf8_lossy(wrong));
        }
    }

    #[test]
    fn invalid_first_messages_are_rejected() {
        let cases: [(&[u8], &str); 8] = [
            (b"", "nothing"),
            (b"r=other,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", "nonce is not ours"),
            (
                b"r=rOprNGfwEbeRWgbNEkqO,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
                "nonce has nothing of the server's",
            ),
            (b"r=rOprNGfwEbeRWgbNEkqOx,s=*,i=4096", "salt is not base64"),
            (b"r=rOprNGfwEbeRWgbNEkqOx,s=AAAA,i=0", "no iterations"),
            (b"r=rOprNGfwEbeRWgbNEkqOx,s=AAAA,i=1000001", "would take seconds"),
            (b"r=rOprNGfwEbeRWgbNEkqOx,s=AAAA", "no iterations at all"),
            (b"r=\xff,s=AAAA,i=1", "not text"),
        ];
        for (message, why) in cases {
            assert!(
                Scram::new("", NONCE, Binding::Unsupported)
                    .answer(message, |_, _| panic!("derived"))
                    .is_err(),
                "{why}"
            );
        }
    }

    #[test]
    fn passwords_are_prepared_as_in_the_server() {
        let iterations = NonZeroU32::MIN;
        // Full-width letters equal ordinary ones (NFKC); a non-breaking space is a space.
        assert_eq!(
            salted_password("ｐｅｎ\u{a0}", b"s", iterations),
            salted_password("pen ", b"s", iterations)
        );
        // Control characters are prohibited: used unchanged.
        assert_ne!(
            salted_password("a\u{7}", b"s", iterations),
            salted_password("a", b"s", iterations)
        );
    }

    #[test]
    fn separators_in_names_are_escaped() {
        let first = Scram::new("a=b,c", "x", Binding::Unsupported).first();
        assert_eq!(first, "n,,n=a=3Db=2Cc,r=x");
    }

    #[test]
    fn a_login_is_bound_to_the_hash_of_the_certificate() {
        let rows = [
            (Binding::Unsupported, "n,,", "c=biws,"),
            (Binding::NotOffered, "y,,", "c=eSws,"),
            // echo -n p=tls-server-end-point,,hash | base64
            (
                Binding::Certificate(b"hash"),
                "p=tls-server-end-point,,",
                "c=cD10bHMtc2VydmVyLWVuZC1wb2ludCwsaGFzaA==,",
            ),
        ];
        for (binding, first, last) in rows {
            let mut scram = Scram::new("user", NONCE, binding);
            assert!(scram.first().starts_with(first));
            assert!(scram.answer(SERVER_FIRST, pencil).unwrap().starts_with(last));
        }
    }

    proptest! {
        #[test]
        fn random_messages_never_panic(message in prop::collection::vec(any::<u8>(), 0..80)) {
            let mut scram = Scram::new("", "abc", Binding::Unsupported);
            let mut with_nonce = b"r=abc".to_vec();
            with_nonce.extend(&message);
            let _ = scram.answer(&with_nonce, |_, _| [0; 32]);
            let _ = scram.verify(&message);
        }
    }
}
