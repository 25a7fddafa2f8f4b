//! Checksum that identifies texts. It detects accidental changes, not forgeries.

/// The FNV-1a hash of 64 bits (Fowler, Noll and Vo), as 16 hexadecimal digits.
#[must_use]
pub fn checksum(bytes: &[u8]) -> String {
    let mixed =
        |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    format!("{:016x}", bytes.iter().fold(0xcbf2_9ce4_8422_2325, mixed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_that_the_authors_published() {
        for (text, expected) in
            [("", "cbf29ce484222325"), ("a", "af63dc4c8601ec8c"), ("foobar", "85944171f73967e8")]
        {
            assert_eq!(checksum(text.as_bytes()), expected, "{text}");
        }
    }
}
