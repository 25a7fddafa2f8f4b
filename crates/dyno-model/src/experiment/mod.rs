//! An experiment before it runs: the plan, the catalog of workloads, planned faults.

pub mod catalog;
pub mod curve;
pub mod fault;
pub mod front;
pub mod plan;
pub mod single;
