//! Bulk inserts of a connection: rows go into its [`Bulk`], and full statements to the server.

use super::bulk::{Added, Bulk, STATEMENT_MAX};
use super::{Around, Sql, usable};
use crate::environment::LogLevel;

impl Sql {
    /// Begins a bulk insert; one in progress is forgotten.
    pub(crate) fn bulk_init(&mut self, number: f64, prefix: &[u8]) -> f64 {
        match usable(self.links.get_mut(number), "connection") {
            Ok(link) => {
                link.bulk = Some(Bulk::new(prefix));
                0.0
            }
            Err(message) => self.misuse(message),
        }
    }

    /// Adds a row to a bulk insert.
    pub(crate) fn bulk_next(&mut self, around: &mut Around<'_>, number: f64, row: &[u8]) -> f64 {
        const FAILED: &str = "db_bulk_insert_next() failed";
        for _ in 0..2 {
            let link = match usable(self.links.get_mut(number), "connection") {
                Ok(link) => link,
                Err(message) => return self.misuse(message),
            };
            let log = &around.environment.log;
            let Some(bulk) = &mut link.bulk else {
                log.log(LogLevel::Alert, "attempt to call bulk_insert_next() before bulk_insert_init()");
                return self.misuse(FAILED);
            };
            match bulk.add(row) {
                Added::Kept => return 0.0,
                Added::TooLong => {
                    log.log(
                        LogLevel::Fatal,
                        &format!(
                            "a row of {} bytes does not fit the bulk insert buffer of {} bytes",
                            row.len(),
                            STATEMENT_MAX
                        ),
                    );
                    return self.misuse(FAILED);
                }
                Added::Full => {
                    if self.bulk_send(around, number) < 0.0 {
                        return self.misuse(FAILED);
                    }
                }
            }
        }
        // An empty statement takes every row that is not too long.
        self.misuse(FAILED)
    }

    /// Sends what is left of a bulk insert; without one it does nothing.
    pub(crate) fn bulk_done(&mut self, around: &mut Around<'_>, number: f64) -> f64 {
        if let Err(message) = usable(self.links.get_mut(number), "connection") {
            return self.misuse(message);
        }
        let sent = self.bulk_send(around, number);
        if let Some(link) = self.links.get_mut(number) {
            link.bulk = None;
        }
        if sent < 0.0 { self.misuse("db_bulk_insert_done() failed") } else { 0.0 }
    }

    fn bulk_send(&mut self, around: &mut Around<'_>, number: f64) -> f64 {
        let Some(bulk) = self.links.get_mut(number).and_then(|link| link.bulk.as_mut()) else { return 0.0 };
        let sql = bulk.take();
        if sql.is_empty() {
            return 0.0;
        }
        let sent = self.query(around, number, &sql);
        if let Some(bulk) = self.links.get_mut(number).and_then(|link| link.bulk.as_mut()) {
            bulk.reuse(sql);
        }
        sent
    }
}
