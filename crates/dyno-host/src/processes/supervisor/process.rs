//! The supervisor process.

use super::last::Heir;
use super::launch::{send, spawn, watch_output};
use super::{
    Access, Exit, FolderOrder, Last, Launch, Order, Reply, SharedMemory, StopStep,
    SupervisorSignal, last,
};
use crate::folder::Folder;
use crate::process_stat::{ProcessStat, all_processes, living};
use crate::supervisor::shared_memory::{remove_abandoned, remove_unused};
use dyno_drivers::open_files::raise_limit;
use dyno_files::{NO_LIMIT, open};
use rustix::fs::Mode;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, kill_process_group,
    set_child_subreaper, umask, wait, waitid, waitpid,
};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, IsTerminal, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, ExitCode, ExitStatus};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant, SystemTime};

/// Time limit for killing orphans and removing folders at the end.
const CLEANING_LIMIT: Duration = Duration::from_secs(10);

/// The supervisor process: executes requests from its input until the input ends, then undoes
/// everything.
#[must_use]
pub fn main() -> ExitCode {
    if io::stdin().is_terminal() {
        let _ = writeln!(
            io::stderr(),
            "dyno supervise: started by dyno itself to look after its servers; not for use by hand"
        );
        return ExitCode::from(dyno_model::exit_code::USAGE);
    }
    // Files created by servers are private.
    umask(Mode::RWXG | Mode::RWXO);
    // Orphans of the processes it starts become its own children, so that it can end them. Without
    // this they continue to run.
    let _ = set_child_subreaper(Some(getpid()));
    // Servers with thousands of connections need as many open files; an unprivileged server cannot
    // raise the limit itself.
    raise_limit();

    let (sender, inputs) = mpsc::channel();
    watch_signals(&sender);
    watch_orders(sender.clone());
    let mut process = SupervisorProcess::new(sender, inputs, Heir::Own);
    process.serve();
    let problems = process.clean();
    reply(&Reply::Finished(problems));
    ExitCode::SUCCESS
}

/// Events that the supervisor handles.
enum Input {
    Order(Order),
    /// A line that is not a request: dyno and supervisor have different versions.
    Nonsense(String),
    /// dyno has ended, or the supervisor was told to end.
    End,
    /// The process with this id ended and waits to be reaped.
    Ended(u32),
    /// A child ended, perhaps an inherited one.
    ChildEnded,
}

/// Interrupts and hang-ups of the terminal concern dyno only; on SIGTERM the supervisor still
/// cleans up. Handlers, unlike ignored signals, are not inherited by the servers.
fn watch_signals(sender: &Sender<Input>) {
    use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
    let signals = signal_hook::iterator::Signals::new([SIGCHLD, SIGHUP, SIGINT, SIGTERM]);
    let Ok(mut signals) = signals else { return };
    let sender = sender.clone();
    std::thread::spawn(move || {
        for signal in signals.forever() {
            let _ = match signal {
                SIGTERM => sender.send(Input::End),
                SIGCHLD => sender.send(Input::ChildEnded),
                _ => Ok(()),
            };
        }
    });
}

fn watch_orders(sender: Sender<Input>) {
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            let input = match serde_json::from_str(&line) {
                Ok(order) => Input::Order(order),
                Err(error) => Input::Nonsense(error.to_string()),
            };
            if sender.send(input).is_err() {
                return;
            }
        }
        let _ = sender.send(Input::End);
    });
}

/// Sends a reply. When dyno has ended nobody reads it, and the end of the input reports that.
fn reply(reply: &Reply) {
    let mut line = serde_json::to_string(reply).expect("replies are plain data with texts as keys");
    line.push('\n');
    let mut output = io::stdout().lock();
    let _ = output.write_all(line.as_bytes()).and_then(|()| output.flush());
}

struct Running {
    child: Child,
    group: Pid,
    stop: Vec<StopStep>,
    leaves_running: bool,
    began: SystemTime,
}

impl Running {
    /// Resumes the process and its children if they were suspended by SIGSTOP: a suspended process
    /// does not handle a request to end.
    fn wake(&self) {
        let _ = kill_process_group(self.group, Signal::CONT);
        send(Signal::CONT, children_of(self.child.id()));
    }
}

/// Result of waiting for a process to end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waited {
    /// It has ended, or the timeout has expired.
    Enough,
    /// As [`Self::Enough`], and dyno ended meanwhile.
    DynoIsGone,
    /// dyno does not want to wait any longer.
    InAHurry,
}

struct SupervisorProcess {
    inputs: Receiver<Input>,
    sender: Sender<Input>,
    running: Option<Running>,
    folders: Vec<PathBuf>,
    keep: Vec<(PathBuf, PathBuf)>,
    shared: SharedMemory,
    /// Ids of the processes that it started or inherited, including those that have ended.
    processes: BTreeSet<u32>,
    last: Vec<Last>,
    /// Start time of the first process that failed.
    broke_off: Option<SystemTime>,
    heir: Heir,
    /// A command succeeded that was meant to leave processes running.
    leaves_orphans: bool,
}

impl SupervisorProcess {
    fn new(sender: Sender<Input>, inputs: Receiver<Input>, heir: Heir) -> Self {
        Self {
            inputs,
            sender,
            running: None,
            folders: Vec::new(),
            keep: Vec::new(),
            shared: SharedMemory::default(),
            processes: BTreeSet::new(),
            last: Vec::new(),
            broke_off: None,
            heir,
            leaves_orphans: false,
        }
    }

    fn serve(&mut self) {
        while let Ok(input) = self.inputs.recv() {
            match input {
                Input::End => return,
                Input::Nonsense(reason) => {
                    reply(&Reply::Refused(format!("invalid request: {reason}")));
                }
                Input::Ended(pid) => self.reap(pid),
                Input::ChildEnded => self.reap_inherited(),
                Input::Order(Order::MakeFolder(order)) => match make_folder(&order) {
                    Ok(path) => {
                        self.folders.push(path.clone());
                        reply(&Reply::Folder(path));
                    }
                    Err(error) => reply(&Reply::Refused(error.to_string())),
                },
                Input::Order(Order::Start(launch)) => self.start(launch),
                Input::Order(Order::Stop(steps)) => {
                    if self.stop(&steps) {
                        return;
                    }
                }
                Input::Order(Order::Signal(signal)) => reply(&match &self.running {
                    Some(running) => {
                        let sent = kill_process_group(running.group, signal.as_signal());
                        // PostgreSQL's processes are in groups of their own. Those of a killed one
                        // are killed when it is reaped.
                        if signal != SupervisorSignal::Kill {
                            send(signal.as_signal(), descendants_of(running.child.id()));
                        }
                        sent.map_or_else(
                            |error| Reply::Refused(error.to_string()),
                            |()| Reply::Signalled,
                        )
                    }
                    None => Reply::Refused("no process is running".to_owned()),
                }),
                // The process to be killed has ended meanwhile.
                Input::Order(Order::Hurry) => {}
                Input::Order(Order::Remove(shared)) => self.shared = shared,
                Input::Order(Order::Last(last)) => self.last.push(last),
                Input::Order(Order::Keep { from, to }) => self.keep.push((from, to)),
            }
        }
    }

    fn start(&mut self, launch: Launch) {
        if self.running.is_some() {
            reply(&Reply::Refused("a process is already running".to_owned()));
            return;
        }
        let began = SystemTime::now();
        match spawn(&launch) {
            Ok(child) => {
                let pid = child.id();
                let group = Pid::from_child(&child);
                reply(&Reply::Started { pid });
                self.processes.insert(pid);
                if launch.is_command {
                    watch_output(group, launch.log.clone());
                }
                let (stop, leaves_running) = (launch.stop, launch.leaves_running);
                self.running = Some(Running { child, group, stop, leaves_running, began });
                let sender = self.sender.clone();
                // Waits without reaping: until the child is reaped its id cannot be reused, so
                // signals to it are safe.
                std::thread::spawn(move || {
                    while let Err(rustix::io::Errno::INTR) =
                        waitid(WaitId::Pid(group), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
                    {
                    }
                    let _ = sender.send(Input::Ended(pid));
                });
            }
            Err(error) => {
                reply(&Reply::Refused(format!(
                    "cannot start {}: {error}",
                    launch.program.display()
                )));
            }
        }
    }

    /// The process ended: its group is killed too, unless processes are left on purpose.
    fn reap(&mut self, pid: u32) {
        let Some(mut running) = self.running.take_if(|running| running.child.id() == pid) else {
            return;
        };
        if !running.leaves_running {
            let _ = kill_process_group(running.group, Signal::KILL);
        }
        let status = running.child.wait();
        if running.leaves_running && status.as_ref().is_ok_and(ExitStatus::success) {
            self.leaves_orphans = true;
        }
        if !status.as_ref().is_ok_and(ExitStatus::success) {
            self.broke_off.get_or_insert(running.began);
        }
        self.end_orphans(Instant::now() + CLEANING_LIMIT);
        let exit = status.map_or(Exit { code: None, signal: None }, |status| Exit {
            code: status.code(),
            signal: status.signal(),
        });
        reply(&Reply::Ended(exit));
    }

    /// Stops the running process; true when dyno ended meanwhile.
    fn stop(&mut self, steps: &[StopStep]) -> bool {
        let mut is_end = false;
        for step in steps {
            let Some(running) = &self.running else { return is_end };
            let _ = kill_process_group(running.group, step.signal.as_signal());
            running.wake();
            match self.wait_ended(step.timeout) {
                Waited::Enough => {}
                Waited::DynoIsGone => is_end = true,
                Waited::InAHurry => break,
            }
        }
        if let Some(running) = &self.running {
            let _ = kill_process_group(running.group, Signal::KILL);
            is_end |= self.wait_ended(CLEANING_LIMIT) == Waited::DynoIsGone;
        }
        is_end
    }

    /// Waits until the process has ended or the timeout has expired.
    fn wait_ended(&mut self, timeout: Duration) -> Waited {
        let deadline = Instant::now() + timeout;
        let mut waited = Waited::Enough;
        while self.running.is_some() {
            match self.inputs.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(Input::Ended(pid)) => self.reap(pid),
                Ok(Input::ChildEnded) => self.reap_inherited(),
                Ok(Input::End) => waited = Waited::DynoIsGone,
                Ok(Input::Order(Order::Hurry)) => return Waited::InAHurry,
                // dyno waits for the process to end before it sends another request.
                Ok(Input::Order(_) | Input::Nonsense(_)) => {
                    reply(&Reply::Refused("the process is being stopped".to_owned()));
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        waited
    }

    /// Stops and removes everything; returns what failed.
    fn clean(&mut self) -> Vec<String> {
        let mut problems = Vec::new();
        if let Some(running) = &self.running {
            let steps = running.stop.clone();
            self.stop(&steps);
        }
        let deadline = Instant::now() + CLEANING_LIMIT;
        self.end_orphans(deadline);
        self.shared.remove();
        remove_abandoned(&self.folders, &self.processes);
        if let Some(since) = self.broke_off {
            remove_unused(&self.folders, since);
        }
        for (from, to) in &self.keep {
            // Exclusive, so a link in its place is not followed.
            let copy = || io::copy(&mut open(from, NO_LIMIT)?, &mut File::create_new(to)?);
            if from.exists()
                && let Err(error) = copy()
            {
                problems.push(format!(
                    "cannot copy {} to {}: {error}",
                    from.display(),
                    to.display()
                ));
            }
        }
        problems.extend(last::undo(&self.folders, &self.last, deadline, self.heir));
        problems
    }

    /// Reaps orphans that ended by themselves. A server that one command started and another one
    /// stops is gone only then.
    fn reap_inherited(&mut self) {
        let own = self.running.as_ref().map(|running| running.child.id());
        let orphans = all_processes(|stat| stat.is_zombie && stat.parent == std::process::id());
        for orphan in orphans.into_iter().filter(|it| Some(*it) != own) {
            let _ = waitpid(Pid::from_raw(orphan.cast_signed()), WaitOptions::NOHANG);
            self.processes.insert(orphan);
        }
    }

    /// Kills and reaps children inherited from a dead server, such as PostgreSQL's backends, which
    /// leave the server's process group. Their ids are recorded.
    fn end_orphans(&mut self, deadline: Instant) {
        while self.heir == Heir::Own && !self.leaves_orphans {
            while let Ok(Some((orphan, _))) = wait(WaitOptions::NOHANG) {
                self.processes.insert(orphan.as_raw_pid().unsigned_abs());
            }
            let orphans = children_of(std::process::id());
            if orphans.is_empty() || Instant::now() > deadline {
                return;
            }
            send(Signal::KILL, orphans);
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// True for the name of a folder that a supervisor created.
pub(crate) fn is_scratch(name: &str) -> bool {
    let mut parts = name.rsplitn(3, '-');
    let mut is_number = || parts.next().is_some_and(|part| part.parse::<u32>().is_ok());
    is_number() && is_number() && parts.next().is_some_and(|prefix| prefix.starts_with("dyno-"))
}

/// Works on the open folder only: its parent may belong to a user who replaces it.
fn make_folder(order: &FolderOrder) -> io::Result<PathBuf> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let parent = Folder::open(&order.parent)?;
    // The id of this process is unique among running processes; a folder that a dead one never
    // removed is skipped.
    let (name, folder) = loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{}-{number}", order.prefix, std::process::id());
        match parent.make_folder(&name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            other => break other.map(|folder| (name, folder)),
        }
    }?;
    let give_access = || -> io::Result<()> {
        match order.access {
            Access::Owned(owner) => {
                for inner in &order.inside {
                    folder.make_folder(inner)?.chown(0o700, owner)?;
                }
                folder.chown(0o700, owner)
            }
            Access::Passed(None) => Ok(()),
            Access::Passed(Some(visitor)) => folder.allow_traversal(visitor),
        }
    };
    if let Err(error) = give_access() {
        let _ = parent.remove_all(&name);
        return Err(error);
    }
    Ok(order.parent.join(name))
}

fn children_of(parent: u32) -> Vec<u32> {
    living(|stat| stat.parent == parent)
}

/// Children, their children, and so on, from a single list of all processes. Searching all
/// processes for each of them delayed the stop of a server with 400 client processes by seconds.
fn descendants_of(ancestor: u32) -> Vec<u32> {
    let with_parent = |process: u32| Some((process, ProcessStat::of(process)?.parent));
    let all: Vec<(u32, u32)> = living(|_| true).into_iter().filter_map(with_parent).collect();
    let children = |parent: u32| {
        all.iter().filter(move |(_, its)| *its == parent).map(|(process, _)| *process)
    };
    let mut found: Vec<u32> = children(ancestor).collect();
    let mut at = 0;
    while let Some(process) = found.get(at) {
        found.extend(children(*process));
        at += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::supervisor::SupervisorSignal;
    use std::path::Path;

    /// Longer than any test.
    const FOR_EVER: Duration = Duration::from_secs(24 * 3600);

    /// A supervisor of a shell that has created the file `ready` in the folder and executes `words`
    /// before that.
    fn supervising(words: &str, folder: &Path) -> SupervisorProcess {
        let (sender, inputs) = mpsc::channel();
        let mut process = SupervisorProcess::new(sender, inputs, Heir::Other);
        let script = format!("{words}; touch ready; while :; do sleep 0.05; done");
        process.start(Launch {
            program: "/bin/sh".into(),
            arguments: vec!["-c".to_owned(), script],
            folder: folder.to_owned(),
            log: folder.join("log"),
            is_command: true,
            ..Launch::default()
        });
        let ready = folder.join("ready");
        while process.running.is_some() && !ready.exists() {
            std::thread::yield_now();
        }
        process
    }

    #[test]
    fn a_process_that_does_not_end_is_killed_at_once_on_request() {
        let folder = tempfile::tempdir().unwrap();
        let mut process = supervising("trap '' TERM", folder.path());
        process.sender.send(Input::Order(Order::Hurry)).unwrap();
        process.stop(&[StopStep { signal: SupervisorSignal::Terminate, timeout: FOR_EVER }]);
        assert!(process.running.is_none());
    }

    #[test]
    fn running_command_with_excessive_output_does_not_fill_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        let mut process = supervising("yes | head -c 300000000", folder.path());
        while folder.path().join("log").metadata().unwrap().len() > 20_000_000 {
            std::thread::yield_now();
        }
        process.stop(&[]);
    }

    #[test]
    fn a_suspended_process_is_resumed_before_it_is_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let mut process = supervising("true", folder.path());
        let group = process.running.as_ref().expect("it runs").group;
        kill_process_group(group, Signal::STOP).unwrap();
        let ended =
            process.stop(&[StopStep { signal: SupervisorSignal::Terminate, timeout: FOR_EVER }]);
        assert!(!ended && process.running.is_none());
    }
}
