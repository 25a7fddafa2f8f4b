//! Bulk inserts of a connection: rows are collected in its [`Bulk`], and full statements are sent
//! to the server.

use super::bulk::{Added, Bulk, STATEMENT_MAX};
use super::{CallContext, Done, Sql, usable};
use crate::environment::LogLevel;

impl Sql {
    /// Starts a bulk insert; discards one in progress.
    pub(crate) fn bulk_init(&mut self, handle: f64, prefix: &[u8]) -> Done {
        usable(self.links.get_mut(handle), "connection")?.bulk = Some(Bulk::new(prefix));
        Ok(0.0)
    }

    /// Adds a row to a bulk insert.
    pub(crate) fn bulk_next(
        &mut self,
        around: &mut CallContext<'_>,
        handle: f64,
        row: &[u8],
    ) -> Done {
        const FAILED: &str = "db_bulk_insert_next() failed";
        for _ in 0..2 {
            let link = usable(self.links.get_mut(handle), "connection")?;
            let log = &around.environment.log;
            let Some(bulk) = &mut link.bulk else {
                log.log(
                    LogLevel::Alert,
                    "attempt to call bulk_insert_next() before bulk_insert_init()",
                );
                return Err(FAILED.into());
            };
            match bulk.add(row) {
                Added::Kept => return Ok(0.0),
                Added::TooLong => {
                    log.log(
                        LogLevel::Fatal,
                        &format!(
                            "a row of {} bytes does not fit the bulk insert buffer of {} bytes",
                            row.len(),
                            STATEMENT_MAX
                        ),
                    );
                    return Err(FAILED.into());
                }
                Added::Full => {
                    self.bulk_send(around, handle).map_err(|_| FAILED)?;
                }
            }
        }
        // An empty statement has space for every row that is not too long.
        Err(FAILED.into())
    }

    /// Sends the rest of a bulk insert; without one it does nothing.
    pub(crate) fn bulk_done(&mut self, around: &mut CallContext<'_>, handle: f64) -> Done {
        usable(self.links.get_mut(handle), "connection")?;
        let sent = self.bulk_send(around, handle);
        if let Some(link) = self.links.get_mut(handle) {
            link.bulk = None;
        }
        sent.map_err(|_| "db_bulk_insert_done() failed")?;
        Ok(0.0)
    }

    fn bulk_send(&mut self, around: &mut CallContext<'_>, handle: f64) -> Done {
        let Some(bulk) = self.links.get_mut(handle).and_then(|link| link.bulk.as_mut()) else {
            return Ok(0.0);
        };
        let sql = bulk.take();
        if sql.is_empty() {
            return Ok(0.0);
        }
        let sent = self.query(around, handle, &sql);
        if let Some(bulk) = self.links.get_mut(handle).and_then(|link| link.bulk.as_mut()) {
            bulk.reuse(sql);
        }
        sent
    }
}
