//! Summaries and curves of merged histograms. These percentiles come from the merged counts of all
//! trials and are not averaged. The main table has means of the trials' percentiles instead, with
//! confidence intervals (`crate::estimate`).

use crate::model::{
    Figure, Figures, Metric, PercentileCurve, PercentilePoint, StatementRow, StatementTable,
};
use crate::view::View;
use dyno_model::latency;
use dyno_model::response::Responses;
use dyno_model::units::{Nanos, millis};
use hdrhistogram::Histogram;
use std::collections::BTreeMap;

/// Percentiles of merged distributions.
const PERCENTILES: [(f64, Metric); 7] = [
    (50.0, Metric::MergedP50),
    (70.0, Metric::MergedP70),
    (80.0, Metric::MergedP80),
    (90.0, Metric::MergedP90),
    (95.0, Metric::MergedP95),
    (99.0, Metric::MergedP99),
    (99.9, Metric::MergedP999),
];

/// Number of steps of a percentile curve each time the share of values beyond it halves.
const STEPS_PER_HALVING: u32 = 4;

/// Distribution of all arrivals, with lower bounds where arrivals without a commit affect it. In an
/// open loop with such arrivals, mean, deviation and maximum are those of all arrivals, with the
/// others at their ages.
pub(crate) fn summary_of_all(responses: &Responses) -> Figures {
    let bounds = responses.bounds();
    let censored = responses.censored.len();
    let is_bound = |percentile: f64| match percentile {
        // The mean and the maximum.
        100.0 => censored > 0,
        _ => bounds.percentile(percentile).is_bound,
    };
    let mut figures = distribution(bounds.lower(), is_bound);
    figures.set(Metric::MergedCensored, Some(censored).filter(|censored| *censored > 0));
    figures
}

/// Distribution of a merged histogram; empty without values.
pub(crate) fn summary(histogram: &Histogram<u64>) -> Figures {
    distribution(histogram, |_| false)
}

fn distribution(histogram: &Histogram<u64>, is_bound: impl Fn(f64) -> bool) -> Figures {
    if histogram.is_empty() {
        return Figures::default();
    }
    let milliseconds = |nanos| Nanos(nanos).as_millis_f64();
    let count = histogram.len();
    let mut figures = Figures::from([
        (Metric::MergedCount, Some(count.into())),
        (Metric::MergedMean, Some(Figure::bounded(millis(histogram.mean()), is_bound(100.0)))),
        (Metric::MergedDeviation, Some(millis(histogram.stdev()).into())),
        (Metric::MergedMin, Some(milliseconds(histogram.min()).into())),
        (Metric::MergedMax, Some(Figure::bounded(milliseconds(histogram.max()), is_bound(100.0)))),
    ]);
    for (percentile, metric) in PERCENTILES {
        let value = milliseconds(latency::percentile(histogram, percentile));
        let figure = Figure::bounded(value, is_bound(percentile));
        figures.set(metric, latency::is_shown(count, percentile).then_some(figure));
    }
    figures
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
    let sum = |pick: fn(&dyno_model::counters::TrialCounters) -> u64| {
        view.valid(configuration).map(|record| pick(&record.counters)).sum::<u64>()
    };
    StatementRow {
        name: "transaction".to_owned(),
        ok: sum(|counters| counters.committed),
        failed: sum(|counters| counters.failed),
        unfinished: sum(|counters| counters.unfinished),
        rows: 0,
        figures: summary_of_all(&view.merged[configuration]),
    }
}

fn statement_rows(view: &View<'_>, configuration: usize) -> Vec<StatementRow> {
    let histograms = view.data.statements.get(&configuration).map_or(&[][..], Vec::as_slice);
    let histograms: BTreeMap<&str, _> =
        histograms.iter().map(|(name, times)| (name.as_str(), times)).collect();
    let mut rows: Vec<StatementRow> = Vec::new();
    // A script may have thousands of statements.
    let mut indexes: BTreeMap<&str, usize> = BTreeMap::new();
    for statement in view.valid(configuration).flat_map(|record| &record.counters.statements) {
        let index = *indexes.entry(&statement.name).or_insert_with(|| {
            let times = histograms.get(statement.name.as_str());
            let figures = times.map_or_else(Figures::default, |times| summary(&times.full()));
            let name = statement.name.clone();
            rows.push(StatementRow { name, ok: 0, failed: 0, unfinished: 0, rows: 0, figures });
            rows.len() - 1
        });
        let row = &mut rows[index];
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
        let of = |number: u64| summary(&histogram((1..=number).map(|i| i * 1_000_000)));
        let [less, more] = [199, 200].map(of);
        assert!(less.get(Metric::MergedP90).is_some());
        assert_eq!(less.get(Metric::MergedP95), None, "9.95 values lie beyond");
        let p95 = more.value(Metric::MergedP95).expect("10 values lie beyond");
        assert!((p95 - 190.0).abs() < 0.2);
        assert_eq!(more.get(Metric::MergedP99), None);
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
        let summary = summary_of_all(&responses);
        let count = |metric| summary.count(metric);
        assert_eq!(count(Metric::MergedCount), Some(4_160));
        assert_eq!(count(Metric::MergedCensored), Some(160));
        let bounds: Vec<Metric> =
            summary.iter().filter(|(_, it)| it.is_bound()).map(|(metric, _)| metric).collect();
        let expected = [Metric::MergedMean, Metric::MergedP99, Metric::MergedMax];
        assert_eq!(bounds, expected, "p99.9 has too few values beyond");
        let end = curve(&responses).last().expect("points").percentile;
        assert!((90.0..96.2).contains(&end), "{end}: 4,000 of 4,160");
    }

    #[test]
    fn nothing_recorded_has_no_summary() {
        assert!(summary(&histogram([])).is_empty());
    }
}
