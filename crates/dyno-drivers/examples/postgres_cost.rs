//! What the PostgreSQL driver costs.
//!
//! ```text
//! cargo run --release --example postgres_cost [-- SOCKET-FILE USER]
//! ```
//! Without arguments: nanoseconds to encode a prepared point select and to decode its answer, in
//! memory. With the unix socket of a server that lets USER in without a password: round trips in
//! each mode, and the time to load 250,000 sbtest rows into a table of database `postgres`, which
//! is dropped afterwards.
#![allow(clippy::print_stdout, reason = "a program for people")]

use dyno_drivers::postgres::Connection;
use dyno_drivers::postgres::protocol::backend::Column;
use dyno_drivers::postgres::protocol::frontend::{execute, result_formats};
use dyno_drivers::postgres::protocol::inbox::Inbox;
use dyno_drivers::postgres::protocol::oid;
use dyno_drivers::postgres::protocol::parameter::ParameterType;
use dyno_drivers::postgres::protocol::reply::{Progress, Reply, Shape};
use dyno_drivers::{
    BulkLoad, Discard, Driver, FirstInteger, Io, Row, RowSink, RowSource, RowWriter, Value,
    block_on,
};
use dyno_model::failure::OperationFailure;
use dyno_model::target::{Endpoint, Engine, QueryMode, Target};
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: u32 = 2_000_000;
const STATEMENTS: u32 = 20_000;
const ROWS: u64 = 250_000;

/// BindComplete, one row of `SELECT c FROM sbtest1 WHERE id=?`, CommandComplete, ReadyForQuery.
fn answer(rows: usize) -> Vec<u8> {
    let mut bytes = b"2\0\0\0\x04".to_vec();
    for _ in 0..rows {
        bytes.extend(b"D\0\0\0\x81\0\x01\0\0\0\x77");
        bytes.extend([b'7'; 119]);
    }
    bytes.extend(b"C\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I");
    bytes
}

/// Looks at the first field of every row.
struct Length(usize);

impl RowSink for Length {
    fn row(&mut self, row: &dyn Row) {
        if let Value::Text(text) = row.get(0) {
            self.0 += text.len();
        }
    }
}

/// Processor time per round of a function, nanoseconds. Not the clock's time, which other programs
/// lengthen.
fn time(mut round: impl FnMut(u32)) -> f64 {
    (0..ROUNDS / 10).for_each(&mut round);
    let begun = processor_seconds();
    (0..ROUNDS).for_each(round);
    (processor_seconds() - begun) * 1e9 / f64::from(ROUNDS)
}

fn decode<S: RowSink>(bytes: &[u8], mut sink: S) -> f64 {
    let columns = vec![Column { type_oid: 1042, is_binary: false }];
    let mut shape = Shape { columns, returns_rows: true, is_described: true, ..Shape::default() };
    let (mut inbox, mut fields) = (Inbox::default(), Vec::new());
    time(|_| {
        let mut rest = bytes;
        let mut reply = Reply::default();
        let mut progress = Progress::More;
        while progress == Progress::More {
            let room = inbox.room();
            let count = room.len().min(rest.len());
            room[..count].copy_from_slice(&rest[..count]);
            inbox.received(count);
            rest = &rest[count..];
            progress =
                reply.read(&mut inbox, &mut shape, &mut fields, &mut sink).expect("a right answer");
        }
        black_box(&reply.outcome);
    })
}

fn in_memory() {
    let formats = result_formats(&[Column { type_oid: oid::INT4, is_binary: true }]);
    let types = [ParameterType::Int4; 4];
    let mut output = Vec::new();
    let mut encode = |values: usize| {
        time(|round| {
            output.clear();
            let four = black_box([Value::Integer(i64::from(round)); 4]);
            execute(Some(0), &types, &formats, &four[..values], &mut output, false);
            black_box(&output);
        })
    };
    println!("{:<58} {:>8}", "in memory", "ns");
    println!("{:<58} {:>8.1}", "encode, 1 integer", encode(1));
    println!("{:<58} {:>8.1}", "encode, 4 integers", encode(4));
    println!("{:<58} {:>8.1}", "decode 1 row of 119 bytes, discarded", decode(&answer(1), Discard));
    println!(
        "{:<58} {:>8.1}",
        "decode 1 row of 119 bytes, looked at",
        decode(&answer(1), Length(0))
    );
    println!(
        "{:<58} {:>8.1}",
        "decode 100 rows of 119 bytes, discarded",
        decode(&answer(100), Discard)
    );
    println!(
        "{:<58} {:>8.1}",
        "decode 100 rows of 119 bytes, looked at",
        decode(&answer(100), Length(0))
    );
}

/// Rows as sysbench's `oltp_common.lua` makes them: id, k, c of 119 and pad of 59 characters.
struct SbtestRows {
    next: u64,
    state: u64,
    text: String,
}

impl SbtestRows {
    fn digits(&mut self, groups: usize) -> &str {
        self.text.clear();
        for group in 0..groups {
            if group > 0 {
                self.text.push('-');
            }
            self.state = self
                .state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let mut digits = self.state >> 20;
            for _ in 0..11 {
                self.text.push(char::from(b'0' + (digits % 10) as u8));
                digits /= 10;
            }
        }
        &self.text
    }
}

impl RowSource for SbtestRows {
    fn next(&mut self, row: &mut dyn RowWriter) -> bool {
        if self.next == ROWS {
            return false;
        }
        self.next += 1;
        row.integer(self.next as i64);
        row.integer((self.next * 7919 % ROWS) as i64 + 1);
        row.text(self.digits(10));
        row.text(self.digits(5));
        true
    }
}

/// Processor time of this process in seconds (user and system); Linux counts it in nanoseconds
/// here.
fn processor_seconds() -> f64 {
    let schedstat = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    schedstat.split(' ').next().and_then(|first| first.parse::<f64>().ok()).unwrap_or(f64::NAN)
        / 1e9
}

/// Wall-clock seconds and processor seconds of what is done.
fn clocked<T>(
    work: impl FnOnce() -> Result<T, OperationFailure>,
) -> Result<(f64, f64), OperationFailure> {
    let (begun, processor) = (Instant::now(), processor_seconds());
    work()?;
    Ok((begun.elapsed().as_secs_f64(), processor_seconds() - processor))
}

fn on_a_server(target: &Target) -> Result<(), OperationFailure> {
    let mut connection = block_on(Connection::connect(target, &Io::Blocking))?;
    let table = "CREATE TABLE dyno_postgres_cost (id int, k int NOT NULL, c char(120) NOT NULL, pad char(60) NOT NULL)";
    block_on(connection.query("DROP TABLE IF EXISTS dyno_postgres_cost", &mut Discard))?;
    block_on(connection.query(table, &mut Discard))?;
    println!("\n{:<58} {:>8} {:>8}", "on a server", "s", "CPU s");
    let load = BulkLoad { table: "dyno_postgres_cost", columns: &["id", "k", "c", "pad"] };
    let mut rows = SbtestRows { next: 0, state: 1, text: String::new() };
    let (wall, processor) = clocked(|| block_on(connection.bulk_load(&load, &mut rows)))?;
    println!("{:<58} {wall:>8.3} {processor:>8.2}", "COPY of 250,000 sbtest rows, without keys");
    for sql in ["ADD PRIMARY KEY (id)", "ADD UNIQUE (k, id)"] {
        let sql = format!("ALTER TABLE dyno_postgres_cost {sql}");
        let (wall, processor) = clocked(|| block_on(connection.query(&sql, &mut Discard)))?;
        println!("{sql:<58} {wall:>8.3} {processor:>8.2}");
    }
    println!("\n{:<58} {:>8} {:>8}", "one client, per point select", "µs", "CPU µs");
    for mode in [QueryMode::Prepared, QueryMode::Extended, QueryMode::Simple] {
        let mut connection = block_on(Connection::connect(
            &Target { query_mode: mode, ..target.clone() },
            &Io::Blocking,
        ))?;
        let select = block_on(connection.prepare("SELECT k FROM dyno_postgres_cost WHERE id=?"))?;
        let (wall, processor) = clocked(|| {
            for number in 0..STATEMENTS {
                let id = [Value::Integer(i64::from(number) + 1)];
                let mut k = FirstInteger::default();
                block_on(connection.execute(select, &id, &mut k))?;
                assert!(k.0.is_some(), "row {number} was loaded");
            }
            Ok(())
        })?;
        let per = 1e6 / f64::from(STATEMENTS);
        println!("{:<58} {:>8.1} {:>8.1}", format!("{mode:?}"), wall * per, processor * per);
    }
    block_on(connection.query("DROP TABLE dyno_postgres_cost", &mut Discard))?;
    block_on(connection.close());
    Ok(())
}

fn main() -> Result<(), OperationFailure> {
    in_memory();
    let mut arguments = std::env::args().skip(1);
    if let (Some(socket), Some(user)) = (arguments.next(), arguments.next()) {
        let mut target = Target::new(Engine::Postgres, Endpoint::Unix(socket.into()));
        target.user = user;
        "postgres".clone_into(&mut target.database);
        on_a_server(&target)?;
    }
    Ok(())
}
