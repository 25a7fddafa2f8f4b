//! Bundled scripts on dyno's own workloads, where those do what the options ask.

use super::failures::{self, Action};
use super::load;
use super::measure::{Subject, measure};
use super::printing::Printing;
use super::reporter::Start;
use crate::logger::Level;
use crate::native::NativeScript;
use crate::native::prepare::{Preparation, PrepareError, prepare};
use crate::options::database::PreparedMode;
use crate::report::header;
use crate::session::{FAILED, INTERRUPTED, OK, Session};
use dyno_engine::workload::{DataSet, Workload};
use dyno_engine::{run_load, with_native};
use dyno_model::target::Engine;
use std::sync::Arc;

/// Carries out a command natively; `None` when that is left to the script in Lua.
pub(crate) fn perform(session: &Session<'_>, name: &str) -> Option<u8> {
    let database = &session.options.database;
    let driver = database.driver()?;
    let target = database.targets(driver).first().filter(|_| !database.is_dry(driver))?;
    let native = |name| NativeScript::new(name, &session.options, target.engine, session.seed);
    match (session.command(), name) {
        // Nothing is loaded: its tables are empty, and may be there already.
        ("prepare", "bulk_insert") => None,
        // They read the first table only, but make as many as they are told.
        ("prepare", "select_random_points" | "select_random_ranges") => {
            Some(prepare_tables(session, &native("oltp_read_only")?, driver))
        }
        ("prepare", name) => Some(prepare_tables(session, &native(name)?, driver)),
        ("run", name) => Some(run(session, name, &native(name)?, driver)),
        // These send a few statements once: the script does it as well.
        _ => None,
    }
}

fn prepare_tables(session: &Session<'_>, native: &NativeScript, driver: Engine) -> u8 {
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
            let action = Action::Command(statement.as_deref());
            failures::tell(&session.logger, action, &failure, &targets[0]);
            FAILED
        }
    }
}

/// Scripts whose statements are not prepared.
const AS_TEXT: [&str; 2] = ["bulk_insert", "oltp_insert"];

fn run(session: &Session<'_>, name: &str, native: &NativeScript, driver: Engine) -> u8 {
    let is_text = session.options.database.prepared == PreparedMode::Disable || AS_TEXT.contains(&name);
    let subject = Subject {
        runner: "native",
        printing: Printing {
            logger: Arc::clone(&session.logger),
            general: session.options.general.clone(),
            uses_sql: Arc::new(|| true),
            script: None,
        },
        start: Arc::new(Start::of_native(&session.logger, &session.options.general)),
        retry: load::retry_policy(&session.options.database, driver),
        targets: session.options.database.targets(driver).to_vec(),
        is_text,
    };
    let targets = &subject.targets;
    measure(session, &subject, None, |input, listener| {
        for number in 0..session.options.general.threads {
            session.logger.log(Level::Debug, &format!("Worker thread (#{number}) started"));
        }
        with_native!(native.build(), workload => run_load(workload, targets, input, listener))
    })
}
