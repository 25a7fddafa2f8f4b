//! Layout of text and tables: cells, columns, and where lines break.

pub(super) mod breaks;
pub(super) mod cell;
pub(super) mod fitted;
pub(super) mod grid;
pub(super) mod table;
