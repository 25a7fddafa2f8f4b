//! Splits the received stream into messages.

use super::Malformed;

/// A message: its type and body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The type of the message.
    pub tag: u8,
    /// Everything after the length.
    pub body: &'a [u8],
}

/// Type and length.
const HEADER: usize = 5;
/// Initial buffer size: one memory page.
const ROOM_FIRST: usize = 4 * 1024;
/// Buffer size that a connection keeps between statements; more is released.
pub const ROOM_KEPT: usize = 32 * 1024;
/// The server builds no message larger than 1 GiB (`MaxAllocSize`).
pub const LENGTH_MAX: usize = 1 << 30;

/// The receive buffer of one connection.
///
/// It starts at 4 KiB, doubles up to 32 KiB when reads fill it, and beyond that only while a single
/// message that is needed is larger; it grows with the received bytes, never with an announced
/// length. Every byte is moved a bounded number of times, however small the pieces are in which
/// bytes arrive.
#[derive(Debug, Default)]
pub struct Inbox {
    /// Its length is the buffer size; `start..end` is received and not yet consumed.
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes of a skipped row that have not been received.
    unwanted: usize,
    /// The last read filled the buffer: the next one gets more space.
    was_filled: bool,
}

impl Inbox {
    /// Space for received bytes; never empty. [`Self::received`] must follow.
    pub fn room(&mut self) -> &mut [u8] {
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
        }
        if self.bytes.is_empty() {
            self.bytes.resize(ROOM_FIRST, 0);
        } else if self.end == self.bytes.len() {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
            if self.end > self.bytes.len() / 2 {
                self.grow();
            }
        } else if self.was_filled && self.bytes.len() < ROOM_KEPT {
            self.grow();
        }
        self.was_filled = false;
        &mut self.bytes[self.end..]
    }

    /// True when all received bytes are consumed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    fn grow(&mut self) {
        self.bytes.resize(self.bytes.len() * 2, 0);
    }

    /// Records how many bytes were written to [`Self::room`].
    pub fn received(&mut self, count: usize) {
        let room = self.bytes.len() - self.end;
        self.was_filled = count >= room;
        self.end += count.min(room);
    }

    /// The next complete message, or `None` when more bytes are needed.
    ///
    /// # Errors
    /// When the announced length is impossible.
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>, Malformed> {
        self.drop_unwanted();
        match self.front_length()? {
            Some(length) if length <= self.end - self.start => {
                let at = self.start;
                self.start += length;
                Ok(Some(Frame { tag: self.bytes[at], body: &self.bytes[at + HEADER..at + length] }))
            }
            _ => Ok(None),
        }
    }

    /// Skips the data rows at the start, including an incomplete one, and returns their number.
    /// Their contents are not read.
    ///
    /// # Errors
    /// When an announced length is impossible.
    pub fn pass_rows(&mut self) -> Result<u64, Malformed> {
        let mut rows = 0;
        self.drop_unwanted();
        while let Some(length) = self.front_length()? {
            if self.bytes[self.start] != b'D' {
                break;
            }
            rows += 1;
            self.unwanted = length;
            self.drop_unwanted();
        }
        Ok(rows)
    }

    fn drop_unwanted(&mut self) {
        if self.unwanted > 0 {
            let count = self.unwanted.min(self.end - self.start);
            self.start += count;
            self.unwanted -= count;
        }
    }

    /// Length of the first message with its header; `None` while the header is incomplete.
    fn front_length(&self) -> Result<Option<usize>, Malformed> {
        let Some(header) = self.bytes[self.start..self.end].first_chunk::<HEADER>() else {
            return Ok(None);
        };
        let claimed = i32::from_be_bytes([header[1], header[2], header[3], header[4]]);
        match usize::try_from(claimed) {
            Ok(length) if (4..=LENGTH_MAX).contains(&length) => Ok(Some(length + 1)),
            _ => Err(Malformed { what: "a message with a length of", value: claimed.into() }),
        }
    }

    /// Releases space that an unusually large message needed. Called at the end of a statement.
    pub fn release_space(&mut self) {
        if self.bytes.len() > ROOM_KEPT && self.start == self.end {
            self.bytes = vec![0; ROOM_KEPT];
            self.start = 0;
            self.end = 0;
        }
    }

    /// True when unconsumed bytes remain.
    #[must_use]
    pub fn has_rest(&self) -> bool {
        self.start < self.end || self.unwanted > 0
    }

    /// Allocated bytes.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.bytes.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn put(inbox: &mut Inbox, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = inbox.room();
            let count = room.len().min(bytes.len());
            room[..count].copy_from_slice(&bytes[..count]);
            inbox.received(count);
            bytes = &bytes[count..];
        }
    }

    fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        let mut bytes = vec![tag];
        bytes.extend(u32::try_from(body.len() + 4).unwrap().to_be_bytes());
        bytes.extend(body);
        bytes
    }

    #[test]
    fn a_length_below_four_or_above_one_gigabyte_is_malformed() {
        for length in [0_i32, 3, -1, i32::MIN, i32::MAX, (1 << 30) + 1] {
            let mut inbox = Inbox::default();
            let mut bytes = vec![b'Z'];
            bytes.extend(length.to_be_bytes());
            put(&mut inbox, &bytes);
            let malformed = inbox.next_frame().unwrap_err();
            assert_eq!(malformed.value, i64::from(length));
            assert_eq!(inbox.pass_rows().unwrap_err().value, i64::from(length));
        }
    }

    #[test]
    fn an_announced_length_allocates_nothing() {
        let mut inbox = Inbox::default();
        let mut bytes = vec![b'D'];
        bytes.extend((1_i32 << 30).to_be_bytes());
        put(&mut inbox, &bytes);
        assert_eq!(inbox.next_frame(), Ok(None));
        inbox.room();
        assert!(inbox.capacity() <= ROOM_FIRST);
    }

    #[test]
    fn space_for_a_big_message_is_released_after_the_statement() {
        let mut inbox = Inbox::default();
        put(&mut inbox, &message(b'D', &vec![7; 300_000]));
        assert_eq!(inbox.next_frame().unwrap().unwrap().body.len(), 300_000);
        assert!(inbox.capacity() > 300_000);
        inbox.release_space();
        assert!(inbox.capacity() <= ROOM_KEPT);
        put(&mut inbox, &message(b'Z', b"I"));
        assert_eq!(inbox.next_frame(), Ok(Some(Frame { tag: b'Z', body: b"I" })));
    }

    #[test]
    fn skipped_rows_need_no_space_of_their_own() {
        let mut inbox = Inbox::default();
        let mut rows = 0;
        let big = message(b'D', &vec![7; 300_000]);
        for piece in big.chunks(1000) {
            put(&mut inbox, piece);
            rows += inbox.pass_rows().unwrap();
        }
        put(&mut inbox, &message(b'C', b"SELECT 1\0"));
        rows += inbox.pass_rows().unwrap();
        assert_eq!(rows, 1);
        assert_eq!(inbox.next_frame().unwrap().unwrap().tag, b'C');
        assert!(inbox.capacity() <= ROOM_KEPT);
    }

    proptest! {
        #[test]
        fn messages_do_not_depend_on_the_pieces_in_which_they_arrive(
            bodies in prop::collection::vec((any::<u8>(), prop::collection::vec(any::<u8>(), 0..9000)), 0..12),
            pieces in prop::collection::vec(1_usize..7000, 1..20),
        ) {
            let stream: Vec<u8> = bodies.iter().flat_map(|(tag, body)| message(*tag, body)).collect();
            let mut inbox = Inbox::default();
            let mut seen = Vec::new();
            let mut rest = &stream[..];
            let mut sizes = pieces.iter().cycle();
            while !rest.is_empty() {
                let count = (*sizes.next().unwrap()).min(rest.len());
                put(&mut inbox, &rest[..count]);
                rest = &rest[count..];
                while let Some(frame) = inbox.next_frame().unwrap() {
                    seen.push((frame.tag, frame.body.to_vec()));
                }
            }
            prop_assert_eq!(seen, bodies);
            prop_assert!(!inbox.has_rest());
        }

        #[test]
        fn skipping_rows_counts_them_and_stops_at_the_first_other_message(
            sizes in prop::collection::vec(0_usize..6000, 0..12),
            piece in 1_usize..5000,
        ) {
            let mut stream: Vec<u8> = sizes.iter().flat_map(|size| message(b'D', &vec![1; *size])).collect();
            stream.extend(message(b'Z', b"T"));
            let mut inbox = Inbox::default();
            let mut rows = 0;
            let mut end = None;
            for piece in stream.chunks(piece) {
                put(&mut inbox, piece);
                rows += inbox.pass_rows().unwrap();
                if let Some(frame) = inbox.next_frame().unwrap() {
                    end = Some((frame.tag, frame.body.to_vec()));
                }
            }
            prop_assert_eq!(rows, sizes.len() as u64);
            prop_assert_eq!(end, Some((b'Z', b"T".to_vec())));
        }

        #[test]
        fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), discards in any::<bool>()) {
            let mut inbox = Inbox::default();
            put(&mut inbox, &bytes);
            for _ in 0..bytes.len() {
                if discards && inbox.pass_rows().is_err() {
                    break;
                }
                if !matches!(inbox.next_frame(), Ok(Some(_))) {
                    break;
                }
            }
        }
    }
}
