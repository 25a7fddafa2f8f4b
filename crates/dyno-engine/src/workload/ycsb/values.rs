//! Values of fields: each carries the key and the field that it belongs to, and a checksum.

use crate::random::{ALPHANUMERIC, Random};
use dyno_drivers::{Row, RowSink, Value};
use dyno_model::checksum::fnv1a;
use std::fmt::Write;

/// Hexadecimal digits of the checksum, with which a value ends.
const CHECKSUM: usize = 8;
/// Random characters that a value has at least, so that two updates write different values.
const FILLER_MIN: usize = 8;

/// The length that values need for keys of this length and this many fields.
pub(super) fn length_min(key: usize, fields: usize) -> usize {
    key + (fields - 1).checked_ilog10().map_or(1, |it| it as usize + 1) + 2 + FILLER_MIN + CHECKSUM
}

fn checksum(bytes: &[u8]) -> u32 {
    let hash = fnv1a(bytes);
    (hash ^ (hash >> 32)) as u32
}

/// Writes a value of this length: `KEY:FIELD:`, random characters, and the checksum of all before
/// it.
pub(super) fn write(
    value: &mut String,
    (key, field): (&str, usize),
    length: usize,
    random: &mut Random,
) {
    value.clear();
    let _ = write!(value, "{key}:{field}:");
    let mut filler = [0; 64];
    let mut rest = (length - CHECKSUM).saturating_sub(value.len());
    while rest > 0 {
        let part = &mut filler[..rest.min(64)];
        random.characters(ALPHANUMERIC, part);
        value.extend(part.iter().map(|byte| char::from(*byte)));
        rest -= part.len();
    }
    let sum = checksum(value.as_bytes());
    let _ = write!(value, "{sum:0CHECKSUM$x}");
}

/// Something wrong with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Damage {
    /// It is NULL, too short, or its checksum is wrong.
    Checksum,
    /// It was written to another key or field.
    Misplaced,
}

fn check(value: &[u8], key: &[u8], field: usize) -> Result<(), Damage> {
    let (body, sum) = value.split_last_chunk::<CHECKSUM>().ok_or(Damage::Checksum)?;
    let sum = std::str::from_utf8(sum).ok().and_then(|sum| u32::from_str_radix(sum, 16).ok());
    if sum != Some(checksum(body)) {
        return Err(Damage::Checksum);
    }
    let mut parts = body.splitn(3, |byte| *byte == b':');
    let number = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<usize>().ok();
    match (parts.next(), parts.next().and_then(number)) {
        (Some(found), Some(at)) if found == key && at == field => Ok(()),
        _ => Err(Damage::Misplaced),
    }
}

/// Checks the values of all rows: the key is the first column.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Checked {
    pub(super) rows: u64,
    pub(super) damaged: i64,
    pub(super) misplaced: i64,
}

fn bytes<'v>(value: &'v Value<'_>) -> &'v [u8] {
    match value {
        Value::Text(text) => text.as_bytes(),
        Value::Bytes(bytes) => bytes,
        Value::Null | Value::Integer(_) | Value::Float(_) => b"",
    }
}

impl RowSink for Checked {
    fn row(&mut self, row: &dyn Row) {
        self.rows += 1;
        let key = row.get(0);
        for field in 0..row.len().saturating_sub(1) {
            match check(bytes(&row.get(field + 1)), bytes(&key), field) {
                Ok(()) => {}
                Err(Damage::Checksum) => self.damaged += 1,
                Err(Damage::Misplaced) => self.misplaced += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    fn value(key: &str, field: usize, length: usize) -> String {
        let mut value = String::new();
        write(&mut value, (key, field), length, &mut Random::new(1, Stream::Data, 0, 0));
        value
    }

    #[test]
    fn values_have_their_length_and_belong_to_one_key_and_field() {
        let (key, min) = ("user12", length_min(6, 11));
        assert_eq!(min, 6 + 2 + 2 + 8 + 8);
        for length in [min, 100, 500] {
            let value = value(key, 10, length);
            assert_eq!(value.len(), length, "{value}");
            assert_eq!(check(value.as_bytes(), key.as_bytes(), 10), Ok(()));
            assert_eq!(check(value.as_bytes(), b"user13", 10), Err(Damage::Misplaced));
            assert_eq!(check(value.as_bytes(), key.as_bytes(), 1), Err(Damage::Misplaced));
        }
    }

    #[test]
    fn every_changed_byte_is_found() {
        let value = value("user12", 3, 100);
        for at in 0..value.len() {
            let mut changed = value.clone().into_bytes();
            changed[at] ^= 1;
            let found = check(&changed, b"user12", 3);
            assert_eq!(found, Err(Damage::Checksum), "byte {at}");
        }
        assert_eq!(check(b"", b"user12", 3), Err(Damage::Checksum));
    }
}
