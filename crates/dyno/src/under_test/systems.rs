//! The systems under test during a run: started when a trial needs them, restarted for every block
//! and restart group, and stopped at the end.

use crate::disk::DiskWatch;
use crate::generators::IdleFleet;
use crate::original_settings::{Originals, hooks};
use crate::slot::Slot;
use crate::system::{ReadySystem, Source};
use crate::workload_set::{WorkloadSet, only_reads, remove_data};
use dyno_drivers::timeout::is_end_requested;
use dyno_engine::MeasuredWorkers;
use dyno_host::HostError;
use dyno_host::copies;
use dyno_host::data_set::{DataSetKey, SavedDataSet, loader};
use dyno_host::databases;
use dyno_host::existing;
use dyno_host::hooks::ExclusiveSlot;
use dyno_host::marker::{self, Claim, ClaimOptions};
use dyno_host::monitor;
use dyno_host::network_path;
use dyno_host::server::{self, StartOptions};
use dyno_host::supervisor::SupervisorCommand;
use dyno_model::event::{Event, Listener};
use dyno_model::plan::{
    Configuration, DataPolicy, EndpointPlan, ExistingSystem, MonitorPlan, PasswordSource, Plan,
    SystemSource,
};
use dyno_model::reason::Reason;
use dyno_model::target::Target;
use dyno_model::warning::Warning;
use dyno_store::utc_now;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Connections in addition to those of clients: loaders, observer, counters.
const CONTROL_CONNECTIONS: u32 = 10;
/// Maximum length of a server log's name, without number and suffix.
const LOG_NAME_MAX: usize = 120;

/// Connections to a system in addition to those of clients; each database has an observer, too.
pub(crate) fn control_connections(plan: &Plan, system: usize) -> u32 {
    CONTROL_CONNECTIONS + plan.databases_of(system).len() as u32
}

pub(crate) struct Systems<'p> {
    pub(crate) plan: &'p Plan,
    slots: Vec<Slot<'p>>,
    pub(crate) yes_write_to: Option<&'p str>,
    log_dir: Option<PathBuf>,
    /// Current block, from 1; part of the names of server logs.
    block: u32,
    /// Loaded data sets that can be restored by copying.
    saved: Vec<(DataSetKey, Arc<SavedDataSet>)>,
    pub(crate) disks: DiskWatch,
    pub(crate) measured_workers: Arc<MeasuredWorkers>,
    pub(crate) idle_fleet: IdleFleet,
    /// Warnings about settings that were already reported.
    reported: Vec<Warning>,
    /// Original settings of systems that user commands change.
    originals: Originals,
}

/// A saved data set and its contents.
pub(crate) struct Restored {
    saved: Arc<SavedDataSet>,
    fingerprint: String,
}

impl<'p> Systems<'p> {
    /// Starts nothing yet. `yes_write_to` names a database that may be written to although dyno did
    /// not create it.
    pub(crate) fn new(
        plan: &'p Plan,
        yes_write_to: Option<&'p str>,
        log_dir: Option<PathBuf>,
        originals: Originals,
    ) -> Self {
        Self {
            plan,
            slots: plan.systems.iter().map(|_| Slot::default()).collect(),
            yes_write_to,
            log_dir,
            block: 0,
            saved: Vec::new(),
            disks: DiskWatch::of_plan(plan),
            measured_workers: Arc::default(),
            idle_fleet: IdleFleet::default(),
            reported: Vec::new(),
            originals,
        }
    }

    /// Stops servers that dyno started, so that the block gets fresh ones, and forgets the state of
    /// data on existing systems.
    pub(crate) fn begin_block(&mut self, block: u32, listener: &mut dyn Listener) {
        self.block = block;
        self.stop_managed(listener);
        for (system, slot) in self.slots.iter_mut().enumerate() {
            if let Some(ready) = &mut slot.ready {
                ready.loaded = None;
            }
            // Lifecycle hooks restart the system, as dyno does with its own servers.
            slot.restart_group = slot.restart_group.filter(|_| self.plan.hooks(system).is_none());
        }
    }

    /// Stops the server of a system, if dyno or a user's command started it.
    pub(crate) fn stop_system(&mut self, system: usize, listener: &mut dyn Listener) {
        if let Some(ready) = self.slots[system].ready.take_if(|ready| ready.is_started()) {
            self.stop_and_clean_up(system, ready, listener);
        }
    }

    /// Stops all servers that dyno started.
    fn stop_managed(&mut self, listener: &mut dyn Listener) {
        for system in 0..self.slots.len() {
            self.stop_system(system, listener);
        }
    }

    /// Starts or connects the system of a configuration, unless it is running with the
    /// configuration's settings. A newly started server may begin with a saved data set.
    ///
    /// # Errors
    /// The reason of the failure, for the record of the trial.
    pub(crate) fn start(
        &mut self,
        configuration: usize,
        data: Option<&Restored>,
        listener: &mut dyn Listener,
    ) -> Result<(), Reason> {
        let plan = self.plan;
        let restart_group = plan.restart_group(&plan.configurations[configuration]);
        let system = restart_group.system;
        if self.slots[system].ready.is_some()
            && self.slots[system].restart_group == Some(restart_group)
        {
            if let (SystemSource::Existing(source), Some(ready)) =
                (&plan.systems[system].source, &mut self.slots[system].ready)
            {
                ready.renew_password(source)?;
            }
            return Ok(self.check_claims(system)?);
        }
        if plan.is_split() {
            // Each restart group occurs once per block: the previous server is no longer needed,
            // and its memory is.
            self.stop_managed(listener);
        }
        self.slots[system].may_try(restart_group)?;
        let name = plan.systems[system].name.clone();
        listener.event(&Event::SystemStarting { system: name.clone() });
        let began = Instant::now();
        let noted = self.originals.note(plan, system, self.log_dir.as_deref(), listener);
        let opened = noted.and_then(|()| self.open(configuration, data));
        match opened {
            Ok(mut ready) => {
                if let Some(known) = self.slots[system].ready.take() {
                    ready.take_over(known);
                }
                let is_started =
                    plan.hooks(system).is_some() || matches!(ready.source, Source::Managed(_));
                let start = is_started.then(|| ready.start_times(began.elapsed(), data.is_some()));
                let (settings, unread) = ready.settings();
                listener.event(&Event::SystemReady {
                    system: name,
                    version: ready.version(),
                    settings: settings.clone(),
                    unread: unread.clone(),
                    start,
                });
                let sessions = ready.foreign_sessions();
                if sessions > 0 {
                    listener.event(&Event::RunWarning(Warning::ForeignSessions { sessions }));
                }
                let name = &self.plan.systems[system].name;
                let mut notes = ready.rounded_settings(name);
                notes.extend(ready.refused_settings(name));
                self.warn_once(notes, listener);
                let slot = &mut self.slots[system];
                slot.forget_failures(restart_group);
                slot.restart_group = Some(restart_group);
                slot.ready = Some(ready);
                Ok(())
            }
            // The user ended the run; the system did not fail.
            Err(reason) if is_end_requested() => Err(reason.into()),
            Err(reason) => {
                let reason = Reason::from(reason);
                self.slots[system].note_failure(restart_group, &reason);
                Err(self.failed(system, reason, listener))
            }
        }
    }

    /// Reports warnings, each once, however often the server is started.
    pub(crate) fn warn_once(&mut self, warnings: Vec<Warning>, listener: &mut dyn Listener) {
        for warning in warnings {
            if !self.reported.contains(&warning) {
                self.reported.push(warning.clone());
                listener.event(&Event::RunWarning(warning));
            }
        }
    }

    fn open(
        &mut self,
        configuration: usize,
        data: Option<&Restored>,
    ) -> Result<ReadySystem, HostError> {
        let configuration = &self.plan.configurations[configuration];
        let system = configuration.system;
        let plan = &self.plan.systems[system];
        let note = databases::creation_note(&plan.source);
        let mut slot = None;
        let source = match &plan.source {
            SystemSource::Managed(managed) => {
                let managed = self.plan.server(configuration).unwrap_or_else(|| managed.clone());
                let mut options = self.start_options(self.log_name(configuration), system);
                options.data = data.map(|data| Arc::clone(&data.saved));
                options.storage = self.plan.storage(configuration).cloned();
                Source::Managed(Box::new(server::start(&managed, &options)?))
            }
            SystemSource::Existing(source) => {
                let connected = match hooks(self.plan, system, self.log_dir.as_deref()) {
                    Some(hooks) => hooks.begin(
                        &configuration.variation.settings,
                        self.originals.restoration(system),
                    ),
                    None => {
                        let timeout = plan.connect_timeout.into();
                        let connected =
                            existing::connect(source, plan.query_mode, timeout, &BTreeMap::new());
                        connected.map(|connected| (connected, None))
                    }
                };
                let (existing, new_slot) = connected?;
                slot = new_slot;
                Source::Existing(Box::new(existing))
            }
            SystemSource::Imported => {
                return Err(HostError::new("its results were imported, so dyno cannot measure it"));
            }
        };
        let loaded = data.map(|data| data.fingerprint.clone());
        let mut ready = ReadySystem::new(source, plan.connect_timeout.into(), loaded);
        ready.slot = slot;
        let created_at = utc_now();
        let options = self.claim_options(system, &created_at);
        // A database whose existing tables are used is not marked, but it must belong to dyno or be
        // named by the user.
        if !self.plan.uses_own_database(system) {
            // The run does not use this database.
            return Ok(ready);
        }
        let policy = self.data_policy(system);
        let target = ready.target();
        let claim = match (policy, note) {
            // The original is only read.
            (DataPolicy::Copy, _) => return Ok(ready),
            (DataPolicy::Own, Some(note)) => databases::claim_created(&target, note, &options),
            (DataPolicy::Own, None) => databases::claim_existing(&target, &options),
            (DataPolicy::Existing, _) => {
                marker::examine(&target, &options).and_then(|claim| claim.locked(&target))
            }
        };
        match claim {
            Ok(claim) => ready.claim = Some(claim),
            Err(_) if policy == DataPolicy::Existing && only_reads(self.plan, system) => {
                ready.only_read();
            }
            Err(error) => return Err(error),
        }
        Ok(ready)
    }

    /// True when the system of a configuration is running with this data set, unmodified or
    /// reusable.
    pub(crate) fn is_running_with(
        &self,
        configuration: usize,
        fingerprint: &str,
        is_reusable: bool,
    ) -> bool {
        let restart_group = self.plan.restart_group(&self.plan.configurations[configuration]);
        let slot = &self.slots[restart_group.system];
        slot.restart_group == Some(restart_group)
            && slot.ready.as_ref().is_some_and(|ready| {
                ready.has_loaded(fingerprint)
                    && ready.end_reason().is_none()
                    && (is_reusable || ready.is_untouched)
            })
    }

    /// Opens the network path from a configuration's clients to its running server: starts the
    /// programs on it.
    ///
    /// # Errors
    /// Why the path cannot be opened.
    pub(crate) fn open_network_path(
        &mut self,
        configuration: usize,
        listener: &mut dyn Listener,
    ) -> Result<(), HostError> {
        let plan = self.plan;
        let (network_path, system) =
            (plan.endpoint(&plan.configurations[configuration]), self.system_of(configuration));
        let log = |network_path: &EndpointPlan| {
            format!("{}-block{}-{}", plan.systems[system].name, self.block, network_path.name)
        };
        let options =
            network_path.map(|network_path| self.start_options(log(network_path), system));
        let Some(ready) = self.slots[system].ready.as_mut() else { return Ok(()) };
        if plan.interrupts_path_to(system) {
            ready.put_fault_proxies(network_path)?;
        }
        let Some((EndpointPlan { name, via }, options)) = network_path.zip(options) else {
            return Ok(());
        };
        if let Some(at) = ready.ways.iter().position(|(known, _)| known == name) {
            if ready.ways[at].1.end_reason().is_none() {
                return Ok(());
            }
            report_problems(ready.ways.remove(at).1.stop(), listener);
        }
        let running = network_path::start(via, &ready.approaches(), &options)
            .map_err(|error| error.of(format!("endpoint {name}")))?;
        ready.ways.extend(running.map(|running| (name.clone(), running)));
        Ok(())
    }

    /// Starts the server of a configuration with a copy of a data set. When the data set is needed
    /// for the first time, `load` creates it on a temporary server. Returns the time that loading
    /// and copying took.
    ///
    /// # Errors
    /// Errors of `load`, and why a server could not be started or its data could not be copied.
    pub(crate) fn restore<E: From<Reason>>(
        &mut self,
        configuration: usize,
        fingerprint: &str,
        tables: &[String],
        listener: &mut dyn Listener,
        load_data: &mut dyn FnMut(&ReadySystem, &mut dyn Listener) -> Result<Duration, E>,
    ) -> Result<Duration, E> {
        let restart_group = self.plan.restart_group(&self.plan.configurations[configuration]);
        let system = restart_group.system;
        self.slots[system].may_try(restart_group)?;
        self.stop_system(system, listener);
        if self.plan.is_split() {
            self.stop_managed(listener);
        }
        let key = self.key(configuration, fingerprint)?;
        let known =
            self.saved.iter().find(|(other, _)| *other == key).map(|(_, saved)| Arc::clone(saved));
        let (saved, loading) = match known {
            Some(saved) => (saved, Duration::ZERO),
            None => {
                let (saved, loading) =
                    self.load_and_save(configuration, tables, listener, load_data)?;
                self.saved.push((key, Arc::clone(&saved)));
                (saved, loading)
            }
        };
        let restored = Restored { saved, fingerprint: fingerprint.to_owned() };
        self.start(configuration, Some(&restored), listener)?;
        let ready = self.slots[system].ready.as_ref();
        Ok(loading + ready.map_or(Duration::ZERO, ReadySystem::restored_in))
    }

    fn key(&self, configuration: usize, fingerprint: &str) -> Result<DataSetKey, Reason> {
        let configuration = &self.plan.configurations[configuration];
        let server = self
            .plan
            .server(configuration)
            .ok_or("only servers that dyno starts are restored by copy")?;
        let version = if server.kind.engine().is_embedded() {
            // It is part of this program, so its version cannot change within a run.
            String::new()
        } else {
            server::locate(server.kind, server.bin_dir.as_deref())?.version.to_string()
        };
        Ok(DataSetKey::new(&server, &version, fingerprint))
    }

    fn load_and_save<E: From<Reason>>(
        &mut self,
        configuration: usize,
        tables: &[String],
        listener: &mut dyn Listener,
        load_data: &mut dyn FnMut(&ReadySystem, &mut dyn Listener) -> Result<Duration, E>,
    ) -> Result<(Arc<SavedDataSet>, Duration), E> {
        let plan = self.plan;
        let configuration = &plan.configurations[configuration];
        let system = configuration.system;
        let (SystemSource::Managed(base), Some(server)) =
            (&plan.systems[system].source, plan.server(configuration))
        else {
            return Err(Reason::from("only servers that dyno starts are restored by copy").into());
        };
        let restart_group = plan.restart_group(configuration);
        // Scripts load their data with as many threads as there are clients.
        let options = self.start_options(format!("{}-loading", plan.systems[system].name), system);
        let mut note = |error: HostError| -> Reason {
            let reason = Reason::from(error);
            self.slots[system].note_failure(restart_group, &reason);
            reason
        };
        let loading = server::start(&loader(&server, base), &options).map_err(&mut note)?;
        let source = Source::Managed(Box::new(loading));
        let connect_timeout = plan.systems[system].connect_timeout.into();
        let mut ready = ReadySystem::new(source, connect_timeout, None);
        let created_at = utc_now();
        let options = ClaimOptions {
            experiment: &plan.name,
            created_at: &created_at,
            yes_write_to: None,
            is_shared: false,
        };
        let target = ready.target();
        let claimed = marker::claim(&target, &options)
            .and_then(|mut claim| claim.record_tables(&target, tables, &options).map(|()| claim));
        ready.claim = Some(claimed.map_err(&mut note)?);
        let time = load_data(&ready, listener)?;
        // Tables created by the user's statements are not known in advance.
        if let Some(claim) = &mut ready.claim {
            claim.adopt_all(&target, &options).map_err(&mut note)?;
        }
        let Source::Managed(loading) = ready.source else {
            return Err(Reason::from("only servers that dyno starts are restored by copy").into());
        };
        let saved = loading.stop_and_save().map_err(&mut note)?;
        Ok((Arc::new(saved), time))
    }

    /// Everything that is started for a system has capacity for the clients of all its trials.
    fn start_options(&self, name: String, system: usize) -> StartOptions {
        StartOptions {
            log_dir: self.log_dir.clone(),
            connections: self.connections(system),
            ..StartOptions::new(name, SupervisorCommand::this_program())
        }
    }

    /// Name of a server's log: its system, the block, and the settings that identify its restart
    /// group.
    fn log_name(&self, configuration: &Configuration) -> String {
        let mut name =
            format!("{}-block{}", self.plan.systems[configuration.system].name, self.block);
        if let Some(storage) = &configuration.variation.storage {
            name.push_str(&format!("-{storage}"));
        }
        for (setting, value) in &configuration.variation.settings {
            name.push_str(&format!("-{setting}-{value}"));
        }
        // A number and a suffix are added to the file's name.
        name.chars().take(LOG_NAME_MAX).collect()
    }

    /// Applies a function to a system's claim to its database.
    pub(crate) fn claimed(
        &mut self,
        system: usize,
        action: impl FnOnce(&mut ReadySystem, &ClaimOptions<'_>) -> Result<(), HostError>,
    ) -> Result<(), HostError> {
        let created_at = utc_now();
        let options = self.claim_options(system, &created_at);
        self.slots[system].ready.as_mut().map_or(Ok(()), |ready| action(ready, &options))
    }

    /// Records that tables are about to be created in a system's default database, or in one of
    /// `load.databases`; data loaded there is no longer complete.
    ///
    /// # Errors
    /// When a table does not belong to dyno, or the marker cannot be written, without which nothing
    /// could be cleaned up.
    pub(crate) fn begin_loading(
        &mut self,
        system: usize,
        database: Option<&str>,
        tables: &[String],
    ) -> Result<(), HostError> {
        self.claimed(system, |ready, options| {
            ready.loaded = None;
            let target = ready.target();
            match (database, &mut ready.claim) {
                (Some(name), _) => ready.databases.record_tables(&target, name, tables, options),
                (None, Some(claim)) => claim.record_tables(&target, tables, options),
                (None, None) => Ok(()),
            }
        })
    }

    pub(crate) fn system_of(&self, configuration: usize) -> usize {
        self.plan.configurations[configuration].system
    }

    /// True when a data set of this size is loaded once and then restored by copying.
    pub(crate) fn restores(&self, configuration: usize, data: &WorkloadSet) -> bool {
        let system = self.system_of(configuration);
        data.is_created_once() && self.plan.is_copyable(system)
            || self.plan.restores(system, data.rows())
    }

    /// Which tables the workload uses.
    pub(crate) fn data_policy(&self, system: usize) -> DataPolicy {
        match &self.plan.systems[system].source {
            SystemSource::Managed(_) => DataPolicy::Own,
            SystemSource::Existing(existing) => existing.data,
            SystemSource::Imported => DataPolicy::Existing,
        }
    }

    /// Largest number of connections in a trial of the system.
    pub(crate) fn connections(&self, system: usize) -> u32 {
        self.plan.most_sessions(system) + control_connections(self.plan, system)
    }

    /// Why nothing more is sent to a system, if so.
    pub(crate) fn forbidden(&self, system: usize) -> Option<&str> {
        self.slots[system].forbidden.as_deref()
    }

    /// Stops sending anything to a system, for this reason.
    pub(crate) fn forbid(&mut self, system: usize, reason: &str) {
        self.slots[system].forbidden = Some(reason.to_owned());
    }

    /// The system, if it is running.
    pub(crate) fn ready(&mut self, system: usize) -> Option<&mut ReadySystem> {
        self.slots[system].ready.as_mut()
    }

    /// The command that monitors a system on another machine. Its environment contains no variable
    /// with a password.
    pub(crate) fn monitor_command(&self, system: usize) -> Option<monitor::RemoteCommand> {
        let SystemSource::Existing(existing) = &self.plan.systems[system].source else {
            return None;
        };
        let MonitorPlan { command, pid_file } = existing.monitor.clone()?;
        let variables = self.plan.systems.iter().filter_map(|system| match &system.source {
            SystemSource::Existing(ExistingSystem {
                password: PasswordSource::Environment(name) | PasswordSource::UrlVariable(name),
                ..
            }) => Some(name.clone()),
            _ => None,
        });
        Some(monitor::RemoteCommand { command, pid_file, hidden: variables.collect() })
    }

    /// Discards a server that died or whose disk is almost full; returns the reason, if it does.
    pub(crate) fn discard_if_dead(
        &mut self,
        system: usize,
        listener: &mut dyn Listener,
    ) -> Option<Reason> {
        let end_reason = self.slots[system].ready.as_ref()?.end_reason();
        let is_alive = end_reason.is_none();
        let reason = end_reason.or_else(|| self.disks.full_now())?;
        if is_alive {
            self.stop_system(system, listener);
        }
        self.slots[system].ready = None;
        Some(self.failed(system, reason, listener))
    }

    /// Stops a server that was started for this run and no longer answers, so that the next trial
    /// gets a new one; returns the reason, if it does. For other systems only the lack of an answer
    /// is known: the next trial tries to connect again.
    pub(crate) fn discard_if_silent(
        &mut self,
        system: usize,
        listener: &mut dyn Listener,
    ) -> Option<Reason> {
        let failure =
            self.slots[system].ready.as_ref().filter(|ready| ready.is_started())?.silence()?;
        self.stop_system(system, listener);
        Some(self.failed(system, Reason::NoResponse(failure), listener))
    }

    /// Reports why a system failed; returns the reason.
    fn failed(&self, system: usize, reason: Reason, listener: &mut dyn Listener) -> Reason {
        let name = self.plan.systems[system].name.clone();
        listener.event(&Event::SystemFailed { system: name, reason: reason.clone() });
        reason
    }

    /// Discards a server that died or stopped answering, after a failed trial; true when it does.
    pub(crate) fn discard(&mut self, system: usize, listener: &mut dyn Listener) -> bool {
        self.discard_if_dead(system, listener).is_some()
            || self.discard_if_silent(system, listener).is_some()
    }

    /// Stops what dyno started and removes what dyno created on existing systems.
    pub(crate) fn tear_down(&mut self, listener: &mut dyn Listener) {
        for system in 0..self.slots.len() {
            if let Some(ready) = self.slots[system].ready.take() {
                self.stop_and_clean_up(system, ready, listener);
            }
        }
        report_problems(
            self.originals.restore(self.plan, self.log_dir.as_deref(), listener),
            listener,
        );
        // Saved data sets are removed after the servers have stopped.
        for (_, saved) in self.saved.drain(..) {
            report_problems(
                Arc::into_inner(saved).map(SavedDataSet::remove).unwrap_or_default(),
                listener,
            );
        }
    }

    /// Stops a system that was started for this run; restores an existing one to its previous
    /// state.
    fn stop_and_clean_up(
        &self,
        system: usize,
        mut ready: ReadySystem,
        listener: &mut dyn Listener,
    ) {
        if let SystemSource::Existing(source) = &self.plan.systems[system].source {
            // Otherwise the earlier password is tried.
            let _ = ready.renew_password(source);
        }
        ready.ways.into_iter().for_each(|(_, running)| report_problems(running.stop(), listener));
        let stopped = match ready.source {
            Source::Managed(server) => Some(server.stop().problems),
            Source::Existing(existing) => {
                if let Some(original) = &ready.original {
                    ready.claim = None;
                    let name = &self.plan.systems[system].name;
                    let problem = copies::remove(original).err();
                    report_problems(
                        problem.map(|error| not_removed(name, &error.to_string())),
                        listener,
                    );
                }
                if self.data_policy(system) == DataPolicy::Own {
                    let (name, problems) = (
                        &self.plan.systems[system].name,
                        ready.databases.clean_up(&existing.target),
                    );
                    report_problems(
                        problems.into_iter().map(|error| not_removed(name, &error)),
                        listener,
                    );
                    if self.plan.uses_own_database(system) {
                        self.clean(system, &existing.target, ready.claim, listener);
                    }
                }
                ready.slot.map(ExclusiveSlot::end)
            }
        };
        if let Some(problems) = stopped {
            report_problems(problems, listener);
            let system = self.plan.systems[system].name.clone();
            listener.event(&Event::SystemStopped { system });
        }
    }

    /// Removes what dyno created.
    fn clean(
        &self,
        system: usize,
        target: &Target,
        claim: Option<Claim>,
        listener: &mut dyn Listener,
    ) {
        let has_tables = claim.as_ref().is_some_and(|claim| !claim.tables.is_empty());
        // After an interrupt, dyno does not wait for a program.
        if has_tables && !is_end_requested() {
            remove_data(self.plan, system, target);
        }
        if let Err(error) = databases::clean_up_own(target, claim.unwrap_or_default()) {
            let problem = not_removed(&self.plan.systems[system].name, &error.to_string());
            report_problems([problem], listener);
        }
    }
}

fn not_removed(system: &str, error: &str) -> String {
    format!("tables created by dyno could not be removed from {system}: {error}")
}

fn report_problems(problems: impl IntoIterator<Item = String>, listener: &mut dyn Listener) {
    for what in problems {
        listener.event(&Event::RunWarning(Warning::CleanUpIncomplete { what }));
    }
}
