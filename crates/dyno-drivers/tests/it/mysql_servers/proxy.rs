//! A hop between driver and server that changes what is agreed upon, cuts what the server says into
//! pieces, and keeps it.

use super::server::Server;
use dyno_model::target::Endpoint;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::thread;

pub(crate) struct Proxy {
    port: u16,
    /// What the server said behind its greeting, on the connection made last.
    said: Arc<Mutex<Vec<u8>>>,
}

/// What is changed on the way.
#[derive(Clone, Copy)]
pub(crate) struct Tampering {
    /// Capabilities that the server is made not to have.
    pub(crate) hide: u32,
    /// The same of MariaDB's own.
    pub(crate) hide_mariadb: u32,
    /// Bytes per write to the client.
    pub(crate) piece: usize,
}

impl Proxy {
    /// Connections to it end at the server's unix socket.
    pub(crate) fn start(server: &Server, tampering: Tampering) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let said = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&said);
        let socket = server.socket.clone();
        // The thread lives as long as the test process; it holds nothing but the listener.
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

    /// What the server has said since this was last asked; complete when the driver has seen the
    /// end of an answer.
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
        // Kept before it is passed on, so that whoever has seen it finds it kept.
        kept.lock().unwrap().extend_from_slice(&buffer[..count]);
        for piece in buffer[..count].chunks(tampering.piece) {
            if client.write_all(piece).is_err() {
                return;
            }
        }
    }
    let _ = client.shutdown(std::net::Shutdown::Both);
}

/// Clears capability bits in a greeting: behind version, thread, 8 bytes of nonce and a NUL.
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
