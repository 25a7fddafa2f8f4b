//! Files of a results folder, one format each.

pub mod environment;
pub(super) mod errors;
pub(super) mod history;
pub(super) mod hlog;
pub(super) mod masked;
pub(super) mod monitor;
pub(super) mod problem;
pub(super) mod summary;
pub(super) mod timeline;
