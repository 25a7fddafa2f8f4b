//! Workloads that decide on their own what happens to a client after a failure, and that use the
//! connection freely.

use crate::bench::{NOBODY, doing, null, send};
use dyno_engine::random::Random;
use dyno_engine::workload::{AfterFailure, ClientId};
use dyno_engine::{LoadInput, LoadRecord, Session, run_load};
use dyno_model::failure::FailureKind;
use dyno_model::plan::{LoadPlan, StopRule};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Two clients of ten transactions each; the third transaction of client 0 fails with this verdict.
/// Returns the record, and whether the other client continued.
fn run(verdict: AfterFailure) -> (LoadRecord, bool) {
    let has_gone_on = Arc::new(AtomicBool::new(false));
    let (raised, has_failed) = (Arc::clone(&has_gone_on), AtomicBool::new(false));
    let failing =
        doing(async move |client: ClientId, sequence, session: &mut Session, _: &mut Random| {
            if client.0 == 0 && sequence == 2 {
                has_failed.store(true, Ordering::Relaxed);
                // The workload decides what counts as an attempt.
                session.retried(FailureKind::Serialization);
                return Err(FailureKind::DuplicateKey.failure("made up"));
            }
            if client.0 == 1 && has_failed.load(Ordering::Relaxed) {
                raised.store(true, Ordering::Relaxed);
            }
            session.reconnect().await?;
            send(session, "SELECT 1").await?;
            session.yield_now().await;
            assert!(session.intended_start() <= session.now());
            session.extend_to_now();
            Ok(())
        });
    let load = LoadPlan { workers: Some(1), ..LoadPlan::new(StopRule::TransactionsPerClient(10)) };
    let input = LoadInput::new("verdict", 2, &load, 1, &NOBODY);
    let record = run_load(failing.but(verdict), &[null("")], &input, &mut ());
    let record = record.expect("the null driver always answers");
    assert_eq!(record.counters.check(), [""; 0]);
    (record, has_gone_on.load(Ordering::Relaxed))
}

#[test]
fn a_client_may_go_on_after_a_failure_that_would_end_it() {
    let (record, has_gone_on) = run(AfterFailure::Continue);
    assert_eq!(
        (record.counters.committed, record.counters.failed, record.counters.retries),
        (19, 1, 1)
    );
    assert!(has_gone_on && record.fatal.is_none());
    assert_eq!(record.counters.statements[0].ok, 19);
}

#[test]
fn a_client_may_end_alone() {
    let (record, has_gone_on) = run(AfterFailure::EndClient);
    assert_eq!((record.counters.committed, record.counters.failed), (12, 1));
    assert!(has_gone_on && record.fatal.is_none() && record.facts.stopped.is_none());
    assert!(!record.is_cut_off);
}

#[test]
fn a_client_may_end_the_run() {
    let (record, _) = run(AfterFailure::EndRun);
    assert_eq!(record.fatal.expect("the failure is kept").client, ClientId(0));
    assert!(record.facts.stopped.is_some());
    assert!(record.counters.committed < 19);
}

#[test]
fn without_a_verdict_the_policy_decides() {
    // A duplicate key is counted, and the client continues.
    let (record, _) = run(AfterFailure::RetryPolicy);
    assert_eq!((record.counters.committed, record.counters.failed), (19, 1));
}
