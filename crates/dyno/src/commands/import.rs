//! `dyno import`: converts results of other programs into a results folder, with its report.

use crate::cli::{ImportArguments, RESULTS};
use crate::failure::Failure;
use crate::import::{COLUMNS, Hints, Named, read, write};
use crate::printer::Printer;
use dyno_model::exit_code;
use dyno_report::{Format, Note};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Reads all files, writes the folder, and prints its report.
///
/// # Errors
/// When a file cannot be read or parsed, a claim names an unknown system, or the folder cannot be
/// written. In these cases nothing is written.
pub(crate) fn import(arguments: &ImportArguments, printer: Printer) -> Result<u8, Failure> {
    let hints = hints(arguments)?;
    let mut readings = Vec::new();
    let mut named_by_file = Vec::new();
    let runs = runs(&arguments.files);
    for run in &runs {
        check(run, &runs)?;
        for reading in read(&run.files, &hints)? {
            let file = run.files[0].file_name().unwrap_or_default().to_string_lossy().into_owned();
            let system = match (run.name, &reading.system) {
                (Some(name), _) => name.to_owned(),
                (None, Some(system)) => system.clone(),
                (None, None) => {
                    let clients = reading.clients.unwrap_or_default();
                    named_by_file.push((readings.len(), (run.files[0], clients)));
                    String::new()
                }
            };
            readings.push(Named { system, file, reading });
        }
    }
    let (indexes, files): (Vec<usize>, Vec<_>) = named_by_file.into_iter().unzip();
    for (index, system) in indexes.into_iter().zip(systems_of(&files)) {
        readings[index].system = system;
    }
    let claim = arguments.claim.as_deref().map(|claim| claimed(claim, &readings)).transpose()?;
    let folder =
        write(&arguments.title, &readings, claim, arguments.out.as_deref(), Path::new(RESULTS))?;
    let model = dyno_analysis::read_model(&folder)?;
    let written = dyno_report::write(&model, &folder, &[Format::Html], arguments.language.lang)?;
    printer.result(&dyno_report::render(&model, Format::Text, arguments.language.lang))?;
    let paths: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
    printer.note(&dyno_report::note(&Note::Report { paths: &paths }, arguments.language.lang));
    let is_any_valid = readings.iter().any(|named| named.reading.is_valid());
    Ok(if is_any_valid { exit_code::OK } else { exit_code::RUN_INCOMPLETE })
}

fn hints(arguments: &ImportArguments) -> Result<Hints, Failure> {
    let mut hints = Hints { clients: arguments.clients, unit: arguments.unit, ..Hints::default() };
    for column in &arguments.column {
        let known = COLUMNS.map(|(name, _)| name);
        match column.split_once('=') {
            Some((name, theirs)) if known.contains(&name) => {
                hints.columns.insert(name.to_owned(), theirs.to_owned());
            }
            _ => {
                let text = format!(
                    "--column {column}: expected COLUMN=NAME, with one of dyno's columns and the \
                     name in the file"
                );
                return Err(Failure::new(exit_code::USAGE, text)
                    .help(format!("columns are {}", known.join(", "))));
            }
        }
    }
    Ok(hints)
}

/// The files of one argument.
struct Run<'a> {
    name: Option<&'a str>,
    files: Vec<&'a Path>,
}

/// Groups the arguments: logs of the threads of one pgbench, `LOG`, `LOG.1` and so on, form one
/// run.
fn runs(files: &[String]) -> Vec<Run<'_>> {
    let mut runs: Vec<Run<'_>> = Vec::new();
    for argument in files {
        let (name, file) = match argument.split_once('=') {
            Some((name, file)) if !name.is_empty() && !Path::new(argument).exists() => {
                (Some(name), file)
            }
            _ => (None, argument.as_str()),
        };
        let of_thread = file.rsplit_once('.').filter(|(_, thread)| thread.parse::<u32>().is_ok());
        let first = of_thread.map(|(log, _)| Path::new(log));
        let belongs = |run: &&mut Run<'_>| run.name == name && first == Some(run.files[0]);
        match runs.iter_mut().find(belongs) {
            Some(run) => run.files.push(Path::new(file)),
            None => runs.push(Run { name, files: vec![Path::new(file)] }),
        }
    }
    runs
}

/// # Errors
/// When a file is named twice, or a thread's log of the same run is missing from the arguments.
fn check(run: &Run<'_>, runs: &[Run<'_>]) -> Result<(), Failure> {
    let refused = |file: &Path, what: &str| {
        Failure::new(exit_code::USAGE, format!("{}: {what}", file.display()))
    };
    for file in &run.files {
        let is_it = |other: &&&Path| {
            other == &file
                || file
                    .canonicalize()
                    .is_ok_and(|file| other.canonicalize().is_ok_and(|other| other == file))
        };
        if runs.iter().flat_map(|run| &run.files).filter(is_it).count() > 1 && file.is_file() {
            return Err(refused(file, "named twice").help("each file is one repeat"));
        }
    }
    let second = PathBuf::from(format!("{}.1", run.files[0].display()));
    let is_log = run.files[0]
        .file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with("pgbench_log"));
    if run.files.len() == 1 && is_log && second.is_file() {
        let help = format!("name the logs of all threads, such as {}*", run.files[0].display());
        return Err(refused(
            run.files[0],
            &format!(
                "{} is the log of another thread of the same run, and must be named too",
                second.display()
            ),
        )
        .help(help));
    }
    Ok(())
}

/// Words for numbers of clients in file names.
const CLIENTS: [&str; 13] = [
    "threads",
    "thread",
    "thr",
    "thds",
    "clients",
    "client",
    "connections",
    "conns",
    "conn",
    "users",
    "vus",
    "t",
    "c",
];
/// Words for repeats in file names.
const REPEATS: [&str; 7] = ["repeat", "rep", "run", "iteration", "iter", "trial", "r"];

/// The systems of files of runs with these numbers of clients. A number at the end of names that
/// are equal otherwise is dropped where each is its number of clients (`pool-1` and `pool-8`), and
/// where they count repeats of equal clients (`pool-1`, `pool-2`, `pool-3`). Other numbers belong
/// to the name, such as those of versions.
fn systems_of(files: &[(&Path, u32)]) -> Vec<String> {
    let names: Vec<String> =
        files.iter().map(|(file, clients)| system_of(file, *clients)).collect();
    let numbered = |(name, (_, clients)): (&String, &(&Path, u32))| {
        let (stem, number) = split_last(name)?;
        Some((stem.to_owned(), number.parse::<u32>().ok()?, *clients))
    };
    let all: Vec<_> = names.iter().zip(files).map(numbered).collect();
    let without_number = |(stem, ..): &(String, u32, u32)| {
        let alike = || all.iter().flatten().filter(|(other, ..)| other == stem);
        let are_clients = alike().all(|(_, number, clients)| clients == number);
        let numbers: BTreeSet<u32> = alike().map(|(_, number, _)| *number).collect();
        let is_one_number_of_clients =
            alike().map(|(.., clients)| clients).collect::<BTreeSet<_>>().len() == 1;
        let are_repeats = is_one_number_of_clients
            && numbers.len() > 1
            && numbers.iter().copied().eq(1..=numbers.len() as u32);
        (are_clients || are_repeats).then(|| stem.clone())
    };
    let systems = names.iter().zip(&all);
    systems
        .map(|(name, it)| it.as_ref().and_then(without_number).unwrap_or_else(|| name.clone()))
        .collect()
}

/// A file's name without its suffix and without a trailing number of clients or repeat that a word
/// names: `pool` from `pool_10threads.log` and `pool-c10-run2.log`. A number that is part of a word
/// belongs to the name: `mysql8`.
fn system_of(file: &Path, clients: u32) -> String {
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut rest = name.as_str();
    if let Some((before, last)) = split_last(rest)
        && REPEATS.iter().any(|word| is_number_of(last, word, None))
    {
        rest = before;
    }
    let is_clients =
        |part: &str| CLIENTS.iter().any(|word| is_number_of(part, word, Some(clients)));
    // Number and word may be separated, in either order.
    if let Some((before, last)) = split_last(rest) {
        let above = split_last(before);
        rest = match above {
            Some((before, word)) if last == clients.to_string() && CLIENTS.contains(&word) => {
                before
            }
            Some((before, number)) if number == clients.to_string() && CLIENTS.contains(&last) => {
                before
            }
            _ if is_clients(last) => before,
            _ => rest,
        };
    }
    rest.to_owned()
}

/// A name split at its last separator; `None` if one part is empty.
fn split_last(name: &str) -> Option<(&str, &str)> {
    let (before, last) = name.rsplit_once(['-', '_', '.', ' '])?;
    let before = before.trim_end_matches(['-', '_', '.', ' ']);
    (!before.is_empty() && !last.is_empty()).then_some((before, last))
}

/// True for a word preceded or followed by a number: the given one, or any.
fn is_number_of(part: &str, word: &str, number: Option<u32>) -> bool {
    let digits = part.strip_prefix(word).or_else(|| part.strip_suffix(word));
    digits
        .and_then(|digits| digits.parse::<u32>().ok())
        .is_some_and(|found| number.is_none_or(|number| number == found))
}

/// The systems of `A is faster than B`, as positions among all systems in order of first
/// appearance.
fn claimed(claim: &str, readings: &[Named]) -> Result<(usize, usize), Failure> {
    let mut systems: Vec<&str> = Vec::new();
    for Named { system, .. } in readings {
        if !systems.contains(&system.as_str()) {
            systems.push(system);
        }
    }
    let help = || format!("write 'A is faster than B'; systems: {}", systems.join(", "));
    let refused = |what: String| {
        Failure::new(exit_code::USAGE, format!("--claim '{claim}': {what}")).help(help())
    };
    let Some((faster, slower)) = claim.split_once(" is faster than ") else {
        return Err(refused("not a claim that dyno can check".to_owned()));
    };
    let position = |name: &str| {
        let found = systems.iter().position(|system| *system == name.trim());
        found.ok_or_else(|| refused(format!("no system is called `{}`", name.trim())))
    };
    Ok((position(faster)?, position(slower)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_count_clients_or_repeats_are_not_part_of_a_name() {
        for (files, names) in [
            (&[("logs/pool-10.log", 10)][..], &["pool"][..]),
            (&[("pool-1.log", 1), ("pool-8.log", 8), ("poll-8.log", 8)], &["pool", "pool", "poll"]),
            (&[("a-1.log", 2), ("a-2.log", 2), ("a-3.log", 2)], &["a", "a", "a"]),
            (&[("a-1.log", 2), ("a-2.log", 4)], &["a-1", "a-2"]),
            (&[("mysql-8.log", 16), ("mysql-9.log", 16)], &["mysql-8", "mysql-9"]),
            (&[("mysql8_16.txt", 16)], &["mysql8"]),
            (&[("pg_16.log", 8)], &["pg_16"]),
        ] {
            let files: Vec<(&Path, u32)> =
                files.iter().map(|(file, clients)| (Path::new(file), *clients)).collect();
            assert_eq!(systems_of(&files), names);
        }
    }

    #[test]
    fn client_and_repeat_counts_are_stripped_from_system_names() {
        for (file, clients, name) in [
            ("mysql8.txt", 16, "mysql8"),
            ("mysql8.txt", 8, "mysql8"),
            ("10.log", 10, "10"),
            ("pool_8threads.log", 8, "pool"),
            ("pool_8threads.log", 16, "pool_8threads"),
            ("maria db_threads_8.log", 8, "maria db"),
            ("pool-8-clients.txt", 8, "pool"),
            ("pool-c8-run2.log", 8, "pool"),
            ("pool_t16.rep3.log", 16, "pool"),
            ("8threads.log", 8, "8threads"),
        ] {
            assert_eq!(system_of(Path::new(file), clients), name);
        }
    }

    #[test]
    fn logs_of_the_threads_of_one_pgbench_are_one_run() {
        let files = ["a=p.12", "a=p.12.1", "a=p.13", "b=p.12.2"].map(str::to_owned);
        let found: Vec<_> = runs(&files).iter().map(|run| (run.name, run.files.len())).collect();
        assert_eq!(found, [(Some("a"), 2), (Some("a"), 1), (Some("b"), 1)]);
    }
}
