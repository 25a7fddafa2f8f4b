//! Random choices of trials: keys, and arrival times of transactions.

use crate::bench::{NOBODY, doing, null, send};
use dyno_engine::random::Random;
use dyno_engine::workload::ClientId;
use dyno_engine::{Node, Session, TrialInput, run_trial};
use dyno_model::plan::{LoadPlan, StopRule, Trial};
use dyno_model::record::{OpenLoop, TrialRecord};
use dyno_model::units::Nanos;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// Texts of the statements by client and number of the transaction, each with the seed from the
/// session.
type Sent = BTreeMap<(u32, u64), (String, u64)>;

/// A trial of an experiment with a seed, whose statements have keys.
fn trial(seed: u64, id: &str, load: &LoadPlan) -> (Sent, TrialRecord) {
    run_generator(seed, id, load, 0, 1)
}

/// What one of several generators has of the same trial.
fn run_generator(
    seed: u64,
    id: &str,
    load: &LoadPlan,
    generator: u32,
    generators: u32,
) -> (Sent, TrialRecord) {
    let sent = Arc::new(Mutex::new(Sent::new()));
    let kept = Arc::clone(&sent);
    let keys = doing(
        async move |client: ClientId, sequence, session: &mut Session, random: &mut Random| {
            let sql = format!("SELECT {}", random.below(1_000_000_000_000));
            send(session, &sql).await?;
            kept.lock()
                .expect("no client panics")
                .insert((client.0, sequence), (sql, session.seed()));
            Ok(())
        },
    );
    let trial = Trial { id: id.to_owned(), block: 1, configuration: 0 };
    let input = TrialInput::new(trial, Node::alone(null("")), 3, load, seed, &NOBODY);
    let input =
        TrialInput { load: input.load.clone().of_generator(generator, generators), ..input };
    let record = run_trial(keys, &input, &mut ()).expect("it can be measured");
    let sent = std::mem::take(&mut *sent.lock().expect("no client panics"));
    (sent, record)
}

#[test]
fn trials_send_different_keys_and_a_repeated_trial_the_same() {
    let load = LoadPlan::new(StopRule::TransactionsPerClient(50));
    let [first, again, second, of_another_seed] =
        [(7, "b01-001"), (7, "b01-001"), (7, "b01-002"), (8, "b01-001")]
            .map(|(seed, id)| trial(seed, id, &load).0);
    assert_eq!(first.len(), 150);
    assert_eq!(first, again);
    let keys = |sent: &Sent| sent.values().map(|(sql, _)| sql.clone()).collect::<BTreeSet<_>>();
    let seeds = |sent: &Sent| sent.values().map(|(_, seed)| *seed).collect::<BTreeSet<_>>();
    for other in [second, of_another_seed] {
        assert!(keys(&first).is_disjoint(&keys(&other)), "150 keys each, below 1,000,000,000,000");
        assert!(
            seeds(&first).is_disjoint(&seeds(&other)),
            "numbers of inserted rows follow from it"
        );
    }
}

#[test]
fn several_generators_send_the_keys_of_one() {
    let load = LoadPlan::new(StopRule::TransactionsPerClient(50));
    let one = trial(7, "b01-001", &load).0;
    for generators in [2, 3] {
        let sent = (0..generators).map(|it| run_generator(7, "b01-001", &load, it, generators).0);
        let sent: Vec<Sent> = sent.collect();
        assert_eq!(sent.iter().map(BTreeMap::len).sum::<usize>(), 150, "no client is in two");
        assert_eq!(sent.into_iter().flatten().collect::<Sent>(), one);
    }
}

#[test]
fn open_loop_arrivals_differ_by_block_and_repeat_for_a_trial() {
    let stop = StopRule::Duration(Nanos(300_000_000));
    let load = LoadPlan { rate: Some(3_000.0), grace: Nanos::from_secs(60), ..LoadPlan::new(stop) };
    let arrived = |id| {
        trial(7, id, &load)
            .1
            .open_loop
            .map(|OpenLoop { arrived, .. }| arrived)
            .expect("an open loop")
    };
    let blocks = ["b01-001", "b02-001", "b03-001"].map(arrived);
    assert_eq!(blocks, ["b01-001", "b02-001", "b03-001"].map(arrived));
    // 900 are expected; five standard deviations.
    assert!(blocks.iter().all(|arrived| (750..1_050).contains(arrived)), "{blocks:?}");
    assert!(blocks[0] != blocks[1] && blocks[1] != blocks[2], "{blocks:?}");
}
