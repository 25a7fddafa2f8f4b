//! Rust functions that scripts call.

pub(super) mod natives;
pub(super) mod scalars;
