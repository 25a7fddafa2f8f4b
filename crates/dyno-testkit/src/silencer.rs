//! A proxy that makes a server fall silent at a chosen request, as when a machine stops or a
//! network loses every packet.

use crate::answer_thief::{both_ways, leave, pump, stand_before};
use dyno_model::sync::lock;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Forwards bytes between clients and a server until a request contains a text (within the bytes of
/// one read). From then on nothing is forwarded in either direction: connections stay open, and new
/// ones are accepted without a greeting.
#[derive(Debug)]
pub struct BlackholeProxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    text: Mutex<Option<&'static str>>,
    is_silent: AtomicBool,
    is_over: Arc<AtomicBool>,
}

impl BlackholeProxy {
    /// Starts a proxy in front of a server. It forwards everything until [`Self::listen_for`].
    #[must_use]
    pub fn new(host: &str, port: u16) -> Self {
        let shared = Arc::new(Shared::default());
        let passing = Arc::clone(&shared);
        let address =
            stand_before((host.to_owned(), port), &shared.is_over, move |client, server| {
                pass(&passing, client, server);
            });
        Self { address, shared }
    }

    /// The next request that contains this text is not forwarded, nor is anything after it.
    pub fn listen_for(&self, text: &'static str) {
        *lock(&self.shared.text) = Some(text);
    }

    /// Forwards everything again, including what was held back.
    pub fn speak(&self) {
        *lock(&self.shared.text) = None;
        self.shared.is_silent.store(false, Ordering::SeqCst);
    }

    /// The address that clients connect to.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// True once the text has been received.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        self.shared.is_silent.load(Ordering::SeqCst)
    }
}

impl Drop for BlackholeProxy {
    fn drop(&mut self) {
        leave(self.address, &self.shared.is_over);
    }
}

impl Shared {
    /// Returns when bytes may be forwarded; false when the test is over.
    fn lets_pass(&self) -> bool {
        loop {
            if self.is_over.load(Ordering::Relaxed) {
                return false;
            }
            if !self.is_silent.load(Ordering::SeqCst) {
                return true;
            }
            std::thread::park_timeout(Duration::from_millis(20));
        }
    }
}

/// Starts two threads that end with the connection.
fn pass(shared: &Arc<Shared>, client: TcpStream, server: TcpStream) {
    let (requests, answers) = both_ways(client, server);
    let (asking, answering) = (Arc::clone(shared), Arc::clone(shared));
    std::thread::spawn(move || {
        pump(requests.0, requests.1, |bytes| {
            let text = *lock(&asking.text);
            let is_heard =
                |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
            if text.is_some_and(is_heard) {
                asking.is_silent.store(true, Ordering::SeqCst);
            }
            asking.lets_pass()
        });
    });
    std::thread::spawn(move || pump(answers.0, answers.1, |_| answering.lets_pass()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    #[test]
    fn nothing_is_forwarded_after_the_text_was_received() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                std::thread::spawn(move || {
                    let mut byte = [0];
                    while let Ok(1) = stream.read(&mut byte) {
                        stream.write_all(&byte).unwrap();
                    }
                });
            }
        });
        let silencer = BlackholeProxy::new("127.0.0.1", port);
        let mut client = TcpStream::connect(silencer.address()).unwrap();
        let mut answer = [0];
        client.write_all(b"q").unwrap();
        client.read_exact(&mut answer).unwrap();
        silencer.listen_for("x");
        assert!(!silencer.is_silent());
        client.write_all(b"x").unwrap();
        crate::wait_until("the text is heard", || silencer.is_silent());
        let mut late = TcpStream::connect(silencer.address()).unwrap();
        late.write_all(b"q").unwrap();
        for stream in [&mut client, &mut late] {
            stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
            assert!(stream.read(&mut answer).is_err(), "neither an answer nor an end");
        }
    }
}
