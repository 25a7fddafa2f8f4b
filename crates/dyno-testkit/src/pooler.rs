//! A proxy that resembles a PostgreSQL connection pooler: the session id that a client gets at
//! login is not the server's.

use crate::answer_thief::{both_ways, leave, pump, stand_before};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// First bytes of the message that carries the session id (`BackendKeyData`); the id follows.
const KEY: [u8; 5] = [b'K', 0, 0, 0, 12];

/// Forwards bytes between clients and a server, and changes the session id after the server's first
/// [`KEY`] (within the bytes of one read).
#[derive(Debug)]
pub struct Pooler {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
}

impl Pooler {
    /// Starts a proxy in front of a server.
    #[must_use]
    pub fn new(host: &str, port: u16) -> Self {
        let is_over = Arc::default();
        let address = stand_before((host.to_owned(), port), &is_over, pass);
        Self { address, is_over }
    }

    /// The address that clients connect to.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        leave(self.address, &self.is_over);
    }
}

/// Starts two threads that end with the connection.
fn pass(client: TcpStream, server: TcpStream) {
    let (requests, answers) = both_ways(client, server);
    std::thread::spawn(move || pump(requests.0, requests.1, |_| true));
    let mut is_changed = false;
    std::thread::spawn(move || {
        pump(answers.0, answers.1, |bytes| {
            let key =
                bytes.windows(KEY.len()).position(|window| window == KEY).filter(|_| !is_changed);
            if let Some(number) =
                key.and_then(|at| bytes.get_mut(at + KEY.len()..at + KEY.len() + 4))
            {
                number[0] ^= 0x40;
                is_changed = true;
            }
            true
        });
    });
}
