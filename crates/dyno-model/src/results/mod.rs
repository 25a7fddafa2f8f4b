//! What a run records: trials, audits, histories, failures, events.

pub mod audit;
pub mod event;
pub mod failure_log;
pub mod generators;
pub mod history;
pub mod isolation;
pub mod record;
pub mod schema;
