//! `--results`: stores the run as a results folder of dyno, one trial of one configuration, for
//! `dyno report`.

use super::scene::RunSetup;
use crate::script::Script;
use crate::statistics::Tally;
use dyno_engine::LoadRecord;
use dyno_model::catalog::{OptionValue, WorkloadOptions};
use dyno_model::plan::{LoadPlan, Trial};
use dyno_model::record::TrialRecord;
use dyno_model::schema::Schema;
use dyno_model::single::SingleTrial;
use dyno_model::target::Target;
use dyno_store::{SingleRun, StoreError};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// Name of the experiment.
const NAME: &str = "pgbench";

/// Creates `root/pgbench/<utc time>-<id>/`.
///
/// # Errors
/// When it cannot be created.
pub(super) fn create(
    root: &Path,
    scene: &RunSetup,
    load: &LoadPlan,
    target: &Target,
) -> Result<SingleRun, StoreError> {
    SingleRun::create(root, trial(scene, load, target), &spec(scene), scene.server_version.clone())
}

/// The trial's record. Aborted clients, and a tally that differs from the engine's counters, raise
/// a warning.
pub(super) fn record(
    record: &LoadRecord,
    aborted: u32,
    tally: Tally,
    schema: Option<Schema>,
) -> impl FnOnce(Trial, String, String) -> TrialRecord + use<'_> {
    move |trial, started_at, version| {
        let is_whole = aborted == 0 && !record.is_cut_off;
        let mut record = TrialRecord { schema, ..record.trial_record(trial, started_at, version) };
        if is_whole {
            let facts = record.facts.get_or_insert_default();
            facts.unbalanced.extend(tally.differences(&record.counters));
        }
        if aborted > 0 {
            let facts = record.facts.get_or_insert_default();
            facts.problems.push(format!("{aborted} clients were aborted").into());
        }
        record
    }
}

fn trial(scene: &RunSetup, load: &LoadPlan, target: &Target) -> SingleTrial {
    let names: Vec<&str> =
        scene.program.scripts.iter().map(|script| script.name.as_str()).collect();
    // As on the command line, a weight of 1 is omitted.
    let weighted = scene.program.scripts.iter().map(|script| match script.weight {
        1 => script.name.clone(),
        weight => format!("{}@{weight}", script.name),
    });
    let options = BTreeMap::from([
        ("scripts".to_owned(), OptionValue::Text(weighted.collect::<Vec<_>>().join(", "))),
        ("tries_max".to_owned(), OptionValue::Integer(scene.options.style.tries_max.into())),
    ]);
    SingleTrial {
        name: NAME.to_owned(),
        title: format!("pgbench: {}", names.join(", ")),
        description: String::new(),
        seed: scene.seed,
        system: target.engine.to_string(),
        target: target.clone(),
        clients: scene.options.clients,
        options: WorkloadOptions(options),
        load: load.clone(),
    }
}

/// Stored in place of a spec: the executed scripts, and the command-line options that are in no
/// plan.
fn spec(scene: &RunSetup) -> String {
    let mut text =
        String::from("# A run of dyno pgbench. This file is not a spec and cannot be run again.\n");
    for Script { name, weight, source, .. } in &scene.program.scripts {
        write!(text, "\n# script {name}, weight {weight}\n{source}\n")
            .expect("writing to memory does not fail");
    }
    text
}
