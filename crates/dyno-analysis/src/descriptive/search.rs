//! Results of saturation searches: the highest load found and every load step.

use crate::model::{EndedSearch, SearchRow, SearchStep};
use crate::view::View;
use dyno_model::plan::Trial;
use dyno_model::search::{LoadStep, SearchEnd, SearchRecord};
use dyno_store::TrialOutcome;

pub(crate) fn searches(view: &View<'_>) -> Vec<SearchRow> {
    let row = |(index, configuration): (usize, &dyno_model::plan::Configuration)| {
        let trials = || view.plan().trials.iter().filter(|trial| trial.configuration == index);
        let steps = |trial: &Trial| {
            let (id, block) = (trial.id.clone(), trial.block);
            let steps = steps(view, trial).iter();
            steps
                .map(|step| SearchStep { trial: id.clone(), block, step: step.clone() })
                .collect::<Vec<_>>()
        };
        Some(SearchRow {
            configuration: index,
            search: configuration.load.find.clone()?,
            steps: trials().flat_map(steps).collect(),
            ended: trials().filter_map(|trial| ended(view, trial)).collect(),
        })
    };
    view.configurations().filter_map(row).collect()
}

/// The search record of a completed trial.
fn record<'a>(view: &View<'a>, trial: &Trial) -> Option<&'a SearchRecord> {
    match view.run.outcomes.get(&trial.id)? {
        TrialOutcome::Finished(record) => record.search.as_ref(),
        TrialOutcome::Failed { search, .. } => search.as_deref(),
    }
}

/// The load steps of a trial. An interrupted trial has no record, but every step was stored.
fn steps<'a>(view: &View<'a>, trial: &Trial) -> &'a [LoadStep] {
    let stepped = || view.run.stepped.get(&trial.id).map_or(&[][..], Vec::as_slice);
    record(view, trial).map_or_else(stepped, |record| &record.steps)
}

fn ended(view: &View<'_>, trial: &Trial) -> Option<EndedSearch> {
    let (steps, end) = match record(view, trial) {
        Some(record) if record.found().is_some() => return None,
        Some(record) => (record.steps.len(), record.end.clone()),
        None => (steps(view, trial).len(), SearchEnd::Interrupted),
    };
    (steps > 0 || end != SearchEnd::Interrupted).then(|| EndedSearch {
        trial: trial.id.clone(),
        steps,
        end,
    })
}
