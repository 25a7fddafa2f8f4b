//! Tests: what several generators collect is, put together, what one would have collected.

use super::SampleNames;
use super::collector::{Collector, CollectorState};
use super::sample::{Occurrence, Sample};
use super::stages::StageTally;
use dyno_model::counters::OutcomeClass;
use dyno_model::failure::FailureKind;
use dyno_model::latency::{percentile, rank};
use dyno_model::plan::{LoadBy, LoadPlan, Stages, StopRule};
use dyno_model::record::IntervalRecord;
use dyno_model::stages::{Segment, Stage};
use dyno_model::units::Nanos;
use proptest::prelude::*;

const SECOND: u64 = 1_000_000_000;
/// Warm-up of a second and a half, and a window of six.
const OPENS: u64 = 3 * SECOND / 2;
const CLOSES: u64 = OPENS + 6 * SECOND;
/// Seconds after which intervals are collected: the last is before the window closes.
const SECONDS_COLLECTED: u64 = 7;

fn kinds() -> SampleNames {
    SampleNames {
        statements: vec!["select", "update"],
        transactions: vec!["read", "pay"],
        commit_kinds: vec![],
    }
}

/// A collector of a load with two stages.
fn collector() -> Collector {
    let stage = |name: &str| Stage {
        name: name.to_owned(),
        segments: vec![Segment { length: Nanos(3 * SECOND), from: 9.0, to: 9.0 }],
    };
    let stages = Stages { by: LoadBy::Rate, stages: vec![stage("a"), stage("b")] };
    let load = LoadPlan {
        warmup: Nanos(OPENS),
        stages: Some(stages),
        ..LoadPlan::new(StopRule::Duration(Nanos(CLOSES - OPENS)))
    };
    Collector::new("b01-001", &kinds(), OPENS, SECOND).with_stages(StageTally::of(&load))
}

fn sample(kind: u8, name_index: u16, end: u64, duration: u64) -> Sample {
    let occurrence = match kind {
        0..=3 => Occurrence::Committed,
        4 => Occurrence::Failed(FailureKind::Deadlock),
        5 => Occurrence::CutOff,
        6 => Occurrence::StartDelay,
        7 => Occurrence::Retried(FailureKind::Serialization),
        8 => Occurrence::StatementFailed,
        9 => Occurrence::Reconnected,
        _ => Occurrence::Statement(name_index, OutcomeClass::Read),
    };
    let duration = duration.min(end);
    Sample::new(occurrence, end, duration, end - duration >= OPENS).named(name_index)
}

/// Takes samples, those of each interval before it is complete; returns the intervals. The last one
/// is not complete when the trial ends.
fn collect(collector: &mut Collector, samples: &[Sample]) -> Vec<IntervalRecord> {
    let mut intervals = Vec::new();
    for second in 1..=SECONDS_COLLECTED {
        let now = second * SECOND;
        let is_new = |it: &&Sample| it.end() < now && it.end() + SECOND >= now;
        collector.add_samples(&samples.iter().filter(is_new).copied().collect::<Vec<_>>());
        intervals.extend(std::iter::from_fn(|| collector.pop_complete(now)));
    }
    let is_left = |it: &&Sample| it.end() >= SECONDS_COLLECTED * SECOND;
    collector.add_samples(&samples.iter().filter(is_left).copied().collect::<Vec<_>>());
    intervals.extend(collector.drain_remaining(CLOSES));
    intervals
}

/// Everything that follows from a collector, and its intervals, as text.
fn as_text(collector: &Collector, intervals: &[IntervalRecord]) -> String {
    let of_interval = |it: &IntervalRecord| {
        let transactions: Vec<u64> = it.transactions.iter().map(|(_, all)| all.len()).collect();
        let statements: Vec<u64> = it.statements.iter().map(|(_, all)| all.len()).collect();
        let percentiles = [50.0, 99.0].map(|at| percentile(&it.response_times, at));
        format!(
            "{:?} {} {} {:?} {} {:?} {} {:?} {:?} {transactions:?} {statements:?} {percentiles:?}\n",
            (it.start, it.length, it.is_warmup),
            it.failed,
            it.retries,
            it.outcomes,
            it.statement_errors,
            it.errors_by_kind,
            it.reconnects,
            it.latency,
            it.response_times.len(),
        )
    };
    let intervals: String = intervals.iter().map(of_interval).collect();
    let recorded = collector.response_times.iter_recorded();
    let recorded: Vec<(u64, u64)> =
        recorded.map(|it| (it.value_iterated_to(), it.count_at_value())).collect();
    let is_open = true;
    format!(
        "{intervals}{recorded:?} {:?} {:?} {:?} {} {:?} {:?} {:?} {} {}",
        collector.latency,
        collector.statements(),
        collector.transactions(&[None, Some(1.0)], is_open),
        collector.censored().len(),
        collector.lag(10_000),
        collector.longest_gaps(CLOSES - OPENS),
        collector.stages.as_ref().map(StageTally::records),
        collector.committed,
        collector.last_end,
    )
}

/// Puts together what generators collect, on the way of a message.
fn merged(by_generator: &[Vec<Sample>]) -> (Collector, Vec<IntervalRecord>) {
    let mut sum = collector();
    let mut generators = Vec::new();
    for samples in by_generator {
        let mut of_generator = collector().mergeable();
        let intervals = collect(&mut of_generator, samples);
        let text =
            serde_json::to_string(&(intervals, of_generator.into_state())).expect("it is data");
        let (intervals, collector): (Vec<IntervalRecord>, CollectorState) =
            serde_json::from_str(&text).expect("what was written can be read");
        assert!(collector.fits(2) && intervals.iter().all(|interval| sum.fits(interval)));
        generators.push((intervals, collector));
    }
    let mut intervals = Vec::new();
    for second in 1..=SECONDS_COLLECTED + 1 {
        for (intervals, _) in &generators {
            let is_new = |it: &&IntervalRecord| {
                let end = it.start.0 + it.length.0;
                end <= second * SECOND && end > (second - 1) * SECOND
            };
            intervals.iter().filter(is_new).for_each(|interval| sum.merge(interval));
        }
        intervals.extend(std::iter::from_fn(|| {
            sum.pop_complete(second.min(SECONDS_COLLECTED) * SECOND)
        }));
    }
    generators.iter().for_each(|(_, collector)| sum.merge_state(collector));
    intervals.extend(sum.drain_remaining(CLOSES));
    (sum, intervals)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn what_several_generators_collect_is_what_one_would_have_collected(
        drawn in prop::collection::vec(
            (0_u8..14, 0_u16..2, 0..CLOSES, 1_u64..4 * SECOND, 0_usize..4), 0..400),
        generators in 1_usize..5,
    ) {
        let mut by_generator = vec![Vec::new(); generators];
        let mut all = Vec::new();
        for (kind, name, end, duration, generator) in drawn {
            let sample = sample(kind, name, end, duration);
            all.push(sample);
            by_generator[generator % generators].push(sample);
        }
        let mut one = collector();
        let expected = collect(&mut one, &all);
        let (sum, found) = merged(&by_generator);
        prop_assert_eq!(as_text(&sum, &found), as_text(&one, &expected));

        let mut times: Vec<u64> = all
            .iter()
            .filter(|it| it.is_counted() && it.occurrence() == Occurrence::Committed)
            .map(|it| it.duration())
            .collect();
        times.sort_unstable();
        for percentage in [50.0, 95.0, 99.0].into_iter().filter(|_| !times.is_empty()) {
            let pooled = times[rank(times.len() as u64, percentage) as usize - 1];
            let found = percentile(&sum.response_times, percentage);
            prop_assert!(pooled <= found && found as f64 <= pooled as f64 * 1.001 + 1.0);
        }
    }
}
