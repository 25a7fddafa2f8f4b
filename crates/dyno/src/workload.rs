//! The workload of a configuration: one that dyno knows by name, or the user's own SQL or Lua.

use dyno_engine::workload::{DataSet, Native, Setting, Workload, check_engine, statement_kinds};
use dyno_engine::{TrialError, TrialInput};
use dyno_model::beside::BesidePlan;
use dyno_model::catalog::{LUA, WorkloadDescription};
use dyno_model::databases::transaction_names;
use dyno_model::event::Listener;
use dyno_model::plan::{Configuration, Plan, SystemPlan};
use dyno_model::record::TrialRecord;
use dyno_model::spec::WorkloadNames;
use dyno_model::target::{Engine, QueryMode};
use dyno_pgbench::{SQL, Transactions};
use dyno_sysbench::Scripts;

pub(crate) enum AnyWorkload {
    Native(Native),
    Sql(Transactions),
    Lua(Scripts),
}

impl AnyWorkload {
    /// Makes the workload of a configuration, or of one that has that of a workload beside in its
    /// place.
    ///
    /// # Errors
    /// When its options do not fit the engine, or a script has a mistake, in words.
    pub(crate) fn of(
        plan: &Plan,
        configuration: &Configuration,
        beside: Option<&BesidePlan>,
    ) -> Result<Self, String> {
        let engine = plan.systems[configuration.system].engine();
        let of_system =
            plan.configurations.iter().filter(|other| other.system == configuration.system);
        let clients = of_system.flat_map(|other| match beside {
            None => vec![other.clients],
            Some(it) => other
                .beside
                .iter()
                .filter(|other| other.name == it.name)
                .map(|it| it.clients)
                .collect(),
        });
        let clients_max = clients.max().unwrap_or(0);
        Self::built(configuration, engine, plan.query_mode(configuration), plan.seed, clients_max)
    }

    fn built(
        configuration: &Configuration,
        engine: Engine,
        query_mode: QueryMode,
        seed: u64,
        clients_max: u32,
    ) -> Result<Self, String> {
        let workload = &configuration.workload;
        check_engine(&workload.kind, engine)?;
        if workload.kind == SQL {
            return Transactions::build(&workload.options, engine, query_mode).map(Self::Sql);
        }
        let setting = Setting { engine, clients: configuration.clients, seed };
        if workload.kind == LUA {
            return Scripts::build(&workload.options, setting, clients_max).map(Self::Lua);
        }
        Native::build(workload, setting).map(Self::Native)
    }

    pub(crate) fn data(&self) -> &dyn DataSet {
        match self {
            Self::Native(native) => native.data(),
            Self::Sql(sql) => sql.data(),
            Self::Lua(lua) => lua.data(),
        }
    }

    /// Leaves to another what its scripts make as these would.
    pub(crate) fn leave_to(&mut self, other: &mut Self) {
        if let (Self::Lua(own), Self::Lua(other)) = (self, other) {
            own.leave_to(other);
        }
    }

    /// True when what the other makes by statements is there once this has made its own.
    pub(crate) fn makes_all_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Sql(one), Self::Sql(other)) => {
                one.data().fingerprint() == other.data().fingerprint()
            }
            _ => false,
        }
    }

    /// Measures one trial.
    ///
    /// # Errors
    /// When nothing could be measured.
    pub(crate) fn run(
        self,
        input: &TrialInput<'_>,
        listener: &mut dyn Listener,
    ) -> Result<TrialRecord, TrialError> {
        self.run_spread(Vec::new(), input, listener)
    }

    /// Measures one trial with clients that are spread over databases: each of the others, which
    /// are of the same kind, is of another database.
    ///
    /// # Errors
    /// When nothing could be measured.
    pub(crate) fn run_spread(
        self,
        others: Vec<Self>,
        input: &TrialInput<'_>,
        listener: &mut dyn Listener,
    ) -> Result<TrialRecord, TrialError> {
        match self {
            Self::Native(native) => {
                let native_of =
                    |other| if let Self::Native(native) = other { Some(native) } else { None };
                let others = others.into_iter().filter_map(native_of).collect();
                native.run_spread_trial(others, input, listener)
            }
            Self::Sql(sql) => {
                let mut all = vec![sql];
                all.extend(
                    others.into_iter().filter_map(|other| {
                        if let Self::Sql(sql) = other { Some(sql) } else { None }
                    }),
                );
                Transactions::run(all, input, listener)
            }
            Self::Lua(lua) => lua.run(input, listener),
        }
    }

    /// The workload of each database that the clients of a configuration are spread over; none
    /// where they work in the system's own.
    ///
    /// # Errors
    /// As [`Self::of`].
    pub(crate) fn of_databases(
        plan: &Plan,
        configuration: &Configuration,
    ) -> Result<Vec<Self>, String> {
        let databases = &configuration.load.databases;
        let number = if databases.is_one() { 0 } else { databases.number() as usize };
        let of_database = |place: usize| {
            let clients = databases.share(configuration.clients, place);
            let configuration = Configuration { clients, ..configuration.clone() };
            let engine = plan.systems[configuration.system].engine();
            Self::built(&configuration, engine, plan.query_mode(&configuration), plan.seed, clients)
        };
        (0..number).map(of_database).collect()
    }
}

/// What a configuration's workload calls its transactions and statements, while the spec is read;
/// neither seed nor query mode changes that.
pub(crate) fn names(configuration: &Configuration, system: &SystemPlan) -> Option<WorkloadNames> {
    let workload = AnyWorkload::built(
        configuration,
        system.engine(),
        QueryMode::Prepared,
        0,
        configuration.clients,
    )
    .ok()?;
    let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
    let (transactions, statements) = match &workload {
        AnyWorkload::Native(native) => (native.transactions(), native.statement_kinds()),
        AnyWorkload::Sql(sql) => (sql.transactions(), statement_kinds(sql)),
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
    all.push(dyno_pgbench::description());
    all.push(dyno_sysbench::description());
    all
}
