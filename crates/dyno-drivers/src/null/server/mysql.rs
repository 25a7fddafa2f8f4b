//! The server side of the MySQL protocol, as far as benchmarks and command-line clients use it.
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_PROTOCOL.html>

use super::column::{Column, Columns};
use super::conversation::{Conversation, Shared, Stop, add};
use crate::mysql::protocol::command::write_string as text;
use crate::mysql::protocol::handshake::{capability, write_length_encoded};
use crate::mysql::protocol::packet::{self, HEADER, PAYLOAD_MAX};
use crate::null::statement::{StatementKind, first_word, skip_blanks, unquoted};

/// Some clients derive features from the version.
const VERSION: &[u8] = b"8.0.11-dyno-null-server";

/// The nonce of the login. Answers are not checked, so it need not be random.
const SALT: &[u8; 20] = b"dyno-null-server-sal";

const NATIVE_PASSWORD: &[u8] = b"mysql_native_password";

/// Number of bytes kept of a statement that is longer than a packet: enough for its first words.
const PREFIX: usize = 4096;

/// Result columns and parameters are counted in 16 bits.
const PARAMETERS_MAX: usize = u16::MAX as usize;

/// Capabilities handled below except TLS, and those that need no support: long passwords (0x1) and
/// flags, found rows (0x2), LOCAL INFILE, ignored blanks (0x100), interactive (0x400),
/// transactions, several results (text and prepared), connection attributes.
const OFFERED: u32 = capability::CONNECT_WITH_DB
    | capability::PROTOCOL_41
    | capability::SECURE_CONNECTION
    | capability::PLUGIN_AUTH
    | capability::PLUGIN_AUTH_LENGTH_ENCODED
    | capability::DEPRECATE_EOF
    | capability::LONG_FLAG
    | capability::LOCAL_FILES
    | capability::TRANSACTIONS
    | capability::MULTI_RESULTS
    | capability::PS_MULTI_RESULTS
    | capability::CONNECT_ATTRIBUTES
    | 0x1
    | 0x2
    | 0x100
    | 0x400;

const STATUS_AUTOCOMMIT: u16 = 0x2;
const STATUS_IN_TRANSACTION: u16 = 0x1;

pub(super) struct MysqlConversation {
    connection_number: u32,
    phase: Phase,
    deprecates_eof: bool,
    is_in_transaction: bool,
    statements: Vec<Option<Prepared>>,
    /// The beginning of a command that continues in further packets.
    long_command: Option<Vec<u8>>,
    answered: u64,
    canned: Canned,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Login,
    /// The client was asked to use its preferred authentication method.
    AuthenticationSwitch {
        is_caching_sha2: bool,
    },
    Ready,
    /// `LOAD DATA LOCAL`: data packets up to an empty one.
    Loading {
        rows: u64,
    },
}

struct Prepared {
    kind: StatementKind,
    answer: Answer,
}

/// The answer to a statement.
enum Answer {
    Ok,
    Rows(Columns),
    /// Two text columns without rows, as for some `SHOW` statements.
    NoRows,
    /// The name of the file that the client must send.
    SendFile(Vec<u8>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RowFormat {
    Text,
    Binary,
}

/// Replies encoded once per connection for the most frequent results: one text, one integer.
#[derive(Default)]
struct Canned(Vec<(Column, RowFormat, u16, Vec<u8>)>);

type Done = Result<(), Stop>;

impl Conversation for MysqlConversation {
    fn new(connection_number: u32) -> Self {
        Self {
            connection_number,
            phase: Phase::Login,
            deprecates_eof: false,
            is_in_transaction: false,
            statements: Vec::new(),
            long_command: None,
            answered: 0,
            canned: Canned::default(),
        }
    }

    fn greet(&mut self, shared: &Shared, out: &mut Vec<u8>) {
        let version = shared.options.persona.map_or(VERSION, |it| it.version.as_bytes());
        let offered = OFFERED.to_le_bytes();
        packet(0, out, |out| {
            out.push(10);
            out.extend_from_slice(version);
            out.push(0);
            out.extend_from_slice(&self.connection_number.to_le_bytes());
            out.extend_from_slice(&SALT[..8]);
            out.push(0);
            out.extend_from_slice(&offered[..2]);
            out.push(45);
            out.extend_from_slice(&STATUS_AUTOCOMMIT.to_le_bytes());
            out.extend_from_slice(&offered[2..]);
            out.push(21);
            out.extend_from_slice(&[0; 10]);
            out.extend_from_slice(&SALT[8..]);
            out.push(0);
            out.extend_from_slice(NATIVE_PASSWORD);
            out.push(0);
        });
    }

    fn take(&mut self, input: &[u8], shared: &Shared, out: &mut Vec<u8>) -> Result<usize, Stop> {
        let Some((sequence, payload)) = next_packet(input) else { return Ok(0) };
        self.receive(sequence, payload, shared, out)?;
        Ok(HEADER + payload.len())
    }
}

/// The first packet, if it is complete.
fn next_packet(input: &[u8]) -> Option<(u8, &[u8])> {
    let (header, rest) = input.split_first_chunk::<HEADER>()?;
    let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
    Some((header[3], rest.get(..length)?))
}

impl MysqlConversation {
    fn receive(
        &mut self,
        sequence: u8,
        payload: &[u8],
        shared: &Shared,
        out: &mut Vec<u8>,
    ) -> Done {
        let next = sequence.wrapping_add(1);
        match self.phase {
            Phase::Ready => self.take_command(sequence, payload, shared, out),
            Phase::Login => self.log_in(next, payload, out),
            Phase::AuthenticationSwitch { is_caching_sha2 } => {
                self.phase = Phase::Ready;
                if is_caching_sha2 && payload.len() > 1 {
                    packet(next, out, |out| out.extend_from_slice(&[1, 3]));
                    self.ok(next.wrapping_add(1), 0, out);
                } else {
                    self.ok(next, 0, out);
                }
                Ok(())
            }
            Phase::Loading { rows } if payload.is_empty() => {
                self.phase = Phase::Ready;
                add(&shared.counts.rows_loaded, rows);
                self.ok(next, rows, out);
                Ok(())
            }
            Phase::Loading { rows } => {
                let more = payload.iter().filter(|byte| **byte == b'\n').count() as u64;
                self.phase = Phase::Loading { rows: rows + more };
                Ok(())
            }
        }
    }

    fn log_in(&mut self, sequence: u8, payload: &[u8], out: &mut Vec<u8>) -> Done {
        let capabilities = payload.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        if capabilities & capability::PROTOCOL_41 == 0 {
            error(sequence, 1251, "08004", "the null server supports only protocol 4.1", out);
            return Err(Stop::HangUp);
        }
        if capabilities & capability::SSL != 0 {
            error(sequence, 1045, "28000", "the null server has no TLS; connect without it", out);
            return Err(Stop::HangUp);
        }
        self.deprecates_eof = capabilities & capability::DEPRECATE_EOF != 0;
        match plugin(capabilities, payload) {
            Some(name) if !name.is_empty() && name != NATIVE_PASSWORD => {
                self.phase = Phase::AuthenticationSwitch {
                    is_caching_sha2: name == b"caching_sha2_password",
                };
                packet(sequence, out, |out| {
                    out.push(0xfe);
                    out.extend_from_slice(name);
                    out.push(0);
                    out.extend_from_slice(SALT);
                    out.push(0);
                });
            }
            _ => {
                self.phase = Phase::Ready;
                self.ok(sequence, 0, out);
            }
        }
        Ok(())
    }

    /// Processes one packet of a command; a command of 16 MiB or more has several.
    fn take_command(
        &mut self,
        sequence: u8,
        payload: &[u8],
        shared: &Shared,
        out: &mut Vec<u8>,
    ) -> Done {
        let is_continued = payload.len() == PAYLOAD_MAX;
        match self.long_command.take() {
            Some(prefix) if is_continued => self.long_command = Some(prefix),
            Some(prefix) => return self.obey(&prefix, sequence.wrapping_add(1), shared, out),
            None if is_continued => self.long_command = Some(payload[..PREFIX].to_vec()),
            None => return self.obey(payload, 1, shared, out),
        }
        Ok(())
    }

    fn obey(&mut self, command: &[u8], sequence: u8, shared: &Shared, out: &mut Vec<u8>) -> Done {
        let (&code, body) = command.split_first().ok_or(Stop::HangUp)?;
        match code {
            0x17 => return self.execute(body, sequence, shared, out),
            // From an error for this query, MySQL's command-line client concludes that the server
            // has no dollar quoting.
            0x03 if body == b"select $$" => {
                error(sequence, 1064, "42000", "this is not a statement", out);
            }
            0x03 | 0x16 if let Some(it) = shared.rejection(body) => {
                if StatementKind::of(body) == StatementKind::Commit {
                    self.is_in_transaction = false;
                }
                error(sequence, it.code, it.sqlstate, it.message, out);
            }
            0x03 => {
                let kind = StatementKind::of(body);
                let answer = answer(kind, body, shared);
                return self.run(kind, &answer, RowFormat::Text, sequence, shared, out);
            }
            0x16 => self.prepare(body, sequence, shared, out),
            0x19 => self.forget(body),
            // Parameters sent in pieces have no answer.
            0x18 => {}
            0x01 => return Err(Stop::HangUp),
            // INIT_DB, PING, CHANGE_USER, STMT_RESET, RESET_CONNECTION
            0x02 | 0x0e | 0x11 | 0x1a | 0x1f => self.ok(sequence, 0, out),
            // FIELD_LIST, SET_OPTION, STMT_FETCH: an empty list.
            0x04 | 0x1b | 0x1c => self.end_of_rows(sequence, out),
            0x09 => packet(sequence, out, |out| out.extend_from_slice(b"dyno null server")),
            _ => error(sequence, 1047, "08S01", "the null server does not know this command", out),
        }
        Ok(())
    }

    fn prepare(&mut self, sql: &[u8], sequence: u8, shared: &Shared, out: &mut Vec<u8>) {
        let kind = StatementKind::of(sql);
        let answer = answer(kind, sql, shared);
        let parameters = count_parameters(sql);
        let columns: &[Column] = match &answer {
            Answer::Rows(columns) => columns.as_slice(),
            Answer::NoRows => &NO_ROWS,
            Answer::SendFile(_) => {
                // As real servers answer: the client then sends it as text.
                error(sequence, 1295, "HY000", "this command cannot be prepared", out);
                return;
            }
            Answer::Ok => &[],
        };
        add(&shared.counts.prepared, 1);
        let free =
            self.statements.iter().position(Option::is_none).unwrap_or(self.statements.len());
        let mut sequence = Sequence(sequence);
        packet(sequence.next(), out, |out| {
            out.push(0);
            out.extend_from_slice(&(free as u32 + 1).to_le_bytes());
            out.extend_from_slice(&(columns.len() as u16).to_le_bytes());
            out.extend_from_slice(&(parameters as u16).to_le_bytes());
            out.extend_from_slice(&[0; 3]);
        });
        for _ in 0..parameters {
            packet(sequence.next(), out, |out| definition(Column::Label, b"?", out));
        }
        if parameters > 0 && !self.deprecates_eof {
            self.end_of_rows(sequence.next(), out);
        }
        for column in columns {
            packet(sequence.next(), out, |out| definition(*column, name(*column), out));
        }
        if !columns.is_empty() && !self.deprecates_eof {
            self.end_of_rows(sequence.next(), out);
        }
        if free == self.statements.len() {
            self.statements.push(None);
        }
        self.statements[free] = Some(Prepared { kind, answer });
    }

    fn forget(&mut self, body: &[u8]) {
        if let Some(slot) =
            statement_number(body).and_then(|number| self.statements.get_mut(number))
        {
            *slot = None;
        }
    }

    fn execute(&mut self, body: &[u8], sequence: u8, shared: &Shared, out: &mut Vec<u8>) -> Done {
        let number = statement_number(body).unwrap_or(usize::MAX);
        let Some(prepared) = self.statements.get_mut(number).and_then(Option::take) else {
            error(sequence, 1243, "HY000", "unknown prepared statement", out);
            return Ok(());
        };
        let done =
            self.run(prepared.kind, &prepared.answer, RowFormat::Binary, sequence, shared, out);
        self.statements[number] = Some(prepared);
        done
    }

    fn run(
        &mut self,
        kind: StatementKind,
        answer: &Answer,
        format: RowFormat,
        sequence: u8,
        shared: &Shared,
        out: &mut Vec<u8>,
    ) -> Done {
        shared.turn(kind, &mut self.answered)?;
        match kind {
            StatementKind::Begin => self.is_in_transaction = true,
            StatementKind::Commit | StatementKind::Rollback => self.is_in_transaction = false,
            _ => {}
        }
        match answer {
            Answer::Ok => self.ok(sequence, u64::from(kind.is_write()), out),
            Answer::Rows(Columns::Single(column)) if sequence == 1 => {
                self.canned(*column, format, out);
            }
            Answer::Rows(columns) => self.result(columns.as_slice(), Some(format), sequence, out),
            Answer::NoRows => self.result(&NO_ROWS, None, sequence, out),
            Answer::SendFile(name) => {
                self.phase = Phase::Loading { rows: 0 };
                packet(sequence, out, |out| {
                    out.push(0xfb);
                    out.extend_from_slice(name);
                });
            }
        }
        Ok(())
    }

    fn canned(&mut self, column: Column, format: RowFormat, out: &mut Vec<u8>) {
        let status = self.status();
        let is_it = |entry: &&(Column, RowFormat, u16, Vec<u8>)| {
            (entry.0, entry.1, entry.2) == (column, format, status)
        };
        if let Some((.., bytes)) = self.canned.0.iter().find(is_it) {
            out.extend_from_slice(bytes);
            return;
        }
        let from = out.len();
        self.result(&[column], Some(format), 1, out);
        self.canned.0.push((column, format, status, out[from..].to_vec()));
    }

    /// Answers with columns, and one row if it has a format.
    fn result(&self, columns: &[Column], row: Option<RowFormat>, sequence: u8, out: &mut Vec<u8>) {
        let mut sequence = Sequence(sequence);
        packet(sequence.next(), out, |out| write_length_encoded(out, columns.len() as u64));
        for column in columns {
            packet(sequence.next(), out, |out| definition(*column, name(*column), out));
        }
        if !self.deprecates_eof {
            self.end_of_rows(sequence.next(), out);
        }
        if let Some(format) = row {
            packet(sequence.next(), out, |out| match format {
                RowFormat::Text => text_row(columns, out),
                RowFormat::Binary => binary_row(columns, out),
            });
        }
        self.end_of_rows(sequence.next(), out);
    }

    fn status(&self) -> u16 {
        STATUS_AUTOCOMMIT | if self.is_in_transaction { STATUS_IN_TRANSACTION } else { 0 }
    }

    fn ok(&self, sequence: u8, affected: u64, out: &mut Vec<u8>) {
        packet(sequence, out, |out| {
            out.push(0);
            write_length_encoded(out, affected);
            out.push(0);
            out.extend_from_slice(&self.status().to_le_bytes());
            out.extend_from_slice(&[0, 0]);
        });
    }

    /// An EOF packet, or the OK packet with its header that replaces it.
    fn end_of_rows(&self, sequence: u8, out: &mut Vec<u8>) {
        let [low, high] = self.status().to_le_bytes();
        packet(sequence, out, |out| {
            if self.deprecates_eof {
                out.extend_from_slice(&[0xfe, 0, 0, low, high, 0, 0]);
            } else {
                out.extend_from_slice(&[0xfe, 0, 0, low, high]);
            }
        });
    }
}

const NO_ROWS: [Column; 2] = [Column::Label, Column::Label];

/// Sequence numbers of the packets of one reply.
struct Sequence(u8);

impl Sequence {
    fn next(&mut self) -> u8 {
        let number = self.0;
        self.0 = number.wrapping_add(1);
        number
    }
}

/// Appends a packet whose payload `write` appends.
fn packet(sequence: u8, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let at = packet::begin(out);
    write(out);
    packet::finish(out, at, sequence);
}

fn error(sequence: u8, code: u16, state: &str, message: &str, out: &mut Vec<u8>) {
    packet(sequence, out, |out| {
        out.push(0xff);
        out.extend_from_slice(&code.to_le_bytes());
        out.push(b'#');
        out.extend_from_slice(state.as_bytes());
        out.extend_from_slice(message.as_bytes());
    });
}

fn name(column: Column) -> &'static [u8] {
    match column {
        Column::Text => b"c",
        Column::One | Column::Limit => b"k",
        Column::Label | Column::Constant(_) => b"name",
        Column::Null => b"NULL",
    }
}

/// A column definition of the same length as that of a sysbench table.
fn definition(column: Column, name: &[u8], out: &mut Vec<u8>) {
    // Character set, length, type, flags: a BIGINT, else CHAR(120) in utf8mb4, both NOT NULL.
    let (charset, length, kind) = match column.integer() {
        Some(_) => (63_u16, 20_u32, 0x08),
        None => (45, 480, 0xfe),
    };
    let flags: u16 = if column == Column::Null { 0 } else { 1 };
    for part in [b"def".as_slice(), b"sbtest", b"sbtest1", b"sbtest1", name, name] {
        text(out, part);
    }
    out.push(0x0c);
    out.extend_from_slice(&charset.to_le_bytes());
    out.extend_from_slice(&length.to_le_bytes());
    out.push(kind);
    out.extend_from_slice(&flags.to_le_bytes());
    out.extend_from_slice(&[0; 3]);
}

fn text_row(columns: &[Column], out: &mut Vec<u8>) {
    for column in columns {
        match column.text() {
            Some(bytes) => text(out, bytes),
            None => out.push(0xfb),
        }
    }
}

fn binary_row(columns: &[Column], out: &mut Vec<u8>) {
    out.push(0);
    let bitmap = out.len();
    // The first two bits of the bitmap are unused.
    out.resize(bitmap + (columns.len() + 9) / 8, 0);
    for (i, column) in columns.iter().enumerate() {
        match (column.integer(), column.text()) {
            (Some(value), _) => out.extend_from_slice(&u64::from(value).to_le_bytes()),
            (None, Some(bytes)) => text(out, bytes),
            (None, None) => out[bitmap + (i + 2) / 8] |= 1 << ((i + 2) % 8),
        }
    }
}

/// The authentication method that the client names, if its message is complete.
fn plugin(capabilities: u32, payload: &[u8]) -> Option<&[u8]> {
    if capabilities & capability::PLUGIN_AUTH == 0 {
        return None;
    }
    // Capabilities, packet size, character set, 23 reserved bytes; then the user.
    let rest = after_zero(payload.get(32..)?)?;
    let (&length, rest) = rest.split_first()?;
    let rest = if capabilities
        & (capability::PLUGIN_AUTH_LENGTH_ENCODED | capability::SECURE_CONNECTION)
        == 0
    {
        after_zero(rest)?
    } else {
        // Answers of all methods are shorter than 251 bytes, so both encodings of the length are
        // one byte.
        rest.get(usize::from(length)..)?
    };
    let rest =
        if capabilities & capability::CONNECT_WITH_DB == 0 { rest } else { after_zero(rest)? };
    rest.split(|byte| *byte == 0).next()
}

fn after_zero(bytes: &[u8]) -> Option<&[u8]> {
    bytes.iter().position(|byte| *byte == 0).map(|at| &bytes[at + 1..])
}

/// The index of the statement in a command.
fn statement_number(body: &[u8]) -> Option<usize> {
    (u32::from_le_bytes(*body.first_chunk()?) as usize).checked_sub(1)
}

fn answer(kind: StatementKind, sql: &[u8], shared: &Shared) -> Answer {
    if let Some(text) = shared.persona_answer(sql) {
        return Answer::Rows(Columns::Single(Column::Constant(text)));
    }
    match kind {
        StatementKind::Select => Answer::Rows(Columns::of(sql)),
        StatementKind::Other => {
            let mut word = [0; 8];
            match first_word(skip_blanks(sql), &mut word) {
                b"SHOW" | b"DESC" | b"DESCRIBE" | b"EXPLAIN" => Answer::NoRows,
                b"LOAD" => Answer::SendFile(quoted(sql).to_vec()),
                _ => Answer::Ok,
            }
        }
        _ => Answer::Ok,
    }
}

/// The text between the first single quotes.
fn quoted(sql: &[u8]) -> &[u8] {
    sql.split(|byte| *byte == b'\'').nth(1).unwrap_or_default()
}

/// Number of question marks outside quotes.
fn count_parameters(sql: &[u8]) -> usize {
    unquoted(sql, b"'\"`").filter(|(_, byte)| *byte == b'?').count().min(PARAMETERS_MAX)
}
