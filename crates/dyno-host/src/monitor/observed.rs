//! What the monitor asks of a system, on a connection of its own.

use super::sessions::SeenSession;
use super::values::Values;
use crate::control_connection::Asked;

/// A connection for the monitor. Each engine has its own in `crate::engine`.
pub(crate) trait Observed {
    /// Counters and sizes.
    fn counters(&mut self, values: &mut Values) -> Asked<()>;

    /// What sessions do, the own one left out; with what they wait for in detail where that costs more. `None` where there are none.
    fn sessions(&mut self, _is_detailed: bool) -> Asked<Option<Vec<SeenSession>>> {
        Ok(None)
    }
}
