//! `LOAD DATA LOCAL` in a statement's text: the server requests a file, which is sent only if
//! allowed.

use super::bulk::send_packet;
use super::connection::{Connection, FileOpener};
use super::error::failure;
use super::protocol::packet;
use super::protocol::reply::Progress;
use crate::driver::Result;
use dyno_model::failure::{FailureKind, OperationFailure};
use std::io::{self, Read};

/// Bytes of a file in one packet.
const CHUNK: u64 = 64 << 10;

impl Connection {
    /// Allows sending the files that a statement's text names. Without this, or when the server
    /// requests another file, nothing is sent.
    pub fn serve_files(&mut self, opener: FileOpener) {
        self.file_opener = Some(opener);
    }

    /// Answers the server's request for a file; the server's answer follows.
    pub(super) async fn answer_file_request(&mut self, name: &[u8]) -> Result<()> {
        // A server can request any file, whatever the statement was.
        let is_named = !name.is_empty() && self.output.windows(name.len()).any(|part| part == name);
        let (Some(open), Ok(name), true) = (self.file_opener, std::str::from_utf8(name), is_named)
        else {
            return self.decline(FailureKind::Unsupported.failure(NOT_SENT)).await;
        };
        match open(name) {
            Ok(mut file) => self.send_file(name, &mut *file).await,
            Err(error) => self.decline(cannot_read(name, &error)).await,
        }
    }

    async fn send_file(&mut self, name: &str, file: &mut dyn Read) -> Result<()> {
        loop {
            let mut packet = Vec::new();
            packet::begin(&mut packet);
            if let Err(error) = file.take(CHUNK).read_to_end(&mut packet) {
                return self.decline(cannot_read(name, &error)).await;
            }
            // An empty packet ends the data.
            let is_last = packet.len() == packet::HEADER;
            send_packet(self, &mut packet).await?;
            if is_last {
                return Ok(());
            }
        }
    }

    /// Ends the data without sending any. Whatever the server answers, the statement has failed.
    async fn decline(&mut self, reason: OperationFailure) -> Result<()> {
        let mut empty = Vec::new();
        packet::begin(&mut empty);
        send_packet(self, &mut empty).await?;
        match self.receive_declined().await? {
            Progress::Refused(error) => Err(failure(self.identity.product, error)),
            _ => Err(reason),
        }
    }
}

const NOT_SENT: &str = "LOAD DATA LOCAL in a statement's text is not supported; no file was sent";

/// "Can't find file", the number with which MySQL's own clients report it.
const FILE_NOT_FOUND: u32 = 2;

fn cannot_read(name: &str, error: &io::Error) -> OperationFailure {
    let message = format!("cannot read the file '{name}': {error}");
    OperationFailure { code: FILE_NOT_FOUND, ..FailureKind::BadStatement.failure(message) }
}
