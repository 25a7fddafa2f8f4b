//! All output: log lines on standard output with sysbench's levels, errors of the command line on
//! standard error. Nothing else in the crate writes to the terminal, and no message contains a
//! password ([`dyno_model::mask`]).

pub(crate) use dyno_lua::LogLevel as Level;
use dyno_model::mask::masked;
use dyno_model::sync::lock;
use std::fmt;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// The prefix of lines of a level.
fn prefix(level: Level) -> &'static str {
    match level {
        Level::Fatal => "FATAL: ",
        Level::Alert => "ALERT: ",
        Level::Warning => "WARNING: ",
        Level::Notice | Level::Info => "",
        Level::Debug => "DEBUG: ",
    }
}

/// The destination of the output: two streams, normally those of the process, opened by the caller.
pub struct Terminal {
    /// Results and the log.
    pub out: Box<dyn Write + Send>,
    /// Errors of the command line.
    pub error: Box<dyn Write + Send>,
}

/// Writes log lines. Shared by all threads; every line is flushed at once, because users and
/// scripts watch them.
pub(crate) struct Logger {
    streams: Mutex<Streams>,
    verbosity: AtomicU8,
    is_closed: AtomicBool,
    has_lost: AtomicBool,
}

struct Streams {
    terminal: Terminal,
    last: Option<(Level, String)>,
    repeated: u64,
    /// With `--json` on standard output, log lines go to standard error so that standard output
    /// contains only the document.
    is_log_diverted: bool,
}

impl Logger {
    /// A logger with the default verbosity: notices and more severe.
    pub(crate) fn new(terminal: Terminal) -> Self {
        Self {
            streams: Mutex::new(Streams {
                terminal,
                last: None,
                repeated: 0,
                is_log_diverted: false,
            }),
            verbosity: AtomicU8::new(Level::Notice as u8),
            is_closed: AtomicBool::new(false),
            has_lost: AtomicBool::new(false),
        }
    }

    /// Sets the least severe level that is written, 0 to 5.
    pub(crate) fn set_verbosity(&self, verbosity: u8) {
        self.verbosity.store(verbosity, Ordering::Relaxed);
    }

    /// From now on log lines go to standard error; standard output is reserved for a document.
    pub(crate) fn divert_log(&self) {
        self.lock().is_log_diverted = true;
    }

    /// True when lines of this level are written.
    pub(crate) fn is_enabled(&self, level: Level) -> bool {
        level as u8 <= self.verbosity.load(Ordering::Relaxed)
    }

    /// True when nothing reads standard output any more (`| head`), so that a run may end early.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Relaxed)
    }

    /// True when output was lost for another reason, such as a full disk. This was reported on
    /// standard error.
    pub(crate) fn has_lost(&self) -> bool {
        self.has_lost.load(Ordering::Relaxed)
    }

    /// Writes one message, possibly of several lines. An identical message is only counted, and the
    /// count is written before the next different one.
    pub(crate) fn log(&self, level: Level, text: &str) {
        if !self.is_enabled(level) {
            return;
        }
        let mut streams = self.lock();
        if streams
            .last
            .as_ref()
            .is_some_and(|(last_level, last)| *last_level == level && last == text)
        {
            streams.repeated += 1;
            return;
        }
        let line = format!("{}{}{text}\n", streams.repetitions(), prefix(level));
        streams.last = Some((level, text.to_owned()));
        self.write(&mut streams, &line);
    }

    /// Writes a line with the elapsed time; never counted as a repetition.
    pub(crate) fn timestamped(&self, level: Level, elapsed: Duration, text: &str) {
        if !self.is_enabled(level) {
            return;
        }
        let mut streams = self.lock();
        let (repetitions, prefix) = (streams.repetitions(), prefix(level));
        let line = format!("{repetitions}{prefix}[ {}s ] {text}\n", Seconds(elapsed));
        streams.last = None;
        self.write(&mut streams, &line);
    }

    /// An error that ends the program.
    pub(crate) fn fatal(&self, text: &str) {
        self.log(Level::Fatal, text);
    }

    /// A condition that may distort the results.
    pub(crate) fn warning(&self, text: &str) {
        self.log(Level::Warning, text);
    }

    /// Headings and results.
    pub(crate) fn notice(&self, text: &str) {
        self.log(Level::Notice, text);
    }

    /// Writes lines that the logger of another process has written.
    pub(crate) fn forward(&self, lines: &str) {
        let mut streams = self.lock();
        let lines = format!("{}{lines}", streams.repetitions());
        streams.last = None;
        self.write(&mut streams, &lines);
    }

    /// Text on standard output for every verbosity: help, version, a JSON document. No line end is
    /// added.
    pub(crate) fn print(&self, text: &str) {
        let mut streams = self.lock();
        let written = streams
            .terminal
            .out
            .write_all(text.as_bytes())
            .and_then(|()| streams.terminal.out.flush());
        self.note_failure(&mut streams, &written);
    }

    /// A line on standard error for every verbosity: an error of the command line.
    pub(crate) fn complain(&self, text: &str) {
        let error = &mut self.lock().terminal.error;
        // If standard error is closed, there is nowhere to report it.
        let _ = writeln!(error, "{}", masked(text)).and_then(|()| error.flush());
    }

    fn write(&self, streams: &mut Streams, line: &str) {
        let diverted = streams.is_log_diverted;
        let stream = if diverted { &mut streams.terminal.error } else { &mut streams.terminal.out };
        let written = stream.write_all(masked(line).as_bytes()).and_then(|()| stream.flush());
        if !diverted {
            self.note_failure(streams, &written);
        }
    }

    fn note_failure(&self, streams: &mut Streams, written: &io::Result<()>) {
        match written {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.is_closed.store(true, Ordering::Relaxed);
            }
            Err(error) => {
                if !self.has_lost.swap(true, Ordering::Relaxed) {
                    // If standard error is closed as well, there is nowhere to report it.
                    let _ = writeln!(
                        streams.terminal.error,
                        "cannot write to standard output: {error}"
                    );
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Streams> {
        // A thread that panicked while writing leaves whole lines or nothing, so logging continues.
        lock(&self.streams)
    }
}

impl Streams {
    /// The line about repetitions of the last message, if any.
    fn repetitions(&mut self) -> String {
        match std::mem::take(&mut self.repeated) {
            0 => String::new(),
            count => format!("(last message repeated {count} times)\n"),
        }
    }
}

/// Seconds in headings and timestamps: integers if possible (to 5 ms), otherwise with the necessary
/// decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seconds(pub(crate) Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hundredths = (self.0.as_millis() + 5) / 10;
        let (whole, rest) = (hundredths / 100, hundredths % 100);
        if rest == 0 {
            write!(f, "{whole}")
        } else if rest.is_multiple_of(10) {
            write!(f, "{whole}.{}", rest / 10)
        } else {
            write!(f, "{whole}.{rest:02}")
        }
    }
}

/// A stream that keeps its content; also for tests of this crate and of its callers.
#[derive(Debug, Clone, Default)]
pub struct Transcript {
    content: Arc<Mutex<Vec<u8>>>,
    /// Maximum number of bytes kept; `None` for all.
    most: Option<usize>,
}

impl Transcript {
    /// Keeps only the beginning.
    pub(crate) fn of_beginning(most: usize) -> Self {
        Self { most: Some(most), ..Self::default() }
    }

    /// The content so far.
    ///
    /// # Panics
    /// Never: all output is text.
    #[must_use]
    pub fn text(&self) -> String {
        let bytes = lock(&self.content);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Write for Transcript {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut content = lock(&self.content);
        let room = self
            .most
            .map_or(bytes.len(), |most| most.saturating_sub(content.len()).min(bytes.len()));
        content.extend_from_slice(&bytes[..room]);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logger() -> (Logger, Transcript, Transcript) {
        let (out, error) = (Transcript::default(), Transcript::default());
        let terminal = Terminal { out: Box::new(out.clone()), error: Box::new(error.clone()) };
        (Logger::new(terminal), out, error)
    }

    #[test]
    fn repeated_messages_are_counted_before_the_next_message() {
        let (logger, out, _) = logger();
        logger.fatal("boom");
        logger.fatal("boom");
        logger.fatal("boom");
        logger.notice("next");
        assert_eq!(out.text(), "FATAL: boom\n(last message repeated 2 times)\nnext\n");
    }

    #[test]
    fn timestamped_lines_are_never_repetitions() {
        let (logger, out, _) = logger();
        logger.timestamped(Level::Notice, Duration::from_secs(1), "same");
        logger.timestamped(Level::Notice, Duration::from_secs(1), "same");
        assert_eq!(out.text(), "[ 1s ] same\n[ 1s ] same\n");
    }

    #[test]
    fn levels_below_the_verbosity_are_not_written() {
        let (logger, out, error) = logger();
        logger.log(Level::Info, "why");
        logger.set_verbosity(0);
        logger.warning("careful");
        logger.fatal("end");
        logger.complain("usage");
        assert_eq!(out.text(), "FATAL: end\n");
        assert_eq!(error.text(), "usage\n");
    }

    #[test]
    fn a_diverted_log_leaves_standard_output_to_the_document() {
        let (logger, out, error) = logger();
        logger.divert_log();
        logger.notice("header");
        logger.print("{}\n");
        assert_eq!((out.text().as_str(), error.text().as_str()), ("{}\n", "header\n"));
    }

    #[test]
    fn seconds_have_only_necessary_decimals() {
        for (millis, text) in
            [(1000, "1"), (1004, "1"), (1500, "1.5"), (250, "0.25"), (9_996, "10")]
        {
            assert_eq!(Seconds(Duration::from_millis(millis)).to_string(), text);
        }
    }
}
