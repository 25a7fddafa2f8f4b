//! Descriptive statistics: the figures of trials, without comparing them.

pub(super) mod checks;
pub(super) mod faults;
pub(super) mod heat_map;
pub(super) mod latency;
pub(super) mod panels;
pub(super) mod parts;
pub(super) mod resources;
pub(super) mod search;
pub(super) mod trials;
