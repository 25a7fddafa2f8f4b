//! A comparison as one HTML file in the style of reports: no network access, a forest plot as
//! inline SVG, ready for A4.

use super::{notes, overlay, tables, tiles};
use crate::chart::forest::{ForestChart, ForestGroup, ForestRow, parts};
use crate::chart::frame::Drawn;
use crate::chart::svg::Labels;
use crate::figures;
use crate::grid;
use crate::html::document;
use crate::messages::{Lang, compare, fill, headings, names, page};
use crate::tiles::TIMES;
use crate::words;
use dyno_analysis::compare::model::{CompareModel, ConfigurationPair, MetricPair, OverallEffect};
use dyno_analysis::model::Range;
use dyno_model::lists::distinct;
use dyno_model::plan::ComparisonMetric;
use maud::{Markup, PreEscaped, html};

pub(super) fn render(model: &CompareModel, lang: Lang) -> String {
    let title = notes::title(model, lang);
    let first_sentences = compare::first_sentences(model, lang);
    let overall = tables::overall(model, lang);
    let time =
        TIMES.into_iter().find(|metric| model.comparisons().any(|(_, it)| it.metric == *metric));
    let body = html! {
        body { main {
            header {
                h1 { (title) }
                @for (name, line) in notes::sides(model, lang) { p.provenance { b { (name) } " " (line) } }
            }
            (crate::tiles::markup(&tiles::all(model, lang), lang))
            section #conclusions { div.answer {
                div.first { (overlay::figure(model, first_metric(model), lang)) }
                div.said {
                    h2 { (headings::CONCLUSIONS.text(lang)) }
                    p { (grid::chip(words::verdict(Some(model.outcome.verdict)), lang)) }
                    @for sentence in &first_sentences { p { (sentence) } }
                }
            } }
            section #results {
                h2 { (compare::COMPARE_RESULTS.text(lang)) }
                @if !overall.is_empty() {
                    h3 { (tables::overall_heading(model).text(lang)) }
                    (grid::table(overall, "", lang))
                }
                (grid::table(tables::results(model, lang), "", lang))
                @if let Some(metric) = time { (overlay::figure(model, metric, lang)) }
                (charts(model, lang))
            }
            (warnings(model, lang))
            section #method {
                h2 { (headings::METHOD.text(lang)) }
                @for sentence in notes::method(model, lang).iter().filter(|it| !first_sentences.contains(it)) { p.note { (sentence) } }
            }
            @for (title, names) in notes::unmatched(model, lang) { section {
                h2 { (title.text(lang)) }
                ul { @for name in names { li { (name) } } }
            } }
        } }
    };
    document(lang, env!("CARGO_PKG_VERSION"), &title, "", &body)
}

/// The metric of the first chart: throughput, if it is compared.
fn first_metric(model: &CompareModel) -> ComparisonMetric {
    let has_throughput =
        model.comparisons().any(|(_, it)| it.metric == ComparisonMetric::Throughput);
    let primary = model.headline().map_or(ComparisonMetric::Throughput, |it| it.metric);
    if has_throughput { ComparisonMetric::Throughput } else { primary }
}

fn warnings(model: &CompareModel, lang: Lang) -> Markup {
    html! {
        @if !model.warnings.is_empty() {
            section #warnings {
                h2 { (compare::COMPARE_WARNINGS.text(lang)) }
                ul.conclusions { @for warning in &model.warnings { li {
                    span { (grid::chip(words::severity(warning.severity), lang)) }
                    span { (compare::warning(&warning.kind, lang)) }
                } } }
            }
        }
    }
}

/// The forest plot: a group over all configurations, one per metric, a row per configuration, split
/// into parts that fit on a page.
fn charts(model: &CompareModel, lang: Lang) -> Markup {
    if model.comparisons().all(|(_, metric)| metric.ratio_interval.is_none()) {
        return html! {};
    }
    let metrics = distinct(model.comparisons().map(|(_, metric)| metric.metric));
    let group = |metric: ComparisonMetric| {
        let rows = model.comparisons().filter(|(_, pair)| pair.metric == metric);
        let rows = rows.map(|(configuration, pair)| row(configuration, pair, lang)).collect();
        ForestGroup { title: names::metric(metric, lang).to_owned(), rows }
    };
    let overall = model
        .over_configurations()
        .chain(&model.statements)
        .filter(|it| it.effect.ratio_interval.is_some());
    let first = ForestGroup {
        title: tables::overall_heading(model).text(lang).to_owned(),
        rows: overall.map(|it| over_all_row(it, lang)).collect(),
    };
    let first = Some(first).filter(|group| !group.rows.is_empty());
    let parts = parts(first.into_iter().chain(metrics.into_iter().map(group)).collect());
    let margin = figures::limit(model.rules.margin * 100.0);
    let title = compare::outcome(model, lang);
    let description =
        fill!(page::CHART_DESCRIPTION_FOREST, lang, comparisons = model.outcome.comparisons);
    html! {
        @for (i, groups) in parts.into_iter().enumerate() {
            @let chart = ForestChart {
                x_title: compare::CHART_RATIO.text(lang).to_owned(),
                below_label: compare::CHART_LESS.text(lang).to_owned(),
                above_label: compare::CHART_MORE.text(lang).to_owned(),
                margin: model.rules.margin,
                groups,
            };
            @let id = format!("compare-{}", i + 1);
            @let labels = Labels { id: &id, title: &title, description: &description, percent: lang.percent };
            figure id=(id) {
                (PreEscaped(Drawn::of(labels, |drawing| chart.draw(drawing)).inline()))
                div.caption { p { (fill!(compare::CHART_CAPTION, lang, margin)) } }
            }
        }
    }
}

/// `0.81 (0.79 to 0.84)`.
fn ratio(ratio: Option<f64>, interval: Option<Range>, lang: Lang) -> String {
    match (ratio, interval) {
        (Some(ratio), Some(_)) => {
            format!("{} ({})", figures::ratio(ratio), tables::interval(interval, lang).plain(lang))
        }
        (Some(ratio), None) => figures::ratio(ratio),
        (None, _) => String::new(),
    }
}

fn over_all_row(overall: &OverallEffect, lang: Lang) -> ForestRow {
    let effect = &overall.effect;
    let word = words::effect(effect);
    ForestRow {
        label: compare::about(overall, lang),
        ratio: effect.ratio,
        interval: effect.ratio_interval.map(|interval| (interval.low, interval.high)),
        figures: ratio(effect.ratio, effect.ratio_interval, lang),
        verdict: word.text(lang).to_owned(),
        class: word.class,
    }
}

fn row(configuration: &ConfigurationPair, metric: &MetricPair, lang: Lang) -> ForestRow {
    let figures = ratio(metric.ratio, metric.ratio_interval, lang);
    ForestRow {
        label: compare::pair(configuration, lang),
        ratio: metric.ratio,
        interval: metric.ratio_interval.map(|interval| (interval.low, interval.high)),
        figures,
        verdict: tables::verdict_cell(metric).plain(lang),
        class: words::verdict(Some(metric.verdict)).class,
    }
}
