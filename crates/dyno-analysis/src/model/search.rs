//! Results of searches for the highest load.

use dyno_model::limit::LimitVerdict;
use dyno_model::plan::{ComparisonMetric, LoadBy};
use dyno_model::search::{LoadStep, Search, SearchEnd};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The result for one configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchRow {
    /// Index into [`super::ReportModel::configurations`].
    pub configuration: usize,
    /// The target of the search.
    pub search: Search,
    /// Every load step, including those of trials without a result.
    pub steps: Vec<SearchStep>,
    /// Trials that found no load.
    pub ended: Vec<EndedSearch>,
}

/// A search that found no load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EndedSearch {
    /// The trial.
    pub trial: String,
    /// Its load steps.
    pub steps: usize,
    /// Why it ended.
    #[serde(flatten)]
    pub end: SearchEnd,
}

/// One load step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchStep {
    /// The trial of the step.
    pub trial: String,
    /// Its block.
    pub block: u32,
    /// The load and its result.
    #[serde(flatten)]
    pub step: LoadStep,
}

impl SearchRow {
    /// Whether a load was found that meets the limit: undecided if a search ended without one,
    /// failed if one showed that the limit fails at every load.
    #[must_use]
    pub fn verdict(&self) -> LimitVerdict {
        let fails = |it: &EndedSearch| matches!(it.end, SearchEnd::FailsEverywhere { .. });
        match &self.ended[..] {
            [] => LimitVerdict::Passed,
            ended if ended.iter().any(fails) => LimitVerdict::Failed,
            _ => LimitVerdict::Undecided,
        }
    }

    /// The metric whose value is the highest load.
    #[must_use]
    pub fn metric(&self) -> ComparisonMetric {
        match self.search.most {
            LoadBy::Rate => ComparisonMetric::HighestRate,
            LoadBy::Clients => ComparisonMetric::MostClients,
        }
    }
}
