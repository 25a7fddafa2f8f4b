//! Runs a program for its answer: its version, or its verdict on settings.

use std::io::{self, Read};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use tracing::debug;

/// Time limit for an answer; answers take 40 to 80 ms as measured.
const LIMIT: Duration = Duration::from_secs(20);
/// Maximum size of an answer in bytes. The largest known one, MySQL's list of options, has a tenth
/// of a megabyte. Output beyond the maximum is not read.
const ANSWER_MAX: u64 = 4 << 20;

/// An answer.
pub(crate) struct CommandOutput {
    /// The beginning of its output on the pipe.
    pub(crate) text: String,
    /// Exit status; `None` when the program had to be killed.
    pub(crate) status: Option<ExitStatus>,
}

/// Runs a program, one of whose outputs is a pipe, to its end.
///
/// # Errors
/// When it cannot be run.
pub(crate) fn ask(command: &mut Command) -> io::Result<CommandOutput> {
    ask_within(command, LIMIT)
}

fn ask_within(command: &mut Command, limit: Duration) -> io::Result<CommandOutput> {
    let mut child = command.stdin(Stdio::null()).env("LC_ALL", "C").spawn()?;
    let output = child.stdout.take().map(|output| Box::new(output) as Box<dyn Read + Send>);
    let errors = child.stderr.take().map(|errors| Box::new(errors) as Box<dyn Read + Send>);
    let pipe =
        output.or(errors).ok_or_else(|| io::Error::other("neither stdout nor stderr is a pipe"))?;
    let (sender, answers) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.take(ANSWER_MAX).read_to_end(&mut bytes);
        sender.send(bytes)
    });
    let deadline = Instant::now() + limit;
    // A process that it left running may hold the pipe open.
    let bytes = answers.recv_timeout(limit).unwrap_or_default();
    let mut status = child.try_wait()?;
    while status.is_none() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
        status = child.try_wait()?;
    }
    if status.is_none() {
        let _ = child.kill();
        let _ = child.wait();
    }
    debug!(?command, ?status, "asked a program");
    Ok(CommandOutput { text: String::from_utf8_lossy(&bytes).into_owned(), status })
}

/// The lines of a program's output; empty when it cannot be run.
pub(crate) fn words(command: &mut Command) -> Vec<String> {
    let answer = ask(command.current_dir("/"));
    answer.map(|answer| answer.text.lines().map(str::to_owned).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer_to(script: &str, limit: Duration) -> CommandOutput {
        ask_within(Command::new("sh").args(["-c", script]).stdout(Stdio::piped()), limit).unwrap()
    }

    #[test]
    fn a_program_with_endless_output_is_stopped() {
        let answer = answer_to("exec yes", Duration::from_secs(3600));
        assert_eq!(answer.text.len() as u64, ANSWER_MAX);
        assert!(!answer.status.expect("it cannot write any more").success());
    }

    #[test]
    fn hanging_program_is_killed_without_waiting_for_children() {
        assert!(answer_to("exec sleep 3600", Duration::from_millis(50)).status.is_none());
        let (sender, end) = mpsc::channel();
        std::thread::spawn(move || {
            // The child process ends with this test's pipe.
            sender.send(answer_to("sleep 2 & echo 1.2; exit 3", Duration::from_millis(300)).status)
        });
        let status = end.recv_timeout(Duration::from_secs(60)).expect("it returns");
        assert_eq!(status.and_then(|status| status.code()), Some(3));
    }
}
