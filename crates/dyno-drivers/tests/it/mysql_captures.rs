//! Decoders on captured answers of real servers (`mysql_captures/*.hex`, written by
//! `mysql_servers::captures`), on arbitrary bytes, and on replies split anywhere.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use dyno_drivers::mysql::protocol::column::Column;
use dyno_drivers::mysql::protocol::handshake::{AuthReply, Greeting};
use dyno_drivers::mysql::protocol::packet::{PacketBuffer, begin, finish};
use dyno_drivers::mysql::protocol::reply::{
    Capabilities, Prepared, Progress, Reply, RowSpace, ServerError,
};
use dyno_drivers::mysql::protocol::row::Encoding;
use dyno_drivers::mysql::protocol::{Result, literal, template};
use dyno_drivers::{Discard, RowSink, Table, Value};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;

/// One file: whether rows end with OK packets, and the captures by name.
type Capture = (bool, BTreeMap<String, Vec<u8>>);

fn captures() -> Vec<(String, Capture)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mysql_captures");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let captures = files.into_iter().map(|path| {
        let text = std::fs::read_to_string(&path).unwrap();
        let entries = text.lines().filter(|line| !line.starts_with('#')).map(|line| {
            let (name, hex) = line.split_once(": ").unwrap();
            let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
            (name.to_owned(), (0..hex.len()).step_by(2).map(byte).collect())
        });
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        (name.clone(), (name.ends_with("ok-terminated"), entries.collect()))
    });
    captures.collect()
}

/// Feeds a reply in pieces; returns every result with its rows, up to the last or the error.
fn decode<S: RowSink>(
    bytes: &[u8],
    pieces: &[usize],
    capabilities: Capabilities,
    encoding: Encoding,
    sink: &mut S,
) -> Result<Vec<(Progress, bool, u64)>> {
    let mut input = PacketBuffer::default();
    input.expect(1);
    let mut space = RowSpace::default();
    let mut reply = Reply::new(capabilities, encoding);
    let mut results = Vec::new();
    let mut rest = bytes;
    let mut pieces = pieces.iter().copied().cycle();
    loop {
        match reply.advance(&mut input, &mut space, &[], sink)? {
            Progress::NeedMore if rest.is_empty() => return Ok(results),
            Progress::NeedMore => {
                let room = input.space();
                let count =
                    pieces.next().unwrap_or(usize::MAX).max(1).min(room.len()).min(rest.len());
                room[..count].copy_from_slice(&rest[..count]);
                rest = &rest[count..];
                input.received(count);
            }
            progress => {
                let ends = matches!(progress, Progress::Refused(_) | Progress::WantsFile(_))
                    || !reply.has_more();
                results.push((progress, reply.has_rows(), reply.rows()));
                if ends {
                    return Ok(results);
                }
            }
        }
    }
}

fn capabilities(is_ok_terminated: bool) -> Capabilities {
    Capabilities { is_ok_terminated, has_cached_metadata: false }
}

fn text(rows: &Table) -> Vec<String> {
    rows.0
        .iter()
        .map(|row| {
            row.iter().map(|field| field.as_deref().unwrap_or("NULL")).collect::<Vec<_>>().join("|")
        })
        .collect()
}

const ROWS: [&str; 2] = ["7|seven|2026-01-02 03:04:05.000006|0.5|NULL|257", "8||NULL|-1|5|0"];
/// Updates between the text rows and the binary ones changed these rows.
const ROWS_LATER: [&str; 2] = ["7|seven|2026-01-02 03:04:05.000006|0.5|7|257", "8||NULL|-1|7|0"];

#[test]
fn captured_rows_equal_the_stored_rows() {
    let captures = captures();
    assert_eq!(captures.len(), 4, "two servers, with and without EOF packets");
    for (name, (is_ok_terminated, entries)) in &captures {
        for (entry, encoding, expected) in
            [("text-rows", Encoding::Text, &ROWS), ("binary-rows", Encoding::Binary, &ROWS_LATER)]
        {
            let mut rows = Table::default();
            let results = decode(
                &entries[entry],
                &[usize::MAX],
                capabilities(*is_ok_terminated),
                encoding,
                &mut rows,
            )
            .unwrap();
            assert_eq!(text(&rows), expected, "{name} {entry}");
            let [(Progress::Complete(_), true, 2)] = results.as_slice() else {
                panic!("{name}: {results:?}")
            };
        }
        let mut rows = Table::default();
        let results = decode(
            &entries["text-empty"],
            &[1],
            capabilities(*is_ok_terminated),
            Encoding::Text,
            &mut rows,
        )
        .unwrap();
        assert!(matches!(results[..], [(Progress::Complete(_), true, 0)]), "{name}: {results:?}");
    }
}

#[test]
fn captured_outcomes_are_those_of_the_statements() {
    for (name, (is_ok_terminated, entries)) in captures() {
        let outcome = |entry: &str| {
            decode(
                &entries[entry],
                &[3],
                capabilities(is_ok_terminated),
                Encoding::Text,
                &mut Discard,
            )
            .unwrap()
        };
        let [(Progress::Complete(done), false, 0)] = outcome("text-ok")[..] else {
            panic!("{name}")
        };
        assert_eq!(done.affected, 2, "{name}");
        let [(Progress::Refused(error), ..)] = &outcome("text-error")[..] else { panic!("{name}") };
        assert_eq!((error.code, error.sqlstate.as_str()), (1146, "42S02"), "{name}");
        assert!(error.message.contains("nowhere"), "{name}: {}", error.message);
        let several = outcome("text-several");
        let shapes: Vec<(bool, u64)> =
            several.iter().map(|(_, has_rows, rows)| (*has_rows, *rows)).collect();
        assert_eq!(shapes, [(true, 1), (false, 0), (true, 1)], "{name}");
    }
}

#[test]
fn captured_prepares_describe_the_packets_that_follow() {
    for (name, (is_ok_terminated, entries)) in captures() {
        let capabilities = capabilities(is_ok_terminated);
        let mut input = PacketBuffer::default();
        input.expect(1);
        let mut rest = entries["prepare"].as_slice();
        while !rest.is_empty() {
            let room = input.space();
            let (now, later) = rest.split_at(room.len().min(rest.len()));
            room[..now.len()].copy_from_slice(now);
            rest = later;
            input.received(now.len());
        }
        let first = input.pop().unwrap().unwrap();
        let prepared = Prepared::decode(input.payload(first)).unwrap();
        assert_eq!((prepared.parameters, prepared.columns), (2, 6), "{name}");
        let mut columns = Vec::new();
        for i in 0..prepared.packets_behind(capabilities) {
            let span = input.pop().unwrap().unwrap();
            if prepared.is_column(i, capabilities) {
                columns.push(Column::decode(input.payload(span)).unwrap());
            }
        }
        assert!(input.is_drained(), "{name}");
        assert_eq!(columns.len(), 6, "{name}");
        assert!(columns[0].is_unsigned && columns[0].is_integer(), "{name}");
        assert_eq!(columns[2].decimals, 6, "{name}");
    }
}

/// A reply of arbitrary payloads in valid packets, which reaches more of the decoders than random
/// bytes.
fn packets() -> impl Strategy<Value = Vec<u8>> {
    let payload = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..40),
        // Heads: number of columns.
        (1_u8..4).prop_map(|columns| vec![columns]),
        // Definitions.
        (any::<u8>(), any::<u8>(), any::<u8>()).prop_map(|(kind, flags, decimals)| {
            [&b"\x03def\0\0\0\0\0\x0c\x21\0\0\0\0\0"[..], &[kind, flags, 0, decimals, 0, 0]]
                .concat()
        }),
        // EOF, OK with 0xFE, with and without more results.
        Just(b"\xfe\0\0\x02\0".to_vec()),
        Just(b"\xfe\0\0\x02\0\0\0".to_vec()),
        Just(b"\xfe\0\0\x0a\0\0\0".to_vec()),
        Just(b"\0\0\0\x0a\0\0\0".to_vec()),
    ];
    proptest::collection::vec(payload, 1..12).prop_map(|payloads| {
        let mut out = Vec::new();
        let mut sequence = 1;
        for payload in payloads {
            let at = begin(&mut out);
            out.extend_from_slice(&payload);
            sequence = finish(&mut out, at, sequence);
        }
        out
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn captured_replies_split_anywhere_are_decoded_alike(pieces in proptest::collection::vec(1_usize..50, 1..20)) {
        for (_, (is_ok_terminated, entries)) in captures() {
            for (name, bytes) in entries.iter().filter(|(name, _)| *name != "prepare") {
                let encoding = if name == "binary-rows" { Encoding::Binary } else { Encoding::Text };
                let capabilities = capabilities(is_ok_terminated);
                let (mut whole, mut cut) = (Table::default(), Table::default());
                let expected = decode(bytes, &[usize::MAX], capabilities, encoding, &mut whole).unwrap();
                prop_assert_eq!(&decode(bytes, &pieces, capabilities, encoding, &mut cut).unwrap(), &expected);
                prop_assert_eq!(whole.0, cut.0);
                prop_assert_eq!(decode(bytes, &pieces, capabilities, encoding, &mut Discard).unwrap(), expected);
            }
        }
    }

    #[test]
    fn arbitrary_packets_split_anywhere_are_decoded_or_fail_alike(
        bytes in packets(),
        pieces in proptest::collection::vec(1_usize..9, 1..9),
        is_ok_terminated: bool,
        has_cached_metadata: bool,
        is_text: bool,
    ) {
        let capabilities = Capabilities { is_ok_terminated, has_cached_metadata };
        let encoding = if is_text { Encoding::Text } else { Encoding::Binary };
        let (mut whole, mut cut) = (Table::default(), Table::default());
        let expected = decode(&bytes, &[usize::MAX], capabilities, encoding, &mut whole);
        prop_assert_eq!(decode(&bytes, &pieces, capabilities, encoding, &mut cut), expected);
        prop_assert_eq!(whole.0, cut.0);
        let passed = decode(&bytes, &[usize::MAX], capabilities, encoding, &mut Discard);
        prop_assert_eq!(decode(&bytes, &pieces, capabilities, encoding, &mut Discard), passed);
    }

    #[test]
    fn arbitrary_bytes_never_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        pieces in proptest::collection::vec(1_usize..99, 1..5),
    ) {
        for is_ok_terminated in [false, true] {
            for encoding in [Encoding::Text, Encoding::Binary] {
                let _ = decode(&bytes, &pieces, capabilities(is_ok_terminated), encoding, &mut Table::default());
                let _ = decode(&bytes, &pieces, capabilities(is_ok_terminated), encoding, &mut Discard);
            }
        }
        let _ = (Greeting::decode(&bytes), AuthReply::decode(&bytes), ServerError::decode(&bytes));
        let _ = (Prepared::decode(&bytes), Column::decode(&bytes));
    }

    #[test]
    fn a_template_keeps_the_text_between_parameters(
        parts in proptest::collection::vec("[a-z ']{0,9}", 1..5),
        values in proptest::collection::vec(any::<i64>(), 4),
    ) {
        let sql = parts.join("?");
        let template = template::parse(&sql, literal::Backslash::Escapes);
        // An odd number of quotes before a question mark makes it part of a string.
        let mut quotes = 0;
        let mut expected = parts[0].clone();
        let mut used = 0;
        for (i, part) in parts.iter().enumerate().skip(1) {
            quotes += parts[i - 1].matches('\'').count();
            if quotes % 2 == 0 {
                expected += &values[used].to_string();
                used += 1;
            } else {
                expected.push('?');
            }
            expected += part;
        }
        prop_assert_eq!(template.parameters(), used);
        let values: Vec<Value<'_>> = values[..used].iter().map(|value| Value::Integer(*value)).collect();
        let mut out = Vec::new();
        let write = |value: &Value<'_>, out: &mut Vec<u8>| literal::write_literal(out, value, literal::Backslash::Escapes);
        prop_assert!(template.fill(&values, &mut out, write));
        prop_assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
