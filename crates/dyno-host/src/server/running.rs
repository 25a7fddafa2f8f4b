//! A running server and how it is stopped.

use super::cluster_member::ClusterMember;
use super::injected_faults::SharedFaults;
use super::inner::InnerNode;
use crate::settings::{Compared, RoundedSetting};
use crate::supervisor::{Exit, Launch, Owner, StopStep, Supervisor, SupervisorCommand};
use dyno_model::plan::ServerKind;
use dyno_model::reason::Reason;
use dyno_model::target::{Endpoint, Engine, Target};
use dyno_model::version::ServerVersion;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

/// A running server. Dropping it stops it.
pub struct RunningServer {
    /// Kind of server.
    pub kind: ServerKind,
    /// The version it reports.
    pub version: ServerVersion,
    /// Settings read back: the requested ones and those that affect results.
    pub settings: BTreeMap<String, String>,
    /// Names of requested settings that the server cannot report.
    pub unread: BTreeSet<String>,
    pub(super) target: Target,
    pub(super) socket: Option<PathBuf>,
    pub(super) supervisor: Option<Supervisor>,
    pub(super) process: Option<ServerProcess>,
    pub(super) data_location: Option<DataLocation>,
    /// Its own role in a cluster, and the nodes that joined it there.
    pub(super) cluster_member: Option<ClusterMember>,
    pub(super) joiners: Vec<RunningServer>,
    pub(super) faults: SharedFaults,
    /// Nodes of its cluster that do not accept clients, in start order.
    pub(super) inner: Vec<InnerNode>,
    /// Time spent copying the data set; 0 when it started empty.
    pub restoring: Duration,
    /// Settings that are in force with a rounded value.
    pub rounded: Vec<RoundedSetting>,
}

/// Location of the data of a server that dyno started, with the information needed to keep them.
pub(super) struct DataLocation {
    pub(super) data: PathBuf,
    /// The folder in which scratch folders are created.
    pub(super) beside: PathBuf,
    pub(super) owner: Option<Owner>,
    pub(super) supervisor: SupervisorCommand,
}

/// Additional state of a server that is a process.
pub(super) struct ServerProcess {
    pub(super) pid: u32,
    pub(super) launch: Launch,
    pub(super) kept_log: Option<PathBuf>,
    pub(super) stop: Vec<StopStep>,
}

/// How a server was stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    /// How its process ended; `None` without a process.
    pub exit: Option<Exit>,
    /// True when it had ended before.
    pub was_dead: bool,
    /// What could not be undone, as sentences; normally empty.
    pub problems: Vec<String>,
    /// Path of its kept log.
    pub log: Option<PathBuf>,
}

impl RunningServer {
    pub(super) fn null() -> Self {
        let target = Target::new(Engine::Null, Endpoint::InProcess);
        Self::new(ServerKind::Null, "null".to_owned(), target, Compared::default())
    }

    /// A single one without a process.
    pub(super) fn new(kind: ServerKind, version: String, target: Target, found: Compared) -> Self {
        Self {
            kind,
            version: version.into(),
            settings: found.record,
            unread: found.unread,
            target,
            socket: None,
            supervisor: None,
            process: None,
            data_location: None,
            cluster_member: None,
            joiners: Vec::new(),
            faults: SharedFaults::default(),
            inner: Vec::new(),
            restoring: Duration::ZERO,
            rounded: found.rounded,
        }
    }

    /// The address for clients: TCP on 127.0.0.1, like that of a remote server. The account is
    /// dyno's own with all privileges and a random password.
    #[must_use]
    pub fn target(&self) -> Target {
        self.target.clone()
    }

    /// A statement that a node of a cluster answers only after applying all earlier commits of
    /// other nodes.
    #[must_use]
    pub fn barrier(&self) -> Option<&'static str> {
        self.cluster_member.as_ref().and_then(ClusterMember::barrier)
    }

    /// True for a node that is read-only until it is promoted.
    #[must_use]
    pub fn is_replica(&self) -> bool {
        self.cluster_member.as_ref().is_some_and(ClusterMember::is_replica)
    }

    /// The server and the nodes that joined it; only the server when it is not a cluster.
    pub fn nodes(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.joiners)
    }

    /// The address of its unix socket; `None` for embedded databases.
    #[must_use]
    pub fn unix_target(&self) -> Option<Target> {
        let socket = self.socket.clone()?;
        Some(Target { endpoint: Endpoint::Unix(socket), ..self.target.clone() })
    }

    /// Id of its process; `None` for embedded databases.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(|process| process.pid)
    }

    /// Ids of the processes of all its nodes.
    pub fn pids(&self) -> impl Iterator<Item = u32> {
        self.nodes().filter_map(Self::pid).chain(self.inner.iter().map(|node| node.pid))
    }

    /// True while it is running; its end is noticed at once.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.end_reason().is_none()
    }

    /// How it ended, as the end of a sentence that begins with its name; `None` while it is
    /// running.
    #[must_use]
    pub fn end_reason(&self) -> Option<Reason> {
        let lost = |node, reason| Reason::NodeLost { node, reason: Box::new(reason) };
        let inner =
            self.inner.iter().find_map(|node| Some(lost(node.name.clone(), node.end_reason()?)));
        let sql = || {
            let names = self.kind.node_names(self.nodes().count() as u32, 0);
            self.nodes()
                .zip(names)
                .find_map(|(node, name)| Some(lost(name, node.own_end_reason()?)))
        };
        match &self.cluster_member {
            None => self.own_end_reason(),
            Some(_) => inner.or_else(sql),
        }
    }

    /// Its own end, unless it was ended on purpose.
    fn own_end_reason(&self) -> Option<Reason> {
        self.supervisor.as_ref()?.end_reason().filter(|_| !self.faults.explains_exit())
    }

    /// Stops it: first cleanly, after 30 s by killing it. Its folder is removed.
    #[must_use]
    pub fn stop(mut self) -> Stopped {
        self.stop_now()
    }

    fn stop_now(&mut self) -> Stopped {
        let mut stopped = Stopped { exit: None, was_dead: false, problems: Vec::new(), log: None };
        // The last to join is stopped first, so that the others keep the majority.
        while let Some(mut joiner) = self.joiners.pop() {
            stopped.problems.extend(joiner.stop_now().problems);
        }
        let Some(mut supervisor) = self.supervisor.take() else { return stopped };
        let inner = std::mem::take(&mut self.inner);
        if let Some(process) = self.process.take() {
            stopped.exit = supervisor.handle.exit();
            stopped.was_dead = stopped.exit.is_some();
            if !stopped.was_dead {
                match supervisor.handle.stop(&process.stop) {
                    Ok(exit) => stopped.exit = exit,
                    Err(error) => stopped.problems.push(error.to_string()),
                }
            }
            stopped.log = process.kept_log;
        }
        stopped.problems.extend(supervisor.finish());
        stopped.problems.extend(inner.into_iter().rev().flat_map(InnerNode::stop));
        stopped
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        self.stop_now();
    }
}
