//! Sentences of a comparison of two sides (`dyno compare`).

pub(crate) use super::languages::en::compare::*;
use super::languages::en::{property, values, word};
use super::languages::{Lang, Message};
use super::names::list;
use super::question::{Answer, Form, quotes_interval};
use super::{fill, names, warning};
use crate::figures;
use dyno_analysis::compare::model::{
    CompareModel, CompareWarningKind, Condition, ConfigurationPair, Difference, Differing,
    MetricPair, Outcome, OverallEffect, Property, SideName, Value,
};
use dyno_analysis::model::{NotWorking, Verdict};
use std::collections::BTreeSet;

/// Name of a side.
pub(crate) fn side(side: SideName, lang: Lang) -> &'static str {
    match side {
        SideName::Base => BASE.text(lang),
        SideName::New => NEW.text(lang),
    }
}

/// Name of a configuration of both sides.
pub(crate) fn pair(pair: &ConfigurationPair, lang: Lang) -> String {
    let series = match &pair.system_new {
        None => pair.name.label.clone(),
        Some(new) => fill!(AGAINST, lang, base = pair.name.label, new),
    };
    names::series_at(&series, pair.name.clients, lang)
}

/// Subject of an effect over all configurations: a metric, or the mean time of a kind of statement.
pub(crate) fn about(overall: &OverallEffect, lang: Lang) -> String {
    match &overall.statement {
        None => names::metric(overall.metric, lang).to_owned(),
        Some(statement) => fill!(STATEMENT_MEAN, lang, statement),
    }
}

/// An effect over all configurations as sentences.
pub(crate) fn answer(model: &CompareModel, overall: &OverallEffect, lang: Lang) -> String {
    answer_sentences(model, overall, lang).join(lang.space)
}

fn answer_sentences(model: &CompareModel, overall: &OverallEffect, lang: Lang) -> Vec<String> {
    let levels = model.configurations.first().map_or(&[][..], |pair| &pair.name.levels);
    let factors: Vec<String> = levels.iter().map(|level| level.factor.clone()).collect();
    let answer = Answer {
        metric: &about(overall, lang),
        form: Form::Change,
        subject: side(SideName::New, lang),
        baseline: side(SideName::Base, lang),
        effect: &overall.effect,
        interactions: &overall.interactions,
        varied: &overall.varied,
        clients: &overall.clients,
        factors: &factors,
        margin: model.rules.margin,
    };
    answer.sentences(lang)
}

/// A warning as a whole sentence.
pub(crate) fn warning(warning: &CompareWarningKind, lang: Lang) -> String {
    let number = |number: &u32| figures::count(u64::from(*number));
    let side = |name: &SideName| side(*name, lang);
    match warning {
        CompareWarningKind::Differs { condition, system, values } => {
            differs(*condition, system, values, lang)
        }
        CompareWarningKind::AuditViolated { side: of, configurations } => {
            let names =
                configurations.iter().map(|name| names::series_at(&name.label, name.clients, lang));
            let configurations = list(lang, &names.collect::<Vec<_>>());
            fill!(COMPARE_AUDIT_VIOLATED, lang, side = side(of), configurations)
        }
        CompareWarningKind::DidNotWork { side: of, configurations } => {
            let each = configurations.iter().map(|(name, NotWorking { trials, of, because })| {
                let configuration = names::series_at(&name.label, name.clients, lang);
                fill!(
                    NOT_WORKING_OF,
                    lang,
                    configuration,
                    trials,
                    of,
                    because = names::because(*because, lang)
                )
            });
            let configurations = each.collect::<Vec<_>>().join(lang.semicolon);
            fill!(COMPARE_NOT_WORKING, lang, side = side(of), configurations)
        }
        CompareWarningKind::NothingMeasured { side: of, runs } => {
            fill!(COMPARE_NOTHING_MEASURED, lang, side = side(of), runs = list(lang, runs))
        }
        CompareWarningKind::InvalidTrials { side: of, invalid, measured, because } => {
            let [invalid, measured] = [invalid, measured].map(number);
            let because = warning::sentence(because, lang);
            fill!(COMPARE_INVALID, lang, side = side(of), invalid, measured, because)
        }
        CompareWarningKind::MissingTrials { side: of, missing, planned } => {
            let [missing, planned] = [missing, planned].map(number);
            fill!(COMPARE_MISSING, lang, side = side(of), missing, planned)
        }
        CompareWarningKind::Runs { side: of, about } => {
            fill!(COMPARE_RUNS, lang, side = side(of), about = warning::sentence(about, lang))
        }
        CompareWarningKind::Trials { base, base_measured, new, new_measured, about } => {
            let [base, base_measured, new, new_measured] =
                [base, base_measured, new, new_measured].map(number);
            let about = warning::sentence(about, lang);
            fill!(COMPARE_TRIALS, lang, base, base_measured, new, new_measured, about)
        }
        CompareWarningKind::Unreadable { side: of, what, places } => {
            let what: Vec<_> = what.iter().map(|what| names::unreadable(what, lang)).collect();
            let what = what.join(lang.semicolon);
            fill!(COMPARE_UNREADABLE, lang, side = side(of), places = number(places), what)
        }
        CompareWarningKind::NotEnded { side: of, runs } => {
            fill!(COMPARE_NOT_ENDED, lang, side = side(of), runs = list(lang, runs))
        }
        CompareWarningKind::RanksDisagree { comparisons } => {
            let names = comparisons.iter().map(|(name, metric)| {
                let configuration = names::series_at(&name.label, name.clients, lang);
                let metric = names::metric(*metric, lang);
                fill!(METRIC_OF, lang, metric, configuration)
            });
            fill!(RANKS_DISAGREE, lang, comparisons = list(lang, &names.collect::<Vec<_>>()))
        }
        CompareWarningKind::OneAfterTheOther { first, gap_s } => {
            let message = if *first == SideName::Base { BASE_FIRST } else { NEW_FIRST };
            fill!(message, lang, gap = names::span(*gap_s, lang))
        }
        CompareWarningKind::Alternating => fill!(ALTERNATING, lang),
        CompareWarningKind::OneRunEach => fill!(ONE_RUN_EACH, lang),
        CompareWarningKind::SettingsUnknown { system } => fill!(SETTINGS_UNKNOWN, lang, system),
        CompareWarningKind::OtherName { base, new } => fill!(OTHER_NAME, lang, base, new),
    }
}

fn differs(condition: Condition, system: &str, values: &[Difference], lang: Lang) -> String {
    let shown = |values: &BTreeSet<Value>| match values.is_empty() {
        true => NOTHING.text(lang).to_owned(),
        false => values.iter().map(|it| value(it, lang)).collect::<Vec<_>>().join(" | "),
    };
    let difference = |Difference { what, base, new }: &Difference| {
        let name = match what {
            Differing::Property(property) => self::property(*property, lang),
            Differing::Name(name) => name,
        };
        fill!(DIFFERENCE, lang, name, base = shown(base), new = shown(new))
    };
    let each: Vec<String> = values.iter().map(difference).collect();
    let message = match condition {
        Condition::Machine => MACHINE_DIFFERS,
        Condition::Kernel => KERNEL_DIFFERS,
        Condition::KernelSettings => KERNEL_SETTINGS_DIFFER,
        Condition::Proxies => PROXIES_DIFFER,
        Condition::Dyno => DYNO_DIFFERS,
        Condition::System => SYSTEM_DIFFERS,
        Condition::ServerVersion => VERSION_DIFFERS,
        Condition::Settings => SETTINGS_DIFFER,
        Condition::Load => LOAD_DIFFERS,
        Condition::Workload => WORKLOAD_DIFFERS,
        Condition::Scripts => SCRIPTS_DIFFER,
        Condition::Schema => SCHEMAS_DIFFER,
        Condition::TableSizes => TABLE_SIZES_DIFFER,
    };
    fill!(message, lang, system, number = each.len(), values = list(lang, &each))
}

/// Name of a property that differs.
fn property(property: Property, lang: Lang) -> &'static str {
    property::EACH[property as usize].text(lang)
}

/// A value that differs.
fn value(value: &Value, lang: Lang) -> String {
    match value {
        Value::Word(word) => word::EACH[*word as usize].text(lang).to_owned(),
        Value::StartedByDyno(server) => fill!(values::STARTED_BY_DYNO, lang, server),
        Value::After(time) => fill!(values::AFTER, lang, time),
        Value::AfterTransactions(number) => fill!(values::AFTER_TRANSACTIONS, lang, number),
        Value::AfterTransactionsPerClient(number) => {
            fill!(values::AFTER_TRANSACTIONS_PER_CLIENT, lang, number)
        }
        Value::AtRows(number) => fill!(values::AT_ROWS, lang, number),
        Value::TableSize(size) => match (size.rows, size.mebibytes()) {
            (Some(rows), Some(size)) => fill!(values::ROWS_AND_SIZE, lang, rows, size),
            (Some(rows), None) => fill!(values::ROWS_ONLY, lang, rows),
            (None, size) => size.unwrap_or_default(),
        },
        Value::Version(version) => names::version(version, lang),
        Value::Virtualisation(layers) => names::virtualisation(layers, lang),
        Value::Text(text) if text.is_empty() => NOTHING.text(lang).to_owned(),
        Value::Text(text) => text.clone(),
    }
}

/// Summary of all verdicts: decided ones on the primary metric first, then the other metrics,
/// undecided ones last.
pub(crate) fn outcome(model: &CompareModel, lang: Lang) -> String {
    let Outcome {
        verdict,
        comparisons,
        better,
        equivalent,
        inconclusive,
        invalid,
        not_working,
        ..
    } = model.outcome;
    if verdict == Verdict::Invalid {
        let message = if not_working > 0 { OUTCOME_NOT_WORKING } else { OUTCOME_INVALID };
        return fill!(
            message,
            lang,
            comparisons,
            better,
            equivalent,
            inconclusive,
            invalid,
            not_working
        );
    }
    let lead =
        model.overall.iter().find(|it| it.effect.verdict == Some(verdict)).or(model.headline());
    let Some(lead) = lead else { return fill!(OUTCOME_NOTHING, lang) };
    let message = match verdict {
        Verdict::Worse => OUTCOME_WORSE,
        Verdict::Better => OUTCOME_BETTER,
        Verdict::Equivalent => OUTCOME_EQUIVALENT,
        Verdict::Inconclusive | Verdict::Invalid => OUTCOME_INCONCLUSIVE,
    };
    let mut sentences = vec![fill!(message, lang, sentence = answer(model, lead, lang))];
    if is_untested(lead) {
        sentences.push(fill!(COMPARE_NOTE_FEW, lang, min = model.rules.min_repeats));
    }
    sentences.extend(configurations(model, lead.effect.verdict == Some(verdict), lang));
    let kinds = [
        (ALSO_WORSE, Verdict::Worse),
        (ALSO_BETTER, Verdict::Better),
        (ALSO_EQUIVALENT, Verdict::Equivalent),
        (NOT_DECIDED, Verdict::Inconclusive),
    ];
    sentences.extend(
        kinds
            .into_iter()
            .filter_map(|(message, wanted)| others(model, lead, message, wanted, lang)),
    );
    sentences.extend(level(model, lead, lang));
    sentences.join(lang.space)
}

/// Maximum number of sentences on the first screen of a page.
const SENTENCES: usize = 3;

/// The summary for a page, which has tiles and tables: at most three sentences, decided results
/// first and regressions next.
pub(crate) fn first_sentences(model: &CompareModel, lang: Lang) -> Vec<String> {
    let lead = model.overall.iter().find(|it| it.effect.verdict == Some(model.outcome.verdict));
    let Some(lead) =
        lead.or(model.headline()).filter(|_| model.outcome.verdict != Verdict::Invalid)
    else {
        return vec![outcome(model, lang)];
    };
    let mut sentences = answer_sentences(model, lead, lang);
    if is_untested(lead) {
        sentences.push(fill!(COMPARE_NOTE_FEW, lang, min = model.rules.min_repeats));
        return sentences;
    }
    let more = sentences.split_off(1);
    sentences.extend(others(model, lead, ALSO_WORSE, Verdict::Worse, lang));
    sentences.extend(configurations(
        model,
        lead.effect.verdict == Some(model.outcome.verdict),
        lang,
    ));
    sentences.extend(others(model, lead, NOT_DECIDED, Verdict::Inconclusive, lang));
    sentences.extend(more);
    sentences.truncate(SENTENCES);
    sentences
}

/// True if there were too few valid trials for a test.
fn is_untested(it: &OverallEffect) -> bool {
    let effect = &it.effect;
    let is_open = effect.verdict == Some(Verdict::Inconclusive) && effect.p.is_none();
    is_open && effect.bound.is_none()
}

/// The other metrics with this verdict, in a sentence.
fn others(
    model: &CompareModel,
    lead: &OverallEffect,
    message: Message,
    wanted: Verdict,
    lang: Lang,
) -> Option<String> {
    let all = model.overall.iter().filter(|it| it.metric != lead.metric);
    let all = all.filter(|it| it.effect.verdict == Some(wanted));
    let names: Vec<String> = all.map(|it| about(it, lang)).collect();
    (!names.is_empty()).then(|| fill!(message, lang, metrics = list(lang, &names)))
}

/// Explains the confidence level of an answer's interval if it differs from the others.
fn level(model: &CompareModel, lead: &OverallEffect, lang: Lang) -> Option<String> {
    let effect = &lead.effect;
    let level = figures::level(effect.interval_level.filter(|_| quotes_interval(effect))?);
    if effect.verdict == Some(Verdict::Equivalent) {
        return Some(fill!(LEVEL_EQUIVALENT, lang, level));
    }
    let alpha = figures::limit(model.rules.alpha * 100.0);
    (level != figures::level(0.95)).then(|| fill!(LEVEL_SHARED, lang, level, alpha))
}

/// The number of configurations in which new is worse, and of those in which it is better if there
/// is no other answer.
fn configurations(model: &CompareModel, is_answered: bool, lang: Lang) -> Option<String> {
    let Outcome { verdict, comparisons, better, worse, .. } = model.outcome;
    if verdict == Verdict::Better && !is_answered {
        return Some(fill!(OUTCOME_CONFIGURATIONS_BETTER, lang, better, comparisons));
    }
    let (of, worst) = worst(model).filter(|_| model.configurations.len() > 1)?;
    let ratio = figures::bounded_ratio(worst.ratio.unwrap_or(1.0), worst.bound);
    let (configuration, metric) = (pair(of, lang), names::metric(worst.metric, lang));
    Some(fill!(
        OUTCOME_CONFIGURATIONS_WORSE,
        lang,
        worse,
        comparisons,
        configuration,
        metric,
        ratio
    ))
}

/// The comparison with the largest factor for the worse.
fn worst(model: &CompareModel) -> Option<(&ConfigurationPair, &MetricPair)> {
    let factor = |metric: &MetricPair| metric.ratio.map_or(0.0, |ratio| ratio.ln().abs());
    let worse = model.comparisons().filter(|(_, metric)| metric.verdict == Verdict::Worse);
    worse.max_by(|(_, one), (_, other)| factor(one).total_cmp(&factor(other)))
}

#[cfg(test)]
mod tests {
    use super::super::languages::EN;
    use super::*;
    use dyno_analysis::compare::model::Word;
    use dyno_model::schema::TableSize;
    use dyno_model::version::ServerVersion;
    use dyno_store::environment::Virtualisation;

    /// Errors about runs that are no repeats have the same words.
    #[test]
    fn properties_and_values_have_the_names_of_error_messages_in_english() {
        for each in Property::ALL {
            assert_eq!(property(each, EN), each.name());
        }
        let size = |rows, bytes| Value::TableSize(TableSize { rows, bytes });
        let values = [
            Value::StartedByDyno("mysql".to_owned()),
            Value::After("5 s".to_owned()),
            Value::AfterTransactions(7),
            Value::AfterTransactionsPerClient(7),
            Value::AtRows(7),
            size(Some(5), Some(1 << 20)),
            size(Some(5), None),
            size(None, Some(1 << 20)),
            Value::Version(ServerVersion::from("8.4")),
            Value::Virtualisation(Virtualisation::ALL.to_vec()),
            Value::Text("x".to_owned()),
        ];
        for each in Word::ALL.map(Value::Word).into_iter().chain(values) {
            assert_eq!(value(&each, EN), each.to_string());
        }
    }
}
