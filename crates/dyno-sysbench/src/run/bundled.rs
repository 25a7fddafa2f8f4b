//! Bundled scripts on dyno's own workloads, where those do what the options ask.

use super::load;
use super::measure::{Subject, measure};
use super::printing::Printing;
use super::reporter::Start;
use crate::native::NativeScript;
use crate::native::prepare::{Preparation, PrepareError, prepare};
use crate::options::database::{DriverName, PreparedMode};
use crate::report::header;
use crate::session::{FAILED, INTERRUPTED, OK, Session};
use dyno_engine::workload::{DataSet, Workload};
use dyno_engine::{run_load, with_native};
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::target::{Endpoint, Engine, Target};
use std::sync::Arc;

/// Carries out a command natively; `None` when that is left to the script in Lua.
pub fn perform(session: &Session<'_>, name: &str) -> Option<u8> {
    let database = &session.options.database;
    let driver = database.driver()?;
    let is_dry = driver == DriverName::Mysql && database.mysql_dry_run;
    if is_dry || matches!(database.prepared, PreparedMode::Unknown(_)) {
        return None;
    }
    let targets = database.targets(driver);
    let target = targets.first().filter(|target| target.endpoint != Endpoint::InProcess)?;
    let native = NativeScript::new(name, &session.options, target.engine, session.seed)?;
    match session.command() {
        "prepare" => Some(prepare_tables(session, &native, driver)),
        "run" => Some(run(session, &native, driver)),
        // These send a few statements once: the script does it as well.
        _ => None,
    }
}

fn prepare_tables(session: &Session<'_>, native: &NativeScript, driver: DriverName) -> u8 {
    let threads = session.options.general.threads;
    if threads > 1 {
        session.logger.notice(header::INITIALIZING);
    }
    let targets = session.options.database.targets(driver);
    let workload = native.build();
    let outcome = with_native!(&workload, workload => {
        let data: &dyn DataSet = workload.data();
        prepare(&Preparation {
            targets,
            data,
            threads,
            say: &|line| session.logger.notice(line),
            interrupts: session.interrupts,
        })
    });
    match outcome {
        Ok(()) if session.is_interrupted() => INTERRUPTED,
        Ok(()) => OK,
        Err(_) if session.is_interrupted() => INTERRUPTED,
        Err(PrepareError { failure, statement }) => {
            tell(session, &failure, &targets[0], statement.as_deref());
            FAILED
        }
    }
}

fn run(session: &Session<'_>, native: &NativeScript, driver: DriverName) -> u8 {
    let subject = Subject {
        runner: "native",
        printing: Printing {
            logger: Arc::clone(&session.logger),
            general: session.options.general.clone(),
            uses_sql: Arc::new(|| true),
            hooks: None,
        },
        start: Arc::new(Start::new(&session.logger, &session.options.general)),
        retry: load::retry_policy(&session.options.database, driver),
        targets: session.options.database.targets(driver).to_vec(),
    };
    let targets = &subject.targets;
    measure(
        session,
        &subject,
        None,
        |input, listener| with_native!(native.build(), workload => run_load(workload, targets, input, listener)),
    )
}

/// Number that MySQL's client library has for a server that cannot be reached.
const UNREACHABLE: u32 = 2002;

/// Tells a database's failure in the words that parsers look for.
pub fn tell(session: &Session<'_>, failure: &OperationFailure, target: &Target, statement: Option<&str>) {
    for line in lines(failure, target, statement) {
        session.logger.fatal(&line);
    }
}

fn lines(failure: &OperationFailure, target: &Target, statement: Option<&str>) -> Vec<String> {
    let message = &failure.message;
    let is_postgres = target.engine == Engine::Postgres;
    if is_connecting(failure.kind) && is_postgres {
        return vec![format!("Connection to database failed: {message}")];
    }
    if is_connecting(failure.kind) {
        let place = match &target.endpoint {
            Endpoint::Tcp { host, port } => format!("host '{host}', port {port}"),
            Endpoint::Unix(path) => format!("socket '{}'", path.display()),
            other => other.to_string(),
        };
        let code = if failure.code == 0 { UNREACHABLE } else { failure.code };
        return vec![
            format!("unable to connect to MySQL server on {place}, aborting..."),
            format!("error {code}: {message}"),
        ];
    }
    let (server, call) = match target.engine {
        Engine::Postgres => ("PostgreSQL", "PQexec()"),
        Engine::Sqlite => ("SQLite", "sqlite3_step()"),
        Engine::Mysql | Engine::Null => ("MySQL", "mysql_drv_query()"),
    };
    let code = if failure.code == 0 { failure.sqlstate.clone() } else { failure.code.to_string() };
    vec![match statement {
        Some(statement) => format!("{call} returned error {code} ({message}) for query '{statement}'"),
        None => format!("{server} error: {code} \"{message}\""),
    }]
}

fn is_connecting(kind: FailureKind) -> bool {
    matches!(
        kind,
        FailureKind::ConnectRefused
            | FailureKind::Authentication
            | FailureKind::OutOfConnections
            | FailureKind::NotReady
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(engine: Engine) -> Target {
        Target::new(engine, Endpoint::Tcp { host: "db".into(), port: 1 })
    }

    #[test]
    fn failures_are_told_in_the_words_that_parsers_look_for() {
        let refused = OperationFailure::new(FailureKind::ConnectRefused, "refused");
        let exists = OperationFailure {
            kind: FailureKind::BadStatement,
            code: 1050,
            sqlstate: "42S01".into(),
            message: "exists".into(),
        };
        let state = OperationFailure { code: 0, ..exists.clone() };
        let rows = [
            (
                lines(&refused, &target(Engine::Mysql), None),
                vec![
                    "unable to connect to MySQL server on host 'db', port 1, aborting...",
                    "error 2002: refused",
                ],
            ),
            (
                lines(&refused, &target(Engine::Postgres), None),
                vec!["Connection to database failed: refused"],
            ),
            (
                lines(&exists, &target(Engine::Mysql), Some("CREATE")),
                vec!["mysql_drv_query() returned error 1050 (exists) for query 'CREATE'"],
            ),
            (lines(&state, &target(Engine::Postgres), None), vec!["PostgreSQL error: 42S01 \"exists\""]),
        ];
        for (told, expected) in rows {
            assert_eq!(told, expected);
        }
    }
}
