//! Encodes messages of the client. Every function appends one message, or the messages of one round
//! trip, to a buffer.

use super::backend::Column;
use super::parameter::{self, ParameterType};
use crate::value::Value;

/// Appends a message with its length. `fill` appends the body; its result is returned.
pub(crate) fn message<R>(tag: u8, bytes: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>) -> R) -> R {
    bytes.push(tag);
    sized(bytes, fill)
}

/// Appends a length, which includes itself, and the content.
fn sized<R>(bytes: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>) -> R) -> R {
    let start = bytes.len();
    bytes.extend_from_slice(&[0; 4]);
    let result = fill(bytes);
    // The connection rejects more than 1 GiB, so messages that are sent never wrap.
    let length = (bytes.len() - start) as u32;
    bytes[start..start + 4].copy_from_slice(&length.to_be_bytes());
    result
}

/// Appends a text with its terminating zero byte.
pub(crate) fn text(text: &[u8], bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(text);
    bytes.push(0);
}

/// Requests encryption; the answer is the single byte `S` or `N`.
pub fn tls_request(bytes: &mut Vec<u8>) {
    sized(bytes, |bytes| bytes.extend_from_slice(&80_877_103_u32.to_be_bytes()));
}

/// Opens the session: protocol 3 with this minor version, and run-time parameters (`user` is
/// required).
pub fn startup(minor: u16, parameters: &[(&str, &str)], bytes: &mut Vec<u8>) {
    sized(bytes, |bytes| {
        bytes.extend_from_slice(&3_u16.to_be_bytes());
        bytes.extend_from_slice(&minor.to_be_bytes());
        for (name, value) in parameters {
            text(name.as_bytes(), bytes);
            text(value.as_bytes(), bytes);
        }
        bytes.push(0);
    });
}

/// A password, in clear text or hashed.
pub fn password(password: &[u8], bytes: &mut Vec<u8>) {
    message(b'p', bytes, |bytes| text(password, bytes));
}

/// The chosen SASL mechanism and its first message.
pub fn sasl_initial(mechanism: &str, first: &[u8], bytes: &mut Vec<u8>) {
    message(b'p', bytes, |bytes| {
        text(mechanism.as_bytes(), bytes);
        bytes.extend_from_slice(&(first.len() as u32).to_be_bytes());
        bytes.extend_from_slice(first);
    });
}

/// A further SASL message.
pub fn sasl_response(response: &[u8], bytes: &mut Vec<u8>) {
    message(b'p', bytes, |bytes| bytes.extend_from_slice(response));
}

/// A simple query whose text `fill` appends; the text must not contain a zero byte.
pub fn query<R>(bytes: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>) -> R) -> R {
    message(b'Q', bytes, |bytes| {
        let result = fill(bytes);
        bytes.push(0);
        result
    })
}

/// Parse; the server determines the types of all parameters.
pub fn parse(name: &str, sql: &str, bytes: &mut Vec<u8>) {
    message(b'P', bytes, |bytes| {
        text(name.as_bytes(), bytes);
        text(sql.as_bytes(), bytes);
        bytes.extend_from_slice(&[0; 2]);
    });
}

/// Requests the parameters and columns of a prepared statement.
pub fn describe_statement(name: &str, bytes: &mut Vec<u8>) {
    message(b'D', bytes, |bytes| {
        bytes.push(b'S');
        text(name.as_bytes(), bytes);
    });
}

/// Requests pending answers without ending the round trip.
pub fn flush(bytes: &mut Vec<u8>) {
    message(b'H', bytes, |_| {});
}

/// Ends a round trip of the extended protocol: the server answers everything and sends
/// ReadyForQuery.
pub fn sync(bytes: &mut Vec<u8>) {
    message(b'S', bytes, |_| {});
}

/// Closes the session.
pub fn terminate(bytes: &mut Vec<u8>) {
    message(b'X', bytes, |_| {});
}

/// The end of a bulk load.
pub fn copy_done(bytes: &mut Vec<u8>) {
    message(b'c', bytes, |_| {});
}

/// Cancels a bulk load; the server answers with an error that quotes the reason.
pub fn copy_fail(reason: &str, bytes: &mut Vec<u8>) {
    message(b'f', bytes, |bytes| text(reason.as_bytes(), bytes));
}

/// The constant messages of executing an unnamed statement: it is parsed each time, and rows are
/// text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    /// Parse, before Bind.
    before: Box<[u8]>,
    /// True when the columns are requested at each execution.
    describes: bool,
}

impl Execution {
    /// Parses and executes an unnamed statement, and requests its columns.
    #[must_use]
    pub fn unnamed(sql: &str) -> Self {
        let mut before = Vec::new();
        parse("", sql, &mut before);
        Self { before: before.into(), describes: true }
    }

    /// Appends all messages of one execution except the Sync that ends a round trip. `is_described`
    /// requests the columns in any case.
    pub fn append(&self, values: &[Value<'_>], is_described: bool, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.before);
        execute(None, &[], &[0, 0], values, bytes, self.describes || is_described);
    }

    /// The columns are known from now on and no longer requested.
    pub fn stop_describing(&mut self) {
        self.describes = false;
    }

    /// Allocated bytes.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.before.len()
    }
}

/// Appends Bind and Execute of the statement with this number, or of the unnamed one; `formats` are
/// those of its columns. `is_described` requests the columns.
pub fn execute(
    statement_number: Option<usize>,
    types: &[ParameterType],
    formats: &[u8],
    values: &[Value<'_>],
    bytes: &mut Vec<u8>,
    is_described: bool,
) {
    message(b'B', bytes, |bytes| {
        // The unnamed portal.
        bytes.push(0);
        if let Some(number) = statement_number {
            statement_name(number, bytes);
        }
        bytes.push(0);
        parameter::append(types, values, bytes);
        bytes.extend_from_slice(formats);
    });
    if is_described {
        bytes.extend_from_slice(b"D\0\0\0\x06P\0");
    }
    // Without a row limit.
    bytes.extend_from_slice(b"E\0\0\0\x09\0\0\0\0\0");
}

/// The name of a statement on the server.
pub fn statement_name(statement_number: usize, bytes: &mut Vec<u8>) {
    bytes.push(b's');
    let begin = bytes.len();
    let mut rest = statement_number;
    loop {
        bytes.push(b'0' + (rest % 10) as u8);
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    bytes[begin..].reverse();
}

/// The formats of the columns; empty when all are text, a single one when all are binary.
pub fn result_formats(columns: &[Column]) -> Vec<u8> {
    if !columns.iter().any(|column| column.is_binary) {
        return vec![0, 0];
    }
    if columns.iter().all(|column| column.is_binary) {
        return vec![0, 1, 0, 1];
    }
    let mut formats = Vec::with_capacity(2 + 2 * columns.len());
    formats.extend_from_slice(&(columns.len() as u16).to_be_bytes());
    for column in columns {
        formats.extend_from_slice(&[0, u8::from(column.is_binary)]);
    }
    formats
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postgres::protocol::oid;

    #[test]
    fn a_prepared_execution_is_bind_execute_and_sync() {
        let columns = [Column { type_oid: oid::INT4, is_binary: true }];
        let mut bytes = Vec::new();
        let formats = result_formats(&columns);
        execute(Some(0), &[ParameterType::Int4], &formats, &[Value::Integer(7)], &mut bytes, false);
        sync(&mut bytes);
        let mut expected = vec![b'B', 0, 0, 0, 26, 0, b's', b'0', 0];
        expected.extend([0, 1, 0, 1, 0, 1, 0, 0, 0, 4, 0, 0, 0, 7]); // formats, count, value
        expected.extend([0, 1, 0, 1]); // all columns binary
        expected.extend(b"E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04");
        assert_eq!(bytes, expected);
    }

    #[test]
    fn an_unnamed_execution_parses_first_and_describes_on_request() {
        let mut bytes = Vec::new();
        Execution::unnamed("SELECT 1").append(&[], false, &mut bytes);
        sync(&mut bytes);
        let mut expected = b"P\0\0\0\x10\0SELECT 1\0\0\0".to_vec();
        expected.extend(b"B\0\0\0\x0c\0\0\0\0\0\0\0\0");
        expected.extend(b"D\0\0\0\x06P\0E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04");
        assert_eq!(bytes, expected);
    }

    #[test]
    fn statements_are_named_by_their_numbers() {
        for number in [0, 9, 10, 4_096, usize::MAX] {
            let mut name = Vec::new();
            statement_name(number, &mut name);
            assert_eq!(name, format!("s{number}").into_bytes());
        }
    }

    #[test]
    fn startup_contains_user_and_parameters() {
        let mut bytes = Vec::new();
        startup(2, &[("user", "u"), ("database", "d")], &mut bytes);
        assert_eq!(bytes, b"\0\0\0\x1b\0\x03\0\x02user\0u\0database\0d\0\0");
    }

    #[test]
    fn mixed_formats_are_listed_one_by_one() {
        let text = Column { type_oid: 25, is_binary: false };
        let binary = Column { type_oid: oid::INT4, is_binary: true };
        assert_eq!(result_formats(&[text, binary]), [0, 2, 0, 0, 0, 1]);
        assert_eq!(result_formats(&[text, text]), [0, 0]);
        assert_eq!(result_formats(&[]), [0, 0]);
    }
}
