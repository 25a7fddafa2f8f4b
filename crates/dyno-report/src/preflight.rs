//! What preflight found, in words.

use crate::messages::{Lang, Message, names, preflight as words, said};
use dyno_model::preflight::{Obstacle, Place, PreflightFinding, Weight};
use serde::Serialize;
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// One finding in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PreflightWords {
    /// How much it weighs.
    pub weight: Weight,
    /// What it is about.
    pub place: String,
    /// What was found, with the values.
    pub message: String,
    /// What to do about it.
    pub remedy: Option<String>,
}

impl PreflightWords {
    /// What was found and where, without the remedy.
    #[must_use]
    pub fn told(&self, lang: Lang) -> String {
        names::labelled(&self.place, &self.message, lang)
    }

    /// All of it in a line.
    #[must_use]
    pub fn sentence(&self, lang: Lang) -> String {
        match &self.remedy {
            None => self.told(lang),
            Some(remedy) => words::WITH_REMEDY
                .fill(lang, &[("place", &self.place), ("message", &self.message), ("remedy", remedy)]),
        }
    }
}

/// All findings below each other, worst first, each with its remedy.
#[must_use]
pub fn preflight_list(findings: &[PreflightWords], lang: Lang) -> String {
    if findings.is_empty() {
        return words::NO_FINDINGS.text(lang).to_owned();
    }
    let mut findings: Vec<&PreflightWords> = findings.iter().collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.weight));
    let name = |weight| match weight {
        Weight::Warning => words::WARNING.text(lang),
        Weight::Fatal => words::FATAL.text(lang),
    };
    let width = name(Weight::Warning).width().max(name(Weight::Fatal).width());
    let mut text = words::FINDINGS.text(lang).to_owned();
    for finding in findings {
        let weight = crate::checkup::filled(name(finding.weight), width);
        let _ = write!(text, "\n  {weight}  {}", finding.told(lang));
        if let Some(remedy) = &finding.remedy {
            let _ = write!(text, "\n  {:width$}  {remedy}", "");
        }
    }
    text
}

/// One finding in words.
#[must_use]
pub fn preflight(finding: &PreflightFinding, lang: Lang) -> PreflightWords {
    let obstacle = &finding.obstacle;
    let (place, message, remedy) = match obstacle {
        Obstacle::Doubt(seen) => {
            let check = crate::checkup::check(seen, lang);
            (check.place, check.message, check.remedy)
        }
        _ => (place(&finding.place, lang), message(obstacle, lang), remedy(obstacle, lang)),
    };
    PreflightWords { weight: obstacle.weight(), place, message, remedy }
}

fn place(place: &Place, lang: Lang) -> String {
    match place {
        Place::System(name) => name.clone(),
        Place::Storage(name) => words::STORAGE.fill(lang, &[("name", name)]),
        Place::Endpoint(name) => words::ENDPOINT.fill(lang, &[("name", name)]),
        Place::Load => words::LOAD.text(lang).to_owned(),
        Place::Results => words::RESULTS.text(lang).to_owned(),
        Place::Machine => words::THIS_MACHINE.text(lang).to_owned(),
    }
}

fn message(obstacle: &Obstacle, lang: Lang) -> String {
    let fill = |message: Message, values: &[(&str, &dyn ToString)]| {
        let values: Vec<(&str, String)> =
            values.iter().map(|(name, value)| (*name, value.to_string())).collect();
        crate::progress::filled(message, &values, lang)
    };
    match obstacle {
        Obstacle::TrialTooLong => fill(words::TRIAL_TOO_LONG, &[]),
        Obstacle::TooFewFiles { clients, needed, allowed } => {
            fill(words::TOO_FEW_FILES, &[("clients", clients), ("needed", needed), ("allowed", allowed)])
        }
        Obstacle::LittleRoom { folder, free, needed } => {
            fill(words::LITTLE_ROOM, &[("folder", folder), ("free", free), ("needed", needed)])
        }
        Obstacle::RoomUnknown { folder, reason } => {
            fill(words::ROOM_UNKNOWN, &[("folder", folder), ("reason", reason)])
        }
        Obstacle::NoProgram { key, program } => {
            fill(words::NO_PROGRAM, &[("key", key), ("program", program)])
        }
        Obstacle::NoMonitor { program } => fill(words::NO_MONITOR, &[("program", program)]),
        Obstacle::NoFolder { folder } => fill(words::NO_FOLDER, &[("folder", folder)]),
        Obstacle::NoTables => fill(words::NO_TABLES, &[]),
        Obstacle::NoPrepare => fill(words::NO_PREPARE, &[]),
        Obstacle::DatabaseNotEmpty { database } => fill(words::DATABASE_NOT_EMPTY, &[("database", database)]),
        Obstacle::WritesRefused { database } => fill(words::WRITES_REFUSED, &[("database", database)]),
        Obstacle::FewConnectionsSet { set, needed } => {
            fill(words::FEW_CONNECTIONS_SET, &[("set", set), ("needed", needed)])
        }
        Obstacle::FewConnections { clients, needed, available, max, in_use, .. } => fill(
            words::FEW_CONNECTIONS,
            &[
                ("clients", clients),
                ("needed", needed),
                ("available", available),
                ("max", max),
                ("in_use", in_use),
            ],
        ),
        Obstacle::OtherSessions { number, user, from } => {
            fill(words::OTHER_SESSIONS, &[("number", number), ("user", user), ("from", from)])
        }
        Obstacle::Replicates => fill(words::REPLICATES, &[]),
        Obstacle::StateUnknown { failure } => fill(words::STATE_UNKNOWN, &[("failure", failure)]),
        Obstacle::SetupElsewhere => fill(words::SETUP_ELSEWHERE, &[]),
        Obstacle::OwnDatabase => fill(words::OWN_DATABASE, &[]),
        Obstacle::ScriptWrites { script, statement, .. } => {
            fill(words::SCRIPT_WRITES, &[("script", script), ("statement", statement)])
        }
        Obstacle::ScriptsUntried { failure } => fill(words::SCRIPTS_UNTRIED, &[("failure", failure)]),
        Obstacle::ClosedFolder { reason: text, .. }
        | Obstacle::ScriptRefused { reason: text }
        | Obstacle::Said { text, .. } => said(text, lang).into_owned(),
        Obstacle::Doubt(seen) => crate::checkup::check(seen, lang).message,
    }
}

/// What to do about it.
fn remedy(obstacle: &Obstacle, lang: Lang) -> Option<String> {
    let fill = |message: Message, name: &str, value: &str| Some(message.fill(lang, &[(name, value)]));
    let message = match obstacle {
        Obstacle::TooFewFiles { needed, .. } => return Some(format!("ulimit -n {needed}")),
        Obstacle::NoProgram { program, .. } | Obstacle::NoMonitor { program } => {
            return fill(words::NO_PROGRAM_REMEDY, "program", program);
        }
        Obstacle::ClosedFolder { folder, .. } => {
            return fill(words::CLOSED_FOLDER_REMEDY, "folder", folder);
        }
        Obstacle::FewConnectionsSet { needed, .. } => {
            return fill(words::FEW_CONNECTIONS_SET_REMEDY, "needed", &needed.to_string());
        }
        Obstacle::FewConnections { enough, .. } => {
            return fill(words::FEW_CONNECTIONS_REMEDY, "enough", &enough.to_string());
        }
        Obstacle::ScriptWrites { database, .. } | Obstacle::WritesRefused { database } => {
            return fill(words::SCRIPT_WRITES_REMEDY, "database", database);
        }
        Obstacle::Said { remedy, .. } => return remedy.as_ref().map(|it| said(it, lang).into_owned()),
        Obstacle::RoomUnknown { .. }
        | Obstacle::OtherSessions { .. }
        | Obstacle::Replicates
        | Obstacle::StateUnknown { .. }
        | Obstacle::Doubt(_) => return None,
        Obstacle::TrialTooLong => words::TRIAL_TOO_LONG_REMEDY,
        Obstacle::LittleRoom { .. } => words::LITTLE_ROOM_REMEDY,
        Obstacle::NoFolder { .. } => words::NO_FOLDER_REMEDY,
        Obstacle::NoTables => words::NO_TABLES_REMEDY,
        Obstacle::NoPrepare => words::NO_PREPARE_REMEDY,
        Obstacle::DatabaseNotEmpty { .. } => words::DATABASE_NOT_EMPTY_REMEDY,
        Obstacle::SetupElsewhere => words::SETUP_ELSEWHERE_REMEDY,
        Obstacle::OwnDatabase => words::OWN_DATABASE_REMEDY,
        Obstacle::ScriptRefused { .. } => words::SCRIPT_REFUSED_REMEDY,
        Obstacle::ScriptsUntried { .. } => words::SCRIPTS_UNTRIED_REMEDY,
    };
    Some(message.text(lang).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{EN, LANGUAGES};

    fn found() -> [PreflightFinding; 3] {
        let system =
            |name: &str, obstacle| PreflightFinding { place: Place::System(name.to_owned()), obstacle };
        let hint = "no mysql server found; looked for\n  /x/mysqld\n\
                    hint: name its folder in the spec (server.bin_dir) or in the environment variable DYNO_MYSQL_BIN_DIR; \
                    on Debian, scripts/servers installs it";
        [
            system("MySQL", Obstacle::Replicates),
            system("MariaDB", Obstacle::FewConnectionsSet { set: "20".to_owned(), needed: 60 }),
            system("B", Obstacle::said(hint)),
        ]
    }

    fn list(code: &str) -> String {
        let lang = LANGUAGES.into_iter().find(|lang| lang.code == code).expect("there is this language");
        preflight_list(&found().map(|finding| preflight(&finding, lang)), lang)
    }

    #[test]
    fn what_is_impossible_comes_first_and_has_its_remedy_below() {
        insta::assert_snapshot!(list("en"), @r"
        Preflight:
          error    MariaDB: max_connections is set to 20 and the plan needs 60
                   max_connections = 60, or fewer clients
          error    B: no mysql server found; looked for
          /x/mysqld
                   name its folder in the spec (server.bin_dir) or in the environment variable DYNO_MYSQL_BIN_DIR; on Debian, scripts/servers installs it
          warning  MySQL: the server takes part in replication: load on it travels further
        ");
        assert_eq!(preflight_list(&[], EN), "Preflight found nothing that speaks against it.");
    }

    #[test]
    fn findings_are_said_in_the_language_and_stand_below_each_other() {
        insta::assert_snapshot!(list("ko"), @r"
        사전 점검:
          오류  MariaDB: max_connections 설정값은 20이지만, 이 계획에는 연결 60개가 필요합니다
                max_connections = 60, 또는 클라이언트 수 줄이기
          오류  B: mysql 서버를 찾지 못했습니다. 찾아본 곳:
          /x/mysqld
                스펙의 server.bin_dir이나 환경 변수 DYNO_MYSQL_BIN_DIR에 폴더를 지정하십시오. Debian에서는 scripts/servers로 설치할 수 있습니다
          경고  MySQL: 이 서버는 복제에 참여하고 있습니다. 부하가 다른 서버로도 전달됩니다
        ");
        insta::assert_snapshot!(list("ja"), @r"
        事前点検：
          エラー  MariaDB：max_connections の設定は 20 ですが、この計画には 60 が必要です
                  max_connections = 60 にするか、クライアントを減らしてください
          エラー  B：mysql のサーバーが見つかりません。探した場所：
          /x/mysqld
                  spec の server.bin_dir または環境変数 DYNO_MYSQL_BIN_DIR でフォルダーを指定してください。Debian では scripts/servers でインストールできます
          警告    MySQL：このサーバーはレプリケーションに参加しています。負荷はほかのサーバーにも伝わります
        ");
    }

    #[test]
    fn a_finding_is_a_line_with_its_remedy_in_brackets() {
        let [replicates, few, _] = found().map(|finding| preflight(&finding, EN));
        assert_eq!(
            replicates.sentence(EN),
            "MySQL: the server takes part in replication: load on it travels further"
        );
        assert_eq!(
            few.sentence(EN),
            "MariaDB: max_connections is set to 20 and the plan needs 60 (max_connections = 60, or fewer clients)"
        );
    }
}
