//! A run's data, arranged for lookup.

use crate::estimate::estimate_among;
use crate::judgement::{self, Judged};
use crate::lines::lines;
use crate::model::{Estimate, LineName};
use crate::standing::Standing;
use crate::stats::looks::Levels;
use dyno_model::event::{Look, StopReason};
use dyno_model::finding::{Finding, Severity};
use dyno_model::latency;
use dyno_model::plan::{Metric, Plan, Treatment};
use dyno_model::record::TrialRecord;
use dyno_model::response::Responses;
use dyno_store::{Run, RunData, TrialData, TrialOutcome};
use std::collections::BTreeMap;

/// A run's data, arranged for lookup.
pub(crate) struct View<'a> {
    pub(crate) run: &'a Run,
    /// Its trials' files.
    pub(crate) data: &'a RunData,
    pub(crate) lines: Vec<LineName>,
    /// Line of each treatment.
    pub(crate) line_of: Vec<usize>,
    /// Records of measured trials by treatment, in run order.
    pub(crate) records: BTreeMap<usize, Vec<&'a TrialRecord>>,
    /// What became of each treatment's trials.
    pub(crate) standings: Vec<Standing<'a>>,
    /// Doubts about measured trials and how steady these were, by id.
    pub(crate) judged: BTreeMap<&'a str, Judged>,
    /// At which look at the data it is judged.
    pub(crate) levels: Levels,
    /// Transactions of each treatment's valid trials, merged.
    pub(crate) merged: Vec<Responses>,
}

impl<'a> View<'a> {
    pub(crate) fn new(data: &'a RunData) -> Self {
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
        let (levels, merged) = (levels(run), Vec::new());
        let mut view = Self { run, data, lines, line_of, records, standings, judged, levels, merged };
        view.merged = (0..run.plan.treatments.len())
            .map(|treatment| {
                let mut merged = Responses::default();
                view.responses(treatment).for_each(|responses| merged.add(&responses));
                merged
            })
            .collect();
        view
    }

    pub(crate) fn plan(&self) -> &'a Plan {
        &self.run.plan
    }

    pub(crate) fn measured(&self, treatment: usize) -> &[&'a TrialRecord] {
        self.records.get(&treatment).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn valid(&self, treatment: usize) -> impl Iterator<Item = &'a TrialRecord> {
        self.measured(treatment).iter().copied().filter(|record| record.is_valid())
    }

    /// A trial's doubts: what follows from its record, what was noticed while it was measured, and what its course says.
    pub(crate) fn findings<'r>(&'r self, record: &'r TrialRecord) -> &'r [Finding] {
        self.judged.get(record.trial.id.as_str()).map_or(&record.findings, |judged| &judged.findings)
    }

    /// The weight of a trial's worst doubt.
    pub(crate) fn worst(&self, record: &TrialRecord) -> Option<Severity> {
        self.findings(record).iter().map(|finding| record.severity(finding)).max()
    }

    pub(crate) fn treatments(&self) -> impl Iterator<Item = (usize, &'a Treatment)> {
        self.run.plan.treatments.iter().enumerate()
    }

    /// What the files of a treatment's valid trials say of everything that arrived.
    pub(crate) fn responses(&self, treatment: usize) -> impl Iterator<Item = Responses> {
        let data = self.data;
        self.valid(treatment)
            .filter_map(|record| Some(responses(record, data.trials.get(&record.trial.id)?)))
            .filter(|responses| responses.count() > 0)
    }

    /// Throughput is that of every valid trial, 0 where nothing was committed. Times are those of the trials that are compared; when one of them has
    /// too few transactions for a percentile, the treatment has none.
    pub(crate) fn estimate(&self, treatment: usize, metric: Metric) -> Option<Estimate> {
        match metric {
            Metric::Throughput => estimate_among(self.valid(treatment), metric),
            _ => {
                let figures = self.standings[treatment].figures(metric)?;
                estimate_among(figures.into_iter().map(|(record, _)| record), metric)
            }
        }
    }
}

/// The levels at which a run is judged: those of the look that ended it, or of the blocks that are there.
fn levels(run: &Run) -> Levels {
    match (run.plan.is_looked_at(), run.stop()) {
        (false, _) => Levels::ONCE,
        (_, Some(Look { block, stop, .. })) => {
            Levels::after(block, run.blocks_most, stop == Some(StopReason::Budget))
        }
        (_, None) => Levels::after(run.blocks_ended().max(1), run.blocks_most, false),
    }
}

/// What a trial's files say of everything that arrived.
fn responses(record: &TrialRecord, trial: &TrialData) -> Responses {
    let mut responses = Responses { committed: trial.transaction.clone(), censored: trial.censored.clone() };
    if let Some(open_loop) = record.open_loop
        && open_loop.response.is_none()
    {
        // Older versions kept no ages: nothing is known of these but that they took some time.
        let unknown = open_loop.unstarted + record.ledger.failed + record.ledger.unfinished;
        let _ = responses.censored.record_n(latency::LOWEST_NANOS, unknown);
    }
    responses
}
