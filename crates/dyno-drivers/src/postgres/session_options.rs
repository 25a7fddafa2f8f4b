//! Settings of a session as libpq's variable `PGOPTIONS` and its key `options` have them.

/// The statement for the name of `PGAPPNAME`, under which servers show a session.
#[must_use]
pub fn application_name(name: &str) -> String {
    format!("SET application_name = '{}'", name.replace('\'', "''"))
}

/// `-c name=value` and `--name=value`, as statements for the beginning of a session.
///
/// # Errors
/// In words, when there is something else than settings.
pub fn statements(options: &str) -> Result<Vec<String>, String> {
    let mut statements = Vec::new();
    let mut words = words(options).into_iter();
    while let Some(word) = words.next() {
        let setting = match word.strip_prefix("--") {
            Some(long) => Some(long.to_owned()),
            None if word == "-c" => words.next(),
            None => word.strip_prefix("-c").map(str::to_owned),
        };
        let pair = setting.as_deref().and_then(|setting| setting.split_once('='));
        let Some((name, value)) = pair else {
            return Err(format!(
                "of connection options only settings (-c name=value) are taken, not \"{word}\""
            ));
        };
        statements.push(format!("SET {} = '{}'", name.replace('-', "_"), value.replace('\'', "''")));
    }
    Ok(statements)
}

/// Words between blanks; a backslash takes the next character into a word.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_become_statements_and_other_options_are_refused() {
        let options = "-c default_transaction_isolation=repeatable\\ read --lock-timeout=5s -cwork_mem=1MB";
        let expected = [
            "SET default_transaction_isolation = 'repeatable read'",
            "SET lock_timeout = '5s'",
            "SET work_mem = '1MB'",
        ];
        assert_eq!(statements(options), Ok(expected.map(str::to_owned).to_vec()));
        assert_eq!(application_name("it's"), "SET application_name = 'it''s'");
        assert!(statements("-d 5").is_err_and(|error| error.contains("\"-d\"")));
    }
}
