//! `dyno history`: the figures of an experiment over its runs.

use crate::cli::HistoryArguments;
use crate::failure::Failure;
use crate::printer::Printer;
use dyno_analysis::model::ReportModel;
use dyno_model::exit_code;
use dyno_report::Format;

/// Writes the history to stdout, or its files into a folder.
///
/// # Errors
/// When a folder has no readable results, the runs are of different experiments, or files cannot be
/// written.
pub(crate) fn history(arguments: &HistoryArguments, printer: Printer) -> Result<u8, Failure> {
    let mut models: Vec<ReportModel> = Vec::new();
    for folder in &arguments.results {
        for run in dyno_store::results_below(folder)? {
            models.push(dyno_analysis::read_model(&run)?);
        }
    }
    models.sort_by(|one, other| one.provenance.started_at.cmp(&other.provenance.started_at));
    let [.., last] = &models[..] else { unreachable!("a folder without results is an error") };
    if let Some(other) =
        models.iter().find(|it| it.provenance.experiment != last.provenance.experiment)
    {
        let [one, other] = [&last.provenance.experiment, &other.provenance.experiment];
        let text = format!("the runs are of different experiments: {one} and {other}");
        return Err(Failure::new(exit_code::USAGE, text)
            .help("use the folder of one experiment, for example DIR/<experiment>"));
    }
    for model in models.iter().filter(|it| !it.provenance.has_work_of(&last.provenance)) {
        printer.warning(&format!(
            "run {} has another workload or load than the latest run: a step in a series may be \
             due to that",
            model.provenance.run
        ));
    }
    let render = |format| match format {
        Format::Html => dyno_report::history_page(&models, arguments.language.lang),
        _ => dyno_report::history(&models),
    };
    let Some(folder) = &arguments.out else {
        printer.result(&render(arguments.format.unwrap_or(Format::Csv)))?;
        return Ok(exit_code::OK);
    };
    let file = |format: Format| (format!("history.{}", format.name()), render(format));
    let files = match arguments.format {
        Some(format) => vec![file(format)],
        None => [vec![file(Format::Html)], dyno_report::history_files(&models)].concat(),
    };
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::cannot("make the folder", folder, &error))?;
    let mut paths = Vec::new();
    for (name, text) in files {
        let path = folder.join(name);
        dyno_store::replace(&path, text.as_bytes())?;
        paths.push(path.display().to_string());
    }
    printer.result(&paths.join("\n"))?;
    Ok(exit_code::OK)
}
