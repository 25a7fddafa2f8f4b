//! Lines of progress.

use crate::options::Style;
use crate::statistics::Tally;

/// The time of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Stamp {
    /// Seconds since the start of the run.
    Elapsed(f64),
    /// Unix time in seconds.
    Unix(f64),
}

/// A line about the time since the previous one, which was `seconds` ago.
pub(crate) fn line(
    style: &Style,
    stamp: Stamp,
    seconds: f64,
    before: &Tally,
    now: &Tally,
) -> String {
    let count = now.done - before.done;
    let share = |sum: f64| if count > 0 { sum / count as f64 } else { 0.0 };
    let latency = 0.001 * share(now.latency.sum - before.latency.sum);
    let squares = share(now.latency.squares - before.latency.squares);
    let deviation = 0.001 * (squares - 1_000_000.0 * latency * latency).max(0.0).sqrt();
    let stamp = match stamp {
        Stamp::Elapsed(seconds) => format!("{seconds:.1} s"),
        Stamp::Unix(seconds) => format!("{seconds:.3} s"),
    };
    let rate = count as f64 / seconds;
    let failures = now.failures() - before.failures();
    let mut line = format!(
        "progress: {stamp}, {rate:.1} tps, lat {latency:.3} ms stddev {deviation:.3}, {failures} \
         failed"
    );
    if style.rate.is_some() {
        let lag = 0.001 * share(now.lag.sum - before.lag.sum);
        line.push_str(&format!(", lag {lag:.3} ms"));
        if style.latency_limit.is_some() {
            line.push_str(&format!(", {} skipped", now.skipped - before.skipped));
        }
    }
    if style.tries_max != 1 {
        let (retried, retries) = (now.retried - before.retried, now.retries - before.retries);
        line.push_str(&format!(", {retried} retried, {retries} retries"));
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Length;
    use crate::statistics::{Finished, TransactionOutcome};

    #[test]
    fn a_line_shows_what_happened_since_the_previous_one() {
        let style = Style {
            rate: None,
            latency_limit: None,
            tries_max: 1,
            details_failures: false,
            progress: Some(1),
            connects_each_time: false,
            reports_commands: false,
            length: Length::Seconds(5),
        };
        let mut before = Tally::default();
        let finished =
            |latency| Finished { outcome: TransactionOutcome::Done, latency, lag: 500.0, tries: 1 };
        before.count(&finished(100_000.0), true, None);
        let mut now = before;
        now.count(&finished(1_000.0), true, None);
        now.count(&finished(3_000.0), true, None);
        now.count(
            &Finished { outcome: TransactionOutcome::Deadlock, tries: 4, ..finished(0.0) },
            true,
            None,
        );
        let plain = "progress: 2.0 s, 2.0 tps, lat 2.000 ms stddev 1.000, 1 failed\n";
        assert_eq!(line(&style, Stamp::Elapsed(2.0), 1.0, &before, &now), plain);
        let style = Style { rate: Some(1.0), latency_limit: Some(5), tries_max: 0, ..style };
        assert_eq!(
            line(&style, Stamp::Unix(1_795_262_757.003), 0.5, &before, &now),
            "progress: 1795262757.003 s, 4.0 tps, lat 2.000 ms stddev 1.000, 1 failed, lag 0.500 ms, 0 skipped, \
             1 retried, 3 retries\n"
        );
        let idle = "progress: 3.0 s, 0.0 tps, lat 0.000 ms stddev 0.000, 0 failed, lag 0.000 ms, 0 skipped, \
                    0 retried, 0 retries\n";
        assert_eq!(line(&style, Stamp::Elapsed(3.0), 1.0, &now, &now), idle);
    }
}
