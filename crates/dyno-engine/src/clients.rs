//! Whose transactions a trial measures: clients of a native workload, or threads of a script.

use crate::measure::load::TrialError;
use crate::measure::worker_pool::{Ending, WorkerPool};
use crate::recording::{Kinds, Totals};
use crate::settling::OpenSessions;
use crate::workload::AuditFacts;
use dyno_drivers::Connection;
use dyno_model::audit::AuditCheck;
use dyno_model::catalog::Growth;
use dyno_model::failure::OperationFailure;
use dyno_model::history::History;
use dyno_model::units::Nanos;
use std::sync::Arc;
use std::time::Duration;

/// Whose transactions a trial measures.
pub(crate) trait Clients {
    /// What the audit needs to know of the data before the trial.
    type Baseline;

    /// Names of the kinds of statements, and of the transactions that have any.
    fn kinds(&self) -> Kinds;

    /// How long clients wait on average before a transaction of this name, where that is not the
    /// load's think time.
    fn think(&self, _name: u16) -> Option<Nanos> {
        None
    }

    /// Starts the threads.
    fn spawn(&self, worker_pool: &mut WorkerPool<'_>) -> Result<(), TrialError>;

    /// What happens to threads that do not end.
    fn ending(&self) -> Ending {
        Ending::Await
    }

    /// How long they may take to be ready; `None`: as long as each connection may.
    fn ready_limit(&self) -> Option<Duration> {
        None
    }

    /// Which sessions they have opened on each of the nodes, as far as that is known: a script
    /// connects as it likes.
    fn sessions(&self) -> Vec<&OpenSessions> {
        Vec::new()
    }

    /// How many databases they are spread over, each on a node of its own; 1 where they are not.
    fn databases(&self) -> usize {
        1
    }

    async fn baseline(
        &self,
        database: usize,
        observer: &mut Connection,
    ) -> Result<Self::Baseline, OperationFailure>;

    /// As [`Workload::sent_as_text`](crate::workload::Workload::sent_as_text).
    fn sent_as_text(&self) -> Vec<&'static str> {
        Vec::new()
    }

    fn growth(&self, _baseline: &Self::Baseline) -> Option<Growth> {
        None
    }

    /// What they read and wrote, where they write it down. They have ended.
    fn history(&self) -> Option<Arc<History>> {
        None
    }

    /// What was counted in all of those of one database.
    fn totals(&self, _database: usize, all: &Totals) -> Totals {
        all.clone()
    }

    async fn audit(
        &self,
        database: usize,
        observer: &mut Connection,
        facts: &AuditFacts<'_, Self::Baseline>,
    ) -> Result<Vec<AuditCheck>, OperationFailure>;
}
