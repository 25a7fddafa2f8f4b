//! Loading many rows: `LOAD DATA LOCAL INFILE` where the server allows it, otherwise multi-row
//! `INSERT` statements.
//!
//! Either way the load is one transaction. `LOAD DATA LOCAL` only warns about duplicate keys and
//! invalid values, where `INSERT` fails; here warnings roll the load back and fail it, so that both
//! methods accept the same rows.
//!
//! Tried and rejected: MariaDB's `COM_STMT_BULK_EXECUTE` with binary rows (4 % less CPU of the
//! server than `LOAD DATA`), and `unique_checks=0`, which makes InnoDB sort rows before it inserts
//! them (MariaDB 10.11 then needs twice the CPU).

use super::connection::Connection;
use super::error::kind;
use super::protocol::literal::{Backslash, write_literal, write_load_data};
use super::protocol::packet;
use super::protocol::{command, reply::Done};
use crate::driver::{Driver, Outcome, Result};
use crate::sql_text::append_name;
use crate::value::{
    BulkLoad, Discard, FirstInteger, RowSource, RowWriter, Table, Value, append_integer,
};
use dyno_model::failure::{FailureKind, OperationFailure};

/// Bytes per packet and write of `LOAD DATA`.
const CHUNK: usize = 256 * 1024;
/// Maximum length of `INSERT` statements, where the server allows it and no single row is longer.
/// MariaDB 10.11 took 6.0 s of CPU for a million rows of sysbench in statements of 1 MiB, 5.7 s in
/// 256 KiB, and 5.3 s in 64 KiB, which stay in its caches more often.
const INSERT_MAX: usize = 64 * 1024;

/// Character set of `LOAD DATA`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// Bytes are stored unchanged, which is correct for ASCII text in nearly all character sets. It
    /// saves the server a quarter of the work, measured with sysbench's rows on MariaDB 10.11.
    Bytes,
    /// UTF-8, converted for each column.
    Utf8,
}

pub(super) async fn load(
    connection: &mut Connection,
    load: &BulkLoad<'_>,
    rows: &mut dyn RowSource,
) -> Result<u64> {
    let reading = choose_reading(connection, load).await?;
    connection.query("START TRANSACTION", &mut Discard).await?;
    let loaded = match request_data(connection, load, reading).await {
        Ok(()) => send_data(connection, load, rows, reading).await,
        // Compatible servers refuse it with numbers of their own. Where the reason concerns the
        // table, INSERT fails with the same one.
        Err(failure) if failure.is_refusal() => insert(connection, load, rows).await,
        Err(failure) => Err(failure),
    };
    connection.output = Vec::new();
    match loaded {
        Ok(count) => connection.query("COMMIT", &mut Discard).await.map(|_| count),
        Err(failure) => {
            // If this fails too, the connection and its transaction are lost.
            let _ = connection.query("ROLLBACK", &mut Discard).await;
            Err(failure)
        }
    }
}

/// ASCII bytes mean the same characters in all character sets but these.
async fn choose_reading(connection: &mut Connection, load: &BulkLoad<'_>) -> Result<Reading> {
    let mut sql =
        b"SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE() \
        AND character_set_name IN ('ucs2', 'utf16', 'utf16le', 'utf32', 'swe7') AND table_name = "
            .to_vec();
    write_literal(&mut sql, &Value::Text(load.table), connection.backslash());
    let mut unlike_ascii = FirstInteger::default();
    connection.send_query(&sql).await?;
    connection.receive_all(None, &mut unlike_ascii).await?;
    Ok(if unlike_ascii.0 == Some(0) { Reading::Bytes } else { Reading::Utf8 })
}

/// Starts `LOAD DATA`; the server then waits for data.
async fn request_data(
    connection: &mut Connection,
    load: &BulkLoad<'_>,
    reading: Reading,
) -> Result<()> {
    let mut sql = b"LOAD DATA LOCAL INFILE 'rows' INTO TABLE ".to_vec();
    append_name(load.table, b'`', &mut sql);
    // Under NO_BACKSLASH_ESCAPES these literals have another meaning; a hexadecimal one is not
    // allowed here.
    let (tab, backslash, newline) = match connection.backslash() {
        Backslash::Escapes => ("'\\t'", "'\\\\'", "'\\n'"),
        Backslash::EscapesWhereMarked | Backslash::IsPlain => ("'\t'", "'\\'", "'\n'"),
    };
    let set = match reading {
        Reading::Bytes => "binary",
        Reading::Utf8 => "utf8mb4",
    };
    let format = format!(
        " CHARACTER SET {set} FIELDS TERMINATED BY {tab} ESCAPED BY {backslash} LINES TERMINATED BY {newline} "
    );
    sql.extend_from_slice(format.as_bytes());
    write_columns(&mut sql, load.columns);
    connection.send_query(&sql).await?;
    connection.receive_file_request().await
}

fn write_columns(sql: &mut Vec<u8>, columns: &[&str]) {
    sql.push(b'(');
    for (i, column) in columns.iter().enumerate() {
        if i > 0 {
            sql.push(b',');
        }
        append_name(column, b'`', sql);
    }
    sql.push(b')');
}

/// Rows of one packet, which has been started but not finished.
struct Chunk {
    packet: Vec<u8>,
    rows: u64,
}

impl Chunk {
    /// Adds rows until there are enough bytes; false when there are no more rows.
    fn fill(&mut self, rows: &mut dyn RowSource) -> bool {
        self.packet.clear();
        self.rows = 0;
        packet::begin(&mut self.packet);
        while self.packet.len() < CHUNK {
            let end = self.packet.len();
            if !rows.next(&mut LoadDataRow { out: &mut self.packet, is_first: true }) {
                self.packet.truncate(end);
                return false;
            }
            self.packet.push(b'\n');
            self.rows += 1;
        }
        true
    }

    fn fits(&self, reading: Reading) -> bool {
        reading == Reading::Utf8 || self.packet[packet::HEADER..].is_ascii()
    }
}

/// Sends rows to the waiting statement. At the first non-ASCII characters it is ended and replaced
/// by another one, which converts them.
async fn send_data(
    connection: &mut Connection,
    load: &BulkLoad<'_>,
    rows: &mut dyn RowSource,
    mut reading: Reading,
) -> Result<u64> {
    let mut chunk = Chunk { packet: Vec::with_capacity(CHUNK + CHUNK / 16), rows: 0 };
    let mut loaded = 0;
    let mut has_more = chunk.fill(rows);
    loop {
        let mut sent = 0;
        while chunk.rows > 0 && chunk.fits(reading) {
            send_packet(connection, &mut chunk.packet).await?;
            sent += chunk.rows;
            chunk.rows = 0;
            if has_more {
                has_more = chunk.fill(rows);
            }
        }
        // An empty packet ends the data.
        let mut end = Vec::new();
        packet::begin(&mut end);
        send_packet(connection, &mut end).await?;
        let (outcome, done) = connection.receive_one(None, &mut Discard).await?;
        loaded += check_load_data(connection, sent, outcome, done).await?;
        if chunk.rows == 0 {
            return Ok(loaded);
        }
        reading = Reading::Utf8;
        request_data(connection, load, reading).await?;
    }
}

/// Sends the packet started in `packet`; its answer continues the sequence numbers. A packet of
/// many MiB is sent in pieces: ordinary splitting of one of exactly the maximum size would add an
/// empty packet, which ends the data.
pub(super) async fn send_packet(connection: &mut Connection, packet: &mut Vec<u8>) -> Result<()> {
    if packet.len() <= packet::PAYLOAD_MAX {
        return send_one(connection, packet).await;
    }
    for piece in packet[packet::HEADER..].chunks(CHUNK) {
        let mut part = Vec::with_capacity(packet::HEADER + piece.len());
        packet::begin(&mut part);
        part.extend_from_slice(piece);
        send_one(connection, &mut part).await?;
    }
    Ok(())
}

async fn send_one(connection: &mut Connection, packet: &mut Vec<u8>) -> Result<()> {
    let sequence = packet::finish(packet, 0, connection.input.sequence);
    connection.input.expect(sequence);
    match connection.stream.write_all(packet).await {
        Ok(()) => Ok(()),
        Err(error) => Err(connection.explain(error).await),
    }
}

async fn check_load_data(
    connection: &mut Connection,
    sent: u64,
    outcome: Outcome,
    done: Done,
) -> Result<u64> {
    if outcome.affected == sent && done.warnings == 0 {
        return Ok(sent);
    }
    let mut warnings = Table::default();
    connection.query("SHOW WARNINGS LIMIT 1", &mut warnings).await?;
    let (code, text) = match warnings.0.first().map(Vec::as_slice) {
        Some([_, Some(code), Some(text)]) => (code.parse().unwrap_or(0), text.clone()),
        _ => (0, "no warning returned".to_owned()),
    };
    let message =
        format!("{} of {sent} rows loaded, {} warnings: {text}", outcome.affected, done.warnings);
    let kind = kind(connection.identity.product, code, "");
    Err(OperationFailure { code: code.into(), ..kind.failure(message) })
}

async fn insert(
    connection: &mut Connection,
    load: &BulkLoad<'_>,
    rows: &mut dyn RowSource,
) -> Result<u64> {
    let mut allowed = FirstInteger::default();
    connection.query("SELECT @@max_allowed_packet", &mut allowed).await?;
    let allowed = allowed.0.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(INSERT_MAX);
    let mut head = b"INSERT INTO ".to_vec();
    append_name(load.table, b'`', &mut head);
    head.push(b' ');
    write_columns(&mut head, load.columns);
    head.extend_from_slice(b" VALUES ");
    let backslash = connection.backslash();
    let limit = INSERT_MAX.min(allowed);
    let mut loaded = 0;
    // A row that did not fit starts the next statement.
    let mut row = Vec::new();
    let mut has_more = next_tuple(rows, &mut row, backslash);
    while has_more {
        connection.make_ready().await?;
        let mut out = std::mem::take(&mut connection.output);
        out.clear();
        let at = command::begin_query(&mut out);
        out.extend_from_slice(&head);
        out.extend_from_slice(&row);
        let mut count = 1;
        loop {
            has_more = next_tuple(rows, &mut row, backslash);
            if !has_more || out.len() + row.len() + 1 > limit {
                break;
            }
            out.push(b',');
            out.extend_from_slice(&row);
            count += 1;
        }
        if out.len() > allowed {
            let size = out.len();
            return Err(FailureKind::BadStatement.failure(format!(
                "a single row needs a statement of {size} bytes, but max_allowed_packet is \
                     {allowed}; raise it on the server"
            )));
        }
        let sequence = packet::finish(&mut out, at, 0);
        connection.output = out;
        connection.send(sequence, super::protocol::row::Encoding::Text).await?;
        connection.receive_all(None, &mut Discard).await?;
        loaded += count;
    }
    Ok(loaded)
}

/// Writes the next row as `(1,'a',NULL)`; false when there are no more rows.
fn next_tuple(rows: &mut dyn RowSource, row: &mut Vec<u8>, backslash: Backslash) -> bool {
    row.clear();
    row.push(b'(');
    let has_row = rows.next(&mut TupleRow { out: row, backslash });
    row.push(b')');
    has_row
}

/// A line of `LOAD DATA`.
struct LoadDataRow<'a> {
    out: &'a mut Vec<u8>,
    is_first: bool,
}

impl LoadDataRow<'_> {
    fn separate(&mut self) {
        if !std::mem::replace(&mut self.is_first, false) {
            self.out.push(b'\t');
        }
    }
}

impl RowWriter for LoadDataRow<'_> {
    fn integer(&mut self, value: i64) {
        self.separate();
        append_integer(value, self.out);
    }

    fn text(&mut self, value: &str) {
        self.separate();
        write_load_data(self.out, value.as_bytes());
    }

    fn null(&mut self) {
        self.separate();
        self.out.extend_from_slice(b"\\N");
    }
}

/// A row of `INSERT`.
struct TupleRow<'a> {
    out: &'a mut Vec<u8>,
    backslash: Backslash,
}

impl TupleRow<'_> {
    fn write(&mut self, value: &Value<'_>) {
        if self.out.len() > 1 {
            self.out.push(b',');
        }
        write_literal(self.out, value, self.backslash);
    }
}

impl RowWriter for TupleRow<'_> {
    fn integer(&mut self, value: i64) {
        self.write(&Value::Integer(value));
    }

    fn text(&mut self, value: &str) {
        self.write(&Value::Text(value));
    }

    fn null(&mut self) {
        self.write(&Value::Null);
    }
}
