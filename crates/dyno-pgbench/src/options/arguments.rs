//! Cutting a command line into options, as GNU getopt does: letters in clusters, values attached or
//! in the next argument, long names cut short as long as they are clear, options and other
//! arguments in any order.

use super::UsageError;

/// One option: its letter if it has one, its long name if it has one, and whether a value belongs
/// to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spec {
    pub(crate) letter: Option<char>,
    /// The long name; what the option is known by.
    pub(crate) name: &'static str,
    /// True when a value belongs to it.
    pub(crate) takes_value: bool,
    /// With what it may stand.
    pub(crate) of: Use,
}

/// With which kind of request an option has a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// With and without `-i`.
    Both,
    /// With `-i` only.
    Initialisation,
    /// Without it only.
    Run,
}

/// An option with or without a letter.
pub(crate) const fn spec(
    letter: Option<char>,
    name: &'static str,
    takes_value: bool,
    of: Use,
) -> Spec {
    Spec { letter, name, takes_value, of }
}

/// A piece of the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Argument {
    /// An option with its value.
    Option(Spec, String),
    /// Anything else.
    Other(String),
}

/// Cuts the arguments after the program's name.
///
/// # Errors
/// At the first argument that is no option, in getopt's words. What came before it is not returned:
/// nothing has happened yet.
pub(crate) fn cut(arguments: &[String], specs: &[Spec]) -> Result<Vec<Argument>, UsageError> {
    let mut pieces = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if argument == "--" {
            pieces.extend(rest.by_ref().cloned().map(Argument::Other));
        } else if let Some(long) = argument.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (long, None),
            };
            let spec = find(argument, name, specs)?;
            pieces.push(match (spec.takes_value, value) {
                (true, Some(value)) => Argument::Option(spec, value),
                (true, None) => match rest.next() {
                    Some(value) => Argument::Option(spec, value.clone()),
                    None => {
                        return Err(error(&format!(
                            "option '--{}' requires an argument",
                            spec.name
                        )));
                    }
                },
                (false, None) => Argument::Option(spec, String::new()),
                (false, Some(_)) => {
                    return Err(error(&format!(
                        "option '--{}' doesn't allow an argument",
                        spec.name
                    )));
                }
            });
        } else if argument.len() > 1 && argument.starts_with('-') {
            for (at, letter) in argument[1..].char_indices() {
                let Some(&spec) = specs.iter().find(|spec| spec.letter == Some(letter)) else {
                    return Err(error(&format!("invalid option -- '{letter}'")));
                };
                if !spec.takes_value {
                    pieces.push(Argument::Option(spec, String::new()));
                    continue;
                }
                let attached = &argument[1 + at + letter.len_utf8()..];
                if attached.is_empty() && spec.name == "dbname" && is_switch(rest.as_slice()) {
                    pieces.push(Argument::Option(find(argument, "debug", specs)?, String::new()));
                    break;
                }
                let value = if attached.is_empty() {
                    rest.next().map(String::as_str)
                } else {
                    Some(attached)
                };
                let Some(value) = value else {
                    return Err(error(&format!("option requires an argument -- '{letter}'")));
                };
                pieces.push(Argument::Option(spec, value.to_owned()));
                break;
            }
        } else {
            pieces.push(Argument::Other(argument.clone()));
        }
    }
    Ok(pieces)
}

/// `-d` is `--debug` in version 15 and takes the database's name since 16. No database has an
/// option's name.
fn is_switch(rest: &[String]) -> bool {
    rest.first().is_none_or(|next| next.starts_with('-'))
}

fn find(argument: &str, name: &str, specs: &[Spec]) -> Result<Spec, UsageError> {
    if let Some(spec) = specs.iter().find(|spec| spec.name == name) {
        return Ok(*spec);
    }
    let candidates: Vec<&Spec> = specs.iter().filter(|spec| spec.name.starts_with(name)).collect();
    match candidates[..] {
        [spec] => Ok(*spec),
        [] => Err(error(&format!("unrecognized option '--{name}'"))),
        _ => {
            let names: Vec<String> =
                candidates.iter().map(|spec| format!("'--{}'", spec.name)).collect();
            Err(error(&format!(
                "option '{argument}' is ambiguous; possibilities: {}",
                names.join(" ")
            )))
        }
    }
}

/// getopt writes no `error:` after the program's name.
fn error(message: &str) -> UsageError {
    UsageError(format!("pgbench: {message}")).with_hint()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPECS: [Spec; 4] = [
        spec(Some('c'), "client", true, Use::Run),
        spec(Some('n'), "no-vacuum", false, Use::Both),
        spec(Some('t'), "transactions", true, Use::Run),
        spec(None, "tablespace", true, Use::Initialisation),
    ];

    fn shown(line: &[&str]) -> String {
        let line: Vec<String> = line.iter().map(|argument| (*argument).to_owned()).collect();
        match cut(&line, &SPECS) {
            Ok(pieces) => pieces
                .into_iter()
                .map(|piece| match piece {
                    Argument::Option(spec, value) => format!("{}={value}", spec.name),
                    Argument::Other(text) => text,
                })
                .collect::<Vec<_>>()
                .join(" "),
            Err(error) => error.0.lines().next().unwrap_or_default().to_owned(),
        }
    }

    #[test]
    fn options_may_be_written_in_all_the_ways_of_getopt() {
        for line in
            [&["-c10"][..], &["-c", "10"], &["--client=10"], &["--client", "10"], &["--cl=10"]]
        {
            assert_eq!(shown(line), "client=10");
        }
        assert_eq!(
            shown(&["-nc10", "db", "-nt", "5"]),
            "no-vacuum= client=10 db no-vacuum= transactions=5"
        );
        assert_eq!(shown(&["-n", "--", "-c"]), "no-vacuum= -c");
        assert_eq!(shown(&["-"]), "-");
    }

    #[test]
    fn mistakes_are_told_as_getopt_tells_them() {
        let cases = [
            (&["-x"][..], "pgbench: invalid option -- 'x'"),
            (&["--foo"], "pgbench: unrecognized option '--foo'"),
            (&["-c"], "pgbench: option requires an argument -- 'c'"),
            (&["--client"], "pgbench: option '--client' requires an argument"),
            (&["--no-vacuum=3"], "pgbench: option '--no-vacuum' doesn't allow an argument"),
            (
                &["--t=1"],
                "pgbench: option '--t=1' is ambiguous; possibilities: '--transactions' '--tablespace'",
            ),
        ];
        for (line, expected) in cases {
            assert_eq!(shown(line), expected);
        }
    }
}
