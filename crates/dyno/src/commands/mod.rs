//! Commands other than `run`, one file each.

pub(crate) mod bundle;
pub(crate) mod cleanup;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod doctor;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod man;
pub(crate) mod null_server;
pub(crate) mod pgbench;
pub(crate) mod plan;
pub(crate) mod report;
pub(crate) mod serve;
pub(crate) mod sysbench;
pub(crate) mod workloads;
