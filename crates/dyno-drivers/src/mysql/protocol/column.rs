//! Column definitions of a result set; only what decoding needs is kept.

use super::Result;
use super::cursor::Cursor;

/// Type codes, as in column definitions and parameters.
pub mod kind {
    /// TINYINT.
    pub const TINY: u8 = 1;
    /// SMALLINT.
    pub const SHORT: u8 = 2;
    /// INT.
    pub const LONG: u8 = 3;
    pub const FLOAT: u8 = 4;
    pub const DOUBLE: u8 = 5;
    /// NULL as the type of a parameter.
    pub const NULL: u8 = 6;
    pub const TIMESTAMP: u8 = 7;
    /// BIGINT.
    pub const LONG_LONG: u8 = 8;
    /// MEDIUMINT.
    pub const INT24: u8 = 9;
    pub const DATE: u8 = 10;
    pub const TIME: u8 = 11;
    pub const DATETIME: u8 = 12;
    pub const YEAR: u8 = 13;
    /// DATE in the storage format.
    pub const NEW_DATE: u8 = 14;
    pub const BIT: u8 = 16;
    /// TIMESTAMP with fractional seconds in the storage format.
    pub const TIMESTAMP2: u8 = 17;
    /// DATETIME with fractional seconds in the storage format.
    pub const DATETIME2: u8 = 18;
    /// TIME with fractional seconds in the storage format.
    pub const TIME2: u8 = 19;
    /// BLOB and TEXT.
    pub const BLOB: u8 = 252;
    /// VARCHAR and VARBINARY.
    pub const VAR_STRING: u8 = 253;
}

/// A column of a result set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its type code: see [`kind`].
    pub kind: u8,
    /// For integers.
    pub is_unsigned: bool,
    /// Decimal digits; for times those of the seconds. 31 means "as many as needed".
    pub decimals: u8,
}

/// Flag of a definition: UNSIGNED.
const UNSIGNED: u16 = 1 << 5;

impl Column {
    /// Decodes a column definition.
    pub fn decode(payload: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new(payload);
        // Catalogue, database, table, original table, name, original name.
        for _ in 0..6 {
            cursor.length_encoded_bytes()?;
        }
        let mut fixed = Cursor::new(cursor.length_encoded_bytes()?);
        let _collation = fixed.u16()?;
        let _width = fixed.u32()?;
        let kind = fixed.u8()?;
        let flags = fixed.u16()?;
        let decimals = fixed.u8()?;
        Ok(Self { kind, is_unsigned: flags & UNSIGNED != 0, decimals })
    }

    /// The name in a column definition.
    pub fn name(payload: &[u8]) -> Result<std::borrow::Cow<'_, str>> {
        let mut cursor = Cursor::new(payload);
        // Catalogue, database, table, original table.
        for _ in 0..4 {
            cursor.length_encoded_bytes()?;
        }
        Ok(String::from_utf8_lossy(cursor.length_encoded_bytes()?))
    }

    /// True for types whose text is an integer.
    #[must_use]
    pub fn is_integer(&self) -> bool {
        matches!(
            self.kind,
            kind::TINY | kind::SHORT | kind::LONG | kind::LONG_LONG | kind::INT24 | kind::YEAR
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_has_type_sign_and_decimals() {
        let payload =
            b"\x03def\x04test\x01t\x01t\x02id\x02id\x0c\x3f\x00\x0b\x00\x00\x00\x08\x23\x50\x00\x00\x00";
        assert_eq!(
            Column::decode(payload),
            Ok(Column { kind: kind::LONG_LONG, is_unsigned: true, decimals: 0 })
        );
        assert_eq!(Column::name(payload).as_deref(), Ok("id"));
        for end in 0..payload.len() - 2 {
            assert!(Column::decode(&payload[..end]).is_err(), "{end}");
        }
    }
}
