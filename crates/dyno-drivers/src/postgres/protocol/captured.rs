//! Captured messages of a real server: PostgreSQL 15.18, trust login, table `sbtest1 (id int
//! PRIMARY KEY, k int, c char(10), pad text)` with the rows (1, 2, 'abc', 'x') and (2, 3, NULL,
//! '글').

use super::authentication::Login;
use super::backend::TransactionStatus;
use super::greeting::Greeting;
use super::inbox::Inbox;
use super::reply::{Progress, Reply, Shape};
use super::{Malformed, oid};
use crate::driver::Outcome;
use crate::value::{Discard, Row, RowSink};
use dyno_model::failure::FailureKind;
use dyno_model::secret::Secret;
use proptest::prelude::*;

const HELLO: &str = "52000000080000000053000000166170706c69636174696f6e5f6e616d6500005300000019636c69656e745f656e636f64696e670055544638005300000017446174655374796c650049534f2c204d445900530000002664656661756c745f7472616e73616374696f6e5f726561645f6f6e6c79006f6666005300000017696e5f686f745f7374616e646279006f6666005300000019696e74656765725f6461746574696d6573006f6e00530000001b496e74657276616c5374796c6500706f73746772657300530000001469735f737570657275736572006f6e0053000000197365727665725f656e636f64696e6700555446380053000000327365727665725f76657273696f6e0031352e3138202844656269616e2031352e31382d302b646562313275312900530000002073657373696f6e5f617574686f72697a6174696f6e0061646d696e0053000000237374616e646172645f636f6e666f726d696e675f737472696e6773006f6e00530000001554696d655a6f6e65004574632f555443004b0000000c00007f9c5d67f1ae5a0000000549";
/// Parse and Describe of `SELECT k,c,pad FROM sbtest1 WHERE id>=$1`.
const PREPARED: &str = "3100000004740000000a000100000017540000004400036b00000040000002000000170004ffffffff0000630000004000000300000412ffff0000000e00007061640000004000000400000019ffffffffffff00005a0000000549";
/// Bind and Execute of it from 1 on, the first column binary.
const EXECUTED: &str = "32000000044400000021000300000004000000020000000a616263202020202020200000000178440000001900030000000400000003ffffffff00000003eab880430000000d53454c4543542032005a0000000549";
/// `SELECT 1 AS a; UPDATE sbtest1 SET k=k+1; ; SELECT id FROM sbtest1 WHERE id>5`
const MANY: &str = "540000001a00016100000000000000000000170004ffffffff0000440000000b00010000000131430000000d53454c454354203100430000000d555044415445203200540000001b0001696400000040000001000000170004ffffffff0000430000000d53454c4543542030005a0000000549";
/// `DO $$ BEGIN RAISE NOTICE 'hello'; END $$; SET standard_conforming_strings=off`
const NOTICE: &str = "4e0000007a534e4f5449434500564e4f5449434500433030303030004d68656c6c6f0057504c2f706753514c2066756e6374696f6e20696e6c696e655f636f64655f626c6f636b206c696e6520312061742052414953450046706c5f657865632e63004c333839310052657865635f73746d745f726169736500004300000007444f0043000000085345540053000000247374616e646172645f636f6e666f726d696e675f737472696e6773006f6666005a0000000549";
/// `INSERT INTO sbtest1 VALUES (1,1,'','')`
const DUPLICATE: &str = "45000000ba534552524f5200564552524f5200433233353035004d6475706c6963617465206b65792076616c75652076696f6c6174657320756e6971756520636f6e73747261696e742022736274657374315f706b65792200444b657920286964293d28312920616c7265616479206578697374732e00737075626c6963007473627465737431006e736274657374315f706b657900466e6274696e736572742e63004c36363400525f62745f636865636b5f756e6971756500005a0000000549";
/// `SELECT pg_terminate_backend(pg_backend_pid())`
const ENDED: &str = "540000002d000170675f7465726d696e6174655f6261636b656e6400000000000000000000100001ffffffff0000440000000b00010000000174450000007453464154414c0056464154414c00433537503031004d7465726d696e6174696e6720636f6e6e656374696f6e2064756520746f2061646d696e6973747261746f7220636f6d6d616e640046706f7374677265732e63004c33323131005250726f63657373496e74657272757074730000";

const REPLIES: [&str; 6] = [PREPARED, EXECUTED, MANY, NOTICE, DUPLICATE, ENDED];

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap()).collect()
}

/// Keeps the debug form of every row.
#[derive(Default)]
struct Shown(Vec<String>);

impl RowSink for Shown {
    fn row(&mut self, row: &dyn Row) {
        let fields: Vec<_> =
            (0..row.len()).map(|column| format!("{:?}", row.get(column))).collect();
        self.0.push(fields.join(" "));
    }
}

/// Reads a reply that arrives in pieces, with the shape of the prepared statement if there is one.
fn read<S: RowSink>(
    bytes: &[u8],
    pieces: &[usize],
    sink: &mut S,
) -> Result<(Reply, Progress, Shape), Malformed> {
    let mut shape = Shape::default();
    if bytes.first() == Some(&b'2') {
        shape = read(&self::bytes(PREPARED), &[1000], &mut Discard)?.2;
        shape.columns[0] = shape.columns[0].as_requested();
    }
    let (mut inbox, mut reply, mut progress) = (Inbox::default(), Reply::default(), Progress::More);
    let (mut rest, mut sizes) = (bytes, pieces.iter().cycle());
    while progress == Progress::More && !rest.is_empty() {
        let room = inbox.room();
        let count = (*sizes.next().unwrap()).clamp(1, room.len().min(rest.len()));
        room[..count].copy_from_slice(&rest[..count]);
        inbox.received(count);
        rest = &rest[count..];
        progress = reply.read(&mut inbox, &mut shape, &mut Vec::new(), sink)?;
    }
    Ok((reply, progress, shape))
}

fn whole(hex: &str) -> (Reply, Progress, Vec<String>) {
    let mut shown = Shown::default();
    let (reply, progress, _) = read(&bytes(hex), &[usize::MAX], &mut shown).unwrap();
    (reply, progress, shown.0)
}

const READY: Progress = Progress::Ready(TransactionStatus::Idle);

#[test]
fn a_greeting_contains_version_process_and_settings() {
    let password = Secret::default();
    let mut greeting = Greeting::new(Login::new("admin", &password, "nonce".to_owned()));
    let mut inbox = Inbox::default();
    let hello = bytes(HELLO);
    inbox.room()[..hello.len()].copy_from_slice(&hello);
    inbox.received(hello.len());
    let mut output = Vec::new();
    while let Some(frame) = inbox.next_frame().unwrap() {
        if greeting.take(frame, |_, _, _| panic!("no password is asked for"), &mut output).unwrap()
        {
            break;
        }
    }
    let session = greeting.into_session();
    assert_eq!((session.identity.version.as_str(), session.process), ("15.18", 0x7f9c));
    assert!(session.standard_strings && output.is_empty() && !inbox.has_rest());
}

#[test]
fn a_description_contains_parameters_and_columns() {
    let (reply, progress, shape) = read(&bytes(PREPARED), &[7], &mut Discard).unwrap();
    assert_eq!((progress, shape.returns_rows), (READY, true));
    assert_eq!(shape.parameters, [oid::INT4]);
    assert_eq!(
        shape.columns.iter().map(|column| column.type_oid).collect::<Vec<_>>(),
        [oid::INT4, 1042, 25]
    );
    assert!(reply.failure.is_none());
}

#[test]
fn rows_changes_notices_and_settings_are_read() {
    let (reply, progress, rows) = whole(EXECUTED);
    assert_eq!(
        (reply.outcome, progress),
        (Outcome { has_rows: true, rows: 2, affected: 0 }, READY)
    );
    assert_eq!(
        rows,
        [r#"Integer(2) Text("abc       ") Text("x")"#, r#"Integer(3) Null Text("글")"#]
    );
    let (reply, progress, rows) = whole(MANY);
    assert_eq!(
        (reply.outcome, progress),
        (Outcome { has_rows: true, rows: 1, affected: 2 }, READY)
    );
    assert_eq!(rows, ["Integer(1)"]);
    let (reply, progress, _) = whole(NOTICE);
    assert_eq!(
        (reply.outcome, progress, reply.standard_strings),
        (Outcome::default(), READY, Some(false))
    );
}

#[test]
fn errors_have_sqlstate_message_and_detail() {
    let (reply, progress, _) = whole(DUPLICATE);
    assert_eq!(progress, READY);
    assert_eq!(
        reply.failure.unwrap().to_string(),
        "duplicate-key (SQLSTATE 23505): duplicate key value violates unique constraint \
         \"sbtest1_pkey\" (Key (id)=(1) already exists.)"
    );
    let (reply, progress, rows) = whole(ENDED);
    assert_eq!((progress, rows.len()), (Progress::Closing, 1));
    assert_eq!(reply.failure.unwrap().kind, FailureKind::NotReady);
}

#[test]
fn a_truncated_reply_needs_more() {
    for hex in REPLIES {
        let bytes = bytes(hex);
        for length in 0..bytes.len() {
            let (_, progress, _) =
                read(&bytes[..length], &[usize::MAX], &mut Shown::default()).unwrap();
            assert_eq!(progress, Progress::More, "{length} bytes of {hex}");
        }
    }
}

proptest! {
    #[test]
    fn replies_do_not_depend_on_the_pieces_in_which_they_arrive(
        which in 0..REPLIES.len(),
        pieces in prop::collection::vec(1_usize..40, 1..10),
    ) {
        let (expected, end, rows) = whole(REPLIES[which]);
        let mut shown = Shown::default();
        let (reply, progress, _) = read(&bytes(REPLIES[which]), &pieces, &mut shown).unwrap();
        prop_assert_eq!((reply.outcome, progress, &shown.0), (expected.outcome, end, &rows));
        prop_assert_eq!(&reply.failure, &expected.failure);
        // Discarded rows are counted too.
        let (reply, progress, _) = read(&bytes(REPLIES[which]), &pieces, &mut Discard).unwrap();
        prop_assert_eq!((reply.outcome, progress, reply.failure), (expected.outcome, end, expected.failure));
    }

    #[test]
    fn damaged_replies_never_panic(
        which in 0..REPLIES.len(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        pieces in prop::collection::vec(1_usize..40, 1..10),
    ) {
        let mut bytes = bytes(REPLIES[which]);
        for (at, byte) in damage {
            *at.get_mut(&mut bytes) = byte;
        }
        let _ = read(&bytes, &pieces, &mut Shown::default());
        let _ = read(&bytes, &pieces, &mut Discard);
    }
}
