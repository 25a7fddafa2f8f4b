//! `dyno`: a dynamometer for databases.
//!
//! # Layout (read in this order)
//! * `arguments`: the arguments of the process, with passwords hidden from `ps`;
//! * `cli`: options and their help; `one_line`: a spec made from a URL and options; `spec_file`:
//!   from the command line to a plan;
//! * `workload`: the workload of a client group, built in or user SQL; `workload_set`: the
//!   workloads of a configuration;
//! * `campaign`: the whole plan, the rest of an interrupted run, or single trials;
//! * `run`: one experiment from plan to report; `trials`, `client_groups`, `databases`, `systems`:
//!   its parts; `preflight`: checks whether it can run here; `checkup`: observations about the
//!   machine;
//! * `generators`: trials whose clients are in several processes;
//! * `kubernetes`: generators and coordinators in pods;
//! * `import`: results of other programs;
//! * `commands`: one file per command besides `run`;
//! * `ui`: progress; `interrupt`: Ctrl-C; `failure`: errors that end the program; `printer`: the
//!   only output to the terminal; `diagnosis`: messages for `-v`.

mod command_line;
mod commands;
mod diagnosis;
#[cfg(test)]
mod documents;
mod execution;
mod failure;
mod generators;
mod import;
mod interrupt;
mod kubernetes;
mod printer;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod spec_schema;
mod ui;
mod under_test;
mod workloads;

use command_line::{arguments, cli, one_line, spec_file, suggestions};
use execution::{
    campaign, checkup, client_groups, client_paths, curve, data, faults, preflight, run, search,
    trials,
};
use under_test::{databases, disk, original_settings, slot, system, systems};
use workloads::{workload, workload_set};

use clap::Parser;
use cli::{Cli, Command, LaunchEngine};
use dyno_model::exit_code;
use failure::Failure;
use printer::Printer;
use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;
use workload::catalog;

fn main() -> ExitCode {
    let printer = Printer::new();
    let (arguments, hidden) = arguments::taken();
    if let Err(error) = hidden {
        let text = "process listings show the password on the command line; use an environment \
                    variable such as PGPASSWORD";
        printer.warning(&format!("{text} ({error})"));
    }
    interrupt::survive_large_files();
    let rest = arguments.get(1..).unwrap_or_default();
    // Called under another program's name, dyno parses the whole command line as that program does:
    // scripts and users expect exactly that.
    match arguments.first() {
        Some(program) if is_named(program, "sysbench") => {
            diagnosis::enable(0, printer);
            return finish(commands::sysbench::sysbench(rest, printer), printer);
        }
        Some(program) if is_named(program, "pgbench") => {
            diagnosis::enable(0, printer);
            return finish(commands::pgbench::pgbench(rest, printer), printer);
        }
        _ => {}
    }
    let code = match Cli::try_parse_from(&arguments) {
        Ok(Cli { command: Some(Command::Supervise), .. }) => return dyno_host::supervisor::main(),
        Ok(cli) => {
            diagnosis::enable(cli.verbosity(), printer);
            let printer = printer.speaking(cli.lang());
            return finish(perform(cli, printer), printer);
        }
        Err(mut error) => {
            suggestions::improve(&mut error, &arguments);
            let code = if error.use_stderr() { exit_code::USAGE } else { exit_code::OK };
            printer.usage(&error).map(|()| code)
        }
    };
    finish(code, printer)
}

/// True when the program was called by this name, in any folder.
fn is_named(program: &OsStr, name: &str) -> bool {
    Path::new(program).file_stem().is_some_and(|stem| stem == name)
}

fn finish(code: Result<u8, Failure>, printer: Printer) -> ExitCode {
    ExitCode::from(code.unwrap_or_else(|failure| {
        printer.failure(&failure);
        failure.code
    }))
}

/// Carries out a command; returns its exit code.
fn perform(cli: Cli, printer: Printer) -> Result<u8, Failure> {
    match cli.into_command() {
        Command::Run(arguments) => {
            let printer = if arguments.quiet { printer.quiet() } else { printer };
            let printer = if arguments.plain { printer.plain() } else { printer };
            let experiment = campaign::experiment(&arguments, &catalog())?;
            if arguments.print_spec {
                let text = campaign::printed_spec(&arguments, &experiment)?;
                return printer.result(&text).map(|()| exit_code::OK);
            }
            run::run(&arguments, &experiment, printer)
        }
        Command::Plan(arguments) => commands::plan::plan(&arguments, &catalog(), printer),
        Command::Report(arguments) => commands::report::report(&arguments, printer),
        Command::Bundle(arguments) => commands::bundle::bundle(&arguments, printer),
        Command::History(arguments) => commands::history::history(&arguments, printer),
        Command::Compare(arguments) => commands::compare::compare(&arguments, printer),
        Command::Serve(arguments) => commands::serve::serve(&arguments, printer),
        Command::Import(arguments) => commands::import::import(&arguments, printer),
        Command::Cleanup(arguments) => commands::cleanup::cleanup(&arguments, &catalog(), printer),
        Command::Workloads(arguments) => {
            commands::workloads::workloads(&arguments, &catalog(), printer)
        }
        Command::Doctor(arguments) => commands::doctor::doctor(&arguments, &catalog(), printer),
        Command::Init(arguments) => commands::init::init(&arguments, &catalog(), printer),
        Command::NullServer(arguments) => commands::null_server::null_server(&arguments, printer),
        Command::Completions { shell } => commands::completions::completions(shell, printer),
        Command::Man { folder } => commands::man::man(&folder, printer),
        Command::Sysbench { arguments } => commands::sysbench::sysbench(&arguments, printer),
        Command::Pgbench { arguments } => commands::pgbench::pgbench(&arguments, printer),
        Command::Launch(arguments) => match arguments.engine {
            LaunchEngine::Kubernetes => kubernetes::launch::launch(*arguments, &catalog(), printer),
        },
        Command::Generator => generators::generator::generator(),
        Command::KubernetesJob(arguments) => kubernetes::generator_job::run(&arguments, printer),
        Command::Volume { command } => kubernetes::volume::run(&command),
        Command::Supervise => Ok(exit_code::OK), // handled in main
    }
}
