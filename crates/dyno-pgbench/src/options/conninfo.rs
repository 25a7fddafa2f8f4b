//! PostgreSQL's connection strings: `host=localhost port=5432 user='it''s me'`, with a backslash in front of quotes and backslashes.

use super::UsageError;

/// Cuts a connection string into keys and values.
///
/// # Errors
/// When it is none. No value is quoted in the message: it may be a password.
pub fn parse(text: &str) -> Result<Vec<(String, String)>, UsageError> {
    let mut pairs = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let Some((key, after)) = rest.split_once('=') else {
            let word = rest.split_whitespace().next().unwrap_or_default();
            return Err(UsageError::new(format!("missing \"=\" after \"{word}\" in connection info string")));
        };
        let key = key.trim_end();
        let (value, after) = value(after.trim_start())
            .ok_or_else(|| UsageError::new("unterminated quoted string in connection info string"))?;
        pairs.push((key.to_owned(), value));
        rest = after.trim_start();
    }
    Ok(pairs)
}

/// A value and what follows it; `None` when its quotes do not end.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_may_be_quoted_and_escaped() {
        let pairs = parse(r"host = localhost port=5432 user='a b' password='it\'s \\' dbname=x\ y").unwrap();
        let shown: Vec<String> = pairs.into_iter().map(|(key, value)| format!("{key}:{value}")).collect();
        assert_eq!(shown, ["host:localhost", "port:5432", "user:a b", r"password:it's \", "dbname:x y"]);
        assert!(parse("host").is_err());
        assert!(parse("host='x").is_err());
        assert_eq!(parse("  "), Ok(Vec::new()));
    }
}
