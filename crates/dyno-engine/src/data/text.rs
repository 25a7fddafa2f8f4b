//! Names given by users, interned: kept until the process ends.

use std::sync::OnceLock;

/// An entry of the list of names. It is never removed or moved, so that its text has static
/// lifetime.
struct Name {
    text: String,
    next: OnceLock<Box<Self>>,
}

static NAMES: OnceLock<Box<Name>> = OnceLock::new();

/// The name with static lifetime. Every trial passes the same names again, so each is stored only
/// once.
#[must_use]
pub fn intern(name: &str) -> &'static str {
    let mut entry = &NAMES;
    loop {
        let known =
            entry.get_or_init(|| Box::new(Name { text: name.to_owned(), next: OnceLock::new() }));
        if known.text == name {
            return &known.text;
        }
        entry = &known.next;
    }
}
