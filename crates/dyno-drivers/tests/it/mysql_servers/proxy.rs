//! A proxy between driver and server that modifies the negotiated capabilities, splits the server's
//! answers into pieces, and records them.

use super::server::Server;
use dyno_model::target::Endpoint;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::thread;

pub(crate) struct Proxy {
    port: u16,
    /// The server's data after the greeting, on the latest connection.
    said: Arc<Mutex<Vec<u8>>>,
}

/// Modifications by the proxy.
#[derive(Clone, Copy)]
pub(crate) struct Tampering {
    /// Capabilities to remove.
    pub(crate) hide: u32,
    /// MariaDB capabilities to remove.
    pub(crate) hide_mariadb: u32,
    /// Bytes per write to the client.
    pub(crate) piece: usize,
}

impl Proxy {
    /// Starts a proxy to the server's unix socket.
    pub(crate) fn start(server: &Server, tampering: Tampering) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let said = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&said);
        let socket = server.socket.clone();
        // The thread lives as long as the test process; it holds only the listener.
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                client.set_nodelay(true).unwrap();
                let server = UnixStream::connect(&socket).unwrap();
                let (mut from_client, mut to_server) =
                    (client.try_clone().unwrap(), server.try_clone().unwrap());
                thread::spawn(move || {
                    let _ = std::io::copy(&mut from_client, &mut to_server);
                    let _ = to_server.shutdown(std::net::Shutdown::Write);
                });
                kept.lock().unwrap().clear();
                let kept = Arc::clone(&kept);
                thread::spawn(move || forward(server, client, tampering, &kept));
            }
        });
        Self { port, said }
    }

    pub(crate) fn endpoint(&self) -> Endpoint {
        Endpoint::Tcp { host: "127.0.0.1".to_owned(), port: self.port }
    }

    /// The server's data since the last call; complete when the driver has read the end of an
    /// answer.
    pub(crate) fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.said.lock().unwrap())
    }
}

fn forward(
    mut server: UnixStream,
    mut client: TcpStream,
    tampering: Tampering,
    kept: &Mutex<Vec<u8>>,
) {
    let mut header = [0; 4];
    if server.read_exact(&mut header).is_err() {
        return;
    }
    let mut greeting = vec![0; usize::from(u16::from_le_bytes([header[0], header[1]]))];
    server.read_exact(&mut greeting).unwrap();
    hide(&mut greeting, tampering);
    client.write_all(&[&header[..], &greeting].concat()).unwrap();
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = server.read(&mut buffer) {
        // Recorded before it is forwarded, so that it is complete for whoever has read it.
        kept.lock().unwrap().extend_from_slice(&buffer[..count]);
        for piece in buffer[..count].chunks(tampering.piece) {
            if client.write_all(piece).is_err() {
                return;
            }
        }
    }
    let _ = client.shutdown(std::net::Shutdown::Both);
}

/// Clears capability bits in a greeting: after version, thread, 8 bytes of nonce and a NUL.
fn hide(greeting: &mut [u8], tampering: Tampering) {
    let version = greeting.iter().position(|byte| *byte == 0).unwrap();
    let low = version + 1 + 4 + 9;
    let high = low + 2 + 1 + 2;
    let mariadb = high + 2 + 1 + 6;
    let [a, b, c, d] = tampering.hide.to_le_bytes();
    for (at, bits) in [(low, a), (low + 1, b), (high, c), (high + 1, d)] {
        greeting[at] &= !bits;
    }
    for (i, bits) in tampering.hide_mariadb.to_le_bytes().into_iter().enumerate() {
        greeting[mariadb + i] &= !bits;
    }
}
