//! `dyno cleanup`: removes what a killed run left on systems that dyno did not start.

use crate::cli::CleanupArguments;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::spec_file;
use dyno_host::marker::Claim;
use dyno_host::{copies, databases, existing};
use dyno_model::address::Address;
use dyno_model::catalog::WorkloadDescription;
use dyno_model::exit_code;
use dyno_model::plan::{DataPolicy, SystemPlan, SystemSource};
use dyno_model::target::Endpoint;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Drops the tables listed by dyno's marker, and the marker, on each existing system of the spec.
///
/// # Errors
/// When the spec has errors, or a system could not be reached or cleaned; the others are still
/// cleaned.
pub(crate) fn cleanup(
    arguments: &CleanupArguments,
    catalog: &[WorkloadDescription],
    printer: Printer,
) -> Result<u8, Failure> {
    let experiment = arguments.experiment();
    if experiment.url().is_some_and(|url| !Address::of_url(url).engine.has_sql()) {
        return Err(Failure::new(exit_code::USAGE, "dyno creates no tables in an HTTP service")
            .help("use the URL of the database behind it, or the spec of the run"));
    }
    let plan = spec_file::read_experiment(&experiment, catalog)?.plan;
    let (mut text, mut failures) = (String::new(), Vec::new());
    for (index, system) in plan.systems.iter().enumerate() {
        match clean(system, &plan.databases_of(index)) {
            Ok(what) => {
                let _ = writeln!(text, "{}: {what}", system.name);
            }
            Err(reason) => failures.push(format!("{}: {reason}", system.name)),
        }
    }
    if !text.is_empty() {
        printer.prose(&text)?;
    }
    if failures.is_empty() {
        return Ok(exit_code::OK);
    }
    Err(Failure::new(exit_code::SERVER_FAILED, failures.join("\n")))
}

fn clean(system: &SystemPlan, databases: &[String]) -> Result<String, String> {
    let SystemSource::Existing(existing) = &system.source else {
        return Ok("dyno removes the servers that it starts".to_owned());
    };
    if existing.data == DataPolicy::Existing {
        return Ok("dyno did not create its tables (data = \"existing\")".to_owned());
    }
    let (mode, timeout) = (system.query_mode, system.connect_timeout.into());
    // A file is not opened: SQLite answers no question while a run writes.
    let target = match existing.endpoint {
        Endpoint::File(_) => existing::target(existing, mode, timeout),
        _ => existing::connect_to_clean_up(existing, mode, timeout, &BTreeMap::new())
            .map(|connected| connected.target),
    };
    let target = target.map_err(|error| error.to_string())?;
    if existing.data == DataPolicy::Copy {
        let dropped = copies::remove(&target).map_err(|error| error.to_string())?;
        return Ok(
            dropped.map_or_else(|| "no copy is there".to_owned(), |name| format!("dropped {name}"))
        );
    }
    if let Endpoint::File(file) = &target.endpoint
        && !file.exists()
    {
        // SQLite would create an empty file.
        return Err(format!(
            "no such file: {}\nhint: use the file that dyno wrote to",
            file.display()
        ));
    }
    let mut tables =
        databases::clean_up_own(&target, Claim::default()).map_err(|error| error.to_string())?;
    for name in databases {
        let dropped = databases::clean_up(&target, name, Claim::default())
            .map_err(|error| error.to_string())?;
        tables.extend(dropped.into_iter().map(|table| format!("{name}.{table}")));
    }
    Ok(match tables.is_empty() {
        true => "dyno left nothing there".to_owned(),
        false => format!("dropped {}", tables.join(", ")),
    })
}
