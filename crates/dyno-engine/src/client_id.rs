//! Numbers of clients.

use serde::{Deserialize, Serialize};

/// Number of a client within its trial, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ClientId(pub u32);
