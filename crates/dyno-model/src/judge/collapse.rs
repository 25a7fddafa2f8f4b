//! When throughput collapses, and what the server's sessions were doing then. Intervals and looks
//! in, findings out: of a trial that is watched, and of one that is read.

use crate::monitor::SessionGroup;
use crate::record::is_rate;
use crate::warning::Warning;

/// A second below this share of the usual is a collapse.
const COLLAPSED_SHARE: f64 = 0.1;
/// What is usual is known after so many seconds.
const SECONDS_MIN: usize = 3;
/// Below so many transactions per second an empty second is chance: with 20 on average, fewer than
/// 2 come in one of ten million seconds.
const USUAL_MIN: f64 = 20.0;
/// Most collapses reported of one trial; the longest ones.
const WARNINGS_MAX: usize = 3;
/// A sample taken this long before or after a collapse still describes it, seconds.
const SAMPLE_DISTANCE_MAX: f64 = 0.3;
/// Sessions that must wait for the same, as a share of all, and how many there must be.
const SAME_SHARE: f64 = 0.9;
const SAME_SESSIONS_MIN: u32 = 4;
/// Minimum share of samples.
const SAME_SAMPLES: f64 = 0.5;

/// Throughput of one interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IntervalRate {
    /// Seconds since the common start.
    pub start: f64,
    /// Seconds.
    pub length: f64,
    /// Transactions committed.
    pub committed: u64,
}

/// What sessions were doing at a moment.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionSample {
    /// Seconds since the common start.
    pub at: f64,
    /// Most frequent first.
    pub sessions: Vec<SessionGroup>,
}

/// Knows what throughput is usual.
#[derive(Debug, Default)]
pub struct CollapseDetector {
    /// Rates of the seconds that were no collapse, rising.
    rates: Vec<f64>,
}

impl CollapseDetector {
    /// Takes the next interval. `Some` when it is a collapse: the median rate of the seconds
    /// before.
    pub fn observe(&mut self, interval: IntervalRate) -> Option<f64> {
        if !is_rate(interval.length) {
            return None;
        }
        let rate = interval.committed as f64 / interval.length;
        let usual = self.rates.get(self.rates.len() / 2).copied().unwrap_or(0.0);
        if self.rates.len() >= SECONDS_MIN && usual >= USUAL_MIN && rate < COLLAPSED_SHARE * usual {
            return Some(usual);
        }
        self.rates.insert(self.rates.partition_point(|known| *known < rate), rate);
        None
    }
}

/// Warnings about the window from `opens` to `closes`, seconds since the common start.
#[must_use]
pub fn warnings(
    rates: &[IntervalRate],
    samples: &[SessionSample],
    opens: f64,
    closes: f64,
) -> Vec<Warning> {
    let mut detector = CollapseDetector::default();
    let mut collapses: Vec<(IntervalRate, f64)> = Vec::new();
    for interval in rates
        .iter()
        .filter(|interval| interval.start + interval.length <= closes + SAMPLE_DISTANCE_MAX)
    {
        let Some(usual) = detector.observe(*interval).filter(|_| interval.start >= opens) else {
            continue;
        };
        match collapses.last_mut() {
            Some((last, _)) if interval.start - (last.start + last.length) < 0.01 => {
                last.length += interval.length;
                last.committed += interval.committed;
            }
            _ => collapses.push((*interval, usual)),
        }
    }
    collapses.sort_by(|(a, _), (b, _)| b.length.total_cmp(&a.length));
    collapses.truncate(WARNINGS_MAX);
    let mut warnings: Vec<Warning> = collapses
        .into_iter()
        .map(|(interval, usual)| Warning::Collapse {
            at: interval.start - opens,
            seconds: interval.length,
            committed: interval.committed,
            usual,
            sessions: worst_sample(
                samples,
                interval.start - SAMPLE_DISTANCE_MAX,
                interval.start + interval.length + SAMPLE_DISTANCE_MAX,
            ),
        })
        .collect();
    warnings.extend(same_wait(samples, opens, closes));
    warnings
}

/// Adds to the stalls of a trial what the server's sessions were doing at that time, if there are
/// samples.
/// Their times are seconds since the window opened, which it did at `opens`.
pub fn explain_stalls(warnings: &mut [Warning], samples: &[SessionSample], opens: f64) {
    for warning in warnings {
        if let Warning::Stall { longest_gap, at, sessions } = warning {
            // A look that began before the stall ended may have been answered after it.
            let seen = worst_sample(samples, opens + *at, opens + *at + *longest_gap);
            if !seen.is_empty() {
                *sessions = seen;
            }
        }
    }
}

/// The sample with the most waiting sessions; among equal ones the one with most at work, then one
/// that saw what most samples saw: the last answers before a stall, and the first after it, may
/// show sessions that wait for something else.
fn worst_sample(samples: &[SessionSample], from: f64, to: f64) -> Vec<SessionGroup> {
    let sum = |sample: &SessionSample, is_wanted: fn(&SessionGroup) -> bool| {
        sample
            .sessions
            .iter()
            .filter(|group| is_wanted(group))
            .map(|group| group.sessions)
            .sum::<u32>()
    };
    // Groups come with the most frequent first.
    let wait = |sample: &SessionSample| {
        let group = sample.sessions.iter().find(|group| !group.is_idle() && !group.wait.is_empty());
        group.map(|group| group.wait.clone())
    };
    let during = || samples.iter().filter(|sample| sample.at >= from && sample.at <= to);
    let weight = |sample: &&SessionSample| {
        (
            sum(sample, |group| !group.is_idle() && !group.wait.is_empty()),
            sum(sample, |group| !group.is_idle()),
            during().filter(|other| wait(other) == wait(sample)).count(),
        )
    };
    during().max_by_key(weight).map(|sample| sample.sessions.clone()).unwrap_or_default()
}

/// Nearly all sessions waiting for the same, in half of the looks: the wait that most of them
/// share.
fn same_wait(samples: &[SessionSample], opens: f64, closes: f64) -> Option<Warning> {
    let inside: Vec<&SessionSample> =
        samples.iter().filter(|sample| sample.at >= opens && sample.at <= closes).collect();
    let shared: Vec<Shared<'_>> =
        inside.iter().filter_map(|sample| shared_wait(&sample.sessions)).collect();
    let times = |wait: &str| shared.iter().filter(|shared| shared.wait == wait).count();
    let most = shared.iter().max_by_key(|shared| (times(shared.wait), shared.sessions))?;
    let share = times(most.wait) as f64 / inside.len() as f64;
    (inside.len() >= SECONDS_MIN && share >= SAME_SAMPLES).then(|| Warning::SameWait {
        wait: most.wait.to_owned(),
        statement: most.statement.to_owned(),
        share,
        sessions: most.sessions,
    })
}

struct Shared<'a> {
    wait: &'a str,
    /// The statement of the largest group.
    statement: &'a str,
    sessions: u32,
}

fn shared_wait(groups: &[SessionGroup]) -> Option<Shared<'_>> {
    let all: u32 = groups.iter().map(|group| group.sessions).sum();
    // Groups come with the most frequent first.
    let first = groups.iter().find(|group| !group.is_idle() && !group.wait.is_empty())?;
    let same = groups.iter().filter(|group| !group.is_idle() && group.wait == first.wait);
    let sessions: u32 = same.map(|group| group.sessions).sum();
    let is_shared = all >= SAME_SESSIONS_MIN && f64::from(sessions) >= SAME_SHARE * f64::from(all);
    is_shared.then_some(Shared { wait: &first.wait, statement: &first.statement, sessions })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(committed: &[u64]) -> Vec<IntervalRate> {
        let interval = |(i, committed): (usize, &u64)| IntervalRate {
            start: i as f64,
            length: 1.0,
            committed: *committed,
        };
        committed.iter().enumerate().map(interval).collect()
    }

    fn group(sessions: u32, wait: &str) -> SessionGroup {
        SessionGroup {
            sessions,
            state: "active".into(),
            wait: wait.into(),
            statement: "UPDATE t SET c = ?".into(),
        }
    }

    #[test]
    fn seconds_without_commits_form_one_collapse_with_session_waits() {
        let samples = [
            SessionSample { at: 4.0, sessions: vec![group(8, "")] },
            SessionSample { at: 5.5, sessions: vec![group(7, "IO:WALSync"), group(1, "")] },
            SessionSample { at: 9.0, sessions: vec![group(8, "Lock:tuple")] },
        ];
        let found =
            warnings(&rates(&[500, 510, 490, 500, 505, 0, 2, 480, 500]), &samples, 2.0, 9.0);
        let [Warning::Collapse { at, seconds, committed, usual, sessions }] = found.as_slice()
        else {
            panic!("{found:?}")
        };
        assert_eq!((*at, *seconds, *committed, *usual), (3.0, 2.0, 2, 500.0));
        assert_eq!(sessions[0], group(7, "IO:WALSync"));
    }

    #[test]
    fn partial_second_at_window_end_is_no_collapse() {
        let mut rates = rates(&[500, 510, 490, 500, 505]);
        rates.push(IntervalRate { start: 5.0, length: 0.7, committed: 0 });
        assert_eq!(warnings(&rates, &[], 0.0, 5.7), []);
        rates[5].length = 1.0;
        assert_eq!(warnings(&rates, &[], 0.0, 6.0).len(), 1, "a whole second is one");
    }

    #[test]
    fn a_stall_is_explained_by_the_looks_in_it() {
        let samples = [
            SessionSample { at: 1.9, sessions: vec![group(8, "IO:WALSync")] },
            SessionSample { at: 2.6, sessions: vec![group(3, "Lock:tuple"), group(5, "")] },
            SessionSample { at: 2.65, sessions: vec![group(8, "Lock:relation")] },
            SessionSample { at: 2.9, sessions: vec![group(8, "")] },
        ];
        let mut warnings = [
            Warning::SharedMachine,
            Warning::Stall { longest_gap: 0.7, at: 1.0, sessions: Vec::new() },
        ];
        explain_stalls(&mut warnings, &samples, 1.0);
        let Warning::Stall { sessions, .. } = &warnings[1] else { panic!("{warnings:?}") };
        assert_eq!(sessions[..], [group(8, "Lock:relation")]);
    }

    #[test]
    fn tied_session_samples_report_the_most_frequent_wait() {
        let sample = |at: f64, wait: &str| SessionSample { at, sessions: vec![group(8, wait)] };
        let samples = [
            sample(2.3, "Lock:relation"),
            sample(2.5, "Lock:relation"),
            sample(3.0, "waiting for handler commit"),
            sample(3.1, "Lock:relation"),
            sample(3.2, "waiting for handler commit"),
            sample(9.0, "waiting for handler commit"),
            sample(9.1, "waiting for handler commit"),
        ];
        assert_eq!(worst_sample(&samples, 0.0, 4.0), [group(8, "Lock:relation")]);
    }

    #[test]
    fn warm_up_slow_starts_and_rare_transactions_are_no_collapse() {
        assert_eq!(warnings(&rates(&[500, 500, 500, 0, 500]), &[], 4.0, 5.0), [], "in warm-up");
        assert_eq!(warnings(&rates(&[0, 0, 500, 500]), &[], 0.0, 4.0), [], "nothing is usual yet");
        assert_eq!(warnings(&rates(&[3, 2, 4, 0, 3]), &[], 0.0, 5.0), [], "chance");
        assert_eq!(warnings(&rates(&[500, 500, 500, 51, 500]), &[], 0.0, 5.0), [], "above a tenth");
        assert_eq!(warnings(&rates(&[500, 500, 500, 0]), &[], 0.0, 3.0), [], "after the window");
    }

    #[test]
    fn the_longest_collapses_are_reported() {
        let commits = [500, 500, 500, 0, 500, 0, 0, 500, 0, 500, 0, 0, 0, 500];
        let found = warnings(&rates(&commits), &[], 0.0, 14.0);
        let seconds: Vec<f64> = found
            .iter()
            .filter_map(|warning| match warning {
                Warning::Collapse { seconds, .. } => Some(*seconds),
                _ => None,
            })
            .collect();
        assert_eq!(seconds, [3.0, 2.0, 1.0]);
    }

    #[test]
    fn all_sessions_in_one_wait_are_found_and_idle_ones_are_not_meant() {
        let sample =
            |at: f64, groups: &[SessionGroup]| SessionSample { at, sessions: groups.to_vec() };
        let locked = [group(19, "Lock:tuple"), group(1, "")];
        let samples: Vec<SessionSample> = (0..4).map(|i| sample(f64::from(i), &locked)).collect();
        let found = warnings(&[], &samples, 0.0, 4.0);
        assert!(
            matches!(&found[..], [Warning::SameWait { wait, sessions: 19, share, .. }] if wait == "Lock:tuple" && *share == 1.0),
            "{found:?}"
        );
        let idle = SessionGroup {
            sessions: 20,
            state: "idle".into(),
            wait: "Client:ClientRead".into(),
            ..SessionGroup::default()
        };
        let samples: Vec<SessionSample> =
            (0..4).map(|i| sample(f64::from(i), std::slice::from_ref(&idle))).collect();
        assert_eq!(warnings(&[], &samples, 0.0, 4.0), []);
        let mixed = [group(10, "Lock:tuple"), group(10, "IO:WALSync")];
        let samples: Vec<SessionSample> = (0..4).map(|i| sample(f64::from(i), &mixed)).collect();
        assert_eq!(warnings(&[], &samples, 0.0, 4.0), []);
    }
}
