//! Random numbers of the operating system, which cannot be guessed.

use dyno_model::hex::hex;
use ring::rand::{SecureRandom, SystemRandom};

/// Random bytes.
///
/// # Panics
/// If the operating system has none.
pub(crate) fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).expect("the operating system has random bytes");
    bytes
}

/// 128 random bits as hexadecimal digits.
#[must_use]
pub fn token() -> String {
    hex(&bytes::<16>())
}
