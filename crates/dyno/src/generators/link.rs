//! Messages over an encrypted connection: each is JSON, with its length in four bytes in front.

use rustls::Connection;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Longest message of somebody who has not shown a token yet, in bytes.
const STRANGER_MAX: usize = 4 << 10;
/// Longest message, in bytes: a client log of two million transactions fits.
const MESSAGE_MAX: usize = 256 << 20;
/// How much is encrypted at a time.
const CHUNK: usize = 16 << 10;
/// A peer that takes nothing for so long is lost.
const WRITE_LIMIT: Duration = Duration::from_secs(10);

/// One end of a connection.
pub(super) struct Link {
    connection: Connection,
    socket: TcpStream,
    /// What was received and is not taken.
    received: Vec<u8>,
    message_max: usize,
}

impl Link {
    /// A connection with somebody who has yet to show a token.
    ///
    /// # Errors
    /// When the socket is broken.
    pub(super) fn new(connection: impl Into<Connection>, socket: TcpStream) -> io::Result<Self> {
        socket.set_nodelay(true)?;
        socket.set_write_timeout(Some(WRITE_LIMIT))?;
        let (connection, received) = (connection.into(), Vec::new());
        Ok(Self { connection, socket, received, message_max: STRANGER_MAX })
    }

    /// Accepts long messages from now on.
    pub(super) fn trust(&mut self) {
        self.message_max = MESSAGE_MAX;
    }

    /// Sends a message.
    ///
    /// # Errors
    /// When the connection is broken.
    pub(super) fn send(&mut self, message: &impl Serialize) -> io::Result<()> {
        self.send_text(&serde_json::to_vec(message)?)
    }

    /// Sends a message that is JSON already.
    ///
    /// # Errors
    /// As [`Self::send`].
    pub(super) fn send_text(&mut self, text: &[u8]) -> io::Result<()> {
        if text.len() > MESSAGE_MAX {
            return Err(io::Error::other(format!("a message of {} bytes is too long", text.len())));
        }
        let length = (text.len() as u32).to_be_bytes();
        for chunk in std::iter::once(&length[..]).chain(text.chunks(CHUNK)) {
            self.connection.writer().write_all(chunk)?;
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        while self.connection.wants_write() {
            self.connection.write_tls(&mut self.socket)?;
        }
        Ok(())
    }

    /// The next message; `None` when there is none for so long.
    ///
    /// # Errors
    /// When the connection is closed or broken, or the message is no such message.
    pub(super) fn receive<T: DeserializeOwned>(&mut self, wait: Duration) -> io::Result<Option<T>> {
        let deadline = Instant::now() + wait;
        loop {
            if let Some(message) = self.take()? {
                return Ok(Some(message));
            }
            self.flush()?;
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            self.socket.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
            match self.connection.read_tls(&mut self.socket) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(_) => self.decrypt()?,
                Err(error) if is_no_data(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn decrypt(&mut self) -> io::Result<()> {
        if let Err(error) = self.connection.process_new_packets() {
            // The peer is told why.
            let _ = self.flush();
            return Err(io::Error::new(ErrorKind::InvalidData, error));
        }
        let mut buffer = [0; CHUNK];
        loop {
            match self.connection.reader().read(&mut buffer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(length) => self.received.extend(&buffer[..length]),
                Err(error) if is_no_data(&error) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    /// Takes a message that is complete.
    fn take<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let Some((length, rest)) = self.received.split_first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_be_bytes(*length) as usize;
        if length > self.message_max {
            let text = format!("a message of {length} bytes is too long");
            return Err(io::Error::new(ErrorKind::InvalidData, text));
        }
        let Some(text) = rest.get(..length) else { return Ok(None) };
        let message = serde_json::from_slice(text)?;
        self.received.drain(..4 + length);
        Ok(Some(message))
    }
}

fn is_no_data(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
