//! What preflight says about an experiment before it runs.

use serde::Serialize;

/// How much a finding of preflight weighs; ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Weight {
    /// Figures may suffer.
    Warning,
    /// The experiment cannot be run.
    Fatal,
}

impl Weight {
    /// Word before the finding.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Fatal => "error",
        }
    }
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct PreflightFinding {
    /// How much it weighs.
    pub(crate) weight: Weight,
    /// Name of the system, or `results`, or `this machine`.
    pub(crate) place: String,
    /// What was found, with the values.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) remedy: Option<String>,
}

impl PreflightFinding {
    /// A finding without a remedy.
    pub(crate) fn new(weight: Weight, place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { weight, place: place.into(), message: message.into(), remedy: None }
    }

    /// Adds what to do about it.
    pub(crate) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}
