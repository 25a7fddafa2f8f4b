//! The report as data: every number and every warning that a renderer may show, already computed
//! and tagged with its unit.
//!
//! [`crate::analyse`] creates it. Renderers only format numbers, choose words and arrange them;
//! they compute nothing. The JSON form (`dyno report --format json`) is public and versioned by
//! [`REPORT_FORMAT`]; within one version, fields are only added.
//!
//! # How to read it
//! * A [`SeriesName`] identifies one series of a chart: a system with one level of every factor.
//!   [`ReportModel::series`] lists them; everything else refers to them by index.
//! * A [`ConfigurationRow`] is a series at one client count. [`ReportModel::configurations`] has
//!   the order of the plan; everything else refers to configurations by index.
//! * [`Estimate`]s are computed over blocks: the geometric mean of the trials' values with the 95 %
//!   interval of Student's t for their logarithms. Measures named `merged-` and [`PercentileCurve`]
//!   come from merged histograms; percentiles are never averaged into them.
//! * Results of invalid trials are excluded from estimates. They stay in [`ReportModel::trials`],
//!   with the reason.

mod charts;
mod checks;
mod estimate;
mod faults;
mod figures;
mod headline;
mod inference;
mod metric;
mod part;
mod provenance;
mod resources;
mod search;
mod topology;
mod trials;

use inference::{comparisons, conclusion, growth, limits, questions};

pub use charts::*;
pub use checks::*;
pub use comparisons::*;
pub use conclusion::*;
pub use estimate::*;
pub use faults::*;
pub use figures::*;
pub use growth::*;
pub use headline::*;
pub use limits::*;
pub use metric::*;
pub use part::*;
pub use provenance::*;
pub use questions::*;
pub use resources::*;
pub use search::*;
pub use topology::*;
pub use trials::*;

use dyno_model::front::FrontMatter;
use dyno_model::plan::{Compare, ComparisonMetric};
use dyno_store::LimitSummary;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of the JSON form. A reader of version N can read every report of version N, even if
/// fields were added.
pub const REPORT_FORMAT: u32 = 1;

/// Everything a report shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportModel {
    /// Version of the JSON form that the writer knew.
    pub report_format: u32,
    /// The experiment's title.
    pub title: String,
    /// Its description, which may be empty.
    pub description: String,
    /// Front matter of a test report, if the spec contains any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub front: Option<FrontMatter>,
    /// Place, time and conditions of the measurement.
    pub provenance: Provenance,
    /// Network topologies, each once; empty for imported results.
    pub topologies: Vec<Topology>,
    /// Planned and measured trials.
    pub completeness: Completeness,
    /// Conclusions, most important first. `dyno-report` renders them as sentences.
    pub conclusions: Vec<Conclusion>,
    /// Names of the factors besides system and clients, as in the spec.
    pub factors: Vec<String>,
    /// The primary metric: throughput, in an open loop a response time, or the target of a search.
    pub primary_metric: ComparisonMetric,
    /// The comparison that the spec asks for; it determines the curves of charts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compare: Option<Compare>,
    /// Series of charts: systems with levels.
    pub series: Vec<SeriesName>,
    /// One row per configuration, in the plan's order.
    pub configurations: Vec<ConfigurationRow>,
    /// Every planned trial, in run order.
    pub trials: Vec<TrialRow>,
    /// Charts over clients, one per metric that was measured.
    pub panels: Vec<Panel>,
    /// Series over the arrival rate, if it is a factor.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<RateSeries>,
    /// Latency percentiles of merged histograms, one curve per configuration with valid data.
    pub percentile_curves: Vec<PercentileCurve>,
    /// Timelines by second, one per measured trial.
    pub timelines: Vec<Timeline>,
    /// Distributions of response times over time, for at most one trial per configuration.
    pub heat_maps: Vec<HeatMap>,
    /// Latency of the transaction and of each kind of statement, one table per configuration with
    /// valid data.
    pub statements: Vec<StatementTable>,
    /// Results of data audits, one row per audited configuration.
    pub audits: Vec<AuditRow>,
    /// Effects of injected faults, one row per configuration with faults.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultRow>,
    /// Warnings, worst first, one row per kind.
    pub warnings: Vec<WarningRow>,
    /// One effect over all other levels for each level of a factor and each system, by metric;
    /// empty with fewer blocks than verdicts need.
    pub questions: Vec<Question>,
    /// Comparisons of systems and of levels at equal clients: all of the first metric, then all of
    /// the next.
    pub comparisons: Vec<Comparison>,
    /// How comparisons were made; the text below their table.
    pub comparison_rules: ComparisonRules,
    /// Every limit at every configuration that it applies to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<LimitRow>,
    /// Results of searches for the highest load, one row per configuration with a search.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub searches: Vec<SearchRow>,
    /// Parts of the load of configurations: stages, transactions of several names, background
    /// workloads; by scope, and within a scope in the order of the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartRow>,
    /// How often the data were looked at while they were measured; absent where the number of
    /// blocks was fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interim_analyses: Option<InterimAnalyses>,
    /// Results over the rows of a growing table; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
    /// Results published elsewhere.
    pub published: Vec<PublishedSeries>,
}

impl ReportModel {
    /// True when a value of any trial or configuration is a lower bound.
    #[must_use]
    pub fn has_bounds(&self) -> bool {
        let of_trials = self.trials.iter().filter_map(|trial| trial.figures.as_ref());
        let of_configurations = self.configurations.iter().map(|row| &row.figures);
        of_trials.chain(of_configurations).any(Figures::has_bound)
    }

    /// True for conclusions that add nothing to answered questions: pairs of series, and peaks.
    #[must_use]
    pub fn is_beside_answers(&self, conclusion: &Conclusion) -> bool {
        let has_answers =
            self.conclusions.iter().any(|it| matches!(it, Conclusion::Question { .. }));
        has_answers
            && matches!(
                conclusion,
                Conclusion::Comparison { .. } | Conclusion::PeakThroughput { .. }
            )
    }

    /// The worst verdict on a limit; absent without limits.
    #[must_use]
    pub fn limits_verdict(&self) -> Option<LimitVerdict> {
        self.limits.iter().map(|row| row.verdict).max()
    }

    /// Verdicts on limits for `summary.json`.
    #[must_use]
    pub fn limit_summaries(&self) -> Vec<LimitSummary> {
        let summary = |row: &LimitRow| LimitSummary {
            metric: row.metric,
            value: row.value,
            part: row.part.clone(),
            system: self.series_of(row.configuration).system_name.clone(),
            clients: self.configurations[row.configuration].clients,
            levels: self.series_of(row.configuration).levels.clone(),
            // That of a lower percentile would be taken for the limited one.
            figure: row.figure.filter(|_| row.lower_percentile.is_none()),
            trials: row.repeats,
            is_untested: row.is_untested,
            verdict: row.verdict,
        };
        self.limits.iter().map(summary).collect()
    }

    /// True when any trial had an arrival rate.
    #[must_use]
    pub fn has_open_loop(&self) -> bool {
        self.configurations.iter().any(|row| row.figures.get(Metric::Arrived).is_some())
    }

    /// Estimated number of blocks to detect a difference as large as the margin in every undecided
    /// question about the primary metric, from the observed variation; absent when all are decided,
    /// or the variation is unknown.
    #[must_use]
    pub fn blocks_to_decide(&self) -> Option<u32> {
        let first = self.questions.iter().filter(|it| it.metric == self.primary_metric);
        let needed = |it: &Question| {
            it.blocks_to_decide(self.provenance.blocks, self.comparison_rules.margin)
        };
        first.filter_map(needed).max()
    }

    /// Measured trials in run order: position from 1, trial, and its primary metric divided by the
    /// mean of its configuration's valid trials.
    pub fn run_order(&self) -> impl Iterator<Item = (usize, &TrialRow, f64)> {
        self.trials.iter().enumerate().filter_map(|(index, trial)| {
            let mut points =
                self.panel(self.primary_metric)?.series.iter().flat_map(|series| &series.points);
            let point = points.find(|point| point.configuration == trial.configuration)?;
            let value = point.repeats.iter().find(|dot| dot.trial == trial.id)?.value;
            let ratio = value / point.estimate?.mean;
            (ratio.is_finite() && ratio > 0.0).then_some((index + 1, trial, ratio))
        })
    }

    /// Stages, transactions or background workloads: the parts of this scope.
    pub fn parts(&self, scope: Scope) -> impl Iterator<Item = &PartRow> + Clone {
        self.parts.iter().filter(move |row| row.part.scope() == scope)
    }

    /// The series of a configuration.
    #[must_use]
    pub fn series_of(&self, configuration: usize) -> &SeriesName {
        &self.series[self.configurations[configuration].series]
    }

    /// The panel of a metric, if it was measured.
    #[must_use]
    pub fn panel(&self, metric: ComparisonMetric) -> Option<&Panel> {
        self.panels.iter().find(|panel| panel.metric == metric)
    }
}
