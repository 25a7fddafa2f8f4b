//! Sentences about a run that the text and Markdown reports share.

use crate::messages::{
    Lang, Message, conclusion, fill, headings, list, names, notes, reason, warning,
};
use crate::metrics::TIMES;
use crate::{figures, words};
use dyno_analysis::model::{
    Comparison, ConfigurationRow, LedgerExample, Metric, ReportModel, Verdict, WarningRow,
    WorkloadRow,
};
use dyno_model::catalog::HTTP;
use dyno_model::failure_log::{FailureDetail, FailureLog};
use dyno_model::plan::{LoadPlan, Spacing, StopRule};
use dyno_model::printable::{line, shortened};
use std::collections::BTreeMap;

/// Errors that a short report lists; the most frequent come first.
const ERRORS_MAX: usize = 8;
/// Maximum number of characters of a statement that are shown.
const STATEMENT_MAX: usize = 200;

/// Maximum number of characters of an error message in a tile.
const MESSAGE_MAX: usize = 100;

/// Date and tools of the measurement, and the machine.
pub(crate) fn origin(model: &ReportModel, lang: Lang) -> Vec<String> {
    let provenance = &model.provenance;
    let mut sentences = Vec::new();
    if !provenance.started_at.is_empty() {
        let started = names::to_the_second(&provenance.started_at);
        let (version, seed, blocks) =
            (&provenance.dyno_version, provenance.seed, provenance.blocks);
        sentences.push(match &provenance.profile {
            _ if provenance.is_imported() => fill!(notes::NOTE_IMPORTED, lang, started, version),
            None => fill!(notes::NOTE_RUN, lang, started, version, seed, blocks),
            Some(profile) => {
                fill!(notes::NOTE_RUN_PROFILE, lang, started, version, seed, blocks, profile)
            }
        });
    }
    let environment = &provenance.environment;
    if environment.memory_bytes > 0 {
        let (cpu, processors) = (&environment.cpu_model, environment.cpu_logical);
        let memory = figures::megabytes(environment.memory_bytes);
        let (os, kernel) = (&environment.os_release, &environment.kernel);
        sentences.push(fill!(notes::NOTE_MACHINE, lang, cpu, processors, memory, os, kernel));
    }
    sentences
}

/// How many trials were in a steady state; `None` when no measurement window was long enough to
/// test.
pub(crate) fn steadiness(model: &ReportModel, lang: Lang) -> Option<String> {
    let judged: Vec<_> = model.trials.iter().filter_map(|trial| trial.steadiness).collect();
    let steady = judged.iter().filter(|trial| trial.is_steady()).count();
    let measured = model.completeness.with_results;
    (!judged.is_empty())
        .then(|| fill!(notes::NOTE_STEADY, lang, judged = judged.len(), measured, steady))
}

/// The systems with their versions, if known.
pub(crate) fn systems(model: &ReportModel, lang: Lang) -> String {
    let systems = model.provenance.systems.iter();
    let names: Vec<String> = systems
        .map(|system| names::system(&system.name, &system.product, &system.version, lang))
        .collect();
    let is_parted = names.iter().any(|name| name.contains([',', '、']));
    let systems = if is_parted { names.join(lang.semicolon) } else { list(lang, &names) };
    fill!(notes::NOTE_SYSTEMS, lang, systems)
}

/// Options of a workload that have a value.
pub(crate) fn with_values(
    options: &BTreeMap<String, String>,
) -> impl Iterator<Item = (&String, &String)> {
    options.iter().filter(|(_, value)| !value.is_empty())
}

/// The kind of a workload, after its name if it is a background workload.
pub(crate) fn named(workload: &WorkloadRow, lang: Lang) -> String {
    let of_background = |name: &String| names::labelled(name, &workload.kind, lang);
    workload.background.as_ref().map_or_else(|| workload.kind.clone(), of_background)
}

/// Workloads with their options, and the load of the trials.
pub(crate) fn workloads(model: &ReportModel, lang: Lang) -> Vec<String> {
    let workloads = model.provenance.workloads.iter().map(|workload| {
        let options: Vec<String> = with_values(&workload.options)
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        fill!(
            notes::NOTE_WORKLOAD,
            lang,
            kind = named(workload, lang),
            options = options.join(lang.comma)
        )
    });
    workloads.chain(loads(model, lang)).collect()
}

/// The names of the workloads, and the load of the trials.
pub(crate) fn load(model: &ReportModel, lang: Lang) -> String {
    let mut names: Vec<String> = Vec::new();
    for name in model.provenance.workloads.iter().map(|workload| named(workload, lang)) {
        // Workloads of one name differ in their options.
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let workloads = fill!(notes::NOTE_WORKLOADS, lang, names = list(lang, &names));
    std::iter::once(workloads).chain(loads(model, lang)).collect::<Vec<_>>().join(lang.space)
}

fn loads(model: &ReportModel, lang: Lang) -> impl Iterator<Item = String> {
    model.provenance.loads.iter().map(move |load| load_sentence(load, lang))
}

/// The kinds of load in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Loops {
    pub(crate) any_closed: bool,
    pub(crate) any_open: bool,
}

impl Loops {
    pub(crate) fn of(model: &ReportModel) -> Self {
        let loads = &model.provenance.loads;
        let any_open = loads.iter().any(LoadPlan::is_open);
        Self { any_closed: !any_open || !loads.iter().all(LoadPlan::is_open), any_open }
    }

    /// How to interpret response times under this load.
    pub(crate) fn note(self) -> &'static Message {
        match (self.any_closed, self.any_open) {
            (_, false) => &notes::NOTE_CLOSED_LOOP,
            (false, true) => &notes::NOTE_OPEN_LOOP,
            (true, true) => &notes::NOTE_BOTH_LOOPS,
        }
    }
}

fn load_sentence(load: &LoadPlan, lang: Lang) -> String {
    let (message, limit) = match load.stop {
        StopRule::Transactions(number) => (notes::NOTE_LOAD_TRANSACTIONS, figures::count(number)),
        StopRule::TransactionsPerClient(number) => {
            (notes::NOTE_LOAD_PER_CLIENT, figures::count(number))
        }
        StopRule::Rows(target) => (notes::NOTE_LOAD_ROWS, figures::count(target)),
        StopRule::Duration(time) => (notes::NOTE_LOAD_DURATION, names::exact(time.into(), lang)),
    };
    let warmup = match load.warmup.0 {
        0 => notes::NOTE_NO_WARM_UP.text(lang).to_owned(),
        _ => fill!(notes::NOTE_WARM_UP, lang, duration = names::exact(load.warmup.into(), lang)),
    };
    let attempts = load.attempts_max;
    let sentence = fill!(
        message,
        lang,
        transactions = limit,
        rows = limit,
        duration = limit,
        warmup,
        attempts
    );
    let how =
        offered(load, lang).map(|(rate, spacing)| fill!(notes::NOTE_RATE, lang, rate, spacing));
    let think = load
        .think
        .map(|mean| fill!(notes::NOTE_THINK, lang, think = names::exact(mean.into(), lang)));
    let databases = (!load.databases.is_one())
        .then(|| fill!(notes::NOTE_DATABASES, lang, databases = load.databases.count()));
    [sentence]
        .into_iter()
        .chain(databases)
        .chain(how)
        .chain(think)
        .collect::<Vec<_>>()
        .join(lang.space)
}

/// Arrival rate and arrival process; `None` in a closed loop.
pub(crate) fn offered(load: &LoadPlan, lang: Lang) -> Option<(String, String)> {
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

/// Missing or unreadable data; at most `unreadable_max` sentences about the latter.
pub(crate) fn incompleteness(
    model: &ReportModel,
    unreadable_max: usize,
    lang: Lang,
) -> Vec<String> {
    let completeness = &model.completeness;
    let mut sentences = Vec::new();
    if completeness.with_results == 0 {
        sentences.push(fill!(notes::NOTE_NOTHING, lang));
    }
    if !completeness.has_ended {
        sentences.push(fill!(notes::NOTE_NO_END, lang));
    }
    for system in &model.provenance.systems {
        if let Some(reason) = &system.failure {
            let reason = reason::in_line(reason, lang);
            sentences.push(fill!(notes::NOTE_FAILED_SYSTEM, lang, system = system.name, reason));
        }
    }
    for failed in &completeness.failed {
        sentences.push(reason::failed_trial(model, failed, lang));
    }
    if !completeness.cut.is_empty() {
        sentences.push(fill!(notes::NOTE_CUT, lang, trials = completeness.cut.join(lang.comma)));
    }
    if !completeness.missing.is_empty() {
        let trials = completeness.missing.join(lang.comma);
        sentences.push(fill!(notes::NOTE_MISSING, lang, trials));
    }
    for what in completeness.unreadable.iter().take(unreadable_max) {
        sentences.push(names::unreadable_note(what, lang));
    }
    if let more @ 1.. = completeness.unreadable.len().saturating_sub(unreadable_max) {
        sentences.push(fill!(notes::NOTE_UNREADABLE_MORE, lang, more));
    }
    sentences
}

/// Scope of a warning: `34 of 120 trials`, `whole run`.
pub(crate) fn reach(model: &ReportModel, row: &WarningRow, lang: Lang) -> String {
    match row.trials.len() {
        0 => notes::WHOLE_RUN.text(lang).to_owned(),
        trials => fill!(notes::TRIALS_OF, lang, trials, measured = model.completeness.with_results),
    }
}

/// A warning with its severity and scope.
pub(crate) fn warning(model: &ReportModel, row: &WarningRow, lang: Lang) -> String {
    let severity = words::severity(row.severity).text(lang);
    let (reach, sentence) = (reach(model, row, lang), warning::sentence(&row.warning, lang));
    fill!(notes::NOTE_WARNING, lang, severity, reach, sentence)
}

/// The engine's own error number, and the SQLSTATE.
pub(crate) fn error_code(detail: &FailureDetail) -> String {
    let code = (detail.failure.code != 0).then(|| detail.failure.code.to_string());
    let state = Some(detail.failure.sqlstate.clone()).filter(|state| !state.is_empty());
    code.into_iter().chain(state).collect::<Vec<_>>().join(" ")
}

/// The statement that failed: its text, or its name if the text is unknown.
pub(crate) fn failed_statement(detail: &FailureDetail) -> String {
    let text = if detail.sql.is_empty() { &detail.statement } else { &detail.sql };
    shortened(&line(text), STATEMENT_MAX)
}

/// Heading of the error messages: whose they are.
pub(crate) fn errors_heading(model: &ReportModel) -> &'static Message {
    match model.provenance.workloads.iter().any(|workload| workload.kind == HTTP) {
        false => &headings::ERRORS,
        true if has_only_http(model) => &headings::ERRORS_HTTP,
        true => &headings::ERRORS_MIXED,
    }
}

/// True when all clients sent HTTP requests.
pub(crate) fn has_only_http(model: &ReportModel) -> bool {
    let workloads = &model.provenance.workloads;
    !workloads.is_empty() && workloads.iter().all(|workload| workload.kind == HTTP)
}

/// The errors of all configurations, most frequent first.
fn all_errors(model: &ReportModel) -> Vec<FailureDetail> {
    let mut all = FailureLog::default();
    model.configurations.iter().for_each(|row| all.add(&row.errors));
    all.0.sort_by_key(|it| std::cmp::Reverse(it.count));
    all.0
}

/// The message of the most frequent error that made transactions fail for good.
pub(crate) fn main_error(model: &ReportModel) -> Option<String> {
    let is_failure = |it: &FailureDetail| {
        let mut kinds = model.configurations.iter().flat_map(|row| &row.failed_by_kind);
        kinds.any(|kind| kind.kind == it.failure.kind)
    };
    let error = all_errors(model).into_iter().find(is_failure)?;
    let message = shortened(&line(&error.failure.message), MESSAGE_MAX);
    Some(message).filter(|message| !message.is_empty())
}

/// The first error of each kind over all configurations, most frequent first.
pub(crate) fn errors(model: &ReportModel, lang: Lang) -> Vec<String> {
    let all = all_errors(model);
    let reported = all.iter().take(ERRORS_MAX).map(|it| {
        let (count, error) =
            (figures::count(it.count), line(&reason::failure(&it.failure, lang)).into_owned());
        match failed_statement(it) {
            statement if statement.is_empty() => fill!(notes::NOTE_ERROR, lang, count, error),
            statement => fill!(notes::NOTE_ERROR_STATEMENT, lang, count, error, statement),
        }
    });
    reported.collect()
}

/// How the questions were decided.
pub(crate) fn question_rules(model: &ReportModel, lang: Lang) -> String {
    let alpha = figures::limit(model.comparison_rules.alpha * 100.0);
    let metric = names::metric(model.primary_metric, lang);
    let reserve = figures::limit(model.comparison_rules.reserve * 100.0);
    fill!(notes::NOTE_QUESTIONS, lang, alpha, metric, reserve)
}

/// How to read the figures of configurations, and the intervals of those that have one.
pub(crate) fn estimates(model: &ReportModel) -> &'static Message {
    let has_interval = |row: &ConfigurationRow| {
        let shown = [Metric::Throughput, Metric::HighestRate, Metric::MostClients];
        let mut estimates =
            shown.iter().chain(TIMES).filter_map(|metric| row.figures.estimate(*metric));
        estimates.any(|it| figures::half_width(&it).is_some())
    };
    match model.configurations.iter().any(has_interval) {
        true => &notes::NOTE_ESTIMATES,
        false => &notes::NOTE_MEANS,
    }
}

/// Why configurations have no 99th percentile, for the one that would need the longest measurement;
/// `None` if all have one.
pub(crate) fn too_few(model: &ReportModel, lang: Lang) -> Option<String> {
    let all = model.configurations.iter().enumerate();
    let short: Vec<_> = all.filter_map(|(index, row)| Some((index, row.shortage?))).collect();
    let (index, worst) = short.iter().min_by_key(|(_, shortage)| shortage.transactions)?;
    let row = &model.configurations[*index];
    let sentence = fill!(
        notes::NOTE_TOO_FEW,
        lang,
        number = short.len(),
        configurations = model.configurations.len(),
        needed = figures::count(worst.needed),
        series = model.series_of(*index).label,
        transactions = figures::count(worst.transactions),
        clients = names::clients(&[row.clients], lang)
    );
    let sentences = [Some(sentence), conclusion::enough(worst, lang)];
    Some(sentences.into_iter().flatten().collect::<Vec<_>>().join(lang.space))
}

/// How limits were evaluated.
pub(crate) fn limit_rules(model: &ReportModel, lang: Lang) -> String {
    let rules = &model.comparison_rules;
    fill!(
        notes::NOTE_LIMITS,
        lang,
        alpha = figures::limit(rules.alpha * 100.0),
        needed = rules.min_repeats
    )
}

/// How to read the table of variance components.
pub(crate) fn scatter(model: &ReportModel, lang: Lang) -> String {
    let margin = figures::limit(model.comparison_rules.margin * 100.0);
    fill!(notes::NOTE_SCATTER, lang, margin, metric = names::metric(model.primary_metric, lang))
}

/// How comparisons were made.
pub(crate) fn comparison_rules(model: &ReportModel, lang: Lang) -> String {
    let rules = &model.comparison_rules;
    let [margin, alpha] = [rules.margin, rules.alpha].map(|share| figures::limit(share * 100.0));
    fill!(notes::NOTE_COMPARISONS, lang, margin, alpha, levels = levels(model, lang))
}

/// Confidence levels of the intervals; those of equivalence tests differ.
fn levels(model: &ReportModel, lang: Lang) -> String {
    let is_own =
        |it: &&Comparison| it.effect.verdict.is_some_and(|verdict| verdict != Verdict::Equivalent);
    let levels = model.comparisons.iter().filter(is_own).filter_map(|it| it.effect.interval_level);
    let ends = levels.fold(None, |ends: Option<(f64, f64)>, it| {
        Some(ends.map_or((it, it), |(low, high)| (low.min(it), high.max(it))))
    });
    let Some((low, high)) = ends else { return notes::NOTE_LEVEL_NONE.text(lang).to_owned() };
    let [low, high] = [low, high].map(figures::level);
    if low == high { low } else { fill!(names::FROM_TO, lang, low, high) }
}

/// Examples of proven lost updates, the first of each configuration that has one.
pub(crate) fn witnesses(model: &ReportModel, lang: Lang) -> Vec<String> {
    let first = model.audits.iter().filter_map(|audit| audit.updates.as_ref()?.examples.first());
    first
        .map(|example| {
            let witness = &example.witness;
            fill!(
                notes::NOTE_WITNESS,
                lang,
                trial = example.trial,
                row = witness.row,
                value = witness.value_read,
                client_a = witness.first.client,
                sequence_a = witness.first.sequence,
                client_b = witness.second.client,
                sequence_b = witness.second.sequence
            )
        })
        .collect()
}

/// For each configuration, one commit that is missing from the data, or present but not expected.
pub(crate) fn missing_commits(model: &ReportModel, lang: Lang) -> Vec<String> {
    let first = model.audits.iter().filter_map(|audit| audit.ledger.as_ref()?.examples.first());
    let reported = first.map(|LedgerExample { trial, entry }| {
        let message = if entry.is_lost { &notes::NOTE_GONE } else { &notes::NOTE_STRANGE };
        fill!(message, lang, trial, client = entry.client, number = entry.sequence)
    });
    reported.collect()
}

/// Sources of published figures.
pub(crate) fn sources(model: &ReportModel, lang: Lang) -> Vec<String> {
    let mut sources: Vec<&str> =
        model.published.iter().map(|series| series.source.as_str()).collect();
    sources.dedup();
    sources.into_iter().map(|source| fill!(notes::NOTE_PUBLISHED, lang, source)).collect()
}
