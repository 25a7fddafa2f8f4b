//! Shell commands of the user: checks them without running them, and runs them.

use crate::error::{HostError, quoted};
use crate::supervisor::{
    Access, Launch, StopStep, Supervisor, SupervisorCommand, SupervisorSignal,
};
use crate::tail::tail;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;
use tracing::debug;

/// Number of output lines that are shown with a failure.
const OUTPUT_LINES: usize = 15;
/// Timeout for a command to end after it was told to.
const TIMEOUT: Duration = Duration::from_secs(5);

/// What happens to processes that a successful command leaves running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remaining {
    /// They stay.
    Stay,
    /// They are ended.
    End,
}

/// Runs a command as dyno's user in dyno's working directory; it ends with dyno. Error messages
/// begin with `name`.
///
/// # Errors
/// When it fails or exceeds the limit.
pub fn run(
    name: &str,
    command: &str,
    environment: Vec<(String, String)>,
    limit: Duration,
    remaining: Remaining,
    supervisor: &SupervisorCommand,
) -> Result<(), HostError> {
    let mut supervisor = Supervisor::start(supervisor)?;
    let folder =
        supervisor.make_folder(&std::env::temp_dir(), "dyno-command", Access::Passed(None), &[])?;
    let leaves_running = remaining == Remaining::Stay;
    let launch = Launch { leaves_running, ..launch(command, environment, folder.join("output")) };
    run_in(&mut supervisor, launch, name, limit)
}

/// A shell with a command. Of dyno's environment the command sees only the home folder.
pub(crate) fn launch(
    command: &str,
    mut environment: Vec<(String, String)>,
    log: PathBuf,
) -> Launch {
    environment.extend(std::env::var("HOME").ok().map(|home| ("HOME".to_owned(), home)));
    Launch {
        program: PathBuf::from("/bin/sh"),
        arguments: vec!["-c".to_owned(), command.to_owned()],
        folder: std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/")),
        environment,
        log,
        is_command: true,
        ..Launch::default()
    }
}

/// Runs a command to its end. Error messages begin with `name`.
///
/// # Errors
/// When it fails, with the end of its output; or exceeds the limit, after which it is stopped.
pub(crate) fn run_in(
    supervisor: &mut Supervisor,
    launch: Launch,
    name: &str,
    limit: Duration,
) -> Result<(), HostError> {
    let output = launch.log.clone();
    supervisor.handle.launch(launch)?;
    let exit = supervisor.handle.wait_exit(limit);
    if !matches!(exit, Ok(Some(_))) {
        supervisor
            .handle
            .stop(&[StopStep { signal: SupervisorSignal::Terminate, timeout: TIMEOUT }])?;
    }
    let exit = exit?;
    debug!(name, ?exit, "command ended");
    let description = match exit {
        Some(exit) if exit.is_success() => return Ok(()),
        Some(exit) => exit.to_string(),
        None => format!("did not end within {} s", limit.as_secs_f64()),
    };
    let output_end = match tail(&output, OUTPUT_LINES).as_slice() {
        [] => "; it printed nothing".to_owned(),
        lines => format!("; the last lines of its output:{}", quoted(lines)),
    };
    Err(HostError::new(format!("{name} {description}{output_end}")))
}

/// Words at the start of a line that is not a simple command.
const KEYWORDS: [&str; 9] = ["if", "for", "while", "until", "case", "function", "{", "(", "!"];

/// The first program in a command line that the shell cannot find here. Only lines that begin with
/// a plain word are checked, up to the first more complex one: in `a || b` a missing command may be
/// intended.
#[must_use]
pub fn missing_command(text: &str) -> Option<&str> {
    if ["||", "()", "<<"].iter().any(|sign| text.contains(sign)) {
        return None;
    }
    let lines =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let words = lines.map_while(|line| {
        let word = line.split_whitespace().next()?;
        let is_simple = !line.ends_with('\\') && line.matches(['"', '\'']).count() % 2 == 0;
        (is_simple && !KEYWORDS.contains(&word)).then_some(word)
    });
    let is_plain =
        |word: &&str| word.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-./+".contains(&b));
    words.filter(is_plain).find(|word| !is_known(word))
}

/// Whether the shell knows a command: a program or a builtin. A shell that cannot be queried counts
/// as knowing everything.
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
    fn a_missing_program_is_found_before_the_command_is_run() {
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
