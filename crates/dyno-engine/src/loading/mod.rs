//! Creation and loading of a workload's tables: in parallel within one table, with the engine's
//! bulk load interface.
//!
//! * `filling`: ranges of rows, loaded by the connections of this process;
//! * `data_set`: a whole data set, from its tables to their indexes;
//! * `distributed`: the same with the ranges divided among several generators.

mod data_set;
mod distributed;
mod filling;

pub use data_set::{check_existing, load_data, load_table, report_rejected};
pub use distributed::{
    Loaders, LoadingError, LoadingReport, load_data_distributed, load_ranges, loaders_of_each,
};
pub use filling::{LOADERS, Loading, RowRange};
