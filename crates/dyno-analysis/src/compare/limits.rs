//! Results of the limits of both sides.

use super::model::{LimitPair, SideName};
use crate::limits::limits;
use crate::model::LimitRow;
use crate::view::View;
use dyno_model::limit::LimitPart;
use dyno_store::{Run, RunData};
use std::collections::BTreeMap;

/// Every limit of either side, with its worst verdict over all runs and configurations of each
/// side.
pub(super) fn limit_pairs(base: &[Run], new: &[Run]) -> Vec<LimitPair> {
    let mut pairs: Vec<LimitPair> = Vec::new();
    let rows = |runs: &[Run]| runs.iter().flat_map(of_run).collect::<Vec<_>>();
    let sides = [(SideName::Base, rows(base)), (SideName::New, rows(new))];
    for (side, row) in
        sides.into_iter().flat_map(|(side, rows)| rows.into_iter().map(move |row| (side, row)))
    {
        let is_it =
            |it: &LimitPair| (it.metric, it.value, &it.part) == (row.metric, row.value, &row.part);
        let index = pairs.iter().position(is_it).unwrap_or_else(|| {
            let (metric, value, part) = (row.metric, row.value, row.part.clone());
            pairs.push(LimitPair { metric, value, part, base: None, new: None });
            pairs.len() - 1
        });
        let known =
            if side == SideName::New { &mut pairs[index].new } else { &mut pairs[index].base };
        *known = Some(row.verdict).max(*known);
    }
    pairs
}

/// The limits of a run. Limits of stages need trial files, which a comparison does not read.
fn of_run(run: &Run) -> Vec<LimitRow> {
    if run.plan.limits.is_empty() {
        return Vec::new();
    }
    let data = RunData { run: run.clone(), trials: BTreeMap::new(), statements: BTreeMap::new() };
    let rows = limits(&View::new(&data)).into_iter();
    rows.filter(|row| !matches!(row.part, Some(LimitPart::Stage(_)))).collect()
}
