//! Imported results as a results folder for reports and comparisons.

use super::reading::{Reading, TimeSeries};
use super::sample::intervals;
use dyno_model::catalog::WorkloadOptions;
use dyno_model::event::{Event, Listener};
use dyno_model::judge::{TrialRequirements, judge};
use dyno_model::plan::{
    Claim, Configuration, FORMAT, LoadPlan, Plan, StopRule, SystemPlan, SystemSource, Trial,
    Variation, WorkloadPlan,
};
use dyno_model::record::{IntervalRecord, TrialEnd, TrialRecord};
use dyno_model::target::QueryMode;
use dyno_model::warning::Warning;
use dyno_store::environment::Environment;
use dyno_store::{RunWriter, StoreError};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A result with the name of its system and of its file.
#[derive(Debug)]
pub(crate) struct Named {
    /// Name of the system.
    pub(crate) system: String,
    /// File it was read from.
    pub(crate) file: String,
    pub(crate) reading: Reading,
}

/// Writes a results folder below `results`, or at `out`. Each system with a number of clients is a
/// configuration; its results, in their order, are its repeats. `claim` names two systems, the
/// faster one first.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn write(
    title: &str,
    readings: &[Named],
    claim: Option<(usize, usize)>,
    out: Option<&Path>,
    results: &Path,
) -> Result<PathBuf, StoreError> {
    let plan = plan(title, readings, claim);
    let environment = Environment {
        dyno_version: env!("CARGO_PKG_VERSION").to_owned(),
        ..Environment::default()
    };
    let spec = spec(readings);
    let mut writer = match out {
        Some(folder) => RunWriter::create_at(folder, &plan, &spec, &environment)?,
        None => RunWriter::create(results, &plan, &spec, &environment)?,
    };
    writer.event(&Event::RunStarted {
        trials: plan.trials.len(),
        dyno_version: env!("CARGO_PKG_VERSION").to_owned(),
        boot: String::new(),
    });
    for system in &plan.systems {
        let mut versions = readings
            .iter()
            .filter(|it| it.system == system.name)
            .map(|it| &it.reading.server_version);
        writer.event(&Event::SystemReady {
            system: system.name.clone(),
            version: versions
                .find(|version| !version.is_empty())
                .cloned()
                .unwrap_or_default()
                .into(),
            settings: BTreeMap::new(),
            unread: BTreeSet::new(),
            start: None,
        });
    }
    for (trial, named) in plan.trials.iter().zip(readings) {
        write_trial(&mut writer, &plan, trial, named);
    }
    writer.event(&Event::RunFinished { is_complete: true, is_interrupted: false });
    writer.finish()
}

/// The text stored instead of a spec.
fn spec(readings: &[Named]) -> String {
    let lines = readings
        .iter()
        .map(|it| format!("#   {}: {}, {}\n", it.system, it.file, it.reading.program));
    format!("# dyno import\n{}", lines.collect::<String>())
}

fn write_trial(writer: &mut RunWriter, plan: &Plan, trial: &Trial, named: &Named) {
    let reading = &named.reading;
    writer.event(&Event::TrialStarted { trial: trial.id.clone() });
    match &reading.time_series {
        TimeSeries::Unknown => {}
        TimeSeries::Rates(lines) => writer.timeline(&trial.id, lines),
        TimeSeries::Times(intervals) => {
            intervals.iter().cloned().for_each(|it| interval(writer, trial, it));
        }
        TimeSeries::Samples(samples) => {
            intervals(samples).for_each(|it| interval(writer, trial, it));
        }
    }
    let mut record = TrialRecord {
        trial: trial.clone(),
        started_at: reading.started_at.clone(),
        server_version: reading.server_version.clone(),
        window_length: reading.window_length,
        counters: reading.counters.clone(),
        transaction_latency: reading.latency,
        weighted_commits: reading.rate.map(|rate| rate * reading.window_length.as_secs_f64()),
        end: TrialEnd::Trial,
        ..TrialRecord::default()
    };
    record.warnings = judge(&record, &TrialRequirements::of(plan, trial));
    record.warnings.extend(reading.warnings.iter().cloned());
    record.warnings.push(Warning::Imported { source: reading.program.clone() });
    writer.event(&Event::TrialFinished(Box::new(record)));
}

fn interval(writer: &mut RunWriter, trial: &Trial, mut interval: IntervalRecord) {
    interval.trial.clone_from(&trial.id);
    writer.interval(&interval);
}

fn plan(title: &str, readings: &[Named], claim: Option<(usize, usize)>) -> Plan {
    let mut systems: Vec<SystemPlan> = Vec::new();
    let mut configurations: Vec<Configuration> = Vec::new();
    let mut repeats: Vec<u32> = Vec::new();
    let mut trials: Vec<Trial> = Vec::new();
    for Named { system, reading, .. } in readings {
        let of_name = systems.iter().position(|it| it.name == *system);
        let system = of_name.unwrap_or_else(|| {
            systems.push(SystemPlan {
                name: system.clone(),
                source: SystemSource::Imported,
                query_mode: QueryMode::default(),
                connect_timeout: Default::default(),
            });
            systems.len() - 1
        });
        let clients = reading.clients.unwrap_or_default();
        let same = |it: &Configuration| (it.system, it.clients) == (system, clients);
        let configuration = configurations.iter().position(same).unwrap_or_else(|| {
            configurations.push(Configuration {
                system,
                clients,
                workload: WorkloadPlan::new("imported", WorkloadOptions::default()),
                load: LoadPlan::new(StopRule::Duration(reading.window_length)),
                levels: Vec::new(),
                variation: Variation::default(),
                background: Vec::new(),
            });
            repeats.push(0);
            configurations.len() - 1
        });
        repeats[configuration] += 1;
        let block = repeats[configuration];
        let number = 1 + trials.iter().filter(|trial| trial.block == block).count();
        trials.push(Trial { id: format!("b{block:02}-{number:03}"), block, configuration });
    }
    Plan {
        format: FORMAT,
        name: "imported".to_owned(),
        title: title.to_owned(),
        blocks: repeats.iter().copied().max().unwrap_or(1),
        systems,
        configurations,
        trials,
        claim: claim.map(|(faster, slower)| Claim { faster, slower }),
        ..Plan::default()
    }
}
