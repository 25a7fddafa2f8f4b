//! Growing tables: results over the number of rows instead of the number of clients.

use crate::model::comparisons::Comparison;
use crate::model::estimate::Range;
use crate::model::figures::Figures;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Trials whose x axis is the number of rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Growth {
    /// Rows in the table before the first client started, the minimum over all configurations.
    pub rows_before: u64,
    /// Numbers of rows at which steps end, ascending. A step starts where the previous one ends,
    /// the first at `rows_before`.
    pub milestones: Vec<u64>,
    /// One per configuration whose table grew.
    pub series: Vec<GrowthSeries>,
    /// Comparisons of rows per second, step by step; corrected together.
    pub comparisons: Vec<StepComparison>,
}

impl Growth {
    /// Rows at the start and the end of a step.
    #[must_use]
    pub fn bounds(&self, step: usize) -> (u64, u64) {
        let before = step.checked_sub(1).map_or(self.rows_before, |before| self.milestones[before]);
        (before, self.milestones[step])
    }
}

/// A configuration over rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GrowthSeries {
    /// Index of the configuration.
    pub configuration: usize,
    /// One per milestone: means over trials. A trial that was cut short counts in the steps that it
    /// finished.
    pub steps: Vec<Figures>,
    /// Its trials, in run order.
    pub trials: Vec<GrowthTrial>,
}

/// One trial over rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GrowthTrial {
    /// Id of the trial.
    pub trial: String,
    /// Whether it is in the means.
    pub is_usable: bool,
    /// Its intervals, merged when there are many.
    pub points: Vec<GrowthPoint>,
}

/// A part of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GrowthPoint {
    /// Rows in the table at its start.
    pub rows_from: u64,
    /// Rows in the table at its end.
    pub rows_to: u64,
    /// Rows committed per second.
    pub rows_per_second: f64,
}

/// A comparison of two configurations in one step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepComparison {
    /// Index of the step.
    pub step: usize,
    /// The comparison; its metric is throughput, in rows per second.
    pub comparison: Comparison,
}

/// A configuration in one step, for conclusions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GrowthMoment {
    /// Rows at its start.
    pub rows_from: u64,
    /// Rows at its end.
    pub rows_to: u64,
    /// Rows committed per second.
    pub rows_per_second: f64,
    /// Busy processor time of the machine, percent.
    pub cpu_percent: Option<f64>,
    /// Share of the time in which the disk had a request, percent.
    pub disk_busy_percent: Option<f64>,
}

/// Consecutive steps in which one of two configurations was faster, by verdicts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GrowthLead {
    /// Faster configuration.
    pub leader: usize,
    /// Slower configuration.
    pub other: usize,
    /// Rows at the start of the first of these steps.
    pub rows_from: u64,
    /// Rows at the end of the last of them.
    pub rows_to: u64,
    /// Smallest and largest ratio of leader to other in them.
    pub ratio: Range,
    /// Leader's rows per second in the last of them.
    pub leader_rate: f64,
    /// The other one's.
    pub other_rate: f64,
}
