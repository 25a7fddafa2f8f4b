//! One encrypted connection between what goes over the socket and what the protocol sees. Bytes in,
//! bytes out: the socket is [`super::Stream`]'s.
//!
//! The buffers live here and not in the futures of reads and writes. A future may be dropped while
//! it pends, because a client was cut off or a limit passed; what had arrived by then, and what was
//! not sent yet, stays with the connection.

use rustls::ClientConnection;
use std::io::{self, Read, Write};
use std::ops::Range;

/// Bytes read from an encrypted socket at once: a full TLS record.
const RECORD: usize = 16 * 1024;

/// TLS state.
pub(super) struct Encryption {
    session: ClientConnection,
    /// Where bytes from the socket are put.
    incoming: Vec<u8>,
    /// The part of `incoming` that the session has not had yet. It is given no more than it needs
    /// for the next plaintext, because it takes nothing while its own store of plaintext is full.
    fresh: Range<usize>,
    /// What goes to the socket, and how much of it has gone.
    outgoing: Vec<u8>,
    sent: usize,
    /// The peer has said that nothing follows, and all before it was read.
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

    /// True when a read has met the peer's farewell, and not an end that anybody on the way could
    /// have made.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Where the next bytes from the socket go. Only when [`Self::needs_bytes`].
    pub(super) fn room(&mut self) -> &mut [u8] {
        &mut self.incoming
    }

    /// So many bytes were put into [`Self::room`].
    pub(super) fn arrived(&mut self, count: usize) {
        self.fresh = 0..count;
    }

    /// True when the session has had all that came.
    pub(super) fn needs_bytes(&self) -> bool {
        self.fresh.is_empty()
    }

    /// Gives the session some of what came.
    ///
    /// # Errors
    /// `InvalidData` when it is not TLS as it should be, or the certificate is refused.
    pub(super) fn digest(&mut self) -> io::Result<()> {
        let taken = self.session.read_tls(&mut &self.incoming[self.fresh.clone()])?;
        // After its peer's farewell the session takes nothing: what stands behind it belongs to
        // nobody.
        self.fresh.start = if taken == 0 { self.fresh.end } else { self.fresh.start + taken };
        let digested = self.session.process_new_packets();
        digested.map(|_| ()).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }

    /// Plaintext of what came: how many bytes were put into the buffer, 0 after the peer's
    /// farewell; `None` when more must come first.
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
                // Many servers close without the farewell that TLS asks for.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(Some(0)),
                other => {
                    let count = other?;
                    self.has_ended |= count == 0 && !buffer.is_empty();
                    return Ok(Some(count));
                }
            }
        }
    }

    /// Encrypts; what comes of it waits to be sent.
    ///
    /// # Errors
    /// None that is known of.
    pub(super) fn encrypt(&mut self, plaintext: &[u8]) -> io::Result<()> {
        self.session.writer().write_all(plaintext)
    }

    /// What waits to be sent, and where to note how much of it has been.
    ///
    /// # Errors
    /// None that is known of.
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
