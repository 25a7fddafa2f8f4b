//! What searches for the highest load found.

use super::estimate::Estimate;
use dyno_model::search::{LoadStep, Search, SearchEnd};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was found for one configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchRow {
    /// Index into [`super::ReportModel::configurations`].
    pub configuration: usize,
    /// What was searched for.
    pub search: Search,
    /// The highest load, over the valid trials; absent when none is. A lower bound where the system
    /// was not what ended a search.
    pub found: Option<Estimate>,
    /// Every load step, those of trials without a result included.
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
    /// The trial that tried it.
    pub trial: String,
    /// Its block.
    pub block: u32,
    /// Which load, and how it went.
    #[serde(flatten)]
    pub step: LoadStep,
}
