//! Protection of databases that are not dyno's, and of runs from each other.

pub mod marker;
pub(super) mod ownership;
pub mod run_lock;
