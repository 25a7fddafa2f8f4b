//! Authentication data computed from passwords, one function per authentication plugin.
//!
//! Nothing here logs or shows passwords or their proofs.

use super::{Malformed, Result};
use curve25519_dalek::edwards::EdwardsPoint;
use curve25519_dalek::scalar::{Scalar, clamp_integer};
use ring::digest::{Algorithm, SHA1_FOR_LEGACY_USE_ONLY, SHA256, SHA512, digest};
use rsa::pkcs8::DecodePublicKey;
use rsa::rand_core::OsRng;
use rsa::{Oaep, RsaPublicKey};

/// Who can eavesdrop on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    /// Anybody on the network path.
    Open,
    /// Nobody outside the machine: a unix socket.
    Local,
    /// Nobody: TLS.
    Encrypted,
}

dyno_model::named! {
    /// The supported plugins, by their names in the protocol.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Plugin {
        /// SHA-1 of MySQL 4.1 to 8.4, and MariaDB's default.
        NativePassword = "mysql_native_password",
        /// MySQL's default since 8.0.
        CachingSha2 = "caching_sha2_password",
        /// MySQL 5.6 to 8.4.
        Sha256 = "sha256_password",
        /// MariaDB's elliptic curve signature.
        Ed25519 = "client_ed25519",
    }
}

impl Plugin {
    /// The part of the server's data that is the nonce: it may be followed by a NUL, and may end in
    /// one.
    #[must_use]
    pub fn nonce(self, data: &[u8]) -> &[u8] {
        let length = if self == Self::Ed25519 { 32 } else { 20 };
        &data[..data.len().min(length)]
    }

    /// True when the plugin sends the password in clear text. Servers decide alike; the older
    /// plugin does not trust unix sockets.
    #[must_use]
    pub fn sends_cleartext(self, channel: Channel) -> bool {
        match self {
            Self::CachingSha2 => channel != Channel::Open,
            Self::Sha256 => channel == Channel::Encrypted,
            Self::NativePassword | Self::Ed25519 => false,
        }
    }

    /// The first answer to the server's nonce.
    #[must_use]
    pub fn first_answer(self, password: &str, nonce: &[u8], channel: Channel) -> Vec<u8> {
        match self {
            // The curve also signs an empty password; the other plugins send nothing for it.
            Self::Ed25519 => ed25519(password.as_bytes(), nonce),
            Self::Sha256 if password.is_empty() => vec![0],
            _ if password.is_empty() => Vec::new(),
            Self::NativePassword => native_password(password.as_bytes(), nonce),
            Self::CachingSha2 => caching_sha2(password.as_bytes(), nonce),
            Self::Sha256 if self.sends_cleartext(channel) => cleartext(password),
            Self::Sha256 => vec![SHA256_KEY_REQUEST],
        }
    }
}

/// With this request `sha256_password` sends its public key.
const SHA256_KEY_REQUEST: u8 = 1;
/// With this request `caching_sha2_password` sends its public key.
pub const CACHING_SHA2_KEY_REQUEST: u8 = 2;
/// `caching_sha2_password` found the account in its cache: an OK packet follows.
pub const CACHING_SHA2_FAST: u8 = 3;
/// `caching_sha2_password` needs the clear-text password.
pub const CACHING_SHA2_FULL: u8 = 4;

fn hash(algorithm: &'static Algorithm, parts: &[&[u8]]) -> Vec<u8> {
    digest(algorithm, &parts.concat()).as_ref().to_vec()
}

fn xor(left: &[u8], right: &[u8]) -> Vec<u8> {
    left.iter().zip(right.iter().cycle()).map(|(left, right)| left ^ right).collect()
}

/// `SHA1(password) XOR SHA1(nonce, SHA1(SHA1(password)))`.
#[must_use]
pub fn native_password(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    let once = hash(&SHA1_FOR_LEGACY_USE_ONLY, &[password]);
    let twice = hash(&SHA1_FOR_LEGACY_USE_ONLY, &[&once]);
    xor(&once, &hash(&SHA1_FOR_LEGACY_USE_ONLY, &[nonce, &twice]))
}

/// `SHA256(password) XOR SHA256(SHA256(SHA256(password)), nonce)`.
#[must_use]
pub fn caching_sha2(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    let once = hash(&SHA256, &[password]);
    let twice = hash(&SHA256, &[&once]);
    xor(&once, &hash(&SHA256, &[&twice, nonce]))
}

/// The clear-text password, for a connection that nobody can eavesdrop on.
#[must_use]
pub fn cleartext(password: &str) -> Vec<u8> {
    [password.as_bytes(), &[0]].concat()
}

/// The password encrypted with the server's public key (PEM), for connections that others can
/// eavesdrop on. An attacker who can also modify the server's data can replace the key; TLS with
/// verification prevents that.
///
/// # Errors
/// When the key cannot be read, or is too short for the password.
pub fn rsa_encrypted(password: &str, nonce: &[u8], public_key: &[u8]) -> Result<Vec<u8>> {
    if nonce.is_empty() {
        return Err(Malformed::new("public key without a nonce"));
    }
    let key = std::str::from_utf8(public_key)
        .ok()
        .and_then(|pem| RsaPublicKey::from_public_key_pem(pem.trim()).ok())
        .ok_or_else(|| Malformed::new("the server's public key is not an RSA key in PEM"))?;
    key.encrypt(&mut OsRng, Oaep::new::<sha1::Sha1>(), &xor(&cleartext(password), nonce)).map_err(
        |error| {
            Malformed::new(format!(
                "cannot encrypt the password with the server's public key: {error}"
            ))
        },
    )
}

/// MariaDB's variant of Ed25519: the password of any length takes the place of the seed; the rest
/// is RFC 8032, 5.1.6. Crates for signatures require a seed of 32 bytes and cannot be used.
#[must_use]
pub fn ed25519(password: &[u8], message: &[u8]) -> Vec<u8> {
    let wide = |parts: &[&[u8]]| {
        let bytes: [u8; 64] = hash(&SHA512, parts).try_into().expect("SHA-512 has 64 bytes");
        Scalar::from_bytes_mod_order_wide(&bytes)
    };
    let expanded = hash(&SHA512, &[password]);
    let (secret, prefix) = expanded.split_at(32);
    let secret: [u8; 32] = secret.try_into().expect("half of SHA-512 has 32 bytes");
    let secret = Scalar::from_bytes_mod_order(clamp_integer(secret));
    let public = EdwardsPoint::mul_base(&secret).compress();
    let nonce = wide(&[prefix, message]);
    let commitment = EdwardsPoint::mul_base(&nonce).compress();
    let challenge = wide(&[commitment.as_bytes(), public.as_bytes(), message]);
    [commitment.to_bytes(), (challenge * secret + nonce).to_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::hex::hex;

    #[test]
    fn ed25519_with_a_seed_of_32_bytes_equals_rfc_8032() {
        // RFC 8032, 7.1, test 2: a seed of 32 bytes used as a password must give the signature of
        // the RFC.
        let seed: Vec<u8> = (0..64)
            .step_by(2)
            .map(|at| {
                let text = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb";
                u8::from_str_radix(&text[at..at + 2], 16).unwrap()
            })
            .collect();
        assert_eq!(
            hex(&ed25519(&seed, &[0x72])),
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da\
             085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        );
    }

    #[test]
    fn an_empty_password_has_no_proof() {
        for plugin in [Plugin::NativePassword, Plugin::CachingSha2] {
            assert!(plugin.first_answer("", b"01234567890123456789", Channel::Open).is_empty());
        }
    }

    #[test]
    fn a_password_is_never_sent_in_clear_text_over_an_open_connection() {
        for plugin in Plugin::ALL {
            let answer = plugin.first_answer("very-secret", b"01234567890123456789", Channel::Open);
            assert!(!answer.windows(6).any(|part| part == b"secret"));
        }
    }

    #[test]
    fn an_invalid_public_key_is_rejected() {
        assert!(
            rsa_encrypted("p", b"01234567890123456789", b"-----BEGIN PUBLIC KEY-----").is_err()
        );
        assert!(rsa_encrypted("p", b"", b"\xFF").is_err());
    }
}
