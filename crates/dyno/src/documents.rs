//! Tests that README, guide and the other pages agree with the program: command lines parse, TOML
//! blocks are specs or parts of one, and defaults, names and messages are those of the code.

use crate::cli::Cli;
use crate::workload::catalog;
use clap::Parser;
use clap::error::ErrorKind;
use dyno_model::address::Address;
use dyno_model::plan::Plan;
use dyno_model::spec::keys::SECTIONS;
use dyno_model::spec::{Input, parse};
use dyno_testkit::repository;
use std::path::Path;
use toml::{Table, Value};

/// Blocks of code in a language.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    text.split(&fence)
        .skip(1)
        .filter_map(|rest| rest.split("\n```").next().map(str::to_owned))
        .collect()
}

/// Splits a line into words as a shell does, up to a comment, a redirection or the next command.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut is_word) = (Vec::new(), String::new(), None, false);
    for letter in line.chars() {
        match (quote, letter) {
            (None, '\'' | '"') => (quote, is_word) = (Some(letter), true),
            (Some(open), close) if open == close => quote = None,
            (None, '#') if !is_word => break,
            (None, '>' | '&' | '|' | ';') => break,
            (None, ' ') if is_word => {
                words.push(std::mem::take(&mut word));
                is_word = false;
            }
            (None, ' ') => {}
            _ => {
                word.push(letter);
                is_word = true;
            }
        }
    }
    words.extend(is_word.then_some(word));
    words
}

/// Every page for users, and the commands' help from the reference.
fn pages() -> Vec<String> {
    let mut pages = repository::pages(&["docs", "docs/experiments", "docs/reference"]);
    pages.extend(["README.md", "CONTRIBUTING.md"].map(str::to_owned));
    pages
}

/// Code lines of a page, and code spans in its sentences.
fn code(page: &str) -> Vec<String> {
    let mut code = Vec::new();
    for (i, part) in page.split("```").enumerate() {
        if i % 2 == 1 {
            let lines = part.split_once('\n').map_or("", |(_, lines)| lines);
            let whole: Vec<&str> = lines.split("\\\n").map(str::trim_start).collect();
            code.extend(whole.join(" ").lines().map(|line| line.trim().to_owned()));
        } else {
            code.extend(part.split('`').skip(1).step_by(2).map(|piece| piece.replace('\n', " ")));
        }
    }
    code
}

/// A dyno command line on a page. Placeholders (`NAME`, `...`) are not replaced.
fn command_line(code: &str) -> Option<Vec<String>> {
    let line = code.replace("cargo run --release -- ", "dyno ");
    // In help, a description follows after several blanks.
    let line = line.split("   ").next().unwrap_or_default();
    let words = words(line.trim_start_matches("$ "));
    let is_command = words.len() > 1 && words[0] == "dyno" && !code.contains("...");
    // Usage lines have brackets, and a sentence may name a program with its version.
    let is_usage = words
        .iter()
        .any(|word| word.starts_with('[') || word.starts_with('<') || word == "VERSION");
    // The beginning of a message.
    let is_sentence = words.get(1).is_some_and(|word| word == "runs");
    (is_command && !is_usage && !is_sentence).then_some(words)
}

#[test]
fn every_documented_command_line_is_accepted_by_dyno() {
    let mut known = 0;
    let mut wrong = Vec::new();
    for name in pages() {
        for code in code(&repository::text(&name)) {
            let Some(words) = command_line(&code) else { continue };
            known += 1;
            // A sentence may name a command without its arguments; its help and version are not
            // errors.
            let names = [
                ErrorKind::MissingRequiredArgument,
                ErrorKind::DisplayHelp,
                ErrorKind::DisplayVersion,
            ];
            if let Err(error) = Cli::try_parse_from(&words)
                && !names.contains(&error.kind())
            {
                wrong.push(format!("{name}: {code}\n{error}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(known > 100, "{known} lines");
}

/// Context that a part of a spec may need: one of several systems, workloads and loads.
const SYSTEMS: [&str; 5] = [
    "name = \"MySQL\"\nserver = { kind = \"mysql\" }",
    "name = \"Ours\"\nserver = { kind = \"postgres\" }",
    "name = \"Ours\"\nserver = { kind = \"ndb\" }",
    "name = \"Ours\"\nserver = { kind = \"galera\" }",
    "name = \"Ours\"\nurl = \"postgres://me@localhost/shop\"",
];
const WORKLOADS: [&str; 4] = [
    "kind = \"oltp_read_write\"",
    "kind = \"sql\"\nscripts = [\"pay.sql\", \"new-order.sql\", \"read.sql\"]",
    "kind = \"rush\"",
    "kind = \"mass-insert\"",
];
const LOADS: [&str; 3] = [
    "clients = [1, 8]\nduration = \"30s\"",
    "clients = [1, 8]\n[[load.stages]]\nname = \"spike\"\nduration = \"1s\"\nrate = \"100/s\"",
    "clients = [1, 8]",
];

/// All combinations of such context.
fn surroundings() -> Vec<String> {
    let mut all = Vec::new();
    for load in LOADS {
        for system in SYSTEMS {
            for workload in WORKLOADS {
                all.push(format!(
                    "title = \"t\"\n[[system]]\n{system}\n[workload]\n{workload}\n[load]\n{load}\n[design]\nblocks = 3\n"
                ));
            }
        }
    }
    all
}

/// The spec of a block, completed with this context. Keys outside any table belong to a system.
fn whole(block: &str, around: &str) -> String {
    let part: Table = block.parse().unwrap_or_else(|error| panic!("{block}\n{error}"));
    let mut spec: Table = around.parse().expect("it is TOML");
    let is_top = |key: &str| dyno_model::spec::keys::TOP.keys.iter().any(|known| known.name == key);
    let (top, of_system): (Table, Table) = part.into_iter().partition(|(key, _)| is_top(key));
    for (key, value) in top {
        match (spec.get_mut(&key), value) {
            (Some(Value::Table(around)), Value::Table(part)) => around.extend(part),
            (_, value) => drop(spec.insert(key, value)),
        }
    }
    if !of_system.is_empty() {
        let mut system = Table::from_iter([("name".to_owned(), Value::from("Ours"))]);
        system.extend(of_system);
        spec.insert("system".to_owned(), Value::Array(vec![Value::Table(system)]));
    }
    toml::to_string(&spec).expect("it was TOML")
}

#[test]
fn every_block_of_toml_in_readme_and_guide_is_a_spec_or_a_part_of_one() {
    let blocks: Vec<String> =
        pages().iter().flat_map(|page| blocks(&repository::text(page), "toml")).collect();
    assert!(blocks.len() > 20, "{} blocks", blocks.len());
    for block in blocks {
        let mut first = None;
        let is_taken = surroundings().iter().any(|around| {
            let text = whole(&block, around);
            let refusal = refusal(&text);
            let is_right = refusal.is_none();
            first = first.take().or(refusal.map(|errors| format!("{text}\n{errors}")));
            is_right
        });
        assert!(
            is_taken,
            "{block}\nis with nothing around it a spec; the first try:\n{}",
            first.unwrap_or_default()
        );
    }
}

/// The errors of a spec, if any.
fn refusal(text: &str) -> Option<String> {
    plan(text).err()
}

/// The plan of a spec, or its errors. The files it names exist.
fn plan(text: &str) -> Result<Plan, String> {
    let script = |file: &Path, _: dyno_model::spec::TextKind| {
        Ok(match file.extension().and_then(|extension| extension.to_str()) {
            Some("csv") => "seconds,rate\n0,10\n60,20\n".to_owned(),
            _ => "SELECT 1;".to_owned(),
        })
    };
    let variable = |_: &str| Some("postgres://me@localhost/shop".to_owned());
    let input = Input {
        file_name: "guide.toml",
        text,
        variable: Some(variable),
        script: Some(script),
        ..Input::default()
    };
    parse(input, &catalog()).map(|(_, plan)| plan).map_err(|errors| errors.to_string())
}

/// The TOML value of a default that a page writes as code or as a number; `None` for prose.
fn literal(text: &str) -> Option<Value> {
    let code = text
        .strip_prefix('`')
        .and_then(|text| text.strip_suffix('`'))
        .filter(|code| !code.contains('`'));
    let text = code.or_else(|| text.parse::<i64>().is_ok().then_some(text))?;
    if text.contains('.') {
        return None; // another key
    }
    let text = text.trim_matches('"');
    Some(match (text.parse::<i64>(), text.parse::<bool>()) {
        (Ok(number), _) => Value::from(number),
        (_, Ok(word)) => Value::from(word),
        _ => Value::from(text),
    })
}

/// Specs that together contain every section of the reference.
const WHOLE: [&str; 8] = [
    "[[system]]\nname = \"S\"\nserver = { kind = \"mariadb\" }\n[workload]\nkind = \
     \"rush\"\n[load]\nclients = 1\nduration = \"9s\"\nrate = \"9/s\"\n\
     [design]\n[[fault]]\nat = \"1s\"\naction = \"kill\"\n[[limit]]\np99 = \"< \
     1s\"\n[[published]]\nsource = \"s\"\nseries = \"s\"\n\
     metric = \"throughput\"\nclients = [1]\nvalues = [1]\n[launcher]\naddress = \"h\"\n",
    "[[system]]\nname = \"S\"\nurl = \"postgres://u@h/d\"\ndata = \"existing\"\nhooks = { restart \
     = \"true\" }\n[workload]\nkind = \"sql\"\n\
     scripts = [{ file = \"a.sql\" }]\n[load]\nclients = 1\nduration = \"1s\"\nfind = { while = \
     \"p99 < 1s\" }\n",
    "[[system]]\nname = \"S\"\nurl = \"mysql://u@h/d\"\n[workload]\nkind = \
     \"rush\"\n[load]\nclients = 1\ntransactions = 9\n",
    "[[system]]\nname = \"S\"\nurl = \"http://h/\"\n[workload]\nkind = \"http\"\nrequest = [{ name \
     = \"r\", path = \"/\" }]\n[load]\nclients = 1\nduration = \"1s\"\n",
    "[[system]]\nname = \"S\"\nserver = { kind = \"postgres-replica\" }\n[workload]\nkind = \
     \"rush\"\n[load]\nclients = 1\nduration = \"1s\"\n",
    "[[system]]\nname = \"S\"\nserver = { kind = \"mariadb\" }\n[workload]\nkind = \
     \"crud\"\n[load]\nclients = 1\nduration = \"1s\"\n\
     [factors]\nstorage = [\"d\"]\nendpoint = [\"e\"]\n[[storage]]\nname = \"d\"\ndata = \
     \"/d\"\n[[endpoint]]\nname = \"e\"\n\
     application = { kind = \"tomcat\", war = \"a.war\" }\n",
    "[[system]]\nname = \"S\"\nserver = { kind = \"mariadb\" }\n[workload]\nkind = \
     \"rush\"\n[load]\nclients = 1\nduration = \"1s\"\n\
     [[background]]\nname = \"b\"\nworkload = { kind = \"crud\" }\n",
    "[[system]]\nname = \"S\"\nurl = \"mysql://u@h/d\"\n[workload]\nkind = \
     \"rush\"\n[load]\nclients = 2\nduration = \"1s\"\ngenerators = 2\n\
     [launcher]\nkind = \"kubernetes\"\n",
];

/// The table of a section in a spec, if present.
fn table<'a>(spec: &'a mut Table, heading: &str) -> Option<&'a mut Table> {
    let path = match heading {
        "server" | "hooks" | "monitor" => format!("system.{heading}"),
        "proxy" | "application" => format!("endpoint.{heading}"),
        heading => heading.trim_matches(['[', ']']).to_owned(),
    };
    path.split('.').filter(|name| !name.is_empty()).try_fold(spec, |table, name| {
        match table.get_mut(name)? {
            Value::Table(table) => Some(table),
            Value::Array(tables) => tables.first_mut()?.as_table_mut(),
            _ => None,
        }
    })
}

#[test]
fn a_default_of_the_reference_that_is_written_out_changes_nothing() {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for section in SECTIONS {
        for (key, value) in section.keys.iter().filter_map(|key| Some((key, literal(key.default)?)))
        {
            let mut tried = 0;
            for base in WHOLE {
                let mut spec: Table = format!("title = \"t\"\n{base}").parse().expect("it is TOML");
                let base = toml::to_string(&spec).expect("it was TOML");
                let expected = plan(&base).unwrap_or_else(|errors| panic!("{base}\n{errors}"));
                let Some(section_table) = table(&mut spec, section.heading) else { continue };
                if section_table.contains_key(key.name) {
                    continue;
                }
                section_table.insert(key.name.to_owned(), value.clone());
                // A key may require another key, which one of the specs contains.
                let Ok(written) = plan(&toml::to_string(&spec).expect("it was TOML")) else {
                    continue;
                };
                tried += 1;
                if written != expected {
                    wrong.push(format!("{} {} = {value}: {base}", section.heading, key.name));
                }
            }
            checked += 1;
            if tried == 0 {
                wrong.push(format!("{} {} = {value} is taken nowhere", section.heading, key.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked > 20, "{checked}");
}

#[test]
fn guide_key_tables_match_spec_sections_and_defaults() {
    let guide = repository::text("docs/guide.md");
    let mut checked = 0;
    for table in guide.split("\n\n").filter(|part| part.contains("| key |")) {
        let rows = table.lines().skip_while(|line| !line.starts_with("| key |")).skip(2);
        let rows: Vec<Vec<&str>> =
            rows.map(|row| row.trim_matches('|').split(" | ").map(str::trim).collect()).collect();
        let names: Vec<&str> =
            rows.iter().flat_map(|row| row[0].split('`').skip(1).step_by(2)).collect();
        let section = SECTIONS.iter().find(|section| {
            names.iter().all(|name| section.keys.iter().any(|key| key.name == *name))
        });
        let section = section.unwrap_or_else(|| panic!("no section has all of {names:?}"));
        for row in rows.iter().filter(|row| row.len() == 3) {
            let name = row[0].trim_matches('`');
            let key = section.keys.iter().find(|key| key.name == name).expect("found above");
            if let Some(value) = literal(row[1]) {
                assert_eq!(Some(value), literal(key.default), "{name}");
                checked += 1;
            }
        }
    }
    assert!(checked >= 3, "{checked}");
}

#[test]
fn the_guide_names_every_workload_and_no_other() {
    let guide = repository::text("docs/guide.md");
    let (_, rest) =
        guide.split_once("| workload | one transaction |\n|---|---|\n").expect("the table");
    let (rows, _) = rest.split_once("\n\n").expect("its end");
    let mut reported: Vec<&str> = rows
        .lines()
        .flat_map(|row| row.split(" | ").next().unwrap_or_default().split('`').skip(1).step_by(2))
        .collect();
    let catalog = catalog();
    let mut known: Vec<&str> = catalog.iter().map(|workload| workload.name).collect();
    reported.sort_unstable();
    known.sort_unstable();
    assert_eq!(reported, known);
}

#[test]
fn parameters_of_addresses_in_the_guide_are_taken_as_they_stand_there() {
    let guide = repository::text("docs/guide.md");
    let (_, rest) = guide.split_once("| parameter | meaning |\n|---|---|\n").expect("the table");
    let (rows, _) = rest.split_once("\n\n").expect("its end");
    let mut taken = 0;
    for piece in rows
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|piece| piece.contains('=') && !piece.contains("://"))
    {
        for parameters in piece.split("`, `") {
            let parameters = parameters
                .replace("FILE", "/f")
                .replace("SECONDS", "3")
                .replace("%3DVALUE", "%3Doff")
                .replace("NAME", "n");
            // Keys that require another key get it.
            let beside = if parameters.contains("cert") || parameters.contains("key") {
                "&sslmode=require&sslcert=/c&sslkey=/k"
            } else {
                ""
            };
            let beside = beside.split('&').filter(|beside| {
                !beside.is_empty()
                    && !parameters
                        .replace('-', "")
                        .starts_with(beside.split('=').next().unwrap_or_default())
            });
            let url = beside
                .fold(format!("postgres://u@localhost/d?{parameters}"), |url, beside| {
                    format!("{url}&{beside}")
                });
            let url = url
                .replace("verify-ca", "verify-ca&sslrootcert=/f")
                .replace("VERIFY_CA", "VERIFY_CA&sslrootcert=/f");
            let target = Address::of_url(&url).target();
            assert!(target.is_ok(), "{url}: {:?}", target.err());
            taken += 1;
        }
    }
    assert!(taken > 15, "{taken}");
}

#[test]
fn the_mistake_that_the_guide_shows_is_reported_in_these_words() {
    let shown = blocks(&repository::text("docs/guide.md"), "text")
        .into_iter()
        .find(|block| block.contains("qurey_mode"));
    let text = "title = \"t\"\n\n[[system]]\nname = \"A\"\nserver = { kind = \"sqlite\" \
                }\n\n[[system]]\nname = \"B\"\nurl = \"sqlite:b.db\"\nqurey_mode = \"prepared\"\n\
                [workload]\nkind = \"rush\"\n[load]\nclients = 1\nduration = \"1s\"\n";
    let errors = parse(Input { file_name: "bad.toml", text, ..Input::default() }, &catalog())
        .expect_err("it is wrong");
    assert_eq!(errors.render_plain().trim_end(), shown.expect("it is shown"));
}

/// The sources without tests; strings that span several lines are joined.
fn sources() -> String {
    let crates = repository::root().join("crates");
    let mut text = String::new();
    for path in repository::files(&crates, "rs") {
        let mut within = path.strip_prefix(&crates).expect("it lies there").iter();
        if !within.any(|part| part == "tests" || part == "documents.rs") {
            text.push_str(&std::fs::read_to_string(&path).expect("text"));
        }
    }
    let parts: Vec<&str> = text.split("\\\n").map(str::trim_start).collect();
    parts.concat().replace("\\\"", "\"")
}

#[test]
fn messages_that_the_guide_explains_are_those_of_the_program() {
    let guide = repository::text("docs/guide.md");
    let (_, rest) =
        guide.split_once("| message | reason and remedy |\n|---|---|\n").expect("the table");
    let sources = sources();
    let mut checked = 0;
    for row in rest.lines() {
        let message = row.trim_start_matches("| ").split(" | ").next().unwrap_or_default();
        for code in message.split('`').skip(1).step_by(2) {
            // The words of the message separate its values.
            let is_value = |word: &str| {
                word.starts_with("...")
                    || word.starts_with('"')
                    || word.contains("://")
                    || word.parse::<u32>().is_ok()
                    || KINDS.contains(&word)
            };
            // The text after a colon may come from another program.
            let words: Vec<&str> = code.split(' ').collect();
            let pieces = words
                .split(|word| is_value(word))
                .flat_map(|words| words.split_inclusive(|word| word.ends_with(':')));
            for words in pieces.filter(|words| !words.is_empty()) {
                let words = words.join(" ").trim_end_matches(['.', ';', ',', ':']).to_owned();
                checked += 1;
                assert!(
                    sources.contains(&words),
                    "no message of the program has the words `{words}` of: {message}"
                );
            }
        }
    }
    assert!(checked > 25, "{checked}");
}

/// Values in messages quoted by the guide.
const KINDS: [&str; 3] = ["mysql", "mariadb", "SQLite"];
