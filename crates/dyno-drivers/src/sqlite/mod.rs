//! SQLite, embedded in this process.
//!
//! # How it waits
//! Calls block for every [`crate::Io`], so every client needs its own thread. A statement that
//! waits for another connection's lock sleeps inside SQLite for at most the busy timeout
//! ([`BUSY_TIMEOUT`] unless `session_setup` has a `PRAGMA busy_timeout`); another thread ends it
//! through [`crate::Driver::interrupter`].
//!
//! # What SQLite does differently
//! * `COMMIT` can fail with [`Busy`](dyno_model::failure::FailureKind::Busy) (a reader holds its
//!   lock longer than the busy timeout, rollback journal only). **The transaction is then still
//!   open**: it may be committed again or rolled back. The retry policy rolls back, as after every
//!   other conflict.
//! * In a transaction begun with plain `BEGIN`, the first write after a read fails with `Busy` at
//!   once, without waiting, when another connection holds the write lock, and with `Serialization`
//!   (`SQLITE_BUSY_SNAPSHOT`) when another one has committed since. Waiting does not help; the
//!   transaction must be rolled back and repeated. `BEGIN IMMEDIATE` waits instead.
//! * In memory (`Endpoint::InProcess`) every connection has its own database.
//!
//! # Statements are kept without a cache
//! A `rusqlite::Statement` borrows its connection. `self_cell` stores both together, so executing
//! is an index into a vector. The alternative, `prepare_cached`, looks up the text for every
//! execution: measured in memory (50,000 rows, point select, CPU time), raw rusqlite takes 0.65 µs,
//! this driver the same within measurement noise, and the cache 0.12 µs more.

mod connection;
mod error;
mod literal;

pub use connection::{BUSY_TIMEOUT, Connection};
