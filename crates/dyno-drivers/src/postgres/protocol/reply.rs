//! The answer to one round trip, from its first message to ReadyForQuery.
//!
//! ```text
//! simple:   ( RowDescription? DataRow* CommandComplete | EmptyQuery | ErrorResponse )*
//!           ReadyForQuery
//! extended: ParseComplete? ( ParameterDescription? (RowDescription | NoData) )? BindComplete?
//!           DataRow* ( CommandComplete | EmptyQuery | PortalSuspended )? ErrorResponse?
//!           ReadyForQuery
//! ```
//! NoticeResponse, NotificationResponse and ParameterStatus may appear anywhere. After an error the
//! server itself skips to ReadyForQuery, so a reply that is read to its end leaves the connection
//! in a known state in any case.

use super::Malformed;
use super::backend::{self, Column, TransactionStatus};
use super::inbox::{Frame, Inbox};
use super::row::{DataRow, Field};
use crate::driver::Outcome;
use crate::postgres::error;
use crate::value::RowSink;
use dyno_model::failure::OperationFailure;

/// The known parameters and columns of a statement, filled from the messages that describe them.
#[derive(Debug, Default)]
pub struct Shape {
    /// Types of the parameters.
    pub parameters: Vec<u32>,
    /// Columns of the last result set described.
    pub columns: Vec<Column>,
    /// True when a result set has been described, even one without columns.
    pub returns_rows: bool,
    /// True when the server has described the result, even an empty one.
    pub is_described: bool,
}

impl Shape {
    /// Forgets everything but keeps the memory.
    pub fn clear(&mut self) {
        self.parameters.clear();
        self.columns.clear();
        self.returns_rows = false;
        self.is_described = false;
    }
}

/// Progress of reading a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// More bytes are needed.
    More,
    /// The server waits for the data of a COPY.
    CopyIn,
    /// ReadyForQuery: the connection is ready for the next statement.
    Ready(TransactionStatus),
    /// The server has announced that it closes the connection; [`Reply::failure`] has the reason.
    Closing,
}

/// The part of a reply that has been read.
#[derive(Debug, Default)]
pub struct Reply {
    /// Rows and changes so far, over all statements of the text.
    pub outcome: Outcome,
    /// The first error.
    pub failure: Option<OperationFailure>,
    /// The new value of `standard_conforming_strings`, if it changed.
    pub standard_strings: Option<bool>,
    /// `default_transaction_read_only` has changed to `off`.
    pub writes_by_default: bool,
    /// Number of successful executions.
    pub completed: u64,
}

impl Reply {
    /// Consumes all complete messages of the inbox, up to the end of the reply.
    ///
    /// # Errors
    /// When bytes violate the protocol; the connection is then lost.
    pub fn read<S: RowSink>(
        &mut self,
        inbox: &mut Inbox,
        shape: &mut Shape,
        fields: &mut Vec<Field>,
        sink: &mut S,
    ) -> Result<Progress, Malformed> {
        loop {
            if S::DISCARDS {
                self.outcome.rows += inbox.pass_rows()?;
            }
            let Some(frame) = inbox.next_frame()? else { return Ok(Progress::More) };
            if frame.tag == b'D' {
                self.outcome.rows += 1;
                if S::KEEPS_RAW {
                    sink.raw(frame.body);
                    continue;
                }
                sink.row(&DataRow::decode(frame.body, &shape.columns, fields)?);
                continue;
            }
            let (is_description, body) = (frame.tag == b'T', frame.body);
            match self.control(frame, shape)? {
                Progress::More if is_description => {
                    sink.begin(shape.columns.len());
                    if S::WANTS_NAMES {
                        backend::column_names(body, |column, name| sink.name(column, name))?;
                    }
                }
                Progress::More => {}
                end => return Ok(end),
            }
        }
    }

    /// Processes a message that is not a row.
    fn control(&mut self, frame: Frame<'_>, shape: &mut Shape) -> Result<Progress, Malformed> {
        match frame.tag {
            b'Z' => {
                self.outcome.has_rows = shape.returns_rows;
                return Ok(Progress::Ready(backend::ready_for_query(frame.body)?));
            }
            b'C' => {
                self.outcome.affected += backend::affected(frame.body, shape.returns_rows);
                self.completed += 1;
            }
            b'I' | b's' => self.completed += 1,
            b'T' => {
                backend::row_description(frame.body, &mut shape.columns)?;
                shape.returns_rows = true;
                shape.is_described = true;
            }
            b't' => backend::parameter_description(frame.body, &mut shape.parameters)?,
            b'n' => shape.is_described = true,
            b'E' => {
                let fault = backend::fault(frame.body)?;
                if self.failure.is_none() || fault.is_fatal {
                    self.failure = Some(error::failure(&fault));
                }
                if fault.is_fatal {
                    return Ok(Progress::Closing);
                }
            }
            b'S' => {
                let (name, value) = backend::parameter_status(frame.body)?;
                match &*name {
                    "standard_conforming_strings" => self.standard_strings = Some(value == "on"),
                    "default_transaction_read_only" => self.writes_by_default = value == "off",
                    _ => {}
                }
            }
            b'G' => return Ok(Progress::CopyIn),
            // ParseComplete, BindComplete, CloseComplete, NoticeResponse, NotificationResponse, and
            // a COPY to the client, whose data is ignored: CopyOutResponse, CopyData, CopyDone.
            b'1' | b'2' | b'3' | b'N' | b'A' | b'H' | b'd' | b'c' => {}
            other => {
                return Err(Malformed {
                    what: "an unexpected message in a reply, type",
                    value: other.into(),
                });
            }
        }
        Ok(Progress::More)
    }
}
