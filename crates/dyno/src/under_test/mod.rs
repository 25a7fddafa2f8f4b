//! Systems under test during a run: started, connected, and left as they were found.

pub(super) mod databases;
pub(super) mod disk;
pub(super) mod original_settings;
pub(super) mod slot;
pub(super) mod system;
pub(super) mod systems;
