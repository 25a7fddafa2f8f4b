//! Pure data and rules of dbdyno.
//!
//! # Layout (read in this order)
//! * [`target`], [`secret`]: where a system is reached, and with what it is entered; [`address`]:
//!   how people write that; [`engine`]: in what engines differ;
//! * [`catalog`]: how a workload describes itself (options, statements, audit);
//! * [`spec`]: the spec file, read with every error at once, and resolved into
//! * [`plan`]: the experiment with every default explicit and its trials in run order; [`single`]:
//!   one trial, without a spec; [`curve`]: several;
//! * [`failure`], [`ledger`]: what a database can answer instead of success, and the books that
//!   must balance; [`failure_log`]: its words;
//! * [`latency`]: the histogram every response time goes into; [`compact_histogram`]: its form for
//!   few times;
//! * [`audit`], [`warning`]: what the data said afterwards, and doubts about a number;
//! * [`history`]: what clients read and wrote, and the anomalies in it; [`isolation`]: the levels
//!   that forbid them;
//! * [`stages`]: a load that changes inside a trial; [`client_group`]: what runs in a trial at the
//!   same time; [`databases`]: where the measured clients work;
//! * [`limit`]: what figures have to keep to; [`search`]: the highest load at which they do;
//!   [`front`]: the first pages of a test report;
//! * [`schema`]: what a database holds when clients begin;
//! * [`record`], [`event`]: what is written down about a trial while it runs; [`judge`]: doubts
//!   that follow from it;
//! * [`monitor`]: what is seen beside the load each second, of machine and server; [`observation`]:
//!   what is seen of a machine before, and
//!   [`preflight`]: of everything that an experiment needs;
//! * [`units`], [`lists`], [`checksum`], [`exit_code`].
//!
//! # Invariants
//! Nothing here reads a clock, a file, the network or the environment: everything is a value that
//! tests can make.
#![warn(missing_docs)]

pub mod address;
pub mod audit;

pub mod catalog;
pub mod checksum;
pub mod client_group;
pub mod compact_histogram;
pub mod curve;
pub mod databases;
pub mod engine;
pub mod event;
mod existing;
pub mod exit_code;
pub mod failure;
pub mod failure_log;
pub mod fault;
pub mod front;
pub mod history;
mod interval;
pub mod isolation;
pub mod judge;
pub mod latency;
pub mod ledger;
pub mod limit;
pub mod lists;
mod load;
pub mod mask;
mod metric;
pub mod monitor;
mod named;
mod network_path;
pub mod observation;
pub mod plan;
pub mod preflight;
pub mod printable;
pub mod random;
pub mod record;
pub mod response;
pub mod retry;
pub mod schema;
pub mod search;
pub mod secret;
mod server;
pub mod single;
pub mod spec;
pub mod stages;
pub mod target;
pub mod template;
pub mod units;
pub mod warning;
pub mod words;
