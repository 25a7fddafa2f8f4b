//! A stored result set: encoded rows, decoded when they are fetched.

use super::text::{Style, write_float, write_hexadecimal};
use dyno_drivers::mysql::protocol::column::{Column as MysqlColumn, kind};
use dyno_drivers::mysql::protocol::cursor::Cursor;
use dyno_drivers::mysql::protocol::row::{Encoding, RowDecoder};
use dyno_drivers::postgres::protocol::backend::{Column as PostgresColumn, Reader};
use dyno_drivers::postgres::protocol::oid;
use dyno_drivers::postgres::protocol::row::DataRow;
use dyno_drivers::{Row, RowSink, Value};
use std::io::Write;

/// Rows of one result, and how far they have been fetched. The memory is reused for the next
/// result.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    bytes: Vec<u8>,
    /// The end of each row in `bytes`.
    ends: Vec<u32>,
    /// Number of columns announced by the driver.
    pub(crate) width: usize,
    next: usize,
    shape: Shape,
    decoder: RowDecoder,
}

/// The encoding of a row.
#[derive(Debug, Default)]
enum Shape {
    /// Of embedded drivers: for each field a tag, then the text's length and the text.
    #[default]
    Written,
    Mysql(Vec<MysqlColumn>, Encoding),
    Postgres(Vec<PostgresColumn>),
}

/// Memory that is kept between results. Small, because every connection of every thread has a
/// result; allocating more takes a microsecond.
const KEPT_BYTES: usize = 4 * 1024;

/// Maximum size of the stored rows: offsets have 32 bits.
const BYTES_MAX: usize = u32::MAX as usize;

impl RowSink for Rows {
    const KEEPS_RAW: bool = true;

    fn begin(&mut self, columns: usize) {
        // Of several results of one text the last is kept.
        self.clear();
        self.width = columns;
    }

    fn row(&mut self, row: &dyn Row) {
        self.width = row.len();
        for column in 0..row.len() {
            match row.get(column) {
                Value::Null => self.bytes.push(0),
                value => {
                    self.bytes.push(1);
                    let at = self.bytes.len();
                    self.bytes.extend([0; 4]);
                    write_value(&value, Style::Sqlite, &mut self.bytes);
                    let length = (self.bytes.len() - at - 4) as u32;
                    self.bytes[at..at + 4].copy_from_slice(&length.to_le_bytes());
                }
            }
        }
        self.end_row();
    }

    fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.end_row();
    }
}

impl Rows {
    fn end_row(&mut self) {
        if self.bytes.len() <= BYTES_MAX {
            self.ends.push(self.bytes.len() as u32);
        }
    }

    /// Removes the rows and releases unusually large memory.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_BYTES);
        self.ends.clear();
        self.ends.shrink_to(KEPT_BYTES / 16);
        self.width = 0;
        self.next = 0;
    }

    /// The rows are encoded by MySQL.
    pub(crate) fn describe_mysql(&mut self, columns: &[MysqlColumn], encoding: Encoding) {
        self.width = columns.len();
        match &mut self.shape {
            Shape::Mysql(known, known_encoding) => {
                known.clear();
                known.extend_from_slice(columns);
                *known_encoding = encoding;
            }
            shape => *shape = Shape::Mysql(columns.to_vec(), encoding),
        }
    }

    /// The rows are encoded by PostgreSQL.
    pub(crate) fn describe_postgres(&mut self, columns: &[PostgresColumn]) {
        self.width = columns.len();
        match &mut self.shape {
            Shape::Postgres(known) => {
                known.clear();
                known.extend_from_slice(columns);
            }
            shape => *shape = Shape::Postgres(columns.to_vec()),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Writes the next row's fields as text to `text`, and their ends (`None` for NULL) to
    /// `fields`. False when there are no more rows. Bytes that do not match their column are
    /// returned as NULL.
    pub(crate) fn fetch(&mut self, text: &mut Vec<u8>, fields: &mut Vec<Option<usize>>) -> bool {
        text.clear();
        fields.clear();
        let Some(end) = self.ends.get(self.next).map(|end| *end as usize) else { return false };
        let start = match self.next {
            0 => 0,
            next => self.ends[next - 1] as usize,
        };
        self.next += 1;
        let bytes = &self.bytes[start..end];
        let decoded = match &self.shape {
            Shape::Written => written(bytes, text, fields),
            Shape::Mysql(_, Encoding::Text) => mysql_text(bytes, text, fields),
            Shape::Mysql(columns, Encoding::Binary) => {
                self.decoder.decode(bytes, columns, Encoding::Binary).ok().map(|row| {
                    for (i, column) in columns.iter().enumerate() {
                        mysql_field(&row.get(i), *column, text, fields);
                    }
                })
            }
            Shape::Postgres(columns) => postgres(bytes, columns, text, fields),
        };
        if decoded.is_none() {
            fields.clear();
        }
        fields.resize(self.width, None);
        true
    }
}

/// Text and its ends.
type Fields = Vec<Option<usize>>;

/// Rows that were written by [`Rows::row`].
fn written(mut bytes: &[u8], text: &mut Vec<u8>, fields: &mut Fields) -> Option<()> {
    while let Some((tag, rest)) = bytes.split_first() {
        bytes = rest;
        if *tag == 0 {
            fields.push(None);
            continue;
        }
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let (field, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        text.extend_from_slice(field);
        fields.push(Some(text.len()));
        bytes = rest;
    }
    Some(())
}

/// MySQL's textual rows: the fields as in MySQL's own client.
fn mysql_text(bytes: &[u8], text: &mut Vec<u8>, fields: &mut Fields) -> Option<()> {
    const NULL: u8 = 0xFB;
    let mut cursor = Cursor::new(bytes);
    let mut at = 0;
    while !cursor.is_empty() {
        if bytes.get(at) == Some(&NULL) {
            cursor.u8().ok()?;
            fields.push(None);
        } else {
            text.extend_from_slice(cursor.length_encoded_bytes().ok()?);
            fields.push(Some(text.len()));
        }
        at = bytes.len() - cursor.left();
    }
    Some(())
}

/// A field of MySQL's binary rows, as the text protocol would send it.
fn mysql_field(value: &Value<'_>, column: MysqlColumn, text: &mut Vec<u8>, fields: &mut Fields) {
    match *value {
        // The text protocol sends as many bytes as the column has; its width is not known here, so
        // leading zero bytes are left out.
        Value::Integer(bits) if column.kind == kind::BIT => {
            let bytes = bits.to_be_bytes();
            let first = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len() - 1);
            text.extend_from_slice(&bytes[first..]);
            fields.push(Some(text.len()));
        }
        Value::Float(number) if column.kind == kind::FLOAT => {
            write_float(number, Style::MysqlSingle, text);
            fields.push(Some(text.len()));
        }
        value => push_value(&value, Style::Mysql, text, fields),
    }
}

fn push_value(value: &Value<'_>, style: Style, text: &mut Vec<u8>, fields: &mut Fields) {
    if *value == Value::Null {
        fields.push(None);
    } else {
        write_value(value, style, text);
        fields.push(Some(text.len()));
    }
}

fn write_value(value: &Value<'_>, style: Style, out: &mut Vec<u8>) {
    match value {
        Value::Null => {}
        Value::Integer(number) => {
            // Writing to a vector cannot fail.
            let _ = write!(out, "{number}");
        }
        Value::Float(number) => write_float(*number, style, out),
        Value::Text(text) => out.extend_from_slice(text.as_bytes()),
        Value::Bytes(bytes) => out.extend_from_slice(bytes),
    }
}

/// PostgreSQL's rows: texts unchanged, binary fields as their texts would be.
fn postgres(
    bytes: &[u8],
    columns: &[PostgresColumn],
    text: &mut Vec<u8>,
    fields: &mut Fields,
) -> Option<()> {
    let mut ranges = Vec::new();
    let row = DataRow::decode(bytes, columns, &mut ranges).ok()?;
    let mut reader = Reader::new(bytes);
    for i in 0..reader.count().ok()? {
        let Ok(length) = usize::try_from(reader.int32().ok()?) else {
            fields.push(None);
            continue;
        };
        let raw = reader.take(length).ok()?;
        match columns.get(i) {
            Some(column) if column.is_binary && column.type_oid == oid::BYTEA => {
                write_hexadecimal(raw, text);
            }
            Some(column) if column.is_binary => write_value(&row.get(i), Style::Postgres, text),
            _ => text.extend_from_slice(raw),
        }
        fields.push(Some(text.len()));
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fetched(rows: &mut Rows) -> Option<Vec<Option<String>>> {
        let (mut text, mut fields) = (Vec::new(), Vec::new());
        if !rows.fetch(&mut text, &mut fields) {
            return None;
        }
        let mut start = 0;
        let mut take = |end: Option<usize>| {
            let end = end?;
            let field = String::from_utf8(text[start..end].to_vec()).expect("tests use UTF-8");
            start = end;
            Some(field)
        };
        Some(fields.into_iter().map(&mut take).collect())
    }

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn rows_of_mysql_are_decoded_when_fetched() {
        let columns = [
            MysqlColumn { kind: kind::LONG, is_unsigned: false, decimals: 0 },
            MysqlColumn { kind: kind::VAR_STRING, is_unsigned: false, decimals: 0 },
        ];
        let mut rows = Rows::default();
        rows.begin(2);
        rows.raw(b"\x0242\xFB".as_slice());
        rows.clear();
        rows.begin(2);
        rows.raw(b"\x0242\x03a\0b");
        rows.raw(b"\xFB\x00");
        rows.describe_mysql(&columns, Encoding::Text);
        assert_eq!((rows.len(), rows.width), (2, 2));
        assert_eq!(fetched(&mut rows), Some(vec![some("42"), some("a\0b")]));
        assert_eq!(fetched(&mut rows), Some(vec![None, some("")]));
        assert_eq!(fetched(&mut rows), None);

        rows.begin(2);
        rows.raw(&[0, 0b1000, 0xFE, 0xFF, 0xFF, 0xFF]);
        // Truncated: a server that does this is broken, and its fields are NULL.
        rows.raw(&[0, 0, 1]);
        rows.describe_mysql(&columns, Encoding::Binary);
        assert_eq!(fetched(&mut rows), Some(vec![some("-2"), None]));
        assert_eq!(fetched(&mut rows), Some(vec![None, None]));
    }

    #[test]
    fn rows_of_postgres_equal_its_texts() {
        let column = |type_oid, is_binary| PostgresColumn { type_oid, is_binary };
        let mut rows = Rows::default();
        let mut body = vec![0, 5];
        for field in [&7_i32.to_be_bytes()[..], &1e15_f64.to_be_bytes(), &[1, 0xFF], b"1.50"] {
            body.extend((field.len() as i32).to_be_bytes());
            body.extend(field);
        }
        body.extend((-1_i32).to_be_bytes());
        rows.raw(&body);
        rows.describe_postgres(&[
            column(oid::INT4, true),
            column(oid::FLOAT8, true),
            column(oid::BYTEA, true),
            column(1700, false),
            column(25, false),
        ]);
        let expected = vec![some("7"), some("1e+15"), some("\\x01ff"), some("1.50"), None];
        assert_eq!(fetched(&mut rows), Some(expected));
    }

    #[test]
    fn last_of_several_results_is_kept() {
        struct One;
        impl Row for One {
            fn len(&self) -> usize {
                2
            }
            fn get(&self, column: usize) -> Value<'_> {
                [Value::Float(1.0), Value::Null][column]
            }
        }
        let mut rows = Rows::default();
        rows.begin(1);
        rows.raw(b"x");
        rows.begin(2);
        rows.row(&One);
        assert_eq!(fetched(&mut rows), Some(vec![some("1.0"), None]));
    }
}
