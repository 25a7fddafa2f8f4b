//! Sentences for findings.

use super::{Lang, Message, list, messages};
use crate::report::figures;
use dyno_model::finding::Finding;

messages! {
    /// Generator worker busy.
    GENERATOR_BUSY [percent] "The busiest worker of the generator used {percent} of one processor, so the generator may have limited the load.";
    /// Little's law.
    LITTLE_GAP [percent] "Clients spent {percent} of the window inside the generator, between transactions; the system was loaded less than the number of clients says.";
    /// Open loop that fell behind.
    KEPT_BEHIND [percent, unstarted] "The system did only {percent} of what arrived, and up to {unstarted} transactions were never started: the backlog grew, and response times tell how long the window was.";
    /// Same machine.
    SHARED_MACHINE [] "The generator shares its processors with the server, so each slows the other; compare only figures measured this way.";
    /// Debug build.
    DEBUG_BUILD [] "dyno is a debug build; build with --release for figures that may be quoted.";
    /// Failures.
    FAILURES [failed, percent] "Up to {failed} transactions failed for good in one trial ({percent} of its transactions).";
    /// Unfinished.
    UNFINISHED [unfinished] "Up to {unfinished} transactions were still running when the grace period ended, and were cut off.";
    /// Short window.
    SHORT_WINDOW [seconds] "The shortest measured window is only {seconds} s long; its figures are coarse.";
    /// Few transactions.
    FEW_TRANSACTIONS [committed] "The smallest trial has only {committed} transactions; its high percentiles rest on few of them.";
    /// Stall.
    STALL [seconds, at] "Nothing was committed for up to {seconds} s in a row (from {at} s into the window on).";
    /// Cut short.
    CUT_SHORT [reason] "The trial stopped before its stop rule was met: {reason}";
    /// System failed.
    SYSTEM_FAILED [reason] "The system died or could not be used: {reason}";
    /// Books.
    BOOKS_UNBALANCED [identities] "The books of the trial do not balance, which is a bug of dyno: {identities}";
    /// Audit violated.
    AUDIT_VIOLATED [] "The audit found the data violated; a figure for work that was lost is not a figure for work done.";
    /// Audit not run.
    AUDIT_NOT_RUN [reason] "The audit could not be run: {reason}";
    /// Foreign sessions.
    FOREIGN_SESSIONS [sessions] "Up to {sessions} sessions of others were connected to the server.";
    /// Steal.
    STEAL [percent] "The host lost {percent} of its processor time to other guests.";
    /// Counters.
    COUNTERS_DIFFER [counter, ours, theirs] "The server counted {theirs} for {counter} where the generator counted {ours}.";
    /// Recording.
    RECORDING_INCOMPLETE [what] "Not everything could be recorded: {what}";
}

/// Every finding as a whole sentence.
#[must_use]
pub fn sentence(finding: &Finding, lang: Lang) -> String {
    let say = |message: &Message, values: &[(&str, &str)]| message.fill(lang, values);
    let percent = |share: f64| figures::percent(share * 100.0);
    match finding {
        Finding::GeneratorBusy { share } => say(&GENERATOR_BUSY, &[("percent", &percent(*share))]),
        Finding::LittleGap { share } => say(&LITTLE_GAP, &[("percent", &percent(*share))]),
        Finding::KeptBehind { share, unstarted } => {
            say(&KEPT_BEHIND, &[("percent", &percent(*share)), ("unstarted", &figures::count(*unstarted))])
        }
        Finding::SharedMachine => say(&SHARED_MACHINE, &[]),
        Finding::DebugBuild => say(&DEBUG_BUILD, &[]),
        Finding::Failures { failed, share } => {
            say(&FAILURES, &[("failed", &figures::count(*failed)), ("percent", &percent(*share))])
        }
        Finding::Unfinished { unfinished } => {
            say(&UNFINISHED, &[("unfinished", &figures::count(*unfinished))])
        }
        Finding::ShortWindow { seconds } => say(&SHORT_WINDOW, &[("seconds", &figures::digits(*seconds))]),
        Finding::FewTransactions { committed } => {
            say(&FEW_TRANSACTIONS, &[("committed", &figures::count(*committed))])
        }
        Finding::Stall { longest_gap, at } => {
            say(&STALL, &[("seconds", &figures::digits(*longest_gap)), ("at", &figures::digits(*at))])
        }
        Finding::CutShort { reason } => say(&CUT_SHORT, &[("reason", reason)]),
        Finding::SystemFailed { reason } => say(&SYSTEM_FAILED, &[("reason", reason)]),
        Finding::BooksUnbalanced { identities } => {
            say(&BOOKS_UNBALANCED, &[("identities", &list(lang, identities))])
        }
        Finding::AuditViolated => say(&AUDIT_VIOLATED, &[]),
        Finding::AuditNotRun { reason } => say(&AUDIT_NOT_RUN, &[("reason", reason)]),
        Finding::ForeignSessions { sessions } => {
            say(&FOREIGN_SESSIONS, &[("sessions", &figures::count(*sessions))])
        }
        Finding::Steal { share } => say(&STEAL, &[("percent", &percent(*share))]),
        Finding::CountersDiffer { counter, ours, theirs } => say(
            &COUNTERS_DIFFER,
            &[("counter", counter), ("ours", &figures::count(*ours)), ("theirs", &figures::count(*theirs))],
        ),
        Finding::RecordingIncomplete { what } => say(&RECORDING_INCOMPLETE, &[("what", what)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finding_has_a_whole_sentence() {
        let text = || "the disk is full".to_owned();
        let findings = [
            Finding::GeneratorBusy { share: 0.953 },
            Finding::LittleGap { share: 0.05 },
            Finding::SharedMachine,
            Finding::DebugBuild,
            Finding::Failures { failed: 1234, share: 0.002 },
            Finding::Unfinished { unfinished: 3 },
            Finding::ShortWindow { seconds: 0.5 },
            Finding::FewTransactions { committed: 12 },
            Finding::Stall { longest_gap: 1.25, at: 3.0 },
            Finding::CutShort { reason: text() },
            Finding::SystemFailed { reason: text() },
            Finding::BooksUnbalanced {
                identities: vec!["a = b: 1 against 2".into(), "c = d: 3 against 4".into()],
            },
            Finding::AuditViolated,
            Finding::AuditNotRun { reason: text() },
            Finding::ForeignSessions { sessions: 2 },
            Finding::Steal { share: 0.02 },
            Finding::CountersDiffer { counter: "Com_select".into(), ours: 10_000, theirs: 10_012 },
            Finding::RecordingIncomplete { what: text() },
            Finding::KeptBehind { share: 0.61, unstarted: 1234 },
        ];
        for finding in &findings {
            let sentence = sentence(finding, Lang::En);
            assert!(!sentence.contains(['{', '}']) && sentence.len() > 20, "{sentence}");
        }
        assert_eq!(
            sentence(&findings[16], Lang::En),
            "The server counted 10,012 for Com_select where the generator counted 10,000."
        );
    }
}
