//! Responses, with header fields that keep pages from loading or running anything that is not
//! dyno's own.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};
use std::io::{self, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Maximum time for the head of a request, and for a client to take a response or an event.
pub(super) const TIMEOUT: Duration = Duration::from_secs(5);

/// Status codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    BadRequest,
    Unauthorized,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    Failed,
}

impl Status {
    fn line(self) -> &'static str {
        match self {
            Self::BadRequest => "400 Bad Request",
            Self::Unauthorized => "401 Unauthorized",
            Self::Forbidden => "403 Forbidden",
            Self::NotFound => "404 Not Found",
            Self::MethodNotAllowed => "405 Method Not Allowed",
            Self::Failed => "500 Internal Server Error",
        }
    }
}

/// Writes a stream of events until it ends.
type Stream = Box<dyn FnOnce(&mut TcpStream) -> io::Result<()>>;

enum Body {
    Whole(Arc<[u8]>),
    Stream(Stream),
}

/// An answer.
pub struct Response {
    status: &'static str,
    kind: &'static str,
    policy: String,
    fields: String,
    body: Body,
}

/// What our own pages may do: load our own files.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

impl Response {
    /// A page, file or figures.
    pub(super) fn new(kind: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status: "200 OK",
            kind,
            policy: POLICY.to_owned(),
            fields: String::new(),
            body: Body::Whole(body.into().into()),
        }
    }

    /// A report, whose own script and styles are in the page.
    pub(super) fn report(html: impl Into<Arc<str>>) -> Self {
        let hash = STANDARD.encode(digest(&SHA256, dyno_report::PAGE_SCRIPT.as_bytes()));
        let policy = format!(
            "default-src 'none'; script-src 'sha256-{hash}'; style-src 'unsafe-inline'; \
             img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        );
        let body = Body::Whole(html.into().into());
        Self { policy, body, ..Self::new("text/html; charset=utf-8", "") }
    }

    /// Server-sent events.
    pub(super) fn events(stream: impl FnOnce(&mut TcpStream) -> io::Result<()> + 'static) -> Self {
        let body = Body::Stream(Box::new(stream));
        Self { body, ..Self::new("text/event-stream", "") }
    }

    pub(super) fn status(status: Status) -> Self {
        let status = status.line();
        Self { status, ..Self::new("text/plain; charset=utf-8", format!("{status}\n")) }
    }

    /// An error with its reason.
    pub(super) fn failed(reason: &str) -> Self {
        let body = Body::Whole(reason.as_bytes().into());
        Self { body, ..Self::status(Status::Failed) }
    }

    /// The same page without its parameters, and a cookie.
    pub(super) fn redirect(path: &str, cookie: &str) -> Self {
        let fields = format!("Location: {path}\r\nSet-Cookie: {cookie}\r\n");
        Self { status: "303 See Other", fields, ..Self::new("text/plain; charset=utf-8", "") }
    }

    pub(super) fn send(self, stream: &mut TcpStream) -> io::Result<()> {
        let length = match &self.body {
            Body::Whole(body) => format!("Content-Length: {}\r\n", body.len()),
            Body::Stream(_) => String::new(),
        };
        let head = format!(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\n{length}{}Content-Security-Policy: {}\r\n\
             X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
             Cross-Origin-Resource-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\n\
             Cache-Control: no-store\r\nConnection: close\r\n\r\n",
            self.status, self.kind, self.fields, self.policy
        );
        match self.body {
            Body::Whole(body) => send_in_time(stream, &[head.as_bytes(), &body]),
            Body::Stream(write) => {
                send_in_time(stream, &[head.as_bytes()])?;
                write(stream)
            }
        }
    }
}

/// Sends bytes; fails if the client has not taken them within [`TIMEOUT`]. A limit for each write
/// would let a client that takes a little at a time keep its connection.
fn send_in_time(stream: &mut TcpStream, pieces: &[&[u8]]) -> io::Result<()> {
    let until = Instant::now() + TIMEOUT;
    for mut piece in pieces.iter().copied() {
        while !piece.is_empty() {
            let left = until.saturating_duration_since(Instant::now());
            stream.set_write_timeout(Some(left.max(Duration::from_millis(1))))?;
            let sent = stream.write(piece)?;
            if sent == 0 || left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            piece = &piece[sent..];
        }
    }
    Ok(())
}

/// Writes an event. The data has no line ends: it is JSON.
pub(super) fn write_event(
    stream: &mut TcpStream,
    name: &str,
    id: u64,
    data: &str,
) -> io::Result<()> {
    send_in_time(stream, &[format!("event: {name}\nid: {id}\ndata: {data}\n\n").as_bytes()])
}
