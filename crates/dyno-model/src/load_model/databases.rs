//! `load.databases`: several databases on one system, each with its own measured client group.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum number of databases of a trial.
pub const DATABASES_MAX: u32 = 100;

/// Maximum number of transaction names, over all databases, that have separate figures.
pub const NAMED_MAX: usize = 4096;

/// The databases of the measured clients: client i works in database i modulo their number.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Databases {
    /// All clients work in the database of the system's address.
    #[default]
    One,
    /// This number of databases, named after that database with a number appended.
    Numbered(u32),
    /// These databases.
    Named(Vec<String>),
}

impl Databases {
    /// True when there is only one.
    #[must_use]
    pub fn is_one(&self) -> bool {
        *self == Self::One
    }

    /// Number of databases.
    #[must_use]
    pub fn count(&self) -> u32 {
        match self {
            Self::One => 1,
            Self::Numbered(number) => *number,
            Self::Named(names) => u32::try_from(names.len()).unwrap_or(u32::MAX),
        }
    }

    /// Their names, or their number; `None` where there is one.
    #[must_use]
    pub fn names_or_number(&self) -> Option<String> {
        match self {
            Self::One => None,
            Self::Numbered(number) => Some(number.to_string()),
            Self::Named(names) => Some(names.join(", ")),
        }
    }

    /// Their names, where the system's own database is `base`. Empty where that is the only one.
    #[must_use]
    pub fn names(&self, base: &str) -> Vec<String> {
        match self {
            Self::One => Vec::new(),
            Self::Numbered(number) => (1..=*number).map(|at| format!("{base}_{at}")).collect(),
            Self::Named(names) => names.clone(),
        }
    }
}

/// Names of transactions in figures: the database and, where the workload distinguishes several
/// transactions, the name of the transaction.
#[must_use]
pub fn transaction_names(databases: &[String], own: &[&str]) -> Vec<String> {
    match own.len() {
        0 | 1 => databases.to_vec(),
        each if each * databases.len() > NAMED_MAX => databases.to_vec(),
        _ => databases
            .iter()
            .flat_map(|database| own.iter().map(move |own| format!("{database}: {own}")))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_behind_the_name_of_the_system_s_own() {
        assert_eq!(Databases::Numbered(2).names("shop"), ["shop_1", "shop_2"]);
        assert!(Databases::One.names("shop").is_empty());
    }

    #[test]
    fn transactions_are_called_by_database_and_name() {
        let databases = ["a".to_owned(), "b".to_owned()];
        assert_eq!(transaction_names(&databases, &["pay"]), ["a", "b"]);
        assert_eq!(
            transaction_names(&databases, &["pay", "look"]),
            ["a: pay", "a: look", "b: pay", "b: look"]
        );
        let many = vec!["x"; 3000];
        assert_eq!(transaction_names(&databases, &many), ["a", "b"]);
    }
}
