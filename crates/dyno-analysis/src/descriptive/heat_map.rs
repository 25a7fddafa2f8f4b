//! Latency heat maps: the distribution of response times over a trial.

use crate::model::{HeatColumn, HeatMap};
use crate::view::View;
use dyno_model::latency::band_begin;
use dyno_model::plan::Trial;
use dyno_store::CountedInterval;

/// Maximum number of columns in a heat map, in a report with many configurations.
const COLUMNS_MAX: usize = 60;
const COLUMNS_MAX_IN_MANY: usize = 24;

/// Minimum number of intervals for a heat map.
const INTERVALS_MIN: usize = 4;

/// Up to this many configurations, each has a heat map; with more, only this many whose trials
/// stalled the longest.
const CONFIGURATIONS_MAX: usize = 24;
const MAPS_OF_MANY: usize = 4;

/// One heat map per configuration, in order: that of the trial with the longest time without a
/// commit.
pub(crate) fn heat_maps(view: &View<'_>) -> Vec<HeatMap> {
    let intervals =
        |trial: &Trial| view.data.trials.get(&trial.id).map_or(&[][..], |files| &files.intervals);
    let gap = |trial: &Trial| {
        let record = view
            .measured_records(trial.configuration)
            .iter()
            .find(|record| record.trial.id == trial.id);
        record.and_then(|record| record.longest_gap).map_or(0.0, |gap| gap.length.as_secs_f64())
    };
    let chosen = |configuration: usize| {
        let trials =
            view.plan().trials.iter().filter(move |trial| trial.configuration == configuration);
        let shown = trials.filter(|trial| {
            intervals(trial).iter().filter(|it| !it.counts.is_empty()).count() >= INTERVALS_MIN
        });
        // The first of equal trials.
        shown.map(|trial| (gap(trial), trial)).reduce(|a, b| if b.0 > a.0 { b } else { a })
    };
    let mut all: Vec<(f64, &Trial)> =
        (0..view.plan().configurations.len()).filter_map(chosen).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (number, columns) = if all.len() > CONFIGURATIONS_MAX {
        (MAPS_OF_MANY, COLUMNS_MAX_IN_MANY)
    } else {
        (CONFIGURATIONS_MAX, COLUMNS_MAX)
    };
    all.truncate(number);
    all.sort_by_key(|(_, trial)| trial.configuration);
    all.into_iter().filter_map(|(_, trial)| heat_map(trial, intervals(trial), columns)).collect()
}

fn heat_map(trial: &Trial, intervals: &[CountedInterval], columns: usize) -> Option<HeatMap> {
    let bands = || intervals.iter().flat_map(|it| &it.counts).map(|(band, _)| *band);
    let (low, high) = (bands().min()?, bands().max()?);
    let step = intervals.len().div_ceil(columns);
    let column = |intervals: &[CountedInterval]| {
        let mut counts = vec![0; usize::from(high - low) + 1];
        for (band, number) in intervals.iter().flat_map(|it| &it.counts) {
            counts[usize::from(band - low)] += number;
        }
        let length_s = intervals.iter().map(|it| it.length_s).sum();
        HeatColumn { start_s: intervals[0].start_s, length_s, counts }
    };
    let mut columns: Vec<HeatColumn> = intervals.chunks(step).map(column).collect();
    // The remainder at the end is not a column: its few transactions would become a high rate.
    if let [.., before, last] = &mut columns[..]
        && last.length_s < before.length_s / 2.0
    {
        before.length_s += last.length_s;
        before.counts.iter_mut().zip(&last.counts).for_each(|(sum, count)| *sum += count);
        columns.pop();
    }
    Some(HeatMap {
        trial: trial.id.clone(),
        configuration: trial.configuration,
        block: trial.block,
        bands_ms: (low..=high + 1).map(|band| band_begin(band) / 1e6).collect(),
        columns,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::latency::band;
    use dyno_store::fixture::Shape;

    #[test]
    fn every_transaction_of_the_window_is_in_its_band_and_in_one_stretch() {
        let data = Shape::small().read();
        let view = View::new(&data);
        let maps = heat_maps(&view);
        assert!(!maps.is_empty());
        for map in &maps {
            let record =
                view.measured_records(map.configuration).iter().find(|it| it.trial.id == map.trial);
            let sum: u64 = map.columns.iter().flat_map(|column| &column.counts).sum();
            assert_eq!(Some(sum), record.map(|it| it.transaction_latency.count), "{}", map.trial);
            assert!(map.columns.iter().all(|it| it.counts.len() + 1 == map.bands_ms.len()));
        }
        let mut configurations: Vec<usize> = maps.iter().map(|map| map.configuration).collect();
        configurations.dedup();
        assert_eq!(configurations.len(), maps.len(), "one each");
    }

    #[test]
    fn a_long_trial_is_shown_in_sixty_stretches_and_loses_nothing() {
        let interval = |second: u32| CountedInterval {
            start_s: f64::from(second),
            length_s: 1.0,
            // A second in which one transaction took about a second.
            counts: if second == 150 {
                vec![(band(1_000_000_000), 1)]
            } else {
                vec![(band(1_000_000), 7)]
            },
        };
        let intervals: Vec<_> = (10..310).map(interval).collect();
        let map = heat_map(
            &Trial { id: "b01-001".to_owned(), block: 1, configuration: 0 },
            &intervals,
            COLUMNS_MAX,
        )
        .expect("a map");
        assert_eq!(
            (map.columns.len(), map.columns[28].start_s, map.columns[28].length_s),
            (60, 150.0, 5.0)
        );
        assert!((map.bands_ms[0] - 1.0).abs() < 1e-9, "{:?}", map.bands_ms);
        assert_eq!(map.columns[28].counts.last(), Some(&1));
        let sum: u64 = map.columns.iter().flat_map(|column| &column.counts).sum();
        assert_eq!(sum, 299 * 7 + 1);
    }
    #[test]
    fn heat_map_merges_a_short_last_interval_into_its_last_column() {
        let interval = |second: u32| CountedInterval {
            start_s: f64::from(second),
            length_s: if second == 10 { 0.1 } else { 1.0 },
            counts: vec![(band(1_000_000), 3)],
        };
        let intervals: Vec<_> = (0..=10).map(interval).collect();
        let trial = Trial { id: "b01-001".to_owned(), block: 1, configuration: 0 };
        let columns = heat_map(&trial, &intervals, COLUMNS_MAX).expect("a map").columns;
        let last = columns.last().expect("ten");
        assert_eq!((columns.len(), last.length_s, last.counts.as_slice()), (10, 1.1, &[6][..]));
    }
}
