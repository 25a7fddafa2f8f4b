//! What cannot be read in a results folder.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A place in a results folder that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// The file, and the line if it is one line.
    pub location: String,
    /// Why.
    pub damage: Damage,
}

/// Why something cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Damage {
    /// The last line is incomplete, as a killed run leaves it.
    LastLineCut,
    /// As the operating system or a decoder reports it.
    Text(String),
}

/// Unreadable lines of a file, with the reason.
pub(crate) type Problems = Vec<(usize, Damage)>;

impl Problem {
    pub(crate) fn new(location: impl fmt::Display, damage: impl Into<Damage>) -> Self {
        Self { location: location.to_string(), damage: damage.into() }
    }

    pub(crate) fn at_line(file: impl fmt::Display, line: usize, damage: impl Into<Damage>) -> Self {
        Self::new(format_args!("{file}, line {line}"), damage)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.location, self.damage)
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LastLineCut => "the last line is cut off",
            Self::Text(text) => text,
        })
    }
}

impl From<String> for Damage {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Damage {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}
