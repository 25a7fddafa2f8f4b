//! Config files: one `name=value` per line. Names are trimmed, lines that begin with `#`, `;` or
//! `[` are skipped, and an unquoted value ends at a blank or `#`.

use super::arguments::Argument;
use super::definition::underscored;

/// The options of a file, in order.
pub(crate) fn arguments(text: &str, file: &str) -> Vec<Argument> {
    text.lines()
        .enumerate()
        .filter_map(|(index, line)| argument(line.trim(), &format!("{file}:{}", index + 1)))
        .collect()
}

fn argument(line: &str, location: &str) -> Option<Argument> {
    if line.is_empty() || line.starts_with(['#', ';', '[']) {
        return None;
    }
    let (name, value) = match line.split_once('=') {
        Some((name, value)) => (name, Some(unquoted(value.trim_start()).to_owned())),
        None => (line.split(['#', ' ', '\t']).next().unwrap_or(line), None),
    };
    let name = name.trim().trim_start_matches("--");
    Some(Argument {
        name: underscored(name),
        value,
        typed: format!("--{name}"),
        location: Some(location.to_owned()),
    })
}

fn unquoted(value: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some(rest) = value.strip_prefix(quote) {
            return rest.split(quote).next().unwrap_or(rest);
        }
    }
    value.split(|char: char| char == '#' || char.is_whitespace()).next().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_trimmed_and_comments_and_sections_skipped() {
        let text = "# a = b\n[mysql]\n\nmysql-db = bench # mine\nmysql-user=\"q r\"\ndebug\n--threads=3\nmysql-host=a,b\n";
        let read: Vec<(String, Option<String>)> =
            arguments(text, "f").into_iter().map(|it| (it.name, it.value)).collect();
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            read,
            [
                ("mysql_db".to_owned(), some("bench")),
                ("mysql_user".to_owned(), some("q r")),
                ("debug".to_owned(), None),
                ("threads".to_owned(), some("3")),
                ("mysql_host".to_owned(), some("a,b")),
            ]
        );
    }

    #[test]
    fn every_option_knows_its_line() {
        assert_eq!(arguments("\nx=1\n", "my.conf")[0].location.as_deref(), Some("my.conf:2"));
    }
}
