//! Measures the cost of encoding and decoding one point select, without sockets: `cargo run
//! --release --example mysql_codec_cost`.
//!
//! The reply is that of MariaDB to `SELECT c FROM sbtest1 WHERE id = ?`: one column of 119
//! characters, one row.
#![expect(clippy::print_stdout, reason = "printing is what this program is for")]

use dyno_drivers::mysql::protocol::column::kind;
use dyno_drivers::mysql::protocol::command;
use dyno_drivers::mysql::protocol::literal::{Backslash, write_literal};
use dyno_drivers::mysql::protocol::packet::{PacketBuffer, begin, finish};
use dyno_drivers::mysql::protocol::reply::{Capabilities, Progress, Reply, RowSpace};
use dyno_drivers::mysql::protocol::row::Encoding;
use dyno_drivers::mysql::protocol::template;
use dyno_drivers::{Discard, Row, RowSink, Value};
use std::hint::black_box;
use std::time::Instant;

/// Rounds of each of the nine measurements.
const ROUNDS: u32 = 100_000;

/// Reads the first field, like a workload that uses its results.
#[derive(Default)]
struct Look(usize);

impl RowSink for Look {
    fn row(&mut self, row: &dyn Row) {
        if let Value::Text(text) = row.get(0) {
            self.0 += text.len();
        }
    }
}

fn main() {
    println!("median of 9 times {ROUNDS} rounds, nanoseconds per statement");
    let mut out = Vec::new();
    let mut kinds = [kind::NULL];
    let mut is_first = true;
    let encode = median(|i| {
        out.clear();
        command::execute(&mut out, 7, &[Value::Integer(i.into())], &mut kinds, is_first);
        is_first = false;
        black_box(&out);
    });
    println!("{encode:6.1}  encode execute, one integer");
    let template = template::parse("SELECT c FROM sbtest1 WHERE id=?", Backslash::Escapes);
    let encode = median(|i| {
        out.clear();
        let at = command::begin_query(&mut out);
        template.fill(&[Value::Integer(i.into())], &mut out, |value, out| {
            write_literal(out, value, Backslash::Escapes)
        });
        finish(&mut out, at, 0);
        black_box(&out);
    });
    println!("{encode:6.1}  encode text, one integer");
    let mut input = PacketBuffer::default();
    let mut space = RowSpace::default();
    for rows in [1, 100] {
        for (capabilities, name) in [
            (
                Capabilities { is_ok_terminated: true, has_cached_metadata: true },
                "definitions left out",
            ),
            (
                Capabilities { is_ok_terminated: true, has_cached_metadata: false },
                "definitions, no EOF",
            ),
            (
                Capabilities { is_ok_terminated: false, has_cached_metadata: false },
                "definitions and EOF",
            ),
        ] {
            let bytes = reply(capabilities, rows);
            let discard = median(|_| {
                receive(&bytes, capabilities, &mut input, &mut space, &mut Discard);
            });
            let look = median(|_| {
                let mut look = Look::default();
                receive(&bytes, capabilities, &mut input, &mut space, &mut look);
                black_box(look.0);
            });
            println!("{discard:6.1}  decode {rows} rows, discarded, {name}");
            println!("{look:6.1}  decode {rows} rows, looked at, {name}");
        }
    }
}

fn median(mut round: impl FnMut(u32)) -> f64 {
    let mut times: Vec<f64> = (0..9)
        .map(|_| {
            let rounds = ROUNDS;
            let start = Instant::now();
            for i in 0..rounds {
                round(i);
            }
            start.elapsed().as_nanos() as f64 / f64::from(rounds)
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[4]
}

fn receive<S: RowSink>(
    bytes: &[u8],
    capabilities: Capabilities,
    input: &mut PacketBuffer,
    space: &mut RowSpace,
    sink: &mut S,
) {
    let column = dyno_drivers::mysql::protocol::column::Column {
        kind: 254,
        is_unsigned: false,
        decimals: 0,
    };
    let mut reply = Reply::new(capabilities, Encoding::Binary);
    input.expect(1);
    let mut rest = bytes;
    loop {
        match reply.advance(input, space, &[column], sink) {
            Ok(Progress::NeedMore) => {
                let room = input.space();
                let (now, later) = rest.split_at(room.len().min(rest.len()));
                room[..now.len()].copy_from_slice(now);
                rest = later;
                input.received(now.len());
            }
            Ok(Progress::Complete(done)) => {
                black_box(done);
                return;
            }
            other => unreachable!("{other:?}"),
        }
    }
}

fn reply(capabilities: Capabilities, rows: usize) -> Vec<u8> {
    let mut payloads: Vec<Vec<u8>> = Vec::new();
    if capabilities.has_cached_metadata {
        payloads.push(vec![1, 0]);
    } else {
        payloads.push(vec![1]);
        payloads.push(
            b"\x03def\x06sbtest\x07sbtest1\x07sbtest1\x01c\x01c\x0c\x2d\0\xe0\x01\0\0\xfe\x01\0\0\0\0"
                .to_vec(),
        );
    }
    let eof = b"\xfe\0\0\x02\0";
    if !capabilities.is_ok_terminated {
        payloads.push(eof.to_vec());
    }
    for _ in 0..rows {
        payloads.push([&[0, 0, 119][..], &[b'x'; 119]].concat());
    }
    payloads.push(if capabilities.is_ok_terminated {
        b"\xfe\0\0\x02\0\0\0".to_vec()
    } else {
        eof.to_vec()
    });
    let mut out = Vec::new();
    let mut sequence = 1;
    for payload in payloads {
        let at = begin(&mut out);
        out.extend_from_slice(&payload);
        sequence = finish(&mut out, at, sequence);
    }
    out
}
