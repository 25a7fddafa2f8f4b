//! The TLS layer of a connection, without I/O: the socket belongs to [`super::Stream`].
//!
//! The buffers are stored here and not in the futures of reads and writes. A future may be dropped
//! while it pends, because its client was cut off or a deadline passed; received and unsent bytes
//! stay with the connection.

use rustls::ClientConnection;
use std::io::{self, Read, Write};
use std::ops::Range;

/// Bytes per read from an encrypted socket: a full TLS record.
const RECORD: usize = 16 * 1024;

/// TLS state.
pub(super) struct Encryption {
    session: ClientConnection,
    /// Received bytes.
    incoming: Vec<u8>,
    /// The part of `incoming` that the session has not processed. The session gets no more than it
    /// needs for the next plaintext, because it rejects data while its plaintext buffer is full.
    fresh: Range<usize>,
    /// Bytes to send, and how many have been sent.
    outgoing: Vec<u8>,
    sent: usize,
    /// The peer has closed the session, and everything before that was read.
    has_ended: bool,
}

impl Encryption {
    pub(super) fn new(session: ClientConnection) -> Self {
        Self {
            session,
            incoming: vec![0; RECORD],
            fresh: 0..0,
            outgoing: Vec::new(),
            sent: 0,
            has_ended: false,
        }
    }

    pub(super) fn is_handshaking(&self) -> bool {
        self.session.is_handshaking()
    }

    /// What the handshake agreed on.
    pub(super) fn session(&self) -> &ClientConnection {
        &self.session
    }

    /// True when a read reached the peer's close notification, and not an end that anybody on the
    /// network path could have forged.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Space for the next bytes from the socket. Only when [`Self::needs_bytes`].
    pub(super) fn room(&mut self) -> &mut [u8] {
        &mut self.incoming
    }

    /// Records that `count` bytes were written to [`Self::room`].
    pub(super) fn arrived(&mut self, count: usize) {
        self.fresh = 0..count;
    }

    /// True when the session has processed all received bytes.
    pub(super) fn needs_bytes(&self) -> bool {
        self.fresh.is_empty()
    }

    /// Passes received bytes to the session.
    ///
    /// # Errors
    /// `InvalidData` when they are not valid TLS, or the certificate is rejected.
    pub(super) fn digest(&mut self) -> io::Result<()> {
        let taken = self.session.read_tls(&mut &self.incoming[self.fresh.clone()])?;
        // After the peer's close notification the session accepts nothing, and further bytes are
        // discarded.
        self.fresh.start = if taken == 0 { self.fresh.end } else { self.fresh.start + taken };
        let digested = self.session.process_new_packets();
        digested.map(|_| ()).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }

    /// Decrypted bytes: how many were written to the buffer, 0 after the peer's close notification;
    /// `None` when more bytes are needed.
    ///
    /// # Errors
    /// As [`Self::digest`].
    pub(super) fn plaintext(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        loop {
            match self.session.reader().read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if self.needs_bytes() {
                        return Ok(None);
                    }
                    self.digest()?;
                }
                // Many servers close the connection without the notification that TLS requires.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(Some(0)),
                other => {
                    let count = other?;
                    self.has_ended |= count == 0 && !buffer.is_empty();
                    return Ok(Some(count));
                }
            }
        }
    }

    /// Encrypts bytes, which then wait to be sent.
    ///
    /// # Errors
    /// None known.
    pub(super) fn encrypt(&mut self, plaintext: &[u8]) -> io::Result<()> {
        self.session.writer().write_all(plaintext)
    }

    /// The bytes to send, and the counter of those that have been sent.
    ///
    /// # Errors
    /// None known.
    pub(super) fn outgoing(&mut self) -> io::Result<(&[u8], &mut usize)> {
        if self.sent == self.outgoing.len() {
            self.outgoing.clear();
            self.sent = 0;
        }
        while self.session.wants_write() {
            self.session.write_tls(&mut self.outgoing)?;
        }
        Ok((&self.outgoing, &mut self.sent))
    }
}
