//! Output formats of a report.

dyno_model::named! {
    /// Output formats of a report, in the order in which the command line lists them.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Format {
        /// One self-contained page with charts.
        Html = "html",
        /// All tables, as GitHub Flavored Markdown.
        Markdown = "md",
        /// All figures, one per line.
        Csv = "csv",
        /// The whole model.
        Json = "json",
        /// The short report for a terminal.
        Text = "text",
    }
}

impl Format {
    /// Name of the file in the directory of the run.
    #[must_use]
    pub fn file_name(self) -> String {
        let extension = if self == Self::Text { "txt" } else { self.name() };
        format!("report.{extension}")
    }
}
