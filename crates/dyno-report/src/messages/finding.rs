//! Sentences for findings.

pub(crate) use super::en::finding::*;
use super::lang::{Lang, Message};
use super::names::{self, list};
use super::said;
use crate::figures;
use dyno_model::finding::{BusyProcess, Finding, Severity};
use dyno_model::monitor::SessionGroup;
use dyno_model::plan::Metric;

/// Every finding as a whole sentence.
#[expect(clippy::too_many_lines, reason = "a table: one arm per finding")]
pub(crate) fn sentence(finding: &Finding, lang: Lang) -> String {
    let say = |message: &Message, values: &[(&str, &str)]| message.fill(lang, values);
    let percent = |share: f64| figures::percent(share * 100.0);
    match finding {
        Finding::GeneratorBusy { share } => say(&GENERATOR_BUSY, &[("percent", &percent(*share))]),
        Finding::HeldUp { share } => say(&HELD_UP, &[("percent", &percent(*share))]),
        Finding::KeptBehind { share, unstarted } | Finding::Overload { share, unstarted } => {
            let message = match finding.severity() {
                Severity::Invalid => &KEPT_FAR_BEHIND,
                Severity::Warning => &KEPT_BEHIND,
                Severity::Note => &OVERLOAD,
            };
            say(message, &[("percent", &percent(*share)), ("unstarted", &figures::count(*unstarted))])
        }
        Finding::GeneratorLate { lag_ms, share } => {
            say(&GENERATOR_LATE, &[("lag", &figures::digits(*lag_ms)), ("percent", &percent(*share))])
        }
        Finding::SharedMachine => say(&SHARED_MACHINE, &[]),
        Finding::DebugBuild => say(&DEBUG_BUILD, &[]),
        Finding::Failures { failed, share } => {
            say(&FAILURES, &[("failed", &figures::count(*failed)), ("percent", &percent(*share))])
        }
        Finding::Unfinished { unfinished } => {
            say(&UNFINISHED, &[("unfinished", &figures::count(*unfinished))])
        }
        Finding::Skipped { skipped, share } => {
            say(&SKIPPED, &[("skipped", &figures::count(*skipped)), ("percent", &percent(*share))])
        }
        Finding::ServerRestarted { up } => say(&SERVER_RESTARTED, &[("seconds", &figures::count(*up))]),
        Finding::ShortWindow { seconds } => say(&SHORT_WINDOW, &[("seconds", &figures::digits(*seconds))]),
        Finding::FewWaves { waves } => say(&FEW_WAVES, &[("waves", &figures::digits(*waves))]),
        Finding::FewTransactions { committed: 0 } => NO_TRANSACTIONS.text(lang).to_owned(),
        Finding::FewTransactions { committed } => {
            say(&FEW_TRANSACTIONS, &[("committed", &figures::count(*committed))])
        }
        Finding::Stall { longest_gap, at, sessions } => {
            let values = [("seconds", figures::digits(*longest_gap)), ("at", figures::digits(*at))];
            explained((&STALL, &STALL_EXPLAINED), &values, sessions, lang)
        }
        Finding::Collapse { at, seconds, committed, usual, sessions } => {
            let values = [
                ("at", figures::digits(*at)),
                ("usual", figures::digits(*usual)),
                ("seconds", figures::digits(*seconds)),
                ("committed", figures::count(*committed)),
            ];
            explained((&COLLAPSE_UNEXPLAINED, &COLLAPSE), &values, sessions, lang)
        }
        Finding::WarmUpLeft { metric, seconds, share } => warm_up_left(*metric, *seconds, *share, lang),
        Finding::Drift { metric, share } => drift(*metric, *share, lang),
        Finding::SameWait { wait, statement, share, sessions } => {
            same_wait(wait, statement, *share, *sessions, lang)
        }
        Finding::MonitorCost { share } => say(&MONITOR_COST, &[("percent", &percent(*share))]),
        Finding::CutShort { reason } => say(&CUT_SHORT, &[("reason", &said(reason, lang))]),
        Finding::SystemFailed { reason } => say(&SYSTEM_FAILED, &[("reason", &said(reason, lang))]),
        Finding::BooksUnbalanced { identities } => {
            say(&BOOKS_UNBALANCED, &[("identities", &list(lang, identities))])
        }
        Finding::FaultNotMade { what, reason } => say(
            &FAULT_NOT_MADE,
            &[("what", &names::fault_named(what, lang)), ("reason", &said(reason, lang))],
        ),
        Finding::AuditViolated => say(&AUDIT_VIOLATED, &[]),
        Finding::ViolatedIn { databases } => say(&VIOLATED_IN, &[("databases", &list(lang, databases))]),
        Finding::AuditNotRun { reason } => say(&AUDIT_NOT_RUN, &[("reason", &said(reason, lang))]),
        Finding::Unsettled { sessions } => say(&UNSETTLED, &[("sessions", &figures::count(*sessions))]),
        Finding::ForeignSessions { sessions } => {
            say(&FOREIGN_SESSIONS, &[("sessions", &figures::count(*sessions))])
        }
        Finding::Imported { source } => say(&IMPORTED, &[("source", source)]),
        Finding::SettingRounded { system, name, asked, in_force } => {
            let values = [("system", system.as_str()), ("name", name), ("asked", asked), ("found", in_force)];
            say(&SETTING_ROUNDED, &values)
        }
        Finding::Steal { share } => say(&STEAL, &[("percent", &percent(*share))]),
        Finding::OthersBusy { share, processes } => {
            let named = |it: &BusyProcess| format!("{} {}", it.name, figures::digits(it.processors));
            let processes: Vec<String> = processes.iter().map(named).collect();
            say(&OTHERS_BUSY, &[("percent", &percent(*share)), ("processes", &list(lang, &processes))])
        }
        Finding::CountersDiffer { counter, ours, theirs } => say(
            &COUNTERS_DIFFER,
            &[("counter", counter), ("ours", &figures::count(*ours)), ("theirs", &figures::count(*theirs))],
        ),
        Finding::BlockRestarted { block } => say(&BLOCK_RESTARTED, &[("block", &block.to_string())]),
        Finding::BlockApart { block, hours } => {
            say(&BLOCK_APART, &[("block", &block.to_string()), ("hours", &figures::digits(*hours))])
        }
        Finding::RecordingBehind { seconds, held_up } => {
            let (seconds, waited) = (figures::digits(*seconds), figures::digits(*held_up));
            match *held_up > 0.0 {
                true => say(&RECORDING_HELD_UP, &[("seconds", &seconds), ("waited", &waited)]),
                false => say(&RECORDING_BEHIND, &[("seconds", &seconds)]),
            }
        }
        Finding::Beside { name, doubt } => say(&BESIDE, &[("name", name), ("doubt", &sentence(doubt, lang))]),
        Finding::RecordingIncomplete { what } => say(&RECORDING_INCOMPLETE, &[("what", &said(what, lang))]),
    }
}

/// A sentence, and a longer one where it is known what the sessions did meanwhile.
fn explained(
    (without, with): (&Message, &Message),
    values: &[(&str, String)],
    sessions: &[SessionGroup],
    lang: Lang,
) -> String {
    let told = list(lang, &groups(sessions));
    let mut values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    if sessions.is_empty() {
        return without.fill(lang, &values);
    }
    values.push(("sessions", &told));
    with.fill(lang, &values)
}

fn same_wait(wait: &str, statement: &str, share: f64, sessions: u32, lang: Lang) -> String {
    let (percent, sessions) = (figures::percent(share * 100.0), figures::count(u64::from(sessions)));
    let values = [("percent", &*percent), ("wait", wait), ("sessions", &sessions), ("statement", statement)];
    match statement.is_empty() {
        true => SAME_WAIT.fill(lang, &values[..3]),
        false => SAME_WAIT_IN.fill(lang, &values),
    }
}

fn warm_up_left(metric: Metric, seconds: f64, share: f64, lang: Lang) -> String {
    let values = [
        ("metric", names::metric(metric, lang)),
        ("seconds", &figures::digits(seconds)),
        ("change", &figures::percent(share * 100.0)),
    ];
    WARM_UP_LEFT.fill(lang, &values)
}

fn drift(metric: Metric, share: f64, lang: Lang) -> String {
    let message = if share > 0.0 { &DRIFT_UP } else { &DRIFT_DOWN };
    let percent = figures::percent(share.abs() * 100.0);
    message.fill(lang, &[("metric", names::metric(metric, lang)), ("percent", &percent)])
}

/// Groups of sessions that a sentence names at most.
const GROUPS_MAX: usize = 4;

fn groups(sessions: &[SessionGroup]) -> Vec<String> {
    sessions.iter().take(GROUPS_MAX).map(group).collect()
}

/// A group of sessions in the server's own words: how many, state, wait, statement.
fn group(group: &SessionGroup) -> String {
    let words = [&group.state, &group.wait, &group.statement];
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).map(String::as_str).collect();
    format!("{} × {}", group.sessions, words.join(" · "))
}

#[cfg(test)]
mod tests {
    use super::super::lang::EN;
    use super::*;

    #[test]
    #[expect(clippy::too_many_lines, reason = "a table: one value per finding")]
    fn every_finding_has_a_whole_sentence() {
        let text = || "the disk is full".to_owned();
        let findings = [
            Finding::GeneratorBusy { share: 0.953 },
            Finding::HeldUp { share: 0.05 },
            Finding::SharedMachine,
            Finding::DebugBuild,
            Finding::Failures { failed: 1234, share: 0.002 },
            Finding::Unfinished { unfinished: 3 },
            Finding::ShortWindow { seconds: 0.5 },
            Finding::Skipped { skipped: 61, share: 0.02 },
            Finding::ServerRestarted { up: 4 },
            Finding::FewTransactions { committed: 12 },
            Finding::Stall { longest_gap: 1.25, at: 3.0, sessions: Vec::new() },
            Finding::CutShort { reason: text() },
            Finding::SystemFailed { reason: text() },
            Finding::BooksUnbalanced {
                identities: vec!["a = b: 1 against 2".into(), "c = d: 3 against 4".into()],
            },
            Finding::Beside { name: "report".into(), doubt: Box::new(Finding::AuditViolated) },
            Finding::AuditViolated,
            Finding::ViolatedIn { databases: vec!["dyno_2".into(), "dyno_3".into()] },
            Finding::AuditNotRun { reason: text() },
            Finding::Unsettled { sessions: 2 },
            Finding::ForeignSessions { sessions: 2 },
            Finding::Steal { share: 0.02 },
            Finding::CountersDiffer { counter: "Com_select".into(), ours: 10_000, theirs: 10_012 },
            Finding::RecordingIncomplete { what: text() },
            Finding::SettingRounded {
                system: "MySQL".into(),
                name: "innodb_buffer_pool_size".into(),
                asked: "200M".into(),
                in_force: "268435456".into(),
            },
            Finding::KeptBehind { share: 0.61, unstarted: 1234 },
            Finding::Overload { share: 0.61, unstarted: 1234 },
            Finding::BlockRestarted { block: 2 },
            Finding::RecordingBehind { seconds: 7.5, held_up: 0.0 },
            Finding::RecordingBehind { seconds: 7.5, held_up: 1.5 },
            Finding::BlockApart { block: 2, hours: 5.25 },
            Finding::KeptBehind { share: 0.98, unstarted: 12 },
            Finding::GeneratorLate { lag_ms: 12.0, share: 0.3 },
            Finding::Collapse { at: 4.0, seconds: 2.5, committed: 0, usual: 812.0, sessions: Vec::new() },
            Finding::SameWait {
                wait: "Lock:tuple".into(),
                statement: String::new(),
                share: 0.6,
                sessions: 40,
            },
            Finding::MonitorCost { share: 0.02 },
            Finding::WarmUpLeft { metric: Metric::Throughput, seconds: 15.0, share: -0.08 },
            Finding::Drift { metric: Metric::MeanMs, share: 0.12 },
            Finding::FewWaves { waves: 3.2 },
            Finding::OthersBusy {
                share: 0.31,
                processes: vec![
                    BusyProcess { name: "rustc".into(), processors: 0.52 },
                    BusyProcess { name: "cc1".into(), processors: 0.1 },
                ],
            },
        ];
        for finding in &findings {
            let sentence = sentence(finding, EN);
            assert!(!sentence.contains(['{', '}']) && sentence.len() > 20, "{sentence}");
        }
        assert_eq!(
            sentence(findings.last().unwrap(), EN),
            "Other processes took up to 31.0 % of this machine's processor time during the window (processors: rustc 0.520 and cc1 0.100); let nothing else run."
        );
        let differing =
            findings.iter().find(|finding| matches!(finding, Finding::CountersDiffer { .. })).unwrap();
        assert_eq!(
            sentence(differing, EN),
            "The server counted 10,012 for Com_select where the generator counted 10,000."
        );
    }

    #[test]
    fn collapses_and_stalls_are_told_in_the_servers_words() {
        let sessions = vec![
            SessionGroup {
                sessions: 31,
                state: "active".into(),
                wait: "LWLock:WALWrite".into(),
                statement: "COMMIT".into(),
            },
            SessionGroup { sessions: 1, state: "idle".into(), ..SessionGroup::default() },
        ];
        let stall = Finding::Stall { longest_gap: 0.7, at: 4.0, sessions: sessions.clone() };
        assert_eq!(
            sentence(&stall, EN),
            "Nothing was committed for up to 0.700 s in a row (from 4.00 s into the window on). The server's sessions then: \
             31 × active · LWLock:WALWrite · COMMIT and 1 × idle."
        );
        let collapse = Finding::Collapse { at: 4.0, seconds: 2.5, committed: 3, usual: 812.0, sessions };
        assert_eq!(
            sentence(&collapse, EN),
            "From 4.00 s into the window on, throughput stayed below a tenth of the usual 812 transactions per second for \
             2.50 s (3 committed). The server's sessions then: 31 × active · LWLock:WALWrite · COMMIT and 1 × idle."
        );
    }
}
