//! The only module that writes to the terminal, but for the screen of `dyno_live`. Results go to
//! stdout, everything else to stderr; both are readable without colours, and have none when they
//! are not a terminal or `NO_COLOR` is set. Foreign text is escaped, so that it can neither control
//! the terminal nor issue commands in a CI service's log ([`dyno_model::printable`]), and passwords
//! are masked ([`dyno_model::mask`]).

use crate::failure::Failure;
use dyno_live::terminal;
use dyno_model::mask::masked;
use dyno_model::printable::{lines, without_commands};
use dyno_model::sync::lock;
use dyno_report::{EN, Label, Lang};
use dyno_store::masked_json;
use dyno_sysbench::Terminal;
use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use tracing::level_filters::LevelFilter;

/// What shows messages instead of stderr.
pub(crate) type Sink = Box<dyn Fn(&str) + Send>;

/// The screen that is shown, if there is one: a message in between would be drawn over.
static DIVERTED: Mutex<Option<Sink>> = Mutex::new(None);

#[derive(Debug, Clone, Copy)]
pub(crate) struct Printer {
    is_quiet: bool,
    is_plain: bool,
    is_stdout_terminal: bool,
    is_stdout_coloured: bool,
    is_stderr_coloured: bool,
    is_stderr_terminal: bool,
    lang: Lang,
}

impl Printer {
    /// Reads the terminal's properties and the environment once.
    pub(crate) fn new() -> Self {
        let is_plain =
            std::env::var_os("TERM").is_none_or(|term| term == "dumb" || term.is_empty());
        let may_colour = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        let (is_stdout_terminal, is_stderr_terminal) =
            (io::stdout().is_terminal(), io::stderr().is_terminal());
        Self {
            is_quiet: false,
            is_plain,
            is_stdout_terminal,
            is_stdout_coloured: may_colour && is_stdout_terminal,
            is_stderr_coloured: may_colour && is_stderr_terminal,
            is_stderr_terminal,
            lang: EN,
        }
    }

    /// The same, with labels in the given language.
    pub(crate) fn speaking(self, lang: Lang) -> Self {
        Self { lang, ..self }
    }

    /// The same, without notes and progress. Results and failures are still printed.
    pub(crate) fn quiet(self) -> Self {
        Self { is_quiet: true, ..self }
    }

    /// True when notes and progress are suppressed.
    pub(crate) fn is_quiet(self) -> bool {
        self.is_quiet
    }

    /// The same, without a screen that redraws itself.
    pub(crate) fn plain(self) -> Self {
        Self { is_plain: true, ..self }
    }

    /// True when a screen may be shown on stderr: it is a terminal that this process may draw on,
    /// and nobody wants diagnostic messages or plain lines.
    pub(crate) fn has_screen(self) -> bool {
        self.is_stderr_terminal
            && !self.is_quiet
            && !self.is_plain
            && LevelFilter::current() == LevelFilter::OFF
            && terminal::can_draw()
    }

    /// True when text on stderr may have colours.
    pub(crate) fn has_colour(self) -> bool {
        self.is_stderr_coloured
    }

    /// Passes messages to a screen instead of stderr, or (`None`) no longer.
    pub(crate) fn divert(sink: Option<Sink>) {
        *lock(&DIVERTED) = sink;
    }

    /// Writes a piece of a result unchanged.
    ///
    /// # Errors
    /// When stdout cannot be written. A closed pipe is not an error.
    pub(crate) fn raw_result(self, text: &str) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
            _ => Ok(()),
        }
    }

    /// Standard output for bytes that are no text.
    pub(crate) fn raw_output() -> io::StdoutLock<'static> {
        io::stdout().lock()
    }

    /// Writes any other text, without a line end.
    pub(crate) fn raw_message(self, text: &str) {
        let _ = io::stderr().lock().write_all(masked(text).as_bytes());
    }

    /// Writes a result, and a line end if it has none.
    ///
    /// # Errors
    /// When stdout cannot be written. A closed pipe (`| head`) is not an error.
    pub(crate) fn result(self, text: &str) -> Result<(), Failure> {
        self.stdout(&lines(text))
    }

    /// Writes a result that consists of sentences, wrapped to the width of the terminal.
    ///
    /// # Errors
    /// As [`Self::result`].
    pub(crate) fn prose(self, text: &str) -> Result<(), Failure> {
        if self.is_stdout_terminal {
            self.result(&dyno_report::fitted(text))
        } else {
            self.result(text)
        }
    }

    fn stdout(self, text: &str) -> Result<(), Failure> {
        let line_end = if text.ends_with('\n') { "" } else { "\n" };
        let clean = if text.starts_with(['{', '[']) { masked_json(text) } else { masked(text) };
        self.raw_result(&format!("{clean}{line_end}")).map_err(|error| {
            Failure::new(dyno_model::exit_code::RESULTS_FAILED, "cannot write to standard output")
                .because(&error)
        })
    }

    /// Both streams unchanged, for a command whose output equals another program's byte by byte.
    pub(crate) fn terminal() -> Terminal {
        Terminal { out: Box::new(io::stdout()), error: Box::new(io::stderr()) }
    }

    /// A progress message.
    pub(crate) fn note(self, text: &str) {
        if !self.is_quiet {
            self.message(&lines(text));
        }
    }

    /// A diagnostic message, in quiet mode as well: somebody asked for it.
    pub(crate) fn diagnosis(self, text: &str) {
        Self::stderr(&lines(text));
    }

    /// A problem that did not end the work; printed in quiet mode as well, because it may explain
    /// the exit code.
    pub(crate) fn warning(self, text: &str) {
        self.message(&format!("{} {}", self.label(Label::Warning, "33"), lines(text)));
    }

    /// The failure that ended the work.
    pub(crate) fn failure(self, failure: &Failure) {
        self.message(&failure.render(self.is_stderr_coloured, self.lang));
    }

    /// Output of clap: help and version are results, everything else is a failure.
    pub(crate) fn usage(self, error: &clap::Error) -> Result<(), Failure> {
        let text = |is_coloured: bool| {
            let styled = error.render();
            if is_coloured { styled.ansi().to_string() } else { styled.to_string() }
        };
        if error.use_stderr() {
            Self::stderr(text(self.is_stderr_coloured).trim_end());
            Ok(())
        } else {
            self.stdout(&text(self.is_stdout_coloured))
        }
    }

    fn label(self, label: Label, colour: &str) -> String {
        let word = dyno_report::label(label, self.lang);
        if self.is_stderr_coloured {
            format!("\x1b[1;{colour}m{word}\x1b[0m")
        } else {
            word.to_owned()
        }
    }

    /// A text on stderr, wrapped to the width of the terminal.
    fn message(self, text: &str) {
        if self.is_stderr_terminal {
            Self::stderr(&dyno_report::fitted(text));
        } else {
            Self::stderr(text);
        }
    }

    /// If stderr is closed, the error cannot be reported either.
    fn stderr(text: &str) {
        let clean = masked(text);
        let clean = without_commands(&clean);
        let diverted = lock(&DIVERTED);
        match &*diverted {
            Some(sink) => clean.lines().for_each(sink),
            None => drop(writeln!(io::stderr().lock(), "{clean}")),
        }
    }
}
