//! Sentences that the forms of a comparison share.

use crate::figures;
use crate::messages::{Lang, compare, list, notes};
use crate::words::{self, Word};
use dyno_analysis::compare::model::{CompareModel, OverAll, SideName, SideRow};
use dyno_analysis::model::{Estimate, Verdict};

/// The heading.
pub(super) fn title(model: &CompareModel, lang: Lang) -> String {
    let (base, new) = (model.base.title.as_str(), model.new.title.as_str());
    if base == new {
        compare::COMPARE_TITLE.fill(lang, &[("title", base)])
    } else {
        compare::COMPARE_TITLE_TWO.fill(lang, &[("base", base), ("new", new)])
    }
}

/// Both sides: name, and where and when it was measured.
pub(super) fn sides(model: &CompareModel, lang: Lang) -> [(&'static str, String); 2] {
    [(SideName::Base, &model.base), (SideName::New, &model.new)]
        .map(|(name, side)| (compare::side(name, lang), side_line(side, lang)))
}

fn side_line(side: &SideRow, lang: Lang) -> String {
    let begun = side.runs.iter().map(|run| run.started_at.as_str()).filter(|time| !time.is_empty()).min();
    let ended = side.runs.iter().map(|run| run.ended_at.as_str()).max();
    let (from, to) = (to_the_second(begun.unwrap_or_default()), to_the_second(ended.unwrap_or_default()));
    // The same day is not said twice.
    let to = match (from.split_once(' '), to.split_once(' ')) {
        (Some((day, _)), Some((also, time))) if day == also => time,
        _ => &to,
    };
    let line = compare::SIDE.fill(
        lang,
        &[
            ("folder", &side.folder),
            ("runs", &side.runs.len().to_string()),
            ("valid", &side.trials_valid.to_string()),
            ("measured", &side.trials_measured.to_string()),
            ("from", &from),
            ("to", to),
        ],
    );
    let systems = notes::NOTE_SYSTEMS.fill(lang, &[("systems", &list(lang, &side.systems))]);
    [line, systems].join(lang.space)
}

/// `2026-11-21 08:45:00` of a time in RFC 3339.
fn to_the_second(time: &str) -> String {
    time.get(..19).unwrap_or("?").replace('T', " ")
}

/// How verdicts were made, and what is missing for those that could not be.
pub(super) fn method(model: &CompareModel, lang: Lang) -> Vec<String> {
    let margin = figures::limit(model.rules.margin * 100.0);
    let mut sentences = Vec::new();
    let is_short =
        |side: &dyno_analysis::compare::model::SideFigures| side.trials_valid < model.rules.min_repeats;
    if model.treatments.iter().any(|pair| is_short(&pair.base) || is_short(&pair.new)) {
        let min = model.rules.min_repeats.to_string();
        sentences.push(compare::COMPARE_NOTE_FEW.fill(lang, &[("min", &min)]));
    }
    sentences.extend(needed(model, &margin, lang));
    let is_bound = |side: Option<Estimate>| side.is_some_and(|estimate| estimate.is_bound);
    if model.comparisons().any(|(_, metric)| is_bound(metric.base) || is_bound(metric.new)) {
        sentences.push(notes::NOTE_BOUNDS.text(lang).to_owned());
    }
    if model.comparisons().any(|(_, metric)| is_marked(metric)) {
        sentences.push(compare::COMPARE_NOTE_MARK.fill(lang, &[("margin", &margin)]));
    }
    let values = [
        ("margin", margin.as_str()),
        ("alpha", &figures::limit(model.rules.alpha * 100.0)),
        ("family", &model.rules.family.to_string()),
        ("level", &figures::level(model.rules.interval_level)),
    ];
    if model.rules.family > 0 {
        sentences.push(compare::COMPARE_NOTE_METHOD.fill(lang, &values));
        if !model.over_all.is_empty() {
            sentences.push(compare::COMPARE_NOTE_OVER_ALL.text(lang).to_owned());
        }
    }
    let of_runs = model.over_all.iter().filter_map(|it| it.between_runs);
    if let Some(scatter) = of_runs.reduce(f64::max) {
        let scatter = figures::limit(scatter * 100.0);
        sentences.push(compare::COMPARE_NOTE_RUNS.fill(lang, &[("scatter", &scatter)]));
    }
    if !model.statements.is_empty() {
        sentences.push(compare::COMPARE_NOTE_STATEMENTS.text(lang).to_owned());
    }
    if model.comparisons().any(|(_, metric)| metric.by_ranks.is_some()) {
        sentences.push(compare::COMPARE_NOTE_RANKS.text(lang).to_owned());
    }
    sentences
}

/// The answers over all treatments, each with its verdict.
pub(super) fn answers(model: &CompareModel, lang: Lang) -> Vec<(Word, String)> {
    let answer = |it: &OverAll| (words::verdict(it.effect.verdict), compare::answer(model, it, lang));
    let statements = model.statements.iter().filter(|it| it.effect.verdict.is_some_and(Verdict::differs));
    model.over_all.iter().chain(statements).map(answer).collect()
}

/// True for a difference that is certain, and perhaps inside the margin.
pub(super) fn is_marked(metric: &dyno_analysis::compare::model::MetricPair) -> bool {
    metric.verdict.differs() && !metric.exceeds_margin
}

/// Trials that would decide what is inconclusive.
fn needed(model: &CompareModel, margin: &str, lang: Lang) -> Vec<String> {
    let open =
        || model.comparisons().map(|(_, metric)| metric).filter(|it| it.verdict == Verdict::Inconclusive);
    let mut sentences = Vec::new();
    let least = open().filter_map(|metric| metric.repeats_needed).min();
    let most = open().filter_map(|metric| metric.repeats_needed).max();
    if let Some((least, most)) = least.zip(most) {
        let (least, most) = (least.to_string(), most.to_string());
        sentences.push(if least == most {
            compare::COMPARE_NOTE_NEEDED_ONE.fill(lang, &[("margin", margin), ("needed", &least)])
        } else {
            let values = [("margin", margin), ("least", least.as_str()), ("most", &most)];
            compare::COMPARE_NOTE_NEEDED.fill(lang, &values)
        });
    }
    // With a test there was scatter to go by.
    if open().any(|metric| metric.p.is_some() && metric.repeats_needed.is_none()) {
        sentences.push(compare::COMPARE_NOTE_TOO_MANY.fill(lang, &[("margin", margin)]));
    }
    sentences
}
