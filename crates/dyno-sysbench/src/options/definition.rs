//! What an option is: its name, type, default and help.

pub(crate) use dyno_lua::{BadValue, OptionKind as Kind, OptionValue as Value};

/// One option that can be given.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Definition {
    /// Name with underscores.
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// Value when it is not given.
    pub(crate) default: Value,
    /// The default as help shows it in brackets; `None` shows no brackets.
    pub(crate) shown_default: Option<String>,
    pub(crate) help: String,
}

/// Names are the same with dashes and underscores; this is the form with underscores.
pub(crate) fn underscored(name: &str) -> String {
    name.replace('-', "_")
}

/// The form with dashes, as the program's own options are shown.
pub(crate) fn dashed(name: &str) -> String {
    name.replace('_', "-")
}
