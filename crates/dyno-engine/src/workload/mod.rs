//! The workloads: the transactions, their data, and the check of the data afterwards.
//!
//! * [`Workload`] in `contract` and [`DataSet`] in `data_set`: the interface to the engine;
//! * one small file each, with tables, transaction, audit and options; `sbtest` are tables that
//!   several share;
//! * [`Native`] lists them: [`catalog`] with their options, [`Native::build`] makes one from its
//!   resolved options.

mod bulk_insert;
mod contract;
mod crud;
mod data_set;
mod dbatest;
mod history;
mod http;
mod isolation;
mod mass_insert;
pub mod native;
mod oltp;
mod random_selects;
mod rush;
mod sbtest;

pub use crate::measure::load::ClientId;
pub use crate::native_clients::statement_kinds;
pub use crate::session::StatementText;
pub use bulk_insert::BulkInsert;
pub use contract::{AuditFacts, Setting, Verdict, Workload};
pub use crud::Crud;
pub use data_set::{DataSet, NoData, TableDefinition};
pub use dbatest::Dbatest;
pub use history::Histories;
pub use http::{Http, check_engine};
pub use isolation::{isolation_option, isolation_setup};
pub use mass_insert::MassInsert;
pub use native::{Native, catalog, sample_statements};
pub use oltp::Oltp;
pub use random_selects::RandomSelects;
pub use rush::Rush;
