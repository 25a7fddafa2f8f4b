//! The questions of an experiment and their answers.

use crate::model::comparisons::{ComparisonOf, Effect, Verdict};
use dyno_model::plan::ComparisonMetric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One effect over all other levels: a level of a factor, or a system, against another. It combines
/// two or more comparisons of single configurations, its configuration pairs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// What differs.
    #[serde(flatten)]
    pub of: ComparisonOf,
    /// What is compared.
    pub metric: ComparisonMetric,
    /// Name of the level or system that is evaluated.
    pub subject: String,
    /// Name of the one that it is compared with.
    pub baseline: String,
    /// Its configuration pairs: indices into [`crate::model::ReportModel::comparisons`].
    pub comparisons: Vec<usize>,
    /// Number of pairs that the answer is based on; the others have too few valid trials, or only
    /// lower bounds.
    pub pairs: u32,
    /// Their numbers of clients, ascending.
    pub clients: Vec<u32>,
    /// Number of different settings besides clients among them: other levels and systems.
    pub mixes: u32,
    /// Other differences among them.
    pub varied: Vec<Varied>,
    /// Degrees of freedom of the ratio's error.
    pub degrees: Option<f64>,
    /// The ratio over all pairs, and its verdict.
    #[serde(flatten)]
    pub effect: Effect,
    /// Sources of the variation; absent where the question has one pair, or too few trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scatter: Option<Scatter>,
    /// True when its pairs may be called better or worse: this question, or that about its most
    /// extreme pair, was decided.
    pub opens_pairs: bool,
    /// Whether the effect depends on the number of clients, the system, or the level of another
    /// factor.
    pub interactions: Vec<Interaction>,
}

impl Question {
    /// Estimated number of blocks to detect a difference as large as the margin, from the variation
    /// observed in `blocks`; absent when the question is decided, or the variation is unknown.
    #[must_use]
    pub fn blocks_to_decide(&self, blocks: u32, margin: f64) -> Option<u32> {
        let visible = self
            .effect
            .detectable_ratio
            .filter(|_| self.effect.verdict == Some(Verdict::Inconclusive))?;
        // The detectable effect shrinks with the square root of the number of blocks.
        let times = (visible.ln() / margin.ln_1p()).powi(2);
        (times > 1.0).then(|| (f64::from(blocks) * times).ceil() as u32)
    }
}

/// Variances of logarithms: 0.0025 is a variation of about 5 %. A component is negative where
/// groups differ less than the variation within them predicts: it was not detected.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scatter {
    /// Variance between blocks; absent with one block.
    pub blocks: Option<f64>,
    /// Variance between starts of a server within a block; absent where each block has one start.
    pub starts: Option<f64>,
    /// Variance between data sets within a start; absent where each start has one data set.
    pub data_sets: Option<f64>,
    /// Variance between trials of a start.
    pub trials: f64,
    /// The part of `trials` that variation from second to second within trials explains; absent
    /// where windows are too short to estimate it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<f64>,
    /// The same for the ratio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<RatioScatter>,
}

/// Sources of the variation of a question's ratio: shares of its variance, 0 to 1, with a sum of 1.
/// Variation shared by whole blocks cancels out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RatioScatter {
    /// Standard error of the ratio's logarithm.
    pub error: f64,
    /// Between starts; absent where each block has one start.
    pub starts: Option<f64>,
    /// Between data sets; absent where each start has one data set.
    pub data_sets: Option<f64>,
    /// Between trials, excluding the variation within them where that is known.
    pub trials: f64,
    /// Within trials; absent where windows are too short to estimate it.
    pub within: Option<f64>,
}

impl RatioScatter {
    /// True when half of the variance or more is within trials, so that longer windows reduce it;
    /// otherwise only more blocks do.
    #[must_use]
    pub fn asks_for_longer_windows(&self) -> bool {
        self.within.is_some_and(|share| share >= 0.5)
    }
}

/// Interaction of a question's effect with something else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interaction {
    /// The interacting property.
    pub with: InteractionWith,
    /// p-value of the hypothesis that the effect is the same everywhere; absent when it could not
    /// be tested.
    pub p: Option<f64>,
    /// p-value corrected for all interactions of the question; never below the question's own.
    pub p_corrected: Option<f64>,
    /// True when a significant interaction was found.
    pub depends: bool,
    /// The level with the smallest ratio.
    pub low: LevelRatio,
    /// The level with the largest ratio.
    pub high: LevelRatio,
}

/// A property besides the compared one in which the configuration pairs of a question differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Varied {
    /// The property.
    #[serde(flatten)]
    pub what: InteractionWith,
    /// Names of its levels, in the plan's order: two or more.
    pub levels: Vec<String>,
}

/// A property that an effect may depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "with")]
pub enum InteractionWith {
    /// The number of clients.
    Clients,
    /// The system.
    System,
    /// A factor.
    Level {
        /// Index into [`crate::model::ReportModel::factors`].
        factor: usize,
    },
}

/// A level, and the ratio there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LevelRatio {
    /// Its name: a number of clients, a system, a level.
    pub level: String,
    /// Subject over baseline there.
    pub ratio: f64,
}
