//! Failures that end the program: an exit code, a message with place, value and remedy, and its
//! causes.

use dyno_model::exit_code;
use dyno_model::printable::lines;
use dyno_model::spec::Diagnostics;
use dyno_report::{Label, Lang};
use dyno_store::StoreError;
use std::error::Error;
use std::io;
use std::path::Path;

/// Why dyno could not do what the user requested.
#[derive(Debug)]
pub(crate) struct Failure {
    /// One of [`dyno_model::exit_code`].
    pub(crate) code: u8,
    text: String,
    causes: Vec<String>,
    help: Option<String>,
    /// Errors in a spec, with their places; they replace text, causes and help.
    spec: Option<Box<Diagnostics>>,
}

impl Failure {
    /// A failure with a message in lower case, without a full stop, that names place and value. A
    /// remedy at its end, after `hint: ` on a line of its own, becomes the help.
    pub(crate) fn new(code: u8, text: impl Into<String>) -> Self {
        let mut text = text.into();
        let help = match text.split_once("\nhint: ") {
            Some((_, hint)) if !hint.contains('\n') => Some(hint.to_owned()),
            _ => None,
        };
        if let Some(help) = &help {
            text.truncate(text.len() - help.len() - "\nhint: ".len());
        }
        Self { code, text, causes: Vec::new(), help, spec: None }
    }

    /// An operation on a user's file failed; `what` is a verb such as `write`.
    pub(crate) fn cannot(what: &str, path: &Path, error: &io::Error) -> Self {
        Self::new(exit_code::RESULTS_FAILED, format!("cannot {what} {}", path.display()))
            .because(error)
    }

    /// Adds an error and its sources as causes, nearest first.
    pub(crate) fn because(mut self, error: &dyn Error) -> Self {
        let mut next = Some(error);
        while let Some(error) = next {
            self.causes.push(error.to_string());
            next = error.source();
        }
        self
    }

    /// Adds a remedy.
    pub(crate) fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// A library error whose message is complete; its sources become causes.
    pub(crate) fn from_error(code: u8, error: &dyn Error) -> Self {
        let failure = Self::new(code, error.to_string());
        match error.source() {
            Some(source) => failure.because(source),
            None => failure,
        }
    }

    /// The text for the terminal, with labels in the given language.
    pub(crate) fn render(&self, is_coloured: bool, lang: Lang) -> String {
        let paint = |word: &str, colour: &str| {
            if is_coloured { format!("\x1b[1;{colour}m{word}\x1b[0m") } else { word.to_owned() }
        };
        if let Some(diagnostics) = &self.spec {
            let text =
                if is_coloured { diagnostics.render_styled() } else { diagnostics.render_plain() };
            let count = diagnostics.len();
            let errors = if count == 1 { "1 error" } else { &format!("{count} errors") };
            return format!("{text}\n\n{} {errors}; nothing was run", paint("error:", "31"));
        }
        let mut message = format!(
            "{} {}",
            paint(dyno_report::label(Label::Error, lang), "31"),
            lines(&self.text)
        );
        let mut add = |label: Label, colour: &str, text: &str| {
            let label = paint(dyno_report::label(label, lang), colour);
            message.push_str(&format!("\n  {label} {}", lines(text)));
        };
        self.causes.iter().for_each(|cause| add(Label::Because, "2", cause));
        self.help.iter().for_each(|help| add(Label::Help, "36", help));
        message
    }
}

/// Results could not be read or written.
impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let help = match &error {
            StoreError::Io { doing: "make folder", .. } => "name another folder with --out",
            StoreError::Io { source, .. } if source.kind() == io::ErrorKind::NotADirectory => {
                "name the folder of one run, e.g. results/<experiment>/<time>-<id>"
            }
            _ => return Self::from_error(exit_code::RESULTS_FAILED, &error),
        };
        Self::from_error(exit_code::RESULTS_FAILED, &error).help(help)
    }
}

impl From<Diagnostics> for Failure {
    fn from(diagnostics: Diagnostics) -> Self {
        Self { spec: Some(Box::new(diagnostics)), ..Self::new(exit_code::SPEC_INVALID, "") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_report::EN;

    #[test]
    fn a_failure_shows_its_causes_and_its_remedy() {
        let missing = io::Error::new(io::ErrorKind::NotFound, "no such file");
        let failure =
            Failure::new(7, "cannot read results/x").because(&missing).help("name another folder");
        let text =
            "error: cannot read results/x\n  because: no such file\n  help: name another folder";
        assert_eq!(failure.render(false, EN), text);
        assert!(failure.render(true, EN).contains("\x1b[1;31merror:\x1b[0m cannot read"));
    }

    #[test]
    fn a_hint_of_a_library_is_the_help() {
        let text = Failure::new(4, "shop: no connection\nhint: start it").render(false, EN);
        assert_eq!(text, "error: shop: no connection\n  help: start it");
        let several = Failure::new(4, "a: no\nhint: x\nb: no\nhint: y").render(false, EN);
        assert!(several.contains("hint: x\nb: no") && !several.contains("help:"), "{several}");
    }

    #[test]
    fn server_messages_cannot_colour_the_terminal() {
        let said = io::Error::other("access denied for \u{1b}[31mroot\u{1b}]0;owned\u{7}");
        let text = Failure::new(4, "cannot start \u{1b}[2JMySQL")
            .because(&said)
            .help("\u{9b}1A")
            .render(false, EN);
        assert!(
            text.contains("\\u{1b}[31mroot")
                && !text.contains(|c: char| c.is_control() && c != '\n'),
            "{text:?}"
        );
    }
}
