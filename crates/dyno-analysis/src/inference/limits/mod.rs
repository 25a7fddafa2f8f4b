//! Whether limits passed: figures against numbers that the spec names, and conclusions from them.

use crate::comparisons::MIN_REPEATS;
use crate::eligibility;
use crate::estimate::as_u32;
use crate::model::{
    Conclusion, LimitRow, LimitVerdict, NotWorking, NotWorkingReason, Range, ReportModel,
    WorstOfLimit,
};
use crate::parts;
use crate::shortage::shortage;
use crate::stats::limit::{LimitTest, mean_against, needed_against, proportion_against};
use crate::stats::verdict::{Rules, holm};
use crate::view::View;
use dyno_model::audit::AuditVerdict;
use dyno_model::limit::{Limit, LimitMetric, LimitPart};
use dyno_model::lists;
use dyno_model::plan::ComparisonMetric;
use dyno_model::warning::{Severity, Warning};

/// Number of valid trials from which a limit is tested. The t test keeps its level from two trials
/// on; with so few it decides only what is far from the limit, compared with the variation.
const TRIALS_MIN: usize = 2;

/// Percentiles from the highest on.
const PERCENTILES: [LimitMetric; 5] =
    [LimitMetric::P999, LimitMetric::P99, LimitMetric::P95, LimitMetric::P90, LimitMetric::P50];

/// A limit at a configuration, with its test, before all of them are judged together.
struct TestedLimit {
    row: LimitRow,
    /// p-values of "it is not met" and "it is met"; `None` where nothing is tested.
    p_unmet_and_met: Option<(f64, f64)>,
}

/// All limits at all configurations that have to meet them.
///
/// A limit passes if a one-sided test rejects "it is not met". That *all* pass is an
/// intersection-union test, which needs no correction. That *some* limit fails is a union of
/// hypotheses, which Holm's procedure corrects.
pub(crate) fn limits(view: &View<'_>) -> Vec<LimitRow> {
    let at = |limit: &'_ Limit| {
        limit.configurations.iter().map(|at| tested_limit(view, limit, *at)).collect::<Vec<_>>()
    };
    let mut all: Vec<TestedLimit> = view.plan().limits.iter().flat_map(at).collect();
    let alpha = Rules::default().alpha;
    let mut tested: Vec<&mut TestedLimit> =
        all.iter_mut().filter(|it| it.p_unmet_and_met.is_some()).collect();
    // Levels of interim analyses are two-sided.
    let adjusted = |p: f64| view.levels.adjusted((2.0 * p).min(1.0)) / 2.0;
    let p: Vec<(f64, f64)> = tested.iter().filter_map(|it| it.p_unmet_and_met).collect();
    let failed =
        holm(&p.iter().map(|(_, p_met)| (adjusted(*p_met), 1.0)).collect::<Vec<_>>(), alpha);
    for ((limit, (p_unmet, _)), failed) in tested.iter_mut().zip(p).zip(failed) {
        limit.row.verdict = if failed.p < alpha {
            LimitVerdict::Failed
        } else if adjusted(p_unmet) < alpha {
            LimitVerdict::Passed
        } else {
            LimitVerdict::Undecided
        };
    }
    let row = |TestedLimit { row, .. }: TestedLimit| {
        let is_open = row.verdict == LimitVerdict::Undecided;
        LimitRow { trials_needed: row.trials_needed.filter(|_| is_open), ..row }
    };
    all.into_iter().map(row).collect()
}

fn tested_limit(view: &View<'_>, limit: &Limit, configuration: usize) -> TestedLimit {
    let mut row = LimitRow {
        metric: limit.metric,
        value: limit.value,
        part: limit.part.clone(),
        configuration,
        figure: None,
        is_bound: false,
        interval: None,
        repeats: 0,
        not_working: match &limit.part {
            // What runs in the background may work where the configuration's own workload does not.
            Some(LimitPart::Background(name)) => {
                eligibility::background(view.measured_records(configuration), name)
            }
            _ => view.eligibilities[configuration].not_working(),
        },
        shortage: None,
        lower_percentile: None,
        trials_needed: None,
        is_untested: false,
        verdict: LimitVerdict::Undecided,
    };
    let test = match limit.metric {
        LimitMetric::Lost => {
            row.not_working = None;
            set_losses(view, &mut row);
            None
        }
        LimitMetric::Failed => {
            // The share of failures is the figure itself, so it must not also count as "did not
            // work".
            let is_judged = |it: &NotWorking| match row.part {
                Some(LimitPart::Background(_)) => {
                    it.because == NotWorkingReason::BackgroundFailures
                }
                _ => it.because == NotWorkingReason::Failures,
            };
            row.not_working = row.not_working.filter(|it| !is_judged(it));
            test_failures(view, &mut row)
        }
        LimitMetric::Throughput => {
            let test = test_figures(view, ComparisonMetric::Throughput, &mut row);
            let behind = match row.part {
                Some(LimitPart::Background(_)) => NotWorkingReason::BackgroundFellBehind,
                _ => NotWorkingReason::FellBehind,
            };
            let is_in_figure = |it: &NotWorking| it.because == behind && row.figure.is_some();
            row.not_working = row.not_working.filter(|it| !is_in_figure(it));
            test
        }
        metric => metric.metric().and_then(|metric| test_figures(view, metric, &mut row)),
    };
    // A maximum has no confidence interval: the observed value is compared with the limit.
    let is_seen = limit.metric == LimitMetric::Max;
    let is_alone = (view.plan().blocks as usize) < MIN_REPEATS && limit.metric != LimitMetric::Lost;
    if let Some(figure) = row.figure.filter(|_| is_seen || is_alone) {
        row.verdict = verdict_of_figure(&row, figure);
        let is_short = row.lower_percentile.is_some() && row.verdict == LimitVerdict::Undecided;
        row.is_untested = is_alone && !is_seen && !is_short;
    }
    if let Some(test) = test.filter(|_| row.repeats as usize >= TRIALS_MIN && !row.is_untested) {
        row.interval =
            Some(Range { low: test.ends.0, high: test.ends.1 }).filter(|_| !row.is_bound);
    }
    if row.not_working.is_some() {
        row.verdict = LimitVerdict::Failed;
    }
    let is_tested =
        row.repeats as usize >= TRIALS_MIN && !row.is_untested && row.not_working.is_none();
    let p_values = test.filter(|_| is_tested).map(|it| {
        if limit.metric.is_floor() { (it.above, it.below) } else { (it.below, it.above) }
    });
    // The true value behind a lower bound may lie beyond the limit.
    let p_values = p_values.map(|(unmet, met)| (if row.is_bound { 1.0 } else { unmet }, met));
    TestedLimit { row, p_unmet_and_met: p_values }
}

/// Figures of a metric, over the trials that are compared. If they have too few transactions for a
/// percentile, a lower one is a lower bound of it: it can fail the limit, and never pass it. Which
/// one follows from the numbers of transactions only, so the test keeps its level.
fn test_figures(
    view: &View<'_>,
    metric: ComparisonMetric,
    row: &mut LimitRow,
) -> Option<LimitTest> {
    let of = |metric| match &row.part {
        None => trial_figures(view, row.configuration, metric),
        Some(part) => parts::figures(view, row.configuration, part, metric),
    };
    let mut figures = of(metric);
    if figures.is_none() {
        let counts = parts::counts(view, row.configuration, row.part.as_ref(), metric);
        let load = &view.plan().configurations[row.configuration].load;
        let found = shortage(&counts, metric, load);
        let mut lower = PERCENTILES.into_iter().skip_while(|it| *it != row.metric).skip(1);
        let lower = found.and_then(|_| lower.find_map(|it| Some((it, of(it.metric()?)?))));
        row.shortage = found;
        row.lower_percentile = lower.as_ref().map(|(percentile, _)| *percentile);
        figures = lower.map(|(_, figures)| figures);
    }
    let figures = figures?;
    let (values, bounds): (Vec<f64>, Vec<bool>) = figures.into_iter().unzip();
    row.repeats = as_u32(values.len());
    row.is_bound = bounds.contains(&true) || row.lower_percentile.is_some();
    if metric == ComparisonMetric::MaxMs {
        row.figure = values.into_iter().reduce(f64::max);
        return None;
    }
    let test = mean_against(&values, row.value);
    row.figure = test.map(|it| it.figure).or(values.first().copied());
    // More trials do not help where the figure is only a bound.
    if !row.is_bound {
        let needed = needed_against(&values, row.value);
        row.trials_needed = needed.map(|needed| as_u32(needed.max(values.len() + 1)));
    }
    test
}

/// Figures of whole trials, and whether each is only a lower bound.
fn trial_figures(
    view: &View<'_>,
    configuration: usize,
    metric: ComparisonMetric,
) -> Option<Vec<(f64, bool)>> {
    let figures = view.eligibilities[configuration].figures(metric)?.into_iter();
    Some(figures.map(|(record, value)| (value, record.is_bound(metric))).collect())
}

/// Compares the figure with the limit. One that is only a lower bound never meets it.
fn verdict_of_figure(row: &LimitRow, figure: f64) -> LimitVerdict {
    let is_met = if row.metric.is_floor() { figure > row.value } else { figure < row.value };
    match (is_met, row.is_bound) {
        (true, true) => LimitVerdict::Undecided,
        (true, false) => LimitVerdict::Passed,
        (false, _) => LimitVerdict::Failed,
    }
}

/// The share of transactions that failed, in trials that nothing else makes invalid.
fn test_failures(view: &View<'_>, row: &mut LimitRow) -> Option<LimitTest> {
    let is_harmless = |warning: &Warning| {
        warning.severity() < Severity::Invalid || matches!(warning, Warning::Failures { .. })
    };
    let records = view.measured_records(row.configuration).iter();
    let usable = records.filter(|record| view.warnings(record).iter().all(is_harmless));
    let records = usable.filter_map(|record| record.of_group(row.part.as_ref()));
    let counters = records.map(|record| &record.counters);
    let counts = counters.filter_map(|counters| parts::failures(counters, row.part.as_ref()));
    let counts: Vec<(u64, u64)> = counts.filter(|(_, started)| *started > 0).collect();
    row.repeats = as_u32(counts.len());
    let percent = |share: f64| 100.0 * share;
    let test = proportion_against(&counts, row.value / 100.0);
    let alone = counts.first().map(|(failed, started)| percent(*failed as f64 / *started as f64));
    row.figure = test.map(|it| percent(it.figure)).or(alone);
    test.map(|it| LimitTest { ends: (percent(it.ends.0), percent(it.ends.1)), ..it })
}

/// Losses that audits found are certain with any number of trials.
fn set_losses(view: &View<'_>, row: &mut LimitRow) {
    let records = view.measured_records(row.configuration).iter();
    let records: Vec<_> = records.filter_map(|record| record.of_group(row.part.as_ref())).collect();
    row.repeats = as_u32(records.len());
    let losses: Vec<_> = records.iter().map(|record| record.audit.losses()).collect();
    let counted = losses.iter().filter_map(|it| it.commits).map(|it| it.lost_min);
    row.figure = counted.reduce(|a, b| a + b).map(|lost| lost as f64);
    row.verdict = match losses.iter().map(|it| it.verdict).max() {
        Some(AuditVerdict::Violated) => LimitVerdict::Failed,
        Some(AuditVerdict::Intact) => LimitVerdict::Passed,
        Some(AuditVerdict::NotChecked | AuditVerdict::Undecided) | None => LimitVerdict::Undecided,
    };
}

/// A statement per limit and outcome, failed ones first. Limits that failed because a system did
/// not work have statements of their own.
pub(crate) fn conclude(model: &ReportModel) -> Vec<Conclusion> {
    let limit = |row: &LimitRow| (row.metric, row.value.to_bits(), row.part.clone());
    let key = |row: &LimitRow| {
        (
            limit(row),
            row.verdict,
            row.not_working.map(|it| it.because),
            row.figure.is_some(),
            row.shortage.is_some(),
            row.lower_percentile.filter(|_| row.verdict == LimitVerdict::Failed),
        )
    };
    let mut groups = lists::grouped(model.limits.iter().map(|row| (key(row), row)));
    groups.sort_by_key(|(_, group)| std::cmp::Reverse(group[0].verdict));
    let all =
        |first: &LimitRow| model.limits.iter().filter(|row| limit(row) == limit(first)).count();
    let conclusion = |(_, group): (_, Vec<&LimitRow>)| {
        let badness = |row: &LimitRow| {
            row.figure.map_or(0.0, |it| if row.metric.is_floor() { -it } else { it })
        };
        let by = |row: &LimitRow| {
            let shortage = row.shortage.filter(|_| row.verdict == LimitVerdict::Undecided);
            shortage.map_or_else(|| badness(row), |it| -(it.transactions as f64))
        };
        let worst = group.iter().copied().reduce(|a, b| if by(b) > by(a) { b } else { a })?;
        Some(Conclusion::Limit {
            metric: worst.metric,
            value: worst.value,
            part: worst.part.clone(),
            verdict: worst.verdict,
            configurations: as_u32(group.len()),
            of: as_u32(all(worst)),
            worst: WorstOfLimit { configuration: worst.configuration, figure: worst.figure },
            not_working: worst.not_working,
            shortage: worst.shortage,
            lower_percentile: worst.lower_percentile,
            trials_needed: group.iter().filter_map(|row| row.trials_needed).max(),
            is_untested: worst.is_untested,
        })
    };
    groups.into_iter().filter_map(conclusion).collect()
}

#[cfg(test)]
mod tests;
