//! Reports of runs and comparisons: messages, tables, charts and output formats. Every renderer has
//! the signature `(&ReportModel, Lang) -> String` and computes no statistics: the figures come from
//! `dyno-analysis`.
//!
//! # Layout (read in this order)
//! * `messages`: all prose, one file per language; `figures`, `words`: formatting of values and
//!   states;
//! * `metrics`: the table of all measures; `cell`, `table`: typed cells and tables of them,
//!   `table_builder`: building a table column by column; `tables`, `isolation`, `notes`, `facts`,
//!   `topology`, `sections`: the contents of a report;
//! * `test_report`: the contents of a formal test report;
//!   `grid`: tables of the page; `chart`: SVG;
//! * [`compare`]: the same for a comparison;
//! * `exports`: formats of CI servers and trackers of benchmarks;
//! * `history`: the page of an experiment over its runs.
//!
//! # Invariants
//! Reports are functions of the model: the same model gives the same bytes. No file of a run is
//! read here.
#![warn(missing_docs)]

mod chart;
pub mod compare;
mod console;
mod contents;
mod exports;
mod figures;
mod formats;
mod history;
mod html;
mod layout;
mod messages;
mod words;

#[cfg(test)]
mod tests;

use console::{checkup, live, plan, preflight, progress};
use contents::{
    facts, isolation, metrics, notes, sections, table_builder, tables, test_report, tiles, topology,
};
use formats::{csv, format, json, markdown, text};
use layout::{breaks, cell, fitted, grid, table};

pub use checkup::{Check, Checkup, check, looking};
pub use exports::{Export, history, history_files};
pub use fitted::fitted;
pub use format::Format;
pub use history::history_page;
pub use json::report_schema;
pub use live::{
    LiveLabel, configuration_name, live_label, live_max, live_rate, metrics_not_sent, no_commits,
    runs_at, served_at, warning,
};
pub use messages::reason::no_load;
pub use messages::{EN, LANGUAGES, Lang};
pub use plan::{pilot, plan};
pub use preflight::{PreflightWords, preflight, preflight_list};
pub use progress::{Label, Note, Position, event, label, note};

/// The script of the HTML report, as the page contains it, for policies that allow no other.
pub const PAGE_SCRIPT: &str = html::SCRIPT;

use dyno_analysis::model::ReportModel;
use dyno_store::StoreError;
use std::path::{Path, PathBuf};

/// Renders a report.
#[must_use]
pub fn render(model: &ReportModel, format: Format, lang: Lang) -> String {
    match format {
        Format::Html => html::render(model, lang),
        Format::Markdown => markdown::render(model, lang),
        Format::Csv => csv::render(model, lang),
        Format::Json => json::render(model, lang),
        Format::Text => text::render(model, lang),
    }
}

/// Renders the test report, the form in which agencies report; `None` for formats that have no such
/// form, which are all but [`Format::Html`] and [`Format::Markdown`].
#[must_use]
pub fn test_report(model: &ReportModel, format: Format, lang: Lang) -> Option<String> {
    match format {
        Format::Html => Some(html::test_report(model, lang)),
        Format::Markdown => Some(markdown::test_report(model, lang)),
        Format::Csv | Format::Json | Format::Text => None,
    }
}

/// Writes the test report into a folder, as `test-report.html` and so on, and returns the path. An
/// older one is replaced.
///
/// # Errors
/// When the file cannot be written.
pub fn write_test_report(
    report: &str,
    format: Format,
    folder: &Path,
) -> Result<PathBuf, StoreError> {
    put(folder, &format!("test-{}", format.file_name()), report)
}

/// Renders reports into a folder, usually the run's own, and returns the paths in the order of
/// `formats`. Reports are derived, so an older one is replaced.
///
/// # Errors
/// When a file cannot be written.
pub fn write(
    model: &ReportModel,
    folder: &Path,
    formats: &[Format],
    lang: Lang,
) -> Result<Vec<PathBuf>, StoreError> {
    formats.iter().map(|it| put(folder, &it.file_name(), &render(model, *it, lang))).collect()
}

/// Writes the charts of the report's main part into a folder, each as `chart-<name>.svg`, and
/// returns the paths. An older one of the same name is replaced.
///
/// # Errors
/// When a file cannot be written.
pub fn write_charts(
    model: &ReportModel,
    folder: &Path,
    lang: Lang,
) -> Result<Vec<PathBuf>, StoreError> {
    let charts = html::stand_alone_charts(model, lang).into_iter();
    charts.map(|(name, svg)| put(folder, &format!("chart-{name}.svg"), &svg)).collect()
}

/// Writes formats for other programs into a folder and returns the paths in the order of `exports`.
/// Older ones are replaced.
///
/// # Errors
/// When a file cannot be written.
pub fn write_exports(
    model: &ReportModel,
    folder: &Path,
    exports: &[Export],
) -> Result<Vec<PathBuf>, StoreError> {
    exports.iter().map(|it| put(folder, &it.file_name(), &it.render(model))).collect()
}

fn put(folder: &Path, name: &str, text: &str) -> Result<PathBuf, StoreError> {
    let path = folder.join(name);
    dyno_store::replace(&path, text.as_bytes())?;
    Ok(path)
}
