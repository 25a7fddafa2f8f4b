//! A comparison as one HTML file in the style of reports: no network, a forest plot as SVG inside the page, ready for A4.

use super::{notes, tables, text};
use crate::chart::forest::{ForestChart, ForestGroup, ForestRow};
use crate::chart::svg::STYLE_SHEET;
use crate::figures;
use crate::html::{PAGE_STYLE, chip, severity_class, verdict_class};
use crate::messages::{Lang, Message, compare, conclusion, headings, page};
use crate::tables::severity;
use dyno_analysis::compare::model::{CompareModel, MetricPair, SideFigures, TreatmentPair};
use dyno_analysis::model::Estimate;
use dyno_model::plan::Metric;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// Rows of one chart, headings included: what fits on a page of A4.
const ROWS: usize = 38;

/// The page.
#[must_use]
pub(super) fn render(model: &CompareModel, lang: Lang) -> String {
    let title = notes::title(model, lang);
    html! {
        (DOCTYPE)
        html lang=(lang.code()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="generator" content={ "dyno " (env!("CARGO_PKG_VERSION")) };
                title { (title) }
                style { (PreEscaped(STYLE_SHEET)) (PreEscaped(PAGE_STYLE)) }
            }
            body { main {
                header {
                    h1 { (title) }
                    @for (name, line) in notes::sides(model, lang) { p.provenance { b { (name) } " " (line) } }
                }
                p { (chip(verdict_class(Some(model.outcome.verdict)), verdict(model, lang))) }
                p { strong { (compare::outcome(model, lang)) } }
                (doubts(model, lang))
                section #results {
                    h2 { (compare::COMPARE_RESULTS.text(lang)) }
                    (charts(model, lang))
                    (table(model, lang))
                    @for sentence in notes::method(model, lang) { p.note { (sentence) } }
                }
                @for (title, names) in text::unmatched(model) { section {
                    h2 { (title.text(lang)) }
                    ul { @for name in names { li { (compare::treatment(&name.label, name.clients, lang)) } } }
                } }
            } }
        }
    }
    .into_string()
}

fn verdict(model: &CompareModel, lang: Lang) -> &'static str {
    crate::tables::verdict(Some(model.outcome.verdict), lang)
}

fn doubts(model: &CompareModel, lang: Lang) -> Markup {
    html! {
        @if !model.findings.is_empty() {
            section #doubts {
                h2 { (compare::COMPARE_DOUBTS.text(lang)) }
                ul.conclusions { @for finding in &model.findings { li {
                    span { (chip(severity_class(finding.severity), severity(finding.severity, lang))) }
                    span { (compare::doubt(&finding.doubt, lang)) }
                } } }
            }
        }
    }
}

/// The forest plot: a group per metric, a row per treatment, in parts that fit on a page.
fn charts(model: &CompareModel, lang: Lang) -> Markup {
    if model.comparisons().all(|(_, metric)| metric.ratio_interval.is_none()) {
        return html! {};
    }
    let mut metrics: Vec<Metric> = Vec::new();
    for (_, metric) in model.comparisons() {
        if !metrics.contains(&metric.metric) {
            metrics.push(metric.metric);
        }
    }
    let mut parts: Vec<Vec<ForestGroup>> = vec![Vec::new()];
    let mut used = 0;
    for metric in metrics {
        let rows: Vec<ForestRow> = model
            .comparisons()
            .filter(|(_, pair)| pair.metric == metric)
            .map(|(treatment, pair)| row(treatment, pair, lang))
            .collect();
        for rows in rows.chunks(ROWS - 1) {
            if used > 0 && used + rows.len() + 1 > ROWS {
                parts.push(Vec::new());
                used = 0;
            }
            used += rows.len() + 1;
            let group =
                ForestGroup { title: conclusion::metric(metric, lang).to_owned(), rows: rows.to_vec() };
            if let Some(part) = parts.last_mut() {
                part.push(group);
            }
        }
    }
    let margin = figures::limit(model.rules.margin * 100.0);
    let comparisons = model.outcome.comparisons.to_string();
    html! {
        @for (i, groups) in parts.into_iter().enumerate() {
            @let chart = ForestChart {
                id: format!("compare-{}-", i + 1),
                title: compare::outcome(model, lang),
                description: page::CHART_DESCRIPTION_FOREST.fill(lang, &[("comparisons", &comparisons)]),
                x_title: compare::CHART_RATIO.text(lang).to_owned(),
                below_label: compare::CHART_LESS.text(lang).to_owned(),
                above_label: compare::CHART_MORE.text(lang).to_owned(),
                margin: model.rules.margin,
                groups,
            };
            figure id={ "compare-" (i + 1) } {
                (PreEscaped(chart.draw().inline()))
                div.caption { p { (compare::CHART_CAPTION.fill(lang, &[("margin", &margin)])) } }
            }
        }
    }
}

fn row(treatment: &TreatmentPair, metric: &MetricPair, lang: Lang) -> ForestRow {
    let figures = match (metric.ratio, metric.ratio_interval) {
        (Some(ratio), Some(_)) => {
            format!("{} ({})", figures::ratio(ratio), tables::interval(metric.ratio_interval, lang))
        }
        (Some(ratio), None) => figures::ratio(ratio),
        (None, _) => String::new(),
    };
    ForestRow {
        label: compare::pair(treatment, lang),
        ratio: metric.ratio,
        interval: metric.ratio_interval.map(|interval| (interval.low, interval.high)),
        figures,
        verdict: tables::verdict_cell(metric, lang),
        class: verdict_class(Some(metric.verdict)),
    }
}

fn table(model: &CompareModel, lang: Lang) -> Markup {
    let column = |message: &Message| message.text(lang);
    html! {
        div.wide { table {
            thead { tr {
                th.l scope="col" { (column(&compare::FIGURE)) }
                @for message in [&compare::BASE, &compare::NEW, &headings::RATIO, &headings::RATIO_INTERVAL,
                    &headings::P_CORRECTED, &headings::DETECTABLE, &compare::NEEDED] {
                    th scope="col" { (column(message)) }
                }
                th.l scope="col" { (column(&headings::VERDICT)) }
            } }
            @for treatment in &model.treatments { tbody {
                tr { th.group colspan="9" scope="colgroup" { (group_title(treatment, lang)) } }
                @for metric in &treatment.metrics { (table_row(treatment, metric, lang)) }
                @for (name, base, new) in tables::books(treatment, lang) { tr {
                    th scope="row" { (name) }
                    td { (base) } td { (new) }
                    td colspan="6" {}
                } }
            } }
        } }
    }
}

fn group_title(pair: &TreatmentPair, lang: Lang) -> String {
    let number = |side: &SideFigures| side.trials_valid.to_string();
    let (base, new) = (number(&pair.base), number(&pair.new));
    let name = compare::pair(pair, lang);
    compare::TREATMENT_GROUP.fill(lang, &[("treatment", &name), ("base", &base), ("new", &new)])
}

fn table_row(pair: &TreatmentPair, metric: &MetricPair, lang: Lang) -> Markup {
    let absent = headings::ABSENT.text(lang);
    let optional = |value: Option<String>| value.unwrap_or_else(|| absent.to_owned());
    html! { tr {
        th.n scope="row" { (tables::figure_name(pair, metric, lang)) }
        @for side in [&metric.base, &metric.new] { td { (estimate(side.as_ref(), absent)) } }
        td { (optional(metric.ratio.map(|ratio| figures::bounded_ratio(ratio, metric.bound)))) }
        td.n { (tables::interval(metric.ratio_interval, lang)) }
        td { (optional(metric.p_corrected.map(figures::p_value))) }
        td { (optional(metric.detectable_ratio.map(|ratio| figures::percent((ratio - 1.0) * 100.0)))) }
        td { (optional(metric.repeats_needed.map(|needed| needed.to_string()))) }
        td.l { (chip(verdict_class(Some(metric.verdict)), &tables::verdict_cell(metric, lang))) }
    }
    // A line of its own, as in the text: one more column would push the verdict off the page.
    @if let Some(ranks) = tables::shown_by_ranks(metric) { tr {
        th.n scope="row" { span.pm { (compare::BY_RANKS.text(lang)) } }
        td colspan="2" {}
        td { span.pm { (figures::ratio(ranks.ratio)) } }
        td.n { span.pm { (tables::interval(ranks.ratio_interval, lang)) } }
        td colspan="4" {}
    } } }
}

fn estimate(estimate: Option<&Estimate>, absent: &str) -> Markup {
    html! { @match estimate {
        None => (absent),
        Some(estimate) => {
            (figures::mean(estimate))
            @if let Some(half) = figures::half_width(estimate) { span.pm { " ± " (half) } }
        }
    } }
}
