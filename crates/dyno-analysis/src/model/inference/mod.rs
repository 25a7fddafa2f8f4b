//! Comparisons, limits and questions with their verdicts, and the conclusions from them.

pub(super) mod comparisons;
pub(super) mod conclusion;
pub(super) mod growth;
pub(super) mod limits;
pub(super) mod questions;
