//! The panel below a timeline that shows the errors that clients received.

use crate::chart::text::Quantity;
use crate::chart::tracks::{Track, TrackInterval, TrackIntervals};
use crate::html::page::Page;
use crate::messages::page;
use dyno_analysis::model::{Timeline, TimelinePoint};
use dyno_model::failure::FailureKind;
use std::collections::BTreeMap;

/// Maximum number of error kinds with a separate area, the most frequent ones; the others share
/// one.
const KINDS_MAX: usize = 5;

/// Kinds of errors, the same for all repeats of a configuration.
pub(in crate::html) struct ErrorPanel {
    kinds: Vec<FailureKind>,
    has_others: bool,
}

impl ErrorPanel {
    /// `None` if no client received an error.
    pub(in crate::html) fn of(timelines: &[&Timeline]) -> Option<Self> {
        let mut sums: BTreeMap<FailureKind, u64> = BTreeMap::new();
        for point in timelines.iter().flat_map(|timeline| &timeline.errors) {
            *sums.entry(point.kind).or_default() += point.errors;
        }
        let mut kinds: Vec<(FailureKind, u64)> = sums.into_iter().collect();
        kinds.sort_by_key(|(_, sum)| std::cmp::Reverse(*sum));
        let has_others = kinds.len() > KINDS_MAX;
        let kinds: Vec<FailureKind> =
            kinds.into_iter().take(KINDS_MAX).map(|(kind, _)| kind).collect();
        (!kinds.is_empty()).then_some(Self { kinds, has_others })
    }

    pub(in crate::html) fn track(&self, page: &Page<'_>) -> Track {
        let others = self.has_others.then(|| page.text(&page::CHART_KEY_OTHERS).to_owned());
        Track {
            title: page.text(&page::CHART_ERRORS).to_owned(),
            quantity: Quantity::Number,
            max: None,
            areas: self.kinds.iter().map(|kind| kind.name().to_owned()).chain(others).collect(),
            lines: Vec::new(),
        }
    }

    /// Errors per second of one repeat, with `step` intervals merged. Warm-up and measured window
    /// are never mixed.
    pub(in crate::html) fn intervals(&self, timeline: &Timeline, step: usize) -> TrackIntervals {
        let phases = timeline.points.chunk_by(|a, b| a.is_warmup == b.is_warmup);
        let intervals = phases.flat_map(|phase| phase.chunks(step.max(1)));
        intervals.map(|points| self.interval(timeline, points)).collect()
    }

    fn interval(&self, timeline: &Timeline, points: &[TimelinePoint]) -> TrackInterval {
        let (first, last) = (&points[0], &points[points.len() - 1]);
        let length = last.start_s + last.length_s - first.start_s;
        let mut counts = vec![0; self.kinds.len() + usize::from(self.has_others)];
        let is_within = |start: f64| first.start_s <= start && start < first.start_s + length;
        for point in timeline.errors.iter().filter(|point| is_within(point.start_s)) {
            let at =
                self.kinds.iter().position(|kind| *kind == point.kind).unwrap_or(self.kinds.len());
            counts[at] += point.errors;
        }
        let areas = counts.into_iter().map(|count| Some(count as f64 / length)).collect();
        TrackInterval { start: first.start_s, length, areas, lines: Vec::new() }
    }
}
