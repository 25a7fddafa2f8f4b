//! The commands of `crud`, by their kinds.

pub(super) const CREATE: u16 = 0;
pub(super) const INSERT: u16 = 1;
pub(super) const SELECT: u16 = 2;
pub(super) const UPDATE: u16 = 3;
pub(super) const DELETE: u16 = 4;
pub(super) const CHECK: u16 = 5;
pub(super) const DROP: u16 = 6;
pub(super) const KINDS: [&str; 7] =
    ["create-table", "insert", "select", "update", "delete", "check", "drop-table"];
