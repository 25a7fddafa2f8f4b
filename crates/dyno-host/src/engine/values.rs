//! Values of one sample, by the names of [`dyno_model::monitor`].

use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Values(pub(crate) BTreeMap<String, f64>);

impl Values {
    /// Adds a value, if it is known.
    pub(crate) fn put(&mut self, name: &str, value: impl Into<Option<f64>>) {
        self.0.extend(
            value.into().filter(|value| value.is_finite()).map(|value| (name.to_owned(), value)),
        );
    }

    pub(crate) fn get(&self, name: &str) -> Option<f64> {
        self.0.get(name).copied()
    }

    pub(crate) fn add(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// Prefixes all names with a word.
    pub(crate) fn behind(self, word: &str) -> Self {
        Self(self.0.into_iter().map(|(name, value)| (format!("{word}{name}"), value)).collect())
    }

    #[cfg(test)]
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}
