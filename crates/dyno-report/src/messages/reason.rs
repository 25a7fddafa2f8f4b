//! Reasons in the language of the report.

use super::languages::Lang;
use super::languages::en::conclusion::{
    FOUND_CLIENTS, FOUND_RATE, NO_LOAD, NO_LOAD_ALONE, NO_LOAD_FAILING, NO_LOAD_FEW,
    NO_LOAD_GENERATOR, NO_LOAD_INTERRUPTED, NO_LOAD_SLOW, NO_LOAD_UNSTEADY,
};
use super::languages::en::failure;
use super::languages::en::notes::NOTE_FAILED_TRIAL;
use super::languages::en::reason::*;
use super::message::fill;
use super::names;
use crate::figures;
use dyno_analysis::model::{FailedTrial, ReportModel};
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::plan::LoadBy;
use dyno_model::reason::Reason;
use dyno_model::search::{Search, SearchEnd};

/// The sentence that a trial failed, and why.
pub(crate) fn failed_trial(model: &ReportModel, failed: &FailedTrial, lang: Lang) -> String {
    let row = &model.configurations[failed.configuration];
    let (trial, series) = (&failed.trial, &model.series[row.series].label);
    let (clients, reason) = (names::clients(&[row.clients], lang), in_line(&failed.reason, lang));
    fill!(NOTE_FAILED_TRIAL, lang, trial, series, clients, reason)
}

/// A reason, as the end of a sentence.
#[expect(clippy::too_many_lines, reason = "a table: one arm per reason")]
pub(crate) fn reason(reason: &Reason, lang: Lang) -> String {
    let inner = |reason: &Reason| self::reason(reason, lang);
    let quoted = |name: &String| format!("{name:?}");
    match reason {
        Reason::Text(text) => text.clone(),
        Reason::Interrupted => fill!(INTERRUPTED, lang),
        Reason::RowsLeft { rows, target } => fill!(LIMIT_AT_ROWS, lang, rows, target),
        Reason::TransactionsLeft { started, wanted } => fill!(LIMIT_AFTER, lang, started, wanted),
        Reason::TransactionsMissing { done, planned } => fill!(PROCESSED, lang, done, planned),
        Reason::NoLoad { search, end, steps } => no_load(search, end, *steps, lang),
        Reason::ClientsNotReady { ready, clients } => {
            fill!(CLIENTS_NOT_READY, lang, ready, clients)
        }
        Reason::ClientsNotStarted(it) => fill!(CLIENTS_NOT_UP, lang, failure = failure(it, lang)),
        Reason::StateNotRead(it) => fill!(STATE_UNKNOWN, lang, failure = failure(it, lang)),
        Reason::DataNotLoaded(it) => fill!(DATA_NOT_LOADED, lang, failure = failure(it, lang)),
        Reason::ClientsContinued { clients: number, first } => {
            fill!(CLIENTS_CONTINUED, lang, number, first)
        }
        Reason::ScriptDoesNotEnd(noticed) => {
            fill!(SCRIPT_DOES_NOT_END, lang, reason = inner(noticed))
        }
        Reason::WorkerPanicked => fill!(WORKER_PANICKED, lang),
        Reason::Failure(it) => failure(it, lang),
        Reason::SystemFailed(reason) => fill!(DIED, lang, reason = inner(reason)),
        Reason::NotAudited(reason) => fill!(AUDIT, lang, reason = inner(reason)),
        Reason::NoResponse(it) => fill!(SILENT, lang, failure = failure(it, lang)),
        Reason::DiskFull { folder, free, total } => fill!(DISK_FULL, lang, folder, free, total),
        Reason::DiskScarce { reason, folder, free, total } => {
            fill!(DISK_SCARCE, lang, reason = inner(reason), folder, free, total)
        }
        Reason::Exited(code) => fill!(ENDED_WITH, lang, code),
        Reason::Killed => fill!(KILLED, lang),
        Reason::Signalled(signal) => fill!(ENDED_BY, lang, signal),
        Reason::Ended => fill!(ENDED, lang),
        Reason::SupervisorLost => fill!(UNGUARDED, lang),
        Reason::NodeLost { node, reason } => fill!(NODE_LOST, lang, node, reason = inner(reason)),
        Reason::PathEnded { what, name, reason } => {
            fill!(PATH_ENDED, lang, what, name, reason = inner(reason))
        }
        Reason::GeneratorLost { name, reason } => {
            fill!(GENERATOR_LOST, lang, name, reason = inner(reason))
        }
        Reason::AllGeneratorsLost(reason) => {
            fill!(ALL_GENERATORS_LOST, lang, reason = inner(reason))
        }
        Reason::GeneratorFailed { name, reason } => {
            fill!(OF_GENERATOR, lang, name, reason = inner(reason))
        }
        Reason::ProcessEnded { reason, output } => {
            fill!(ITS_PROCESS, lang, reason = inner(reason), output)
        }
        Reason::LauncherEnded { reason, output } => {
            fill!(ITS_LAUNCHER, lang, reason = inner(reason), output)
        }
        Reason::ConnectionClosed => fill!(CONNECTION_CLOSED, lang),
        Reason::SentNothing(seconds) => fill!(SENT_NOTHING, lang, seconds),
        Reason::BackgroundStopped { name, reason } => {
            fill!(BACKGROUND_STOPPED, lang, name = quoted(name), reason = inner(reason))
        }
        Reason::BackgroundFailed { name, reason } => {
            fill!(BACKGROUND_FAILED, lang, name = quoted(name), reason = inner(reason))
        }
        Reason::NoServer { kind, searched } => with_hint(
            fill!(NO_SERVER, lang, kind, programs = searched),
            &fill!(NO_SERVER_HINT, lang, variable = kind.bin_dir_variable()),
        ),
        Reason::NotConnected { location, failure, hint } => {
            fill!(NOT_CONNECTED, lang, place = location, failure = self::failure(failure, lang))
                + hint
        }
        Reason::DatabaseNotEmpty { database, tables } => with_hint(
            fill!(DATABASE_NOT_EMPTY, lang, database = quoted(database), tables),
            &fill!(DATABASE_NOT_EMPTY_HINT, lang, database),
        ),
        Reason::NoPassword(variable) => {
            with_hint(fill!(NO_PASSWORD, lang, variable), &fill!(NO_PASSWORD_HINT, lang, variable))
        }
        Reason::ScratchUnusable { folder, reason } => with_hint(
            fill!(SCRATCH_UNUSABLE, lang, folder, reason),
            SCRATCH_UNUSABLE_HINT.text(lang),
        ),
        Reason::NoUser { kind, user } => with_hint(
            fill!(NO_USER, lang, kind, user = quoted(user)),
            &fill!(NO_USER_HINT, lang, user),
        ),
        Reason::NotStarted { what, reason } => {
            fill!(NOT_STARTED, lang, what, reason = inner(reason))
        }
        Reason::NotTriedAgain { failures, reason } => {
            fill!(NOT_TRIED_AGAIN, lang, failures, reason = inner(reason))
        }
        Reason::InDatabase { database, reason } => {
            fill!(IN_DATABASE, lang, database, reason = inner(reason))
        }
    }
}

/// Begins the line with the remedy.
const HINT: &str = "\nhint: ";

fn with_hint(text: String, hint: &str) -> String {
    text + HINT + hint
}

/// A reason, and the remedy that it names.
pub(crate) fn and_remedy(reason: &Reason, lang: Lang) -> (String, Option<String>) {
    let text = self::reason(reason, lang);
    match text.split_once(HINT) {
        None => (text, None),
        Some((text, hint)) => (text.to_owned(), Some(hint.to_owned())),
    }
}

/// Why a search found no load, after this many steps.
#[must_use]
pub fn no_load(search: &Search, end: &SearchEnd, steps: usize, lang: Lang) -> String {
    let limit = figures::limit_of(search);
    let ms = |time: f64| format!("{} ms", figures::digits(time));
    match end {
        SearchEnd::FailsEverywhere { failing: Some(share), .. } => {
            fill!(NO_LOAD_FAILING, lang, limit, share = figures::percent(*share))
        }
        SearchEnd::FailsEverywhere { slow: Some(slow), .. } => {
            let time = ms(slow.alone_ms);
            match &slow.transaction {
                Some(transaction) => fill!(NO_LOAD_SLOW, lang, limit, transaction, time),
                None => fill!(NO_LOAD_ALONE, lang, limit, time),
            }
        }
        SearchEnd::FailsEverywhere { .. } => fill!(NO_LOAD, lang, limit),
        SearchEnd::Generator => fill!(NO_LOAD_GENERATOR, lang, limit),
        SearchEnd::TooFew { load, transactions, needed } => {
            let load = self::load(search.most, &figures::digits(*load), lang);
            let [transactions, needed] = [*transactions, *needed].map(figures::count);
            fill!(NO_LOAD_FEW, lang, limit, load, transactions, needed)
        }
        SearchEnd::Interrupted => fill!(NO_LOAD_INTERRUPTED, lang, steps),
        SearchEnd::Found | SearchEnd::Highest | SearchEnd::Unsteady => {
            fill!(NO_LOAD_UNSTEADY, lang, limit, steps)
        }
    }
}

/// A load in words: `5,230 transactions per second`, `19 clients`.
pub(crate) fn load(most: LoadBy, number: &str, lang: Lang) -> String {
    match most {
        LoadBy::Rate => fill!(FOUND_RATE, lang, number),
        LoadBy::Clients => fill!(FOUND_CLIENTS, lang, number),
    }
}

/// The same on one line: a remedy on a separate line is appended.
pub(crate) fn in_line(reason: &Reason, lang: Lang) -> String {
    one_line(&self::reason(reason, lang))
}

/// A text with a remedy on a separate line, on one line.
pub(crate) fn one_line(text: &str) -> String {
    text.replace(HINT, "; hint: ")
}

/// A failure whose kind is in the language of the report. The message is the server's.
pub(crate) fn failure(failure: &OperationFailure, lang: Lang) -> String {
    format!("{}{}", kind(failure.kind, lang), failure.details())
}

/// Name of a kind of failures in tables and sentences.
pub(crate) fn kind(kind: FailureKind, lang: Lang) -> &'static str {
    failure::EACH[kind as usize].text(lang)
}

#[cfg(test)]
mod tests {
    use super::super::languages::{EN, LANGUAGES};
    use super::*;
    use dyno_model::plan::ServerKind;

    fn samples() -> Vec<Reason> {
        let text = || Box::new(Reason::from("no room left"));
        let killed = || Box::new(Reason::Killed);
        let failure = || FailureKind::Deadlock.failure("try again");
        let name = || "load1".to_owned();
        vec![
            *text(),
            Reason::Interrupted,
            Reason::RowsLeft { rows: 5, target: 10 },
            Reason::TransactionsLeft { started: 5, wanted: 10 },
            Reason::TransactionsMissing { done: 5, planned: 10 },
            Reason::ClientsNotReady { ready: 3, clients: 8 },
            Reason::ClientsNotStarted(failure()),
            Reason::StateNotRead(failure()),
            Reason::DataNotLoaded(failure()),
            Reason::ClientsContinued { clients: 2, first: 7 },
            Reason::ScriptDoesNotEnd(Box::new(Reason::ClientsContinued { clients: 2, first: 7 })),
            Reason::WorkerPanicked,
            Reason::Failure(failure()),
            Reason::SystemFailed(killed()),
            Reason::NotAudited(killed()),
            Reason::NoResponse(failure()),
            Reason::DiskFull { folder: "/data".to_owned(), free: 5, total: 900 },
            Reason::DiskScarce { reason: text(), folder: "/data".to_owned(), free: 5, total: 900 },
            Reason::Exited(3),
            Reason::Killed,
            Reason::Signalled(6),
            Reason::Ended,
            Reason::SupervisorLost,
            Reason::NodeLost { node: "node 2".to_owned(), reason: killed() },
            Reason::PathEnded { what: "proxy".to_owned(), name: name(), reason: killed() },
            Reason::GeneratorLost { name: "3 (load1)".to_owned(), reason: killed() },
            Reason::ProcessEnded { reason: killed(), output: ": no memory".to_owned() },
            Reason::LauncherEnded { reason: killed(), output: String::new() },
            Reason::GeneratorFailed { name: "3 (load1)".to_owned(), reason: killed() },
            Reason::AllGeneratorsLost(killed()),
            Reason::ConnectionClosed,
            Reason::SentNothing(3),
            Reason::BackgroundStopped { name: name(), reason: text() },
            Reason::BackgroundFailed { name: name(), reason: text() },
            Reason::NoServer { kind: ServerKind::Mysql, searched: "\n  /x/mysqld".to_owned() },
            Reason::NotConnected {
                location: name(),
                failure: Box::new(failure()),
                hint: "\nhint: wait".to_owned(),
            },
            Reason::DatabaseNotEmpty { database: "shop".to_owned(), tables: "orders".to_owned() },
            Reason::NoPassword("PASSWORD".to_owned()),
            Reason::ScratchUnusable { folder: "/x".to_owned(), reason: "read-only".to_owned() },
            Reason::NoUser { kind: ServerKind::Mysql, user: "mysql".to_owned() },
            Reason::NotStarted { what: "node 2 of 3".to_owned(), reason: killed() },
            Reason::NotTriedAgain { failures: 2, reason: text() },
            Reason::Killed.in_database(Some("dyno_2")),
        ]
    }

    #[test]
    fn every_kind_of_failures_has_its_own_name_in_english() {
        for each in FailureKind::ALL {
            assert_eq!(kind(each, EN), each.name());
        }
    }

    /// Errors and reports use the same words.
    #[test]
    fn every_reason_is_in_english_what_its_error_message_is() {
        for sample in samples() {
            assert_eq!(reason(&sample, EN), sample.to_string());
        }
    }

    #[test]
    fn every_reason_but_a_text_of_others_is_translated() {
        for lang in LANGUAGES.into_iter().filter(|lang| lang.code != "en") {
            for sample in samples().into_iter().skip(1) {
                assert_ne!(reason(&sample, lang), sample.to_string(), "{}", lang.code);
            }
        }
    }

    #[test]
    fn reasons_within_reasons_are_translated_and_words_of_others_stay() {
        let korean = LANGUAGES.into_iter().find(|lang| lang.code == "ko").expect("there is Korean");
        let lost = |reason| Reason::GeneratorLost { name: "3 (load1)".to_owned(), reason };
        let ended =
            Reason::LauncherEnded { reason: Box::new(Reason::Killed), output: String::new() };
        assert_eq!(
            reason(&lost(Box::new(ended)), korean),
            "부하 발생기 3 (load1) 연결 끊김: 런처가 강제 종료됨(시그널 9)"
        );
        let failed = Reason::NoResponse(FailureKind::Deadlock.failure("try again"));
        assert_eq!(reason(&failed, korean), "더 이상 응답하지 않음: 데드락: try again");
        assert_eq!(
            in_line(&"no room left\nhint: make some".into(), EN),
            "no room left; hint: make some"
        );
    }
}
