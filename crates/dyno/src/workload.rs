//! The workload of a treatment: one that dyno knows by name, or the user's own SQL.

use dyno_engine::workload::{Native, Setting, check_engine};
use dyno_model::catalog::WorkloadDescription;
use dyno_model::plan::{Plan, Treatment};
use dyno_pgbench::{SQL, Transactions};

/// Whatever clients do.
pub(crate) enum AnyWorkload {
    Native(Native),
    Sql(Transactions),
}

/// Calls code with whichever workload it is.
macro_rules! with_workload {
    ($any:expr, $workload:ident => $call:expr) => {
        match $any {
            $crate::workload::AnyWorkload::Native(native) => dyno_engine::with_native!(native, $workload => $call),
            $crate::workload::AnyWorkload::Sql($workload) => $call,
        }
    };
}
pub(crate) use with_workload;

impl AnyWorkload {
    /// Makes the workload of a treatment.
    ///
    /// # Errors
    /// When its options do not fit the engine, or a script has a mistake, in words.
    pub(crate) fn of(plan: &Plan, treatment: &Treatment) -> Result<Self, String> {
        let engine = plan.systems[treatment.system].engine();
        let workload = &treatment.workload;
        check_engine(&workload.kind, engine)?;
        if workload.kind == SQL {
            return Transactions::build(&workload.options, engine, plan.query_mode(treatment)).map(Self::Sql);
        }
        let setting = Setting { engine, clients: treatment.clients, seed: plan.seed };
        Native::build(workload, setting).map(Self::Native)
    }
}

/// The workloads of a system's treatments; what is wrong with one, in words.
pub(crate) fn of_system(plan: &Plan, system: usize) -> impl Iterator<Item = Result<AnyWorkload, String>> {
    let treatments = plan.treatments.iter().filter(move |treatment| treatment.system == system);
    treatments.map(|treatment| AnyWorkload::of(plan, treatment))
}

/// True when nothing is to be sent to a system but scripts that only read. Its sessions are then kept from writing, so that a database
/// need not be dyno's.
pub(crate) fn only_reads(plan: &Plan, system: usize) -> bool {
    of_system(plan, system)
        .all(|workload| matches!(workload, Ok(AnyWorkload::Sql(sql)) if sql.writing().is_none()))
}

/// All workloads with their options.
pub(crate) fn catalog() -> Vec<WorkloadDescription> {
    let mut all = dyno_engine::workload::catalog();
    all.push(dyno_pgbench::description());
    all
}
