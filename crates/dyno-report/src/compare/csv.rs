//! The CSV form of a comparison (RFC 4180), one comparison per line. Column names and their order
//! are part of the format and the same in every language: `system`, `system_new`, a column per
//! factor, `workload`, `clients`, `metric`, `unit`, then for each side `mean`, the 95 % interval
//! and the number of valid trials, `ratio` (new over base) with its interval, `p`, `p_corrected`,
//! `exceeds_margin`, `trials_needed`, `verdict`, and the ratio by ranks with its 95 % interval and
//! p-value: `rank_ratio`, `rank_low`, `rank_high`, `rank_p`; at the end `ratio_level`, the
//! confidence of the ratio's interval (0 to 1). Missing values are empty. A mean that is only a
//! lower bound is empty too, and the lower end of its interval contains the bound; a ratio with
//! such a side has only one end.

use crate::csv::{CsvDocument, word};
use dyno_analysis::compare::model::{CompareModel, ConfigurationPair, MetricPair};
use dyno_analysis::model::{Estimate, RatioBound};

type Column = (&'static str, fn(&ConfigurationPair, &MetricPair) -> String);

/// Columns after those of factors.
const COLUMNS: [Column; 25] = [
    ("workload", |pair, _| pair.name.workload.clone()),
    ("clients", |pair, _| pair.name.clients.to_string()),
    ("metric", |_, it| word(&it.metric)),
    ("unit", |_, it| it.base.or(it.new).map(|estimate| word(&estimate.unit)).unwrap_or_default()),
    ("base_mean", |_, it| mean(it.base)),
    ("base_low", |_, it| low(it.base)),
    ("base_high", |_, it| high(it.base)),
    ("base_n", |_, it| repeats(it.base)),
    ("new_mean", |_, it| mean(it.new)),
    ("new_low", |_, it| low(it.new)),
    ("new_high", |_, it| high(it.new)),
    ("new_n", |_, it| repeats(it.new)),
    ("ratio", |_, it| optional(it.ratio.filter(|_| it.bound.is_none()))),
    ("ratio_low", |_, it| {
        optional(ratio_of(it, RatioBound::AtLeast).or(it.ratio_interval.map(|range| range.low)))
    }),
    ("ratio_high", |_, it| {
        optional(ratio_of(it, RatioBound::AtMost).or(it.ratio_interval.map(|range| range.high)))
    }),
    ("p", |_, it| optional(it.p)),
    ("p_corrected", |_, it| optional(it.p_corrected)),
    ("exceeds_margin", |_, it| it.exceeds_margin.to_string()),
    ("trials_needed", |_, it| optional(it.repeats_needed)),
    ("verdict", |_, it| word(&it.verdict)),
    ("rank_ratio", |_, it| optional(it.by_ranks.map(|ranks| ranks.ratio))),
    ("rank_low", |_, it| optional(it.by_ranks.and_then(|ranks| Some(ranks.ratio_interval?.low)))),
    ("rank_high", |_, it| optional(it.by_ranks.and_then(|ranks| Some(ranks.ratio_interval?.high)))),
    ("rank_p", |_, it| optional(it.by_ranks.map(|ranks| ranks.p))),
    ("ratio_level", |_, it| optional(it.interval_level)),
];

fn optional<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// The mean; empty for a lower bound, which is written to the lower end of the interval, as in
/// reports.
fn mean(estimate: Option<Estimate>) -> String {
    optional(estimate.filter(|estimate| !estimate.is_bound).map(|estimate| estimate.mean))
}

fn low(estimate: Option<Estimate>) -> String {
    let bound = estimate.filter(|estimate| estimate.is_bound).map(|estimate| estimate.mean);
    optional(bound.or(estimate.and_then(|estimate| Some(estimate.interval?.low))))
}

fn high(estimate: Option<Estimate>) -> String {
    optional(estimate.and_then(|estimate| Some(estimate.interval?.high)))
}

fn repeats(estimate: Option<Estimate>) -> String {
    estimate.map_or(0, |estimate| estimate.repeats).to_string()
}

fn ratio_of(metric: &MetricPair, bound: RatioBound) -> Option<f64> {
    metric.ratio.filter(|_| metric.bound == Some(bound))
}

pub(super) fn render(model: &CompareModel) -> String {
    let mut document = CsvDocument::default();
    let levels = model.configurations.first().map_or(&[][..], |pair| &pair.name.levels);
    let factors = levels.iter().map(|level| level.factor.as_str());
    document.line(
        ["system", "system_new"].into_iter().chain(factors).chain(COLUMNS.map(|(name, _)| name)),
    );
    for (pair, metric) in model.comparisons() {
        let name = &pair.name;
        let systems =
            [name.system.clone(), pair.system_new.clone().unwrap_or_else(|| name.system.clone())];
        let levels = name.levels.iter().map(|level| level.level.clone());
        let cells = COLUMNS.iter().map(|(_, of)| of(pair, metric));
        document.line(systems.into_iter().chain(levels).chain(cells));
    }
    document.text()
}
