//! The tables of a comparison.

use super::notes::is_marked;
use crate::cell::{Cell, Value};
use crate::figures;
use crate::messages::{Lang, Message, columns, compare, fill, headings, names};
use crate::metrics;
use crate::table::{Form, Table};
use crate::table_builder::TableBuilder;
use crate::words;
use dyno_analysis::compare::model::{
    ByRanks, CompareModel, ConfigurationPair, MetricPair, SideFigures,
};
use dyno_analysis::model::{Effect, Estimate, Range, Verdict};
use dyno_model::audit::AuditVerdict;

/// A row of a configuration.
enum Row<'a> {
    Metric(&'a MetricPair),
    /// A separate row, because another column would move the verdict off the page.
    Ranks(ByRanks),
    /// A count or a verdict of both sides, with its name.
    Book(&'static Message, [Cell; 2]),
}

impl Row<'_> {
    fn of_side(&self, side: usize) -> Cell {
        match self {
            Self::Metric(it) => Cell::estimate([it.base, it.new][side].as_ref(), None),
            Self::Ranks(_) => Cell::empty(),
            Self::Book(_, cells) => cells[side].clone(),
        }
    }

    fn half_width(&self, side: usize) -> Cell {
        self.of_metric(|it| {
            Cell::figure([it.base, it.new][side].as_ref().and_then(figures::half_width))
        })
    }

    /// The cell of a column that only metrics have.
    fn of_metric(&self, cell: impl Fn(&MetricPair) -> Cell) -> Cell {
        if let Self::Metric(metric) = self { cell(metric) } else { Cell::empty() }
    }
}

/// All comparisons, grouped by configuration, followed by failures and failed audits.
pub(super) fn results(model: &CompareModel, lang: Lang) -> Table {
    let rows = model.configurations.iter().flat_map(|pair| {
        let metrics = pair.metrics.iter().flat_map(|metric| {
            let ranks = metric.by_ranks.filter(|ranks| ranks.ratio_interval.is_some());
            [Row::Metric(metric)].into_iter().chain(ranks.map(Row::Ranks))
        });
        metrics.chain(counters(pair)).map(move |row| (pair, row))
    });
    let title = |pair: &ConfigurationPair| {
        let (configuration, base, new) =
            (compare::pair(pair, lang), pair.base.trials_valid, pair.new.trials_valid);
        fill!(compare::CONFIGURATION_GROUP, lang, configuration, base, new)
    };
    TableBuilder::grouped(rows, |(pair, _)| [title(pair)])
        .left(&compare::FIGURE, |(pair, row)| match row {
            Row::Metric(it) => Cell::text(figure_name(pair, it, lang)),
            Row::Ranks(_) => Cell::empty(),
            Row::Book(name, _) => Cell::text(name.text(lang)),
        })
        .right(&compare::BASE, |(_, row)| row.of_side(0))
        .right(&headings::INTERVAL, |(_, row)| row.half_width(0))
        .only_in(Form::Text)
        .right(&compare::NEW, |(_, row)| row.of_side(1))
        .right(&headings::INTERVAL, |(_, row)| row.half_width(1))
        .only_in(Form::Text)
        .right(&headings::RATIO, |(_, row)| match row {
            Row::Ranks(ranks) => Cell::ratio(Some(ranks.ratio), None),
            _ => row.of_metric(|it| Cell::ratio(it.ratio, it.bound)),
        })
        .right(&headings::RATIO_INTERVAL, |(_, row)| match row {
            Row::Ranks(ranks) => interval(ranks.ratio_interval, lang),
            _ => row.of_metric(|it| interval(it.ratio_interval, lang)),
        })
        // Omitted in a terminal, which is too narrow.
        .right(&headings::P_CORRECTED, |(_, row)| {
            row.of_metric(|it| Cell::figure(it.p_corrected.map(figures::p_value)))
        })
        .only_in(Form::Page)
        .right(&headings::DETECTABLE, |(_, row)| {
            row.of_metric(|it| Cell::figure(it.detectable_ratio.map(figures::detectable)))
        })
        .only_in(Form::Page)
        .right(&compare::NEEDED, |(_, row)| {
            row.of_metric(|it| Cell::figure(it.repeats_needed.map(|needed| needed.to_string())))
        })
        .only_in(Form::Page)
        .left(&headings::VERDICT, |(_, row)| match row {
            Row::Ranks(_) => Cell::text(compare::BY_RANKS.text(lang)),
            _ => row.of_metric(verdict_cell),
        })
        .table()
}

/// Heading of [`overall`]: with one configuration it has kinds of statements only.
pub(super) fn overall_heading(model: &CompareModel) -> &'static Message {
    match model.over_configurations().next() {
        Some(_) => &compare::COMPARE_OVER_ALL,
        None => &headings::STATEMENTS,
    }
}

/// The effects over all configurations: metrics, then kinds of statements.
pub(super) fn overall(model: &CompareModel, lang: Lang) -> Table {
    let verdict = |effect: &Effect| {
        let word = words::effect(effect);
        let is_marked = effect.verdict.is_some_and(Verdict::differs) && !effect.exceeds_margin;
        if is_marked { Value::Marked(word).into() } else { Cell::word(word) }
    };
    TableBuilder::of(model.over_configurations().chain(&model.statements))
        .left(&compare::FIGURE, |it| Cell::text(compare::about(it, lang)))
        .right(&compare::CONFIGURATIONS_USED, |it| Cell::text(it.configurations.to_string()))
        .right(&headings::RATIO, |it| Cell::ratio(it.effect.ratio, it.effect.bound))
        .right(&headings::RATIO_INTERVAL, |it| interval(it.effect.ratio_interval, lang))
        .right(&compare::COMPARE_DEGREES, |it| {
            Cell::figure(it.degrees.map(|number| format!("{number:.1}")))
        })
        .only_in(Form::Page)
        .right(&headings::P_CORRECTED, |it| {
            Cell::figure(it.effect.p_corrected.map(figures::p_value))
        })
        .only_in(Form::Page)
        .detectable(|it| &it.effect)
        .only_in(Form::Page)
        .left(&headings::VERDICT, |it| verdict(&it.effect))
        .table()
}

/// `0.79 to 0.84`, or a dash.
pub(super) fn interval(interval: Option<Range>, lang: Lang) -> Cell {
    Cell::figure(interval.map(|range| {
        let [low, high] = figures::ends(range);
        fill!(names::FROM_TO, lang, low, high)
    }))
}

/// The verdict as a word, marked when the difference may be within the margin.
pub(super) fn verdict_cell(metric: &MetricPair) -> Cell {
    let word = words::verdict(Some(metric.verdict));
    if is_marked(metric) { Value::Marked(word).into() } else { Cell::word(word) }
}

/// Name of a figure, with the numbers of trials if they differ from those of all valid ones.
fn figure_name(pair: &ConfigurationPair, metric: &MetricPair, lang: Lang) -> String {
    let name = metrics::heading(metric.metric.into()).map_or("", |heading| heading.text(lang));
    let repeats = |estimate: Option<Estimate>| estimate.map_or(0, |estimate| estimate.repeats);
    let (base, new) = (repeats(metric.base), repeats(metric.new));
    if (base, new) == (pair.base.trials_valid, pair.new.trials_valid) {
        return name.to_owned();
    }
    fill!(compare::FIGURE_OF, lang, figure = name, base, new)
}

/// A count with its name.
type Count = (&'static Message, fn(&SideFigures) -> Option<u64>);

/// Failures, retries and audits, if they indicate a problem on either side.
fn counters(pair: &ConfigurationPair) -> Vec<Row<'static>> {
    let counts: [Count; 5] = [
        (&columns::NEVER_STARTED, |side| side.unstarted),
        (&columns::FAILED, |side| side.failed),
        (&compare::UNFINISHED_TRANSACTIONS, |side| Some(side.unfinished)),
        (&columns::RETRIES, |side| side.retries),
        (&compare::LOST_UPDATES, |side| side.lost),
    ];
    let sides = [&pair.base, &pair.new];
    let mut rows = Vec::new();
    if sides.iter().any(|side| side.arrived.is_some()) {
        let arrived = sides.map(|side| Cell::count(side.arrived.unwrap_or_default()));
        rows.push(Row::Book(&columns::ARRIVED, arrived));
    }
    let unusual = counts.into_iter().filter(|(_, of)| sides.iter().any(|side| of(side) > Some(0)));
    rows.extend(unusual.map(|(name, of)| {
        Row::Book(name, sides.map(|side| of(side).map_or_else(|| Cell::figure(None), Cell::count)))
    }));
    if sides.iter().any(|side| side.audit == AuditVerdict::Violated) {
        let audits = sides.map(|side| Cell::word(words::audit(side.audit)));
        rows.push(Row::Book(&headings::AUDIT_VERDICT, audits));
    }
    rows
}
