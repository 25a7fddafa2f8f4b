//! Descriptions of workloads: their options with type, range and default. The spec is validated
//! against them.

use crate::units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// The workload that requests in the spec (`[[workload.request]]`) describe in addition to its
/// options.
pub const HTTP: &str = "http";
/// The workload that can run through an application in front of the database.
pub const CRUD: &str = "crud";
/// The workload whose scripts declare additional options, which are keys of `[workload]` as well.
pub const LUA: &str = "lua";

/// Option of workloads that a file with values of their other options can set.
pub const PROPERTIES: &str = "properties";

/// Option of workloads whose clients can wait as a benchmark's standard says, and the value with
/// which they do; a rate excludes it.
pub const PACING: &str = "pacing";
/// See [`PACING`].
pub const PACED: &str = "standard";
/// Option of the same workloads for the mix of transactions, and the value for that of the
/// standard.
pub const MIX: &str = "mix";
/// See [`MIX`].
pub const STANDARD_MIX: &str = "deck";
/// Limits of this standard, TPC-C, on the 90th percentile of response times (clauses 5.2.5.7 and
/// 2.7.2.2): names of transactions, and milliseconds.
pub const PACED_P90_MAX: [(&str, f64); 5] = [
    ("new-order", 5_000.0),
    ("payment", 5_000.0),
    ("order-status", 5_000.0),
    ("stock-level", 20_000.0),
    ("delivery", 80_000.0),
];

/// The description of a workload, which `dyno workloads` prints and the spec is validated against.
#[derive(Debug, Clone)]
pub struct WorkloadDescription {
    /// Name in `workload.kind`.
    pub name: &'static str,
    /// One sentence about what a transaction does.
    pub summary: &'static str,
    /// One sentence about what the audit checks afterwards.
    pub audit: &'static str,
    /// Options in the order they are shown.
    pub options: Vec<OptionDescription>,
}

impl WorkloadDescription {
    /// Every option with its default.
    #[must_use]
    pub fn defaults(&self) -> WorkloadOptions {
        WorkloadOptions(
            self.options
                .iter()
                .map(|option| (option.name.to_owned(), option.default.clone()))
                .collect(),
        )
    }
}

/// One option of a workload.
#[derive(Debug, Clone)]
pub struct OptionDescription {
    /// Key in the `[workload]` table.
    pub name: &'static str,
    /// Type and range.
    pub kind: OptionKind,
    /// Default value.
    pub default: OptionValue,
    /// One line of help, with the unit.
    pub help: &'static str,
}

/// Options by which a workload declares that one table grows: the rows that each transaction adds,
/// and the initial rows. `load.rows` and the report's section on growth need both.
pub const GROWTH_OPTIONS: [&str; 2] = ["rows_per_insert", "rows"];

/// Type and range of an option.
#[derive(Debug, Clone, PartialEq)]
pub enum OptionKind {
    /// Whole number between the bounds, both included.
    Integer {
        /// Smallest value.
        min: i64,
        /// Largest value.
        max: i64,
    },
    /// Number between the bounds, both included.
    Number {
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
    },
    /// `true` or `false`.
    Boolean,
    /// One of these values.
    Choice(&'static [&'static str]),
    /// Any text.
    Text,
    /// A file with a line `OPTION=VALUE` for each option that it sets, and keys of another program.
    Properties(&'static [ForeignProperty]),
    /// The user's own scripts: files, or texts with names.
    Scripts {
        /// True when the spec must name at least one script. Where it is false, the scripts create
        /// tables and may be dumps.
        is_required: bool,
    },
    /// A map from text to text.
    Texts,
    /// A map from text to text, number or boolean; values are stored as text.
    Values,
}

/// A key of a property file that concerns the program that the file was written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForeignProperty {
    /// The key.
    pub key: &'static str,
    /// Values that mean what dyno does anyway; `None`: any value, which is not used.
    pub accepted: Option<&'static [&'static str]>,
    /// What to do with other values.
    pub remedy: &'static str,
}

impl ForeignProperty {
    /// A key that is not used, whatever its value.
    #[must_use]
    pub const fn skipped(key: &'static str) -> Self {
        Self { key, accepted: None, remedy: "" }
    }

    /// A key with the only values that are accepted.
    #[must_use]
    pub const fn only(
        key: &'static str,
        accepted: &'static [&'static str],
        remedy: &'static str,
    ) -> Self {
        Self { key, accepted: Some(accepted), remedy }
    }

    /// A key that is never accepted.
    #[must_use]
    pub const fn refused(key: &'static str, remedy: &'static str) -> Self {
        Self::only(key, &[], remedy)
    }
}

/// An option that the user's own scripts declare.
#[derive(Debug, Clone, PartialEq)]
pub struct DeclaredOption {
    /// Key in the `[workload]` table.
    pub name: String,
    /// Type and range.
    pub kind: OptionKind,
    /// Default value; `None` where scripts disagree, so that the spec must set it.
    pub default: Option<OptionValue>,
}

/// One of the user's own scripts, as read from its file or from the spec.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScriptText {
    /// Name in reports.
    pub name: String,
    /// Its weight: the probability of choosing it is its share of the weights of all scripts.
    pub weight: u32,
    /// Closed loop: mean think time of a client before it, which replaces that of the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<Nanos>,
    /// Its text; empty where the text stays in its file.
    pub text: String,
    /// The file of a text that is too long for a plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<ScriptFile>,
}

/// A file whose text is read when it is needed; its checksum must then still match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScriptFile {
    /// Path.
    pub path: PathBuf,
    /// Its [checksum](crate::checksum::checksum).
    pub checksum: String,
}

/// Same as on pgbench's command line: a weight of 1 is omitted.
impl fmt::Display for ScriptText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if self.weight != 1 {
            write!(f, "@{}", self.weight)?;
        }
        self.think.map_or(Ok(()), |mean| write!(f, " (think {mean})"))
    }
}

/// Value of an option.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum OptionValue {
    /// `true` or `false`.
    Boolean(bool),
    /// Whole number.
    Integer(i64),
    /// Number.
    Number(f64),
    /// Enumerated value or text.
    Text(String),
    /// Scripts.
    Scripts(Vec<ScriptText>),
    /// Map from text to text.
    Texts(BTreeMap<String, String>),
}

impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Number(value) => write!(f, "{value}"),
            Self::Text(value) => f.write_str(value),
            Self::Scripts(scripts) => {
                let names: Vec<String> = scripts.iter().map(ToString::to_string).collect();
                f.write_str(&names.join(", "))
            }
            Self::Texts(texts) => {
                let pairs: Vec<String> =
                    texts.iter().map(|(key, text)| format!("{key}: {text}")).collect();
                f.write_str(&pairs.join(", "))
            }
        }
    }
}

/// The growth of a table with the commits of a trial. Rows are never deleted from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Growth {
    /// Rows in the table before the first client starts.
    pub rows_before: u64,
    /// Rows that each committed transaction adds, at least 1.
    pub rows_per_transaction: u64,
}

impl Growth {
    /// Rows in the table after this many commits, including those of the warm-up.
    #[must_use]
    pub fn rows_after(self, commits: u64) -> u64 {
        self.rows_before.saturating_add(commits.saturating_mul(self.rows_per_transaction))
    }

    /// Commits until the table has at least this many rows.
    #[must_use]
    pub fn commits_until(self, rows: u64) -> u64 {
        rows.saturating_sub(self.rows_before).div_ceil(self.rows_per_transaction.max(1))
    }
}

/// Resolved options of a workload: every option of its description is present, with the right type
/// and in range. The getters therefore panic on a wrong name or type, which is a bug in the
/// workload and not an error of the user.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct WorkloadOptions(pub BTreeMap<String, OptionValue>);

impl WorkloadOptions {
    /// How the table of a workload grows, according to [`GROWTH_OPTIONS`]; `None` when it does not
    /// grow.
    #[must_use]
    pub fn growth(&self) -> Option<Growth> {
        let count = |name| match self.0.get(name) {
            Some(OptionValue::Integer(value)) => u64::try_from(*value).ok(),
            _ => None,
        };
        let [rows_per_transaction, rows_before] = GROWTH_OPTIONS.map(count);
        Some(Growth {
            rows_before: rows_before?,
            rows_per_transaction: rows_per_transaction.filter(|rows| *rows > 0)?,
        })
    }

    /// A whole number.
    #[must_use]
    pub fn integer(&self, name: &str) -> i64 {
        match self.0.get(name) {
            Some(OptionValue::Integer(value)) => *value,
            other => panic!("option {name} is not an integer: {other:?}"),
        }
    }

    /// A whole number that the description bounds to be at least 0.
    #[must_use]
    pub fn count(&self, name: &str) -> u64 {
        u64::try_from(self.integer(name)).expect("the description bounds counts at zero")
    }

    /// A number.
    #[must_use]
    pub fn float(&self, name: &str) -> f64 {
        match self.0.get(name) {
            Some(OptionValue::Number(value)) => *value,
            Some(OptionValue::Integer(value)) => *value as f64,
            other => panic!("option {name} is not a number: {other:?}"),
        }
    }

    /// `true` or `false`.
    #[must_use]
    pub fn boolean(&self, name: &str) -> bool {
        match self.0.get(name) {
            Some(OptionValue::Boolean(value)) => *value,
            other => panic!("option {name} is not a boolean: {other:?}"),
        }
    }

    /// True for a boolean that is set; false for workloads without such an option.
    #[must_use]
    pub fn is_on(&self, name: &str) -> bool {
        matches!(self.0.get(name), Some(OptionValue::Boolean(true)))
    }

    /// An enumerated value or text.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        match self.0.get(name) {
            Some(OptionValue::Text(value)) => value,
            other => panic!("option {name} is not a text: {other:?}"),
        }
    }

    /// Scripts.
    #[must_use]
    pub fn scripts(&self, name: &str) -> &[ScriptText] {
        match self.0.get(name) {
            Some(OptionValue::Scripts(scripts)) => scripts,
            other => panic!("option {name} is not a list of scripts: {other:?}"),
        }
    }

    /// A map from text to text; empty in plans written before the option existed.
    pub fn texts(&self, name: &str) -> impl Iterator<Item = (&str, &str)> {
        let texts = match self.0.get(name) {
            Some(OptionValue::Texts(texts)) => Some(texts),
            None => None,
            other => panic!("option {name} is not a table of texts: {other:?}"),
        };
        texts.into_iter().flatten().map(|(key, text)| (key.as_str(), text.as_str()))
    }
}
