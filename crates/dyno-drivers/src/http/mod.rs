//! HTTP/1.1 with keep-alive, for services in front of databases.
//!
//! * [`protocol`]: decodes heads and bodies of answers;
//! * [`cookies`]: the cookies of a client;
//! * `connection`: a connection, on which a request and its answer are an [`Exchange`].
//!
//! A service does not accept SQL, so its connection is not a [`crate::Driver`]; workloads get it
//! from [`crate::Connection`].

mod connection;
pub mod cookies;
pub mod protocol;

pub use connection::{Connection, Exchange};
pub use cookies::Cookies;
