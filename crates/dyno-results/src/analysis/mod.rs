//! From a run's data to the report's model. Pure: the same data give the same model, on any machine.
//!
//! # Layout
//! * [`mod@self`]: lines, treatments, trials, panels, and the order in which the parts are made;
//! * `latency`: summaries and percentile curves of merged histograms, tables of statements;
//! * `checks`: audits, generator, findings;
//! * `resources`: what trials took of machine and server;
//! * `judgement`: doubts about a trial that has been read; `steadiness`: whether trials were in a steady state;
//! * `growth`: figures over the rows of a table that grows;
//! * `standing`: which trials are compared, and what is held against a treatment;
//! * `comparisons`: ratios and verdicts;
//! * `conclusions`: what follows, as typed statements;
//! * `provenance`: where, when and with what;
//! * [`compare`]: two sets of runs against each other, for `dyno compare`;
//! * [`pilot`]: how many blocks the next run needs.

mod checks;
pub mod compare;
mod comparisons;
mod conclusions;
mod growth;
pub(crate) mod judgement;
mod latency;
pub mod pilot;
mod provenance;
mod resources;
mod standing;
mod steadiness;

use crate::report::model::{
    Completeness, Estimate, FailedTrial, KindCount, LineName, Panel, PanelLine, PanelPoint, PublishedPoint,
    PublishedRows, PublishedSeries, REPORT_FORMAT, Range, RepeatDot, ReportModel, Timeline, TimelinePoint,
    TreatmentRow, TrialFigures, TrialRow, TrialState, Unit, Validity,
};
use crate::stats::student;
use crate::store::{Run, RunData, TrialOutcome};
use dyno_model::audit::{AuditCheck, AuditVerdict};
use dyno_model::failure::FailureKind;
use dyno_model::finding::{Finding, Severity};
use dyno_model::latency::is_shown;
use dyno_model::plan::{Metric, Plan, Treatment};
use dyno_model::record::{OpenLoop, TrialRecord, is_rate};
use dyno_model::response::Responses;
use judgement::Judged;
use standing::Standing;
use std::collections::{BTreeMap, BTreeSet};

/// Confidence of all intervals.
const CONFIDENCE: f64 = 0.95;

/// Makes the report's model.
#[must_use]
pub fn analyse(data: &RunData) -> ReportModel {
    let view = View::new(data);
    let treatments = treatment_rows(&view);
    let (comparisons, comparison_rules) = comparisons::compare(&view);
    let completeness = completeness(&view);
    let mut model = ReportModel {
        report_format: REPORT_FORMAT,
        title: view.run.plan.title.clone(),
        description: view.run.plan.description.clone(),
        provenance: provenance::provenance(view.run),
        completeness,
        conclusions: Vec::new(),
        factors: view.run.plan.factors.clone(),
        compare: view.run.plan.compare,
        lines: view.lines.clone(),
        treatments,
        trials: trial_rows(&view),
        panels: panels(&view),
        percentile_curves: latency::curves(&view),
        timelines: timelines(&view),
        statements: latency::statements(&view),
        audits: checks::audits(&view),
        generator: checks::generator(&view),
        resources: resources::rows(&view),
        findings: checks::findings(&view),
        comparisons,
        comparison_rules,
        growth: growth::growth(&view),
        published: published(&view.run.plan),
    };
    model.conclusions = conclusions::conclude(&model);
    model
}

/// A run's data, arranged for lookup.
struct View<'a> {
    run: &'a Run,
    /// Its trials' files.
    data: &'a RunData,
    lines: Vec<LineName>,
    /// Line of each treatment.
    line_of: Vec<usize>,
    /// Records of measured trials by treatment, in run order.
    records: BTreeMap<usize, Vec<&'a TrialRecord>>,
    /// What became of each treatment's trials.
    standings: Vec<Standing<'a>>,
    /// Doubts about measured trials and how steady these were, by id.
    judged: BTreeMap<&'a str, Judged>,
    /// Transactions of each treatment's valid trials, merged.
    merged: Vec<Responses>,
}

impl<'a> View<'a> {
    fn new(data: &'a RunData) -> Self {
        let run = &data.run;
        let (lines, line_of) = lines(&run.plan);
        let mut records: BTreeMap<usize, Vec<&TrialRecord>> = BTreeMap::new();
        let mut judged = BTreeMap::new();
        let mut standings: Vec<Standing<'_>> =
            run.plan.treatments.iter().map(|_| Standing::default()).collect();
        for trial in &run.plan.trials {
            if let Some(outcome) = run.outcomes.get(&trial.id) {
                standings[trial.treatment].add(run, outcome);
            }
            if let Some(TrialOutcome::Finished(record)) = run.outcomes.get(&trial.id) {
                records.entry(trial.treatment).or_default().push(record);
                let files = data.trials.get(&trial.id);
                let (timeline, sessions): (&[_], &[_]) =
                    files.map_or((&[], &[]), |files| (&files.timeline, &files.sessions));
                let found = judgement::judge(&run.plan, record, timeline, sessions);
                judged.insert(trial.id.as_str(), found);
            }
        }
        let mut view = Self { run, data, lines, line_of, records, standings, judged, merged: Vec::new() };
        view.merged = (0..run.plan.treatments.len())
            .map(|treatment| latency::merged_transactions(&view, treatment))
            .collect();
        view
    }

    fn plan(&self) -> &'a Plan {
        &self.run.plan
    }

    fn measured(&self, treatment: usize) -> &[&'a TrialRecord] {
        self.records.get(&treatment).map_or(&[], Vec::as_slice)
    }

    fn valid(&self, treatment: usize) -> impl Iterator<Item = &'a TrialRecord> {
        self.measured(treatment).iter().copied().filter(|record| record.is_valid())
    }

    /// A trial's doubts: what follows from its record, what was noticed while it was measured, and what its course says.
    fn findings<'r>(&'r self, record: &'r TrialRecord) -> &'r [Finding] {
        self.judged.get(record.trial.id.as_str()).map_or(&record.findings, |judged| &judged.findings)
    }

    /// The weight of a trial's worst doubt.
    fn worst(&self, record: &TrialRecord) -> Option<Severity> {
        self.findings(record).iter().map(Finding::severity).max()
    }

    fn treatments(&self) -> impl Iterator<Item = (usize, &'a Treatment)> {
        self.run.plan.treatments.iter().enumerate()
    }
}

/// Lines in the order in which the plan's treatments first need them, and the line of each treatment.
fn lines(plan: &Plan) -> (Vec<LineName>, Vec<usize>) {
    let varied: Vec<bool> = (0..plan.factors.len())
        .map(|factor| {
            plan.treatments.iter().map(|treatment| &treatment.levels[factor]).collect::<BTreeSet<_>>().len()
                > 1
        })
        .collect();
    let mut lines: Vec<LineName> = Vec::new();
    let line_of = plan
        .treatments
        .iter()
        .map(|treatment| {
            let same = |line: &LineName| line.system == treatment.system && line.levels == treatment.levels;
            lines.iter().position(same).unwrap_or_else(|| {
                lines.push(line_name(plan, treatment, &varied));
                lines.len() - 1
            })
        })
        .collect();
    (lines, line_of)
}

/// `System (level, level)`, with only those factors that are varied; a level that says little alone (a number, a
/// truth value) is named with the last part of its factor.
fn line_name(plan: &Plan, treatment: &Treatment, varied: &[bool]) -> LineName {
    let system = &plan.systems[treatment.system];
    let levels: Vec<String> = plan
        .factors
        .iter()
        .zip(&treatment.levels)
        .zip(varied)
        .filter(|(_, is_varied)| **is_varied)
        .map(|((factor, level), _)| {
            let speaks_alone = level.chars().filter(|c| c.is_alphabetic()).count() > 3
                && !matches!(level.as_str(), "true" | "false");
            let name = factor.rsplit('.').next().unwrap_or(factor);
            if speaks_alone { level.clone() } else { format!("{name} {level}") }
        })
        .collect();
    let label = if levels.is_empty() {
        system.name.clone()
    } else {
        format!("{} ({})", system.name, levels.join(", "))
    };
    LineName {
        label,
        system: treatment.system,
        system_name: system.name.clone(),
        levels: treatment.levels.clone(),
    }
}

fn unit(metric: Metric) -> Unit {
    match metric {
        Metric::Throughput => Unit::TransactionsPerSecond,
        Metric::MeanMs | Metric::P50Ms | Metric::P95Ms | Metric::P99Ms => Unit::Milliseconds,
    }
}

/// Mean with interval. None of these figures can be negative, so an interval that would reach below 0 ends there.
fn estimate(values: &[f64], unit: Unit) -> Option<Estimate> {
    let mean = student::mean(values)?;
    let interval = student::mean_interval(values, CONFIDENCE).map(|interval| Range {
        low: (mean - interval.half_width).max(0.0),
        high: mean + interval.half_width,
    });
    Some(Estimate { unit, mean, interval, repeats: count(values.len()), is_bound: false })
}

/// The same of trials' figures: where one of them is a lower bound, so is the mean, and it has no interval.
fn estimate_among<'a>(records: impl Iterator<Item = &'a TrialRecord>, metric: Metric) -> Option<Estimate> {
    let records: Vec<&TrialRecord> = records.collect();
    let values: Vec<f64> = records.iter().filter_map(|record| record.figure(metric)).collect();
    let estimate = estimate(&values, unit(metric))?;
    let is_bound = has_bound(records.into_iter(), metric);
    Some(Estimate { interval: estimate.interval.filter(|_| !is_bound), is_bound, ..estimate })
}

/// True when the figure of any of these trials is only a lower bound.
fn has_bound<'a>(mut records: impl Iterator<Item = &'a TrialRecord>, metric: Metric) -> bool {
    records.any(|record| record.is_bound(metric))
}

/// Sum over the trials of an open loop; `None` when there are none.
fn arrived(records: &[&TrialRecord], pick: fn(&OpenLoop) -> u64) -> Option<u64> {
    let open_loops = || records.iter().filter_map(|record| record.open_loop.as_ref());
    open_loops().next().is_some().then(|| open_loops().map(pick).sum())
}

/// Throughput is that of every valid trial, 0 where nothing was committed. Times are those of the trials that are compared; when one of them has
/// too few transactions for a percentile, the treatment has none.
fn estimate_of(view: &View<'_>, treatment: usize, metric: Metric) -> Option<Estimate> {
    match metric {
        Metric::Throughput => estimate_among(view.valid(treatment), metric),
        _ => {
            let figures = view.standings[treatment].figures(metric)?;
            estimate_among(figures.into_iter().map(|(record, _)| record), metric)
        }
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn treatment_rows(view: &View<'_>) -> Vec<TreatmentRow> {
    view.treatments().map(|(index, treatment)| treatment_row(view, index, treatment)).collect()
}

fn treatment_row(view: &View<'_>, index: usize, treatment: &Treatment) -> TreatmentRow {
    let measured = view.measured(index);
    let valid: Vec<_> = view.valid(index).collect();
    let sum = |pick: fn(&TrialRecord) -> u64| measured.iter().map(|record| pick(record)).sum::<u64>();
    let committed = sum(|record| record.ledger.committed);
    let retries = sum(|record| record.ledger.retries);
    let validity = match (measured.len(), valid.len()) {
        (0, _) => Validity::Missing,
        (_, 0) => Validity::Invalid,
        _ if measured.iter().any(|record| view.worst(record) >= Some(Severity::Warning)) => Validity::Warned,
        _ => Validity::Valid,
    };
    TreatmentRow {
        line: view.line_of[index],
        clients: treatment.clients,
        trials_planned: count(view.plan().trials.iter().filter(|trial| trial.treatment == index).count()),
        trials_measured: count(measured.len()),
        trials_valid: count(valid.len()),
        not_working: view.standings[index].not_working(),
        throughput: estimate_of(view, index, Metric::Throughput),
        mean: estimate_of(view, index, Metric::MeanMs),
        p50: estimate_of(view, index, Metric::P50Ms),
        p95: estimate_of(view, index, Metric::P95Ms),
        p99: estimate_of(view, index, Metric::P99Ms),
        merged: latency::summary_of_all(&view.merged[index]),
        arrived: arrived(measured, |open_loop| open_loop.arrived),
        unstarted: arrived(measured, |open_loop| open_loop.unstarted),
        committed,
        failed: sum(|record| record.ledger.failed),
        unfinished: sum(|record| record.ledger.unfinished),
        skipped: sum(|record| record.ledger.skipped),
        retries,
        failed_by_kind: kinds(measured, |record| &record.ledger.failed_by_kind),
        retries_by_kind: kinds(measured, |record| &record.ledger.retries_by_kind),
        retries_per_commit: if committed == 0 { 0.0 } else { retries as f64 / committed as f64 },
        lost_percent: checks::update_audit(measured).map(|audit| audit.lost_percent),
        audit: measured.iter().map(|record| record.audit.verdict()).max().unwrap_or(AuditVerdict::NotChecked),
        validity,
    }
}

fn kinds<'a>(
    records: &[&'a TrialRecord],
    pick: impl Fn(&'a TrialRecord) -> &'a BTreeMap<FailureKind, u64>,
) -> Vec<KindCount> {
    let mut sums: BTreeMap<FailureKind, u64> = BTreeMap::new();
    for (kind, number) in records.iter().flat_map(|record| pick(record)) {
        *sums.entry(*kind).or_default() += number;
    }
    let mut kinds: Vec<_> = sums.into_iter().map(|(kind, count)| KindCount { kind, count }).collect();
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.count));
    kinds
}

fn trial_rows(view: &View<'_>) -> Vec<TrialRow> {
    view.plan()
        .trials
        .iter()
        .map(|trial| {
            let row = |state, figures, findings, reason| TrialRow {
                id: trial.id.clone(),
                block: trial.block,
                treatment: trial.treatment,
                state,
                figures,
                findings,
                steadiness: view.judged.get(trial.id.as_str()).and_then(|judged| judged.steadiness),
                reason,
            };
            match view.run.outcomes.get(&trial.id) {
                None => row(TrialState::Missing, None, Vec::new(), String::new()),
                Some(TrialOutcome::Failed { reason }) => {
                    row(TrialState::Failed, None, Vec::new(), reason.clone())
                }
                Some(TrialOutcome::Finished(record)) => {
                    let state = match view.worst(record) {
                        Some(Severity::Invalid) => TrialState::Invalid,
                        Some(Severity::Warning) => TrialState::Warned,
                        Some(Severity::Note) | None => TrialState::Valid,
                    };
                    row(state, Some(trial_figures(record)), view.findings(record).to_vec(), String::new())
                }
            }
        })
        .collect()
}

fn trial_figures(record: &TrialRecord) -> TrialFigures {
    let lost = record.audit.checks.iter().find_map(|check| match check {
        AuditCheck::LostUpdates { .. } => check.balance().map(|balance| balance.lost_min),
        AuditCheck::RowCount { .. } | AuditCheck::ColumnSum { .. } | AuditCheck::NotRun { .. } => None,
    });
    TrialFigures {
        started_at: record.started_at.clone(),
        measured_s: record.measured.as_secs_f64(),
        throughput: record.throughput(),
        mean_ms: record.figure(Metric::MeanMs),
        p50_ms: record.figure(Metric::P50Ms),
        p95_ms: record.figure(Metric::P95Ms),
        p99_ms: record.figure(Metric::P99Ms),
        max_ms: record.response().map(|response| response.max.as_millis()),
        bounds: [Metric::MeanMs, Metric::P50Ms, Metric::P95Ms, Metric::P99Ms]
            .into_iter()
            .filter(|metric| record.is_bound(*metric))
            .collect(),
        arrived: record.open_loop.map(|open_loop| open_loop.arrived),
        unstarted: record.open_loop.map(|open_loop| open_loop.unstarted),
        longest_gap_ms: record.longest_gap.map(|gap| gap.length.0 as f64 / 1e6),
        committed: record.ledger.committed,
        failed: record.ledger.failed,
        unfinished: record.ledger.unfinished,
        skipped: record.ledger.skipped,
        retries: record.ledger.retries,
        audit: record.audit.verdict(),
        lost,
    }
}

fn completeness(view: &View<'_>) -> Completeness {
    let run = view.run;
    let mut completeness = Completeness {
        planned: count(run.plan.trials.len()),
        is_interrupted: run.is_interrupted,
        has_ended: run.has_ended,
        unreadable: run.problems.clone(),
        ..Completeness::default()
    };
    for trial in &run.plan.trials {
        match run.outcomes.get(&trial.id) {
            None => completeness.missing.push(trial.id.clone()),
            Some(TrialOutcome::Failed { reason }) => completeness.failed.push(FailedTrial {
                trial: trial.id.clone(),
                treatment: trial.treatment,
                reason: reason.clone(),
            }),
            Some(TrialOutcome::Finished(record)) => {
                completeness.measured += 1;
                completeness.valid += u32::from(record.is_valid());
                completeness.cut.extend((!record.is_whole()).then(|| trial.id.clone()));
            }
        }
    }
    completeness.is_complete =
        run.has_ended && completeness.measured == completeness.planned && completeness.cut.is_empty();
    completeness
}

fn panels(view: &View<'_>) -> Vec<Panel> {
    [Metric::Throughput, Metric::MeanMs, Metric::P95Ms, Metric::P99Ms]
        .into_iter()
        .map(|metric| Panel { metric, unit: unit(metric), lines: panel_lines(view, metric) })
        .filter(|panel| !panel.lines.is_empty())
        .collect()
}

fn panel_lines(view: &View<'_>, metric: Metric) -> Vec<PanelLine> {
    (0..view.lines.len())
        .map(|line| {
            let mut points: Vec<_> = view
                .treatments()
                .filter(|(index, _)| view.line_of[*index] == line)
                .map(|(index, treatment)| PanelPoint {
                    clients: treatment.clients,
                    treatment: index,
                    estimate: estimate_of(view, index, metric),
                    repeats: repeat_dots(view, index, metric),
                })
                .filter(|point| !point.repeats.is_empty())
                .collect();
            points.sort_by_key(|point| point.clients);
            PanelLine { line, points }
        })
        .filter(|line| !line.points.is_empty())
        .collect()
}

fn repeat_dots(view: &View<'_>, treatment: usize, metric: Metric) -> Vec<RepeatDot> {
    view.measured(treatment)
        .iter()
        .filter_map(|record| {
            Some(RepeatDot {
                trial: record.trial.id.clone(),
                block: record.trial.block,
                value: record.figure(metric)?,
                is_valid: record.is_valid(),
            })
        })
        .collect()
}

fn timelines(view: &View<'_>) -> Vec<Timeline> {
    view.plan()
        .trials
        .iter()
        .filter_map(|trial| view.data.trials.get(&trial.id).map(|data| (trial, &data.timeline)))
        .filter(|(_, lines)| !lines.is_empty())
        .map(|(trial, lines)| Timeline {
            trial: trial.id.clone(),
            treatment: trial.treatment,
            block: trial.block,
            points: lines.iter().map(timeline_point).collect(),
            resources: resources::course(view, trial),
        })
        .collect()
}

fn timeline_point(line: &crate::store::TimelineLine) -> TimelinePoint {
    let latency = |column: usize| line.latency_ms.map(|values| values[column]);
    let percentile =
        |percentage, column: usize| latency(column).filter(|_| is_shown(line.committed, percentage));
    TimelinePoint {
        start_s: line.start_s,
        length_s: line.length_s,
        is_warmup: line.is_warmup,
        throughput: is_rate(line.length_s).then(|| line.committed as f64 / line.length_s),
        failed: line.failed,
        retries: line.retries,
        mean_ms: latency(0),
        p50_ms: percentile(50.0, 1),
        p95_ms: percentile(95.0, 2),
        p99_ms: percentile(99.0, 3),
        max_ms: latency(4),
    }
}

fn published(plan: &Plan) -> Vec<PublishedSeries> {
    plan.published
        .iter()
        .map(|published| PublishedSeries {
            source: published.source.clone(),
            series: published.series.clone(),
            metric: published.metric,
            unit: if published.rows.is_empty() { unit(published.metric) } else { Unit::RowsPerSecond },
            system: published
                .system
                .as_ref()
                .and_then(|name| plan.systems.iter().position(|system| system.name == *name)),
            is_approximate: published.approximate,
            points: published
                .clients
                .iter()
                .zip(&published.values)
                .map(|(clients, value)| PublishedPoint { clients: *clients, value: *value })
                .collect(),
            over_rows: published
                .rows
                .iter()
                .zip(&published.values)
                .map(|(rows, value)| PublishedRows { rows: *rows, value: *value })
                .collect(),
        })
        .collect()
}

#[cfg(test)]
mod tests;
