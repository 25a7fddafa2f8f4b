//! Tests with planted histories: each anomaly is found where it was planted, and none in serial
//! histories.

use super::anomalies::{Anomaly, Found, Involved, find};
use super::*;
use crate::isolation::IsolationLevel;
use proptest::prelude::*;
use std::collections::HashMap;

/// A history of registers: a transaction per line, `client outcome operations`, where the outcome
/// is `c`, `f` or `?`, and `r1=` is a read that returned nothing, `r1` an unanswered one. For lists
/// a read contains all values: `r1=4,7`.
fn history(objects: Objects, text: &str) -> History {
    let attempt = |(at, line): (usize, &str)| {
        let mut words = line.split_whitespace();
        let client = words.next().unwrap().parse().unwrap();
        let outcome = match words.next().unwrap() {
            "c" => AttemptOutcome::Committed,
            "f" => AttemptOutcome::Failed,
            _ => AttemptOutcome::InDoubt,
        };
        let operation = |word: &str| {
            let (object, value) = word[1..]
                .split_once('=')
                .map_or((&word[1..], None), |(object, value)| (object, Some(value)));
            let object = object.parse().unwrap();
            let numbers = |text: &str| text.split(',').filter_map(|it| it.parse().ok()).collect();
            match word.as_bytes()[0] {
                b'r' => Operation::Read { object, seen: value.map(numbers) },
                _ => Operation::Write { object, value: value.unwrap().parse().unwrap() },
            }
        };
        let at = at as u64;
        let (started, ended) = (10 * at, Some(10 * at + 5));
        Attempt {
            client,
            sequence: at,
            started,
            ended,
            outcome,
            operations: words.map(operation).collect(),
        }
    };
    let attempts: Vec<Attempt> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .enumerate()
        .map(attempt)
        .collect();
    History { objects, clients: 9, attempts }
}

/// Type of the objects, a history, and the expected anomalies.
type Row = (Objects, &'static str, &'static [(Anomaly, u64)]);

/// The anomalies found, without those that are absent.
fn found(history: &History) -> Vec<(Anomaly, u64)> {
    find(history).into_iter().filter(|it| it.count > 0).map(|it| (it.anomaly, it.count)).collect()
}

#[test]
fn each_anomaly_is_found_where_it_was_planted_and_only_there() {
    use Anomaly::{DirtyRead, IntermediateRead, LostUpdate, NonRepeatableRead, WriteSkew};
    use Objects::{Lists, Registers};
    let rows: &[Row] = &[
        (Registers, "", &[]),
        // Serial, with a failure and a retry in between.
        (Registers, "0 c r1= w1=1\n1 f r1=1 w1=2\n1 c r1=1 w1=3\n0 c r1=3 r2=", &[]),
        // Both read nothing and wrote.
        (Registers, "0 c r1= w1=1\n1 c r1= w1=2", &[(LostUpdate, 1)]),
        // Three on top of the same version: two missed another write.
        (Registers, "0 c r1= w1=1\n1 c r1= w1=2\n2 c r1= w1=3", &[(LostUpdate, 2)]),
        // One of the two failed, or may have failed.
        (Registers, "0 c r1= w1=1\n1 f r1= w1=2", &[]),
        (Registers, "0 c r1= w1=1\n1 ? r1= w1=2", &[]),
        // Blind writes do not lose a value that was read.
        (Registers, "0 c w1=1\n1 c w1=2", &[]),
        // A read after the transaction's own write.
        (Registers, "0 c w1=1 r1=1 w1=2\n1 c r1=2 w1=3", &[]),
        (Lists, "0 c r1= w1=1\n1 c r1= w1=2\n2 c r1=1,2 w1=3", &[(LostUpdate, 1)]),
        (Lists, "0 c r1= w1=1\n1 c r1=1 w1=2\n2 c r1=1,2", &[]),
        // A value of a failed transaction, of one in doubt, and of the reader itself.
        (Registers, "0 f w1=1\n1 c r1=1", &[(DirtyRead, 1)]),
        (Registers, "0 f w1=1\n1 f r1=1", &[]),
        (Registers, "0 ? w1=1\n1 c r1=1", &[]),
        (Registers, "0 c w1=1 r1=1", &[]),
        // It remains in a list below others. A transaction counts once.
        (Lists, "0 f w1=1\n1 c r1=1 w1=2\n2 c r1=1,2", &[(DirtyRead, 2)]),
        (Registers, "0 f w1=1 w2=2\n1 c r1=1 r2=2", &[(DirtyRead, 1)]),
        (Registers, "0 c w1=1 w1=2\n1 c r1=1", &[(IntermediateRead, 1)]),
        (Registers, "0 c w1=1 w1=2 w2=3\n1 c r1=2 r2=3", &[]),
        // Below other values of a list, it was written with the later one.
        (Lists, "0 c w1=1 w1=2\n1 c r1=1,2", &[]),
        (Lists, "0 c w1=1 w1=2\n1 c r1=1", &[(IntermediateRead, 1)]),
        (Registers, "0 c w1=1\n1 c r1= r1=1", &[(NonRepeatableRead, 1)]),
        (Registers, "0 c w1=1\n1 c r1=1 w1=2 r1=2\n2 c r1=2 r2= r1=2", &[]),
        // Each read both and wrote the other object.
        (Registers, "0 c r1= r2= w1=1\n1 c r1= r2= w2=2", &[(WriteSkew, 1)]),
        // The second read the write of the first.
        (Registers, "0 c r1= r2= w1=1\n1 c r1=1 r2= w2=2", &[]),
        (Registers, "0 c r1= r2= w1=1\n1 f r1= r2= w2=2", &[]),
        // The second only reads.
        (Registers, "0 c r1= r2= w1=1\n1 c r1= r2=", &[]),
        (Lists, "0 c r1= r2= w1=1\n1 c r1= r2= w2=2", &[(WriteSkew, 1)]),
        // Three in a cycle are not a pair.
        (Registers, "0 c r1= r2= w1=1\n1 c r2= r3= w2=2\n2 c r3= r1= w3=3", &[]),
    ];
    for (objects, text, expected) in rows {
        assert_eq!(found(&history(*objects, text)), *expected, "{text}");
    }
}

#[test]
fn an_example_names_the_transactions_and_what_they_read_and_wrote() {
    let history = history(
        Objects::Registers,
        "3 c r7= r1= w1=5\n4 c r2= r1= w1=6\n4 c r2= w2=8 r1=6 r2=8 r3=",
    );
    let lost = find(&history).into_iter().find(|it| it.anomaly == Anomaly::LostUpdate).unwrap();
    let involved = |client, sequence, operations: &str| Involved {
        client,
        sequence,
        operations: operations.to_owned(),
    };
    let example = vec![involved(3, 0, "r[1]=nil w[1]=5"), involved(4, 1, "r[1]=nil w[1]=6")];
    assert_eq!(lost, Found { anomaly: Anomaly::LostUpdate, count: 1, example });
}

#[test]
fn anomalies_are_forbidden_from_their_published_isolation_level() {
    let levels: Vec<_> = Anomaly::ALL.into_iter().map(Anomaly::forbidden_from).collect();
    use IsolationLevel::{ReadCommitted, RepeatableRead, Serializable};
    assert_eq!(
        levels,
        [ReadCommitted, ReadCommitted, RepeatableRead, RepeatableRead, Serializable]
    );
}

/// The operations of a transaction on four objects; an initial read, and whether it commits.
type Script = (u32, Vec<(u32, bool)>, bool);

/// Executes transactions serially on one copy of the data.
fn serial(objects: Objects, scripts: &[Script]) -> History {
    let mut data: HashMap<u32, Vec<u64>> = HashMap::new();
    let mut value = 0;
    let mut attempts = Vec::new();
    for (at, (client, script, commits)) in scripts.iter().enumerate() {
        let mut own = data.clone();
        let operation = |(object, is_write): &(u32, bool)| {
            let seen = own.entry(*object).or_default();
            if !is_write {
                return Operation::Read { object: *object, seen: Some(seen.clone()) };
            }
            value += 1;
            if objects == Objects::Registers {
                seen.clear();
            }
            seen.push(value);
            Operation::Write { object: *object, value }
        };
        let operations = script.iter().map(operation).collect();
        let outcome = if *commits { AttemptOutcome::Committed } else { AttemptOutcome::Failed };
        if *commits {
            data = own;
        }
        let at = at as u64;
        attempts.push(Attempt {
            client: *client,
            sequence: at,
            started: 10 * at,
            ended: Some(10 * at + 5),
            outcome,
            operations,
        });
    }
    History { objects, clients: 3, attempts }
}

fn scripts() -> impl Strategy<Value = Vec<Script>> {
    let operations = prop::collection::vec((0_u32..4, any::<bool>()), 1..7);
    prop::collection::vec((0_u32..3, operations, prop::bool::weighted(0.8)), 0..60)
}

proptest! {
    /// A serial history has no anomalies, whatever the transactions do.
    #[test]
    fn a_serial_history_has_no_anomaly(scripts in scripts(), is_of_lists in any::<bool>()) {
        let objects = if is_of_lists { Objects::Lists } else { Objects::Registers };
        prop_assert_eq!(found(&serial(objects, &scripts)), []);
    }

    /// An anomaly planted among serial transactions is found exactly once, wherever it is.
    #[test]
    fn what_is_planted_in_a_serial_history_is_found_once(
        scripts in scripts(), at in any::<prop::sample::Index>(), which in 0_usize..5,
    ) {
        let planted = [
            (Anomaly::DirtyRead, "5 f w8=901\n6 c r8=901"),
            (Anomaly::IntermediateRead, "5 c w8=901 w8=902\n6 c r8=901"),
            (Anomaly::NonRepeatableRead, "5 c w8=901\n6 c r8= r8=901"),
            (Anomaly::LostUpdate, "5 c r8= w8=901\n6 c r8= w8=902"),
            (Anomaly::WriteSkew, "5 c r8= r9= w8=901\n6 c r8= r9= w9=902"),
        ];
        let (anomaly, text) = planted[which];
        let mut whole = serial(Objects::Registers, &scripts);
        let at = at.index(whole.attempts.len() + 1);
        whole.attempts.splice(at..at, history(Objects::Registers, text).attempts);
        prop_assert_eq!(found(&whole), [(anomaly, 1)]);
    }
}
