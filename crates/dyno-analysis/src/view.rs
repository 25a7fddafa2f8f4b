//! A run's data, indexed for lookup.

use crate::eligibility::Eligibility;
use crate::estimate::estimate_trials;
use crate::judgement::{self, Judged};
use crate::model::{Estimate, SeriesName};
use crate::series::all_series;
use crate::stats::group_sequential::Levels;
use dyno_model::event::StopReason;
use dyno_model::latency;
use dyno_model::plan::{ComparisonMetric, Configuration, Plan};
use dyno_model::record::TrialRecord;
use dyno_model::response::Responses;
use dyno_model::warning::{Severity, Warning};
use dyno_store::{Run, RunData, TrialData, TrialOutcome};
use std::collections::BTreeMap;

/// A run's data, indexed for lookup.
pub(crate) struct View<'a> {
    pub(crate) run: &'a Run,
    /// The files of its trials.
    pub(crate) data: &'a RunData,
    pub(crate) series: Vec<SeriesName>,
    /// Index of the series of each configuration.
    pub(crate) series_of: Vec<usize>,
    /// Records of measured trials by configuration, in run order.
    pub(crate) records: BTreeMap<usize, Vec<&'a TrialRecord>>,
    /// Eligibility of each configuration's trials.
    pub(crate) eligibilities: Vec<Eligibility<'a>>,
    /// Warnings about measured trials and their steadiness, by trial id.
    pub(crate) judged: BTreeMap<&'a str, Judged>,
    /// Significance levels, as of the interim analysis that applies.
    pub(crate) levels: Levels,
    /// Transactions of each configuration's valid trials, merged.
    pub(crate) merged: Vec<Responses>,
}

impl<'a> View<'a> {
    pub(crate) fn new(data: &'a RunData) -> Self {
        let run = &data.run;
        let (series, series_of) = all_series(&run.plan);
        let mut records: BTreeMap<usize, Vec<&TrialRecord>> = BTreeMap::new();
        let mut judged = BTreeMap::new();
        let mut eligibilities: Vec<Eligibility<'_>> =
            run.plan.configurations.iter().map(|_| Eligibility::default()).collect();
        for trial in &run.plan.trials {
            if let Some(outcome) = run.outcomes.get(&trial.id) {
                eligibilities[trial.configuration].add(run, outcome);
            }
            if let Some(TrialOutcome::Finished(record)) = run.outcomes.get(&trial.id) {
                records.entry(trial.configuration).or_default().push(record);
                let files = data.trials.get(&trial.id);
                let (timeline, sessions): (&[_], &[_]) =
                    files.map_or((&[], &[]), |files| (&files.timeline, &files.sessions));
                let found = judgement::judge(&run.plan, record, timeline, sessions);
                judged.insert(trial.id.as_str(), found);
            }
        }
        let (levels, merged) = (levels(run), Vec::new());
        let mut view =
            Self { run, data, series, series_of, records, eligibilities, judged, levels, merged };
        view.merged = (0..run.plan.configurations.len())
            .map(|configuration| {
                let mut merged = Responses::default();
                view.responses(configuration).for_each(|responses| merged.add(&responses));
                merged
            })
            .collect();
        view
    }

    pub(crate) fn plan(&self) -> &'a Plan {
        &self.run.plan
    }

    pub(crate) fn measured_records(&self, configuration: usize) -> &[&'a TrialRecord] {
        self.records.get(&configuration).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn valid(
        &self,
        configuration: usize,
    ) -> impl Iterator<Item = &'a TrialRecord> + Clone {
        self.measured_records(configuration).iter().copied().filter(|record| record.is_valid())
    }

    /// All warnings about a trial: from its record, from the measurement itself, and from its
    /// timeline.
    pub(crate) fn warnings<'r>(&'r self, record: &'r TrialRecord) -> &'r [Warning] {
        self.judged
            .get(record.trial.id.as_str())
            .map_or(&record.warnings, |judged| &judged.warnings)
    }

    /// The severity of a trial's worst warning.
    pub(crate) fn worst(&self, record: &TrialRecord) -> Option<Severity> {
        self.warnings(record).iter().map(|warning| record.severity(warning)).max()
    }

    pub(crate) fn configurations(&self) -> impl Iterator<Item = (usize, &'a Configuration)> {
        self.run.plan.configurations.iter().enumerate()
    }

    /// The responses of a configuration's valid trials, including all arrivals.
    pub(crate) fn responses(&self, configuration: usize) -> impl Iterator<Item = Responses> {
        let data = self.data;
        self.valid(configuration)
            .filter_map(|record| Some(responses(record, data.trials.get(&record.trial.id)?)))
            .filter(|responses| responses.count() > 0)
    }

    /// Throughput includes every valid trial, with 0 where nothing was committed. Times include
    /// only the compared trials; if one of these has too few transactions for a percentile, the
    /// configuration has no figure.
    pub(crate) fn estimate(
        &self,
        configuration: usize,
        metric: ComparisonMetric,
    ) -> Option<Estimate> {
        match metric {
            ComparisonMetric::Throughput => estimate_trials(self.valid(configuration), metric),
            _ => {
                let figures = self.eligibilities[configuration].figures(metric)?;
                estimate_trials(figures.into_iter().map(|(record, _)| record), metric)
            }
        }
    }
}

/// The significance levels for a run: those of the interim analysis that ended it, or those for the
/// blocks measured so far.
fn levels(run: &Run) -> Levels {
    if !run.plan.has_interim_analyses() {
        return Levels::ONCE;
    }
    let analysis = run.stop();
    let is_last = analysis.is_some_and(|it| it.stop == Some(StopReason::Budget));
    let block = analysis.map_or_else(|| run.blocks_ended().max(1), |it| it.block);
    Levels::after(block, run.blocks_most, is_last)
}

/// The responses to all arrivals, from a trial's files.
fn responses(record: &TrialRecord, trial: &TrialData) -> Responses {
    let mut responses =
        Responses { committed: trial.response_times.clone(), censored: trial.censored.clone() };
    if let Some(open_loop) = record.open_loop
        && open_loop.response.is_none()
    {
        // Older versions stored no ages. It is only known that these transactions took some time.
        let unknown = open_loop.unstarted + record.counters.failed + record.counters.unfinished;
        let _ = responses.censored.record_n(latency::LOWEST_NANOS, unknown);
    }
    responses
}
