//! Replies in pieces: decoding as a whole and in pieces must yield the same result, and must not
//! panic.
//!
//! The first byte selects the capabilities and the encoding, the second the size of the pieces; the
//! rest is the server's data.
#![no_main]

use dyno_drivers::mysql::protocol::Malformed;
use dyno_drivers::mysql::protocol::column::Column;
use dyno_drivers::mysql::protocol::packet::PacketBuffer;
use dyno_drivers::mysql::protocol::reply::{Capabilities, Progress, Reply, RowSpace};
use dyno_drivers::mysql::protocol::row::Encoding;
use dyno_drivers::{Discard, RowSink, Table};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let [choice, piece, reply @ ..] = bytes else { return };
    let capabilities =
        Capabilities { is_ok_terminated: choice & 1 != 0, has_cached_metadata: choice & 2 != 0 };
    let encoding = if choice & 4 != 0 { Encoding::Binary } else { Encoding::Text };
    let piece = usize::from(*piece).max(1);
    let (mut whole, mut cut) = (Table::default(), Table::default());
    let expected = decode(reply, usize::MAX, capabilities, encoding, &mut whole);
    assert_eq!(decode(reply, piece, capabilities, encoding, &mut cut), expected);
    assert_eq!(whole.0, cut.0);
    let passed = decode(reply, usize::MAX, capabilities, encoding, &mut Discard);
    assert_eq!(decode(reply, piece, capabilities, encoding, &mut Discard), passed);
});

fn decode<S: RowSink>(
    bytes: &[u8],
    piece: usize,
    capabilities: Capabilities,
    encoding: Encoding,
    sink: &mut S,
) -> Result<Vec<Progress>, Malformed> {
    let cached = [Column { kind: 3, is_unsigned: false, decimals: 0 }];
    let mut input = PacketBuffer::default();
    let mut space = RowSpace::default();
    let mut reply = Reply::new(capabilities, encoding);
    let mut results = Vec::new();
    let mut rest = bytes;
    loop {
        match reply.advance(&mut input, &mut space, &cached, sink)? {
            Progress::NeedMore if rest.is_empty() => return Ok(results),
            Progress::NeedMore => {
                let room = input.space();
                let (now, later) = rest.split_at(piece.min(room.len()).min(rest.len()));
                room[..now.len()].copy_from_slice(now);
                rest = later;
                input.received(now.len());
            }
            progress => {
                let ends = matches!(progress, Progress::Refused(_) | Progress::WantsFile(_))
                    || !reply.has_more();
                results.push(progress);
                if ends {
                    return Ok(results);
                }
            }
        }
    }
}
