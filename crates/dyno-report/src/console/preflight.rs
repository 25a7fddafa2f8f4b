//! Results of preflight as text.

use crate::messages::{Lang, fill, headings, names, preflight as words, reason};
use dyno_model::preflight::{Obstacle, PreflightWarning, Subject, Weight};
use serde::Serialize;
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// One preflight result as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PreflightWords {
    /// Its severity.
    pub weight: Weight,
    /// What it concerns.
    pub subject: String,
    /// The problem, with its values.
    pub message: String,
    /// How to fix it.
    pub remedy: Option<String>,
}

impl PreflightWords {
    /// The place and the problem, without the remedy.
    #[must_use]
    pub fn problem(&self, lang: Lang) -> String {
        names::labelled(&self.subject, &self.message, lang)
    }

    /// All of it in one line.
    #[must_use]
    pub fn sentence(&self, lang: Lang) -> String {
        match &self.remedy {
            None => self.problem(lang),
            Some(remedy) => {
                fill!(
                    words::WITH_REMEDY,
                    lang,
                    place = self.subject,
                    message = self.message,
                    remedy
                )
            }
        }
    }
}

/// All results in a list, worst first, each with its remedy.
#[must_use]
pub fn preflight_list(warnings: &[PreflightWords], lang: Lang) -> String {
    if warnings.is_empty() {
        return words::NO_WARNINGS.text(lang).to_owned();
    }
    let mut warnings: Vec<&PreflightWords> = warnings.iter().collect();
    warnings.sort_by_key(|warning| std::cmp::Reverse(warning.weight));
    let name = |weight| match weight {
        Weight::Warning => headings::WARNING.text(lang),
        Weight::Fatal => words::FATAL.text(lang),
    };
    let width = name(Weight::Warning).width().max(name(Weight::Fatal).width());
    let mut text = words::WARNINGS.text(lang).to_owned();
    for warning in warnings {
        let weight = crate::checkup::filled(name(warning.weight), width);
        let _ = write!(text, "\n  {weight}  {}", warning.problem(lang));
        if let Some(remedy) = &warning.remedy {
            let _ = write!(text, "\n  {:width$}  {remedy}", "");
        }
    }
    text
}

/// Describes one preflight result.
#[must_use]
pub fn preflight(warning: &PreflightWarning, lang: Lang) -> PreflightWords {
    let obstacle = &warning.obstacle;
    let (subject, message, remedy) = match obstacle {
        Obstacle::Doubt(seen) => {
            let check = crate::checkup::check(seen, lang);
            (check.subject, check.message, check.remedy)
        }
        _ => (subject(&warning.subject, lang), message(obstacle, lang), remedy(obstacle, lang)),
    };
    PreflightWords { weight: obstacle.weight(), subject, message, remedy }
}

fn subject(subject: &Subject, lang: Lang) -> String {
    match subject {
        Subject::System(name) => name.clone(),
        Subject::Storage(name) => fill!(words::STORAGE, lang, name),
        Subject::Endpoint(name) => fill!(words::ENDPOINT, lang, name),
        Subject::Load => words::LOAD.text(lang).to_owned(),
        Subject::Results => words::RESULTS.text(lang).to_owned(),
        Subject::Machine => words::THIS_MACHINE.text(lang).to_owned(),
    }
}

fn message(obstacle: &Obstacle, lang: Lang) -> String {
    match obstacle {
        Obstacle::TrialTooLong => fill!(words::TRIAL_TOO_LONG, lang),
        Obstacle::TooFewFiles { clients, needed, allowed } => {
            fill!(words::TOO_FEW_FILES, lang, clients, needed, allowed)
        }
        Obstacle::LittleRoom { folder, free, needed } => {
            fill!(words::LITTLE_ROOM, lang, folder, free, needed)
        }
        Obstacle::RoomUnknown { folder, reason } => {
            fill!(words::ROOM_UNKNOWN, lang, folder, reason)
        }
        Obstacle::NoProgram { key, program } => {
            fill!(words::NO_PROGRAM, lang, key, program)
        }
        Obstacle::NoLauncher { launcher, program } => {
            fill!(words::NO_LAUNCHER, lang, launcher, program)
        }
        Obstacle::NotInCluster => fill!(words::NOT_IN_CLUSTER, lang),
        Obstacle::NoAddress { address, reason } => {
            fill!(words::NO_ADDRESS, lang, address, reason)
        }
        Obstacle::NoMonitor { program } => fill!(words::NO_MONITOR, lang, program),
        Obstacle::NoFolder { folder } => fill!(words::NO_FOLDER, lang, folder),
        Obstacle::NoTables => fill!(words::NO_TABLES, lang),
        Obstacle::NoPrepare => fill!(words::NO_PREPARE, lang),
        Obstacle::DatabaseNotEmpty { database } => fill!(words::DATABASE_NOT_EMPTY, lang, database),
        Obstacle::WritesRefused { database } => fill!(words::WRITES_REFUSED, lang, database),
        Obstacle::FewConnectionsSet { set, needed } => {
            fill!(words::FEW_CONNECTIONS_SET, lang, set, needed)
        }
        Obstacle::FewConnections { clients, needed, available, max, in_use, .. } => {
            fill!(words::FEW_CONNECTIONS, lang, clients, needed, available, max, in_use)
        }
        Obstacle::OtherSessions { sessions: number, user, from } => {
            fill!(words::OTHER_SESSIONS, lang, number, user, from)
        }
        Obstacle::Replicates => fill!(words::REPLICATES, lang),
        Obstacle::StateUnknown { failure } => fill!(words::STATE_UNKNOWN, lang, failure),
        Obstacle::SetupElsewhere => fill!(words::SETUP_ELSEWHERE, lang),
        Obstacle::OwnDatabase => fill!(words::OWN_DATABASE, lang),
        Obstacle::ScriptWrites { script, statement, .. } => {
            fill!(words::SCRIPT_WRITES, lang, script, statement)
        }
        Obstacle::TablesReplaced { database, tables } => {
            fill!(words::TABLES_REPLACED, lang, database, tables)
        }
        Obstacle::ScriptsUntried { failure } => fill!(words::SCRIPTS_UNTRIED, lang, failure),
        Obstacle::ScriptRefused { reason } => reason.clone(),
        Obstacle::ClosedFolder { reason, .. } | Obstacle::Refused(reason) => {
            reason::and_remedy(reason, lang).0
        }
        Obstacle::Doubt(seen) => crate::checkup::check(seen, lang).message,
    }
}

/// How to fix the problem.
fn remedy(obstacle: &Obstacle, lang: Lang) -> Option<String> {
    Some(match obstacle {
        Obstacle::TooFewFiles { needed, .. } => format!("ulimit -n {needed}"),
        Obstacle::NoLauncher { program, .. } => fill!(words::NO_LAUNCHER_REMEDY, lang, program),
        Obstacle::NotInCluster => fill!(words::NOT_IN_CLUSTER_REMEDY, lang),
        Obstacle::NoAddress { .. } => fill!(words::NO_ADDRESS_REMEDY, lang),
        Obstacle::NoProgram { program, .. } | Obstacle::NoMonitor { program } => {
            fill!(words::NO_PROGRAM_REMEDY, lang, program)
        }
        Obstacle::ClosedFolder { folder, .. } => fill!(words::CLOSED_FOLDER_REMEDY, lang, folder),
        Obstacle::FewConnectionsSet { needed, .. } => {
            fill!(words::FEW_CONNECTIONS_SET_REMEDY, lang, needed)
        }
        Obstacle::FewConnections { enough, .. } => {
            fill!(words::FEW_CONNECTIONS_REMEDY, lang, enough)
        }
        Obstacle::ScriptWrites { database, .. } | Obstacle::WritesRefused { database } => {
            fill!(words::SCRIPT_WRITES_REMEDY, lang, database)
        }
        Obstacle::Refused(reason) => return reason::and_remedy(reason, lang).1,
        Obstacle::RoomUnknown { .. }
        | Obstacle::OtherSessions { .. }
        | Obstacle::Replicates
        | Obstacle::StateUnknown { .. }
        | Obstacle::Doubt(_) => return None,
        Obstacle::TrialTooLong => fill!(words::TRIAL_TOO_LONG_REMEDY, lang),
        Obstacle::LittleRoom { .. } => fill!(words::LITTLE_ROOM_REMEDY, lang),
        Obstacle::NoFolder { .. } => fill!(words::NO_FOLDER_REMEDY, lang),
        Obstacle::NoTables => fill!(words::NO_TABLES_REMEDY, lang),
        Obstacle::NoPrepare => fill!(words::NO_PREPARE_REMEDY, lang),
        Obstacle::DatabaseNotEmpty { .. } => fill!(words::DATABASE_NOT_EMPTY_REMEDY, lang),
        Obstacle::SetupElsewhere => fill!(words::SETUP_ELSEWHERE_REMEDY, lang),
        Obstacle::OwnDatabase => fill!(words::OWN_DATABASE_REMEDY, lang),
        Obstacle::ScriptRefused { .. } => fill!(words::SCRIPT_REFUSED_REMEDY, lang),
        Obstacle::TablesReplaced { .. } => fill!(words::TABLES_REPLACED_REMEDY, lang),
        Obstacle::ScriptsUntried { .. } => fill!(words::SCRIPTS_UNTRIED_REMEDY, lang),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{EN, LANGUAGES};
    use dyno_model::plan::ServerKind;
    use dyno_model::reason::Reason;

    fn found() -> [PreflightWarning; 3] {
        let system = |name: &str, obstacle| PreflightWarning {
            subject: Subject::System(name.to_owned()),
            obstacle,
        };
        let missing =
            Reason::NoServer { kind: ServerKind::Mysql, searched: "\n  /x/mysqld".to_owned() };
        [
            system("MySQL", Obstacle::Replicates),
            system("MariaDB", Obstacle::FewConnectionsSet { set: "20".to_owned(), needed: 60 }),
            system("B", Obstacle::Refused(missing)),
        ]
    }

    fn list(code: &str) -> String {
        let lang =
            LANGUAGES.into_iter().find(|lang| lang.code == code).expect("there is this language");
        preflight_list(&found().map(|warning| preflight(&warning, lang)), lang)
    }

    #[test]
    fn preflight_lists_errors_first_with_their_remedies() {
        insta::assert_snapshot!(list("en"), @r###"
        Preflight:
          error    MariaDB: the plan needs 60 connections, but max_connections is set to 20
                   set max_connections = 60, or use fewer clients
          error    B: no mysql server found; searched
          /x/mysqld
                   name its folder in the spec (server.bin_dir) or in the environment variable DYNO_MYSQL_BIN_DIR; on Debian, scripts/servers installs it
          warning  MySQL: the server takes part in replication: the load affects other servers too
        "###);
        assert_eq!(preflight_list(&[], EN), "Ready to run.");
    }

    #[test]
    fn warnings_are_reported_in_the_language_and_stand_below_each_other() {
        insta::assert_snapshot!(list("ko"), @r###"
        사전 점검:
          오류  MariaDB: max_connections 설정은 20이지만 이 계획에는 60개가 필요합니다
                max_connections = 60으로 설정하거나 클라이언트를 줄이십시오
          오류  B: mysql 서버를 찾지 못했습니다. 찾아본 곳:
          /x/mysqld
                스펙의 server.bin_dir이나 환경 변수 DYNO_MYSQL_BIN_DIR에 폴더를 지정하십시오. Debian에서는 scripts/servers로 설치할 수 있습니다
          경고  MySQL: 이 서버는 복제에 참여하고 있어 다른 서버에도 부하가 전달됩니다
        "###);
        insta::assert_snapshot!(list("ja"), @r###"
        事前点検：
          エラー  MariaDB：max_connectionsの設定は20ですが、この計画には60が必要です
                  max_connections = 60にするか、クライアントを減らしてください
          エラー  B：mysqlのサーバーが見つかりません。探した場所：
          /x/mysqld
                  specのserver.bin_dirまたは環境変数DYNO_MYSQL_BIN_DIRでフォルダーを指定してください。Debianではscripts/serversでインストールできます
          警告    MySQL：このサーバーはレプリケーションに参加しており、負荷はほかのサーバーにも及びます
        "###);
    }

    #[test]
    fn a_warning_is_a_line_with_its_remedy_in_brackets() {
        let [replicates, few, _] = found().map(|warning| preflight(&warning, EN));
        assert_eq!(
            replicates.sentence(EN),
            "MySQL: the server takes part in replication: the load affects other servers too"
        );
        assert_eq!(
            few.sentence(EN),
            "MariaDB: the plan needs 60 connections, but max_connections is set to 20 (set max_connections = 60, or use fewer clients)"
        );
    }
}
