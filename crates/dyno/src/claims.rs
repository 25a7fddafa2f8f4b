//! Whether the databases of a run are still its own, and those that it only reads unchanged.

use crate::data::Missing;
use crate::system::Ready;
use crate::systems::Systems;
use dyno_host::counters::WriteMarks;
use dyno_host::marker::ClaimOptions;
use dyno_model::event::Listener;
use dyno_model::plan::{DataPolicy, SystemSource};
use dyno_model::record::{TrialEnd, TrialRecord};
use dyno_model::warning::Warning;
use std::time::{Duration, Instant};

/// How long the sessions of scripts, which nobody waits for, may take to end at the server.
const ENDING: Duration = Duration::from_secs(2);
/// Pause between two questions.
const PAUSE: Duration = Duration::from_millis(50);

/// Whether sessions of others are connected, once those of the trial have ended.
fn has_foreign_sessions(ready: &Ready) -> bool {
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
    /// What a system's database is claimed with.
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

    /// Whether the databases of a system that are claimed are still this run's.
    ///
    /// # Errors
    /// When another run uses one, in words.
    pub(crate) fn check_claims(&mut self, system: usize) -> Result<(), String> {
        let is_marked = self.data_policy(system) != DataPolicy::Existing;
        self.ready(system).map_or(Ok(()), |ready| ready.check_claims(is_marked))
    }

    /// The figures of a trial whose databases are as they should be.
    ///
    /// # Errors
    /// Why it has none, or why they say nothing.
    pub(crate) fn check_after(
        &mut self,
        system: usize,
        before: &[WriteMarks],
        measured: Result<TrialRecord, Missing>,
        listener: &mut dyn Listener,
    ) -> Result<TrialRecord, Missing> {
        self.check_unchanged(system, before, listener).map_err(Missing::Trial)?;
        let record = measured?;
        if record.end != TrialEnd::System && record.end != TrialEnd::User {
            // Figures of data that another run has taken over say nothing.
            self.check_claims(system)?;
        }
        Ok(record)
    }

    /// Sees whether databases were changed that a trial was only to read. When nobody else can have
    /// done it, nothing more is sent to the system.
    ///
    /// # Errors
    /// When they were, by the trial.
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
            self.tell_once(vec![Warning::ChangedByOthers { database }], listener);
            return Ok(());
        }
        let reason = format!(
            "the trial changed the database {database:?}, which it was only to read, and no other \
             session was connected when it ended\n\
             hint: use an account without the right to write, or give --yes-write-to {database}"
        );
        self.forbid(system, &reason);
        Err(reason)
    }

    /// Tells which databases of a system could not be locked.
    pub(crate) fn tell_unlocked(&mut self, system: usize, listener: &mut dyn Listener) {
        let unlocked = self.ready(system).map_or_else(Vec::new, |ready| ready.unlocked().collect());
        self.tell_once(unlocked, listener);
    }
}
