//! Sentences that the output formats of a comparison share.

use crate::figures;
use crate::messages::{Lang, Message, compare, fill, list, names, notes};
use crate::words::{self, Word};
use dyno_analysis::compare::model::{
    CompareModel, ConfigurationName, MetricPair, OverallEffect, SideFigures, SideName, SideRow,
};
use dyno_analysis::model::{Estimate, Verdict};
use dyno_model::plan::ComparisonMetric;

pub(super) fn title(model: &CompareModel, lang: Lang) -> String {
    if let Some(title) = &model.title {
        return title.clone();
    }
    let (base, new) = (model.base.title.as_str(), model.new.title.as_str());
    if base == new {
        fill!(compare::COMPARE_TITLE, lang, title = base)
    } else {
        fill!(compare::COMPARE_TITLE_TWO, lang, base, new)
    }
}

/// Both sides: name, location and time of the measurement.
pub(super) fn sides(model: &CompareModel, lang: Lang) -> [(&'static str, String); 2] {
    [(SideName::Base, &model.base), (SideName::New, &model.new)]
        .map(|(name, side)| (compare::side(name, lang), side_line(side, lang)))
}

/// Legends of the curves of base and new: the side, with the name of its directory.
pub(super) fn legends(model: &CompareModel, lang: Lang) -> [String; 2] {
    [(SideName::Base, &model.base), (SideName::New, &model.new)].map(|(name, side)| {
        let folder = side.folder.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        names::labelled(compare::side(name, lang), folder, lang)
    })
}

fn side_line(side: &SideRow, lang: Lang) -> String {
    let started_at =
        side.runs.iter().map(|run| run.started_at.as_str()).filter(|time| !time.is_empty()).min();
    let ended = side.runs.iter().map(|run| run.ended_at.as_str()).max();
    let (from, to) = (
        names::to_the_second(started_at.unwrap_or_default()),
        names::to_the_second(ended.unwrap_or_default()),
    );
    // Avoids repeating the same date.
    let to = match (from.split_once(' '), to.split_once(' ')) {
        (Some((day, _)), Some((also, time))) if day == also => time,
        _ => &to,
    };
    let (folder, runs) = (&side.folder, side.runs.len());
    let (valid, measured) = (side.trials_valid, side.trials_measured);
    let line = fill!(compare::SIDE, lang, folder, runs, valid, measured, from, to);
    let systems: Vec<String> = side
        .systems
        .iter()
        .map(|it| names::system(&it.name, &it.product, &it.version, lang))
        .collect();
    let systems = fill!(notes::NOTE_SYSTEMS, lang, systems = list(lang, &systems));
    [line, systems].join(lang.space)
}

/// How verdicts were determined, and why some are missing.
pub(super) fn method(model: &CompareModel, lang: Lang) -> Vec<String> {
    let margin = figures::limit(model.rules.margin * 100.0);
    let mut sentences = Vec::new();
    let is_short = |side: &SideFigures| side.trials_valid < model.rules.min_repeats;
    if model.configurations.iter().any(|pair| is_short(&pair.base) || is_short(&pair.new)) {
        sentences.push(fill!(compare::COMPARE_NOTE_FEW, lang, min = model.rules.min_repeats));
    }
    sentences.extend(without_figures(model, lang));
    sentences.extend(needed(model, &margin, lang));
    let is_bound = |side: Option<Estimate>| side.is_some_and(|estimate| estimate.is_bound);
    if model.comparisons().any(|(_, metric)| is_bound(metric.base) || is_bound(metric.new)) {
        sentences.push(notes::NOTE_BOUNDS.text(lang).to_owned());
    }
    if model.comparisons().any(|(_, metric)| is_marked(metric)) {
        sentences.push(fill!(compare::COMPARE_NOTE_MARK, lang, margin));
    }
    if model.rules.family > 0 {
        let alpha = figures::limit(model.rules.alpha * 100.0);
        let comparisons = model.rules.family;
        let primary = model.headline().map_or("", |it| names::metric(it.metric, lang));
        let reserve = figures::limit(model.rules.reserve * 100.0);
        sentences.push(fill!(
            compare::COMPARE_NOTE_METHOD,
            lang,
            margin,
            alpha,
            comparisons,
            primary,
            reserve
        ));
        let level = model.rules.interval_level.map(figures::level);
        sentences.extend(level.map(|level| fill!(compare::COMPARE_NOTE_WIDENED, lang, level)));
        if model.over_configurations().next().is_some() {
            sentences.push(compare::COMPARE_NOTE_OVER_ALL.text(lang).to_owned());
        }
    }
    let of_runs = model.overall.iter().filter_map(|it| it.between_runs);
    if let Some(scatter) = of_runs.reduce(f64::max) {
        let scatter = figures::limit(scatter * 100.0);
        sentences.push(fill!(compare::COMPARE_NOTE_RUNS, lang, scatter));
    }
    if !model.statements.is_empty() {
        sentences.push(compare::COMPARE_NOTE_STATEMENTS.text(lang).to_owned());
    }
    if model.comparisons().any(|(_, metric)| metric.by_ranks.is_some()) {
        sentences.push(compare::COMPARE_NOTE_RANKS.text(lang).to_owned());
    }
    sentences
}

/// Metrics that are not compared, because a side has no figure.
fn without_figures(model: &CompareModel, lang: Lang) -> Option<String> {
    let names = model.configurations.iter().flat_map(|pair| {
        let configuration = compare::pair(pair, lang);
        let name = move |metric: &ComparisonMetric| {
            fill!(compare::METRIC_OF, lang, metric = names::metric(*metric, lang), configuration)
        };
        pair.without_figures.iter().map(name)
    });
    let names: Vec<String> = names.collect();
    (!names.is_empty())
        .then(|| fill!(compare::COMPARE_NOTE_WITHOUT, lang, comparisons = list(lang, &names)))
}

/// Configurations of one side only, under their headings.
pub(super) fn unmatched(model: &CompareModel, lang: Lang) -> Vec<(Message, Vec<String>)> {
    let name = |name: &ConfigurationName| names::series_at(&name.label, name.clients, lang);
    let both = [(compare::ONLY_BASE, &model.only_base), (compare::ONLY_NEW, &model.only_new)];
    let reported = both.into_iter().filter(|(_, names)| !names.is_empty());
    reported.map(|(title, names)| (title, names.iter().map(name).collect())).collect()
}

/// The answers over all configurations, each with its verdict.
pub(super) fn answers(model: &CompareModel, lang: Lang) -> Vec<(Word, String)> {
    let answer =
        |it: &OverallEffect| (words::verdict(it.effect.verdict), compare::answer(model, it, lang));
    let statements =
        model.statements.iter().filter(|it| it.effect.verdict.is_some_and(Verdict::differs));
    model.over_configurations().chain(statements).map(answer).collect()
}

/// Returns true for a significant difference that may be within the margin.
pub(super) fn is_marked(metric: &MetricPair) -> bool {
    metric.verdict.differs() && !metric.exceeds_margin
}

/// Number of trials that would decide inconclusive comparisons.
fn needed(model: &CompareModel, margin: &str, lang: Lang) -> Vec<String> {
    // The requirement of the other metrics depends on whether the primary one is decided.
    let primary = model.headline().map(|it| it.metric);
    let is_open =
        |it: &&MetricPair| it.verdict == Verdict::Inconclusive && Some(it.metric) == primary;
    let open = || model.comparisons().map(|(_, metric)| metric).filter(is_open);
    let mut sentences = Vec::new();
    let least = open().filter_map(|metric| metric.repeats_needed).min();
    let most = open().filter_map(|metric| metric.repeats_needed).max();
    if let Some((least, most)) = least.zip(most) {
        sentences.push(match least == most {
            true => fill!(compare::COMPARE_NOTE_NEEDED_ONE, lang, margin, needed = least),
            false => fill!(compare::COMPARE_NOTE_NEEDED, lang, margin, least, most),
        });
    }
    // A test implies that the variance is known.
    if open().any(|metric| metric.p.is_some() && metric.repeats_needed.is_none()) {
        sentences.push(fill!(compare::COMPARE_NOTE_TOO_MANY, lang, margin));
    }
    sentences
}
