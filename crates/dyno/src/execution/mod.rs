//! Running a plan: preflight, data, trials and their client groups, searches, faults.

pub(super) mod campaign;
pub(super) mod checkup;
pub(super) mod claims;
pub(super) mod client_groups;
pub(super) mod client_paths;
pub(super) mod curve;
pub(super) mod data;
pub(super) mod faults;
pub(super) mod preflight;
pub(super) mod run;
pub(super) mod search;
pub(super) mod trials;
