//! Effects of faults: duration of the write outage, time until throughput recovered, lost
//! throughput.
//!
//! The reference throughput is the mean of the whole seconds of the window before the first fault.
//! Because single seconds vary, throughput counts as recovered from the first second that reaches
//! 90 % of the reference and starts a period of up to ten seconds whose mean does, too.

use crate::model::{FaultErrors, FaultRow, FaultTrial, Figure, Figures, Metric};
use crate::stats::student::median;
use crate::view::View;
use dyno_model::counters::TrialCounters;
use dyno_model::failure::FailureKind;
use dyno_model::judge::has_faults;
use dyno_model::lists;
use dyno_model::plan::Trial;
use dyno_model::record::{TrialRecord, is_rate};
use dyno_store::{ErrorLine, TimelineLine};

/// Share of the reference throughput from which throughput counts as recovered.
const RECOVERED_SHARE: f64 = 0.9;
/// Duration for which throughput must stay there, in s; at the end of the trial, the remaining
/// time.
const RECOVERED_FOR: f64 = 10.0;
/// A shorter remaining time is too short to decide, in s.
const RECOVERED_FOR_MIN: f64 = 3.0;

pub(crate) fn faults(view: &View<'_>) -> Vec<FaultRow> {
    view.configurations().filter_map(|(configuration, _)| row(view, configuration)).collect()
}

fn row(view: &View<'_>, configuration: usize) -> Option<FaultRow> {
    let trials = trials(view, configuration);
    (!trials.is_empty()).then(|| FaultRow {
        configuration,
        trials,
        errors: errors(trials_with_faults(view, configuration).filter_map(|record| {
            let files = view.data.trials.get(&record.trial.id)?;
            Some((opens(view, &record.trial) + first_fault(record), &files.errors[..]))
        })),
    })
}

/// The valid trials that had faults.
fn trials_with_faults<'v>(
    view: &'v View<'_>,
    configuration: usize,
) -> impl Iterator<Item = &'v TrialRecord> + 'v {
    view.valid(configuration).filter(|record| has_faults(record))
}

fn trials(view: &View<'_>, configuration: usize) -> Vec<FaultTrial> {
    let of = |record: &TrialRecord| {
        let files = view.data.trials.get(&record.trial.id);
        let timeline = files.map_or(&[][..], |files| &files.timeline);
        trial(record, opens(view, &record.trial), timeline)
    };
    trials_with_faults(view, configuration).map(of).collect()
}

/// What faults did to a configuration, over its valid trials.
pub(crate) fn figures(view: &View<'_>, configuration: usize) -> Figures {
    let trials = trials(view, configuration);
    if trials.is_empty() {
        return Figures::default();
    }
    let sorted = |of: fn(&FaultTrial) -> Option<f64>| {
        let mut values: Vec<f64> = trials.iter().filter_map(of).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let median_of = |values: &[f64]| median(values).map(Figure::Value);
    let maximum_of = |values: &[f64]| values.last().map(|value| Figure::Value(*value));
    let [outage, recovered, missed, slowest] = [
        sorted(|trial| Some(trial.outage_s)),
        sorted(|trial| trial.recovered_s),
        sorted(|trial| trial.missed_s),
        sorted(|trial| Some(trial.slowest_s)),
    ];
    let not_recovered = (trials.len() - recovered.len()) as u64;
    let sum = |of: fn(&TrialCounters) -> u64| {
        let all = trials_with_faults(view, configuration).map(|record| of(&record.counters));
        Some(Figure::Count(all.sum()))
    };
    Figures::from([
        (Metric::Outage, median_of(&outage)),
        (Metric::OutageMax, maximum_of(&outage)),
        (Metric::Recovered, median_of(&recovered)),
        (Metric::RecoveredMax, maximum_of(&recovered)),
        (Metric::NotRecovered, Some(not_recovered.into())),
        (Metric::Missed, median_of(&missed)),
        (Metric::Slowest, median_of(&slowest)),
        (Metric::SlowestMax, maximum_of(&slowest)),
        (Metric::FailedAfterFault, sum(|counters| counters.failed)),
        (Metric::Reconnects, sum(|counters| counters.reconnects)),
    ])
}

/// Time of the first fault, in seconds since the window opened.
fn first_fault(record: &TrialRecord) -> f64 {
    record.faults().iter().map(|fault| fault.at).min().unwrap_or_default().as_secs_f64()
}

/// The errors of trials by kind, given each trial's first fault in seconds since the first client
/// began.
fn errors<'a>(trials: impl Iterator<Item = (f64, &'a [ErrorLine])>) -> Vec<FaultErrors> {
    let mut kinds: Vec<ErrorsOfKind> = Vec::new();
    for (fault, lines) in trials {
        for line in
            lines.iter().filter(|line| !line.is_warmup && line.start_s + line.length_s > fault)
        {
            let (first, last) =
                ((line.start_s - fault).max(0.0), line.start_s + line.length_s - fault);
            let new = || ErrorsOfKind { kind: line.kind, errors: 0, first, last, most: (0, first) };
            let known = lists::entry(&mut kinds, |known| known.kind == line.kind, new);
            known.errors += line.errors;
            known.first = known.first.min(first);
            known.last = known.last.max(last);
            if line.errors > known.most.0 {
                known.most = (line.errors, first);
            }
        }
    }
    kinds.sort_by(|a, b| a.first.total_cmp(&b.first).then(a.kind.cmp(&b.kind)));
    let row = |it: ErrorsOfKind| FaultErrors {
        kind: it.kind,
        figures: Figures::from([
            (Metric::Errors, Some(it.errors.into())),
            (Metric::ErrorsFirst, Some(it.first.into())),
            (Metric::ErrorsLast, Some(it.last.into())),
            (Metric::ErrorsMost, Some(it.most.0.into())),
            (Metric::ErrorsMostAt, Some(it.most.1.into())),
        ]),
    };
    kinds.into_iter().map(row).collect()
}

/// Errors of one kind, with times in seconds since the fault.
struct ErrorsOfKind {
    kind: FailureKind,
    errors: u64,
    /// Start of the first interval that has one.
    first: f64,
    /// End of the last interval that has one.
    last: f64,
    /// Most in one interval of one trial, and the start of that interval.
    most: (u64, f64),
}

/// Start of a trial's window, in seconds since the common start.
fn opens(view: &View<'_>, trial: &Trial) -> f64 {
    view.plan().configuration(trial).load.warmup.as_secs_f64()
}

fn trial(record: &TrialRecord, opens: f64, timeline: &[TimelineLine]) -> FaultTrial {
    let facts = record.facts.clone().unwrap_or_default();
    let first = first_fault(record);
    let ends_later =
        facts.gaps.iter().filter(|gap| gap.at.as_secs_f64() + gap.length.as_secs_f64() > first);
    let recovery = Recovery::of(timeline, opens + first);
    FaultTrial {
        trial: record.trial.id.clone(),
        outage_s: ends_later.map(|gap| gap.length.as_secs_f64()).fold(0.0, f64::max),
        recovered_s: recovery.as_ref().and_then(Recovery::recovered),
        missed_s: recovery.as_ref().map(Recovery::lost_seconds),
        slowest_s: record.transaction_latency.max as f64 / 1e9,
        faults: facts.faults,
    }
}

/// The seconds of the window around the first fault.
struct Recovery<'a> {
    /// Time of the fault, in seconds since the common start.
    fault: f64,
    /// Mean throughput before the fault.
    rate_before: f64,
    /// The seconds that start after the fault.
    after: Vec<&'a TimelineLine>,
}

impl<'a> Recovery<'a> {
    /// `None` if there is no data from before the fault.
    fn of(timeline: &'a [TimelineLine], fault: f64) -> Option<Self> {
        let counted = || timeline.iter().filter(|line| !line.is_warmup && is_rate(line.length_s));
        let before: Vec<_> =
            counted().filter(|line| line.start_s + line.length_s <= fault).collect();
        let after = counted().filter(|line| line.start_s + line.length_s > fault).collect();
        let rate_before = rate(&before)?;
        (rate_before > 0.0).then_some(Self { fault, rate_before, after })
    }

    /// Index of the first second in which throughput has recovered.
    fn recovery_index(&self) -> Option<usize> {
        (0..self.after.len()).find(|at| {
            let rest = &self.after[*at..];
            // The second that contains the fault lies partly before it.
            let is_after = rest[0].start_s >= self.fault;
            let mut length = 0.0;
            let lines = rest.iter().take_while(|line| {
                let is_within = length < RECOVERED_FOR;
                length += line.length_s;
                is_within
            });
            let lines = lines.count();
            let length: f64 = rest[..lines].iter().map(|line| line.length_s).sum();
            let has_recovered = |lines: &[&TimelineLine]| {
                rate(lines).is_some_and(|rate| rate >= RECOVERED_SHARE * self.rate_before)
            };
            is_after
                && length >= RECOVERED_FOR_MIN
                && has_recovered(&rest[..1])
                && has_recovered(&rest[..lines])
        })
    }

    fn recovered(&self) -> Option<f64> {
        Some(self.after[self.recovery_index()?].start_s - self.fault)
    }

    fn lost_seconds(&self) -> f64 {
        let until = self.recovery_index().unwrap_or(self.after.len());
        let missed: f64 = self.after[..until]
            .iter()
            .map(|line| {
                // Only the part of that second after the fault counts.
                let after_fault = line.start_s + line.length_s - line.start_s.max(self.fault);
                let before = (line.length_s - after_fault) * self.rate_before;
                after_fault * self.rate_before - (line.committed as f64 - before).max(0.0)
            })
            .sum();
        (missed / self.rate_before).max(0.0)
    }
}

/// Commits per second.
fn rate(lines: &[&TimelineLine]) -> Option<f64> {
    let length: f64 = lines.iter().map(|line| line.length_s).sum();
    let committed: u64 = lines.iter().map(|line| line.committed).sum();
    (length > 0.0).then(|| committed as f64 / length)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seconds with these numbers of commits; the first two are warm-up.
    fn timeline(commits: &[u64]) -> Vec<TimelineLine> {
        let line = |(at, committed): (usize, &u64)| TimelineLine {
            start_s: at as f64,
            length_s: 1.0,
            is_warmup: at < 2,
            committed: *committed,
            failed: 0,
            retries: 0,
            latency_ms: None,
        };
        commits.iter().enumerate().map(line).collect()
    }

    fn recovery(commits: &[u64], fault: f64) -> Option<(Option<f64>, f64)> {
        let timeline = timeline(commits);
        Recovery::of(&timeline, fault)
            .map(|recovery| (recovery.recovered(), recovery.lost_seconds()))
    }

    #[test]
    fn throughput_is_back_with_the_first_second_from_which_on_it_stays() {
        // 100 a second; nothing from 5.0 to 8.0; 50, then 95 again.
        let commits = [7, 7, 100, 100, 100, 0, 0, 0, 50, 95, 100, 90, 105];
        assert_eq!(recovery(&commits, 5.0), Some((Some(4.0), 3.5)));
        // In the middle of a second; its first half is unaffected.
        let commits = [7, 7, 100, 100, 100, 50, 0, 0, 50, 95, 100, 90, 105];
        assert_eq!(recovery(&commits, 5.5), Some((Some(3.5), 3.0)));
    }

    #[test]
    fn a_second_that_catches_up_is_not_the_end() {
        let commits = [7, 7, 100, 100, 0, 300, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100, 100, 100, 100];
        let (recovered, _) = recovery(&commits, 4.0).unwrap();
        assert_eq!(recovered, Some(12.0));
    }

    #[test]
    fn incomplete_or_last_moment_recovery_does_not_count() {
        assert_eq!(recovery(&[7, 7, 100, 100, 0, 0, 80, 80, 80], 4.0), Some((None, 2.6)));
        assert_eq!(recovery(&[7, 7, 100, 100, 0, 0, 0, 100, 100], 4.0), Some((None, 3.0)));
    }

    #[test]
    fn without_a_time_before_nothing_is_reported() {
        assert_eq!(recovery(&[7, 7, 0, 0, 100], 2.0), None);
        assert_eq!(recovery(&[7, 7, 0, 0, 100], 4.0), None, "nothing was usual");
    }

    #[test]
    fn errors_count_from_the_fault_of_their_own_trial() {
        use dyno_model::failure::FailureKind::{ConnectRefused, Deadlock, Timeout};
        let line = |start_s: f64, kind, errors| ErrorLine {
            start_s,
            length_s: 1.0,
            is_warmup: start_s < 2.0,
            kind,
            errors,
        };
        let first = [
            line(1.0, Deadlock, 9),
            line(3.0, Deadlock, 4),
            line(5.0, Timeout, 8),
            line(8.0, Timeout, 2),
        ];
        let second = [line(6.0, ConnectRefused, 3), line(7.0, Timeout, 9)];
        let found = errors([(5.5, &first[..]), (6.0, &second[..])].into_iter());
        let seen: Vec<(FailureKind, Vec<f64>)> = found
            .iter()
            .map(|it| (it.kind, it.figures.iter().map(|(_, figure)| figure.value()).collect()))
            .collect();
        // Errors, first, last, most, and when.
        let expected = [
            (ConnectRefused, vec![3.0, 0.0, 1.0, 3.0, 0.0]),
            (Timeout, vec![19.0, 0.0, 3.5, 9.0, 1.0]),
        ];
        assert_eq!(seen, expected);
    }
}
