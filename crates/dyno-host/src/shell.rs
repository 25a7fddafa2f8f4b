//! Shell commands of the user: what can be said of one without running it, and running one.

use crate::error::{HostError, quoted};
use crate::guard::{Guard, GuardCommand, Launch};
use crate::server::log;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Lines of a command's output that are shown with its failure.
const OUTPUT_LINES: usize = 15;

/// What a command wrote at its end, as the end of a sentence about its failure.
pub(crate) fn last_words(output: &Path) -> String {
    match log::tail(output, OUTPUT_LINES).as_slice() {
        [] => "; it wrote nothing".to_owned(),
        lines => format!("; the last lines of its output:{}", quoted(lines)),
    }
}

/// Runs a command as dyno's user in dyno's working folder; it ends with dyno.
///
/// # Errors
/// When it fails, or takes longer than the limit.
pub fn run(command: &str, limit: Duration, guard: &GuardCommand) -> Result<(), HostError> {
    let mut guard = Guard::start(guard)?;
    let output = guard.make_own_folder(&std::env::temp_dir(), "dyno-command", None)?.join("output");
    guard.launch(Launch {
        program: PathBuf::from("/bin/sh"),
        arguments: vec!["-c".to_owned(), command.to_owned()],
        folder: std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/")),
        log: output.clone(),
        environment: std::env::var("HOME").ok().map(|home| ("HOME".to_owned(), home)).into_iter().collect(),
        ..Launch::default()
    })?;
    match guard.wait_exit(limit)? {
        Some(exit) if exit.is_success() => Ok(()),
        Some(exit) => {
            let said = last_words(&output);
            Err(HostError::new(format!("the command {exit}{said}")))
        }
        None => Err(HostError::new(format!("the command did not end within {} s", limit.as_secs()))),
    }
}

/// Words after which a line is no simple command any more.
const KEYWORDS: [&str; 9] = ["if", "for", "while", "until", "case", "function", "{", "(", "!"];

/// The first program that a command line names and that the shell does not find here. Only lines that begin with a plain word are
/// looked at, and none after the first that is not as simple: a command that is missing on purpose (`a || b`) is no mistake.
#[must_use]
pub fn missing_command(text: &str) -> Option<&str> {
    if ["||", "()", "<<"].iter().any(|sign| text.contains(sign)) {
        return None;
    }
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let words = lines.map_while(|line| {
        let word = line.split_whitespace().next()?;
        let is_simple = !line.ends_with('\\') && line.matches(['"', '\'']).count() % 2 == 0;
        (is_simple && !KEYWORDS.contains(&word)).then_some(word)
    });
    let is_plain = |word: &&str| word.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-./+".contains(&b));
    words.filter(is_plain).find(|word| !is_known(word))
}

/// Whether the shell knows a command: a program, or one of its own. A shell that cannot be asked knows everything.
fn is_known(word: &str) -> bool {
    let mut shell = Command::new("sh");
    shell.args(["-c", "command -v -- \"$1\"", "sh", word]);
    let status = shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.map_or(true, |status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_here_is_found_before_it_is_run() {
        let rows = [
            ("no-such-program --now", Some("no-such-program")),
            ("/no/such/file x", Some("/no/such/file")),
            ("# comment\nset -e\nno-such-program", Some("no-such-program")),
            ("true; mkdir -p x", None),
            ("cd / && ls", None),
            ("no-such-program || true", None),
            ("prepare() { true; }\nprepare", None),
            ("if true; then no-such-program; fi", None),
            ("X=1 no-such-program", None),
            ("\"$TOOL\" --now", None),
            ("", None),
        ];
        for (text, expected) in rows {
            assert_eq!(missing_command(text), expected, "{text:?}");
        }
    }
}
