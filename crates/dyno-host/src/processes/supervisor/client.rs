//! dyno's handle of the supervisor process.

use super::handle::{ANSWER_LIMIT, State, SupervisorError, SupervisorHandle};
use super::last::Heir;
use super::{Access, FolderOrder, Last, Order, Reply, StopStep, SupervisorCommand, last};
use crate::process_stat::living;
use crate::supervisor::shared_memory::{remove_abandoned, remove_unused};
use dyno_drivers::timeout;
use dyno_model::reason::Reason;
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// Reported when the user does not wait for the supervisor.
const LEFT_ALONE: &str = "interrupted while the supervisor of the server (dyno supervise) was \
                          cleaning up; it continues alone to ";

/// Environment variables that servers inherit: paths of programs and libraries, nothing that holds
/// a secret.
const ENVIRONMENT_KEPT: [&str; 6] =
    ["PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "TZ", "MALLOC_CONF", "MALLOC_ARENA_MAX"];

/// A supervisor process. Dropping it stops and removes everything that it manages.
pub struct Supervisor {
    child: Child,
    /// Starts and stops its process. A clone is another handle, for injecting faults from
    /// elsewhere.
    pub handle: SupervisorHandle,
    folders: Vec<PathBuf>,
    began: SystemTime,
    /// The final commands, in case the supervisor is killed before it runs them.
    last: Vec<Last>,
}

impl Supervisor {
    /// Starts a supervisor.
    ///
    /// # Errors
    /// When its program cannot be started.
    pub fn start(command: &SupervisorCommand) -> Result<Self, SupervisorError> {
        let failed = |error| SupervisorError::Start { program: command.program.clone(), error };
        let mut child = Command::new(&command.program)
            .args(&command.arguments)
            .env_clear()
            .envs(ENVIRONMENT_KEPT.iter().filter_map(|name| Some((name, std::env::var_os(name)?))))
            .env("LC_ALL", "C")
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let orders = child.stdin.take();
        let replies = child.stdout.take().ok_or(SupervisorError::Gone)?;
        let handle = SupervisorHandle::hold(orders, replies).map_err(failed)?;
        Ok(Self { child, handle, folders: Vec::new(), began: SystemTime::now(), last: Vec::new() })
    }

    /// Creates a folder with subfolders; it is removed when the supervisor ends.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn make_folder(
        &mut self,
        parent: &Path,
        prefix: &str,
        access: Access,
        inside: &[&str],
    ) -> Result<PathBuf, SupervisorError> {
        let inside = inside.iter().map(|name| (*name).to_owned()).collect();
        let (parent, prefix) = (parent.to_owned(), prefix.to_owned());
        self.handle.order(&Order::MakeFolder(FolderOrder { parent, prefix, access, inside }))?;
        match self.handle.reply()? {
            Reply::Folder(path) => {
                self.folders.push(path.clone());
                Ok(path)
            }
            _ => Err(SupervisorError::Gone),
        }
    }

    /// How the process or the supervisor itself ended, as the end of a sentence; `None` while they
    /// run.
    #[must_use]
    pub fn end_reason(&self) -> Option<Reason> {
        let state = self.handle.shared.lock();
        state.exit.map(Reason::from).or_else(|| state.is_gone.then_some(Reason::SupervisorLost))
    }

    /// Requests that a file is copied to a permanent place before its folder is removed.
    ///
    /// # Errors
    /// When the supervisor is gone.
    pub fn keep(&mut self, from: PathBuf, to: PathBuf) -> Result<(), SupervisorError> {
        self.handle.order(&Order::Keep { from, to })
    }

    /// Requests that a command is run last, after the server has stopped and its folders are
    /// removed.
    ///
    /// # Errors
    /// When the supervisor is gone.
    pub fn run_at_end(&mut self, last: Last) -> Result<(), SupervisorError> {
        self.handle.order(&Order::Last(last.clone()))?;
        self.last.push(last);
        Ok(())
    }

    /// Stops and removes everything and ends the supervisor; returns what failed. Later calls do
    /// nothing.
    pub fn finish(&mut self) -> Vec<String> {
        if !self.handle.close_input() {
            return Vec::new();
        }
        // The supervisor's input has been closed.
        let limit = ANSWER_LIMIT * 3 + self.last.iter().map(|last| last.limit).sum::<Duration>();
        let interrupts = timeout::interrupts();
        let finished = self.handle.shared.wait_for(limit, interrupts, |state| {
            let last = state.replies.iter().position(|reply| matches!(reply, Reply::Finished(_)));
            match last.and_then(|index| state.replies.remove(index)) {
                Some(Reply::Finished(problems)) => Some(Some(problems)),
                _ if state.is_gone => Some(None),
                _ => None,
            }
        });
        if let Some(Some(problems)) = finished {
            let _ = self.child.wait();
            return problems;
        }
        if timeout::interrupts() > interrupts {
            return vec![format!("{LEFT_ALONE}{}", self.tasks())];
        }
        let mut problems = vec![SupervisorError::Gone.to_string()];
        problems.extend(self.clean_up_locally());
        problems
    }

    /// Stops its process, if it runs, and then everything else; returns what failed.
    pub fn end(&mut self, steps: &[StopStep]) -> Vec<String> {
        let failed = self.handle.stop(steps).err().map(|error| error.to_string());
        failed.into_iter().chain(self.finish()).collect()
    }

    /// The remaining tasks of the supervisor, for messages.
    fn tasks(&self) -> String {
        let folders = self.folders.iter().map(|folder| format!("remove {}", folder.display()));
        let commands = self.last.iter().map(|last| format!("run {}", last.what));
        folders.chain(commands).collect::<Vec<_>>().join(", ")
    }

    /// Does the supervisor's work after it was killed.
    fn clean_up_locally(&mut self) -> Vec<String> {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let State { pid, exit, stop, memory, .. } = self.handle.shared.lock().clone();
        let mut processes: BTreeSet<u32> = pid.into_iter().collect();
        if let (Some(pid), None) = (pid, exit) {
            let group = || living(|stat| stat.group == pid);
            processes.extend(group());
            self.end_orphan(pid, &stop);
            let deadline = Instant::now() + Duration::from_secs(10);
            while !group().is_empty() && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        memory.remove();
        remove_abandoned(&self.folders, &processes);
        remove_unused(&self.folders, self.began);
        last::undo(&self.folders, &self.last, Instant::now(), Heir::Other)
    }

    /// Stops a server whose supervisor is gone. The server is not a child of this process, so its
    /// id may have been reused: only a process that works in our folder is touched.
    fn end_orphan(&self, pid: u32, stop: &[StopStep]) {
        let is_ours = || {
            let folder = fs::read_link(format!("/proc/{pid}/cwd"));
            folder.is_ok_and(|folder| self.folders.iter().any(|ours| folder.starts_with(ours)))
        };
        let Some(group) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return };
        let force = [(Signal::KILL, Duration::from_secs(10))];
        let steps = stop.iter().map(|step| (step.signal.as_signal(), step.timeout));
        for (signal, timeout) in steps.chain(force) {
            let deadline = Instant::now() + timeout;
            if is_ours() {
                let _ = kill_process_group(group, signal);
            }
            while is_ours() && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.finish();
    }
}
