//! Rows in the receive buffer.

use super::backend::{Column, Reader};
use super::{Malformed, oid};
use crate::value::{Row, Value};
use std::str::{FromStr, from_utf8};

/// Position of a field in its row's body; `None` for NULL.
pub type Field = Option<(u32, u32)>;

/// A DataRow whose lengths have been checked.
#[derive(Debug)]
pub struct DataRow<'a> {
    body: &'a [u8],
    columns: &'a [Column],
    fields: &'a [Field],
}

impl<'a> DataRow<'a> {
    /// Finds the fields of a row. `fields` is scratch space that is reused for all rows.
    ///
    /// # Errors
    /// When the body is shorter than its lengths.
    pub fn decode(
        body: &'a [u8],
        columns: &'a [Column],
        fields: &'a mut Vec<Field>,
    ) -> Result<DataRow<'a>, Malformed> {
        let mut reader = Reader::new(body);
        fields.clear();
        for _ in 0..reader.count()? {
            let length = reader.int32()?;
            if length == -1 {
                fields.push(None);
                continue;
            }
            let length = u32::try_from(length).map_err(|_| Malformed {
                what: "a field with a length of",
                value: length.into(),
            })?;
            let at = body.len() - reader.rest().len();
            reader.take(length as usize)?;
            fields.push(Some((at as u32, length)));
        }
        Ok(DataRow { body, columns, fields })
    }
}

impl Row for DataRow<'_> {
    fn len(&self) -> usize {
        self.fields.len()
    }

    fn get(&self, column: usize) -> Value<'_> {
        match self.fields.get(column) {
            Some(Some((at, length))) => {
                let bytes = &self.body[*at as usize..(*at + *length) as usize];
                value(bytes, self.columns.get(column).copied())
            }
            _ => Value::Null,
        }
    }
}

/// A field as a value. Numbers are decoded to numbers from text and binary; a field whose form does
/// not match its type is returned unchanged.
fn value(bytes: &[u8], column: Option<Column>) -> Value<'_> {
    let Some(column) = column else { return text(bytes) };
    let number = match (column.type_oid, column.is_binary) {
        (oid::INT2, true) => array(bytes).map(|raw| Value::Integer(i16::from_be_bytes(raw).into())),
        (oid::INT4, true) => array(bytes).map(|raw| Value::Integer(i32::from_be_bytes(raw).into())),
        (oid::OID, true) => array(bytes).map(|raw| Value::Integer(u32::from_be_bytes(raw).into())),
        (oid::INT8, true) => array(bytes).map(|raw| Value::Integer(i64::from_be_bytes(raw))),
        (oid::FLOAT8, true) => array(bytes).map(|raw| Value::Float(f64::from_be_bytes(raw))),
        (oid::INT2 | oid::INT4 | oid::INT8 | oid::OID, false) => parsed(bytes).map(Value::Integer),
        (oid::FLOAT4 | oid::FLOAT8, false) => parsed(bytes).map(Value::Float),
        _ => None,
    };
    number.unwrap_or_else(|| text(bytes))
}

fn array<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.try_into().ok()
}

fn parsed<T: FromStr>(bytes: &[u8]) -> Option<T> {
    from_utf8(bytes).ok()?.parse().ok()
}

fn text(bytes: &[u8]) -> Value<'_> {
    from_utf8(bytes).map_or(Value::Bytes(bytes), Value::Text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn one(type_oid: u32, is_binary: bool, bytes: &[u8]) -> Value<'_> {
        value(bytes, Some(Column { type_oid, is_binary }))
    }

    #[test]
    fn numbers_are_decoded_to_numbers_from_both_formats() {
        assert_eq!(one(oid::INT2, true, &[0xff, 0xfe]), Value::Integer(-2));
        assert_eq!(one(oid::INT4, true, &[0, 0, 1, 0]), Value::Integer(256));
        assert_eq!(one(oid::OID, true, &[0xff; 4]), Value::Integer(4_294_967_295));
        assert_eq!(one(oid::INT8, true, &i64::MIN.to_be_bytes()), Value::Integer(i64::MIN));
        assert_eq!(one(oid::FLOAT8, true, &1.5_f64.to_be_bytes()), Value::Float(1.5));
        assert_eq!(one(oid::INT8, false, b"-9223372036854775808"), Value::Integer(i64::MIN));
        assert_eq!(one(oid::FLOAT4, false, b"0.1"), Value::Float(0.1));
        assert_eq!(one(oid::FLOAT8, false, b"-Infinity"), Value::Float(f64::NEG_INFINITY));
    }

    #[test]
    fn fields_that_do_not_match_their_type_are_returned_unchanged() {
        assert_eq!(one(oid::INT4, true, b"abc"), Value::Text("abc"));
        assert_eq!(one(oid::INT4, false, b"abc"), Value::Text("abc"));
        assert_eq!(one(oid::FLOAT8, true, &[0xff]), Value::Bytes(&[0xff]));
        assert_eq!(one(25, false, "글".as_bytes()), Value::Text("글"));
    }

    #[test]
    fn a_row_distinguishes_null_empty_and_missing_fields() {
        let mut body = vec![0, 3];
        body.extend((-1_i32).to_be_bytes());
        body.extend(0_i32.to_be_bytes());
        body.extend(2_i32.to_be_bytes());
        body.extend(b"42");
        let columns = [Column { type_oid: oid::INT4, is_binary: false }; 3];
        let mut fields = Vec::new();
        let row = DataRow::decode(&body, &columns, &mut fields).unwrap();
        assert_eq!(row.len(), 3);
        assert_eq!(row.get(0), Value::Null);
        assert_eq!(row.get(1), Value::Text(""));
        assert_eq!(row.get(2), Value::Integer(42));
        assert_eq!(row.get(3), Value::Null);
        for length in 0..body.len() {
            assert!(
                DataRow::decode(&body[..length], &columns, &mut Vec::new()).is_err(),
                "{length}"
            );
        }
    }

    proptest! {
        #[test]
        fn random_rows_never_panic(
            body in prop::collection::vec(any::<u8>(), 0..60),
            types in prop::collection::vec((prop::sample::select(vec![17_u32, 20, 21, 23, 25, 26, 700, 701]), any::<bool>()), 0..4),
        ) {
            let columns: Vec<Column> =
                types.into_iter().map(|(type_oid, is_binary)| Column { type_oid, is_binary }).collect();
            let mut fields = Vec::new();
            if let Ok(row) = DataRow::decode(&body, &columns, &mut fields) {
                for column in 0..row.len() + 1 {
                    let _ = row.get(column).to_text();
                }
            }
        }
    }
}
