//! Replies of a PostgreSQL server in pieces: reading must not panic, must not allocate more memory
//! than has arrived, and must not depend on the pieces. The first byte selects their size and
//! whether rows are read.
#![no_main]

use dyno_drivers::Outcome;
use dyno_drivers::postgres::protocol::Malformed;
use dyno_drivers::postgres::protocol::inbox::Inbox;
use dyno_drivers::postgres::protocol::reply::{Progress, Reply, Shape};
use dyno_drivers::{Discard, RowSink, Table};
use libfuzzer_sys::fuzz_target;

type Read = Result<(Outcome, Progress), Malformed>;

fn read<S: RowSink>(bytes: &[u8], piece: usize, sink: &mut S) -> Read {
    let (mut inbox, mut shape, mut fields, mut reply) =
        (Inbox::default(), Shape::default(), Vec::new(), Reply::default());
    let mut rest = bytes;
    while !rest.is_empty() {
        let room = inbox.room();
        let count = piece.min(room.len()).min(rest.len());
        room[..count].copy_from_slice(&rest[..count]);
        inbox.received(count);
        rest = &rest[count..];
        match reply.read(&mut inbox, &mut shape, &mut fields, sink)? {
            Progress::More => {}
            end => return Ok((reply.outcome, end)),
        }
        assert!(inbox.capacity() <= 32 * 1024 + 4 * bytes.len());
    }
    Ok((reply.outcome, Progress::More))
}

fuzz_target!(|data: &[u8]| {
    let Some((first, bytes)) = data.split_first() else { return };
    let piece = usize::from(first >> 1) + 1;
    if first & 1 == 0 {
        assert_eq!(read(bytes, piece, &mut Discard), read(bytes, usize::MAX, &mut Discard));
    } else {
        let (mut pieces, mut whole) = (Table::default(), Table::default());
        assert_eq!(read(bytes, piece, &mut pieces), read(bytes, usize::MAX, &mut whole));
        assert_eq!(pieces.0, whole.0);
    }
});
