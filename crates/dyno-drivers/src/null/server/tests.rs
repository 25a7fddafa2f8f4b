//! Properties of the sessions as pure functions from bytes to bytes.

use super::conversation::Conversation;
use super::mysql::MysqlConversation;
use super::postgres::PostgresConversation;
use super::*;
use proptest::prelude::*;

fn shared() -> Shared {
    Shared { options: Options::default(), counts: Arc::default() }
}

/// Feeds the input in pieces of these sizes, repeatedly, keeping the rest like the event loop does.
fn replies<S: Conversation>(input: &[u8], sizes: &[usize]) -> (Vec<u8>, u64, bool) {
    let shared = shared();
    let mut session = S::new(1);
    let (mut out, mut pending, mut rest) = (Vec::new(), Vec::new(), input);
    session.greet(&shared, &mut out);
    for size in sizes.iter().cycle() {
        let (piece, others) = rest.split_at(rest.len().min(*size));
        rest = others;
        pending.extend_from_slice(piece);
        let fed = session.feed(&pending, &shared, &mut out);
        assert!(fed.consumed <= pending.len());
        pending.drain(..fed.consumed);
        if fed.stop.is_some() || rest.is_empty() {
            return (out, shared.counts.statements_total(), fed.stop.is_some());
        }
    }
    unreachable!("the sizes never end");
}

/// A login followed by commands, most of them well-formed.
fn mysql_conversation(commands: &[(u8, Vec<u8>)]) -> Vec<u8> {
    let packet = |sequence: u8, body: &[u8]| {
        let length = (body.len() as u32).to_le_bytes();
        [&[length[0], length[1], length[2], sequence], body].concat()
    };
    let login = [0x200_u32.to_le_bytes().as_slice(), &[0; 40]].concat();
    let known: [&[u8]; 8] = [
        b"\x03SELECT c FROM t",
        b"\x03UPDATE t SET a=1",
        b"\x16SELECT c, k FROM t WHERE id=?",
        b"\x17\x01\0\0\0\0\x01\0\0\0\0\x01",
        b"\x19\x01\0\0\0",
        b"\x0e",
        b"\x03LOAD DATA LOCAL INFILE 'x' INTO TABLE t",
        b"",
    ];
    let mut bytes = packet(1, &login);
    for (choice, body) in commands {
        let known = known.get(usize::from(*choice)).copied().filter(|known| !known.is_empty());
        bytes.extend(packet(0, known.unwrap_or(body)));
    }
    bytes
}

fn postgres_conversation(messages: &[(u8, Vec<u8>)]) -> Vec<u8> {
    let message = |kind: u8, body: &[u8]| {
        [&[kind], (body.len() as u32 + 4).to_be_bytes().as_slice(), body].concat()
    };
    let known: [(u8, &[u8]); 9] = [
        (b'Q', b"SELECT 1; UPDATE t SET a=1\0"),
        (b'P', b"\0SELECT abalance, c FROM t WHERE aid=$1\0\0\0"),
        (b'B', b"\0\0\0\0\0\x01\0\0\0\x011\0\x01\0\x01"),
        (b'D', b"P\0"),
        (b'D', b"S\0"),
        (b'E', b"\0\0\0\0\0"),
        (b'S', b""),
        (b'C', b"P\0"),
        (b'Q', b"COPY t FROM STDIN\0"),
    ];
    let mut bytes = b"\0\0\0\x10\0\x03\0\0user\0a\0\0".to_vec();
    bytes[3] = bytes.len() as u8;
    for (choice, body) in messages {
        match known.get(usize::from(*choice)) {
            Some((kind, body)) => bytes.extend(message(*kind, body)),
            None => bytes.extend(message(*choice, body)),
        }
    }
    bytes
}

fn commands() -> impl Strategy<Value = Vec<(u8, Vec<u8>)>> {
    let choice = prop_oneof![9 => 0..9_u8, 1 => any::<u8>()];
    prop::collection::vec((choice, prop::collection::vec(any::<u8>(), 0..40)), 0..30)
}

proptest! {
    #[test]
    fn replies_do_not_depend_on_how_the_bytes_are_split(
        commands in commands(),
        sizes in prop::collection::vec(1..50_usize, 1..10),
    ) {
        let mysql = mysql_conversation(&commands);
        prop_assert_eq!(replies::<MysqlConversation>(&mysql, &[usize::MAX]), replies::<MysqlConversation>(&mysql, &sizes));
        let postgres = postgres_conversation(&commands);
        let whole = replies::<PostgresConversation>(&postgres, &[usize::MAX]);
        prop_assert_eq!(whole, replies::<PostgresConversation>(&postgres, &sizes));
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        replies::<MysqlConversation>(&bytes, &[usize::MAX]);
        replies::<PostgresConversation>(&bytes, &[usize::MAX]);
    }
}
