//! One connection to a service: requests out, answers in.

use super::cookies::Cookies;
use super::protocol::body::Body;
use super::protocol::head::{HEAD_MAX, Head};
use crate::driver::Result;
use crate::transport::{Io, Stream, client_configuration, stream_failure};
use dyno_model::failure::FailureKind;
use dyno_model::target::{Endpoint, Target};
use std::time::{Duration, Instant};

/// Bytes that a connection has room for at first; most answers fit.
const ROOM_FIRST: usize = 4 * 1024;
/// Most bytes that there is room for: more than a head may have, so that one that is too long is
/// seen to be.
const ROOM_MAX: usize = 2 * HEAD_MAX;
/// Interim answers (100, 103) to one request; a service that sends more is not well.
const INTERIM_MAX: usize = 16;

/// A connection to a service.
pub struct Connection {
    stream: Stream,
    /// What was read; `start..end` of it is not digested yet.
    input: Vec<u8>,
    start: usize,
    end: usize,
    /// True when the last read left no room.
    was_full: bool,
    is_open: bool,
    /// When what is asked must be answered, beside each request's own limit.
    deadline: Option<Instant>,
    /// For the `Host` header.
    host: Box<str>,
    /// What stands before the path of every request.
    base: Box<str>,
}

/// A request, and what is taken of its answer.
pub struct Exchange<'a> {
    /// Head and body, as they go out.
    pub request: &'a [u8],
    /// True for the method HEAD, whose answer has no body whatever it says.
    pub is_head: bool,
    /// Longest time until the answer is there.
    pub timeout: Duration,
    /// Longest body that is taken, in bytes.
    pub body_max: u64,
    /// Where the body is put, if anybody wants it.
    pub body: Option<&'a mut Vec<u8>>,
    /// Where cookies are put, if they are kept.
    pub cookies: Option<&'a mut Cookies>,
}

/// What came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// Status, 200 to 599.
    pub status: u16,
    /// Bytes of its body.
    pub body_bytes: u64,
}

impl Connection {
    /// Opens a connection, encrypted where the target says so. Nothing is asked on it yet.
    pub(crate) async fn connect(target: &Target, io: &Io) -> Result<Self> {
        let deadline = Instant::now() + target.connect_timeout;
        let mut stream = Stream::connect(target.opened_at(), io, deadline).await?;
        stream.set_deadline(Some(deadline));
        let (name, host) = match &target.endpoint {
            // The port that the scheme stands for is left out, as clients do.
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

    /// False when the service has said, or shown, that the connection takes no further request.
    /// Services close connections that were idle for some time, often with an answer (408) to no
    /// request: who asks before each request takes neither for an answer to his own.
    pub fn is_open(&mut self) -> bool {
        self.is_open = self.is_open && self.stream.is_idle();
        self.is_open
    }

    /// Value of the `Host` header.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// What stands before the path of every request: the path of the system's URL.
    #[must_use]
    pub fn base(&self) -> &str {
        &self.base
    }

    /// HTTP has no word of farewell: the connection closes when it is dropped, and takes nothing
    /// any more from here on.
    pub(crate) fn close(&mut self) {
        self.is_open = false;
    }

    /// As [`crate::Driver::set_deadline`]; a request's own limit holds as well.
    pub(crate) fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.deadline = deadline;
    }

    pub(crate) fn interrupter(&self) -> Option<Box<dyn Fn() + Send>> {
        self.stream.interrupter()
    }

    /// Sends a request and receives its answer, whatever its status.
    ///
    /// # Errors
    /// [`FailureKind::Timeout`] when it is not there in time, [`FailureKind::ConnectionLost`] when
    /// the connection broke before it was whole, [`FailureKind::Protocol`] when it is no answer of
    /// HTTP/1.1 or more than is taken. The connection is of no use after any of them.
    pub async fn exchange(&mut self, exchange: Exchange<'_>) -> Result<Answer> {
        if !self.is_open {
            return Err(
                FailureKind::ConnectionLost.failure("the service has closed the connection")
            );
        }
        self.is_open = false;
        if self.start < self.end {
            return Err(FailureKind::Protocol
                .failure("the service sent bytes that no request had asked for"));
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
                let message = "the service closed the connection in the midst of an answer";
                return Err(FailureKind::ConnectionLost.failure(message));
            }
        }
        self.is_open = !head.closes;
        Ok(Answer { status: head.status, body_bytes: incoming.length() })
    }

    /// The head of the final answer.
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
                        .failure("the service sends interim answers without an end"));
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

    /// Reads what is there, behind what is not digested yet; 0 when the service has closed.
    async fn receive(&mut self) -> Result<usize> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.end == self.input.len() {
            self.input.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        // Where a read has filled the room, more waits.
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
