//! The clients that a trial measures: clients of a native workload, or threads of a script.

use crate::measure::load::TrialError;
use crate::measure::partial_result::AuditState;
use crate::measure::worker_pool::{StuckThreadPolicy, WorkerPool};
use crate::recording::{SampleNames, Totals};
use crate::settling::OpenSessions;
use crate::workload::AuditFacts;
use dyno_drivers::Connection;
use dyno_model::audit::AuditCheck;
use dyno_model::catalog::Growth;
use dyno_model::failure::OperationFailure;
use dyno_model::history::History;
use dyno_model::record::BenchmarkFacts;
use dyno_model::units::Nanos;
use std::sync::Arc;
use std::time::Duration;

/// The clients that a trial measures.
pub(crate) trait Clients {
    /// The state of the data before the trial, as far as the audit needs it.
    type Baseline;

    /// Names of the kinds of statements, and of the transactions that have any.
    fn kinds(&self) -> SampleNames;

    /// Mean think time before a transaction of this name, if it differs from the load's think time.
    fn think(&self, _name: u16) -> Option<Nanos> {
        None
    }

    /// Starts the threads.
    fn spawn(&self, worker_pool: &mut WorkerPool<'_>) -> Result<(), TrialError>;

    /// How threads that do not end are handled.
    fn stuck_threads(&self) -> StuckThreadPolicy {
        StuckThreadPolicy::Await
    }

    /// How long they may take to be ready; `None`: as long as each connection may.
    fn ready_limit(&self) -> Option<Duration> {
        None
    }

    /// The sessions that they have opened, for each node. Empty for scripts, whose sessions are not
    /// tracked.
    fn sessions(&self) -> Vec<&OpenSessions> {
        Vec::new()
    }

    /// Number of databases that the clients use, each on a separate node; 1 if there is only one.
    fn databases(&self) -> usize {
        1
    }

    /// In the process of a generator: the data about its clients that the audit needs.
    fn audit_state(&self) -> AuditState {
        AuditState::default()
    }

    /// In the coordinator: adds the result of [`Self::audit_state`] of a generator.
    fn import_audit_state(&self, _state: AuditState) {}

    async fn baseline(
        &self,
        database: usize,
        observer: &mut Connection,
    ) -> Result<Self::Baseline, OperationFailure>;

    /// As [`Workload::sent_as_text`](crate::workload::Workload::sent_as_text).
    fn sent_as_text(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// As [`Workload::benchmark`](crate::workload::Workload::benchmark).
    fn benchmark(&self, _baseline: &Self::Baseline) -> Option<BenchmarkFacts> {
        None
    }

    fn growth(&self, _baseline: &Self::Baseline) -> Option<Growth> {
        None
    }

    /// The history of their reads and writes, if the workload records one. Called after the clients
    /// have ended.
    fn history(&self) -> Option<Arc<History>> {
        None
    }

    /// The totals of the clients of one database, taken from those of all clients.
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
