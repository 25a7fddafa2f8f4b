//! Summaries and curves of merged histograms. Percentiles come from merged counts and are never
//! averaged.

use crate::model::{MergedLatency, PercentileCurve, PercentilePoint, StatementRow, StatementTable};
use crate::view::View;
use dyno_model::latency;
use dyno_model::response::Responses;
use dyno_model::units::{Nanos, millis};
use hdrhistogram::Histogram;
use std::collections::BTreeMap;

/// Number of steps of a percentile curve each time the share of values beyond it halves.
const STEPS_PER_HALVING: u32 = 4;

/// Distribution of all arrivals in milliseconds; `None` without values.
pub(crate) fn summary_of_all(responses: &Responses) -> Option<MergedLatency> {
    let bounds = responses.bounds();
    let summary = summary(bounds.lower())?;
    let shown = [50.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.9];
    let first = shown.into_iter().find(|percentile| bounds.percentile(*percentile).is_bound);
    let censored = responses.censored.len();
    Some(MergedLatency {
        censored,
        bounds_from: first.or((censored > 0).then_some(100.0)),
        ..summary
    })
}

/// Distribution in milliseconds; `None` without values.
pub(crate) fn summary(histogram: &Histogram<u64>) -> Option<MergedLatency> {
    if histogram.is_empty() {
        return None;
    }
    let milliseconds = |nanos| Nanos(nanos).as_millis_f64();
    let count = histogram.len();
    let at = |percentile: f64| {
        latency::is_shown(count, percentile)
            .then(|| milliseconds(latency::percentile(histogram, percentile)))
    };
    Some(MergedLatency {
        count,
        censored: 0,
        bounds_from: None,
        mean: millis(histogram.mean()),
        standard_deviation: millis(histogram.stdev()),
        min: milliseconds(histogram.min()),
        p50: at(50.0),
        p70: at(70.0),
        p80: at(80.0),
        p90: at(90.0),
        p95: at(95.0),
        p99: at(99.0),
        p999: at(99.9),
        max: milliseconds(histogram.max()),
    })
}

pub(crate) fn curves(view: &View<'_>) -> Vec<PercentileCurve> {
    view.configurations()
        .map(|(configuration, _)| {
            let merged = &view.merged[configuration];
            PercentileCurve {
                configuration,
                count: merged.count(),
                merged: curve(merged),
                repeats: view.responses(configuration).map(|responses| curve(&responses)).collect(),
            }
        })
        .filter(|curve| !curve.merged.is_empty())
        .collect()
}

/// Points at equal distances on the axis `log(1 / (1 - p))`, from 0 to the last point with
/// [`latency::BEYOND_MIN`] values beyond it, or to the first percentile that is only a lower bound;
/// one pass over the histogram.
fn curve(responses: &Responses) -> Vec<PercentilePoint> {
    let bounds = responses.bounds();
    let histogram = bounds.lower();
    let count = histogram.len() as f64;
    let mut points = Vec::new();
    let mut recorded = histogram.iter_recorded();
    for step in 0.. {
        let one_in = 2f64.powf(f64::from(step) / f64::from(STEPS_PER_HALVING));
        if count / one_in < latency::BEYOND_MIN {
            break;
        }
        let share = 1.0 - 1.0 / one_in;
        let wanted = latency::rank(histogram.len(), 100.0 * share);
        let mut below = points.last().map_or(0, |(below, _): &(u64, PercentilePoint)| *below);
        let mut value = points.last().map_or(0.0, |(_, point)| point.value_ms);
        while below < wanted
            && let Some(next) = recorded.next()
        {
            below += next.count_at_value();
            let highest =
                histogram.highest_equivalent(next.value_iterated_to()).min(histogram.max());
            value = Nanos(highest).as_millis_f64();
        }
        if !responses.censored.is_empty() && bounds.percentile(100.0 * share).is_bound {
            break;
        }
        points
            .push((below, PercentilePoint { percentile: 100.0 * share, one_in, value_ms: value }));
    }
    points.into_iter().map(|(_, point)| point).collect()
}

pub(crate) fn statements(view: &View<'_>) -> Vec<StatementTable> {
    view.configurations()
        .filter(|(configuration, _)| view.valid(*configuration).next().is_some())
        .map(|(configuration, _)| StatementTable {
            configuration,
            transaction: transaction_row(view, configuration),
            statements: statement_rows(view, configuration),
        })
        .collect()
}

fn transaction_row(view: &View<'_>, configuration: usize) -> StatementRow {
    let sum = |pick: fn(&dyno_model::ledger::Ledger) -> u64| {
        view.valid(configuration).map(|record| pick(&record.ledger)).sum::<u64>()
    };
    StatementRow {
        name: "transaction".to_owned(),
        ok: sum(|ledger| ledger.committed),
        failed: sum(|ledger| ledger.failed),
        unfinished: sum(|ledger| ledger.unfinished),
        rows: 0,
        latency: summary_of_all(&view.merged[configuration]),
    }
}

fn statement_rows(view: &View<'_>, configuration: usize) -> Vec<StatementRow> {
    let histograms = view.data.statements.get(&configuration).map_or(&[][..], Vec::as_slice);
    let histograms: BTreeMap<&str, _> =
        histograms.iter().map(|(name, times)| (name.as_str(), times)).collect();
    let mut rows: Vec<StatementRow> = Vec::new();
    // A script may have thousands of statements.
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for statement in view.valid(configuration).flat_map(|record| &record.ledger.statements) {
        let place = *places.entry(&statement.name).or_insert_with(|| {
            let latency =
                histograms.get(statement.name.as_str()).and_then(|times| summary(&times.full()));
            let name = statement.name.clone();
            rows.push(StatementRow { name, ok: 0, failed: 0, unfinished: 0, rows: 0, latency });
            rows.len() - 1
        });
        let row = &mut rows[place];
        row.ok += statement.ok;
        row.failed += statement.failed;
        row.unfinished += statement.unfinished;
        row.rows += statement.rows;
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn responses(committed: impl IntoIterator<Item = u64>) -> Responses {
        Responses { committed: histogram(committed), ..Responses::default() }
    }

    fn histogram(values: impl IntoIterator<Item = u64>) -> Histogram<u64> {
        let mut histogram = latency::histogram();
        for value in values {
            latency::record(&mut histogram, value);
        }
        histogram
    }

    #[test]
    fn a_percentile_with_fewer_than_ten_values_beyond_is_absent() {
        let summary = summary(&histogram((1..=199).map(|i| i * 1_000_000))).expect("values");
        assert!(summary.p90.is_some());
        assert_eq!(summary.p95, None, "9.95 values lie beyond");
        let more = super::summary(&histogram((1..=200).map(|i| i * 1_000_000))).expect("values");
        assert!((more.p95.expect("10 values lie beyond") - 190.0).abs() < 0.2);
        assert_eq!(more.p99, None);
    }

    #[test]
    fn a_curve_ends_where_ten_values_lie_beyond() {
        let points = curve(&responses((1..=10_000).map(|i| i * 1_000)));
        let last = points.last().expect("points");
        assert!(last.one_in <= 1000.0 && last.one_in > 800.0, "{last:?}");
        assert!(points.windows(2).all(|pair| pair[0].value_ms <= pair[1].value_ms));
        assert!(curve(&responses(1..=9)).is_empty());
    }

    #[test]
    fn a_curve_agrees_with_the_histograms_own_percentiles() {
        let histogram = histogram((1..=5_000).map(|i| 1_000 + i * i));
        let responses = Responses { committed: histogram.clone(), ..Responses::default() };
        for point in curve(&responses) {
            let own = Nanos(latency::percentile(&histogram, point.percentile)).as_millis_f64();
            assert!((point.value_ms - own).abs() <= own * 0.002, "{point:?} against {own}");
        }
    }

    #[test]
    fn arrivals_that_were_never_started_make_bounds_and_end_the_curve() {
        // 4,000 responses within 40 ms, and 160 arrivals that were never started.
        let mut responses = responses((1..=4_000).map(|i| i * 10_000));
        responses.censored = histogram((41..=200).map(|i| i * 1_000_000));
        let summary = summary_of_all(&responses).expect("values");
        assert_eq!(
            (summary.count, summary.censored, summary.bounds_from),
            (4_160, 160, Some(99.0))
        );
        assert!(!summary.is_bound(95.0) && summary.is_bound(99.9) && summary.is_bound(100.0));
        let end = curve(&responses).last().expect("points").percentile;
        assert!((90.0..96.2).contains(&end), "{end}: 4,000 of 4,160");
    }

    #[test]
    fn nothing_recorded_has_no_summary() {
        assert_eq!(summary(&histogram([])), None);
    }
}
