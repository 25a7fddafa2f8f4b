//! Sentences for warnings.

use super::fill;
use super::languages::Lang;
pub(crate) use super::languages::en::warning::*;
use super::names::{self, list};
use crate::figures;
use dyno_model::lists;
use dyno_model::monitor::SessionGroup;
use dyno_model::plan::ComparisonMetric;
use dyno_model::warning::{BusyProcess, GeneratorName, Severity, Warning};

/// Every warning as a whole sentence.
#[expect(clippy::too_many_lines, reason = "a table: one arm per warning")]
pub(crate) fn sentence(warning: &Warning, lang: Lang) -> String {
    let percent = |share: f64| figures::percent(share * 100.0);
    match warning {
        Warning::GeneratorBusy { share } => fill!(GENERATOR_BUSY, lang, percent = percent(*share)),
        Warning::Stalled { share } => fill!(STALLED, lang, percent = percent(*share)),
        Warning::FellBehind { share, unstarted } | Warning::Overload { share, unstarted } => {
            let message = match warning.severity() {
                Severity::Invalid => &KEPT_FAR_BEHIND,
                Severity::Warning => &FELL_BEHIND,
                Severity::Note => &OVERLOAD,
            };
            fill!(message, lang, percent = percent(*share), unstarted = figures::count(*unstarted))
        }
        Warning::GeneratorLate { lag_ms, share } => {
            fill!(GENERATOR_LATE, lang, lag = figures::digits(*lag_ms), percent = percent(*share))
        }
        Warning::SharedMachine => fill!(SHARED_MACHINE, lang),
        Warning::DebugBuild => fill!(DEBUG_BUILD, lang),
        Warning::Failures { failed, share } => {
            fill!(FAILURES, lang, failed = figures::count(*failed), percent = percent(*share))
        }
        Warning::ToleratedFailures { failed, share, limit } => fill!(
            TOLERATED_FAILURES,
            lang,
            failed = figures::count(*failed),
            percent = percent(*share),
            limit = percent(*limit)
        ),
        Warning::Unfinished { unfinished } => {
            fill!(UNFINISHED, lang, unfinished = figures::count(*unfinished))
        }
        Warning::Skipped { skipped, share } => {
            fill!(SKIPPED, lang, skipped = figures::count(*skipped), percent = percent(*share))
        }
        Warning::ServerRestarted { up } => {
            fill!(SERVER_RESTARTED, lang, seconds = figures::count(*up))
        }
        Warning::ShortWindow { seconds } => {
            fill!(SHORT_WINDOW, lang, seconds = figures::digits(*seconds))
        }
        Warning::FewWaves { waves } => fill!(FEW_WAVES, lang, waves = figures::digits(*waves)),
        Warning::FewTransactions { committed: 0 } => NO_TRANSACTIONS.text(lang).to_owned(),
        Warning::FewTransactions { committed } => {
            fill!(FEW_TRANSACTIONS, lang, committed = figures::count(*committed))
        }
        Warning::Stall { longest_gap, at, sessions } => {
            let (seconds, at) = (figures::digits(*longest_gap), figures::digits(*at));
            let sessions = groups(sessions, lang);
            let message = if sessions.is_empty() { &STALL } else { &STALL_EXPLAINED };
            fill!(message, lang, seconds, at, sessions)
        }
        Warning::Collapse { at, seconds, committed, usual, sessions } => {
            let [at, usual, seconds] = [*at, *usual, *seconds].map(figures::digits);
            let sessions = groups(sessions, lang);
            let message = if sessions.is_empty() { &COLLAPSE_UNEXPLAINED } else { &COLLAPSE };
            fill!(
                message,
                lang,
                at,
                usual,
                seconds,
                committed = figures::count(*committed),
                sessions
            )
        }
        Warning::WarmUpLeft { metric, seconds, share } => {
            warm_up_left(*metric, *seconds, *share, lang)
        }
        Warning::Drift { metric, share } => drift(*metric, *share, lang),
        Warning::SameWait { wait, statement, share, sessions } => {
            same_wait(wait, statement, *share, *sessions, lang)
        }
        Warning::MonitorCost { share } => fill!(MONITOR_COST, lang, percent = percent(*share)),
        Warning::CutShort { reason } => {
            fill!(CUT_SHORT, lang, reason = super::reason::reason(reason, lang))
        }
        Warning::SystemFailed { reason } => {
            fill!(SYSTEM_FAILED, lang, reason = super::reason::reason(reason, lang))
        }
        Warning::CountersUnbalanced { identities } => {
            fill!(COUNTERS_UNBALANCED, lang, identities = list(lang, identities))
        }
        Warning::FaultNotInjected { action, node, reason } => {
            fill!(FAULT_NOT_INJECTED, lang, what = names::fault(*action, node, lang), reason)
        }
        Warning::AuditViolated => fill!(AUDIT_VIOLATED, lang),
        Warning::ViolatedIn { databases } => {
            fill!(VIOLATED_IN, lang, databases = list(lang, databases))
        }
        Warning::AuditNotRun { reason } => {
            fill!(AUDIT_NOT_RUN, lang, reason = super::reason::reason(reason, lang))
        }
        Warning::Unsettled { sessions } => {
            fill!(UNSETTLED, lang, sessions = figures::count(*sessions))
        }
        Warning::ForeignSessions { sessions } => {
            fill!(FOREIGN_SESSIONS, lang, sessions = figures::count(*sessions))
        }
        Warning::Imported { source } => fill!(IMPORTED, lang, source),
        Warning::ProgramWarned { text, lines } => {
            fill!(PROGRAM_WARNED, lang, lines = figures::count(*lines), text)
        }
        Warning::EventsCounted { transactions, events } => {
            let [transactions, events] =
                [transactions, events].map(|number| figures::count(*number));
            fill!(EVENTS_COUNTED, lang, transactions, events)
        }
        Warning::SettingRounded { system, name, requested, in_force } => {
            fill!(SETTING_ROUNDED, lang, system, name, asked = requested, found = in_force)
        }
        Warning::Steal { share } => fill!(STEAL, lang, percent = percent(*share)),
        Warning::OtherProcessesCpu { share, processes } => {
            let named =
                |it: &BusyProcess| format!("{} {}", it.name, figures::digits(it.processors));
            let processes: Vec<String> = processes.iter().map(named).collect();
            fill!(
                OTHER_PROCESSES_CPU,
                lang,
                percent = percent(*share),
                processes = list(lang, &processes)
            )
        }
        Warning::CountersDiffer { counter, ours, theirs } => {
            let [ours, theirs] = [ours, theirs].map(|number| figures::count(*number));
            fill!(COUNTERS_DIFFER, lang, counter, ours, theirs)
        }
        Warning::CommitsNotCompared { counter, in_doubt: 0 } => {
            fill!(COMMITS_NOT_COMPARED, lang, counter)
        }
        Warning::CommitsNotCompared { counter, in_doubt } => {
            fill!(COMMITS_IN_DOUBT, lang, counter, in_doubt)
        }
        Warning::SettingsNotRead { system, reason } => {
            fill!(SETTINGS_NOT_READ, lang, system, reason)
        }
        Warning::StatementRefused { statement, reason } => {
            fill!(STATEMENT_REFUSED, lang, statement, reason)
        }
        Warning::BlockRestarted { block } => fill!(BLOCK_RESTARTED, lang, block),
        Warning::BlockApart { block, hours } => {
            fill!(BLOCK_APART, lang, block, hours = figures::digits(*hours))
        }
        Warning::RecordingBehind { seconds, held_up } => {
            let (seconds, waited) = (figures::digits(*seconds), figures::digits(*held_up));
            match *held_up > 0.0 {
                true => fill!(RECORDING_HELD_UP, lang, seconds, waited),
                false => fill!(RECORDING_BEHIND, lang, seconds),
            }
        }
        Warning::Background { name, inner } => {
            fill!(BACKGROUND, lang, name, inner = sentence(inner, lang))
        }
        Warning::OfGenerators { generators, inner } => of_generators(generators, inner, lang),
        Warning::ClockUncertain { error_ms, share } => {
            let error = figures::digits(*error_ms);
            fill!(CLOCK_UNCERTAIN, lang, error, percent = percent(*share))
        }
        Warning::SentAsText { statements } => fill!(SENT_AS_TEXT, lang, statements),
        Warning::Unpaced => fill!(UNPACED, lang),
        Warning::Paced { share, .. } => {
            let is_possible = warning.severity() < Severity::Invalid;
            let message = if is_possible { &PACED } else { &PACED_TOO_FAST };
            fill!(message, lang, percent = percent(*share))
        }
        Warning::RecordingIncomplete { what } => {
            fill!(RECORDING_INCOMPLETE, lang, what)
        }
        Warning::DatabaseNotLocked { database, reason } => {
            fill!(DATABASE_NOT_LOCKED, lang, database, reason)
        }
        Warning::ChangedByOthers { database } => fill!(CHANGED_BY_OTHERS, lang, database),
        Warning::CleanUpIncomplete { what } => {
            fill!(CLEAN_UP_INCOMPLETE, lang, what)
        }
    }
}

/// Maximum number of hosts, or of ranges of generators on a host, that a sentence names.
const GENERATORS_MAX: usize = 5;

/// A warning about some of several generators: each host once, with the numbers of its generators.
fn of_generators(generators: &[GeneratorName], inner: &Warning, lang: Lang) -> String {
    let hosts = lists::grouped(generators.iter().map(|it| (it.host.as_str(), it.number)));
    let named = |(host, numbers): &(&str, Vec<u32>)| {
        (format!("{} ({host})", numbers_of(numbers, lang)), numbers.len())
    };
    let names = first_of(hosts.iter().map(named), lang);
    let message = if generators.len() == 1 { OF_GENERATOR } else { OF_GENERATORS };
    let (name, names) = (names.concat(), list(lang, &names));
    fill!(message, lang, name, names, inner = sentence(inner, lang))
}

/// Numbers with their ranges: `0 to 3, 7`.
fn numbers_of(numbers: &[u32], lang: Lang) -> String {
    let ranges = numbers.chunk_by(|one, next| one + 1 == *next).map(|range| match range {
        [] | [_] => (range.iter().map(u32::to_string).collect(), 1),
        [low, .., high] => (fill!(names::FROM_TO, lang, low, high), range.len()),
    });
    first_of(ranges, lang).join(lang.comma)
}

/// The first names of things, and how many more there are; each name is for a number of them.
fn first_of(named: impl Iterator<Item = (String, usize)>, lang: Lang) -> Vec<String> {
    let named: Vec<(String, usize)> = named.collect();
    let (shown, others) = named.split_at(named.len().min(GENERATORS_MAX));
    let number: usize = others.iter().map(|(_, number)| number).sum();
    let more = (number > 0).then(|| fill!(AND_MORE, lang, number));
    shown.iter().map(|(name, _)| name.clone()).chain(more).collect()
}

fn same_wait(wait: &str, statement: &str, share: f64, sessions: u32, lang: Lang) -> String {
    let (percent, sessions) =
        (figures::percent(share * 100.0), figures::count(u64::from(sessions)));
    let message = if statement.is_empty() { SAME_WAIT } else { SAME_WAIT_IN };
    fill!(message, lang, percent, wait, sessions, statement)
}

fn warm_up_left(metric: ComparisonMetric, seconds: f64, share: f64, lang: Lang) -> String {
    let (metric, change) = (names::metric(metric, lang), figures::percent(share * 100.0));
    fill!(WARM_UP_LEFT, lang, metric, seconds = figures::digits(seconds), change)
}

fn drift(metric: ComparisonMetric, share: f64, lang: Lang) -> String {
    let message = if share > 0.0 { &DRIFT_UP } else { &DRIFT_DOWN };
    let percent = figures::percent(share.abs() * 100.0);
    fill!(message, lang, metric = names::metric(metric, lang), percent)
}

/// Maximum number of session groups in a sentence.
const GROUPS_MAX: usize = 4;

/// Activity of the sessions; empty if it is unknown.
fn groups(sessions: &[SessionGroup], lang: Lang) -> String {
    list(lang, &sessions.iter().take(GROUPS_MAX).map(group).collect::<Vec<_>>())
}

/// A group of sessions in the server's own words: count, state, wait, statement.
fn group(group: &SessionGroup) -> String {
    let words = [&group.state, &group.wait, &group.statement];
    let words: Vec<&str> =
        words.into_iter().filter(|word| !word.is_empty()).map(String::as_str).collect();
    format!("{} × {}", group.sessions, words.join(" · "))
}

#[cfg(test)]
mod tests {
    use super::super::languages::EN;
    use super::*;

    #[test]
    fn every_warning_has_a_whole_sentence() {
        let metric = ComparisonMetric::Throughput;
        let text = || "the disk is full".to_owned();
        let warnings = [
            Warning::GeneratorBusy { share: 0.953 },
            Warning::Stalled { share: 0.05 },
            Warning::SharedMachine,
            Warning::DebugBuild,
            Warning::Failures { failed: 1234, share: 0.002 },
            Warning::Unfinished { unfinished: 3 },
            Warning::ShortWindow { seconds: 0.5 },
            Warning::Skipped { skipped: 61, share: 0.02 },
            Warning::ServerRestarted { up: 4 },
            Warning::FewTransactions { committed: 12 },
            Warning::Stall { longest_gap: 1.25, at: 3.0, sessions: Vec::new() },
            Warning::CutShort { reason: text().into() },
            Warning::SystemFailed { reason: text().into() },
            Warning::CountersUnbalanced {
                identities: vec!["a = b: 1 against 2".into(), "c = d: 3 against 4".into()],
            },
            Warning::Background { name: "report".into(), inner: Box::new(Warning::AuditViolated) },
            Warning::AuditViolated,
            Warning::ViolatedIn { databases: vec!["dyno_2".into(), "dyno_3".into()] },
            Warning::AuditNotRun { reason: text().into() },
            Warning::Unsettled { sessions: 2 },
            Warning::ForeignSessions { sessions: 2 },
            Warning::Steal { share: 0.02 },
            Warning::CountersDiffer { counter: "Com_select".into(), ours: 10_000, theirs: 10_012 },
            Warning::CommitsNotCompared { counter: text(), in_doubt: 0 },
            Warning::CommitsNotCompared { counter: text(), in_doubt: 3 },
            Warning::StatementRefused { statement: text(), reason: text() },
            Warning::SettingsNotRead { system: text(), reason: text() },
            Warning::Unpaced,
            Warning::Paced { share: 0.5, committed: 1234 },
            Warning::Paced { share: 2.0, committed: 1234 },
            Warning::SentAsText { statements: "q 2 SELECT to_jsonb(:id)".into() },
            Warning::RecordingIncomplete { what: text() },
            Warning::DatabaseNotLocked { database: text(), reason: text() },
            Warning::ChangedByOthers { database: text() },
            Warning::CleanUpIncomplete { what: text() },
            Warning::SettingRounded {
                system: "MySQL".into(),
                name: "innodb_buffer_pool_size".into(),
                requested: "200M".into(),
                in_force: "268435456".into(),
            },
            Warning::FellBehind { share: 0.61, unstarted: 1234 },
            Warning::Overload { share: 0.61, unstarted: 1234 },
            Warning::BlockRestarted { block: 2 },
            Warning::RecordingBehind { seconds: 7.5, held_up: 0.0 },
            Warning::RecordingBehind { seconds: 7.5, held_up: 1.5 },
            Warning::BlockApart { block: 2, hours: 5.25 },
            Warning::FellBehind { share: 0.98, unstarted: 12 },
            Warning::GeneratorLate { lag_ms: 12.0, share: 0.3 },
            Warning::Collapse {
                at: 4.0,
                seconds: 2.5,
                committed: 0,
                usual: 812.0,
                sessions: Vec::new(),
            },
            Warning::SameWait {
                wait: "Lock:tuple".into(),
                statement: String::new(),
                share: 0.6,
                sessions: 40,
            },
            Warning::MonitorCost { share: 0.02 },
            Warning::WarmUpLeft { metric, seconds: 15.0, share: -0.08 },
            Warning::Drift { metric: ComparisonMetric::MeanMs, share: 0.12 },
            Warning::FewWaves { waves: 3.2 },
            Warning::OtherProcessesCpu {
                share: 0.31,
                processes: vec![
                    BusyProcess { name: "rustc".into(), processors: 0.52 },
                    BusyProcess { name: "cc1".into(), processors: 0.1 },
                ],
            },
        ];
        for warning in &warnings {
            let sentence = sentence(warning, EN);
            assert!(!sentence.contains(['{', '}']) && sentence.len() > 20, "{sentence}");
        }
        assert_eq!(
            sentence(warnings.last().unwrap(), EN),
            "CPU used by other processes: up to 31.0 % of this machine during the window (CPUs used: rustc 0.520 and cc1 0.100). Stop other programs while measuring."
        );
        let differing = warnings.iter().find(|it| matches!(it, Warning::CountersDiffer { .. }));
        let counted =
            "The server counted 10,012 for Com_select, but the load generator counted 10,000.";
        assert_eq!(sentence(differing.unwrap(), EN), counted);
    }

    #[test]
    fn a_warning_about_generators_names_each_host_once_and_the_first() {
        let on = |host: String, number: u32| GeneratorName { number, host };
        let about = |generators: Vec<GeneratorName>| {
            let inner = Box::new(Warning::Steal { share: 0.02 });
            sentence(&Warning::OfGenerators { generators, inner }, EN)
        };
        let reported =
            |number: u32| about((0..number).map(|it| on(format!("load{it}"), it)).collect());
        let one_host =
            |numbers: &[u32]| about(numbers.iter().map(|it| on("load0".to_owned(), *it)).collect());
        let ranges = one_host(&[0, 1, 2, 3, 7]);
        assert!(ranges.starts_with("Generators 0 to 3, 7 (load0), figures of"), "{ranges}");
        let many = one_host(&[0, 2, 4, 6, 8, 10, 11]);
        assert!(many.starts_with("Generators 0, 2, 4, 6, 8, 2 more (load0), "), "{many}");
        let dealt = about((0..6).map(|it| on(format!("load{}", it / 3), it)).collect());
        assert!(dealt.starts_with("Generators 0 to 2 (load0) and 3 to 5 (load1), "), "{dealt}");
        let lost = "This VM lost 2.0 % of its CPU time to other guests (steal).";
        assert_eq!(reported(1), format!("Generator 0 (load0): {lost}"));
        assert_eq!(
            reported(2),
            format!("Generators 0 (load0) and 1 (load1), figures of the worst one: {lost}")
        );
        let clock = sentence(&Warning::ClockUncertain { error_ms: 120.0, share: 0.12 }, EN);
        assert!(clock.contains("only to within 120 ms (12.0 % of an interval)"), "{clock}");
        assert!(
            reported(12).contains(", 4 (load4) and 7 more, figures of the worst one: "),
            "{}",
            reported(12)
        );
    }

    #[test]
    fn collapses_and_stalls_are_reported_in_the_servers_words() {
        let sessions = vec![
            SessionGroup {
                sessions: 31,
                state: "active".into(),
                wait: "LWLock:WALWrite".into(),
                statement: "COMMIT".into(),
            },
            SessionGroup { sessions: 1, state: "idle".into(), ..SessionGroup::default() },
        ];
        let stall = Warning::Stall { longest_gap: 0.7, at: 4.0, sessions: sessions.clone() };
        assert_eq!(
            sentence(&stall, EN),
            "No transaction committed for up to 0.700 s (starting 4.00 s into the window). Server sessions at that time: 31 × active · LWLock:WALWrite · COMMIT and 1 × idle."
        );
        let collapse =
            Warning::Collapse { at: 4.0, seconds: 2.5, committed: 3, usual: 812.0, sessions };
        assert_eq!(
            sentence(&collapse, EN),
            "Throughput stayed below a tenth of the usual 812 transactions per second for 2.50 s, starting 4.00 s into the window (3 committed). Server sessions at that time: 31 × active · LWLock:WALWrite · COMMIT and 1 × idle."
        );
    }
}
