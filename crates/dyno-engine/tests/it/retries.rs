//! The fate of failed transactions when the list of errors to retry is that of sysbench.

use crate::bench::{NOBODY, SECOND, SEED, doing, load, native, null, send};
use dyno_drivers::{Discard, Driver};
use dyno_engine::random::Random;
use dyno_engine::workload::{AfterFailure, ClientId};
use dyno_engine::{FatalCause, LoadInput, LoadRecord, Session, TrialError, run_load};
use dyno_model::catalog::OptionValue;
use dyno_model::failure::FailureKind;
use dyno_model::fault::{ExpectedFaults, FaultAction};
use dyno_model::plan::{LoadPlan, StopRule};
use dyno_model::retry::{RetriedErrors, RetryPolicy};
use dyno_model::target::Target;
use dyno_model::units::Nanos;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

fn run(script: &str, kind: &str, errors: RetriedErrors, attempts_max: u32) -> LoadRecord {
    let plan = LoadPlan {
        retry: RetryPolicy::Listed(errors),
        grace: Nanos(60 * SECOND),
        attempts_max,
        ..LoadPlan::new(StopRule::Transactions(60))
    };
    let input = LoadInput::new("retries", 4, &plan, SEED, &NOBODY);
    load(native(kind, &[], 4), null(script), &input, &mut ())
}

fn sent(record: &LoadRecord, kind: &str) -> u64 {
    let statements = &record.counters.statements;
    statements.iter().find(|statement| statement.name == kind).map_or(0, |statement| statement.sent)
}

fn all() -> RetriedErrors {
    RetriedErrors { all: true, ..RetriedErrors::default() }
}

#[test]
fn a_listed_failure_is_rolled_back_and_retried_whatever_its_kind() {
    let record = run("insert.fail=duplicate-key:0.5", "oltp_write_only", all(), 100);
    assert_eq!((record.counters.committed, record.counters.failed), (60, 0));
    assert_eq!(
        record.counters.retries_by_kind[&FailureKind::DuplicateKey],
        record.counters.retries
    );
    assert_eq!(sent(&record, "rollback"), record.counters.retries);
    assert_eq!(record.counters.statement_errors(), record.counters.retries);
    let [detail] = &record.failures.0[..] else { panic!("{:?}", record.failures) };
    assert_eq!(
        (detail.failure.kind, detail.count),
        (FailureKind::DuplicateKey, record.counters.retries)
    );
    assert!(
        detail.statement.contains("insert") && detail.sql.starts_with("INSERT INTO sbtest"),
        "{detail:?}"
    );
}

#[test]
fn retries_have_a_limit_and_then_the_client_goes_on() {
    let record = run("insert.fail=duplicate-key:1", "oltp_write_only", all(), 3);
    assert_eq!((record.counters.committed, record.counters.failed), (0, 60));
    assert_eq!(record.counters.attempts, 180);
    assert_eq!(record.fatal, None);
}

#[test]
fn failures_of_the_warm_up_are_not_among_those_of_the_window() {
    let plan = LoadPlan {
        warmup: Nanos(SECOND / 5),
        attempts_max: 2,
        ..LoadPlan::new(StopRule::Duration(Nanos(SECOND / 5)))
    };
    let input = LoadInput::new("warm", 4, &plan, SEED, &NOBODY);
    let record =
        load(native("oltp_write_only", &[], 4), null("update.fail=deadlock:0.3"), &input, &mut ());
    let noted: u64 = record.failures.0.iter().map(|it| it.count).sum();
    assert!(
        noted > 0 && noted == record.counters.statement_errors(),
        "{:?} {:?}",
        record.failures,
        record.counters
    );
}

#[test]
fn unlisted_failure_ends_the_run_and_keeps_its_statement() {
    let record = run("update.fail=deadlock:0.2", "oltp_write_only", RetriedErrors::default(), 10);
    assert!(record.counters.committed < 60);
    assert!(record.facts.stopped.is_some());
    match record.fatal.clone().expect("it is kept").cause {
        FatalCause::Failure { failure, statement, sql } => {
            assert_eq!(failure.kind, FailureKind::Deadlock);
            assert!(statement.contains("update"), "{statement}");
            assert!(
                sql.is_some_and(|sql| sql.starts_with("UPDATE sbtest")),
                "not that of the rollback after it"
            );
        }
        other @ FatalCause::Script(_) => panic!("unexpected {other:?}"),
    }
    assert!(sent(&record, "rollback") >= 1, "the transaction is not left open");
}

#[test]
fn listed_connection_loss_reconnects_and_retries() {
    let errors = RetriedErrors { codes: BTreeSet::from([2013]), ..RetriedErrors::default() };
    let record = run("disconnect_after=40", "oltp_read_only", errors, 10);
    assert_eq!((record.counters.committed, record.counters.failed), (60, 0));
    assert!(record.counters.reconnects > 10, "{}", record.counters.reconnects);
}

#[test]
fn a_break_of_the_connection_that_is_not_listed_is_fatal() {
    let record = run("disconnect_after=40", "oltp_read_only", RetriedErrors::default(), 10);
    let FatalCause::Failure { failure, .. } = record.fatal.expect("it is kept").cause else {
        panic!("a failure of the database");
    };
    assert_eq!(failure.kind, FailureKind::ConnectionLost);
}

/// Number of answers that timed out.
fn timeouts(record: &LoadRecord) -> u64 {
    let of = |counts: &BTreeMap<FailureKind, u64>| {
        counts.get(&FailureKind::Timeout).copied().unwrap_or(0)
    };
    of(&record.counters.retries_by_kind) + of(&record.counters.failed_by_kind)
}

/// Each client has work that no other client can do while it waits.
fn waiting_at_most(limit: Option<Nanos>) -> LoadPlan {
    LoadPlan { statement_timeout: limit, ..LoadPlan::new(StopRule::TransactionsPerClient(15)) }
}

#[test]
fn statement_timeout_is_counted_and_the_client_reconnects() {
    // Each connection answers 40 statements and then stops answering.
    let plan = waiting_at_most(Some(Nanos(SECOND / 50)));
    let input = LoadInput::new("timeouts", 4, &plan, SEED, &NOBODY);
    let record = load(native("oltp_read_only", &[], 4), null("hang_after=40"), &input, &mut ());
    assert_eq!(record.counters.committed + record.counters.failed, 60, "{:?}", record.counters);
    assert!(timeouts(&record) > 10, "{:?}", record.counters);
    assert_eq!(record.counters.statement_errors(), timeouts(&record), "nothing else went wrong");
    assert_eq!(record.counters.reconnects, timeouts(&record));
    // A COMMIT without an answer is in doubt, and not retried.
    assert_eq!(record.counters.failed, record.counters.in_doubt);
}

#[test]
fn a_server_that_takes_connections_and_answers_nothing_ends_the_ramp() {
    // The setup statement of each connection is never answered, and the load sets no time limit.
    let isolation = [("isolation", OptionValue::Text("serializable".to_owned()))];
    let target = Target { connect_timeout: Duration::from_millis(50), ..null("hang_after=0") };
    let plan = LoadPlan::new(StopRule::TransactionsPerClient(1));
    let input = LoadInput::new("mute", 2, &plan, SEED, &NOBODY);
    let error = native("rush", &isolation, 2).run_load(&[target], &input, &mut ());
    let Err(TrialError::NotConnected(failure)) = error else { panic!("{error:?}") };
    assert_eq!(failure.kind, FailureKind::Timeout);
    // Without a time limit in the load, clients wait for answers indefinitely: the limit of the
    // start phase ends when all clients are connected.
    let slow =
        Target { connect_timeout: Duration::from_millis(50), ..null("select.latency_us=400000") };
    let plan = LoadPlan::new(StopRule::TransactionsPerClient(1));
    let input = LoadInput::new("slow", 2, &plan, SEED, &NOBODY);
    let record = load(native("rush", &isolation, 2), slow, &input, &mut ());
    assert_eq!((record.counters.committed, timeouts(&record)), (2, 0), "{:?}", record.counters);
}

#[test]
fn a_client_that_got_no_answer_asks_the_next_server() {
    let plan = waiting_at_most(Some(Nanos(SECOND / 50)));
    let input = LoadInput::new("timeouts", 4, &plan, SEED, &NOBODY);
    let targets = [null("hang_after=0"), null("")];
    let record = native("oltp_read_only", &[], 4).run_load(&targets, &input, &mut ());
    let record = record.expect("it can be measured");
    assert_eq!((record.counters.committed, record.counters.failed), (60, 0));
    // Two of four clients started on the server that does not answer.
    assert_eq!((timeouts(&record), record.counters.reconnects), (2, 2));
}

#[test]
fn full_disk_is_retried_only_if_a_fault_fills_it() {
    let plan = LoadPlan { attempts_max: 100, ..LoadPlan::new(StopRule::TransactionsPerClient(15)) };
    let run = |actions: &[FaultAction]| {
        let expected = ExpectedFaults::of(actions.iter().copied());
        let input = LoadInput { expected, ..LoadInput::new("full", 4, &plan, SEED, &NOBODY) };
        let script = "insert.fail=out-of-resources:0.5";
        load(native("oltp_write_only", &[], 4), null(script), &input, &mut ())
    };
    let record = run(&[FaultAction::FillDisk, FaultAction::FreeDisk, FaultAction::Start]);
    assert_eq!((record.counters.committed, record.counters.failed), (60, 0));
    assert_eq!(
        record.counters.retries_by_kind[&FailureKind::OutOfResources],
        record.counters.retries
    );
    for other in [&[][..], &[FaultAction::Kill, FaultAction::Start]] {
        let record = run(other);
        let FatalCause::Failure { failure, .. } = record.fatal.expect("nobody goes on").cause
        else {
            panic!("a failure of the database");
        };
        assert_eq!(
            (failure.kind, record.counters.retries),
            (FailureKind::OutOfResources, 0),
            "{other:?}"
        );
    }
}

#[test]
fn unmeasured_statement_gets_its_own_timeout() {
    let limit = Duration::from_millis(20);
    let transaction = async move |_: ClientId, _: u64, session: &mut Session, _: &mut Random| {
        let late = send(session, "SELECT 1").await.expect_err("nothing is answered");
        let asked = Instant::now();
        let rolled_back = session.connection().query("ROLLBACK", &mut Discard).await;
        assert_eq!(rolled_back.expect_err("nor is this").kind, FailureKind::Timeout);
        assert!(
            asked.elapsed() >= limit / 2,
            "it was given up at the limit of the statement before"
        );
        Err(late)
    };
    let plan = LoadPlan {
        statement_timeout: Some(limit.into()),
        ..LoadPlan::new(StopRule::TransactionsPerClient(1))
    };
    let input = LoadInput::new("limits", 1, &plan, SEED, &NOBODY);
    let workload = doing(transaction).but(AfterFailure::Continue);
    let record =
        run_load(workload, &[null("hang_after=0")], &input, &mut ()).expect("it is measured");
    assert_eq!((record.counters.failed, record.facts.problems), (1, vec![]));
}
