//! A connection to an HTTP service.

use super::cookies::Cookies;
use super::protocol::body::Body;
use super::protocol::head::{HEAD_MAX, Head};
use crate::driver::Result;
use crate::transport::{Io, Stream, client_configuration, stream_failure};
use dyno_model::failure::FailureKind;
use dyno_model::target::{Endpoint, Target};
use std::time::{Duration, Instant};

/// Initial buffer size in bytes; most answers fit.
const ROOM_FIRST: usize = 4 * 1024;
/// Maximum buffer size in bytes: more than the maximum of a head, so that a longer one is detected.
const ROOM_MAX: usize = 2 * HEAD_MAX;
/// Maximum number of interim answers (100, 103) to one request; more indicate a broken service.
const INTERIM_MAX: usize = 16;

/// A connection to a service.
pub struct Connection {
    stream: Stream,
    /// Received bytes; `start..end` of them are not processed yet.
    input: Vec<u8>,
    start: usize,
    end: usize,
    /// True when the last read filled the buffer.
    was_full: bool,
    is_open: bool,
    /// Time by which answers must arrive, in addition to each request's own timeout.
    deadline: Option<Instant>,
    /// Value of the `Host` header.
    host: Box<str>,
    /// Prefix of the path of every request.
    base: Box<str>,
}

/// A request, and how its answer is received.
pub struct Exchange<'a> {
    /// Head and body as sent.
    pub request: &'a [u8],
    /// True for the method HEAD, whose answer never has a body.
    pub is_head: bool,
    /// Timeout for the complete answer.
    pub timeout: Duration,
    /// Maximum size of the answer's body in bytes.
    pub body_max: u64,
    /// Receives the body, if wanted.
    pub body: Option<&'a mut Vec<u8>>,
    /// Receives cookies, if they are kept.
    pub cookies: Option<&'a mut Cookies>,
}

impl Connection {
    /// Opens a connection, encrypted if the target requires it. Sends no request.
    pub(crate) async fn connect(target: &Target, io: &Io) -> Result<Self> {
        let deadline = Instant::now() + target.connect_timeout;
        let mut stream = Stream::connect(target.opened_at(), io, deadline).await?;
        stream.set_deadline(Some(deadline));
        let (name, host) = match &target.endpoint {
            // Like other clients, omits the default port of the scheme.
            Endpoint::Tcp { host, port: 80 | 443 } if !host.contains(':') => {
                (host.as_str(), host.clone())
            }
            Endpoint::Tcp { host, .. } => (host.as_str(), target.endpoint.to_string()),
            _ => ("localhost", "localhost".to_owned()),
        };
        if let Some(configuration) =
            client_configuration(&target.tls, target.client_certificate.as_ref())?
        {
            stream.start_tls(configuration, name).await?;
        }
        stream.set_deadline(None);
        Ok(Self {
            stream,
            input: vec![0; ROOM_FIRST],
            start: 0,
            end: 0,
            was_full: false,
            is_open: true,
            deadline: None,
            host: host.into(),
            base: target.database.as_str().into(),
        })
    }

    /// False when the service has closed the connection or announced that it will. Services close
    /// idle connections, often with an unsolicited answer (408): checking before each request
    /// avoids taking that for the answer to the request.
    pub fn is_open(&mut self) -> bool {
        self.is_open = self.is_open && self.stream.is_idle();
        self.is_open
    }

    /// Value of the `Host` header.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Prefix of the path of every request: the path of the system's URL.
    #[must_use]
    pub fn base(&self) -> &str {
        &self.base
    }

    /// HTTP has no closing message: the connection closes when it is dropped, and accepts no
    /// request from here on.
    pub(crate) fn close(&mut self) {
        self.is_open = false;
    }

    /// As [`crate::Driver::set_deadline`]; a request's own timeout applies as well.
    pub(crate) fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.deadline = deadline;
    }

    pub(crate) fn interrupter(&self) -> Option<Box<dyn Fn() + Send>> {
        self.stream.interrupter()
    }

    /// Sends a request and receives its answer, whatever its status, which is returned.
    ///
    /// # Errors
    /// [`FailureKind::Timeout`] when it does not arrive in time, [`FailureKind::ConnectionLost`]
    /// when the connection broke before it was complete, [`FailureKind::Protocol`] when it is not a
    /// valid HTTP/1.1 answer or larger than the limits. The connection is unusable after any of
    /// them.
    pub async fn exchange(&mut self, exchange: Exchange<'_>) -> Result<u16> {
        if !self.is_open {
            return Err(
                FailureKind::ConnectionLost.failure("the service has closed the connection")
            );
        }
        self.is_open = false;
        if self.start < self.end {
            return Err(FailureKind::Protocol.failure("the service sent data without a request"));
        }
        (self.start, self.end) = (0, 0);
        let own = Instant::now() + exchange.timeout;
        self.stream.set_deadline(Some(self.deadline.map_or(own, |deadline| deadline.min(own))));
        self.stream.write_all(exchange.request).await.map_err(stream_failure)?;
        let Exchange { is_head, body_max, mut body, mut cookies, .. } = exchange;
        let head = self.head(is_head, &mut cookies).await?;
        let mut incoming = Body::new(head.framing, body_max);
        loop {
            let bytes = &self.input[self.start..self.end];
            let used = incoming.read(bytes, |part| {
                if let Some(body) = &mut body {
                    body.extend_from_slice(part);
                }
            });
            self.start += used?;
            if incoming.is_whole() {
                break;
            }
            if self.receive().await? == 0 {
                if incoming.ends_here() && self.stream.has_ended() {
                    break;
                }
                let message = "the service closed the connection in the middle of an answer";
                return Err(FailureKind::ConnectionLost.failure(message));
            }
        }
        self.is_open = !head.closes;
        Ok(head.status)
    }

    /// Reads the head of the final answer.
    async fn head(&mut self, is_head: bool, cookies: &mut Option<&mut Cookies>) -> Result<Head> {
        let mut interim = 0;
        loop {
            let taken = |value: &[u8]| {
                if let Some(cookies) = cookies {
                    cookies.take(value);
                }
            };
            let head = Head::read(&self.input[self.start..self.end], is_head, taken)?;
            match head {
                Some(head) if head.is_interim() && interim < INTERIM_MAX => {
                    self.start += head.length;
                    interim += 1;
                }
                Some(head) if head.is_interim() => {
                    return Err(FailureKind::Protocol
                        .failure("the service sent too many interim answers to one request"));
                }
                Some(head) => {
                    self.start += head.length;
                    return Ok(head);
                }
                None => {
                    if self.receive().await? == 0 {
                        let message = "the service closed the connection without an answer";
                        return Err(FailureKind::ConnectionLost.failure(message));
                    }
                }
            }
        }
    }

    /// Appends received bytes to the unprocessed ones; returns 0 when the service has closed the
    /// connection.
    async fn receive(&mut self) -> Result<usize> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.end == self.input.len() {
            self.input.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        // When a read fills the buffer, more data is waiting.
        if self.end == self.input.len() || self.was_full {
            let room = (2 * self.input.len()).min(ROOM_MAX);
            self.input.resize(room, 0);
        }
        let count = self.stream.read(&mut self.input[self.end..]).await.map_err(stream_failure)?;
        self.end += count;
        self.was_full = self.end == self.input.len();
        Ok(count)
    }
}
