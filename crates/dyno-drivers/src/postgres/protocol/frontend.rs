//! Encoding what clients send. Every function appends one message, or the messages of one round trip, to a buffer.

use super::backend::Column;
use super::parameter::{self, ParameterType};
use crate::value::Value;

/// Appends a message with its length. `fill` appends the body; what it returns is returned.
pub(crate) fn message<R>(tag: u8, bytes: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>) -> R) -> R {
    bytes.push(tag);
    sized(bytes, fill)
}

/// Appends a length and what it counts (itself included).
fn sized<R>(bytes: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>) -> R) -> R {
    let start = bytes.len();
    bytes.extend_from_slice(&[0; 4]);
    let result = fill(bytes);
    // The connection refuses to send more than 1 GiB, so this never wraps in what is sent.
    let length = (bytes.len() - start) as u32;
    bytes[start..start + 4].copy_from_slice(&length.to_be_bytes());
    result
}

/// Appends a text and the zero byte that ends it.
pub(crate) fn text(text: &[u8], bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(text);
    bytes.push(0);
}

/// Asks for encryption; the answer is the single byte `S` or `N`.
pub fn tls_request(bytes: &mut Vec<u8>) {
    sized(bytes, |bytes| bytes.extend_from_slice(&80_877_103_u32.to_be_bytes()));
}

/// Opens the session: protocol 3.0 and run-time parameters (`user` is required).
pub fn startup(parameters: &[(&str, &str)], bytes: &mut Vec<u8>) {
    sized(bytes, |bytes| {
        bytes.extend_from_slice(&196_608_u32.to_be_bytes());
        for (name, value) in parameters {
            text(name.as_bytes(), bytes);
            text(value.as_bytes(), bytes);
        }
        bytes.push(0);
    });
}

/// A password, as it is or hashed.
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

/// A simple query whose text `fill` appends; it must not have a zero byte.
pub fn query<R>(bytes: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>) -> R) -> R {
    message(b'Q', bytes, |bytes| {
        let result = fill(bytes);
        bytes.push(0);
        result
    })
}

/// Parse, with the types of all parameters left to the server.
pub fn parse(name: &str, sql: &str, bytes: &mut Vec<u8>) {
    message(b'P', bytes, |bytes| {
        text(name.as_bytes(), bytes);
        text(sql.as_bytes(), bytes);
        bytes.extend_from_slice(&[0; 2]);
    });
}

/// Asks for the parameters and columns of a prepared statement.
pub fn describe_statement(name: &str, bytes: &mut Vec<u8>) {
    message(b'D', bytes, |bytes| {
        bytes.push(b'S');
        text(name.as_bytes(), bytes);
    });
}

/// Asks the server to send what it has, without ending the round trip.
pub fn flush(bytes: &mut Vec<u8>) {
    message(b'H', bytes, |_| {});
}

/// Ends a round trip of the extended protocol: the server answers everything and says ReadyForQuery.
pub fn sync(bytes: &mut Vec<u8>) {
    message(b'S', bytes, |_| {});
}

/// Good-bye.
pub fn terminate(bytes: &mut Vec<u8>) {
    message(b'X', bytes, |_| {});
}

/// The end of a bulk load.
pub fn copy_done(bytes: &mut Vec<u8>) {
    message(b'c', bytes, |_| {});
}

/// Gives a bulk load up; the server answers with an error that quotes the reason.
pub fn copy_fail(reason: &str, bytes: &mut Vec<u8>) {
    message(b'f', bytes, |bytes| text(reason.as_bytes(), bytes));
}

/// What of one execution is the same every time: the statement's name before the values and the result formats after
/// them. Made once, so that an execution only copies it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    /// Messages before Bind: none, or Parse where statements are parsed anew each time.
    before: Vec<u8>,
    /// Bind's portal and statement names.
    names: Vec<u8>,
    /// Bind's result formats.
    formats: Vec<u8>,
    /// True when the columns are asked for at each execution.
    describes: bool,
}

impl Execution {
    /// Executes a statement that the server knows by a name. `columns` say in which formats its rows are wanted.
    #[must_use]
    pub fn prepared(name: &str, columns: &[Column]) -> Self {
        let mut names = vec![0];
        text(name.as_bytes(), &mut names);
        Self { before: Vec::new(), names, formats: result_formats(columns), describes: false }.shrunk()
    }

    /// Parses and executes a statement without a name; rows come as text. `describes` asks for the columns too.
    #[must_use]
    pub fn unnamed(sql: &str, describes: bool) -> Self {
        let mut before = Vec::new();
        parse("", sql, &mut before);
        Self { before, names: vec![0, 0], formats: result_formats(&[]), describes }.shrunk()
    }

    /// Gives spare room back: it lives as long as its connection, and there may be thousands.
    fn shrunk(mut self) -> Self {
        for part in [&mut self.before, &mut self.names, &mut self.formats] {
            part.shrink_to_fit();
        }
        self
    }

    /// Appends all messages of one execution but the Sync that ends a round trip. `is_described` asks for the columns, whatever
    /// the execution does by itself.
    pub fn append(
        &self,
        types: &[ParameterType],
        values: &[Value<'_>],
        is_described: bool,
        bytes: &mut Vec<u8>,
    ) {
        bytes.extend_from_slice(&self.before);
        message(b'B', bytes, |bytes| {
            bytes.extend_from_slice(&self.names);
            parameter::append(types, values, bytes);
            bytes.extend_from_slice(&self.formats);
        });
        if self.describes || is_described {
            bytes.extend_from_slice(b"D\0\0\0\x06P\0");
        }
        // The unnamed portal, without a limit of rows.
        bytes.extend_from_slice(b"E\0\0\0\x09\0\0\0\0\0");
    }

    /// From now on the columns are known and not asked for any more.
    pub fn stop_describing(&mut self) {
        self.describes = false;
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.before.capacity() + self.names.capacity() + self.formats.capacity()
    }
}

/// The formats of the columns; none at all when every one is text, a single one when every one is binary.
fn result_formats(columns: &[Column]) -> Vec<u8> {
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
        let execution = Execution::prepared("s0", &columns);
        let mut bytes = Vec::new();
        execution.append(&[ParameterType::Int4], &[Value::Integer(7)], false, &mut bytes);
        sync(&mut bytes);
        let mut expected = vec![b'B', 0, 0, 0, 26, 0, b's', b'0', 0];
        expected.extend([0, 1, 0, 1, 0, 1, 0, 0, 0, 4, 0, 0, 0, 7]); // formats, count, value
        expected.extend([0, 1, 0, 1]); // all columns binary
        expected.extend(b"E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04");
        assert_eq!(bytes, expected);
    }

    #[test]
    fn an_unnamed_execution_parses_first_and_describes_when_asked() {
        let mut bytes = Vec::new();
        Execution::unnamed("SELECT 1", true).append(&[], &[], false, &mut bytes);
        sync(&mut bytes);
        let mut expected = b"P\0\0\0\x10\0SELECT 1\0\0\0".to_vec();
        expected.extend(b"B\0\0\0\x0c\0\0\0\0\0\0\0\0");
        expected.extend(b"D\0\0\0\x06P\0E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04");
        assert_eq!(bytes, expected);
    }

    #[test]
    fn startup_names_user_and_parameters() {
        let mut bytes = Vec::new();
        startup(&[("user", "u"), ("database", "d")], &mut bytes);
        assert_eq!(bytes, b"\0\0\0\x1b\0\x03\0\0user\0u\0database\0d\0\0");
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
