//! The workloads: the transactions, their data, and the check of the data afterwards.
//!
//! * [`Workload`] in `contract` and [`DataSet`]: the interface to the engine;
//! * one small file each, with tables, transaction, audit and options; `sbtest` are tables that
//!   several share;
//! * [`Native`] lists them: [`catalog`] with their options, [`Native::build`] makes one from its
//!   resolved options.

mod bulk_insert;
mod contract;
mod crud;
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
mod tpcc;
mod ycsb;

pub use crate::client_id::ClientId;
pub use crate::data_set::{DataSet, NoData, TableDefinition};
pub use crate::session::StatementText;
pub use bulk_insert::BulkInsert;
pub(crate) use contract::count_rows;
pub use contract::{AfterFailure, AuditFacts, Workload, WorkloadContext, statement_kinds};
pub use crud::Crud;
pub use dbatest::Dbatest;
pub use history::Histories;
pub use http::{Http, check_engine};
pub use isolation::{isolation_option, isolation_setup};
pub use mass_insert::MassInsert;
pub use native::{Native, catalog, sample_statements};
pub use oltp::Oltp;
pub use random_selects::RandomSelects;
pub use rush::Rush;
pub use tpcc::Tpcc;
pub use ycsb::Ycsb;
