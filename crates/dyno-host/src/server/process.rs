//! Starts a server process: scratch folder, data folder, port, start, first answer, settings.

use super::cluster_member::ClusterMember;
use super::error::{log_of, query, scratch, setting_refused, settings_differ, with_room};
use super::instance::{ACCOUNT, InstanceDirectories, Recipe, ServerInstance, path_text};
use super::recipes::recipe;
use super::running::{DataLocation, RunningServer, ServerProcess};
use super::save::restore;
use super::{Binary, StartOptions, account, kept_log, locate, log};
use crate::control_connection::ControlConnection;
use crate::error::HostError;
use crate::folder::{Folder, Kind, is_protected};
use crate::random;
use crate::settings::{self, Compared};
use crate::storage;
use crate::supervisor::{Access, Exit, Launch, Owner, SharedMemory, Supervisor, SupervisorError};
use crate::tail::tail;
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::lists;
use dyno_model::plan::{ManagedServer, ServerKind};
use dyno_model::secret::Secret;
use dyno_model::target::{Endpoint, Target};
use rustix::fs::{Access as Permission, access};
use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tracing::debug;

/// Timeout for creating a data folder, which takes about two seconds on an ordinary disk.
const INITIALISE_LIMIT: Duration = Duration::from_secs(300);
/// Number of attempts when another process takes the port first.
pub(crate) const PORT_ATTEMPTS: u32 = 5;
/// Time between two attempts to connect.
pub(crate) const POLL: Duration = Duration::from_millis(20);
/// Connections allowed beyond those of the plan: dyno's own queries, and sessions whose end the
/// server has not noticed yet.
const CONNECTIONS_SPARE: u32 = 10;
/// Longest path of a unix socket: the kernel's 108 bytes include a terminating zero.
const SOCKET_PATH_MAX: usize = 107;

/// A TCP port that is currently free.
pub(crate) fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// Starts a server process, as a node of a cluster when it has a seat in one. `next_port` returns
/// the port for each attempt.
pub(super) fn start(
    server: &ManagedServer,
    options: &StartOptions,
    cluster_member: Option<ClusterMember>,
    next_port: &mut dyn FnMut() -> io::Result<u16>,
) -> Result<RunningServer, HostError> {
    let binary = locate(server.kind, server.bin_dir.as_deref())?;
    let recipe = recipe(server.kind).expect("a kind with a program has a recipe");
    let owner = account::for_server(server.kind, recipe.user)?;
    let log_dir = log::create_log_folder(options.log_dir.as_deref())?;
    let (mut supervisor, parent) =
        supervisor_and_parent(server, options, owner, log_dir.as_deref())?;
    let mut instance = lay_out(&mut supervisor, server, options, binary, recipe, owner, &parent)?;
    if let Some(cluster_member) = cluster_member {
        instance.take(cluster_member);
    }
    let kept_log = log_dir.map(|folder| kept_log(&folder, &options.name));
    if let Some(kept) = &kept_log {
        supervisor.keep(instance.directories.log(), kept.clone())?;
    }

    let restoring = Instant::now();
    let filled = match &options.data {
        None if instance.is_joining() => Ok(()),
        None => initialise(&mut supervisor, &instance, recipe),
        Some(saved) => restore(&instance, saved),
    };
    filled.map_err(|error| with_room(error, &instance.directories.folder))?;
    let restoring = restoring.elapsed();
    let launched = launch(&mut supervisor, &mut instance, recipe, options.ready_timeout, next_port);
    let (pid, launch, mut session) =
        launched.map_err(|error| with_room(error, &instance.directories.folder))?;
    let _ = supervisor.handle.remove_at_end(SharedMemory::of_process(pid));

    (recipe.configure_account)(&instance, &mut session)
        .map_err(query(server.kind, "making dyno's database"))?;
    let found = settings_in_force(&instance, &mut session)?;
    debug!(system = options.name, pid, folder = %instance.directories.folder.display(), "server ready");
    let mut running =
        RunningServer::new(server.kind, session.identity().version, target(&instance), found);
    drop(session);
    running.socket = Some(instance.socket());
    running.supervisor = Some(supervisor);
    let stop = (recipe.stop)(Duration::from_secs(30));
    running.process = Some(ServerProcess { pid, launch, kept_log, stop });
    let (data, owner, supervisor) =
        (instance.directories.data(), instance.directories.owner, options.supervisor.clone());
    running.data_location = Some(DataLocation { data, beside: parent, owner, supervisor });
    running.restoring = if options.data.is_some() { restoring } else { Duration::ZERO };
    running.cluster_member = instance.cluster_member;
    Ok(running)
}

/// The supervisor of a server, and the folder in which its scratch folder is created.
pub(super) fn supervisor_and_parent(
    server: &ManagedServer,
    options: &StartOptions,
    owner: Option<Owner>,
    log_dir: Option<&Path>,
) -> Result<(Supervisor, PathBuf), HostError> {
    let Some(storage) = &options.storage else {
        let parent = usable(&server.scratch.clone().unwrap_or_else(std::env::temp_dir), owner)?;
        return Ok((Supervisor::start(&options.supervisor)?, parent));
    };
    // A location created by a command can be checked only after the command has run.
    let mut supervisor = Supervisor::start(&options.supervisor)?;
    storage::prepare(&mut supervisor, storage, log_dir)?;
    Ok((supervisor, usable(&storage.data, owner)?))
}

/// Creates the server's folders.
fn lay_out<'a>(
    supervisor: &mut Supervisor,
    server: &'a ManagedServer,
    options: &StartOptions,
    binary: Binary,
    recipe: &'static Recipe,
    owner: Option<Owner>,
    parent: &Path,
) -> Result<ServerInstance<'a>, HostError> {
    let inside = if options.data.is_none() { ["data", "tmp"].as_slice() } else { &["tmp"] };
    let directories = make_directories(supervisor, parent, server.kind, owner, inside)?;
    let socket_folder = socket_folder(supervisor, &directories.folder, recipe, owner)?;
    let log_folder = match options.storage.as_ref().and_then(|storage| storage.log.clone()) {
        None => None,
        Some(folder) => {
            Some(make_folder(supervisor, &usable(&folder, owner)?, "dyno-log", owner, &[])?)
        }
    };
    let password = match &options.data {
        Some(saved) => saved.password.clone(),
        None => Secret::new(random_password()),
    };
    Ok(ServerInstance {
        server,
        binary,
        recipe,
        directories,
        socket_folder,
        log_folder,
        port: 0,
        password,
        connections: options.connections.saturating_add(CONNECTIONS_SPARE),
        has_accounts: options.data.is_some(),
        cluster_member: None,
    })
}

/// Creates the folders of a process.
pub(super) fn make_directories(
    supervisor: &mut Supervisor,
    parent: &Path,
    kind: ServerKind,
    owner: Option<Owner>,
    inside: &[&str],
) -> Result<InstanceDirectories, HostError> {
    let folder = make_folder(supervisor, parent, &format!("dyno-{kind}"), owner, inside)?;
    let own = own_folder(supervisor, parent, "dyno-own", owner)
        .map_err(|reason| scratch(parent, reason))?;
    Ok(InstanceDirectories { owner, folder, own })
}

/// A folder in which scratch folders can be created, as a canonical path.
fn usable(folder: &Path, owner: Option<Owner>) -> Result<PathBuf, HostError> {
    check_parent(folder, owner)?;
    fs::canonicalize(folder).map_err(|error| scratch(folder, error))
}

/// The error of a basic operation of the operating system.
pub(super) fn system(doing: &str) -> impl Fn(io::Error) -> HostError {
    move |error| HostError::new(format!("{doing} failed: {error}"))
}

/// Reports a missing or inaccessible folder before anything is started.
pub(super) fn check_parent(parent: &Path, owner: Option<Owner>) -> Result<(), HostError> {
    let fail = |reason: String| Err(scratch(parent, reason));
    match fs::metadata(parent) {
        Err(error) => return fail(error.to_string()),
        Ok(metadata) if !metadata.is_dir() => return fail("it is not a folder".to_owned()),
        Ok(_) => {}
    }
    if let Err(error) = access(parent, Permission::WRITE_OK | Permission::EXEC_OK) {
        return fail(format!("dyno cannot create a folder in it: {}", io::Error::from(error)));
    }
    match owner.and_then(|owner| {
        account::barrier(&fs::canonicalize(parent).unwrap_or_else(|_| parent.to_owned()), owner)
    }) {
        Some(reason) => fail(reason),
        None => Ok(()),
    }
}

pub(crate) fn make_folder(
    supervisor: &mut Supervisor,
    parent: &Path,
    prefix: &str,
    owner: Option<Owner>,
    inside: &[&str],
) -> Result<PathBuf, HostError> {
    supervisor.make_folder(parent, prefix, Access::Owned(owner), inside).map_err(
        |error| match error {
            SupervisorError::Refused(reason) => scratch(parent, reason),
            other => other.into(),
        },
    )
}

/// A folder for dyno's own files that `visitor` may traverse: next to the scratch folder, or in
/// another location where nobody can replace it.
///
/// # Errors
/// Why there is none.
pub(crate) fn own_folder(
    supervisor: &mut Supervisor,
    beside: &Path,
    prefix: &str,
    visitor: Option<Owner>,
) -> Result<PathBuf, String> {
    let folders =
        [beside.to_owned(), std::env::temp_dir(), PathBuf::from("/tmp"), PathBuf::from("/run")];
    let is_safe = |folder: &&PathBuf| {
        visitor.is_none_or(|visitor| {
            is_protected(folder) && check_parent(folder, Some(visitor)).is_ok()
        })
    };
    let Some(folder) = folders.iter().find(is_safe) else {
        return Err(format!(
            "dyno runs as root and found no folder for its logs in which only root can replace \
             files; looked at {}, {}, /tmp and /run",
            beside.display(),
            std::env::temp_dir().display()
        ));
    };
    supervisor
        .make_folder(folder, prefix, Access::Passed(visitor), &[])
        .map_err(|error| error.to_string())
}

/// The scratch folder, or a separate one with a short path when the socket's path would be too
/// long.
fn socket_folder(
    supervisor: &mut Supervisor,
    folder: &Path,
    recipe: &Recipe,
    owner: Option<Owner>,
) -> Result<PathBuf, HostError> {
    let fits = |folder: &Path| {
        folder.join((recipe.socket_name)(u16::MAX)).as_os_str().len() <= SOCKET_PATH_MAX
    };
    if fits(folder) {
        return Ok(folder.to_owned());
    }
    for parent in [std::env::temp_dir(), PathBuf::from("/tmp")] {
        if fits(&parent.join("dyno-socket-4194304-100"))
            && check_parent(&parent, owner).is_ok()
            && let Ok(short) = make_folder(supervisor, &parent, "dyno-socket", owner, &[])
        {
            return Ok(short);
        }
    }
    let reason = format!(
        "the path of a unix socket in it is longer than {SOCKET_PATH_MAX} bytes, and /tmp cannot \
         be used"
    );
    Err(scratch(folder, reason))
}

/// The server's settings; an error when a requested one is not in force.
fn settings_in_force(
    instance: &ServerInstance<'_>,
    session: &mut ControlConnection,
) -> Result<Compared, HostError> {
    let kind = instance.binary.kind;
    let found =
        settings::read_with(session, kind.engine()).map_err(query(kind, "reading its settings"))?;
    let found = settings::compared(kind.engine(), &instance.server.settings, &found);
    let problems = &found.problems;
    if problems.is_empty() {
        return Ok(found);
    }
    let log = tail(&instance.directories.log(), log::SEARCHED);
    let words =
        lists::distinct(problems.iter().flat_map(|problem| log::complaints(&log, &problem.name)));
    Err(settings_differ(kind, problems, &words))
}

fn initialise(
    supervisor: &mut Supervisor,
    instance: &ServerInstance<'_>,
    recipe: &Recipe,
) -> Result<(), HostError> {
    for launch in (recipe.initialise)(instance)? {
        let program = launch.program.clone();
        supervisor.handle.launch(launch)?;
        let exit = supervisor.handle.wait_exit(INITIALISE_LIMIT)?;
        if !exit.is_some_and(|exit| exit.is_success()) {
            let log = tail(&instance.directories.initialise_log(), log::SHOWN);
            return Err(refusal(instance, &log).unwrap_or_else(|| {
                let exit =
                    exit.map_or_else(|| "did not end in time".to_owned(), |exit| exit.to_string());
                let (kind, program, log) = (instance.binary.kind, program.display(), log_of(&log));
                HostError::of_files(format!(
                    "cannot make {kind}'s data folder: {program} {exit}{log}"
                ))
            }));
        }
    }
    Ok(())
}

/// Why waiting for a server ended without an answer.
enum NoAnswer {
    Ended(Exit),
    Late(OperationFailure),
    Unsupported(OperationFailure),
    Lost(SupervisorError),
}

/// Starts the server and waits for its first answer; tries another port when the port was taken.
fn launch(
    supervisor: &mut Supervisor,
    instance: &mut ServerInstance<'_>,
    recipe: &Recipe,
    limit: Duration,
    next_port: &mut dyn FnMut() -> io::Result<u16>,
) -> Result<(u32, Launch, ControlConnection), HostError> {
    let kind = instance.binary.kind;
    for attempt in 1.. {
        let no_port = system("asking for a free TCP port on 127.0.0.1");
        instance.port = next_port().map_err(&no_port)?;
        if let Some(cluster_member) = &mut instance.cluster_member {
            cluster_member.choose_ports(next_port).map_err(&no_port)?;
        }
        let mut launch = (recipe.launch)(instance)?;
        // Applies when dyno has ended, and nobody needs the data any more.
        launch.stop = (recipe.stop)(Duration::from_secs(10));
        let pid = supervisor.handle.launch(launch.clone())?;
        let no_answer = match wait_ready(supervisor, instance, recipe, limit) {
            Ok(session) => return Ok((pid, launch, session)),
            Err(no_answer) => no_answer,
        };
        let log = tail(&instance.directories.log(), log::SEARCHED);
        match no_answer {
            NoAnswer::Ended(_) if log::is_port_taken(&log) && attempt < PORT_ATTEMPTS => {
                clear_attempt(instance)
                    .map_err(system("removing the files of a failed attempt to start"))?;
            }
            NoAnswer::Ended(exit) => {
                return Err(refusal(instance, &log).unwrap_or_else(|| {
                    let log = log_of(&log::shown(log));
                    HostError::of_files(format!(
                        "the {kind} server {exit} before it was ready{log}"
                    ))
                }));
            }
            NoAnswer::Late(failure) => {
                let (seconds, log) = (limit.as_secs(), log_of(&log::shown(log)));
                return Err(HostError::of_files(format!(
                    "the {kind} server did not answer within {seconds} s (the last attempt: \
                     {failure}){log}"
                )));
            }
            NoAnswer::Unsupported(failure) => return Err(query(kind, "connecting to it")(failure)),
            NoAnswer::Lost(error) => return Err(error.into()),
        }
    }
    unreachable!("the last attempt returns")
}

/// Removes everything of a failed attempt: its output, and the files of the programs that receive a
/// joining node's data.
fn clear_attempt(instance: &ServerInstance<'_>) -> io::Result<()> {
    log::empty(&instance.directories.log())?;
    if instance.is_joining() {
        let data = Folder::of(&instance.directories.data(), instance.directories.owner)?;
        for (name, kind) in data.entries()? {
            match kind {
                Kind::Folder => data.remove_all(name)?,
                _ => data.remove_file(name)?,
            }
        }
    }
    Ok(())
}

/// Connects until the server answers with its identity.
fn wait_ready(
    supervisor: &Supervisor,
    instance: &ServerInstance<'_>,
    recipe: &Recipe,
    limit: Duration,
) -> Result<ControlConnection, NoAnswer> {
    let deadline = Instant::now() + limit;
    // A connection may be queued by a server that does not accept any yet; with a short timeout the
    // process is checked regularly.
    let target = Target { connect_timeout: Duration::from_secs(2), ..target(instance) };
    let answer = path_text(&instance.directories.data());
    loop {
        let failure = match ControlConnection::open(&target)
            .and_then(|mut session| Ok((session.first(recipe.identity)?, session)))
        {
            Ok((Some(found), session))
                if found.trim_end_matches('/') == answer.trim_end_matches('/') =>
            {
                return Ok(session);
            }
            Ok((found, _)) => {
                let found = found.unwrap_or_default();
                FailureKind::Other
                    .failure(format!("another server answers on port {} ({found})", instance.port))
            }
            Err(failure) => failure,
        };
        match supervisor.handle.wait_exit(POLL) {
            Ok(Some(exit)) => return Err(NoAnswer::Ended(exit)),
            Err(error) => return Err(NoAnswer::Lost(error)),
            Ok(None) if failure.kind == FailureKind::Unsupported => {
                return Err(NoAnswer::Unsupported(failure));
            }
            Ok(None) if Instant::now() >= deadline => return Err(NoAnswer::Late(failure)),
            Ok(None) => {}
        }
    }
}

fn target(instance: &ServerInstance<'_>) -> Target {
    let endpoint = Endpoint::Tcp { host: Ipv4Addr::LOCALHOST.to_string(), port: instance.port };
    Target {
        user: ACCOUNT.to_owned(),
        password: instance.password.clone(),
        database: ACCOUNT.to_owned(),
        ..Target::new(instance.binary.kind.engine(), endpoint)
    }
}

/// The setting that the server rejected, if its log complains about a requested one.
fn refusal(instance: &ServerInstance<'_>, log: &[String]) -> Option<HostError> {
    instance.server.settings.iter().find_map(|(name, value)| {
        let words = log::complaints(log, name);
        (!words.is_empty()).then(|| setting_refused(instance.binary.kind, name, value, &words))
    })
}

/// A password with 128 bits of the system's randomness, prefixed with the kinds of characters that
/// password checks require (both cases, a digit, a symbol).
fn random_password() -> String {
    format!("Dyno-1-{}", random::token())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::supervisor::SupervisorCommand;
    use dyno_model::plan::ServerKind;

    #[test]
    fn a_start_is_repeated_on_another_port_when_the_port_is_taken() {
        for kind in [ServerKind::Mariadb, ServerKind::Mysql, ServerKind::Postgres] {
            let Some(server) = dyno_testkit::require_server(kind) else { continue };
            let supervisor = dyno_testkit::supervisor_command();
            let supervisor =
                SupervisorCommand { program: supervisor.program, arguments: supervisor.arguments };
            let winner = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            let taken = winner.local_addr().unwrap().port();
            let mut ports = vec![free_port().unwrap(), taken];
            let options = StartOptions::new("race", supervisor);
            // The second port is free only now, and may be taken as well.
            let running =
                start(&server, &options, None, &mut || ports.pop().map_or_else(free_port, Ok))
                    .unwrap_or_else(|error| panic!("{kind}: {error}"));
            assert!(ports.is_empty(), "{kind}: the first port was taken");
            assert!(running.is_alive());
            assert!(
                matches!(running.target().endpoint, Endpoint::Tcp { port, .. } if port != taken),
                "{kind}: {}",
                running.target().endpoint
            );
        }
    }

    #[test]
    fn a_server_that_never_answers_is_given_up_with_its_last_log_lines() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let script = |name: &str, text: &str| {
            let program = folder.path().join(name);
            fs::write(&program, format!("#!/bin/sh\n{text}\n")).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        };
        script(
            "postgres",
            "case \"$*\" in *--version) echo 'postgres (PostgreSQL) 99.1'; exit;; *--single*) exit;; esac\n\
             echo 'LOG:  thinking about it'; exec sleep 600",
        );
        script("initdb", "exit 0");
        let server = ManagedServer {
            bin_dir: Some(folder.path().to_owned()),
            scratch: Some(folder.path().to_owned()),
            ..ManagedServer::new(ServerKind::Postgres)
        };
        let supervisor = dyno_testkit::supervisor_command();
        let supervisor =
            SupervisorCommand { program: supervisor.program, arguments: supervisor.arguments };
        // Long enough for its messages to reach its log.
        let options = StartOptions {
            ready_timeout: Duration::from_secs(4),
            ..StartOptions::new("mute", supervisor)
        };
        if rustix::process::geteuid().is_root()
            && account::for_server(ServerKind::Postgres, "postgres").is_err()
        {
            return;
        }
        let error = start(&server, &options, None, &mut free_port)
            .err()
            .expect("it never answers")
            .to_string();
        assert!(
            error.starts_with(
                "the postgres server did not answer within 4 s (the last attempt: connect-refused"
            ),
            "{error}"
        );
        assert!(error.ends_with("its log:\n  | LOG:  thinking about it"), "{error}");
        assert!(dyno_testkit::processes_with(folder.path().to_str().unwrap()).is_empty());

        // The others end by themselves.
        let options = StartOptions { ready_timeout: Duration::from_secs(120), ..options };
        script(
            "postgres",
            "case \"$*\" in *--version) echo 'postgres (PostgreSQL) 99.1'; exit;; *--single*) exit;; esac\n\
             echo 'FATAL:  no'; exit 3",
        );
        let error =
            start(&server, &options, None, &mut free_port).err().expect("it dies").to_string();
        assert_eq!(
            error,
            "the postgres server ended with exit code 3 before it was ready; the last lines of its log:\n  | FATAL:  no"
        );
        script("initdb", "echo 'initdb: error: disk full'; exit 1");
        let error =
            start(&server, &options, None, &mut free_port).err().expect("initdb fails").to_string();
        assert!(
            error.contains(
                "initdb ended with exit code 1; the last lines of its log:\n  | initdb: error: disk full"
            ),
            "{error}"
        );
    }

    #[test]
    fn passwords_are_long_and_differ() {
        let (one, other) = (random_password(), random_password());
        assert_eq!(one.len(), "Dyno-1-".len() + 32);
        assert_ne!(one, other);
    }
}
