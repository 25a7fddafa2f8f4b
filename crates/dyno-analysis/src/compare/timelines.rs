//! Time series of a configuration's trials on both sides, second by second, drawn if there is no
//! curve over clients.

use super::model::{ConfigurationPair, TimelinePair};
use super::pool::PooledConfiguration;
use crate::model::{MeanTimelinePoint, TimelinePoint, mean_timeline};
use dyno_store::{Run, TrialOutcome};
use std::collections::BTreeMap;

/// Maximum number of pairs whose time series are drawn.
const PAIRS_MAX: usize = 6;

/// The runs of a side, and the time series of their trials by run and trial.
pub(super) type Timelines<'a> = (&'a [Run], &'a BTreeMap<(String, String), Vec<TimelinePoint>>);

/// The time series of pairs with a single number of clients; empty if a series has several numbers
/// of clients, which form a curve.
pub(super) fn timelines(
    [base, new]: [Timelines<'_>; 2],
    pairs: &[(&PooledConfiguration<'_>, &PooledConfiguration<'_>)],
    configurations: &[ConfigurationPair],
) -> Vec<TimelinePair> {
    let has_curve = configurations.iter().enumerate().any(|(at, pair)| {
        let is_same = |other: &ConfigurationPair| other.name.label == pair.name.label;
        configurations[..at].iter().any(is_same)
    });
    if has_curve {
        return Vec::new();
    }
    let pair = |(configuration, (of_base, of_new)): (
        usize,
        &(&PooledConfiguration<'_>, &PooledConfiguration<'_>),
    )| {
        TimelinePair { configuration, base: mean(base, of_base), new: mean(new, of_new) }
    };
    let all = pairs.iter().enumerate().take(PAIRS_MAX).map(pair);
    all.filter(|it| it.base.len() > 1 && it.new.len() > 1).collect()
}

/// The mean time series over a side's valid trials of a configuration.
fn mean(
    (runs, timelines): Timelines<'_>,
    pooled: &PooledConfiguration<'_>,
) -> Vec<MeanTimelinePoint> {
    let trials = runs.iter().flat_map(|run| run.outcomes.iter().map(move |it| (run, it)));
    let points = trials.filter_map(|(run, (trial, outcome))| {
        let TrialOutcome::Finished(record) = outcome else { return None };
        let is_its_own = pooled.valid().any(|it| std::ptr::eq(it, record.as_ref()));
        let points = timelines.get(&(run.name.clone(), trial.clone())).filter(|_| is_its_own)?;
        Some(points.as_slice())
    });
    mean_timeline(points)
}
