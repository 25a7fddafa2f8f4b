//! The load of a trial: arrival of transactions, and end of measuring.

use crate::databases::Databases;
use crate::retry::RetryPolicy;
use crate::search::Search;
use crate::stages::{LoadBy, LoadProfile, Stages};
use crate::units::{Nanos, is_default};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Load rules of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadPlan {
    /// Stop rule.
    pub stop: StopRule,
    /// Unmeasured time before the window, with all clients active, or in a load with stages as many
    /// as at the beginning of the first stage.
    pub warmup: Nanos,
    /// Time in which transactions in flight may end when the window closes; then they are cut off.
    pub grace: Nanos,
    /// Upper limit of the window regardless of the stop rule, against servers that hang.
    pub time_limit: Nanos,
    /// Worker threads; `None`: a rule determines their number from the number of clients and
    /// whether the server shares the machine, or it is measured before the load.
    pub workers: Option<u32>,
    /// Processes that drive the clients, each its share; `None`: the process that coordinates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generators: Option<u32>,
    /// Maximum number of attempts per transaction (1 = no retry).
    pub attempts_max: u32,
    /// Open loop: transactions arrive at this rate per second, for all clients together, whether or
    /// not the system keeps up. `None`: a closed loop, in which every client starts its next
    /// transaction when the previous one has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Open loop: distribution of the arrivals.
    #[serde(default, skip_serializing_if = "is_default")]
    pub spacing: Spacing,
    /// The rate, or the number of active clients, changes during a trial; the stop rule is then the
    /// total length of the stages. `None`: it is constant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stages: Option<Stages>,
    /// Closed loop: mean think time of a client before each transaction, like a user who reads a
    /// response. Each time is drawn from an exponential distribution. Scripts of the drop-in
    /// commands, which have their own loops, do not use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<Nanos>,
    /// Timeout of a client for the answer to a statement or request; on expiry it closes the
    /// connection and opens a new one. `None`: no timeout. In-process engines have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement_timeout: Option<Nanos>,
    /// Open loop: the offered load deliberately exceeds the capacity of the system, so that falling
    /// behind is not an error of the trial.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_overload: bool,
    /// Each trial searches for the rate or the number of clients; `None`: it is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub find: Option<Search>,
    /// Which failures are retried.
    #[serde(default, skip_serializing_if = "RetryPolicy::is_default")]
    pub retry: RetryPolicy,
    /// Numbers of rows at which a growing table is reported, ascending. Empty: the table does not
    /// grow, or ten equal steps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub milestones: Vec<u64>,
    /// The databases that the clients are distributed over.
    #[serde(default, skip_serializing_if = "Databases::is_one")]
    pub databases: Databases,
}

impl LoadPlan {
    /// True when transactions arrive whether or not earlier ones are answered.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.is_rate_given() || self.find.as_ref().is_some_and(|search| search.most == LoadBy::Rate)
    }

    /// True when throughput is an input and not a result: an open loop that the system is expected
    /// to keep up with.
    #[must_use]
    pub fn gives_throughput(&self) -> bool {
        self.is_rate_given() && !self.is_overload
    }

    /// True when the arrival rate is given.
    #[must_use]
    pub fn is_rate_given(&self) -> bool {
        self.rate.is_some() || self.staged(LoadBy::Rate).is_some()
    }

    /// The stages, if they are of this kind.
    fn staged(&self, by: LoadBy) -> Option<&Stages> {
        self.stages.as_ref().filter(|stages| stages.by == by)
    }

    /// Arrival rate per second, since the common start; `None` for a closed loop, and where
    /// the rate is still to be found.
    #[must_use]
    pub fn offered(&self) -> Option<LoadProfile> {
        match self.staged(LoadBy::Rate) {
            Some(stages) => Some(LoadProfile::of(stages, self.warmup)),
            None => self.rate.map(LoadProfile::constant),
        }
    }

    /// Active clients since the common start, where it is not always all of them.
    #[must_use]
    pub fn active_clients(&self) -> Option<LoadProfile> {
        Some(LoadProfile::of(self.staged(LoadBy::Clients)?, self.warmup))
    }

    /// Number of generators that drive so many clients: each has at least one.
    #[must_use]
    pub fn generators_for(&self, clients: u32) -> u32 {
        self.generators.unwrap_or(1).min(clients)
    }

    /// A plan without warm-up, with up to ten attempts per transaction and a grace period of five
    /// seconds.
    #[must_use]
    pub fn new(stop: StopRule) -> Self {
        Self {
            stop,
            warmup: Nanos(0),
            grace: Nanos::from_secs(5),
            time_limit: Nanos::from_secs(3_600),
            workers: None,
            generators: None,
            attempts_max: 10,
            rate: None,
            spacing: Spacing::Poisson,
            stages: None,
            think: None,
            statement_timeout: None,
            is_overload: false,
            find: None,
            retry: RetryPolicy::Kind,
            milestones: Vec::new(),
            databases: Databases::One,
        }
    }
}

crate::named! {
    /// Distribution of the arrivals of an open loop.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Spacing {
        /// Independent arrivals, like those of many users: the times between them are exponential.
        #[default]
        Poisson = "poisson",
        /// Equidistant arrivals, like those of a machine.
        Even = "even",
    }
}

/// Stop rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StopRule {
    /// After this many transactions of all clients together.
    Transactions(u64),
    /// After this many transactions of each client.
    TransactionsPerClient(u64),
    /// When the growing table has at least this many rows, including those that existed before. A
    /// failed transaction is replaced by another, so that only commits whose answer was lost can
    /// add more.
    Rows(u64),
    /// After this time.
    Duration(Nanos),
}
