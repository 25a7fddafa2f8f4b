//! The plan of a run that is one trial on a system that is already there: what `dyno sysbench` and
//! `dyno pgbench` leave, so that reports and comparisons read them like any other run.

use crate::catalog::WorkloadOptions;
use crate::plan::{
    Configuration, DataPolicy, ExistingSystem, FORMAT, LoadPlan, PasswordSource, Plan, SystemPlan,
    SystemSource, Trial, Variation, WorkloadPlan,
};
use crate::target::{Endpoint, Engine, Target};

/// The only trial's name; intervals carry it.
pub const TRIAL: &str = "b01-001";

/// What is known of such a run before it begins.
#[derive(Debug)]
pub struct SingleTrial {
    /// Name of the experiment, and so of the folder.
    pub name: String,
    /// Heading of the report.
    pub title: String,
    /// What kind of run it is, in a sentence; may be empty.
    pub description: String,
    /// Seed of everything random.
    pub seed: u64,
    /// What the system is called.
    pub system: String,
    /// Where the system is; its password goes no further.
    pub target: Target,
    /// Number of clients.
    pub clients: u32,
    /// Options of the workload, which is called as the experiment is.
    pub options: WorkloadOptions,
    /// Load rules.
    pub load: LoadPlan,
}

impl SingleTrial {
    /// The target of a run that uses no server.
    #[must_use]
    pub fn no_server() -> Target {
        Target::new(Engine::Null, Endpoint::InProcess)
    }

    /// The plan: one system, one configuration, one trial.
    #[must_use]
    pub fn plan(self) -> Plan {
        let target = self.target;
        let existing = ExistingSystem {
            engine: target.engine,
            endpoint: target.endpoint,
            user: target.user,
            // Options, environment or a file had the password; nothing keeps it.
            password: PasswordSource::None,
            database: target.database,
            tls: target.tls,
            client_certificate: None,
            session_setup: Vec::new(),
            data: DataPolicy::Existing,
            monitor: None,
            hooks: None,
        };
        let system = SystemPlan {
            name: self.system,
            source: SystemSource::Existing(existing),
            query_mode: target.query_mode,
            connect_timeout: target.connect_timeout.into(),
        };
        let configuration = Configuration {
            system: 0,
            clients: self.clients,
            workload: WorkloadPlan::new(&self.name, self.options),
            load: self.load,
            levels: Vec::new(),
            variation: Variation::default(),
            background: Vec::new(),
        };
        Plan {
            format: FORMAT,
            name: self.name,
            title: self.title,
            description: self.description,
            seed: self.seed,
            blocks: 1,
            systems: vec![system],
            configurations: vec![configuration],
            trials: vec![Trial { id: TRIAL.to_owned(), block: 1, configuration: 0 }],
            ..Plan::default()
        }
    }
}
