//! Arbitrary server messages before and during a client's login, and while a statement is prepared.
#![no_main]

use dyno_drivers::mysql::protocol::auth::{self, Channel, Plugin};
use dyno_drivers::mysql::protocol::column::Column;
use dyno_drivers::mysql::protocol::handshake::{AuthReply, Greeting};
use dyno_drivers::mysql::protocol::reply::{Capabilities, Done, Prepared, ServerError};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(greeting) = Greeting::decode(bytes) {
        let _ = (greeting.identity(), greeting.collation_utf8mb4());
        if let Some(plugin) = Plugin::named(&greeting.plugin) {
            let _ = plugin.first_answer("password", plugin.nonce(&greeting.nonce), Channel::Open);
        }
    }
    if let Ok(AuthReply::Switch { plugin, nonce }) = AuthReply::decode(bytes)
        && let Some(plugin) = Plugin::named(plugin)
    {
        let _ = plugin.first_answer("password", plugin.nonce(nonce), Channel::Encrypted);
    }
    let _ = auth::rsa_encrypted("password", b"01234567890123456789", bytes);
    let _ = (ServerError::decode(bytes), Column::decode(bytes), Done::decode_ok(bytes));
    if let Ok(prepared) = Prepared::decode(bytes) {
        let capabilities =
            Capabilities { is_ok_terminated: bytes.len() % 2 == 0, has_cached_metadata: true };
        let behind = prepared.packets_behind(capabilities);
        let columns =
            (0..behind).filter(|packet| prepared.is_column(*packet, capabilities)).count();
        assert_eq!(columns, usize::from(prepared.columns));
    }
});
