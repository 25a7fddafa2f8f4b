//! Scripted servers.

use dyno_model::secret::Secret;
use dyno_model::target::{Endpoint, Engine, Target};
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

/// A server that accepts one connection and passes it to `serve`.
pub(crate) fn fake(serve: impl FnOnce(TcpStream) + Send + 'static) -> Target {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || serve(listener.accept().unwrap().0));
    let mut target =
        Target::new(Engine::Mysql, Endpoint::Tcp { host: "127.0.0.1".to_owned(), port });
    target.connect_timeout = Duration::from_secs(60);
    target.user = "somebody".to_owned();
    target.password = Secret::new("hidden");
    target
}

/// A short packet.
pub(crate) fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    [&[payload.len() as u8, 0, 0, sequence], payload].concat()
}

/// A greeting with these upper two bytes of capabilities; all lower ones are set except TLS.
pub(crate) fn greeting(capabilities: u16, plugin: &str) -> Vec<u8> {
    let mut payload = b"\x0a9.9.9-fake\0\x01\0\0\0abcdefgh\0".to_vec();
    payload.extend_from_slice(&0xF7FF_u16.to_le_bytes());
    payload.extend_from_slice(&[45, 2, 0]);
    payload.extend_from_slice(&capabilities.to_le_bytes());
    payload.extend_from_slice(&[21, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    payload.extend_from_slice(b"ijklmnopqrst\0");
    payload.extend_from_slice(plugin.as_bytes());
    payload.push(0);
    packet(0, &payload)
}

/// Reads and ignores one packet.
pub(crate) fn skip_packet(socket: &mut TcpStream) {
    let mut header = [0; 4];
    socket.read_exact(&mut header).unwrap();
    socket.read_exact(&mut vec![0; header[0].into()]).unwrap();
}
