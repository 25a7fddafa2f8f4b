//! The head of an HTTP request. Bodies are not read: nothing but GET is answered.

use super::response::Status;
use std::io::{self, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Maximum size of a head.
const HEAD_MAX: usize = 8 << 10;
/// Maximum number of header fields.
const FIELDS_MAX: usize = 64;

/// A GET request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    path: String,
    query: String,
    fields: Vec<(String, String)>,
}

impl Request {
    /// Reads a head within a time. The inner error is the answer to a request that cannot be read.
    pub(super) fn read(
        stream: &mut TcpStream,
        limit: Duration,
    ) -> io::Result<Result<Self, Status>> {
        let until = Instant::now() + limit;
        let (mut head, mut piece) = (Vec::new(), [0; 1024]);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
            let length = stream.read(&mut piece)?;
            if length == 0 || left.is_zero() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            head.extend_from_slice(&piece[..length]);
            if let Some(request) = Self::parse(&head) {
                return Ok(request);
            }
            if head.len() > HEAD_MAX {
                return Ok(Err(Status::BadRequest));
            }
        }
    }

    /// Parses a head; `None` while it is incomplete.
    pub(super) fn parse(head: &[u8]) -> Option<Result<Self, Status>> {
        let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
        let mut parsed = httparse::Request::new(&mut fields);
        match parsed.parse(head) {
            Ok(httparse::Status::Partial) => return None,
            Err(_) => return Some(Err(Status::BadRequest)),
            Ok(httparse::Status::Complete(_)) => {}
        }
        if parsed.method != Some("GET") {
            return Some(Err(Status::MethodNotAllowed));
        }
        let target = parsed.path.unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        // As a redirection, a path with two slashes would lead to another host.
        if !path.starts_with('/') || path.starts_with("//") {
            return Some(Err(Status::BadRequest));
        }
        let field = |field: &httparse::Header<'_>| {
            let value = std::str::from_utf8(field.value).ok()?;
            Some((field.name.to_ascii_lowercase(), value.trim().to_owned()))
        };
        Some(match parsed.headers.iter().map(field).collect() {
            Some(fields) => Ok(Self { path: path.to_owned(), query: query.to_owned(), fields }),
            None => Err(Status::BadRequest),
        })
    }

    /// The path, beginning with a slash.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// A parameter of the query, as it is written.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let pairs = self.query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// A header field, by its name in lower case; `None` if it is missing or repeated.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        let mut values = self.fields.iter().filter(|(key, _)| key == name);
        let value = values.next().map(|(_, value)| value.as_str());
        value.filter(|_| values.next().is_none())
    }
}
