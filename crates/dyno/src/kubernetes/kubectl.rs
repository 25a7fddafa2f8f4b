//! Calls of kubectl, which knows how to reach the user's cluster.

use crate::failure::Failure;
use dyno_files::read_from;
use dyno_model::exit_code::{PREFLIGHT_FAILED, RUN_INCOMPLETE};
use serde_json::Value;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;

/// Longest answer, and longest error message that is read, in bytes.
const ANSWER_MAX: u64 = 64 << 20;
const ERROR_MAX: u64 = 64 << 10;

/// How kubectl is called.
#[derive(Debug, Clone)]
pub(super) struct Kubectl {
    pub(super) context: Option<String>,
    pub(super) namespace: Option<String>,
}

impl Kubectl {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("kubectl");
        let options = [("--context", &self.context), ("--namespace", &self.namespace)];
        for (name, value) in options {
            command.args(value.iter().map(|value| format!("{name}={value}")));
        }
        // Ctrl-C in the terminal is for dyno, which copies the results before it ends.
        command.args(arguments).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Starts kubectl for its output.
    ///
    /// # Errors
    /// When it is not installed.
    pub(super) fn start(&self, arguments: &[&str]) -> Result<Call, Failure> {
        Call::new(&mut self.command(arguments))
    }

    /// Starts kubectl for its output, with an input.
    ///
    /// # Errors
    /// When it is not installed.
    pub(super) fn start_writing(&self, arguments: &[&str]) -> Result<(Call, ChildStdin), Failure> {
        let mut call = Call::new(self.command(arguments).stdin(Stdio::piped()))?;
        let input = call.child.stdin.take().expect("it is a pipe");
        Ok((call, input))
    }

    /// The output of a call.
    ///
    /// # Errors
    /// When it fails, with its message.
    pub(super) fn answer(&self, arguments: &[&str]) -> Result<String, Failure> {
        self.start(arguments)?.answer()
    }

    /// The objects that a call prints as JSON.
    ///
    /// # Errors
    /// When it fails, with its message.
    pub(super) fn objects(&self, arguments: &[&str]) -> Result<Value, Failure> {
        Ok(serde_json::from_str(&self.answer(arguments)?).unwrap_or_default())
    }

    /// Creates objects and returns them.
    ///
    /// # Errors
    /// When one is refused, with the message.
    pub(super) fn create(&self, objects: &Value) -> Result<Value, Failure> {
        let (call, mut input) = self.start_writing(&["create", "--filename=-", "--output=json"])?;
        // If it ends early, its message says why.
        let _ = input.write_all(objects.to_string().as_bytes());
        drop(input);
        Ok(serde_json::from_str(&call.answer()?).unwrap_or_default())
    }
}

/// A call that runs.
pub(super) struct Call {
    child: Child,
    errors: thread::JoinHandle<Vec<u8>>,
}

impl Call {
    fn new(command: &mut Command) -> Result<Self, Failure> {
        let mut child = command.spawn().map_err(|error| {
            let failure = Failure::new(PREFLIGHT_FAILED, "cannot run kubectl").because(&error);
            match error.kind() {
                ErrorKind::NotFound => failure.help(
                    "install kubectl, or write the objects without --apply and apply them where it \
                     is installed",
                ),
                _ => failure,
            }
        })?;
        let errors = child.stderr.take().expect("it is a pipe");
        let errors = thread::spawn(move || {
            let mut errors = errors;
            let mut text = Vec::new();
            let _ = errors.by_ref().take(ERROR_MAX).read_to_end(&mut text);
            // It must not wait for somebody who reads the rest.
            let _ = io::copy(&mut errors, &mut io::sink());
            text
        });
        Ok(Self { child, errors })
    }

    /// Its output, once.
    pub(super) fn reader(&mut self) -> ChildStdout {
        self.child.stdout.take().expect("it is a pipe, taken once")
    }

    /// Its complete output.
    fn answer(mut self) -> Result<String, Failure> {
        let output = read_from(self.reader(), ANSWER_MAX);
        self.finish()?;
        let output = output.map_err(|error| {
            Failure::new(RUN_INCOMPLETE, "cannot read kubectl's output").because(&error)
        })?;
        Ok(String::from_utf8_lossy(&output).into_owned())
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// When it fails, with its message.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        let status = self.child.wait();
        let errors = self.errors.join().unwrap_or_default();
        if status.is_ok_and(|status| status.success()) {
            return Ok(());
        }
        Err(failure_of(String::from_utf8_lossy(&errors).trim()))
    }
}

/// What kubectl says, with a remedy for what the API server refuses.
fn failure_of(text: &str) -> Failure {
    let failure = Failure::new(PREFLIGHT_FAILED, format!("kubectl: {text}"));
    match reason(text) {
        Some("Forbidden") => failure.help(
            "your account must be allowed to create, get and delete jobs, config maps, service \
             accounts, roles and role bindings, and to read logs of pods and execute commands in \
             them; or write the objects without --apply and have them applied",
        ),
        Some("NotFound") if text.contains("namespaces ") => {
            failure.help("create the namespace: kubectl create namespace NAME")
        }
        None => failure.help("check --context and the configuration: kubectl cluster-info"),
        Some(_) => failure,
    }
}

/// The API server's reason in a message such as `Error from server (Forbidden): ...`.
pub(super) fn reason(text: &str) -> Option<&str> {
    let rest = text.split_once("rror from server (")?.1;
    rest.split_once(')').map(|(reason, _)| reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_report::EN;

    #[test]
    fn kubernetes_api_errors_are_reported_with_a_remedy() {
        let rows = [
            ("Error from server (Forbidden): jobs.batch is forbidden", "must be allowed to create"),
            (
                "Error from server (NotFound): error when creating \"STDIN\": namespaces \"x\" not found",
                "create the namespace",
            ),
            ("The connection to the server 127.0.0.1:1 was refused", "check --context"),
        ];
        for (text, remedy) in rows {
            let failure = failure_of(text).render(false, EN);
            assert!(failure.contains(text) && failure.contains(remedy), "{failure}");
        }
        assert_eq!(reason("Error from server (NotFound): jobs \"x\""), Some("NotFound"));
    }
}
