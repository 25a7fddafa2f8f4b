//! The table of a comparison.

use super::notes::is_marked;
use crate::cell::{Cell, Value};
use crate::figures;
use crate::messages::{Lang, Message, compare, headings};
use crate::table::{Column, Table};
use crate::words;
use dyno_analysis::compare::model::{CompareModel, MetricPair, OverAll, SideFigures, TreatmentPair};
use dyno_analysis::model::{Estimate, Range, Verdict};
use dyno_model::audit::AuditVerdict;
use dyno_model::plan::Metric;

/// All comparisons, under their treatments; below them what failed, and audits that did.
pub(super) fn results(model: &CompareModel, lang: Lang) -> Table {
    let half = Column::right(&headings::INTERVAL).in_text();
    let mut table = Table::new([
        Column::left(&compare::FIGURE),
        Column::right(&compare::BASE),
        half,
        Column::right(&compare::NEW),
        half,
        Column::right(&headings::RATIO),
        Column::right(&headings::RATIO_INTERVAL),
        // A terminal has no room for these.
        Column::right(&headings::P_CORRECTED).in_page(),
        Column::right(&headings::DETECTABLE).in_page(),
        Column::right(&compare::NEEDED).in_page(),
        Column::left(&headings::VERDICT),
    ]);
    for pair in &model.treatments {
        let (base, new) = (pair.base.trials_valid.to_string(), pair.new.trials_valid.to_string());
        let name = compare::pair(pair, lang);
        table.group(&[
            compare::TREATMENT_GROUP.fill(lang, &[("treatment", &name), ("base", &base), ("new", &new)])
        ]);
        for metric in &pair.metrics {
            table.row(metric_row(pair, metric, lang));
            // A line of its own: one more column would push the verdict off the page.
            if let Some(ranks) = metric.by_ranks.filter(|ranks| ranks.ratio_interval.is_some()) {
                let ratio = Cell::figure(Some(figures::ratio(ranks.ratio)));
                let interval = interval(ranks.ratio_interval, lang);
                table.row(spread([
                    (5, ratio),
                    (6, interval),
                    (10, Cell::text(compare::BY_RANKS.text(lang))),
                ]));
            }
        }
        for (name, base, new) in books(pair) {
            table.row(spread([(0, Cell::text(name.text(lang))), (1, base), (3, new)]));
        }
    }
    table
}

/// One effect over all treatments: metrics, then kinds of statements.
pub(super) fn over_all(model: &CompareModel, lang: Lang) -> Table {
    let mut table = Table::new([
        Column::left(&compare::FIGURE),
        Column::right(&compare::TREATMENTS_USED),
        Column::right(&headings::RATIO),
        Column::right(&headings::RATIO_INTERVAL),
        Column::right(&compare::COMPARE_DEGREES).in_page(),
        Column::right(&headings::P_CORRECTED).in_page(),
        Column::right(&headings::DETECTABLE).in_page(),
        Column::left(&headings::VERDICT),
    ]);
    let row = |it: &OverAll| {
        let effect = &it.effect;
        let verdict = words::verdict(effect.verdict);
        let is_marked = effect.verdict.is_some_and(Verdict::differs) && !effect.exceeds_margin;
        [
            Cell::text(compare::about(it, lang)),
            Cell::text(it.treatments.to_string()),
            Cell::figure(effect.ratio.map(|ratio| figures::bounded_ratio(ratio, effect.bound))),
            interval(effect.ratio_interval, lang),
            Cell::figure(it.degrees.map(|degrees| format!("{degrees:.1}"))),
            Cell::figure(effect.p_corrected.map(figures::p_value)),
            Cell::figure(effect.detectable_ratio.map(figures::detectable)),
            if is_marked { Value::Marked(verdict).into() } else { Cell::word(verdict) },
        ]
    };
    model.over_all.iter().chain(&model.statements).for_each(|it| table.row(row(it)));
    table
}

/// A row with few cells, each at its column.
fn spread<const N: usize>(cells: [(usize, Cell); N]) -> Vec<Cell> {
    let mut row = vec![Cell::empty(); 11];
    for (column, cell) in cells {
        row[column] = cell;
    }
    row
}

fn metric_row(pair: &TreatmentPair, metric: &MetricPair, lang: Lang) -> [Cell; 11] {
    let (base, new) = (metric.base.as_ref(), metric.new.as_ref());
    let detectable = metric.detectable_ratio.map(figures::detectable);
    [
        Cell::text(figure_name(pair, metric, lang)),
        Cell::estimate(base, None),
        Cell::half_width(base),
        Cell::estimate(new, None),
        Cell::half_width(new),
        Cell::figure(metric.ratio.map(|ratio| figures::bounded_ratio(ratio, metric.bound))),
        interval(metric.ratio_interval, lang),
        Cell::figure(metric.p_corrected.map(figures::p_value)),
        Cell::figure(detectable),
        Cell::figure(metric.repeats_needed.map(|needed| needed.to_string())),
        verdict_cell(metric),
    ]
}

/// `0.79 to 0.84`, or a dash.
pub(super) fn interval(interval: Option<Range>, lang: Lang) -> Cell {
    Cell::figure(interval.map(|range| {
        let [low, high] = figures::ends(range);
        compare::FROM_TO.fill(lang, &[("low", &low), ("high", &high)])
    }))
}

/// The verdict in a word, marked when the difference may be inside the margin.
pub(super) fn verdict_cell(metric: &MetricPair) -> Cell {
    let word = words::verdict(Some(metric.verdict));
    if is_marked(metric) { Value::Marked(word).into() } else { Cell::word(word) }
}

/// What a figure is, with the numbers of trials that it rests on when they are not all of the valid ones.
fn figure_name(pair: &TreatmentPair, metric: &MetricPair, lang: Lang) -> String {
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
fn metric_name(metric: Metric) -> &'static Message {
    match metric {
        Metric::Throughput => &headings::THROUGHPUT,
        Metric::MeanMs => &headings::MEAN_MS,
        Metric::P50Ms => &headings::P50_MS,
        Metric::P95Ms => &headings::P95_MS,
        Metric::P99Ms => &headings::P99_MS,
        Metric::HighestRate => &headings::HIGHEST_RATE,
        Metric::MostClients => &headings::MOST_CLIENTS,
    }
}

/// A count with its name.
type Count = (&'static Message, fn(&SideFigures) -> u64);

/// What is told of failures, retries and audits: only what is not as it should be on either side. Name, base, new.
fn books(pair: &TreatmentPair) -> Vec<(&'static Message, Cell, Cell)> {
    let counts: [Count; 5] = [
        (&headings::NEVER_STARTED, |side| side.unstarted.unwrap_or_default()),
        (&compare::FAILED_TRANSACTIONS, |side| side.failed),
        (&compare::UNFINISHED_TRANSACTIONS, |side| side.unfinished),
        (&compare::RETRIES, |side| side.retries),
        (&compare::LOST_UPDATES, |side| side.lost.unwrap_or_default()),
    ];
    let mut rows = Vec::new();
    if pair.base.arrived.or(pair.new.arrived).is_some() {
        let arrived = |side: &SideFigures| Cell::count(side.arrived.unwrap_or_default());
        rows.push((&headings::ARRIVED, arrived(&pair.base), arrived(&pair.new)));
    }
    for (name, of) in counts {
        if of(&pair.base) + of(&pair.new) > 0 {
            rows.push((name, Cell::count(of(&pair.base)), Cell::count(of(&pair.new))));
        }
    }
    if [&pair.base, &pair.new].iter().any(|side| side.audit == AuditVerdict::Violated) {
        let word = |side: &SideFigures| Cell::word(words::audit(side.audit));
        rows.push((&headings::AUDIT_VERDICT, word(&pair.base), word(&pair.new)));
    }
    rows
}
