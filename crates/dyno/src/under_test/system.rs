//! A running system: a server that dyno started, or an existing one, with its state during a run.

use crate::databases::ClaimedDatabases;
use dyno_engine::Node;
use dyno_host::HostError;
use dyno_host::copies;
use dyno_host::counters::{self, WriteMarks};
use dyno_host::existing::{self, ConnectedSystem};
use dyno_host::hooks::ExclusiveSlot;
use dyno_host::marker::{self, Claim, ClaimOptions};
use dyno_host::monitor;
use dyno_host::network_path::{FaultProxy, RunningPath};
use dyno_host::probe;
use dyno_host::server::{FaultNode, RunningServer};
use dyno_host::settings::RoundedSetting;
use dyno_model::event::StartTimes;
use dyno_model::failure::OperationFailure;
use dyno_model::plan::{EndpointPlan, ExistingSystem, Via};
use dyno_model::reason::Reason;
use dyno_model::target::{QueryMode, Target};
use dyno_model::version::ServerVersion;
use dyno_model::warning::Warning;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

pub(crate) struct ReadySystem {
    pub(crate) source: Source,
    /// Time limit for connecting, which also applies to dyno's own queries.
    connect_timeout: Duration,
    pub(crate) claim: Option<Claim>,
    /// Fingerprint of the loaded data set.
    pub(crate) loaded: Option<String>,
    /// True until a trial has used the data.
    pub(crate) is_untouched: bool,
    /// Programs started in front of it, by the name of the endpoint.
    pub(crate) ways: Vec<(String, RunningPath)>,
    /// Fault proxies directly in front of its servers, where a fault may cut the network path.
    fault_proxies: Vec<Arc<FaultProxy>>,
    /// Its databases that are claimed besides the default one.
    pub(crate) databases: ClaimedDatabases,
    /// The exclusive slot that stops it, if a user's command started it.
    pub(crate) slot: Option<ExclusiveSlot>,
    /// The original database, if the system works in a copy of it.
    pub(crate) original: Option<Target>,
}

/// Who started the server.
pub(crate) enum Source {
    /// dyno started it.
    Managed(Box<RunningServer>),
    /// It existed before the run.
    Existing(Box<ConnectedSystem>),
}

impl ReadySystem {
    /// A system without claims, data or proxies; `loaded` is the fingerprint of its data set, if
    /// any.
    pub(crate) fn new(source: Source, connect_timeout: Duration, loaded: Option<String>) -> Self {
        Self {
            source,
            connect_timeout,
            claim: None,
            loaded,
            is_untouched: true,
            ways: Vec::new(),
            fault_proxies: Vec::new(),
            databases: ClaimedDatabases::default(),
            slot: None,
            original: None,
        }
    }

    /// The server, if dyno started it.
    fn managed(&self) -> Option<&RunningServer> {
        match &self.source {
            Source::Managed(server) => Some(server),
            Source::Existing(_) => None,
        }
    }

    /// True when dyno or a user's command started it.
    pub(crate) fn is_started(&self) -> bool {
        self.slot.is_some() || self.managed().is_some()
    }

    /// Creates a fresh copy of its database and uses it from now on.
    ///
    /// # Errors
    /// A description, when no copy can be made.
    pub(crate) fn work_in_copy(&mut self, options: &ClaimOptions<'_>) -> Result<(), HostError> {
        let Source::Existing(existing) = &mut self.source else { return Ok(()) };
        let original = self.original.get_or_insert_with(|| existing.target.clone());
        existing.target = original.clone();
        self.loaded = None;
        // A session in the copy, which is about to be dropped, holds the lock.
        self.claim = None;
        self.claim = Some(copies::make(original, options)?);
        existing.target = copies::copy_of(original);
        Ok(())
    }

    /// Makes sessions opened from now on read-only; for existing systems.
    pub(crate) fn only_read(&mut self) {
        if let Source::Existing(existing) = &mut self.source {
            existing.target = existing.target.clone().reading();
        }
    }

    /// The target of clients that use this network path and talk to the server directly; `None`:
    /// the default path.
    pub(crate) fn target_by(&self, network_path: Option<&EndpointPlan>) -> Target {
        let usual = self.target();
        let Some(network_path) = network_path else { return usual };
        match &network_path.via {
            Via::Tcp | Via::Application(_) => usual,
            Via::Address(endpoint) => usual.at(endpoint.clone()),
            Via::Socket => {
                let socket = self.managed().and_then(RunningServer::unix_target);
                socket.map_or(usual, |socket| self.within_limit(socket))
            }
            Via::Proxy(_) => {
                self.started(network_path).map_or(usual, |running| running.target.clone())
            }
        }
    }

    /// The program started on this network path.
    fn started(&self, network_path: &EndpointPlan) -> Option<&RunningPath> {
        self.ways.iter().find(|(name, _)| *name == network_path.name).map(|(_, running)| running)
    }

    /// How the program on this network path ended; `None` while it runs, or if there is none.
    pub(crate) fn path_exit(&self, network_path: Option<&EndpointPlan>) -> Option<Reason> {
        let (network_path, running) = network_path
            .and_then(|network_path| Some((network_path, self.started(network_path)?)))?;
        running.end_reason().map(|reason| Reason::PathEnded {
            what: running.what.to_owned(),
            name: network_path.name.clone(),
            reason: Box::new(reason),
        })
    }

    /// The target of clients that use this network path and talk to an application.
    fn client_target(&self, network_path: Option<&EndpointPlan>) -> Option<Target> {
        let network_path =
            network_path.filter(|network_path| matches!(network_path.via, Via::Application(_)))?;
        Some(self.within_limit(self.started(network_path)?.target.clone()))
    }

    /// Its version, after the name of a product that only shares the protocol.
    pub(crate) fn version(&self) -> ServerVersion {
        match &self.source {
            Source::Managed(server) => server.version.clone(),
            Source::Existing(existing) => existing.version.as_str().into(),
        }
    }

    /// Its settings as read back, and the names of those that it cannot report.
    pub(crate) fn settings(&self) -> (&BTreeMap<String, String>, &BTreeSet<String>) {
        match &self.source {
            Source::Managed(server) => (&server.settings, &server.unread),
            Source::Existing(existing) => (&existing.settings, &existing.unread),
        }
    }

    pub(crate) fn target(&self) -> Target {
        match &self.source {
            Source::Managed(server) => self.within_limit(server.target()),
            Source::Existing(existing) => existing.target.clone(),
        }
    }

    /// Gives the clients of the next trial the current password of an existing system.
    pub(crate) fn renew_password(&mut self, system: &ExistingSystem) -> Result<(), HostError> {
        let Source::Existing(connected) = &mut self.source else { return Ok(()) };
        existing::renew_password(system, &mut connected.target)?;
        if let Some(original) = &mut self.original {
            original.password = connected.target.password.clone();
        }
        Ok(())
    }

    /// The start times of the system; `time` is the time until it answered.
    pub(crate) fn start_times(&self, time: Duration, is_restored: bool) -> StartTimes {
        let restoring = is_restored.then(|| self.restored_in());
        let starting = time.saturating_sub(restoring.unwrap_or_default());
        StartTimes { starting: starting.into(), restoring: restoring.map(Into::into) }
    }

    /// Takes over the state of the same system before its restart: its proxies and what was
    /// replaced in its database.
    pub(crate) fn take_over(&mut self, known: Self) {
        self.ways = known.ways;
        self.fault_proxies = known.fault_proxies;
        self.databases = known.databases;
        self.original = known.original;
        if let (Some(claim), Some(known)) = (&mut self.claim, known.claim) {
            claim.replaced.extend(known.replaced);
        }
    }

    /// Removes data that only the workload can identify, and claims the database again.
    ///
    /// # Errors
    /// When something cannot be dropped.
    pub(crate) fn clear(
        &mut self,
        remove_data: &dyn Fn(&Target),
        options: &ClaimOptions<'_>,
    ) -> Result<(), HostError> {
        let target = self.target();
        let Some(claim) = self.claim.as_mut().filter(|claim| !claim.tables.is_empty()) else {
            return Ok(());
        };
        remove_data(&target);
        *claim = marker::renew(&target, &claim.replaced, options)?;
        Ok(())
    }

    /// Marks everything in its database as dyno's. The database was empty before, otherwise
    /// [`marker::EVERYTHING`] could not have been recorded.
    ///
    /// # Errors
    /// When it cannot be marked.
    pub(crate) fn adopt(&mut self, options: &ClaimOptions<'_>) -> Result<(), HostError> {
        let target = self.target();
        match &mut self.claim {
            Some(claim) if target.engine.keeps_data() => claim.adopt_all(&target, options),
            _ => Ok(()),
        }
    }

    /// Checks that this run still owns the claimed databases.
    ///
    /// # Errors
    /// A description, when another run uses one.
    pub(crate) fn check_claims(&mut self, is_marked: bool) -> Result<(), HostError> {
        let Source::Existing(existing) = &self.source else { return Ok(()) };
        if let Some(claim) = &mut self.claim {
            claim.check(&existing.target, is_marked)?;
        }
        self.databases.check(&existing.target, is_marked)
    }

    /// Write counters of the server for the databases that are only read.
    pub(crate) fn write_marks(&self) -> Vec<WriteMarks> {
        let Source::Existing(existing) = &self.source else { return Vec::new() };
        let own = existing.target.only_reads.then(|| existing.target.clone());
        let all = own.into_iter().chain(self.databases.only_read(&existing.target));
        all.filter_map(|target| counters::write_marks(&target).ok()).collect()
    }

    /// Databases that could not be locked against other runs.
    pub(crate) fn unlocked(&self) -> impl Iterator<Item = Warning> {
        self.claim.iter().chain(self.databases.claims()).filter_map(|claim| {
            let (database, reason) = (claim.database.clone(), claim.lock_problem()?.to_owned());
            Some(Warning::DatabaseNotLocked { database, reason })
        })
    }

    /// The query for settings that the server refused.
    pub(crate) fn refused_settings(&self, system: &str) -> Option<Warning> {
        let Source::Existing(existing) = &self.source else { return None };
        let reason = existing.settings_refused.clone()?;
        Some(Warning::SettingsNotRead { system: system.to_owned(), reason })
    }

    /// Requested settings that the server rounded.
    pub(crate) fn rounded_settings(&self, system: &str) -> Vec<Warning> {
        let rounded = match &self.source {
            Source::Managed(server) => &server.rounded,
            Source::Existing(existing) => &existing.rounded,
        };
        let warning = |rounded: &RoundedSetting| Warning::SettingRounded {
            system: system.to_owned(),
            name: rounded.name.clone(),
            requested: rounded.requested.clone(),
            in_force: rounded.found.clone(),
        };
        rounded.iter().map(warning).collect()
    }

    /// Time that copying its data set took.
    pub(crate) fn restored_in(&self) -> Duration {
        self.managed().map_or(Duration::ZERO, |server| server.restoring)
    }

    /// True when the server runs on the generator's machine.
    pub(crate) fn shares_machine(&self) -> bool {
        self.managed().is_some() || dyno_drivers::address::shares_machine(&self.target().endpoint)
    }

    /// Foreign sessions on a system that dyno did not start, as far as the account may see them.
    pub(crate) fn foreign_sessions(&self) -> u64 {
        if self.managed().is_some() {
            return 0;
        }
        probe::foreign_sessions(&self.target()).map_or(0, |sessions| sessions.len() as u64)
    }

    /// How a server that dyno started ended; `None` while it runs. An existing server that ends
    /// refuses connections.
    pub(crate) fn end_reason(&self) -> Option<Reason> {
        self.managed()?.end_reason()
    }

    /// Its nodes as targets of faults; empty for a system that dyno did not start.
    pub(crate) fn fault_nodes(&self) -> Vec<FaultNode> {
        self.managed().map(RunningServer::fault_nodes).unwrap_or_default()
    }

    /// True when it accepts connections and answers queries.
    pub(crate) fn answers(&self) -> bool {
        self.end_reason().is_none() && self.silence().is_none()
    }

    /// Why it does not answer, if so.
    pub(crate) fn silence(&self) -> Option<OperationFailure> {
        self.counters_of_servers(&[]).err()
    }

    /// The processes that the monitor samples. An application on the network path belongs to the
    /// system under test.
    pub(crate) fn monitored(
        &self,
        network_path: Option<&EndpointPlan>,
        command: Option<monitor::RemoteCommand>,
        databases: Vec<String>,
    ) -> monitor::Watched {
        let (target, is_local) = (self.target(), self.shares_machine());
        let pids = match &self.source {
            Source::Managed(server) => {
                let application = network_path
                    .filter(|network_path| matches!(network_path.via, Via::Application(_)));
                let application = application
                    .and_then(|network_path| self.started(network_path))
                    .map(|running| running.pid);
                server.pids().chain(application).collect()
            }
            Source::Existing(_) if is_local && command.is_none() => {
                monitor::find_server(&target).into_iter().collect()
            }
            Source::Existing(_) => Vec::new(),
        };
        monitor::Watched { target, databases, pids, is_local, command }
    }

    /// Current counters of the server; empty if it does not answer. Counters kept per database are
    /// summed over `databases`, if any.
    pub(crate) fn counters(
        &self,
        network_path: Option<&EndpointPlan>,
        databases: &[String],
    ) -> BTreeMap<String, i64> {
        let mut counters = self.counters_of_servers(databases).unwrap_or_default();
        let other = network_path.filter(|it| matches!(it.via, Via::Address(_)));
        // A pooler's sessions do not end with those of the clients, and report later.
        if other.is_some() && matches!(probe::is_pooled(&self.target_by(other)), Ok(true)) {
            counters::leave_out_commits(self.target().engine, &mut counters);
        }
        counters
    }

    /// The counters of all its servers.
    ///
    /// # Errors
    /// When one does not answer.
    fn counters_of_servers(
        &self,
        databases: &[String],
    ) -> Result<BTreeMap<String, i64>, OperationFailure> {
        match &self.source {
            Source::Managed(_) if databases.is_empty() => counters::sums(&self.servers()),
            _ => counters::snapshot_of(&self.target(), databases),
        }
    }

    /// Its server, or all nodes of a cluster.
    pub(crate) fn servers(&self) -> Vec<Target> {
        match &self.source {
            Source::Managed(server) => {
                server.nodes().map(|node| self.within_limit(node.target())).collect()
            }
            Source::Existing(existing) => vec![existing.target.clone()],
        }
    }

    /// The nodes that clients connect to: one per database, or those of [`Self::nodes`] without
    /// databases.
    pub(crate) fn work_nodes(
        &self,
        network_path: Option<&EndpointPlan>,
        query_mode: QueryMode,
        names: &[String],
    ) -> Vec<Node> {
        if names.is_empty() {
            return self.nodes(network_path, query_mode);
        }
        let by_way = Target { query_mode, ..self.target_by(network_path) };
        let nodes =
            names.iter().flat_map(|name| Node::alone(self.databases.target(&by_way, Some(name))));
        nodes.collect()
    }

    /// The servers that a trial's clients connect to, by network path.
    pub(crate) fn nodes(
        &self,
        network_path: Option<&EndpointPlan>,
        query_mode: QueryMode,
    ) -> Vec<Node> {
        let in_mode = |target: Target| Target { query_mode, ..target };
        let mut nodes = match &self.source {
            Source::Managed(server) if server.kind.is_cluster() => {
                let node = |node: &RunningServer| Node {
                    target: in_mode(self.within_limit(node.target())),
                    client_target: None,
                    barrier: node.barrier(),
                    is_spare: node.is_replica(),
                };
                server.nodes().map(node).collect()
            }
            _ => Node::alone(in_mode(self.target_by(network_path))),
        };
        let client_target = self.client_target(network_path);
        for node in &mut nodes {
            let fault_proxy = self
                .fault_proxy_to(&node.target)
                .map(|fault_proxy| fault_proxy.target().detour.clone());
            node.client_target = client_target
                .clone()
                .or_else(|| Some(Target { detour: fault_proxy?, ..node.target.clone() }));
        }
        nodes
    }

    /// The servers at the end of a network path, by the name of the node: proxies on the path
    /// connect to them directly.
    fn ends(&self, network_path: Option<&EndpointPlan>) -> Vec<(String, Target)> {
        match &self.source {
            Source::Managed(server) => {
                let servers = self.servers();
                let names = server.kind.node_names(servers.len() as u32, 0);
                names.into_iter().zip(servers).collect()
            }
            Source::Existing(_) => {
                let own =
                    network_path.filter(|network_path| matches!(network_path.via, Via::Address(_)));
                vec![("server".to_owned(), self.target_by(own))]
            }
        }
    }

    /// Puts a fault proxy in front of each server that lacks one. Each address of a server gets its
    /// own proxy.
    ///
    /// # Errors
    /// When a server has no address, or no port is free.
    pub(crate) fn put_fault_proxies(
        &mut self,
        network_path: Option<&EndpointPlan>,
    ) -> Result<(), HostError> {
        for (_, server) in self.ends(network_path) {
            if self.fault_proxy_to(&server).is_none() {
                let fault_proxy = FaultProxy::to(&server)?;
                self.fault_proxies.push(Arc::new(fault_proxy));
            }
        }
        Ok(())
    }

    /// The fault proxy of a server, unless its clients use a network path with a proxy of its own.
    fn fault_proxy_to(&self, server: &Target) -> Option<&Arc<FaultProxy>> {
        let fault_proxy = || {
            self.fault_proxies
                .iter()
                .find(|fault_proxy| fault_proxy.target().endpoint == server.endpoint)
        };
        server.detour.is_none().then(fault_proxy).flatten()
    }

    /// The fault proxies, by the name of the node that each leads to.
    pub(crate) fn fault_proxies(
        &self,
        network_path: Option<&EndpointPlan>,
    ) -> Vec<(String, Arc<FaultProxy>)> {
        let fault_proxy = |(name, server): (String, Target)| {
            Some((name, Arc::clone(self.fault_proxy_to(&server)?)))
        };
        self.ends(network_path).into_iter().filter_map(fault_proxy).collect()
    }

    /// The targets that programs in front of the servers connect to.
    pub(crate) fn approaches(&self) -> Vec<Target> {
        let approach = |server: Target| match self.fault_proxy_to(&server) {
            Some(fault_proxy) => self.within_limit(fault_proxy.target().clone()),
            None => server,
        };
        self.servers().into_iter().map(approach).collect()
    }

    fn within_limit(&self, target: Target) -> Target {
        Target { connect_timeout: self.connect_timeout, ..target }
    }

    /// True when a data set of this fingerprint is loaded.
    pub(crate) fn has_loaded(&self, fingerprint: &str) -> bool {
        self.loaded.as_deref() == Some(fingerprint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::target::{Endpoint, Engine};
    use std::io::{Read, Write};
    use std::net::{Ipv4Addr, TcpListener, TcpStream};

    /// A server that sends one byte to every connection.
    fn greeter(word: u8) -> Endpoint {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            listener.incoming().for_each(|client| client.unwrap().write_all(&[word]).unwrap());
        });
        Endpoint::Tcp { host: address.ip().to_string(), port: address.port() }
    }

    fn existing(endpoint: Endpoint) -> ReadySystem {
        let system = ConnectedSystem {
            target: Target::new(Engine::Mysql, endpoint),
            version: String::new(),
            settings: BTreeMap::new(),
            unread: BTreeSet::new(),
            pooler: None,
            settings_refused: None,
            problems: Vec::new(),
            rounded: Vec::new(),
        };
        ReadySystem::new(Source::Existing(Box::new(system)), Duration::from_secs(1), None)
    }

    #[test]
    fn each_address_of_a_running_system_has_its_own_fault_proxy() {
        let (one, two) = (greeter(1), greeter(2));
        let mut ready = existing(one.clone());
        let by = |endpoint: &Endpoint| EndpointPlan {
            name: endpoint.to_string(),
            via: Via::Address(endpoint.clone()),
        };
        for (network_path, word) in [(None, 1), (Some(by(&one)), 1), (Some(by(&two)), 2)] {
            ready.put_fault_proxies(network_path.as_ref()).unwrap();
            let nodes = ready.nodes(network_path.as_ref(), QueryMode::Prepared);
            let client_target = nodes[0].client_target.as_ref().expect("a way that can be cut");
            assert_eq!(
                client_target.endpoint, nodes[0].target.endpoint,
                "the server keeps its name"
            );
            let client_target = client_target.opened_at().to_string();
            let mut greeting = [0];
            TcpStream::connect(client_target).unwrap().read_exact(&mut greeting).unwrap();
            assert_eq!(greeting, [word], "{network_path:?}");
            let [(name, fault_proxy)] = &ready.fault_proxies(network_path.as_ref())[..] else {
                panic!("one way")
            };
            assert_eq!(
                (name.as_str(), &fault_proxy.target().endpoint),
                ("server", &nodes[0].target.endpoint)
            );
        }
        assert_eq!(ready.fault_proxies.len(), 2, "the first address is met twice");
    }
}
