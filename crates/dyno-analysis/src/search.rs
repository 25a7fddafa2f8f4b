//! What searches for the highest load found, with every load that they tried.

use crate::model::{SearchRow, SearchStep};
use crate::view::View;
use dyno_model::record::TrialRecord;

pub(crate) fn searches(view: &View<'_>) -> Vec<SearchRow> {
    let metric = view.judged_by()[0];
    let row = |(index, treatment): (usize, &dyno_model::plan::Treatment)| {
        let steps = |record: &&TrialRecord| {
            let (trial, block) = (record.trial.id.clone(), record.trial.block);
            let steps = record.search.as_ref().map_or(&[][..], |search| &search.steps).iter();
            steps.map(|step| SearchStep { trial: trial.clone(), block, step: *step }).collect::<Vec<_>>()
        };
        Some(SearchRow {
            treatment: index,
            search: treatment.load.find?,
            found: view.estimate(index, metric).filter(|_| metric.searched().is_some()),
            steps: view.measured(index).iter().flat_map(steps).collect(),
        })
    };
    view.treatments().filter_map(row).collect()
}
