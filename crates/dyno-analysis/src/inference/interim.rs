//! Interim analyses: decides after each block whether a run continues, with the same rules for
//! limits and questions as the report.

use crate::comparisons::{Compared, compare};
use crate::limits::limits;
use crate::model::{InterimAnalyses, LimitRow, LimitVerdict, RunEnd};
use crate::stats::group_sequential::{FIRST_INTERIM, Levels};
use crate::view::View;
use dyno_model::event::{InterimAnalysis, StopReason};
use dyno_store::{Run, RunData, StoreError};
use std::collections::BTreeMap;
use std::path::Path;

/// Probability below which a question is unlikely to be decided within the budget.
const DECISION_PROBABILITY_MIN: f64 = 0.1;

/// Analyses a run after its last measured block.
///
/// # Errors
/// If its folder cannot be read.
pub fn interim_analysis(folder: &Path, block: u32) -> Result<InterimAnalysis, StoreError> {
    Ok(analyse(Run::open(folder)?, block))
}

fn analyse(run: Run, block: u32) -> InterimAnalysis {
    let used = run.seconds_measured();
    let budget = run.plan.budget.map_or(f64::INFINITY, |budget| budget.0 as f64 / 1e9);
    // Whether another block fits into the budget does not depend on the figures.
    let is_last = used + used / f64::from(block) > budget;
    let has_budget = run.plan.budget.is_some();
    let levels = Levels::after(block, run.blocks_most, is_last);
    let share = f64::from(block) / f64::from(run.blocks_most);
    // Verdicts need the records of trials, not their files.
    let data = RunData { run, trials: BTreeMap::new(), statements: BTreeMap::new() };
    let view = View { levels, ..View::new(&data) };
    let Compared { decision_probabilities, question_count, .. } = compare(&view, share);
    // No decision before the third block, because a verdict needs three.
    let stop = if is_aborted(&view) {
        Some(StopReason::Limit)
    } else if !has_budget {
        None
    } else if question_count > 0 && decision_probabilities.is_empty() {
        Some(StopReason::Decided)
    } else if is_last {
        Some(StopReason::Budget)
    } else if question_count > 0
        && decision_probabilities.iter().all(|probability| *probability < DECISION_PROBABILITY_MIN)
    {
        Some(StopReason::Hopeless)
    } else {
        None
    };
    InterimAnalysis {
        block,
        decided: question_count - decision_probabilities.len() as u32,
        questions: question_count,
        stop,
    }
}

/// True if a limit that aborts the run failed.
fn is_aborted(view: &View<'_>) -> bool {
    let aborting = |row: &LimitRow| {
        view.plan().limits.iter().any(|limit| {
            limit.aborts
                && (limit.metric, limit.value, &limit.part) == (row.metric, row.value, &row.part)
                && limit.configurations.contains(&row.configuration)
        })
    };
    limits(view).iter().any(|row| row.verdict == LimitVerdict::Failed && aborting(row))
}

/// The report's section on interim analyses.
pub(crate) fn interim_analyses(run: &Run) -> Option<InterimAnalyses> {
    if !run.plan.has_interim_analyses() {
        return None;
    }
    let blocks = run.blocks_ended();
    let end = match run.stop().and_then(|interim_analysis| interim_analysis.stop) {
        Some(StopReason::Decided) => RunEnd::Decided,
        Some(StopReason::Hopeless) => RunEnd::Hopeless,
        Some(StopReason::Budget) => RunEnd::Budget,
        Some(StopReason::Limit) => RunEnd::Limit,
        None if blocks == run.blocks_most => RunEnd::AllBlocks,
        None => RunEnd::Unfinished,
    };
    let interim_analyses = (blocks + 1).saturating_sub(FIRST_INTERIM);
    Some(InterimAnalyses { interim_analyses, blocks, blocks_most: run.blocks_most, end })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::limit::{Limit, LimitMetric};
    use dyno_model::units::Nanos;
    use dyno_store::TrialOutcome;
    use dyno_store::fixture::Shape;

    /// Two systems at two numbers of clients after this many of eight blocks, `effect` apart on the
    /// logarithmic scale; trials vary by `scatter` in a fixed pattern.
    fn run(blocks: u32, effect: f64, scatter: f64, budget_hours: u64) -> Run {
        let shape = Shape { clients: vec![1, 8], blocks: 8, has_failures: false, ..Shape::small() };
        let mut run = shape.read().run;
        run.plan.budget = Some(Nanos(budget_hours * 3_600_000_000_000));
        run.outcomes
            .retain(|id, _| run.plan.trials.iter().any(|it| it.id == *id && it.block <= blocks));
        for outcome in run.outcomes.values_mut() {
            let TrialOutcome::Finished(record) = outcome else { continue };
            let configuration = &run.plan.configurations[record.trial.configuration];
            let pattern = [1.0, -0.4, 0.2, -1.1, 0.9, -0.6, 0.5, -0.5];
            let at = record.trial.block as usize * 3 + record.trial.configuration * 5;
            let value =
                effect * configuration.system as f64 + scatter * pattern[at % pattern.len()];
            record.weighted_commits = Some(5_000.0 * value.exp());
        }
        run
    }

    #[test]
    fn run_stops_when_decided_but_not_before_the_third_block() {
        let stop =
            |blocks, effect, scatter| analyse(run(blocks, effect, scatter, 1_000), blocks).stop;
        assert_eq!(stop(2, 0.5, 0.001), None, "too early");
        assert_eq!(stop(3, 0.5, 0.001), Some(StopReason::Decided), "different");
        assert_eq!(stop(4, 0.0, 0.001), Some(StopReason::Decided), "equivalent");
        assert_eq!(stop(3, 0.04, 0.03), None, "perhaps later");
        assert_eq!(stop(6, 0.04, 0.6), Some(StopReason::Hopeless));
    }

    #[test]
    fn a_run_ends_when_another_block_does_not_fit_into_the_budget() {
        let interim_analysis = analyse(run(4, 0.04, 0.1, 0), 4);
        assert_eq!(
            (interim_analysis.stop, interim_analysis.decided, interim_analysis.questions),
            (Some(StopReason::Budget), 0, 1)
        );
    }

    #[test]
    fn a_broken_limit_ends_a_run_without_a_budget_only_where_it_says_so() {
        let stop = |value: f64, aborts: bool| {
            let mut run = run(4, 0.0, 0.02, 0);
            run.plan.budget = None;
            let configurations = vec![0, 1];
            run.plan.limits = vec![Limit {
                metric: LimitMetric::Throughput,
                value,
                part: None,
                configurations,
                aborts,
            }];
            analyse(run, 4).stop
        };
        let far = 5_000.0;
        assert_eq!(
            [stop(far, true), stop(far, false), stop(1.0, true)],
            [Some(StopReason::Limit), None, None]
        );
    }

    #[test]
    fn a_report_judges_as_the_look_that_ended_the_run_and_says_so() {
        let mut run = run(4, 0.06, 0.03, 1_000);
        let judged = |run: Run| {
            let data = RunData { run, trials: BTreeMap::new(), statements: BTreeMap::new() };
            let model = crate::analyse(&data);
            (model.questions[0].effect, model.interim_analyses)
        };
        let interim_analysis = analyse(run.clone(), 4);
        run.interim_analyses.push(interim_analysis);
        let mut budget = run.clone();
        budget.interim_analyses =
            vec![InterimAnalysis { stop: Some(StopReason::Budget), ..interim_analysis }];
        let once = {
            let mut run = run.clone();
            run.plan.budget = None;
            run
        };
        let (at_interim, interim_analyses) = judged(run);
        let (at_last, _) = judged(budget);
        let (alone, none) = judged(once);
        let p = [alone, at_last, at_interim].map(|it| it.p.expect("tested"));
        assert!(
            p[0] <= p[1] * 1.01 && p[1] < p[2] * 0.8,
            "the earlier the look, the more a p-value is corrected: {p:?}"
        );
        assert_eq!(none, None);
        let interim_analyses = interim_analyses.expect("a budget");
        assert_eq!(
            (
                interim_analyses.interim_analyses,
                interim_analyses.blocks,
                interim_analyses.blocks_most
            ),
            (2, 4, 8)
        );
    }
}
