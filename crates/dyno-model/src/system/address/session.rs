//! Session settings in the syntax of libpq's variable `PGOPTIONS` and its key `options`.

use super::keys::{AddressError, Key, Keys};

/// Statements for the start of a session.
pub(super) fn setup(keys: &Keys) -> Result<Vec<String>, AddressError> {
    let mut setup = match keys.value(Key::Options) {
        None => Vec::new(),
        Some(value) => statements(&value.text).map_err(|word| {
            let message = format!(
                "connection options may contain only settings (-c name=value), not \"{word}\" ({})",
                value.name
            );
            AddressError::new(value.range.clone(), message, "remove it")
        })?,
    };
    // The session's name in views of the server.
    setup.extend(
        keys.text(Key::ApplicationName)
            .map(|name| format!("SET application_name = '{}'", name.replace('\'', "''"))),
    );
    Ok(setup)
}

/// `-c name=value` and `--name=value` as statements.
///
/// # Errors
/// The first word that is not such an option.
fn statements(options: &str) -> Result<Vec<String>, String> {
    let mut statements = Vec::new();
    let mut words = words(options).into_iter();
    while let Some(word) = words.next() {
        let setting = match word.strip_prefix("--") {
            Some(long) => Some(long.to_owned()),
            None if word == "-c" => words.next(),
            None => word.strip_prefix("-c").map(str::to_owned),
        };
        let pair = setting.as_deref().and_then(|setting| setting.split_once('='));
        let Some((name, value)) = pair else { return Err(word) };
        statements.push(format!(
            "SET {} = '{}'",
            name.replace('-', "_"),
            value.replace('\'', "''")
        ));
    }
    Ok(statements)
}

/// Words separated by blanks; a backslash makes the next character part of a word.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => word.extend(characters.next()),
            blank if blank.is_whitespace() => words.push(std::mem::take(&mut word)),
            other => word.push(other),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}
