//! Help texts: all options without a script, and the options of one script.

use super::definition::{Definition, Kind, Value, dashed};
use super::registry;

/// Scripts search this text for drivers.
const DRIVERS: &str = "Compiled-in database drivers:\n  mysql - MySQL driver\n  pgsql - PostgreSQL \
                       driver\n  sqlite - SQLite, in this process\n\n";

/// `--help`.
pub(crate) fn general() -> String {
    let mut text = String::from(
        "Usage:\n  sysbench [options]... [testname] [command]\n\n\
         Commands implemented by most tests: prepare run cleanup help\n\n",
    );
    for group in registry::GROUPS {
        let definitions: Vec<Definition> =
            group.definitions().filter(|definition| definition.name != "test").collect();
        text.push_str(&format!("{}:\n{}\n", group.title, table(&definitions)));
        if group.title == registry::DATABASE.title {
            text.push_str(DRIVERS);
        }
    }
    text.push_str("Bundled tests:\n");
    for name in crate::bundled::bundled() {
        text.push_str(&format!("  {name}\n"));
    }
    text.push_str("\nSee 'sysbench <testname> help' for a list of options for each test.\n\n");
    text
}

/// The options of a script, sorted by name, under the script's name as given.
pub(crate) fn script(name: &str, definitions: &[Definition]) -> String {
    let mut sorted: Vec<Definition> = definitions.to_vec();
    sorted.sort_by(|a, b| a.name.cmp(&b.name));
    format!("{name} options:\n{}\n", table(&sorted))
}

/// One line per option: name with its type, help, and the default in brackets. Names are padded to
/// the longest.
fn table(definitions: &[Definition]) -> String {
    let left: Vec<String> =
        definitions.iter().map(|it| format!("--{}{}", shown_name(it), hint(it.kind))).collect();
    let width = left.iter().map(String::len).max().unwrap_or(0);
    definitions
        .iter()
        .zip(left)
        .map(|(definition, left)| {
            let default = match &definition.shown_default {
                Some(text) => format!(" [{text}]"),
                None => String::new(),
            };
            format!("  {left:width$} {}{default}\n", definition.help)
        })
        .collect()
}

/// The type hint after the name.
fn hint(kind: Kind) -> &'static str {
    match kind {
        Kind::Boolean => "[=on|off]",
        Kind::Integer | Kind::Decimal | Kind::Double => "=N",
        Kind::Size => "=SIZE",
        Kind::Text => "=STRING",
        Kind::List => "=[LIST,...]",
        Kind::File => "=FILENAME",
        Kind::Switch => "[=STRING]",
    }
}

/// Options of the program are shown with dashes, those of scripts as declared.
fn shown_name(definition: &Definition) -> String {
    if registry::is_registered(&definition.name) {
        dashed(&definition.name)
    } else {
        definition.name.clone()
    }
}

/// The default of a script's option as shown in the help: booleans as on and off, nothing without a
/// default.
pub(crate) fn shown_default(default: &Value) -> Option<String> {
    (*default != Value::Nothing).then(|| default.text())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(name: &str, kind: Kind, default: Value, help: &str) -> Definition {
        Definition {
            name: name.into(),
            kind,
            shown_default: shown_default(&default),
            default,
            help: help.into(),
        }
    }

    #[test]
    fn options_of_a_script_are_listed_as_in_sysbench() {
        let definitions = [
            definition("c", Kind::Text, Value::Text("x".into()), "C"),
            definition("b", Kind::Boolean, Value::Boolean(true), "B opt"),
            definition("a", Kind::Double, Value::Number(1.0), "A opt"),
            definition("d", Kind::List, Value::List(vec!["p".into(), "q".into()]), "D"),
            definition("e", Kind::Text, Value::Nothing, "E"),
            definition("f", Kind::Integer, Value::Nothing, "F"),
        ];
        assert_eq!(
            script("opt.lua", &definitions),
            "opt.lua options:\n  --a=N          A opt [1]\n  --b[=on|off]   B opt [on]\n  --c=STRING     C [x]\n  \
             --d=[LIST,...] D [p,q]\n  --e=STRING     E\n  --f=N          F\n\n"
        );
    }

    #[test]
    fn help_names_every_option_and_every_bundled_test() {
        let text = general();
        for name in
            ["--threads=N", "--mysql-host=[LIST,...]", "--histogram[=on|off]", "oltp_read_write"]
        {
            assert!(text.contains(name), "{name}");
        }
    }
}
