//! A run in the background of a test.

use crate::program::{Bench, Ended, events, signal};
use dyno_model::event::{Event, Phase};
use dyno_model::plan::ServerKind;
use dyno_testkit::{processes_with, wait_until};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A run in the background. It does not outlive its test, whatever that finds.
pub(crate) struct Running<'b> {
    bench: &'b Bench,
    /// Where it writes its results.
    results: PathBuf,
    /// Until it has ended.
    child: Option<Child>,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl<'b> Running<'b> {
    pub(crate) fn start(bench: &'b Bench, spec: &str) -> Self {
        Self::of(bench, bench.command(&["run", spec, "--out", "r"]))
    }

    /// Any command of the program.
    pub(crate) fn of(bench: &'b Bench, mut command: Command) -> Self {
        let out = command.get_args().skip_while(|it| *it != "--out").nth(1);
        let results = bench.path().join(out.unwrap_or("r".as_ref()));
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        Self { bench, results, child: Some(child.expect("dyno can be started")) }
    }

    /// `dyno run` with these arguments, killed while its clients are measured.
    pub(crate) fn killed(bench: &Bench, arguments: &[&str]) {
        let line = [&["run"], arguments, &["--out", "killed"]].concat();
        let run = Running::of(bench, bench.command(&line));
        run.await_phase(Phase::Measure);
        std::fs::remove_dir_all(run.kill()).expect("results of ours");
    }

    /// Kills it, and returns the folder of its results.
    pub(crate) fn kill(mut self) -> PathBuf {
        assert!(!self.is_over(), "it runs");
        std::mem::take(&mut self.results)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.as_ref().expect("it has not ended").id()
    }

    pub(crate) fn interrupt(&self) {
        signal("-INT", self.pid());
    }

    pub(crate) fn is_over(&mut self) -> bool {
        let is_over = |child: &mut Child| child.try_wait().expect("it is our child").is_some();
        self.child.as_mut().is_none_or(is_over)
    }

    /// Waits for the end, which has to come by itself.
    pub(crate) fn ended(mut self) -> Ended {
        wait_until("dyno ends", || self.is_over());
        let child = self.child.take().expect("it has just ended");
        Ended::from(child.wait_with_output().expect("it has ended"))
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        events(&self.results)
    }

    /// Waits until a phase of a trial has begun.
    pub(crate) fn await_phase(&self, awaited: Phase) {
        wait_until("the phase begins", || {
            let is_it = |event: &Event| matches!(event, Event::PhaseStarted { phase, .. } if *phase == awaited);
            self.events().iter().any(is_it)
        });
    }

    /// Processes that work in the scratch folder of a server of this kind.
    pub(crate) fn servers(&self, kind: ServerKind) -> Vec<u32> {
        processes_with(&format!("{}/dyno-{kind}-", self.bench.path().display()))
    }

    /// Halts the server of this kind that the run has started, with all of its processes.
    pub(crate) fn halt(&self, kind: ServerKind) {
        let servers = self.servers(kind);
        assert!(!servers.is_empty(), "no {kind} runs");
        for server in servers {
            // Sessions end when they like.
            let _ = Command::new("kill").args(["-STOP", &server.to_string()]).status();
        }
    }
}
