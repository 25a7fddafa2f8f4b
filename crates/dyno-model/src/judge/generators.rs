//! Warnings about the load generator of a trial, or about each of several.

use crate::generators::{GeneratorSummary, GeneratorsRecord};
use crate::record::{TrialRecord, is_rate};
use crate::warning::{GeneratorName, Severity, Warning};
use std::mem::discriminant;

/// Embedded SQLite works in the generator's threads: their CPU time includes the database's.
pub(super) fn warnings(record: &TrialRecord, is_embedded: bool) -> Vec<Warning> {
    // For a script that sends nothing, the script itself is measured; its time is not attributed to
    // a server.
    let has_sent = record.counters.statements.iter().any(|statement| statement.sent > 0);
    let is_busy = !is_embedded && has_sent;
    let own = &record.generator;
    let mut warnings = match &record.generators {
        None => busy(is_busy, own.busiest_worker(), own.held_up())
            .map(|(_, warning)| warning)
            .filter(|warning| warning.severity() > Severity::Note)
            .collect(),
        Some(all) => of_each(record, all, is_busy),
    };
    if own.shares_machine && !is_embedded {
        warnings.push(Warning::SharedMachine);
    }
    warnings
}

/// Warnings about the workers of a generator, with their degree.
fn busy(is_busy: bool, busiest: f64, held_up: Option<f64>) -> impl Iterator<Item = (f64, Warning)> {
    let busy = is_busy.then_some((busiest, Warning::GeneratorBusy { share: busiest }));
    busy.into_iter().chain(held_up.map(|share| (share, Warning::Stalled { share })))
}

/// Warnings about each of several generators: one per kind and severity, which names all
/// generators that it is about.
fn of_each(record: &TrialRecord, all: &GeneratorsRecord, is_busy: bool) -> Vec<Warning> {
    let mut reported: Vec<(f64, Vec<GeneratorName>, Warning)> = Vec::new();
    for summary in &all.summaries {
        let name = || GeneratorName { number: summary.number, host: summary.host.clone() };
        let own = busy(is_busy, summary.busiest_worker, summary.held_up);
        for (degree, warning) in own.chain(surroundings(record, all, summary)) {
            let severity = warning.severity();
            if severity == Severity::Note {
                continue;
            }
            let is_same = |it: &&mut (f64, Vec<GeneratorName>, Warning)| {
                discriminant(&it.2) == discriminant(&warning) && it.2.severity() == severity
            };
            match reported.iter_mut().find(is_same) {
                None => reported.push((degree, vec![name()], warning)),
                Some((most, generators, worst)) => {
                    generators.push(name());
                    if degree > *most {
                        (*most, *worst) = (degree, warning);
                    }
                }
            }
        }
    }
    let named =
        |(_, generators, worst)| Warning::OfGenerators { generators, inner: Box::new(worst) };
    reported.into_iter().map(named).collect()
}

/// Warnings about the schedule, the machine and the clock of a generator, with their degree.
fn surroundings(
    record: &TrialRecord,
    all: &GeneratorsRecord,
    summary: &GeneratorSummary,
) -> impl Iterator<Item = (f64, Warning)> {
    let late = summary.lag.zip(record.open_loop).and_then(|(lag, open)| open.lateness(lag));
    let late = late.map(|warning| (summary.lag.map_or(0.0, |lag| lag.p99 as f64), warning));
    let share = summary.steal;
    // In a short window a single tick of stolen time exceeds the threshold.
    let steal =
        is_rate(record.window_length.as_secs_f64()).then_some((share, Warning::Steal { share }));
    let error = summary.clock_uncertainty.0 + summary.clock_drift.unsigned_abs();
    let share = error as f64 / all.interval.0.max(1) as f64;
    let clock = (all.interval.0 > 0)
        .then_some((share, Warning::ClockUncertain { error_ms: error as f64 / 1e6, share }));
    late.into_iter().chain(steal).chain(clock)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Lag, OpenLoop};
    use crate::response::{BoundedLatency, ResponseSummary};
    use crate::units::Nanos;

    const SECOND: u64 = 1_000_000_000;

    /// The warnings about three generators of which number 1 and 2 differ from the first.
    fn warnings_after(change: impl Fn(&mut GeneratorSummary)) -> Vec<(Vec<u32>, Warning)> {
        let summary = |number| GeneratorSummary {
            number,
            host: format!("load{number}"),
            lag: Some(Lag { p99: 1, ..Lag::default() }),
            clock_uncertainty: Nanos(50_000),
            ..GeneratorSummary::default()
        };
        let mut summaries: Vec<GeneratorSummary> = (0..3).map(summary).collect();
        summaries[1..].iter_mut().for_each(change);
        let response =
            ResponseSummary { p50: BoundedLatency::value(10e6), ..ResponseSummary::default() };
        let mut record = TrialRecord {
            window_length: Nanos(10 * SECOND),
            open_loop: Some(OpenLoop { response: Some(response), ..OpenLoop::default() }),
            generators: Some(GeneratorsRecord {
                summaries,
                interval: Nanos(SECOND),
                ..GeneratorsRecord::default()
            }),
            ..TrialRecord::default()
        };
        record
            .counters
            .statements
            .push(crate::counters::StatementCounters { sent: 1, ..Default::default() });
        let named = |warning| match warning {
            Warning::OfGenerators { generators, inner } => {
                assert!(generators.iter().all(|it| it.host == format!("load{}", it.number)));
                (generators.iter().map(|it| it.number).collect(), *inner)
            }
            other => (Vec::new(), other),
        };
        warnings(&record, false).into_iter().map(named).collect()
    }

    #[test]
    fn each_of_several_generators_is_judged_by_itself_and_named() {
        assert_eq!(warnings_after(|_| ()), []);
        let both = vec![1, 2];
        let share = |summary: &GeneratorSummary| 0.75 + f64::from(summary.number) / 100.0;
        assert_eq!(
            warnings_after(|summary| summary.busiest_worker = share(summary)),
            [(both.clone(), Warning::GeneratorBusy { share: 0.77 })],
            "the worst of both"
        );
        let found = warnings_after(|summary| {
            summary.busiest_worker = if summary.number == 1 { 0.95 } else { 0.75 }
        });
        assert_eq!(
            found,
            [
                (both[..1].to_vec(), Warning::GeneratorBusy { share: 0.95 }),
                (both[1..].to_vec(), Warning::GeneratorBusy { share: 0.75 }),
            ],
            "an invalid one is not hidden behind another"
        );
        assert_eq!(
            warnings_after(|summary| summary.held_up = Some(0.05)),
            [(both.clone(), Warning::Stalled { share: 0.05 })]
        );
        assert_eq!(
            warnings_after(|summary| summary.steal = 0.02),
            [(both.clone(), Warning::Steal { share: 0.02 })]
        );
        let late = Lag { p99: 6_000_000, ..Lag::default() };
        assert_eq!(
            warnings_after(|summary| summary.lag = Some(late)),
            [(both, Warning::GeneratorLate { lag_ms: 6.0, share: 0.6 })]
        );
    }

    #[test]
    fn a_clock_that_is_uncertain_by_a_tenth_of_an_interval_is_a_warning() {
        let with = |uncertainty: u64, drift: i64| {
            warnings_after(|summary| {
                (summary.clock_uncertainty, summary.clock_drift) = (Nanos(uncertainty), drift);
            })
        };
        assert_eq!(with(99_000_000, 0), []);
        let found = with(60_000_000, -40_000_000);
        let [(numbers, warning)] = &found[..] else { panic!("{found:?}") };
        assert_eq!(numbers.len(), 2);
        assert_eq!(*warning, Warning::ClockUncertain { error_ms: 100.0, share: 0.1 });
        assert_eq!(warning.severity(), Severity::Warning);
    }
}
