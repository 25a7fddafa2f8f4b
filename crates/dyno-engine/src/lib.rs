//! Time, clients and workloads.
//!
//! # Layout (read in this order)
//! * [`trial`]: a native workload measured: [`run_load`], and one trial with baseline, audit and
//!   findings around it;
//! * `native_trial`: both for the workloads of dyno, compiled here once; `start_barrier`: where the
//!   client groups of a trial wait for each other; `auditing`: what became of the data;
//! * [`measure`]: the measuring core from ramp to books, for these and for scripts; the coordinator
//!   that clients report to;
//! * [`window`]: when measuring begins and ends, and who may still start a transaction;
//! * `arrivals`: when transactions arrive in an open loop;
//! * `worker`, `worker_count`, `worker_tries`, `client`: threads that drive many clients each, how
//!   many there are, and the loop of one client with its retry policy; `scheduling`: how they share
//!   processors with a server;
//! * [`session`]: a connection with its prepared statements, which measures every statement;
//! * [`schema`]: what a database holds before clients begin;
//! * [`recording`]: from single times to histograms per interval;
//! * [`workload`]: the trait and the native workloads; [`loading`]: how their tables are filled;
//! * [`random`], [`distribution`]: seeds, streams and key distributions.
//!
//! # Invariants
//! * Modules use each other one way: measure, session, workload, client, worker, trial.
//! * Nothing is shared between workers on the hot path but the transaction budget; nothing is
//!   allocated per statement. A worker's recorder has a lock that only the coordinator also takes,
//!   once per interval.
//! * Transaction *i* of client *c* depends on (seed, trial, c, i) only, whatever the number of
//!   workers.
//! * The books balance ([`dyno_model::ledger::Ledger`]); every trial checks them.
//! * This crate does not know how servers are started or how results are stored.

mod arrivals;
mod auditing;
mod client;
mod clients;
mod commit_ledger;
pub mod distribution;
mod generator;
pub mod loading;
pub mod measure;
mod native_clients;
mod native_trial;
mod own_audit;
pub mod random;
pub mod recording;
mod scheduling;
pub mod schema;
pub mod session;
mod settling;
mod start_barrier;
pub mod text;
pub mod trial;
mod trial_input;
pub mod window;
mod worker;
mod worker_count;
mod worker_tries;
pub mod workload;

pub use measure::load::{Fatal, FatalCause, LoadInput, LoadRecord, TrialError};
pub use measure::meter::{Meter, Script, ScriptThreads, ScriptTrouble};
pub use measure::run_script;
pub use own_audit::OwnAudit;
pub use session::Session;
pub use start_barrier::{BackgroundGroup, BarrierMember, run_groups};
pub use trial::{run_groups_trial, run_load, run_script_trial, run_trial};
pub use trial_input::{Mended, Node, NodeState, TrialInput};
pub use worker_count::{MeasuredWorkers, default_workers};
