//! Programs of servers: where they are, and whether they accept settings.

pub(super) mod locate;
pub(super) mod validate;
