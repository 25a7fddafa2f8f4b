//! Checksum that identifies texts. It detects accidental changes, not forgeries.

/// The FNV-1a hash of 64 bits (Fowler, Noll and Vo).
#[must_use]
pub fn fnv1a(bytes: &[u8]) -> u64 {
    let mixed =
        |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, mixed)
}

/// The [hash](fnv1a) as 16 hexadecimal digits.
#[must_use]
pub fn checksum(bytes: &[u8]) -> String {
    format!("{:016x}", fnv1a(bytes))
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
