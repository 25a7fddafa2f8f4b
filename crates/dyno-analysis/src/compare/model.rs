//! A comparison of two sides as data: what `dyno compare` shows, and its JSON form.

use crate::model::{
    CoursePoint, Effect, Estimate, Interaction, LimitVerdict, NotWorking, Range, RatioBound,
    Varied, Verdict,
};
use dyno_model::audit::AuditVerdict;
use dyno_model::limit::{LimitMeasure, LimitPart};
use dyno_model::plan::Metric;
use dyno_model::warning::{Severity, Warning};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Version of the JSON form. A reader of version N understands every comparison of version N,
/// whatever fields were added.
pub const COMPARE_FORMAT: u32 = 1;

/// Everything that a comparison shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompareModel {
    /// [`COMPARE_FORMAT`] of the writer.
    pub compare_format: u32,
    /// Its title; absent where those of the sides make one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// How many comparisons have which verdict, and what follows.
    pub outcome: Outcome,
    /// What the other side is compared with.
    pub base: SideRow,
    /// What is judged.
    pub new: SideRow,
    /// What makes the sides hard to compare, worst first.
    pub warnings: Vec<CompareWarning>,
    /// One effect over all configurations, for each metric that there are figures of, the primary
    /// one first; with one configuration its own.
    #[serde(default)]
    pub over_all: Vec<OverAll>,
    /// The same of the mean time of each kind of statement.
    #[serde(default)]
    pub statements: Vec<OverAll>,
    /// How the limits of each side came out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<LimitPair>,
    /// Configurations that both sides have.
    pub configurations: Vec<ConfigurationPair>,
    /// The course of their trials, where there is no curve over clients.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub courses: Vec<CoursePair>,
    /// Configurations that only the base has.
    pub only_base: Vec<ConfigurationName>,
    /// Configurations that only the new side has.
    pub only_new: Vec<ConfigurationName>,
    /// How verdicts were made.
    pub rules: CompareRules,
}

impl CompareModel {
    /// The effect on the primary metric, which is said first; absent where no figure can be
    /// compared.
    #[must_use]
    pub fn headline(&self) -> Option<&OverAll> {
        self.over_all.first()
    }

    /// Effects over all configurations, where there are several.
    pub fn over_configurations(&self) -> impl Iterator<Item = &OverAll> {
        self.over_all.iter().filter(|_| self.configurations.len() > 1)
    }

    /// Effects that were decided: better, worse or equivalent; the primary metric's first.
    pub fn decided(&self) -> impl Iterator<Item = &OverAll> {
        self.over_all.iter().filter(|it| it.effect.verdict.is_some_and(Verdict::is_decided))
    }

    /// Effects that the data do not tell.
    pub fn undecided(&self) -> impl Iterator<Item = &OverAll> {
        self.over_all.iter().filter(|it| it.effect.verdict == Some(Verdict::Inconclusive))
    }

    /// The configuration whose figures are said first: where the better of its sides is best by the
    /// primary metric.
    #[must_use]
    pub fn headline_configuration(&self) -> Option<&ConfigurationPair> {
        let metric = self.headline()?.metric;
        let worth = |pair: &ConfigurationPair| {
            let of = pair.metrics.iter().find(|it| it.metric == metric)?;
            let means = [of.base, of.new].into_iter().flatten().map(|estimate| estimate.mean);
            means.map(|mean| if metric.is_more_better() { mean } else { -mean }).reduce(f64::max)
        };
        let all = self.configurations.iter().filter_map(|pair| Some((pair, worth(pair)?)));
        all.reduce(|one, other| if other.1 > one.1 { other } else { one }).map(|(pair, _)| pair)
    }

    /// All comparisons, each with its configuration.
    pub fn comparisons(&self) -> impl Iterator<Item = (&ConfigurationPair, &MetricPair)> {
        self.configurations
            .iter()
            .flat_map(|pair| pair.metrics.iter().map(move |metric| (pair, metric)))
    }
}

/// How many comparisons have which verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// What was decided on the primary metric: worse where it is in any configuration or over all,
    /// then invalid, better, equivalent, inconclusive. Where the primary metric does not differ and
    /// another is worse: worse.
    pub verdict: Verdict,
    /// Comparisons in all.
    pub comparisons: u32,
    /// New is better.
    pub better: u32,
    /// New is worse.
    pub worse: u32,
    /// Equivalent.
    pub equivalent: u32,
    /// Not decided.
    pub inconclusive: u32,
    /// Without usable figures.
    pub invalid: u32,
    /// Of the invalid ones, those in which new did not work in some of its trials, or has none.
    #[serde(default)]
    pub not_working: u32,
    /// Metrics in which new is better over all configurations.
    #[serde(default)]
    pub better_over_all: u32,
    /// Metrics in which new is worse over all configurations.
    #[serde(default)]
    pub worse_over_all: u32,
}

impl Outcome {
    /// How many comparisons have this verdict.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> u32 {
        match verdict {
            Verdict::Better => self.better,
            Verdict::Worse => self.worse,
            Verdict::Equivalent => self.equivalent,
            Verdict::Inconclusive => self.inconclusive,
            Verdict::Invalid => self.invalid,
        }
    }
}

/// One of the two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SideName {
    /// What the other is compared with.
    Base,
    /// What is judged.
    New,
}

/// As the command line calls it.
impl fmt::Display for SideName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Base { "BASE" } else { "NEW" })
    }
}

/// A side: one run, or several of the same thing that are pooled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SideRow {
    /// The folder as it was named.
    pub folder: String,
    /// The experiment's title.
    pub title: String,
    /// Its runs in the order in which they began.
    pub runs: Vec<RunRow>,
    /// Versions that its systems reported, as `name version`.
    pub systems: Vec<String>,
    /// Trials planned by all runs.
    pub trials_planned: u32,
    /// Trials with figures.
    pub trials_measured: u32,
    /// Trials whose figures may be used.
    pub trials_valid: u32,
}

/// One run of a side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRow {
    /// Name of its folder.
    pub run: String,
    /// UTC time at which it began, RFC 3339; empty when it never did.
    pub started_at: String,
    /// UTC time of its last event, RFC 3339.
    pub ended_at: String,
}

/// What a configuration is called.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConfigurationName {
    /// System.
    pub system: String,
    /// Levels by factor.
    pub levels: Vec<Level>,
    /// Workload.
    pub workload: String,
    /// Number of clients.
    pub clients: u32,
    /// System with those levels that are varied, as reports name it.
    pub label: String,
}

/// A level of a factor.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Level {
    /// Factor, as in the spec.
    pub factor: String,
    /// Its level.
    pub level: String,
}

/// A configuration that both sides have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConfigurationPair {
    /// As the base calls it.
    #[serde(flatten)]
    pub name: ConfigurationName,
    /// The new side's system, when it has another name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_new: Option<String>,
    /// Books and audit of the base.
    pub base: SideFigures,
    /// Books and audit of the new side.
    pub new: SideFigures,
    /// A comparison per metric.
    pub metrics: Vec<MetricPair>,
    /// Metrics that are not compared, because a trial of a side has no figure of them: a percentile
    /// of too few transactions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without_figures: Vec<Metric>,
}

/// What a side's trials of a configuration say besides the metrics; sums over measured trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SideFigures {
    /// Trials with figures.
    pub trials_measured: u32,
    /// Trials whose figures may be used.
    pub trials_valid: u32,
    /// Open loop: transactions that were due; absent in a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrived: Option<u64>,
    /// Open loop: those of them that were never started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unstarted: Option<u64>,
    /// Trials in which it did not work; absent when there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_working: Option<NotWorking>,
    /// Transactions committed in the trials whose figures may be used.
    pub committed: u64,
    /// Transactions given up.
    pub failed: Option<u64>,
    /// Transactions cut off at the end.
    pub unfinished: u64,
    /// Attempts after the first.
    pub retries: Option<u64>,
    /// Acknowledged updates that are not in the data; absent when that was not audited.
    pub lost: Option<u64>,
    /// The worst verdict of the audits.
    pub audit: AuditVerdict,
}

/// One metric of one configuration on both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MetricPair {
    /// What is compared.
    pub metric: Metric,
    /// Mean over the base's valid trials.
    pub base: Option<Estimate>,
    /// Mean over the new side's valid trials.
    pub new: Option<Estimate>,
    /// New over base (geometric means); absent when a trial that is compared has no such figure, or
    /// a side did not work in some of its trials.
    pub ratio: Option<f64>,
    /// What the ratio is when a side's figures are only lower bounds; absent when both are values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<RatioBound>,
    /// Interval of the ratio (Welch) at `interval_level`; absent with too few trials, and when the
    /// ratio is a bound.
    pub ratio_interval: Option<Range>,
    /// Confidence of the interval, 0 to 1: as corrected as the verdict is ([`crate::stats::gate`]).
    #[serde(default)]
    pub interval_level: Option<f64>,
    /// Two-sided p-value; absent where nothing was tested.
    pub p: Option<f64>,
    /// p-value after the correction by the gate ([`crate::stats::gate`]).
    pub p_corrected: Option<f64>,
    /// Smallest ratio that would have been seen four times in five, as `1 + effect`; absent where
    /// nothing was tested.
    pub detectable_ratio: Option<f64>,
    /// Of an inconclusive comparison: valid trials that each side needs to see a difference as
    /// large as the margin four times in five; absent when there is no scatter to go by, or more
    /// than a thousand are needed.
    pub repeats_needed: Option<u32>,
    /// The same without assumptions about the distribution; absent where nothing was tested. Shown
    /// beside, it decides nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_ranks: Option<ByRanks>,
    /// Whether the whole interval lies beyond the margin; only meaningful for better and worse.
    pub exceeds_margin: bool,
    /// Outcome.
    pub verdict: Verdict,
}

/// A comparison by ranks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ByRanks {
    /// New over base: the median of the ratios of every trial of new to every trial of base (Hodges
    /// and Lehmann).
    pub ratio: f64,
    /// 95 % interval of the ratio; absent with fewer than four trials on a side, or nearly so few.
    pub ratio_interval: Option<Range>,
    /// Two-sided p-value (Wilcoxon, Mann and Whitney), not corrected.
    pub p: f64,
}

/// New against base over all configurations that can be compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OverAll {
    /// What is compared.
    pub metric: Metric,
    /// The kind of statement whose mean time it is; absent where it is about transactions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement: Option<String>,
    /// How many configurations it rests on.
    pub configurations: u32,
    /// Numbers of clients of these, rising.
    pub clients: Vec<u32>,
    /// What these differ in.
    pub varied: Vec<Varied>,
    /// Degrees of freedom of the ratio's error; absent where it was not tested.
    pub degrees: Option<f64>,
    /// Standard deviation between runs of a side, of logarithms: 0.02 is 2 %. Absent where each
    /// side is one run, so that this cannot be told from the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between_runs: Option<f64>,
    /// The ratio, new over base, and the verdict on it; new is the subject.
    #[serde(flatten)]
    pub effect: Effect,
    /// Whether it depends on the number of clients, the system or a level.
    pub interactions: Vec<Interaction>,
}

/// A limit, with its worst verdict over all configurations of each side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LimitPair {
    /// The figure that the limit applies to.
    pub measure: LimitMeasure,
    /// Where it lies, as in [`crate::model::LimitRow::value`].
    pub value: f64,
    /// The part of the trial that the limit applies to; absent: the whole trial.
    #[serde(default, flatten, skip_serializing_if = "Option::is_none")]
    pub part: Option<LimitPart>,
    /// The base; absent where it has no such limit.
    pub base: Option<LimitVerdict>,
    /// The new side.
    pub new: Option<LimitVerdict>,
}

/// The course of a configuration's valid trials on both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CoursePair {
    /// Index into [`CompareModel::configurations`].
    pub configuration: usize,
    /// The base, in order of time.
    pub base: Vec<CoursePoint>,
    /// The new side.
    pub new: Vec<CoursePoint>,
}

/// How verdicts were made.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CompareRules {
    /// Differences inside this share count as none (0.05 = 5 %).
    pub margin: f64,
    /// Share of false ones among all verdicts better and worse, on average.
    pub alpha: f64,
    /// Share of the level that the metrics beside the primary one have before that is decided.
    #[serde(default)]
    pub reserve: f64,
    /// Fewer valid trials on a side give no verdict but inconclusive.
    pub min_repeats: u32,
    /// Comparisons of configurations that were tested.
    pub family: u32,
    /// The lowest confidence of the intervals of all but the equivalent ones, 0 to 1; absent where
    /// there are no others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_level: Option<f64>,
}

/// What differs between the sides, or within one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// Processor, memory, architecture, virtualisation.
    Machine,
    /// Kernel and distribution.
    Kernel,
    /// Settings of the kernel.
    KernelSettings,
    /// Versions of proxies.
    Proxies,
    /// dyno itself.
    Dyno,
    /// Kind of a system and how it is spoken to.
    System,
    /// The version that a server reported.
    ServerVersion,
    /// Settings of a server, read back.
    Settings,
    /// How trials were loaded and when they ended.
    Load,
    /// Options of the workload that only one side knows.
    Workload,
    /// Scripts, where they are written down.
    Scripts,
    /// Tables, columns and indexes of the databases.
    Schema,
    /// Sizes of tables that both have.
    TableSizes,
}

/// One value that differs. Several values of one side are joined by ` | `; what a side does not
/// have is empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// What: the name of a setting or of a part.
    pub name: String,
    /// In the base.
    pub base: String,
    /// In the new side.
    pub new: String,
}

/// A doubt about a comparison. `dyno-report` makes a sentence of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompareWarning {
    /// How much it weighs.
    pub severity: Severity,
    /// What it is.
    #[serde(flatten)]
    pub kind: CompareWarningKind,
}

/// What makes two sides hard to compare.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "warning", rename_all = "kebab-case")]
pub enum CompareWarningKind {
    /// The sides were measured under other conditions.
    Differs {
        /// What kind.
        condition: Condition,
        /// The system that it is about; empty when it is about all.
        system: String,
        /// Each value that differs.
        values: Vec<Difference>,
    },
    /// An audit found the data violated.
    AuditViolated {
        /// Whose.
        side: SideName,
        /// Configurations that it is about.
        configurations: Vec<ConfigurationName>,
    },
    /// Configurations that did not work in some of their trials.
    DidNotWork {
        /// Whose.
        side: SideName,
        /// Each with its trials.
        configurations: Vec<(ConfigurationName, NotWorking)>,
    },
    /// Runs of which no trial was measured.
    NothingMeasured {
        /// Whose.
        side: SideName,
        /// Names of the runs.
        runs: Vec<String>,
    },
    /// Trials whose figures may not be used are left out.
    InvalidTrials {
        /// Whose.
        side: SideName,
        /// How many.
        invalid: u32,
        /// Of so many measured.
        measured: u32,
        /// The worst doubt of the kind that most of them share.
        because: Warning,
    },
    /// Trials without figures.
    MissingTrials {
        /// Whose.
        side: SideName,
        /// How many.
        missing: u32,
        /// Of so many planned.
        planned: u32,
    },
    /// A doubt about trials, of one side or of both.
    Trials {
        /// Trials of the base that have it.
        base: u32,
        /// Of so many measured.
        base_measured: u32,
        /// Trials of the new side that have it.
        new: u32,
        /// Of so many measured.
        new_measured: u32,
        /// The worst of its kind.
        about: Warning,
    },
    /// A doubt about whole runs.
    Runs {
        /// Whose.
        side: SideName,
        /// The worst of its kind.
        about: Warning,
    },
    /// Something in a results folder could not be read.
    Unreadable {
        /// Whose.
        side: SideName,
        /// The first places: folder, file, line and what is wrong.
        what: Vec<String>,
        /// Places in all.
        places: u32,
    },
    /// A run has not written its end.
    NotEnded {
        /// Whose.
        side: SideName,
        /// Names of the runs.
        runs: Vec<String>,
    },
    /// Of the two tests of a ratio, Welch's and that by ranks, one alone sees a difference.
    RanksDisagree {
        /// Configuration and metric.
        comparisons: Vec<(ConfigurationName, Metric)>,
    },
    /// One side was measured after the other.
    OneAfterTheOther {
        /// Who was first.
        first: SideName,
        /// From the end of the first side's last run to the beginning of the other's first, in
        /// seconds.
        gap_s: f64,
    },
    /// The runs of the sides took turns, or overlapped.
    Alternating,
    /// Each configuration was measured in one run of each side: what runs differ in cannot be told
    /// from the change.
    OneRunEach,
    /// The settings of a system were not read back on both sides, so differences would not be seen.
    SettingsUnknown {
        /// The system.
        system: String,
    },
    /// Two systems with different names were compared.
    OtherName {
        /// Its name in the base.
        base: String,
        /// Its name in the new side.
        new: String,
    },
}
