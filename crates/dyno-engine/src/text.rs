//! Names given by users, kept until the process ends.

use dyno_drivers::lock;
use std::collections::BTreeSet;
use std::sync::Mutex;

/// The name for as long as the program runs; one that was given before is not kept twice, since
/// every trial gives them anew.
#[must_use]
pub fn lasting(name: String) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = lock(&NAMES);
    if let Some(known) = names.get(name.as_str()) {
        return known;
    }
    let name: &'static str = Box::leak(name.into_boxed_str());
    names.insert(name);
    name
}
