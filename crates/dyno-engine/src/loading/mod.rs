//! Creation and loading of a workload's tables: in parallel within one table, with the engine's
//! bulk load interface.
//!
//! * `filling`: ranges of rows, loaded by the connections of this process;
//! * `load`: a whole data set, from its tables to their indexes;
//! * `distributed`: the same with the ranges divided among several generators.

mod distributed;
mod filling;
mod load;

pub use distributed::{
    LoadError, LoadReport, Loaders, load_distributed, load_ranges, loaders_of_each,
};
pub use filling::{LOADERS, Loading, RowRange};
pub use load::{check_existing, load, load_table, report_rejected};
