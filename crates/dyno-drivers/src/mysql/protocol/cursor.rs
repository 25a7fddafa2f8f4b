//! Reads the protocol's integers and strings.

use super::{Malformed, Result};

/// The rest of a payload. Every method fails when fewer bytes are left than it needs.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    /// Starts at the first byte.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// True at the end.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Bytes left.
    #[must_use]
    #[inline]
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    /// All remaining bytes.
    pub fn take_rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    /// The next `count` bytes.
    #[inline]
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8]> {
        match self.rest.split_at_checked(count) {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(taken)
            }
            None => Err(short(count, self.rest.len())),
        }
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        match self.rest.split_first_chunk::<N>() {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(*taken)
            }
            None => Err(short(N, self.rest.len())),
        }
    }

    /// One byte.
    #[inline]
    pub fn u8(&mut self) -> Result<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// Two bytes, little-endian like all integers of the protocol.
    #[inline]
    pub fn u16(&mut self) -> Result<u16> {
        self.array().map(u16::from_le_bytes)
    }

    /// Four bytes.
    #[inline]
    pub fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// Eight bytes.
    #[inline]
    pub fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// An integer of one, three, four or nine bytes, depending on its first byte.
    ///
    /// # Errors
    /// When bytes are missing, or the first byte has another meaning (0xFB NULL, 0xFF error).
    #[inline]
    pub fn length_encoded(&mut self) -> Result<u64> {
        match self.u8()? {
            small @ 0..=0xFA => Ok(u64::from(small)),
            0xFC => self.u16().map(u64::from),
            0xFD => self.array().map(|[low, middle, high]: [u8; 3]| {
                u32::from_le_bytes([low, middle, high, 0]).into()
            }),
            0xFE => self.u64(),
            other => Err(Malformed::new(format!("length begins with {other:#04x}"))),
        }
    }

    /// A string preceded by its length-encoded length.
    ///
    /// # Errors
    /// When bytes are missing; announced lengths are always checked.
    #[inline]
    pub fn length_encoded_bytes(&mut self) -> Result<&'a [u8]> {
        let length = self.length_encoded()?;
        let length = usize::try_from(length).map_err(|_| short(usize::MAX, self.rest.len()))?;
        self.bytes(length)
    }

    /// A string up to its NUL, which is skipped; without a NUL, all remaining bytes (some servers
    /// omit it).
    pub fn nul_terminated(&mut self) -> &'a [u8] {
        match self.rest.iter().position(|byte| *byte == 0) {
            Some(end) => {
                let taken = &self.rest[..end];
                self.rest = &self.rest[end + 1..];
                taken
            }
            None => self.take_rest(),
        }
    }
}

#[cold]
fn short(wanted: usize, left: usize) -> Malformed {
    Malformed::new(format!("{wanted} bytes announced, {left} left in the packet"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_encoded_integers_have_four_sizes() {
        let cases: [(&[u8], u64); 5] = [
            (&[0xFA], 250),
            (&[0xFC, 0xFB, 0x00], 251),
            (&[0xFD, 0x00, 0x00, 0x01], 65_536),
            (&[0xFE, 0, 0, 0, 1, 0, 0, 0, 0], 1 << 24),
            (&[0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], u64::MAX),
        ];
        for (bytes, value) in cases {
            let mut cursor = Cursor::new(bytes);
            assert_eq!(cursor.length_encoded(), Ok(value));
            assert!(cursor.is_empty());
        }
    }

    #[test]
    fn lengths_beyond_the_packet_are_rejected() {
        assert!(
            Cursor::new(&[0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1])
                .length_encoded_bytes()
                .is_err()
        );
        assert!(Cursor::new(&[5, b'a']).length_encoded_bytes().is_err());
        assert!(Cursor::new(&[0xFB]).length_encoded().is_err());
        assert!(Cursor::new(&[0xFC, 1]).length_encoded().is_err());
        assert!(Cursor::new(&[]).u8().is_err());
    }

    #[test]
    fn a_string_ends_at_its_nul_or_at_the_end() {
        let mut cursor = Cursor::new(b"one\0two");
        assert_eq!(cursor.nul_terminated(), b"one");
        assert_eq!(cursor.nul_terminated(), b"two");
        assert_eq!(cursor.nul_terminated(), b"");
    }
}
