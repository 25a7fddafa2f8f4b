//! Everything on this machine except load: servers that dyno starts, existing systems, and queries
//! outside the load.
//!
//! # Layout (read in this order)
//! * [`server`]: starts and stops servers, each in a scratch folder; [`supervisor`] is the
//!   supervisor process that undoes this whatever happens to dyno;
//! * `process_stat`: the processes of this machine;
//! * `ask`: runs programs for their answers;
//! * `folder`: access to files that a server's user may have replaced;
//! * [`data_set`]: data folders that are loaded once and restored by copy;
//! * [`network_path`]: proxies and application servers that dyno starts in front of servers;
//! * [`storage`]: locations for servers' data, with the commands that prepare and clear them;
//! * [`shell`]: checks that commands exist before they are run;
//! * [`existing`]: systems that dyno did not start;
//! * [`HostError`]: the error of all of these;
//! * `engine`: queries outside the load, one folder per engine; the next four use it;
//! * [`settings`]: reads settings back and compares them with the requested ones;
//! * [`marker`]: protects databases: dyno writes only to an empty one or its own; `ownership`: the
//!   proof that a table is dyno's; [`run_lock`]: excludes other runs; [`databases`]: several on one
//!   server;
//! * [`probe`]: the queries of preflight; [`checkup`]: conditions that would distort a measurement
//!   on this machine; [`counters`]: the servers' own counters;
//! * [`survey`]: the tables of a database, for writing a first spec;
//! * [`monitor`]: samples of machine, server and sessions, every second of a trial.
//!
//! # Invariants
//! * No process and no folder outlives dyno, even when dyno is killed.
//! * Passwords are passed to the server in files that only it can read, and to drivers; never in
//!   arguments, logs or errors.
//! * As root, dyno opens, writes, copies or gives away nothing by its path below a folder that
//!   another user owns.
//! * Everything that dyno starts listens on the loopback address only.
//! * Drivers are used for single queries only, blocking, one connection at a time; load is the task
//!   of the engine.

pub mod checkup;
mod control_connection;
pub mod copies;
pub mod data_set;
pub mod databases;
mod engine;
mod error;
pub mod existing;
pub mod hooks;
pub mod monitor;
pub mod network_path;
mod processes;
mod protection;
mod queries;
pub mod random;
pub mod server;
pub mod settings;
pub mod shell;
pub mod storage;

pub use processes::supervisor;
use processes::{ask, folder, process_stat, tail};
use protection::ownership;
pub use protection::{marker, run_lock};
pub use queries::{counters, pooler, probe, survey};

pub use error::HostError;
