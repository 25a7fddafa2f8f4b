//! Responses, with header fields that keep pages from loading or running anything that is not
//! dyno's own.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};
use std::io::{self, Write};
use std::net::TcpStream;

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
    Whole(Vec<u8>),
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
        let body = Body::Whole(body.into());
        Self { status: "200 OK", kind, policy: POLICY.to_owned(), fields: String::new(), body }
    }

    /// A report, whose own script and styles are in the page.
    pub(super) fn report(html: String) -> Self {
        let hash = STANDARD.encode(digest(&SHA256, dyno_report::PAGE_SCRIPT.as_bytes()));
        let policy = format!(
            "default-src 'none'; script-src 'sha256-{hash}'; style-src 'unsafe-inline'; \
             img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        );
        Self { policy, ..Self::new("text/html; charset=utf-8", html) }
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
        let body = Body::Whole(reason.into());
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
        write!(
            stream,
            "HTTP/1.1 {}\r\nContent-Type: {}\r\n{length}{}Content-Security-Policy: {}\r\n\
             X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
             Cross-Origin-Resource-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\n\
             Cache-Control: no-store\r\nConnection: close\r\n\r\n",
            self.status, self.kind, self.fields, self.policy
        )?;
        match self.body {
            Body::Whole(body) => stream.write_all(&body),
            Body::Stream(write) => write(stream),
        }
    }
}

/// Writes an event. The data has no line ends: it is JSON.
pub(super) fn write_event(
    stream: &mut TcpStream,
    name: &str,
    id: u64,
    data: &str,
) -> io::Result<()> {
    stream.write_all(format!("event: {name}\nid: {id}\ndata: {data}\n\n").as_bytes())
}
