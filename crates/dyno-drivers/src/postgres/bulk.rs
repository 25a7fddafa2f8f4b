//! Bulk loading with COPY.

use super::connection::{Connection, State};
use super::driver::require_no_zero;
use super::protocol::copy::CopyChunk;
use super::protocol::frontend;
use super::protocol::reply::{Progress, Reply};
use crate::driver::Result;
use crate::sql_text::append_name;
use crate::value::{BulkLoad, Discard, RowSource};
use dyno_model::failure::FailureKind;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

/// Bytes of rows per CopyData message: large enough that system calls do not matter, small enough
/// that the server starts early and memory stays bounded.
const CHUNK: usize = 256 * 1024;

/// Space beyond [`CHUNK`] for the row that fills it.
const LONGEST_USUAL_ROW: usize = 4 * 1024;

/// A blocking socket is checked for an early error after 1, 2, 4... chunks and then every this
/// many, because checking may wait for a kernel tick (up to 4 ms).
const CHUNKS_BETWEEN_CHECKS: u64 = 64;

impl Connection {
    /// Loads rows with one `COPY table (columns) FROM STDIN` in text format; all of them or none.
    ///
    /// Names are quoted and thus case-sensitive: lower case for tables that were created without
    /// quotes. After a failure the connection is ready for the next statement, or lost if the
    /// socket broke.
    pub(super) async fn copy(
        &mut self,
        load: &BulkLoad<'_>,
        rows: &mut dyn RowSource,
    ) -> Result<u64> {
        self.begin()?;
        append_copy(load, &mut self.output);
        self.shape.clear();
        self.send().await?;
        let mut reply = Reply::default();
        let mut progress = self.receive(&mut reply, None, &mut Discard).await?;
        let mut broken_row = None;
        if progress == Progress::CopyIn {
            progress = match self.send_rows(load, rows, &mut reply).await? {
                Sent::All => self.end_copy(&mut reply, None).await?,
                Sent::BrokenRow(why) => {
                    let progress = self.end_copy(&mut reply, Some(&why)).await?;
                    broken_row = Some(why);
                    progress
                }
                Sent::Refused(Progress::More) => {
                    self.receive(&mut reply, None, &mut Discard).await?
                }
                Sent::Refused(progress) => progress,
            };
        }
        let outcome = self.finish(reply, progress);
        match (outcome, broken_row) {
            // The server's message only quotes ours.
            (Err(failure), Some(why)) if failure.kind != FailureKind::ConnectionLost => {
                Err(FailureKind::BadStatement.failure(why))
            }
            (outcome, _) => Ok(outcome?.affected),
        }
    }

    /// Sends a statement `COPY ... FROM stdin` and its rows in the format that the statement
    /// specifies.
    ///
    /// # Errors
    /// When the server rejects the statement or a row, or the connection is lost.
    pub async fn copy_text(&mut self, sql: &str, rows: &str) -> Result<u64> {
        require_no_zero(sql)?;
        self.begin()?;
        frontend::query(&mut self.output, |output| output.extend_from_slice(sql.as_bytes()));
        self.shape.clear();
        self.send().await?;
        let mut reply = Reply::default();
        let mut progress = self.receive(&mut reply, None, &mut Discard).await?;
        if progress == Progress::CopyIn {
            progress = match self.send_text(rows, &mut reply).await? {
                Progress::More if reply.failure.is_none() => {
                    self.end_copy(&mut reply, None).await?
                }
                Progress::More => self.receive(&mut reply, None, &mut Discard).await?,
                refused => refused,
            };
        }
        Ok(self.finish(reply, progress)?.affected)
    }

    /// Sends formatted rows until the server has rejected one; returns the progress of its reply.
    async fn send_text(&mut self, rows: &str, reply: &mut Reply) -> Result<Progress> {
        for (number, chunk) in rows.as_bytes().chunks(CHUNK).enumerate() {
            let length = (chunk.len() + size_of::<u32>()) as u32;
            self.output.clear();
            self.output.push(b'd');
            self.output.extend_from_slice(&length.to_be_bytes());
            self.output.extend_from_slice(chunk);
            if let Err(error) = self.stream.write_all(&self.output).await {
                return Err(self.broken(error).await);
            }
            if (number as u64).is_multiple_of(CHUNKS_BETWEEN_CHECKS) || !self.is_blocking {
                let progress = self.look_for_refusal(reply).await?;
                if progress != Progress::More || reply.failure.is_some() {
                    return Ok(progress);
                }
            }
        }
        Ok(Progress::More)
    }

    /// Sends rows until there are no more, one is invalid, or the server has rejected one.
    async fn send_rows(
        &mut self,
        load: &BulkLoad<'_>,
        rows: &mut dyn RowSource,
        reply: &mut Reply,
    ) -> Result<Sent> {
        let mut chunk = CopyChunk::with_capacity(CHUNK + LONGEST_USUAL_ROW);
        let (mut row, mut chunks) = (0_u64, 0_u64);
        loop {
            let is_row = rows.next(&mut chunk);
            if is_row {
                row += 1;
                let fields = chunk.end_row();
                if !load.columns.is_empty() && fields != load.columns.len() {
                    return Ok(Sent::BrokenRow(format!(
                        "row {row} for table {} has {fields} fields, but there are {} columns",
                        load.table,
                        load.columns.len()
                    )));
                }
            } else {
                chunk.drop_row();
            }
            if chunk.len() >= CHUNK || !(is_row || chunk.is_empty()) {
                if let Err(error) = self.stream.write_all(chunk.message()).await {
                    return Err(self.broken(error).await);
                }
                chunk.clear();
                chunks += 1;
                let may_look =
                    chunks.is_power_of_two() || chunks.is_multiple_of(CHUNKS_BETWEEN_CHECKS);
                if is_row && (may_look || !self.is_blocking) {
                    let progress = self.look_for_refusal(reply).await?;
                    if progress != Progress::More || reply.failure.is_some() {
                        return Ok(Sent::Refused(progress));
                    }
                }
            }
            if !is_row {
                return Ok(Sent::All);
            }
        }
    }

    /// Reads what the server has sent so far, without waiting. It sends nothing unless an error
    /// occurs; without this check a rejected row would be noticed only after all others were
    /// generated and sent.
    async fn look_for_refusal(&mut self, reply: &mut Reply) -> Result<Progress> {
        if self.is_blocking {
            self.stream.set_deadline(Some(Instant::now() + Duration::from_millis(1)));
        }
        let received = {
            let mut reading = pin!(self.stream.read(self.inbox.room()));
            poll_fn(|context| match reading.as_mut().poll(context) {
                Poll::Ready(result) => Poll::Ready(Some(result)),
                Poll::Pending => Poll::Ready(None),
            })
            .await
        };
        if self.is_blocking {
            self.stream.set_deadline(None);
        }
        match received {
            None => return Ok(Progress::More),
            Some(Err(error)) if error.kind() == io::ErrorKind::TimedOut => {
                return Ok(Progress::More);
            }
            Some(Ok(count)) if count > 0 => self.inbox.received(count),
            Some(Ok(_)) => return Err(self.broken(io::ErrorKind::ConnectionReset.into()).await),
            Some(Err(error)) => return Err(self.broken(error).await),
        }
        self.digest(reply, None, &mut Discard).inspect_err(|_| self.state = State::Lost)
    }

    /// Tells the server that the rows have ended, or why they are cancelled, and reads its answer.
    async fn end_copy(&mut self, reply: &mut Reply, given_up: Option<&str>) -> Result<Progress> {
        self.output.clear();
        match given_up {
            None => frontend::copy_done(&mut self.output),
            Some(why) => frontend::copy_fail(why, &mut self.output),
        }
        self.send().await?;
        self.receive(reply, None, &mut Discard).await
    }
}

/// How sending rows ended.
enum Sent {
    All,
    BrokenRow(String),
    /// The server reported an error, with the progress of its reply.
    Refused(Progress),
}

fn append_copy(load: &BulkLoad<'_>, output: &mut Vec<u8>) {
    frontend::query(output, |sql| {
        sql.extend_from_slice(b"COPY ");
        append_name(load.table, b'"', sql);
        for (index, column) in load.columns.iter().enumerate() {
            sql.extend_from_slice(if index == 0 { b" (" } else { b", " });
            append_name(column, b'"', sql);
        }
        sql.extend_from_slice(if load.columns.is_empty() {
            b" FROM STDIN"
        } else {
            b") FROM STDIN"
        });
    });
}
