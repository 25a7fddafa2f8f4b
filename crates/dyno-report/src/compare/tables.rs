//! The table that text and Markdown share.

use super::notes::is_marked;
use crate::figures;
use crate::messages::{Lang, Message, compare, headings};
use crate::table::{Align, Table};
use crate::tables::{audit_verdict, verdict};
use dyno_analysis::compare::model::{ByRanks, CompareModel, MetricPair, SideFigures, TreatmentPair};
use dyno_analysis::model::{Estimate, Range};
use dyno_model::audit::AuditVerdict;
use dyno_model::plan::Metric;

/// All comparisons, under their treatments; below them what failed, and audits that did.
pub(super) fn results(model: &CompareModel, lang: Lang) -> Table {
    let interval = headings::INTERVAL.text(lang);
    let mut table = Table::new(&[
        (compare::FIGURE.text(lang), Align::Left),
        (compare::BASE.text(lang), Align::Right),
        (interval, Align::Right),
        (compare::NEW.text(lang), Align::Right),
        (interval, Align::Right),
        (headings::RATIO.text(lang), Align::Right),
        (headings::RATIO_INTERVAL.text(lang), Align::Right),
        (headings::VERDICT.text(lang), Align::Left),
    ]);
    for pair in &model.treatments {
        let (base, new) = (pair.base.trials_valid.to_string(), pair.new.trials_valid.to_string());
        let name = compare::pair(pair, lang);
        table.group(
            &compare::TREATMENT_GROUP.fill(lang, &[("treatment", &name), ("base", &base), ("new", &new)]),
        );
        for metric in &pair.metrics {
            table.row(metric_row(pair, metric, lang));
            table_by_ranks(&mut table, metric, lang);
        }
        for (name, base, new) in books(pair, lang) {
            let mut row = vec![name.to_owned(), base, String::new(), new];
            row.resize(8, String::new());
            table.row(row);
        }
    }
    table
}

fn metric_row(pair: &TreatmentPair, metric: &MetricPair, lang: Lang) -> Vec<String> {
    let absent = || headings::ABSENT.text(lang).to_owned();
    let mean = |side: Option<Estimate>| side.map_or_else(absent, |it| figures::mean(&it));
    let half = |side: Option<Estimate>| side.and_then(|it| figures::half_width(&it)).unwrap_or_else(absent);
    vec![
        figure_name(pair, metric, lang),
        mean(metric.base),
        half(metric.base),
        mean(metric.new),
        half(metric.new),
        metric.ratio.map_or_else(absent, |ratio| figures::bounded_ratio(ratio, metric.bound)),
        interval(metric.ratio_interval, lang),
        verdict_cell(metric, lang),
    ]
}

/// A line below the comparison: ratio and interval by ranks.
fn table_by_ranks(table: &mut Table, metric: &MetricPair, lang: Lang) {
    let Some(ranks) = shown_by_ranks(metric) else { return };
    let mut row = vec![String::new(); 5];
    row.extend([figures::ratio(ranks.ratio), interval(ranks.ratio_interval, lang)]);
    row.push(compare::BY_RANKS.text(lang).to_owned());
    table.row(row);
}

/// The comparison by ranks, where there are trials enough for an interval.
pub(super) fn shown_by_ranks(metric: &MetricPair) -> Option<ByRanks> {
    metric.by_ranks.filter(|ranks| ranks.ratio_interval.is_some())
}

/// `0.79 to 0.84`, or a dash.
pub(super) fn interval(interval: Option<Range>, lang: Lang) -> String {
    interval.map_or_else(
        || headings::ABSENT.text(lang).to_owned(),
        |range| {
            let (low, high) = (figures::ratio(range.low), figures::ratio(range.high));
            compare::FROM_TO.fill(lang, &[("low", &low), ("high", &high)])
        },
    )
}

/// The verdict in a word, marked when the difference may be inside the margin.
pub(super) fn verdict_cell(metric: &MetricPair, lang: Lang) -> String {
    let word = verdict(Some(metric.verdict), lang);
    if is_marked(metric) { compare::PERHAPS_SMALL.fill(lang, &[("verdict", word)]) } else { word.to_owned() }
}

/// What a figure is, with the numbers of trials that it rests on when they are not all of the valid ones.
pub(super) fn figure_name(pair: &TreatmentPair, metric: &MetricPair, lang: Lang) -> String {
    let name = metric_name(metric.metric).text(lang);
    let repeats = |estimate: Option<Estimate>| estimate.map_or(0, |estimate| estimate.repeats);
    let (base, new) = (repeats(metric.base), repeats(metric.new));
    if (base, new) == (pair.base.trials_valid, pair.new.trials_valid) {
        return name.to_owned();
    }
    let (base, new) = (base.to_string(), new.to_string());
    compare::FIGURE_OF.fill(lang, &[("figure", name), ("base", &base), ("new", &new)])
}

/// Column title of a metric, with its unit.
pub(super) fn metric_name(metric: Metric) -> &'static Message {
    match metric {
        Metric::Throughput => &headings::THROUGHPUT,
        Metric::MeanMs => &headings::MEAN_MS,
        Metric::P50Ms => &headings::P50_MS,
        Metric::P95Ms => &headings::P95_MS,
        Metric::P99Ms => &headings::P99_MS,
    }
}

/// A count with its name.
type Count = (&'static Message, fn(&SideFigures) -> u64);

/// What is told of failures, retries and audits: only what is not as it should be on either side. Name, base, new.
pub(super) fn books(pair: &TreatmentPair, lang: Lang) -> Vec<(&'static str, String, String)> {
    let counts: [Count; 5] = [
        (&headings::NEVER_STARTED, |side| side.unstarted.unwrap_or_default()),
        (&compare::FAILED_TRANSACTIONS, |side| side.failed),
        (&compare::UNFINISHED_TRANSACTIONS, |side| side.unfinished),
        (&compare::RETRIES, |side| side.retries),
        (&compare::LOST_UPDATES, |side| side.lost.unwrap_or_default()),
    ];
    let mut rows: Vec<(&str, String, String)> = counts
        .into_iter()
        .map(|(name, of)| (name.text(lang), of(&pair.base), of(&pair.new)))
        .filter(|(_, base, new)| base + new > 0)
        .map(|(name, base, new)| (name, figures::count(base), figures::count(new)))
        .collect();
    if pair.base.arrived.or(pair.new.arrived).is_some() {
        let arrived = |side: &SideFigures| figures::count(side.arrived.unwrap_or_default());
        rows.insert(0, (headings::ARRIVED.text(lang), arrived(&pair.base), arrived(&pair.new)));
    }
    if [&pair.base, &pair.new].iter().any(|side| side.audit == AuditVerdict::Violated) {
        let word = |side: &SideFigures| audit_verdict(side.audit, lang).to_owned();
        rows.push((headings::AUDIT_VERDICT.text(lang), word(&pair.base), word(&pair.new)));
    }
    rows
}
