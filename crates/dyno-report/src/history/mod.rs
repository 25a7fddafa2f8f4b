//! The history of an experiment as one HTML file in the style of reports: the newest figures
//! against the earlier runs, and charts of all figures over the runs. The tables for other programs
//! are in `crate::exports`.

mod charts;
#[cfg(test)]
mod tests;

use crate::cell::Cell;
use crate::exports::series::{self, METRICS, Series, series};
use crate::figures;
use crate::grid;
use crate::html::{SCRIPT, document};
use crate::messages::{Lang, fill, headings, history, list, names, page};
use crate::metrics;
use crate::table::Table;
use crate::table_builder::TableBuilder;
use crate::words;
use dyno_analysis::history::Trend;
use dyno_analysis::model::{ConfigurationRow, Metric, ReportModel, Validity};
use dyno_model::lists::distinct;
use maud::{Markup, PreEscaped, html};

/// Maximum number of configurations whose charts are not collapsed.
const OPEN_MAX: usize = 6;

/// The page of these runs, which are in order of their start.
#[must_use]
pub fn history_page(runs: &[ReportModel], lang: Lang) -> String {
    let all = series(&runs.iter().collect::<Vec<_>>());
    let configurations = distinct(all.iter().map(|series| series.configuration.as_str()));
    let configurations: Vec<Configuration<'_>> =
        configurations.into_iter().map(|name| Configuration::new(runs, name, &all, lang)).collect();
    let title = runs.last().map_or("", |run| run.title.as_str());
    let sections = [
        ("newest", &history::HISTORY_NEWEST),
        ("series", &history::HISTORY_SERIES),
        ("change-points", &history::HISTORY_CHANGE_POINTS),
    ];
    let body = html! { body {
        main {
            header {
                h1 { (title) }
                p.provenance { b { (history::HISTORY.text(lang)) } " " (about(runs, lang)) }
            }
            nav aria-label=(page::PAGE_CONTENTS.text(lang)) {
                @for (id, heading) in sections { a href={ "#" (id) } { (heading.text(lang)) } " " }
                button #open-all type="button" hidden { (page::PAGE_OPEN_ALL.text(lang)) }
            }
            section #newest {
                h2 { (history::HISTORY_NEWEST.text(lang)) }
                @if configurations.is_empty() {
                    p { (history::HISTORY_NOTHING.text(lang)) }
                } @else {
                    (grid::table(newest(&configurations, lang), "", lang))
                    p.note { (newest_note(runs, lang)) }
                }
                @if let Some(sentence) = other_work(runs, lang) { p { (sentence) } }
            }
            section #series {
                h2 { (history::HISTORY_SERIES.text(lang)) }
                p.note { (fill!(history::HISTORY_CAPTION, lang, min = figures::DRAWN_FROM)) }
                @for (i, configuration) in configurations.iter().enumerate() {
                    details.configuration open[configurations.len() <= OPEN_MAX] {
                        summary { b { (configuration.title) } }
                        (configuration.figures(runs, &format!("series-{}", i + 1), lang))
                    }
                }
            }
            section #change-points {
                h2 { (history::HISTORY_CHANGE_POINTS.text(lang)) }
                p { (history::HISTORY_OTAVA.text(lang)) }
                pre { (commands(runs)) }
            }
        }
        script { (PreEscaped(SCRIPT)) }
    } };
    document(lang, env!("CARGO_PKG_VERSION"), title, "", &body)
}

/// The series of a configuration.
struct Configuration<'a> {
    /// Its name in every language.
    name: &'a str,
    title: String,
    series: Vec<&'a Series>,
}

impl<'a> Configuration<'a> {
    fn new(runs: &[ReportModel], name: &'a str, all: &'a [Series], lang: Lang) -> Self {
        let here = runs.iter().rev().find_map(|run| Some((run, series::index_of(run, name)?)));
        Self {
            name,
            title: here.map_or_else(String::new, |(run, at)| names::configuration(run, at, lang)),
            series: all.iter().filter(|series| series.configuration == name).collect(),
        }
    }

    /// The charts, and their data in a table.
    fn figures(&self, runs: &[ReportModel], id: &str, lang: Lang) -> Markup {
        html! {
            @for series in &self.series {
                @let id = format!("{id}-{}", Metric::from(series.metric).id());
                (charts::figure(runs, series, &self.title, &id, lang))
            }
            details.data {
                summary { (page::PAGE_DATA.text(lang)) }
                (grid::table(self.data(runs), "", lang))
            }
        }
    }

    /// A row per run.
    fn data(&self, runs: &[ReportModel]) -> Table {
        let rows = runs.iter().map(|run| {
            let index = series::index_of(run, self.name);
            (&run.provenance, index.map(|index| &run.configurations[index]))
        });
        let validity = |row: Option<&ConfigurationRow>| {
            words::validity(row.map_or(Validity::Missing, |row| row.validity))
        };
        let builder = TableBuilder::of(rows)
            .left(&page::PAGE_BEGUN, |(run, _)| Cell::text(names::to_the_second(&run.started_at)))
            .left(&page::PAGE_RUN, |(run, _)| Cell::text(run.run.as_str()))
            .left(&headings::VALIDITY_COLUMN, |(_, row)| Cell::word(validity(*row)));
        let shown = METRICS.map(Metric::from).into_iter();
        let shown = shown.filter_map(|metric| Some((metric, metrics::heading(metric)?)));
        let figures = shown.fold(builder, |builder, (metric, heading)| {
            builder.right(heading, |(_, row)| {
                row.map_or_else(Cell::absent, |it| {
                    metrics::estimate_cell(&it.figures, metric, None)
                })
            })
        });
        figures.table()
    }
}

/// Number and times of the runs.
fn about(runs: &[ReportModel], lang: Lang) -> String {
    let started = |run: &ReportModel| names::to_the_second(&run.provenance.started_at);
    let (Some(first), Some(last)) = (runs.first(), runs.last()) else { return String::new() };
    let (low, high) = (started(first), started(last));
    let started = if runs.len() == 1 { low } else { fill!(names::FROM_TO, lang, low, high) };
    let experiment = &last.provenance.experiment;
    fill!(history::HISTORY_RUNS, lang, number = runs.len(), experiment, started)
}

/// The newest figure of each series against the earlier ones.
fn newest(configurations: &[Configuration<'_>], lang: Lang) -> Table {
    let rows = configurations.iter().flat_map(|configuration| {
        configuration.series.iter().map(|series| {
            let values = series.points.iter().map(|point| Some(point.as_ref()?.value));
            (configuration.title.clone(), *series, Trend::of(&values.collect::<Vec<_>>()))
        })
    });
    let heading =
        |metric| metrics::heading(Metric::from(metric)).map_or("", |heading| heading.text(lang));
    let value = |series: &Series, value: Option<f64>| {
        let unit = Metric::from(series.metric).unit();
        Cell::figure(value.map(|value| figures::value(unit, value)))
    };
    TableBuilder::grouped(rows, |(title, ..)| [title.clone()])
        .left(&headings::METRIC, |(_, series, _)| Cell::text(heading(series.metric)))
        .right(&history::NEWEST, |(_, series, trend)| {
            match series.points.last().and_then(|point| point.as_ref()?.estimate) {
                Some(estimate) => Cell::estimate(Some(&estimate), None),
                None => value(series, trend.newest),
            }
        })
        .right(&history::BEFORE, |(_, series, trend)| value(series, trend.before))
        .right(&history::CHANGE, |(.., trend)| {
            Cell::figure(trend.change_percent.map(figures::difference))
        })
        .right(&history::RUNS, |(.., trend)| Cell::count(trend.runs as u64))
        .table()
}

/// Explains the columns of that table.
fn newest_note(runs: &[ReportModel], lang: Lang) -> String {
    let run = runs.last().map_or("", |run| run.provenance.run.as_str());
    fill!(history::HISTORY_NEWEST_NOTE, lang, run)
}

/// The runs whose figures may differ because of their work.
fn other_work(runs: &[ReportModel], lang: Lang) -> Option<String> {
    let (newest, earlier) = runs.split_last()?;
    let others = earlier.iter().map(|run| &run.provenance);
    let others = others.filter(|run| !run.has_work_of(&newest.provenance));
    let runs: Vec<&str> = others.map(|run| run.run.as_str()).collect();
    (!runs.is_empty()).then(|| fill!(history::HISTORY_OTHER_WORK, lang, runs = list(lang, &runs)))
}

/// The commands with which Otava finds change points, from the beginning of the first year.
fn commands(runs: &[ReportModel]) -> String {
    let year = runs.first().and_then(|run| run.provenance.started_at.get(..4));
    let year = year.filter(|year| year.bytes().all(|digit| digit.is_ascii_digit()));
    let year = year.unwrap_or("1970");
    format!(
        "pip install apache-otava\n\
         dyno history RESULTS --out trends\n\
         cd trends && OTAVA_CONFIG=otava.yaml otava analyze all --since {year}-01-01 -P 0.0001"
    )
}
