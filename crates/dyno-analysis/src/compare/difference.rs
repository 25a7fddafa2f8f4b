//! What differs between two runs: the name of a property or setting, and its values. The texts here
//! are those of errors; `dyno-report` has them in all languages.

use dyno_model::schema::TableSize;
use dyno_model::version::ServerVersion;
use dyno_store::environment::Virtualisation;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

dyno_model::named! {
    /// A property that has a name in each language.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Property {
        /// Model of the processor.
        Processor = "processor",
        /// Logical processors of the machine.
        Processors = "processors",
        /// Logical processors that dyno may use.
        ProcessorsUsable = "usable processors",
        /// Physical cores.
        Cores = "cores",
        /// Memory of the machine.
        Memory = "memory",
        /// Architecture of the processor.
        Architecture = "architecture",
        /// Hypervisor and container.
        Virtualisation = "virtualisation",
        /// Kernel with its release.
        Kernel = "kernel",
        /// Distribution of the operating system.
        Distribution = "distribution",
        /// Version of dyno or of a server.
        Version = "version",
        /// Build profile of dyno.
        Build = "build",
        /// Kind of a system.
        Kind = "kind",
        /// How statements are sent.
        QueryMode = "query mode",
        /// Encryption of connections.
        Encryption = "encryption",
        /// Lines of scripts.
        Lines = "lines",
        /// Kind of the workload.
        Workload = "workload",
        /// Background workloads.
        Background = "background",
        /// When the measurement window ends.
        End = "end",
        /// Length of the warm-up.
        Warmup = "warm-up",
        /// Databases that clients are assigned to.
        Databases = "databases",
        /// Transactions that arrive per second.
        Rate = "rate",
        /// Distribution of arrivals.
        Arrivals = "arrivals",
        /// Mean think time.
        ThinkTime = "think time",
        /// Limit of one statement.
        StatementTimeout = "statement timeout",
        /// The searched load and its limit.
        Search = "search",
        /// Most attempts of a transaction.
        Attempts = "attempts",
        /// Failures that are retried.
        Retries = "retries",
        /// Worker threads.
        Workers = "workers",
        /// Grace period at the end.
        Grace = "grace",
        /// Limit of a trial.
        TimeLimit = "time limit",
        /// Stages of the load.
        Stages = "stages",
    }
}

dyno_model::named! {
    /// A value that is a word.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Word {
        /// There is none.
        None = "none",
        /// Chosen by dyno.
        Automatic = "automatic",
        /// Retries: depending on the kind of failure.
        ByKind = "by kind",
        /// Retries: all failures.
        All = "all",
        /// A system whose results were imported.
        Imported = "measured by another program",
    }
}

/// What differs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Differing {
    /// A property.
    Property(Property),
    /// A setting, an option or a table, by its own name.
    Name(String),
}

impl From<Property> for Differing {
    fn from(property: Property) -> Self {
        Self::Property(property)
    }
}

impl fmt::Display for Differing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Property(property) => property.fmt(f),
            Self::Name(name) => f.write_str(name),
        }
    }
}

/// One of its values.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Value {
    /// A word.
    Word(Word),
    /// The kind of a server that dyno starts.
    StartedByDyno(String),
    /// The window ends after this time.
    After(String),
    /// The window ends after this many transactions.
    AfterTransactions(u64),
    /// The window ends after this many transactions of each client.
    AfterTransactionsPerClient(u64),
    /// The window ends when a table has this many rows.
    AtRows(u64),
    /// The size of a table.
    TableSize(TableSize),
    /// The version of a system.
    Version(ServerVersion),
    /// Hypervisor and container.
    Virtualisation(Vec<Virtualisation>),
    /// Any other value; empty when it is missing.
    #[serde(untagged)]
    Text(String),
}

impl Value {
    /// A value without a translation.
    pub(crate) fn text(value: &impl ToString) -> Self {
        Self::Text(value.to_string())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) => word.fmt(f),
            Self::StartedByDyno(server) => write!(f, "{server}, started by dyno"),
            Self::After(time) => write!(f, "after {time}"),
            Self::AfterTransactions(number) => write!(f, "after {number} transactions"),
            Self::AfterTransactionsPerClient(number) => {
                write!(f, "after {number} transactions per client")
            }
            Self::AtRows(number) => write!(f, "at {number} rows"),
            Self::TableSize(size) => size.fmt(f),
            Self::Version(version) => version.fmt(f),
            Self::Virtualisation(layers) => {
                let names: Vec<_> = layers.iter().map(|layer| layer.name()).collect();
                f.write_str(&names.join(", "))
            }
            Self::Text(text) if text.is_empty() => f.write_str("-"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// What differs between two runs, with its value in each.
pub(crate) type Unequal = (Differing, Value, Value);

/// One difference between the sides of a comparison, or within one of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// What differs.
    #[serde(flatten)]
    pub what: Differing,
    /// Its values in the base, without duplicates.
    pub base: BTreeSet<Value>,
    /// Its values in the new side.
    pub new: BTreeSet<Value>,
}
