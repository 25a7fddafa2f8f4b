//! From the command line to a plan.

pub(super) mod arguments;
pub(super) mod cli;
pub(super) mod one_line;
pub(super) mod spec_file;
pub(super) mod suggestions;
