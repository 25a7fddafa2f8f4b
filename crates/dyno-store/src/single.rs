//! Writes the folder of a run with one trial of one system, with the events that a run has around
//! its trial.

use crate::clock::utc_now;
use crate::environment::{Environment, boot_id};
use crate::error::StoreError;
use crate::writer::RunWriter;
use dyno_model::event::{Event, Listener};
use dyno_model::judge::{TrialRequirements, judge};
use dyno_model::plan::{Plan, Trial};
use dyno_model::reason::Reason;
use dyno_model::record::{IntervalRecord, TrialRecord};
use dyno_model::single::SingleTrial;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The results folder of a single trial while it is written. It listens to the trial's events and
/// intervals.
pub struct SingleRun {
    writer: RunWriter,
    plan: Plan,
    system: String,
    version: String,
    started_at: String,
}

impl SingleRun {
    /// Creates `root/<name>/<utc time>-<id>/`. `spec` is stored in place of a spec file; `version`
    /// is the server's.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn create(
        root: &Path,
        trial: SingleTrial,
        spec: &str,
        version: String,
    ) -> Result<Self, StoreError> {
        let plan = trial.plan();
        let mut writer = RunWriter::create(root, &plan, spec, &Environment::capture())?;
        writer.event(&Event::RunStarted {
            trials: 1,
            dyno_version: env!("CARGO_PKG_VERSION").to_owned(),
            boot: boot_id(),
        });
        let (system, trial) = (plan.systems[0].name.clone(), plan.trials[0].id.clone());
        writer.event(&Event::SystemStarting { system: system.clone() });
        let settings = BTreeMap::new();
        writer.event(&Event::SystemReady {
            system: system.clone(),
            version: version.as_str().into(),
            settings,
            unread: BTreeSet::new(),
            start: None,
        });
        writer.event(&Event::TrialStarted { trial });
        Ok(Self { writer, plan, system, version, started_at: utc_now() })
    }

    /// Writes the outcome of the run and returns the folder. `outcome` converts the trial into its
    /// record, its UTC start time and the server's version, or returns why there is none; the
    /// record is then evaluated like that of every trial.
    ///
    /// # Errors
    /// The first write that failed.
    pub fn finish(
        mut self,
        outcome: Result<impl FnOnce(Trial, String, String) -> TrialRecord, Reason>,
        is_interrupted: bool,
    ) -> Result<PathBuf, StoreError> {
        let is_measured = outcome.is_ok();
        let trial = self.plan.trials[0].clone();
        self.writer.event(&match outcome {
            Ok(record) => {
                let requirements = TrialRequirements::of(&self.plan, &trial);
                let mut record = record(trial, self.started_at, self.version);
                record.warnings = judge(&record, &requirements);
                Event::TrialFinished(Box::new(record))
            }
            Err(reason) => Event::TrialFailed { trial: trial.id, reason, search: None },
        });
        self.writer.event(&Event::SystemStopped { system: self.system });
        let is_complete = is_measured && !is_interrupted;
        self.writer.event(&Event::RunFinished { is_complete, is_interrupted });
        self.writer.finish()
    }
}

impl Listener for SingleRun {
    fn event(&mut self, event: &Event) {
        self.writer.event(event);
    }

    fn interval(&mut self, interval: &IntervalRecord) {
        self.writer.interval(interval);
    }
}
