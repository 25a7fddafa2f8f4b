//! Figures of trials over the number of rows of a growing table.
//!
//! The number of rows at the end of an interval is the number before the trial plus all commits
//! until then, including the warm-up. Within an interval, rows are interpolated linearly. A step is
//! the time between the first moments at which a trial reached two milestones; its throughput is
//! the number of rows between them over that time. A step shorter than three intervals is mostly
//! interpolated: its rate is shown without an interval, and is not compared.

use crate::comparisons::{self, SideValues};
use crate::eligibility::Eligibility;
use crate::estimate::estimate;
use crate::model::{
    Conclusion, Estimate, Figures, Growth, GrowthLead, GrowthMoment, GrowthPoint, GrowthSeries,
    GrowthTrial, Metric, Range, ReportModel, StepComparison, Verdict,
};
use crate::resources::{self, ResourceUse};
use crate::view::View;
use dyno_model::lists;
use dyno_model::monitor::{MonitorSample, mean, names};
use dyno_model::plan::{StopRule, Trial};
use dyno_model::record::{TrialRecord, is_rate};
use dyno_model::warning::{Severity, Warning};
use dyno_store::TrialOutcome;
use std::collections::BTreeMap;

/// Number of steps if the plan has no milestones.
const STEPS_DEFAULT: u64 = 10;
/// The monitor samples once a second, so a shorter step has no sample, in s.
const STEP_SECONDS_MIN: f64 = 1.0;
/// A step shorter than this number of intervals is not measured.
const INTERVALS_MIN: f64 = 3.0;
/// Maximum number of points in a trial's time series, limited by the width of a chart.
const POINTS_MAX: usize = 150;

/// The report's section on growth; `None` if no table grew.
pub(crate) fn growth(view: &View<'_>) -> Option<Growth> {
    let trials: Vec<GrowingTrial<'_>> =
        view.plan().trials.iter().filter_map(|trial| GrowingTrial::of(view, trial)).collect();
    let rows_before = trials.iter().map(GrowingTrial::rows_before).min()?;
    let milestones = milestones(view, &trials, rows_before);
    let bounds = |step: usize| {
        let from = step.checked_sub(1).map_or(rows_before, |before| milestones[before]);
        (from, milestones[step])
    };
    let of = |configuration: usize| {
        trials.iter().filter(move |trial| trial.record.trial.configuration == configuration)
    };
    let series = |configuration: usize| {
        of(configuration).next()?;
        let step = |step| {
            let (from, to) = bounds(step);
            let seen: Vec<Step> = of(configuration)
                .filter(|trial| trial.is_usable())
                .filter_map(|trial| trial.step(from, to))
                .collect();
            step_figures(&seen)
        };
        Some(GrowthSeries {
            configuration,
            steps: (0..milestones.len()).map(step).collect(),
            trials: of(configuration).map(GrowingTrial::growth_trial).collect(),
        })
    };
    let series = (0..view.plan().configurations.len()).filter_map(series).collect();
    let side =
        |configuration: usize, step: usize| side_values(view, &trials, configuration, bounds(step));
    let comparisons = comparisons::step_by_step(view, milestones.len(), &side);
    let comparisons = comparisons
        .into_iter()
        .map(|(step, comparison)| StepComparison { step, comparison })
        .collect();
    Some(Growth { rows_before, milestones, series, comparisons })
}

/// The values of a configuration's trials in a step. A trial that did not finish the step because
/// of the configuration itself counts as not working in it; such a trial without that cause, or
/// with a step that is too short, leaves the step without a comparison.
fn side_values(
    view: &View<'_>,
    trials: &[GrowingTrial<'_>],
    configuration: usize,
    (from, to): (u64, u64),
) -> SideValues {
    let mut eligibility = Eligibility::default();
    let (mut by_block, mut is_known) = (BTreeMap::new(), true);
    for trial in view.plan().trials.iter().filter(|trial| trial.configuration == configuration) {
        let trial_data = trials.iter().find(|trial_data| trial_data.record.trial.id == trial.id);
        match trial_data
            .and_then(|trial_data| trial_data.step(from, to).filter(|_| trial_data.is_usable()))
        {
            Some(step) => {
                is_known &= step.is_measured;
                by_block.insert(trial.block, step.rows_per_second);
                eligibility.add_worked();
            }
            None => {
                let outcome = view.run.outcomes.get(&trial.id);
                let has_figures = trial_data.is_some_and(GrowingTrial::is_usable);
                let did_work =
                    outcome.is_none_or(|outcome| !eligibility.add_unmeasured(view.run, outcome));
                is_known &= !(has_figures && did_work);
            }
        }
    }
    SideValues {
        is_usable: !by_block.is_empty(),
        is_bound: false,
        by_block: is_known.then_some(by_block),
        not_working: eligibility.not_working(),
    }
}

/// The plan's milestones; otherwise equal steps up to the target or to the most rows that a trial
/// reached.
fn milestones(view: &View<'_>, trials: &[GrowingTrial<'_>], before: u64) -> Vec<u64> {
    let loads = || view.plan().configurations.iter().map(|configuration| &configuration.load);
    let mut named: Vec<u64> = loads().flat_map(|load| load.milestones.iter().copied()).collect();
    named.sort_unstable();
    named.dedup();
    named.retain(|rows| *rows > before);
    if !named.is_empty() {
        return named;
    }
    let targets = loads().filter_map(|load| match load.stop {
        StopRule::Rows(target) => Some(target),
        _ => None,
    });
    let reached = || trials.iter().map(|trial| trial.reached() as u64).max();
    equal_steps(before, targets.max().or_else(reached).unwrap_or(before))
}

fn equal_steps(from: u64, to: u64) -> Vec<u64> {
    let length = to.saturating_sub(from);
    let share = |step: u64| {
        from + (u128::from(length) * u128::from(step) / u128::from(STEPS_DEFAULT)) as u64
    };
    let mut steps: Vec<u64> = (1..=STEPS_DEFAULT).map(share).filter(|rows| *rows > from).collect();
    steps.dedup();
    steps
}

/// A trial on the axis of rows.
struct GrowingTrial<'a> {
    record: &'a TrialRecord,
    samples: &'a [MonitorSample],
    /// Seconds since the common start, and rows in the table, up to the end of the last
    /// interval.
    rows_over_time: Vec<(f64, f64)>,
}

/// One trial in one step.
struct Step {
    rows_per_second: f64,
    /// False if it took less than three intervals, so that most of it is interpolated.
    is_measured: bool,
    resources: ResourceUse,
    data_bytes: Option<f64>,
}

impl<'a> GrowingTrial<'a> {
    /// `None` if its table does not grow, or if its timeline is incomplete, so that the rows of its
    /// intervals are unknown.
    fn of(view: &View<'a>, trial: &Trial) -> Option<Self> {
        let TrialOutcome::Finished(record) = view.run.outcomes.get(&trial.id)? else { return None };
        let data = view.data.trials.get(&trial.id)?;
        let growth = record.growth?;
        let counted = data
            .timeline
            .iter()
            .filter(|line| !line.is_warmup)
            .map(|line| line.committed)
            .sum::<u64>();
        if counted != record.counters.committed || data.timeline.is_empty() {
            return None;
        }
        let mut commits = 0;
        let mut rows_over_time = vec![(data.timeline[0].start_s, growth.rows_before as f64)];
        for line in &data.timeline {
            commits += line.committed;
            rows_over_time.push((line.start_s + line.length_s, growth.rows_after(commits) as f64));
        }
        Some(Self { record, samples: &data.samples, rows_over_time })
    }

    fn rows_before(&self) -> u64 {
        self.rows_over_time[0].1 as u64
    }

    fn reached(&self) -> f64 {
        self.rows_over_time[self.rows_over_time.len() - 1].1
    }

    /// A trial that ended before its target (time limit, full disk, dead server) is valid until
    /// then.
    fn is_usable(&self) -> bool {
        let forbids = |warning: &Warning| {
            warning.severity() == Severity::Invalid
                && !matches!(warning, Warning::CutShort { .. } | Warning::SystemFailed { .. })
        };
        !self.record.warnings.iter().any(forbids)
    }

    /// The time at which the table first had this many rows, in seconds since the first client
    /// began.
    fn time_at(&self, rows: f64) -> Option<f64> {
        if rows < self.rows_over_time[0].1 {
            return None;
        }
        let after = self.rows_over_time.iter().position(|(_, reached)| *reached >= rows)?;
        let Some(before) = after.checked_sub(1) else { return Some(self.rows_over_time[0].0) };
        let ((t0, r0), (t1, r1)) = (self.rows_over_time[before], self.rows_over_time[after]);
        Some(t0 + (t1 - t0) * (rows - r0) / (r1 - r0))
    }

    fn step(&self, from: u64, to: u64) -> Option<Step> {
        let (begin, end) = (self.time_at(from as f64)?, self.time_at(to as f64)?);
        let is_long_enough = end - begin >= STEP_SECONDS_MIN;
        let resources = if is_long_enough {
            resources::resource_use(self.samples, begin, end)
        } else {
            ResourceUse::default()
        };
        let touched =
            self.rows_over_time.windows(2).filter(|pair| pair[1].0 > begin && pair[0].0 < end);
        let interval = touched.map(|pair| pair[1].0 - pair[0].0).fold(0.0, f64::max);
        (end > begin).then(|| Step {
            rows_per_second: (to - from) as f64 / (end - begin),
            is_measured: end - begin >= INTERVALS_MIN * interval,
            resources,
            data_bytes: mean(self.samples, names::SERVER_DATA, end - 0.5, end + 0.5),
        })
    }

    fn growth_trial(&self) -> GrowthTrial {
        let intervals = self.rows_over_time.len() - 1;
        let intervals_per_point = intervals.div_ceil(POINTS_MAX).max(1);
        let is_point = |from: usize, to: usize| {
            to - from >= intervals_per_point
                && is_rate(self.rows_over_time[to].0 - self.rows_over_time[from].0)
        };
        let mut boundaries = vec![0];
        for end in 1..=intervals {
            if is_point(boundaries[boundaries.len() - 1], end) {
                boundaries.push(end);
            }
        }
        // The remainder at the end belongs to the last point.
        if boundaries.len() > 1 {
            boundaries.pop();
            boundaries.push(intervals);
        }
        let point = |pair: &[usize]| {
            let ((t0, r0), (t1, r1)) = (self.rows_over_time[pair[0]], self.rows_over_time[pair[1]]);
            let length = t1 - t0;
            GrowthPoint {
                rows_from: r0 as u64,
                rows_to: r1 as u64,
                rows_per_second: if length > 0.0 { (r1 - r0) / length } else { 0.0 },
            }
        };
        GrowthTrial {
            trial: self.record.trial.id.clone(),
            is_usable: self.is_usable(),
            points: boundaries.windows(2).map(point).collect(),
        }
    }
}

/// Means over trials; a figure that only some trials have is averaged over those.
fn step_figures(steps: &[Step]) -> Figures {
    let over = |metric: Metric, of: fn(&Step) -> Option<f64>| {
        (metric, estimate(&steps.iter().filter_map(of).collect::<Vec<_>>(), metric))
    };
    let are_measured = steps.iter().all(|step| step.is_measured);
    let (row_throughput, rate) = over(Metric::RowThroughput, |step| Some(step.rows_per_second));
    let rate = rate.map(|it| Estimate { interval: it.interval.filter(|_| are_measured), ..it });
    let figures = [
        (row_throughput, rate),
        over(Metric::HostCpu, |step| step.resources.cpu_percent),
        over(Metric::ServerCpu, |step| step.resources.server_percent),
        over(Metric::DiskRead, |step| step.resources.disk_read),
        over(Metric::DiskWritten, |step| step.resources.disk_written),
        over(Metric::DiskBusy, |step| step.resources.disk_busy_percent),
        over(Metric::Data, |step| step.data_bytes),
    ];
    Figures::from(figures.map(|(metric, it)| (metric, it.map(Into::into))))
}

/// Maximum number of configurations with a statement about their steps; more are only shown in the
/// table.
const STATEMENTS_MAX: usize = 8;

/// Statements about growth, crossings first.
pub(crate) fn conclude(model: &ReportModel) -> Vec<Conclusion> {
    let Some(growth) = &model.growth else { return Vec::new() };
    let of_steps = growth.comparisons.iter().map(|step| &step.comparison);
    let pairs =
        lists::distinct(of_steps.map(|comparison| (comparison.subject, comparison.baseline)));
    let leads: Vec<Vec<GrowthLead>> = pairs.iter().map(|pair| leads(growth, *pair)).collect();
    let (crossings, constant): (Vec<_>, Vec<_>) =
        leads.into_iter().partition(|leads| leads.len() == 2);
    let crossing =
        |leads: Vec<GrowthLead>| Conclusion::GrowthCrossing { before: leads[0], after: leads[1] };
    let lead = |lead: GrowthLead| Conclusion::GrowthLead { lead };
    let mut conclusions: Vec<Conclusion> = crossings.into_iter().map(crossing).collect();
    conclusions.extend(constant.into_iter().flatten().map(lead));
    conclusions.extend(
        growth.series.iter().take(STATEMENTS_MAX).filter_map(|series| steps(growth, series)),
    );
    conclusions
}

fn step_rate(growth: &Growth, configuration: usize, step: usize) -> Option<f64> {
    let series = growth.series.iter().find(|series| series.configuration == configuration)?;
    series.steps.get(step)?.value(Metric::RowThroughput)
}

/// Sequences of steps with the same side ahead. An undecided step between two steps of the same
/// sequence belongs to it.
fn leads(growth: &Growth, (subject, baseline): (usize, usize)) -> Vec<GrowthLead> {
    let mut leads: Vec<GrowthLead> = Vec::new();
    let of_pair = growth
        .comparisons
        .iter()
        .filter(|step| step.comparison.subject == subject && step.comparison.baseline == baseline);
    for StepComparison { step, comparison } in of_pair {
        let is_ahead = match comparison.effect.verdict {
            Some(Verdict::Better) => true,
            Some(Verdict::Worse) => false,
            _ => continue,
        };
        let (leader, other) = if is_ahead { (subject, baseline) } else { (baseline, subject) };
        let (Some(ratio), Some(leader_rate), Some(other_rate)) = (
            comparison.effect.ratio,
            step_rate(growth, leader, *step),
            step_rate(growth, other, *step),
        ) else {
            continue;
        };
        let ratio = if is_ahead { ratio } else { 1.0 / ratio };
        let (rows_from, rows_to) = growth.bounds(*step);
        match leads.last_mut().filter(|lead| lead.leader == leader) {
            Some(lead) => {
                (lead.rows_to, lead.leader_rate, lead.other_rate) =
                    (rows_to, leader_rate, other_rate);
                lead.ratio =
                    Range { low: lead.ratio.low.min(ratio), high: lead.ratio.high.max(ratio) };
            }
            None => leads.push(GrowthLead {
                leader,
                other,
                rows_from,
                rows_to,
                ratio: Range { low: ratio, high: ratio },
                leader_rate,
                other_rate,
            }),
        }
    }
    leads
}

/// The fastest and the slowest step of a configuration compared with its last one.
fn steps(growth: &Growth, series: &GrowthSeries) -> Option<Conclusion> {
    let moment = |step: usize| {
        let figures = &series.steps[step];
        let (rows_from, rows_to) = growth.bounds(step);
        Some(GrowthMoment {
            rows_from,
            rows_to,
            rows_per_second: figures.value(Metric::RowThroughput)?,
            cpu_percent: figures.value(Metric::HostCpu),
            disk_busy_percent: figures.value(Metric::DiskBusy),
        })
    };
    let moments: Vec<GrowthMoment> = (0..series.steps.len()).filter_map(moment).collect();
    let last = *moments.last()?;
    // The first of equal steps.
    let fastest =
        *moments.iter().rev().max_by(|a, b| a.rows_per_second.total_cmp(&b.rows_per_second))?;
    let slowest = *moments.iter().min_by(|a, b| a.rows_per_second.total_cmp(&b.rows_per_second))?;
    Some(Conclusion::GrowthSteps { configuration: series.configuration, fastest, slowest, last })
}

#[cfg(test)]
mod tests;
