//! Several load generators for one trial: processes of dyno, here or on other machines, that a
//! coordinator starts, connects to and puts together (docs/distributed.md).
//!
//! # Layout (read in this order)
//! * `client_work`: what clients do; `message`: what coordinator and generators tell each other;
//! * `secure`: TLS with a key that is made at the start and pinned by its fingerprint; `link`:
//!   messages over a connection;
//! * `preflight`: whether generators can be started at all;
//! * `launch`: the command lines that start generators; `clock`: how far the clocks of two machines
//!   are apart; `generator_handle`: the coordinator's end of one connection; `fleet`: all
//!   generators of a run;
//! * `loading`: data loaded by a fleet; `trial`: a trial with the clients of a fleet, or a load;
//! * `generator`: the process `dyno generator`.

mod client_work;
mod clock;
mod fleet;
pub(crate) mod generator;
mod generator_handle;
mod launch;
mod link;
mod loading;
mod message;
mod preflight;
mod secure;
#[cfg(test)]
mod tests;
mod trial;

pub(crate) use fleet::IdleFleet;
pub(crate) use preflight::obstacles;
pub(crate) use trial::{DistributedTrial, LoadGenerators};
