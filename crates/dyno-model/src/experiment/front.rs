//! Contents of the first pages of a test report.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Report details that only the user knows: `[report]` of a spec.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FrontMatter {
    /// Issuer.
    pub organisation: Option<String>,
    /// Author.
    pub author: Option<String>,
    /// Number or name of the document.
    pub document: Option<String>,
    /// Purpose.
    pub purpose: Option<String>,
    /// Permitted use.
    pub usage: Option<String>,
    /// Its versions, as written.
    pub revisions: Vec<Revision>,
}

/// A version of the document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Revision {
    /// Its number.
    pub version: String,
    /// Date.
    pub date: String,
    /// Author.
    pub author: String,
    /// Changes.
    pub change: String,
}
