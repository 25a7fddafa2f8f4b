//! `dyno report`: renders the report of a results folder again. Needs no server and no engine.

use crate::cli::{Output, ReportArguments, Template};
use crate::failure::Failure;
use crate::printer::Printer;
use dyno_analysis::ReadError;
use dyno_analysis::model::{LimitVerdict, Question, ReportModel, Verdict};
use dyno_model::search::SearchEnd;
use dyno_model::{exit_code, lists};
use dyno_report::Format;
use std::path::{Path, PathBuf};

/// Renders the requested formats.
///
/// # Errors
/// When the folder has no readable results, or files cannot be written.
pub(crate) fn report(arguments: &ReportArguments, printer: Printer) -> Result<u8, Failure> {
    let model = read_model(arguments)?;
    let outputs = match (&arguments.format[..], arguments.check) {
        ([], true) => Vec::new(),
        ([], false) => vec![Output::Report(Format::Html)],
        (named, _) => lists::distinct(named.iter().copied()),
    };
    if !outputs.is_empty() {
        write(&model, arguments, &outputs, printer)?;
    }
    Ok(if arguments.check { code(&model) } else { exit_code::OK })
}

/// The exit code for the verdicts on limits, searches and comparisons, and for missing trials.
fn code(model: &ReportModel) -> u8 {
    let effects = model.questions.iter().map(|it| it.effect);
    let effects = effects.chain(model.comparisons.iter().map(|it| it.effect));
    let verdicts: Vec<Verdict> = effects.filter_map(|effect| effect.verdict).collect();
    let is_untested = |it: &Question| {
        let is_open = it.effect.verdict == Some(Verdict::Inconclusive) && it.effect.p.is_none();
        is_open && it.metric == model.primary_metric
    };
    let is_not_made =
        verdicts.contains(&Verdict::Invalid) || model.questions.iter().any(is_untested);
    let ends: Vec<&SearchEnd> =
        model.searches.iter().flat_map(|row| &row.ended).map(|ended| &ended.end).collect();
    let no_load_passes = ends.iter().any(|end| matches!(end, SearchEnd::FailsEverywhere { .. }));
    let completeness = &model.completeness;
    let is_complete = completeness.missing.is_empty()
        && completeness.cut.is_empty()
        && (completeness.valid > 0 || !ends.is_empty());
    match model.limits_verdict() {
        Some(LimitVerdict::Failed) => exit_code::WORSE,
        _ if no_load_passes || verdicts.contains(&Verdict::Worse) => exit_code::WORSE,
        _ if !is_complete => exit_code::RUN_INCOMPLETE,
        Some(LimitVerdict::Undecided) => exit_code::UNDECIDED,
        _ if !ends.is_empty() || is_not_made => exit_code::UNDECIDED,
        _ => exit_code::OK,
    }
}

fn read_model(arguments: &ReportArguments) -> Result<ReportModel, Failure> {
    let mut model =
        dyno_analysis::read_model_of_all(&arguments.results).map_err(|error| match error {
            ReadError::Store(error) => Failure::from(error),
            ReadError::Pool(error) => Failure::from_error(exit_code::USAGE, &error).help(
                "name runs that differ only in numbers of clients and levels; use `dyno compare` \
                 for others",
            ),
        })?;
    if let Some(title) = &arguments.title {
        model.title.clone_from(title);
    }
    Ok(model)
}

fn write(
    model: &ReportModel,
    arguments: &ReportArguments,
    outputs: &[Output],
    printer: Printer,
) -> Result<(), Failure> {
    let lang = arguments.language.lang;
    if arguments.template == Template::TestReport {
        return test_report(model, arguments, outputs, printer);
    }
    let alone = match (outputs, &arguments.out) {
        ([Output::Report(format)], None) if *format != Format::Html => {
            Some(dyno_report::render(model, *format, lang))
        }
        ([Output::Export(export)], None) => Some(export.render(model)),
        _ => None,
    };
    if let Some(text) = alone {
        return printer.result(&text);
    }
    let folder = folder(arguments.out.as_deref(), &arguments.results)?;
    let mut paths = Vec::new();
    for output in outputs {
        paths.extend(match output {
            Output::Report(format) => dyno_report::write(model, folder, &[*format], lang)?,
            Output::Charts => dyno_report::write_charts(model, folder, lang)?,
            Output::Export(export) => dyno_report::write_exports(model, folder, &[*export])?,
        });
    }
    let lines: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    printer.result(&lines.join("\n"))
}

/// The folder for the files.
fn folder<'a>(out: Option<&'a Path>, results: &'a [PathBuf]) -> Result<&'a Path, Failure> {
    let folder = match (out, results) {
        (Some(out), _) => out,
        (None, [one]) => one,
        _ => {
            let text = "a report of several runs needs a folder";
            return Err(Failure::new(exit_code::USAGE, text).help("add --out DIR"));
        }
    };
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::cannot("make the folder", folder, &error))?;
    Ok(folder)
}

fn test_report(
    model: &ReportModel,
    arguments: &ReportArguments,
    outputs: &[Output],
    printer: Printer,
) -> Result<(), Failure> {
    let rendered = |output: &Output| match output {
        Output::Report(format) => {
            Some((*format, dyno_report::test_report(model, *format, arguments.language.lang)?))
        }
        Output::Charts | Output::Export(_) => None,
    };
    let Some(reports) = outputs.iter().map(rendered).collect::<Option<Vec<_>>>() else {
        let text = "--template test-report supports html and md only";
        return Err(
            Failure::new(exit_code::USAGE, text).help("remove the other formats from --format")
        );
    };
    if let ([(Format::Markdown, text)], None) = (&reports[..], &arguments.out) {
        return printer.result(text);
    }
    let folder = folder(arguments.out.as_deref(), &arguments.results)?;
    for (format, text) in &reports {
        let path = dyno_report::write_test_report(text, *format, folder)?;
        printer.result(&path.display().to_string())?;
    }
    Ok(())
}
