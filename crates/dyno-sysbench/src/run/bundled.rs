//! Bundled scripts on dyno's own workloads, where those do what the options ask.

use super::failures::{self, Action};
use super::load;
use super::measure::{Subject, measure};
use super::printing::Printing;
use super::reporter::Start;
use crate::native::NativeScript;
use crate::native::prepare::{Preparation, PrepareError, prepare};
use crate::options::database::DriverName;
use crate::report::header;
use crate::session::{FAILED, INTERRUPTED, OK, Session};
use dyno_engine::workload::{DataSet, Workload};
use dyno_engine::{run_load, with_native};
use dyno_model::target::Endpoint;
use std::sync::Arc;

/// Carries out a command natively; `None` when that is left to the script in Lua.
pub fn perform(session: &Session<'_>, name: &str) -> Option<u8> {
    let database = &session.options.database;
    let driver = database.driver()?;
    let is_dry = driver == DriverName::Mysql && database.mysql_dry_run;
    if is_dry {
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
            let action = statement.as_deref().map_or(Action::Starting, Action::Query);
            failures::tell(&session.logger, action, &failure, &targets[0]);
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
