//! The plan of a run that is a single trial on an existing system. `dyno sysbench` and `dyno
//! pgbench` write it, so that reports and comparisons can read their results like those of any
//! other run.

use crate::catalog::WorkloadOptions;
use crate::plan::{
    Configuration, DataPolicy, ExistingSystem, FORMAT, LoadPlan, PasswordSource, Plan, SystemPlan,
    SystemSource, Trial, Variation, WorkloadPlan,
};
use crate::target::{Endpoint, Engine, Target};

/// The id of the only trial, which intervals carry.
pub const TRIAL: &str = "b01-001";

/// Description of such a run before it starts.
#[derive(Debug)]
pub struct SingleTrial {
    /// Name of the experiment, and so of the folder.
    pub name: String,
    /// Heading of the report.
    pub title: String,
    /// The kind of run, in a sentence; may be empty.
    pub description: String,
    /// Seed of everything random.
    pub seed: u64,
    /// Name of the system.
    pub system: String,
    /// Address of the system; its password is not stored.
    pub target: Target,
    /// Number of clients.
    pub clients: u32,
    /// Options of the workload, which has the same name as the experiment.
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
            // Options, the environment or a file provided the password; it is not stored.
            password: PasswordSource::None,
            database: target.database,
            tls: target.tls,
            client_certificate: None,
            session_setup: Vec::new(),
            connection_options: target.options,
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
