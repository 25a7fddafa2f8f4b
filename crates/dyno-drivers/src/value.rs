//! Parameters, rows, and what becomes of them.

use dyno_model::failure::{FailureKind, OperationFailure};
use std::str::FromStr;

/// One value, going out as a parameter or coming in as a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// SQL NULL.
    Null,
    /// Any integer type.
    Integer(i64),
    /// Floating point.
    Float(f64),
    /// Characters (also numbers and dates that arrive as text).
    Text(&'a str),
    /// Bytes that are not valid UTF-8.
    Bytes(&'a [u8]),
}

impl Value<'_> {
    /// The integer in it, also when it came as text.
    #[must_use]
    pub fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Integer(value) => Some(*value),
            Self::Text(text) => text.trim().parse().ok(),
            Self::Float(value) if value.fract() == 0.0 && value.abs() < 9e15 => Some(*value as i64),
            _ => None,
        }
    }

    /// As text, the way SQL clients show it; `None` for NULL.
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

/// A row as it lies in the receive buffer; fields are decoded when asked for.
pub trait Row {
    /// Number of columns.
    fn len(&self) -> usize;

    /// True for a row without columns (PostgreSQL has them).
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The field of a column, from 0. NULL beyond the last column.
    fn get(&self, column: usize) -> Value<'_>;
}

/// What becomes of the rows of a result set.
pub trait RowSink {
    /// True when rows need not be looked at: the driver then only finds the end of the result.
    const DISCARDS: bool = false;

    /// True when rows are kept as they travelled, to be decoded later if ever. Drivers of servers
    /// then hand over a row's bytes undecoded by [`Self::raw`]; the others know only [`Self::row`].
    const KEEPS_RAW: bool = false;

    /// True when the names of the columns are wanted; it may cost bytes on the wire. MySQL tells
    /// them for texts only.
    const WANTS_NAMES: bool = false;

    /// A result set of that many columns begins. Prepared statements of PostgreSQL do not say so.
    fn begin(&mut self, _columns: usize) {}

    /// The name of a column (from 0) of the result set that has begun, when names are wanted.
    fn name(&mut self, _column: usize, _name: &str) {}

    /// Takes one row.
    fn row(&mut self, row: &dyn Row);

    /// True when it has more rows than anybody needs: the driver fails with [`too_many_rows`]
    /// before it waits for more of them, and the connection is lost.
    fn is_full(&self) -> bool {
        false
    }

    /// Takes the bytes of one row, which `columns` of the MySQL or PostgreSQL connection explains.
    fn raw(&mut self, _bytes: &[u8]) {}
}

/// Rows are counted and thrown away.
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

/// Keeps everything as text, up to a limit; for catalogues, counters and audits, not for the hot
/// path.
#[derive(Debug, Clone, Default)]
pub struct Table(pub Vec<Vec<Option<String>>>, usize);

/// Most memory for the rows of a [`Table`], bytes. Lists of tables, settings and sessions have a
/// few million.
const TABLE_MAX: usize = 64 << 20;

/// An answer that is larger than any that was expected. Not the server's fault, nor a reason to
/// connect anew.
#[cold]
pub(crate) fn too_many_rows() -> OperationFailure {
    let size = TABLE_MAX >> 20;
    FailureKind::BadStatement
        .failure(format!("its answer has more than {size} MiB of rows; no more of it was read"))
}

impl Table {
    /// The first field of the first row.
    #[must_use]
    pub fn first(&self) -> Option<&str> {
        self.0.first()?.first()?.as_deref()
    }

    /// A field of the first row; 0 for NULL, as `SUM` of nothing gives.
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

/// Which table a bulk load fills.
#[derive(Debug, Clone, Copy)]
pub struct BulkLoad<'a> {
    /// Table, unquoted.
    pub table: &'a str,
    /// Columns in the order rows are written.
    pub columns: &'a [&'a str],
}

/// Makes the rows of a bulk load, one at a time.
pub trait RowSource {
    /// Writes the next row's fields in column order; false when there is none left.
    fn next(&mut self, row: &mut dyn RowWriter) -> bool;
}

/// Takes the fields of one row of a bulk load.
pub trait RowWriter {
    /// An integer field.
    fn integer(&mut self, value: i64);
    /// A text field.
    fn text(&mut self, value: &str);
    /// A NULL field.
    fn null(&mut self);
}

/// Appends an integer in decimal. Several times as fast as formatting, which matters for bulk
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
