//! The state machine for the packets that answer a command.

use super::column::Column;
use super::cursor::Cursor;
use super::packet::{PacketBuffer, RowScan, is_terminator};
use super::row::{Encoding, RowDecoder};
use super::{Malformed, Result};
use crate::value::RowSink;

/// Status flags in OK and EOF packets.
pub mod status {
    /// A transaction is open.
    pub const IN_TRANSACTION: u16 = 1;
    /// Another answer follows this one.
    pub const MORE_RESULTS: u16 = 1 << 3;
    /// A backslash in a string literal is an ordinary character.
    pub const NO_BACKSLASH_ESCAPES: u16 = 1 << 9;
}

/// Content of an OK or EOF packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Done {
    /// Rows changed.
    pub affected: u64,
    /// See [`status`].
    pub status: u16,
    /// Number of warnings that `SHOW WARNINGS` would list.
    pub warnings: u16,
}

impl Done {
    /// Decodes an OK packet (first byte 0x00 or 0xFE).
    #[inline]
    pub fn decode_ok(payload: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new(payload);
        cursor.u8()?;
        let affected = cursor.length_encoded()?;
        let _last_insert_id = cursor.length_encoded()?;
        Ok(Self { affected, status: cursor.u16()?, warnings: cursor.u16()? })
    }

    fn decode_eof(payload: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new(payload);
        cursor.u8()?;
        let warnings = cursor.u16()?;
        Ok(Self { affected: 0, status: cursor.u16()?, warnings })
    }
}

/// An error packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerError {
    /// Error number.
    pub code: u16,
    /// SQLSTATE; empty before the login.
    pub sqlstate: String,
    /// The server's message.
    pub message: String,
}

impl ServerError {
    /// Decodes a payload that begins with 0xFF.
    pub fn decode(payload: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new(payload);
        cursor.u8()?;
        let code = cursor.u16()?;
        let rest = cursor.take_rest();
        // Before the login the SQLSTATE and its marker are missing.
        let (sqlstate, message) = match rest {
            [b'#', rest @ ..] if rest.len() >= 5 => rest.split_at(5),
            _ => (&[][..], rest),
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(Self { code, sqlstate: text(sqlstate), message: text(message) })
    }
}

/// Negotiated capabilities that affect decoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Capabilities {
    /// Rows end with an OK packet and column definitions without one (`CLIENT_DEPRECATE_EOF`).
    pub is_ok_terminated: bool,
    /// A byte after the number of columns tells whether definitions follow (MariaDB's
    /// `CACHE_METADATA`).
    pub has_cached_metadata: bool,
}

/// Decoded columns and rows; the memory is reused for all answers of a connection.
#[derive(Debug, Default)]
pub struct RowSpace {
    /// Columns of the current result set.
    pub columns: Vec<Column>,
    /// Space for the current row.
    pub decoder: RowDecoder,
}

/// Progress of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// The rest has not been received yet.
    NeedMore,
    /// The server requests the data of `LOAD DATA LOCAL`, by this name; its answer follows the
    /// data.
    WantsFile(Box<[u8]>),
    /// One answer is complete. [`Reply::has_more`] tells whether it was the last.
    Complete(Done),
    /// The server returned an error; nothing follows.
    Refused(ServerError),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// OK, error, request for a file, or number of columns.
    Head,
    /// That many column definitions.
    Columns(u64),
    /// The EOF packet after the definitions.
    ColumnsEnd,
    Rows,
    Finished,
}

/// The answer to one command, which may have several results.
///
/// States: `Head` → (`Columns` → [`ColumnsEnd`] →) `Rows` → `Finished`, or `Head` → `Finished`;
/// from `Finished` back to `Head` when more results are announced.
///
/// [`ColumnsEnd`]: State::ColumnsEnd
#[derive(Debug)]
pub struct Reply {
    capabilities: Capabilities,
    /// Encoding of its rows.
    pub(crate) encoding: Encoding,
    state: State,
    has_rows: bool,
    has_more: bool,
    /// Definitions were received, and the server assumes that the client caches them for this
    /// statement: they must be passed as `cached` for its later answers.
    pub(crate) has_new_columns: bool,
    rows: u64,
}

impl Reply {
    /// The state before anything is received.
    #[must_use]
    #[inline]
    pub fn new(capabilities: Capabilities, encoding: Encoding) -> Self {
        Self {
            capabilities,
            encoding,
            state: State::Head,
            has_rows: false,
            has_more: false,
            has_new_columns: false,
            rows: 0,
        }
    }

    /// True when the current result is a result set.
    #[must_use]
    pub fn has_rows(&self) -> bool {
        self.has_rows
    }

    /// Rows of the current result so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// True when the complete result will be followed by another.
    #[must_use]
    pub fn has_more(&self) -> bool {
        self.has_more
    }

    /// Processes received data, up to the end of one result. Rows are passed to the sink; for a
    /// sink that discards them, rows and columns are skipped. `cached` are the columns that the
    /// server last defined for the statement.
    ///
    /// # Errors
    /// When the bytes violate the protocol; the connection is then unusable.
    #[inline]
    pub fn advance<S: RowSink>(
        &mut self,
        input: &mut PacketBuffer,
        space: &mut RowSpace,
        cached: &[Column],
        sink: &mut S,
    ) -> Result<Progress> {
        loop {
            match self.state {
                State::Finished if self.has_more => {
                    *self = Self::new(self.capabilities, self.encoding);
                }
                State::Finished => return Err(Malformed::new("data after the end of the answer")),
                State::Rows if S::DISCARDS => {
                    if input.pass_rows(self.capabilities.is_ok_terminated, &mut self.rows)?
                        == RowScan::NeedMore
                    {
                        return Ok(Progress::NeedMore);
                    }
                    let Some(span) = input.pop()? else { return Ok(Progress::NeedMore) };
                    return self.finish_rows(input.payload(span));
                }
                State::Rows => {
                    let Some(span) = input.pop()? else { return Ok(Progress::NeedMore) };
                    let payload = input.payload(span);
                    let first =
                        payload.first().copied().ok_or_else(|| Malformed::new("an empty row"))?;
                    if is_terminator(first, payload.len(), self.capabilities.is_ok_terminated) {
                        return self.finish_rows(payload);
                    }
                    self.rows += 1;
                    if S::KEEPS_RAW {
                        sink.raw(payload);
                        continue;
                    }
                    let row = space.decoder.decode(payload, &space.columns, self.encoding)?;
                    sink.row(&row);
                }
                State::Head => {
                    let Some(span) = input.pop()? else { return Ok(Progress::NeedMore) };
                    if let Some(progress) =
                        self.head(input.payload(span), space, cached, S::DISCARDS)?
                    {
                        return Ok(progress);
                    }
                    sink.begin(match self.state {
                        State::Columns(count) => count as usize,
                        _ => cached.len(),
                    });
                }
                State::Columns(left) => {
                    let Some(span) = input.pop()? else { return Ok(Progress::NeedMore) };
                    let payload = input.payload(span);
                    if payload.first() == Some(&0xFF) {
                        return self.refused(payload);
                    }
                    if !S::DISCARDS || self.has_new_columns {
                        space.columns.push(Column::decode(payload)?);
                        if S::WANTS_NAMES {
                            sink.name(space.columns.len() - 1, &Column::name(payload)?);
                        }
                    }
                    self.state =
                        if left > 1 { State::Columns(left - 1) } else { self.behind_columns() };
                }
                State::ColumnsEnd => {
                    let Some(span) = input.pop()? else { return Ok(Progress::NeedMore) };
                    match input.payload(span) {
                        payload @ [0xFF, ..] => return self.refused(payload),
                        payload @ [0xFE, ..] if payload.len() < 9 => self.state = State::Rows,
                        payload => {
                            let length = payload.len();
                            return Err(Malformed::new(format!(
                                "{length} bytes instead of EOF after the columns"
                            )));
                        }
                    }
                }
            }
        }
    }

    fn behind_columns(&self) -> State {
        if self.capabilities.is_ok_terminated { State::Rows } else { State::ColumnsEnd }
    }

    #[inline]
    fn head(
        &mut self,
        payload: &[u8],
        space: &mut RowSpace,
        cached: &[Column],
        discards: bool,
    ) -> Result<Option<Progress>> {
        match payload {
            [0x00, ..] => {
                let done = Done::decode_ok(payload)?;
                Ok(Some(self.complete(done)))
            }
            [0xFF, ..] => self.refused(payload).map(Some),
            [0xFB, name @ ..] => Ok(Some(Progress::WantsFile(name.into()))),
            _ => {
                let mut cursor = Cursor::new(payload);
                let columns = cursor.length_encoded()?;
                if columns > COLUMNS_MAX {
                    return Err(Malformed::new(format!("a result set of {columns} columns")));
                }
                let follows = !self.capabilities.has_cached_metadata || cursor.u8()? != 0;
                self.has_rows = true;
                space.columns.clear();
                if follows {
                    self.has_new_columns =
                        self.capabilities.has_cached_metadata && self.encoding == Encoding::Binary;
                    self.state = State::Columns(columns);
                } else {
                    if cached.len() as u64 != columns {
                        let known = cached.len();
                        return Err(Malformed::new(format!(
                            "no definitions for {columns} columns, {known} are cached"
                        )));
                    }
                    if !discards {
                        space.columns.extend_from_slice(cached);
                    }
                    self.state = self.behind_columns();
                }
                Ok(None)
            }
        }
    }

    #[inline]
    fn finish_rows(&mut self, payload: &[u8]) -> Result<Progress> {
        if payload.first() == Some(&0xFF) {
            return self.refused(payload);
        }
        let done = if self.capabilities.is_ok_terminated {
            Done::decode_ok(payload)
        } else {
            Done::decode_eof(payload)
        }?;
        Ok(self.complete(done))
    }

    fn complete(&mut self, done: Done) -> Progress {
        self.state = State::Finished;
        self.has_more = done.status & status::MORE_RESULTS != 0;
        Progress::Complete(done)
    }

    #[cold]
    fn refused(&mut self, payload: &[u8]) -> Result<Progress> {
        self.state = State::Finished;
        self.has_more = false;
        ServerError::decode(payload).map(Progress::Refused)
    }
}

/// Servers allow 4096 columns; the bit maps and the memory here have a margin.
const COLUMNS_MAX: u64 = 65_535;

/// Decodes the answer to `COM_STMT_PREPARE`, packet by packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prepared {
    /// The server's id of the statement.
    pub id: u32,
    /// Number of its parameters.
    pub parameters: u16,
    /// Number of columns of its result set.
    pub columns: u16,
}

impl Prepared {
    /// Decodes the first packet, unless it is an error packet. It is followed by definitions of the
    /// parameters and of the columns, if any, each group with an EOF packet unless that is
    /// deprecated.
    ///
    /// # Errors
    /// When it is truncated or has another first byte.
    pub fn decode(payload: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new(payload);
        let first = cursor.u8()?;
        if first != 0 {
            return Err(Malformed::new(format!("answer to a prepare begins with {first:#04x}")));
        }
        let id = cursor.u32()?;
        let columns = cursor.u16()?;
        Ok(Self { id, columns, parameters: cursor.u16()? })
    }

    /// Number of packets after the first.
    #[must_use]
    pub fn packets_behind(&self, capabilities: Capabilities) -> u32 {
        let group = |count: u16| match count {
            0 => 0,
            count => u32::from(count) + u32::from(!capabilities.is_ok_terminated),
        };
        group(self.parameters) + group(self.columns)
    }

    /// True when the packet with this index after the first (from 0) defines a column.
    #[must_use]
    pub fn is_column(&self, packet: u32, capabilities: Capabilities) -> bool {
        let first = Self { columns: 0, ..*self }.packets_behind(capabilities);
        (first..first + u32::from(self.columns)).contains(&packet)
    }
}
