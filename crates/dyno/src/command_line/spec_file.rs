//! From the command line to a plan: reads the spec file or the built-in experiment.

use crate::cli::SpecArguments;
use crate::failure::Failure;
use crate::one_line;
use crate::workload;
use crate::workload_set::WorkloadSet;
use dyno_files::{SCRIPT_MAX, SETUP_MAX, reason};
use dyno_model::address::Address;
use dyno_model::catalog::WorkloadDescription;
use dyno_model::engine::database_file_url;
use dyno_model::exit_code::SPEC_INVALID;
use dyno_model::plan::{Configuration, DataPolicy, Plan, SystemSource};
use dyno_model::spec::{self, Input, TextKind};
use dyno_model::words;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::string::FromUtf8Error;

/// The built-in experiment, which runs without a server.
const QUICKSTART: &str = include_str!("../../quickstart.toml");
/// Name of the built-in experiment in messages and results.
const QUICKSTART_NAME: &str = "quickstart.toml";
/// Largest spec that is read, bytes. A larger file is not a spec.
const SPEC_MAX: u64 = 1 << 20;

/// A valid spec.
#[derive(Debug)]
pub(crate) struct Experiment {
    /// The file's text without passwords, as stored with the results.
    pub(crate) text: String,
    pub(crate) plan: Plan,
}

/// Reads, checks and resolves the spec that the arguments select.
///
/// # Errors
/// When the spec cannot be read, or has errors: reports all of them.
pub(crate) fn read_experiment(
    arguments: &SpecArguments,
    catalog: &[WorkloadDescription],
) -> Result<Experiment, Failure> {
    let file = arguments.spec.as_deref().filter(|_| arguments.url().is_none());
    if let Some(failure) = file.and_then(|path| misnamed(path, catalog)) {
        return Err(failure);
    }
    // A URL without its scheme gets its own message, not that of a missing file.
    let overrides = arguments.overrides()?;
    let (name, text) = match (&arguments.spec, arguments.url()) {
        (_, Some(url)) => arguments.one_line.spec(url, arguments.blocks, arguments.seed)?,
        (None, _) => (QUICKSTART_NAME.to_owned(), QUICKSTART.to_owned()),
        (Some(path), None) => (path.display().to_string(), read(path)?),
    };
    let is_line = arguments.url().is_some();
    let profile = arguments.profile.as_deref();
    let input = Input { overrides: &overrides, profile, is_line, ..input(&name, &text) };
    let (stored, mut plan) = match (spec::parse(input, catalog), arguments.url()) {
        (Ok((_, plan)), Some(url)) => (one_line::stored(&text, url), plan),
        (Err(errors), Some(_)) => return Err(errors.by_line(one_line::option_of).into()),
        (parsed, None) => parsed?,
    };
    plan.draw_run_order(shared_data);
    Ok(Experiment { text: stored, plan })
}

thread_local! {
    /// Scripts that were read, if they are collected: those who read scripts have no state.
    static SCRIPTS: RefCell<Option<BTreeMap<PathBuf, String>>> = const { RefCell::new(None) };
}

/// As [`read_experiment`], with the scripts that the spec names.
///
/// # Errors
/// As [`read_experiment`].
pub(crate) fn read_experiment_and_scripts(
    arguments: &SpecArguments,
    catalog: &[WorkloadDescription],
) -> Result<(Experiment, Vec<(PathBuf, String)>), Failure> {
    SCRIPTS.set(Some(BTreeMap::new()));
    let experiment = read_experiment(arguments, catalog);
    let scripts = SCRIPTS.take().unwrap_or_default();
    Ok((experiment?, scripts.into_iter().collect()))
}

/// True for the text of the built-in experiment.
pub(crate) fn is_built_in(text: &str) -> bool {
    text == QUICKSTART
}

/// The plan of a spec that was generated from a command line with a URL.
///
/// # Errors
/// When the URL is invalid.
pub(crate) fn of_line(
    name: &str,
    text: &str,
    catalog: &[WorkloadDescription],
) -> Result<Plan, Failure> {
    let input = Input { is_line: true, ..input(name, text) };
    Ok(spec::parse(input, catalog).map_err(|errors| errors.by_line(one_line::option_of))?.1)
}

fn input<'a>(name: &'a str, text: &'a str) -> Input<'a> {
    let variable: fn(&str) -> Option<String> = |name| std::env::var(name).ok();
    Input {
        file_name: name,
        text,
        variable: Some(variable),
        script: Some(script),
        names: Some(workload::names),
        declared: Some(dyno_sysbench::declared_options),
        ..Input::default()
    }
}

fn script(file: &Path, kind: TextKind) -> Result<String, String> {
    let limit = match kind {
        TextKind::Script => SCRIPT_MAX,
        TextKind::Setup => SETUP_MAX,
    };
    if file.is_dir() {
        return Err("it is a folder; name a file in it".to_owned());
    }
    let bytes = dyno_files::read(file, limit).map_err(|error| {
        match neighbour(file, &[".sql", ".lua"]) {
            Some(name) if error.kind() == ErrorKind::NotFound => {
                format!(
                    "{}; did you mean `{}`?",
                    reason(&error),
                    file.with_file_name(name).display()
                )
            }
            _ => reason(&error),
        }
    })?;
    let text = String::from_utf8(bytes);
    let text = text.map_err(|error| format!("line {} is not UTF-8", line_of(&error).1))?;
    SCRIPTS.with_borrow_mut(|scripts| {
        if let Some(scripts) = scripts {
            scripts.insert(file.to_owned(), text.clone());
        }
    });
    Ok(text)
}

/// Where a text stops being UTF-8: the offset, and the line, counted from 1.
fn line_of(error: &FromUtf8Error) -> (usize, usize) {
    let at = error.utf8_error().valid_up_to();
    (at, 1 + error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count())
}

/// The data set that a configuration can share with others.
fn shared_data(plan: &Plan, configuration: &Configuration) -> Option<String> {
    // Preflight reports options that do not fit.
    let data = WorkloadSet::new(plan, configuration).ok()?;
    let source = &plan.systems[configuration.system].source;
    let is_copied =
        matches!(source, SystemSource::Existing(existing) if existing.data == DataPolicy::Copy);
    // Where existing tables are used, no data is created that configurations could share.
    (data.is_reusable() && (is_copied || data.brings_data())).then(|| data.fingerprint())
}

/// The failure for a word that cannot be meant as the name of a spec file.
fn misnamed(path: &Path, catalog: &[WorkloadDescription]) -> Option<Failure> {
    let word = path.to_str().filter(|_| !path.is_dir())?;
    let workload = || words::equivalent(word, catalog.iter().map(|workload| workload.name));
    let (what, help) = if let Some(url) = database_file_url(word) {
        ("a database file", format!("its URL is {url}, for example: dyno run {url} --script FILE"))
    } else if path.exists() {
        return None;
    } else if let Some(url) = Address::meant_by(word) {
        let help = format!(
            "an existing database is named by its URL: {url}; for a server that dyno starts, \
             `dyno init` writes a first spec"
        );
        ("a kind of server", help)
    } else {
        ("a workload", format!("it runs on a database: dyno run URL --workload {}", workload()?))
    };
    let text = format!("{word} is {what}, not a spec file");
    Some(Failure::new(SPEC_INVALID, text).help(help))
}

fn read(path: &Path) -> Result<String, Failure> {
    let shown = path.display();
    if path.is_dir() {
        return Err(Failure::new(SPEC_INVALID, format!("{shown} is a folder, not a spec file"))
            .help(in_folder(path)));
    }
    let has_ending = |endings: &[&str]| {
        path.extension().is_some_and(|it| endings.iter().any(|extension| it == *extension))
    };
    let is_script = has_ending(&["sql", "lua"]);
    if is_script && path.is_file() {
        let help = format!("it runs on a database: dyno run URL --script {shown}");
        return Err(
            Failure::new(SPEC_INVALID, format!("{shown} is a script, not a spec file")).help(help)
        );
    }
    let bytes = dyno_files::read(path, SPEC_MAX).map_err(|error| {
        let failure = Failure::new(SPEC_INVALID, format!("cannot read the spec file {shown}"))
            .because(&error);
        match error.kind() {
            ErrorKind::NotFound => failure.help(not_found(path)),
            ErrorKind::PermissionDenied => {
                failure.help(format!("make it readable: chmod u+r {shown}"))
            }
            ErrorKind::FileTooLarge => {
                let text =
                    format!("{shown} is larger than {} MiB and cannot be a spec", SPEC_MAX >> 20);
                Failure::new(SPEC_INVALID, text)
            }
            _ => failure,
        }
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let ((at, line), bytes) = (line_of(&error), error.as_bytes());
        let text = format!(
            "{shown} is not UTF-8: byte 0x{:02x} at offset {at}, in line {line}",
            bytes[at]
        );
        Failure::new(SPEC_INVALID, text).help("save the file as UTF-8")
    })
}

/// Remedy for a folder: name a file in it.
fn in_folder(folder: &Path) -> String {
    match names(folder, &[".toml"]).first() {
        Some(name) => format!("use a file in it, for example {}", folder.join(name).display()),
        None => "use a spec file, whose name ends in .toml".to_owned(),
    }
}

/// Remedy for a missing spec: the nearest name in its folder.
fn not_found(path: &Path) -> String {
    match neighbour(path, &[".toml"]) {
        Some(name) => format!("did you mean {}?", path.with_file_name(name).display()),
        None if path.extension().is_none_or(|extension| extension != "toml") => {
            "the name of a spec file ends in .toml; a database is named by its URL, for example \
             postgres://USER@HOST/DATABASE"
                .to_owned()
        }
        None => "`dyno run` without a file runs the built-in experiment".to_owned(),
    }
}

/// The file that the user probably meant by a missing path.
fn neighbour(path: &Path, endings: &[&str]) -> Option<String> {
    let folder =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let wanted = path.file_name()?.to_string_lossy();
    let names = names(folder, endings);
    words::nearest(&wanted, names.iter().map(String::as_str)).map(str::to_owned)
}

/// Names of the files in a folder with one of these endings, in the order of the endings.
fn names(folder: &Path, endings: &[&str]) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let is_meant = |name: &String| {
        endings.iter().any(|extension| name.to_ascii_lowercase().ends_with(extension))
    };
    let mut names: Vec<String> = names.filter(is_meant).collect();
    names.sort_unstable();
    names
}
