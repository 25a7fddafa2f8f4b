//! Answers to the questions of an experiment, as sentences.

pub(crate) use super::en::question::*;
use super::lang::{Lang, Message};
use super::names;
use crate::figures;
use dyno_analysis::model::{Interaction, InteractionWith, Question, Range, ReportModel, Verdict};
use dyno_model::plan::Metric;

/// The answer in a sentence, and what it depends on in more.
pub(crate) fn answer(model: &ReportModel, question: &Question, lang: Lang) -> String {
    let margin = figures::limit(model.comparison_rules.margin * 100.0);
    let mut sentences = vec![sentence(question, &margin, lang)];
    let differs = matches!(question.effect.verdict, Some(Verdict::Better | Verdict::Worse));
    if differs && !question.effect.exceeds_margin {
        sentences.push(PERHAPS_SMALL.fill(lang, &[("margin", &margin)]));
    }
    for it in question.interactions.iter().filter(|it| it.depends) {
        let values = [
            ("with", depends_on(model, it, lang)),
            ("low", &figures::ratio(it.low.ratio)),
            ("low_level", &it.low.level),
            ("high", &figures::ratio(it.high.ratio)),
            ("high_level", &it.high.level),
        ];
        sentences.push(DEPENDS.fill(lang, &values));
    }
    sentences.join(lang.space)
}

fn sentence(question: &Question, margin: &str, lang: Lang) -> String {
    let metric = names::metric(question.metric, lang);
    let sides = [
        ("subject", question.subject.as_str()),
        ("baseline", question.baseline.as_str()),
        ("metric", metric),
    ];
    let Some((ratio, interval)) = question.effect.ratio.zip(question.effect.ratio_interval) else {
        let message = if question.effect.verdict == Some(Verdict::Invalid) { INVALID } else { TOO_FEW };
        return message.fill(lang, &sides);
    };
    let scope = scope(question, lang);
    let fill = |message: Message, more: &[(&str, &str)]| {
        let values: Vec<_> = sides.iter().chain(&[("scope", scope.as_str())]).chain(more).copied().collect();
        message.fill(lang, &values)
    };
    let ratios = [interval.low, interval.high].map(figures::ratio);
    let times = |message: Message, more: (&str, &str)| {
        fill(message, &[("low", &ratios[0]), ("high", &ratios[1]), more])
    };
    let detectable = question.effect.detectable_ratio.map_or(0.0, |ratio| (ratio - 1.0) * 100.0);
    match question.effect.verdict {
        Some(Verdict::Equivalent) => times(EQUIVALENT, ("margin", margin)),
        Some(Verdict::Better | Verdict::Worse) => {
            let of_metric = |rate, time| if question.metric == Metric::Throughput { rate } else { time };
            if !(0.5..2.0).contains(&ratio) {
                let ratio = figures::ratio(ratio);
                return times(of_metric(TIMES_AS_MANY, TIMES_AS_LONG), ("ratio", &ratio));
            }
            let message = if ratio < 1.0 { of_metric(FEWER, SHORTER) } else { of_metric(MORE, LONGER) };
            let [percent, low, high] = percents(ratio, interval);
            fill(message, &[("percent", &percent), ("low", &low), ("high", &high)])
        }
        Some(Verdict::Inconclusive | Verdict::Invalid) | None => {
            times(INCONCLUSIVE, ("detectable", &figures::percent(detectable)))
        }
    }
}

/// The difference, and the ends of its interval, smaller one first.
fn percents(ratio: f64, interval: Range) -> [String; 3] {
    let percent = |ratio: f64| (ratio - 1.0).abs() * 100.0;
    let [near, far] = if ratio < 1.0 { [interval.high, interval.low] } else { [interval.low, interval.high] };
    [ratio, near, far].map(|it| figures::percent(percent(it)))
}

/// What an answer is over.
fn scope(question: &Question, lang: Lang) -> String {
    let ends = question.clients.first().zip(question.clients.last());
    let (first, last) = ends.map_or((0, 0), |(first, last)| (*first, *last));
    let values = [
        ("mixes", question.mixes.to_string()),
        ("clients", names::clients(&question.clients, lang)),
        ("first", first.to_string()),
        ("last", last.to_string()),
    ];
    let message = match (question.mixes, question.clients.len()) {
        (0 | 1, _) => SCOPE_CLIENTS,
        (_, 0 | 1) => SCOPE_MIXES,
        _ => SCOPE_BOTH,
    };
    message.fill(lang, &values.each_ref().map(|(name, value)| (*name, value.as_str())))
}

/// What an effect depends on.
pub(crate) fn depends_on<'a>(model: &'a ReportModel, interaction: &Interaction, lang: Lang) -> &'a str {
    match interaction.with {
        InteractionWith::Clients => WITH_CLIENTS.text(lang),
        InteractionWith::System => WITH_SYSTEM.text(lang),
        InteractionWith::Level { factor } => {
            model.factors.get(factor).map_or("", |name| figures::short_name(name))
        }
    }
}
