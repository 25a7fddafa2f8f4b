//! Data of workloads: tables, texts, and what a database contains before a trial.

pub(super) mod data_set;
pub mod schema;
pub mod text;
