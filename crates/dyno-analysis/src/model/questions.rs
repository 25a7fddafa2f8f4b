//! The questions of an experiment with their answers.

use super::comparisons::{ComparisonOf, Effect, Verdict};
use dyno_model::plan::Metric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One effect over all other levels: a level of a factor, or a system, against another. The
/// comparisons of its configurations one by one, two or more, are its cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// What differs.
    #[serde(flatten)]
    pub of: ComparisonOf,
    /// What is compared.
    pub metric: Metric,
    /// Name of the level or system that is judged.
    pub subject: String,
    /// Name of the one it is judged against.
    pub baseline: String,
    /// Its cells: indices into [`super::ReportModel::comparisons`].
    pub comparisons: Vec<usize>,
    /// How many of them an answer can rest on; the others have too few valid trials, or none of
    /// them can where figures are only lower bounds.
    pub cells: u32,
    /// Numbers of clients of these, rising.
    pub clients: Vec<u32>,
    /// How many different settings besides clients these have: other levels and systems.
    pub mixes: u32,
    /// What else differs between these.
    #[serde(default)]
    pub varied: Vec<Varied>,
    /// Degrees of freedom of the ratio's error.
    pub degrees: Option<f64>,
    /// The ratio over all cells, and the verdict on it.
    #[serde(flatten)]
    pub effect: Effect,
    /// Where the scatter comes from; absent where the question has one cell, or too few trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scatter: Option<Scatter>,
    /// True when its cells may be called better or worse: this question, or that about the
    /// extremest of its cells, was answered.
    pub opens_cells: bool,
    /// Whether the effect depends on the number of clients, the system, or the level of another
    /// factor.
    pub interactions: Vec<Interaction>,
}

impl Question {
    /// About how many blocks would show a difference as large as the margin by the scatter seen in
    /// `blocks`; absent when the question is decided, or the scatter is not known.
    #[must_use]
    pub fn blocks_to_decide(&self, blocks: u32, margin: f64) -> Option<u32> {
        let visible = self
            .effect
            .detectable_ratio
            .filter(|_| self.effect.verdict == Some(Verdict::Inconclusive))?;
        // What is visible shrinks with the root of the number of blocks.
        let times = (visible.ln() / margin.ln_1p()).powi(2);
        (times > 1.0).then(|| (f64::from(blocks) * times).ceil() as u32)
    }
}

/// Variances of logarithms: 0.0025 is a scatter of about 5 %. A component is negative where groups
/// differ less than what is inside them says they should: none was found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scatter {
    /// Variance between blocks; absent with one group.
    pub blocks: Option<f64>,
    /// Variance between starts of a server within a block; absent where each block has one.
    pub starts: Option<f64>,
    /// Variance between data sets within a start; absent where each start has one.
    pub data_sets: Option<f64>,
    /// Variance between trials of a start.
    pub trials: f64,
    /// The part of `trials` that follows from what changes within a trial, from second to second;
    /// absent where windows are too short to tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<f64>,
    /// The same for the ratio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<RatioScatter>,
}

/// Where the scatter of a question's ratio comes from: shares of its variance, 0 to 1, that are 1
/// together. What whole blocks share cancels out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RatioScatter {
    /// Standard error of the ratio's logarithm.
    pub error: f64,
    /// Between starts; absent where each block has one.
    pub starts: Option<f64>,
    /// Between data sets; absent where each start has one.
    pub data_sets: Option<f64>,
    /// Between trials, without what is within them where that is known.
    pub trials: f64,
    /// Within trials; absent where windows are too short to tell.
    pub within: Option<f64>,
}

impl RatioScatter {
    /// True when half of the variance or more is within trials, so that longer windows lower it;
    /// else only more blocks do.
    #[must_use]
    pub fn asks_for_longer_windows(&self) -> bool {
        self.within.is_some_and(|share| share >= 0.5)
    }
}

/// Whether a question's effect depends on something else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interaction {
    /// On what.
    pub with: InteractionWith,
    /// p-value of "the effect is the same everywhere"; absent when it could not be tested.
    pub p: Option<f64>,
    /// The same, corrected with the others of its question; never below the question's own.
    pub p_corrected: Option<f64>,
    /// True when the effect was found to depend on it.
    pub depends: bool,
    /// Where the ratio is smallest.
    pub low: Place,
    /// Where the ratio is largest.
    pub high: Place,
}

/// Something that the cells of a question differ in besides what is compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Varied {
    /// What.
    #[serde(flatten)]
    pub what: InteractionWith,
    /// Names of its levels, in the plan's order: two or more.
    pub levels: Vec<String>,
}

/// On what an effect may depend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "with")]
pub enum InteractionWith {
    /// The number of clients.
    Clients,
    /// The system.
    System,
    /// A factor.
    Level {
        /// Index into [`super::ReportModel::factors`].
        factor: usize,
    },
}

/// A level, and the ratio there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    /// Its name: a number of clients, a system, a level.
    pub level: String,
    /// Subject over baseline there.
    pub ratio: f64,
}
