//! The syntax of a spec: keys, values and their positions, profiles, errors.

pub(super) mod argument;
pub(super) mod diagnostic;
pub mod keys;
pub(super) mod paths;
pub(super) mod profile;
pub(super) mod quantity;
pub(super) mod reader;
pub(super) mod tree;
