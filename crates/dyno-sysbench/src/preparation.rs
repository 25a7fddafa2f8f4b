//! A `prepare` shared by the scripts of several workloads: which of them runs it, and whether
//! different options make it a different one.

use dyno_model::sync::lock;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// Where a command of a script is defined: the text or the module, and the line.
pub(crate) type Origin = (String, usize);

/// Where the scripts' commands with a name are defined, each with the options of the scripts that
/// have it.
pub(crate) type Origins = BTreeMap<Origin, BTreeMap<String, String>>;

/// The options that each `prepare` has read, once it has run; `None` inside when it may have read
/// all.
#[derive(Default)]
pub(crate) struct Read(Mutex<BTreeMap<Origin, Option<BTreeSet<String>>>>);

impl Read {
    pub(crate) fn note(&self, prepare: Origin, read: Option<BTreeSet<String>>) {
        lock(&self.0).insert(prepare, read);
    }
}

/// A `prepare` that another workload has run before with other values of these options.
pub(crate) struct Before {
    pub(crate) origin: Origin,
    options: BTreeSet<String>,
    read: Arc<Read>,
}

impl Before {
    pub(crate) fn new(origin: Origin, options: BTreeSet<String>, read: &Arc<Read>) -> Self {
        Self { origin, options, read: Arc::clone(read) }
    }

    /// Those of the options that affect the result. The values drawn by scripts also depend on
    /// options that they do not read.
    pub(crate) fn that_count(&self) -> BTreeSet<&str> {
        let all = lock(&self.read.0);
        let read = all.get(&self.origin).and_then(Option::as_ref);
        let counts =
            |name: &&str| name.starts_with("rand_") || read.is_none_or(|read| read.contains(*name));
        self.options.iter().map(String::as_str).filter(counts).collect()
    }
}

/// The names that both have with different values.
pub(crate) fn conflicting_options(
    one: &BTreeMap<String, String>,
    other: &BTreeMap<String, String>,
) -> BTreeSet<String> {
    let differs =
        |(name, value): &(&String, &String)| other.get(*name).is_some_and(|it| it != *value);
    one.iter().filter(differs).map(|(name, _)| name.clone()).collect()
}

/// A hint after a failed `prepare` that has run before with other values of options that it reads.
pub(crate) fn already(before: &[BTreeSet<&str>]) -> String {
    let names: BTreeSet<&str> = before.iter().flatten().copied().collect();
    if names.is_empty() {
        return String::new();
    }
    let names: Vec<&str> = names.into_iter().collect();
    format!(
        "\nhint: another workload of the trial has run this `prepare` with another value of {}, \
         which it reads; use the same value in both workloads, and it runs only once",
        names.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_prepare_reads_or_draws_values_with_are_relevant() {
        let read = Arc::new(Read::default());
        let prepare = ("tables.lua".to_owned(), 3);
        let options = ["rand_type", "rows", "range_size"].map(str::to_owned);
        let before = Before::new(prepare.clone(), options.into(), &read);
        assert_eq!(before.that_count().len(), 3, "it has not run");
        read.note(prepare.clone(), None);
        assert_eq!(before.that_count().len(), 3, "it may have read them all");
        read.note(prepare, Some(["rows", "tables"].map(str::to_owned).into()));
        let counting = before.that_count();
        assert_eq!(counting, BTreeSet::from(["rand_type", "rows"]));
        assert!(already(&[counting]).contains("another value of rand_type, rows, which"));
        assert_eq!(already(&[]), "");
    }
}
