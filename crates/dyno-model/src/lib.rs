//! Data types and rules of dbdyno, without any input or output.
//!
//! # Layout (read in this order)
//! * [`target`], [`secret`]: the address of a system and its credentials; [`address`]: how users
//!   write both; [`engine`]: the differences between engines;
//! * [`catalog`]: how a workload describes itself (options, statements, audit);
//! * [`spec`]: the spec file, parsed with all errors reported at once, and resolved into
//! * [`plan`]: the experiment with every default explicit and its trials in run order; [`single`]:
//!   one trial without a spec; [`curve`]: several;
//! * [`failure`], [`counters`]: the kinds of failures of a database, and the counters that must add
//!   up; [`failure_log`]: the messages of failures;
//! * [`latency`]: the histogram of all response times; [`compact_histogram`]: its compact form for
//!   few distinct times;
//! * [`audit`], [`warning`]: the checks of the data after a trial, and warnings about figures;
//! * [`history`]: the reads and writes of clients, and the anomalies in them; [`isolation`]: the
//!   isolation levels that forbid these anomalies;
//! * [`stages`]: a load that changes during a trial; [`client_group`]: the groups of clients that
//!   run concurrently in a trial; [`databases`]: the databases of the measured clients;
//! * [`limit`]: limits on figures; [`search`]: the search for the highest load that passes a limit;
//!   [`front`]: the first pages of a test report;
//! * [`schema`]: the contents of a database when clients start;
//! * [`record`], [`event`]: the record of a trial and the events of a run; [`judge`]: the warnings
//!   that follow from them;
//! * [`monitor`]: samples of machine and server, taken each second during the load;
//!   [`observation`]: properties of a machine before measuring, and [`preflight`]: checks of
//!   everything that an experiment needs;
//! * [`units`], [`lists`], [`checksum`], [`exit_code`], [`sync`].
//!
//! # Invariants
//! Nothing here reads a clock, a file, the network or the environment. Every input is a value that
//! tests can construct.
#![warn(missing_docs)]

mod experiment;
mod load_model;
mod outcome;
mod response_times;
mod results;
mod system;
mod text;
mod validity;

pub mod client_group;
pub mod engine;
pub mod exit_code;
pub mod judge;
pub mod lists;
pub mod random;
pub mod search;
pub mod spec;
pub mod sync;
pub mod units;

pub use experiment::{catalog, curve, fault, front, plan, single};
use load_model::{comparison_metric, load, search_question};
pub use load_model::{databases, launcher, limit, stages};
use outcome::interval;
pub use outcome::{counters, failure, retry};
pub use response_times::{compact_histogram, encoded, latency, response};
pub use results::{audit, event, failure_log, generators, history, isolation, record, schema};
pub use system::{address, mask, secret, target, version};
use system::{existing, network_path, server};
pub use text::{checksum, hex, printable, template, words};
pub use validity::{monitor, observation, preflight, reason, warning};
