//! Encodes the commands that a client sends after login.

use super::column::kind;
use super::handshake::write_length_encoded;
use super::packet;
use crate::value::Value;

const QUIT: u8 = 0x01;
const QUERY: u8 = 0x03;
const STATEMENT_PREPARE: u8 = 0x16;
const STATEMENT_EXECUTE: u8 = 0x17;
const STATEMENT_CLOSE: u8 = 0x19;

/// Encodes a command of a single packet; returns the first sequence number of the answer.
fn simple(out: &mut Vec<u8>, command: u8, argument: &[u8]) -> u8 {
    let at = packet::begin(out);
    out.push(command);
    out.extend_from_slice(argument);
    packet::finish(out, at, 0)
}

/// Closes the session; not answered.
pub fn quit(out: &mut Vec<u8>) -> u8 {
    simple(out, QUIT, &[])
}

/// Executes text.
#[inline]
pub fn query(out: &mut Vec<u8>, sql: &[u8]) -> u8 {
    simple(out, QUERY, sql)
}

/// Starts a statement whose text the caller writes; [`packet::finish`] ends it.
#[inline]
pub fn begin_query(out: &mut Vec<u8>) -> usize {
    let at = packet::begin(out);
    out.push(QUERY);
    at
}

/// Prepares a statement.
pub fn prepare(out: &mut Vec<u8>, sql: &[u8]) -> u8 {
    simple(out, STATEMENT_PREPARE, sql)
}

/// Deallocates a prepared statement; not answered.
pub fn close_statement(out: &mut Vec<u8>, id: u32) -> u8 {
    simple(out, STATEMENT_CLOSE, &id.to_le_bytes())
}

/// The type code with which a value is sent; `None` for NULL, which has none.
#[inline]
fn kind_of(value: &Value<'_>) -> Option<u8> {
    match value {
        Value::Null => None,
        Value::Integer(_) => Some(kind::LONG_LONG),
        Value::Float(_) => Some(kind::DOUBLE),
        Value::Text(_) => Some(kind::VAR_STRING),
        Value::Bytes(_) => Some(kind::BLOB),
    }
}

/// Executes a prepared statement. `kinds` are the parameters' types as last sent to the server, one
/// per parameter (`kind::NULL` at first); types are sent again only when one has changed, like in
/// the C clients.
#[inline]
pub fn execute(
    out: &mut Vec<u8>,
    id: u32,
    parameters: &[Value<'_>],
    kinds: &mut [u8],
    is_first: bool,
) -> u8 {
    let at = packet::begin(out);
    out.push(STATEMENT_EXECUTE);
    out.extend_from_slice(&id.to_le_bytes());
    // No cursor; the iteration count is always 1.
    out.extend_from_slice(&[0, 1, 0, 0, 0]);
    if !parameters.is_empty() {
        let nulls = out.len();
        out.resize(nulls + parameters.len().div_ceil(8), 0);
        let mut is_new = is_first;
        for (i, (value, known)) in parameters.iter().zip(kinds.iter_mut()).enumerate() {
            match kind_of(value) {
                None => out[nulls + i / 8] |= 1 << (i % 8),
                Some(kind) => {
                    is_new |= *known != kind;
                    *known = kind;
                }
            }
        }
        out.push(is_new.into());
        if is_new {
            for kind in kinds.iter() {
                // The second byte would mark unsigned values.
                out.extend_from_slice(&[*kind, 0]);
            }
        }
        for value in parameters {
            match value {
                Value::Null => {}
                Value::Integer(value) => out.extend_from_slice(&value.to_le_bytes()),
                Value::Float(value) => out.extend_from_slice(&value.to_bits().to_le_bytes()),
                Value::Text(text) => write_string(out, text.as_bytes()),
                Value::Bytes(bytes) => write_string(out, bytes),
            }
        }
    }
    packet::finish(out, at, 0)
}

/// A string preceded by its length.
#[inline]
pub(crate) fn write_string(out: &mut Vec<u8>, bytes: &[u8]) {
    write_length_encoded(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_sent_once_and_again_when_they_change() {
        let mut kinds = [kind::NULL; 2];
        let mut out = Vec::new();
        assert_eq!(execute(&mut out, 7, &[Value::Integer(1), Value::Null], &mut kinds, true), 1);
        assert_eq!(
            out,
            [
                27,
                0,
                0,
                0, // header
                0x17,
                7,
                0,
                0,
                0,
                0,
                1,
                0,
                0,
                0, // command, statement, flags, iterations
                0b10,
                1,
                kind::LONG_LONG,
                0,
                kind::NULL,
                0, // null map, types follow, types
                1,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
            ][..]
                .iter()
                .copied()
                .enumerate()
                .map(|(i, byte)| if i == 0 { (out.len() - 4) as u8 } else { byte })
                .collect::<Vec<u8>>()
        );
        out.clear();
        execute(&mut out, 7, &[Value::Integer(2), Value::Null], &mut kinds, false);
        assert_eq!(out[14..], [0b10, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
        out.clear();
        execute(&mut out, 7, &[Value::Integer(2), Value::Text("ab")], &mut kinds, false);
        assert_eq!(
            out[14..],
            [0, 1, kind::LONG_LONG, 0, kind::VAR_STRING, 0, 2, 0, 0, 0, 0, 0, 0, 0, 2, b'a', b'b']
        );
    }

    #[test]
    fn a_statement_without_parameters_has_neither_null_map_nor_types() {
        let mut out = Vec::new();
        execute(&mut out, 1, &[], &mut [], true);
        assert_eq!(out, [10, 0, 0, 0, 0x17, 1, 0, 0, 0, 0, 1, 0, 0, 0]);
    }

    #[test]
    fn a_long_text_is_split_into_packets() {
        let mut out = Vec::new();
        let sequence = query(&mut out, &vec![b' '; packet::PAYLOAD_MAX + 1]);
        assert_eq!(sequence, 2);
    }
}
