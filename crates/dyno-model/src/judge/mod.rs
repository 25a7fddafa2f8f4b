//! Evaluation of a trial: derives warnings from its record, whichever command created it. It is a
//! pure function: the same record gives the same warnings during the run and whenever it is read
//! later.
//!
//! * this file: warnings from the record ([`judge`]), and from a record that was read
//!   ([`rejudge`]);
//! * `generators`: warnings about its load generator, or about each of several;
//! * [`collapse`]: warnings from its timeline and the samples of the server's sessions.
//!
//! Warnings that only observation during the trial can raise (other processes at work, gaps in the
//! monitor's data) are raised at that time and remain in the record as written. Severities are in
//! [`Warning::severity`].

pub mod collapse;
mod generators;
#[cfg(test)]
mod tests;

use crate::audit::{AuditCheck, AuditVerdict};
use crate::counters::TrialCounters;
use crate::engine::CommitCounter;
use crate::fault::{ExpectedFaults, FaultRecord};
use crate::plan::{LoadPlan, Plan, StopRule, Trial};
use crate::reason::Reason;
use crate::record::{CommitGap, Facts, TrialRecord, Uptime, is_rate};
use crate::stages::LoadProfile;
use crate::target::Engine;
use crate::warning::{Severity, Warning};
use std::mem::discriminant;

/// Minimum time without a commit that counts as a stall, nanoseconds.
pub const STALL: u64 = 500_000_000;
/// A stall must also exceed the mean time between commits of all clients by this factor: of gaps
/// between independent transactions (exponentially distributed) one in `e^20`, half a billion, is
/// that long.
pub const STALL_TIMES_MEAN: f64 = 20.0;
/// Maximum number of stalls reported per trial: the longest.
const STALLS_MAX: usize = 3;
/// Shorter windows give imprecise figures, seconds.
const SHORT: f64 = 1.0;
/// Windows of fewer mean response times give imprecise figures.
const WAVES: f64 = 10.0;
/// Fewer committed transactions are not enough for a 99th percentile.
const FEW: u64 = 1_000;
/// Servers report their uptime in whole seconds, by a clock that may be adjusted in between.
const UPTIME_COARSE: u64 = 3;

/// The requested properties of a trial.
#[derive(Debug, Clone, Copy)]
pub struct TrialRequirements<'a> {
    /// Engine of the system.
    pub engine: Engine,
    /// Number of clients.
    pub clients: u32,
    /// Load rules.
    pub load: &'a LoadPlan,
    /// See [`Plan::tolerated_failures`].
    pub tolerated_failures: f64,
}

impl<'a> TrialRequirements<'a> {
    /// The values in the plan.
    #[must_use]
    pub fn of(plan: &'a Plan, trial: &Trial) -> Self {
        let configuration = plan.configuration(trial);
        Self {
            engine: plan.system(trial).engine(),
            clients: configuration.clients,
            load: &configuration.load,
            tolerated_failures: plan.tolerated_failures(trial.configuration),
        }
    }
}

/// True when a time without a commit is a stall, given the number of commits in a time of this
/// length; nanoseconds. Without any commits there is no usual gap, and all of the time is one
/// stall.
#[must_use]
pub fn is_stall(gap: u64, commits: u64, length: u64) -> bool {
    gap >= STALL
        && (commits == 0 || gap as f64 > STALL_TIMES_MEAN * (length as f64 / commits as f64))
}

/// Maximum number of statements named that were sent as text.
const SENT_AS_TEXT_MAX: usize = 5;

/// All warnings that follow from a record by itself.
#[must_use]
pub fn judge(record: &TrialRecord, requirements: &TrialRequirements<'_>) -> Vec<Warning> {
    let mut warnings = generators::warnings(record, requirements.engine.is_embedded());
    if let Some(facts) = &record.facts {
        warnings.extend(surroundings(record, facts));
        warnings.extend(sent_as_text(facts));
        warnings.extend(pacing(record, facts));
        warnings.extend(cut_short(record, facts, requirements));
        warnings.extend(restart(facts));
        warnings.extend(server_counters(record, requirements));
    }
    warnings.extend(arrivals(record, requirements));
    let unbalanced = record.facts.as_ref().map_or(&[][..], |facts| &facts.unbalanced);
    warnings.extend(failures(record, requirements.tolerated_failures));
    warnings.extend(counters(&record.counters, unbalanced));
    let seconds = record.window_length.as_secs_f64();
    warnings.extend((seconds < SHORT).then_some(Warning::ShortWindow { seconds }));
    warnings.extend(few_waves(record, requirements));
    warnings.extend(stalls(record, requirements.load));
    warnings.extend(audit(record));
    warnings.extend(faults(record));
    warnings.extend(record.background_warnings());
    warnings.retain(|warning| !is_meant(record, requirements.load, warning));
    warnings
}

/// True for effects of the requested conditions, which need no warning: effects of faults, and
/// changes of a load in stages.
#[must_use]
pub fn is_meant(record: &TrialRecord, load: &LoadPlan, warning: &Warning) -> bool {
    has_faults(record) && warning.is_effect_of_fault()
        || load.stages.is_some() && warning.is_of_even_load()
}

/// Faults that could not be injected; effects of injected faults cause no warning.
fn faults(record: &TrialRecord) -> Vec<Warning> {
    let not_made = |fault: &FaultRecord| {
        let FaultRecord { action, node, failed, .. } = fault;
        Some(Warning::FaultNotInjected {
            action: *action,
            node: node.clone(),
            reason: failed.clone()?,
        })
    };
    record.faults().iter().filter_map(not_made).collect()
}

/// True when faults were injected.
#[must_use]
pub fn has_faults(record: &TrialRecord) -> bool {
    expected(record).has_faults()
}

fn expected(record: &TrialRecord) -> ExpectedFaults {
    ExpectedFaults::of(record.faults().iter().map(|fault| fault.action))
}

/// Re-evaluates a record that was written earlier. Warnings that [`judge`] derives replace those
/// derived then; all others remain as written. Records without [`Facts`] keep all recorded warnings
/// and gain those that were not raised at the time.
#[must_use]
pub fn rejudge(record: &TrialRecord, requirements: &TrialRequirements<'_>) -> Vec<Warning> {
    let judged = judge(record, requirements);
    let is_among = |warnings: &[Warning], warning: &Warning| {
        warnings.iter().any(|other| discriminant(other) == discriminant(warning))
    };
    let written = &record.warnings;
    if record.facts.is_none() {
        let gained = judged.into_iter().filter(|warning| !is_among(written, warning));
        return written.iter().cloned().chain(gained).collect();
    }
    let observed = written.iter().filter(|warning| !is_derived(warning)).cloned();
    judged.into_iter().chain(observed).collect()
}

/// True for warnings that [`judge`] derives.
fn is_derived(warning: &Warning) -> bool {
    match warning {
        Warning::GeneratorBusy { .. }
        | Warning::Stalled { .. }
        | Warning::FewWaves { .. }
        | Warning::SharedMachine
        | Warning::SentAsText { .. }
        | Warning::Unpaced
        | Warning::Paced { .. }
        | Warning::DebugBuild
        | Warning::FellBehind { .. }
        | Warning::Overload { .. }
        | Warning::GeneratorLate { .. }
        | Warning::Failures { .. }
        | Warning::ToleratedFailures { .. }
        | Warning::Unfinished { .. }
        | Warning::ShortWindow { .. }
        | Warning::Skipped { .. }
        | Warning::ServerRestarted { .. }
        | Warning::FewTransactions { .. }
        | Warning::Stall { .. }
        | Warning::CutShort { .. }
        | Warning::SystemFailed { .. }
        | Warning::FaultNotInjected { .. }
        | Warning::CountersUnbalanced { .. }
        | Warning::Unsettled { .. }
        | Warning::AuditViolated
        | Warning::ViolatedIn { .. }
        | Warning::AuditNotRun { .. }
        | Warning::Steal { .. }
        | Warning::OfGenerators { .. }
        | Warning::ClockUncertain { .. }
        | Warning::Background { .. }
        | Warning::CountersDiffer { .. }
        | Warning::CommitsNotCompared { .. } => true,
        Warning::Collapse { .. }
        | Warning::WarmUpLeft { .. }
        | Warning::Drift { .. }
        | Warning::SameWait { .. }
        | Warning::MonitorCost { .. }
        | Warning::ForeignSessions { .. }
        | Warning::BlockRestarted { .. }
        | Warning::BlockApart { .. }
        | Warning::SettingRounded { .. }
        | Warning::SettingsNotRead { .. }
        | Warning::StatementRefused { .. }
        | Warning::Imported { .. }
        | Warning::ProgramWarned { .. }
        | Warning::EventsCounted { .. }
        | Warning::RecordingBehind { .. }
        | Warning::OtherProcessesCpu { .. }
        | Warning::RecordingIncomplete { .. }
        | Warning::DatabaseNotLocked { .. }
        | Warning::ChangedByOthers { .. }
        | Warning::CleanUpIncomplete { .. } => false,
    }
}

fn surroundings(record: &TrialRecord, facts: &Facts) -> Vec<Warning> {
    // It may be the reason why a load failed in a step of a search.
    let of_steps = record.search.as_ref().map_or(0.0, |search| search.disturbance().1);
    // Several generators are judged one by one; the record has the worst of them.
    let is_reported_of_each = record.generators.is_some() && facts.steal >= of_steps;
    let share = if is_reported_of_each { 0.0 } else { facts.steal.max(of_steps) };
    let steal = Warning::Steal { share };
    // The kernel counts stolen time in ticks of 10 ms, and counts it late. In a short window a
    // single tick exceeds the threshold, and may belong to the time before.
    let is_reported =
        is_rate(record.window_length.as_secs_f64()) && steal.severity() > Severity::Note;
    let steal = is_reported.then_some(steal);
    steal.into_iter().chain(facts.is_debug_build.then_some(Warning::DebugBuild)).collect()
}

/// How the rate compares with what keying and think times of a standard allow.
fn pacing(record: &TrialRecord, facts: &Facts) -> Option<Warning> {
    let benchmark = facts.benchmark.as_ref()?;
    let Some(most) = benchmark.per_minute_max else { return Some(Warning::Unpaced) };
    let mut counts = record.counters.transactions.iter();
    let committed = counts.find(|it| it.name == benchmark.transaction)?.committed;
    let share = committed as f64 / (most * record.window_length.as_secs_f64() / 60.0);
    share.is_finite().then_some(Warning::Paced { share, committed })
}

/// Statements that were not prepared.
fn sent_as_text(facts: &Facts) -> Option<Warning> {
    let names = facts.sent_as_text.iter().take(SENT_AS_TEXT_MAX).map(String::as_str);
    let more = (facts.sent_as_text.len() > SENT_AS_TEXT_MAX).then_some("...");
    let statements = names.chain(more).collect::<Vec<_>>().join(", ");
    (!statements.is_empty()).then_some(Warning::SentAsText { statements })
}

/// Deviations of the trial from what was requested.
fn cut_short(
    record: &TrialRecord,
    facts: &Facts,
    requirements: &TrialRequirements<'_>,
) -> Vec<Warning> {
    let cut_short = |reason: &Reason| Warning::CutShort { reason: reason.clone() };
    let mut warnings: Vec<Warning> = facts.problems.iter().map(cut_short).collect();
    warnings.extend(match (&facts.system_failed, &facts.stopped) {
        (Some(reason), _) => Some(Warning::SystemFailed { reason: reason.clone() }),
        (None, Some(reason)) => Some(cut_short(reason)),
        // A recorded problem already explains the missing part.
        (None, None) if warnings.is_empty() => {
            missing(record, facts, requirements).as_ref().map(cut_short)
        }
        (None, None) => None,
    });
    warnings
}

/// The part of a stop rule by count that was not reached before the time limit.
fn missing(
    record: &TrialRecord,
    facts: &Facts,
    requirements: &TrialRequirements<'_>,
) -> Option<Reason> {
    let wanted = match requirements.load.stop {
        StopRule::Transactions(wanted) => wanted,
        StopRule::TransactionsPerClient(each) => each.saturating_mul(requirements.clients.into()),
        StopRule::Rows(target) => {
            let growth = record.growth?;
            let rows = growth.rows_after(facts.committed_total);
            let is_missing = facts.committed_total < growth.commits_until(target);
            return is_missing.then_some(Reason::RowsLeft { rows, target });
        }
        StopRule::Duration(_) => return None,
    };
    let started = record.counters.started;
    (started < wanted).then_some(Reason::TransactionsLeft { started, wanted })
}

/// Outcome of the arrivals. With a requested overload, the share is reported but the overload
/// itself is not a warning.
fn arrivals(record: &TrialRecord, requirements: &TrialRequirements<'_>) -> Vec<Warning> {
    let mut warnings =
        record.open_loop.map_or_else(Vec::new, |open| open.warnings(record.counters.committed));
    for warning in &mut warnings {
        if let Warning::FellBehind { share, unstarted } = *warning
            && requirements.load.is_overload
        {
            *warning = Warning::Overload { share, unstarted };
        }
    }
    // Several generators are judged one by one. If all of them together are late, one of them is.
    let has_several = record.generators.is_some();
    warnings.retain(|it| !has_several || !matches!(it, Warning::GeneratorLate { .. }));
    warnings
}

/// A closed loop whose window contains few consecutive transactions of each client.
fn few_waves(record: &TrialRecord, requirements: &TrialRequirements<'_>) -> Option<Warning> {
    let weighted_commits =
        record.weighted_commits.filter(|weighted| *weighted > 0.0 && record.open_loop.is_none())?;
    let each = record.transaction_latency.mean + thought(record, requirements.load);
    let waves = match record.transaction_latency.count {
        // None started in the window: this is the work of each client.
        0 => weighted_commits / f64::from(requirements.clients.max(1)),
        _ => record.window_length.0 as f64 / each,
    };
    (waves < WAVES).then_some(Warning::FewWaves { waves })
}

/// Mean think time of clients before a transaction, in nanoseconds; transactions of some names may
/// have a separate think time.
fn thought(record: &TrialRecord, load: &LoadPlan) -> f64 {
    let of_load = load.think.unwrap_or_default();
    let counts = record.counters.transactions.iter().map(|count| count.started as f64);
    let named =
        record.transactions.iter().map(|named| named.think.unwrap_or(of_load).0 as f64).zip(counts);
    let (sum, count) =
        named.fold((0.0, 0.0), |(sum, all), (think, count)| (sum + think * count, all + count));
    if count > 0.0 { sum / count } else { of_load.0 as f64 }
}

/// Transactions that failed for good, except for failures that are expected during injected faults.
fn failures(record: &TrialRecord, tolerated: f64) -> Option<Warning> {
    let counters = &record.counters;
    let expected = expected(record);
    let excused = counters.failed_by_kind.iter().filter(|(kind, _)| expected.explains(**kind));
    let failed = counters.failed.saturating_sub(excused.map(|(_, number)| number).sum());
    let share = failed as f64 / counters.started.max(1) as f64;
    let warning = Warning::Failures { failed, share };
    let warning = match share < tolerated && warning.severity() == Severity::Invalid {
        true => Warning::ToleratedFailures { failed, share, limit: tolerated },
        false => warning,
    };
    (failed > 0).then_some(warning)
}

fn counters(counters: &TrialCounters, unbalanced: &[String]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut raise = |is_so: bool, warning: Warning| warnings.extend(is_so.then_some(warning));
    raise(counters.unfinished > 0, Warning::Unfinished { unfinished: counters.unfinished });
    let share = counters.skipped as f64 / counters.started.max(1) as f64;
    raise(counters.skipped > 0, Warning::Skipped { skipped: counters.skipped, share });
    raise(counters.committed < FEW, Warning::FewTransactions { committed: counters.committed });
    let identities = [counters.check(), unbalanced.to_vec()].concat();
    raise(!identities.is_empty(), Warning::CountersUnbalanced { identities });
    warnings
}

/// The longest stalls. An older record contains only the longest time without a commit, or not even
/// that.
fn stalls(record: &TrialRecord, load: &LoadPlan) -> Vec<Warning> {
    let gaps: Vec<CommitGap> = match &record.facts {
        Some(facts) => facts.gaps.clone(),
        None => record.longest_gap.into_iter().collect(),
    };
    // During stages the load may be low or zero.
    let profile = load.stages.as_ref().map(|stages| LoadProfile::of(stages, load.warmup));
    let (opens, closes) = (load.warmup.0, load.warmup.0 + record.window_length.0);
    // Transactions longer than the window may lie in it only in part.
    let committed = record
        .counters
        .committed
        .max(record.weighted_commits.map_or(0, |weighted| weighted.ceil() as u64));
    let is_expected = |gap: &CommitGap| {
        profile.as_ref().is_none_or(|profile| {
            let due = |from: u64, to: u64| profile.area(to) - profile.area(from);
            let start = opens + gap.at.0;
            let share = due(start, start + gap.length.0) / due(opens, closes);
            committed == 0 || committed as f64 * share > STALL_TIMES_MEAN
        })
    };
    let is_reported = |gap: &CommitGap| {
        is_stall(gap.length.0, committed, record.window_length.0) && is_expected(gap)
    };
    let stall = |gap: CommitGap| Warning::Stall {
        longest_gap: gap.length.as_secs_f64(),
        at: gap.at.as_secs_f64(),
        sessions: Vec::new(),
    };
    gaps.into_iter().filter(is_reported).take(STALLS_MAX).map(stall).collect()
}

fn audit(record: &TrialRecord) -> Vec<Warning> {
    let sessions = record.audit.unsettled;
    let mut warnings: Vec<Warning> =
        (sessions > 0).then_some(Warning::Unsettled { sessions }).into_iter().collect();
    match record.audit.verdict() {
        AuditVerdict::Violated => {
            warnings.push(Warning::AuditViolated);
            let violated = record
                .audit
                .by_database()
                .filter(|(_, check)| check.verdict() == AuditVerdict::Violated);
            let mut databases: Vec<String> =
                violated.filter_map(|(database, _)| database.map(str::to_owned)).collect();
            databases.dedup();
            warnings.extend((!databases.is_empty()).then_some(Warning::ViolatedIn { databases }));
        }
        // Transactions that failed or were cut off are already reported.
        AuditVerdict::Intact | AuditVerdict::Undecided => {}
        AuditVerdict::NotChecked => {
            let reason = |(database, check): (Option<&str>, &AuditCheck)| match check {
                AuditCheck::NotRun { reason, .. } => {
                    Some(Warning::AuditNotRun { reason: reason.clone().in_database(database) })
                }
                _ => None,
            };
            warnings.extend(record.audit.by_database().filter_map(reason));
        }
    }
    warnings
}

/// A server whose uptime is shorter than the time between the two readings of its counters, or
/// decreased between them. One that is always 0 is not maintained.
fn restart(facts: &Facts) -> Option<Warning> {
    let Uptime { before, after, passed } =
        facts.uptime.filter(|it| (it.before, it.after) != (0, 0))?;
    let is_restarted = after < before || after - before + UPTIME_COARSE < passed.0 / 1_000_000_000;
    is_restarted.then_some(Warning::ServerRestarted { up: after })
}

/// Compares the server's counts with the statements that all workloads sent, warm-up included.
/// MySQL counts COMMIT and BEGIN of all sessions; a difference means that another session worked on
/// the server, or that dyno has a bug. The server may not count a COMMIT that it rejected: Galera
/// rejects it for a transaction that another node has aborted, without examining the statement.
/// PostgreSQL also counts statements outside of transaction blocks, and its own processes.
fn server_counters(record: &TrialRecord, requirements: &TrialRequirements<'_>) -> Option<Warning> {
    let CommitCounter { name, is_exact } = requirements.engine.traits().commit_counter?;
    let counter = name.to_owned();
    let ours = record.sum_of_groups(|_, facts| facts.commits_sent_total);
    let theirs = record.server_counters.get(name).and_then(|count| u64::try_from(*count).ok());
    // A counter that never changes belongs to a server that does not count commits.
    let Some(theirs) = theirs.filter(|theirs| *theirs > 0 || ours == 0) else {
        return Some(Warning::CommitsNotCompared { counter, in_doubt: 0 });
    };
    let in_doubt =
        record.sum_of_groups(|record, facts| facts.unfinished_total + record.counters.reconnects);
    if in_doubt > 0 {
        return Some(Warning::CommitsNotCompared { counter, in_doubt });
    }
    let refused = record.sum_of_groups(|_, facts| facts.commits_failed_total);
    let is_counted = theirs >= ours.saturating_sub(refused) && (theirs <= ours || !is_exact);
    (!is_counted).then_some(Warning::CountersDiffer { counter, ours, theirs })
}
