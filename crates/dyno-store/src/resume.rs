//! Resumes a run that was killed or interrupted: in the same folder, with the same plan, from the
//! first trial that was not fully measured.

use crate::disk::MachineDisk;
use crate::error::StoreError;
use crate::layout::EVENTS_FILE;
use crate::run::{Run, TrialOutcome};
use crate::writer::RunWriter;
use crate::writer_thread::WriterThread;
use dyno_files::RESULT_MAX;
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::path::Path;

impl Run {
    /// Trials that have results and need not be repeated. A failed trial is repeated, and so is one
    /// that the user or its system ended early.
    #[must_use]
    pub fn done(&self) -> BTreeSet<String> {
        let is_whole = |outcome: &TrialOutcome| match outcome {
            TrialOutcome::Finished(record) => record.is_whole(),
            TrialOutcome::Failed { .. } => false,
        };
        let whole = self.outcomes.iter().filter(|(_, outcome)| is_whole(outcome));
        whole.map(|(id, _)| id.clone()).collect()
    }
}

impl RunWriter {
    /// Continues writing to the folder of a run that ended early. A truncated last line of the
    /// event log is removed. What an earlier attempt at a trial left stays until the trial begins
    /// again.
    ///
    /// # Errors
    /// [`StoreError::InUse`] while another dyno process writes there; an error when this is not a
    /// results folder or it cannot be written.
    pub fn resume(folder: &Path) -> Result<Self, StoreError> {
        let path = folder.join(EVENTS_FILE);
        // Locked before it is read, so that a live run is not mistaken for a dead one.
        Run::open(folder)?;
        let events = dyno_files::append(&path, 0o666).map_err(StoreError::io("write", &path))?;
        crate::writer::lock(&events, folder)?;
        let bytes = dyno_files::read(&path, RESULT_MAX).map_err(StoreError::io("read", &path))?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        events.set_len(whole as u64).map_err(StoreError::io("write", &path))?;

        let run = Run::open(folder)?;
        let records = run.outcomes.into_values().filter_map(|outcome| match outcome {
            TrialOutcome::Finished(record) => Some(*record),
            TrialOutcome::Failed { .. } => None,
        });
        let records = records.collect();
        let writer_thread = WriterThread::new(Box::new(MachineDisk::with(path, events)), folder)?;
        Ok(Self::going_on(folder, run.plan, writer_thread, records, Box::new(Timestamp::now)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::SET_ASIDE_FOLDER;
    use crate::fixture::Shape;
    use crate::layout::TRIALS_FOLDER;
    use dyno_model::event::{Event, Listener};
    use dyno_model::record::{IntervalRecord, TrialEnd, TrialRecord};
    use dyno_model::warning::Warning;
    use std::fs;

    const FIRST: &str = "b01-001";

    /// A run of four trials that was played to its end, with records changed by `change`.
    struct Changed<F> {
        writer: RunWriter,
        change: F,
    }

    impl<F: FnMut(&mut TrialRecord)> Listener for Changed<F> {
        fn event(&mut self, event: &Event) {
            let mut event = event.clone();
            match &mut event {
                Event::TrialFinished(record) => (self.change)(record),
                Event::RunStarted { boot, .. } => "the first boot".clone_into(boot),
                _ => {}
            }
            // It was killed while it stopped its servers, so its end was not written.
            if !matches!(event, Event::RunFinished { .. }) {
                self.writer.event(&event);
            }
        }

        fn interval(&mut self, interval: &IntervalRecord) {
            self.writer.interval(interval);
        }
    }

    fn run_with(change: impl FnMut(&mut TrialRecord)) -> (tempfile::TempDir, std::path::PathBuf) {
        let shape = Shape { systems: 1, clients: vec![1, 8], blocks: 2, ..Shape::small() };
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("run");
        let environment = crate::environment::Environment::default();
        let writer = RunWriter::create_at(&folder, &shape.plan(), "", &environment).unwrap();
        let mut changed = Changed { writer, change };
        shape.play(&shape.plan(), &mut changed);
        changed.writer.finish().unwrap();
        (scratch, folder)
    }

    fn missing(folder: &Path) -> Vec<String> {
        let run = Run::open(folder).unwrap();
        let done = run.done();
        run.plan.trials.into_iter().map(|trial| trial.id).filter(|id| !done.contains(id)).collect()
    }

    #[test]
    fn a_trial_that_ended_early_is_repeated_whatever_followed() {
        for end in [TrialEnd::User, TrialEnd::System] {
            let (_scratch, folder) = run_with(|record| {
                if record.trial.id == FIRST {
                    record.end = end;
                }
            });
            assert_eq!(missing(&folder), [FIRST], "{end:?}");
        }
    }

    #[test]
    fn a_trial_that_reached_its_own_time_limit_is_not_repeated() {
        let (_scratch, folder) = run_with(|record| {
            if record.trial.id == FIRST {
                record.end = TrialEnd::Trial;
                let reason = "time limit reached".into();
                record.warnings.push(Warning::CutShort { reason });
            }
        });
        assert_eq!(missing(&folder), [""; 0]);
    }

    #[test]
    fn a_record_is_never_combined_with_files_of_a_later_attempt() {
        let (_scratch, folder) = run_with(|record| {
            if record.trial.id == FIRST {
                record.end = TrialEnd::User;
            }
        });
        let files = folder.join(TRIALS_FOLDER).join(FIRST);
        let mut writer = RunWriter::resume(&folder).unwrap();
        assert!(files.exists(), "killed here, the first attempt is all that there is");
        writer.event(&Event::RunStarted {
            trials: 4,
            dyno_version: String::new(),
            boot: String::new(),
        });
        assert!(Run::open(&folder).unwrap().outcomes.contains_key(FIRST));
        writer.event(&Event::TrialStarted { trial: FIRST.to_owned() });
        drop(writer);
        // Killed here, the trial was begun but not measured.
        let run = Run::open(&folder).unwrap();
        assert!(!run.outcomes.contains_key(FIRST), "the record of the first attempt stands");
        assert!(!files.exists() && folder.join(SET_ASIDE_FOLDER).join("b01-001-1").exists());
        assert_eq!(missing(&folder), [FIRST]);
    }

    /// A run in which the first trial begins again after its first intervals, as in a search.
    struct BegunTwice {
        writer: RunWriter,
        intervals: u32,
    }

    impl Listener for BegunTwice {
        fn event(&mut self, event: &Event) {
            self.writer.event(event);
        }

        fn interval(&mut self, interval: &IntervalRecord) {
            self.intervals += 1;
            if self.intervals == 2 {
                self.writer.event(&Event::TrialStarted { trial: interval.trial.clone() });
            }
            self.writer.interval(interval);
        }
    }

    #[test]
    fn a_trial_that_begins_again_keeps_only_the_files_of_its_last_attempt() {
        let shape = Shape { systems: 1, clients: vec![1], blocks: 1, ..Shape::small() };
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("run");
        let environment = crate::environment::Environment::default();
        let writer = RunWriter::create_at(&folder, &shape.plan(), "", &environment).unwrap();
        let mut twice = BegunTwice { writer, intervals: 0 };
        shape.play(&shape.plan(), &mut twice);
        let intervals = twice.intervals as usize;
        twice.writer.finish().unwrap();
        let lines = |path: &Path| fs::read_to_string(path).unwrap().lines().count() - 1;
        let first = folder.join(SET_ASIDE_FOLDER).join("b01-001-1").join("timeline.csv");
        let last = folder.join(TRIALS_FOLDER).join(FIRST).join("timeline.csv");
        assert_eq!((lines(&first), lines(&last)), (1, intervals - 1));
    }

    #[test]
    fn a_block_resumed_after_a_reboot_raises_a_warning() {
        let (_scratch, folder) = run_with(|record| {
            if record.trial.id == FIRST {
                record.end = TrialEnd::User;
            }
        });
        let mut run = Run::open(&folder).unwrap();
        assert_eq!(run.warnings, []);
        let Some(TrialOutcome::Finished(mut record)) = run.outcomes.remove(FIRST) else {
            panic!("it finished")
        };
        record.end = TrialEnd::Trial;
        let mut writer = RunWriter::resume(&folder).unwrap();
        let boot = "the second boot".to_owned();
        writer.event(&Event::RunStarted { trials: 4, dyno_version: String::new(), boot });
        writer.event(&Event::TrialStarted { trial: FIRST.to_owned() });
        writer.event(&Event::TrialFinished(record));
        writer.finish().unwrap();
        assert_eq!(missing(&folder), [""; 0]);
        assert_eq!(Run::open(&folder).unwrap().warnings, [Warning::BlockRestarted { block: 1 }]);
    }
}
