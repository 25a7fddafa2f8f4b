//! Secrets (passwords) that cannot be printed by accident.

use std::fmt;

/// A password. It is neither `Display` nor serialisable, and `Debug` hides it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a password read from the environment or a file.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The password itself. Only authentication code may call this.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The text with asterisks in place of the password, if the password is too long to be part of
    /// other words by chance.
    #[must_use]
    pub fn hidden_in(&self, text: &str) -> String {
        if self.0.chars().count() < 4 { text.to_owned() } else { text.replace(&self.0, "******") }
    }

    /// True when there is no password.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}
