//! Whether an experiment can be run here, found out before anything is started or written.

use crate::checkup;
use crate::spread::missing;
use crate::steered::steering;
use crate::systems::connections_beside;
use crate::together::{self, Member, Together};
use crate::workload::AnyWorkload;
use dyno_drivers::open_files;
use dyno_drivers::patience::is_end_requested;
use dyno_engine::workload::Workload;
use dyno_host::databases;
use dyno_host::marker::{self, ClaimOptions};
use dyno_host::shell::missing_command;
use dyno_host::{HostError, existing, probe, server, way};
use dyno_model::failure::OperationFailure;
use dyno_model::observation::Observation;
use dyno_model::plan::{
    DataPolicy, ExistingSystem, ManagedServer, Plan, ServerKind, StopRule, Storage, SystemSource,
};
use dyno_model::preflight::{Obstacle, Place, PreflightFinding};
use dyno_model::target::{Endpoint, Target};
use dyno_store::environment::Environment;
use std::collections::BTreeMap;
use std::path::Path;

/// Bytes that a row of the sbtest tables takes on disk with its indexes, roughly and for every engine.
const ROW_BYTES: u64 = 250;
/// Bytes that a row of a table that grows takes on disk with both indexes, roughly: 75 without the second one, measured with InnoDB.
const GROWN_ROW_BYTES: u64 = 120;
/// Bytes that a freshly made server takes on disk, roughly the largest of all kinds.
const SERVER_BYTES: u64 = 250 << 20;
/// Bytes of a results folder per trial, roughly.
const TRIAL_BYTES: u64 = 200 << 10;
/// Longest trial, nanoseconds: three days.
const TRIAL_NANOS_MAX: u64 = 3 * 24 * 3600 * 1_000_000_000;

/// Everything that speaks against running the plan, or that its reader should know. Raises this process's limit of open files
/// as far as the plan needs.
///
/// `out` is where results will go; the working folder when the user named none.
pub(crate) fn check(plan: &Plan, yes_write_to: Option<&str>, out: Option<&Path>) -> Vec<PreflightFinding> {
    let mut findings = Vec::new();
    let mut found = |finding| findings.push(finding);
    length_of_trials(plan, &mut found);
    open_files(plan, &mut found);
    results_space(plan, out, &mut found);
    let machine = checkup::machine(&Environment::capture());
    let doubts = machine.into_iter().filter(Observation::is_doubt).map(Obstacle::Doubt);
    doubts.map(|doubt| finding(Place::Machine, doubt)).for_each(&mut found);
    storages(plan, &mut found);
    ways(plan, &mut found);
    for (index, system) in plan.systems.iter().enumerate() {
        if is_end_requested() {
            break;
        }
        options(plan, index, &mut found);
        match &system.source {
            SystemSource::Managed(managed) => managed_server(plan, index, managed, &mut found),
            SystemSource::Existing(source) => {
                existing_system(plan, index, source, yes_write_to, &mut found);
            }
            SystemSource::Imported => {}
        }
    }
    findings
}

fn finding(place: Place, obstacle: Obstacle) -> PreflightFinding {
    PreflightFinding { place, obstacle }
}

fn of_system(plan: &Plan, system: usize, obstacle: Obstacle) -> PreflightFinding {
    finding(Place::System(plan.systems[system].name.clone()), obstacle)
}

/// Times of a trial are recorded in 48 bits of nanoseconds.
fn length_of_trials(plan: &Plan, found: &mut impl FnMut(PreflightFinding)) {
    let longest = plan.treatments.iter().map(|treatment| {
        let load = &treatment.load;
        load.warmup.0.saturating_add(load.time_limit.0).saturating_add(load.grace.0)
    });
    if longest.max().unwrap_or(0) > TRIAL_NANOS_MAX {
        found(finding(Place::Load, Obstacle::TrialTooLong));
    }
}

/// Clients of the treatment that needs the most files.
fn open_files(plan: &Plan, found: &mut impl FnMut(PreflightFinding)) {
    let rooms = plan.treatments.iter().map(|treatment| {
        let engine = plan.systems[treatment.system].engine();
        let room = open_files::make_room(engine, treatment.all_sessions());
        room.map_err(|short| (treatment.all_clients(), short))
    });
    if let Some((clients, short)) = rooms.filter_map(Result::err).max_by_key(|(_, short)| short.needed) {
        let open_files::TooFew { needed, allowed, .. } = short;
        found(finding(Place::Machine, Obstacle::TooFewFiles { clients, needed, allowed }));
    }
}

fn results_space(plan: &Plan, out: Option<&Path>, found: &mut impl FnMut(PreflightFinding)) {
    let needed = plan.trials.len() as u64 * TRIAL_BYTES;
    // The folder itself is made later; the nearest one that exists is on the same file system.
    let place = out.map_or(Path::new("."), |out| {
        out.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("."))
    });
    let place = if place.as_os_str().is_empty() { Path::new(".") } else { place };
    space(place, needed, Place::Results, found);
}

/// What is started on ways must be there.
fn ways(plan: &Plan, found: &mut impl FnMut(PreflightFinding)) {
    for endpoint in &plan.endpoints {
        if let Err(error) = way::locate(&endpoint.via) {
            found(finding(Place::Endpoint(endpoint.name.clone()), Obstacle::said(&error.to_string())));
        }
    }
}

/// What a command runs must be there.
fn missing_program(
    place: &Place,
    key: &str,
    command: Option<&str>,
    found: &mut impl FnMut(PreflightFinding),
) {
    if let Some(program) = command.and_then(missing_command) {
        let obstacle = Obstacle::NoProgram { key: key.to_owned(), program: program.to_owned() };
        found(finding(place.clone(), obstacle));
    }
}

/// Folders of storages must be there, unless a command makes them.
fn storages(plan: &Plan, found: &mut impl FnMut(PreflightFinding)) {
    let is_used = |storage: &&Storage| {
        plan.treatments.iter().any(|treatment| treatment.variation.storage.as_ref() == Some(&storage.name))
    };
    for storage in plan.storages.iter().filter(is_used) {
        let place = Place::Storage(storage.name.clone());
        let commands = [("before", &storage.before), ("after", &storage.after)];
        for (key, command) in commands {
            missing_program(&place, key, command.as_deref(), found);
        }
        if storage.before.is_some() {
            continue;
        }
        for folder in [Some(&storage.data), storage.log.as_ref()].into_iter().flatten() {
            let name = folder.display().to_string();
            if !folder.is_dir() {
                found(finding(place.clone(), Obstacle::NoFolder { folder: name }));
            } else if let Some(error) =
                kinds_on(plan, storage).find_map(|kind| server::check_place(kind, folder).err())
            {
                let error = error.to_string();
                let reason = error.split("\nhint: ").next().unwrap_or_default().to_owned();
                found(finding(place.clone(), Obstacle::ClosedFolder { folder: name, reason }));
            }
        }
        let data = (0..plan.systems.len()).map(|system| data_bytes(plan, system)).max().unwrap_or(0);
        if storage.data.is_dir() {
            space(&storage.data, SERVER_BYTES + data, place, found);
        }
    }
}

/// Kinds of the servers that are started on a storage.
fn kinds_on(plan: &Plan, storage: &Storage) -> impl Iterator<Item = ServerKind> {
    let treatments = plan.treatments.iter();
    let on_it = treatments.filter(|treatment| treatment.variation.storage.as_ref() == Some(&storage.name));
    on_it.filter_map(|treatment| match &plan.systems[treatment.system].source {
        SystemSource::Managed(managed) => Some(managed.kind),
        SystemSource::Existing(_) | SystemSource::Imported => None,
    })
}

fn space(path: &Path, needed: u64, place: Place, found: &mut impl FnMut(PreflightFinding)) {
    let folder = path.display().to_string();
    let obstacle = match probe::disk_space(path).map(|space| space.free) {
        Ok(free) if free >= needed => return,
        Ok(free) => Obstacle::LittleRoom { folder, free: free >> 20, needed: (needed >> 20).max(1) },
        Err(error) => Obstacle::RoomUnknown { folder, reason: error.to_string() },
    };
    found(finding(place, obstacle));
}

/// What a workload's catalogue allows and this system's dialect does not.
fn options(plan: &Plan, system: usize, found: &mut impl FnMut(PreflightFinding)) {
    let mut seen = Vec::new();
    for workload in together::of_system(plan, system) {
        if let Err(message) = workload
            && !seen.contains(&message)
        {
            found(of_system(plan, system, Obstacle::said(&message)));
            seen.push(message);
        }
    }
}

fn managed_server(
    plan: &Plan,
    index: usize,
    managed: &ManagedServer,
    found: &mut impl FnMut(PreflightFinding),
) {
    let mut refusals: Vec<String> = Vec::new();
    let mut refuse = |error: &HostError| refusals.push(error.to_string());
    let missing = |together: Together<'_>| {
        let is_brought = together.brings_data();
        let of = |member: &Member<'_>| match &member.workload {
            AnyWorkload::Sql(_) if !is_brought => Some(Obstacle::NoTables),
            AnyWorkload::Lua(_) if !is_brought => Some(Obstacle::NoPrepare),
            _ => None,
        };
        together.members.iter().find_map(of)
    };
    if let Some(obstacle) = together::of_system(plan, index).flatten().find_map(missing) {
        found(of_system(plan, index, obstacle));
    }
    let is_process = managed.kind.engine().is_server();
    let binary = is_process.then(|| server::locate(managed.kind, managed.bin_dir.as_deref()));
    if let Some(Err(error)) = &binary {
        refuse(error);
    }
    for server in servers(plan, index) {
        if let Err(error) = server::check_settings(&server) {
            refuse(&error);
        } else if let Some(Ok(binary)) = &binary
            && let Err(error) = server::check_values(&server, binary)
        {
            refuse(&error);
        }
        connections_allowed(plan, index, &server, found);
    }
    refusals.dedup();
    for refusal in refusals {
        found(of_system(plan, index, Obstacle::said(&refusal)));
    }
    if !managed.kind.engine().keeps_data() {
        return;
    }
    let scratch = managed.scratch.clone().unwrap_or_else(std::env::temp_dir);
    if let Err(error) = server::check_place(managed.kind, &scratch) {
        return found(of_system(plan, index, Obstacle::said(&error.to_string())));
    }
    let rows = most_rows(plan, index);
    // A saved data set, and a copy of it.
    let copies = if plan.restores(index, rows) { 2 } else { 1 };
    let place = Place::System(plan.systems[index].name.clone());
    space(&scratch, copies * (SERVER_BYTES + data_bytes(plan, index)), place, found);
}

/// The servers that a system is started as, one per whole plot.
fn servers(plan: &Plan, system: usize) -> Vec<ManagedServer> {
    let plots = plan.whole_plots().into_iter().filter(|(plot, _)| plot.system == system);
    plots.filter_map(|(_, treatments)| plan.server(&plan.treatments[*treatments.first()?])).collect()
}

fn connections_allowed(
    plan: &Plan,
    index: usize,
    server: &ManagedServer,
    found: &mut impl FnMut(PreflightFinding),
) {
    for (name, value) in &server.settings {
        let needed = connections_needed(plan, index);
        if name.replace('-', "_") == "max_connections" && value.parse().is_ok_and(|max: u64| max < needed) {
            found(of_system(plan, index, Obstacle::FewConnectionsSet { set: value.clone(), needed }));
        }
    }
}

/// Connections that a system is asked for at most, those beside the clients' included.
fn connections_needed(plan: &Plan, system: usize) -> u64 {
    u64::from(plan.most_sessions(system).saturating_add(connections_beside(plan, system)))
}

fn most_rows(plan: &Plan, system: usize) -> u64 {
    let of_system = plan.treatments.iter().filter(|treatment| treatment.system == system);
    let rows = of_system.filter_map(|treatment| Some(Together::of(plan, treatment).ok()?.rows()));
    rows.max().unwrap_or(0)
}

/// Bytes that the largest data set of a system takes, loaded or grown.
fn data_bytes(plan: &Plan, system: usize) -> u64 {
    let loaded = most_rows(plan, system).saturating_mul(ROW_BYTES);
    let targets = plan.treatments.iter().filter_map(|treatment| match treatment.load.stop {
        StopRule::Rows(target) if treatment.system == system => Some(target.saturating_mul(GROWN_ROW_BYTES)),
        _ => None,
    });
    // Not all of what is asked for may be a number of bytes that disks have.
    targets.fold(loaded, u64::max).min(u64::MAX / 4)
}

fn existing_system(
    plan: &Plan,
    index: usize,
    source: &ExistingSystem,
    yes_write_to: Option<&str>,
    found: &mut impl FnMut(PreflightFinding),
) {
    let system = &plan.systems[index];
    if let Some(steering) = &source.steering {
        let turns = steering.turns.as_ref();
        let commands = [
            ("apply", steering.apply.as_deref()),
            ("restart", steering.restart.as_deref()),
            ("start", turns.map(|turns| turns.start.as_str())),
            ("stop", turns.map(|turns| turns.stop.as_str())),
        ];
        for (key, command) in commands {
            missing_program(&Place::System(system.name.clone()), key, command, found);
        }
    }
    if let Some(program) = system_monitor(source).and_then(missing_command) {
        found(of_system(plan, index, Obstacle::NoMonitor { program: program.to_owned() }));
    }
    scripts_elsewhere(plan, index, source, found);
    if let Some(steering) = steering(plan, index, None).filter(|_| plan.takes_turns(index)) {
        // It does not run yet, so nothing else can be asked.
        if let Err(error) = steering.is_down() {
            found(of_system(plan, index, Obstacle::said(&error.to_string())));
        }
        return;
    }
    let to_come = to_come(source);
    let source = to_come.as_ref().unwrap_or(source);
    let connected =
        match existing::connect(source, system.query_mode, system.connect_timeout.into(), &BTreeMap::new()) {
            Ok(connected) => connected,
            Err(error) => return found(of_system(plan, index, Obstacle::said(&error.to_string()))),
        };
    let target = &connected.target;
    match databases_to_ask(plan, index, source, target) {
        Ok(databases) => {
            for database in &databases {
                database_found(plan, index, source, database, yes_write_to, found);
            }
        }
        Err(error) => found(of_system(plan, index, Obstacle::said(&error))),
    }
    let mut of_state = |obstacle| found(of_system(plan, index, obstacle));
    if let Err(failure) = server_state(plan, index, target, &mut of_state) {
        of_state(Obstacle::StateUnknown { failure: failure.to_string() });
    }
}

/// The databases of a system that a run works in and that are there. Where dyno makes its tables, it makes those that are missing.
fn databases_to_ask(
    plan: &Plan,
    index: usize,
    source: &ExistingSystem,
    target: &Target,
) -> Result<Vec<Target>, String> {
    let names = plan.databases_of(index);
    let own = plan.uses_own_database(index).then(|| target.clone());
    if names.is_empty() {
        return Ok(own.into_iter().collect());
    }
    if source.data == DataPolicy::Existing {
        missing(target, &names)?;
    }
    let are_there = databases::are_there(target, &names).map_err(|error| error.to_string())?;
    let there = names.iter().zip(are_there).filter(|(_, is_there)| *is_there);
    Ok(own.into_iter().chain(there.map(|(name, _)| databases::beside(target, name))).collect())
}

/// Whether a database may be used, and whether scripts find in it what they need.
fn database_found(
    plan: &Plan,
    index: usize,
    source: &ExistingSystem,
    target: &Target,
    yes_write_to: Option<&str>,
    found: &mut impl FnMut(PreflightFinding),
) {
    let options = ClaimOptions { experiment: &plan.name, created_at: "", yes_write_to };
    let claim = marker::examine(target, &options);
    let is_free = claim.is_ok();
    let is_forced = claim.as_ref().is_ok_and(|claim| claim.is_forced);
    if let Err(error) = claim
        && !(source.data == DataPolicy::Existing && scripts_only(plan, index))
    {
        found(of_system(plan, index, Obstacle::said(&error.to_string())));
    }
    scripts(plan, index, source, target, is_free, found);
    programs(plan, index, source, target, &Claimed { is_free, is_forced }, found);
}

/// A file that the run will make is not made by a look at it: an empty database in memory answers in its place.
pub(crate) fn to_come(source: &ExistingSystem) -> Option<ExistingSystem> {
    let Endpoint::File(file) = &source.endpoint else { return None };
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let is_to_come = source.data == DataPolicy::Own
        && !file.exists()
        && server::check_place(ServerKind::Sqlite, folder).is_ok();
    is_to_come.then(|| ExistingSystem { endpoint: Endpoint::InProcess, ..source.clone() })
}

/// True when all that is sent to a system are scripts of the user's, as far as they can be read: what is wrong with one is told, and not that of its database.
fn scripts_only(plan: &Plan, system: usize) -> bool {
    let is_own = |member: &Member<'_>| matches!(member.workload, AnyWorkload::Sql(_) | AnyWorkload::Lua(_));
    together::of_system(plan, system)
        .all(|together| together.map_or(true, |together| together.members.iter().all(is_own)))
}

/// Whether a database may be written to.
struct Claimed {
    is_free: bool,
    /// It holds what is not dyno's, and the user named it.
    is_forced: bool,
}

/// What scripts ask of a system that dyno does not start, and do not get; the system is not asked.
fn scripts_elsewhere(
    plan: &Plan,
    index: usize,
    source: &ExistingSystem,
    found: &mut impl FnMut(PreflightFinding),
) {
    let is_own = source.data == DataPolicy::Own;
    let mut tell = once(plan, index, found);
    for together in together::of_system(plan, index).flatten() {
        for member in &together.members {
            match &member.workload {
                AnyWorkload::Sql(sql) => {
                    if !sql.data().statements().is_empty() {
                        tell(Obstacle::SetupElsewhere);
                    }
                    if is_own && !together.brings_others_data() {
                        tell(Obstacle::OwnDatabase);
                    }
                }
                AnyWorkload::Lua(_) if is_own && !together.brings_data() => tell(Obstacle::NoPrepare),
                AnyWorkload::Lua(_) | AnyWorkload::Native(_) => {}
            }
        }
    }
}

/// Scripts of Lua make their data in a database of their own, or find them; what they send is not known beforehand.
fn programs(
    plan: &Plan,
    index: usize,
    source: &ExistingSystem,
    target: &Target,
    claimed: &Claimed,
    found: &mut impl FnMut(PreflightFinding),
) {
    let database = marker::database_name(target);
    let mut tell = once(plan, index, found);
    let all = together::of_system(plan, index).flatten().flat_map(|together| {
        let is_brought = together.brings_data();
        together.members.into_iter().map(move |member| (member.workload, is_brought))
    });
    for (workload, is_brought) in all {
        let AnyWorkload::Lua(lua) = workload else { continue };
        match source.data {
            DataPolicy::Own if is_brought && claimed.is_forced => {
                tell(Obstacle::DatabaseNotEmpty { database: database.clone() });
            }
            DataPolicy::Own => {}
            DataPolicy::Existing => {
                match lua.rehearse(target) {
                    Ok(refused) => {
                        refused.into_iter().for_each(|reason| tell(Obstacle::ScriptRefused { reason }));
                    }
                    Err(failure) => tell(Obstacle::ScriptsUntried { failure: failure.to_string() }),
                }
                if !claimed.is_free {
                    tell(Obstacle::WritesRefused { database: database.clone() });
                }
            }
        }
    }
}

/// Tells each obstacle of a system once, however many treatments have it.
fn once(plan: &Plan, index: usize, found: &mut impl FnMut(PreflightFinding)) -> impl FnMut(Obstacle) {
    let mut told: Vec<Obstacle> = Vec::new();
    move |obstacle| {
        if !told.contains(&obstacle) {
            found(of_system(plan, index, obstacle.clone()));
            told.push(obstacle);
        }
    }
}

/// Scripts must find what they need, and must not write where nobody said that they may.
fn scripts(
    plan: &Plan,
    index: usize,
    source: &ExistingSystem,
    target: &Target,
    may_write: bool,
    found: &mut impl FnMut(PreflightFinding),
) {
    let mut tell = once(plan, index, found);
    let all = together::of_system(plan, index).flatten().flat_map(|together| {
        let is_brought = source.data == DataPolicy::Own && together.brings_others_data();
        together.members.into_iter().map(move |member| (member.workload, is_brought))
    });
    for (workload, is_brought) in all {
        let AnyWorkload::Sql(sql) = workload else { continue };
        if let Some((script, statement)) = sql.writing().filter(|_| !may_write) {
            let database = marker::database_name(target).to_string();
            tell(Obstacle::ScriptWrites {
                script: script.to_string(),
                statement: statement.to_string(),
                database,
            });
        }
        if is_brought {
            // The tables are not there yet.
            continue;
        }
        match sql.rehearse(target) {
            Ok(refused) => {
                let in_place = |reason| match plan.databases_of(index).is_empty() {
                    true => reason,
                    false => format!("{}: {reason}", target.database),
                };
                refused
                    .into_iter()
                    .for_each(|reason| tell(Obstacle::ScriptRefused { reason: in_place(reason) }));
            }
            Err(failure) => tell(Obstacle::ScriptsUntried { failure: failure.to_string() }),
        }
    }
}

fn system_monitor(source: &ExistingSystem) -> Option<&str> {
    source.monitor.as_ref().map(|monitor| monitor.command.as_str())
}

fn server_state(
    plan: &Plan,
    index: usize,
    target: &Target,
    found: &mut impl FnMut(Obstacle),
) -> Result<(), OperationFailure> {
    let (clients, needed) = (plan.most_clients(index), connections_needed(plan, index));
    // A server that names no limit (a null server) has none that could be checked.
    if let Some(limit) = probe::connection_limit(target)?.filter(|limit| limit.max > 0)
        && limit.available() < needed
    {
        found(Obstacle::FewConnections {
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
        found(Obstacle::OtherSessions { number: sessions.len(), user, from });
    }
    if !probe::replication(target)?.is_absent() {
        found(Obstacle::Replicates);
    }
    Ok(())
}
