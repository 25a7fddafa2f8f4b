//! The load of a trial: how transactions come, and when measuring ends.

use crate::databases::Databases;
use crate::retry::RetryPolicy;
use crate::search::Search;
use crate::stages::{Course, LoadBy, Stages};
use crate::units::{Nanos, is_default};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a trial is loaded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadPlan {
    /// When measuring ends.
    pub stop: StopRule,
    /// Unmeasured time before the window, with all clients working.
    pub warmup: Nanos,
    /// How long statements in flight may still take when the window closes, before they are cut
    /// off.
    pub grace: Nanos,
    /// Upper limit of the window whatever the stop rule says, against servers that hang.
    pub time_limit: Nanos,
    /// Worker threads; `None`: chosen by the number of clients and whether the server shares the
    /// machine.
    pub workers: Option<u32>,
    /// Most attempts per transaction (1 = no retry).
    pub attempts_max: u32,
    /// Open loop: transactions arrive at this rate, all clients together, per second, whether or
    /// not the system keeps up. `None`: a closed loop, in which every client begins its next
    /// transaction when the last is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Open loop: how arrivals lie in time.
    #[serde(default, skip_serializing_if = "is_default")]
    pub spacing: Spacing,
    /// The rate, or the number of clients at work, changes in the course of a trial; the stop rule
    /// is then their length. `None`: it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stages: Option<Stages>,
    /// Closed loop: how long a client waits on average before each transaction, as a user does who
    /// reads an answer. Each time is drawn, exponential. Scripts of the drop-ins, whose loops are
    /// their own, do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<Nanos>,
    /// How long a client waits for the answer to a statement or a request; after that the
    /// connection is closed and another opened. `None`: as long as it takes. Engines inside the
    /// process have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement_timeout: Option<Nanos>,
    /// Open loop: more is to arrive than the system can do, so that falling behind is no fault of
    /// the trial.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_overload: bool,
    /// The rate or the number of clients is searched for in each trial; `None`: it is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub find: Option<Search>,
    /// Which failures are retried.
    #[serde(default, skip_serializing_if = "RetryPolicy::is_default")]
    pub retry: RetryPolicy,
    /// Numbers of rows at which a table that grows is reported, rising. Empty: the table does not
    /// grow, or ten equal steps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub milestones: Vec<u64>,
    /// What the clients are spread over.
    #[serde(default, skip_serializing_if = "Databases::is_one")]
    pub databases: Databases,
}

impl LoadPlan {
    /// True when transactions arrive whether or not earlier ones are answered.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.is_rate_given() || self.find.as_ref().is_some_and(|search| search.most == LoadBy::Rate)
    }

    /// True when throughput is what was asked for and no outcome: an open loop that the system is
    /// to keep up with.
    #[must_use]
    pub fn gives_throughput(&self) -> bool {
        self.is_rate_given() && !self.is_overload
    }

    /// True when it is said how many transactions arrive.
    #[must_use]
    pub fn is_rate_given(&self) -> bool {
        self.rate.is_some() || self.staged(LoadBy::Rate).is_some()
    }

    /// The stages, where they are of this kind.
    fn staged(&self, by: LoadBy) -> Option<&Stages> {
        self.stages.as_ref().filter(|stages| stages.by == by)
    }

    /// Transactions that arrive, per second, since the first client began; `None` where clients
    /// wait for their answers, and where the rate is yet to be found.
    #[must_use]
    pub fn offered(&self) -> Option<Course> {
        match self.staged(LoadBy::Rate) {
            Some(stages) => Some(Course::of(stages, self.warmup)),
            None => self.rate.map(Course::constant),
        }
    }

    /// Clients at work since the first began, where it is not always all of them.
    #[must_use]
    pub fn at_work(&self) -> Option<Course> {
        Some(Course::of(self.staged(LoadBy::Clients)?, self.warmup))
    }

    /// A plan without warm-up, in which a failed transaction is tried ten times and stragglers have
    /// five seconds.
    #[must_use]
    pub fn new(stop: StopRule) -> Self {
        let seconds = |seconds: u64| Nanos(seconds * 1_000_000_000);
        Self {
            stop,
            warmup: Nanos(0),
            grace: seconds(5),
            time_limit: seconds(3_600),
            workers: None,
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
    /// How the arrivals of an open loop lie in time.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Spacing {
        /// Independent of each other, as those of many users are: times between them are
        /// exponential.
        #[default]
        Poisson = "poisson",
        /// At equal distances, as those of a machine are.
        Even = "even",
    }
}

/// When measuring ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StopRule {
    /// After this many transactions of all clients together.
    Transactions(u64),
    /// After this many transactions of each client.
    TransactionsPerClient(u64),
    /// When the table that grows has at least this many rows, those included that were there
    /// before. A transaction that failed is made up for by another, so that only commits whose
    /// answer was lost can bring more.
    Rows(u64),
    /// After this time.
    Duration(Nanos),
}
