//! Forms of a report.

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
