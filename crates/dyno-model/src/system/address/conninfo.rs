//! PostgreSQL's connection strings: `host=localhost port=5432 user='it\'s me'`, with a backslash in
//! front of quotes and backslashes.

use super::keys::{AddressError, Keys, Value};
use super::parameter;
use crate::mask::{MASK, is_of_password};
use crate::target::Engine;

impl Keys {
    /// Parses a connection string of PostgreSQL.
    ///
    /// # Errors
    /// When it is not a connection string, and for every parameter that is unknown or unsupported.
    /// No value is quoted in a message: it may be a password.
    pub fn of_conninfo(text: &str) -> Result<Self, Vec<AddressError>> {
        let (keys, errors) = Self::in_conninfo(text);
        if errors.is_empty() { Ok(keys) } else { Err(errors) }
    }

    /// The valid parts of a connection string, and its errors.
    pub(super) fn in_conninfo(text: &str) -> (Self, Vec<AddressError>) {
        let mut keys = Self::default();
        let mut errors = Vec::new();
        let mut rest = text.trim_start();
        let mut is_secret = false;
        let at = |rest: &str| text.len() - rest.len();
        while !rest.is_empty() {
            let (name, after) = rest.split_once('=').unwrap_or((rest, ""));
            let word = name.split_whitespace().next().unwrap_or_default();
            if name.len() == rest.len() || word.len() < name.trim_end().len() {
                // After a password it may be the rest of the password.
                let word = if is_secret { MASK } else { word };
                let message = format!("missing \"=\" after \"{word}\" in connection info string");
                let error = AddressError::new(at(rest)..text.len(), message, "write KEY=VALUE");
                errors
                    .push(AddressError { is_password: is_secret || is_of_password(word), ..error });
                break;
            }
            is_secret = is_of_password(word);
            let begin = after.trim_start();
            let Some((value, after)) = value(begin) else {
                let message = "unterminated quoted string in connection info string";
                errors.push(AddressError::new(
                    at(begin)..text.len(),
                    message,
                    "write `'` at its end",
                ));
                break;
            };
            let range = at(rest)..at(after);
            let value = Value { name: word.to_owned(), text: value, range: range.clone() };
            parameter::take(&mut keys, Engine::OF_CONNECTION_STRINGS, value, range, &mut errors);
            rest = after.trim_start();
        }
        (keys, errors)
    }
}

/// True when a text is a connection string, valid or not, and neither a URL nor the name of a spec.
pub(super) fn is_conninfo(text: &str) -> bool {
    let name = text.split_once('=').map_or("", |(name, _)| name.trim());
    !name.is_empty()
        && name.bytes().all(|c| c.is_ascii_lowercase() || c == b'_')
        && !text.ends_with(".toml")
}

/// A value and the rest of the text; `None` when its quotes are not closed.
fn value(text: &str) -> Option<(String, &str)> {
    let is_quoted = text.starts_with('\'');
    let mut value = String::new();
    let mut characters = text.char_indices().skip(usize::from(is_quoted));
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
            '\'' if is_quoted => return Some((value, &text[at + 1..])),
            blank if blank.is_whitespace() && !is_quoted => return Some((value, &text[at..])),
            other => value.push(other),
        }
    }
    (!is_quoted).then_some((value, ""))
}
