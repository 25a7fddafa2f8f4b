//! Packets: three bytes of length, one byte of sequence number, payload.
//!
//! A payload of 16 MiB - 1 bytes or more is split into several packets, of which only the last is
//! shorter than that.

use super::{Malformed, Result};

/// Maximum payload of one packet.
pub const PAYLOAD_MAX: usize = 0xFF_FFFF;
/// Bytes before a payload.
pub const HEADER: usize = 4;
/// Initial size of a receive buffer, allocated when it is first used. The answer to a point select
/// fits.
const INITIAL: usize = 2 * 1024;
/// Maximum size up to which buffers grow to save system calls; they grow beyond only for a larger
/// packet.
pub const KEEP_MAX: usize = 32 * 1024;
/// A buffer above this size is released at once, one between [`KEEP_MAX`] and this when the next
/// answers are small.
const LARGE: usize = 1024 * 1024;
/// Maximum payload joined from several packets: the largest `max_allowed_packet`, plus a margin.
const JOINED_MAX: usize = (1 << 30) + PAYLOAD_MAX;

/// Position of a payload in the [`PacketBuffer`]; valid until [`PacketBuffer::space`] is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    start: usize,
    end: usize,
}

/// Why [`PacketBuffer::pass_rows`] stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowScan {
    /// Everything received has been skipped.
    NeedMore,
    /// The next packet is not a row.
    Terminator,
}

/// The receive buffer: takes received bytes and returns payloads. Processed bytes are not processed
/// again.
///
/// [`Self::space`] and [`Self::received`] add bytes; [`Self::pop`] or [`Self::pass_rows`] consume
/// packets until they need more. At most one payload is incomplete.
#[derive(Debug, Default)]
pub struct PacketBuffer {
    bytes: Vec<u8>,
    /// First byte not consumed.
    start: usize,
    /// End of what was received.
    end: usize,
    /// Length of the parts of a payload that have been joined, after the header at `start`.
    joined: usize,
    /// Distance from `start` to the header of the next part; 0 before the first.
    part: usize,
    /// Bytes of a skipped row that have not been received.
    skip: usize,
    /// The next packet continues a skipped row.
    is_continued: bool,
    /// Expected sequence number of the next packet.
    pub(crate) sequence: u8,
    /// Largest buffer needed since the last trim.
    needed: usize,
}

impl PacketBuffer {
    /// Space for receiving, never empty. Invalidates all spans.
    pub fn space(&mut self) -> &mut [u8] {
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
        } else if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.bytes.is_empty() {
            self.bytes.resize(INITIAL, 0);
        } else if self.end == self.bytes.len() {
            // Doubles as bytes arrive: an announced length allocates nothing.
            self.bytes.resize(self.bytes.len() * 2, 0);
        }
        self.needed = self.needed.max(self.end);
        &mut self.bytes[self.end..]
    }

    /// `count` bytes were written to the beginning of [`Self::space`].
    pub fn received(&mut self, count: usize) {
        self.end = (self.end + count).min(self.bytes.len());
        if self.end == self.bytes.len() && self.end < KEEP_MAX {
            // The answer exceeds the buffer: use fewer, larger reads.
            self.bytes.resize(self.end * 2, 0);
        }
    }

    /// Starts a new exchange: the answer's first packet has this sequence number.
    pub fn expect(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// True when all received bytes are consumed.
    #[must_use]
    pub fn is_drained(&self) -> bool {
        self.start == self.end && self.skip == 0 && !self.is_continued
    }

    /// Releases memory that the last answers did not need.
    #[inline]
    pub fn trim(&mut self) {
        if self.bytes.len() > KEEP_MAX && self.start == self.end {
            if self.bytes.len() > LARGE || self.needed <= KEEP_MAX {
                self.bytes.truncate(KEEP_MAX);
                self.bytes.shrink_to_fit();
                self.start = 0;
                self.end = 0;
            }
            self.needed = 0;
        }
    }

    /// Bytes allocated.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// A payload's bytes.
    #[must_use]
    #[inline]
    pub fn payload(&self, span: Span) -> &[u8] {
        &self.bytes[span.start..span.end]
    }

    /// The next payload, if it is complete.
    ///
    /// # Errors
    /// When packets are out of order, or one is larger than any server can send.
    #[inline]
    pub fn pop(&mut self) -> Result<Option<Span>> {
        loop {
            let header = self.start + self.part;
            let Some((length, sequence)) = self.header_at(header) else { return Ok(None) };
            let payload = header + HEADER;
            if self.end - payload < length {
                return Ok(None);
            }
            self.check_sequence(sequence, self.bytes.get(payload).copied().filter(|_| length > 0))?;
            if self.part == 0 && length < PAYLOAD_MAX {
                self.start = payload + length;
                return Ok(Some(Span { start: payload, end: payload + length }));
            }
            if let Some(span) = self.join(payload, length)? {
                return Ok(Some(span));
            }
        }
    }

    /// Joins a part to the previous ones, overwriting its header; returns the complete payload
    /// after the last part.
    #[cold]
    fn join(&mut self, payload: usize, length: usize) -> Result<Option<Span>> {
        if self.joined + length > JOINED_MAX {
            return Err(Malformed::new(format!("a packet of more than {JOINED_MAX} bytes")));
        }
        let first = self.start + HEADER;
        self.bytes.copy_within(payload..payload + length, first + self.joined);
        self.joined += length;
        self.part = payload + length - self.start;
        if length == PAYLOAD_MAX {
            return Ok(None);
        }
        let span = Span { start: first, end: first + self.joined };
        self.start += self.part;
        self.part = 0;
        self.joined = 0;
        Ok(Some(span))
    }

    /// Skips row packets by their headers, adding to `rows`, up to the packet that ends them: an
    /// error, or an EOF packet (if `is_ok_terminated`, an OK packet that begins with 0xFE). Rows
    /// need not be in the buffer as a whole.
    ///
    /// # Errors
    /// When packets are out of order or empty.
    #[inline]
    pub fn pass_rows(&mut self, is_ok_terminated: bool, rows: &mut u64) -> Result<RowScan> {
        loop {
            if self.skip > 0 {
                let passed = self.skip.min(self.end - self.start);
                self.start += passed;
                self.skip -= passed;
                if self.skip > 0 {
                    return Ok(RowScan::NeedMore);
                }
            }
            let Some((length, sequence)) = self.header_at(self.start) else {
                return Ok(RowScan::NeedMore);
            };
            if !self.is_continued {
                // Decided by the first byte, which every row has.
                if length == 0 {
                    return Err(Malformed::new("an empty row"));
                }
                let Some(first) = self.bytes[..self.end].get(self.start + HEADER).copied() else {
                    return Ok(RowScan::NeedMore);
                };
                if is_terminator(first, length, is_ok_terminated) {
                    return Ok(RowScan::Terminator);
                }
                *rows += 1;
            }
            self.check_sequence(sequence, None)?;
            self.is_continued = length == PAYLOAD_MAX;
            self.start += HEADER;
            self.skip = length;
        }
    }

    #[inline]
    fn header_at(&self, at: usize) -> Option<(usize, u8)> {
        let [low, middle, high, sequence] =
            *self.bytes[..self.end].get(at..)?.first_chunk::<HEADER>()?;
        Some((u32::from_le_bytes([low, middle, high, 0]) as usize, sequence))
    }

    #[inline]
    fn check_sequence(&mut self, sequence: u8, first: Option<u8>) -> Result<()> {
        // A server that is about to close the connection reports the reason out of sequence.
        if sequence != self.sequence && first != Some(0xFF) {
            return Err(Malformed::new(format!(
                "packet {sequence} where {} was expected",
                self.sequence
            )));
        }
        self.sequence = sequence.wrapping_add(1);
        Ok(())
    }
}

/// True when a packet with this first byte ends the rows of a result set.
#[inline]
#[must_use]
pub fn is_terminator(first: u8, length: usize, is_ok_terminated: bool) -> bool {
    match first {
        0xFF => true,
        // A row that begins with 0xFE has a first field of at least 16 MiB, so its packet is full.
        0xFE => length < if is_ok_terminated { PAYLOAD_MAX } else { 9 },
        _ => false,
    }
}

/// Reserves space for the header of the packet whose payload is written next.
#[inline]
pub fn begin(out: &mut Vec<u8>) -> usize {
    let at = out.len();
    out.extend_from_slice(&[0; HEADER]);
    at
}

/// Writes the header of the packet started at `at`, whose payload extends to the end; splits it
/// when it is too long. Returns the next sequence number.
#[inline]
pub fn finish(out: &mut Vec<u8>, at: usize, sequence: u8) -> u8 {
    let length = out.len() - at - HEADER;
    if length >= PAYLOAD_MAX {
        return split(out, at, sequence);
    }
    write_header(&mut out[at..at + HEADER], length, sequence);
    sequence.wrapping_add(1)
}

#[cold]
fn split(out: &mut Vec<u8>, at: usize, mut sequence: u8) -> u8 {
    let payload = out.split_off(at + HEADER);
    out.truncate(at);
    let mut rest = payload.as_slice();
    loop {
        let length = rest.len().min(PAYLOAD_MAX);
        let header = begin(out);
        write_header(&mut out[header..header + HEADER], length, sequence);
        out.extend_from_slice(&rest[..length]);
        rest = &rest[length..];
        sequence = sequence.wrapping_add(1);
        // A full packet is always followed by another one, which may be empty.
        if length < PAYLOAD_MAX {
            return sequence;
        }
    }
}

#[inline]
fn write_header(header: &mut [u8], length: usize, sequence: u8) {
    let [low, middle, high, _] = (length as u32).to_le_bytes();
    header.copy_from_slice(&[low, middle, high, sequence]);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds bytes in pieces of `piece` and collects all payloads.
    fn payloads(bytes: &[u8], piece: usize) -> Result<Vec<Vec<u8>>> {
        let mut buffer = PacketBuffer::default();
        let mut found = Vec::new();
        let mut rest = bytes;
        loop {
            while let Some(span) = buffer.pop()? {
                found.push(buffer.payload(span).to_vec());
            }
            if rest.is_empty() {
                return Ok(found);
            }
            let space = buffer.space();
            let count = piece.min(space.len()).min(rest.len());
            space[..count].copy_from_slice(&rest[..count]);
            rest = &rest[count..];
            buffer.received(count);
        }
    }

    fn packets(lengths: &[usize]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut sequence = 0;
        for (i, length) in lengths.iter().enumerate() {
            let at = begin(&mut out);
            out.extend((0..*length).map(|j| (i * 31 + j * 7 + j / 251) as u8));
            sequence = finish(&mut out, at, sequence);
        }
        out
    }

    #[test]
    fn payloads_of_any_length_are_sent_and_received_unchanged() {
        let lengths = [
            0,
            1,
            3000,
            40_000,
            PAYLOAD_MAX - 1,
            PAYLOAD_MAX,
            PAYLOAD_MAX + 1,
            2 * PAYLOAD_MAX,
            2 * PAYLOAD_MAX + 5,
        ];
        let wire = packets(&lengths);
        for piece in [1_000_003, usize::MAX] {
            let found = payloads(&wire, piece).unwrap();
            assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), lengths);
            for (i, payload) in found.iter().enumerate() {
                assert!(
                    payload
                        .iter()
                        .enumerate()
                        .all(|(j, byte)| *byte == (i * 31 + j * 7 + j / 251) as u8)
                );
            }
        }
    }

    #[test]
    fn a_payload_is_split_at_the_maximum_packet_size() {
        let wire = packets(&[PAYLOAD_MAX]);
        assert_eq!(wire.len(), PAYLOAD_MAX + 2 * HEADER);
        assert_eq!(wire[..4], [0xFF, 0xFF, 0xFF, 0]);
        assert_eq!(wire[wire.len() - 4..], [0, 0, 0, 1]);
    }

    #[test]
    fn packets_out_of_order_are_rejected_except_errors() {
        assert!(
            payloads(&[1, 0, 0, 7, 0], 9).unwrap_err().0.contains("packet 7 where 0 was expected")
        );
        assert_eq!(payloads(&[1, 0, 0, 7, 0xFF], 9).unwrap(), [[0xFF]]);
    }

    #[test]
    fn an_announced_length_allocates_nothing() {
        let mut buffer = PacketBuffer::default();
        buffer.space()[..4].copy_from_slice(&[0xFE, 0xFF, 0xFF, 0]);
        buffer.received(4);
        assert_eq!(buffer.pop(), Ok(None));
        let _ = buffer.space();
        assert!(buffer.capacity() <= INITIAL, "{}", buffer.capacity());
    }

    #[test]
    fn skipped_rows_are_counted_and_need_no_space() {
        // 0xFE begins a row only when its packet is full.
        let mut wire = packets(&[100, PAYLOAD_MAX + 10, 5]);
        wire[HEADER] = 1;
        wire[HEADER + 100 + HEADER] = 0xFE;
        let last = wire.len() - 5;
        wire[last] = 0xFE;
        for is_ok_terminated in [false, true] {
            let mut buffer = PacketBuffer::default();
            let mut rows = 0;
            let mut rest = wire.as_slice();
            while buffer.pass_rows(is_ok_terminated, &mut rows) == Ok(RowScan::NeedMore) {
                assert!(!rest.is_empty(), "the terminator was missed");
                let space = buffer.space();
                let count = space.len().min(rest.len());
                space[..count].copy_from_slice(&rest[..count]);
                rest = &rest[count..];
                buffer.received(count);
            }
            assert_eq!(rows, 2);
            assert!(buffer.capacity() <= KEEP_MAX, "{}", buffer.capacity());
            let terminator = buffer.pop().unwrap().unwrap();
            assert_eq!(buffer.payload(terminator).len(), 5);
        }
    }

    #[test]
    fn a_large_buffer_is_released() {
        let mut buffer = PacketBuffer::default();
        let wire = packets(&[3 * LARGE]);
        let mut rest = wire.as_slice();
        while buffer.pop().unwrap().is_none() {
            let space = buffer.space();
            let count = space.len().min(rest.len());
            space[..count].copy_from_slice(&rest[..count]);
            rest = &rest[count..];
            buffer.received(count);
        }
        assert!(buffer.capacity() > 3 * LARGE);
        buffer.trim();
        assert!(buffer.capacity() <= KEEP_MAX);
    }
}
