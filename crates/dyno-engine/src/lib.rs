//! Time, clients and workloads.
//!
//! # Layout (read in this order)
//! * [`trial`]: one trial: baseline, measuring, audit, findings;
//! * [`measure`]: the measuring core from ramp to books, for trials, for [`run_load`] and for scripts; the coordinator that
//!   everything below reports to;
//! * [`window`]: when measuring begins and ends, and who may still start a transaction;
//! * `arrivals`: when transactions arrive in an open loop;
//! * `worker`, `client`: threads that drive many clients each, and the loop of one client with its retry policy; `scheduling`: how
//!   they share processors with a server;
//! * [`session`]: a connection with its prepared statements, which measures every statement;
//! * [`recording`]: from single times to histograms per interval;
//! * [`workload`]: the trait and the native workloads; [`loading`]: how their tables are filled;
//! * [`random`], [`distribution`]: seeds, streams and key distributions.
//!
//! # Invariants
//! * Nothing is shared between workers on the hot path but the transaction budget; nothing is allocated per statement. A worker's
//!   recorder has a lock that only the coordinator also takes, once per interval.
//! * Transaction *i* of client *c* depends on (seed, trial, c, i) only, whatever the number of workers.
//! * The books balance ([`dyno_model::ledger::Ledger`]); every trial checks them.
//! * This crate does not know how servers are started or how results are stored.

mod arrivals;
mod client;
pub mod distribution;
mod generator;
pub mod loading;
pub mod measure;
pub mod random;
pub mod recording;
mod scheduling;
pub mod session;
mod settling;
pub mod text;
pub mod trial;
pub mod window;
mod worker;
pub mod workload;

pub use measure::meter::{Meter, Script, ScriptTrouble};
pub use measure::{LoadInput, LoadRecord, ScriptThreads, run_load, run_script};
pub use session::Session;
pub use trial::{TrialError, TrialInput, run_trial};
