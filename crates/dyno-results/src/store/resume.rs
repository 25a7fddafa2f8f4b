//! Going on with a run that was killed or interrupted: in the same folder, with the same plan, at the first trial without
//! figures.

use super::clock::machine_clock;
use super::run::{Run, TrialOutcome};
use super::writer::RunWriter;
use super::{EVENTS_FILE, StoreError, TRIALS_FOLDER, path_name};
use dyno_model::finding::Finding;
use dyno_model::record::TrialRecord;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Folder for what half-measured trials left.
pub const SET_ASIDE_FOLDER: &str = "set-aside";

impl Run {
    /// Trials that have figures and need not be measured again. A trial that failed is measured again, and so is the one that
    /// an interruption cut short.
    #[must_use]
    pub fn done(&self) -> BTreeSet<String> {
        let finished = self.plan.trials.iter().filter_map(|trial| match self.outcomes.get(&trial.id)? {
            TrialOutcome::Finished(record) => Some(record.as_ref()),
            TrialOutcome::Failed { .. } => None,
        });
        let finished: Vec<&TrialRecord> = finished.collect();
        let is_cut = |record: &TrialRecord| {
            record.findings.iter().any(|finding| matches!(finding, Finding::CutShort { .. }))
        };
        let cut =
            finished.last().filter(|record| self.is_interrupted && is_cut(record)).map(|last| &last.trial.id);
        finished.iter().map(|record| &record.trial.id).filter(|id| Some(*id) != cut).cloned().collect()
    }
}

impl RunWriter {
    /// Goes on writing into the folder of a run that has ended before its time. What half-measured trials left is moved to
    /// [`SET_ASIDE_FOLDER`], and a last line of the event log that was not written to its end is cut off.
    ///
    /// # Errors
    /// [`StoreError::InUse`] while another dyno writes there; when this is no results folder, or it cannot be written.
    pub fn resume(folder: &Path) -> Result<Self, StoreError> {
        let path = folder.join(EVENTS_FILE);
        // Locked before it is read: a run that still goes on must not be taken for a dead one.
        Run::open(folder)?;
        let events = File::options().append(true).open(&path).map_err(StoreError::io("write", &path))?;
        super::writer::lock(&events, folder)?;
        let bytes = fs::read(&path).map_err(StoreError::io("read", &path))?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        events.set_len(whole as u64).map_err(StoreError::io("write", &path))?;

        let run = Run::open(folder)?;
        let done = run.done();
        for trial in run.plan.trials.iter().filter(|trial| !done.contains(&trial.id)) {
            set_aside(folder, &path_name(&trial.id))?;
        }
        let records = run.outcomes.into_iter().filter(|(id, _)| done.contains(id));
        let records = records.filter_map(|(_, outcome)| match outcome {
            TrialOutcome::Finished(record) => Some(*record),
            TrialOutcome::Failed { .. } => None,
        });
        Ok(Self::going_on(folder, run.plan, events, records.collect(), machine_clock()))
    }
}

/// Moves a trial's folder away, if there is one.
fn set_aside(folder: &Path, name: &str) -> Result<(), StoreError> {
    let from = folder.join(TRIALS_FOLDER).join(name);
    if !from.exists() {
        return Ok(());
    }
    let aside = folder.join(SET_ASIDE_FOLDER);
    fs::create_dir_all(&aside).map_err(StoreError::io("make folder", &aside))?;
    for number in 1.. {
        let to = aside.join(format!("{name}-{number}"));
        if to.exists() {
            continue;
        }
        return fs::rename(&from, &to).map_err(StoreError::io("rename to", &to));
    }
    Err(StoreError::io("rename", &from)(io::Error::other("no number is free")))
}
