//! The question of a search, its load steps, and its result.

use crate::limit::LimitMetric;
use crate::plan::LoadBy;
use crate::units::is_default;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The search ends when the lowest load that fails is at most this multiple of the highest that
/// passes.
pub const PRECISION: f64 = 1.03;
/// Maximum number of load steps of a search, including the one that is kept; a search without
/// contradictions takes about ten.
pub const STEPS_MAX: usize = 30;
/// Failed steps at loads up to this factor above the upper end count as evidence for it.
pub(crate) const NEIGHBOUR: f64 = 1.12;
/// Steps at loads up to this factor from the two ends affect the estimate. With 1.12 the result for
/// a mean was 0.7 % too low, because the excess is not linear in the load.
const ESTIMATED: f64 = 1.08;
/// An excess beyond this factor gives no further information about the loads in between: for a
/// growing queue it depends on how long it had time to grow.
const NEAR: f64 = 4.0;

/// A search for the highest load at which a figure stays below a limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Search {
    /// Load parameter that is varied.
    pub most: LoadBy,
    /// Figure that must stay below the limit: a response time, or the share of failures.
    pub metric: LimitMetric,
    /// The limit, in milliseconds or per cent.
    pub below: f64,
    /// The name of the transactions that the limit applies to; `None`: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction: Option<String>,
    /// The load of the first step; `None`: one client, or a rate derived from a short measurement
    /// in a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<f64>,
}

/// Outcome of a load step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The figure stayed below the limit, and the system kept up.
    Passed,
    /// The figure exceeded the limit, or the system did not keep up.
    Failed,
    /// Too few transactions so far; the next step measures more of them at the same load.
    Open,
    /// The load generator was at its limit, so the step says nothing about the system.
    Generator,
}

/// One load step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadStep {
    /// Transactions that arrived per second, or clients.
    pub load: f64,
    /// Measured time of the outcome, in seconds, including the undecided steps before it at the
    /// same load.
    pub seconds: f64,
    /// Transactions of the outcome, including those of the undecided steps before it at the same
    /// load.
    pub transactions: u64,
    /// Their value of [`Search::metric`]; absent when there are too few transactions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<f64>,
    /// Logarithm of the ratio of the transactions that exceed the limit to the number allowed, or
    /// of the mean to its limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excess: Option<f64>,
    /// True when the figure is only a lower bound, because arrivals without a commit reach it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_bound: bool,
    /// Committed transactions per second.
    pub throughput: f64,
    /// Outcome.
    pub outcome: Outcome,
    /// True when the load generator was at its limit: if the step passed, the capacity of the
    /// system may be higher.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_by_generator: bool,
    /// Share of the machine's processor time used by processes other than dyno and the server, 0 to
    /// 1.
    #[serde(default, skip_serializing_if = "is_default")]
    pub other_processes_cpu: f64,
    /// Share of the machine's processor time lost to other guests of the host (steal), 0 to 1.
    #[serde(default, skip_serializing_if = "is_default")]
    pub steal: f64,
}

/// Transactions of one name that exceed the limit without any other load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Slow {
    /// Their name; absent where transactions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction: Option<String>,
    /// Response time of one of them without any other load, in milliseconds.
    pub alone_ms: f64,
}

/// Why a search ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "end", rename_all = "kebab-case")]
pub enum SearchEnd {
    /// The highest load that passes lies between two measured loads.
    Found,
    /// The maximum load of the search passed.
    Highest,
    /// The load generator was at its limit. The result is a lower bound if a load passed, else
    /// undecided.
    Generator,
    /// No load passes, not even a single client.
    FailsEverywhere {
        /// The transactions that take too long without any other load, if known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        slow: Option<Slow>,
        /// Share of failed transactions, in per cent, if failures decided it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failing: Option<f64>,
    },
    /// The longest step at a load had too few transactions.
    TooFew {
        /// The load.
        load: f64,
        /// Number of its transactions.
        transactions: u64,
        /// Transactions that a decision needs, roughly.
        needed: u64,
    },
    /// After [`STEPS_MAX`] steps the same loads still both passed and failed.
    Unsteady,
    /// The run was interrupted.
    Interrupted,
}

/// Measurements and result of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchRecord {
    /// The question.
    pub search: Search,
    /// Load steps in order; the last that passed is the trial whose figures are kept.
    pub steps: Vec<LoadStep>,
    /// Highest load that passed in most of its steps; absent when none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<f64>,
    /// Lowest load above it that failed; absent when none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<f64>,
    /// Reason for the end.
    #[serde(flatten)]
    pub end: SearchEnd,
}

impl SearchRecord {
    /// The highest load that passes: between the step that is kept and the lowest load that fails,
    /// at the point where a line through the steps near the two ends meets the limit. If something
    /// other than the system ended the search, the highest load that passed, which is a lower
    /// bound. `None` if the search did not find one.
    #[must_use]
    pub fn found(&self) -> Option<f64> {
        let last_passed = self.steps.last().filter(|step| step.outcome == Outcome::Passed)?.load;
        let passed = self.passed.filter(|passed| last_passed <= *passed)?;
        match (&self.end, self.failed) {
            (SearchEnd::Found, Some(failed)) => {
                Some(crossing(&self.steps, passed, failed).clamp(last_passed, failed))
            }
            (SearchEnd::Highest | SearchEnd::Generator, _) => Some(passed),
            _ => None,
        }
    }

    /// True when it ended without a load, although some load may pass.
    #[must_use]
    pub fn is_undecided(&self) -> bool {
        self.found().is_none() && !matches!(self.end, SearchEnd::FailsEverywhere { .. })
    }

    /// True when the capacity of the system may exceed [`Self::found`]: something other than the
    /// system ended the search, or the load generator was at its limit in the step that is kept.
    #[must_use]
    pub fn is_bound(&self) -> bool {
        let is_by_generator = self.steps.last().is_some_and(|step| step.is_by_generator);
        is_by_generator || matches!(self.end, SearchEnd::Highest | SearchEnd::Generator)
    }

    /// Disturbances of the failed steps near the result, as maximum shares: processor time used by
    /// other processes, and processor time lost to other guests (steal). They may be the reason why
    /// such a step failed.
    #[must_use]
    pub fn disturbance(&self) -> (f64, f64) {
        let upper = self.failed.unwrap_or(f64::INFINITY) * NEIGHBOUR;
        let decisive = || {
            self.steps.iter().filter(|step| step.outcome == Outcome::Failed && step.load <= upper)
        };
        let most = |share: fn(&LoadStep) -> f64| decisive().map(share).fold(0.0, f64::max);
        (most(|step| step.other_processes_cpu), most(|step| step.steal))
    }
}

/// The load at which the line through the steps near the two ends (excess over logarithm of the
/// load) meets the limit. Steps are weighted by their transactions. If the line does not rise, the
/// middle between the ends.
pub(crate) fn crossing(steps: &[LoadStep], passed: f64, failed: f64) -> f64 {
    let near = passed / ESTIMATED..=failed * ESTIMATED;
    let steps = steps.iter().filter(|step| step.is_decided() && near.contains(&step.load));
    let point = |step: &LoadStep| {
        let excess = step.excess?.clamp(-NEAR.ln(), NEAR.ln());
        Some((step.load.ln(), excess, step.transactions as f64))
    };
    let points: Vec<(f64, f64, f64)> = steps.filter_map(point).collect();
    let all: f64 = points.iter().map(|(_, _, weight)| weight).sum();
    let mean =
        |of: fn(&(f64, f64, f64)) -> f64| points.iter().map(|it| of(it) * it.2).sum::<f64>() / all;
    let (x, y) = (mean(|it| it.0), mean(|it| it.1));
    let sum = |of: &dyn Fn(f64, f64) -> f64| {
        points.iter().map(|it| it.2 * of(it.0 - x, it.1 - y)).sum::<f64>()
    };
    let slope = sum(&|x, y| x * y) / sum(&|x, _| x * x);
    if slope.is_finite() && slope > 1.0 { (x - y / slope).exp() } else { (passed * failed).sqrt() }
}

impl LoadStep {
    /// True when it passed or failed.
    pub(crate) fn is_decided(&self) -> bool {
        matches!(self.outcome, Outcome::Passed | Outcome::Failed)
    }
}
