//! A `prepare` that scripts of several workloads share: which run it, and whether other options
//! make it another.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// Where a command of a script is written: the text or the module, and the line.
pub(crate) type Origin = (String, usize);

/// Where the scripts' commands of a name are written, each with the options that the scripts which
/// have it take.
pub(crate) type Origins = BTreeMap<Origin, BTreeMap<String, String>>;

/// What each `prepare` has read of its options, once it has run; inside `None` when that may be
/// all.
#[derive(Default)]
pub(crate) struct Read(Mutex<BTreeMap<Origin, Option<BTreeSet<String>>>>);

impl Read {
    pub(crate) fn note(&self, prepare: Origin, read: Option<BTreeSet<String>>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(prepare, read);
    }
}

/// A `prepare` that another workload runs before, with other values of these options.
pub(crate) struct Before {
    pub(crate) origin: Origin,
    options: BTreeSet<String>,
    read: Arc<Read>,
}

impl Before {
    pub(crate) fn new(origin: Origin, options: BTreeSet<String>, read: &Arc<Read>) -> Self {
        Self { origin, options, read: Arc::clone(read) }
    }

    /// The options among these that play a part in what is made. What values scripts draw follows
    /// from options that they do not read themselves.
    pub(crate) fn that_count(&self) -> BTreeSet<&str> {
        let all = self.read.0.lock().unwrap_or_else(PoisonError::into_inner);
        let read = all.get(&self.origin).and_then(Option::as_ref);
        let counts =
            |name: &&str| name.starts_with("rand_") || read.is_none_or(|read| read.contains(*name));
        self.options.iter().map(String::as_str).filter(counts).collect()
    }
}

/// The names that both have and that stand for two things.
pub(crate) fn at_odds(
    one: &BTreeMap<String, String>,
    other: &BTreeMap<String, String>,
) -> BTreeSet<String> {
    let differs =
        |(name, value): &(&String, &String)| other.get(*name).is_some_and(|it| it != *value);
    one.iter().filter(differs).map(|(name, _)| name.clone()).collect()
}

/// What may be the reason why a `prepare` failed that has run before, with other values of options
/// that it reads.
pub(crate) fn already(before: &[BTreeSet<&str>]) -> String {
    let names: BTreeSet<&str> = before.iter().flatten().copied().collect();
    if names.is_empty() {
        return String::new();
    }
    let names: Vec<&str> = names.into_iter().collect();
    format!(
        "\nhint: another workload of the trial has run this `prepare` with another value of {}, which it reads; with the same in both it runs once",
        names.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_count_that_a_prepare_has_read_or_may_have_or_that_values_are_drawn_by() {
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
