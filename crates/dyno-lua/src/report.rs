//! Types for the custom reports of a script.

/// Kind of report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Report {
    /// `sysbench.hooks.report_intermediate`.
    Intermediate,
    /// `sysbench.hooks.report_cumulative`.
    Cumulative,
}

impl Report {
    /// The hook's name.
    #[must_use]
    pub fn hook(self) -> &'static str {
        match self {
            Self::Intermediate => "report_intermediate",
            Self::Cumulative => "report_cumulative",
        }
    }
}

/// The reports that a script prints itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReportHooks {
    /// `sysbench.hooks.report_intermediate` is set.
    pub intermediate: bool,
    /// `sysbench.hooks.report_cumulative` is set.
    pub cumulative: bool,
}
