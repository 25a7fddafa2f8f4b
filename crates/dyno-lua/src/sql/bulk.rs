//! Bulk insert: rows joined into statements of at most 512 KiB.

use super::{Around, Sql, usable};
use crate::environment::LogLevel;

/// A bulk insert in progress.
#[derive(Debug)]
pub(crate) struct Bulk {
    prefix: Vec<u8>,
    buffer: Vec<u8>,
}

/// Longest statement, in bytes: what sysbench sends at most.
pub(crate) const STATEMENT_MAX: usize = 512 * 1024;

/// What became of a row.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Added {
    /// It waits for others.
    Kept,
    /// The statement is full: it must be sent, then the row be added again.
    Full,
    /// It does not fit any statement.
    TooLong,
}

impl Bulk {
    /// Rows follow after `prefix`, which ends in `VALUES`.
    pub(crate) fn new(prefix: &[u8]) -> Self {
        Self { prefix: prefix.to_vec(), buffer: Vec::new() }
    }

    /// Adds a row such as `(1, 'a')`.
    pub(crate) fn add(&mut self, row: &[u8]) -> Added {
        if self.buffer.is_empty() {
            if self.prefix.len() + row.len() > STATEMENT_MAX {
                return Added::TooLong;
            }
            self.buffer.extend_from_slice(&self.prefix);
        } else if self.buffer.len() + 1 + row.len() > STATEMENT_MAX {
            return Added::Full;
        } else {
            self.buffer.push(b',');
        }
        self.buffer.extend_from_slice(row);
        Added::Kept
    }

    /// The statement so far, which begins anew; empty when there are no rows.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.buffer)
    }

    /// Gives a statement's memory back for the next.
    pub(crate) fn reuse(&mut self, mut buffer: Vec<u8>) {
        buffer.clear();
        self.buffer = buffer;
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_joined_until_the_statement_is_full() {
        let mut bulk = Bulk::new(b"INSERT INTO t VALUES");
        assert!(bulk.take().is_empty());
        assert_eq!(bulk.add(b"(1)"), Added::Kept);
        assert_eq!(bulk.add(b"(2)"), Added::Kept);
        assert_eq!(bulk.take(), b"INSERT INTO t VALUES(1),(2)");
        let long = vec![b'x'; STATEMENT_MAX - 30];
        assert_eq!(bulk.add(&long), Added::Kept);
        assert_eq!(bulk.add(b"(123456789)"), Added::Full);
        let sent = bulk.take();
        bulk.reuse(sent);
        assert_eq!(bulk.add(b"(123456789)"), Added::Kept);
        assert_eq!(Bulk::new(b"p").add(&vec![b'x'; STATEMENT_MAX]), Added::TooLong);
    }
}
