//! HTTP responses in pieces: reading must not panic, must not consume more than the limit, and must
//! not depend on the pieces. The first byte selects their size, and whether the request was HEAD.
#![no_main]

use dyno_drivers::http::Cookies;
use dyno_drivers::http::protocol::Malformed;
use dyno_drivers::http::protocol::body::Body;
use dyno_drivers::http::protocol::head::{HEAD_MAX, Head};
use libfuzzer_sys::fuzz_target;

const LIMIT: u64 = 10_000;

/// Head, body and cookies received so far, and whether the response is complete.
type Read = Result<Option<(Head, Vec<u8>, Vec<u8>, bool)>, Malformed>;

fn read(bytes: &[u8], piece: usize, is_head: bool) -> Read {
    let mut end = 0;
    let mut cookies = Cookies::default();
    let head = loop {
        end = (end + piece).min(bytes.len());
        if let Some(head) = Head::read(&bytes[..end], is_head, |value| cookies.take(value))? {
            break head;
        }
        if end == bytes.len() {
            return Ok(None);
        }
    };
    assert!(head.length <= HEAD_MAX.min(end));
    let (mut body, mut taken, mut shown) = (Body::new(head.framing, LIMIT), Vec::new(), Vec::new());
    let mut start = head.length;
    loop {
        start += body.read(&bytes[start..end], |part| taken.extend_from_slice(part))?;
        assert!(taken.len() as u64 <= LIMIT && start <= end);
        if body.is_whole() || end == bytes.len() {
            break;
        }
        end = (end + piece).min(bytes.len());
    }
    cookies.write(&mut shown);
    Ok(Some((head, taken, shown, body.is_whole())))
}

fuzz_target!(|data: &[u8]| {
    let Some((first, bytes)) = data.split_first() else { return };
    let (piece, is_head) = (usize::from(first >> 1) + 1, first & 1 == 1);
    assert_eq!(read(bytes, piece, is_head).ok(), read(bytes, bytes.len().max(1), is_head).ok());
});
