//! Workloads that decide by themselves what becomes of a client after a failure, and that use the connection as they like.

use dyno_drivers::{Connection, Discard, Driver};
use dyno_engine::random::Random;
use dyno_engine::workload::{AuditFacts, ClientId, DataSet, NoData, StatementText, Verdict, Workload};
use dyno_engine::{LoadInput, LoadRecord, Session, run_load};
use dyno_model::audit::AuditCheck;
use dyno_model::event::Listener;
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::plan::{LoadPlan, StopRule};
use dyno_model::target::{Endpoint, Engine, Target};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Every client runs its transactions; the third one of client 0 fails with this verdict.
struct Failing {
    verdict: Verdict,
    /// Raised when another client went on after the failure.
    has_gone_on: Arc<AtomicBool>,
    has_failed: AtomicBool,
}

impl Workload for Failing {
    type Client = ClientId;
    type Baseline = ();

    fn kinds(&self) -> Vec<&'static str> {
        vec!["select"]
    }

    fn begin(&self) -> Option<&'static str> {
        None
    }

    fn statements(&self) -> Vec<StatementText> {
        Vec::new()
    }

    fn data(&self) -> &dyn DataSet {
        &NoData
    }

    fn client(&self, id: ClientId) -> ClientId {
        id
    }

    async fn transaction(
        &self,
        client: &mut ClientId,
        sequence: u64,
        session: &mut Session,
        _random: &mut Random,
    ) -> Result<(), OperationFailure> {
        if client.0 == 0 && sequence == 2 {
            self.has_failed.store(true, Ordering::Relaxed);
            // What counts as an attempt is the workload's to say.
            session.retried(FailureKind::Serialization);
            return Err(OperationFailure::new(FailureKind::DuplicateKey, "made up"));
        }
        if client.0 == 1 && self.has_failed.load(Ordering::Relaxed) {
            self.has_gone_on.store(true, Ordering::Relaxed);
        }
        session.reconnect().await?;
        session.measure(0, async |connection| connection.query("SELECT 1", &mut Discard).await).await?;
        session.give_way().await;
        assert!(session.intended_start() <= session.now());
        session.touch();
        Ok(())
    }

    fn verdict(&self, _client: &ClientId, _failure: &OperationFailure) -> Verdict {
        self.verdict
    }

    async fn baseline(&self, _connection: &mut Connection) -> Result<(), OperationFailure> {
        Ok(())
    }

    async fn audit(
        &self,
        _connection: &mut Connection,
        _facts: &AuditFacts<'_, ()>,
    ) -> Result<Vec<AuditCheck>, OperationFailure> {
        Ok(Vec::new())
    }
}

struct Silence;

impl Listener for Silence {}

/// Two clients of ten transactions each; the record, and whether the other client went on.
fn run(verdict: Verdict) -> (LoadRecord, bool) {
    let has_gone_on = Arc::new(AtomicBool::new(false));
    let workload =
        Failing { verdict, has_gone_on: Arc::clone(&has_gone_on), has_failed: AtomicBool::new(false) };
    let load = LoadPlan { workers: Some(1), ..LoadPlan::new(StopRule::TransactionsPerClient(10)) };
    let interrupts = AtomicUsize::new(0);
    let input = LoadInput::new("verdict", 2, &load, 1, &interrupts);
    let target = Target::new(Engine::Null, Endpoint::InProcess);
    let record = run_load(workload, &[target], &input, &mut Silence).expect("the null driver always answers");
    assert_eq!(record.ledger.check(), [""; 0]);
    (record, has_gone_on.load(Ordering::Relaxed))
}

#[test]
fn a_client_may_go_on_after_a_failure_that_would_end_it() {
    let (record, has_gone_on) = run(Verdict::GoesOn);
    assert_eq!((record.ledger.committed, record.ledger.failed, record.ledger.retries), (19, 1, 1));
    assert!(has_gone_on && record.fatal.is_none());
    assert_eq!(record.ledger.statements[0].ok, 19);
}

#[test]
fn a_client_may_end_alone() {
    let (record, has_gone_on) = run(Verdict::EndsClient);
    assert_eq!((record.ledger.committed, record.ledger.failed), (12, 1));
    assert!(has_gone_on && record.fatal.is_none() && record.facts.stopped.is_none());
    assert!(!record.is_cut_off);
}

#[test]
fn a_client_may_end_the_run() {
    let (record, _) = run(Verdict::EndsRun);
    assert_eq!(record.fatal.expect("the failure is kept").client, ClientId(0));
    assert!(record.facts.stopped.is_some());
    assert!(record.ledger.committed < 19);
}

#[test]
fn without_a_verdict_the_policy_decides() {
    // A duplicate key is counted, and the client goes on.
    let (record, _) = run(Verdict::Policy);
    assert_eq!((record.ledger.committed, record.ledger.failed), (19, 1));
}
