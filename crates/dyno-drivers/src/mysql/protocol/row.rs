//! Decodes rows of result sets, textual and binary, to the same values.

use super::column::{Column, kind};
use super::cursor::Cursor;
use super::{Malformed, Result};
use crate::value::{Row, Value};
use std::fmt::Write;

/// Encoding of rows: text after `COM_QUERY`, binary after `COM_STMT_EXECUTE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Every field is a string.
    Text,
    /// Fields depend on their types.
    Binary,
}

/// A field: a decoded value, or the position of its text.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Field {
    Null,
    Integer(i64),
    Float(f64),
    /// In the payload.
    Received(usize, usize),
    /// In the scratch buffer: dates and times, and integers beyond 63 bits.
    Written(usize, usize),
}

/// Space for one decoded row, reused for all rows.
#[derive(Debug, Default)]
pub struct RowDecoder {
    fields: Vec<Field>,
    written: String,
}

/// A decoded row; its strings are still in the receive buffer.
#[derive(Debug)]
pub struct DecodedRow<'a> {
    payload: &'a [u8],
    decoder: &'a RowDecoder,
}

impl Row for DecodedRow<'_> {
    fn len(&self) -> usize {
        self.decoder.fields.len()
    }

    fn get(&self, column: usize) -> Value<'_> {
        match self.decoder.fields.get(column) {
            None | Some(Field::Null) => Value::Null,
            Some(Field::Integer(value)) => Value::Integer(*value),
            Some(Field::Float(value)) => Value::Float(*value),
            Some(Field::Written(start, end)) => Value::Text(&self.decoder.written[*start..*end]),
            Some(Field::Received(start, end)) => {
                let bytes = &self.payload[*start..*end];
                std::str::from_utf8(bytes).map_or(Value::Bytes(bytes), Value::Text)
            }
        }
    }
}

impl RowDecoder {
    /// Decodes one row.
    ///
    /// # Errors
    /// When fields are truncated, or something follows the last one.
    pub fn decode<'a>(
        &'a mut self,
        payload: &'a [u8],
        columns: &[Column],
        encoding: Encoding,
    ) -> Result<DecodedRow<'a>> {
        self.fields.clear();
        self.written.clear();
        match encoding {
            Encoding::Text => self.decode_text(payload, columns)?,
            Encoding::Binary => self.decode_binary(payload, columns)?,
        }
        Ok(DecodedRow { payload, decoder: self })
    }

    fn decode_text(&mut self, payload: &[u8], columns: &[Column]) -> Result<()> {
        let mut rest = Offset::new(payload);
        for column in columns {
            let field = if payload.get(rest.offset()) == Some(&0xFB) {
                rest.cursor.u8()?;
                Field::Null
            } else {
                let (start, end) = rest.string()?;
                self.text_field(&payload[start..end], start, *column)
            };
            self.fields.push(field);
        }
        rest.finish()
    }

    /// Numbers are decoded as in binary rows, so that callers need not know the encoding.
    fn text_field(&mut self, bytes: &[u8], start: usize, column: Column) -> Field {
        let as_received = Field::Received(start, start + bytes.len());
        let number = || std::str::from_utf8(bytes).ok();
        if column.is_integer() {
            number().and_then(|text| text.parse().ok()).map_or(as_received, Field::Integer)
        } else if matches!(column.kind, kind::FLOAT | kind::DOUBLE) {
            number().and_then(|text| text.parse().ok()).map_or(as_received, Field::Float)
        } else if column.kind == kind::BIT {
            self.bits(bytes).unwrap_or(as_received)
        } else {
            as_received
        }
    }

    fn decode_binary(&mut self, payload: &[u8], columns: &[Column]) -> Result<()> {
        let mut rest = Offset::new(payload);
        let first = rest.cursor.u8()?;
        if first != 0 {
            return Err(Malformed::new(format!("a binary row begins with {first:#04x}")));
        }
        // The first two bits of the bitmap are unused.
        let nulls = rest.cursor.bytes((columns.len() + 2).div_ceil(8))?;
        for (i, column) in columns.iter().enumerate() {
            let bit = i + 2;
            let field = if nulls[bit / 8] & (1 << (bit % 8)) != 0 {
                Field::Null
            } else {
                self.binary_field(&mut rest, payload, *column)?
            };
            self.fields.push(field);
        }
        rest.finish()
    }

    fn binary_field(
        &mut self,
        rest: &mut Offset<'_>,
        payload: &[u8],
        column: Column,
    ) -> Result<Field> {
        let cursor = &mut rest.cursor;
        Ok(match (column.kind, column.is_unsigned) {
            (kind::TINY, false) => Field::Integer((cursor.u8()? as i8).into()),
            (kind::TINY, true) => Field::Integer(cursor.u8()?.into()),
            (kind::SHORT, false) => Field::Integer((cursor.u16()? as i16).into()),
            (kind::SHORT, true) | (kind::YEAR, _) => Field::Integer(cursor.u16()?.into()),
            (kind::LONG | kind::INT24, false) => Field::Integer((cursor.u32()? as i32).into()),
            (kind::LONG | kind::INT24, true) => Field::Integer(cursor.u32()?.into()),
            (kind::LONG_LONG, false) => Field::Integer(cursor.u64()? as i64),
            (kind::LONG_LONG, true) => {
                let value = cursor.u64()?;
                self.unsigned(value)
            }
            (kind::FLOAT, _) => {
                // As in the text protocol: 1.1, not 1.10000002384.
                let value = f32::from_bits(cursor.u32()?);
                Field::Float(value.to_string().parse().unwrap_or_else(|_| value.into()))
            }
            (kind::DOUBLE, _) => Field::Float(f64::from_bits(cursor.u64()?)),
            (kind::DATE | kind::NEW_DATE, _) => self.date(cursor)?,
            (kind::DATETIME | kind::TIMESTAMP | kind::DATETIME2 | kind::TIMESTAMP2, _) => {
                self.date_time(cursor, column.decimals)?
            }
            (kind::TIME | kind::TIME2, _) => self.time(cursor, column.decimals)?,
            (kind::NULL, _) => Field::Null,
            (kind, _) => {
                let (start, end) = rest.string()?;
                let bits = if kind == kind::BIT { self.bits(&payload[start..end]) } else { None };
                bits.unwrap_or(Field::Received(start, end))
            }
        })
    }

    fn unsigned(&mut self, value: u64) -> Field {
        i64::try_from(value).map_or_else(|_| self.write(format_args!("{value}")), Field::Integer)
    }

    /// BIT(n) is a big-endian integer of at most 64 bits.
    fn bits(&mut self, bytes: &[u8]) -> Option<Field> {
        let value = (bytes.len() <= 8)
            .then(|| bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))?;
        Some(self.unsigned(value))
    }

    fn write(&mut self, text: std::fmt::Arguments<'_>) -> Field {
        let start = self.written.len();
        let _ = self.written.write_fmt(text);
        Field::Written(start, self.written.len())
    }

    fn date(&mut self, cursor: &mut Cursor<'_>) -> Result<Field> {
        let Moment { year, month, day, .. } = Moment::decode(cursor)?;
        Ok(self.write(format_args!("{year:04}-{month:02}-{day:02}")))
    }

    fn date_time(&mut self, cursor: &mut Cursor<'_>, decimals: u8) -> Result<Field> {
        let Moment { year, month, day, hour, minute, second, microsecond } =
            Moment::decode(cursor)?;
        let start = self.written.len();
        self.write(format_args!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"));
        self.write_fraction(microsecond, decimals);
        Ok(Field::Written(start, self.written.len()))
    }

    fn time(&mut self, cursor: &mut Cursor<'_>, decimals: u8) -> Result<Field> {
        let mut time = Cursor::new(sized(cursor, &[0, 8, 12], "time")?);
        let (mut is_negative, mut days, mut clock, mut microsecond) = (false, 0, [0; 3], 0);
        if !time.is_empty() {
            is_negative = time.u8()? != 0;
            days = time.u32()?;
            clock = [time.u8()?, time.u8()?, time.u8()?];
            if !time.is_empty() {
                microsecond = time.u32()?;
            }
        }
        let sign = if is_negative { "-" } else { "" };
        let [hour, minute, second] = clock;
        let hours = u64::from(days) * 24 + u64::from(hour);
        let start = self.written.len();
        self.write(format_args!("{sign}{hours:02}:{minute:02}:{second:02}"));
        self.write_fraction(microsecond, decimals);
        Ok(Field::Written(start, self.written.len()))
    }

    /// As many digits as the column has; without a declared number all six, if any is not zero.
    fn write_fraction(&mut self, microsecond: u32, decimals: u8) {
        let digits = match decimals {
            1..=6 => usize::from(decimals),
            0 => 0,
            _ if microsecond == 0 => 0,
            _ => 6,
        };
        if digits > 0 {
            let start = self.written.len();
            self.write(format_args!(".{microsecond:06}"));
            self.written.truncate(start + 1 + digits);
        }
    }
}

#[derive(Default)]
struct Moment {
    year: u16,
    month: u8,
    day: u8,
    hour: u8,
    minute: u8,
    second: u8,
    microsecond: u32,
}

impl Moment {
    /// Trailing zero parts are not sent.
    fn decode(cursor: &mut Cursor<'_>) -> Result<Self> {
        let mut moment = Self::default();
        let mut cursor = Cursor::new(sized(cursor, &[0, 4, 7, 11], "date")?);
        if !cursor.is_empty() {
            (moment.year, moment.month, moment.day) = (cursor.u16()?, cursor.u8()?, cursor.u8()?);
        }
        if !cursor.is_empty() {
            (moment.hour, moment.minute, moment.second) =
                (cursor.u8()?, cursor.u8()?, cursor.u8()?);
        }
        if !cursor.is_empty() {
            moment.microsecond = cursor.u32()?;
        }
        Ok(moment)
    }
}

fn sized<'a>(cursor: &mut Cursor<'a>, allowed: &[u8], what: &str) -> Result<&'a [u8]> {
    let length = cursor.u8()?;
    if !allowed.contains(&length) {
        return Err(Malformed::new(format!("a {what} of {length} bytes")));
    }
    cursor.bytes(length.into())
}

/// A cursor that knows its position.
struct Offset<'a> {
    cursor: Cursor<'a>,
    total: usize,
}

impl<'a> Offset<'a> {
    fn new(payload: &'a [u8]) -> Self {
        Self { cursor: Cursor::new(payload), total: payload.len() }
    }

    fn offset(&self) -> usize {
        self.total - self.cursor.left()
    }

    fn string(&mut self) -> Result<(usize, usize)> {
        let length = self.cursor.length_encoded_bytes()?.len();
        let end = self.offset();
        Ok((end - length, end))
    }

    fn finish(self) -> Result<()> {
        match self.cursor.left() {
            0 => Ok(()),
            left => Err(Malformed::new(format!("{left} bytes after the last field of a row"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(kind: u8, is_unsigned: bool, decimals: u8) -> Column {
        Column { kind, is_unsigned, decimals }
    }

    fn binary(payload: &[u8], columns: &[Column]) -> Result<Vec<Option<String>>> {
        let mut decoder = RowDecoder::default();
        let row = decoder.decode(payload, columns, Encoding::Binary)?;
        Ok((0..row.len()).map(|i| row.get(i).to_text()).collect())
    }

    #[test]
    fn binary_integers_keep_sign_and_size() {
        let cases: [(u8, bool, &[u8], &str); 9] = [
            (kind::TINY, false, &[0xFF], "-1"),
            (kind::TINY, true, &[0xFF], "255"),
            (kind::SHORT, false, &[0, 0x80], "-32768"),
            (kind::INT24, false, &[0, 0, 0x80, 0xFF], "-8388608"),
            (kind::LONG, true, &[0xFF; 4], "4294967295"),
            (kind::LONG_LONG, false, &[0xFF; 8], "-1"),
            // Beyond the largest i64.
            (kind::LONG_LONG, true, &[0xFF; 8], "18446744073709551615"),
            (kind::YEAR, true, &[0xEA, 0x07], "2026"),
            (kind::BIT, true, &[2, 1, 2], "258"),
        ];
        for (kind, is_unsigned, bytes, text) in cases {
            let payload = [&[0, 0], bytes].concat();
            assert_eq!(
                binary(&payload, &[column(kind, is_unsigned, 0)]),
                Ok(vec![Some(text.to_owned())])
            );
        }
    }

    #[test]
    fn dates_and_times_equal_those_of_the_text_protocol() {
        let cases: [(u8, u8, &[u8], &str); 9] = [
            (kind::DATE, 0, &[0], "0000-00-00"),
            (kind::DATE, 0, &[4, 0xEA, 7, 1, 2], "2026-01-02"),
            (kind::DATETIME, 0, &[0], "0000-00-00 00:00:00"),
            (kind::DATETIME, 3, &[4, 0xEA, 7, 1, 2], "2026-01-02 00:00:00.000"),
            (
                kind::TIMESTAMP,
                6,
                &[11, 0xEA, 7, 1, 2, 3, 4, 5, 1, 0, 0, 0],
                "2026-01-02 03:04:05.000001",
            ),
            (kind::TIME, 0, &[0], "00:00:00"),
            (kind::TIME, 31, &[8, 1, 34, 0, 0, 0, 22, 59, 59], "-838:59:59"),
            (kind::TIME, 2, &[12, 0, 0, 0, 0, 0, 1, 2, 3, 0x40, 0xE2, 1, 0], "01:02:03.12"),
            (kind::TIME, 31, &[12, 0, 0, 0, 0, 0, 1, 2, 3, 0x40, 0xE2, 1, 0], "01:02:03.123456"),
        ];
        for (kind, decimals, bytes, text) in cases {
            let payload = [&[0, 0], bytes].concat();
            assert_eq!(
                binary(&payload, &[column(kind, false, decimals)]),
                Ok(vec![Some(text.to_owned())])
            );
        }
    }

    #[test]
    fn the_null_bitmap_begins_at_its_third_bit() {
        let columns = [column(kind::TINY, false, 0); 8];
        let row = binary(&[0, 0b1111_1100, 0b0000_0001, 7], &columns).unwrap();
        assert_eq!(row[..7], [None, None, None, None, None, None, None]);
        assert_eq!(row[7].as_deref(), Some("7"));
    }

    #[test]
    fn rows_of_the_wrong_length_are_rejected() {
        let long = [column(kind::LONG_LONG, false, 0)];
        assert!(binary(&[0, 0, 1, 2, 3], &long).is_err());
        assert!(binary(&[0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9], &long).is_err());
        assert!(binary(&[1, 0, 1, 2, 3, 4, 5, 6, 7, 8], &long).is_err());
        assert!(binary(&[0, 0, 5, 1, 2, 3, 4, 5], &[column(kind::DATE, false, 0)]).is_err());
    }

    #[test]
    fn text_fields_of_number_columns_are_numbers() {
        let columns = [
            column(kind::LONG, false, 0),
            column(kind::DOUBLE, false, 31),
            column(246, false, 2),
            column(kind::BIT, true, 0),
            column(kind::VAR_STRING, false, 0),
            column(kind::LONG_LONG, true, 0),
            column(kind::BLOB, false, 0),
        ];
        let payload = b"\x02-5\x041e-3\x041.50\x01\x05\xfb\x1418446744073709551615\x02\xff\xfe";
        let mut decoder = RowDecoder::default();
        let row = decoder.decode(payload, &columns, Encoding::Text).unwrap();
        assert_eq!(row.get(0), Value::Integer(-5));
        assert_eq!(row.get(1), Value::Float(0.001));
        assert_eq!(row.get(2), Value::Text("1.50"));
        assert_eq!(row.get(3), Value::Integer(5));
        assert_eq!(row.get(4), Value::Null);
        assert_eq!(row.get(5), Value::Text("18446744073709551615"));
        assert_eq!(row.get(6), Value::Bytes(b"\xff\xfe"));
        assert_eq!(row.get(7), Value::Null);
    }
}
