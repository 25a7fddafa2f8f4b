//! Observes the server's machine through a command: `ssh db.example sh`, or any other that runs a
//! POSIX shell.
//!
//! The command is started once per trial. It reads a loop (`sample.sh`) and then a line per sample
//! from its input, and prints the same files that are read on this machine, so that the same
//! parsers process them. The loop ends with its input: when the trial ends, and also when dyno is
//! killed. Nothing is written on the other machine.

mod answer;

use super::host::{Machine, is_memory};
use super::pace::Pace;
use super::processes::{ProcessSample, Processes};
use crate::engine::Values;
use crate::process_stat::ProcessStat;
use answer::{Lines, RemoteSample};
use dyno_drivers::timeout::{CHECK_INTERVAL, is_end_requested};
use dyno_model::monitor::names;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

const SCRIPT: &str = include_str!("look.sh");
/// Timeout for the first answer of the command, which includes a remote login.
const BEGIN_LIMIT: Duration = Duration::from_secs(15);
/// Timeout for the command to end after its input is closed, and for its output to be read: on a
/// busy machine both can be late.
const END_LIMIT: Duration = Duration::from_secs(5);
/// Maximum number of unanswered samples in a row: requests wait in a pipe, which must not fill up.
const UNANSWERED_MAX: u32 = 60;
/// Maximum number of bytes of its error output that are reported.
const ERRORS_MAX: usize = 2000;
/// Estimated processor time per file of a process on the other machine, for the pace.
const PER_FILE: Duration = Duration::from_micros(30);

/// How the server's machine is observed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RemoteCommand {
    /// Executed by the local shell; must run a POSIX shell that reads its input.
    pub command: String,
    /// File on the other machine with the id of the server's process; otherwise the id is found
    /// out.
    pub pid_file: Option<String>,
    /// Environment variables that are not passed on because they hold passwords.
    pub hidden: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Remote {
    child: Child,
    has_ended: bool,
    /// `None` when the command is to end.
    input: Option<ChildStdin>,
    answers: Receiver<Result<RemoteSample, String>>,
    errors: Receiver<Vec<u8>>,
    request_number: u64,
    requested_at: Instant,
    /// Number of unanswered samples in a row.
    unanswered: u32,
    ticks: f64,
    devices: Vec<String>,
    server: Option<u32>,
    has_children: bool,
    processes: Processes,
    children_pace: Pace,
    details_pace: Pace,
}

impl Remote {
    /// Starts the command and waits for its first answer. `traces` are hints from the server by
    /// which its process can be found: words of the request `begin`, best first. `has_children` is
    /// true when each session is a separate process.
    ///
    /// # Errors
    /// Why the command is unusable, with its output.
    pub(super) fn start(
        command: &RemoteCommand,
        traces: Vec<String>,
        has_children: bool,
    ) -> Result<Self, String> {
        let mut shell = Command::new("sh");
        shell.args(["-c", &command.command]).process_group(0);
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for name in &command.hidden {
            shell.env_remove(name);
        }
        let mut child = shell.spawn().map_err(|error| format!("could not be started: {error}"))?;
        let (answer, answers) = channel();
        let (error, errors) = channel();
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let complaints = child.stderr.take();
        // Not joined: the threads end with the command's output, which END_LIMIT bounds.
        if let Some(output) = output {
            std::thread::spawn(move || read_answers(output, &answer));
        }
        if let Some(complaints) = complaints {
            std::thread::spawn(move || read_errors(complaints, &error));
        }
        let mut remote = Self {
            child,
            has_ended: false,
            input,
            answers,
            errors,
            request_number: 0,
            requested_at: Instant::now(),
            unanswered: 0,
            ticks: 100.0,
            devices: Vec::new(),
            server: None,
            has_children,
            processes: Processes::of_server(Vec::new(), has_children),
            children_pace: Pace::default(),
            details_pace: Pace::default(),
        };
        let given = command.pid_file.as_ref().map(|file| vec![format!("file:{file}")]);
        let words = given.unwrap_or(traces);
        let until = Instant::now() + BEGIN_LIMIT;
        let late = format!("did not answer within {} s", BEGIN_LIMIT.as_secs());
        remote.send(SCRIPT)?;
        if remote.receive(until)?.is_none() {
            return Err(remote.end_and_describe(&late));
        }
        remote.order("begin", &words.join(" "))?;
        let Some(answer) = remote.receive(until)? else {
            return Err(remote.end_and_describe(&late));
        };
        remote.ticks = answer.text("dyno ticks").trim().parse().unwrap_or(100.0);
        remote.devices = answer.text("dyno devices").lines().map(str::to_owned).collect();
        remote.server = answer.text("dyno process").trim().parse().ok();
        Ok(remote)
    }

    /// Requests a sample; [`Remote::sample`] returns the answer.
    ///
    /// # Errors
    /// When the command has ended.
    pub(super) fn ask(&mut self, is_boundary: bool) -> Result<(), String> {
        if self.unanswered >= UNANSWERED_MAX {
            return Err(
                self.end_and_describe(&format!("left {UNANSWERED_MAX} samples without an answer"))
            );
        }
        let now = Instant::now();
        let has_details = is_boundary || self.details_pace.is_due(now);
        let has_children = self.has_children && (is_boundary || self.children_pace.is_due(now));
        let order = if has_details { "more" } else { "look" };
        self.order(order, if has_children { "children" } else { "alone" })
    }

    /// Adds the command's answer to the last request to `values`; adds nothing when there is none
    /// by `until`.
    ///
    /// # Errors
    /// When the command has ended.
    pub(super) fn sample(&mut self, until: Instant, values: &mut Values) -> Result<(), String> {
        let Some(answer) = self.receive(until)? else {
            self.unanswered += 1;
            return Ok(());
        };
        self.unanswered = 0;
        values.put(names::COMMAND_ANSWER, self.requested_at.elapsed().as_secs_f64());
        values.put(names::MONITOR_COMMAND_CPU, answer.cpu_seconds());
        Machine::put(
            |path| answer.text(path).to_owned(),
            |device| {
                !is_memory(device)
                    && self.devices.iter().any(|known| known.replace('!', "/") == device)
            },
            self.ticks,
            values,
        );
        self.put_processes(&answer, values);
        Ok(())
    }

    fn put_processes(&mut self, answer: &RemoteSample, values: &mut Values) {
        let Some(server) = self.server else { return };
        let processes = answer.processes(server);
        // Without its children the sum would decrease.
        if processes.last() != Some(&server) || (self.has_children && processes.len() < 2) {
            return;
        }
        let text =
            |process: u32, file: &str| answer.text(&format!("/proc/{process}/{file}")).to_owned();
        let seen = processes.iter().filter_map(|process| {
            let stat = ProcessStat::parse(&text(*process, "stat"))?;
            Some(ProcessSample::of_texts(
                *process,
                stat,
                text(*process, "status"),
                text(*process, "io"),
            ))
        });
        let seen: Vec<ProcessSample> = seen.collect();
        let has_details = seen.iter().any(ProcessSample::has_status);
        self.processes.put_seen(&seen, self.ticks, has_details, values);
        let files = PER_FILE * u32::try_from(seen.len()).unwrap_or(u32::MAX);
        let now = Instant::now();
        self.children_pace.note(now, 2 * files);
        if has_details {
            self.details_pace.note(now, 3 * files);
        }
    }

    fn order(&mut self, order: &str, words: &str) -> Result<(), String> {
        self.request_number += 1;
        self.requested_at = Instant::now();
        self.send(&format!("{order} {} {words}\n", self.request_number))
    }

    fn send(&mut self, text: &str) -> Result<(), String> {
        let sent = match &mut self.input {
            Some(input) => input.write_all(text.as_bytes()).and_then(|()| input.flush()).is_ok(),
            None => false,
        };
        if sent { Ok(()) } else { Err(self.end_and_describe("ended")) }
    }

    /// The answer to the last request; older ones came too late and belong to no known time.
    fn receive(&mut self, until: Instant) -> Result<Option<RemoteSample>, String> {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.answers.recv_timeout(left.min(CHECK_INTERVAL)) {
                Ok(Ok(answer)) if answer.request_number == self.request_number => {
                    return Ok(Some(answer));
                }
                Ok(Err(why)) => return Err(self.end_and_describe(&why)),
                Err(RecvTimeoutError::Timeout) if left.is_zero() || is_end_requested() => {
                    return Ok(None);
                }
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.end_and_describe("ended")),
            }
        }
    }

    /// Ends the command and describes the failure, with its error output if any.
    fn end_and_describe(&mut self, what: &str) -> String {
        let status = self.end();
        let how = status.map_or_else(|| what.to_owned(), |status| format!("{what} ({status})"));
        let output = self.errors.recv_timeout(END_LIMIT).unwrap_or_default();
        let output =
            String::from_utf8_lossy(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        if output.is_empty() { how } else { format!("{how}: {output}") }
    }

    /// Closes its input and waits for its end; whatever has not ended by then is killed, including
    /// processes that it left running.
    fn end(&mut self) -> Option<std::process::ExitStatus> {
        self.input = None;
        let group = Pid::from_child(&self.child);
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let until = Instant::now() + END_LIMIT;
        while matches!(waitid(WaitId::Pid(group), options), Ok(None)) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        // The group has the id of this child, which is reaped only below: until then the id is not
        // reused.
        if !self.has_ended {
            let _ = kill_process_group(group, Signal::KILL);
            self.has_ended = true;
        }
        let status = self.child.wait().ok();
        // Its output is closed when all of its processes have ended.
        let until = Instant::now() + END_LIMIT;
        while !matches!(
            self.answers.recv_timeout(until.saturating_duration_since(Instant::now())),
            Err(RecvTimeoutError::Disconnected | RecvTimeoutError::Timeout)
        ) {}
        status
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.end();
    }
}

fn read_answers(output: impl Read, answers: &Sender<Result<RemoteSample, String>>) {
    let mut output = BufReader::new(output);
    let (mut lines, mut line) = (Lines::default(), Vec::new());
    loop {
        line.clear();
        let room = lines.room();
        if room == 0 {
            let _ = answers.send(Err("printed more than 16 MiB in one answer".to_owned()));
            return;
        }
        match (&mut output).take(room).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&line);
        if let Some(answer) = lines.take(text.trim_end_matches(['\n', '\r']))
            && answers.send(Ok(answer)).is_err()
        {
            return;
        }
    }
}

/// Keeps the beginning of its error output and reads the rest, so that the command never blocks on
/// it.
fn read_errors(mut stderr: impl Read, errors: &Sender<Vec<u8>>) {
    let (mut beginning, mut buffer) = (Vec::new(), [0; 1024]);
    while let Ok(length @ 1..) = stderr.read(&mut buffer) {
        let room = ERRORS_MAX.saturating_sub(beginning.len()).min(length);
        beginning.extend_from_slice(&buffer[..room]);
    }
    let _ = errors.send(beginning);
}

#[cfg(test)]
mod tests;
