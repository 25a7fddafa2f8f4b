//! What stands on the first pages of a test report.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What only people know of a report: `[report]` of a spec.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FrontMatter {
    /// Who issues it.
    pub organisation: Option<String>,
    /// Who wrote it.
    pub author: Option<String>,
    /// Number or name of the document.
    pub document: Option<String>,
    /// What it is for.
    pub purpose: Option<String>,
    /// How it is to be used.
    pub usage: Option<String>,
    /// Its versions, as written.
    pub revisions: Vec<Revision>,
}

/// A version of the document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Revision {
    /// Its number.
    pub version: String,
    /// When it was made.
    pub date: String,
    /// Who made it.
    pub author: String,
    /// What changed.
    pub change: String,
}
