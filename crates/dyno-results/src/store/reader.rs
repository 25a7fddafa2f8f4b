//! Reads a results folder, also one that was cut off in the middle.

use super::environment::Environment;
use super::hlog::{self, TrialHistograms};
use super::monitor;
use super::timeline::{self, TimelineLine, shortened};
use super::{
    ENVIRONMENT_FILE, EVENTS_FILE, FORMAT_FILE, LATENCY_FILE, MONITOR_FILE, PLAN_FILE, SESSIONS_FILE,
    SPEC_FILE, StoreError, TIMELINE_FILE, TRIALS_FOLDER, path_name,
};
use dyno_model::event::{Event, StartTimes};
use dyno_model::finding::Finding;
use dyno_model::latency;
use dyno_model::monitor::Sample;
use dyno_model::plan::{FORMAT, Plan};
use dyno_model::record::TrialRecord;
use hdrhistogram::Histogram;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A results folder whose plan and events were read.
#[derive(Debug)]
pub struct RunReader {
    folder: PathBuf,
    plan: Plan,
    environment: Environment,
    spec: String,
    log: EventLog,
    problems: Vec<String>,
}

/// Everything in a results folder, ready for analysis.
#[derive(Debug)]
pub struct RunData {
    /// Name of the folder.
    pub run: String,
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
    /// True when the run wrote its end.
    pub has_ended: bool,
    /// True when the user ended it.
    pub is_interrupted: bool,
    /// Version and settings each system reported last, by name.
    pub systems: BTreeMap<String, SystemReport>,
    /// Doubts about the whole run.
    pub findings: Vec<Finding>,
    /// Trials that ended, by id.
    pub trials: BTreeMap<String, TrialData>,
    /// Histograms of statements by treatment, in the workload's order, valid trials merged.
    pub statements: BTreeMap<usize, Vec<(String, Histogram<u64>)>>,
    /// What could not be read: file, line and what is wrong, as sentences without full stop.
    pub problems: Vec<String>,
}

/// What a comparison of runs rests on: everything but the series of its trials.
#[derive(Debug)]
pub struct RunFigures {
    /// The folder as it was named.
    pub folder: PathBuf,
    /// Name of the folder.
    pub run: String,
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
    /// True when the run wrote its end.
    pub has_ended: bool,
    /// Version and settings each system reported last, by name.
    pub systems: BTreeMap<String, SystemReport>,
    /// Doubts about the whole run.
    pub findings: Vec<Finding>,
    /// Trials that ended, by id.
    pub outcomes: BTreeMap<String, TrialOutcome>,
    /// What could not be read: file, line and what is wrong, as sentences without full stop.
    pub problems: Vec<String>,
}

/// What a system said of itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SystemReport {
    /// Version.
    pub version: String,
    /// Settings read back; ` | ` stands between the values of one that differs between starts.
    pub settings: BTreeMap<String, String>,
    /// Why it failed, if it did.
    pub failure: Option<String>,
    /// How long its starts took.
    pub starts: Vec<StartTimes>,
}

/// A trial that ended.
#[derive(Debug)]
pub struct TrialData {
    /// Its figures, or why there are none.
    pub outcome: TrialOutcome,
    /// Response times of its transactions, from the interval log.
    pub transaction: Histogram<u64>,
    /// Its course.
    pub timeline: Vec<TimelineLine>,
    /// What the monitor saw, in order of time; totals as their growth since the first look. Empty without a monitor.
    pub samples: Vec<Sample>,
    /// What the monitor saw of sessions, in order of time.
    pub sessions: Vec<Sample>,
}

/// How a trial ended.
#[derive(Debug, Clone, PartialEq)]
pub enum TrialOutcome {
    /// With figures.
    Finished(Box<TrialRecord>),
    /// Without.
    Failed {
        /// Why.
        reason: String,
    },
}

/// What the event log says.
#[derive(Debug, Default)]
struct EventLog {
    dyno_version: String,
    started_at: String,
    ended_at: String,
    has_ended: bool,
    is_interrupted: bool,
    systems: BTreeMap<String, SystemReport>,
    findings: Vec<Finding>,
    outcomes: BTreeMap<String, TrialOutcome>,
}

#[derive(Deserialize)]
struct Stamped {
    at: String,
    #[serde(flatten)]
    event: Event,
}

impl RunReader {
    /// Reads format, plan, spec, environment and events.
    ///
    /// # Errors
    /// When this is no results folder, was written by a newer dyno, or its plan cannot be read. Everything else that is
    /// damaged or missing is reported in [`RunData::problems`].
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        check_format(folder)?;
        let plan = read_plan(folder)?;
        let mut problems = Vec::new();
        let environment =
            read_or(folder, ENVIRONMENT_FILE, &mut problems).map_or_else(Environment::default, |text| {
                serde_json::from_str(&text).unwrap_or_else(|error| {
                    problems.push(format!("{ENVIRONMENT_FILE}, line {}: {error}", error.line()));
                    Environment::default()
                })
            });
        let spec = read_or(folder, SPEC_FILE, &mut problems).unwrap_or_default();
        let mut log = EventLog::default();
        match fs::read(folder.join(EVENTS_FILE)) {
            Ok(bytes) => log.read(&bytes, &plan, &mut problems),
            Err(error) => problems.push(format!("{EVENTS_FILE}: {error}")),
        }
        Ok(Self { folder: folder.to_owned(), plan, environment, spec, log, problems })
    }

    /// The plan.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// How the trials that ended did so, by id. What is in the plan and not here is missing.
    #[must_use]
    pub fn outcomes(&self) -> &BTreeMap<String, TrialOutcome> {
        &self.log.outcomes
    }

    /// True when the user ended the run before its time.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.log.is_interrupted
    }

    /// The spec as written.
    #[must_use]
    pub fn spec(&self) -> &str {
        &self.spec
    }

    /// Reads the files of all trials too.
    #[must_use]
    pub fn into_data(mut self) -> RunData {
        let mut trials = BTreeMap::new();
        let mut statements: BTreeMap<usize, Vec<(String, Histogram<u64>)>> = BTreeMap::new();
        for (id, outcome) in std::mem::take(&mut self.log.outcomes) {
            let (histograms, timeline) = self.read_trial(&id, &outcome);
            if let TrialOutcome::Finished(record) = &outcome
                && record.is_valid()
            {
                add_statements(statements.entry(record.trial.treatment).or_default(), record, &histograms);
            }
            let samples = self.read_optional(&id, MONITOR_FILE, monitor::parse);
            let sessions = self.read_optional(&id, SESSIONS_FILE, monitor::parse_sessions);
            let transaction = histograms.transaction;
            trials.insert(id, TrialData { outcome, transaction, timeline, samples, sessions });
        }
        RunData {
            run: run_name(&self.folder),
            plan: self.plan,
            environment: self.environment,
            spec: self.spec,
            dyno_version: self.log.dyno_version,
            started_at: self.log.started_at,
            ended_at: self.log.ended_at,
            has_ended: self.log.has_ended,
            is_interrupted: self.log.is_interrupted,
            systems: self.log.systems,
            findings: self.log.findings,
            trials,
            statements,
            problems: self.problems,
        }
    }

    /// What the event log says, without reading the files of trials.
    #[must_use]
    pub fn into_figures(self) -> RunFigures {
        RunFigures {
            run: run_name(&self.folder),
            folder: self.folder,
            plan: self.plan,
            environment: self.environment,
            spec: self.spec,
            dyno_version: self.log.dyno_version,
            started_at: self.log.started_at,
            ended_at: self.log.ended_at,
            has_ended: self.log.has_ended,
            systems: self.log.systems,
            findings: self.log.findings,
            outcomes: self.log.outcomes,
            problems: self.problems,
        }
    }

    /// Reads a file that a trial may lack.
    fn read_optional<T>(
        &mut self,
        id: &str,
        file: &str,
        parse: fn(&str) -> (Vec<T>, monitor::Problems),
    ) -> Vec<T> {
        let name = format!("{TRIALS_FOLDER}/{id}/{file}");
        let text = match fs::read(self.folder.join(TRIALS_FOLDER).join(path_name(id)).join(file)) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) => {
                if error.kind() != std::io::ErrorKind::NotFound {
                    self.problems.push(format!("{name}: {error}"));
                }
                return Vec::new();
            }
        };
        let (lines, problems) = parse(&text);
        self.problems.extend(problems.into_iter().map(|(line, what)| format!("{name}, line {line}: {what}")));
        lines
    }

    fn read_trial(&mut self, id: &str, outcome: &TrialOutcome) -> (TrialHistograms, Vec<TimelineLine>) {
        let folder = self.folder.join(TRIALS_FOLDER).join(path_name(id));
        let name = |file: &str| format!("{TRIALS_FOLDER}/{id}/{file}");
        // A failed trial may have no files; a finished one has committed something or has none either.
        let must_exist = matches!(outcome, TrialOutcome::Finished(record) if record.ledger.committed > 0);
        let mut read = |file: &str| match fs::read(folder.join(file)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !must_exist => Vec::new(),
            Err(error) => {
                self.problems.push(format!("{}: {error}", name(file)));
                Vec::new()
            }
        };
        let (latency, timeline) = (read(LATENCY_FILE), read(TIMELINE_FILE));
        let (histograms, mut latency_problems) = hlog::parse(&latency);
        if let TrialOutcome::Finished(record) = outcome
            && latency_problems.is_empty()
            && !latency.is_empty()
            && histograms.transaction.len() != record.transaction.count
        {
            let last = latency.iter().filter(|byte| **byte == b'\n').count();
            latency_problems.push((
                last,
                format!(
                    "holds {} transactions where the trial's record has {}",
                    histograms.transaction.len(),
                    record.transaction.count
                ),
            ));
        }
        let text = String::from_utf8_lossy(&timeline);
        let (lines, timeline_problems) =
            if text.is_empty() { Default::default() } else { timeline::parse(&text) };
        for (file, problems) in [(LATENCY_FILE, latency_problems), (TIMELINE_FILE, timeline_problems)] {
            let described =
                problems.into_iter().map(|(line, what)| format!("{}, line {line}: {what}", name(file)));
            self.problems.extend(described);
        }
        (histograms, lines)
    }
}

impl EventLog {
    /// Reads all lines. A last line that is cut off is what a killed run leaves; a damaged one elsewhere is damage.
    fn read(&mut self, bytes: &[u8], plan: &Plan, problems: &mut Vec<String>) {
        for (i, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let number = i + 1;
            if !line.ends_with(b"\n") {
                problems.push(format!("{EVENTS_FILE}, line {number}: the last line is cut off"));
                break;
            }
            match serde_json::from_slice::<Stamped>(line) {
                Ok(stamped) => {
                    if let Err(what) = self.take(stamped, plan) {
                        problems.push(format!("{EVENTS_FILE}, line {number}: {what}"));
                    }
                }
                Err(error) => {
                    let beginning = shortened(String::from_utf8_lossy(line).trim_end());
                    problems.push(format!("{EVENTS_FILE}, line {number}: {error} in `{beginning}`"));
                }
            }
        }
    }

    fn take(&mut self, Stamped { at, event }: Stamped, plan: &Plan) -> Result<(), String> {
        if self.started_at.is_empty() {
            self.started_at.clone_from(&at);
        }
        self.ended_at = at;
        match event {
            Event::RunStarted { dyno_version, .. } => {
                self.dyno_version = dyno_version;
                // A resumed run begins again in the same log.
                self.has_ended = false;
                self.is_interrupted = false;
            }
            Event::SystemReady { system, version, settings, start } => {
                let report = self.systems.entry(system).or_default();
                report.starts.extend(start);
                report.version = version;
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
            Event::SystemFailed { system, reason } => {
                self.systems.entry(system).or_default().failure = Some(reason);
            }
            Event::TrialFinished(record) => {
                let planned = plan.trials.iter().find(|planned| planned.id == record.trial.id);
                if planned != Some(&record.trial) {
                    return Err(format!("trial {} is not in the plan", record.trial.id));
                }
                self.outcomes.insert(record.trial.id.clone(), TrialOutcome::Finished(record));
            }
            Event::TrialFailed { trial, reason } => {
                if !plan.trials.iter().any(|planned| planned.id == trial) {
                    return Err(format!("trial {trial} is not in the plan"));
                }
                self.outcomes.insert(trial, TrialOutcome::Failed { reason });
            }
            Event::RunFinding(finding) => self.findings.push(finding),
            Event::RunFinished { is_interrupted, .. } => {
                self.has_ended = true;
                self.is_interrupted = is_interrupted;
            }
            Event::SystemStarting { .. }
            | Event::SystemStopped { .. }
            | Event::TrialStarted { .. }
            | Event::PhaseStarted { .. }
            | Event::Progress { .. } => {}
        }
        Ok(())
    }
}

/// Between the values that a setting had in different starts.
pub(crate) const OR: &str = " | ";

/// Adds a value to those that a setting had.
pub(crate) fn add_value(values: &mut String, value: &str) {
    if !values.split(OR).any(|known| known == value) {
        values.push_str(OR);
        values.push_str(value);
    }
}

/// Adds a trial's statements to its treatment's, by the workload's order.
fn add_statements(sums: &mut Vec<(String, Histogram<u64>)>, record: &TrialRecord, trial: &TrialHistograms) {
    for statement in &record.statements {
        let Some(histogram) = trial.statement(&statement.name) else { continue };
        let position = sums.iter().position(|(name, _)| *name == statement.name).unwrap_or_else(|| {
            sums.push((statement.name.clone(), latency::histogram()));
            sums.len() - 1
        });
        // Sums grow by themselves, so adding cannot fail for want of range.
        let _ = sums[position].1.add(histogram);
    }
}

fn run_name(folder: &Path) -> String {
    // `.` and `results/..` have no name of their own.
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn read_or(folder: &Path, file: &str, problems: &mut Vec<String>) -> Option<String> {
    match fs::read(folder.join(file)) {
        Ok(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) => {
            problems.push(format!("{file}: {error}"));
            None
        }
    }
}

fn check_format(folder: &Path) -> Result<(), StoreError> {
    let path = folder.join(FORMAT_FILE);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if is_absent(&error) => {
            return Err(StoreError::NoResults { path: folder.to_owned(), missing: FORMAT_FILE });
        }
        Err(error) => return Err(StoreError::io("read", &path)(error)),
    };
    let found = text.trim().parse::<u32>().map_err(|_| StoreError::Corrupt {
        path: path.clone(),
        line: 1,
        what: format!("the version of the formats must be a whole number, not `{}`", shortened(text.trim())),
    })?;
    if found > FORMAT {
        return Err(StoreError::NewerFormat { path: folder.to_owned(), found, known: FORMAT });
    }
    Ok(())
}

fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

fn read_plan(folder: &Path) -> Result<Plan, StoreError> {
    let path = folder.join(PLAN_FILE);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if is_absent(&error) => {
            return Err(StoreError::NoResults { path: folder.to_owned(), missing: PLAN_FILE });
        }
        Err(error) => return Err(StoreError::io("read", &path)(error)),
    };
    let plan: Plan = serde_json::from_slice(&bytes).map_err(|error| StoreError::Corrupt {
        path: path.clone(),
        line: error.line(),
        what: error.to_string(),
    })?;
    check_indices(&plan).map_err(|what| StoreError::Corrupt { path, line: 1, what })?;
    Ok(plan)
}

/// Everything that refers to something by index must find it: analysis relies on that.
fn check_indices(plan: &Plan) -> Result<(), String> {
    for (i, treatment) in plan.treatments.iter().enumerate() {
        if treatment.system >= plan.systems.len() {
            return Err(format!("treatment {i} refers to system {}, which is not there", treatment.system));
        }
        if treatment.levels.len() != plan.factors.len() {
            return Err(format!(
                "treatment {i} has {} levels for {} factors",
                treatment.levels.len(),
                plan.factors.len()
            ));
        }
    }
    for trial in &plan.trials {
        if trial.treatment >= plan.treatments.len() {
            return Err(format!(
                "trial {} refers to treatment {}, which is not there",
                trial.id, trial.treatment
            ));
        }
    }
    Ok(())
}
