//! Pipelines: several executions are sent before the first answer is read.
//!
//! Executions between two Syncs form one transaction unless statements begin and end their own;
//! after an error the server skips to the next Sync. Answers are read when the pipeline ends, or
//! earlier when so much is queued that client and server might deadlock with full buffers.

use super::connection::{Connection, Pipeline, State};
use super::protocol::frontend;
use super::protocol::reply::{Progress, Reply};
use crate::driver::{Outcome, Result, Statement};
use crate::value::{Discard, Value};
use dyno_model::failure::{FailureKind, OperationFailure};

/// Number of queued bytes after which requests are sent and answers read: smaller than any socket
/// buffer.
const QUEUE_MAX: usize = 32 * 1024;

impl Connection {
    /// Starts a pipeline. Until it ends, only [`Self::queue`] and [`Self::queue_sync`] may be
    /// called.
    ///
    /// # Errors
    /// When the connection is not ready.
    pub fn begin_pipeline(&mut self) -> Result<()> {
        self.begin()?;
        self.pipeline = Some(Box::default());
        Ok(())
    }

    /// True between the beginning and the end of a pipeline.
    #[must_use]
    pub fn is_in_pipeline(&self) -> bool {
        self.pipeline.is_some()
    }

    /// Queues an execution of a prepared statement. Its rows are discarded.
    ///
    /// # Errors
    /// When the statement is not prepared or is a text, or when the connection broke.
    /// [`Self::end_pipeline`] returns the server's errors.
    pub async fn queue(&mut self, statement: Statement, parameters: &[Value<'_>]) -> Result<()> {
        self.append_execution(statement, parameters)?;
        self.opened()?.executions += 1;
        if self.output.len() > QUEUE_MAX {
            frontend::flush(&mut self.output);
            self.send().await?;
            self.output.clear();
            self.read_synced().await?;
            self.read_flushed().await?;
        }
        Ok(())
    }

    /// Queues a Sync: what follows is another transaction, and is executed even after an earlier
    /// failure.
    ///
    /// # Errors
    /// When no pipeline is open.
    pub fn queue_sync(&mut self) -> Result<()> {
        let pipeline = self.opened()?;
        pipeline.syncs += 1;
        pipeline.executions = 0;
        frontend::sync(&mut self.output);
        Ok(())
    }

    /// Sends what is queued, reads all answers, and closes the pipeline. Rows and changes of all
    /// executions are added up.
    ///
    /// # Errors
    /// The first error of the server.
    pub async fn end_pipeline(&mut self) -> Result<Outcome> {
        self.queue_sync()?;
        self.send().await?;
        self.read_synced().await?;
        self.state = State::Ready;
        let pipeline = *self.pipeline.take().unwrap_or_default();
        pipeline.failure.map_or(Ok(pipeline.outcome), Err)
    }

    fn opened(&mut self) -> Result<&mut Pipeline> {
        self.pipeline.as_deref_mut().ok_or_else(|| {
            FailureKind::BadStatement.failure("no pipeline was begun on the connection")
        })
    }

    /// Reads answers up to that of the last Sync sent.
    async fn read_synced(&mut self) -> Result<()> {
        while self.opened()?.syncs > 0 {
            let mut reply = Reply::default();
            self.shape.clear();
            match self.receive(&mut reply, None, &mut Discard).await? {
                Progress::Ready(transaction) => self.session.transaction = transaction,
                Progress::Closing | Progress::CopyIn | Progress::More => {
                    return Err(self.give_up(reply));
                }
            }
            let pipeline = self.opened()?;
            pipeline.syncs -= 1;
            pipeline.take(reply);
            pipeline.is_skipping = false;
        }
        self.inbox.release_space();
        Ok(())
    }

    /// Reads the answers of executions after the last Sync, which a Flush made the server send.
    async fn read_flushed(&mut self) -> Result<()> {
        let mut reply = Reply::default();
        self.shape.clear();
        loop {
            let pipeline = self.opened()?;
            let is_answered = reply.completed >= pipeline.executions || reply.failure.is_some();
            if is_answered || pipeline.is_skipping {
                pipeline.executions = 0;
                pipeline.is_skipping |= reply.failure.is_some();
                pipeline.take(reply);
                return Ok(());
            }
            let before = (reply.completed, reply.failure.is_some());
            match self.digest(&mut reply, None, &mut Discard)? {
                Progress::More if (reply.completed, reply.failure.is_some()) == before => {
                    self.read_more().await?;
                }
                Progress::More => {}
                Progress::Ready(_) | Progress::Closing | Progress::CopyIn => {
                    return Err(self.give_up(reply));
                }
            }
        }
    }

    /// A reply ended in a way that is not possible in a pipeline.
    fn give_up(&mut self, reply: Reply) -> OperationFailure {
        self.state = State::Lost;
        let copy = || FailureKind::Unsupported.failure("COPY cannot be part of a pipeline");
        reply.failure.unwrap_or_else(copy)
    }
}

impl Pipeline {
    /// Adds the content of a reply.
    fn take(&mut self, reply: Reply) {
        self.outcome += reply.outcome;
        self.failure = self.failure.take().or(reply.failure);
    }
}
