//! Lines of the transaction log.

use crate::options::Style;
use crate::statistics::{Finished, Tally, TransactionOutcome};
use std::fmt::Write;

/// A second in microseconds.
const SECOND: i64 = 1_000_000;

/// A transaction and its client.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Entry {
    pub(crate) client: u32,
    /// Number of transactions that the client has ended, including this one.
    pub(crate) transactions_ended: u64,
    /// Script, from 0.
    pub(crate) script: usize,
    /// When it ended, microseconds since 1970.
    pub(crate) at: i64,
    /// Its outcome.
    pub(crate) finished: Finished,
}

/// Appends the line of one transaction.
pub(crate) fn append(style: &Style, entry: &Entry, text: &mut String) {
    let Entry { client, transactions_ended, script, at, finished } = entry;
    let failure = |kind| if style.details_failures { kind } else { "failed" };
    let written = match finished.outcome {
        TransactionOutcome::Done => {
            write!(text, "{client} {transactions_ended} {:.0}", finished.latency)
        }
        TransactionOutcome::Skipped => write!(text, "{client} {transactions_ended} skipped"),
        TransactionOutcome::Serialization => {
            write!(text, "{client} {transactions_ended} {}", failure("serialization"))
        }
        TransactionOutcome::Deadlock => {
            write!(text, "{client} {transactions_ended} {}", failure("deadlock"))
        }
    };
    let written = written.and_then(|()| {
        write!(text, " {script} {} {}", at.div_euclid(SECOND), at.rem_euclid(SECOND))
    });
    written.expect("writing to memory does not fail");
    if style.rate.is_some() {
        text.push_str(&format!(" {:.0}", finished.lag));
    }
    if style.tries_max != 1 {
        // A skipped transaction has zero tries, for which pgbench's unsigned counter shows its
        // maximum.
        text.push_str(&format!(" {}", finished.tries.wrapping_sub(1)));
    }
    text.push('\n');
}

/// Aggregated transactions of one interval.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Aggregate {
    /// Microseconds since 1970.
    start: i64,
    /// Microseconds.
    length: i64,
    tally: Tally,
}

impl Aggregate {
    /// Intervals of this length from a start in microseconds since 1970.
    pub(crate) fn new(start: i64, seconds: u64) -> Self {
        Self { start, length: seconds as i64 * SECOND, tally: Tally::default() }
    }

    /// Appends the lines of all intervals that have ended by a time.
    pub(crate) fn advance(&mut self, style: &Style, at: i64, text: &mut String) {
        while self.start + self.length <= at {
            let Tally { done, latency, lag, .. } = &self.tally;
            let shown = |is_shown: bool, count: u64| if is_shown { count } else { 0 };
            let has_tries = style.tries_max != 1;
            let line = writeln!(
                text,
                "{} {done} {:.0} {:.0} {:.0} {:.0} {:.0} {:.0} {:.0} {:.0} {} {} {} {} {}",
                self.start / SECOND,
                latency.sum,
                latency.squares,
                latency.min,
                latency.max,
                lag.sum,
                lag.squares,
                lag.min,
                lag.max,
                shown(style.latency_limit.is_some(), self.tally.skipped),
                shown(has_tries, self.tally.retried),
                shown(has_tries, self.tally.retries),
                shown(style.details_failures, self.tally.serialization_failures),
                shown(style.details_failures, self.tally.deadlock_failures),
            );
            line.expect("writing to memory does not fail");
            self.start += self.length;
            self.tally = Tally::default();
        }
    }

    /// Counts a transaction that ended at a time, after the lines of earlier intervals.
    pub(crate) fn add(&mut self, style: &Style, entry: &Entry, text: &mut String) {
        self.advance(style, entry.at, text);
        self.tally.count(&entry.finished, style.rate.is_some(), style.latency_limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Length;

    const STYLE: Style = Style {
        rate: None,
        latency_limit: None,
        tries_max: 1,
        details_failures: false,
        progress: None,
        connects_each_time: false,
        reports_commands: false,
        length: Length::Seconds(5),
    };

    fn entry(outcome: TransactionOutcome, at: i64) -> Entry {
        let finished = Finished { outcome, latency: 2_241.4, lag: 115.0, tries: 3 };
        Entry { client: 0, transactions_ended: 199, script: 1, at, finished }
    }

    fn line(style: &Style, entry: &Entry) -> String {
        let mut text = String::new();
        append(style, entry, &mut text);
        text
    }

    #[test]
    fn a_line_has_the_fields_that_the_options_request() {
        let done = entry(TransactionOutcome::Done, 1_175_850_569_000_608);
        assert_eq!(line(&STYLE, &done), "0 199 2241 1 1175850569 608\n");
        let style = Style { rate: Some(1.0), tries_max: 5, ..STYLE };
        assert_eq!(line(&style, &done), "0 199 2241 1 1175850569 608 115 2\n");
        let lost = entry(TransactionOutcome::Deadlock, 5_000_000);
        assert_eq!(line(&STYLE, &lost), "0 199 failed 1 5 0\n");
        assert_eq!(
            line(&Style { details_failures: true, ..STYLE }, &lost),
            "0 199 deadlock 1 5 0\n"
        );
        assert_eq!(
            line(&STYLE, &entry(TransactionOutcome::Skipped, 5_000_000)),
            "0 199 skipped 1 5 0\n"
        );
    }

    #[test]
    fn intervals_are_aggregated_even_without_transactions() {
        let mut aggregate = Aggregate::new(10_500_000, 2);
        let mut text = String::new();
        aggregate.add(&STYLE, &entry(TransactionOutcome::Done, 11_000_000), &mut text);
        aggregate.add(&STYLE, &entry(TransactionOutcome::Deadlock, 11_000_000), &mut text);
        assert_eq!(text, "");
        let style = Style { details_failures: true, ..STYLE };
        aggregate.add(&style, &entry(TransactionOutcome::Done, 15_000_000), &mut text);
        assert_eq!(
            text,
            "10 1 2241 5023874 2241 2241 0 0 0 0 0 0 0 0 1\n12 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
        );
    }
}
