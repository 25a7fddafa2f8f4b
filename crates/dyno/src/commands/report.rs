//! `dyno report`: renders the report of a results folder again. Needs no server and no engine.

use crate::cli::{ReportArguments, Template, each_once};
use crate::failure::Failure;
use crate::printer::Printer;
use dyno_analysis::LoadError;
use dyno_analysis::model::ReportModel;
use dyno_model::exit_code;
use dyno_report::Format;
use std::path::{Path, PathBuf};

/// Renders the requested formats.
///
/// # Errors
/// When the folder has no readable results, or files cannot be written.
pub(crate) fn report(arguments: &ReportArguments, printer: Printer) -> Result<u8, Failure> {
    let lang = arguments.lang;
    let has_charts = arguments.format.contains(&None);
    let formats = each_once(&arguments.format);
    let mut model =
        dyno_analysis::load_together(&arguments.results).map_err(|error| match error {
            LoadError::Store(error) => Failure::from(error),
            LoadError::Pool(error) => Failure::from_error(exit_code::USAGE, &error).help(
                "name runs that differ only in numbers of clients and levels; use `dyno compare` \
                 for others",
            ),
        })?;
    if let Some(title) = &arguments.title {
        model.title.clone_from(title);
    }
    if arguments.template == Template::TestReport {
        return test_report(&model, arguments, &formats, printer);
    }
    match (&formats[..], &arguments.out) {
        ([format], None) if *format != Format::Html && !has_charts => {
            printer.result(&dyno_report::render(&model, *format, lang))?;
        }
        (_, out) => {
            let folder = folder(out.as_deref(), &arguments.results)?;
            let mut paths = dyno_report::write(&model, folder, &formats, lang)?;
            if has_charts {
                paths.extend(dyno_report::write_charts(&model, folder, lang)?);
            }
            let lines: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            printer.result(&lines.join("\n"))?;
        }
    }
    Ok(exit_code::OK)
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
    formats: &[Format],
    printer: Printer,
) -> Result<u8, Failure> {
    if arguments
        .format
        .iter()
        .any(|format| !matches!(format, Some(Format::Html | Format::Markdown)))
    {
        let text = "--template test-report supports html and md only";
        return Err(
            Failure::new(exit_code::USAGE, text).help("remove the other formats from --format")
        );
    }
    let rendered = |format: &Format| {
        Some((*format, dyno_report::test_report(model, *format, arguments.lang)?))
    };
    let reports: Vec<(Format, String)> = formats.iter().filter_map(rendered).collect();
    if let ([(Format::Markdown, text)], None) = (&reports[..], &arguments.out) {
        printer.result(text)?;
        return Ok(exit_code::OK);
    }
    let folder = folder(arguments.out.as_deref(), &arguments.results)?;
    for (format, text) in &reports {
        let path = dyno_report::write_test_report(text, *format, folder)?;
        printer.result(&path.display().to_string())?;
    }
    Ok(exit_code::OK)
}
