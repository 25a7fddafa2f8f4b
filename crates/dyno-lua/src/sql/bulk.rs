//! Bulk insert: rows joined into statements of at most 512 KiB.

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
