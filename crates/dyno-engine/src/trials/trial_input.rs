//! The input of a client group of a trial: its load, the nodes that its clients use, and the start
//! barrier it shares with other groups.

use crate::measure::distributed::Generators;
use crate::measure::load::LoadInput;
use crate::random::trial_seed;
use crate::start_barrier::BarrierMember;
use dyno_model::fault::FaultRecord;
use dyno_model::plan::{LoadPlan, Trial};
use dyno_model::target::Target;
use dyno_model::units::Nanos;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;
use std::time::Instant;

/// The server's own counters, by name.
pub(crate) type Counters = BTreeMap<String, i64>;

/// The input of one client group of a trial. Its tables already exist and contain their rows.
#[derive(Clone)]
pub struct TrialInput<'a> {
    /// The load, with the name of the trial.
    pub load: LoadInput<'a>,
    /// The trial.
    pub trial: Trial,
    /// The servers that clients connect to, round-robin: one server, or the nodes of a cluster.
    /// Baseline and audit use the first one.
    pub nodes: Vec<Node>,
    /// UTC time at which the trial starts, as in its record.
    pub started_at: String,
    /// Time spent on loading the data before the trial; 0 when data was reused.
    pub loading: Nanos,
    /// Queries the current values of the server's own counters.
    pub counters: &'a dyn Fn() -> Counters,
    /// False for a read-only workload whose tables another workload changes and audits.
    pub is_audited: bool,
    /// The barrier at which it waits for the other groups of the trial; `None` without other
    /// groups.
    pub barrier: Option<&'a BarrierMember>,
    /// The generators that run the clients; `None`: the clients run in this process.
    pub generators: Option<&'a dyn Generators>,
    /// For trials with faults: called when the clients have ended; restores the nodes.
    pub repair: Option<&'a dyn Fn() -> RepairedNodes>,
}

/// The nodes after a trial with faults.
pub struct RepairedNodes {
    /// The injected faults.
    pub faults: Vec<FaultRecord>,
    /// State of each node, in the order of [`TrialInput::nodes`]; or why none of them answers.
    pub nodes: Result<Vec<NodeState>, String>,
}

/// State of a node after a trial with faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeState {
    /// It was running all the time.
    Up,
    /// It ended at this moment and is running again.
    Restarted(Instant),
    /// It is not running.
    Down,
}

/// A server that clients use: the only one, or a node of a cluster.
#[derive(Clone)]
pub struct Node {
    /// Address of the server. Its share of the clients connects to it.
    pub target: Target,
    /// Address that clients connect to instead, when an application is in front of the server.
    pub client_target: Option<Target>,
    /// A query that returns once the node has applied all earlier commits of other nodes; `None`
    /// for a single server.
    pub barrier: Option<&'static str>,
    /// True when clients connect to it only after they have lost another node.
    pub is_spare: bool,
}

impl Node {
    /// A single server.
    #[must_use]
    pub fn alone(target: Target) -> Vec<Self> {
        vec![Self { target, client_target: None, barrier: None, is_spare: false }]
    }
}

impl<'a> TrialInput<'a> {
    /// The input for a trial on existing data and a remote server whose counters are not queried.
    /// The seed of its clients is derived from the experiment's seed and the trial's id
    /// ([`trial_seed`]).
    #[must_use]
    pub fn new(
        trial: Trial,
        nodes: Vec<Node>,
        clients: u32,
        load: &'a LoadPlan,
        seed: u64,
        interrupts: &'a AtomicUsize,
    ) -> Self {
        let seed = trial_seed(seed, &trial.id);
        Self {
            load: LoadInput::new(trial.id.clone(), clients, load, seed, interrupts),
            trial,
            nodes,
            started_at: String::new(),
            loading: Nanos(0),
            counters: &Counters::new,
            is_audited: true,
            barrier: None,
            generators: None,
            repair: None,
        }
    }
}
