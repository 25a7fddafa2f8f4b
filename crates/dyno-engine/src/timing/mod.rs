//! Times of a trial: its window, and when transactions are due.

pub(super) mod arrivals;
pub mod window;
