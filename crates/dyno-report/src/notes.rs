//! Sentences about a run that text and Markdown share.

use super::{figures, words};
use crate::messages::{Lang, Message, finding, in_line, list, names, notes, said};
use dyno_analysis::model::{Comparison, FindingRow, LedgerExample, ReportModel, Verdict, WorkloadRow};
use dyno_model::plan::{LoadPlan, Spacing, StopRule};
use std::collections::BTreeMap;

/// When and with what it was measured, and the machine. `started` is the time as it is to be shown.
pub(super) fn origin(model: &ReportModel, started: &str, lang: Lang) -> Vec<String> {
    let provenance = &model.provenance;
    let mut sentences = Vec::new();
    if !started.is_empty() {
        let (seed, blocks) = (provenance.seed.to_string(), provenance.blocks.to_string());
        let mut values = vec![
            ("started", started),
            ("version", provenance.dyno_version.as_str()),
            ("seed", seed.as_str()),
            ("blocks", blocks.as_str()),
        ];
        sentences.push(match &provenance.profile {
            _ if provenance.is_imported() => notes::NOTE_IMPORTED.fill(lang, &values[..2]),
            None => notes::NOTE_RUN.fill(lang, &values),
            Some(profile) => {
                values.push(("profile", profile));
                notes::NOTE_RUN_PROFILE.fill(lang, &values)
            }
        });
    }
    let environment = &provenance.environment;
    if environment.memory_bytes > 0 {
        sentences.push(notes::NOTE_MACHINE.fill(
            lang,
            &[
                ("cpu", environment.cpu_model.as_str()),
                ("processors", &environment.cpu_logical.to_string()),
                ("memory", &figures::megabytes(environment.memory_bytes)),
                ("os", &environment.os_release),
                ("kernel", &environment.kernel),
            ],
        ));
    }
    sentences
}

/// How many trials were in a steady state; `None` when no window was long enough to tell.
pub(super) fn steadiness(model: &ReportModel, lang: Lang) -> Option<String> {
    let judged: Vec<_> = model.trials.iter().filter_map(|trial| trial.steadiness).collect();
    let steady = judged.iter().filter(|trial| trial.is_steady()).count();
    let values = [
        ("judged", judged.len().to_string()),
        ("measured", model.completeness.measured.to_string()),
        ("steady", steady.to_string()),
    ];
    let values = values.each_ref().map(|(name, value)| (*name, value.as_str()));
    (!judged.is_empty()).then(|| notes::NOTE_STEADY.fill(lang, &values))
}

/// The systems with their versions, as far as they told.
pub(super) fn systems(model: &ReportModel, lang: Lang) -> String {
    let systems = model.provenance.systems.iter();
    let names: Vec<String> = systems
        .map(|system| format!("{} {}", system.name, said(&system.version, lang)).trim_end().to_owned())
        .collect();
    let is_parted = names.iter().any(|name| name.contains([',', '、']));
    let systems = if is_parted { names.join(lang.semicolon) } else { list(lang, &names) };
    notes::NOTE_SYSTEMS.fill(lang, &[("systems", &systems)])
}

/// Options of a workload that have a value.
pub(crate) fn told(options: &BTreeMap<String, String>) -> impl Iterator<Item = (&String, &String)> {
    options.iter().filter(|(_, value)| !value.is_empty())
}

/// The kind of a workload, behind its name where it ran beside another.
pub(super) fn named(workload: &WorkloadRow, lang: Lang) -> String {
    let of_beside = |name: &String| names::labelled(name, &workload.kind, lang);
    workload.beside.as_ref().map_or_else(|| workload.kind.clone(), of_beside)
}

/// Workloads with their options, and how trials were loaded.
pub(super) fn workloads(model: &ReportModel, lang: Lang) -> Vec<String> {
    let workloads = model.provenance.workloads.iter().map(|workload| {
        let options: Vec<String> =
            told(&workload.options).map(|(name, value)| format!("{name} = {value}")).collect();
        notes::NOTE_WORKLOAD
            .fill(lang, &[("kind", &named(workload, lang)), ("options", &options.join(lang.comma))])
    });
    workloads.chain(model.provenance.loads.iter().map(|load| load_sentence(load, lang))).collect()
}

/// Which kinds of load a run has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Loops {
    pub(super) any_closed: bool,
    pub(super) any_open: bool,
}

impl Loops {
    pub(super) fn of(model: &ReportModel) -> Self {
        let loads = &model.provenance.loads;
        let any_open = loads.iter().any(LoadPlan::is_open);
        Self { any_closed: !any_open || !loads.iter().all(LoadPlan::is_open), any_open }
    }

    /// What response times mean.
    pub(super) fn note(self) -> &'static Message {
        match (self.any_closed, self.any_open) {
            (_, false) => &notes::NOTE_CLOSED_LOOP,
            (false, true) => &notes::NOTE_OPEN_LOOP,
            (true, true) => &notes::NOTE_BOTH_LOOPS,
        }
    }
}

fn load_sentence(load: &LoadPlan, lang: Lang) -> String {
    let (message, limit) = match load.stop {
        StopRule::Transactions(number) => {
            (notes::NOTE_LOAD_TRANSACTIONS, ("transactions", figures::count(number)))
        }
        StopRule::TransactionsPerClient(number) => {
            (notes::NOTE_LOAD_PER_CLIENT, ("transactions", figures::count(number)))
        }
        StopRule::Rows(target) => (notes::NOTE_LOAD_ROWS, ("rows", figures::count(target))),
        StopRule::Duration(time) => (notes::NOTE_LOAD_DURATION, ("duration", time.to_string())),
    };
    let warmup = match load.warmup.0 {
        0 => notes::NOTE_NO_WARM_UP.text(lang).to_owned(),
        _ => notes::NOTE_WARM_UP.fill(lang, &[("duration", &load.warmup.to_string())]),
    };
    let attempts = load.attempts_max.to_string();
    let sentence = message.fill(lang, &[(limit.0, &limit.1), ("warmup", &warmup), ("attempts", &attempts)]);
    let how = offered(load, lang)
        .map(|(rate, spacing)| notes::NOTE_RATE.fill(lang, &[("rate", &rate), ("spacing", &spacing)]));
    let think = load.think.map(|mean| notes::NOTE_THINK.fill(lang, &[("think", &mean.to_string())]));
    let databases = (!load.databases.is_one())
        .then(|| notes::NOTE_DATABASES.fill(lang, &[("databases", &load.databases.number().to_string())]));
    [sentence].into_iter().chain(databases).chain(how).chain(think).collect::<Vec<_>>().join(lang.space)
}

/// How many transactions arrive, and how they lie in time; `None` in a closed loop.
pub(super) fn offered(load: &LoadPlan, lang: Lang) -> Option<(String, String)> {
    let spacing = match load.spacing {
        Spacing::Poisson => notes::SPACING_POISSON.text(lang),
        Spacing::Even => notes::SPACING_EVEN.text(lang),
    };
    let rate = match load.rate {
        Some(rate) => figures::rate(rate),
        None if load.is_rate_given() => notes::STAGED_RATE.text(lang).to_owned(),
        None if load.is_open() => notes::SEARCHED_RATE.text(lang).to_owned(),
        None => return None,
    };
    Some((rate, spacing.to_owned()))
}

/// What is missing or could not be read; at most `unreadable_max` sentences about the latter.
pub(super) fn incompleteness(model: &ReportModel, unreadable_max: usize, lang: Lang) -> Vec<String> {
    let completeness = &model.completeness;
    let mut sentences = Vec::new();
    if completeness.measured == 0 {
        sentences.push(notes::NOTE_NOTHING.fill(lang, &[]));
    }
    if !completeness.has_ended {
        sentences.push(notes::NOTE_NO_END.fill(lang, &[]));
    }
    for system in &model.provenance.systems {
        if let Some(reason) = &system.failure {
            sentences.push(
                notes::NOTE_FAILED_SYSTEM
                    .fill(lang, &[("system", &system.name), ("reason", &in_line(reason, lang))]),
            );
        }
    }
    for failed in &completeness.failed {
        let treatment = &model.treatments[failed.treatment];
        sentences.push(notes::NOTE_FAILED_TRIAL.fill(
            lang,
            &[
                ("trial", &failed.trial),
                ("line", &model.lines[treatment.line].label),
                ("clients", &names::clients(&[treatment.clients], lang)),
                ("reason", &in_line(&failed.reason, lang)),
            ],
        ));
    }
    if !completeness.cut.is_empty() {
        sentences.push(notes::NOTE_CUT.fill(lang, &[("trials", &completeness.cut.join(lang.comma))]));
    }
    if !completeness.missing.is_empty() {
        let trials = completeness.missing.join(lang.comma);
        sentences.push(notes::NOTE_MISSING.fill(lang, &[("trials", &trials)]));
    }
    for what in completeness.unreadable.iter().take(unreadable_max) {
        sentences.push(notes::NOTE_UNREADABLE.fill(lang, &[("what", &said(what, lang))]));
    }
    if let more @ 1.. = completeness.unreadable.len().saturating_sub(unreadable_max) {
        sentences.push(notes::NOTE_UNREADABLE_MORE.fill(lang, &[("more", &more.to_string())]));
    }
    sentences
}

/// How far a doubt reaches: `34 of 120 trials`, `whole run`.
pub(super) fn reach(model: &ReportModel, row: &FindingRow, lang: Lang) -> String {
    match row.trials.len() {
        0 => notes::WHOLE_RUN.text(lang).to_owned(),
        trials => {
            let (trials, measured) = (trials.to_string(), model.completeness.measured.to_string());
            notes::TRIALS_OF.fill(lang, &[("trials", &trials), ("measured", &measured)])
        }
    }
}

/// A doubt with its weight and its reach.
pub(super) fn doubt(model: &ReportModel, row: &FindingRow, lang: Lang) -> String {
    let values = [
        ("severity", words::severity(row.severity).text(lang)),
        ("reach", &reach(model, row, lang)),
        ("sentence", &finding::sentence(&row.finding, lang)),
    ];
    notes::NOTE_DOUBT.fill(lang, &values)
}

/// How questions were answered.
pub(super) fn question_rules(model: &ReportModel, lang: Lang) -> String {
    let alpha = figures::limit(model.comparison_rules.alpha * 100.0);
    notes::NOTE_QUESTIONS.fill(lang, &[("alpha", &alpha)])
}

/// How limits were judged.
pub(super) fn limit_rules(model: &ReportModel, lang: Lang) -> String {
    let rules = &model.comparison_rules;
    let (alpha, needed) = (figures::limit(rules.alpha * 100.0), rules.min_repeats.to_string());
    notes::NOTE_LIMITS.fill(lang, &[("alpha", &alpha), ("needed", &needed)])
}

/// What the table of scatter says.
pub(super) fn scatter(model: &ReportModel, lang: Lang) -> String {
    let margin = figures::limit(model.comparison_rules.margin * 100.0);
    notes::NOTE_SCATTER.fill(lang, &[("margin", &margin), ("metric", names::metric(model.judged_by, lang))])
}

/// How comparisons were made.
pub(super) fn comparison_rules(model: &ReportModel, lang: Lang) -> String {
    let rules = &model.comparison_rules;
    notes::NOTE_COMPARISONS.fill(
        lang,
        &[
            ("margin", &figures::limit(rules.margin * 100.0)),
            ("alpha", &figures::limit(rules.alpha * 100.0)),
            ("levels", &levels(model, lang)),
        ],
    )
}

/// Levels of the intervals; those of equivalent comparisons are others.
fn levels(model: &ReportModel, lang: Lang) -> String {
    let is_own = |it: &&Comparison| it.effect.verdict.is_some_and(|verdict| verdict != Verdict::Equivalent);
    let levels = model.comparisons.iter().filter(is_own).filter_map(|it| it.effect.interval_level);
    let ends = levels.fold(None, |ends: Option<(f64, f64)>, it| {
        Some(ends.map_or((it, it), |(low, high)| (low.min(it), high.max(it))))
    });
    let Some((low, high)) = ends else { return notes::NOTE_LEVEL_NONE.text(lang).to_owned() };
    let [low, high] = [low, high].map(figures::level);
    if low == high { low } else { notes::NOTE_LEVELS.fill(lang, &[("low", &low), ("high", &high)]) }
}

/// A few witnessed lost updates, the first of each treatment that has one.
pub(super) fn witnesses(model: &ReportModel, lang: Lang) -> Vec<String> {
    let first = model.audits.iter().filter_map(|audit| audit.updates.as_ref()?.examples.first());
    first
        .map(|example| {
            let witness = &example.witness;
            notes::NOTE_WITNESS.fill(
                lang,
                &[
                    ("trial", &example.trial),
                    ("row", &witness.row.to_string()),
                    ("value", &witness.value_read.to_string()),
                    ("client_a", &witness.first.client.to_string()),
                    ("sequence_a", &witness.first.sequence.to_string()),
                    ("client_b", &witness.second.client.to_string()),
                    ("sequence_b", &witness.second.sequence.to_string()),
                ],
            )
        })
        .collect()
}

/// Of each treatment's commit ledger one that is gone, or is there and should not be.
pub(super) fn missing_commits(model: &ReportModel, lang: Lang) -> Vec<String> {
    let first = model.audits.iter().filter_map(|audit| audit.ledger.as_ref()?.examples.first());
    first
        .map(|LedgerExample { trial, entry }| {
            let message = if entry.is_lost { &notes::NOTE_GONE } else { &notes::NOTE_STRANGE };
            let (client, number) = (entry.client.to_string(), entry.number.to_string());
            message.fill(lang, &[("trial", trial), ("client", &client), ("number", &number)])
        })
        .collect()
}

/// Where published figures are from.
pub(super) fn sources(model: &ReportModel, lang: Lang) -> Vec<String> {
    let mut sources: Vec<&str> = model.published.iter().map(|series| series.source.as_str()).collect();
    sources.dedup();
    sources.into_iter().map(|source| notes::NOTE_PUBLISHED.fill(lang, &[("source", source)])).collect()
}
