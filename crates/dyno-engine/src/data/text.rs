//! Names given by users, kept until the process ends.

use dyno_drivers::lock;
use std::collections::BTreeSet;
use std::sync::Mutex;

/// The name with static lifetime. Every trial passes the same names again, so each is stored only
/// once.
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
