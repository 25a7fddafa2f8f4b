//! The workload of a treatment: one that dyno knows by name, or the user's own SQL.

use dyno_engine::workload::{Native, Setting, Workload, check_engine, statement_kinds};
use dyno_model::catalog::WorkloadDescription;
use dyno_model::plan::{Plan, SystemPlan, Treatment};
use dyno_model::spec::WorkloadNames;
use dyno_model::target::{Engine, QueryMode};
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
        Self::built(treatment, engine, plan.query_mode(treatment), plan.seed)
    }

    fn built(
        treatment: &Treatment,
        engine: Engine,
        query_mode: QueryMode,
        seed: u64,
    ) -> Result<Self, String> {
        let workload = &treatment.workload;
        check_engine(&workload.kind, engine)?;
        if workload.kind == SQL {
            return Transactions::build(&workload.options, engine, query_mode).map(Self::Sql);
        }
        let setting = Setting { engine, clients: treatment.clients, seed };
        Native::build(workload, setting).map(Self::Native)
    }
}

/// What a treatment's workload calls its transactions and statements, while the spec is read; neither seed nor query mode changes that.
pub(crate) fn names(treatment: &Treatment, system: &SystemPlan) -> Option<WorkloadNames> {
    let workload = AnyWorkload::built(treatment, system.engine(), QueryMode::Prepared, 0).ok()?;
    let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
    Some(with_workload!(&workload, workload => WorkloadNames {
        transactions: owned(workload.transactions()),
        statements: owned(statement_kinds(workload)),
    }))
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
