//! The files of a run's trials: response times, timeline, and the monitor's samples.

use crate::errors::{self, ErrorLine};
use crate::hlog::{self, CountedInterval, TrialHistograms};
use crate::layout::{
    ERRORS_FILE, LATENCY_FILE, MONITOR_FILE, SESSIONS_FILE, TIMELINE_FILE, TRIALS_FOLDER, path_name,
};
use crate::monitor;
use crate::problem::{Problem, Problems};
use crate::run::{Run, TrialOutcome};
use crate::timeline::{self, TimelineLine};
use dyno_files::RESULT_MAX;
use dyno_model::compact_histogram::CompactHistogram;
use dyno_model::monitor::MonitorSample;
use dyno_model::plan::Plan;
use dyno_model::record::TrialRecord;
use hdrhistogram::Histogram;
use std::collections::BTreeMap;
use std::io::{self, BufReader};
use std::path::Path;

/// A run with the files of its trials: the input of a report.
#[derive(Debug)]
pub struct RunData {
    /// The folder without these files; its problems include theirs.
    pub run: Run,
    /// Files of the trials that ended, by id; each has an outcome in `run`.
    pub trials: BTreeMap<String, TrialData>,
    /// Histograms of statements by configuration, in the workload's order. Valid trials are merged
    /// while they are read, so that not all of them are in memory at once.
    pub statements: BTreeMap<usize, Vec<(String, CompactHistogram)>>,
}

/// The files of a trial that ended.
#[derive(Debug)]
pub struct TrialData {
    /// Response times of its transactions, from the interval log.
    pub response_times: Histogram<u64>,
    /// Open loop: ages of arrivals without a commit, from the interval log.
    pub censored: Histogram<u64>,
    /// Transactions by interval, from the interval log.
    pub intervals: Vec<CountedInterval>,
    /// Timeline.
    pub timeline: Vec<TimelineLine>,
    /// Errors over time. Older folders have none.
    pub errors: Vec<ErrorLine>,
    /// Samples of the monitor, in order of time; totals as their increase since the first sample.
    /// Empty without a monitor.
    pub samples: Vec<MonitorSample>,
    /// Samples of the server's sessions, in order of time.
    pub sessions: Vec<MonitorSample>,
}

/// Whether it is a problem when a file is missing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Presence {
    Required,
    Optional,
}

impl Run {
    /// Also reads the files of all trials.
    #[must_use]
    pub fn read_trials(mut self) -> RunData {
        let mut trials = BTreeMap::new();
        let mut statements: BTreeMap<usize, Vec<(String, CompactHistogram)>> = BTreeMap::new();
        let outcomes = std::mem::take(&mut self.outcomes);
        for (id, outcome) in &outcomes {
            let histograms = self.read_latency(id, outcome);
            let timeline = self.read_lines(id, TIMELINE_FILE, presence(outcome), timeline::parse);
            if let TrialOutcome::Finished(record) = outcome
                && record.is_valid()
            {
                add_statements(
                    statements.entry(record.trial.configuration).or_default(),
                    record,
                    &histograms,
                );
            }
            let errors = self.read_lines(id, ERRORS_FILE, Presence::Optional, errors::parse);
            let samples = self.read_lines(id, MONITOR_FILE, Presence::Optional, monitor::parse);
            let sessions =
                self.read_lines(id, SESSIONS_FILE, Presence::Optional, monitor::parse_sessions);
            let TrialHistograms { response_times, censored, intervals, .. } = histograms;
            let files = TrialData {
                response_times,
                censored,
                intervals,
                timeline,
                errors,
                samples,
                sessions,
            };
            trials.insert(id.clone(), files);
        }
        self.outcomes = outcomes;
        RunData { run: self, trials, statements }
    }

    /// Calls `each` with every trial's record, its timeline and its samples of sessions, one at a
    /// time, so that not all are in memory at once. Problems of these files are added to
    /// [`Run::problems`].
    pub fn each_timeline(
        &mut self,
        mut judge: impl FnMut(&Plan, &mut TrialRecord, &[TimelineLine], &[MonitorSample]),
    ) {
        let mut outcomes = std::mem::take(&mut self.outcomes);
        for (id, outcome) in &mut outcomes {
            let timeline = self.read_lines(id, TIMELINE_FILE, presence(outcome), timeline::parse);
            let sessions =
                self.read_lines(id, SESSIONS_FILE, Presence::Optional, monitor::parse_sessions);
            if let TrialOutcome::Finished(record) = outcome {
                judge(&self.plan, record, &timeline, &sessions);
            }
        }
        self.outcomes = outcomes;
    }

    /// Reads the lines of a trial's file.
    fn read_lines<T>(
        &mut self,
        id: &str,
        file: &str,
        presence: Presence,
        parse: fn(&str) -> (Vec<T>, Problems),
    ) -> Vec<T> {
        let bytes = self.read_file(id, file, presence, |path| dyno_files::read(path, RESULT_MAX));
        let (lines, problems) = parse(&String::from_utf8_lossy(&bytes));
        self.note_problems(id, file, problems);
        lines
    }

    /// Reads a trial's file, all at once or as `read` does; nothing when it is not there.
    fn read_file<T: Default>(
        &mut self,
        id: &str,
        file: &str,
        presence: Presence,
        read: impl FnOnce(&Path) -> io::Result<T>,
    ) -> T {
        let path = self.folder.join(TRIALS_FOLDER).join(path_name(id)).join(file);
        read(&path).unwrap_or_else(|error| {
            if presence == Presence::Required || error.kind() != io::ErrorKind::NotFound {
                self.problems.push(Problem::new(
                    format_args!("{TRIALS_FOLDER}/{id}/{file}"),
                    error.to_string(),
                ));
            }
            T::default()
        })
    }

    /// Adds the unreadable lines of a trial's file to the problems.
    fn note_problems(&mut self, id: &str, file: &str, problems: Problems) {
        let name = format!("{TRIALS_FOLDER}/{id}/{file}");
        self.problems.extend(
            problems.into_iter().map(|(line, damage)| Problem::at_line(&name, line, damage)),
        );
    }

    fn read_latency(&mut self, id: &str, outcome: &TrialOutcome) -> TrialHistograms {
        let log = self.read_file(id, LATENCY_FILE, presence(outcome), |path| {
            dyno_files::open(path, RESULT_MAX).map(Some)
        });
        let (histograms, mut problems) = match log {
            Some(log) => hlog::parse(BufReader::new(log)),
            None => hlog::parse(io::empty()),
        };
        if let TrialOutcome::Finished(record) = outcome
            && problems.is_empty()
        {
            let (commits, ages) = (histograms.response_times.len(), histograms.censored.len());
            let response = record.open_loop.and_then(|open_loop| open_loop.response);
            let what = if histograms.lines > 0 && commits != record.transaction_latency.count {
                let count = record.transaction_latency.count;
                Some(format!("holds {commits} transactions where the trial's record has {count}"))
            } else if let Some(response) = response.filter(|response| ages != response.censored) {
                let count = response.censored;
                Some(format!(
                    "holds ages of {ages} arrivals without a commit where the trial's record has \
                     {count}"
                ))
            } else {
                None
            };
            problems.extend(what.map(|what| (histograms.lines, what.into())));
        }
        self.note_problems(id, LATENCY_FILE, problems);
        histograms
    }
}

/// Trials with commits have these files. A failed trial may have none; a finished one without
/// commits has none either.
fn presence(outcome: &TrialOutcome) -> Presence {
    // Imported trials have fewer files.
    match outcome {
        TrialOutcome::Finished(it) if it.counters.committed > 0 && !it.is_imported() => {
            Presence::Required
        }
        _ => Presence::Optional,
    }
}

/// Adds a trial's statements to those of its configuration, in the workload's order.
fn add_statements(
    sums: &mut Vec<(String, CompactHistogram)>,
    record: &TrialRecord,
    trial: &TrialHistograms,
) {
    // A script may have thousands; most are at the same position as in the previous trial.
    for (at, statement) in record.statements.iter().enumerate() {
        let Some(histogram) = trial.statement(&statement.name) else { continue };
        let is_it = |(name, _): &(String, CompactHistogram)| *name == statement.name;
        let here = sums.get(at).is_some_and(is_it).then_some(at);
        let is_new = here.is_none() && sums.len() == at;
        let position = here.or_else(|| if is_new { None } else { sums.iter().position(is_it) });
        let position = position.unwrap_or_else(|| {
            sums.push((statement.name.clone(), CompactHistogram::default()));
            sums.len() - 1
        });
        sums[position].1.add(histogram);
    }
}
