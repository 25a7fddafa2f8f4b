//! Injects faults into the nodes of a server that dyno started, and repairs them.

use crate::control_connection::ControlConnection;
use crate::error::HostError;
use crate::server::cluster_member::ClusterMember;
use crate::server::full_disk::FullDisk;
use crate::server::injected_faults::SharedFaults;
use crate::server::process::POLL;
use crate::server::running::RunningServer;
use crate::supervisor::{
    Launch, SharedMemory, StopStep, SupervisorError, SupervisorHandle, SupervisorSignal,
};
use dyno_model::target::Target;
use std::time::{Duration, Instant};

/// Timeout for a killed process to disappear: the kernel frees its memory meanwhile.
const KILL_LIMIT: Duration = Duration::from_secs(30);

/// How a node is repaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repair {
    /// A node that was ended stays ended.
    Resume,
    /// A node that was ended is started, and must answer.
    Restart,
}

/// A node into which faults can be injected while others use it.
pub struct FaultNode {
    /// Its name: `server`, `node 2`, `data node 1`.
    pub name: String,
    pub(in crate::server) handle: SupervisorHandle,
    /// Starts it again.
    pub(in crate::server) launch: Launch,
    pub(in crate::server) stop: Vec<StopStep>,
    pub(in crate::server) faults: SharedFaults,
    /// Where clients connect; `None` for a node that does not accept clients.
    pub(in crate::server) target: Option<Target>,
    /// The storage of its data; `None` when the storage is shared.
    pub(in crate::server) disk: Option<FullDisk>,
}

impl FaultNode {
    /// True when it accepts clients.
    #[must_use]
    pub fn is_of_clients(&self) -> bool {
        self.target.is_some()
    }

    /// When it was last ended on purpose, if it was.
    #[must_use]
    pub fn ended_at(&self) -> Option<Instant> {
        self.faults.read().ended_at
    }

    /// Kills it and waits until it is gone.
    ///
    /// # Errors
    /// When it is not running.
    pub fn kill(&self) -> Result<(), HostError> {
        self.end(|handle| {
            handle.signal(SupervisorSignal::Kill)?;
            handle.wait_exit(KILL_LIMIT).map(|_| ())
        })
    }

    /// Suspends it.
    ///
    /// # Errors
    /// When it is not running.
    pub fn halt(&self) -> Result<(), HostError> {
        self.runs()?;
        self.handle.signal(SupervisorSignal::Stop)?;
        self.faults.note(|faults| faults.is_halted = true);
        Ok(())
    }

    /// Resumes it.
    ///
    /// # Errors
    /// When it is not running, or not suspended.
    pub fn resume(&self) -> Result<(), HostError> {
        self.runs()?;
        if !self.faults.read().is_halted {
            return Err(HostError::new(format!("{} is not suspended", self.name)));
        }
        self.handle.signal(SupervisorSignal::Continue)?;
        self.faults.note(|faults| faults.is_halted = false);
        Ok(())
    }

    /// Starts it again with its data. Does not wait until it answers.
    ///
    /// # Errors
    /// When it is running, or its program cannot be started.
    pub fn start(&self) -> Result<(), HostError> {
        if self.handle.exit().is_none() {
            return Err(HostError::new(format!("{} is already running", self.name)));
        }
        if !self.faults.explains_exit() {
            // An unexpected end is not repaired.
            self.runs()?;
        }
        self.note_own_end();
        self.handle.launch(self.launch.clone())?;
        // From here on, an end would be unexpected.
        self.faults.note(|faults| (faults.is_ended, faults.has_full_disk) = (false, false));
        Ok(())
    }

    /// It may have ended by itself because of the full disk.
    fn note_own_end(&self) {
        self.faults.note(|faults| {
            if !std::mem::replace(&mut faults.is_ended, true) {
                faults.ended_at = Some(Instant::now());
            }
        });
    }

    /// Checks whether its disk can be filled, before any fault is injected.
    ///
    /// # Errors
    /// When others use the disk too, or it is too large.
    pub fn check_disk(&self) -> Result<(), HostError> {
        self.own_disk()?.check()
    }

    /// Fills the disk of its data.
    ///
    /// # Errors
    /// As [`Self::check_disk`], or when it is not writable.
    pub fn fill_disk(&self) -> Result<(), HostError> {
        // Noted first, as for an intended end.
        self.faults.note(|faults| faults.has_full_disk = true);
        self.own_disk()?.fill()
    }

    /// Frees the space on its disk.
    ///
    /// # Errors
    /// When dyno's file cannot be removed.
    pub fn free_disk(&self) -> Result<(), HostError> {
        self.own_disk()?.free()
    }

    fn own_disk(&self) -> Result<&FullDisk, HostError> {
        let none = || HostError::new(format!("{} has no storage of its own", self.name));
        self.disk.as_ref().ok_or_else(none)
    }

    /// Shuts it down cleanly and starts it again.
    ///
    /// # Errors
    /// When it is not running, or its program cannot be started.
    pub fn restart(&self) -> Result<(), HostError> {
        self.end(|handle| handle.stop(&self.stop).map(|_| ()))?;
        self.start()
    }

    /// Promotes a replica to primary.
    ///
    /// # Errors
    /// When it is not running, or is not a replica.
    pub fn promote(&self) -> Result<(), HostError> {
        self.runs()?;
        let Some(target) = &self.target else {
            return Err(HostError::new("this node does not accept SQL"));
        };
        let promoted = ControlConnection::open(target)
            .and_then(|mut session| session.first("SELECT pg_promote()"));
        match promoted {
            Ok(Some(answer)) if answer == "t" => Ok(()),
            Ok(_) => Err(HostError::new(format!("{} was not promoted within a minute", self.name))),
            Err(failure) => {
                Err(HostError::new(format!("{} cannot be promoted: {failure}", self.name)))
            }
        }
    }

    fn runs(&self) -> Result<(), HostError> {
        match self.handle.exit() {
            None => Ok(()),
            Some(exit) => Err(HostError::new(format!("{} is not running: it {exit}", self.name))),
        }
    }

    fn end(
        &self,
        end: impl FnOnce(&SupervisorHandle) -> Result<(), SupervisorError>,
    ) -> Result<(), HostError> {
        self.runs()?;
        // Noted first, so that its end is not taken for an unexpected one.
        self.faults.note(|faults| {
            faults.is_ended = true;
            faults.is_halted = false;
            faults.ended_at = Some(Instant::now());
        });
        Ok(end(&self.handle)?)
    }

    /// Repairs it: resumes it if it is suspended; if it was ended and is running again, or is
    /// restarted now, waits until it answers. True when it is running.
    ///
    /// # Errors
    /// Why a restarted node does not answer.
    pub fn repair(&self, repair: Repair, limit: Duration) -> Result<bool, HostError> {
        let faults = self.faults.read();
        if faults.is_halted {
            self.resume()?;
        }
        if faults.has_full_disk {
            self.free_disk()?;
        }
        if faults.has_full_disk && !faults.is_ended {
            let answer = self.await_answer(limit);
            // It may be ending only now.
            if self.handle.exit().is_none() {
                return answer.map(|()| true);
            }
            self.note_own_end();
        }
        if self.ended_at().is_none() {
            return Ok(true);
        }
        match (self.faults.read().is_ended, repair) {
            (true, Repair::Resume) => return Ok(false),
            (true, Repair::Restart) => self.start()?,
            (false, _) => {}
        }
        let answer = self.await_answer(limit);
        match repair {
            Repair::Resume => Ok(answer.is_ok()),
            Repair::Restart => answer.map(|()| true),
        }
    }

    fn await_answer(&self, limit: Duration) -> Result<(), HostError> {
        let Some(target) = &self.target else { return Ok(()) };
        let deadline = Instant::now() + limit;
        loop {
            let failure = match ControlConnection::open(target)
                .and_then(|mut session| session.first("SELECT 1"))
            {
                Ok(_) => {
                    if let Some(pid) = self.handle.pid() {
                        self.handle.remove_at_end(SharedMemory::of_process(pid))?;
                    }
                    return Ok(());
                }
                Err(failure) => failure,
            };
            if let Some(exit) = self.handle.wait_exit(POLL)? {
                return Err(HostError::new(format!(
                    "{} {exit} when it was started again",
                    self.name
                )));
            }
            if Instant::now() >= deadline {
                let seconds = limit.as_secs();
                return Err(HostError::new(format!(
                    "{} does not answer {seconds} s after it was started again: {failure}",
                    self.name
                )));
            }
        }
    }
}

impl RunningServer {
    /// Its nodes for fault injection: those that accept clients first, in the order of
    /// [`Self::nodes`]. Empty when there is no process.
    #[must_use]
    pub fn fault_nodes(&self) -> Vec<FaultNode> {
        let names = self.kind.node_names(self.nodes().count() as u32, 0);
        let sql = self.nodes().zip(names).filter_map(|(node, name)| {
            let (supervisor, process) = (node.supervisor.as_ref()?, node.process.as_ref()?);
            Some(FaultNode {
                name,
                handle: supervisor.handle.clone(),
                launch: self.again(node, &process.launch),
                stop: process.stop.clone(),
                faults: node.faults.clone(),
                target: Some(node.target()),
                disk: node.data_location.as_ref().map(FullDisk::of),
            })
        });
        let inner = self.inner.iter().filter_map(|node| {
            Some(FaultNode {
                name: node.name.clone(),
                handle: node.supervisor.handle.clone(),
                launch: without(node.launch.clone()?, |argument| argument == "--initial"),
                stop: Vec::new(),
                faults: node.faults.clone(),
                target: None,
                disk: None,
            })
        });
        sql.chain(inner).collect()
    }

    /// How a node with data is started again: accounts exist, and a node of Galera joins any
    /// remaining one.
    fn again(&self, node: &Self, launch: &Launch) -> Launch {
        let mut launch = without(launch.clone(), |argument| argument.starts_with("--init-file="));
        let group = |node: &Self| node.cluster_member.as_ref().and_then(ClusterMember::group_port);
        if let Some(own) = group(node) {
            let others = self.nodes().filter_map(group).filter(|port| *port != own);
            let others: Vec<String> = others.map(|port| format!("127.0.0.1:{port}")).collect();
            launch = without(launch, |argument| argument.starts_with("--wsrep-cluster-address="));
            launch.arguments.push(format!("--wsrep-cluster-address=gcomm://{}", others.join(",")));
        }
        launch
    }
}

fn without(mut launch: Launch, is_left_out: impl Fn(&str) -> bool) -> Launch {
    launch.arguments.retain(|argument| !is_left_out(argument));
    launch
}
