//! Splits a command line into options like GNU getopt: letters in clusters, values attached or in
//! the next argument, abbreviated long names if unambiguous, options and other arguments in any
//! order.

use super::UsageError;

/// An option: its letter if any, its long name if any, and whether it has a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spec {
    pub(crate) letter: Option<char>,
    /// The long name, which identifies the option.
    pub(crate) name: &'static str,
    /// True when it has a value.
    pub(crate) takes_value: bool,
    /// The requests in which it is allowed.
    pub(crate) of: Use,
}

/// The kind of request in which an option is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// With and without `-i`.
    Both,
    /// With `-i` only.
    Initialisation,
    /// Only without `-i`.
    Run,
}

/// An option without a value.
pub(crate) const fn flag(letter: Option<char>, name: &'static str, of: Use) -> Spec {
    Spec { letter, name, takes_value: false, of }
}

/// An option with a value.
pub(crate) const fn valued(letter: Option<char>, name: &'static str, of: Use) -> Spec {
    Spec { letter, name, takes_value: true, of }
}

/// A part of the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Argument {
    /// An option with its value.
    Option(Spec, String),
    /// Anything else.
    Other(String),
}

/// Splits the arguments (without the program's name).
///
/// # Errors
/// At the first invalid option, in getopt's words. Arguments before it are not returned, because
/// nothing has been executed yet.
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

/// `-d` is `--debug` in version 15 and the name of the database since 16. Databases do not have the
/// names of options.
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
        valued(Some('c'), "client", Use::Run),
        flag(Some('n'), "no-vacuum", Use::Both),
        valued(Some('t'), "transactions", Use::Run),
        valued(None, "tablespace", Use::Initialisation),
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
    fn options_are_accepted_in_every_form_of_getopt() {
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
    fn mistakes_are_reported_as_by_getopt() {
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
