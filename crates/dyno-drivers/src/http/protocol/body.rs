//! Decodes the body of an answer as it arrives, in pieces of any size.

use super::Malformed;
use super::head::{Framing, HEAD_MAX, HEADERS_MAX};
use httparse::{EMPTY_HEADER, Status};

/// Maximum length of the line before a chunk: its size, and extensions, which are ignored.
const CHUNK_LINE_MAX: usize = 4 * 1024;

/// A body that is being received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    state: State,
    /// Number of bytes of the body so far.
    length: u64,
    /// Maximum size.
    limit: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// This many bytes are missing.
    Rest(u64),
    /// Everything up to the end of the connection belongs to it.
    Endless,
    /// Expects the size of a chunk.
    Size,
    /// This many bytes of the chunk are missing.
    Chunk(u64),
    /// Expects the end of line after a chunk.
    ChunkEnd,
    /// After the last chunk; expects the trailer.
    Trailer,
    /// Complete.
    Whole,
}

impl Body {
    /// An empty body that accepts at most `limit` bytes.
    #[must_use]
    pub fn new(framing: Framing, limit: u64) -> Self {
        let state = match framing {
            Framing::Length(0) => State::Whole,
            Framing::Length(length) => State::Rest(length),
            Framing::Chunked => State::Size,
            Framing::Close => State::Endless,
        };
        Self { state, length: 0, limit }
    }

    /// True when the body is complete.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.state == State::Whole
    }

    /// True when the body is complete now that the connection has been closed.
    #[must_use]
    pub fn ends_here(&self) -> bool {
        matches!(self.state, State::Whole | State::Endless)
    }

    /// Processes bytes, which continue where the last call ended, and returns how many; passes
    /// those of the body itself to `take`. Returns fewer than given when the body is complete, or
    /// when more are needed.
    ///
    /// # Errors
    /// When the bytes are not a body with this framing, or the body exceeds the limit.
    pub fn read(&mut self, bytes: &[u8], mut take: impl FnMut(&[u8])) -> Result<usize, Malformed> {
        let mut used = 0;
        loop {
            let rest = &bytes[used..];
            match self.state {
                State::Whole => return Ok(used),
                State::Rest(missing) | State::Chunk(missing) => {
                    let count = usize::try_from(missing)
                        .map_or(rest.len(), |missing| missing.min(rest.len()));
                    self.grow(count as u64)?;
                    take(&rest[..count]);
                    used += count;
                    let missing = missing - count as u64;
                    self.state = match (self.state, missing) {
                        (State::Rest(_), 0) => State::Whole,
                        (State::Rest(_), _) => State::Rest(missing),
                        (_, 0) => State::ChunkEnd,
                        (_, _) => State::Chunk(missing),
                    };
                    if missing > 0 {
                        return Ok(used);
                    }
                }
                State::Endless => {
                    self.grow(rest.len() as u64)?;
                    take(rest);
                    return Ok(bytes.len());
                }
                // httparse accepts an empty line as the last chunk.
                State::Size if rest.first().is_some_and(|byte| !byte.is_ascii_hexdigit()) => {
                    return Err(Malformed::new("a chunk of the answer's body has no size"));
                }
                State::Size => match httparse::parse_chunk_size(rest) {
                    Ok(Status::Complete((length, size))) if length <= CHUNK_LINE_MAX => {
                        used += length;
                        self.state = if size == 0 { State::Trailer } else { State::Chunk(size) };
                    }
                    Ok(Status::Partial) if rest.len() < CHUNK_LINE_MAX => return Ok(used),
                    _ => return Err(Malformed::new("a chunk of the answer's body has no size")),
                },
                State::ChunkEnd => match rest {
                    [b'\r', b'\n', ..] => (used, self.state) = (used + 2, State::Size),
                    [] | [b'\r'] => return Ok(used),
                    _ => {
                        return Err(Malformed::new(
                            "a chunk of the answer's body is longer than its size",
                        ));
                    }
                },
                State::Trailer => {
                    let mut headers = [EMPTY_HEADER; HEADERS_MAX];
                    match httparse::parse_headers(rest, &mut headers) {
                        Ok(Status::Complete((length, _))) if length <= HEAD_MAX => {
                            (used, self.state) = (used + length, State::Whole);
                        }
                        Ok(Status::Partial) if rest.len() < HEAD_MAX => return Ok(used),
                        _ => {
                            return Err(Malformed::new(
                                "the data after the answer's last chunk is not a trailer",
                            ));
                        }
                    }
                }
            }
        }
    }

    fn grow(&mut self, count: u64) -> Result<(), Malformed> {
        self.length += count;
        if self.length > self.limit {
            let limit = self.limit;
            return Err(Malformed::new(format!(
                "the answer's body is longer than {limit} bytes; `body_max_bytes` of the workload \
                 sets the limit"
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reads a body in pieces of this size; returns it with the number of unread bytes and whether
    /// it is complete.
    fn read(
        framing: Framing,
        bytes: &[u8],
        piece: usize,
    ) -> Result<(Vec<u8>, usize, bool), Malformed> {
        let (mut body, mut taken) = (Body::new(framing, 1_000), Vec::new());
        let (mut start, mut end) = (0, 0);
        while !body.is_whole() && end < bytes.len() {
            end = (end + piece).min(bytes.len());
            start += body.read(&bytes[start..end], |part| taken.extend_from_slice(part))?;
        }
        assert_eq!(body.length, taken.len() as u64);
        Ok((taken, start, body.is_whole()))
    }

    #[test]
    fn a_body_is_the_same_in_pieces_of_any_size() {
        let chunked = "5\r\nhello\r\n1;name=\"value\"\r\n \r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\nOther: y\r\n\r\nbehind";
        for piece in 1..=chunked.len() {
            let (taken, used, is_whole) =
                read(Framing::Chunked, chunked.as_bytes(), piece).unwrap();
            assert_eq!(taken, b"hello 0123456789", "{piece}");
            assert_eq!(&chunked[used..], "behind", "{piece}");
            assert!(is_whole);
            let (taken, used, is_whole) =
                read(Framing::Length(5), b"hello, behind", piece).unwrap();
            assert_eq!((taken.as_slice(), used, is_whole), (&b"hello"[..], 5, true));
            let (taken, used, is_whole) = read(Framing::Close, b"hello", piece).unwrap();
            assert_eq!((taken.as_slice(), used, is_whole), (&b"hello"[..], 5, false));
        }
    }

    #[test]
    fn an_invalid_or_too_long_body_is_rejected() {
        for text in [
            "5\r\nhello, world\r\n",
            "zz\r\n",
            "\r\n",
            "fffffffffffffffff\r\n",
            "0\r\n no trailer\x01\r\n\r\n",
        ] {
            assert!(read(Framing::Chunked, text.as_bytes(), 3).is_err(), "{text:?}");
        }
        let long = "x".repeat(1_001);
        for (framing, bytes) in [
            (Framing::Length(1_001), long.clone()),
            (Framing::Close, long.clone()),
            (Framing::Chunked, format!("3e9\r\n{long}")),
        ] {
            let error = read(framing, bytes.as_bytes(), 100).unwrap_err().to_string();
            assert!(
                error.contains("longer than 1000 bytes") && error.contains("body_max_bytes"),
                "{error}"
            );
        }
        let endless = format!("1;{}", "x".repeat(CHUNK_LINE_MAX));
        assert!(read(Framing::Chunked, endless.as_bytes(), 100).is_err());
    }

    proptest! {
        #[test]
        fn any_input_is_decoded_alike_in_pieces(bytes in proptest::collection::vec(any::<u8>(), 0..200), piece in 1_usize..50) {
            let whole = read(Framing::Chunked, &bytes, usize::MAX / 2);
            prop_assert_eq!(read(Framing::Chunked, &bytes, piece), whole);
        }
    }
}
