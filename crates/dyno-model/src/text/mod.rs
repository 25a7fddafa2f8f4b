//! Text: sanitising, templates, checksums, suggestions for mistyped words, and names of values.

pub mod checksum;
pub(super) mod named;
pub mod printable;
pub mod template;
pub mod words;
