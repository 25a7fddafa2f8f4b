//! The load engine: clients, workloads and the measurement of their response times.
//!
//! # Layout (read in this order)
//! * [`trial`]: measures a native workload: [`run_load`] alone, and one trial with its baseline,
//!   audit and warnings;
//! * `native_trial`: both for the workloads of dyno, compiled here once; `start_barrier`: where the
//!   client groups of a trial wait for each other; `auditing`: checks the data after a trial;
//! * [`measure`]: the measuring core from connecting to final counters, for native workloads and
//!   for scripts; the coordinator that clients report to;
//! * [`window`]: when measuring begins and ends, and who may still start a transaction;
//! * `arrivals`: the arrival times of transactions in an open loop;
//! * `worker`, `worker_count`, `worker_tries`, `client`: threads that drive many clients each, the
//!   number of these threads, and the loop of one client with its retry policy; `scheduling`: how
//!   worker threads share processors with a server;
//! * [`session`]: a connection with its prepared statements, which measures every statement;
//! * [`schema`]: the contents of a database before clients begin;
//! * [`recording`]: from single times to histograms per interval;
//! * [`workload`]: the trait and the native workloads; [`loading`]: how their tables are filled;
//! * [`random`], [`distribution`]: seeds, streams and key distributions.
//!
//! # Invariants
//! * Modules depend on each other in one direction. Each of these uses only those before it:
//!   window, arrivals, recording, session, workload or measure, client, worker, trial.
//! * In a closed loop, workers share nothing on the hot path except the budget of transactions or
//!   rows; in an open loop, each transaction also locks the common schedule of arrivals. Workers
//!   allocate nothing per statement. Only the coordinator also takes the lock of a worker's
//!   recorder: twice per interval, and three or four times a second to detect stalls.
//! * Transaction *i* of client *c* depends on (seed, trial, c, i) only, whatever the number of
//!   workers.
//! * The counters add up ([`dyno_model::counters::TrialCounters`]); every trial checks them.
//! * This crate does not know how servers are started or how results are stored.

mod client_id;
mod commit_ledger;
mod data;
pub mod distribution;
mod fatal;
mod load_generator;
pub mod loading;
pub mod measure;
mod native;
pub mod random;
pub mod recording;
pub mod session;
mod settling;
mod timing;
mod trials;
pub mod workload;

use data::data_set;
pub use data::{schema, text};
use load_generator::{generator, scheduling, worker_count};
use native::{client, native_clients, worker, worker_tries};
use timing::arrivals;
pub use timing::window;
pub use trials::trial;
use trials::{auditing, clients, custom_audit, start_barrier, trial_input};

pub use custom_audit::CustomAudit;
pub use fatal::{Fatal, FatalCause};
pub use measure::distributed::{DistributedLoad, GeneratorReport, GeneratorSource, Generators};
pub use measure::load::{LoadInput, LoadRecord, TrialError};
pub use measure::meter::{Meter, Script, ScriptFailure, ScriptThreads};
pub use measure::partial_result::PartialResult;
pub use measure::start::Start;
pub use session::Session;
pub use start_barrier::{BackgroundGroup, BarrierMember, run_groups};
pub use trial::{
    run_distributed_load, run_distributed_script, run_groups_trial, run_load, run_script,
    run_script_subset, run_script_trial, run_subset, run_trial,
};
pub use trial_input::{Node, NodeState, RepairedNodes, TrialInput};
pub use worker_count::{MeasuredWorkers, default_workers};
