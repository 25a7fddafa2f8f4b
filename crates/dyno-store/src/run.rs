//! Reads a run from its folder: plan, environment, spec and event log, also when the run was cut
//! short. Nothing is derived except the warnings about trials, which are evaluated anew by the
//! rules of this version from the records.

use crate::blocks::{self, Span};
use crate::clock::seconds_between;
use crate::environment::Environment;
use crate::error::StoreError;
use crate::layout::{ENVIRONMENT_FILE, EVENTS_FILE, FORMAT_FILE, PLAN_FILE, SPEC_FILE};
use crate::masked::masked_json;
use crate::problem::{Damage, Problem};
use crate::timeline::shortened;
use dyno_files::RESULT_MAX;
use dyno_model::event::{Event, InterimAnalysis, StartTimes};
use dyno_model::judge::{self, TrialRequirements};
use dyno_model::mask::masked;
use dyno_model::plan::{FORMAT, Plan};
use dyno_model::reason::Reason;
use dyno_model::record::TrialRecord;
use dyno_model::search::{LoadStep, SearchRecord};
use dyno_model::version::ServerVersion;
use dyno_model::warning::Warning;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A run without the files of its trials. Comparing and resuming runs needs no more; for a report
/// [`Run::read_trials`] adds the rest.
#[derive(Debug, Clone)]
pub struct Run {
    /// The folder as named by the caller.
    pub folder: PathBuf,
    /// Name of the folder.
    pub name: String,
    /// The plan.
    pub plan: Plan,
    /// Machine and program.
    pub environment: Environment,
    /// The spec as written.
    pub spec: String,
    /// Version of dyno that measured; empty when the run never began.
    pub dyno_version: String,
    /// Time of the first event, RFC 3339; empty when there is none.
    pub started_at: String,
    /// Time of the last event, RFC 3339; empty when there is none.
    pub ended_at: String,
    /// True when the event log holds the end of the run.
    pub has_ended: bool,
    /// True when the user ended the run early.
    pub is_interrupted: bool,
    /// Version and settings that each system reported last, by name.
    pub systems: BTreeMap<String, SystemReport>,
    /// Original values of settings that were changed on a system and not restored, by system name.
    pub changed_settings: BTreeMap<String, BTreeMap<String, String>>,
    /// The maximum number of blocks. The plan holds that many until interim results end the run.
    pub blocks_most: u32,
    /// Interim analyses, in order.
    pub interim_analyses: Vec<InterimAnalysis>,
    /// Warnings about the whole run.
    pub warnings: Vec<Warning>,
    /// Outcomes of the trials that ended, by id. A trial of the plan without an outcome is missing.
    /// Of several attempts at a trial the last one counts as soon as it begins: the files in the
    /// trial's folder belong to it and must not be combined with anything else.
    pub outcomes: BTreeMap<String, TrialOutcome>,
    /// The load steps of trials that search for the highest load, by trial.
    pub stepped: BTreeMap<String, Vec<LoadStep>>,
    /// When, and in which boot of the machine, the trials of `outcomes` were measured.
    pub(crate) spans: BTreeMap<String, Span>,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

/// What a system reported about itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SystemReport {
    /// Version.
    pub version: ServerVersion,
    /// Settings read back; ` | ` separates the values of a setting that differs between starts.
    pub settings: BTreeMap<String, String>,
    /// Names of requested settings that it cannot report.
    pub unread: BTreeSet<String>,
    /// Why it failed, if it did.
    pub failure: Option<Reason>,
    /// How long its starts took.
    pub starts: Vec<StartTimes>,
}

/// How a trial ended.
#[derive(Debug, Clone, PartialEq)]
pub enum TrialOutcome {
    /// With results.
    Finished(Box<TrialRecord>),
    /// Without results.
    Failed {
        /// Why.
        reason: Reason,
        /// The search for the highest load, when no load passed.
        search: Option<Box<SearchRecord>>,
    },
}

#[derive(Deserialize)]
struct Stamped {
    at: String,
    #[serde(flatten)]
    event: Event,
}

/// What every line of the event log has.
#[derive(Deserialize)]
struct Head {
    at: String,
    event: String,
}

/// Parses a line of the event log. An internally tagged enum makes serde buffer the whole line as
/// generic values before it knows the variant. The record of a trial may have thousands of
/// statements, and the buffer takes several times the memory of the record, so the event's name is
/// read first and the record is then parsed directly.
fn stamped(line: &[u8]) -> serde_json::Result<Stamped> {
    let Head { at, event } = parsed(line)?;
    match event.as_str() {
        "trial-finished" => Ok(Stamped { at, event: Event::TrialFinished(parsed(line)?) }),
        _ => parsed(line),
    }
}

impl Run {
    /// Reads format, plan, spec, environment and events.
    ///
    /// # Errors
    /// When this is not a results folder, was written by a newer version of dyno, or its plan
    /// cannot be read. Other damage is reported in [`Run::problems`].
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        check_format(folder)?;
        let plan = read_plan(folder)?;
        let mut problems = Vec::new();
        let environment = read_or(folder, ENVIRONMENT_FILE, &mut problems).map_or_else(
            Environment::default,
            |text| {
                parsed(text.as_bytes()).unwrap_or_else(|error| {
                    let (line, text) = (error.line(), error.to_string());
                    problems.push(Problem::at_line(ENVIRONMENT_FILE, line, text));
                    Environment::default()
                })
            },
        );
        let spec = read_or(folder, SPEC_FILE, &mut problems).unwrap_or_default();
        let spec = masked(&spec).into_owned();
        let blocks_most = plan.blocks;
        let mut run = Self {
            folder: folder.to_owned(),
            name: run_name(folder),
            plan,
            environment,
            spec,
            dyno_version: String::new(),
            started_at: String::new(),
            ended_at: String::new(),
            has_ended: false,
            is_interrupted: false,
            systems: BTreeMap::new(),
            changed_settings: BTreeMap::new(),
            blocks_most,
            interim_analyses: Vec::new(),
            warnings: Vec::new(),
            outcomes: BTreeMap::new(),
            stepped: BTreeMap::new(),
            spans: BTreeMap::new(),
            problems,
        };
        match dyno_files::read(&folder.join(EVENTS_FILE), RESULT_MAX) {
            Ok(bytes) => {
                run.read_events(&bytes);
                if let Some(last) = run.stop() {
                    run.plan.end_after(last.block);
                }
                let doubts = blocks::doubts(&run.plan, &run.spans);
                run.warnings.extend(doubts);
            }
            Err(error) => run.problems.push(Problem::new(EVENTS_FILE, error.to_string())),
        }
        // Applies to records of every command and version.
        for outcome in run.outcomes.values_mut() {
            if let TrialOutcome::Finished(record) = outcome {
                record.warnings =
                    judge::rejudge(record, &TrialRequirements::of(&run.plan, &record.trial));
            }
        }
        Ok(run)
    }

    /// The interim analysis that ended the run, if one did.
    #[must_use]
    pub fn stop(&self) -> Option<InterimAnalysis> {
        self.interim_analyses
            .last()
            .copied()
            .filter(|interim_analysis| interim_analysis.stop.is_some())
    }

    /// Number of leading blocks in which every trial has ended.
    #[must_use]
    pub fn blocks_ended(&self) -> u32 {
        let open = self.plan.trials.iter().filter(|trial| !self.outcomes.contains_key(&trial.id));
        open.map(|trial| trial.block - 1).min().unwrap_or(self.plan.blocks)
    }

    /// Machine time of the trials that count, with starts and loading, in seconds.
    #[must_use]
    pub fn seconds_measured(&self) -> f64 {
        self.spans.values().filter_map(|span| seconds_between(&span.begun_at, &span.ended_at)).sum()
    }

    /// Reads all lines. A truncated last line is what a killed run leaves; any other broken line is
    /// damage.
    fn read_events(&mut self, bytes: &[u8]) {
        let mut span = Span::default();
        for (i, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let line_number = i + 1;
            if !line.ends_with(b"\n") {
                self.problems.push(Problem::at_line(EVENTS_FILE, line_number, Damage::LastLineCut));
                break;
            }
            match stamped(line) {
                Ok(stamped) => {
                    if let Err(what) = self.take(stamped, &mut span) {
                        self.problems.push(Problem::at_line(EVENTS_FILE, line_number, what));
                    }
                }
                Err(error) => {
                    let beginning = shortened(masked(&String::from_utf8_lossy(line)).trim_end());
                    let what = format!("{error} in `{beginning}`");
                    self.problems.push(Problem::at_line(EVENTS_FILE, line_number, what));
                }
            }
        }
    }

    /// Processes the next event; `span` belongs to the trial being measured.
    fn take(&mut self, Stamped { at, event }: Stamped, span: &mut Span) -> Result<(), String> {
        if self.started_at.is_empty() {
            self.started_at.clone_from(&at);
        }
        self.ended_at = at;
        match event {
            Event::RunStarted { dyno_version, boot, .. } => {
                self.dyno_version = dyno_version;
                span.boot = boot;
                // A resumed run begins again in the same log.
                self.has_ended = false;
                self.is_interrupted = false;
            }
            Event::SystemReady { system, version, settings, unread, start } => {
                let report = self.systems.entry(system).or_default();
                report.starts.extend(start);
                report.version = version;
                report.unread.extend(unread);
                for (name, value) in settings {
                    match report.settings.get_mut(&name) {
                        // Levels of factors are values of the same setting in different starts.
                        Some(values) => add_value(values, &value),
                        None => {
                            report.settings.insert(name, value);
                        }
                    }
                }
            }
            Event::SettingsNoted { system, settings } => {
                self.changed_settings.insert(system, settings);
            }
            Event::SettingsRestored { system, .. } => {
                self.changed_settings.remove(&system);
            }
            Event::SystemFailed { system, reason } => {
                self.systems.entry(system).or_default().failure = Some(reason);
            }
            Event::TrialStarted { trial } => {
                self.outcomes.remove(&trial);
                self.spans.remove(&trial);
                span.begun_at.clone_from(&self.ended_at);
            }
            Event::TrialFinished(record) => {
                let planned = self.plan.trials.iter().find(|planned| planned.id == record.trial.id);
                if planned != Some(&record.trial) {
                    return Err(format!("trial {} does not exist in {PLAN_FILE}", record.trial.id));
                }
                span.ended_at.clone_from(&self.ended_at);
                self.spans.insert(record.trial.id.clone(), span.clone());
                self.outcomes.insert(record.trial.id.clone(), TrialOutcome::Finished(record));
            }
            Event::TrialFailed { trial, reason, search } => {
                if !self.plan.trials.iter().any(|planned| planned.id == trial) {
                    return Err(format!("trial {trial} does not exist in {PLAN_FILE}"));
                }
                self.outcomes.insert(trial, TrialOutcome::Failed { reason, search });
            }
            Event::InterimAnalysis(interim_analysis) => {
                self.interim_analyses.push(interim_analysis);
            }
            // One that is raised each time data is loaded.
            Event::RunWarning(warning) if self.warnings.contains(&warning) => {}
            Event::RunWarning(warning) => self.warnings.push(warning),
            Event::RunFinished { is_interrupted, .. } => {
                self.has_ended = true;
                self.is_interrupted = is_interrupted;
            }
            Event::SystemStarting { .. }
            | Event::SystemStopped { .. }
            | Event::PhaseStarted { .. }
            | Event::Progress { .. } => {}
            Event::Stepped { trial, step_number: number, step } => {
                let steps = self.stepped.entry(trial).or_default();
                // The first step of a trial that is repeated.
                steps.truncate(number.saturating_sub(1));
                steps.push(step);
            }
        }
        Ok(())
    }
}

/// Separates the values that a setting had in different starts.
pub(crate) const OR: &str = " | ";

/// Adds a value to those that a setting had.
pub fn add_value(values: &mut String, value: &str) {
    if !values.split(OR).any(|known| known == value) {
        values.push_str(OR);
        values.push_str(value);
    }
}

fn run_name(folder: &Path) -> String {
    // `.` and `results/..` have no name.
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn read_or(folder: &Path, file: &str, problems: &mut Vec<Problem>) -> Option<String> {
    match dyno_files::read(&folder.join(file), RESULT_MAX) {
        Ok(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) => {
            problems.push(Problem::new(file, error.to_string()));
            None
        }
    }
}

fn check_format(folder: &Path) -> Result<(), StoreError> {
    let (path, bytes) = read_needed(folder, FORMAT_FILE)?;
    let text = String::from_utf8_lossy(&bytes);
    let found = text.trim().parse::<u32>().map_err(|_| StoreError::Corrupt {
        path,
        line: 1,
        what: format!(
            "the format version must be a whole number, not `{}`",
            shortened(text.trim())
        ),
    })?;
    if found > FORMAT {
        return Err(StoreError::NewerFormat { path: folder.to_owned(), found, known: FORMAT });
    }
    Ok(())
}

/// Reads a file that every results folder has.
fn read_needed(folder: &Path, missing: &'static str) -> Result<(PathBuf, Vec<u8>), StoreError> {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    let path = folder.join(missing);
    match dyno_files::read(&path, RESULT_MAX) {
        Ok(bytes) => Ok((path, bytes)),
        Err(_) if !folder.exists() => Err(StoreError::NoFolder { path: folder.to_owned() }),
        Err(error) if matches!(error.kind(), NotFound | NotADirectory) => {
            Err(StoreError::NoResults { path: folder.to_owned(), missing })
        }
        Err(error) => Err(StoreError::io("read", &path)(error)),
    }
}

/// Parses JSON and masks passwords, which older versions wrote.
fn parsed<T: DeserializeOwned>(bytes: &[u8]) -> serde_json::Result<T> {
    match str::from_utf8(bytes) {
        Ok(text) => serde_json::from_str(&masked_json(text)),
        Err(_) => serde_json::from_slice(bytes),
    }
}

fn read_plan(folder: &Path) -> Result<Plan, StoreError> {
    let (path, bytes) = read_needed(folder, PLAN_FILE)?;
    let plan: Plan = parsed(&bytes).map_err(|error| StoreError::Corrupt {
        path: path.clone(),
        line: error.line(),
        what: error.to_string(),
    })?;
    check_indices(&plan).map_err(|what| StoreError::Corrupt { path, line: 1, what })?;
    Ok(plan)
}

/// Checks every reference by index, which the analysis relies on.
fn check_indices(plan: &Plan) -> Result<(), String> {
    for (i, configuration) in plan.configurations.iter().enumerate() {
        if configuration.system >= plan.systems.len() {
            return Err(format!(
                "configuration {i} refers to system {}, which does not exist",
                configuration.system
            ));
        }
        if configuration.levels.len() != plan.factors.len() {
            return Err(format!(
                "configuration {i} has {} levels for {} factors",
                configuration.levels.len(),
                plan.factors.len()
            ));
        }
    }
    for trial in &plan.trials {
        if trial.configuration >= plan.configurations.len() {
            return Err(format!(
                "trial {} refers to configuration {}, which does not exist",
                trial.id, trial.configuration
            ));
        }
    }
    Ok(())
}
