//! Comparison of two sides, each of one or several runs, as shown by `dyno compare`. Pure except
//! for [`read_side`].
//!
//! # Layout
//! * [`mod@self`]: order of the computation, names, counters; [`model`]: the comparison as data;
//! * `pool`: pools the runs of a side into one set of trials per configuration;
//! * `matching`: matches the configurations of the two sides;
//! * `conditions`: reasons why the sides are hard to compare; `limits`: the results of their
//!   limits; `timelines`: their trials over time;
//! * `measured`: the figures of two matched configurations before judgement; `verdicts`: ratios and
//!   verdicts of each configuration;
//! * `overall`: one effect over all configurations, by metric and by kind of statement.
//!
//! Runs of two sides share no blocks, so nothing is paired: a mixed model ([`crate::stats::sides`])
//! gives the verdicts over all configurations, and Welch's test on logarithms
//! ([`crate::stats::compare::welch`]) those of each configuration. A rank test
//! ([`crate::stats::ranks`]) is shown in addition.

mod conditions;
mod difference;
mod limits;
mod matching;
mod measured;
pub mod model;
mod overall;
pub(crate) mod pool;
#[cfg(test)]
mod tests;
mod timelines;
mod verdicts;

use crate::estimate::{as_u32, sum_over_open_loops, total};
use crate::model::{TimelinePoint, Verdict};
use crate::panels::timeline_point;
use crate::provenance::system_version;
use crate::series::{series_name, varied};
use crate::stats::verdict::Rules;
use crate::{checks, judgement};
use dyno_model::audit::AuditVerdict;
use dyno_model::counters::TrialCounters;
use dyno_model::lists;
use dyno_model::plan::{ComparisonMetric, Configuration, Plan};
use dyno_model::record::TrialRecord;
use dyno_store::{Run, StoreError, results_below};
use model::{
    COMPARE_FORMAT, CompareModel, ConfigurationName, ConfigurationPair, Level, MetricPair, Outcome,
    OverallEffect, RunRow, SideFigures, SideName, SideRow,
};
use pool::{Pool, PooledConfiguration};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use matching::MatchError;
pub use pool::PoolError;

/// One side with its runs.
#[derive(Debug)]
pub struct Side {
    /// The folder as the user named it.
    pub folder: String,
    /// Its runs, at least one.
    pub runs: Vec<Run>,
    /// The time series of their trials, by run and trial.
    pub timelines: BTreeMap<(String, String), Vec<TimelinePoint>>,
}

/// The options of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct CompareOptions {
    /// Metrics, in the order in which they are shown.
    pub metrics: Vec<ComparisonMetric>,
    /// Margin and risk.
    pub rules: Rules,
    /// Pairs of systems with different names, as `BASE=NEW`.
    pub systems: Vec<String>,
}

/// Everything that can be compared: the result of a saturation search, then throughput, then times.
pub const METRICS: [ComparisonMetric; 7] = [
    ComparisonMetric::HighestRate,
    ComparisonMetric::MostClients,
    ComparisonMetric::Throughput,
    ComparisonMetric::MeanMs,
    ComparisonMetric::P50Ms,
    ComparisonMetric::P95Ms,
    ComparisonMetric::P99Ms,
];

/// The reason why the sides cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// The runs of a side are not repeats of the same experiment.
    #[error("{side} cannot be pooled: {error}")]
    Pool {
        /// Which side.
        side: SideName,
        /// Why.
        error: PoolError,
    },
    /// A run is on both sides.
    #[error("the run {run} is on both sides")]
    SameRun {
        /// Its name.
        run: String,
    },
    /// No configuration of one side matches one of the other.
    #[error(transparent)]
    Match(MatchError),
}

/// Reads a side: a results folder, or a folder that contains several. Its trials are judged as for
/// a report.
///
/// # Errors
/// If there is no results folder, or the plan of one cannot be read. The comparison lists any other
/// damage.
pub fn read_side(folder: &Path) -> Result<Side, StoreError> {
    let folders = results_below(folder)?;
    let mut timelines = BTreeMap::new();
    let judged = |folder: &PathBuf| {
        let mut run = Run::open(folder)?;
        let name = run.name.clone();
        run.each_timeline(|plan, record, timeline, sessions| {
            record.warnings = judgement::judge(plan, record, timeline, sessions).warnings;
            timelines.insert(
                (name.clone(), record.trial.id.clone()),
                timeline.iter().map(timeline_point).collect(),
            );
        });
        Ok(run)
    };
    let runs = folders.iter().map(judged).collect::<Result<_, StoreError>>()?;
    Ok(Side { folder: folder.display().to_string(), runs, timelines })
}

/// Compares two sides.
///
/// # Errors
/// If the runs of a side are not repeats, a run is on both sides, or no configurations match.
pub fn compare(
    base: &Side,
    new: &Side,
    options: &CompareOptions,
) -> Result<CompareModel, CompareError> {
    let is_same = |one: &Run, other: &Run| {
        !one.started_at.is_empty()
            && (&one.name, &one.started_at) == (&other.name, &other.started_at)
    };
    if let Some(run) = base.runs.iter().find(|run| new.runs.iter().any(|other| is_same(run, other)))
    {
        return Err(CompareError::SameRun { run: run.name.clone() });
    }
    let pooled = |side, runs| Pool::new(runs).map_err(|error| CompareError::Pool { side, error });
    let (of_base, of_new) =
        (pooled(SideName::Base, &base.runs)?, pooled(SideName::New, &new.runs)?);
    let matching =
        matching::matching(&of_base, &of_new, &options.systems).map_err(CompareError::Match)?;
    let names = (names(&of_base), names(&of_new));
    let pairs = matching
        .pairs
        .iter()
        .map(|(one, other)| (&of_base.configurations[*one], &of_new.configurations[*other]));
    let pairs: Vec<_> = pairs.collect();
    let mut warnings: Vec<_> = conditions::one_run_each(&pairs).into_iter().collect();
    warnings.extend(conditions::warnings((&of_base, &names.0), (&of_new, &names.1), &matching));
    let primary = of_base
        .runs
        .first()
        .map_or_else(ComparisonMetric::default, |run| run.plan.primary_metric());
    let verdicts::Verdicts { metrics, without_figures, overall, statements, rules } =
        verdicts::verdicts(&pairs, &options.metrics, primary, options.rules);
    let configurations: Vec<ConfigurationPair> = matching
        .pairs
        .iter()
        .zip(pairs.iter().copied())
        .zip(metrics.into_iter().zip(without_figures))
        .map(|(((one, _), (of_base, of_new)), (metrics, without_figures))| ConfigurationPair {
            name: names.0[*one].clone(),
            system_new: (of_base.system != of_new.system).then(|| of_new.system.to_owned()),
            base: figures(of_base),
            new: figures(of_new),
            metrics,
            without_figures,
        })
        .collect();
    warnings.extend(verdicts::disagreement(&configurations, rules.alpha));
    warnings.sort_by_key(|warning| std::cmp::Reverse(warning.severity));
    let pick = |names: &[ConfigurationName], indexes: &[usize]| {
        indexes.iter().map(|index| names[*index].clone()).collect()
    };
    Ok(CompareModel {
        compare_format: COMPARE_FORMAT,
        title: None,
        outcome: outcome(&configurations, &overall, options.metrics.len() < METRICS.len()),
        base: side_row(base, &of_base),
        new: side_row(new, &of_new),
        warnings,
        only_base: pick(&names.0, &matching.only_base),
        only_new: pick(&names.1, &matching.only_new),
        overall,
        statements,
        limits: limits::limit_pairs(&base.runs, &new.runs),
        timelines: timelines::timelines(
            [base, new].map(|side| (&side.runs[..], &side.timelines)),
            &pairs,
            &configurations,
        ),
        configurations,
        rules,
    })
}

/// The names of a side's configurations.
fn names(pool: &Pool<'_>) -> Vec<ConfigurationName> {
    let configurations: Vec<&Configuration> =
        pool.configurations.iter().map(|pooled| pooled.configuration).collect();
    let varied = varied(pool.factors, &configurations);
    pool.configurations.iter().map(|pooled| name(pool, pooled, &varied)).collect()
}

fn name(pool: &Pool<'_>, pooled: &PooledConfiguration<'_>, varied: &[bool]) -> ConfigurationName {
    let (configuration, plan): (&Configuration, &Plan) = (pooled.configuration, &pooled.run.plan);
    let levels = pool.factors.iter().zip(&configuration.levels);
    ConfigurationName {
        system: pooled.system.to_owned(),
        levels: levels
            .map(|(factor, level)| Level { factor: factor.clone(), level: level.clone() })
            .collect(),
        workload: configuration.workload.kind.clone(),
        clients: configuration.clients,
        label: series_name(plan, configuration, varied).label,
    }
}

fn figures(pooled: &PooledConfiguration<'_>) -> SideFigures {
    let records = &pooled.records;
    let sum =
        |pick: fn(&TrialRecord) -> u64| records.iter().map(|record| pick(record)).sum::<u64>();
    SideFigures {
        trials_measured: as_u32(records.len()),
        trials_valid: as_u32(pooled.valid().count()),
        arrived: sum_over_open_loops(records, |open_loop| open_loop.arrived),
        unstarted: sum_over_open_loops(records, |open_loop| open_loop.unstarted),
        not_working: pooled.eligibility.not_working(),
        committed: pooled.valid().map(|record| record.counters.committed).sum(),
        failed: total(records, TrialCounters::known_failed),
        unfinished: sum(|record| record.counters.unfinished),
        retries: total(records, TrialCounters::known_retries),
        lost: checks::commit_audit(records).map(|audit| audit.lost),
        audit: records
            .iter()
            .map(|record| record.audit.verdict())
            .max()
            .unwrap_or(AuditVerdict::NotChecked),
    }
}

fn side_row(side: &Side, pool: &Pool<'_>) -> SideRow {
    let systems = pool
        .systems
        .iter()
        .flat_map(|system| pool.runs.iter().map(|run| system_version(run, system)));
    let records = || pool.configurations.iter().flat_map(|pooled| &pooled.records);
    SideRow {
        folder: side.folder.clone(),
        title: pool.runs.first().map(|run| run.plan.title.clone()).unwrap_or_default(),
        runs: pool
            .runs
            .iter()
            .map(|run| RunRow {
                run: run.name.clone(),
                started_at: run.started_at.clone(),
                ended_at: run.ended_at.clone(),
            })
            .collect(),
        systems: lists::distinct(systems),
        trials_planned: as_u32(pool.runs.iter().map(|run| run.plan.trials.len()).sum()),
        trials_measured: as_u32(records().count()),
        trials_valid: as_u32(records().filter(|record| record.is_valid()).count()),
    }
}

/// Counts the verdicts and derives the overall one. Percentiles are not compared if trials have too
/// few transactions for them; that is no failure unless they were requested by name.
fn outcome(
    configurations: &[ConfigurationPair],
    overall: &[OverallEffect],
    are_metrics_named: bool,
) -> Outcome {
    let verdicts: Vec<Verdict> =
        configurations.iter().flat_map(|pair| &pair.metrics).map(|metric| metric.verdict).collect();
    let count_of =
        |wanted: Verdict| as_u32(verdicts.iter().filter(|verdict| **verdict == wanted).count());
    let is_on_new =
        |pair: &&ConfigurationPair| pair.new.not_working.is_some() || pair.new.trials_measured == 0;
    let on_new = configurations.iter().filter(is_on_new).flat_map(|pair| &pair.metrics);
    // With a single configuration, its verdicts are the overall ones.
    let of_all = |wanted: Verdict| match configurations {
        [_] => 0,
        _ => as_u32(overall.iter().filter(|it| it.effect.verdict == Some(wanted)).count()),
    };
    let (worse, worse_over_all) = (count_of(Verdict::Worse), of_all(Verdict::Worse));
    Outcome {
        verdict: overall_verdict(configurations, overall, worse + worse_over_all > 0),
        comparisons: as_u32(verdicts.len()),
        better: count_of(Verdict::Better),
        worse,
        equivalent: count_of(Verdict::Equivalent),
        inconclusive: count_of(Verdict::Inconclusive),
        invalid: count_of(Verdict::Invalid),
        not_made: comparisons_not_made(configurations, overall, are_metrics_named),
        better_over_all: of_all(Verdict::Better),
        worse_over_all,
        not_working: as_u32(on_new.filter(|metric| metric.verdict == Verdict::Invalid).count()),
    }
}

/// The number of comparisons without a verdict because nothing could be tested. A configuration
/// with two trials on each side is part of the effect over all configurations.
fn comparisons_not_made(
    configurations: &[ConfigurationPair],
    overall: &[OverallEffect],
    are_metrics_named: bool,
) -> u32 {
    let is_in_effect = |it: &MetricPair| {
        let is_tested = |all: &OverallEffect| all.metric == it.metric && all.effect.p.is_some();
        let repeats = it.base.zip(it.new).map_or(0, |(base, new)| base.repeats.min(new.repeats));
        repeats >= 2 && overall.iter().any(is_tested)
    };
    let is_untested = |it: &&MetricPair| {
        it.verdict == Verdict::Inconclusive && it.p.is_none() && !is_in_effect(it)
    };
    let all = || configurations.iter().flat_map(|pair| &pair.metrics);
    let without = configurations.iter().map(|pair| pair.without_figures.len()).sum::<usize>();
    let counts_without = are_metrics_named || all().next().is_none();
    as_u32(all().filter(is_untested).count() + if counts_without { without } else { 0 })
}

/// The verdict on the primary metric, over all configurations or in some of them. Worse results in
/// other metrics count only if the primary metric does not differ.
fn overall_verdict(
    configurations: &[ConfigurationPair],
    overall: &[OverallEffect],
    is_worse_elsewhere: bool,
) -> Verdict {
    let Some(primary) = overall.first() else { return Verdict::Inconclusive };
    let of_configurations = configurations.iter().flat_map(|pair| &pair.metrics);
    let of_configurations =
        of_configurations.filter(|it| it.metric == primary.metric).map(|it| it.verdict);
    let all: Vec<Verdict> = of_configurations.chain(primary.effect.verdict).collect();
    let first =
        [Verdict::Worse, Verdict::Invalid, Verdict::Better].into_iter().find(|it| all.contains(it));
    match first {
        Some(verdict @ (Verdict::Worse | Verdict::Better)) => verdict,
        _ if is_worse_elsewhere => Verdict::Worse,
        Some(verdict) => verdict,
        None => primary.effect.verdict.unwrap_or(Verdict::Inconclusive),
    }
}
