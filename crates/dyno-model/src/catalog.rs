//! How a workload describes itself: its options with type, range and default. The spec is checked
//! against this.

use crate::units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// The workload that is described by requests in the spec (`[[workload.request]]`) beside its
/// options.
pub const HTTP: &str = "http";
/// The workload that can go through an application in front of the database.
pub const CRUD: &str = "crud";
/// The workload whose scripts declare options of their own, which are keys beside its options.
pub const LUA: &str = "lua";

/// A workload as `dyno workloads` prints it and as the spec is checked against.
#[derive(Debug, Clone)]
pub struct WorkloadDescription {
    /// Name in `workload.kind`.
    pub name: &'static str,
    /// One sentence: what one transaction does.
    pub summary: &'static str,
    /// What the audit checks afterwards, in a sentence.
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
    /// Value when the spec says nothing.
    pub default: OptionValue,
    /// One line of help, with the unit.
    pub help: &'static str,
}

/// Options by which a workload says that it lets one table grow: the rows that each transaction
/// adds, and the rows before. `load.rows` and the report's part on growth need both.
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
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Any text.
    Text,
    /// Scripts of the user's own: files, or texts with names.
    Scripts {
        /// A spec without any is wrong. Where it is not, they make tables, and may be dumps.
        is_required: bool,
    },
    /// A table of texts by text.
    Texts,
    /// A table of texts, numbers and truth values by text; kept as texts.
    Values,
}

/// An option that scripts of the user's own declare.
#[derive(Debug, Clone, PartialEq)]
pub struct DeclaredOption {
    /// Key in the `[workload]` table.
    pub name: String,
    /// Type and range.
    pub kind: OptionKind,
    /// Value when the spec says nothing; `None` where scripts disagree, so that it has to say
    /// something.
    pub default: Option<OptionValue>,
}

/// A script of the user's own, as it stood in its file or in the spec.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScriptText {
    /// What it is called in reports.
    pub name: String,
    /// Share among the weights of all scripts with which it is chosen.
    pub weight: u32,
    /// Closed loop: how long a client waits before it on average, in place of the load's think
    /// time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<Nanos>,
    /// Its text; empty where that stays in its file.
    pub text: String,
    /// The file of a text that is too long for a plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<ScriptFile>,
}

/// A file whose text is read when it is needed, and must then be the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScriptFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its [checksum](crate::checksum::checksum).
    pub checksum: String,
}

/// As on pgbench's command line: a weight of 1 is not written.
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
    /// Word or text.
    Text(String),
    /// Scripts.
    Scripts(Vec<ScriptText>),
    /// Texts by text.
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

/// How a table grows with the commits of a trial. Nothing is ever deleted from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Growth {
    /// Rows in the table before the first client began.
    pub rows_before: u64,
    /// Rows that each committed transaction adds, at least 1.
    pub rows_per_transaction: u64,
}

impl Growth {
    /// Rows in the table after so many commits, those of the warm-up included.
    #[must_use]
    pub fn rows_after(self, commits: u64) -> u64 {
        self.rows_before.saturating_add(commits.saturating_mul(self.rows_per_transaction))
    }

    /// Commits until the table has at least so many rows.
    #[must_use]
    pub fn commits_until(self, rows: u64) -> u64 {
        rows.saturating_sub(self.rows_before).div_ceil(self.rows_per_transaction.max(1))
    }
}

/// Resolved options of a workload: every option of its description is present, with the right type
/// and in range. The getters therefore panic on a wrong name or type, which is a bug in the
/// workload and not the user's fault.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct WorkloadOptions(pub BTreeMap<String, OptionValue>);

impl WorkloadOptions {
    /// How the table of a workload grows, as [`GROWTH_OPTIONS`] say; `None` when it does not.
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

    /// A whole number that the description bounds to be positive or zero.
    #[must_use]
    pub fn count(&self, name: &str) -> u64 {
        u64::try_from(self.integer(name)).expect("the description bounds counts at zero")
    }

    /// A number.
    #[must_use]
    pub fn number(&self, name: &str) -> f64 {
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

    /// True for a boolean that is on. Plans of older versions may not have it.
    #[must_use]
    pub fn is_on(&self, name: &str) -> bool {
        matches!(self.0.get(name), Some(OptionValue::Boolean(true)))
    }

    /// A word or text.
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

    /// Texts by text; none where the options were written down before there was this one.
    pub fn texts(&self, name: &str) -> impl Iterator<Item = (&str, &str)> {
        let texts = match self.0.get(name) {
            Some(OptionValue::Texts(texts)) => Some(texts),
            None => None,
            other => panic!("option {name} is not a table of texts: {other:?}"),
        };
        texts.into_iter().flatten().map(|(key, text)| (key.as_str(), text.as_str()))
    }
}
