//! `history.edn`: the reads and writes of a trial's clients in the format of Elle: a map per line
//! for each start and each end of a transaction.
//!
//! In Elle, a process does nothing after an operation with an unknown outcome, so the client
//! continues under a new process number.

use dyno_model::history::{Attempt, AttemptOutcome, History, Objects, Operation};
use std::fmt::Write as _;

/// Lines formatted at a time.
const LINES: usize = 4096;

/// The start or end of an attempt. Ordered by time; at the same time starts precede ends, so that
/// two adjacent attempts count as overlapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Moment {
    time: u64,
    is_end: bool,
    attempt: usize,
}

/// The file in pieces.
pub(crate) fn parts(history: &History) -> impl Iterator<Item = String> {
    let processes = processes(history);
    let mut moments: Vec<Moment> = Vec::with_capacity(2 * history.attempts.len());
    for (attempt, Attempt { started, ended, .. }) in history.attempts.iter().enumerate() {
        moments.push(Moment { time: *started, is_end: false, attempt });
        moments.extend(ended.map(|time| Moment { time, is_end: true, attempt }));
    }
    moments.sort_unstable();
    let mut index = 0;
    std::iter::from_fn(move || {
        let part = &moments[index..moments.len().min(index + LINES)];
        let mut text = String::new();
        for moment in part {
            line(history, *moment, (index, processes[moment.attempt]), &mut text);
            index += 1;
        }
        (!text.is_empty()).then_some(text)
    })
}

/// The process of each attempt: the client's number, increased by the number of clients after each
/// of its attempts with an unknown outcome.
fn processes(history: &History) -> Vec<u64> {
    let mut next: Vec<u64> = (0..u64::from(history.clients)).collect();
    let of = |attempt: &Attempt| {
        let process = next[attempt.client as usize];
        if attempt.outcome == AttemptOutcome::InDoubt {
            next[attempt.client as usize] += u64::from(history.clients);
        }
        process
    };
    history.attempts.iter().map(of).collect()
}

fn line(history: &History, moment: Moment, (index, process): (usize, u64), text: &mut String) {
    let attempt = &history.attempts[moment.attempt];
    let kind = match (moment.is_end, attempt.outcome) {
        (false, _) => "invoke",
        (true, AttemptOutcome::Committed) => "ok",
        (true, AttemptOutcome::Failed) => "fail",
        (true, AttemptOutcome::InDoubt) => "info",
    };
    // Writing to a String cannot fail.
    let _ = write!(
        text,
        "{{:index {index}, :time {}, :type :{kind}, :process {process}, :f :txn, :value [",
        moment.time
    );
    // Only the reads of committed attempts are reliable.
    let is_known = moment.is_end && attempt.outcome == AttemptOutcome::Committed;
    for (at, operation) in attempt.operations.iter().enumerate() {
        text.push_str(if at == 0 { "" } else { " " });
        let _ = match (operation, history.objects) {
            (Operation::Write { object, value }, Objects::Registers) => {
                write!(text, "[:w {object} {value}]")
            }
            (Operation::Write { object, value }, Objects::Lists) => {
                write!(text, "[:append {object} {value}]")
            }
            (Operation::Read { object, seen: Some(seen) }, objects) if is_known => {
                let values = seen.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
                match objects {
                    Objects::Lists => write!(text, "[:r {object} [{values}]]"),
                    Objects::Registers if values.is_empty() => write!(text, "[:r {object} nil]"),
                    Objects::Registers => write!(text, "[:r {object} {values}]"),
                }
            }
            (Operation::Read { object, .. }, _) => write!(text, "[:r {object} nil]"),
        };
    }
    text.push_str("]}\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(
        client: u32,
        times: (u64, Option<u64>),
        outcome: AttemptOutcome,
        operations: Vec<Operation>,
    ) -> Attempt {
        Attempt { client, sequence: 0, started: times.0, ended: times.1, outcome, operations }
    }

    fn read(object: u32, seen: &[u64]) -> Operation {
        Operation::Read { object, seen: Some(seen.to_vec()) }
    }

    #[test]
    fn a_history_is_written_in_order_of_time_in_the_format_of_elle() {
        let write = |object, value| Operation::Write { object, value };
        let attempts = vec![
            attempt(
                1,
                (20, Some(40)),
                AttemptOutcome::Committed,
                vec![read(3, &[2, 5]), write(3, 7)],
            ),
            attempt(
                1,
                (41, Some(50)),
                AttemptOutcome::Failed,
                vec![read(3, &[]), Operation::Read { object: 4, seen: None }],
            ),
            attempt(0, (10, Some(30)), AttemptOutcome::InDoubt, vec![write(3, 5)]),
            attempt(0, (40, None), AttemptOutcome::InDoubt, vec![read(4, &[])]),
        ];
        let history = History { objects: Objects::Lists, clients: 2, attempts };
        let text: String = parts(&history).collect();
        let expected = "\
{:index 0, :time 10, :type :invoke, :process 0, :f :txn, :value [[:append 3 5]]}
{:index 1, :time 20, :type :invoke, :process 1, :f :txn, :value [[:r 3 nil] [:append 3 7]]}
{:index 2, :time 30, :type :info, :process 0, :f :txn, :value [[:append 3 5]]}
{:index 3, :time 40, :type :invoke, :process 2, :f :txn, :value [[:r 4 nil]]}
{:index 4, :time 40, :type :ok, :process 1, :f :txn, :value [[:r 3 [2 5]] [:append 3 7]]}
{:index 5, :time 41, :type :invoke, :process 1, :f :txn, :value [[:r 3 nil] [:r 4 nil]]}
{:index 6, :time 50, :type :fail, :process 1, :f :txn, :value [[:r 3 nil] [:r 4 nil]]}
";
        assert_eq!(text, expected);
        let registers = History {
            objects: Objects::Registers,
            clients: 1,
            attempts: vec![attempt(
                0,
                (1, Some(2)),
                AttemptOutcome::Committed,
                vec![read(3, &[]), write(3, 7), read(3, &[7])],
            )],
        };
        let text: String = parts(&registers).collect();
        assert!(text.ends_with(":value [[:r 3 nil] [:w 3 7] [:r 3 7]]}\n"), "{text}");
    }

    #[test]
    fn a_long_history_is_returned_in_pieces_without_a_gap() {
        let attempts = (0..LINES as u64).map(|at| {
            attempt(0, (2 * at, Some(2 * at + 1)), AttemptOutcome::Committed, Vec::new())
        });
        let history =
            History { objects: Objects::Registers, clients: 1, attempts: attempts.collect() };
        let parts: Vec<String> = parts(&history).collect();
        assert_eq!(parts.len(), 2);
        let lines: Vec<String> = parts.concat().lines().map(str::to_owned).collect();
        assert_eq!(lines.len(), 2 * LINES);
        assert!(
            lines
                .iter()
                .enumerate()
                .all(|(at, line)| line.starts_with(&format!("{{:index {at}, :time {at},")))
        );
    }
}
