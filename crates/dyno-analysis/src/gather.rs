//! Pooling of several runs of the same experiment into one: repeats and runs at different numbers
//! of clients are reported together.

use crate::compare::PoolError;
use crate::compare::model::{Differing, Value};
use crate::compare::pool::{Pool, plans_differ};
use dyno_model::plan::{Configuration, Plan, Trial};
use dyno_store::environment::Environment;
use dyno_store::{Run, RunData, TrialData, TrialOutcome};
use std::collections::BTreeMap;

/// Combines several runs into one. The nth trial of a configuration over all runs, in chronological
/// order, becomes the trial of block n, so that repeats count as repeats whether they were blocks
/// of one run or separate runs.
///
/// # Errors
/// If the runs differ in more than numbers of clients and levels, or were measured on different
/// machines.
pub fn gather(mut parts: Vec<RunData>) -> Result<RunData, PoolError> {
    parts.sort_by(|a, b| (&a.run.started_at, &a.run.name).cmp(&(&b.run.started_at, &b.run.name)));
    let key = |part: &RunData| (part.run.started_at.clone(), part.run.name.clone());
    if let Some(twice) = parts.windows(2).find(|pair| key(&pair[0]) == key(&pair[1])) {
        return Err(PoolError::Twice(twice[0].run.folder.display().to_string()));
    }
    let runs: Vec<Run> = parts.iter().map(|part| part.run.clone()).collect();
    let pool = Pool::new(&runs)?;
    let first = &runs[0];
    if let Some(other) =
        runs.iter().find(|run| machine(&run.environment) != machine(&first.environment))
    {
        let [one, two] = [first, other].map(|run| Value::Text(machine(&run.environment)));
        let machine = Differing::Name("the machine".to_owned());
        return Err(plans_differ(vec![(machine, one, two)], first, other));
    }
    let plan = plan(&pool, &first.plan);
    let mut run = first.clone();
    (run.plan, run.has_ended) = (plan, true);
    run.outcomes.clear();
    run.interim_analyses.clear();
    let mut gathered = RunData { run, trials: BTreeMap::new(), statements: BTreeMap::new() };
    let mut blocks = vec![0; gathered.run.plan.configurations.len()];
    for (number, part) in parts.into_iter().enumerate() {
        add(&mut gathered, &mut blocks, number, part);
    }
    let most = blocks.into_iter().max().unwrap_or_default();
    (gathered.run.plan.blocks, gathered.run.blocks_most) = (most, most);
    Ok(gathered)
}

fn machine(environment: &Environment) -> String {
    format!(
        "{}, {} processors, {}",
        environment.cpu_model, environment.cpu_logical, environment.os_release
    )
}

/// The first plan with the systems and configurations of all plans, and no trials yet.
fn plan(pool: &Pool<'_>, first: &Plan) -> Plan {
    let system =
        |name: &str| pool.systems.iter().position(|it| it.name == name).unwrap_or_default();
    let configurations = pool.configurations.iter();
    let configurations = configurations
        .map(|it| Configuration { system: system(it.system), ..it.configuration.clone() })
        .collect();
    Plan {
        systems: pool.systems.iter().map(|system| (*system).clone()).collect(),
        configurations,
        trials: Vec::new(),
        budget: None,
        ..first.clone()
    }
}

fn add(gathered: &mut RunData, blocks: &mut [u32], part_index: usize, part: RunData) {
    let RunData { run, mut trials, statements } = part;
    let Run { plan, mut outcomes, .. } = run;
    let name = |plan: &Plan, configuration: &Configuration| {
        plan.systems[configuration.system].name.clone()
    };
    let index = |configuration: &Configuration| {
        let known = gathered.run.plan.configurations.iter().position(|it| {
            (name(&gathered.run.plan, it), &it.levels, it.clients)
                == (name(&plan, configuration), &configuration.levels, configuration.clients)
        });
        known.expect("every configuration was pooled")
    };
    let indexes: Vec<usize> = plan.configurations.iter().map(index).collect();
    for trial in plan.trials {
        let configuration = indexes[trial.configuration];
        blocks[configuration] += 1;
        let id = format!("r{:02}-{}", part_index + 1, trial.id);
        let now = Trial { id: id.clone(), block: blocks[configuration], configuration };
        if let Some(mut outcome) = outcomes.remove(&trial.id) {
            if let TrialOutcome::Finished(record) = &mut outcome {
                record.trial = now.clone();
            }
            gathered.run.outcomes.insert(id.clone(), outcome);
        }
        let files: Option<TrialData> = trials.remove(&trial.id);
        gathered.trials.extend(files.map(|files| (id, files)));
        gathered.run.plan.trials.push(now);
    }
    for (configuration, histograms) in statements {
        let merged = gathered.statements.entry(indexes[configuration]).or_default();
        for (name, histogram) in histograms {
            match merged.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => sum.add(&histogram),
                None => merged.push((name, histogram)),
            }
        }
    }
    let run_data = &mut gathered.run;
    run_data.is_interrupted |= run.is_interrupted;
    run_data.has_ended &= run.has_ended;
    run_data.ended_at = run_data.ended_at.clone().max(run.ended_at);
    // Those of the first run are already included.
    if part_index > 0 {
        run_data.warnings.extend(run.warnings);
        run_data.problems.extend(run.problems);
        for (name, report) in run.systems {
            match run_data.systems.get_mut(&name) {
                Some(known) => known.starts.extend(report.starts),
                None => drop(run_data.systems.insert(name, report)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse;
    use dyno_store::fixture::Shape;

    fn shape() -> Shape {
        Shape { clients: vec![1, 8], blocks: 3, has_failures: false, ..Shape::small() }
    }

    /// Some trials of a run, as a separate run.
    fn part(name: &str, is_kept: impl Fn(&Plan, &Trial) -> bool) -> RunData {
        let mut data = shape().read();
        let selected: Vec<Trial> = data
            .run
            .plan
            .trials
            .iter()
            .filter(|trial| is_kept(&data.run.plan, trial))
            .cloned()
            .collect();
        let is_there = |id: &String| selected.iter().any(|trial| trial.id == *id);
        data.run.outcomes.retain(|id, _| is_there(id));
        data.trials.retain(|id, _| is_there(id));
        data.run.plan.trials = selected;
        data.run.name = name.to_owned();
        data
    }

    #[test]
    fn blocks_that_were_runs_of_their_own_give_the_same_answers() {
        let parts = (1..=3)
            .map(|block| part(&format!("run {block}"), move |_, trial| trial.block == block));
        let (gathered, whole) = (gather(parts.collect()).expect("one thing"), shape().read());
        let (gathered, whole) = (analyse(&gathered), analyse(&whole));
        assert_eq!(gathered.questions, whole.questions);
        let rates = |model: &crate::model::ReportModel| {
            model
                .configurations
                .iter()
                .map(|row| (row.clients, row.figures.clone()))
                .collect::<Vec<_>>()
        };
        assert_eq!(rates(&gathered), rates(&whole));
        assert_eq!((gathered.completeness.measured, gathered.provenance.blocks), (12, 3));
    }

    #[test]
    fn runs_at_different_numbers_of_clients_make_one_curve() {
        let at = |clients: u32| {
            let mut data = part(&format!("at {clients}"), |plan, trial| {
                plan.configuration(trial).clients == clients
            });
            // Such a run has no information about the others.
            let keeps: Vec<usize> = (0..data.run.plan.configurations.len())
                .filter(|at| data.run.plan.configurations[*at].clients == clients)
                .collect();
            let index = |at: usize| keeps.iter().position(|it| *it == at).expect("kept");
            data.run
                .plan
                .trials
                .iter_mut()
                .for_each(|trial| trial.configuration = index(trial.configuration));
            for outcome in data.run.outcomes.values_mut() {
                if let TrialOutcome::Finished(record) = outcome {
                    record.trial.configuration = index(record.trial.configuration);
                }
            }
            data.run.plan.configurations.retain(|it| it.clients == clients);
            data.statements.clear();
            data
        };
        let model = analyse(&gather(vec![at(8), at(1)]).expect("one thing"));
        let rows: Vec<(u32, u32)> =
            model.configurations.iter().map(|row| (row.clients, row.trials_valid)).collect();
        assert_eq!(rows.iter().filter(|row| **row == (1, 3)).count(), 2, "{rows:?}");
        assert_eq!(rows.iter().filter(|row| **row == (8, 3)).count(), 2, "{rows:?}");
        assert!(
            model
                .panels
                .iter()
                .all(|panel| panel.series.iter().all(|series| series.points.len() == 2))
        );
    }

    #[test]
    fn gather_rejects_mismatched_runs_and_names_the_difference() {
        let refusal = |change: fn(&mut RunData)| {
            let mut other = part("other", |_, _| true);
            change(&mut other);
            gather(vec![part("one", |_, _| true), other]).expect_err("another thing").to_string()
        };
        assert!(refusal(|data| data.run.name = "one".to_owned()).contains("named twice"));
        assert!(
            refusal(|data| data.run.environment.cpu_model = "another".to_owned())
                .contains("the machine")
        );
        assert!(
            refusal(|data| data.run.plan.name = "another".to_owned())
                .contains("different experiments")
        );
        let shorter = refusal(|data| {
            data.run.plan.configurations[0].load.stop = dyno_model::plan::StopRule::Transactions(7);
        });
        assert!(shorter.contains("after 7 transactions"), "{shorter}");
    }
}
