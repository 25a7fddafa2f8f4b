//! The comparisons as CSV (RFC 4180), one per line. Column names and their order are part of the format and the same in every
//! language: `system`, `system_new`, a column per factor, `workload`, `clients`, `metric`, `unit`, then of each side `mean`, the 95 %
//! interval and the number of valid trials, `ratio` (new over base) with its interval, `p`, `p_corrected`, `exceeds_margin`,
//! `trials_needed`, `verdict`, and the ratio by ranks with its 95 % interval and p-value: `rank_ratio`, `rank_low`, `rank_high`,
//! `rank_p`; at the end `ratio_level`, the confidence of the ratio's interval (0 to 1). What does not exist is empty. A mean that is only a
//! lower bound is empty too, and stands in the lower end; of a ratio with such a side one end is known.

use crate::csv::{Sheet, word};
use dyno_analysis::compare::model::{CompareModel, MetricPair, TreatmentPair};
use dyno_analysis::model::{Estimate, RatioBound};

/// Columns behind those of factors.
const COLUMNS: [&str; 25] = [
    "workload",
    "clients",
    "metric",
    "unit",
    "base_mean",
    "base_low",
    "base_high",
    "base_n",
    "new_mean",
    "new_low",
    "new_high",
    "new_n",
    "ratio",
    "ratio_low",
    "ratio_high",
    "p",
    "p_corrected",
    "exceeds_margin",
    "trials_needed",
    "verdict",
    "rank_ratio",
    "rank_low",
    "rank_high",
    "rank_p",
    "ratio_level",
];

/// Renders all comparisons.
pub(super) fn render(model: &CompareModel) -> String {
    let mut sheet = Sheet::default();
    let factors: Vec<&str> = model
        .treatments
        .first()
        .map_or_else(Vec::new, |pair| pair.name.levels.iter().map(|level| level.factor.as_str()).collect());
    sheet.line(["system", "system_new"].into_iter().chain(factors).chain(COLUMNS));
    for (pair, metric) in model.comparisons() {
        let cells = cells(pair, metric);
        sheet.line(cells.iter().map(String::as_str));
    }
    sheet.text
}

fn cells(pair: &TreatmentPair, metric: &MetricPair) -> Vec<String> {
    let optional = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let side = |estimate: Option<Estimate>| {
        let interval = estimate.and_then(|estimate| estimate.interval);
        let bound = estimate.filter(|estimate| estimate.is_bound).map(|estimate| estimate.mean);
        [
            // As in reports: a lower bound is no value, it stands where intervals begin.
            optional(estimate.filter(|estimate| !estimate.is_bound).map(|estimate| estimate.mean)),
            optional(bound.or(interval.map(|range| range.low))),
            optional(interval.map(|range| range.high)),
            estimate.map_or(0, |estimate| estimate.repeats).to_string(),
        ]
    };
    let name = &pair.name;
    let unit = metric.base.or(metric.new).map(|estimate| word(&estimate.unit)).unwrap_or_default();
    let mut cells = vec![name.system.clone(), pair.system_new.clone().unwrap_or_else(|| name.system.clone())];
    cells.extend(name.levels.iter().map(|level| level.level.clone()));
    cells.extend([name.workload.clone(), name.clients.to_string(), word(&metric.metric), unit]);
    cells.extend(side(metric.base));
    cells.extend(side(metric.new));
    let ratio = |bound| metric.ratio.filter(|_| metric.bound == Some(bound));
    let by_ranks = metric.by_ranks.and_then(|ranks| ranks.ratio_interval);
    cells.extend([
        optional(metric.ratio.filter(|_| metric.bound.is_none())),
        optional(ratio(RatioBound::AtLeast).or(metric.ratio_interval.map(|range| range.low))),
        optional(ratio(RatioBound::AtMost).or(metric.ratio_interval.map(|range| range.high))),
        optional(metric.p),
        optional(metric.p_corrected),
        metric.exceeds_margin.to_string(),
        metric.repeats_needed.map(|needed| needed.to_string()).unwrap_or_default(),
        word(&metric.verdict),
        optional(metric.by_ranks.map(|ranks| ranks.ratio)),
        optional(by_ranks.map(|range| range.low)),
        optional(by_ranks.map(|range| range.high)),
        optional(metric.by_ranks.map(|ranks| ranks.p)),
        optional(metric.interval_level),
    ]);
    cells
}
