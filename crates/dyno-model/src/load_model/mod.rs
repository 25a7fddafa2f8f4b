//! The load model: arrivals, stages, databases, limits on figures, and searches for a load.

pub(super) mod comparison_metric;
pub mod databases;
pub mod launcher;
pub mod limit;
pub(super) mod load;
pub(super) mod search_question;
pub mod stages;
