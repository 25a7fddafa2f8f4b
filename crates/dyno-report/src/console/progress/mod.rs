//! Progress of a run as text: what its displays and the command print apart from the report.

use crate::figures;
pub(crate) use crate::messages::names::{duration, exact};
use crate::messages::warning::sentence;
use crate::messages::{Lang, Message, fill, names, reason, terminal as words};
use dyno_model::audit::{AuditCheck, AuditVerdict, forbidden};
use dyno_model::client_group::GroupRecord;
use dyno_model::event::{Event, InterimAnalysis, Phase, StopReason};
use dyno_model::latency::is_shown;
use dyno_model::limit::LimitMetric;
use dyno_model::lists::distinct;
use dyno_model::plan::{Configuration, LoadBy, Plan};
use dyno_model::printable;
use dyno_model::record::{OpenLoop, TrialRecord};
use dyno_model::search::{LoadStep, Outcome};
use dyno_model::warning::{Severity, Warning};
use dyno_model::words::short_factor;
use std::time::Duration;

/// Label of a message on the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label {
    /// Label of the error that ended the work.
    Error,
    /// Label of a problem that did not end the work.
    Warning,
    /// Label of the cause of an error.
    Because,
    /// Label of a suggested fix.
    Help,
}

/// The label, with its colon.
#[must_use]
pub fn label(label: Label, lang: Lang) -> &'static str {
    match label {
        Label::Error => words::ERROR,
        Label::Warning => words::WARNING,
        Label::Because => words::BECAUSE,
        Label::Help => words::HELP,
    }
    .text(lang)
}

/// A progress message of a run.
#[derive(Debug, Clone, Copy)]
pub enum Note<'n> {
    /// Current position; see [`Position`].
    At(Position<'n>),
    /// Number of finished trials.
    Done {
        /// Finished trials.
        done: usize,
        /// All trials.
        trials: usize,
        /// Remaining time, if it is shown.
        left: Option<Duration>,
    },
    /// Elapsed time, and the rate of the current trial.
    Time {
        /// Elapsed time.
        spent: Duration,
        /// Estimated remaining time.
        left: Duration,
        /// Transactions per second of the current trial.
        rate: Option<f64>,
    },
    /// The run was asked to stop.
    Interrupted,
    /// The run was asked to stop before it started.
    StoppedBefore,
    /// The run resumes an earlier one.
    Resumed {
        /// Directory of the results.
        folder: &'n str,
        /// Trials already measured.
        done: usize,
        /// All trials.
        trials: usize,
    },
    /// The interim analysis after a block failed.
    NotLooked {
        /// The block.
        block: u32,
        /// Cause of the failure.
        error: &'n str,
    },
    /// The run ended before all trials were measured.
    Unfinished {
        /// Trials with complete results.
        measured: usize,
        /// All trials.
        trials: usize,
        /// Ids of those that were ended early.
        cut: &'n [String],
        /// The command that measures the others.
        command: &'n str,
    },
    /// The run was ended without a report.
    Aborted {
        /// The command that continues it.
        command: &'n str,
    },
    /// No transaction was committed.
    NothingCommitted,
    /// No trial is usable.
    NothingValid,
    /// Location of the report.
    Report {
        /// Paths of the files.
        paths: &'n [String],
    },
}

/// Position of a run.
#[derive(Debug, Clone, Copy)]
pub struct Position<'n> {
    /// The plan that is executed.
    pub plan: &'n Plan,
    /// Index of the current trial in the run order, from 0.
    pub trial: usize,
    /// Its phase, once it has started.
    pub phase: Option<Phase>,
    /// Completed share of the phase, 0 to 1, if the phase reports it.
    pub share: Option<f64>,
}

/// Formats the message as a sentence.
#[must_use]
pub fn note(note: &Note<'_>, lang: Lang) -> String {
    match note {
        Note::At(position) => position_text(position, lang),
        Note::Done { done, trials, left: None } => fill!(words::TRIALS_DONE, lang, done, trials),
        Note::Done { done, trials, left: Some(left) } => {
            fill!(words::TRIALS_DONE_LEFT, lang, done, trials, left = duration(*left, lang))
        }
        Note::Time { spent, left, rate } => {
            let message = if rate.is_some() { words::SPENT_RATE } else { words::SPENT };
            let [spent, left] = [*spent, *left].map(|time| duration(time, lang));
            fill!(message, lang, spent, left, rate = per_second(rate.unwrap_or_default()))
        }
        Note::Interrupted => words::INTERRUPTED.text(lang).to_owned(),
        Note::StoppedBefore => words::STOPPED_BEFORE.text(lang).to_owned(),
        Note::Resumed { folder, done, trials } => fill!(words::RESUMED, lang, folder, done, trials),
        Note::NotLooked { block, error } => fill!(words::NOT_LOOKED, lang, block, error),
        Note::Unfinished { measured, trials, cut, command } => {
            let message = if cut.is_empty() { words::UNFINISHED } else { words::ENDED_EARLY };
            let (left, cut) = (trials.saturating_sub(*measured), cut.join(lang.comma));
            fill!(message, lang, measured, trials, left, cut, command)
        }
        Note::Aborted { command } => fill!(words::ABORTED, lang, command),
        Note::NothingCommitted => words::NOTHING_COMMITTED.text(lang).to_owned(),
        Note::NothingValid => words::NOTHING_VALID.text(lang).to_owned(),
        Note::Report { paths } => fill!(words::REPORT, lang, paths = paths.join(lang.comma)),
    }
}

fn position_text(position: &Position<'_>, lang: Lang) -> String {
    let Position { plan, trial, phase, share } = *position;
    let current = &plan.trials[trial];
    let message = match (phase, share) {
        (None, _) => words::AT_TRIAL,
        (Some(_), None) => words::AT_PHASE,
        (Some(_), Some(_)) => words::AT_SHARE,
    };
    let (block, blocks) = (current.block, plan.blocks);
    let (trial, trials) = (trial + 1, plan.trials.len());
    let configuration = configuration(plan, plan.configuration(current), lang);
    let phase = phase.map_or("", |phase| phase_name(phase).text(lang));
    let percent = format!("{:.0}", share.unwrap_or_default() * 100.0);
    fill!(message, lang, block, blocks, trial, trials, configuration, phase, percent)
}

fn phase_name(phase: Phase) -> Message {
    match phase {
        Phase::Schema => words::PHASE_SCHEMA,
        Phase::Load => words::PHASE_LOAD,
        Phase::Connecting => words::PHASE_CONNECTING,
        Phase::WarmUp => words::PHASE_WARM_UP,
        Phase::Measure => words::PHASE_MEASURE,
        Phase::Audit => words::PHASE_AUDIT,
        Phase::Teardown => words::PHASE_TEARDOWN,
    }
}

/// A rate with grouped thousands: `12,345`. Small rates keep one decimal.
pub(crate) fn per_second(rate: f64) -> String {
    if rate < 100.0 { format!("{rate:.1}") } else { figures::count(rate.round() as u64) }
}

/// A configuration in one line: `MariaDB, 20 clients, variant = in-place`.
pub(crate) fn configuration(plan: &Plan, configuration: &Configuration, lang: Lang) -> String {
    let system = plan.systems[configuration.system].name.clone();
    let levels = plan
        .factors
        .iter()
        .zip(&configuration.levels)
        .map(|(factor, level)| format!("{} = {level}", short_factor(factor)));
    let parts = [system, names::clients(&[configuration.clients], lang)];
    parts.into_iter().chain(levels).collect::<Vec<_>>().join(lang.comma)
}

/// The figures of a finished trial, as a list.
fn trial_figures(record: &TrialRecord, lang: Lang) -> String {
    let mut phrases = vec![fill!(words::RATE, lang, rate = per_second(record.throughput()))];
    if let Some(times) = record.response() {
        phrases.push(fill!(words::MEAN, lang, time = times.mean));
        let percentiles = [(95.0, times.p95), (99.0, times.p99)];
        let shown =
            percentiles.into_iter().filter(|(percentage, _)| is_shown(times.count, *percentage));
        phrases.extend(
            shown.map(|(percentage, time)| fill!(words::PERCENTILE, lang, percentage, time)),
        );
    }
    if let Some(OpenLoop { unstarted, arrived, .. }) =
        record.open_loop.filter(|it| it.unstarted > 0)
    {
        phrases.push(fill!(words::NEVER_STARTED, lang, unstarted, arrived));
    }
    if record.counters.failed > 0 {
        phrases.push(fill!(words::FAILED, lang, failed = record.counters.failed));
    }
    let background = |it: &GroupRecord| {
        let rate = fill!(words::RATE, lang, rate = per_second(it.record.throughput()));
        names::labelled(&it.name, &rate, lang)
    };
    phrases.extend(record.background.iter().map(background));
    match record.worst_audit() {
        AuditVerdict::Intact => phrases.push(words::DATA_INTACT.text(lang).to_owned()),
        AuditVerdict::NotChecked => {}
        AuditVerdict::Undecided => phrases.push(words::DATA_UNDECIDED.text(lang).to_owned()),
        AuditVerdict::Violated => phrases.extend(violated(record, lang)),
    }
    let is_cause = |warning: &&Warning| record.severity(warning) == Severity::Invalid;
    if let Some(cause) = record.warnings.iter().find(is_cause) {
        phrases.push(fill!(words::NOT_VALID, lang, reason = headline(cause, lang)));
    }
    phrases.join(lang.comma)
}

/// Longest headline of a warning, characters.
const HEADLINE_MAX: usize = 120;

/// The first sentence of a warning, without its full stop.
fn headline(warning: &Warning, lang: Lang) -> String {
    let text = reason::one_line(&sentence(warning, lang));
    let end = [". ", "。"].iter().filter_map(|stop| text.find(stop)).min();
    let first = text[..end.unwrap_or(text.len())].trim_end_matches(['.', '。']);
    printable::shortened(first, HEADLINE_MAX)
}

/// Failed checks of the trial, each once; for background workloads only that a check failed.
fn violated(record: &TrialRecord, lang: Lang) -> Vec<String> {
    let checks =
        record.audit.by_database().filter(|(_, check)| check.verdict() == AuditVerdict::Violated);
    let mut phrases = distinct(checks.map(|(database, check)| match database {
        Some(database) => names::labelled(database, &wrong(check, lang), lang),
        None => wrong(check, lang),
    }));
    if phrases.is_empty() {
        phrases.push(words::DATA_DAMAGED.text(lang).to_owned());
    }
    phrases
}

/// Describes a failed check.
fn wrong(check: &AuditCheck, lang: Lang) -> String {
    let (message, count) = match (check, check.balance()) {
        (AuditCheck::Anomalies { level: Some(level), found, .. }, _) => {
            (words::FORBIDDEN, forbidden(found, *level))
        }
        (AuditCheck::Ledger { lost, .. }, _) if *lost > 0 => (words::COMMITS_LOST, *lost),
        (AuditCheck::LostUpdates { .. }, Some(balance)) if balance.lost_min > 0 => {
            let is_exact = balance.lost_max == balance.lost_min;
            let message = if is_exact { words::UPDATES_LOST } else { words::UPDATES_LOST_LEAST };
            (message, balance.lost_min)
        }
        _ => (words::DATA_DAMAGED, 0),
    };
    fill!(message, lang, lost = figures::count(count), anomalies = figures::count(count))
}

fn looked(interim_analysis: &InterimAnalysis, lang: Lang) -> String {
    let message = match interim_analysis.stop {
        None => words::LOOKED,
        Some(StopReason::Decided) => words::LOOKED_DECIDED,
        Some(StopReason::Hopeless) => words::LOOKED_HOPELESS,
        Some(StopReason::Budget) => words::LOOKED_BUDGET,
        Some(StopReason::Limit) => words::LOOKED_LIMIT,
    };
    fill!(
        message,
        lang,
        block = interim_analysis.block,
        decided = interim_analysis.decided,
        questions = interim_analysis.questions
    )
}

/// A load step of a search: `b01-002  MySQL, 8 clients: at 1,600/s: p99 4.20 ms, passed`.
fn stepped(plan: &Plan, id: &str, step: &LoadStep, lang: Lang) -> Option<String> {
    let of_plan = plan.configuration(plan.trials.iter().find(|trial| trial.id == id)?);
    let search = of_plan.load.find.as_ref()?;
    let load = match search.most {
        LoadBy::Rate => fill!(words::LOAD_RATE, lang, rate = per_second(step.load)),
        LoadBy::Clients => names::clients(&[step.load as u32], lang),
    };
    let unit = if search.metric == LimitMetric::Failed { "%" } else { "ms" };
    let figure = step.figure.map_or_else(
        || words::STEP_UNKNOWN.text(lang).to_owned(),
        |figure| figures::bounded(format!("{figure:.2} {unit}"), step.is_bound),
    );
    let message = match step.outcome {
        Outcome::Passed => words::STEP_PASSED,
        Outcome::Failed => words::STEP_FAILED,
        Outcome::Open if Warning::Steal { share: step.steal }.severity() == Severity::Invalid => {
            words::STEP_STOLEN
        }
        Outcome::Open => words::STEP_OPEN,
        Outcome::Generator => words::STEP_GENERATOR,
    };
    let configuration = configuration(plan, of_plan, lang);
    let (transactions, percent) =
        (figures::count(step.transactions), figures::percent(100.0 * step.steal));
    Some(fill!(
        message,
        lang,
        trial = id,
        configuration,
        load,
        metric = search.metric,
        figure,
        transactions,
        percent
    ))
}

/// Events that get a separate line; `None` for the others.
#[must_use]
pub fn event(plan: &Plan, event: &Event, lang: Lang) -> Option<String> {
    let of_trial = |id: &str| {
        let trial = plan.trials.iter().find(|trial| trial.id == id);
        trial.map(|trial| configuration(plan, plan.configuration(trial), lang)).unwrap_or_default()
    };
    let text = match event {
        Event::SystemReady { system, version, .. } => {
            fill!(words::SYSTEM_READY, lang, system, version = names::version(version, lang))
        }
        Event::SettingsRestored { system, settings } => {
            let settings: Vec<String> =
                settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            fill!(words::SETTINGS_RESTORED, lang, system, settings = settings.join(", "))
        }
        Event::SystemFailed { system, reason } => {
            fill!(words::SYSTEM_FAILED, lang, system, reason = reason::in_line(reason, lang))
        }
        Event::TrialFinished(record) => {
            let (trial, figures) = (&record.trial.id, trial_figures(record, lang));
            fill!(words::TRIAL_MEASURED, lang, trial, configuration = of_trial(trial), figures)
        }
        Event::InterimAnalysis(interim_analysis) => looked(interim_analysis, lang),
        Event::RunWarning(left @ Warning::CleanUpIncomplete { .. }) => {
            reason::one_line(&sentence(left, lang))
        }
        Event::Stepped { trial, step, .. } => stepped(plan, trial, step, lang)?,
        Event::TrialFailed { trial, reason, .. } => {
            let (configuration, reason) = (of_trial(trial), reason::in_line(reason, lang));
            fill!(words::TRIAL_FAILED, lang, trial, configuration, reason)
        }
        _ => return None,
    };
    // Names and messages of servers are untrusted.
    Some(printable::line(&text).into_owned())
}

#[cfg(test)]
mod tests;
