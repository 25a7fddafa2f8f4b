//! HTTP/1.1 with keep-alive, for services in front of databases.
//!
//! * [`protocol`]: heads and bodies of answers, bytes in and values out;
//! * [`cookies`]: what a client has been given to show again;
//! * `connection`: one connection, on which a request and its answer are an [`Exchange`].
//!
//! It speaks no SQL, so it is no [`crate::Driver`]: workloads that know it find it in
//! [`crate::Connection`].

mod connection;
pub mod cookies;
pub mod protocol;

pub use connection::{Answer, Connection, Exchange};
pub use cookies::Cookies;
