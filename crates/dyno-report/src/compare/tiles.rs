//! The tiles of a comparison: each figure before and after.

use crate::figures;
use crate::messages::{Lang, fill, headings, names, tiles};
use crate::tiles::{LIMITS_MAX, TIMES, Tile, name};
use crate::words;
use dyno_analysis::compare::model::{
    CompareModel, ConfigurationPair, LimitPair, MetricPair, SideFigures,
};
use dyno_analysis::model::{Change, Effect, LimitVerdict, Verdict};
use dyno_model::audit::AuditVerdict;
use dyno_model::plan::ComparisonMetric;
use dyno_model::warning::Severity;

pub(super) fn all(model: &CompareModel, lang: Lang) -> Vec<Tile> {
    let mut all = Vec::new();
    if let Some(pair) = model.headline_configuration() {
        let first = [
            ComparisonMetric::HighestRate,
            ComparisonMetric::MostClients,
            ComparisonMetric::Throughput,
        ];
        all.extend(first.into_iter().filter_map(|metric| figure(model, pair, metric, lang)));
        all.extend(TIMES.into_iter().find_map(|metric| figure(model, pair, metric, lang)));
    }
    all.extend(failures(model, lang));
    all.push(lost(model, lang));
    all.extend(model.limits.iter().take(LIMITS_MAX).map(|pair| limit(pair, lang)));
    let valid = |side: u32| figures::count(side.into());
    let number = model.warnings.iter().filter(|warning| warning.severity > Severity::Note).count();
    all.push(Tile {
        before: Some(valid(model.base.trials_valid)),
        notes: (number > 0).then(|| fill!(tiles::WARNINGS, lang, number)).into_iter().collect(),
        link: (!model.warnings.is_empty()).then_some("doubts"),
        ..Tile::new(tiles::TRIALS.text(lang), valid(model.new.trials_valid))
    });
    all
}

/// A metric of the main configuration of the comparison, with the verdict over all configurations.
fn figure(
    model: &CompareModel,
    pair: &ConfigurationPair,
    metric: ComparisonMetric,
    lang: Lang,
) -> Option<Tile> {
    let of_pair = pair.metrics.iter().find(|it| it.metric == metric)?;
    let (before, after) = (of_pair.base?, of_pair.new?);
    let overall = model.overall.iter().find(|it| it.metric == metric && it.effect.ratio.is_some());
    let alone = effect(of_pair);
    let (effect, pairs) = overall.map_or((&alone, 1), |it| (&it.effect, it.configurations));
    // If there is only one series, the number of clients identifies the configuration.
    let is_one_line = model.configurations.iter().all(|it| it.name.label == pair.name.label);
    let which = match is_one_line {
        true => names::clients(&[pair.name.clients], lang),
        false => crate::messages::compare::pair(pair, lang),
    };
    let sides = [&before, &after];
    let change = Change { effect, pairs, own: Some(&alone) };
    let mut tile = Tile::change(name(metric, lang), which, sides, Some(change), lang);
    if effect.p.is_none() && effect.verdict == Some(Verdict::Inconclusive) {
        tile.notes.push(fill!(tiles::NOT_TESTED, lang, min = model.rules.min_repeats));
    }
    Some(tile)
}

fn effect(of: &MetricPair) -> Effect {
    Effect {
        ratio: of.ratio,
        bound: of.bound,
        ratio_interval: of.ratio_interval,
        interval_level: of.interval_level,
        p: of.p,
        verdict: Some(of.verdict),
        ..Effect::default()
    }
}

/// A count of both sides, over all configurations; `None` if neither side has it.
fn counts(model: &CompareModel, of: fn(&SideFigures) -> Option<u64>) -> [Option<u64>; 2] {
    let sum = |side: fn(&ConfigurationPair) -> &SideFigures| {
        model
            .configurations
            .iter()
            .filter_map(|pair| of(side(pair)))
            .reduce(|one, other| one + other)
    };
    [sum(|pair| &pair.base), sum(|pair| &pair.new)]
}

fn shown(count: Option<u64>, lang: Lang) -> String {
    count.map_or_else(|| headings::ABSENT.text(lang).to_owned(), figures::count)
}

fn failures(model: &CompareModel, lang: Lang) -> Option<Tile> {
    let [base, new] = counts(model, |side| side.failed);
    base.or(new)?;
    let tile = Tile::new(tiles::FAILED.text(lang), shown(new, lang));
    Some(Tile { before: Some(shown(base, lang)), is_alarming: new > Some(0), ..tile })
}

fn lost(model: &CompareModel, lang: Lang) -> Tile {
    let [base, new] = counts(model, |side| side.lost);
    let tile = Tile::new(tiles::LOST.text(lang), shown(new, lang));
    if base.or(new).is_none() {
        return Tile { notes: vec![headings::NOT_CHECKED.text(lang).to_owned()], ..tile };
    }
    let verdict = model.configurations.iter().map(|pair| pair.new.audit).max();
    Tile {
        before: Some(shown(base, lang)),
        word: verdict.map(words::audit),
        is_alarming: verdict == Some(AuditVerdict::Violated),
        ..tile
    }
}

fn limit(pair: &LimitPair, lang: Lang) -> Tile {
    let verdict = |of: Option<LimitVerdict>| {
        of.map_or_else(
            || headings::ABSENT.text(lang).to_owned(),
            |it| words::limit(it).text(lang).to_owned(),
        )
    };
    let name = figures::limit_in(pair.part.as_ref(), pair.metric, pair.value);
    Tile {
        before: Some(verdict(pair.base)),
        is_alarming: pair.new == Some(LimitVerdict::Failed),
        ..Tile::new(name, verdict(pair.new))
    }
}
