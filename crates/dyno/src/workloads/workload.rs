//! The workload of a configuration: a built-in one, or the user's SQL or Lua scripts.

use dyno_drivers::RowWriter;
use dyno_engine::workload::{
    DataSet, Native, TableDefinition, Workload, WorkloadContext, check_engine, statement_kinds,
};
use dyno_engine::{LoadInput, PartialResult, Start, TrialError, TrialInput, run_subset};
use dyno_model::catalog::{LUA, WorkloadDescription};
use dyno_model::client_group::{ClientGroup, GroupRole};
use dyno_model::databases::transaction_names;
use dyno_model::event::Listener;
use dyno_model::plan::{Configuration, Plan, SystemPlan, WorkloadPlan};
use dyno_model::record::TrialRecord;
use dyno_model::spec::WorkloadNames;
use dyno_model::target::{Engine, QueryMode, Target};
use dyno_pgbench::{SQL, TPCB, Transactions, tpcb, tpcb_description};
use dyno_sysbench::Scripts;
use serde::{Deserialize, Serialize};

pub(crate) enum AnyWorkload {
    Native(Native),
    Sql(Transactions),
    /// A script of dyno's own, with its tables.
    Tpcb(Transactions),
    Lua(Scripts),
}

impl AnyWorkload {
    /// Creates the workload of a client group of a configuration.
    ///
    /// # Errors
    /// A description, when its options do not fit the engine, or a script has an error.
    pub(crate) fn of_group(
        plan: &Plan,
        configuration: &Configuration,
        group: &ClientGroup,
    ) -> Result<Self, String> {
        let spec = WorkloadSpec::of_group(plan, configuration, group);
        let built = spec.built(group.clients.count).and_then(|workload| {
            let is_divided = configuration.load.generators.is_some();
            match workload.reason_not_distributable().filter(|_| is_divided) {
                Some(reason) => Err(format!(
                    "the clients of this workload cannot be divided among generators: {reason}; \
                     remove `load.generators`"
                )),
                None => Ok(workload),
            }
        });
        built.map_err(|reason| match group.role {
            GroupRole::Measured => reason,
            GroupRole::Background => format!("{}: {reason}", group.section()),
        })
    }

    fn built(
        workload: &WorkloadPlan,
        setting: WorkloadContext,
        query_mode: QueryMode,
        clients_max: u32,
    ) -> Result<Self, String> {
        check_engine(&workload.kind, setting.engine)?;
        match workload.kind.as_str() {
            SQL => {
                Transactions::build(&workload.options, setting.engine, query_mode).map(Self::Sql)
            }
            TPCB => tpcb(&workload.options, setting.engine, query_mode).map(Self::Tpcb),
            LUA => Scripts::build(&workload.options, setting, clients_max).map(Self::Lua),
            _ => Native::build(workload, setting).map(Self::Native),
        }
    }

    /// As [`Workload::reason_not_distributable`].
    fn reason_not_distributable(&self) -> Option<&'static str> {
        match self {
            Self::Native(native) => native.reason_not_distributable(),
            Self::Sql(sql) | Self::Tpcb(sql) => sql.reason_not_distributable(),
            Self::Lua(_) => None,
        }
    }

    /// A statement whose effect must last longer than its transaction, as far as they are known.
    pub(crate) fn lasting(&self) -> Option<String> {
        let (setup, own) = match self {
            Self::Native(native) => (native.session_setup(), None),
            Self::Sql(sql) | Self::Tpcb(sql) => (sql.session_setup(), sql.lasting()),
            Self::Lua(_) => return None,
        };
        setup.into_iter().next().or_else(|| own.map(|(_, line)| line.to_owned()))
    }

    pub(crate) fn data(&self) -> &dyn DataSet {
        match self {
            Self::Native(native) => native.data(),
            Self::Sql(sql) | Self::Tpcb(sql) => sql.data(),
            Self::Lua(lua) => lua.data(),
        }
    }

    /// Removes setup scripts that `other` runs as well.
    pub(crate) fn leave_to(&mut self, other: &mut Self) {
        if let (Self::Lua(own), Self::Lua(other)) = (self, other) {
            own.leave_to(other);
        }
    }

    /// True when this workload's setup creates everything that the statements of `other` create.
    pub(crate) fn makes_all_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Sql(one), Self::Sql(other)) => {
                one.data().fingerprint() == other.data().fingerprint()
            }
            _ => false,
        }
    }

    /// Measures the measured groups of a trial, or one background group: one workload, or several
    /// of the same kind, one per database.
    ///
    /// # Errors
    /// When nothing could be measured.
    pub(crate) fn run(
        all: Vec<Self>,
        input: &TrialInput<'_>,
        listener: &mut dyn Listener,
    ) -> Result<TrialRecord, TrialError> {
        match WorkloadsByKind::new(all) {
            WorkloadsByKind::Native(all) => Native::run_groups_trial(all, input, listener),
            WorkloadsByKind::Sql(all) => Transactions::run(all, input, listener),
            WorkloadsByKind::Lua(lua) => lua.run(input, listener),
        }
    }

    /// Measures the clients of one of several generators.
    ///
    /// # Errors
    /// When they cannot begin.
    pub(crate) fn run_subset(
        all: Vec<Self>,
        targets: (&[Target], usize),
        input: &LoadInput<'_>,
        common_start: impl FnOnce() -> Result<Start, TrialError>,
        listener: &mut dyn Listener,
    ) -> Result<PartialResult, TrialError> {
        match WorkloadsByKind::new(all) {
            WorkloadsByKind::Native(all) => {
                Native::run_subset(all, targets, input, common_start, listener)
            }
            WorkloadsByKind::Sql(all) => run_subset(all, targets, input, common_start, listener),
            WorkloadsByKind::Lua(lua) => lua.run_subset(targets, input, common_start, listener),
        }
    }
}

/// Workloads of the same kind, one per database; Lua scripts use one database.
enum WorkloadsByKind {
    Native(Vec<Native>),
    Sql(Vec<Transactions>),
    Lua(Scripts),
}

impl WorkloadsByKind {
    fn new(all: Vec<AnyWorkload>) -> Self {
        let (mut native, mut sql) = (Vec::new(), Vec::new());
        for workload in all {
            match workload {
                AnyWorkload::Native(workload) => native.push(workload),
                AnyWorkload::Sql(workload) | AnyWorkload::Tpcb(workload) => sql.push(workload),
                AnyWorkload::Lua(lua) => return Self::Lua(lua),
            }
        }
        if sql.is_empty() { Self::Native(native) } else { Self::Sql(sql) }
    }
}

/// What is needed to make the workloads of the measured groups of a configuration, here or in a
/// generator.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct WorkloadSpec {
    pub(crate) plan: WorkloadPlan,
    pub(crate) engine: Engine,
    /// Seed of the experiment.
    pub(crate) seed: u64,
    pub(crate) query_mode: QueryMode,
    /// Numbers of clients of the measured groups.
    pub(crate) groups: Vec<u32>,
    pub(crate) clients_max: u32,
}

impl WorkloadSpec {
    /// The work of a client group.
    pub(crate) fn of_group(
        plan: &Plan,
        configuration: &Configuration,
        group: &ClientGroup,
    ) -> Self {
        Self {
            plan: group.workload.clone(),
            engine: plan.systems[configuration.system].engine(),
            seed: plan.seed,
            query_mode: plan.query_mode(configuration),
            groups: vec![group.clients.count],
            clients_max: plan.most_clients_of(configuration.system, group),
        }
    }

    fn built(&self, clients: u32) -> Result<AnyWorkload, String> {
        let setting = WorkloadContext { engine: self.engine, clients, seed: self.seed };
        AnyWorkload::built(&self.plan, setting, self.query_mode, self.clients_max)
    }

    /// The workloads of all groups.
    ///
    /// # Errors
    /// As [`AnyWorkload::of_group`].
    pub(crate) fn workloads(&self) -> Result<Vec<AnyWorkload>, String> {
        self.groups.iter().map(|clients| self.built(*clients)).collect()
    }
}

/// What is needed to make the rows of a data set, here or in a generator.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct DataSource {
    pub(crate) specs: Vec<WorkloadSpec>,
    /// Tables, each with its work and its position among the work's tables.
    pub(crate) tables: Vec<(usize, usize)>,
}

impl DataSource {
    /// The data set, of which only the tables and their rows are used.
    ///
    /// # Errors
    /// As [`AnyWorkload::of_group`].
    pub(crate) fn data(&self) -> Result<impl DataSet, String> {
        let workloads = self.specs.iter().map(|spec| spec.built(spec.groups[0]));
        Ok(Rows { workloads: workloads.collect::<Result<_, _>>()?, tables: self.tables.clone() })
    }
}

/// The tables of several workloads.
struct Rows {
    workloads: Vec<AnyWorkload>,
    tables: Vec<(usize, usize)>,
}

impl DataSet for Rows {
    fn fingerprint(&self) -> String {
        String::new()
    }

    fn tables(&self) -> Vec<TableDefinition> {
        let of_each: Vec<_> = self.workloads.iter().map(|it| it.data().tables()).collect();
        self.tables.iter().map(|(owner, index)| of_each[*owner][*index].clone()).collect()
    }

    fn row(&self, table: usize, row: u64, out: &mut dyn RowWriter) {
        let (owner, index) = self.tables[table];
        self.workloads[owner].data().row(index, row, out);
    }
}

/// Names of a configuration's transactions and statements, needed while the spec is read; they do
/// not depend on seed or query mode.
pub(crate) fn names(configuration: &Configuration, system: &SystemPlan) -> Option<WorkloadNames> {
    let setting =
        WorkloadContext { engine: system.engine(), clients: configuration.clients, seed: 0 };
    let workload = AnyWorkload::built(
        &configuration.workload,
        setting,
        QueryMode::Prepared,
        configuration.clients,
    )
    .ok()?;
    let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
    let (transactions, statements) = match &workload {
        AnyWorkload::Native(native) => (native.transactions(), native.statement_kinds()),
        AnyWorkload::Sql(sql) | AnyWorkload::Tpcb(sql) => {
            (sql.transactions(), statement_kinds(sql))
        }
        AnyWorkload::Lua(lua) => (Vec::new(), lua.kinds()),
    };
    let transactions = match configuration.load.databases.names(system.database()) {
        databases if databases.is_empty() => owned(transactions),
        databases => transaction_names(&databases, &transactions),
    };
    Some(WorkloadNames { transactions, statements: owned(statements) })
}

/// All workloads with their options.
pub(crate) fn catalog() -> Vec<WorkloadDescription> {
    let mut all = dyno_engine::workload::catalog();
    all.push(tpcb_description());
    all.push(dyno_pgbench::description());
    all.push(dyno_sysbench::description());
    all
}
