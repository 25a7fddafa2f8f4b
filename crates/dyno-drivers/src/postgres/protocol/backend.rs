//! Decodes messages of the server. Every function takes the body of one message, and fails when it
//! is truncated.

use super::{Malformed, oid};
use crate::postgres::error::Fault;
use std::borrow::Cow;

/// Reads a body from start to end. Every method fails when fewer bytes are left than it needs.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Starts at the front of a body.
    #[must_use]
    pub fn new(body: &'a [u8]) -> Self {
        Self(body)
    }

    /// The next bytes.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        match self.0.split_at_checked(count) {
            Some((taken, rest)) => {
                self.0 = rest;
                Ok(taken)
            }
            None => Err(Malformed {
                what: "a truncated message, missing bytes:",
                value: i64::try_from(count - self.0.len()).unwrap_or(i64::MAX),
            }),
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    /// The next byte.
    pub fn byte(&mut self) -> Result<u8, Malformed> {
        Ok(self.array::<1>()?[0])
    }

    /// A 16-bit number.
    pub fn int16(&mut self) -> Result<i16, Malformed> {
        Ok(i16::from_be_bytes(self.array()?))
    }

    /// A 32-bit number.
    pub fn int32(&mut self) -> Result<i32, Malformed> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    /// A 16-bit count; negative counts are invalid.
    pub fn count(&mut self) -> Result<usize, Malformed> {
        let count = self.int16()?;
        usize::try_from(count).map_err(|_| Malformed { what: "a count of", value: count.into() })
    }

    /// A text with its terminating zero byte, which is removed.
    pub fn text(&mut self) -> Result<&'a [u8], Malformed> {
        match self.0.iter().position(|byte| *byte == 0) {
            Some(at) => {
                let text = &self.0[..at];
                self.0 = &self.0[at + 1..];
                Ok(text)
            }
            None => Err(Malformed {
                what: "a string without terminator, bytes:",
                value: i64::try_from(self.0.len()).unwrap_or(i64::MAX),
            }),
        }
    }

    /// The remaining bytes.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.0
    }
}

/// Decodes ErrorResponse and NoticeResponse.
pub fn fault(body: &[u8]) -> Result<Fault<'_>, Malformed> {
    let mut reader = Reader::new(body);
    let mut fault = Fault::default();
    loop {
        let field = reader.byte()?;
        if field == 0 {
            return Ok(fault);
        }
        let text = reader.text()?;
        match field {
            // Before 9.6 there was only the translated `S`.
            b'V' | b'S' => fault.is_fatal |= matches!(text, b"FATAL" | b"PANIC"),
            b'C' => fault.sqlstate = String::from_utf8_lossy(text),
            b'M' => fault.message = String::from_utf8_lossy(text),
            b'D' => fault.detail = String::from_utf8_lossy(text),
            b'R' => fault.routine = String::from_utf8_lossy(text),
            b'P' => fault.position = String::from_utf8_lossy(text).parse().unwrap_or_default(),
            _ => {}
        }
    }
}

/// An authentication request of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authentication<'a> {
    /// Nothing more: logged in.
    Ok,
    /// Requests the clear-text password.
    Cleartext,
    /// Requests the password hashed with this salt.
    Md5([u8; 4]),
    /// Offers these mechanisms, each terminated by a zero byte.
    Sasl(&'a [u8]),
    /// The mechanism's next message.
    SaslContinue(&'a [u8]),
    /// The mechanism's last message.
    SaslFinal(&'a [u8]),
    /// A method that is not supported: Kerberos, GSSAPI, SSPI.
    Other(i32),
}

/// Decodes the Authentication messages.
pub fn authentication(body: &[u8]) -> Result<Authentication<'_>, Malformed> {
    let mut reader = Reader::new(body);
    Ok(match reader.int32()? {
        0 => Authentication::Ok,
        3 => Authentication::Cleartext,
        5 => Authentication::Md5(reader.array()?),
        10 => Authentication::Sasl(reader.rest()),
        11 => Authentication::SaslContinue(reader.rest()),
        12 => Authentication::SaslFinal(reader.rest()),
        other => Authentication::Other(other),
    })
}

/// Decodes ParameterStatus: name and value.
pub fn parameter_status(body: &[u8]) -> Result<(Cow<'_, str>, Cow<'_, str>), Malformed> {
    let mut reader = Reader::new(body);
    Ok((String::from_utf8_lossy(reader.text()?), String::from_utf8_lossy(reader.text()?)))
}

/// Decodes BackendKeyData: the process id of the session. The key, whose length depends on the
/// version, is not needed.
pub fn backend_process(body: &[u8]) -> Result<u32, Malformed> {
    Ok(Reader::new(body).int32()?.cast_unsigned())
}

/// State of the session's transaction, from ReadyForQuery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TransactionStatus {
    /// No transaction is open.
    #[default]
    Idle,
    /// A transaction is open.
    Open,
    /// A failed transaction is open: everything but ROLLBACK is rejected.
    Failed,
}

/// Decodes ReadyForQuery; any other status is malformed.
pub fn ready_for_query(body: &[u8]) -> Result<TransactionStatus, Malformed> {
    match Reader::new(body).byte()? {
        b'I' => Ok(TransactionStatus::Idle),
        b'T' => Ok(TransactionStatus::Open),
        b'E' => Ok(TransactionStatus::Failed),
        other => Err(Malformed { what: "a transaction status of", value: other.into() }),
    }
}

/// One column of a result set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its type ([`oid`]).
    pub type_oid: u32,
    /// Format of its fields.
    pub is_binary: bool,
}

impl Column {
    /// The column in the format that dyno requests: binary where that is shorter and needs no
    /// parsing on either side (integers, double precision, bytea), otherwise text. `real` is text,
    /// because widening its binary value would show digits that were not stored.
    #[must_use]
    pub fn as_requested(self) -> Self {
        let is_binary = matches!(
            self.type_oid,
            oid::INT2 | oid::INT4 | oid::INT8 | oid::OID | oid::FLOAT8 | oid::BYTEA
        );
        Self { is_binary, ..self }
    }
}

/// Decodes RowDescription into `columns`, replacing their content.
pub fn row_description(body: &[u8], columns: &mut Vec<Column>) -> Result<(), Malformed> {
    let mut reader = Reader::new(body);
    columns.clear();
    for _ in 0..reader.count()? {
        reader.text()?; // name
        reader.take(6)?; // table and attribute number
        let type_oid = reader.int32()?.cast_unsigned();
        reader.take(6)?; // size and modifier of the type
        let is_binary = reader.int16()? == 1;
        columns.push(Column { type_oid, is_binary });
    }
    Ok(())
}

/// Calls `tell` with the names of the columns of RowDescription, in order.
pub fn column_names(body: &[u8], mut tell: impl FnMut(usize, &str)) -> Result<(), Malformed> {
    let mut reader = Reader::new(body);
    for column in 0..reader.count()? {
        tell(column, &String::from_utf8_lossy(reader.text()?));
        reader.take(18)?; // all other properties
    }
    Ok(())
}

/// Decodes ParameterDescription into `types`, replacing their content.
pub fn parameter_description(body: &[u8], types: &mut Vec<u32>) -> Result<(), Malformed> {
    let mut reader = Reader::new(body);
    types.clear();
    // Up to 65535, unlike every other count.
    for _ in 0..reader.int16()?.cast_unsigned() {
        types.push(reader.int32()?.cast_unsigned());
    }
    Ok(())
}

/// The number of changed rows in a CommandComplete: of `INSERT 0 5`, `UPDATE 5`, `DELETE 5`, `MERGE
/// 5` and `COPY 5`, and of `SELECT 5` when no rows were sent, because they were stored in a new
/// table (`CREATE TABLE ... AS`). 0 for all others.
#[must_use]
pub fn affected(body: &[u8], returns_rows: bool) -> u64 {
    let tag = body.strip_suffix(b"\0").unwrap_or(body);
    let changes = [&b"UPDATE "[..], b"INSERT ", b"DELETE ", b"COPY ", b"MERGE "]
        .iter()
        .any(|verb| tag.starts_with(verb))
        || (!returns_rows && tag.starts_with(b"SELECT "));
    if !changes {
        return 0;
    }
    let digits = tag.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
    digits
        .iter()
        .try_fold(0_u64, |number, digit| match digit {
            b'0'..=b'9' => number.checked_mul(10)?.checked_add(u64::from(digit - b'0')),
            _ => None,
        })
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn command_tags_contain_the_changed_rows() {
        let cases: [(&[u8], u64); 12] = [
            (b"INSERT 0 5\0", 5), // the 0 was once the row's oid
            (b"UPDATE 12\0", 12),
            (b"DELETE 0\0", 0),
            (b"MERGE 7\0", 7),
            (b"COPY 250000\0", 250_000),
            (b"SELECT 9\0", 0), // read, not changed
            (b"FETCH 9\0", 0),
            (b"BEGIN\0", 0),
            (b"CREATE TABLE\0", 0),
            (b"UPDATE 99999999999999999999999\0", 0), // beyond 64 bits
            (b"UPDATE x\0", 0),
            (b"", 0),
        ];
        for (tag, rows) in cases {
            assert_eq!(affected(tag, true), rows, "{}", String::from_utf8_lossy(tag));
        }
        assert_eq!(affected(b"SELECT 5\0", false), 5, "CREATE TABLE ... AS SELECT sends no rows");
    }

    #[test]
    fn a_fault_is_fatal_in_every_language() {
        let body =
            b"SFATAL\0VFATAL\0C57P01\0Mterminating connection\0Ddetail\0Fpostgres.c\0RProcessInterrupts\0\0";
        let fault = fault(body).unwrap();
        assert!(fault.is_fatal);
        assert_eq!(
            (&*fault.sqlstate, &*fault.message, &*fault.detail, &*fault.routine),
            ("57P01", "terminating connection", "detail", "ProcessInterrupts")
        );
        let translated =
            super::fault(b"SFEHLER\0VERROR\0C23505\0Mdoppelter Schl\xc3\xbcssel\0\0").unwrap();
        assert!(!translated.is_fatal);
        assert!(super::fault("S致命\0VFATAL\0C57P01\0Mx\0\0".as_bytes()).unwrap().is_fatal);
    }

    #[test]
    fn truncated_bodies_are_malformed_and_do_not_panic() {
        let body = b"SFATAL\0C57P01\0Mterminating connection\0\0";
        for length in 0..body.len() {
            assert!(fault(&body[..length]).is_err(), "{length}");
        }
        let description = b"\0\x01c\0\0\0\0\x01\0\x02\0\0\0\x17\0\x04\xff\xff\xff\xff\0\0";
        let mut columns = Vec::new();
        row_description(description, &mut columns).unwrap();
        assert_eq!(columns, [Column { type_oid: oid::INT4, is_binary: false }]);
        for length in 0..description.len() {
            assert!(row_description(&description[..length], &mut columns).is_err(), "{length}");
        }
    }

    proptest! {
        #[test]
        fn random_bodies_never_panic(body in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = fault(&body);
            let _ = authentication(&body);
            let _ = parameter_status(&body);
            let _ = backend_process(&body);
            let _ = ready_for_query(&body);
            let _ = row_description(&body, &mut Vec::new());
            let _ = parameter_description(&body, &mut Vec::new());
            let _ = affected(&body, false);
        }
    }
}
