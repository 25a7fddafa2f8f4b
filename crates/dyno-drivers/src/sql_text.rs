//! SQL text, as far as the dialects agree: splits statements at their parameters, finds the end of
//! quoted text, writes names and bytes.

use crate::value::Value;
use dyno_model::engine::Backslash;

/// What a doubled question mark stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doubled {
    /// Two parameters.
    Parameters,
    /// The operator `?`, as in JDBC.
    Operator,
}

/// The text of a statement, split at its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// Without the question marks of the parameters.
    pub(crate) text: Box<str>,
    /// Their positions in `text`, ascending.
    pub(crate) positions: Box<[usize]>,
}

impl Template {
    /// Finds the parameters. `behind` returns for every other byte the position after the string,
    /// name or comment that begins there, or of the next byte.
    pub(crate) fn cut(sql: &str, doubled: Doubled, behind: impl Fn(&[u8], usize) -> usize) -> Self {
        let bytes = sql.as_bytes();
        let (mut text, mut positions) = (String::with_capacity(sql.len()), Vec::new());
        // Everything before `copied` is in the text.
        let (mut at, mut copied) = (0, 0);
        while at < bytes.len() {
            if bytes[at] != b'?' {
                at = behind(bytes, at);
                continue;
            }
            text.push_str(&sql[copied..at]);
            at += 1;
            if doubled == Doubled::Operator && bytes.get(at) == Some(&b'?') {
                text.push('?');
                at += 1;
            } else {
                positions.push(text.len());
            }
            copied = at;
        }
        text.push_str(&sql[copied..]);
        Self { text: text.into(), positions: positions.into() }
    }

    /// Number of parameters.
    #[must_use]
    pub fn parameters(&self) -> usize {
        self.positions.len()
    }

    /// Allocated bytes.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.text.len() + size_of_val(&*self.positions)
    }

    /// Appends the text with values, formatted by `write`, in the places; there must be
    /// [`Self::parameters`] values. False when a value has no literal.
    #[inline]
    pub fn fill(
        &self,
        values: &[Value<'_>],
        out: &mut Vec<u8>,
        write: impl Fn(&Value<'_>, &mut Vec<u8>) -> bool,
    ) -> bool {
        let text = self.text.as_bytes();
        let mut copied = 0;
        for (position, value) in self.positions.iter().zip(values) {
            out.extend_from_slice(&text[copied..*position]);
            if !write(value, out) {
                return false;
            }
            copied = *position;
        }
        out.extend_from_slice(&text[copied..]);
        true
    }

    /// The text with `$1`, `$2`... in the places.
    #[must_use]
    pub fn numbered(&self) -> String {
        self.typed(&[])
    }

    /// As [`Self::numbered`], with `$1::type` where a type is given for the place.
    #[must_use]
    pub fn typed(&self, types: &[&str]) -> String {
        let mut sql = String::with_capacity(self.text.len() + 3 * self.positions.len());
        let mut copied = 0;
        for (index, position) in self.positions.iter().enumerate() {
            sql.push_str(&self.text[copied..*position]);
            sql.push('$');
            sql.push_str(&(index + 1).to_string());
            if let Some(name) = types.get(index) {
                sql.push_str("::");
                sql.push_str(name);
            }
            copied = *position;
        }
        sql.push_str(&self.text[copied..]);
        sql
    }
}

/// The end of the quoted string or name that begins at `start`, or of the text when it is
/// unterminated. A doubled quote ends it and begins another one at once, which is equivalent. In
/// names in backticks, no backslash escapes.
#[must_use]
pub fn quoted_end(bytes: &[u8], start: usize, backslash: Backslash) -> usize {
    let has_escapes = match backslash {
        Backslash::Escapes => bytes[start] != b'`',
        Backslash::EscapesWhereMarked => bytes[start] == b'\'' && is_escape_string(bytes, start),
        Backslash::IsPlain => false,
    };
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if has_escapes => at += 2,
            // In an escape string, escapes also apply after a doubled quote.
            byte if byte == bytes[start] && bytes.get(at + 1) == Some(&byte) => at += 2,
            byte if byte == bytes[start] => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// True when a separate E directly precedes the quote.
fn is_escape_string(bytes: &[u8], quote: usize) -> bool {
    quote > 0
        && bytes[quote - 1].eq_ignore_ascii_case(&b'e')
        && !(quote > 1 && is_identifier_byte(bytes[quote - 2]))
}

/// True for bytes of PostgreSQL's unquoted names.
pub(crate) fn is_identifier_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// The end of the first occurrence of `mark` after `from`, or of the text.
pub(crate) fn end_of(bytes: &[u8], from: usize, mark: &[u8]) -> usize {
    let found = bytes[from..].windows(mark.len()).position(|window| window == mark);
    found.map_or(bytes.len(), |at| from + at + mark.len())
}

/// Appends a quoted name or text, with its quotes doubled.
pub(crate) fn append_name(name: &str, quote: u8, sql: &mut Vec<u8>) {
    sql.push(quote);
    for (i, part) in name.split(char::from(quote)).enumerate() {
        if i > 0 {
            sql.extend_from_slice(&[quote, quote]);
        }
        sql.extend_from_slice(part.as_bytes());
    }
    sql.push(quote);
}

/// Appends bytes as hexadecimal digits.
pub fn append_hexadecimal(bytes: &[u8], text: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        text.extend_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
}
