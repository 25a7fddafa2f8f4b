//! The messages between the coordinator and a generator, as JSON with their length in front.

use super::client_work::ClientWork;
use crate::workload::DataSource;
use dyno_engine::GeneratorReport;
use dyno_engine::loading::RowRange;
use dyno_model::catalog::Growth;
use dyno_model::fault::ExpectedFaults;
use dyno_model::plan::LoadPlan;
use dyno_model::reason::Reason;
use dyno_model::secret::Secret;
use dyno_model::target::{
    ClientCertificate, ConnectionOptions, Endpoint, Engine, QueryMode, Target, Tls,
};
use dyno_model::units::Nanos;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Version of the messages. Both programs must have the same one, and the same version of dyno.
pub(super) const PROTOCOL: u32 = 4;

/// What a generator says first. It stays as it is in all versions, so that another version can be
/// named.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Hello {
    /// Version of dyno.
    pub(super) version: String,
    /// [`PROTOCOL`].
    pub(super) protocol: u32,
    /// Proof that the coordinator's launcher started it.
    pub(super) token: String,
    /// Its number, if the launcher has given it one.
    pub(super) rank: Option<u32>,
    /// Name of its machine.
    pub(super) host: String,
}

impl Hello {
    pub(super) fn new(token: String, rank: Option<u32>, host: String) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            protocol: PROTOCOL,
            token,
            rank,
            host,
        }
    }
}

/// From the coordinator to a generator.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CoordinatorMessage {
    /// It may stay.
    Welcome,
    /// It may not, for this reason.
    Refused(String),
    /// A question for its clock, with a number.
    Ping(u64),
    /// Some clients of a client group of a trial.
    Assign(Box<GeneratorAssignment>),
    /// Some rows of a data set.
    Load(Box<LoadingOrder>),
    /// All clients begin at this time of the generator's clock.
    Start(u64),
    /// Measuring of this client group ends early.
    Stop(u32, Reason),
}

/// From a generator to the coordinator.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum GeneratorMessage {
    /// The time of its clock, in nanoseconds, when the question with this number came.
    Pong(u64, u64),
    /// A report of its clients of a client group, or of loading, for which the group is 0.
    Report(u32, Box<GeneratorReport>),
}

/// The clients of a client group that one generator drives in a trial.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct GeneratorAssignment {
    /// Name of the trial.
    pub(super) name: String,
    /// 0: the measured groups; then the background groups, in the order of the plan.
    pub(super) group: u32,
    /// Seed of what clients draw.
    pub(super) seed: u64,
    /// Number of this generator among those of the group, and how many there are.
    pub(super) generator: u32,
    pub(super) generators: u32,
    /// Number of clients of all generators.
    pub(super) clients: u32,
    pub(super) load: LoadPlan,
    pub(super) interval: Nanos,
    pub(super) growth: Option<Growth>,
    pub(super) expected: ExpectedFaults,
    /// The boot of the machine that the server shares with the coordinator, if it does.
    pub(super) servers_boot: Option<String>,
    pub(super) client_work: ClientWork,
    /// Where clients connect, with the spare ones last.
    pub(super) targets: Vec<SentTarget>,
    pub(super) spare: usize,
}

/// The rows of a data set that one generator loads.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct LoadingOrder {
    /// Name of the trial that needs the data.
    pub(super) name: String,
    pub(super) target: SentTarget,
    pub(super) source: DataSource,
    pub(super) ranges: Vec<RowRange>,
    /// Number of connections.
    pub(super) loaders: usize,
}

/// A target with its password: the only place where one is written down, and it is encrypted on its
/// way.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct SentTarget {
    engine: Engine,
    endpoint: Endpoint,
    detour: Option<Endpoint>,
    user: String,
    password: String,
    database: String,
    tls: Tls,
    client_certificate: Option<ClientCertificate>,
    options: Box<ConnectionOptions>,
    query_mode: QueryMode,
    connect_timeout: Duration,
    session_setup: Vec<String>,
    only_reads: bool,
}

impl std::fmt::Debug for SentTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.endpoint)
    }
}

impl From<&Target> for SentTarget {
    fn from(target: &Target) -> Self {
        let target = target.clone();
        Self {
            engine: target.engine,
            endpoint: target.endpoint,
            detour: target.detour,
            user: target.user,
            password: target.password.reveal().to_owned(),
            database: target.database,
            tls: target.tls,
            client_certificate: target.client_certificate,
            options: target.options,
            query_mode: target.query_mode,
            connect_timeout: target.connect_timeout,
            session_setup: target.session_setup,
            only_reads: target.only_reads,
        }
    }
}

impl From<SentTarget> for Target {
    fn from(address: SentTarget) -> Self {
        Self {
            engine: address.engine,
            endpoint: address.endpoint,
            detour: address.detour,
            user: address.user,
            password: Secret::new(address.password),
            database: address.database,
            tls: address.tls,
            client_certificate: address.client_certificate,
            options: address.options,
            query_mode: address.query_mode,
            connect_timeout: address.connect_timeout,
            session_setup: address.session_setup,
            only_reads: address.only_reads,
        }
    }
}
