//! A login with a server that sends anything: it must not panic, and must succeed only after an
//! AuthenticationOk message.
#![no_main]

use dyno_drivers::postgres::protocol::authentication::Login;
use dyno_drivers::postgres::protocol::greeting::Greeting;
use dyno_drivers::postgres::protocol::inbox::Inbox;
use dyno_model::secret::Secret;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let password = Secret::new("pencil");
    let mut greeting = Greeting::new(Login::new("user", &password, "abc".to_owned()));
    let mut inbox = Inbox::default();
    let mut output = Vec::new();
    let mut rest = data;
    while !rest.is_empty() {
        let room = inbox.room();
        let count = room.len().min(rest.len());
        room[..count].copy_from_slice(&rest[..count]);
        inbox.received(count);
        rest = &rest[count..];
        while let Ok(Some(frame)) = inbox.next_frame() {
            // The key derivation is omitted: it takes a millisecond and has no branches.
            match greeting.take(frame, |_, _, _| [7; 32], &mut output) {
                Ok(false) => {}
                Ok(true) => {
                    assert!(data.windows(9).any(|message| message == b"R\0\0\0\x08\0\0\0\0"));
                    return;
                }
                Err(failure) => {
                    assert!(
                        !failure.message.is_empty()
                            || !failure.sqlstate.is_empty()
                            || data.contains(&b'E')
                    );
                    return;
                }
            }
        }
    }
});
