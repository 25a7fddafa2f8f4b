//! `dyno report`: renders the report of a results folder again. Needs no server and no engine.

use crate::cli::{ReportArguments, ReportFormat};
use crate::failure::Failure;
use crate::printer::Printer;
use dyno_model::exit_code;
use dyno_report::Format;

/// Renders the formats asked for.
///
/// # Errors
/// When the folder holds no results that can be read, or files cannot be written.
pub(crate) fn report(arguments: &ReportArguments, printer: Printer) -> Result<u8, Failure> {
    let lang = arguments.lang;
    let has_charts = arguments.format.contains(&ReportFormat::Svg);
    let mut formats: Vec<Format> = Vec::new();
    for format in arguments.format.iter().copied().filter_map(one_file) {
        if !formats.contains(&format) {
            formats.push(format);
        }
    }
    let results_failed =
        |error: &dyn std::error::Error| Failure::from_error(exit_code::RESULTS_FAILED, error);
    let model = dyno_analysis::load(&arguments.results).map_err(|error| results_failed(&error))?;
    match (&formats[..], &arguments.out) {
        ([format], None) if *format != Format::Html && !has_charts => {
            printer.result(&dyno_report::render(&model, *format, lang))?;
        }
        (_, out) => {
            let folder = out.as_deref().unwrap_or(&arguments.results);
            std::fs::create_dir_all(folder).map_err(|error| {
                let text = format!("cannot make the folder {}", folder.display());
                Failure::new(exit_code::RESULTS_FAILED, text).because(&error)
            })?;
            let mut paths =
                dyno_report::write(&model, folder, &formats, lang).map_err(|error| results_failed(&error))?;
            if has_charts {
                paths.extend(
                    dyno_report::write_charts(&model, folder, lang)
                        .map_err(|error| results_failed(&error))?,
                );
            }
            let lines: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            printer.result(&lines.join("\n"))?;
        }
    }
    Ok(exit_code::OK)
}

/// The format whose whole report is one file; charts are not.
fn one_file(format: ReportFormat) -> Option<Format> {
    match format {
        ReportFormat::Html => Some(Format::Html),
        ReportFormat::Md => Some(Format::Markdown),
        ReportFormat::Csv => Some(Format::Csv),
        ReportFormat::Json => Some(Format::Json),
        ReportFormat::Text => Some(Format::Text),
        ReportFormat::Svg => None,
    }
}
