//! The isolation levels of SQL, and their names in different servers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

crate::named! {
    /// An isolation level of the SQL standard, weakest first.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum IsolationLevel {
        /// No isolation.
        ReadUncommitted = "read-uncommitted",
        /// Transactions read only committed data.
        ReadCommitted = "read-committed",
        /// Values that were read do not change until the transaction ends. Most servers implement
        /// it with one snapshot.
        RepeatableRead = "repeatable-read",
        /// Equivalent to some serial order of the transactions.
        Serializable = "serializable",
    }
}

impl IsolationLevel {
    /// The name in SQL.
    #[must_use]
    pub fn sql(self) -> String {
        self.name().to_uppercase().replace('-', " ")
    }

    /// Parses the level that a server reports: `REPEATABLE-READ`, `read committed`.
    #[must_use]
    pub fn of_server(name: &str) -> Option<Self> {
        Self::named(&name.trim().to_lowercase().replace([' ', '_'], "-"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_known_by_the_names_that_servers_give_it() {
        for (name, level) in [
            ("REPEATABLE-READ", Some(IsolationLevel::RepeatableRead)),
            ("read committed", Some(IsolationLevel::ReadCommitted)),
            ("SERIALIZABLE", Some(IsolationLevel::Serializable)),
            ("snapshot", None),
        ] {
            assert_eq!(IsolationLevel::of_server(name), level, "{name}");
        }
        for level in IsolationLevel::ALL {
            assert_eq!(IsolationLevel::of_server(&level.sql()), Some(level));
        }
    }
}
