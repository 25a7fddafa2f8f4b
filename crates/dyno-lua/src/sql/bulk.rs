//! Bulk insert: joins rows to statements of at most 512 KiB.

/// A bulk insert in progress.
#[derive(Debug)]
pub(crate) struct Bulk {
    prefix: Vec<u8>,
    buffer: Vec<u8>,
}

/// Maximum length of a statement in bytes, as in sysbench.
pub(crate) const STATEMENT_MAX: usize = 512 * 1024;

/// Result of adding a row.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Added {
    /// It is buffered.
    Kept,
    /// The statement is full: send it, then add the row again.
    Full,
    /// It exceeds the maximum length of a statement.
    TooLong,
}

impl Bulk {
    /// Starts with `prefix`, which ends in `VALUES`.
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

    /// Returns the statement so far and starts a new one; empty when there are no rows.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.buffer)
    }

    /// Returns a statement's memory for reuse.
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
