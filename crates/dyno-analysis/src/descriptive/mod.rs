//! Descriptive statistics: the figures of trials, without comparing them.

pub(super) mod checks;
pub(super) mod faults;
pub(super) mod heat_map;
pub(super) mod latency;
pub(super) mod named;
pub(super) mod panels;
pub(super) mod resources;
pub(super) mod search;
pub(super) mod stages;
pub(super) mod trials;
