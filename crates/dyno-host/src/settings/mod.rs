//! Settings of a server: reads them back, compares them with the requested ones, and records those
//! that affect results.
//!
//! A server may read `4G`, store `4294967296` and print `4GB`; [`agreement`] knows each engine's
//! spellings, so that a setting is reported only when its value really differs.

mod agreement;
mod spelling;

use agreement::Agreement;
pub use spelling::as_server_reads;

use crate::control_connection::ControlConnection;
pub use crate::engine::Setting;
use crate::engine::queries;
use dyno_model::failure::OperationFailure;
use dyno_model::plan::ManagedServer;
use dyno_model::target::{Engine, Target};
use std::collections::{BTreeMap, BTreeSet};

/// A requested setting that is not in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingProblem {
    /// The name as written.
    pub name: String,
    /// Whether the server has no such setting, or which value it has instead.
    pub text: String,
}

/// All settings of a system, by lower-case name.
///
/// # Errors
/// When the system cannot be reached or refuses to answer.
pub fn read(target: &Target) -> Result<BTreeMap<String, Setting>, OperationFailure> {
    read_with(&mut ControlConnection::open(target)?, target.engine)
}

pub(crate) fn read_with(
    session: &mut ControlConnection,
    engine: Engine,
) -> Result<BTreeMap<String, Setting>, OperationFailure> {
    (queries(engine).settings.read)(session)
}

/// A setting's name as the server lists it: in lower case, and for the MySQL family with `_` in
/// place of `-`.
#[must_use]
pub fn listed_name(engine: Engine, name: &str) -> String {
    (queries(engine).settings.listed)(&name.trim().to_ascii_lowercase())
}

/// A setting that the server rounded to a supported value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundedSetting {
    /// The name as written.
    pub name: String,
    /// The requested value.
    pub requested: String,
    /// The value in force.
    pub found: String,
}

/// Whether a server that announces the value `found` merely rounds the requested one. Other
/// settings that affect rounding are not known at this point.
pub(crate) fn is_rounding(engine: Engine, name: &str, requested: &str, found: &str) -> bool {
    let (listed, found) = (listed_name(engine, name), Setting::plain(found.to_owned()));
    agreement::compare(engine, &listed, requested, &found, &BTreeMap::new()) != Agreement::Different
}

/// Comparison of a server's settings with the requested ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Compared {
    /// For the record: the requested settings and those that affect results, in readable form.
    pub(crate) record: BTreeMap<String, String>,
    /// Names in the record whose value is the requested one, because it cannot be read back.
    pub(crate) unread: BTreeSet<String>,
    /// Requested settings that are not in force.
    pub(crate) problems: Vec<SettingProblem>,
    /// Requested settings that are in force with a rounded value.
    pub(crate) rounded: Vec<RoundedSetting>,
}

/// Compares the requested settings with all settings of a server.
pub(crate) fn compared(
    engine: Engine,
    requested: &BTreeMap<String, String>,
    found: &BTreeMap<String, Setting>,
) -> Compared {
    let settings = &queries(engine).settings;
    let shown = |name: &&str| Some(((*name).to_owned(), found.get(*name)?.shown.clone()));
    let record = settings.that_matter.iter().filter_map(shown).collect();
    let mut compared = Compared { record, ..Compared::default() };
    for (name, value) in requested {
        let listed = listed_name(engine, name);
        let (shown, problem) = match (settings.find)(&listed, value, found) {
            None => {
                let similar = match similar(&listed, found).join(" or ") {
                    none if none.is_empty() => none,
                    similar => format!("; did you mean {similar}?"),
                };
                let text = format!("the server has no setting {name:?}{similar}");
                compared.unread.insert(listed.clone());
                (value.clone(), Some(text))
            }
            Some((setting, value)) => {
                let (agreement, found) = (
                    agreement::compare(engine, &listed, &value, setting, found),
                    setting.shown.clone(),
                );
                if agreement == Agreement::Rounded {
                    let (name, requested, found) = (name.clone(), value.to_string(), found.clone());
                    compared.rounded.push(RoundedSetting { name, requested, found });
                }
                let problem = (agreement == Agreement::Different).then(|| {
                    format!(
                        "setting {name:?} did not take effect: requested {value:?}, in force {found:?}"
                    )
                });
                (found, problem)
            }
        };
        let problem = problem.filter(|_| !settings.unreported.contains(&listed.as_str()));
        compared.problems.extend(problem.map(|text| SettingProblem { name: name.clone(), text }));
        compared.record.insert(listed, shown);
    }
    compared
}

/// At most three names: those that share the most words with the given one, if that is more than
/// half of its words.
fn similar(name: &str, found: &BTreeMap<String, Setting>) -> Vec<String> {
    let words: Vec<&str> = name.split('_').filter(|word| word.len() > 1).collect();
    let shared = |candidate: &str| {
        words.iter().filter(|word| candidate.split('_').any(|other| other == **word)).count()
    };
    let mut candidates: Vec<(usize, &String)> = found
        .keys()
        .map(|candidate| (shared(candidate), candidate))
        .filter(|(count, _)| count * 2 > words.len())
        .collect();
    candidates.sort_by_key(|(count, candidate)| (std::cmp::Reverse(*count), candidate.len()));
    let most = candidates.first().map_or(0, |(count, _)| *count);
    candidates
        .into_iter()
        .filter(|(count, _)| *count == most)
        .take(3)
        .map(|(_, candidate)| candidate.clone())
        .collect()
}

/// The server with sizes in its own spelling.
pub(crate) fn spelled(server: &ManagedServer) -> ManagedServer {
    let mut server = server.clone();
    for (name, value) in &mut server.settings {
        *value = as_server_reads(server.kind, name, value).into_owned();
    }
    server
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pairs: &[(&str, &str)]) -> BTreeMap<String, Setting> {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), Setting::plain((*value).to_owned())))
            .collect()
    }

    fn requested(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_setting_not_in_force_is_reported_with_requested_and_actual_value() {
        let found = found(&[("innodb_buffer_pool_size", "134217728")]);
        let problems =
            compared(Engine::Mysql, &requested(&[("innodb-buffer-pool-size", "4G")]), &found)
                .problems;
        assert_eq!(
            problems[0].text,
            "setting \"innodb-buffer-pool-size\" did not take effect: requested \"4G\", in force \"134217728\""
        );
    }

    #[test]
    fn an_unknown_setting_is_reported_with_similar_names() {
        let found = found(&[
            ("innodb_buffer_pool_size", "1"),
            ("innodb_buffer_pool_instances", "1"),
            ("port", "1"),
        ]);
        let problems =
            compared(Engine::Mysql, &requested(&[("innodb_buffer_size", "4G")]), &found).problems;
        assert_eq!(
            problems[0].text,
            "the server has no setting \"innodb_buffer_size\"; did you mean innodb_buffer_pool_size?"
        );
    }

    #[test]
    fn the_record_holds_requested_settings_and_those_that_affect_results() {
        let found = found(&[
            ("sync_binlog", "1"),
            ("tx_isolation", "READ-COMMITTED"),
            ("hostname", "x"),
            ("key_buffer_size", "8"),
        ]);
        let requested = requested(&[
            ("transaction-isolation", "read-committed"),
            ("key-buffer-size", "8"),
            ("plugin_load_add", "x.so"),
        ]);
        let Compared { record, unread, .. } = compared(Engine::Mysql, &requested, &found);
        assert_eq!(record["transaction_isolation"], "READ-COMMITTED");
        assert_eq!(record["sync_binlog"], "1");
        assert_eq!(record["key_buffer_size"], "8");
        assert_eq!(record["plugin_load_add"], "x.so");
        assert_eq!(unread, ["plugin_load_add".to_owned()].into());
        assert!(!record.contains_key("hostname"));
    }

    #[test]
    fn names_are_listed_once_and_as_the_server_writes_them() {
        for engine in [Engine::Mysql, Engine::Postgres, Engine::Sqlite] {
            let names = queries(engine).settings.that_matter;
            assert!(
                names.windows(2).all(|pair| pair[0] < pair[1]),
                "{engine}: sorted, no name twice"
            );
            assert!(
                names
                    .iter()
                    .all(|name| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'))
            );
        }
    }
}
