//! The live view of a run. A listener keeps the state of the run; the screen of a terminal, pages
//! in a browser and metrics show it. Removing the views does not change a measurement.
//!
//! # Layout (read in this order)
//! * [`campaign`]: place in the plan and time left; [`state`]: the state of the run, derived from
//!   its events; [`live`]: the same, shared with the threads of the views;
//! * [`terminal`]: the screen; [`metrics`]: figures for other programs; [`server`]: pages and
//!   metrics over HTTP.
//!
//! # Invariants
//! The thread that measures only updates the state, once per event; views copy what they need and
//! write without the lock. A view that is slow, or blocked, delays nothing else.
#![warn(missing_docs)]

pub mod campaign;
pub mod live;
pub mod metrics;
pub mod server;
pub mod state;
pub mod terminal;
