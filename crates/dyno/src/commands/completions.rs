//! `dyno completions`: what a shell completes, from the declaration of the command line.

use crate::cli::{Cli, CompletionsArguments};
use crate::failure::Failure;
use crate::printer::Printer;
use clap::CommandFactory;
use dyno_model::exit_code;

/// Prints the script.
///
/// # Errors
/// When standard output takes no more.
pub(crate) fn completions(arguments: &CompletionsArguments, printer: Printer) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "dyno", &mut script);
    printer.result(String::from_utf8_lossy(&script).trim_end())?;
    Ok(exit_code::OK)
}
