//! Reports: the model and its renderers. Every renderer has the same shape, `(&ReportModel, Lang) -> String`, and
//! computes nothing.

pub mod chart;
pub mod compare;
pub mod csv;
pub mod figures;
mod growth;
pub mod html;
pub mod json;
pub mod markdown;
pub mod model;
mod notes;
pub mod table;
mod tables;
pub mod text;

#[cfg(test)]
mod tests;

use crate::analysis::analyse;
use crate::messages::Lang;
use crate::store::{self, Run, StoreError};
use model::ReportModel;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One self-contained page with charts.
    Html,
    /// All tables, GitHub's dialect.
    Markdown,
    /// All figures, one per line.
    Csv,
    /// The whole model.
    Json,
    /// The short report for a terminal.
    Text,
}

impl Format {
    /// All formats, in the order the command line lists them.
    pub const ALL: [Self; 5] = [Self::Html, Self::Markdown, Self::Csv, Self::Json, Self::Text];

    /// Name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Markdown => "md",
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Text => "text",
        }
    }

    /// File that it is written to, beside the run.
    #[must_use]
    pub fn file_name(self) -> &'static str {
        match self {
            Self::Html => "report.html",
            Self::Markdown => "report.md",
            Self::Csv => "report.csv",
            Self::Json => "report.json",
            Self::Text => "report.txt",
        }
    }
}

/// No such format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownFormat(
    /// What was asked for.
    pub String,
);

impl fmt::Display for UnknownFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known: Vec<_> = Format::ALL.iter().map(|format| format.name()).collect();
        write!(f, "there is no report format `{}`; there is: {}", self.0, known.join(", "))
    }
}

impl std::error::Error for UnknownFormat {}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

/// Reads a results folder and analyses it.
///
/// # Errors
/// When it is no results folder or its plan cannot be read. Whatever else is damaged is named in the model.
pub fn load(folder: &Path) -> Result<ReportModel, StoreError> {
    Ok(analyse(&Run::open(folder)?.read_trials()))
}

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

/// Renders reports into a folder, usually the run's own, and returns the paths in the order of `formats`. Reports are
/// derived, so an older one is replaced.
///
/// # Errors
/// When a file cannot be written.
pub fn write(
    model: &ReportModel,
    folder: &Path,
    formats: &[Format],
    lang: Lang,
) -> Result<Vec<PathBuf>, StoreError> {
    let mut paths = Vec::with_capacity(formats.len());
    for format in formats {
        let path = folder.join(format.file_name());
        store::replace(&path, render(model, *format, lang).as_bytes())?;
        paths.push(path);
    }
    Ok(paths)
}

/// Writes the charts of the report's main part into a folder, each as `chart-<name>.svg`, and returns the paths. An older one of
/// the same name is replaced.
///
/// # Errors
/// When a file cannot be written.
pub fn write_charts(model: &ReportModel, folder: &Path, lang: Lang) -> Result<Vec<PathBuf>, StoreError> {
    let charts = html::stand_alone_charts(model, lang);
    let mut paths = Vec::with_capacity(charts.len());
    for (name, svg) in charts {
        let path = folder.join(format!("chart-{name}.svg"));
        store::replace(&path, svg.as_bytes())?;
        paths.push(path);
    }
    Ok(paths)
}
