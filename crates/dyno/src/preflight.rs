//! Whether an experiment can be run here, found out before anything is started or written.

use crate::checkup;
use crate::preflight_finding::{PreflightFinding, Weight};
use crate::systems::CONNECTIONS_BESIDE;
use crate::workload::{self, AnyWorkload, with_workload};
use dyno_drivers::open_files;
use dyno_drivers::patience::is_end_requested;
use dyno_engine::workload::Workload;
use dyno_host::marker::{self, ClaimOptions};
use dyno_host::shell::missing_command;
use dyno_host::{HostError, existing, probe, server, way};
use dyno_model::failure::OperationFailure;
use dyno_model::observation::Observation;
use dyno_model::plan::{
    DataPolicy, ExistingSystem, ManagedServer, Plan, ServerKind, StopRule, Storage, SystemPlan, SystemSource,
};
use dyno_model::target::Target;
use dyno_report::{Check, Lang};
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
pub(crate) fn check(
    plan: &Plan,
    yes_write_to: Option<&str>,
    out: Option<&Path>,
    lang: Lang,
) -> Vec<PreflightFinding> {
    let mut findings = Vec::new();
    let mut found = |finding| findings.push(finding);
    length_of_trials(plan, &mut found);
    open_files(plan, &mut found);
    results_space(plan, out, &mut found);
    let machine = checkup::machine(&Environment::capture());
    machine.iter().filter(|it| it.is_doubt()).map(|it| doubt(it, lang)).for_each(&mut found);
    storages(plan, &mut found);
    ways(plan, &mut found);
    for (index, system) in plan.systems.iter().enumerate() {
        if is_end_requested() {
            break;
        }
        let clients = plan.most_clients(index);
        options(plan, index, &mut found);
        match &system.source {
            SystemSource::Managed(managed) => managed_server(plan, index, system, managed, &mut found),
            SystemSource::Existing(source) => {
                existing_system(plan, index, source, clients, yes_write_to, &mut found);
            }
            SystemSource::Imported => {}
        }
    }
    findings
}

/// A doubt about this machine, as a warning.
fn doubt(seen: &Observation, lang: Lang) -> PreflightFinding {
    let Check { place, message, remedy, .. } = dyno_report::check(seen, lang);
    PreflightFinding { weight: Weight::Warning, place, message, remedy }
}

/// Times of a trial are recorded in 48 bits of nanoseconds.
fn length_of_trials(plan: &Plan, found: &mut impl FnMut(PreflightFinding)) {
    let longest = plan.treatments.iter().map(|treatment| {
        let load = &treatment.load;
        load.warmup.0.saturating_add(load.time_limit.0).saturating_add(load.grace.0)
    });
    if longest.max().unwrap_or(0) > TRIAL_NANOS_MAX {
        let message = "a trial may last at most three days, with warm-up and grace period";
        let finding = PreflightFinding::new(Weight::Fatal, "load", message);
        found(finding.remedy("shorten load.duration or load.time_limit, and repeat in more blocks"));
    }
}

/// Clients of the treatment that needs the most files.
fn open_files(plan: &Plan, found: &mut impl FnMut(PreflightFinding)) {
    let rooms = plan.treatments.iter().map(|treatment| {
        let engine = plan.systems[treatment.system].engine();
        open_files::make_room(engine, treatment.clients)
    });
    if let Some(short) = rooms.filter_map(Result::err).max_by_key(|short| short.needed) {
        let finding = PreflightFinding::new(Weight::Fatal, "this machine", short.to_string());
        found(finding.remedy(short.remedy()));
    }
}

fn results_space(plan: &Plan, out: Option<&Path>, found: &mut impl FnMut(PreflightFinding)) {
    let needed = plan.trials.len() as u64 * TRIAL_BYTES;
    // The folder itself is made later; the nearest one that exists is on the same file system.
    let place = out.map_or(Path::new("."), |out| {
        out.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("."))
    });
    let place = if place.as_os_str().is_empty() { Path::new(".") } else { place };
    space(place, needed, "results", found);
}

/// What is started on ways must be there.
fn ways(plan: &Plan, found: &mut impl FnMut(PreflightFinding)) {
    for endpoint in &plan.endpoints {
        if let Err(error) = way::locate(&endpoint.via) {
            found(finding_of(&format!("endpoint {}", endpoint.name), &error.to_string()));
        }
    }
}

/// What a command runs must be there.
fn missing_program(place: &str, key: &str, command: Option<&str>, found: &mut impl FnMut(PreflightFinding)) {
    if let Some(word) = command.and_then(missing_command) {
        let message = format!("the command `{key}` runs {word}, which is not on this machine");
        found(
            PreflightFinding::new(Weight::Fatal, place, message)
                .remedy(format!("install {word}, or write another command")),
        );
    }
}

/// Folders of storages must be there, unless a command makes them.
fn storages(plan: &Plan, found: &mut impl FnMut(PreflightFinding)) {
    let is_used = |storage: &&Storage| {
        plan.treatments.iter().any(|treatment| treatment.variation.storage.as_ref() == Some(&storage.name))
    };
    for storage in plan.storages.iter().filter(is_used) {
        let place = format!("storage {}", storage.name);
        let commands = [("before", &storage.before), ("after", &storage.after)];
        for (key, command) in commands {
            missing_program(&place, key, command.as_deref(), found);
        }
        if storage.before.is_some() {
            continue;
        }
        for folder in [Some(&storage.data), storage.log.as_ref()].into_iter().flatten() {
            if !folder.is_dir() {
                let message = format!("the folder {} does not exist", folder.display());
                found(
                    PreflightFinding::new(Weight::Fatal, &place, message)
                        .remedy("make or mount it, or give a command that does as `before`"),
                );
            } else if let Some(error) =
                kinds_on(plan, storage).find_map(|kind| server::check_place(kind, folder).err())
            {
                let error = error.to_string();
                let message = error.split("\nhint: ").next().unwrap_or_default();
                found(
                    PreflightFinding::new(Weight::Fatal, &place, message)
                        .remedy(format!("chmod a+x every folder on the way to {}", folder.display())),
                );
            }
        }
        let data = (0..plan.systems.len()).map(|system| data_bytes(plan, system)).max().unwrap_or(0);
        if storage.data.is_dir() {
            space(&storage.data, SERVER_BYTES + data, &place, found);
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

fn space(path: &Path, needed: u64, place: &str, found: &mut impl FnMut(PreflightFinding)) {
    match probe::free_disk_space(path) {
        Ok(free) if free < needed => {
            let message = format!(
                "{} has {} MB free and about {} MB are needed",
                path.display(),
                free >> 20,
                (needed >> 20).max(1)
            );
            found(
                PreflightFinding::new(Weight::Fatal, place, message)
                    .remedy("make room, or choose another folder"),
            );
        }
        Ok(_) => {}
        Err(error) => {
            let message = format!("the free space of {} cannot be found out: {error}", path.display());
            found(PreflightFinding::new(Weight::Warning, place, message));
        }
    }
}

/// What a workload's catalogue allows and this system's dialect does not.
fn options(plan: &Plan, system: usize, found: &mut impl FnMut(PreflightFinding)) {
    let mut seen = Vec::new();
    for workload in workload::of_system(plan, system) {
        if let Err(message) = workload
            && !seen.contains(&message)
        {
            found(PreflightFinding::new(Weight::Fatal, &plan.systems[system].name, &message));
            seen.push(message);
        }
    }
}

fn managed_server(
    plan: &Plan,
    index: usize,
    system: &SystemPlan,
    managed: &ManagedServer,
    found: &mut impl FnMut(PreflightFinding),
) {
    let mut refusals: Vec<String> = Vec::new();
    let mut refuse = |error: &HostError| refusals.push(error.to_string());
    let has_no_tables =
        |workload| matches!(workload, Ok(AnyWorkload::Sql(sql)) if sql.data().statements().is_empty());
    if workload::of_system(plan, index).any(has_no_tables) {
        let message = "a server that dyno starts has no tables, and scripts of SQL find theirs there";
        let finding = PreflightFinding::new(Weight::Fatal, &system.name, message);
        let help = "say what makes them, `setup = [\"schema.sql\"]` under `[workload]`, or name a database that has them: `url = ...` and `data = \"existing\"`";
        found(finding.remedy(help));
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
        found(finding_of(&system.name, &refusal));
    }
    if !managed.kind.engine().keeps_data() {
        return;
    }
    let scratch = managed.scratch.clone().unwrap_or_else(std::env::temp_dir);
    if let Err(error) = server::check_place(managed.kind, &scratch) {
        return found(finding_of(&system.name, &error.to_string()));
    }
    let rows = most_rows(plan, index);
    // A saved data set, and a copy of it.
    let copies = if plan.restores(index, rows) { 2 } else { 1 };
    space(&scratch, copies * (SERVER_BYTES + data_bytes(plan, index)), &system.name, found);
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
        let needed = u64::from(plan.most_sessions(index) + CONNECTIONS_BESIDE);
        if name.replace('-', "_") == "max_connections" && value.parse().is_ok_and(|max: u64| max < needed) {
            let message = format!("max_connections is set to {value} and the plan needs {needed}");
            found(
                PreflightFinding::new(Weight::Fatal, &plan.systems[index].name, message)
                    .remedy(format!("max_connections = {needed}, or fewer clients")),
            );
        }
    }
}

fn most_rows(plan: &Plan, system: usize) -> u64 {
    let of_system = plan.treatments.iter().filter(|treatment| treatment.system == system);
    let rows = of_system.filter_map(|treatment| {
        let workload = AnyWorkload::of(plan, treatment).ok()?;
        Some(with_workload!(&workload, workload => workload.data().tables().iter().map(|table| table.rows).sum::<u64>()))
    });
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
    clients: u32,
    yes_write_to: Option<&str>,
    found: &mut impl FnMut(PreflightFinding),
) {
    let system = &plan.systems[index];
    if let Some(steering) = &source.steering {
        for (key, command) in [("apply", &steering.apply), ("restart", &steering.restart)] {
            missing_program(&system.name, key, command.as_deref(), found);
        }
    }
    if let Some(word) = system_monitor(source).and_then(missing_command) {
        let message = format!(
            "monitor.command runs {word}, which is not on this machine: the server's machine will not be seen"
        );
        let finding = PreflightFinding::new(Weight::Warning, &system.name, message);
        found(finding.remedy(format!("install {word}, or write another command")));
    }
    let connected =
        match existing::connect(source, system.query_mode, system.connect_timeout.into(), &BTreeMap::new()) {
            Ok(connected) => connected,
            Err(error) => return found(finding_of(&system.name, &error.to_string())),
        };
    let target = &connected.target;
    let options = ClaimOptions { experiment: &plan.name, created_at: "", yes_write_to };
    let claim = marker::examine(target, &options);
    let is_free = claim.is_ok();
    if let Err(error) = claim
        && !scripts_only(plan, index)
    {
        found(finding_of(&system.name, &error.to_string()));
    }
    scripts(plan, index, source, target, is_free, found);
    if let Err(failure) = server_state(&system.name, target, clients, found) {
        let message = format!("its state cannot be found out: {failure}");
        found(PreflightFinding::new(Weight::Warning, &system.name, message));
    }
}

/// True when all that is sent to a system are scripts of SQL.
fn scripts_only(plan: &Plan, system: usize) -> bool {
    workload::of_system(plan, system).all(|workload| matches!(workload, Ok(AnyWorkload::Sql(_))))
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
    let name = &plan.systems[index].name;
    let mut told: Vec<String> = Vec::new();
    let mut fatal = |message: String, remedy: &str| {
        if !told.contains(&message) {
            found(PreflightFinding::new(Weight::Fatal, name, &message).remedy(remedy));
            told.push(message);
        }
    };
    for workload in workload::of_system(plan, index) {
        let Ok(AnyWorkload::Sql(sql)) = workload else { continue };
        if !sql.data().statements().is_empty() {
            fatal(
                "`workload.setup` is for servers that dyno starts".to_owned(),
                "make the tables yourself, and leave it out",
            );
        }
        if source.data == DataPolicy::Own {
            fatal(
                "scripts of SQL find their tables there".to_owned(),
                "add `data = \"existing\"` to the system",
            );
        }
        if let Some((script, statement)) = sql.writing().filter(|_| !may_write) {
            let message = format!(
                "the script {script} may change data ({statement}), and dyno only reads what is not its own"
            );
            fatal(
                message,
                &format!("if it may be written to, give --yes-write-to {}", marker::database_name(target)),
            );
        }
        match sql.rehearse(target) {
            Ok(refused) => {
                for message in refused {
                    fatal(message, "see what the server says of it");
                }
            }
            Err(failure) => fatal(
                format!("the scripts cannot be tried: {failure}"),
                "see whether the server still answers",
            ),
        }
    }
}

fn system_monitor(source: &ExistingSystem) -> Option<&str> {
    source.monitor.as_ref().map(|monitor| monitor.command.as_str())
}

fn server_state(
    name: &str,
    target: &Target,
    clients: u32,
    found: &mut impl FnMut(PreflightFinding),
) -> Result<(), OperationFailure> {
    let needed = u64::from(clients + CONNECTIONS_BESIDE);
    // A server that names no limit (a null server) has none that could be checked.
    if let Some(limit) = probe::connection_limit(target)?.filter(|limit| limit.max > 0)
        && limit.available() < needed
    {
        let message = format!(
            "{clients} clients need {needed} connections, and the server has room for {} (max_connections {}, in use {})",
            limit.available(),
            limit.max,
            limit.in_use
        );
        let remedy = format!(
            "raise max_connections to {} or more, or use fewer clients",
            needed + limit.reserved + limit.in_use
        );
        found(PreflightFinding::new(Weight::Fatal, name, message).remedy(remedy));
    }
    let sessions = probe::foreign_sessions(target)?;
    if let Some(first) = sessions.first() {
        let message = format!(
            "{} other session(s) are connected, the first is {} from {}: what they do is measured too",
            sessions.len(),
            first.user,
            first.from
        );
        found(PreflightFinding::new(Weight::Warning, name, message));
    }
    let replication = probe::replication(target)?;
    if !replication.is_absent() {
        let message = "the server takes part in replication: load on it travels further";
        found(PreflightFinding::new(Weight::Warning, name, message));
    }
    Ok(())
}

/// A fatal finding from an error whose text may hold a remedy after `hint:`.
fn finding_of(place: &str, text: &str) -> PreflightFinding {
    match text.split_once("\nhint: ") {
        Some((message, remedy)) => PreflightFinding::new(Weight::Fatal, place, message).remedy(remedy),
        None => PreflightFinding::new(Weight::Fatal, place, text),
    }
}
