//! `dyno compare`: compares two sides of results folders. Needs no server and no engine.

use crate::cli::{CompareArguments, FailOn, each_once};
use crate::failure::Failure;
use crate::printer::Printer;
use dyno_analysis::compare::model::CompareModel;
use dyno_analysis::compare::{
    CompareError, CompareOptions, METRICS, MatchError, PoolError, compare as judge, read_side,
};
use dyno_analysis::stats::verdict::Rules;
use dyno_model::exit_code;
use dyno_model::plan::ComparisonMetric;
use dyno_model::warning::Severity;
use dyno_report::compare::{github, render};
use dyno_report::{Format, Lang};
use std::io::Write;
use std::path::Path;

/// Compares the sides and prints the result; returns the exit code that `--fail-on` selects.
///
/// # Errors
/// When a side has no readable results, the sides cannot be compared, or files cannot be written.
pub(crate) fn compare(arguments: &CompareArguments, printer: Printer) -> Result<u8, Failure> {
    let formats = formats(arguments)?;
    let requested = &arguments.metric;
    let is_requested =
        |metric: &ComparisonMetric| requested.is_empty() || requested.contains(metric);
    let options = CompareOptions {
        metrics: METRICS.into_iter().filter(is_requested).collect(),
        rules: Rules { margin: arguments.margin, ..Rules::default() },
        systems: arguments.systems.clone(),
    };
    let (base, new) = (read_side(&arguments.base)?, read_side(&arguments.new)?);
    let mut model = judge(&base, &new, &options).map_err(|error| cannot_compare(&error))?;
    model.title.clone_from(&arguments.title);
    if arguments.format.contains(&None) {
        printer.result(&github::annotations(&model, arguments.language.lang))?;
        if let Some(file) = std::env::var_os(SUMMARY).filter(|file| !file.is_empty()) {
            append(Path::new(&file), &github::summary(&model, arguments.language.lang))?;
        }
    }
    match &arguments.out {
        Some(_) if formats.is_empty() => {}
        None => {
            for format in formats {
                printer.result(&render(&model, format, arguments.language.lang))?;
            }
        }
        Some(folder) => {
            printer
                .result(&write(&model, folder, &formats, arguments.language.lang)?.join("\n"))?;
        }
    }
    Ok(code(&model, &arguments.fail_on))
}

/// Environment variable with the file that GitHub Actions shows below a job; every step appends to
/// it.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";

fn append(path: &Path, text: &str) -> Result<(), Failure> {
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| {
        let what = format!("cannot append to {}, the file in {SUMMARY}", path.display());
        Failure::new(exit_code::RESULTS_FAILED, what).because(&error)
    })
}

/// The requested forms, each once. Stdout can carry only one.
fn formats(arguments: &CompareArguments) -> Result<Vec<Format>, Failure> {
    let formats = each_once(if arguments.json { &[Some(Format::Json)] } else { &arguments.format });
    if formats.len() > 1 && arguments.out.is_none() {
        let failure = Failure::new(exit_code::USAGE, "stdout takes only one format");
        return Err(failure.help("write them to a folder: --out DIR"));
    }
    Ok(formats)
}

/// The error when the sides cannot be compared: an argument of the command line is wrong, and each
/// reason has its remedy.
fn cannot_compare(error: &CompareError) -> Failure {
    let failure = Failure::new(exit_code::USAGE, error.to_string());
    match error {
        CompareError::Pool { error: PoolError::Experiments { .. }, .. } => failure
            .help("use the folder of one experiment, for example DIR/<experiment> instead of DIR"),
        CompareError::Pool { .. } => failure.help(
            "a side is one run, or several runs of the same plan: move the runs into separate \
             folders, one for each plan",
        ),
        CompareError::SameRun { .. } => failure.help(
            "use the runs before the change as BASE and those after it as NEW; systems of one run \
             are compared in its report",
        ),
        CompareError::Match(MatchError::Nothing { are_systems_unmatched: true, .. }) => {
            failure.help("select the systems to compare: --system BASE=NEW")
        }
        CompareError::Match(MatchError::Nothing { .. }) => failure.help(
            "dyno compares configurations with the same system, levels, workload, options and \
             number of clients",
        ),
        CompareError::Match(_) => failure.help(
            "give each system of a side at most once, as \
            --system BASE=NEW",
        ),
    }
}

/// Writes a file per format; returns their paths.
fn write(
    model: &CompareModel,
    folder: &Path,
    formats: &[Format],
    lang: Lang,
) -> Result<Vec<String>, Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::cannot("make the folder", folder, &error))?;
    let mut paths = Vec::with_capacity(formats.len());
    for format in formats {
        let suffix = if *format == Format::Text { "txt" } else { format.name() };
        let path = folder.join(format!("compare.{suffix}"));
        let text = render(model, *format, lang);
        dyno_store::replace(&path, text.as_bytes())?;
        paths.push(path.display().to_string());
    }
    Ok(paths)
}

/// The exit code for the verdicts.
fn code(model: &CompareModel, fail_on: &[FailOn]) -> u8 {
    let outcome = &model.outcome;
    let is_there = |what: &FailOn| match what {
        FailOn::Worse => outcome.worse > 0 || outcome.worse_over_all > 0 || outcome.not_working > 0,
        FailOn::Inconclusive => outcome.inconclusive > 0,
        FailOn::Invalid => outcome.invalid > 0 || outcome.not_made > 0,
        FailOn::Better => outcome.better > 0 || outcome.better_over_all > 0,
        FailOn::Missing => !(model.only_base.is_empty() && model.only_new.is_empty()),
        FailOn::Warning => model.warnings.iter().any(|warning| warning.severity > Severity::Note),
        FailOn::None => false,
    };
    let found: Vec<&FailOn> = fail_on.iter().filter(|what| is_there(what)).collect();
    match &found[..] {
        [] => exit_code::OK,
        found if found.contains(&&FailOn::Worse) => exit_code::WORSE,
        _ => exit_code::UNDECIDED,
    }
}
