//! What `mysql_common` and `postgres-protocol` cost for the work that dyno's own protocols do,
//! without sockets.
//!
//! `cargo run --release` here; dyno's figures come from the examples `mysql_codec_cost` and
//! `postgres_cost` of dyno-drivers. docs/decisions/015-libraries.md says what follows from them.
use bytes::BytesMut;
use dyno_drivers::postgres::protocol::scram::{Scram, salted_password};
use fallible_iterator::FallibleIterator as _;
use mysql_common::constants::{ColumnFlags, ColumnType};
use mysql_common::io::ParseBuf;
use mysql_common::packets::Column;
use mysql_common::proto::Binary;
use mysql_common::proto::codec::PacketCodec;
use mysql_common::row::RowDeserializer;
use mysql_common::value::{ServerSide, Value};
use postgres_protocol::IsNull;
use postgres_protocol::authentication::sasl::{ChannelBinding, ScramSha256};
use postgres_protocol::message::{backend::Message, frontend};
use std::hint::black_box;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Instant;

/// Median over nine series of the nanoseconds that one call takes.
fn cost(calls: u32, mut call: impl FnMut(u32)) -> f64 {
    let mut series = [(); 9].map(|()| {
        let start = Instant::now();
        (0..calls).for_each(&mut call);
        start.elapsed().as_nanos() as f64 / f64::from(calls)
    });
    series.sort_by(f64::total_cmp);
    series[4]
}

/// The answer to a prepared select: one column of 119 characters. The codec expects packets
/// numbered from 0.
fn mysql_answer(rows: usize) -> Vec<u8> {
    let definition =
        b"\x03def\x06sbtest\x07sbtest1\x07sbtest1\x01c\x01c\x0c\x2d\0\xe0\x01\0\0\xfe\x01\0\0\0\0";
    let mut packets = vec![vec![1], definition.to_vec()];
    packets.extend((0..rows).map(|_| [&[0, 0, 119][..], &[b'x'; 119]].concat()));
    packets.push(b"\xfe\0\0\x02\0\0\0".to_vec());
    let framed = packets.iter().enumerate().map(|(number, packet)| {
        [&(packet.len() as u32).to_le_bytes()[..3], &[number as u8], packet].concat()
    });
    framed.collect::<Vec<_>>().concat()
}

fn mysql(rows: usize, look: bool) {
    let answer = mysql_answer(rows);
    let column = Column::new(ColumnType::MYSQL_TYPE_STRING).with_flags(ColumnFlags::empty());
    let columns: Arc<[Column]> = Arc::from([column]);
    let (mut source, mut packet, mut codec) = (BytesMut::new(), Vec::new(), PacketCodec::default());
    let mut length = 0;
    let nanos = cost(100_000, |_| {
        source.extend_from_slice(&answer);
        codec.reset_seq_id();
        packet.clear();
        while codec.decode(&mut source, &mut packet).expect("packets in sequence") {
            if look && packet.first() == Some(&0) {
                let row: RowDeserializer<ServerSide, Binary> =
                    ParseBuf(&packet).parse(columns.clone()).expect("a row");
                if let Some(Value::Bytes(text)) = row.into_inner().as_ref(0) {
                    length += std::str::from_utf8(text).map_or(0, str::len);
                }
            }
            packet.clear();
        }
    });
    black_box(length);
    println!("{nanos:10.1} ns  mysql_common, {rows} rows, {}", if look { "looked at" } else { "discarded" });
}

fn postgres(rows: usize, look: bool) {
    let row = [&b"D\0\0\0\x81\0\x01\0\0\0\x77"[..], &[b'7'; 119]].concat();
    let answer = [&b"2\0\0\0\x04"[..], &row.repeat(rows), b"C\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I"].concat();
    let mut buffer = BytesMut::with_capacity(16 * 1024);
    let mut length = 0;
    let nanos = cost(100_000, |_| {
        buffer.extend_from_slice(&answer);
        while let Some(message) = Message::parse(&mut buffer).expect("a message") {
            match message {
                Message::DataRow(row) if look => {
                    let range = row.ranges().next().expect("ranges").flatten().expect("a value");
                    length += std::str::from_utf8(&row.buffer()[range]).map_or(0, str::len);
                }
                Message::ReadyForQuery(_) => break,
                _ => {}
            }
        }
    });
    black_box(length);
    println!(
        "{nanos:10.1} ns  postgres-protocol, {rows} rows, {}",
        if look { "looked at" } else { "discarded" }
    );
}

fn encode() {
    let mut buffer = BytesMut::with_capacity(16 * 1024);
    let nanos = cost(1_000_000, |i| {
        buffer.clear();
        let integer = |value: i32, out: &mut BytesMut| {
            out.extend_from_slice(&value.to_be_bytes());
            Ok(IsNull::No)
        };
        assert!(frontend::bind("", "s0", [1], [i as i32], integer, [1], &mut buffer).is_ok());
        frontend::execute("", 0, &mut buffer).expect("no NUL in names");
        frontend::sync(&mut buffer);
        black_box(&buffer);
    });
    println!("{nanos:10.1} ns  postgres-protocol, bind, execute and sync of one integer");
}

fn scram() {
    const NONCE: &str = "abcdefghijklmnopqrstuvwx";
    let server = |nonce: &str| format!("r={nonce}server,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096");
    let library = cost(200, |_| {
        let mut login = ScramSha256::new(b"pencil", ChannelBinding::unrequested());
        let first = String::from_utf8(login.message().to_vec()).expect("text");
        let (_, nonce) = first.split_once(",r=").expect("a nonce");
        login.update(server(nonce).as_bytes()).expect("an answer");
        black_box(login.message().len());
    });
    println!("{library:10.1} ns  postgres-protocol, SCRAM, any login");
    let ours = |derive: fn(&[u8], NonZeroU32) -> [u8; 32]| {
        move |_| {
            let mut login = Scram::new("", NONCE);
            black_box(login.answer(server(NONCE).as_bytes(), derive).expect("an answer"));
        }
    };
    println!(
        "{:10.1} ns  dyno, SCRAM, first login of a user",
        cost(200, ours(|salt, n| salted_password("pencil", salt, n)))
    );
    println!("{:10.1} ns  dyno, SCRAM, further logins of this user", cost(20_000, ours(|_, _| [7; 32])));
}

fn main() {
    for look in [false, true] {
        for rows in [1, 100] {
            mysql(rows, look);
            postgres(rows, look);
        }
    }
    encode();
    scram();
}
