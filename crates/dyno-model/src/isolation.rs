//! The isolation levels of SQL, and which of them are which in the words of a server.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

crate::named! {
    /// An isolation level of the SQL standard, weakest first.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum IsolationLevel {
        /// Nothing is kept apart.
        ReadUncommitted = "read-uncommitted",
        /// Nobody reads what is not committed.
        ReadCommitted = "read-committed",
        /// What was read stays so until the transaction ends. Most servers take one snapshot for
        /// it.
        RepeatableRead = "repeatable-read",
        /// As if transactions had come one after the other.
        Serializable = "serializable",
    }
}

impl IsolationLevel {
    /// As SQL writes it.
    #[must_use]
    pub fn sql(self) -> String {
        self.name().to_uppercase().replace('-', " ")
    }

    /// The level that a server names: `REPEATABLE-READ`, `read committed`.
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
