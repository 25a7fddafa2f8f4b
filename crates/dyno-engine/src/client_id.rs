//! Numbers of clients.

/// Number of a client within its trial, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClientId(pub u32);
