//! `--results`: stores the run as a results folder of dyno, one trial of one configuration, for
//! `dyno report`.

use super::load;
use crate::job::Job;
use crate::options::definition::{dashed, recorded};
use crate::options::registry;
use dyno_drivers::{Connection, Driver, Io, TimeoutPolicy, block_on};
use dyno_model::catalog::{OptionValue, WorkloadOptions};
use dyno_model::single::SingleTrial;
use dyno_model::target::Target;
use dyno_store::{SingleRun, StoreError};
use std::path::Path;

/// Creates the folder.
///
/// # Errors
/// When it cannot be created.
pub(crate) fn create(root: &Path, job: &Job<'_>) -> Result<SingleRun, StoreError> {
    SingleRun::create(root, trial(job), &spec(job), version(job))
}

/// The first address of the named driver; a dry run is a run on the null driver.
fn target<'a>(job: &'a Job<'_>) -> Option<&'a Target> {
    let database = &job.options.database;
    let driver = database.driver()?;
    database.targets(driver).first().filter(|_| !database.is_dry(driver))
}

/// sysbench does not query the version, so this has a timeout.
fn version(job: &Job<'_>) -> String {
    let io = |target| Io::WithTimeout(TimeoutPolicy::for_questions(target));
    let connected = target(job).map(|target| block_on(Connection::connect(target, &io(target))));
    match connected {
        Some(Ok(mut connection)) => {
            let version = connection.identity().version;
            block_on(connection.close());
            version
        }
        _ => "unknown".to_owned(),
    }
}

/// The script's name without folder and suffix.
fn script_name(job: &Job<'_>) -> String {
    let path = Path::new(&job.script);
    path.file_stem().map_or_else(|| job.script.clone(), |stem| stem.to_string_lossy().into_owned())
}

fn trial(job: &Job<'_>) -> SingleTrial {
    let general = &job.options.general;
    let name = script_name(job);
    let target = target(job).cloned().unwrap_or_else(SingleTrial::no_server);
    SingleTrial {
        title: format!("sysbench {name}"),
        name,
        description: "A run of a sysbench script by `dyno sysbench`.".to_owned(),
        seed: job.seed,
        system: format!("{} {}", target.engine, target.endpoint),
        target,
        clients: general.threads,
        options: script_options(job),
        load: load::plan(general),
    }
}

/// The script's own options, and those that select its rows.
fn script_options(job: &Job<'_>) -> WorkloadOptions {
    let own = job.options.for_record().into_iter().filter(|(name, _)| {
        !registry::is_registered(name) || name.starts_with("rand_") && name != "rand_seed"
    });
    WorkloadOptions(
        own.map(|(name, text)| {
            let value = recorded(job.options.value(&name)).unwrap_or(OptionValue::Text(text));
            (name, value)
        })
        .collect(),
    )
}

/// Stored in place of a spec: the options as comments.
fn spec(job: &Job<'_>) -> String {
    let mut text = format!("# dyno sysbench {} {}\n", job.script, job.command());
    for (name, value) in job.options.for_record() {
        if job.options.is_given(&name) {
            text.push_str(&format!("#   --{}={value}\n", dashed(&name)));
        }
    }
    text
}
