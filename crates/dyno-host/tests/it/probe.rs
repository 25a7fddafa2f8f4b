//! Preflight queries to real servers and existing systems.

use crate::{PROCESSES, connect, open_folder, running, shared};
use dyno_drivers::address::shares_machine;
use dyno_drivers::{Connection, Driver, Io, TimeoutPolicy, block_on};
use dyno_host::existing;
use dyno_host::hooks::LifecycleHooks;
use dyno_host::probe::{connection_limit, foreign_sessions, is_replicated, refuses_writes};
use dyno_model::failure::FailureKind;
use dyno_model::plan::{ExistingSystem, HooksPlan, PasswordSource, ServerKind};
use dyno_model::target::{QueryMode, Target, Tls};
use dyno_testkit::{supervisor_command, wait_until};
use std::collections::BTreeMap;
use std::time::Duration;

#[test]
fn the_connection_limit_accounts_for_connections_of_others() {
    for kind in PROCESSES {
        let scratch = open_folder();
        let Some(server) = running(kind, scratch.path(), &[("max_connections", "20")]) else {
            continue;
        };
        let target = server.target();
        let limit = || connection_limit(&target).unwrap().unwrap();
        wait_until("earlier sessions have ended", || limit().in_use == 0);
        assert_eq!((limit().max, limit().per_user), (20, None), "{kind}");
        let mut others = [connect(&target), connect(&target)];
        wait_until("both are counted", || limit().in_use == 2 && limit().available() == 18);
        for other in &mut others {
            block_on(other.close());
        }
        assert!(shares_machine(&target.endpoint));
    }
}

#[test]
fn a_server_that_refuses_to_write_names_the_setting() {
    for (kind, refuse, permit, setting) in [
        (
            ServerKind::Postgres,
            "SET default_transaction_read_only = on",
            "",
            "transaction_read_only",
        ),
        (
            ServerKind::Mysql,
            "SET GLOBAL super_read_only = ON",
            "SET GLOBAL read_only = OFF",
            "super_read_only",
        ),
    ] {
        let scratch = open_folder();
        let Some(server) = running(kind, scratch.path(), &[]) else { continue };
        let asked = |setup: &str| {
            let session_setup = setup.split_terminator(';').map(str::to_owned).collect();
            refuses_writes(&Target { session_setup, ..server.target() }).unwrap()
        };
        assert_eq!(asked(""), None, "{kind}");
        assert_eq!(asked(refuse).as_deref(), Some(setting), "{kind}");
        assert_eq!(asked(permit), None, "{kind}");
    }
}

/// dyno's own sessions for queries may not have ended when it lists those of others; here they stay
/// open.
#[test]
fn sessions_of_others_are_listed_without_those_of_dyno_itself() {
    for kind in PROCESSES {
        let scratch = open_folder();
        let Some(server) = running(kind, scratch.path(), &[]) else { continue };
        let target = server.target();
        let io = Io::WithTimeout(TimeoutPolicy::for_questions(&target));
        let mut own: Vec<Connection> =
            (0..3).map(|_| block_on(Connection::connect(&target, &io)).unwrap()).collect();
        let seen = foreign_sessions(&target).unwrap();
        assert!(seen.is_empty(), "{kind}: {seen:?}");
        let mut other = connect(&target);
        let seen = foreign_sessions(&target).unwrap();
        assert_eq!(
            (seen.len(), seen[0].user.as_str(), seen[0].database.as_str()),
            (1, "dyno", "dyno"),
            "{kind}: {seen:?}"
        );
        for connection in own.iter_mut().chain([&mut other]) {
            block_on(connection.close());
        }
        assert!(!is_replicated(&target).unwrap(), "{kind}");
    }
}

/// A restarted server reuses session ids. Here nothing is really restarted, so that the sessions
/// are still listed.
#[test]
fn sessions_from_before_a_restart_do_not_count_as_own() {
    for kind in PROCESSES {
        let scratch = open_folder();
        let Some(server) = running(kind, scratch.path(), &[]) else { continue };
        let target = server.target();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), target.password.reveal()).unwrap();
        let system = existing(&target, PasswordSource::File(file.path().to_owned()));
        let plan = HooksPlan {
            apply: None,
            restart: Some("true".to_owned()),
            exclusive: None,
            time_limit: Duration::from_secs(60).into(),
        };
        let hooks = LifecycleHooks {
            name: "it",
            system: &system,
            plan: &plan,
            query_mode: QueryMode::Prepared,
            connect_timeout: Duration::from_secs(60),
            supervisor: supervisor_command(),
            logs: None,
        };
        let io = Io::WithTimeout(TimeoutPolicy::for_questions(&target));
        let mut before = block_on(Connection::connect(&target, &io)).unwrap();
        assert_eq!(foreign_sessions(&target).unwrap().len(), 0, "{kind}");
        hooks.begin(&BTreeMap::new(), None).unwrap();
        assert!(!foreign_sessions(&target).unwrap().is_empty(), "{kind}");
        block_on(before.close());
    }
}

pub(crate) fn existing(target: &Target, password: PasswordSource) -> ExistingSystem {
    ExistingSystem {
        engine: target.engine,
        endpoint: target.endpoint.clone(),
        user: target.user.clone(),
        password,
        database: target.database.clone(),
        tls: Tls::Off,
        client_certificate: None,
        session_setup: Vec::new(),
        connection_options: target.options.clone(),
        data: dyno_model::plan::DataPolicy::Own,
        monitor: None,
        hooks: None,
    }
}

#[test]
fn an_existing_system_reports_its_version_and_settings() {
    for kind in PROCESSES {
        let Some(server) = shared(kind) else { continue };
        let target = server.target();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), target.password.reveal()).unwrap();
        let system = existing(&target, PasswordSource::File(file.path().to_owned()));
        let connected = existing::connect(
            &system,
            QueryMode::Prepared,
            Duration::from_secs(60),
            &BTreeMap::new(),
        )
        .unwrap();
        assert_eq!(connected.version, server.version.to_string());
        assert_eq!(
            connected.settings.get("max_connections"),
            server.settings.get("max_connections")
        );
        assert!(connected.settings.len() >= 15, "{kind}: {:?}", connected.settings);

        std::fs::write(file.path(), "wrong-s3cret").unwrap();
        let error = existing::connect(
            &system,
            QueryMode::Prepared,
            Duration::from_secs(60),
            &BTreeMap::new(),
        )
        .unwrap_err();
        assert!(
            error.to_string().contains(&FailureKind::Authentication.to_string()),
            "{kind}: {error}"
        );
        assert!(!error.to_string().contains("wrong-s3cret"), "{error}");
        assert!(!error.to_string().contains("no password was given"), "{error}");
        let without = existing(&target, PasswordSource::None);
        let error = existing::connect(
            &without,
            QueryMode::Prepared,
            Duration::from_secs(60),
            &BTreeMap::new(),
        )
        .unwrap_err();
        assert!(error.to_string().contains("hint: no password was given"), "{kind}: {error}");
    }
}

#[test]
fn a_database_file_is_a_system_too() {
    let scratch = open_folder();
    let server = running(ServerKind::Sqlite, scratch.path(), &[("journal_mode", "wal")]).unwrap();
    let system = existing(&server.target(), PasswordSource::None);
    let connected =
        existing::connect(&system, QueryMode::Prepared, Duration::from_secs(60), &BTreeMap::new())
            .unwrap();
    assert_eq!(connected.settings["journal_mode"], "wal");
    assert_eq!(connection_limit(&connected.target).unwrap(), None);
}
