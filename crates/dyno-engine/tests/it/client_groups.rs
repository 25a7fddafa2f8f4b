//! Clients distributed over databases: which clients work where, the counters of each database, and
//! its audit.

use crate::bench::{NOBODY, SEED, doing, null, send};
use dyno_engine::random::Random;
use dyno_engine::workload::{AfterFailure, ClientId, Workload};
use dyno_engine::{Node, Session, TrialInput, run_groups_trial};
use dyno_model::failure::FailureKind;
use dyno_model::plan::{LoadPlan, StopRule, Trial};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Transactions by the client's number within its database.
type Seen = Arc<Mutex<BTreeMap<u32, u64>>>;

/// Sends a statement, and optionally fails in every fifth transaction.
fn noting(seen: &Seen, fails: bool) -> impl Workload<Client = ClientId> + use<> {
    let seen = Arc::clone(seen);
    doing(async move |client: ClientId, sequence: u64, session: &mut Session, _: &mut Random| {
        send(session, "SELECT 1").await?;
        *seen.lock().expect("no client panics").entry(client.0).or_default() += 1;
        match fails && sequence.is_multiple_of(5) {
            true => Err(FailureKind::DuplicateKey.failure("a fifth")),
            false => Ok(()),
        }
    })
    .but(AfterFailure::Continue)
}

#[test]
fn clients_are_distributed_over_databases_with_own_counters() {
    let seen = [Seen::default(), Seen::default()];
    let workloads = vec![noting(&seen[0], false), noting(&seen[1], true)];
    let names = ["value=1", "value=2"];
    let nodes: Vec<Node> = names.into_iter().flat_map(|name| Node::alone(null(name))).collect();
    let load = LoadPlan { workers: Some(2), ..LoadPlan::new(StopRule::TransactionsPerClient(20)) };
    let trial = Trial { id: "b01-001".to_owned(), block: 1, configuration: 0 };
    let input = TrialInput::new(trial, nodes, 5, &load, SEED, &NOBODY);
    let record = run_groups_trial(workloads, &input, &mut ()).expect("it can be measured");
    assert_eq!(record.counters.check(), Vec::<String>::new(), "the books balance");
    let of_each: Vec<_> = record
        .counters
        .transactions
        .iter()
        .map(|it| (it.name.as_str(), it.started, it.committed, it.failed))
        .collect();
    assert_eq!(of_each, [("value=1", 60, 60, 0), ("value=2", 40, 32, 8)]);
    let times =
        record.transactions.iter().map(|it| it.response.as_ref().map_or(0, |all| all.count));
    assert_eq!(times.collect::<Vec<_>>(), [60, 32]);
    assert_eq!((record.counters.committed, record.transaction_latency.count), (92, 92));
    // Clients are numbered from 0 in each database.
    let seen = seen.map(|seen| seen.lock().expect("no client panics").clone());
    assert_eq!(
        seen,
        [BTreeMap::from([(0, 20), (1, 20), (2, 20)]), BTreeMap::from([(0, 20), (1, 20)])]
    );
}
