//! What an option is: its name, type, default and help.

use dyno_model::catalog;

pub(crate) use dyno_lua::{BadValue, OptionKind as Kind, OptionValue as Value};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Definition {
    /// Name with underscores.
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) default: Value,
    /// The default as help shows it in brackets; `None` shows no brackets.
    pub(crate) shown_default: Option<String>,
    pub(crate) help: String,
}

/// A value as plans and records have it; none where there is none.
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

/// Names are the same with dashes and underscores; this is the form with underscores.
pub(crate) fn underscored(name: &str) -> String {
    name.replace('-', "_")
}

/// The form with dashes, as the program's own options are shown.
pub(crate) fn dashed(name: &str) -> String {
    name.replace('_', "-")
}
