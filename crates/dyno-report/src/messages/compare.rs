//! Sentences of a comparison of two sides (`dyno compare`).

pub(crate) use super::en::compare::*;
use super::lang::{Lang, Message};
use super::names::list;
use super::question::Answer;
use super::{finding, names, said};
use crate::figures;
use dyno_analysis::compare::model::{
    CompareDoubt, CompareModel, Condition, Difference, MetricPair, OverAll, SideName, TreatmentPair,
};
use dyno_analysis::model::Verdict;
use std::borrow::Cow;

/// Name of a side.
pub(crate) fn side(side: SideName, lang: Lang) -> &'static str {
    match side {
        SideName::Base => BASE.text(lang),
        SideName::New => NEW.text(lang),
    }
}

/// A treatment of both sides in words.
pub(crate) fn pair(pair: &TreatmentPair, lang: Lang) -> String {
    let line = match &pair.system_new {
        None => pair.name.label.clone(),
        Some(new) => AGAINST.fill(lang, &[("base", &pair.name.label), ("new", new)]),
    };
    names::line_at(&line, pair.name.clients, lang)
}

/// What an effect over all treatments is about: a metric, or the mean time of a kind of statement.
pub(crate) fn about(over_all: &OverAll, lang: Lang) -> String {
    match &over_all.statement {
        None => names::metric(over_all.metric, lang).to_owned(),
        Some(statement) => STATEMENT_MEAN.fill(lang, &[("statement", statement)]),
    }
}

/// An effect over all treatments as sentences.
pub(crate) fn answer(model: &CompareModel, over_all: &OverAll, lang: Lang) -> String {
    let levels = model.treatments.first().map_or(&[][..], |pair| &pair.name.levels);
    let factors: Vec<String> = levels.iter().map(|level| level.factor.clone()).collect();
    let answer = Answer {
        metric: &about(over_all, lang),
        is_rate: over_all.metric.is_more_better(),
        subject: side(SideName::New, lang),
        baseline: side(SideName::Base, lang),
        effect: &over_all.effect,
        interactions: &over_all.interactions,
        varied: &over_all.varied,
        clients: &over_all.clients,
        factors: &factors,
        margin: model.rules.margin,
    };
    answer.sentences(lang).join(lang.space)
}

/// A doubt as a whole sentence.
#[expect(clippy::too_many_lines, reason = "a table: one arm per doubt")]
pub(crate) fn doubt(doubt: &CompareDoubt, lang: Lang) -> String {
    let say = |message: &Message, values: &[(&str, &str)]| message.fill(lang, values);
    let number = |number: &u32| figures::count(u64::from(*number));
    let of = |name: &SideName| ("side", side(*name, lang));
    match doubt {
        CompareDoubt::Differs { condition, system, values } => differs(*condition, system, values, lang),
        CompareDoubt::AuditViolated { side, treatments } => {
            let names = treatments.iter().map(|name| names::line_at(&name.label, name.clients, lang));
            let names: Vec<String> = names.collect();
            say(&COMPARE_AUDIT_VIOLATED, &[of(side), ("treatments", &list(lang, &names))])
        }
        CompareDoubt::DidNotWork { side, treatments } => {
            let each = treatments.iter().map(|(name, not_working)| {
                let values = [
                    ("treatment", names::line_at(&name.label, name.clients, lang)),
                    ("trials", not_working.trials.to_string()),
                    ("of", not_working.of.to_string()),
                    ("because", names::because(not_working.because, lang).to_owned()),
                ];
                NOT_WORKING_OF.fill(lang, &values.each_ref().map(|(name, value)| (*name, value.as_str())))
            });
            let each: Vec<String> = each.collect();
            say(&COMPARE_NOT_WORKING, &[of(side), ("treatments", &each.join(lang.semicolon))])
        }
        CompareDoubt::NothingMeasured { side, runs } => {
            say(&COMPARE_NOTHING_MEASURED, &[of(side), ("runs", &list(lang, runs))])
        }
        CompareDoubt::InvalidTrials { side, invalid, measured, because } => say(
            &COMPARE_INVALID,
            &[
                of(side),
                ("invalid", &number(invalid)),
                ("measured", &number(measured)),
                ("because", &finding::sentence(because, lang)),
            ],
        ),
        CompareDoubt::MissingTrials { side, missing, planned } => {
            say(&COMPARE_MISSING, &[of(side), ("missing", &number(missing)), ("planned", &number(planned))])
        }
        CompareDoubt::Runs { side, about } => {
            say(&COMPARE_RUNS, &[of(side), ("about", &finding::sentence(about, lang))])
        }
        CompareDoubt::Trials { base, base_measured, new, new_measured, about } => say(
            &COMPARE_TRIALS,
            &[
                ("base", &number(base)),
                ("base_measured", &number(base_measured)),
                ("new", &number(new)),
                ("new_measured", &number(new_measured)),
                ("about", &finding::sentence(about, lang)),
            ],
        ),
        CompareDoubt::Unreadable { side, what, places } => {
            let what = what.iter().map(|what| said(what, lang)).collect::<Vec<_>>().join(lang.semicolon);
            say(&COMPARE_UNREADABLE, &[of(side), ("places", &number(places)), ("what", &what)])
        }
        CompareDoubt::NotEnded { side, runs } => {
            say(&COMPARE_NOT_ENDED, &[of(side), ("runs", &list(lang, runs))])
        }
        CompareDoubt::RanksDisagree { comparisons } => {
            let names = comparisons.iter().map(|(name, metric)| {
                let treatment = names::line_at(&name.label, name.clients, lang);
                let metric = names::metric(*metric, lang);
                METRIC_OF.fill(lang, &[("metric", metric), ("treatment", &treatment)])
            });
            say(&RANKS_DISAGREE, &[("comparisons", &list(lang, &names.collect::<Vec<_>>()))])
        }
        CompareDoubt::OneAfterTheOther { first: SideName::Base, gap_s } => {
            say(&BASE_FIRST, &[("gap", &names::span(*gap_s, lang))])
        }
        CompareDoubt::OneAfterTheOther { first: SideName::New, gap_s } => {
            say(&NEW_FIRST, &[("gap", &names::span(*gap_s, lang))])
        }
        CompareDoubt::Alternating => say(&ALTERNATING, &[]),
        CompareDoubt::OneRunEach => say(&ONE_RUN_EACH, &[]),
        CompareDoubt::SettingsUnknown { system } => say(&SETTINGS_UNKNOWN, &[("system", system)]),
        CompareDoubt::OtherName { base, new } => say(&OTHER_NAME, &[("base", base), ("new", new)]),
    }
}

fn differs(condition: Condition, system: &str, values: &[Difference], lang: Lang) -> String {
    // Settings and options have names and values of their own.
    let is_own = |name: &str| match condition {
        Condition::Settings | Condition::KernelSettings | Condition::Proxies => true,
        Condition::Workload => !name.contains(' '),
        _ => false,
    };
    let shown = |name: &str, value: &str| match value {
        "" => NOTHING.text(lang).to_owned(),
        value if is_own(name) => value.to_owned(),
        value => value.split(" | ").map(|value| said(value, lang)).collect::<Vec<_>>().join(" | "),
    };
    let each: Vec<String> = values
        .iter()
        .map(|value| {
            let (base, new) = (shown(&value.name, &value.base), shown(&value.name, &value.new));
            let name = if is_own(&value.name) { Cow::from(&value.name) } else { said(&value.name, lang) };
            DIFFERENCE.fill(lang, &[("name", &name), ("base", &base), ("new", &new)])
        })
        .collect();
    let values = list(lang, &each);
    let all = ("values", values.as_str());
    match condition {
        Condition::Machine => MACHINE_DIFFERS.fill(lang, &[all]),
        Condition::Kernel => KERNEL_DIFFERS.fill(lang, &[all]),
        Condition::KernelSettings => KERNEL_SETTINGS_DIFFER.fill(lang, &[all]),
        Condition::Proxies => PROXIES_DIFFER.fill(lang, &[all]),
        Condition::Dyno => DYNO_DIFFERS.fill(lang, &[all]),
        Condition::System => SYSTEM_DIFFERS.fill(lang, &[("system", system), all]),
        Condition::ServerVersion => VERSION_DIFFERS.fill(lang, &[("system", system), all]),
        Condition::Settings => {
            SETTINGS_DIFFER.fill(lang, &[("system", system), ("number", &each.len().to_string()), all])
        }
        Condition::Load => LOAD_DIFFERS.fill(lang, &[all]),
        Condition::Workload => WORKLOAD_DIFFERS.fill(lang, &[all]),
        Condition::Scripts => SCRIPTS_DIFFER.fill(lang, &[all]),
    }
}

/// What follows from all verdicts, in one sentence.
pub(crate) fn outcome(model: &CompareModel, lang: Lang) -> String {
    let number = |verdict: Verdict| model.outcome.count(verdict).to_string();
    let (better, worse, equivalent, inconclusive, invalid) = (
        number(Verdict::Better),
        number(Verdict::Worse),
        number(Verdict::Equivalent),
        number(Verdict::Inconclusive),
        number(Verdict::Invalid),
    );
    let comparisons = model.outcome.comparisons.to_string();
    let all = [
        ("comparisons", comparisons.as_str()),
        ("better", &better),
        ("equivalent", &equivalent),
        ("inconclusive", &inconclusive),
        ("invalid", &invalid),
    ];
    match model.outcome.verdict {
        Verdict::Worse if model.outcome.worse == 0 => {
            let worse = model.over_all.iter().find(|it| it.effect.verdict == Some(Verdict::Worse));
            let sentence = worse.map_or_else(String::new, |it| answer(model, it, lang));
            let values: Vec<_> = all.into_iter().chain([("sentence", sentence.as_str())]).collect();
            OUTCOME_WORSE_OVER_ALL.fill(lang, &values)
        }
        Verdict::Worse => {
            let (treatment, metric, ratio) = worst(model).map_or_else(Default::default, |(of, worst)| {
                let ratio = figures::bounded_ratio(worst.ratio.unwrap_or(1.0), worst.bound);
                (pair(of, lang), names::metric(worst.metric, lang), ratio)
            });
            let which = [("treatment", treatment.as_str()), ("metric", metric), ("ratio", &ratio)];
            let values: Vec<_> = all.into_iter().chain([("worse", worse.as_str())]).chain(which).collect();
            OUTCOME_WORSE.fill(lang, &values)
        }
        Verdict::Invalid if model.outcome.not_working > 0 => {
            let number = model.outcome.not_working.to_string();
            let values: Vec<_> = all[..4].iter().copied().chain([("not_working", number.as_str())]).collect();
            OUTCOME_NOT_WORKING.fill(lang, &values)
        }
        Verdict::Invalid => OUTCOME_INVALID.fill(lang, &all),
        Verdict::Inconclusive => OUTCOME_INCONCLUSIVE.fill(lang, &all[..4]),
        Verdict::Better => OUTCOME_BETTER.fill(lang, &all[..3]),
        Verdict::Equivalent => {
            let margin = figures::limit(model.rules.margin * 100.0);
            OUTCOME_EQUIVALENT.fill(lang, &[("comparisons", &comparisons), ("margin", &margin)])
        }
    }
}

/// The comparison that is worse by the largest factor.
fn worst(model: &CompareModel) -> Option<(&TreatmentPair, &MetricPair)> {
    let factor = |metric: &MetricPair| metric.ratio.map_or(0.0, |ratio| ratio.ln().abs());
    let worse = model.comparisons().filter(|(_, metric)| metric.verdict == Verdict::Worse);
    worse.max_by(|(_, one), (_, other)| factor(one).total_cmp(&factor(other)))
}
