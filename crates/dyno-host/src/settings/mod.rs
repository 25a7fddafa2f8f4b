//! Settings of a server: read back, compared with what was asked for, and those that matter for the figures.
//!
//! A server may read `4G`, store `4294967296` and print `4GB`; [`agreement`] knows each engine's ways of writing the
//! same value, so a setting counts as not taken only when its value really is another one.

mod agreement;
mod catalogue;
mod spelling;

use agreement::Agreement;
pub use catalogue::that_matter;
pub use spelling::as_server_reads;

use crate::session::Session;
use dyno_model::failure::OperationFailure;
use dyno_model::target::{Engine, Target};
use std::collections::BTreeMap;
use std::fmt;

/// One setting as the server tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The value in the server's base unit.
    pub value: String,
    /// The value as people write it, e.g. `128MB`.
    pub shown: String,
    /// PostgreSQL: the base unit (`8kB`, `ms`), empty when there is none.
    pub unit: String,
    /// PostgreSQL: `bool`, `integer`, `real`, `enum` or `string`; empty elsewhere.
    pub kind: String,
}

/// A setting that was asked for and is not in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingProblem {
    /// The server has no setting of this name.
    Unknown {
        /// The name as written.
        name: String,
        /// Names of the server that look like it.
        similar: Vec<String>,
    },
    /// The server has another value.
    Differs {
        /// The name as written.
        name: String,
        /// The value asked for.
        asked: String,
        /// The value in force.
        found: String,
    },
}

impl SettingProblem {
    /// The setting's name as written.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Unknown { name, .. } | Self::Differs { name, .. } => name,
        }
    }
}

impl fmt::Display for SettingProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, similar } => {
                write!(f, "the server has no setting {name:?}")?;
                if similar.is_empty() {
                    Ok(())
                } else {
                    write!(f, "; did you mean {}?", similar.join(" or "))
                }
            }
            Self::Differs { name, asked, found } => {
                write!(
                    f,
                    "setting {name:?} did not take effect: asked for {asked:?}, the server has {found:?}"
                )
            }
        }
    }
}

/// All settings that a system tells, by their names in lower case.
///
/// # Errors
/// When the system cannot be reached or refuses to answer.
pub fn read(target: &Target) -> Result<BTreeMap<String, Setting>, OperationFailure> {
    read_with(&mut Session::open(target)?, target.engine)
}

pub(crate) fn read_with(
    session: &mut Session,
    engine: Engine,
) -> Result<BTreeMap<String, Setting>, OperationFailure> {
    match engine {
        Engine::Mysql => read_mysql(session),
        Engine::Postgres => read_postgres(session),
        Engine::Sqlite => read_sqlite(session),
        Engine::Null => Ok(BTreeMap::new()),
    }
}

fn plain(value: String) -> Setting {
    Setting { shown: value.clone(), value, unit: String::new(), kind: String::new() }
}

fn read_mysql(session: &mut Session) -> Result<BTreeMap<String, Setting>, OperationFailure> {
    let pairs = session.pairs("SHOW GLOBAL VARIABLES")?;
    Ok(pairs.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), plain(value))).collect())
}

fn read_postgres(session: &mut Session) -> Result<BTreeMap<String, Setting>, OperationFailure> {
    let rows = session.rows(
        "SELECT lower(name), setting, current_setting(name), coalesce(unit, ''), vartype FROM pg_catalog.pg_settings",
    )?;
    let setting = |row: Vec<Option<String>>| {
        let mut fields = row.into_iter().map(Option::unwrap_or_default);
        let mut next = || fields.next().unwrap_or_default();
        (next(), Setting { value: next(), shown: next(), unit: next(), kind: next() })
    };
    Ok(rows.into_iter().map(setting).collect())
}

/// SQLite has no list of pragmas with values; those that matter are asked one by one. Others are asked by name.
fn read_sqlite(session: &mut Session) -> Result<BTreeMap<String, Setting>, OperationFailure> {
    let mut settings = BTreeMap::new();
    for name in that_matter(Engine::Sqlite) {
        if let Some(setting) = read_pragma(session, name)? {
            settings.insert((*name).to_owned(), setting);
        }
    }
    Ok(settings)
}

/// One pragma; `None` when SQLite does not know it, which it does not say otherwise.
pub(crate) fn read_pragma(session: &mut Session, name: &str) -> Result<Option<Setting>, OperationFailure> {
    let value = session.first(&format!("PRAGMA {name}"))?;
    Ok(value.map(|value| {
        let shown = catalogue::pragma_word(name, &value).unwrap_or(&value).to_owned();
        Setting { value, shown, unit: String::new(), kind: String::new() }
    }))
}

/// A setting's name as the server lists it: MySQL reads `-` and `_` alike and ignores case.
#[must_use]
pub fn listed_name(engine: Engine, name: &str) -> String {
    let name = name.trim().to_ascii_lowercase();
    match engine {
        Engine::Mysql => name.trim_start_matches('-').replace('-', "_"),
        _ => name,
    }
}

/// A setting that the server rounded to a value that it can have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundedSetting {
    /// The name as written.
    pub name: String,
    /// The value asked for.
    pub asked: String,
    /// The value in force.
    pub found: String,
}

/// Settings that are in force with the next value that the server can have.
#[must_use]
pub fn rounded(
    engine: Engine,
    asked: &BTreeMap<String, String>,
    found: &BTreeMap<String, Setting>,
) -> Vec<RoundedSetting> {
    let rounded = |(name, value): (&String, &String)| {
        let listed = listed_name(engine, name);
        let (setting, value) = catalogue::find(engine, &listed, value, found)?;
        let agreement = agreement::compare(engine, &listed, &value, setting, found);
        (agreement == Agreement::Rounded).then(|| RoundedSetting {
            name: name.clone(),
            asked: value.into_owned(),
            found: setting.shown.clone(),
        })
    };
    asked.iter().filter_map(rounded).collect()
}

/// Whether a server that says beforehand that it will have `found` merely rounds what is asked for. What other settings say
/// about rounding is not known yet.
pub(crate) fn is_rounding(engine: Engine, name: &str, asked: &str, found: &str) -> bool {
    let (listed, found) = (listed_name(engine, name), plain(found.to_owned()));
    agreement::compare(engine, &listed, asked, &found, &BTreeMap::new()) != Agreement::Different
}

/// What was asked for and is not in force.
#[must_use]
pub fn problems(
    engine: Engine,
    asked: &BTreeMap<String, String>,
    found: &BTreeMap<String, Setting>,
) -> Vec<SettingProblem> {
    let problem = |(name, value): (&String, &String)| {
        let listed = listed_name(engine, name);
        if catalogue::cannot_be_read(engine, &listed) {
            return None;
        }
        let Some((setting, value)) = catalogue::find(engine, &listed, value, found) else {
            return Some(SettingProblem::Unknown { name: name.clone(), similar: similar(&listed, found) });
        };
        if agreement::compare(engine, &listed, &value, setting, found) != Agreement::Different {
            return None;
        }
        Some(SettingProblem::Differs {
            name: name.clone(),
            asked: value.into_owned(),
            found: setting.shown.clone(),
        })
    };
    asked.iter().filter_map(problem).collect()
}

/// At most three names, those that share the most words with the given one, if that is more than half of its words.
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

/// What goes into the record: the settings asked for and those that matter, as people write them.
#[must_use]
pub fn for_the_record(
    engine: Engine,
    asked: &BTreeMap<String, String>,
    found: &BTreeMap<String, Setting>,
) -> BTreeMap<String, String> {
    let mut record: BTreeMap<String, String> = that_matter(engine)
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), found.get(*name)?.shown.clone())))
        .collect();
    for (name, value) in asked {
        let listed = listed_name(engine, name);
        let shown = catalogue::find(engine, &listed, value, found).map_or_else(
            || format!("{value} (given, cannot be read back)"),
            |(setting, _)| setting.shown.clone(),
        );
        record.insert(listed, shown);
    }
    record
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pairs: &[(&str, &str)]) -> BTreeMap<String, Setting> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), plain((*value).to_owned()))).collect()
    }

    fn asked(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_setting_that_did_not_take_names_asked_and_found() {
        let found = found(&[("innodb_buffer_pool_size", "134217728")]);
        let problems = problems(Engine::Mysql, &asked(&[("innodb-buffer-pool-size", "4G")]), &found);
        assert_eq!(
            problems[0].to_string(),
            "setting \"innodb-buffer-pool-size\" did not take effect: asked for \"4G\", the server has \"134217728\""
        );
    }

    #[test]
    fn a_setting_the_server_does_not_list_is_unknown_and_similar_ones_are_named() {
        let found =
            found(&[("innodb_buffer_pool_size", "1"), ("innodb_buffer_pool_instances", "1"), ("port", "1")]);
        let problems = problems(Engine::Mysql, &asked(&[("innodb_buffer_size", "4G")]), &found);
        assert_eq!(
            problems[0].to_string(),
            "the server has no setting \"innodb_buffer_size\"; did you mean innodb_buffer_pool_size?"
        );
    }

    #[test]
    fn the_record_holds_asked_settings_and_those_that_matter() {
        let found = found(&[
            ("sync_binlog", "1"),
            ("tx_isolation", "READ-COMMITTED"),
            ("hostname", "x"),
            ("key_buffer_size", "8"),
        ]);
        let record = for_the_record(
            Engine::Mysql,
            &asked(&[
                ("transaction-isolation", "read-committed"),
                ("key-buffer-size", "8"),
                ("plugin_load_add", "x.so"),
            ]),
            &found,
        );
        assert_eq!(record["transaction_isolation"], "READ-COMMITTED");
        assert_eq!(record["sync_binlog"], "1");
        assert_eq!(record["key_buffer_size"], "8");
        assert_eq!(record["plugin_load_add"], "x.so (given, cannot be read back)");
        assert!(!record.contains_key("hostname"));
    }
}
