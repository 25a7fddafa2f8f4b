//! The input of a client group of a trial: its load, the nodes that its clients use, and the start
//! barrier it shares with other groups.

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

/// A load and the other input of a trial. Tables have been created and loaded.
#[derive(Clone)]
pub struct TrialInput<'a> {
    /// The load, called as the trial is.
    pub load: LoadInput<'a>,
    /// Which trial.
    pub trial: Trial,
    /// Where the clients connect, in turn: one server, or the nodes of a cluster. The first is
    /// asked for baseline and audit.
    pub nodes: Vec<Node>,
    /// UTC time at which the trial begins, as it is written down.
    pub started_at: String,
    /// Time spent on loading before; 0 when data was reused.
    pub loading: Nanos,
    /// The server's own counters now.
    pub counters: &'a dyn Fn() -> Counters,
    /// False for a workload that only reads what another changes: the other is asked.
    pub is_audited: bool,
    /// Where it waits for the other groups of the trial; `None`: there are none.
    pub barrier: Option<&'a BarrierMember>,
    /// For trials with faults: called when the clients have ended; restores the nodes.
    pub mend: Option<&'a dyn Fn() -> Mended>,
}

/// The nodes after a trial with faults.
pub struct Mended {
    /// What was done.
    pub faults: Vec<FaultRecord>,
    /// How each node is now, in the order of [`TrialInput::nodes`]; or why none answers any more.
    pub nodes: Result<Vec<NodeState>, String>,
}

/// How a node is after a trial with faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeState {
    /// It runs, and did all the time.
    Up,
    /// It was ended at this moment and runs again.
    Restarted(Instant),
    /// It does not run.
    Down,
}

/// A server under load.
#[derive(Clone)]
pub struct Node {
    /// Where it is, and where its share of the clients connects.
    pub target: Target,
    /// Where they connect instead, when they talk to an application in front of it.
    pub client_target: Option<Target>,
    /// A statement that it answers when it has done all that was committed on other nodes before;
    /// `None` for one that stands alone.
    pub barrier: Option<&'static str>,
    /// Clients go there only when they have lost another node.
    pub is_spare: bool,
}

impl Node {
    /// A server that stands alone.
    #[must_use]
    pub fn alone(target: Target) -> Vec<Self> {
        vec![Self { target, client_target: None, barrier: None, is_spare: false }]
    }
}

impl<'a> TrialInput<'a> {
    /// A trial on data that were there, on a server elsewhere that has no counters. What it draws
    /// follows from the experiment's seed and its id ([`trial_seed`]).
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
            mend: None,
        }
    }
}
