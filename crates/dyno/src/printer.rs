//! The only place that writes to the terminal. Results go to stdout, everything else to stderr;
//! both are readable without colours, and get none when they are not a terminal or `NO_COLOR` is
//! set. Nothing that came from outside reaches a terminal with characters that it obeys, nor a CI
//! service's log with lines that this obeys ([`dyno_model::printable`]), and no password does
//! ([`dyno_model::mask`]).

use crate::failure::Failure;
use dyno_model::mask::masked;
use dyno_model::printable::{lines, without_commands};
use dyno_report::{EN, Label, Lang};
use dyno_store::masked_json;
use dyno_sysbench::Terminal;
use indicatif::ProgressDrawTarget;
use std::io::{self, IsTerminal, Write};

/// Most often that the progress display is drawn, per second.
const DRAWS_PER_SECOND: u8 = 4;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Printer {
    is_quiet: bool,
    is_stdout_terminal: bool,
    is_stdout_coloured: bool,
    is_stderr_coloured: bool,
    is_stderr_terminal: bool,
    lang: Lang,
}

impl Printer {
    /// Looks at the terminal and the environment once.
    pub(crate) fn new() -> Self {
        let may_colour = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        let (is_stdout_terminal, is_stderr_terminal) =
            (io::stdout().is_terminal(), io::stderr().is_terminal());
        Self {
            is_quiet: false,
            is_stdout_terminal,
            is_stdout_coloured: may_colour && is_stdout_terminal,
            is_stderr_coloured: may_colour && is_stderr_terminal,
            is_stderr_terminal,
            lang: EN,
        }
    }

    /// The same, with its labels in a language.
    pub(crate) fn speaking(self, lang: Lang) -> Self {
        Self { lang, ..self }
    }

    /// The same, without notes and progress. Results and failures are still written.
    pub(crate) fn quiet(self) -> Self {
        Self { is_quiet: true, ..self }
    }

    /// True when notes and progress are not wanted.
    pub(crate) fn is_quiet(self) -> bool {
        self.is_quiet
    }

    /// True when a display that redraws itself has somebody to look at it.
    pub(crate) fn is_interactive(self) -> bool {
        self.is_stderr_terminal && !self.is_quiet
    }

    /// Where a progress display draws.
    pub(crate) fn progress_target(self) -> ProgressDrawTarget {
        if self.is_interactive() {
            ProgressDrawTarget::stderr_with_hz(DRAWS_PER_SECOND)
        } else {
            ProgressDrawTarget::hidden()
        }
    }

    /// Writes a piece of a result as it is.
    ///
    /// # Errors
    /// When stdout takes no more. A reader that has gone is nobody's loss, and no error.
    pub(crate) fn raw_result(self, text: &str) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
            _ => Ok(()),
        }
    }

    /// Writes a piece of anything else, without a line end.
    pub(crate) fn raw_message(self, text: &str) {
        let _ = io::stderr().lock().write_all(masked(text).as_bytes());
    }

    /// Writes a result, and a line end if it has none.
    ///
    /// # Errors
    /// When stdout takes no more. A reader that has seen enough (`| head`) is no error.
    pub(crate) fn result(self, text: &str) -> Result<(), Failure> {
        self.stdout(&lines(text))
    }

    /// Writes a result that is made of sentences. A terminal gets lines that it need not break.
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

    /// The two streams as they are, for a command whose output is another program's to the byte.
    pub(crate) fn terminal() -> Terminal {
        Terminal { out: Box::new(io::stdout()), error: Box::new(io::stderr()) }
    }

    /// A line about what is going on.
    pub(crate) fn note(self, text: &str) {
        if !self.is_quiet {
            self.message(&lines(text));
        }
    }

    /// Something that went wrong without ending the work; a quiet program says it too, for it may
    /// be why the exit code is not 0.
    pub(crate) fn warning(self, text: &str) {
        self.message(&format!("{} {}", self.label(Label::Warning, "33"), lines(text)));
    }

    /// What ended the work.
    pub(crate) fn failure(self, failure: &Failure) {
        self.message(&failure.render(self.is_stderr_coloured, self.lang));
    }

    /// What clap has to say: help and version are results, everything else is a failure.
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

    /// A text on stderr. A terminal gets lines that it need not break.
    fn message(self, text: &str) {
        if self.is_stderr_terminal {
            Self::stderr(&dyno_report::fitted(text));
        } else {
            Self::stderr(text);
        }
    }

    /// Nothing can be done when stderr is gone, and nobody could be told.
    fn stderr(text: &str) {
        let _ = writeln!(io::stderr().lock(), "{}", without_commands(&masked(text)));
    }
}
