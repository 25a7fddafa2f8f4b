//! Checks that a run still owns its databases and that read-only databases are unchanged.

use crate::data::Missing;
use crate::system::ReadySystem;
use crate::systems::Systems;
use dyno_host::HostError;
use dyno_host::counters::WriteMarks;
use dyno_host::marker::ClaimOptions;
use dyno_model::event::Listener;
use dyno_model::plan::{DataPolicy, SystemSource};
use dyno_model::record::{TrialEnd, TrialRecord};
use dyno_model::warning::Warning;
use std::time::{Duration, Instant};

/// Time that the server may need to end the sessions of scripts, whose end dyno does not await.
const ENDING: Duration = Duration::from_secs(2);
/// Pause between two queries.
const PAUSE: Duration = Duration::from_millis(50);

/// True when foreign sessions are connected after those of the trial have ended.
fn has_foreign_sessions(ready: &ReadySystem) -> bool {
    let began = Instant::now();
    while ready.foreign_sessions() > 0 {
        if began.elapsed() > ENDING {
            return true;
        }
        std::thread::sleep(PAUSE);
    }
    false
}

impl<'p> Systems<'p> {
    /// The options for claiming a system's database.
    pub(crate) fn claim_options<'a>(&self, system: usize, created_at: &'a str) -> ClaimOptions<'a>
    where
        'p: 'a,
    {
        ClaimOptions {
            experiment: &self.plan.name,
            created_at,
            yes_write_to: self.yes_write_to,
            is_shared: matches!(self.plan.systems[system].source, SystemSource::Existing(_)),
        }
    }

    /// Checks that this run still owns the claimed databases of a system.
    ///
    /// # Errors
    /// A description, when another run uses one.
    pub(crate) fn check_claims(&mut self, system: usize) -> Result<(), HostError> {
        let is_marked = self.data_policy(system) != DataPolicy::Existing;
        self.ready(system).map_or(Ok(()), |ready| ready.check_claims(is_marked))
    }

    /// Returns the record of a trial after checking its databases.
    ///
    /// # Errors
    /// The reason why the trial has no record, or why its results are invalid.
    pub(crate) fn check_after(
        &mut self,
        system: usize,
        before: &[WriteMarks],
        outcome: Result<TrialRecord, Missing>,
        listener: &mut dyn Listener,
    ) -> Result<TrialRecord, Missing> {
        self.check_unchanged(system, before, listener).map_err(Missing::trial)?;
        let record = outcome?;
        if record.end != TrialEnd::System && record.end != TrialEnd::User {
            // Results are invalid if another run has taken over the data.
            self.check_claims(system)?;
        }
        Ok(record)
    }

    /// Checks whether databases changed that the trial may only read. If no foreign session can
    /// have changed them, dyno sends nothing more to the system.
    ///
    /// # Errors
    /// When the trial changed one.
    fn check_unchanged(
        &mut self,
        system: usize,
        before: &[WriteMarks],
        listener: &mut dyn Listener,
    ) -> Result<(), String> {
        let Some(ready) = self.ready(system) else { return Ok(()) };
        let after = ready.write_marks();
        let Some((mark, _)) = before.iter().zip(&after).find(|(before, after)| before != after)
        else {
            return Ok(());
        };
        let database = mark.database.clone();
        if has_foreign_sessions(ready) {
            self.warn_once(vec![Warning::ChangedByOthers { database }], listener);
            return Ok(());
        }
        let reason = format!(
            "the trial changed the database {database:?}, which should be read-only, and no other \
             session was connected when it ended\n\
             hint: use an account without write privileges, or add --yes-write-to {database}"
        );
        self.forbid(system, &reason);
        Err(reason)
    }

    /// Reports which databases of a system could not be locked.
    pub(crate) fn report_unlocked(&mut self, system: usize, listener: &mut dyn Listener) {
        let unlocked = self.ready(system).map_or_else(Vec::new, |ready| ready.unlocked().collect());
        self.warn_once(unlocked, listener);
    }
}
