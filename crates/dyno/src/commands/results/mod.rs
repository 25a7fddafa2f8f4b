//! Commands for the results of finished runs, one file each.

pub(crate) mod bundle;
pub(crate) mod compare;
pub(crate) mod history;
pub(crate) mod report;
pub(crate) mod serve;
