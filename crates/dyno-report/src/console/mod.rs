//! Output of commands other than reports: plan, preflight, progress, live views.

pub(super) mod checkup;
pub(super) mod live;
pub(super) mod plan;
pub(super) mod preflight;
pub(super) mod progress;
