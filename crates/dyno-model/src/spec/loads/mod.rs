//! Loads in a spec: client groups, stages, databases, and limits on figures.

pub(super) mod background;
pub(super) mod databases;
pub(super) mod launcher;
pub(super) mod limit;
pub(super) mod load;
pub(super) mod stages;
