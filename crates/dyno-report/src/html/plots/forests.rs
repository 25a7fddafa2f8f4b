//! Forest plots of the comparisons: one figure per metric, split into parts that fit on a page.

use crate::chart::forest::{ForestChart, ForestGroup, ForestRow, parts};
use crate::chart::frame::Drawn;
use crate::chart::svg::Labels;
use crate::figures;
use crate::html::page::{ChartFigure, Page};
use crate::messages::{fill, names, page};
use crate::tables::is_informative;
use crate::words;
use dyno_analysis::model::{Comparison, Effect, Metric, Verdict};
use dyno_model::plan::ComparisonMetric;

/// The questions about the primary metric; `None` for fewer than two.
pub(in crate::html) fn questions(page: &Page<'_>) -> Option<ChartFigure> {
    let primary_metric = page.model.primary_metric;
    let questions = page.model.questions.iter().filter(|it| it.metric == primary_metric);
    let rows: Vec<ForestRow> = questions
        .map(|it| {
            let (subject, baseline) = (&it.subject, &it.baseline);
            row(page, fill!(page::CHART_AGAINST, page.lang, subject, baseline), &it.effect)
        })
        .collect();
    if rows.iter().filter(|row| row.ratio.is_some()).count() < 2 {
        return None;
    }
    let topic = fill!(
        page::CHART_TITLE_QUESTIONS,
        page.lang,
        metric = names::metric(primary_metric, page.lang)
    );
    let title =
        crate::html::titles::answer(page, &[primary_metric]).unwrap_or_else(|| topic.clone());
    let id = format!("questions-{}", Metric::from(primary_metric).id());
    Some(figure(page, &id, title, vec![ForestGroup { title: String::new(), rows }]).about(topic))
}

/// All forest plots of comparisons; none for a single ratio.
pub(in crate::html) fn charts(page: &Page<'_>) -> Vec<ChartFigure> {
    let metrics = [
        ComparisonMetric::Throughput,
        ComparisonMetric::MeanMs,
        ComparisonMetric::P95Ms,
        ComparisonMetric::P99Ms,
        ComparisonMetric::HighestRate,
        ComparisonMetric::MostClients,
    ];
    metrics.into_iter().flat_map(|metric| metric_figures(page, metric)).collect()
}

fn metric_figures(page: &Page<'_>, metric: ComparisonMetric) -> Vec<ChartFigure> {
    let all: Vec<&Comparison> = page
        .model
        .comparisons
        .iter()
        .filter(|it| it.metric == metric && is_informative(it))
        .collect();
    if all.iter().filter(|comparison| comparison.effect.ratio.is_some()).count() < 2 {
        return Vec::new();
    }
    let title = title(page, metric, &all);
    let parts = parts(groups(page, &all));
    let count = parts.len();
    let part_figure = |(i, groups): (usize, Vec<ForestGroup>)| {
        let title = match count {
            1 => title.clone(),
            parts => fill!(page::CHART_TITLE_FOREST_PART, page.lang, title, part = i + 1, parts),
        };
        figure(page, &format!("comparisons-{}-{}", Metric::from(metric).id(), i + 1), title, groups)
    };
    parts.into_iter().enumerate().map(part_figure).collect()
}

fn figure(page: &Page<'_>, id: &str, title: String, groups: Vec<ForestGroup>) -> ChartFigure {
    let margin = figures::limit(page.model.comparison_rules.margin * 100.0);
    let comparisons = groups.iter().map(|group| group.rows.len()).sum::<usize>();
    let description = fill!(page::CHART_DESCRIPTION_FOREST, page.lang, comparisons);
    let chart = ForestChart {
        x_title: page.text(&page::CHART_RATIO).to_owned(),
        below_label: page.text(&page::CHART_LESS).to_owned(),
        above_label: page.text(&page::CHART_MORE).to_owned(),
        margin: page.model.comparison_rules.margin,
        groups,
    };
    let is_one_block = page.model.provenance.blocks == 1;
    let caption =
        if is_one_block { &page::CHART_CAPTION_FOREST_ONE } else { &page::CHART_CAPTION_FOREST };
    let captions = vec![fill!(caption, page.lang, margin)];
    let labels =
        Labels { id, title: &title, description: &description, percent: page.lang.percent };
    let chart = Drawn::of(labels, |drawing| chart.draw(drawing));
    ChartFigure { id: id.to_owned(), title, topic: None, captions, chart, data: None }
}

fn title(page: &Page<'_>, metric: ComparisonMetric, all: &[&Comparison]) -> String {
    let name = names::metric(metric, page.lang);
    let comparisons = all.len();
    if all.iter().all(|comparison| comparison.effect.verdict.is_none()) {
        return fill!(page::CHART_TITLE_FOREST_NO_VERDICT, page.lang, metric = name, comparisons);
    }
    let count = |verdict| all.iter().filter(|it| it.effect.verdict == Some(verdict)).count();
    let (better, worse) = (count(Verdict::Better), count(Verdict::Worse));
    let (equivalent, inconclusive) = (count(Verdict::Equivalent), count(Verdict::Inconclusive));
    let (title, metric) = (page::CHART_TITLE_FOREST, name);
    fill!(title, page.lang, metric, comparisons, better, worse, equivalent, inconclusive)
}

/// Comparisons of the same two series under one heading, a row per number of clients.
fn groups(page: &Page<'_>, all: &[&Comparison]) -> Vec<ForestGroup> {
    let model = page.model;
    let mut groups: Vec<((usize, usize), ForestGroup)> = Vec::new();
    for comparison in all {
        let key = (
            model.configurations[comparison.subject].series,
            model.configurations[comparison.baseline].series,
        );
        let (subject, baseline) = (&model.series[key.0].label, &model.series[key.1].label);
        let title = || fill!(page::CHART_AGAINST, page.lang, subject, baseline);
        let position = groups.iter().position(|(other, _)| *other == key).unwrap_or_else(|| {
            groups.push((key, ForestGroup { title: title(), rows: Vec::new() }));
            groups.len() - 1
        });
        let label = names::clients(&[comparison.clients], page.lang);
        groups[position].1.rows.push(row(page, label, &comparison.effect));
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

fn row(page: &Page<'_>, label: String, effect: &Effect) -> ForestRow {
    let figures = match (effect.ratio, effect.ratio_interval) {
        (Some(ratio), Some(interval)) => {
            let [low, high] = figures::ends(interval);
            format!("{} ({low} – {high})", figures::ratio(ratio))
        }
        (Some(ratio), None) => figures::bounded_ratio(ratio, effect.bound),
        (None, _) => String::new(),
    };
    let verdict = words::effect(effect);
    ForestRow {
        label,
        ratio: effect.ratio,
        interval: effect.ratio_interval.map(|interval| (interval.low, interval.high)),
        figures,
        verdict: effect.verdict.map_or_else(String::new, |_| verdict.text(page.lang).to_owned()),
        class: verdict.class,
    }
}
