//! What is on this machine and is not load: servers that dyno starts, systems that run already, and
//! what they can be asked beside the load.
//!
//! # Layout (read in this order)
//! * [`server`]: starts and stops servers, each in a scratch folder; [`supervisor`] is the process
//!   that undoes this whatever happens to dyno;
//! * `process_stat`: the processes of this machine;
//! * `ask`: what programs say that are asked something;
//! * `folder`: the one way to reach files where a server's user may have put something else;
//! * [`data_set`]: data folders that are loaded once and restored by copy;
//! * [`network_path`]: proxies and application servers that dyno starts in front of servers;
//! * [`storage`]: places for servers' data, with the commands that prepare and clear them;
//! * [`shell`]: commands that are missing, found before they are run;
//! * [`existing`]: systems that run already;
//! * [`HostError`]: why any of this could not be done;
//! * `engine`: what systems can be asked beside the load, one folder per engine; the next four ask
//!   it;
//! * [`settings`]: reading settings back and comparing them with what was asked for;
//! * [`marker`]: the production guard: dyno writes only to what is empty or its own; `ownership`:
//!   what proves that it is;
//!   [`run_lock`]: what keeps other runs out meanwhile; [`databases`]: several on one server;
//! * [`probe`]: what preflight asks; [`checkup`]: what would spoil a measurement on this machine;
//!   [`counters`]: what servers count themselves;
//! * [`survey`]: the tables of a database, for whoever begins to measure it;
//! * [`monitor`]: machine, server and sessions, each second of a trial.
//!
//! # Invariants
//! * No process and no folder outlives dyno, even when dyno is killed.
//! * Passwords go to the server through files that only it can read, and to drivers; never to
//!   arguments, logs or errors.
//! * As root, dyno opens, writes, copies or gives away nothing by its path below a folder that
//!   another user owns.
//! * Everything that dyno starts listens on the loopback address only.
//! * Drivers are used for questions only, blocking, one connection at a time; load is the engine's
//!   business.

mod ask;
pub mod checkup;
mod control_connection;
pub mod copies;
pub mod counters;
pub mod data_set;
pub mod databases;
mod engine;
mod error;
pub mod existing;
mod folder;
pub mod hooks;
pub mod marker;
pub mod monitor;
pub mod network_path;
mod ownership;
pub mod probe;
mod process_stat;
pub mod run_lock;
pub mod server;
pub mod settings;
pub mod shell;
pub mod storage;
pub mod supervisor;
pub mod survey;

pub use error::HostError;
