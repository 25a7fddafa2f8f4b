//! Doubts about a trial, raised right after it.

use crate::measure::LoadRecord;
use crate::measure::silence::is_stall;
use crate::recording::{Collector, Totals};
use crate::trial::TrialInput;
use crate::window::Window;
use dyno_model::audit::{AuditCheck, AuditVerdict};
use dyno_model::finding::{Finding, Severity};
use dyno_model::plan::StopRule;
use dyno_model::record::{TrialEnd, TrialRecord};
use dyno_model::target::Engine;

/// Stalls that are told of a trial at most: the longest.
const STALLS_MAX: usize = 3;
/// Windows shorter than this give coarse figures, seconds.
const SHORT: f64 = 1.0;
/// Windows of fewer mean response times than this give coarse figures.
const WAVES: f64 = 10.0;
/// Fewer committed transactions than this cannot carry a 99th percentile.
const FEW: u64 = 1_000;

/// Adds everything that is doubtful about a trial to its record. `steal` is the share of processor time that other guests of the
/// host took during the window.
pub(crate) fn raise(
    record: &mut TrialRecord,
    window: &Window,
    collector: &Collector,
    input: &TrialInput<'_>,
    totals: &Totals,
    steal: f64,
) {
    let mut findings = std::mem::take(&mut record.findings);
    generator(record, input, steal, &mut findings);
    if let Some(reason) = window.stop_reason() {
        findings.push(match (input.is_dead)() {
            Some(reason) => Finding::SystemFailed { reason },
            None => Finding::CutShort { reason },
        });
    } else if let (TrialEnd::System, Some(reason)) = (record.end, (input.is_dead)()) {
        findings.push(Finding::SystemFailed { reason });
    } else if let Some(wanted) = wanted(input)
        && record.ledger.started < wanted
    {
        let reason = format!("the time limit came after {} of {wanted} transactions", record.ledger.started);
        findings.push(Finding::CutShort { reason });
    }
    if let (StopRule::Rows(target), Some(growth)) = (input.load.stop, record.growth)
        && !window.is_stopped()
        && totals.committed < growth.commits_until(target)
    {
        let rows = growth.rows_after(totals.committed);
        let reason = format!("the time limit came at {rows} of {target} rows");
        findings.push(Finding::CutShort { reason });
    }
    findings.extend(record.open_loop.into_iter().flat_map(|open| open.findings(record.ledger.committed)));
    let ledger = &record.ledger;
    if ledger.failed > 0 {
        let share = ledger.failed as f64 / ledger.started.max(1) as f64;
        findings.push(Finding::Failures { failed: ledger.failed, share });
    }
    if ledger.unfinished > 0 {
        findings.push(Finding::Unfinished { unfinished: ledger.unfinished });
    }
    if ledger.committed < FEW {
        findings.push(Finding::FewTransactions { committed: ledger.committed });
    }
    if record.measured.as_secs_f64() < SHORT {
        findings.push(Finding::ShortWindow { seconds: record.measured.as_secs_f64() });
    }
    findings.extend(few_waves(record));
    let broken = ledger.check();
    if !broken.is_empty() {
        findings.push(Finding::BooksUnbalanced { identities: broken });
    }
    let gaps = collector.longest_gaps(record.measured.0);
    record.longest_gap = gaps.first().copied();
    let stalls = gaps.iter().filter(|gap| is_stall(gap.length.0, ledger.committed, record.measured.0));
    findings.extend(stalls.take(STALLS_MAX).map(|gap| Finding::Stall {
        longest_gap: gap.length.as_secs_f64(),
        at: gap.at.as_secs_f64(),
        sessions: Vec::new(),
    }));
    if record.audit.unsettled > 0 {
        findings.push(Finding::Unsettled { sessions: record.audit.unsettled });
    }
    match record.audit.verdict() {
        AuditVerdict::Violated => findings.push(Finding::AuditViolated),
        // Transactions that failed or were cut off are told of already.
        AuditVerdict::Intact | AuditVerdict::Undecided => {}
        AuditVerdict::NotChecked => {
            for check in &record.audit.checks {
                if let AuditCheck::NotRun { reason, .. } = check {
                    findings.push(Finding::AuditNotRun { reason: reason.clone() });
                }
            }
        }
    }
    server_counters(record, input, totals, &mut findings);
    record.findings = findings;
}

/// A closed loop whose window of a given length holds few transactions of each client, one after the other.
fn few_waves(record: &TrialRecord) -> Option<Finding> {
    if record.work.is_none() || record.open_loop.is_some() || record.transaction.count == 0 {
        return None;
    }
    let waves = record.measured.0 as f64 / record.transaction.mean;
    (waves < WAVES).then_some(Finding::FewWaves { waves })
}

/// Transactions of all clients that the stop rule asks for; `None` when it asks for a time.
fn wanted(input: &TrialInput<'_>) -> Option<u64> {
    match input.load.stop {
        StopRule::Transactions(wanted) => Some(wanted),
        StopRule::TransactionsPerClient(each) => Some(each * u64::from(input.clients)),
        StopRule::Duration(_) | StopRule::Rows(_) => None,
    }
}

fn generator(record: &TrialRecord, input: &TrialInput<'_>, steal: f64, findings: &mut Vec<Finding>) {
    // Embedded SQLite does its work in the generator's threads: their CPU time is the database's.
    if input.target.engine != Engine::Sqlite {
        let share = record
            .generator
            .workers
            .iter()
            .filter(|worker| worker.wall.0 > 0)
            .map(|worker| worker.cpu.as_secs_f64() / worker.wall.as_secs_f64())
            .fold(0.0, f64::max);
        findings.push(Finding::GeneratorBusy { share });
    }
    findings.extend(record.generator.held_up().map(|share| Finding::HeldUp { share }));
    if steal > 0.0 {
        findings.push(Finding::Steal { share: steal });
    }
    if input.shares_machine && input.target.engine != Engine::Sqlite {
        findings.push(Finding::SharedMachine);
    }
    if cfg!(debug_assertions) {
        findings.push(Finding::DebugBuild);
    }
    findings.retain(|finding| {
        !matches!(finding, Finding::GeneratorBusy { .. } | Finding::HeldUp { .. } | Finding::Steal { .. })
            || finding.severity() > Severity::Note
    });
}

/// What the server counted is compared with what was sent, warm-up included. MySQL counts COMMIT and BEGIN of everybody; a
/// difference means that somebody else worked on the server, or that dyno is wrong.
fn server_counters(
    record: &TrialRecord,
    input: &TrialInput<'_>,
    totals: &Totals,
    findings: &mut Vec<Finding>,
) {
    if input.target.engine != Engine::Mysql || totals.unfinished() > 0 || record.ledger.reconnects > 0 {
        return;
    }
    let Some(theirs) = record.server_counters.get("Com_commit") else { return };
    let index = record.ledger.statements.iter().position(|statement| statement.name == "commit");
    let ours = index.map_or(0, |index| totals.sent[index]);
    if let Ok(theirs) = u64::try_from(*theirs)
        && theirs != ours
    {
        findings.push(Finding::CountersDiffer { counter: "Com_commit".to_owned(), ours, theirs });
    }
}

/// Doubts about a run without an audit.
pub(crate) fn of_load(record: &LoadRecord) -> Vec<Finding> {
    let ledger = &record.ledger;
    let cut_short = record.troubles.iter().chain(&record.stopped);
    let mut findings: Vec<Finding> =
        cut_short.map(|reason| Finding::CutShort { reason: reason.clone() }).collect();
    let mut raise = |is_so: bool, finding: Finding| findings.extend(is_so.then_some(finding));
    raise(cfg!(debug_assertions), Finding::DebugBuild);
    raise(record.generator.shares_machine, Finding::SharedMachine);
    let share = ledger.failed as f64 / ledger.started.max(1) as f64;
    raise(ledger.failed > 0, Finding::Failures { failed: ledger.failed, share });
    raise(ledger.unfinished > 0, Finding::Unfinished { unfinished: ledger.unfinished });
    raise(ledger.committed < FEW, Finding::FewTransactions { committed: ledger.committed });
    let seconds = record.measured.as_secs_f64();
    raise(seconds < SHORT, Finding::ShortWindow { seconds });
    let identities = ledger.check();
    raise(!identities.is_empty(), Finding::BooksUnbalanced { identities });
    findings.extend(record.open_loop.into_iter().flat_map(|open| open.findings(ledger.committed)));
    findings
}
