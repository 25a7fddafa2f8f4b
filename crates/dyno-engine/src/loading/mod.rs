//! Creation and loading of a workload's tables: in parallel within one table, with the engine's
//! bulk load interface.
//!
//! * `filling`: ranges of rows, loaded by the connections of this process;
//! * `load`: a whole data set, from its tables to their indexes;
//! * `divided`: the same with the ranges divided among several generators.

mod divided;
mod filling;
mod load;

pub use divided::{LoadError, LoadReport, Loaders, load_divided, load_share, loaders_of_each};
pub use filling::{LOADERS, Loading, RowRange};
pub use load::{check_existing, load, load_table, note_rejected};
