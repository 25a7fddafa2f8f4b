//! Figures of transactions and statements by name, and limits on them, come out right.

use crate::analyse;
use crate::limits::limits;
use crate::model::LimitVerdict;
use crate::view::View;
use dyno_model::ledger::TransactionCount;
use dyno_model::limit::{Limit, LimitMeasure, LimitPart};
use dyno_model::record::{NamedTransactions, OpenLoop};
use dyno_model::response::{Bounded, ResponseSummary};
use dyno_store::RunData;
use dyno_store::fixture::{each_record, one_treatment};

/// Reads of 1 ms, nine of ten transactions, and payments of 50 ms of which some fail.
fn run() -> RunData {
    let mut data = one_treatment(4).read();
    each_record(&mut data.run, |_, record| {
        let seconds = record.measured.as_secs_f64();
        // Scatter, so that limits can be tested.
        let scatter = 1.0 + 0.01 * (f64::from(record.trial.block) - 2.5);
        let named = |name: &str, rate: f64, nanos: f64| {
            let time = Bounded::value(nanos * scatter);
            let response = ResponseSummary {
                count: 2_000,
                mean: time,
                p50: time,
                p95: time,
                p99: time,
                ..ResponseSummary::default()
            };
            NamedTransactions {
                name: name.to_owned(),
                think: None,
                work: Some(rate * seconds * scatter),
                response: Some(response),
            }
        };
        record.transactions = vec![named("read", 900.0, 1e6), named("pay", 100.0, 5e7)];
        let count = |name: &str, started: u64, failed: u64| TransactionCount {
            name: name.to_owned(),
            started,
            committed: started - failed,
            failed,
            retries: 3,
            unfinished: 0,
        };
        record.ledger.transactions = vec![count("read", 9_000, 0), count("pay", 1_000, 20)];
        record.findings.clear();
    });
    data
}

#[test]
fn transactions_of_each_name_have_a_row_with_means_over_trials_and_sums() {
    let model = analyse(&run());
    let names: Vec<&str> = model.transactions.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["read", "pay"]);
    let pay = &model.transactions[1];
    let mean = |estimate: Option<crate::model::Estimate>| (estimate.expect("known").mean * 1e3).round() / 1e3;
    assert_eq!((mean(pay.throughput), mean(pay.mean), mean(pay.p99)), (100.0, 50.0, 50.0));
    assert_eq!((pay.committed, pay.failed, pay.retries), (4 * 980, 4 * 20, 4 * 3));
    assert_eq!(pay.throughput.expect("known").repeats, 4);
}

#[test]
fn one_name_alone_has_no_row_of_its_own() {
    let mut data = run();
    each_record(&mut data.run, |_, record| record.transactions.truncate(1));
    assert!(analyse(&data).transactions.is_empty());
}

#[test]
fn arrivals_that_nobody_took_on_make_times_lower_bounds() {
    let mut data = run();
    each_record(&mut data.run, |_, record| {
        record.open_loop = Some(OpenLoop { arrived: 10_001, unstarted: 1, ..OpenLoop::default() });
    });
    let pay = analyse(&data).transactions.remove(1);
    assert!(pay.p99.expect("known").is_bound && !pay.throughput.expect("known").is_bound);
}

#[test]
fn limits_are_of_the_transactions_or_statements_that_they_name() {
    let mut data = run();
    let statement = data.run.plan.trials[0].id.clone();
    let dyno_store::TrialOutcome::Finished(record) = &data.run.outcomes[&statement] else {
        panic!("finished")
    };
    let (statement, time) = (record.statements[0].name.clone(), record.statements[0].latency.mean / 1e6);
    let limit = |part: LimitPart, measure, value| Limit {
        measure,
        value,
        part: Some(part),
        treatments: vec![0],
        aborts: false,
    };
    let transaction = |name: &str| LimitPart::Transaction(name.to_owned());
    let of_statement = || LimitPart::Statement(statement.clone());
    let cases = [
        (limit(transaction("read"), LimitMeasure::P99, 20.0), LimitVerdict::Held),
        (limit(transaction("pay"), LimitMeasure::P99, 20.0), LimitVerdict::Broken),
        (limit(transaction("pay"), LimitMeasure::Throughput, 90.0), LimitVerdict::Held),
        (limit(transaction("read"), LimitMeasure::Throughput, 1_000.0), LimitVerdict::Broken),
        (limit(transaction("pay"), LimitMeasure::Failed, 1.0), LimitVerdict::Broken),
        (limit(transaction("read"), LimitMeasure::Failed, 1.0), LimitVerdict::Held),
        (limit(transaction("gone"), LimitMeasure::P99, 1.0), LimitVerdict::Undecided),
        (limit(of_statement(), LimitMeasure::Mean, 2.0 * time), LimitVerdict::Held),
        (limit(of_statement(), LimitMeasure::Mean, 0.5 * time), LimitVerdict::Broken),
        (limit(of_statement(), LimitMeasure::Failed, 50.0), LimitVerdict::Held),
    ];
    let (written, expected): (Vec<Limit>, Vec<LimitVerdict>) = cases.into_iter().unzip();
    data.run.plan.limits.clone_from(&written);
    let found: Vec<LimitVerdict> = limits(&View::new(&data)).into_iter().map(|row| row.verdict).collect();
    assert_eq!(found, expected, "{written:#?}");
    let told = analyse(&data)
        .conclusions
        .into_iter()
        .filter(|it| matches!(it, crate::model::Conclusion::Limit { .. }));
    assert_eq!(told.count(), written.len(), "the same limit on two transactions is two");
}
