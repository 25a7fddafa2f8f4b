//! The hash of a server's certificate to which a login is bound (`tls-server-end-point`, RFC 5929).

use ring::digest::{Algorithm, SHA256, SHA384, SHA512, digest};

/// DER tags.
const SEQUENCE: u8 = 0x30;
const OBJECT_IDENTIFIER: u8 = 0x06;

/// Object identifiers of signature algorithms, encoded, and their hash functions (RFC 8017, RFC
/// 5758). The RFC replaces MD5 and SHA-1 by SHA-256. Signatures without a separate hash function
/// (Ed25519), or with one in their parameters (RSA-PSS), have none.
const HASHES: [(&[u8], &Algorithm); 9] = [
    (b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x04", &SHA256), // RSA with MD5
    (b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x05", &SHA256), // RSA with SHA-1
    (b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0b", &SHA256), // RSA
    (b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0c", &SHA384),
    (b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0d", &SHA512),
    (b"\x2a\x86\x48\xce\x3d\x04\x01", &SHA256), // ECDSA with SHA-1
    (b"\x2a\x86\x48\xce\x3d\x04\x03\x02", &SHA256), // ECDSA
    (b"\x2a\x86\x48\xce\x3d\x04\x03\x03", &SHA384),
    (b"\x2a\x86\x48\xce\x3d\x04\x03\x04", &SHA512),
];

/// The hash of a certificate in DER; `None` when its signature algorithm has no hash function.
#[must_use]
pub fn hash(certificate: &[u8]) -> Option<Vec<u8>> {
    // Certificate = SEQUENCE of: what is signed, SEQUENCE that begins with the identifier of the
    // algorithm, signature (RFC 5280).
    let (signed, _) = value(SEQUENCE, certificate)?;
    let (_, rest) = value(SEQUENCE, signed)?;
    let (algorithm, _) = value(SEQUENCE, rest)?;
    let (identifier, _) = value(OBJECT_IDENTIFIER, algorithm)?;
    let (_, function) = HASHES.iter().find(|(known, _)| *known == identifier)?;
    Some(digest(function, certificate).as_ref().to_vec())
}

/// The content of a DER value with this tag, and the bytes after the value.
fn value(tag: u8, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&[found, length], rest) = bytes.split_first_chunk()?;
    if found != tag {
        return None;
    }
    // From 128 on, the length follows in as many bytes.
    let (length, rest) = match usize::from(length) {
        short @ ..128 => (short, rest),
        long => {
            let (length, rest) = rest.split_at_checked(long - 128)?;
            let add = |sum: usize, byte: &u8| sum.checked_mul(256)?.checked_add((*byte).into());
            (length.iter().try_fold(0, add)?, rest)
        }
    };
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A certificate of this shape with this algorithm, with lengths of one and of three bytes.
    fn certificate(algorithm: &[u8]) -> Vec<u8> {
        let tagged = |tag: u8, content: &[u8]| match u8::try_from(content.len()) {
            Ok(length @ ..128) => [&[tag, length], content].concat(),
            _ => [&[tag, 0x82], &(content.len() as u16).to_be_bytes()[..], content].concat(),
        };
        let algorithm = tagged(SEQUENCE, &tagged(OBJECT_IDENTIFIER, algorithm));
        let signed = tagged(SEQUENCE, &[7; 300]);
        tagged(SEQUENCE, &[signed, algorithm, vec![3, 1, 0]].concat())
    }

    #[test]
    fn the_hash_function_is_that_of_the_signature() {
        let ed25519: &[u8] = b"\x2b\x65\x70";
        assert_eq!(hash(&certificate(ed25519)), None);
        for (algorithm, function) in HASHES {
            let certificate = certificate(algorithm);
            let expected = digest(function, &certificate).as_ref().to_vec();
            assert_eq!(hash(&certificate), Some(expected), "{algorithm:x?}");
            assert_eq!(hash(&certificate[..certificate.len() - 1]), None, "truncated");
        }
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = hash(&bytes);
            for index in [0, 4] {
                if let Some(tag) = bytes.get_mut(index) {
                    *tag = SEQUENCE;
                }
            }
            let _ = hash(&bytes);
        }
    }
}
