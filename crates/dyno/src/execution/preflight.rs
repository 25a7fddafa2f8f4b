//! Preflight: checks whether an experiment can run here before anything is started or written.

use crate::checkup;
use crate::client_paths;
use crate::data::names;
use crate::databases::missing;
use crate::generators;
use crate::original_settings::hooks;
use crate::systems::control_connections;
use crate::workload::AnyWorkload;
use crate::workload_set::{self, GroupData, Member, WorkloadSet, only_reads};
use dyno_drivers::open_files;
use dyno_drivers::timeout::is_end_requested;
use dyno_engine::workload::Workload;
use dyno_host::marker::{self, Claim, ClaimOptions};
use dyno_host::shell::missing_command;
use dyno_host::{HostError, existing, network_path, probe, server};
use dyno_host::{copies, databases};
use dyno_model::client_group::ClientGroup;
use dyno_model::failure::OperationFailure;
use dyno_model::observation::Observation;
use dyno_model::plan::{
    DataPolicy, ExistingSystem, ManagedServer, Plan, ServerKind, StopRule, Storage, SystemSource,
};
use dyno_model::preflight::{Obstacle, PreflightWarning, Subject};
use dyno_model::reason::Reason;
use dyno_model::target::{Endpoint, Target};
use dyno_store::environment::Environment;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Approximate bytes on disk per row of the sbtest tables, with indexes, for any engine.
const ROW_BYTES: u64 = 250;
/// Approximate bytes on disk per row of a growing table with both indexes: 75 without the second
/// one, measured with InnoDB.
const GROWN_ROW_BYTES: u64 = 120;
/// Approximate bytes on disk of a new server: the largest of all kinds.
const SERVER_BYTES: u64 = 250 << 20;
/// Approximate bytes in the results folder per trial.
const TRIAL_BYTES: u64 = 200 << 10;
/// Longest trial, nanoseconds: three days.
const TRIAL_NANOS_MAX: u64 = 3 * 24 * 3600 * 1_000_000_000;

/// Reports every obstacle to running the plan and every note for the user. Raises the open file
/// limit of this process as far as the plan needs.
///
/// `out` is the folder for the results; without one, the working folder is checked.
pub(crate) fn check(
    plan: &Plan,
    yes_write_to: Option<&str>,
    out: Option<&Path>,
) -> Vec<PreflightWarning> {
    let mut warnings = Vec::new();
    let found = &mut warnings;
    length_of_trials(plan, found);
    open_files(plan, found);
    results_space(plan, out, found);
    found.extend(generators::obstacles(plan).into_iter().map(|it| warning(Subject::Load, it)));
    let machine = checkup::machine(&Environment::capture());
    let obstacles = machine.into_iter().filter(Observation::is_warning).map(Obstacle::Doubt);
    found.extend(obstacles.map(|obstacle| warning(Subject::Machine, obstacle)));
    storages(plan, found);
    ways(plan, found);
    for (index, system) in plan.systems.iter().enumerate() {
        if is_end_requested() {
            break;
        }
        let mut look = SystemCheck { plan, index, found };
        look.options();
        match &system.source {
            SystemSource::Managed(managed) => look.managed_server(managed),
            SystemSource::Existing(source) => look.existing_system(source, yes_write_to),
            SystemSource::Imported => {}
        }
    }
    warnings
}

fn warning(subject: Subject, obstacle: Obstacle) -> PreflightWarning {
    PreflightWarning { subject, obstacle }
}

/// Times within a trial are recorded as 48-bit nanoseconds.
fn length_of_trials(plan: &Plan, found: &mut Vec<PreflightWarning>) {
    let longest = plan.configurations.iter().map(|configuration| {
        let load = &configuration.load;
        load.warmup.0.saturating_add(load.time_limit.0).saturating_add(load.grace.0)
    });
    if longest.max().unwrap_or(0) > TRIAL_NANOS_MAX {
        found.push(warning(Subject::Load, Obstacle::TrialTooLong));
    }
}

/// Checks open files for the configuration that needs the most.
fn open_files(plan: &Plan, found: &mut Vec<PreflightWarning>) {
    let rooms = plan.configurations.iter().map(|configuration| {
        let engine = plan.systems[configuration.system].engine();
        // Those of one process.
        let sum = |of: fn(&ClientGroup) -> u32| {
            let all = plan.sum_of_groups(configuration, of);
            all.div_ceil(configuration.load.generators.unwrap_or(1))
        };
        let room = open_files::make_room(engine, sum(ClientGroup::sessions));
        room.map_err(|short| (sum(|group| group.clients.count), short))
    });
    if let Some((clients, short)) =
        rooms.filter_map(Result::err).max_by_key(|(_, short)| short.needed)
    {
        let open_files::OpenFileLimitError { needed, allowed, .. } = short;
        found.push(warning(Subject::Machine, Obstacle::TooFewFiles { clients, needed, allowed }));
    }
}

fn results_space(plan: &Plan, out: Option<&Path>, found: &mut Vec<PreflightWarning>) {
    let needed = plan.trials.len() as u64 * TRIAL_BYTES;
    // The folder does not exist yet; the nearest existing parent is on the same file system.
    let folder = out.map_or(Path::new("."), |out| {
        out.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("."))
    });
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    space(folder, needed, Subject::Results, found);
}

/// The programs on network paths must exist.
fn ways(plan: &Plan, found: &mut Vec<PreflightWarning>) {
    for endpoint in &plan.endpoints {
        if let Err(error) = network_path::locate(&endpoint.via) {
            let subject = Subject::Endpoint(endpoint.name.clone());
            found.push(warning(subject, Obstacle::Refused(error.into())));
        }
    }
}

/// The program of a command must exist.
fn missing_program(
    subject: &Subject,
    key: &str,
    command: Option<&str>,
    found: &mut Vec<PreflightWarning>,
) {
    if let Some(program) = command.and_then(missing_command) {
        let obstacle = Obstacle::NoProgram { key: key.to_owned(), program: program.to_owned() };
        found.push(warning(subject.clone(), obstacle));
    }
}

/// Folders of storages must exist, unless a command creates them.
fn storages(plan: &Plan, found: &mut Vec<PreflightWarning>) {
    let is_used = |storage: &&Storage| {
        plan.configurations
            .iter()
            .any(|configuration| configuration.variation.storage.as_ref() == Some(&storage.name))
    };
    for storage in plan.storages.iter().filter(is_used) {
        let subject = Subject::Storage(storage.name.clone());
        let commands = [("before", &storage.before), ("after", &storage.after)];
        for (key, command) in commands {
            missing_program(&subject, key, command.as_deref(), found);
        }
        if storage.before.is_some() {
            continue;
        }
        for folder in [Some(&storage.data), storage.log.as_ref()].into_iter().flatten() {
            let name = folder.display().to_string();
            if !folder.is_dir() {
                found.push(warning(subject.clone(), Obstacle::NoFolder { folder: name }));
            } else if let Some(error) =
                kinds_on(plan, storage).find_map(|kind| server::check_location(kind, folder).err())
            {
                let reason = error.into();
                found.push(warning(
                    subject.clone(),
                    Obstacle::ClosedFolder { folder: name, reason },
                ));
            }
        }
        let data =
            (0..plan.systems.len()).map(|system| data_bytes(plan, system)).max().unwrap_or(0);
        if storage.data.is_dir() {
            space(&storage.data, SERVER_BYTES + data, subject, found);
        }
    }
}

/// Kinds of the servers that use a storage.
fn kinds_on(plan: &Plan, storage: &Storage) -> impl Iterator<Item = ServerKind> {
    let configurations = plan.configurations.iter();
    let on_it = configurations
        .filter(|configuration| configuration.variation.storage.as_ref() == Some(&storage.name));
    on_it.filter_map(|configuration| match &plan.systems[configuration.system].source {
        SystemSource::Managed(managed) => Some(managed.kind),
        SystemSource::Existing(_) | SystemSource::Imported => None,
    })
}

fn space(path: &Path, needed: u64, subject: Subject, found: &mut Vec<PreflightWarning>) {
    let folder = path.display().to_string();
    let obstacle = match probe::disk_space(path).map(|space| space.free) {
        Ok(free) if free >= needed => return,
        Ok(free) => {
            let [free, needed] = [free, needed].map(|bytes| bytes / 1_000_000);
            Obstacle::LittleRoom { folder, free, needed: needed.max(1) }
        }
        Err(error) => Obstacle::RoomUnknown { folder, reason: error.to_string() },
    };
    found.push(warning(subject, obstacle));
}

/// The checks of one system of a plan.
struct SystemCheck<'p, 'f> {
    plan: &'p Plan,
    index: usize,
    found: &'f mut Vec<PreflightWarning>,
}

impl<'p> SystemCheck<'p, '_> {
    fn subject(&self) -> Subject {
        Subject::System(self.plan.systems[self.index].name.clone())
    }

    fn tell(&mut self, obstacle: Obstacle) {
        let subject = self.subject();
        self.found.push(warning(subject, obstacle));
    }

    fn refuse(&mut self, reason: impl Into<Reason>) {
        self.tell(Obstacle::Refused(reason.into()));
    }

    /// Reports each obstacle once, however many configurations have it.
    fn once(&mut self) -> impl FnMut(Obstacle) {
        let mut reported: Vec<Obstacle> = Vec::new();
        move |obstacle| {
            if !reported.contains(&obstacle) {
                self.tell(obstacle.clone());
                reported.push(obstacle);
            }
        }
    }

    /// The valid workloads of each of its configurations.
    fn workloads(&self) -> impl Iterator<Item = WorkloadSet> + use<'p> {
        workload_set::of_system(self.plan, self.index).flatten()
    }

    /// Options that a workload accepts but this system's dialect does not support.
    fn options(&mut self) {
        let wrong = workload_set::of_system(self.plan, self.index).filter_map(Result::err);
        let mut tell = self.once();
        wrong.for_each(|message| tell(Obstacle::Refused(message.into())));
    }

    fn managed_server(&mut self, managed: &ManagedServer) {
        let (plan, index) = (self.plan, self.index);
        let mut refusals: Vec<HostError> = Vec::new();
        let mut refuse = |error: HostError| {
            if !refusals.iter().any(|other| other.repeats(&error)) {
                refusals.push(error);
            }
        };
        let missing = |set: WorkloadSet| {
            let is_brought = set.brings_data();
            let of = |member: &Member| match &member.workload {
                AnyWorkload::Sql(_) if !is_brought => Some(Obstacle::NoTables),
                AnyWorkload::Lua(_) if !is_brought => Some(Obstacle::NoPrepare),
                _ => None,
            };
            set.members().find_map(of)
        };
        if let Some(obstacle) = self.workloads().find_map(missing) {
            self.tell(obstacle);
        }
        let is_process = managed.kind.engine().is_server();
        let binary = is_process.then(|| server::locate(managed.kind, managed.bin_dir.as_deref()));
        let binary = binary.and_then(|binary| binary.map_err(&mut refuse).ok());
        for server in servers(plan, index) {
            if let Err(error) = server::check_settings(&server) {
                refuse(error);
            } else if let Some(binary) = &binary
                && let Err(error) = server::check_values(&server, binary)
            {
                refuse(error);
            }
            self.connections_allowed(&server);
        }
        for refusal in refusals {
            self.refuse(refusal);
        }
        if !managed.kind.engine().keeps_data() {
            return;
        }
        let scratch = managed.scratch.clone().unwrap_or_else(std::env::temp_dir);
        if let Err(error) = server::check_location(managed.kind, &scratch) {
            return self.refuse(error);
        }
        // A saved data set, and a copy of it.
        let copies = if plan.restores(index, most_rows(plan, index)) { 2 } else { 1 };
        space(
            &scratch,
            copies * (SERVER_BYTES + data_bytes(plan, index)),
            self.subject(),
            self.found,
        );
    }

    fn connections_allowed(&mut self, server: &ManagedServer) {
        let needed = connections_needed(self.plan, self.index);
        for (name, set) in &server.settings {
            if name.replace('-', "_") == "max_connections"
                && set.parse().is_ok_and(|max: u64| max < needed)
            {
                self.tell(Obstacle::FewConnectionsSet { set: set.clone(), needed });
            }
        }
    }

    fn existing_system(&mut self, source: &ExistingSystem, yes_write_to: Option<&str>) {
        let (plan, index) = (self.plan, self.index);
        let system = &plan.systems[index];
        if let Some(hooks) = &source.hooks {
            let exclusive = hooks.exclusive.as_ref();
            let commands = [
                ("apply", hooks.apply.as_deref()),
                ("restart", hooks.restart.as_deref()),
                ("start", exclusive.map(|exclusive| exclusive.start.as_str())),
                ("stop", exclusive.map(|exclusive| exclusive.stop.as_str())),
            ];
            for (key, command) in commands {
                missing_program(&self.subject(), key, command, self.found);
            }
        }
        let monitor = source.monitor.as_ref().map(|monitor| monitor.command.as_str());
        if let Some(program) = monitor.and_then(missing_command) {
            self.tell(Obstacle::NoMonitor { program: program.to_owned() });
        }
        self.scripts_elsewhere(source);
        if let Some(hooks) = hooks(plan, index, None).filter(|_| plan.is_exclusive(index)) {
            // The system is not running yet, so no other check is possible.
            if let Err(error) = hooks.is_down() {
                self.refuse(error);
            }
            return;
        }
        let to_come = to_come(source);
        let source = to_come.as_ref().unwrap_or(source);
        let timeout = system.connect_timeout.into();
        // SQLite answers no query while another run writes.
        if let (Endpoint::File(_), Ok(target)) =
            (&source.endpoint, existing::target(source, system.query_mode, timeout))
            && let Err(error) = marker::check_unused(&target)
        {
            return self.refuse(error);
        }
        let connected =
            match existing::connect(source, system.query_mode, timeout, &BTreeMap::new()) {
                Ok(connected) => connected,
                Err(error) => return self.refuse(error),
            };
        let target = &connected.target;
        let pooler = connected.pooler.as_ref();
        if let Some(text) = client_paths::obstacle(plan, index, source, target, pooler) {
            return self.refuse(text);
        }
        let paths = client_paths::examine(plan, index, target);
        paths.problems.into_iter().for_each(|problem| self.refuse(problem));
        let is_pooled = pooler.is_some() || paths.is_pooled;
        match self.databases(source, target) {
            Ok(databases) => {
                for database in &databases {
                    self.database(source, database, is_pooled, yes_write_to);
                }
            }
            Err(error) => self.refuse(error),
        }
        if let Err(failure) = self.server_state(target) {
            self.tell(Obstacle::StateUnknown { failure: failure.to_string() });
        }
    }

    /// Checks that dyno may use a database, and that scripts find the tables they need.
    fn database(
        &mut self,
        source: &ExistingSystem,
        target: &Target,
        is_pooled: bool,
        yes_write_to: Option<&str>,
    ) {
        let options = ClaimOptions {
            experiment: &self.plan.name,
            created_at: "",
            yes_write_to,
            is_shared: true,
        };
        if source.data == DataPolicy::Copy {
            return self.originals(target);
        }
        let uses_tables = source.data == DataPolicy::Existing;
        let claim = match marker::examine(target, &options) {
            Ok(claim) => {
                if let Err(error) = marker::check_unused(target) {
                    self.refuse(error);
                }
                Some(claim)
            }
            Err(error) => {
                let (plan, index) = (self.plan, self.index);
                if !(uses_tables && (scripts_only(plan, index) || only_reads(plan, index))) {
                    self.refuse(error);
                }
                None
            }
        };
        if claim.is_none() && uses_tables && is_pooled {
            let database = target.database_name();
            return self.refuse(format!(
                "a connection pooler is in front of the server, so dyno cannot make its sessions \
                 read-only on the database {database:?}\n\
                 hint: connect to the server directly, or, if dyno may write to the database, add \
                 --yes-write-to {database}"
            ));
        }
        if let (DataPolicy::Own, Some(claim)) = (source.data, &claim) {
            self.replaced(target, claim);
        }
        self.scripts(source, target, claim.as_ref());
        self.programs(source, target, claim.as_ref());
    }

    /// Names the tables of others that workloads replace.
    fn replaced(&mut self, target: &Target, claim: &Claim) {
        let is_here = |data: &GroupData| {
            data.database.as_ref().is_none_or(|database| *database == target.database)
        };
        let created: BTreeSet<String> = self
            .workloads()
            .flat_map(|set| set.databases.into_iter().filter(is_here).flat_map(|it| names(&it)))
            .collect();
        let tables: Vec<&str> = claim.foreign.intersection(&created).map(String::as_str).collect();
        if !tables.is_empty() {
            let (database, tables) = (target.database_name(), tables.join(", "));
            self.tell(Obstacle::TablesReplaced { database, tables });
        }
    }

    /// Checks that scripts find the tables they need in the database that is copied for them,
    /// unless a setup script runs first.
    fn originals(&mut self, target: &Target) {
        if let Err(error) = copies::inspect(target) {
            self.refuse(error);
        }
        let workloads = self.workloads().filter(|set| set.setups().all(|it| !it.is_created_once()));
        let mut tell = self.once();
        for member in workloads.flat_map(WorkloadSet::into_members) {
            match member.workload {
                AnyWorkload::Sql(sql) => rehearsed(sql.rehearse(target), &mut tell),
                AnyWorkload::Lua(lua) => rehearsed(lua.rehearse(target), &mut tell),
                AnyWorkload::Native(_) | AnyWorkload::Tpcb(_) => {}
            }
        }
    }

    /// Requirements of scripts that a system not started by dyno cannot meet; nothing is sent to
    /// the system.
    fn scripts_elsewhere(&mut self, source: &ExistingSystem) {
        let is_own = source.data == DataPolicy::Own;
        let workloads = self.workloads();
        let mut tell = self.once();
        for set in workloads {
            for member in set.members() {
                match &member.workload {
                    AnyWorkload::Sql(sql) => {
                        if sql.data().is_created_once() && source.data != DataPolicy::Copy {
                            tell(Obstacle::SetupElsewhere);
                        }
                        if is_own && !set.brings_others_data() {
                            tell(Obstacle::OwnDatabase);
                        }
                    }
                    AnyWorkload::Lua(_) if is_own && !set.brings_data() => {
                        tell(Obstacle::NoPrepare);
                    }
                    AnyWorkload::Lua(_) | AnyWorkload::Native(_) | AnyWorkload::Tpcb(_) => {}
                }
            }
        }
    }

    /// Lua scripts create their data in a separate database, or use existing data; dyno cannot know
    /// their statements in advance.
    fn programs(&mut self, source: &ExistingSystem, target: &Target, claim: Option<&Claim>) {
        let database = target.database_name();
        let all = self.workloads().flat_map(|set| {
            let is_brought = set.brings_data();
            set.into_members().map(move |member| (member, is_brought))
        });
        let mut tell = self.once();
        for (member, is_brought) in all {
            let AnyWorkload::Lua(lua) = member.workload else { continue };
            match source.data {
                // The database contains foreign tables, and the user named it.
                DataPolicy::Own if is_brought && claim.is_some_and(Claim::is_forced) => {
                    tell(Obstacle::DatabaseNotEmpty { database: database.clone() });
                }
                DataPolicy::Own | DataPolicy::Copy => {}
                DataPolicy::Existing => {
                    rehearsed(lua.rehearse(target), &mut tell);
                    if claim.is_none() {
                        tell(Obstacle::WritesRefused { database: database.clone() });
                    }
                }
            }
        }
    }

    /// Scripts must find what they need, and may write only where the user permitted it.
    fn scripts(&mut self, source: &ExistingSystem, target: &Target, claim: Option<&Claim>) {
        let prefix = match self.plan.databases_of(self.index).is_empty() {
            true => String::new(),
            false => format!("{}: ", target.database),
        };
        let all = self.workloads().flat_map(|set| {
            let is_brought = source.data == DataPolicy::Own && set.brings_others_data();
            set.into_members().map(move |member| (member, is_brought))
        });
        let mut tell = self.once();
        for (member, is_brought) in all {
            let AnyWorkload::Sql(sql) = member.workload else { continue };
            if member.group.database.is_some_and(|name| name != target.database) {
                continue;
            }
            let mut has_errors = false;
            // A workload that creates its tables has not created them yet.
            if !is_brought {
                let refused = match claim.is_some() || sql.writing().is_some() {
                    true => sql.rehearse(target),
                    false => sql.rehearse_reading(&target.clone().reading()),
                };
                let with_prefix = |all: Vec<String>| {
                    all.iter().map(|reason| format!("{prefix}{reason}")).collect()
                };
                has_errors = refused.as_ref().is_ok_and(|all| !all.is_empty());
                rehearsed(refused.map(with_prefix), &mut tell);
            }
            // A statement with a typing error is not known to only read: the server's error
            // suffices.
            let writing = if has_errors { sql.certainly_writing() } else { sql.writing() };
            if let Some((script, statement)) = writing.filter(|_| claim.is_none()) {
                let (script, statement) = (script.to_string(), statement.to_string());
                let database = target.database_name();
                tell(Obstacle::ScriptWrites { script, statement, database });
            }
        }
    }

    /// The existing databases that a run uses. Where dyno creates its tables, it also creates
    /// missing databases.
    fn databases(
        &self,
        source: &ExistingSystem,
        target: &Target,
    ) -> Result<Vec<Target>, HostError> {
        let names = self.plan.databases_of(self.index);
        let own = self.plan.uses_own_database(self.index).then(|| target.clone());
        if names.is_empty() {
            return Ok(own.into_iter().collect());
        }
        if source.data == DataPolicy::Existing {
            missing(target, &names)?;
        }
        let are_there = databases::are_there(target, &names)?;
        let there = names.iter().zip(are_there).filter(|(_, is_there)| *is_there);
        Ok(own.into_iter().chain(there.map(|(name, _)| databases::beside(target, name))).collect())
    }

    fn server_state(&mut self, target: &Target) -> Result<(), OperationFailure> {
        let (clients, needed) =
            (self.plan.most_clients(self.index), connections_needed(self.plan, self.index));
        // A server that reports no limit (a null server) cannot be checked.
        if let Some(limit) = probe::connection_limit(target)?.filter(|limit| limit.max > 0)
            && limit.available() < needed
        {
            self.tell(Obstacle::FewConnections {
                clients,
                needed,
                available: limit.available(),
                max: limit.max,
                in_use: limit.in_use,
                enough: needed + limit.reserved + limit.in_use,
            });
        }
        let sessions = probe::foreign_sessions(target)?;
        if let Some(first) = sessions.first() {
            let (user, from) = (first.user.clone(), first.from.clone());
            self.tell(Obstacle::OtherSessions { sessions: sessions.len(), user, from });
        }
        if probe::is_replicated(target)? {
            self.tell(Obstacle::Replicates);
        }
        Ok(())
    }
}

/// Reports the server's replies to a rehearsal of the scripts.
fn rehearsed(refused: Result<Vec<String>, OperationFailure>, tell: &mut impl FnMut(Obstacle)) {
    match refused {
        Ok(reasons) => {
            reasons.into_iter().for_each(|reason| tell(Obstacle::ScriptRefused { reason }));
        }
        Err(failure) => tell(Obstacle::ScriptsUntried { failure: failure.to_string() }),
    }
}

/// The servers that are started for a system, one per restart group.
fn servers(plan: &Plan, system: usize) -> Vec<ManagedServer> {
    let groups = plan.restart_groups().into_iter().filter(|(group, _)| group.system == system);
    groups
        .filter_map(|(_, configurations)| {
            plan.server(&plan.configurations[*configurations.first()?])
        })
        .collect()
}

/// Largest number of connections to a system, including those beyond the clients.
fn connections_needed(plan: &Plan, system: usize) -> u64 {
    u64::from(plan.most_sessions(system).saturating_add(control_connections(plan, system)))
}

fn most_rows(plan: &Plan, system: usize) -> u64 {
    workload_set::of_system(plan, system).flatten().map(|set| set.rows()).max().unwrap_or(0)
}

/// Bytes of a system's largest data set, loaded or grown.
fn data_bytes(plan: &Plan, system: usize) -> u64 {
    let loaded = most_rows(plan, system).saturating_mul(ROW_BYTES);
    let targets =
        plan.configurations.iter().filter_map(|configuration| match configuration.load.stop {
            StopRule::Rows(target) if configuration.system == system => {
                Some(target.saturating_mul(GROWN_ROW_BYTES))
            }
            _ => None,
        });
    // The requested size may exceed any disk.
    targets.fold(loaded, u64::max).min(u64::MAX / 4)
}

/// Preflight must not create a database file that the run will create: it checks an empty in-memory
/// database instead.
pub(crate) fn to_come(source: &ExistingSystem) -> Option<ExistingSystem> {
    let Endpoint::File(file) = &source.endpoint else { return None };
    let folder =
        file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let is_to_come = source.data == DataPolicy::Own
        && !file.exists()
        && server::check_location(ServerKind::BUILT_IN, folder).is_ok();
    is_to_come.then(|| ExistingSystem { endpoint: Endpoint::InProcess, ..source.clone() })
}

/// True when only user scripts run on a system, as far as they can be parsed: preflight then
/// reports errors in scripts before problems of the database.
fn scripts_only(plan: &Plan, system: usize) -> bool {
    let is_own =
        |member: &Member| matches!(member.workload, AnyWorkload::Sql(_) | AnyWorkload::Lua(_));
    workload_set::of_system(plan, system)
        .all(|set| set.map_or(true, |set| set.members().all(is_own)))
}
