//! Parameters, rows and row sinks.

use dyno_model::failure::{FailureKind, OperationFailure};
use std::str::FromStr;

/// A value, sent as a parameter or received as a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// SQL NULL.
    Null,
    /// Any integer type.
    Integer(i64),
    /// Floating point.
    Float(f64),
    /// Characters (also numbers and dates that are sent as text).
    Text(&'a str),
    /// Bytes that are not valid UTF-8.
    Bytes(&'a [u8]),
}

impl Value<'_> {
    /// The value as an integer, parsed if it is text.
    #[must_use]
    pub fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Integer(value) => Some(*value),
            Self::Text(text) => text.trim().parse().ok(),
            Self::Float(value) if value.fract() == 0.0 && value.abs() < 9e15 => Some(*value as i64),
            _ => None,
        }
    }

    /// The value as text, as SQL clients show it; `None` for NULL.
    #[must_use]
    pub fn to_text(&self) -> Option<String> {
        match self {
            Self::Null => None,
            Self::Integer(value) => Some(value.to_string()),
            Self::Float(value) => Some(value.to_string()),
            Self::Text(text) => Some((*text).to_owned()),
            Self::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        }
    }
}

/// A row in the receive buffer; fields are decoded on access.
pub trait Row {
    /// Number of columns.
    fn len(&self) -> usize;

    /// True for a row without columns (PostgreSQL has them).
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The field of a column, from 0; NULL beyond the last column.
    fn get(&self, column: usize) -> Value<'_>;
}

/// Receives the rows of a result set.
pub trait RowSink {
    /// True when rows are not read: the driver then only finds the end of the result.
    const DISCARDS: bool = false;

    /// True when rows are kept in their encoded form and decoded later. Server drivers then pass a
    /// row's bytes to [`Self::raw`]; others only use [`Self::row`].
    const KEEPS_RAW: bool = false;

    /// True when column names are needed, which may cost bytes in the protocol. MySQL sends them
    /// only for texts.
    const WANTS_NAMES: bool = false;

    /// A result set with this number of columns begins. Not called for prepared statements of
    /// PostgreSQL.
    fn begin(&mut self, _columns: usize) {}

    /// The name of a column (from 0) of the current result set, if names are needed.
    fn name(&mut self, _column: usize, _name: &str) {}

    /// Processes one row.
    fn row(&mut self, row: &dyn Row);

    /// True when there are too many rows: the driver then fails with [`too_many_rows`] before it
    /// waits for more, and the connection is lost.
    fn is_full(&self) -> bool {
        false
    }

    /// The encoded bytes of one row, described by `columns` of the MySQL or PostgreSQL connection.
    fn raw(&mut self, _bytes: &[u8]) {}
}

/// Counts rows and discards them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Discard;

impl RowSink for Discard {
    const DISCARDS: bool = true;

    fn row(&mut self, _row: &dyn Row) {}
}

/// Keeps the first column of the first row, if it is an integer.
#[derive(Debug, Clone, Copy, Default)]
pub struct FirstInteger(pub Option<i64>);

impl RowSink for FirstInteger {
    fn row(&mut self, row: &dyn Row) {
        if self.0.is_none() {
            self.0 = row.get(0).as_integer();
        }
    }
}

/// Keeps all rows as text, up to a limit; for catalogues, counters and audits, not for the hot
/// path.
#[derive(Debug, Clone, Default)]
pub struct Table(pub Vec<Vec<Option<String>>>, usize);

/// Maximum size of the rows of a [`Table`] in bytes. Lists of tables, settings and sessions have a
/// few million.
const TABLE_MAX: usize = 64 << 20;

/// The error of an unexpectedly large answer. It is neither an error of the server nor a reason to
/// reconnect.
#[cold]
pub(crate) fn too_many_rows() -> OperationFailure {
    let size = TABLE_MAX >> 20;
    FailureKind::BadStatement
        .failure(format!("its answer has more than {size} MiB of rows; the rest was not read"))
}

impl Table {
    /// The first field of the first row.
    #[must_use]
    pub fn first(&self) -> Option<&str> {
        self.0.first()?.first()?.as_deref()
    }

    /// A field of the first row; 0 for NULL, as returned by `SUM` of no rows.
    #[must_use]
    pub fn number<N: FromStr + Default>(&self, column: usize) -> N {
        let text = self.0.first().and_then(|row| row.get(column)?.as_deref());
        text.and_then(|text| text.parse().ok()).unwrap_or_default()
    }
}

impl RowSink for Table {
    fn row(&mut self, row: &dyn Row) {
        let fields: Vec<_> = (0..row.len()).map(|column| row.get(column).to_text()).collect();
        self.1 += size_of_val(&*fields) + size_of_val(&fields);
        self.1 += fields.iter().flatten().map(String::len).sum::<usize>();
        self.0.push(fields);
    }

    fn is_full(&self) -> bool {
        self.1 > TABLE_MAX
    }
}

/// The destination of a bulk load.
#[derive(Debug, Clone, Copy)]
pub struct BulkLoad<'a> {
    /// Table, unquoted.
    pub table: &'a str,
    /// Columns in the order of the fields.
    pub columns: &'a [&'a str],
}

/// Generates the rows of a bulk load, one at a time.
pub trait RowSource {
    /// Writes the fields of the next row in column order; false when there are no more rows.
    fn next(&mut self, row: &mut dyn RowWriter) -> bool;
}

/// Receives the fields of one row of a bulk load.
pub trait RowWriter {
    /// An integer field.
    fn integer(&mut self, value: i64);
    /// A text field.
    fn text(&mut self, value: &str);
    /// A NULL field.
    fn null(&mut self);
}

/// Appends an integer in decimal. Several times faster than formatting, which matters for bulk
/// loads.
#[inline]
pub fn append_integer(number: i64, text: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut rest = number.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        text.push(b'-');
    }
    text.extend_from_slice(&digits[at..]);
}
