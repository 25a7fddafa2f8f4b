//! Writes a results folder during a run.

use crate::clock::{Clock, folder_time, rfc3339};
use crate::disk::{MachineDisk, set_aside, sync_folder};
use crate::environment::Environment;
use crate::error::StoreError;
use crate::errors;
use crate::history;
use crate::hlog::LogEncoder;
use crate::layout::{
    ENVIRONMENT_FILE, ERRORS_FILE, EVENTS_FILE, FORMAT_FILE, HISTORY_FILE, LATENCY_FILE,
    MONITOR_FILE, PLAN_FILE, SERVER_LOGS_FOLDER, SESSIONS_FILE, SPEC_FILE, SUMMARY_FILE,
    TIMELINE_FILE, TRIALS_FOLDER, path_name,
};
use crate::masked::masked_json;
use crate::monitor::{self, MonitorEncoder};
use crate::summary::{LimitSummary, Summary};
use crate::timeline::{self, TimelineLine};
use crate::writer_thread::{Pace, Task, WriterThread};
use dyno_model::event::{Event, Listener};
use dyno_model::history::History;
use dyno_model::mask::masked;
use dyno_model::monitor::MonitorSample;
use dyno_model::plan::{FORMAT, Plan};
use dyno_model::printable::file_name;
use dyno_model::record::{IntervalRecord, TrialRecord};
use dyno_model::warning::Warning;
use jiff::Timestamp;
use serde::Serialize;
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// A listener that records everything.
///
/// The first failed write (a full disk, say) ends all writing, and the folder stays a readable
/// prefix. [`RunWriter::failure`] then returns the error; the run loop checks it and ends the run.
///
/// A separate thread writes, so that measuring never waits for a disk. Between trials the writer
/// waits for it: when a call with the end of a trial returns, its files and its line in the event
/// log would survive a power loss.
pub struct RunWriter {
    folder: PathBuf,
    plan: Plan,
    writer_thread: WriterThread,
    trial: Option<TrialFiles>,
    monitor: Option<MonitorFiles>,
    histories: Vec<PathBuf>,
    records: Vec<TrialRecord>,
    failed: usize,
    limits: Vec<LimitSummary>,
    failure: Option<StoreError>,
    clock: Clock,
}

/// Files of the trial being measured.
struct TrialFiles {
    trial: String,
    encoder: LogEncoder,
    latency: PathBuf,
    timeline: PathBuf,
    /// Created with the first errors.
    errors: Option<PathBuf>,
}

/// Files of the trial being monitored. Samples arrive shortly after the intervals they belong to.
struct MonitorFiles {
    trial: String,
    encoder: MonitorEncoder,
    values: PathBuf,
    sessions: PathBuf,
}

/// A larger writing delay is reported.
const BEHIND: Duration = Duration::from_secs(5);

/// A line of the event log.
#[derive(Serialize)]
struct Stamped<'a> {
    at: &'a str,
    #[serde(flatten)]
    event: &'a Event,
}

impl RunWriter {
    /// Creates `root/<experiment>/<utc time>-<short id>/` and writes what is known before the run.
    /// Nothing is overwritten.
    ///
    /// # Errors
    /// When the folder or its first files cannot be created.
    pub fn create(
        root: &Path,
        plan: &Plan,
        spec: &str,
        environment: &Environment,
    ) -> Result<Self, StoreError> {
        Self::create_at(&new_folder(root, &plan.name)?, plan, spec, environment)
    }

    /// As [`Self::create`], in a folder named by the user. It must not exist, or be empty.
    ///
    /// # Errors
    /// [`StoreError::NotEmpty`] when it is not empty; otherwise as [`Self::create`].
    pub fn create_at(
        folder: &Path,
        plan: &Plan,
        spec: &str,
        environment: &Environment,
    ) -> Result<Self, StoreError> {
        Self::create_with_clock(folder, plan, spec, environment, Box::new(Timestamp::now))
    }

    pub(crate) fn create_with_clock(
        folder: &Path,
        plan: &Plan,
        spec: &str,
        environment: &Environment,
        clock: Clock,
    ) -> Result<Self, StoreError> {
        fs::create_dir_all(folder).map_err(StoreError::io("make folder", folder))?;
        let mut entries = fs::read_dir(folder).map_err(StoreError::io("read folder", folder))?;
        if entries.next().is_some() {
            return Err(StoreError::NotEmpty { path: folder.to_owned() });
        }
        write_new(&folder.join(FORMAT_FILE), format!("{FORMAT}\n").as_bytes())?;
        write_new(&folder.join(SPEC_FILE), masked(spec).as_bytes())?;
        write_new(&folder.join(PLAN_FILE), &json(plan))?;
        write_new(&folder.join(ENVIRONMENT_FILE), &json(environment))?;
        for name in [TRIALS_FOLDER, SERVER_LOGS_FOLDER] {
            let path = folder.join(name);
            fs::create_dir(&path).map_err(StoreError::io("make folder", &path))?;
        }
        let path = folder.join(EVENTS_FILE);
        let events = File::create_new(&path).map_err(StoreError::io("make", &path))?;
        lock(&events, folder)?;
        // The entries of this folder and of the experiment's folder, which may be new too.
        for folder in folder.ancestors().take(3) {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            sync_folder(folder)?;
        }
        let writer_thread = WriterThread::new(Box::new(MachineDisk::with(path, events)), folder)?;
        Ok(Self::going_on(folder, plan.clone(), writer_thread, Vec::new(), clock))
    }

    /// A writer for a run that has measured trials. The event log is already open on the writer
    /// thread's disk.
    pub(crate) fn going_on(
        folder: &Path,
        plan: Plan,
        writer_thread: WriterThread,
        records: Vec<TrialRecord>,
        clock: Clock,
    ) -> Self {
        let folder = folder.to_owned();
        Self {
            folder,
            plan,
            writer_thread,
            trial: None,
            monitor: None,
            histories: Vec::new(),
            records,
            failed: 0,
            limits: Vec::new(),
            failure: None,
            clock,
        }
    }

    /// The results folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The first failed write, if any. Nothing was written after it.
    #[must_use]
    pub fn failure(&self) -> Option<&StoreError> {
        self.failure.as_ref()
    }

    /// Ends writing.
    ///
    /// # Errors
    /// The first write of the run that failed.
    pub fn finish(mut self) -> Result<PathBuf, StoreError> {
        let settled = self.writer_thread.flush(&self.folder);
        match self.failure.or(settled.err()) {
            Some(failure) => Err(failure),
            None => Ok(self.folder),
        }
    }

    fn try_event(&mut self, event: &Event) -> Result<(), StoreError> {
        match event {
            // These occur while clients work.
            Event::PhaseStarted { .. } => {
                self.log(event);
                return Ok(());
            }
            Event::TrialStarted { trial } => {
                self.records.retain(|record| record.trial.id != *trial);
                // A trial that searches may begin again.
                self.seal();
                self.log(event);
                let (folder, name) = (self.folder.clone(), path_name(trial));
                self.writer_thread.hand(Box::new(move |disk| set_aside(disk, &folder, &name)));
            }
            Event::TrialFinished(record) => {
                let mut record = finite(record);
                record.warnings.extend(fell_behind(self.writer_thread.flush(&self.folder)?));
                self.seal();
                self.log(&Event::TrialFinished(Box::new(record.clone())));
                self.records.push(record);
                self.write_summary();
            }
            Event::TrialFailed { .. } => {
                self.seal();
                self.log(event);
                self.failed += 1;
                self.write_summary();
            }
            _ => self.log(event),
        }
        self.writer_thread.flush(&self.folder).map(|_| ())
    }

    /// Adds a line to the event log. Each line is one write without buffering: a killed run has
    /// every line that was announced. The ends of trials, and the settings to restore, are durable
    /// when this returns.
    fn log(&mut self, event: &Event) {
        let at = rfc3339((self.clock)());
        let line = serde_json::to_string(&Stamped { at: &at, event }).unwrap_or_default();
        let line = format!("{}\n", masked_json(&line)).into_bytes();
        let path = self.folder.join(EVENTS_FILE);
        let is_kept = matches!(
            event,
            Event::TrialFinished(_) | Event::TrialFailed { .. } | Event::SettingsNoted { .. }
        );
        self.writer_thread.hand(Box::new(move |disk| {
            disk.append(&path, &line)?;
            if is_kept { disk.sync(&path) } else { Ok(()) }
        }));
    }

    /// Closes the files of a trial: all of them, and their names, are durable when this returns.
    fn seal(&mut self) {
        let (trial, monitor) = (self.trial.take(), self.monitor.take());
        let files = trial
            .into_iter()
            .flat_map(|files| [files.latency, files.timeline].into_iter().chain(files.errors));
        let files =
            files.chain(monitor.into_iter().flat_map(|files| [files.values, files.sessions]));
        let files: Vec<PathBuf> = files.chain(std::mem::take(&mut self.histories)).collect();
        let Some(folder) = files.first().and_then(|file| file.parent()).map(Path::to_owned) else {
            return;
        };
        let trials = self.folder.join(TRIALS_FOLDER);
        self.writer_thread.hand(Box::new(move |disk| {
            for file in &files {
                disk.sync(file)?;
                disk.close(file);
            }
            disk.sync_folder(&folder)?;
            disk.sync_folder(&trials)
        }));
    }

    fn try_interval(&mut self, interval: &IntervalRecord) -> Result<(), StoreError> {
        if self.trial.as_ref().is_none_or(|files| files.trial != interval.trial) {
            self.trial = Some(self.open_trial(interval));
        }
        let Some(files) = &mut self.trial else { return Ok(()) };
        let lines = files.encoder.lines(interval).map_err(std::io::Error::other);
        let lines = lines.map_err(StoreError::io("write", &files.latency))?;
        self.writer_thread.hand(append(&files.latency, lines));
        self.writer_thread
            .hand(append(&files.timeline, timeline::line(&interval.into()).into_bytes()));
        let errors = errors::lines(interval);
        if !errors.is_empty() {
            let path = files.errors.get_or_insert_with(|| {
                let path = files.timeline.with_file_name(ERRORS_FILE);
                self.writer_thread.hand(create(&path, errors::HEADER.into()));
                path
            });
            self.writer_thread.hand(append(path, errors.into()));
        }
        Ok(())
    }

    /// Writes the timeline of a trial without response times.
    pub fn timeline(&mut self, trial: &str, lines: &[TimelineLine]) {
        let path = self.folder.join(TRIALS_FOLDER).join(path_name(trial)).join(TIMELINE_FILE);
        let text: String =
            timeline::HEADER.to_owned() + &lines.iter().map(timeline::line).collect::<String>();
        self.writer_thread.hand(create(&path, text.into()));
    }

    /// Opens the files of a trial at its first interval, which began before it was reported.
    fn open_trial(&mut self, interval: &IntervalRecord) -> TrialFiles {
        let folder = self.folder.join(TRIALS_FOLDER).join(path_name(&interval.trial));
        let age = Duration::from(interval.start).saturating_add(Duration::from(interval.length));
        let now = SystemTime::from((self.clock)());
        let encoder = LogEncoder::new(now.checked_sub(age).unwrap_or(now));
        let (latency, timeline) = (folder.join(LATENCY_FILE), folder.join(TIMELINE_FILE));
        self.writer_thread.hand(create(&latency, encoder.header.clone()));
        self.writer_thread.hand(create(&timeline, timeline::HEADER.into()));
        TrialFiles { trial: interval.trial.clone(), encoder, latency, timeline, errors: None }
    }

    fn write_sample(&mut self, sample: &MonitorSample) {
        if self.monitor.as_ref().is_none_or(|files| files.trial != sample.trial) {
            self.monitor = Some(self.open_monitor(sample));
        }
        let Some(files) = &mut self.monitor else { return };
        self.writer_thread.hand(append(&files.values, files.encoder.line(sample).into()));
        self.writer_thread.hand(append(&files.sessions, monitor::session_lines(sample).into()));
    }

    /// Opens the monitor's files of a trial at its first sample, which determines the columns.
    fn open_monitor(&mut self, sample: &MonitorSample) -> MonitorFiles {
        let folder = self.folder.join(TRIALS_FOLDER).join(path_name(&sample.trial));
        let (values, sessions) = (folder.join(MONITOR_FILE), folder.join(SESSIONS_FILE));
        let encoder = MonitorEncoder::new(sample);
        self.writer_thread.hand(create(&values, encoder.header().into()));
        self.writer_thread.hand(create(&sessions, monitor::SESSIONS_HEADER.into()));
        MonitorFiles { trial: sample.trial.clone(), encoder, values, sessions }
    }

    /// Writes a trial's history as a whole, piece by piece on the thread that writes.
    fn write_history(&mut self, trial: &str, group: Option<&str>, history: &Arc<History>) {
        let name = match group {
            None => HISTORY_FILE.to_owned(),
            Some(name) => format!("history-{}.edn", file_name(name)),
        };
        let path = self.folder.join(TRIALS_FOLDER).join(path_name(trial)).join(name);
        self.writer_thread.hand(create(&path, Vec::new()));
        self.histories.push(path.clone());
        let history = Arc::clone(history);
        self.writer_thread.hand(Box::new(move |disk| {
            history::parts(&history).try_for_each(|part| disk.append(&path, part.as_bytes()))
        }));
    }

    /// Waits until all queued writes are done, so that they can be read.
    ///
    /// # Errors
    /// The first write of the run that failed.
    pub fn flush(&mut self) -> Result<(), StoreError> {
        self.writer_thread.flush(&self.folder).map(|_| ())
    }

    /// Adds the results of the limits to the summary.
    pub fn limits(&mut self, limits: Vec<LimitSummary>) {
        self.limits = limits;
        self.write_summary();
    }

    /// Replaces the summary atomically.
    fn write_summary(&mut self) {
        let path = self.folder.join(SUMMARY_FILE);
        let summary = json(&Summary::new(&self.plan, &self.records, self.failed, &self.limits));
        self.writer_thread.hand(Box::new(move |disk| disk.replace(&path, &summary)));
    }
}

/// Appends to a file.
fn append(path: &Path, bytes: Vec<u8>) -> Task {
    let path = path.to_owned();
    Box::new(move |disk| disk.append(&path, &bytes))
}

/// Creates a file with this beginning, and its folder unless it exists.
fn create(path: &Path, beginning: Vec<u8>) -> Task {
    let path = path.to_owned();
    Box::new(move |disk| {
        if let Some(folder) = path.parent() {
            disk.make_folder(folder)?;
        }
        disk.create(&path)?;
        disk.append(&path, &beginning)
    })
}

/// Creates the unique folder `root/<name>/<utc time>-<id>`.
///
/// # Errors
/// When it cannot be created.
pub fn new_folder(root: &Path, name: &str) -> Result<PathBuf, StoreError> {
    let parent = root.join(path_name(name));
    fs::create_dir_all(&parent).map_err(StoreError::io("make folder", &parent))?;
    let time = folder_time(Timestamp::now());
    loop {
        // Four hexadecimal digits distinguish runs started in the same second; a collision is
        // retried.
        let id = RandomState::new().build_hasher().finish() & 0xffff;
        let folder = parent.join(format!("{time}-{id:04x}"));
        match fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(StoreError::io("make folder", &folder)(error)),
        }
    }
}

/// A warning when writing fell behind.
fn fell_behind(pace: Pace) -> Option<Warning> {
    let is_slow = pace.behind >= BEHIND || !pace.held_up.is_zero();
    is_slow.then_some(Warning::RecordingBehind {
        seconds: pace.behind.as_secs_f64(),
        held_up: pace.held_up.as_secs_f64(),
    })
}

impl Listener for RunWriter {
    fn event(&mut self, event: &Event) {
        if self.failure.is_some() || matches!(event, Event::Progress { .. }) {
            return;
        }
        self.failure = self.try_event(event).err();
    }

    fn interval(&mut self, interval: &IntervalRecord) {
        if self.failure.is_none() {
            self.failure = self.try_interval(interval).err();
        }
    }

    fn sample(&mut self, sample: &MonitorSample) {
        if self.failure.is_none() {
            self.write_sample(sample);
        }
    }

    fn history(&mut self, trial: &str, group: Option<&str>, history: &Arc<History>) {
        if self.failure.is_none() {
            self.write_history(trial, group, history);
        }
    }
}

/// The record with 0 for every figure that is not a number, and a warning that says so: JSON has no
/// such figures, and an unreadable line would lose the whole trial.
fn finite(record: &TrialRecord) -> TrialRecord {
    let mut record = record.clone();
    let mut replaced = Vec::new();
    let mut check = |value: &mut f64, name: &str| {
        if !value.is_finite() {
            *value = 0.0;
            replaced.push(name.to_owned());
        }
    };
    check(&mut record.transaction_latency.mean, "mean of transactions");
    check(&mut record.transaction_latency.standard_deviation, "standard deviation of transactions");
    if let Some(work) = &mut record.weighted_commits {
        check(work, "work done in the window");
    }
    for statement in &mut record.statements {
        check(&mut statement.latency.mean, "mean of a statement");
        check(&mut statement.latency.standard_deviation, "standard deviation of a statement");
    }
    if !replaced.is_empty() {
        record.warnings.push(Warning::RecordingIncomplete { what: replaced.join(", ") });
    }
    record
}

/// Indented JSON with a line end. Serialising types of the model cannot fail.
fn json<T: Serialize>(value: &T) -> Vec<u8> {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    format!("{}\n", masked_json(&text)).into_bytes()
}

/// True while a process writes a run's results. A run that begins in the same microseconds would be
/// refused, so this is for long intervals.
#[must_use]
pub fn is_in_use(folder: &Path) -> bool {
    let events = dyno_files::open(&folder.join(EVENTS_FILE), dyno_files::NO_LIMIT);
    events.is_ok_and(|it| {
        matches!(it.into_file().try_lock_shared(), Err(fs::TryLockError::WouldBlock))
    })
}

/// Locks the event log for this process until it ends. File systems without locks are trusted.
pub(crate) fn lock(events: &File, folder: &Path) -> Result<(), StoreError> {
    match events.try_lock() {
        Err(fs::TryLockError::WouldBlock) => Err(StoreError::InUse { path: folder.to_owned() }),
        _ => Ok(()),
    }
}

fn write_new(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let mut file = File::create_new(path).map_err(StoreError::io("make", path))?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(StoreError::io("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_writing_is_noted_and_a_warning_if_the_generator_waited() {
        use dyno_model::warning::Severity;
        let reported = |behind, held_up| {
            let pace =
                Pace { behind: Duration::from_secs(behind), held_up: Duration::from_secs(held_up) };
            fell_behind(pace).map(|warning| warning.severity())
        };
        assert_eq!(reported(4, 0), None);
        assert_eq!(reported(5, 0), Some(Severity::Note));
        assert_eq!(reported(1, 1), Some(Severity::Warning));
    }
}
