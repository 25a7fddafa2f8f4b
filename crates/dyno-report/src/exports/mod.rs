//! Reports for programs that follow benchmarks: CI servers, trackers of benchmarks, detectors of
//! change points. Names and texts are English in every language, because a series ends where its
//! name changes.

mod history;
mod junit;
pub(crate) mod series;
#[cfg(test)]
mod tests;
mod trackers;

pub use history::{history, history_files};

use dyno_analysis::model::ReportModel;

dyno_model::named! {
    /// Formats for other programs, in the order in which the command line lists them.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Export {
        /// JUnit XML: configurations, limits, questions and comparisons as test cases.
        Junit = "junit",
        /// Bencher Metric Format.
        Bmf = "bmf",
        /// `customBiggerIsBetter` of github-action-benchmark.
        GithubBigger = "github-bigger",
        /// `customSmallerIsBetter` of github-action-benchmark.
        GithubSmaller = "github-smaller",
        /// A row of the run for a table that Apache Otava reads.
        Otava = "otava",
    }
}

impl Export {
    /// Name of the file in the directory of the run.
    #[must_use]
    pub fn file_name(self) -> String {
        let extension = match self {
            Self::Junit => "xml",
            Self::Bmf | Self::GithubBigger | Self::GithubSmaller => "json",
            Self::Otava => "csv",
        };
        format!("{self}.{extension}")
    }

    /// Renders a report.
    #[must_use]
    pub fn render(self, model: &ReportModel) -> String {
        match self {
            Self::Junit => junit::render(model),
            Self::Bmf => trackers::bmf(model),
            Self::GithubBigger | Self::GithubSmaller => {
                trackers::github(model, self == Self::GithubBigger)
            }
            Self::Otava => series::table(&[model]),
        }
    }
}
