//! A setting, and how all engines read it.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// A setting as reported by the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The value in the server's base unit.
    pub value: String,
    /// The value in readable form, e.g. `128MB`.
    pub shown: String,
    /// PostgreSQL: the base unit (`8kB`, `ms`), empty when there is none.
    pub unit: String,
    /// PostgreSQL: `bool`, `integer`, `real`, `enum` or `string`; empty elsewhere.
    pub kind: String,
}

impl Setting {
    /// A value that is shown unchanged.
    pub(crate) fn plain(value: String) -> Self {
        Self { shown: value.clone(), value, unit: String::new(), kind: String::new() }
    }
}

/// Finds the setting of that name, to be compared with the unchanged value.
pub(crate) fn by_name<'a, 'b>(
    listed: &str,
    value: &'a str,
    found: &'b BTreeMap<String, Setting>,
) -> Option<(&'b Setting, Cow<'a, str>)> {
    Some((found.get(listed)?, Cow::Borrowed(value)))
}

/// A boolean in the words that all engines accept.
pub(crate) fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "on" | "true" | "yes" => Some(true),
        "0" | "off" | "false" | "no" => Some(false),
        _ => None,
    }
}

/// True for numbers that differ only by rounding errors.
pub(crate) fn is_close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * a.abs().max(b.abs())
}
