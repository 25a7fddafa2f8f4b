//! Numbers of clients.

use serde::{Deserialize, Serialize};

/// Number of a client, from 0, within the measured groups of a trial or within a background group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ClientId(pub u32);
