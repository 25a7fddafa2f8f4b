//! A service that says what a test wants, as it wants it: the other end of the workload `http`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// What the service does when it has heard a request.
#[derive(Clone)]
pub(crate) enum Reply {
    /// Says this.
    Say(String),
    /// Says this, each byte in a write of its own.
    SayBytewise(String),
    /// Says this and closes the connection.
    SayAndClose(String),
    /// Says nothing until the client has gone.
    Silence,
}

/// A request as it was heard.
pub(crate) struct Heard {
    /// Head and body.
    pub(crate) text: String,
    /// How many were heard before it, on all connections.
    pub(crate) number: usize,
}

/// A service on a port that the system chose.
pub(crate) struct Service {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    script: Box<dyn Fn(&Heard) -> Reply + Send + Sync>,
    heard: Mutex<Vec<String>>,
    connections: AtomicUsize,
    is_over: AtomicBool,
}

/// An answer with a body of so many bytes as it has.
pub(crate) fn answer(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

impl Service {
    pub(crate) fn new(script: impl Fn(&Heard) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let shared = Arc::new(Shared {
            script: Box::new(script),
            heard: Mutex::default(),
            connections: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
        });
        let serving = Arc::clone(&shared);
        std::thread::spawn(move || {
            for socket in listener.incoming().map_while(Result::ok) {
                if serving.is_over.load(Ordering::Relaxed) {
                    return;
                }
                let serving = Arc::clone(&serving);
                std::thread::spawn(move || serve(&serving, &socket));
            }
        });
        Self { address, shared }
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// All requests so far, in the order in which they were heard.
    pub(crate) fn heard(&self) -> Vec<String> {
        self.shared.heard.lock().expect("nobody panics with it").clone()
    }

    /// Connections on which at least one request was heard.
    pub(crate) fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::Relaxed)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
    }
}

/// One connection. What goes wrong on it the client sees too.
fn serve(shared: &Shared, socket: &TcpStream) {
    let mut input = BufReader::new(socket);
    let mut output = socket;
    let mut is_first = true;
    while let Some(text) = request(&mut input) {
        shared.connections.fetch_add(usize::from(std::mem::take(&mut is_first)), Ordering::Relaxed);
        let number = {
            let mut heard = shared.heard.lock().expect("nobody panics with it");
            heard.push(text.clone());
            heard.len() - 1
        };
        let is_reported = match (shared.script)(&Heard { text, number }) {
            Reply::Say(answer) => output.write_all(answer.as_bytes()).is_ok(),
            Reply::SayBytewise(answer) => {
                answer.bytes().all(|byte| output.write_all(&[byte]).is_ok())
            }
            Reply::SayAndClose(answer) => {
                let _ = output.write_all(answer.as_bytes());
                let _ = socket.shutdown(Shutdown::Write);
                false
            }
            Reply::Silence => false,
        };
        if !is_reported {
            let _ = input.read_to_end(&mut Vec::new());
            return;
        }
    }
}

/// The next request, whole; nothing when the client has gone.
fn request(input: &mut impl BufRead) -> Option<String> {
    let (mut text, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).ok()? == 0 {
            return None;
        }
        text.push_str(&line);
        if let Some(value) = line.strip_prefix("Content-Length: ") {
            length = value.trim().parse().expect("a length is a number");
        }
        if line == "\r\n" {
            let mut body = vec![0; length];
            input.read_exact(&mut body).ok()?;
            text.push_str(&String::from_utf8(body).expect("tests send text"));
            return Some(text);
        }
    }
}
