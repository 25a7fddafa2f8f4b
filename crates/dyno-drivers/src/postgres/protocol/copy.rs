//! The text format of COPY: one line per row, fields separated by tabs, `\N` for NULL.

use crate::value::{RowWriter, append_integer};

/// Rows collected for one CopyData message.
#[derive(Debug)]
pub struct CopyChunk {
    bytes: Vec<u8>,
    /// Start of the row being written.
    row: usize,
    /// Number of its fields so far.
    fields: usize,
}

/// Type and length of the message, filled in when it is sent.
const HEADER: usize = 5;

impl CopyChunk {
    /// An empty chunk with this capacity in bytes.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        let mut bytes = Vec::with_capacity(capacity);
        bytes.extend_from_slice(b"d\0\0\0\0");
        Self { row: bytes.len(), bytes, fields: 0 }
    }

    /// Size of its rows in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() - HEADER
    }

    /// True when it contains no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Ends the row and returns its number of fields.
    pub fn end_row(&mut self) -> usize {
        self.bytes.push(b'\n');
        self.row = self.bytes.len();
        std::mem::take(&mut self.fields)
    }

    /// Discards an unfinished row.
    pub fn drop_row(&mut self) {
        self.bytes.truncate(self.row);
        self.fields = 0;
    }

    /// The complete message, ready to be sent.
    pub fn message(&mut self) -> &[u8] {
        let length = (self.bytes.len() - 1) as u32;
        self.bytes[1..HEADER].copy_from_slice(&length.to_be_bytes());
        &self.bytes
    }

    /// Discards the rows.
    pub fn clear(&mut self) {
        self.bytes.truncate(HEADER);
        self.row = HEADER;
        self.fields = 0;
    }

    fn separate(&mut self) {
        if self.fields > 0 {
            self.bytes.push(b'\t');
        }
        self.fields += 1;
    }
}

impl RowWriter for CopyChunk {
    fn integer(&mut self, value: i64) {
        self.separate();
        append_integer(value, &mut self.bytes);
    }

    fn text(&mut self, value: &str) {
        self.separate();
        let bytes = value.as_bytes();
        // Most texts need no escaping: they are scanned and copied once.
        let Some(first) = bytes.iter().position(|byte| escape(*byte).is_some()) else {
            self.bytes.extend_from_slice(bytes);
            return;
        };
        self.bytes.extend_from_slice(&bytes[..first]);
        for byte in &bytes[first..] {
            match escape(*byte) {
                Some(letter) => self.bytes.extend_from_slice(&[b'\\', letter]),
                None => self.bytes.push(*byte),
            }
        }
    }

    fn null(&mut self) {
        self.separate();
        self.bytes.extend_from_slice(b"\\N");
    }
}

/// The letter after the backslash for characters with a special meaning.
fn escape(byte: u8) -> Option<u8> {
    match byte {
        b'\\' => Some(b'\\'),
        b'\n' => Some(b'n'),
        b'\r' => Some(b'r'),
        b'\t' => Some(b't'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reads a line as the server does (PostgreSQL documentation, COPY, "Text Format").
    fn read_line(line: &[u8]) -> Vec<Option<Vec<u8>>> {
        let unescape = |field: &[u8]| {
            let mut text = Vec::new();
            let mut bytes = field.iter();
            while let Some(byte) = bytes.next() {
                match (byte, byte == &b'\\') {
                    (_, true) => text.push(match bytes.next() {
                        Some(b'n') => b'\n',
                        Some(b'r') => b'\r',
                        Some(b't') => b'\t',
                        Some(other) => *other,
                        None => panic!("a backslash at the end of a field"),
                    }),
                    (byte, false) => text.push(*byte),
                }
            }
            text
        };
        line.split(|byte| *byte == b'\t')
            .map(|field| (field != b"\\N").then(|| unescape(field)))
            .collect()
    }

    #[test]
    fn a_row_is_a_line_of_tab_separated_fields() {
        let mut chunk = CopyChunk::with_capacity(64);
        chunk.integer(-12);
        chunk.text("a\tb\\N\n");
        chunk.null();
        chunk.text("");
        assert_eq!(chunk.end_row(), 4);
        chunk.text("글");
        assert_eq!(chunk.end_row(), 1);
        let message = chunk.message();
        assert_eq!(&message[..5], [b'd', 0, 0, 0, message.len() as u8 - 1]);
        assert_eq!(&message[5..], "-12\ta\\tb\\\\N\\n\t\\N\t\n글\n".as_bytes());
        chunk.clear();
        assert!(chunk.is_empty());
    }

    proptest! {
        #[test]
        fn every_text_is_read_back_unchanged(texts in prop::collection::vec(prop::option::of("(\\PC|[\\\\\n\r\tN.]){0,20}"), 1..6)) {
            let mut chunk = CopyChunk::with_capacity(64);
            for text in &texts {
                match text {
                    Some(text) => chunk.text(text),
                    None => chunk.null(),
                }
            }
            chunk.end_row();
            let message = chunk.message();
            let body = &message[5..message.len() - 1];
            prop_assert!(!body.contains(&b'\n'));
            let expected: Vec<_> = texts.into_iter().map(|text| text.map(String::into_bytes)).collect();
            prop_assert_eq!(read_line(body), expected);
        }
    }
}
