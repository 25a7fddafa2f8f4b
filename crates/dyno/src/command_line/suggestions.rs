//! Suggestions for command lines that are not understood: commands left out, and options of
//! pgbench, sysbench and others that have another name here.

use crate::cli::Cli;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Error};
use dyno_model::words::equivalent;
use std::ffi::OsString;

/// Where addresses and accounts belong.
const ADDRESS: &str = "the URL: postgres://USER:PASSWORD@HOST:PORT/DATABASE";

/// Options of other programs: a word that stands for its synonyms ([`equivalent`]), further
/// spellings, and what replaces them in `dyno run` and `dyno plan`. The first match applies.
const OPTIONS: [(&str, &[&str], &str); 13] = [
    ("scripts", &["-f", "-e", "--sql", "--query"], "--script FILE"),
    ("duration", &["-T"], "--duration TIME, for example 10s or 5m"),
    (
        "clients",
        &["-c", "--client", "--num-threads"],
        "--clients N, or several numbers: --clients 1,8,64",
    ),
    ("jobs", &["-j"], "--clients N for the load; dyno chooses the number of its threads"),
    ("rate", &["-R", "--tx-rate"], "--rate RATE, for example 500/s"),
    ("transactions", &["-t", "--iterations"], "--set load.transactions=N"),
    ("blocks", &[], "--blocks N"),
    ("output", &["-o"], "--out DIR"),
    ("workload", &["-b", "--builtin"], "--workload NAME; `dyno workloads` lists them"),
    ("scale", &["-s"], "-D scale=N for a variable of scripts, or --set workload.OPTION=N"),
    ("query_mode", &["-M"], "--set system.NAME.query_mode=simple"),
    ("table_size", &["--tables"], "--set workload.tables=N, --set workload.table_size=N"),
    (
        "url",
        &[
            "-U",
            "--username",
            "-u",
            "--password",
            "-p",
            "-P",
            "-W",
            "-d",
            "--dbname",
            "--db",
            "--socket",
        ],
        ADDRESS,
    ),
];

/// Replaces the suggestions of an error where better ones are known.
pub(crate) fn improve(error: &mut Error, arguments: &[OsString]) {
    let text = |error: &Error, kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    };
    let suggestion = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            keep_visible(error);
            for_command(&text(error, ContextKind::InvalidSubcommand))
        }
        ErrorKind::UnknownArgument => {
            let is_of_experiments = arguments.get(1).is_some_and(|it| it == "run" || it == "plan");
            let found = for_option(&text(error, ContextKind::InvalidArg), is_of_experiments);
            if found.is_some() {
                error.remove(ContextKind::SuggestedArg);
            } else {
                keep_options(error);
            }
            found
        }
        _ => None,
    };
    if let Some(suggestion) = suggestion {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![suggestion.into()]));
    }
}

/// Leaves hidden commands out of the suggestions.
fn keep_visible(error: &mut Error) {
    let names = match error.remove(ContextKind::SuggestedSubcommand) {
        Some(ContextValue::Strings(names)) => names,
        Some(ContextValue::String(name)) => vec![name],
        _ => return,
    };
    let command = Cli::command();
    let is_visible =
        |name: &String| command.find_subcommand(name).is_some_and(|it| !it.is_hide_set());
    let names: Vec<String> = names.into_iter().filter(is_visible).collect();
    if !names.is_empty() {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(names));
    }
}

/// Leaves out clap's advice to pass an option after `--`: no command takes values that look like
/// options.
fn keep_options(error: &mut Error) {
    if let Some(ContextValue::StyledStrs(mut all)) = error.remove(ContextKind::Suggested) {
        all.retain(|it| !it.to_string().starts_with("to pass "));
        if !all.is_empty() {
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(all));
        }
    }
}

/// `dyno run` when the first argument is an address or a spec instead of a command, and
/// `dyno sysbench` when it is a test of sysbench.
fn for_command(word: &str) -> Option<String> {
    let command = match word {
        _ if word.contains("://") || word.ends_with(".toml") => "run",
        _ if word.starts_with("oltp_") || word.ends_with(".lua") => "sysbench",
        _ => return None,
    };
    Some(format!("dyno {command} {word}"))
}

/// The option of dyno that replaces an option of another program.
fn for_option(option: &str, is_of_experiments: bool) -> Option<String> {
    if option.starts_with('-') && option[1..].starts_with(|c: char| c.is_ascii_digit() || c == '.')
    {
        return Some("this option takes no negative number".to_owned());
    }
    let is_address = option.starts_with("--mysql-") || option.starts_with("--pgsql-");
    let word = option.trim_start_matches('-');
    let fits = |(meaning, spellings, _): &&(&str, &[&str], &str)| {
        spellings.contains(&option) || equivalent(word, [*meaning]).is_some()
    };
    let named = OPTIONS.iter().find(fits).map(|(.., it)| *it);
    let here = named.or_else(|| is_address.then_some(ADDRESS))?;
    is_of_experiments.then(|| format!("use {here}"))
}

#[cfg(test)]
mod tests {
    use dyno_model::limit::LimitMetric;
    use dyno_model::spec::keys::SECTIONS;
    use dyno_model::words::{SYNONYMS, nearest};

    #[test]
    fn every_synonym_leads_to_a_word_that_exists() {
        let catalog = crate::catalog();
        let options = catalog.iter().flat_map(|workload| &workload.options);
        let mut known: Vec<&str> = options.map(|option| option.name).collect();
        known.extend(catalog.iter().map(|workload| workload.name));
        known.extend(SECTIONS.iter().flat_map(|section| section.keys).map(|key| key.name));
        known.extend(LimitMetric::ALL.map(LimitMetric::name));
        for (word, synonyms) in SYNONYMS {
            assert!(known.contains(&word), "there is no `{word}`");
            for synonym in synonyms {
                assert_eq!(nearest(synonym, [word]), Some(word), "{synonym}");
            }
        }
    }
}
