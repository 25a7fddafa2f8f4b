//! A proxy that withholds answers: the client's connection breaks after the server has done the
//! work.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Forwards bytes between clients and a server. While answers are to be withheld, a request that
/// starts with `text` (within the bytes of one read) still reaches the server; when the server
/// answers, the client's connection is closed without the answer.
#[derive(Debug)]
pub struct ResponseDroppingProxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    text: &'static str,
    /// Number of answers still to be withheld.
    left: AtomicUsize,
    is_over: Arc<AtomicBool>,
}

impl ResponseDroppingProxy {
    /// Starts a proxy in front of a server that withholds `answers` answers to requests that
    /// contain `text`.
    #[must_use]
    pub fn new(host: &str, port: u16, text: &'static str, answers: usize) -> Self {
        let shared =
            Arc::new(Shared { text, left: AtomicUsize::new(answers), is_over: Arc::default() });
        let passing = Arc::clone(&shared);
        let address =
            stand_before((host.to_owned(), port), &shared.is_over, move |client, server| {
                pass(&passing, client, server);
            });
        Self { address, shared }
    }

    /// The address that clients connect to.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Number of answers still to be withheld.
    #[must_use]
    pub fn left(&self) -> usize {
        self.shared.left.load(Ordering::Relaxed)
    }
}

impl Drop for ResponseDroppingProxy {
    fn drop(&mut self) {
        leave(self.address, &self.shared.is_over);
    }
}

/// Accepts clients in place of a server and hands each to `pass` with a new connection to the
/// server. Returns the listening address.
pub(crate) fn stand_before(
    server: (String, u16),
    is_over: &Arc<AtomicBool>,
    pass: impl Fn(TcpStream, TcpStream) + Send + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    let is_over = Arc::clone(is_over);
    std::thread::spawn(move || {
        for client in listener.incoming() {
            if is_over.load(Ordering::Relaxed) {
                return;
            }
            if let (Ok(client), Ok(server)) =
                (client, TcpStream::connect((server.0.as_str(), server.1)))
            {
                pass(client, server);
            }
        }
    });
    address
}

/// Stops accepting clients.
pub(crate) fn leave(address: SocketAddr, is_over: &AtomicBool) {
    is_over.store(true, Ordering::Relaxed);
    // Wakes the accepting thread.
    let _ = TcpStream::connect(address);
}

/// Starts two threads that end with the connection.
fn pass(shared: &Arc<Shared>, client: TcpStream, server: TcpStream) {
    let is_stolen = Arc::new(AtomicBool::new(false));
    let (requests, answers) = both_ways(client, server);
    let (shared, stolen) = (Arc::clone(shared), Arc::clone(&is_stolen));
    std::thread::spawn(move || {
        pump(requests.0, requests.1, |bytes| {
            let is_meant =
                bytes.windows(shared.text.len()).any(|window| window == shared.text.as_bytes());
            let take = |left: usize| left.checked_sub(1);
            if is_meant
                && shared.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).is_ok()
            {
                // Set before the request is forwarded, so that whatever arrives next is its answer.
                stolen.store(true, Ordering::SeqCst);
            }
            true
        });
    });
    std::thread::spawn(move || pump(answers.0, answers.1, |_| !is_stolen.load(Ordering::SeqCst)));
}

/// Both directions: source and destination of requests, and of answers.
pub(crate) fn both_ways(
    client: TcpStream,
    server: TcpStream,
) -> ((TcpStream, TcpStream), (TcpStream, TcpStream)) {
    let copy = |stream: &TcpStream| stream.try_clone().expect("a socket can be shared");
    ((copy(&client), copy(&server)), (server, client))
}

/// Forwards bytes, which `is_allowed` may modify, until it returns false; then breaks both
/// connections.
pub(crate) fn pump(
    mut from: TcpStream,
    mut to: TcpStream,
    mut is_allowed: impl FnMut(&mut [u8]) -> bool,
) {
    let mut bytes = vec![0; 64 << 10];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if !is_allowed(&mut bytes[..count]) || to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    for stream in [from, to] {
        // It may be broken already.
        let _ = stream.shutdown(Shutdown::Both);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_receives_the_request_but_the_client_gets_no_answer() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut heard = Vec::new();
            let mut byte = [0];
            while let Ok(1) = stream.read(&mut byte) {
                heard.push(byte[0]);
                if byte[0] == b'.' {
                    stream.write_all(b"yes").unwrap();
                }
            }
            heard
        });
        let thief = ResponseDroppingProxy::new("127.0.0.1", port, "COMMIT", 1);
        let mut client = TcpStream::connect(thief.address()).unwrap();
        let mut answer = [0; 3];
        client.write_all(b"BEGIN.").unwrap();
        client.read_exact(&mut answer).unwrap();
        client.write_all(b"COMMIT.").unwrap();
        assert!(!matches!(client.read(&mut answer), Ok(1..)), "no answer, but an end");
        assert_eq!(server.join().unwrap(), b"BEGIN.COMMIT.");
        assert_eq!(thief.left(), 0);
    }
}
