//! Names of a workload's transactions and statements, which only the implementation of the workload
//! knows.

use crate::plan::{Configuration, SystemPlan};

/// Names of parts with separate figures.
#[derive(Debug, Clone, Default)]
pub struct WorkloadNames {
    /// Names of transactions; empty when they are all alike.
    pub transactions: Vec<String>,
    /// Of kinds of statements.
    pub statements: Vec<String>,
}

/// The names of a configuration's workload on its system; `None` when the workload is invalid,
/// which is reported elsewhere.
pub type NamesOf = fn(&Configuration, &SystemPlan) -> Option<WorkloadNames>;

/// Used when no names are known.
pub(in crate::spec) fn unknown(_: &Configuration, _: &SystemPlan) -> Option<WorkloadNames> {
    None
}
