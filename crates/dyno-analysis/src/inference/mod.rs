//! Inference: comparisons, limits and questions with their verdicts, and the sample size.

pub(super) mod comparisons;
pub(super) mod growth;
pub(super) mod interim;
pub(super) mod limits;
pub(super) mod pairs;
pub mod pilot;
pub(super) mod questions;
