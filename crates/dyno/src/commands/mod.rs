//! Commands other than `run`, one file each; those for finished runs are in `results`.

pub(crate) mod cleanup;
pub(crate) mod completions;
pub(crate) mod doctor;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod man;
pub(crate) mod null_server;
pub(crate) mod pgbench;
pub(crate) mod plan;
pub(crate) mod results;
pub(crate) mod sysbench;
pub(crate) mod workloads;

pub(crate) use results::{bundle, compare, history, report, serve};
