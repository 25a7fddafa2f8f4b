//! Text: sanitising, templates, checksums, suggestions for mistyped words, and names of values.

pub mod checksum;
pub mod hex;
pub(super) mod named;
pub mod printable;
pub mod template;
pub mod words;
