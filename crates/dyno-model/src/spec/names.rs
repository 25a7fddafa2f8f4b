//! What a workload calls its transactions and statements, which only those know who can build it.

use crate::plan::{Configuration, SystemPlan};

/// Names of what has figures of its own.
#[derive(Debug, Clone, Default)]
pub struct WorkloadNames {
    /// Of transactions; none where they are all alike.
    pub transactions: Vec<String>,
    /// Of kinds of statements.
    pub statements: Vec<String>,
}

/// The names of a configuration's workload on its system; `None` where there is something wrong
/// with it, which is told elsewhere.
pub type NamesOf = fn(&Configuration, &SystemPlan) -> Option<WorkloadNames>;

/// Where nobody knows any.
pub(super) fn unknown(_: &Configuration, _: &SystemPlan) -> Option<WorkloadNames> {
    None
}
