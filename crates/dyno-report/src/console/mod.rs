//! Output of commands other than reports: plan, preflight, progress.

pub(super) mod checkup;
pub(super) mod plan;
pub(super) mod preflight;
pub(super) mod progress;
