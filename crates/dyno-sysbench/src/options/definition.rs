//! Definition of an option: name, type, default and help.

use dyno_model::catalog;

pub(crate) use dyno_lua::{BadValue, OptionKind as Kind, OptionValue as Value};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Definition {
    /// Name with underscores.
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) default: Value,
    /// The default shown in brackets in the help; `None` for no brackets.
    pub(crate) shown_default: Option<String>,
    pub(crate) help: String,
}

/// A value as stored in plans and records.
pub(crate) fn recorded(value: &Value) -> Option<catalog::OptionValue> {
    Some(match value {
        Value::Boolean(is_on) => catalog::OptionValue::Boolean(*is_on),
        Value::Number(number) if number.fract() == 0.0 => {
            catalog::OptionValue::Integer(*number as i64)
        }
        Value::Number(number) => catalog::OptionValue::Number(*number),
        Value::Text(_) | Value::List(_) => catalog::OptionValue::Text(value.text()),
        Value::Nothing => return None,
    })
}

/// Dashes and underscores in names are equivalent; this is the form with underscores.
pub(crate) fn underscored(name: &str) -> String {
    name.replace('-', "_")
}

/// The form with dashes, used for the program's own options.
pub(crate) fn dashed(name: &str) -> String {
    name.replace('_', "-")
}
